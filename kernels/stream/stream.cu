// Family stream: registers hold the planes of a thread's own columns while the
// block walks along the outermost axis, PYRAMID time steps in flight at once
// (N.5D blocking: Nguyen et al. 2010; AN5D, Matsumura et al. 2020).
//
// A plane is what the outermost axis steps over: rows of x and y in 3D, one row of
// x in 2D. A warp is one row of 32 vectors; x neighbours come by shuffle, y
// neighbours of other warps through edge rows in shared memory. A stage advances
// one time step: each plane that arrives is weighed into the sums of the planes it
// is a neighbour of, and the sum that is complete goes on to the next stage. So a
// plane's neighbourhood is needed once, when it arrives, and never kept.

constexpr int TILE_X = 32 * VECTOR, TILE_R = WARPS * ROWS;   // cells a tile holds (rows: 3D only)
constexpr int HALO_LX = (PYRAMID * LOW_X + VECTOR - 1) / VECTOR * VECTOR;  // whole vectors
constexpr int HALO_HX = (PYRAMID * HIGH_X + VECTOR - 1) / VECTOR * VECTOR;
constexpr int HALO_LR = PYRAMID * LOW_R, HALO_HR = PYRAMID * HIGH_R;
constexpr int STEP_X = TILE_X - HALO_LX - HALO_HX, STEP_R = TILE_R - HALO_LR - HALO_HR; // from tile to tile
constexpr int OPEN = LOW_S + HIGH_S;                         // planes whose sum is not complete
constexpr int SPAN_X = LOW_X + VECTOR + HIGH_X;              // a row with its halo
constexpr int SKEW = HIGH_S + (LATE ? 1 : 0);                // planes a stage lags behind the one before
// Rows of a warp that other warps read: the first and the last few.
constexpr int FIRST_ROWS = HIGH_R > 0 ? HIGH_R : LOW_R > 0, LAST_ROWS = LOW_R > 0 ? LOW_R : HIGH_R > 0;
constexpr int EDGE_ROWS = FIRST_ROWS + LAST_ROWS < ROWS ? FIRST_ROWS + LAST_ROWS : ROWS;

struct __align__(sizeof(T) * VECTOR < 16 ? sizeof(T) * VECTOR : 16) Vector {
  T at[VECTOR];
};

typedef T Cells[ROWS][VECTOR];                     // of one plane, a thread's own
typedef T Rows[LOW_R + ROWS + HIGH_R][SPAN_X]; // the same with their neighbours

// Where a tile lies on one axis. The first and the last tile end at the grid's
// edge, where they need no halo: the boundary rule gives the exact values.
struct Window {
  int origin;      // first cell held
  int first, last; // cells written: first <= i < last
  bool low, high;  // touches the grid's lower, upper edge
};

__device__ __forceinline__ int tiles(int n, int tile, int step) { return n <= tile ? 1 : 1 + ceil_div(n - tile, step); }

// Tile t of an axis of n cells; whole is n rounded up to whole vectors.
__device__ __forceinline__ Window window(int t, int n, int whole, int tile, int step, int halo) {
  Window w;
  w.origin = min(t * step, whole - tile);
  w.low = w.origin == 0;
  w.high = w.origin + tile == whole;
  w.first = t == 0 ? 0 : t * step + halo;
  w.last = w.high ? n : t * step + step + halo;
  return w;
}

// What a thread knows of its place.
struct Place {
  int x, row;            // of its first cell, in the grid
  int nx, planes;        // extents
  index_t stride;        // elements from plane to plane
  int begin, end;        // planes this block writes: begin <= p < end
  int warp, lane;
  bool low_x, high_x;    // holds the grid's first, last cell of a row
  bool write_x;
  int first_row, last_row; // rows of its own that it writes
  int edge[LOW_R + HIGH_R > 0 ? LOW_R + HIGH_R : 1]; // where its neighbour rows are in shared memory
};

// Fills the halo of a row whose own cells are e[LOW_X] .. e[LOW_X + VECTOR - 1].
// A point outside the grid is the nearest cell inside.
template <bool EDGE, int LOW, int HIGH>
__device__ __forceinline__ void halo_x(T (&e)[SPAN_X], const Place &at) {
#pragma unroll
  for (int k = 1; k <= LOW; k++) {
    const int lanes = (k + VECTOR - 1) / VECTOR;
    e[LOW_X - k] = __shfl_up_sync(~0u, e[LOW_X + lanes * VECTOR - k], lanes);
    if (EDGE && (LOW_X <= VECTOR ? at.low_x : at.x < k)) e[LOW_X - k] = e[LOW_X - k + 1];
  }
#pragma unroll
  for (int k = 0; k < HIGH; k++) {
    const int lanes = k / VECTOR + 1, i = LOW_X + VECTOR + k;
    e[i] = __shfl_down_sync(~0u, e[LOW_X + k % VECTOR], lanes);
    if (EDGE && (HIGH_X <= VECTOR ? at.high_x : at.x + VECTOR + k >= at.nx)) e[i] = e[i - 1];
  }
}

