// Family stream: registers hold the planes of a thread's own columns while the
// block streams along the outermost axis, PYRAMID time steps (the time tile) in flight
// at once (N.5D blocking: Nguyen et al. 2010; AN5D, Matsumura et al. 2020).
//
// A plane is what the streaming axis, the outermost one, steps over: rows of x and y in 3D, one row of
// x in 2D. A band is a row of LANES vectors, a warp or a part of one; x
// neighbours come by shuffle, y neighbours of other bands through edge rows in shared memory. A stage advances
// one time step: planes arrive, and the plane that is complete goes on to the next
// stage.

// Calls f(0) .. f(N - 1). For the innermost loops of a few turns: to a compiler a loop to unroll
// is more work than calls to inline (docs/decisions/0015-compile-time.md).
template <int N, int I = 0, class F>
__device__ __forceinline__ void each(F f) {
  if constexpr (I < N) {
    f(I);
    each<N, I + 1>(f);
  }
}

// A tile is what a block holds in 3D, what a warp holds in 1D and 2D, in cells.
constexpr int TILE_X = LANES * VECTOR, TILE_R = BANDS * ROWS;
// With one time step in 2D a row's halo on x is a few cells that the warp's first and last
// lane load next to their own: LANE_HALO. Else it is whole vectors, computed as well.
constexpr int RADIUS_X = LOW_X > HIGH_X ? LOW_X : HIGH_X;
constexpr int LANE_HALO = DIMS < 3 && PYRAMID == 1 && !COPIES && SUMS && !PACKED && RADIUS_X <= VECTOR && LANE_RULES ? RADIUS_X : 0;
constexpr int HALO_LX = LANE_HALO > 0 ? 0 : (PYRAMID * LOW_X + VECTOR - 1) / VECTOR * VECTOR;
constexpr int HALO_HX = LANE_HALO > 0 ? 0 : (PYRAMID * HIGH_X + VECTOR - 1) / VECTOR * VECTOR;
// With an apron, the rows next to a tile that the first time step reads are copied beside it, not computed.
constexpr int COMPUTED = PYRAMID - APRON; // time steps whose halo on rows lies in the tile
constexpr int HALO_LR = COMPUTED * LOW_R, HALO_HR = COMPUTED * HIGH_R;
constexpr int STEP_X = TILE_X - HALO_LX - HALO_HX, STEP_R = TILE_R - HALO_LR - HALO_HR; // from tile to tile
constexpr int OPEN = LOW_S + HIGH_S;                         // planes begun and not complete
constexpr int SPAN_X = LOW_X + WORDS + HIGH_X;              // a row with its halo
constexpr int LAG = HIGH_S + (LATE ? 1 : 0);                 // stage lag: planes a stage is behind the one before
constexpr int SHARED_ROWS = LOW_R + HIGH_R;                  // rows of other bands that a band reads
// Sums take the rows of other bands a plane step after they arrived, where no plane is complete only with them: what a warp does meanwhile
// waits for nobody.
constexpr int AGO = SUMS && SHARED_ROWS > 0 && !LATE; // plane steps
// Where stages keep planes, a warp gives what others read in the next plane step before its last stage, arrives, and computes.
constexpr bool EARLY = !SUMS && SPLIT;
// Rows of a band that others read: the first and the last few.
constexpr int FIRST_ROWS = HIGH_R > 0 ? HIGH_R : LOW_R > 0, LAST_ROWS = LOW_R > 0 ? LOW_R : HIGH_R > 0;
constexpr int EDGE_ROWS = FIRST_ROWS + LAST_ROWS < ROWS && (SUMS || !rows(MIRROR)) ? FIRST_ROWS + LAST_ROWS : ROWS;
// A tile's first rows are read by nobody above: where a row outside is the mirror of one inside, the first
// band gives those that are mirrored in their place, and the last band likewise.
constexpr bool MIRRORED_ROWS = rows(MIRROR) && SUMS && SHARED_ROWS > 0 && EDGE_ROWS < ROWS;
// Where a row outside is a constant, there is one such row beside the edge rows of every plane.
constexpr bool CONSTANT_ROW = rows(CONSTANT) && SUMS && (HELD_LR < LOW_R || HELD_HR < HIGH_R);

