__device__ __forceinline__ void step_values_at(const Grid &grid, long long i, double (&to)[FOLDED]) {
  const int x = (int)(i % grid.nx), y = (int)(i / grid.nx % grid.ny), z = (int)(i / grid.nx / grid.ny);
  const bool inside = x >= LOW_X && x + HIGH_X < grid.nx && y >= LOW_Y && y + HIGH_Y < grid.ny && z >= LOW_Z && z + HIGH_Z < grid.nz;
  if (inside)
    step_values<false>(grid, x, y, z, to);
  else
    step_values<true>(grid, x, y, z, to);
}

// Block b leaves its numbers after the step scalars. The order of the cells is fixed, so that the same grid gives the same bits.
extern "C" __global__ void __launch_bounds__(FOLD_THREADS) FOLD_ENTRY(PARAMETERS) {
  const Grid grid = GRID;
  __shared__ double all[FOLD_THREADS];
  const int t = threadIdx.x;
  const long long cells = step_cells(grid), first = (long long)blockIdx.x * FOLD_THREADS, stride = (long long)gridDim.x * FOLD_THREADS;
  double total[FOLDED] = {};
  if (first + t < cells) step_values_at(grid, first + t, total);
  for (long long i = first + t + stride; i < cells; i += stride) {
    double more[FOLDED];
    step_values_at(grid, i, more);
    for (int n = 0; n < FOLDED; n++) total[n] = combine(fold_of(n), total[n], more[n]);
  }
  const int have = cells - first < FOLD_THREADS ? (int)(cells - first) : FOLD_THREADS; // threads that have numbers
  for (int n = 0; n < FOLDED; n++) {
    const double number = fold_block(fold_of(n), total[n], have, all);
    if (t == 0) step[STEP_SCALARS + n * FOLD_BLOCKS + blockIdx.x] = number;
  }
}
