// Family global: every element of A and B that a product needs is a global load,
// served by L1. A thread computes WORK_X x WORK_Y elements of C: strided by the group
// along x, so that a warp's loads of B stay contiguous; consecutive along y. Each
// step in depth loads WORK_Y elements of A and WORK_X of B.

// Threads beyond the edge compute what their nearest neighbour does, and write
// nothing.
__device__ __forceinline__ void by_blocks(const T *__restrict__ in, T *__restrict__ out, int nx, int ny, int nz) {
  const Matrices m = matrices(in, nx, ny);
  const Position tile = block_tile<WRITE_X, WRITE_Y, 1, COLUMN / WRITE_X, ZIGZAG>(nx, ny, 1);
  const int x = tile.x * WRITE_X + threadIdx.x, y = tile.y * WRITE_Y + threadIdx.y * WORK_Y;
  T sum[WORK_Y][WORK_X] = {};
  for (int k = 0; k < m.depth; k++) {
    T a[WORK_Y], b[WORK_X];
#pragma unroll
    for (int j = 0; j < WORK_Y; j++) a[j] = m.a[(index_t)min(y + j, ny - 1) * nx + k];
#pragma unroll
    for (int i = 0; i < WORK_X; i++) b[i] = m.b[(index_t)k * nx + min(x + i * GROUP_X, nx - 1)];
#pragma unroll
    for (int j = 0; j < WORK_Y; j++)
#pragma unroll
      for (int i = 0; i < WORK_X; i++) sum[j][i] += a[j] * b[i];
  }
#pragma unroll
  for (int j = 0; j < WORK_Y; j++)
#pragma unroll
    for (int i = 0; i < WORK_X; i++)
      if (x + i * GROUP_X < nx && y + j < ny) write(in, out, x + i * GROUP_X, y + j, sum[j][i], nx, ny, nz);
}

// A line of threads over C in column order (Prasetya 2022, listing 5), as in family
// global of stencils.
__device__ __forceinline__ void by_lengths(const T *__restrict__ in, T *__restrict__ out, int nx, int ny, int nz) {
  const Matrices m = matrices(in, nx, ny);
  const index_t i = (index_t)blockIdx.x * GROUP_X + threadIdx.x;
  const int column = COLUMN == 0 ? nx : COLUMN;
  const int strip = (int)(i / ((index_t)ny * column));
  const int origin = strip * column;
  if (origin >= nx) return;
  const int width = min(column, nx - origin);
  const index_t in_strip = i - (index_t)origin * ny;
  const int y = (int)(in_strip / width);
  if (y >= ny) return;
  int x = (int)(in_strip - (index_t)y * width);
  if (ZIGZAG && y % 2 == 1) x = width - 1 - x;
  x += origin;
  T sum = 0;
  for (int k = 0; k < m.depth; k++) sum += m.a[(index_t)y * nx + k] * m.b[(index_t)k * nx + x];
  write(in, out, x, y, sum, nx, ny, nz);
}

extern "C" __global__ void __launch_bounds__(GROUP_X *GROUP_Y)
    ENTRY(const T *__restrict__ in, T *__restrict__ out, int nx, int ny, int nz) {
  if (SPAN_LENGTHS)
    by_lengths(in, out, nx, ny, nz);
  else
    by_blocks(in, out, nx, ny, nz);
}