// A vector in global memory, and in shared memory.
template <class Elem> struct __align__(aligned(sizeof(Elem), VECTOR)) VectorOf {
  Elem at[VECTOR];
};
// What is moved between memory and a thread at once: a vector, or the part of one in which rows are whole.
template <class Elem> struct __align__(aligned(sizeof(Elem), PART)) PartOf {
  Elem at[PART];
};
// Lanes that each move the parts of their own vector touch a line as often as a vector has parts. Copied
// asynchronously, a row's parts are coalesced, and lanes find their vectors in shared memory; stores
// are coalesced through shared memory too, where a vector is a sector (32 bytes) and parts are less
// than half of it. (Narrower vectors, and planes of several rows, lose as much as they win; docs/lab/0020-parts-side-by-side.md.)
constexpr bool COALESCED = COPIES && PART < VECTOR;
constexpr bool COALESCED_STORES = COALESCED && DIMS < 3 && sizeof(Vector) == 32 && sizeof(Part) < 16;
struct __align__(sizeof(Real) * WORDS < 16 ? sizeof(Real) * WORDS : 16) Shared {
  Real at[WORDS];
};

typedef Real Cells[ROWS][WORDS];                           // of one plane of an array, a thread's own
typedef Real LaneHalo[ROWS][LANE_HALO > 0 ? LANE_HALO : 1]; // next to the first and the last lane's
typedef Real Rows[LOW_R + ROWS + HIGH_R][SPAN_X];           // the same with their neighbours

// Which of a band's edge rows row j is.
__device__ __forceinline__ int edge_row(int j) { return EDGE_ROWS == ROWS || j < FIRST_ROWS ? j : j - (ROWS - EDGE_ROWS); }

