// A thread has an entry of the list. The first entry at a place does all of them there, in the list's order, so that the sum is the same
// each time.
extern "C" __global__ void __launch_bounds__(LIST_THREADS) LIST_ENTRY(PARAMETERS) {
  if (await_launch(nx)) return;
  const Grid grid = GRID;
  if (grid.iteration > rows) return;
  const T *const values = table + (grid.iteration - 1LL) * places;
  const long long stride = (long long)gridDim.x * LIST_THREADS;
  for (long long i = (long long)blockIdx.x * LIST_THREADS + threadIdx.x; i < places; i += stride) {
    const long long at = place[i];
    if (at < 0 || at >= cells_of(grid)) continue;
    bool first = true;
    for (long long j = 0; j < i && first; j++) first = place[j] != at;
    if (!first) continue;
    const int x = (int)(at % grid.nx), y = (int)(at / grid.nx % grid.ny), z = (int)(at / grid.nx / grid.ny);
    auto *const cell = field + cell_index(grid, x, y, z);
    T held = T(*cell);
    for (long long j = i; j < places; j++)
      if (place[j] == at) held = T(source_value(grid, x, y, z, grid.iteration, held, values[j]));
    put(cell, held);
  }
}
