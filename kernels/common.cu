// Shared by every family: index arithmetic, the boundary rule and the order in which
// blocks walk the grid.

// Waits until the launch before has ended and what it wrote is seen: from compute capability 9.0 on a launch may begin
// earlier (programmatic dependent launch), which saves it a microsecond or two. Every kernel does so first in all its blocks: one that ended
// without would let the launch after it begin while the one before it still runs. A kernel ends there where this is true, which it is of no grid:
// compilers take what a kernel only reads for unchanging, and would read it before the wait if nothing were decided behind that.
__device__ __forceinline__ bool await_launch(int nx) {
#if __CUDA_ARCH__ >= 900
  asm volatile("griddepcontrol.wait;" ::: "memory");
  return nx < 1;
#else
  return false;
#endif
}

__device__ __forceinline__ int clamp_index(int i, int n) { return i < 0 ? 0 : i < n ? i : n - 1; }

__device__ __forceinline__ int ceil_div(int a, int b) { return (a + b - 1) / b; }

// The cell inside, on an axis of n cells, that stands for a cell i outside where the grid is mirrored, without its first and last cell, or
// repeats. Without branches, so that cells that share a coordinate share what is made of it.
__device__ __forceinline__ int mirrored(int i, int n) {
  const unsigned period = max(2u * n - 2u, 1u), at = (unsigned)max(i, -i) % period; // twice an axis is more than an int holds
  return (int)min(at, period - at);
}
__device__ __forceinline__ int repeated(int i, int n) {
  const int at = i % n;
  return at + (at < 0 ? n : 0);
}

struct Position {
  int x, y, z;
};

// Without branches: some kernels ask for hundreds of cells, and compilers take minutes where
// hundreds of variables meet at hundreds of branches.
__device__ __forceinline__ bool in_grid(const Grid &grid, int x, int y, int z) {
  return ((unsigned)x < (unsigned)grid.nx) & ((unsigned)y < (unsigned)grid.ny) & ((unsigned)z < (unsigned)grid.nz);
}

// The cell inside, on an axis of n cells, that stands for cell i: itself, or by the
// boundary rule another. Where the rule names none, the nearest.
__device__ __forceinline__ int boundary_index(int i, int n) {
  if constexpr (BOUNDARY == MIRROR) {
    return mirrored(i, n);
  } else if constexpr (BOUNDARY == WRAP) {
    return repeated(i, n);
  } else {
    return clamp_index(i, n);
  }
}

__device__ __forceinline__ void wrap(const Grid &grid, int &x, int &y, int &z) {
  x = boundary_index(x, grid.nx);
  y = boundary_index(y, grid.ny);
  z = boundary_index(z, grid.nz);
}

__device__ __forceinline__ index_t cell_index(const Grid &grid, int x, int y, int z) {
  return ((index_t)z * grid.ldy + y) * grid.ldx + x;
}

// Element i of a read-only array of n elements, or the nearest there is.
__device__ __forceinline__ T read_index(const Reader array, long long i, long long n) {
  return __ldg(array + (i < 0 ? 0 : i < n ? i : n - 1));
}

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
    const int height = tiles_y * ceil_div(nz, WRITE_Z), column = min(COLUMN, tiles_x); // else height * column may be more than an int holds
    const int i = blockIdx.x;
    const int strip = i / (height * column);
    const int first = strip * column;
    const int width = max(1, min(column, tiles_x - first)); // 1 in blocks beyond the last strip: a stage may need fewer than are launched
    const int in_strip = i - strip * height * column;
    const int row = in_strip / width;
    int x = in_strip - row * width;
    if (ZIGZAG && row % 2 == 1) x = width - 1 - x;
    t.x = first + x;
    t.y = row % tiles_y;
    t.z = row / tiles_y;
  }
  return t;
}
