// Family smalltile: a block's threads load one cell each, and those whose points
// all lie in the block compute (small tile of the Futhark thesis, with the pyramids
// of the SL template). The threads of the halo idle after loading; each of the
// PYRAMID time steps leaves a stencil's reach more of them idle. The last step goes
// straight to global memory.

constexpr int THREADS = GROUP_X * GROUP_Y * GROUP_Z;
constexpr int WRITE_X = GROUP_X - PYRAMID * (LOW_X + HIGH_X);
constexpr int WRITE_Y = GROUP_Y - PYRAMID * (LOW_Y + HIGH_Y);
constexpr int WRITE_Z = GROUP_Z - PYRAMID * (LOW_Z + HIGH_Z);

// The block's cells in shared memory and where the grid's edge lies among them.
struct Tile {
  const T *cells;
  Position low, high; // first and last cell of the grid, in cells of the tile
};

// The old value dx, dy, dz away from cell (x, y, z) of the tile. A point outside
// the grid is the nearest cell inside, at every fused step.
template <bool EDGE>
__device__ __forceinline__ T update(const Grid &grid, const Tile &t, int x, int y, int z) {
  const Cell value = cell<EDGE>(grid, 0, 0, 0, 0, [&](int, int dx, int dy, int dz) {
    int px = x + dx, py = y + dy, pz = z + dz;
    if (EDGE) {
      px = min(max(px, t.low.x), t.high.x);
      py = min(max(py, t.low.y), t.high.y);
      pz = min(max(pz, t.low.z), t.high.z);
    }
    return t.cells[(pz * GROUP_Y + py) * GROUP_X + px];
  });
  return value.at[0];
}

// Whether step S is valid at this thread's cell: S reaches in from each side.
template <int S>
__device__ __forceinline__ bool active(int x, int y, int z) {
  return x >= S * LOW_X && x < GROUP_X - S * HIGH_X && y >= S * LOW_Y && y < GROUP_Y - S * HIGH_Y && z >= S * LOW_Z &&
         z < GROUP_Z - S * HIGH_Z;
}

// Time steps S .. PYRAMID - 1, from t.cells into other and back.
template <bool EDGE, int S>
__device__ __forceinline__ void fused_steps(const Grid &grid, Tile &t, T *other, int x, int y, int z) {
  if constexpr (S < PYRAMID) {
    if (active<S>(x, y, z)) other[(z * GROUP_Y + y) * GROUP_X + x] = update<EDGE>(grid, t, x, y, z);
    __syncthreads();
    T *free = const_cast<T *>(t.cells);
    t.cells = other;
    fused_steps<EDGE, S + 1>(grid, t, free, x, y, z);
  }
}

template <bool EDGE>
__device__ __forceinline__ void block(const Grid &grid, T *out, T *cells, Position origin) {
  const int nx = grid.nx, ny = grid.ny, nz = grid.nz;
  const int x = threadIdx.x, y = threadIdx.y, z = threadIdx.z;
  const int gx = origin.x + x, gy = origin.y + y, gz = origin.z + z;
  const int cx = EDGE ? clamp_index(gx, nx) : gx, cy = EDGE ? clamp_index(gy, ny) : gy, cz = EDGE ? clamp_index(gz, nz) : gz;
  cells[(z * GROUP_Y + y) * GROUP_X + x] = __ldg(grid.in[0] + cell_index(grid, cx, cy, cz));
  Tile t = {cells,
            {-origin.x, -origin.y, -origin.z},
            {nx - 1 - origin.x, ny - 1 - origin.y, nz - 1 - origin.z}};
  if (EDGE) {
    // A tile that hangs over the edge computes cells outside the grid too; they
    // are never used, but the points they read must lie in the tile.
    t.low = {max(t.low.x, 0), max(t.low.y, 0), max(t.low.z, 0)};
    t.high = {min(t.high.x, GROUP_X - 1), min(t.high.y, GROUP_Y - 1), min(t.high.z, GROUP_Z - 1)};
  }
  __syncthreads();
  fused_steps<EDGE, 1>(grid, t, cells + THREADS, x, y, z);
  if (active<PYRAMID>(x, y, z) && (!EDGE || (gx < nx && gy < ny && gz < nz)))
    out[cell_index(grid, gx, gy, gz)] = update<EDGE>(grid, t, x, y, z);
}

extern "C" __global__ void __launch_bounds__(THREADS)
    ENTRY(PARAMETERS) {
  const Grid grid = GRID;
  extern __shared__ __align__(16) unsigned char shared_bytes[];
  T *cells = reinterpret_cast<T *>(shared_bytes);
  // A write tile need not divide a column: COLUMN counts the threads' cells.
  const Position tile = block_tile<WRITE_X, WRITE_Y, WRITE_Z, COLUMN / GROUP_X, ZIGZAG>(nx, ny, nz);
  const Position origin = {tile.x * WRITE_X - PYRAMID * LOW_X, tile.y * WRITE_Y - PYRAMID * LOW_Y, tile.z * WRITE_Z - PYRAMID * LOW_Z};
  const bool inside = origin.x >= 0 && origin.x + GROUP_X <= nx && origin.y >= 0 && origin.y + GROUP_Y <= ny &&
                      origin.z >= 0 && origin.z + GROUP_Z <= nz;
  if (inside)
    block<false>(grid, out_0, cells, origin);
  else
    block<true>(grid, out_0, cells, origin);
}
