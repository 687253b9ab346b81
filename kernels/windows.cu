// Where a tile lies on one axis. The first and the last tile end at the grid's
// edge, where they need no halo: the boundary rule gives the exact values. Where the
// grid repeats, all tiles have halos, of the cells on the other side.
struct Window {
  int origin;      // first cell held
  int first, last; // cells written: first <= i < last
};

__device__ __forceinline__ int tiles(int n, int tile, int step) {
  if (BOUNDARY == WRAP) return ceil_div(n, step);
  return n <= tile ? 1 : 1 + ceil_div(n - tile, step);
}

// Tile t of an axis of n cells.
__device__ __forceinline__ Window window(int t, int n, int tile, int step, int halo) {
  Window w;
  if (BOUNDARY == WRAP) return {t * step - halo, t * step, min(t * step + step, n)};
  w.origin = min(t * step, n - tile);
  w.first = t == 0 ? 0 : t * step + halo;
  w.last = w.origin + tile == n ? n : t * step + step + halo;
  return w;
}
