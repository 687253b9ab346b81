// Family smalltile: a block's threads load one cell each, and those whose points
// all lie in the block compute (small tile of the Futhark thesis, with the pyramids
// of the SL template). The threads of the halo idle after loading; each of the
// PYRAMID time steps leaves a stencil's reach more of them idle. The last step goes
// straight to global memory.

constexpr int THREADS = GROUP_X * GROUP_Y * GROUP_Z;
constexpr int WRITE_X = GROUP_X - PYRAMID * (LOW_X + HIGH_X);
constexpr int WRITE_Y = GROUP_Y - PYRAMID * (LOW_Y + HIGH_Y);
constexpr int WRITE_Z = GROUP_Z - PYRAMID * (LOW_Z + HIGH_Z);

constexpr int BUFFER = TILES * THREADS; // cells of all arrays
typedef TileLayout<GROUP_X, GROUP_Y, THREADS> Layout;

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
    if (active<S>(x, y, z)) {
      const Cell value = update<EDGE, Layout>(grid, t, x, y, z, grid.iteration + S - 1);
#pragma unroll
      for (int f = 0; f < FIELDS; f++)
        if (slot(f) >= 0 && output_of(f) >= 0) other[slot(f) * THREADS + (z * GROUP_Y + y) * GROUP_X + x] = value.at[output_of(f)];
    }
    __syncthreads();
    T *free = const_cast<T *>(t.cells);
    t.cells = other;
    fused_steps<EDGE, S + 1>(grid, t, free, x, y, z);
  }
}

template <bool EDGE>
__device__ __forceinline__ void block(const Grid &grid, const Out &out, T *cells, Position origin) {
  const int x = threadIdx.x, y = threadIdx.y, z = threadIdx.z;
  const int gx = origin.x + x, gy = origin.y + y, gz = origin.z + z;
  int ix = gx, iy = gy, iz = gz;
  if (EDGE) bring_in(grid, ix, iy, iz);
#pragma unroll
  for (int a = 0; a < ARRAYS; a++)
    if (slot(a) >= 0) {
      const T value = __ldg(grid.in[a] + cell_index(grid, ix, iy, iz));
      const int to = slot(a) * THREADS + (z * GROUP_Y + y) * GROUP_X + x;
      cells[to] = value;
      if (PYRAMID > 1 && output_of(a) < 0) cells[BUFFER + to] = value; // it stays as it is
    }
  Tile t = {cells, origin,
            {low_cell<0>(origin.x), low_cell<1>(origin.y), low_cell<2>(origin.z)},
            {high_cell<0>(grid.nx - 1 - origin.x), high_cell<1>(grid.ny - 1 - origin.y), high_cell<2>(grid.nz - 1 - origin.z)}};
  if (EDGE) {
    // A tile that hangs over the edge computes cells outside the grid too; they
    // are never used, but the points they read must lie in the tile.
    t.low = {max(t.low.x, 0), max(t.low.y, 0), max(t.low.z, 0)};
    t.high = {min(t.high.x, GROUP_X - 1), min(t.high.y, GROUP_Y - 1), min(t.high.z, GROUP_Z - 1)};
  }
  __syncthreads();
  fused_steps<EDGE, 1>(grid, t, cells + BUFFER, x, y, z);
  if (active<PYRAMID>(x, y, z) && (!EDGE || (gx < grid.nx && gy < grid.ny && gz < grid.nz))) {
    const Cell value = update<EDGE, Layout>(grid, t, x, y, z, grid.iteration + PYRAMID - 1);
#pragma unroll
    for (int o = 0; o < OUTPUTS; o++) out.field[o][cell_index(grid, gx, gy, gz)] = value.at[o];
  }
}

extern "C" __global__ void __launch_bounds__(THREADS) ENTRY(PARAMETERS) {
  if (await_launch(nx)) return;
  extern __shared__ __align__(16) unsigned char shared_bytes[];
  T *cells = reinterpret_cast<T *>(shared_bytes);
  const Grid grid = GRID;
  const Out out = OUT;
  // A write tile need not divide a column: COLUMN counts the threads' cells.
  const Position tile = block_tile<WRITE_X, WRITE_Y, WRITE_Z, COLUMN / GROUP_X, ZIGZAG>(nx, ny, nz);
  const Position origin = {tile.x * WRITE_X - PYRAMID * LOW_X, tile.y * WRITE_Y - PYRAMID * LOW_Y, tile.z * WRITE_Z - PYRAMID * LOW_Z};
  const bool inside = origin.x >= 0 && origin.x + GROUP_X + RIM_X <= nx && origin.y >= 0 && origin.y + GROUP_Y + RIM_Y <= ny &&
                      origin.z >= 0 && origin.z + GROUP_Z + RIM_Z <= nz;
  if (inside)
    block<false>(grid, out, cells, origin);
  else
    block<true>(grid, out, cells, origin);
}
