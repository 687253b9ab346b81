// Loads the thread's own cells of a plane, and the cells beside the tile: where it
// ends at the grid's edge the nearest cell inside.
__device__ __forceinline__ void load(Cells &v, Sides &sides, const T *__restrict__ plane, const Place &at) {
#pragma unroll
  for (int j = 0; j < ROWS; j++) {
    const T *row = plane + j * at.nx;
    if constexpr (ALIGNED) {
      const Vector vector = *reinterpret_cast<const Vector *>(row);
#pragma unroll
      for (int i = 0; i < VECTOR; i++) v[j][i] = vector.at[i];
    } else {
#pragma unroll
      for (int i = 0; i < VECTOR; i++) v[j][i] = row[i];
    }
#pragma unroll
    for (int k = 0; k < SIDES; k++)
      if (at.low_x || at.high_x) sides[j][k] = row[at.low_x ? max(-1 - k, -at.x) : min(VECTOR + k, at.nx - 1 - at.x)];
  }
}

__device__ __forceinline__ void store(const Cells &v, T *__restrict__ plane, const Place &at) {
#pragma unroll
  for (int j = 0; j < ROWS; j++) {
    if (!(at.writes >> j & 1)) continue;
    T *row = plane + j * at.nx;
    if constexpr (ALIGNED) {
      Vector vector;
#pragma unroll
      for (int i = 0; i < VECTOR; i++) vector.at[i] = v[j][i];
      *reinterpret_cast<Vector *>(row) = vector;
    } else {
#pragma unroll
      for (int i = 0; i < VECTOR; i++)
        if (i >= at.first && i < at.last) row[i] = v[j][i];
    }
  }
}

// A thread's walk over the planes of its block.
struct Walk {
  const Place &at;
  const T *ahead;          // own column of the plane that is loaded next
  T *written;              // own column of the plane that is written next
  Edges edges;
  Stage stage[PYRAMID];
  Cells waiting[PREFETCH]; // planes loaded, not yet arrived
  Sides beside[PREFETCH];  // and the cells beside the tile

  // own is the element of plane 0 at which the thread's cells begin.
  __device__ __forceinline__ Walk(const Place &place, index_t own, const T *in, T *out, Vector *shared)
      : at(place), edges{shared, 0} {
    const int from = max(at.begin - PYRAMID * LOW_S, 0);
    ahead = in + own + from * at.stride;
    written = out + own + at.begin * at.stride;
#pragma unroll
    for (int s = 0; s < PYRAMID; s++) stage[s].clear();
#pragma unroll
    for (int f = 0; f < PREFETCH; f++) fetch(f, from + f);
    const int last = at.end - 1 + HIGH_S + (PYRAMID - 1) * SKEW; // when plane end - 1 is complete
    for (int p = from; p <= last;) {
      // Plane p arrives at the first stage, p - SKEW at the second and so on. While
      // none of them is near the grid's first or last plane, rounds go UNROLL at a
      // time: then what the stages keep changes places by name, without moves.
      if (p - (PYRAMID - 1) * SKEW >= SETTLED && p + UNROLL < at.planes && p + UNROLL - 1 <= last) {
#pragma unroll
        for (int u = 0; u < UNROLL; u++) advance<false>(p + u);
        p += UNROLL;
      } else {
        advance<true>(p++);
      }
    }
  }

  __device__ __forceinline__ void fetch(int f, int p) {
    load(waiting[f], beside[f], ahead, at);
    if (p < at.planes - 1) ahead += at.stride;
  }

  // One round: plane p arrives, and one plane further back at every stage.
  template <bool ENDS>
  __device__ __forceinline__ void advance(int p) {
    Cells arrived;
    Sides sides;
    copy(arrived, waiting[0]);
    copy(sides, beside[0]);
#pragma unroll
    for (int f = 1; f < PREFETCH; f++) {
      copy(waiting[f - 1], waiting[f]);
      copy(beside[f - 1], beside[f]);
    }
    fetch(PREFETCH - 1, p + PREFETCH);
#pragma unroll
    for (int k = 0; k < PYRAMID; k++) {
      // A stage takes the plane that the one before has just completed; if that
      // waited for other warps' rows, the one of the last round: backwards then.
      const int s = LATE ? PYRAMID - 1 - k : k;
      Cells v;
      copy(v, s > 0 ? stage[s > 0 ? s - 1 : 0].done : arrived);
      arrive<ENDS>(stage[s], v, sides, p - s * SKEW, at, edges.of(s));
    }
    if constexpr (SHARED_ROWS > 0) {
      __syncthreads();
#pragma unroll
      for (int s = 0; s < PYRAMID; s++) join<ENDS>(stage[s], p - s * SKEW, at, edges.of(s));
      edges.slot = edges.slot + 1 < RING ? edges.slot + 1 : 0;
    }
    const int complete = p - (PYRAMID - 1) * SKEW - HIGH_S;
    if (complete >= at.begin && complete < at.end) {
      store(stage[PYRAMID - 1].done, written, at);
      written += at.stride;
    }
  }
};

extern "C" __global__ void __launch_bounds__(32 * WARPS, MIN_BLOCKS)
    ENTRY(PARAMETERS) {
  extern __shared__ __align__(16) unsigned char shared_bytes[];
  const int lane = threadIdx.x, warp = threadIdx.y;
  Place at;
  at.nx = nx;
  at.planes = DIMS == 3 ? nz : ny;
  at.stride = DIMS == 3 ? (index_t)nx * ny : nx;
  const int chunk = ceil_div(at.planes, gridDim.z);
  at.begin = blockIdx.z * chunk;
  at.end = min(at.begin + chunk, at.planes);
  if (at.begin >= at.planes) return; // more chunks than planes

  // In 2D warps have tiles of their own, side by side along x.
  const int tile_x = DIMS == 3 ? blockIdx.x : blockIdx.x * WARPS + warp;
  if (DIMS < 3 && tile_x >= tiles(nx, TILE_X, STEP_X)) return;
  const Window x = window(tile_x, nx, TILE_X, STEP_X, HALO_LX);
  at.x = x.origin + lane * VECTOR;
  at.low_x = SIDES > 0 ? lane == 0 : at.x == 0;
  at.high_x = SIDES > 0 ? lane == 31 : at.x + VECTOR == nx;
  at.first = x.first - at.x;
  at.last = x.last - at.x;
  int row = 0;
  at.writes = 1;
  if (DIMS == 3) {
    const Window y = window(blockIdx.y, ny, TILE_R, STEP_R, HALO_LR);
    row = y.origin + warp * ROWS;
    at.writes = 0;
#pragma unroll
    for (int j = 0; j < ROWS; j++) at.writes |= (unsigned)(row + j >= y.first && row + j < y.last) << j;
  }
  if (ALIGNED && !(at.first <= 0 && at.last > 0)) at.writes = 0;
  at.own = warp * EDGE_ROWS * 32 + lane;
#pragma unroll
  for (int r = 0; r < SHARED_ROWS; r++) {
    // A row above the tile's first is that row: the boundary rule at the grid's
    // edge, elsewhere a halo that is not used any more.
    const int beside = min(max(warp * ROWS + (r < LOW_R ? r - LOW_R : ROWS + r - LOW_R), 0), TILE_R - 1);
    const int of = beside / ROWS, j = beside - of * ROWS;
    at.other[r] = (of * EDGE_ROWS + (j < FIRST_ROWS ? j : j - (ROWS - EDGE_ROWS))) * 32 + lane;
  }
  Walk(at, (index_t)row * nx + at.x, in_0, out_0, reinterpret_cast<Vector *>(shared_bytes));
}
