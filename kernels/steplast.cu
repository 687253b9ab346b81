extern "C" __global__ void __launch_bounds__(FOLD_THREADS) LAST_ENTRY(PARAMETERS) {
  const Grid grid = GRID;
  __shared__ double all[FOLD_THREADS];
  const int t = threadIdx.x, blocks = step_blocks(grid);
  for (int n = 0; n < FOLDED; n++) {
    const double *left = step + STEP_SCALARS + n * FOLD_BLOCKS;
    double total = t < blocks ? left[t] : 0;
    for (int b = t + FOLD_THREADS; b < blocks; b += FOLD_THREADS) total = combine(fold_of(n), total, left[b]);
    total = fold_block(fold_of(n), total, blocks < FOLD_THREADS ? blocks : FOLD_THREADS, all);
    if (t == 0) step[number_of(n)] = total;
  }
  if (t == 0) step_compute(grid, step);
}
