// Shared by every family: index arithmetic and the order in which blocks walk the grid.

__device__ __forceinline__ int clamp_index(int i, int n) { return i < 0 ? 0 : i < n ? i : n - 1; }

__device__ __forceinline__ int ceil_div(int a, int b) { return (a + b - 1) / b; }

struct Position {
  int x, y, z;
};

// Which tile of WRITE_X x WRITE_Y x WRITE_Z cells this block computes. Without
// columns the grid is the tiles' own shape. With columns the grid is flat and the
// tiles are walked in vertical strips COLUMN tiles wide (Prasetya 2022, section
// 4.2, with blocks for cells; all axes but x fold into the vertical one). The
// last strip is narrower where the width does not divide the grid. Zigzag
// reverses every other row of a strip.
template <int WRITE_X, int WRITE_Y, int WRITE_Z, int COLUMN, int ZIGZAG>
__device__ __forceinline__ Position block_tile(int nx, int ny, int nz) {
  Position t;
  if constexpr (COLUMN == 0) {
    t.x = blockIdx.x;
    t.y = blockIdx.y;
    t.z = blockIdx.z;
  } else {
    const int tiles_x = ceil_div(nx, WRITE_X), tiles_y = ceil_div(ny, WRITE_Y);
    const int height = tiles_y * ceil_div(nz, WRITE_Z);
    const int i = blockIdx.x;
    const int strip = i / (height * COLUMN);
    const int first = strip * COLUMN;
    const int width = min(COLUMN, tiles_x - first);
    const int in_strip = i - strip * height * COLUMN;
    const int row = in_strip / width;
    int x = in_strip - row * width;
    if (ZIGZAG && row % 2 == 1) x = width - 1 - x;
    t.x = first + x;
    t.y = row % tiles_y;
    t.z = row / tiles_y;
  }
  return t;
}
