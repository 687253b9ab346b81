extern "C" __global__ void __launch_bounds__(LAST_THREADS) LAST_ENTRY(PARAMETERS) {
  if (await_launch(nx)) return;
  const Grid grid = GRID;
  __shared__ double warps[32];
  const int t = threadIdx.x, parts = FOLDED > 0 ? (int)step[STEP_SCALARS] : 0;
  for (int n = 0; n < FOLDED; n++) {
    const double *left = step + STEP_SCALARS + 1 + n * FOLD_PARTS;
    double total = nothing(fold_of(n));
#pragma unroll 8
    for (int i = t; i < parts; i += LAST_THREADS) total = combine(fold_of(n), total, left[i]);
    total = fold_block<LAST_THREADS>(fold_of(n), total, t, warps);
    if (t == 0) step[number_of(n)] = total;
  }
  if (t == 0) step_compute(grid, step);
}
