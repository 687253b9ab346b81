// Family global: every point is a global load, served by L1. A thread computes
// WORK_X x WORK_Y x WORK_Z cells: strided by the group along x, so that a warp's
// loads stay contiguous; consecutive along y and z, so that neighbouring cells
// share loads in registers.

// An array's old value at (x, y, z). Only blocks at the grid's edge pay for the
// boundary rule. A plain load: __restrict__ makes it a read-only one, and leaves the
// arithmetic of addresses to the compiler.
template <bool EDGE>
__device__ __forceinline__ T load(const Grid &grid, int array, int x, int y, int z) {
  if (!EDGE) return grid.in[array][cell_index(grid, x, y, z)];
  int ix = x, iy = y, iz = z;
  stand_in(grid, array, ix, iy, iz);
  return boundary_value(grid, array, grid.in[array][cell_index(grid, ix, iy, iz)], x, y, z, grid.iteration);
}

template <bool EDGE>
__device__ __forceinline__ Cell update(const Grid &grid, int x, int y, int z) {
  return cell<EDGE>(grid, x, y, z, grid.iteration,
                    [&](int array, int dx, int dy, int dz) { return load<EDGE>(grid, array, x + dx, y + dy, z + dz); });
}

__device__ __forceinline__ void store(const Out &out, index_t i, const Cell &value) {
#pragma unroll
  for (int o = 0; o < OUTPUTS; o++) out.field[o][i] = value.at[o];
}

// All values first, then all stores, so that loads may be shared across cells.
template <bool EDGE>
__device__ __forceinline__ void block(const Grid &grid, const Out &out, Position first) {
  const int x = first.x + threadIdx.x;
  const int y = first.y + threadIdx.y * WORK_Y;
  const int z = first.z + threadIdx.z * WORK_Z;
  Cell value[WORK_Z][WORK_Y][WORK_X];
#pragma unroll
  for (int k = 0; k < WORK_Z; k++)
#pragma unroll
    for (int j = 0; j < WORK_Y; j++)
#pragma unroll
      for (int i = 0; i < WORK_X; i++)
        value[k][j][i] = update<EDGE>(grid, x + i * GROUP_X, y + j, z + k);
#pragma unroll
  for (int k = 0; k < WORK_Z; k++)
#pragma unroll
    for (int j = 0; j < WORK_Y; j++)
#pragma unroll
      for (int i = 0; i < WORK_X; i++)
        if (!EDGE || (x + i * GROUP_X < grid.nx && y + j < grid.ny && z + k < grid.nz))
          store(out, cell_index(grid, x + i * GROUP_X, y + j, z + k), value[k][j][i]) NUMBERS(, out.count(grid, x + i * GROUP_X, y + j, z + k, value[k][j][i].at));
}

// A grid of blocks, each a box of cells.
__device__ __forceinline__ void by_blocks(const Grid &grid, const Out &out) {
  constexpr int X = GROUP_X * WORK_X, Y = GROUP_Y * WORK_Y, Z = GROUP_Z * WORK_Z;
  Position first = block_tile<X, Y, Z, COLUMN / X, ZIGZAG>(grid.nx, grid.ny, grid.nz);
  first.x *= X;
  first.y *= Y;
  first.z *= Z;
  const bool inside = first.x >= LOW_X && first.x + X + HIGH_X + RIM_X <= grid.nx && first.y >= LOW_Y &&
                      first.y + Y + HIGH_Y + RIM_Y <= grid.ny && first.z >= LOW_Z && first.z + Z + HIGH_Z + RIM_Z <= grid.nz;
  if (inside)
    block<false>(grid, out, first);
  else
    block<true>(grid, out, first);
}

// A line of threads over the cells in column order, whatever the width: thread i
// of strip k = i / (height * COLUMN) has x = (i mod w) + o in row i / w of the
// strip (Prasetya 2022, section 4.2). Two slips there are mended: i is taken
// within the strip, and zigzag is w - 1 - x.
__device__ __forceinline__ void by_lengths(const Grid &grid, const Out &out) {
  const int nx = grid.nx, ny = grid.ny, nz = grid.nz;
  const index_t i = (index_t)blockIdx.x * GROUP_X + threadIdx.x;
  const int height = ny * nz;
  const int column = COLUMN == 0 ? nx : min(COLUMN, nx); // else height * column may be more than an index holds
  const int strip = (int)(i / ((index_t)height * column));
  const int origin = strip * column;
  if (origin >= nx) return;
  const int width = min(column, nx - origin);
  const index_t in_strip = i - (index_t)origin * height;
  const int row = (int)(in_strip / width);
  if (row >= height) return;
  int x = (int)(in_strip - (index_t)row * width);
  if (ZIGZAG && row % 2 == 1) x = width - 1 - x;
  x += origin;
  const int y = row % ny, z = row / ny;
  const bool inside = x >= LOW_X && x + HIGH_X + RIM_X < nx && y >= LOW_Y && y + HIGH_Y + RIM_Y < ny && z >= LOW_Z && z + HIGH_Z + RIM_Z < nz;
  store(out, cell_index(grid, x, y, z), inside ? update<false>(grid, x, y, z) : update<true>(grid, x, y, z));
}

extern "C" __global__ void __launch_bounds__(GROUP_X *GROUP_Y *GROUP_Z) ENTRY(PARAMETERS) {
  if (await_launch(nx)) return;
  const Grid grid = GRID;
  const Out out = OUT;
  if (SPAN_LENGTHS)
    by_lengths(grid, out);
  else
    by_blocks(grid, out) NUMBERS(, out.leave());
}
