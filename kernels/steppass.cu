template <bool EDGE>
__device__ __forceinline__ void add_cell(Totals &totals, const Grid &grid, int x, int y, int z) {
  totals.add<EDGE>(grid, x, y, z, grid.iteration, [&](int array, int dx, int dy, int dz) { return read_cell<EDGE>(grid, array, x + dx, y + dy, z + dz); });
}

// The order of the cells is fixed, so that the same grid gives the same bits.
extern "C" __global__ void __launch_bounds__(FOLD_THREADS) FOLD_ENTRY(PARAMETERS) {
  if (await_launch(nx)) return;
  const Grid grid = GRID;
  __shared__ double warps[32];
  // A thread's cells are as many apart as there are threads: that is found once in rows and planes, for divisions take longer than a cell.
  const int stride = (int)gridDim.x * FOLD_THREADS, from = (int)blockIdx.x * FOLD_THREADS + (int)threadIdx.x;
  const int step_x = stride % grid.nx, step_y = stride / grid.nx % grid.ny, step_z = stride / grid.nx / grid.ny;
  int x = from % grid.nx, y = from / grid.nx % grid.ny, z = from / grid.nx / grid.ny;
  Totals totals;
  while (z < grid.nz) {
    const bool inside = x >= LOW_X && x + HIGH_X < grid.nx && y >= LOW_Y && y + HIGH_Y < grid.ny && z >= LOW_Z && z + HIGH_Z < grid.nz;
    if (inside)
      add_cell<false>(totals, grid, x, y, z);
    else
      add_cell<true>(totals, grid, x, y, z);
    const int row = x >= grid.nx - step_x, plane = y >= grid.ny - step_y - row; // beyond the end of one
    x += step_x - row * grid.nx, y += step_y + row - plane * grid.ny, z += step_z + plane;
  }
#pragma unroll
  for (int n = 0; n < FOLDED; n++) {
    const double number = fold_block<FOLD_THREADS>(fold_of(n), totals.number(n), threadIdx.x, warps);
    if (threadIdx.x == 0) step[STEP_SCALARS + 1 + n * FOLD_PARTS + blockIdx.x] = number;
  }
  if (blockIdx.x == 0 && threadIdx.x == 0) step[STEP_SCALARS] = gridDim.x;
}
