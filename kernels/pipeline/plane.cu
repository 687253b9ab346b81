// Family pipeline: a block streams along the outermost axis, and the stages of PYRAMID time steps
// (the time tile) follow each other in the plane steps: each completes a plane that lies behind the one
// before by as much as it reads ahead. Every value is computed once in a tile, and none but a time
// tile's last reaches memory.
//
// A plane is what the streaming axis steps over: rows of x and y in 3D, one row of x in 2D. A band
// is a row of LANES vectors, a warp or a part of one. Planes that are loaded come by asynchronous copies into rings in shared
// memory, and stay there as long as any stage reads them. Planes that stages leave stay in
// registers; of those other bands read rows of, these are in rings in shared memory too.

// A tile is what a block holds in 3D, what a warp holds in 1D and 2D, in cells.
constexpr int TILE_X = LANES * VECTOR, TILE_R = BANDS * ROWS;
constexpr int STEP_X = TILE_X - HALO_LX - HALO_HX, STEP_R = TILE_R - HALO_LR - HALO_HR; // from tile to tile
constexpr int SHARED_ROWS = LOW_R + HIGH_R; // rows of other bands that a band reads at most
// Rows of a band that others read: the first and the last few.
constexpr int FIRST_ROWS = HIGH_R > 0 ? HIGH_R : LOW_R > 0, LAST_ROWS = LOW_R > 0 ? LOW_R : HIGH_R > 0;
constexpr int EDGE_ROWS = FIRST_ROWS + LAST_ROWS < ROWS && !some(MIRROR) ? FIRST_ROWS + LAST_ROWS : ROWS;

// A vector in global memory, and in shared memory.
template <class Elem> struct __align__(aligned(sizeof(Elem), VECTOR)) VectorOf {
  Elem at[VECTOR];
};
// What is moved between memory and a thread at once: a vector, or the part of one in which rows are whole.
template <class Elem> struct __align__(aligned(sizeof(Elem), PART)) PartOf {
  Elem at[PART];
};
// Copied in parts, a row's are coalesced, and lanes find their vectors in shared memory.
constexpr bool COALESCED = PART < VECTOR;
// So are parts that are stored, through shared memory, where a vector is a sector (32 bytes) in 2D. (Narrower ones, and planes of
// several rows, lose by it; docs/lab/0020-parts-side-by-side.md.)
constexpr bool COALESCED_STORES = COALESCED && DIMS < 3 && sizeof(VectorOf<T>) == 32 && sizeof(PartOf<T>) < 16;
struct __align__(sizeof(Real) * VECTOR < 16 ? sizeof(Real) * VECTOR : 16) Shared {
  Real at[VECTOR];
};

typedef Real Cells[ROWS][VECTOR]; // of one plane, a thread's own

// Vectors of a row of a plane that is loaded, with those of its sides; before them are the low side's.
constexpr int LOW_SIDE = (SIDE_L + VECTOR - 1) / VECTOR, PITCH = LOW_SIDE + LANES + (SIDE_H + VECTOR - 1) / VECTOR;
constexpr int LOADED = PITCH * (EXTRA_LR + TILE_R + EXTRA_HR); // vectors of a plane that is loaded
constexpr int GIVEN = LANES * BANDS * EDGE_ROWS;               // and of the rows of one that others read
constexpr int EXTRA = EXTRA_LR + EXTRA_HR, EXTRA_EACH = (EXTRA + BANDS - 1) / BANDS; // extra rows, and those of a band

constexpr int SIDES = SIDE_L + SIDE_H, SIDE_EACH = ((ROWS + EXTRA_EACH) * SIDES + LANES - 1) / LANES; // cells of a row's sides, and those of a lane

// A thread's cells of a plane, with columns and rows beyond.
template <int LX, int HX, int LR, int HR>
struct Around {
  Real at[LR + ROWS + HR][LX + VECTOR + HX];
};

