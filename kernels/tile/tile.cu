// Family tile: a block loads its cells and their halo into shared memory once,
// then computes PYRAMID time steps there before it writes (multi-write big tile of
// the Futhark thesis, with ghost-zone pyramids). Each step the valid region
// shrinks by the stencil's radius; the last step goes straight to global memory.

constexpr int THREADS = GROUP_X * GROUP_Y * GROUP_Z;
constexpr int WRITE_X = GROUP_X * WORK_X, WRITE_Y = GROUP_Y * WORK_Y, WRITE_Z = GROUP_Z * WORK_Z;
constexpr int READ_X = WRITE_X + PYRAMID * (LOW_X + HIGH_X);
constexpr int READ_Y = WRITE_Y + PYRAMID * (LOW_Y + HIGH_Y);
constexpr int READ_Z = WRITE_Z + PYRAMID * (LOW_Z + HIGH_Z);
constexpr int PITCH = READ_X + PADDING; // cells from one row of shared memory to the next
constexpr int TILE_CELLS = PITCH * READ_Y * READ_Z;

// The cells of an X x Y x Z box dealt out to the threads of the block in flat
// order. Advancing adds and carries instead of dividing (flat loader with
// add/carry, Futhark thesis, section 5.3.4).
template <int X, int Y, int Z>
struct Cursor {
  static constexpr int STRIDE_X = THREADS % X, STRIDE_Y = THREADS / X % Y, STRIDE_Z = THREADS / X / Y;
  int x, y, z;
  __device__ __forceinline__ explicit Cursor(int thread) : x(thread % X), y(thread / X % Y), z(thread / X / Y) {}
  __device__ __forceinline__ bool more() const { return z < Z; }
  __device__ __forceinline__ void next() {
    x += STRIDE_X;
    y += STRIDE_Y;
    z += STRIDE_Z;
    if (x >= X) {
      x -= X;
      y++;
    }
    if (y >= Y) {
      y -= Y;
      z++;
    }
  }
};

constexpr int BUFFER = TILES * TILE_CELLS; // cells of all arrays
typedef TileLayout<PITCH, READ_Y, TILE_CELLS> Layout;

// Loads one cell of the read tile.
template <bool EDGE>
__device__ __forceinline__ void load_cell(const Grid &grid, T *cells, Position origin, int tx, int ty, int tz) {
  int x = origin.x + tx, y = origin.y + ty, z = origin.z + tz;
  if (EDGE) bring_in(grid, x, y, z);
  const index_t from = cell_index(grid, x, y, z);
  const int to = (tz * READ_Y + ty) * PITCH + tx;
#pragma unroll
  for (int a = 0; a < ARRAYS; a++)
    if (slot(a) >= 0) {
      const T value = __ldg(grid.in[a] + from);
      cells[slot(a) * TILE_CELLS + to] = value;
      if (PYRAMID > 1 && output_of(a) < 0) cells[BUFFER + slot(a) * TILE_CELLS + to] = value; // it stays as it is
    }
}

// The loaders of the Futhark thesis, section 5.3: flat order with add and carry,
// flat order with division and remainder by constants, and the group's own shape
// laid over the tile again and again.
template <bool EDGE>
__device__ __forceinline__ void load_tile(const Grid &grid, T *cells, Position origin, int thread) {
  if constexpr (LOADER == 0) {
#pragma unroll 4
    for (Cursor<READ_X, READ_Y, READ_Z> w(thread); w.more(); w.next())
      load_cell<EDGE>(grid, cells, origin, w.x, w.y, w.z);
  } else if constexpr (LOADER == 1) {
#pragma unroll 4
    for (int i = thread; i < READ_X * READ_Y * READ_Z; i += THREADS)
      load_cell<EDGE>(grid, cells, origin, i % READ_X, i / READ_X % READ_Y, i / READ_X / READ_Y);
  } else {
    for (int z = threadIdx.z; z < READ_Z; z += GROUP_Z)
#pragma unroll 4
      for (int y = threadIdx.y; y < READ_Y; y += GROUP_Y)
#pragma unroll
        for (int x = threadIdx.x; x < READ_X; x += GROUP_X)
          load_cell<EDGE>(grid, cells, origin, x, y, z);
  }
}

// Time steps S .. PYRAMID - 1, from t.cells into other and back. Step S is valid
// S reaches in from each side of the read tile.
template <bool EDGE, int S>
__device__ __forceinline__ void fused_steps(const Grid &grid, Tile &t, T *other, int thread) {
  if constexpr (S < PYRAMID) {
    constexpr int X = READ_X - S * (LOW_X + HIGH_X), Y = READ_Y - S * (LOW_Y + HIGH_Y), Z = READ_Z - S * (LOW_Z + HIGH_Z);
    for (Cursor<X, Y, Z> w(thread); w.more(); w.next()) {
      const int x = w.x + S * LOW_X, y = w.y + S * LOW_Y, z = w.z + S * LOW_Z;
      const Cell value = update<EDGE, Layout>(grid, t, x, y, z, grid.iteration + S - 1);
#pragma unroll
      for (int f = 0; f < FIELDS; f++)
        if (slot(f) >= 0 && output_of(f) >= 0) other[slot(f) * TILE_CELLS + (z * READ_Y + y) * PITCH + x] = value.at[output_of(f)];
    }
    __syncthreads();
    T *free = const_cast<T *>(t.cells);
    t.cells = other;
    fused_steps<EDGE, S + 1>(grid, t, free, thread);
  }
}

