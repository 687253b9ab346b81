// Family tile: a block loads its cells and their halo into shared memory once,
// then computes PYRAMID time steps there before it writes (multi-write big tile of
// the Futhark thesis, with ghost-zone pyramids). Each step the valid region
// shrinks by the stencil's reach; the last step goes straight to global memory.

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
struct Walk {
  static constexpr int STRIDE_X = THREADS % X, STRIDE_Y = THREADS / X % Y, STRIDE_Z = THREADS / X / Y;
  int x, y, z;
  __device__ __forceinline__ explicit Walk(int thread) : x(thread % X), y(thread / X % Y), z(thread / X / Y) {}
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

// The tile in shared memory and where the grid's edge lies in it.
struct Tile {
  const T *cells;
  Position low, high; // first and last cell of the grid, in cells of the tile
};

// The old value dx, dy, dz away from cell (x, y, z) of the tile. A point outside
// the grid is the nearest cell inside, at every fused step.
template <bool EDGE>
__device__ __forceinline__ T point(const Tile &t, int x, int y, int z) {
  if (EDGE) {
    x = min(max(x, t.low.x), t.high.x);
    y = min(max(y, t.low.y), t.high.y);
    z = min(max(z, t.low.z), t.high.z);
  }
  return t.cells[(z * READ_Y + y) * PITCH + x];
}

template <bool EDGE>
__device__ __forceinline__ T update(const Tile &t, int x, int y, int z) {
  return cell([&](int dx, int dy, int dz) { return point<EDGE>(t, x + dx, y + dy, z + dz); });
}

// Loads one cell of the read tile.
template <bool EDGE>
__device__ __forceinline__ void load_cell(const T *__restrict__ in, T *cells, Position origin, int tx, int ty, int tz, int nx, int ny, int nz) {
  int x = origin.x + tx, y = origin.y + ty, z = origin.z + tz;
  if (EDGE) {
    x = clamp_index(x, nx);
    y = clamp_index(y, ny);
    z = clamp_index(z, nz);
  }
  cells[(tz * READ_Y + ty) * PITCH + tx] = in[((index_t)z * ny + y) * nx + x];
}

// The loaders of the Futhark thesis, section 5.3: flat order with add and carry,
// flat order with division and remainder by constants, and the group's own shape
// laid over the tile again and again.
template <bool EDGE>
__device__ __forceinline__ void load_tile(const T *__restrict__ in, T *cells, Position origin, int thread, int nx, int ny, int nz) {
  if constexpr (LOADER == 0) {
#pragma unroll 4
    for (Walk<READ_X, READ_Y, READ_Z> w(thread); w.more(); w.next())
      load_cell<EDGE>(in, cells, origin, w.x, w.y, w.z, nx, ny, nz);
  } else if constexpr (LOADER == 1) {
#pragma unroll 4
    for (int i = thread; i < READ_X * READ_Y * READ_Z; i += THREADS)
      load_cell<EDGE>(in, cells, origin, i % READ_X, i / READ_X % READ_Y, i / READ_X / READ_Y, nx, ny, nz);
  } else {
    for (int z = threadIdx.z; z < READ_Z; z += GROUP_Z)
#pragma unroll 4
      for (int y = threadIdx.y; y < READ_Y; y += GROUP_Y)
#pragma unroll
        for (int x = threadIdx.x; x < READ_X; x += GROUP_X)
          load_cell<EDGE>(in, cells, origin, x, y, z, nx, ny, nz);
  }
}

// Time steps S .. PYRAMID - 1, from t.cells into other and back. Step S is valid
// S reaches in from each side of the read tile.
template <bool EDGE, int S>
__device__ __forceinline__ void fused_steps(Tile &t, T *other, int thread) {
  if constexpr (S < PYRAMID) {
    constexpr int X = READ_X - S * (LOW_X + HIGH_X), Y = READ_Y - S * (LOW_Y + HIGH_Y), Z = READ_Z - S * (LOW_Z + HIGH_Z);
    for (Walk<X, Y, Z> w(thread); w.more(); w.next()) {
      const int x = w.x + S * LOW_X, y = w.y + S * LOW_Y, z = w.z + S * LOW_Z;
      other[(z * READ_Y + y) * PITCH + x] = update<EDGE>(t, x, y, z);
    }
    __syncthreads();
    T *free = const_cast<T *>(t.cells);
    t.cells = other;
    fused_steps<EDGE, S + 1>(t, free, thread);
  }
}

template <bool EDGE>
__device__ __forceinline__ void block(const T *__restrict__ in, T *__restrict__ out, T *cells, Position first, int nx, int ny, int nz) {
  const int thread = (threadIdx.z * GROUP_Y + threadIdx.y) * GROUP_X + threadIdx.x;
  const Position origin = {first.x - PYRAMID * LOW_X, first.y - PYRAMID * LOW_Y, first.z - PYRAMID * LOW_Z};
  load_tile<EDGE>(in, cells, origin, thread, nx, ny, nz);
  Tile t = {cells,
            {-origin.x, -origin.y, -origin.z},
            {nx - 1 - origin.x, ny - 1 - origin.y, nz - 1 - origin.z}};
  if (EDGE) {
    // A tile that hangs over the edge computes cells outside the grid too; they
    // are never used, but the points they read must lie in the tile.
    t.low = {max(t.low.x, 0), max(t.low.y, 0), max(t.low.z, 0)};
    t.high = {min(t.high.x, READ_X - 1), min(t.high.y, READ_Y - 1), min(t.high.z, READ_Z - 1)};
  }
  __syncthreads();
  fused_steps<EDGE, 1>(t, cells + TILE_CELLS, thread);

  // The last step: x strided by the group, so that stores are contiguous; y and z
  // consecutive, so that neighbouring cells share loads in registers.
  const int x = threadIdx.x, y = threadIdx.y * WORK_Y, z = threadIdx.z * WORK_Z;
  T value[WORK_Z][WORK_Y][WORK_X];
#pragma unroll
  for (int k = 0; k < WORK_Z; k++)
#pragma unroll
    for (int j = 0; j < WORK_Y; j++)
#pragma unroll
      for (int i = 0; i < WORK_X; i++)
        value[k][j][i] = update<EDGE>(t, x + i * GROUP_X + PYRAMID * LOW_X, y + j + PYRAMID * LOW_Y, z + k + PYRAMID * LOW_Z);
#pragma unroll
  for (int k = 0; k < WORK_Z; k++)
#pragma unroll
    for (int j = 0; j < WORK_Y; j++)
#pragma unroll
      for (int i = 0; i < WORK_X; i++) {
        const int gx = first.x + x + i * GROUP_X, gy = first.y + y + j, gz = first.z + z + k;
        if (!EDGE || (gx < nx && gy < ny && gz < nz)) out[((index_t)gz * ny + gy) * nx + gx] = value[k][j][i];
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

extern "C" __global__ void __launch_bounds__(THREADS)
    ENTRY(const T *__restrict__ in, T *__restrict__ out, int nx, int ny, int nz) {
  extern __shared__ __align__(16) unsigned char shared_bytes[];
  T *cells = reinterpret_cast<T *>(shared_bytes);
  Position first = position(nx, ny, nz);
  first.x *= WRITE_X;
  first.y *= WRITE_Y;
  first.z *= WRITE_Z;
  const bool inside = first.x >= PYRAMID * LOW_X && first.x - PYRAMID * LOW_X + READ_X <= nx &&
                      first.y >= PYRAMID * LOW_Y && first.y - PYRAMID * LOW_Y + READ_Y <= ny &&
                      first.z >= PYRAMID * LOW_Z && first.z - PYRAMID * LOW_Z + READ_Z <= nz;
  if (inside)
    block<false>(in, out, cells, first, nx, ny, nz);
  else
    block<true>(in, out, cells, first, nx, ny, nz);
}
