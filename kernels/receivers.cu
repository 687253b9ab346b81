extern "C" __global__ void __launch_bounds__(LIST_THREADS) LIST_ENTRY(PARAMETERS) {
  if (await_launch(nx)) return;
  const Grid grid = GRID;
  if (grid.iteration > rows) return;
  T *const values = table + (grid.iteration - 1LL) * places;
  const long long stride = (long long)gridDim.x * LIST_THREADS;
  for (long long i = (long long)blockIdx.x * LIST_THREADS + threadIdx.x; i < places; i += stride) {
    const long long at = place[i];
    if (at < 0 || at >= cells_of(grid)) continue;
    const int x = (int)(at % grid.nx), y = (int)(at / grid.nx % grid.ny), z = (int)(at / grid.nx / grid.ny);
    const bool inside = x >= LOW_X && x + HIGH_X < grid.nx && y >= LOW_Y && y + HIGH_Y < grid.ny && z >= LOW_Z && z + HIGH_Z < grid.nz;
    values[i] = T(inside ? received<false>(grid, x, y, z, grid.iteration) : received<true>(grid, x, y, z, grid.iteration));
  }
}