// Cells beyond the end of a row that is no whole number of vectors take the value
// of the last one.
template <bool EDGE>
__device__ __forceinline__ void trim(Cells &v, const Place &at) {
  if constexpr (EDGE && !ALIGNED) {
#pragma unroll
    for (int j = 0; j < ROWS; j++)
#pragma unroll
      for (int i = 1; i < VECTOR; i++)
        if (at.x + i >= at.nx) v[j][i] = v[j][i - 1];
  }
}

// One time step in flight.
struct Stage {
  T sum[OPEN > 0 ? OPEN : 1][ROWS][VECTOR]; // of planes p - HIGH_S, ...: what has arrived so far
  Cells done;                               // LATE: the plane completed last
};

// Which sums plane p goes into where the grid ends: slot m is the sum of plane
// p - HIGH_S + m, to which p is what that plane finds `dz` planes away - or, if
// that lies outside the grid, the nearest plane inside.
struct Ends {
  bool first; // p is the grid's first plane: all sums begin
  bool hit[OPEN + 1][OPEN + 1];

  __device__ __forceinline__ Ends(int p, int planes) : first(p == 0) {
#pragma unroll
    for (int m = 0; m <= OPEN; m++) {
      const int target = p - HIGH_S + m;
#pragma unroll
      for (int dz = -LOW_S; dz <= HIGH_S; dz++)
        hit[m][dz + LOW_S] = target >= 0 && target < planes && clamp_index(target + dz, planes) == p;
    }
  }
};

// Whether row j is one of the thread's own.
template <bool OWN>
__device__ __forceinline__ bool inside(int j) {
  return (j >= 0 && j < ROWS) == OWN;
}

@WEIGHTS@
// Weighs the rows of plane p into the sums: the thread's own rows, or (not OWN)
// those of its neighbours.
template <bool ENDS, bool OWN>
__device__ __forceinline__ void weigh_plane(Stage &s, const Rows &e, int p, int planes) {
  const Ends ends(p, planes);
#pragma unroll
  for (int j = 0; j < ROWS; j++) {
    if (!OWN && j >= LOW_R && j < ROWS - HIGH_R) continue;
#pragma unroll
    for (int i = 0; i < VECTOR; i++) {
      // Slot 0 is the plane completed now, slot m the one m planes later.
      T sum[OPEN + 1];
#pragma unroll
      for (int m = 0; m <= OPEN; m++)
        if (OWN)
          sum[m] = m < OPEN && !(ENDS && ends.first) ? s.sum[m < OPEN ? m : 0][j][i] : CONSTANT_TERM;
        else
          sum[m] = m == 0 ? s.done[j][i] : s.sum[m > 0 ? m - 1 : 0][j][i];
      if (ENDS)
        weigh_end<OWN>(sum, e, j, i, ends);
      else
        weigh<OWN>(sum, e, j, i);
      s.done[j][i] = sum[0];
#pragma unroll
      for (int m = 0; m < OPEN; m++) s.sum[m][j][i] = sum[m + 1];
    }
  }
}

// A stage takes the cells v of plane p: everything that the thread's own rows give.
template <bool EDGE, bool ENDS>
__device__ __forceinline__ void arrive(Stage &s, Cells &v, int p, const Place &at, Vector *edges) {
  trim<EDGE>(v, at);
  Rows e;
#pragma unroll
  for (int j = 0; j < ROWS; j++) {
#pragma unroll
    for (int i = 0; i < VECTOR; i++) e[LOW_R + j][LOW_X + i] = v[j][i];
    halo_x<EDGE, LOW_X, HIGH_X>(e[LOW_R + j], at);
  }
  if constexpr (LOW_R + HIGH_R > 0) {
#pragma unroll
    for (int j = 0; j < ROWS; j++) {
      if (j >= FIRST_ROWS && j < ROWS - LAST_ROWS) continue;
      Vector row;
#pragma unroll
      for (int i = 0; i < VECTOR; i++) row.at[i] = v[j][i];
      edges[(at.warp * EDGE_ROWS + (j < FIRST_ROWS ? j : j - (ROWS - EDGE_ROWS))) * 32 + at.lane] = row;
    }
  }
  weigh_plane<ENDS, true>(s, e, p, at.planes);
}