// What a thread knows of its place. Registers are scarce: whatever is used in every
// plane step is one number.
struct Place {
  const Grid &grid;
  int nx, planes;        // extents
  index_t stride;        // elements from plane to plane
  int begin, end;        // planes this block writes: begin <= p < end
  bool low_x, high_x;    // holds the first, last cell of a row of the grid, or with LANE_HALO of the tile
  unsigned writes;       // bit j: row j of its own is written
  unsigned parts;        // bit i: the part that begins with cell i is written (where rows are not whole vectors)
  int own;               // its first edge row in shared memory, in vectors
  int other[SHARED_ROWS > 0 ? SHARED_ROWS : 1]; // the rows of other bands that it reads
  int x, y;              // of its first cell
  index_t rows[WRAPS_ROWS ? ROWS : 1]; // where the grid repeats: elements from a plane's column to each row
  TURNS(int turns[VECTOR / PART]; // elements from where each part that it loads would be to where the repeated row has it)
  bool low_row, high_row; // holds the first, last row of a plane
  bool holds;            // some cells of its tile, where SIDES says so of its own, may be held but by their plane
  unsigned flags;        // low_x, high_x, low_row, high_row, holds bit by bit
  bool within;           // on x its tile lies within the grid, and none of its cells is held but by its plane
};

// Elements from a thread's place in a plane to its row j.
__device__ __forceinline__ index_t row_offset(const Place &at, int j) { return WRAPS_ROWS ? at.rows[j] : (index_t)j * at.grid.ldx; }

// Cells by which the first part that a thread moves lies before its own vector, and cells of memory
// from a part to the next for each of its cells: coalesced, a band's parts follow each other.
__device__ __forceinline__ int coalesced_offset(bool coalesced) { return coalesced ? (int)threadIdx.x * (VECTOR - PART) : 0; }
__device__ __forceinline__ constexpr int part_stride(bool coalesced) { return coalesced ? LANES : 1; }

// Fills the halo of a row whose own cells are e[LOW_X] .. e[LOW_X + VECTOR - 1].
// A point outside the grid is the cell inside that stands for it by the boundary rule;
// next is what lies next to the tile, and constant what lies outside by the rule of that name. Only low
// and high cells of it are needed, and none outside the grid that held cells alone would read.
__device__ __forceinline__ void halo_x(Real (&e)[SPAN_X], const Place &at, int low, int high, const Real *next, Outside constant) {
#pragma unroll
  for (int k = 1; k <= LOW_X; k++) {
    if (k > low) break;
    const int lanes = (k + WORDS - 1) / WORDS;
    e[LOW_X - k] = __shfl_up_sync(~0u, e[LOW_X + lanes * WORDS - k], lanes);
    if (LANE_HALO == 0 && HELD_LX >= LOW_X) continue;
    Real outside = LANE_HALO > 0 ? next[LANE_HALO > 0 ? k - 1 : 0] : e[LOW_X - k + 1];
    if (LANE_HALO == 0 && given(0, 0)) outside = constant.at[0][0];
    if (LANE_HALO == 0 && rule(0, 0, 0) == MIRROR) outside = k < WORDS ? e[LOW_X + k % WORDS] : __shfl_sync(~0u, e[LOW_X + k % WORDS], k / WORDS, LANES);
    if (LOW_X <= WORDS || wraps(0) ? at.low_x : at.x < k) e[LOW_X - k] = outside;
  }
#pragma unroll
  for (int k = 0; k < HIGH_X; k++) {
    if (k >= high) break;
    const int lanes = k / WORDS + 1, i = LOW_X + WORDS + k;
    e[i] = __shfl_down_sync(~0u, e[LOW_X + k % WORDS], lanes);
    if (LANE_HALO == 0 && HELD_HX >= HIGH_X) continue;
    Real outside = LANE_HALO > 0 ? next[LANE_HALO > 0 ? k : 0] : e[i - 1];
    if (LANE_HALO == 0 && given(0, 1)) outside = constant.at[0][1];
    if (LANE_HALO == 0 && rule(0, 0, 1) == MIRROR) { // k + 2 cells before the end of the last lane
      constexpr int last = LANES * WORDS;
      const int cell = last - 2 - k;
      outside = cell / WORDS == LANES - 1 ? e[LOW_X + cell % WORDS] : __shfl_sync(~0u, e[LOW_X + cell % WORDS], cell / WORDS, LANES);
    }
    if (HIGH_X <= WORDS || wraps(0) ? at.high_x : at.x + WORDS + k >= at.nx) e[i] = outside;
  }
}

// Edge rows in shared memory: those of the plane that arrives now and of RING - 1
// before it, for every stage, of each array of which other rows are read.
struct Edges {
  Shared *ring; // of the stage at hand
  int slot;     // where the plane that arrives now belongs

  static constexpr int ROW = BANDS * EDGE_ROWS * LANES;  // where the row of constants is, if there is one
  static constexpr int SET = ROW + (CONSTANT_ROW ? LANES * sides() : 0); // of one plane of an array, vectors
  static constexpr int STAGE = EDGE_ARRAYS * SET;     // of a stage

