__device__ __forceinline__ void store(const Cells &v, T *__restrict__ plane, const Place &at) {
#pragma unroll
  for (int j = 0; j < ROWS; j++) {
    if (!(at.writes >> j & 1)) continue;
    T *row = plane + row_offset(at, j);
#pragma unroll
    for (int i = 0; i < VECTOR; i += PART) {
      if (PART < VECTOR && !(at.parts >> i & 1)) continue;
      Part part;
#pragma unroll
      for (int k = 0; k < PART; k++) part.at[k] = v[j][i + k];
      *reinterpret_cast<Part *>(row + i * part_stride(COALESCED_STORES)) = part;
    }
  }
}

// A thread's way along the streaming axis, over the planes of its block.
struct Streaming {
  const Place &at;
  const T *source[ARRAYS];         // own column of the plane that is loaded next
  T *written[OUTPUTS];             // own column of the plane that is written next
  int plane;                       // which one that is, where the grid repeats
  Edges edges;
  Stage stage[PYRAMID];
  Prefetch prefetch; // planes on their way, not yet arrived

  // own is the element of plane 0 at which the thread's cells begin.
  __device__ __forceinline__ Streaming(const Place &place, index_t own, const Out &out, unsigned char *shared)
      : at(place), edges{reinterpret_cast<Shared *>(shared), 0}, prefetch(edges.ring) {
    const int halo = at.begin - PYRAMID * LOW_S, from = BOUNDARY == WRAP ? halo : max(halo, 0);
    plane = boundary_index(from, at.planes);
#pragma unroll
    for (int a = 0; a < ARRAYS; a++) source[a] = at.grid.in[a] + (own - coalesced_offset(COALESCED)) + plane * at.stride;
#pragma unroll
    for (int o = 0; o < OUTPUTS; o++) written[o] = out.field[o] + (own - coalesced_offset(COALESCED_STORES)) + at.begin * at.stride;
#pragma unroll
    for (int s = 0; s < PYRAMID; s++) stage[s].clear();
#pragma unroll
    for (int f = 0; f < PREFETCH; f++) fetch(f, from + f);
    const int last = at.end - 1 + HIGH_S + (PYRAMID - 1) * LAG; // when plane end - 1 is complete
    for (int p = from; p <= last;) {
      // Plane p arrives at the first stage, p - LAG at the second and so on. While
      // none of them is near the grid's first or last plane, plane steps go UNROLL at a
      // time: then what the stages keep changes places by name, without moves.
      const bool settled = BOUNDARY == WRAP || (p - (PYRAMID - 1) * LAG >= SETTLED && p + UNROLL < at.planes);
      if (settled && p + UNROLL - 1 <= last) {
        if (WITHIN && at.within)
          plane_steps<true>(p);
        else
          plane_steps<false>(p);
        p += UNROLL;
      } else {
        advance<BOUNDARY != WRAP>(p++, at);
      }
    }
  }

  // UNROLL plane steps, of which none meets the grid's first or last plane, nor (INNER) ends of rows.
  template <bool INNER>
  __device__ __forceinline__ void plane_steps(int p) {
    Place place = at;
    if (INNER) place.low_x = place.high_x = false;
#pragma unroll
    for (int u = 0; u < UNROLL; u++) advance<false>(p + u, place);
  }

  __device__ __forceinline__ void fetch(int f, int p) {
#pragma unroll
    for (int a = 0; a < ARRAYS; a++) {
      if (!reads(a)) continue;
      prefetch.load(f, a, source[a], at);
      if (BOUNDARY == WRAP)
        source[a] += plane == at.planes - 1 ? -plane * at.stride : at.stride;
      else if (p < at.planes - 1)
        source[a] += at.stride;
    }
    prefetch.loaded();
    if (BOUNDARY == WRAP) plane = plane == at.planes - 1 ? 0 : plane + 1;
  }

  // A plane step: plane p arrives, and one plane further back at every stage.
  template <bool ENDS>
  __device__ __forceinline__ void advance(int p, const Place &at) {
    Cells arrived[ARRAYS];
    LaneHalo lane_halo;
    fetch(prefetch.take(arrived, lane_halo), p + PREFETCH);
#pragma unroll
    for (int k = 0; k < PYRAMID; k++) {
      // A stage takes the plane that the one before has just completed; if that
      // waited for other warps' rows, the one of the last plane step: backwards then.
      const int s = LATE ? PYRAMID - 1 - k : k;
      const Cells (&v)[ARRAYS] = s > 0 ? stage[s > 0 ? s - 1 : 0].done : arrived;
      arrive<ENDS>(stage[s], v, lane_halo, at.grid.iteration + s, p - s * LAG, at, edges.of(s));
    }
    if constexpr (SHARED_ROWS > 0) {
      __syncthreads();
#pragma unroll
      for (int s = 0; s < PYRAMID; s++) join<ENDS>(stage[s], at.grid.iteration + s, p - s * LAG, at, edges.of(s));
      edges.slot = edges.slot + 1 < RING ? edges.slot + 1 : 0;
    }
    const int complete = p - (PYRAMID - 1) * LAG - HIGH_S;
    if (complete >= at.begin && complete < at.end) {
#pragma unroll
      for (int f = 0; f < FIELDS; f++) {
        if (output_of(f) < 0) continue;
        Cells result;
#pragma unroll
        for (int j = 0; j < ROWS; j++)
#pragma unroll
          for (int i = 0; i < VECTOR; i++) result[j][i] = SCALE * stage[PYRAMID - 1].done[f][j][i];
        if constexpr (COALESCED_STORES) prefetch.coalesce(output_of(f), result);
        store(result, written[output_of(f)], at);
        written[output_of(f)] += at.stride;
      }
    }
  }
};