// What the rows of other warps add to a stage.
template <bool EDGE, bool ENDS>
__device__ __forceinline__ void join(Stage &s, int p, const Place &at, const Vector *edges) {
  if constexpr (LOW_R + HIGH_R > 0) {
    Rows e;
#pragma unroll
    for (int r = 0; r < LOW_R + HIGH_R; r++) {
      const Vector row = edges[at.edge[r] + at.lane];
      T(&to)[SPAN_X] = e[r < LOW_R ? r : r + ROWS];
#pragma unroll
      for (int i = 0; i < VECTOR; i++) to[LOW_X + i] = row.at[i];
      if constexpr (DIAGONAL) halo_x<EDGE, LOW_X, HIGH_X>(to, at);
    }
    weigh_plane<ENDS, false>(s, e, p, at.planes);
  }
}

// Loads the thread's own cells of a plane.
template <bool EDGE>
__device__ __forceinline__ void load(Cells &v, const T *__restrict__ plane, const Place &at) {
#pragma unroll
  for (int j = 0; j < ROWS; j++) {
    const T *row = plane + j * at.nx;
    if constexpr (ALIGNED) {
      const Vector vector = *reinterpret_cast<const Vector *>(row);
#pragma unroll
      for (int i = 0; i < VECTOR; i++) v[j][i] = vector.at[i];
    } else {
#pragma unroll
      for (int i = 0; i < VECTOR; i++) v[j][i] = row[EDGE ? min(i, at.nx - 1 - at.x) : i];
    }
  }
}

template <bool EDGE>
__device__ __forceinline__ void store(const Cells &v, T *__restrict__ plane, const Place &at) {
  if (!at.write_x) return;
#pragma unroll
  for (int j = 0; j < ROWS; j++) {
    if (j < at.first_row || j >= at.last_row) continue;
    T *row = plane + j * at.nx;
    if constexpr (ALIGNED) {
      Vector vector;
#pragma unroll
      for (int i = 0; i < VECTOR; i++) vector.at[i] = v[j][i];
      *reinterpret_cast<Vector *>(row) = vector;
    } else {
#pragma unroll
      for (int i = 0; i < VECTOR; i++)
        if (!EDGE || at.x + i < at.nx) row[i] = v[j][i];
    }
  }
}

__device__ __forceinline__ void copy(Cells &to, const Cells &from) {
#pragma unroll
  for (int j = 0; j < ROWS; j++)
#pragma unroll
    for (int i = 0; i < VECTOR; i++) to[j][i] = from[j][i];
}

// A thread's walk over the planes of its block.
template <bool EDGE>
struct Walk {
  const Place &at;
  const T *ahead;          // own column of the plane that is loaded next
  T *written;              // own column of the plane that is written next
  Vector *edges, *other;   // shared memory: edge rows of every stage, and those of the round before
  Stage stage[PYRAMID];
  Cells waiting[PREFETCH]; // planes loaded, not yet arrived

  __device__ __forceinline__ Walk(const Place &place, const T *in, T *out, Vector *shared)
      : at(place), edges(shared), other(shared + PYRAMID * WARPS * EDGE_ROWS * 32) {
    const index_t own = (index_t)at.row * at.nx + at.x;
    const int from = max(at.begin - PYRAMID * LOW_S, 0);
    ahead = in + own + from * at.stride;
    written = out + own + at.begin * at.stride;
#pragma unroll
    for (int s = 0; s < PYRAMID; s++)
#pragma unroll
      for (int j = 0; j < ROWS; j++)
#pragma unroll
        for (int i = 0; i < VECTOR; i++) {
          stage[s].done[j][i] = 0;
#pragma unroll
          for (int m = 0; m < OPEN; m++) stage[s].sum[m][j][i] = 0;
        }
#pragma unroll
    for (int f = 0; f < PREFETCH; f++) fetch(waiting[f], from + f);
    const int last = at.end - 1 + HIGH_S + (PYRAMID - 1) * SKEW; // when plane end - 1 is complete
    for (int p = from; p <= last;) {
      // Plane p arrives at the first stage, p - SKEW at the second and so on. While
      // none of them is the grid's first or last plane, rounds go UNROLL at a time:
      // then the sums change places by name, without moves.
      if (p - (PYRAMID - 1) * SKEW > 0 && p + UNROLL < at.planes && p + UNROLL - 1 <= last) {
#pragma unroll
        for (int u = 0; u < UNROLL; u++) advance<false>(p + u);
        p += UNROLL;
      } else {
        advance<true>(p++);
      }
    }
  }

