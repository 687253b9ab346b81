// Sources and receivers in a launch of several time steps: a block does those whose cells its tile holds, its halo's too.

// The entries that lie in a tile, of all lists, one after the other: each lane has one.
struct Entries {
  int entry;       // the lane's; -1 = none
  int first, last; // planes in which it is looked for
  bool many;       // there are more entries than lanes: in planes first to last all of the lists are looked through

  // Whether any may lie in the planes from .. to.
  __device__ __forceinline__ bool meet(int from, int to, const Place &at) const {
    const bool around = wraps(DIMS - 1) && (from < 0 || to >= at.planes); // planes beyond the grid are others of it
    return __any_sync(~0u, first <= last && (around || (first <= to && last >= from)));
  }
};

// Cells of a plane of the grid: lists know no pitch.
__device__ __forceinline__ index_t plane_cells(const Place &at) { return DIMS == 3 ? (index_t)at.nx * at.ny : at.nx; }

// A thread's lane of its warp, whatever the bands.
__device__ __forceinline__ int warp_lane() { return (int)((threadIdx.y * LANES + threadIdx.x) % 32); }

// Finds them, of the planes from <= p < to: a warp looks at 32 entries at a time. In 3D all warps of a block find the same.
__device__ __forceinline__ Entries find_entries(const Place &at, int from, int to) {
  Entries e{-1, 1, 0, false};
  const int lane = warp_lane(), x = at.x - (int)threadIdx.x * VECTOR, y = at.y - (int)threadIdx.y * ROWS;
  const index_t area = plane_cells(at);
  long long before = 0;
  int found = 0, low = at.planes, high = -1;
#pragma unroll
  for (int l = 0; l < LISTS; l++) {
    const long long places = at.grid.places[l];
    for (long long base = 0; base < places; base += 32) {
      const long long cell = base + lane < places ? at.grid.place[l][base + lane] : -1;
      int plane = 0;
      bool inside = cell >= 0 && cell < (long long)area * at.planes;
      if (inside) {
        plane = (int)((index_t)cell / area);
        const int r = (int)((index_t)cell - plane * area);
        inside = (wraps(DIMS - 1) || (plane >= from && plane < to)) && (unsigned)within((DIMS == 3 ? r % at.nx : r) - x, at.nx) < TILE_X &&
                 (DIMS < 3 || (unsigned)within(r / at.nx - y, at.ny) < TILE_R);
      }
      for (unsigned mask = __ballot_sync(~0u, inside); mask != 0; mask &= mask - 1, found++) {
        const int k = __ffs((int)mask) - 1, p = __shfl_sync(~0u, plane, k);
        low = min(low, p), high = max(high, p);
        if (lane == found) e.entry = (int)(before + base + k), e.first = e.last = p;
      }
    }
    before += places;
  }
  if (found > 32 || before > 0x7fffffff) {
    e.many = true;
    e.first = low, e.last = high;
  }
  return e;
}

// Calls act(n, x, y) for each entry n of a list whose cell lies in a plane, in the list's order, in all lanes.
template <class Act> __device__ __forceinline__ void each_entry(const Entries &e, int list, int plane, const Place &at, const Act &act) {
  if (plane < 0 || plane >= at.planes) return; // no more by what lanes differ in: the compiler would guard every shuffle of the kernel
  const index_t area = plane_cells(at);
  const long long places = at.grid.places[list], begin = (long long)plane * area;
  long long before = 0;
#pragma unroll
  for (int l = 0; l < list; l++) before += at.grid.places[l];
  for (long long base = 0; base == 0 || (e.many && base < places); base += 32) {
    const long long n = e.many ? base + warp_lane() : e.entry - before; // the lane's
    const bool listed = n >= 0 && n < places, here = listed && (e.many ? at.grid.place[list][n] >= begin && at.grid.place[list][n] < begin + area : e.first == plane);
    for (unsigned mask = __ballot_sync(~0u, here); mask != 0; mask &= mask - 1) {
      const long long i = __shfl_sync(~0u, n, __ffs((int)mask) - 1);
      const int r = (int)(at.grid.place[list][i] - begin);
      act(i, DIMS == 3 ? r % at.nx : r, DIMS == 3 ? r / at.nx : 0);
    }
  }
}