// Streams planes begin .. end - 1 through a tile: the tx-th on x and, in 3D, the ty-th on rows.
__device__ __forceinline__ void stream_planes(const Grid &grid, const Out &out, int tx, int ty, int begin, int end, unsigned char *shared) {
  const int lane = threadIdx.x, warp = threadIdx.y, nx = grid.nx, ny = grid.ny;
  Place at{grid};
  at.nx = nx;
  at.planes = DIMS == 3 ? grid.nz : ny;
  at.stride = DIMS == 3 ? (index_t)nx * ny : nx;
  at.begin = begin;
  at.end = end;
  const Window x = window(tx, nx, TILE_X, STEP_X, HALO_LX);
  at.x = x.origin + lane * VECTOR;
  at.low_x = BOUNDARY != WRAP && (LANE_HALO > 0 ? lane == 0 : at.x == 0);
  at.high_x = BOUNDARY != WRAP && (LANE_HALO > 0 ? lane == 31 : at.x + VECTOR == nx);
  at.parts = 0;
#pragma unroll
  for (int i = 0; i < VECTOR; i += PART) {
    const int cell = at.x - coalesced_offset(COALESCED_STORES) + i * part_stride(COALESCED_STORES);
    at.parts |= (unsigned)(cell >= x.first && cell < x.last) << i;
  }
  int row = 0;
  at.writes = 1;
  if (DIMS == 3) {
    const Window y = window(ty, ny, TILE_R, STEP_R, HALO_LR);
    row = y.origin + warp * ROWS;
    at.writes = 0;
#pragma unroll
    for (int j = 0; j < ROWS; j++) at.writes |= (unsigned)(row + j >= y.first && row + j < y.last) << j;
  }
  if (PART == VECTOR && at.parts == 0) at.writes = 0;
#ifdef __CUDA_ARCH__
  asm("" : "+r"(at.writes), "+r"(at.parts)); // the compiler would rather find them out anew in every plane step
#endif
  at.own = warp * EDGE_ROWS * 32 + lane;
#pragma unroll
  for (int r = 0; r < SHARED_ROWS; r++) {
    // A row above the tile's first is by the boundary rule another of the tile: at the
    // grid's edge that is right, elsewhere it is a halo that is not used any more.
    const int neighbour = boundary_index(warp * ROWS + (r < LOW_R ? r - LOW_R : ROWS + r - LOW_R), TILE_R);
    const int of = neighbour / ROWS, j = neighbour - of * ROWS;
    at.other[r] = (of * EDGE_ROWS + edge_row(j)) * 32 + lane;
  }
  at.y = row;
  if (BOUNDARY == WRAP) {
#pragma unroll
    for (int j = 0; j < ROWS; j++) at.rows[BOUNDARY == WRAP ? j : 0] = (index_t)boundary_index(row + j, ny) * nx;
  }
  at.inner = at.x >= LOW_X && at.x + VECTOR + HIGH_X <= nx && (DIMS < 3 || (row >= LOW_R && row + ROWS + HIGH_R <= ny));
  const index_t own = BOUNDARY == WRAP ? (index_t)boundary_index(at.x, nx) : (index_t)row * nx + at.x;
  at.within = x.origin > 0 && x.origin + TILE_X < nx;
  Streaming(at, own, out, shared);
}

// The i-th tile to start in a line of n tiles along x. Two SMs share an instruction cache that is too
// small for both kinds of plane steps, and blocks that start one after the other run on them
// (docs/lab/0018-instruction-caches.md): so tiles at the ends of rows come together, and every other line backwards.
__device__ __forceinline__ int in_order(int i, int line, int n) {
  if (!WITHIN) return i;
  const int k = line % 2 ? n - 1 - i : i;
  return k < 2 ? k * (n - 1) : k - 1;
}

extern "C" __global__ void __launch_bounds__(32 * WARPS, MIN_BLOCKS)
    ENTRY(PARAMETERS) {
  extern __shared__ __align__(16) unsigned char shared_bytes[];
  const Grid grid = GRID;
  const Out out = OUT;
  const int planes = DIMS == 3 ? nz : ny;
  const int stream_tile = ceil_div(planes, gridDim.z), begin = blockIdx.z * stream_tile;
  if (begin >= planes) return; // more stream tiles than planes
  // In 2D warps have tiles of their own, next to each other along x.
  const int tile = DIMS == 3 ? blockIdx.x : blockIdx.x * WARPS + threadIdx.y;
  if (DIMS < 3 && tile >= tiles(nx, TILE_X, STEP_X)) return;
  stream_planes(grid, out, in_order(tile, blockIdx.y + blockIdx.z * gridDim.y, gridDim.x), blockIdx.y, begin, min(begin + stream_tile, planes), shared_bytes);
}
