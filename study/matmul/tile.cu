// Family tile: a block computes WRITE_X x WRITE_Y elements of C, and goes through A
// and B in slices DEPTH deep that it loads into shared memory first: of A WRITE_Y
// rows of DEPTH elements, of B DEPTH rows of WRITE_X (Lam, Rothberg and Wolf 1991;
// CUDA C++ programming guide, shared memory).

constexpr int WRITE_X = GROUP_X * WORK_X, WRITE_Y = GROUP_Y * WORK_Y; // elements of C a block writes
constexpr int THREADS = GROUP_X * GROUP_Y;

// Loads a slice of rows x columns from a matrix whose rows are nx apart, and zeros
// beyond its limits: they add nothing.
template <int ROWS, int COLUMNS>
__device__ __forceinline__ void load_slice(T *slice, const Grid &grid, const T *from, int thread, int row, int column, int rows, int columns) {
#pragma unroll 4
  for (int i = thread; i < ROWS * COLUMNS; i += THREADS) {
    const int r = row + i / COLUMNS, c = column + i % COLUMNS;
    slice[i] = r < rows && c < columns ? __ldg(from + cell_index(grid, c, r, 0)) : (T)0;
  }
}

extern "C" __global__ void __launch_bounds__(THREADS) ENTRY(PARAMETERS) {
  if (await_launch(nx)) return;
  extern __shared__ __align__(16) unsigned char shared_bytes[];
  T *a = reinterpret_cast<T *>(shared_bytes), *b = a + WRITE_Y * DEPTH;
  const Grid grid = GRID;
  const Out out = OUT;
  const Position tile = block_tile<WRITE_X, WRITE_Y, 1, COLUMN / WRITE_X, ZIGZAG>(nx, ny, 1);
  const int first_x = tile.x * WRITE_X, first_y = tile.y * WRITE_Y;
  const int thread = threadIdx.y * GROUP_X + threadIdx.x;
  const int depth = inner(grid);
  T sum[WORK_Y][WORK_X] = {};
  for (int k = 0; k < depth; k += DEPTH) {
    load_slice<WRITE_Y, DEPTH>(a, grid, grid.in[A], thread, first_y, k, ny, depth);
    load_slice<DEPTH, WRITE_X>(b, grid, grid.in[B], thread, k, first_x, depth, nx);
    __syncthreads();
#pragma unroll
    for (int d = 0; d < DEPTH; d++) {
      T column[WORK_Y];
#pragma unroll
      for (int j = 0; j < WORK_Y; j++) column[j] = a[(threadIdx.y * WORK_Y + j) * DEPTH + d];
#pragma unroll
      for (int i = 0; i < WORK_X; i++) {
        const T row = b[d * WRITE_X + threadIdx.x + i * GROUP_X];
#pragma unroll
        for (int j = 0; j < WORK_Y; j++) sum[j][i] += column[j] * row;
      }
    }
    __syncthreads();
  }
#pragma unroll
  for (int j = 0; j < WORK_Y; j++)
#pragma unroll
    for (int i = 0; i < WORK_X; i++) {
      const int x = first_x + threadIdx.x + i * GROUP_X, y = first_y + threadIdx.y * WORK_Y + j;
      if (x < nx && y < ny) out.field[0][cell_index(grid, x, y, 0)] = sum[j][i];
    }
}