  __device__ __forceinline__ Edges of(int stage) const { return {ring + stage * STAGE, slot}; }
  __device__ __forceinline__ Shared *now(int array) const { return ring + slot * (PYRAMID * STAGE) + edge_slot(array) * SET; }
  // The plane that arrived some plane steps ago.
  __device__ __forceinline__ const Shared *before(int array, int ago) const {
    return ring + (slot >= ago ? slot - ago : slot - ago + RING) * (PYRAMID * STAGE) + edge_slot(array) * SET;
  }
};

// Gives a plane's edge rows to the other bands.
__device__ __forceinline__ void publish(const Cells &v, const Place &at, Shared *edges) {
#pragma unroll
  for (int j = 0; j < (SHARED_ROWS > 0 ? ROWS : 0); j++) {
    if (EDGE_ROWS < ROWS && j >= FIRST_ROWS && j < ROWS - LAST_ROWS) continue;
    Shared row;
#pragma unroll
    for (int i = 0; i < WORDS; i++) {
      row.at[i] = v[j][i];
      if (MIRRORED_ROWS && mirrors(1, 0) && j < FIRST_ROWS && threadIdx.y == 0) row.at[i] = v[j + 1 < ROWS ? j + 1 : j][i];
      if (MIRRORED_ROWS && mirrors(1, 1) && j >= ROWS - LAST_ROWS && threadIdx.y == BANDS - 1) row.at[i] = v[j > 0 ? j - 1 : j][i];
    }
    edges[at.own + edge_row(j) * LANES] = row;
  }
}

// Reads the rows of other bands, where `other` finds them.
template <class Other> __device__ __forceinline__ void neighbours(Rows &e, Other other) {
#pragma unroll
  for (int r = 0; r < SHARED_ROWS; r++) {
    const auto row = other(r);
#pragma unroll
    for (int i = 0; i < WORDS; i++) e[r < LOW_R ? r : r + ROWS][LOW_X + i] = row.at[i];
  }
}

APRON{{// A row of the apron, which the first or the last band copies beside its own.
struct __align__(8) ApronRow {
  int rows; // from the band's first row to it in memory; NONE = it is not copied
  int to;   // bytes from there to it in shared memory
  static constexpr int NONE = 1 << 30;
};
constexpr int APRON_ROWS = LOW_R > HIGH_R ? LOW_R : HIGH_R; // of a band, at most

}}APRON// Whether cell first + i of an axis of n cells is one of those at its low or high end that are held;
// first is a thread's first cell there, of `cells`, and edge says whether it holds the axis's first or last
// one. Of a tile that begins or ends within the grid nobody uses as many cells as the reach.
__host__ __device__ constexpr bool at_edge(int held, int reach, int cells) { return held <= reach && held <= cells; }
__device__ __forceinline__ bool held_low(int held, int reach, int cells, bool edge, int first, int i) {
  return at_edge(held, reach, cells) ? i < held && edge : first + i < held;
}
__device__ __forceinline__ bool held_high(int held, int reach, int cells, bool edge, int first, int i, int n) {
  return at_edge(held, reach, cells) ? i >= cells - held && edge : first + i >= n - held;
}

// Whether threads that hold cells at an edge do what that takes side by side, and others nothing of it: in double precision. In others all tiles
// keep pace (docs/lab/0060-tiles-that-run-ahead.md).
constexpr bool SIDES = DIMS == 3 && sizeof(Real) == 8 && at_edge(HELD_LX, LOW_X, VECTOR) && at_edge(HELD_HX, HIGH_X, VECTOR) && at_edge(HELD_LR, LOW_R, ROWS) && at_edge(HELD_HR, HIGH_R, ROWS);

// Where a plane is complete only with rows of other bands, that takes fewer instructions: held cells take their values back from shared memory,
// where it keeps them, whenever a plane is complete.
constexpr bool RETAKEN = SIDES && HOLDS && KEPT > 0 && LATE;

// Whether cell i of the thread's row j is held, whatever its plane.
__device__ __forceinline__ bool held_cell(const Place &at, int j, int i) {
  const bool low_x = LANE_HALO > 0 ? at.x == 0 : at.low_x, high_x = LANE_HALO > 0 ? at.x + VECTOR == at.nx : at.high_x;
  return at.holds && (held_low(HELD_LX, LOW_X, VECTOR, low_x, at.x, i) || held_high(HELD_HX, LANE_HALO > 0 ? 0 : HIGH_X, VECTOR, high_x, at.x, i, at.nx) ||
                      held_low(HELD_LR, LOW_R, ROWS, at.low_row, at.y, j) || held_high(HELD_HR, HIGH_R, ROWS, at.high_row, at.y, j, at.grid.ny));
}

// Whether plane p is held as a whole.
__device__ __forceinline__ bool held_plane(const Place &at, int p) {
  return HELD_LS + HELD_HS > 0 && (p < HELD_LS || p >= at.planes - HELD_HS);
}

template <int R, int N>
__device__ __forceinline__ void copy(Real (&to)[R][N], const Real (&from)[R][N]) {
#pragma unroll
  for (int j = 0; j < R; j++)
#pragma unroll
    for (int i = 0; i < N; i++) to[j][i] = from[j][i];
}

__device__ __forceinline__ void copy_all(Cells (&to)[ARRAYS], const Cells (&from)[ARRAYS]) {
#pragma unroll
  for (int a = 0; a < ARRAYS; a++) copy(to[a], from[a]);
}