template <bool EDGE>
__device__ __forceinline__ void block(const Grid &grid, const Out &out, T *cells, Position first) {
  const int thread = (threadIdx.z * GROUP_Y + threadIdx.y) * GROUP_X + threadIdx.x;
  const Position origin = {first.x - PYRAMID * LOW_X, first.y - PYRAMID * LOW_Y, first.z - PYRAMID * LOW_Z};
  load_tile<EDGE>(grid, cells, origin, thread);
  Tile t = {cells, origin,
            {low_cell<0>(origin.x), low_cell<1>(origin.y), low_cell<2>(origin.z)},
            {high_cell<0>(grid.nx - 1 - origin.x), high_cell<1>(grid.ny - 1 - origin.y), high_cell<2>(grid.nz - 1 - origin.z)}};
  if (EDGE) {
    // A tile that hangs over the edge computes cells outside the grid too; they
    // are never used, but the points they read must lie in the tile.
    t.low = {max(t.low.x, 0), max(t.low.y, 0), max(t.low.z, 0)};
    t.high = {min(t.high.x, READ_X - 1), min(t.high.y, READ_Y - 1), min(t.high.z, READ_Z - 1)};
  }
  __syncthreads();
  fused_steps<EDGE, 1>(grid, t, cells + BUFFER, thread);

  // The last step: x strided by the group, so that stores are contiguous; y and z
  // consecutive, so that neighbouring cells share loads in registers.
  const int x = threadIdx.x, y = threadIdx.y * WORK_Y, z = threadIdx.z * WORK_Z;
  Cell value[WORK_Z][WORK_Y][WORK_X];
#pragma unroll
  for (int k = 0; k < WORK_Z; k++)
#pragma unroll
    for (int j = 0; j < WORK_Y; j++)
#pragma unroll
      for (int i = 0; i < WORK_X; i++)
        value[k][j][i] = update<EDGE, Layout>(grid, t, x + i * GROUP_X + PYRAMID * LOW_X, y + j + PYRAMID * LOW_Y, z + k + PYRAMID * LOW_Z,
                                      grid.iteration + PYRAMID - 1);
#pragma unroll
  for (int k = 0; k < WORK_Z; k++)
#pragma unroll
    for (int j = 0; j < WORK_Y; j++)
#pragma unroll
      for (int i = 0; i < WORK_X; i++) {
        const int gx = first.x + x + i * GROUP_X, gy = first.y + y + j, gz = first.z + z + k;
        if (EDGE && (gx >= grid.nx || gy >= grid.ny || gz >= grid.nz)) continue;
#pragma unroll
        for (int o = 0; o < OUTPUTS; o++) out.field[o][cell_index(grid, gx, gy, gz)] = value[k][j][i].at[o];
      }
}

// Which tile this block computes. A single-dimensional grid without columns finds
// it by division: the same order as the grid of the tiles' own shape.
__device__ __forceinline__ Position position(int nx, int ny, int nz) {
  if constexpr (SINGLE_DIM) {
    const int tiles_x = ceil_div(nx, WRITE_X), tiles_y = ceil_div(ny, WRITE_Y), i = blockIdx.x;
    return {i % tiles_x, i / tiles_x % tiles_y, i / tiles_x / tiles_y};
  } else {
    return block_tile<WRITE_X, WRITE_Y, WRITE_Z, COLUMN / WRITE_X, ZIGZAG>(nx, ny, nz);
  }
}

extern "C" __global__ void __launch_bounds__(THREADS) ENTRY(PARAMETERS) {
  if (await_launch(nx)) return;
  extern __shared__ __align__(16) unsigned char shared_bytes[];
  T *cells = reinterpret_cast<T *>(shared_bytes);
  const Grid grid = GRID;
  const Out out = OUT;
  Position first = position(grid.nx, grid.ny, grid.nz);
  first.x *= WRITE_X;
  first.y *= WRITE_Y;
  first.z *= WRITE_Z;
  const bool inside = first.x >= PYRAMID * LOW_X && first.x - PYRAMID * LOW_X + READ_X + RIM_X <= grid.nx &&
                      first.y >= PYRAMID * LOW_Y && first.y - PYRAMID * LOW_Y + READ_Y + RIM_Y <= grid.ny &&
                      first.z >= PYRAMID * LOW_Z && first.z - PYRAMID * LOW_Z + READ_Z + RIM_Z <= grid.nz;
  if (inside)
    block<false>(grid, out, cells, first);
  else
    block<true>(grid, out, cells, first);
}
