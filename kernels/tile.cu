// Shared by the families that keep a block's cells in shared memory: each array that
// has a slot lies there as a tile of rows.

template <int PITCH_, int ROWS_, int CELLS_> struct TileLayout {
  static constexpr int PITCH = PITCH_; // cells from row to row
  static constexpr int ROWS = ROWS_;   // of a plane
  static constexpr int CELLS = CELLS_; // of an array
};

// The tiles and where the grid's edge lies in them.
struct Tile {
  const T *cells;
  Position origin;    // of the tile in the grid
  Position low, high; // first and last cell of the grid, in cells of the tile
};

// The cell of the grid that a tile holds at cell (x, y, z): itself, or by the boundary rule another. A thread loads one at a time,
// and few lie outside: the others skip the quotients that find it.
__device__ __forceinline__ void bring_in(const Grid &grid, int &x, int &y, int &z) {
  const bool inside = ((unsigned)x < (unsigned)grid.nx) & ((unsigned)y < (unsigned)grid.ny) & ((unsigned)z < (unsigned)grid.nz);
  if ((!some(WRAP) && !some(MIRROR)) || !inside) wrap(grid, x, y, z);
}

// An array's old value at cell (x, y, z) of the tile. The boundary rule holds at every
// fused step; where the grid repeats, a tile simply holds what lies beyond its edge.
template <bool EDGE, class Layout>
__device__ __forceinline__ T point(const Grid &grid, const Tile &t, int array, int x, int y, int z, int iteration) {
  const int gx = t.origin.x + x, gy = t.origin.y + y, gz = t.origin.z + z;
  if (slot(array) < 0) { // its own cell only
    int ix = gx, iy = gy, iz = gz;
    if (EDGE) wrap(grid, ix, iy, iz);
    return __ldg(grid.in[array] + cell_index(grid, ix, iy, iz));
  }
  if (EDGE && !WRAPS_ALL) {
    if (some(MIRROR)) {
      x = held_index<0>(array, gx, grid.nx) - t.origin.x;
      y = held_index<1>(array, gy, grid.ny) - t.origin.y;
      z = held_index<2>(array, gz, grid.nz) - t.origin.z;
    }
    x = min(max(x, t.low.x), t.high.x);
    y = min(max(y, t.low.y), t.high.y);
    z = min(max(z, t.low.z), t.high.z);
  }
  const T value = t.cells[slot(array) * Layout::CELLS + (z * Layout::ROWS + y) * Layout::PITCH + x];
  return EDGE ? boundary_value(grid, array, value, gx, gy, gz, iteration) : value;
}

template <bool EDGE, class Layout>
__device__ __forceinline__ Cell update(const Grid &grid, const Tile &t, int x, int y, int z, int iteration) {
  return cell<EDGE>(grid, t.origin.x + x, t.origin.y + y, t.origin.z + z, iteration, [&](int array, int dx, int dy, int dz) {
    return point<EDGE, Layout>(grid, t, array, x + dx, y + dy, z + dz, iteration);
  });
}

