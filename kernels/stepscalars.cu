// Step scalars: numbers that a time step computes from the state before it. What a pass folds over all cells is folded by blocks,
// each of which leaves a double, and then by one block, which goes on to what follows from it.

enum Fold { SUM, MIN, MAX };

__device__ __forceinline__ double combine(Fold fold, double a, double b) {
  if (fold == SUM) return a + b;
  if (a != a) return a; // one cell that is not a number makes the whole none
  if (fold == MIN) return a < b ? a : b;
  return a > b ? a : b;
}

template <bool EDGE>
__device__ __forceinline__ T step_read(const Grid &grid, int array, int x, int y, int z) {
  if (!EDGE) return __ldg(grid.in[array] + cell_index(grid, x, y, z));
  int ix = x, iy = y, iz = z;
  stand_in(grid, array, ix, iy, iz);
  return boundary_value(grid, array, __ldg(grid.in[array] + cell_index(grid, ix, iy, iz)), x, y, z, grid.iteration);
}

// Folds what the first so many threads of a block have; thread 0 gets the number.
__device__ __forceinline__ double fold_block(Fold fold, double mine, int have, double *all) {
  const int t = threadIdx.x;
  __syncthreads(); // all have read what was folded before
  all[t] = mine;
  for (int half = FOLD_THREADS / 2; half > 0; half /= 2) {
    __syncthreads();
    if (t < half && t + half < have) all[t] = combine(fold, all[t], all[t + half]);
  }
  return all[0];
}

__device__ __forceinline__ long long step_cells(const Grid &grid) { return (long long)grid.nx * grid.ny * grid.nz; }

__device__ __forceinline__ int step_blocks(const Grid &grid) {
  const long long blocks = (step_cells(grid) + FOLD_CELLS - 1) / FOLD_CELLS;
  return blocks < FOLD_BLOCKS ? (int)blocks : FOLD_BLOCKS;
}