// Which of a band's edge rows row j is.
__device__ __forceinline__ int edge_row(int j) { return EDGE_ROWS == ROWS || j < FIRST_ROWS ? j : j - (ROWS - EDGE_ROWS); }

// What a thread knows of its place.
struct Place {
  const Grid &grid;
  int nx, ny, planes;    // extents; ny of a plane's rows
  index_t stride;        // elements from plane to plane
  int begin, end;        // planes this block writes: begin <= p < end
  bool low_x, high_x;    // holds the first, last cell of a row of the grid
  unsigned writes;       // bit j: row j of its own is written
  unsigned parts;        // bit i: the part that begins with cell i is written (where rows are not whole vectors)
  int own;               // its first vector in a plane that is loaded
  int given;             // its first edge row
  int near[SHARED_ROWS > 0 ? SHARED_ROWS : 1];  // the rows of other bands in a plane that is loaded
  int other[SHARED_ROWS > 0 ? SHARED_ROWS : 1]; // and among edge rows
  APART(int mirrored_near[SHARED_ROWS > 0 ? SHARED_ROWS : 1], mirrored_other[SHARED_ROWS > 0 ? SHARED_ROWS : 1]; // of arrays that are mirrored there)
  index_t extra[EXTRA > 0 ? EXTRA_EACH : 1]; // elements from its column to the extra rows that it loads
  int extra_at[EXTRA > 0 ? EXTRA_EACH : 1];  // vectors from its own in shared memory to theirs; 0 = none
  index_t side[SIDES > 0 ? SIDE_EACH : 1];   // elements from its column to the cells of sides that it loads
  int side_at[SIDES > 0 ? SIDE_EACH : 1];    // SIDE_UNITs from what it copies to them in shared memory; 0 = none
  int x, y;              // of its first cell
  index_t rows[WRAPS_ROWS ? ROWS : 1]; // where the grid repeats: elements from a plane's column to each row
  TURNS(int turns[VECTOR / PART]; // elements from where each part that it copies would be to where the repeated row has it)
  T *swap;               // its warp's vector, through which parts are stored
  bool edge;             // its tile touches the grid's edge on x or rows
};

// Elements from a thread's place in a plane to its row j.
__device__ __forceinline__ index_t row_offset(const Place &at, int j) { return WRAPS_ROWS ? at.rows[j] : (index_t)j * at.grid.ldx; }

// Cells by which the first part that a thread copies lies before its own vector, and cells of memory
// from a part to the next for each of its cells: coalesced, a warp's parts follow each other.
__device__ __forceinline__ int coalesced_offset() { return COALESCED ? (int)threadIdx.x * (VECTOR - PART) : 0; }
constexpr int PART_STRIDE = COALESCED ? LANES : 1;

// Asks for a thread's part of a row to be copied to shared memory, a vector or as much in parts, and
// does not wait for it.
template <class Elem> __device__ __forceinline__ void copy_vector(char *to, unsigned shared, const Elem *from TURNS(, const int (&turns)[VECTOR / PART])) {
  constexpr int BYTES = alignof(PartOf<Elem>), STRIDE = BYTES * PART_STRIDE;
  WHOLE_ROWS(// Of rows of any length every second or fourth begins with a whole vector: there a lane copies its own.
  constexpr int WHOLE = alignof(VectorOf<Elem>); // half of it, where the array's elements are wider than others
  const int own = coalesced_offset() * (int)sizeof(Elem);
  const char *begin = reinterpret_cast<const char *>(from) + own;
  if ((unsigned long long)begin % WHOLE == 0) {
#pragma unroll
    for (int i = 0; i < (int)sizeof(VectorOf<Elem>); i += WHOLE) copy_async<WHOLE>(to + own + i, shared + own + i, begin + i);
    return;
  })
#pragma unroll
  for (int i = 0; i < (int)sizeof(VectorOf<Elem>) / BYTES; i++)
    copy_async<BYTES>(to + piece_at<Elem>(i, STRIDE), shared + piece_at<Elem>(i, STRIDE), reinterpret_cast<const char *>(from TURNS( + turns[part_at<Elem>(i)])) + piece_at<Elem>(i, STRIDE));
}

// The place in a ring of N planes of the one that came `age` plane steps before the one at slot.
template <int N>
__device__ __forceinline__ int before(int slot, int age) {
  if ((N & (N - 1)) == 0) return (slot - age) & (N - 1);
  return slot >= age ? slot - age : slot - age + N;
}

// Copies a thread's own cells of a plane: of one that a stage left `age` plane steps ago, or a loaded one.
template <int LX, int HX, int LR, int HR, int N>
__device__ __forceinline__ void own(Around<LX, HX, LR, HR> &e, const Cells (&kept)[N], int age) {
#pragma unroll
  for (int d = 0; d < N; d++)
    if (d == age) {
#pragma unroll
      for (int j = 0; j < ROWS; j++)
#pragma unroll
        for (int i = 0; i < VECTOR; i++) e.at[LR + j][LX + i] = kept[d][j][i];
    }
}

template <int LX, int HX, int LR, int HR, class Elem>
__device__ __forceinline__ void own(Around<LX, HX, LR, HR> &e, const VectorOf<Elem> *plane, const Place &at) {
#pragma unroll
  for (int j = 0; j < ROWS; j++) {
    const VectorOf<Elem> v = plane[at.own + j * PITCH];
#pragma unroll
    for (int i = 0; i < VECTOR; i++) e.at[LR + j][LX + i] = cell_of(v, i);
  }
}

// Takes a thread's own cells of a plane that is loaded.
template <class Elem> __device__ __forceinline__ void take(Cells &v, const VectorOf<Elem> *plane, const Place &at) {
#pragma unroll
  for (int j = 0; j < ROWS; j++) {
    const VectorOf<Elem> vector = plane[at.own + j * PITCH];
#pragma unroll
    for (int i = 0; i < VECTOR; i++) v[j][i] = cell_of(vector, i);
  }
}

// Loads a thread's own cells of a plane in memory.
template <class Elem> __device__ __forceinline__ void load_cells(Cells &v, const Elem *column, const Place &at) {
#pragma unroll
  for (int j = 0; j < ROWS; j++)
#pragma unroll
    for (int i = 0; i < VECTOR; i += PART) {
      const PartOf<Elem> part = *reinterpret_cast<const PartOf<Elem> *>(column + row_offset(at, j) + i TURNS( + boundary_index<0>(0, at.x + i, at.nx) - (at.x + i)));
#pragma unroll
      for (int k = 0; k < PART; k++) v[j][i + k] = element(part.at[k]);
    }
}

APART(// What arrays hold beyond the grid where some are mirrored and others are not: the nearest cells. Mirrored ones are found in the tile.
template <int AXIS>
__device__ __forceinline__ int stored_index(int i, int n) { return mirrors_apart(AXIS) ? clamp_index(i, n) : boundary_index<AXIS>(0, i, n); }

// Where row r of other warps lies of an array: in a plane that is loaded, and among edge rows.
template <int ARRAY> __device__ __forceinline__ bool mirrored_row(int r) { return mirrors_apart(1) && (r < LOW_R ? rule(ARRAY, 1, 0) : rule(ARRAY, 1, 1)) == MIRROR; }
template <int ARRAY> __device__ __forceinline__ int near_row(const Place &at, int r) { return mirrored_row<ARRAY>(r) ? at.mirrored_near[r] : at.near[r]; }
template <int ARRAY> __device__ __forceinline__ int other_row(const Place &at, int r) { return mirrored_row<ARRAY>(r) ? at.mirrored_other[r] : at.other[r]; }
)
// Reads the rows of other bands, of a plane that is loaded or of one that a stage left.
template <int ARRAY, bool IS_LOADED, int LX, int HX, int LR, int HR, class V>
__device__ __forceinline__ void others(Around<LX, HX, LR, HR> &e, const V *plane, const Place &at) {
#pragma unroll
  for (int r = 0; r < LR + HR; r++) {
    const int row_at = r < LR ? LOW_R - LR + r : LOW_R + r - LR;
    const V row = plane[IS_LOADED ? near_row<ARRAY>(at, row_at) : other_row<ARRAY>(at, row_at)];
#pragma unroll
    for (int i = 0; i < VECTOR; i++) e.at[r < LR ? r : r + ROWS][LX + i] = cell_of(row, i);
  }
}

// Fills L and H columns beyond the own cells e[LX] .. of a row: from neighbour lanes, and where they lie
// outside the grid from the cell that stands for them, the nearest one or the mirrored one, or with the constant.
template <int ARRAY, bool EDGE, int LX, int HX, int L, int H>
__device__ __forceinline__ void columns(Real (&e)[LX + VECTOR + HX], const Place &at) {
  constexpr bool CONSTANTS = ONE_CONSTANT && ARRAY < FIELDS;
#pragma unroll
  for (int k = 1; k <= L; k++) {
    const int lanes = (k + VECTOR - 1) / VECTOR;
    e[LX - k] = __shfl_up_sync(~0u, e[LX + lanes * VECTOR - k], lanes);
    if (EDGE) {
      Real outside = CONSTANTS ? OUTSIDE : e[LX - k + 1];
      if (rule(ARRAY, 0, 0) == MIRROR) outside = k < VECTOR ? e[LX + k % VECTOR] : __shfl_sync(~0u, e[LX + k % VECTOR], k / VECTOR, LANES);
      if (L <= VECTOR ? at.low_x : at.x < k) e[LX - k] = outside;
    }
  }
#pragma unroll
  for (int k = 0; k < H; k++) {
    const int lanes = k / VECTOR + 1, i = LX + VECTOR + k;
    e[i] = __shfl_down_sync(~0u, e[LX + k % VECTOR], lanes);
    if (EDGE) {
      Real outside = CONSTANTS ? OUTSIDE : e[i - 1];
      if (rule(ARRAY, 0, 1) == MIRROR) { // k + 2 cells before the end of the last lane
        constexpr int last = LANES * VECTOR;
        const int cell = last - 2 - k;
        outside = k + 2 <= VECTOR ? e[LX + cell % VECTOR] : __shfl_sync(~0u, e[LX + cell % VECTOR], cell / VECTOR, LANES);
      }
      if (H <= VECTOR ? at.high_x : at.x + VECTOR + k >= at.nx) e[i] = outside;
    }
  }
}

// The same for a row of what is loaded, whose own cells begin at `row`: there the cells that stand for those outside are.
template <int ARRAY, bool EDGE, int LX, int HX, int L, int H, class Elem>
__device__ __forceinline__ void columns(Real (&e)[LX + VECTOR + HX], const Elem *row, const Place &at) {
  constexpr bool CONSTANTS = ONE_CONSTANT && ARRAY < FIELDS;
#pragma unroll
  for (int k = 1; k <= L; k++) e[LX - k] = EDGE && CONSTANTS && at.x < k ? OUTSIDE : Real(element(row[-k]));
#pragma unroll
  for (int k = 0; k < H; k++) e[LX + VECTOR + k] = EDGE && CONSTANTS && at.x + VECTOR + k >= at.nx ? OUTSIDE : Real(element(row[VECTOR + k]));
  APART(if (EDGE && mirrors_apart(0) && rule(ARRAY, 0, 0) == MIRROR) {
#pragma unroll
    for (int k = 1; k <= L; k++)
      if (at.x < k) e[LX - k] = Real(element(row[k - 2 * at.x]));
  }
  const int last = 2 * (at.nx - 1 - at.x) - VECTOR; // what the first cell beyond the row mirrors
  if (EDGE && mirrors_apart(0) && rule(ARRAY, 0, 1) == MIRROR) {
#pragma unroll
    for (int k = 0; k < H; k++)
      if (at.x + VECTOR + k >= at.nx) e[LX + VECTOR + k] = Real(element(row[last - k]));
  })
}

// Fills what lies beyond the own cells of a plane on x: L and H columns of own rows, OL and OH of others. Of what is loaded
// `loaded` is the plane in shared memory, else null.
// Where what lies outside the grid is a constant it gets that; plane is the one that was asked for.
template <int ARRAY, bool EDGE, bool ENDS, int L, int H, int OL, int OH, bool IS_LOADED, int LX, int HX, int LR, int HR, class Elem>
__device__ __forceinline__ void beyond(Around<LX, HX, LR, HR> &e, const VectorOf<Elem> *loaded, int plane, const Place &at) {
  constexpr bool CONSTANTS = ONE_CONSTANT && ARRAY < FIELDS;
  const bool inside = !ENDS || (plane >= 0 && plane < at.planes);
#pragma unroll
  for (int r = 0; r < LR + ROWS + HR; r++) {
    const bool own = r >= LR && r < LR + ROWS;
    if constexpr (IS_LOADED) {
      const Elem *row = reinterpret_cast<const Elem *>(loaded + (own ? at.own + (r - LR) * PITCH : near_row<ARRAY>(at, r < LR ? LOW_R - LR + r : LOW_R + r - LR - ROWS)));
      if (own)
        columns<ARRAY, on_edge<0>(EDGE), LX, HX, L, H>(e.at[r], row, at);
      else
        columns<ARRAY, on_edge<0>(EDGE), LX, HX, OL, OH>(e.at[r], row, at);
    } else if (own)
      columns<ARRAY, on_edge<0>(EDGE), LX, HX, L, H>(e.at[r], at);
    else
      columns<ARRAY, on_edge<0>(EDGE), LX, HX, OL, OH>(e.at[r], at);
    if (CONSTANTS && (ENDS || (EDGE && (r < LR || r >= LR + ROWS))))
      if (!inside || (EDGE && DIMS == 3 && (unsigned)(at.y + r - LR) >= (unsigned)at.ny)) {
#pragma unroll
        for (int i = 0; i < LX + VECTOR + HX; i++) e.at[r][i] = OUTSIDE;
      }
  }
}

// The age of the plane dz from plane of an array: that of the plane which stands for it, among those kept. zero is
// the age of plane itself.
template <int ARRAY, bool ENDS>
__device__ __forceinline__ int age_of(int zero, int dz, int plane, int depth, const Place &at) {
  if (!ENDS || wraps(DIMS - 1)) return zero - dz;
  return min(max(zero - (boundary_index<DIMS - 1>(ARRAY, plane + dz, at.planes) - plane), 0), depth - 1);
}

// The coordinate of a cell, where the grid repeats that of the one inside: a tile reaches less than an extent beyond.
__device__ __forceinline__ int within(int i, int n) { return !some(WRAP) ? i : i < 0 ? i + n : i < n ? i : i - n; }

// Where the boundary is fixed: whether a cell keeps its value, being as near to the edge as the stage reaches.
template <int LX, int HX, int LR, int HR, int LS, int HS, bool EDGE, bool ENDS>
__device__ __forceinline__ bool held(int j, int i, int plane, const Place &at) {
  if (!some(FIXED)) return false;
  bool near = ENDS && (plane < LS || plane >= at.planes - HS);
  if (EDGE) {
    if (i < LX || LX > VECTOR) near |= at.x + i < LX;
    if (i >= VECTOR - HX) near |= at.x + i >= at.nx - HX;
    if (DIMS == 3 && (j < LR || LR > ROWS)) near |= at.y + j < LR;
    if (DIMS == 3 && j >= ROWS - HR) near |= at.y + j >= at.ny - HR;
  }
  return near;
}

// Gives a plane's edge rows to the other warps.
__device__ __forceinline__ void give(const Cells &v, const Place &at, Shared *edges) {
#pragma unroll
  for (int j = 0; j < ROWS; j++) {
    if (EDGE_ROWS < ROWS && j >= FIRST_ROWS && j < ROWS - LAST_ROWS) continue;
    Shared row;
#pragma unroll
    for (int i = 0; i < VECTOR; i++) row.at[i] = v[j][i];
    edges[at.given + edge_row(j) * LANES] = row;
  }
}

template <int N>
__device__ __forceinline__ void shift(Cells (&kept)[N]) {
#pragma unroll
  for (int d = N - 1; d > 0; d--)
#pragma unroll
    for (int j = 0; j < ROWS; j++)
#pragma unroll
      for (int i = 0; i < VECTOR; i++) kept[d][j][i] = kept[d - 1][j][i];
}

template <int LX, int HX, int LR, int HR, int N>
__device__ __forceinline__ void shift(Around<LX, HX, LR, HR> (&kept)[N]) {
#pragma unroll
  for (int d = N - 1; d > 0; d--)
#pragma unroll
    for (int j = 0; j < LR + ROWS + HR; j++)
#pragma unroll
      for (int i = 0; i < LX + VECTOR + HX; i++) kept[d].at[j][i] = kept[d - 1].at[j][i];
}

template <int LX, int HX, int LR, int HR, int N>
__device__ __forceinline__ void clear(Around<LX, HX, LR, HR> (&kept)[N]) {
#pragma unroll
  for (int d = 0; d < N; d++)
#pragma unroll
    for (int j = 0; j < LR + ROWS + HR; j++)
#pragma unroll
      for (int i = 0; i < LX + VECTOR + HX; i++) kept[d].at[j][i] = 0;
}

template <int N>
__device__ __forceinline__ void clear(Cells (&kept)[N]) {
#pragma unroll
  for (int d = 0; d < N; d++)
#pragma unroll
    for (int j = 0; j < ROWS; j++)
#pragma unroll
      for (int i = 0; i < VECTOR; i++) kept[d][j][i] = 0;
}

// Gives a thread for its own cells of a row the parts that it stores.
__device__ __forceinline__ void coalesce(const Real (&row)[VECTOR], T (&v)[VECTOR], const Place &at) {
  const int lane = threadIdx.x;
  VectorOf<T> vector;
#pragma unroll
  for (int i = 0; i < VECTOR; i++) vector.at[i] = row[i];
  __syncwarp(); // all have read what was there before
  reinterpret_cast<VectorOf<T> *>(at.swap)[lane] = vector;
  __syncwarp();
#pragma unroll
  for (int i = 0; i < VECTOR; i += PART) {
    const PartOf<T> part = *reinterpret_cast<const PartOf<T> *>(at.swap + lane * PART + i * PART_STRIDE);
#pragma unroll
    for (int k = 0; k < PART; k++) v[i + k] = part.at[k];
  }
}

// Writes a plane, if the block has it to write; column is the own column of the one that is written next.
__device__ __forceinline__ void store(const Cells &v, Writer &column, int plane, const Place &at) {
  if (plane < at.begin || plane >= at.end) return;
#pragma unroll
  for (int j = 0; j < ROWS; j++) {
    if (!(at.writes >> j & 1)) continue;
    const Writer row = column + (row_offset(at, j) - (COALESCED_STORES ? coalesced_offset() : 0));
    T stored[VECTOR];
    if constexpr (COALESCED_STORES) {
      coalesce(v[j], stored, at);
    } else {
#pragma unroll
      for (int i = 0; i < VECTOR; i++) stored[i] = v[j][i];
    }
#pragma unroll
    for (int i = 0; i < VECTOR; i += PART) {
      if (PART < VECTOR && !(at.parts >> i & 1)) continue;
      Part part;
#pragma unroll
      for (int k = 0; k < PART; k++) part.at[k] = stored[i + k];
      put_part(row + i * (COALESCED_STORES ? PART_STRIDE : 1), part);
    }
  }
  column += at.stride;
}