  __device__ __forceinline__ void fetch(Cells &v, int p) {
    load<EDGE>(v, ahead, at);
    if (p < at.planes - 1) ahead += at.stride;
  }

  // One round: plane p arrives, and one plane further back at every stage.
  template <bool ENDS>
  __device__ __forceinline__ void advance(int p) {
    Cells arrived;
    copy(arrived, waiting[0]);
#pragma unroll
    for (int f = 1; f < PREFETCH; f++) copy(waiting[f - 1], waiting[f]);
    fetch(waiting[PREFETCH - 1], p + PREFETCH);
#pragma unroll
    for (int k = 0; k < PYRAMID; k++) {
      // A stage takes the plane that the one before has just completed; if that
      // waited for other warps' rows, the one of the last round: backwards then.
      const int s = LATE ? PYRAMID - 1 - k : k;
      Cells v;
      copy(v, s > 0 ? stage[s > 0 ? s - 1 : 0].done : arrived);
      arrive<EDGE, ENDS>(stage[s], v, p - s * SKEW, at, edges + s * WARPS * EDGE_ROWS * 32);
    }
    if constexpr (LOW_R + HIGH_R > 0) {
      __syncthreads();
#pragma unroll
      for (int s = 0; s < PYRAMID; s++) join<EDGE, ENDS>(stage[s], p - s * SKEW, at, edges + s * WARPS * EDGE_ROWS * 32);
      Vector *const swap = edges;
      edges = other;
      other = swap;
    }
    const int complete = p - (PYRAMID - 1) * SKEW - HIGH_S;
    if (complete >= at.begin && complete < at.end) {
      store<EDGE>(stage[PYRAMID - 1].done, written, at);
      written += at.stride;
    }
  }
};

extern "C" __global__ void __launch_bounds__(32 * WARPS, MIN_BLOCKS)
    ENTRY(const T *__restrict__ in, T *__restrict__ out, int nx, int ny, int nz) {
  extern __shared__ __align__(16) unsigned char shared_bytes[];
  Place at;
  at.lane = threadIdx.x;
  at.warp = threadIdx.y;
  at.nx = nx;
  at.planes = DIMS == 3 ? nz : ny;
  at.stride = DIMS == 3 ? (index_t)nx * ny : nx;
  const int chunk = ceil_div(at.planes, gridDim.z);
  at.begin = blockIdx.z * chunk;
  at.end = min(at.begin + chunk, at.planes);
  if (at.begin >= at.planes) return; // more chunks than planes

  // In 3D a block is a tile; in 2D each warp is one of its own.
  const int whole = ceil_div(nx, VECTOR) * VECTOR;
  const int tile = DIMS == 3 ? blockIdx.x : blockIdx.x * WARPS + threadIdx.y;
  if (DIMS < 3 && tile >= tiles(whole, TILE_X, STEP_X)) return;
  const Window x = window(tile, nx, whole, TILE_X, STEP_X, HALO_LX);
  at.x = x.origin + at.lane * VECTOR;
  at.low_x = at.x == 0;
  at.high_x = at.x + VECTOR >= nx;
  at.write_x = at.x >= x.first && at.x < x.last;
  at.row = 0;
  at.first_row = 0;
  at.last_row = 1;
  if (DIMS == 3) {
    const Window y = window(blockIdx.y, ny, ny, TILE_R, STEP_R, HALO_LR);
    at.row = y.origin + at.warp * ROWS;
    at.first_row = y.first - at.row;
    at.last_row = y.last - at.row;
  }
#pragma unroll
  for (int r = 0; r < LOW_R + HIGH_R; r++) {
    // A row above the tile's first is that row: the boundary rule at the grid's
    // edge, elsewhere a halo that is not used any more.
    const int row = min(max(at.warp * ROWS + (r < LOW_R ? r - LOW_R : ROWS + r - LOW_R), 0), TILE_R - 1);
    const int warp = row / ROWS, j = row - warp * ROWS;
    at.edge[r] = (warp * EDGE_ROWS + (j < FIRST_ROWS ? j : j - (ROWS - EDGE_ROWS))) * 32;
  }
  Vector *const shared = reinterpret_cast<Vector *>(shared_bytes);
  if (x.low || x.high)
    Walk<true>(at, in, out, shared);
  else
    Walk<false>(at, in, out, shared);
}
