// Where a tile lies on one axis. The first and the last tile end at the grid's
// edge, where they need no halo: the boundary rule gives the exact values. Where the
// grid repeats, all tiles have halos, of the cells on the other side.
struct Window {
  int origin;      // first cell held
  int first, last; // cells written: first <= i < last
};

// Where two blocks write to a sector of memory (32 bytes), L2 has to read it first: so rows are cut between sectors. But copies of 16
// bytes take longer from within a sector.
constexpr int UNIT = sizeof(T) * VECTOR < 16 ? 32 / sizeof(T) : 1; // cells

template <int AXIS> __device__ __forceinline__ int tiles(int n, int tile, int step) {
  if (wraps(AXIS)) return ceil_div(n, step);
  return n <= tile ? 1 : 1 + ceil_div(n - tile, step);
}

// Tile t of an axis of n cells. Tiles begin a few cells early where that cuts rows between units and takes no further tile.
template <int AXIS> __device__ __forceinline__ Window window(int t, int n, int tile, int step, int halo, int unit = 1) {
  Window w;
  if (wraps(AXIS)) return {t * step - halo, t * step, min(t * step + step, n)};
  const int room = (tiles<AXIS>(n, tile, step) - 1) * step - (n - tile);
  const int early = step % unit == 0 && halo % unit <= room ? halo % unit : 0;
  w.origin = min(max(0, t * step - early), n - tile);
  w.first = t == 0 ? 0 : t * step + halo - early;
  w.last = w.origin + tile == n ? n : t * step + step + halo - early;
  return w;
}
