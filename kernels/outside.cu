// What a GPU's compiler cannot find out, and the emulation sees to.
__device__ __forceinline__ void known(bool fact) {
#ifdef __CUDA_ARCH__
  __builtin_assume(fact);
#else
  if (!fact) __builtin_trap();
#endif
}

// Gives what lies outside the grid in a thread's rows of plane `plane` its value, where that is not a cell's: e[row][column] is
// the first own cell, the others hold the nearest cells inside. The plane lies dz from the one that is completed.
// Tiles lie within the grid. So a cell is asked only about sides that it can lie beyond, and no own cell but of a plane outside.
// SIDED: shared memory holds columns beyond the tile's, so that other threads than the first and the last of a row may read beyond the grid.
template <bool ENDS, bool SIDED, int R, int N>
__device__ __forceinline__ void outside(Real (&e)[R][N], int row, int column, int array, int plane, int dz, int iteration, const Place &at) {
  if (array >= FIELDS) return;
  const bool below = ENDS && plane < 0, above = ENDS && plane >= at.planes;
  if ((below && dz >= 0) || (above && dz <= 0)) return; // of a plane that nothing reads
  const bool away = VALUES_AT_ENDS && (below || above);
  if (!away && !VALUES_IN_PLANE) return;
#pragma unroll
  for (int r = 0; r < R; r++) {
    const bool before = r < row, behind = r >= row + ROWS;
    const int y = DIMS == 3 ? at.y + r - row : plane, z = DIMS == 3 ? plane : 0;
    const auto value = [&](int i) {
      const int x = at.x + i - column;
      known(at.grid.nx > 0 && at.grid.ny > 0 && at.grid.nz > 0);
      if (!wraps(0) && i >= column) known(x >= 0);
      if (!wraps(0) && i < column + VECTOR) known(x < at.grid.nx);
      if (DIMS == 3 && !wraps(1) && !before) known(y >= 0);
      if (DIMS == 3 && !wraps(1) && !behind) known(y < at.grid.ny);
      if (!wraps(DIMS - 1) && !ENDS) known(plane >= 0 && plane < (DIMS == 3 ? at.grid.nz : at.grid.ny));
      e[r][i] = boundary_value(at.grid, array, T(e[r][i]), x, y, z, iteration, ENDS);
    };
    if (away || (DIMS == 3 && !wraps(1) && ((before && y < 0) || (behind && y >= at.grid.ny)))) {
#pragma unroll
      for (int i = 0; i < N; i++) value(i);
      continue;
    }
    if (column <= VECTOR && !SIDED ? at.low_x : at.x < column) {
#pragma unroll
      for (int i = 0; i < column; i++) value(i);
    }
    if (N - column <= 2 * VECTOR && !SIDED ? at.high_x : at.x + N - column > at.nx) {
#pragma unroll
      for (int i = column + VECTOR; i < N; i++) value(i);
    }
  }
}
