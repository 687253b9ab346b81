template <bool EDGE>
__device__ __forceinline__ void add_cell(Totals &totals, const Grid &grid, int x, int y, int z) {
  totals.add<EDGE>(grid, x, y, z, grid.iteration, [&](int array, int dx, int dy, int dz) { return read_cell<EDGE>(grid, array, x + dx, y + dy, z + dz); });
}

// The order of the cells is fixed, so that the same grid gives the same bits.
extern "C" __global__ void __launch_bounds__(FOLD_THREADS) FOLD_ENTRY(PARAMETERS) {
  const Grid grid = GRID;
  __shared__ double warps[32];
  const long long cells = (long long)grid.nx * grid.ny * grid.nz, stride = (long long)gridDim.x * FOLD_THREADS;
  Totals totals;
  for (long long i = (long long)blockIdx.x * FOLD_THREADS + threadIdx.x; i < cells; i += stride) {
    const int x = (int)(i % grid.nx), y = (int)(i / grid.nx % grid.ny), z = (int)(i / grid.nx / grid.ny);
    const bool inside = x >= LOW_X && x + HIGH_X < grid.nx && y >= LOW_Y && y + HIGH_Y < grid.ny && z >= LOW_Z && z + HIGH_Z < grid.nz;
    if (inside)
      add_cell<false>(totals, grid, x, y, z);
    else
      add_cell<true>(totals, grid, x, y, z);
  }
#pragma unroll
  for (int n = 0; n < FOLDED; n++) {
    const double number = fold_block<FOLD_THREADS>(fold_of(n), totals.number(n), threadIdx.x, warps);
    if (threadIdx.x == 0) step[STEP_SCALARS + 1 + n * FOLD_PARTS + blockIdx.x] = number;
  }
  if (blockIdx.x == 0 && threadIdx.x == 0) step[STEP_SCALARS] = gridDim.x;
}
