// Family global: every point is a global load, served by L1. A thread computes
// WORK_X x WORK_Y x WORK_Z cells: strided by the group along x, so that a warp's
// loads stay contiguous; consecutive along y and z, so that neighbouring cells
// share loads in registers.

// The old value at (x, y, z). Only blocks at the grid's edge pay for the clamp.
template <bool EDGE>
__device__ __forceinline__ T load(const T *__restrict__ in, int x, int y, int z, int nx, int ny, int nz) {
  if (EDGE) {
    x = clamp_index(x, nx);
    y = clamp_index(y, ny);
    z = clamp_index(z, nz);
  }
  return in[((index_t)z * ny + y) * nx + x];
}

template <bool EDGE>
__device__ __forceinline__ T update(const T *__restrict__ in, int x, int y, int z, int nx, int ny, int nz) {
  return cell([&](int dx, int dy, int dz) { return load<EDGE>(in, x + dx, y + dy, z + dz, nx, ny, nz); });
}

// All values first, then all stores, so that loads may be shared across cells.
template <bool EDGE>
__device__ __forceinline__ void block(const T *__restrict__ in, T *__restrict__ out, Position first, int nx, int ny, int nz) {
  const int x = first.x + threadIdx.x;
  const int y = first.y + threadIdx.y * WORK_Y;
  const int z = first.z + threadIdx.z * WORK_Z;
  T value[WORK_Z][WORK_Y][WORK_X];
#pragma unroll
  for (int k = 0; k < WORK_Z; k++)
#pragma unroll
    for (int j = 0; j < WORK_Y; j++)
#pragma unroll
      for (int i = 0; i < WORK_X; i++)
        value[k][j][i] = update<EDGE>(in, x + i * GROUP_X, y + j, z + k, nx, ny, nz);
#pragma unroll
  for (int k = 0; k < WORK_Z; k++)
#pragma unroll
    for (int j = 0; j < WORK_Y; j++)
#pragma unroll
      for (int i = 0; i < WORK_X; i++)
        if (!EDGE || (x + i * GROUP_X < nx && y + j < ny && z + k < nz))
          out[((index_t)(z + k) * ny + y + j) * nx + x + i * GROUP_X] = value[k][j][i];
}

// A grid of blocks, each a box of cells.
__device__ __forceinline__ void by_blocks(const T *__restrict__ in, T *__restrict__ out, int nx, int ny, int nz) {
  constexpr int X = GROUP_X * WORK_X, Y = GROUP_Y * WORK_Y, Z = GROUP_Z * WORK_Z;
  Position first = block_tile<X, Y, Z, COLUMN / X, ZIGZAG>(nx, ny, nz);
  first.x *= X;
  first.y *= Y;
  first.z *= Z;
  const bool inside = first.x >= LOW_X && first.x + X + HIGH_X <= nx && first.y >= LOW_Y &&
                      first.y + Y + HIGH_Y <= ny && first.z >= LOW_Z && first.z + Z + HIGH_Z <= nz;
  if (inside)
    block<false>(in, out, first, nx, ny, nz);
  else
    block<true>(in, out, first, nx, ny, nz);
}

// A line of threads over the cells in column order, whatever the width: thread i
// of strip k = i / (height * COLUMN) has x = (i mod w) + o in row i / w of the
// strip (Prasetya 2022, section 4.2). Two slips there are mended: i is taken
// within the strip, and zigzag is w - 1 - x.
__device__ __forceinline__ void by_lengths(const T *__restrict__ in, T *__restrict__ out, int nx, int ny, int nz) {
  const index_t i = (index_t)blockIdx.x * GROUP_X + threadIdx.x;
  const int height = ny * nz;
  const int column = COLUMN == 0 ? nx : COLUMN;
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
  const bool inside = x >= LOW_X && x + HIGH_X < nx && y >= LOW_Y && y + HIGH_Y < ny && z >= LOW_Z && z + HIGH_Z < nz;
  out[((index_t)z * ny + y) * nx + x] =
      inside ? update<false>(in, x, y, z, nx, ny, nz) : update<true>(in, x, y, z, nx, ny, nz);
}

extern "C" __global__ void __launch_bounds__(GROUP_X *GROUP_Y *GROUP_Z)
    ENTRY(const T *__restrict__ in, T *__restrict__ out, int nx, int ny, int nz) {
  if (SPAN_LENGTHS)
    by_lengths(in, out, nx, ny, nz);
  else
    by_blocks(in, out, nx, ny, nz);
}
