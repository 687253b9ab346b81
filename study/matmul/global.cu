// Family global: every element of A and B that a product needs is a global load,
// served by L1. A thread computes WORK_X x WORK_Y elements of C: strided by the group
// along x, so that a warp's loads of B stay contiguous; consecutive along y. Each
// step in depth loads WORK_Y elements of A and WORK_X of B.

constexpr int WRITE_X = GROUP_X * WORK_X, WRITE_Y = GROUP_Y * WORK_Y; // elements of C a block writes

// Threads beyond the edge compute what their nearest neighbour does, and write
// nothing.
__device__ __forceinline__ void by_blocks(const Grid &grid, const Out &out) {
  const Position tile = block_tile<WRITE_X, WRITE_Y, 1, COLUMN / WRITE_X, ZIGZAG>(grid.nx, grid.ny, 1);
  const int x = tile.x * WRITE_X + threadIdx.x, y = tile.y * WRITE_Y + threadIdx.y * WORK_Y;
  const int depth = inner(grid);
  T sum[WORK_Y][WORK_X] = {};
#pragma unroll 4
  for (int k = 0; k < depth; k++) {
    T a[WORK_Y], b[WORK_X];
#pragma unroll
    for (int j = 0; j < WORK_Y; j++) a[j] = __ldg(grid.in[A] + cell_index(grid, k, min(y + j, grid.ny - 1), 0));
#pragma unroll
    for (int i = 0; i < WORK_X; i++) b[i] = __ldg(grid.in[B] + cell_index(grid, min(x + i * GROUP_X, grid.nx - 1), k, 0));
#pragma unroll
    for (int j = 0; j < WORK_Y; j++)
#pragma unroll
      for (int i = 0; i < WORK_X; i++) sum[j][i] += a[j] * b[i];
  }
#pragma unroll
  for (int j = 0; j < WORK_Y; j++)
#pragma unroll
    for (int i = 0; i < WORK_X; i++)
      if (x + i * GROUP_X < grid.nx && y + j < grid.ny) out.field[0][cell_index(grid, x + i * GROUP_X, y + j, 0)] = sum[j][i];
}

// A line of threads over C in column order (Prasetya 2022, listing 5), as in family
// global of stencils.
__device__ __forceinline__ void by_lengths(const Grid &grid, const Out &out) {
  const index_t i = (index_t)blockIdx.x * GROUP_X + threadIdx.x;
  const int column = COLUMN == 0 ? grid.nx : COLUMN;
  const int strip = (int)(i / ((index_t)grid.ny * column));
  const int origin = strip * column;
  if (origin >= grid.nx) return;
  const int width = min(column, grid.nx - origin);
  const index_t in_strip = i - (index_t)origin * grid.ny;
  const int y = (int)(in_strip / width);
  if (y >= grid.ny) return;
  int x = (int)(in_strip - (index_t)y * width);
  if (ZIGZAG && y % 2 == 1) x = width - 1 - x;
  x += origin;
  const int depth = inner(grid);
  T sum = 0;
#pragma unroll 4
  for (int k = 0; k < depth; k++) sum += __ldg(grid.in[A] + cell_index(grid, k, y, 0)) * __ldg(grid.in[B] + cell_index(grid, x, k, 0));
  out.field[0][cell_index(grid, x, y, 0)] = sum;
}

extern "C" __global__ void __launch_bounds__(GROUP_X *GROUP_Y) ENTRY(PARAMETERS) {
  if (await_launch(nx)) return;
  const Grid grid = GRID;
  const Out out = OUT;
  if (SPAN_LENGTHS)
    by_lengths(grid, out);
  else
    by_blocks(grid, out);
}
