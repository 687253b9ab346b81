// Stages for a cell function that is a weighted sum of points: each plane that
// arrives is accumulated, with its weights, into the sums of the planes it is a neighbour of. So a plane's
// neighbourhood is needed once, when it arrives, and never kept.

constexpr int SETTLED = 1; // planes from which on the grid's first plane plays no part

// One time step in flight.
struct Stage {
  Cells sum[OPEN > 0 ? OPEN : 1]; // of planes p - HIGH_S, ...: what has arrived so far
  Cells done[ARRAYS];             // the plane completed last

  __device__ __forceinline__ void clear() {
#pragma unroll
    for (int j = 0; j < ROWS; j++)
#pragma unroll
      for (int i = 0; i < VECTOR; i++) {
        done[0][j][i] = 0;
        each<OPEN>([&](int m) { sum[m][j][i] = 0; });
      }
  }
};

// A number, or one that adds nothing.
__device__ __forceinline__ Real when(bool condition, Real number) { return condition ? number : Real(-0.0); }

// Whether row j is one of those at hand: the thread's own, or (not OWN) the others.
template <bool OWN>
__device__ __forceinline__ bool inside(int j) {
  return (j >= 0 && j < ROWS) == OWN;
}

// Cell i of a row and its neighbours: two neighbours share the sum of their own.
__device__ __forceinline__ Real three(const Real (&row)[SPAN_X], int i) {
  const int k = LOW_X + i;
  return i % 2 == 0 ? (row[k] + row[k + 1]) + row[k - 1] : (row[k - 1] + row[k]) + row[k + 1];
}

@WEIGHTS@
// Accumulates the rows of plane p into the sums: the thread's own rows, or (not OWN)
// those of its neighbours.
template <bool ENDS, bool OWN>
__device__ __forceinline__ void accumulate_plane(Stage &s, const Rows &e, int p, int planes) {
  const bool first = ENDS && p == 0, last = ENDS && p == planes - 1;
  constexpr int TARGETS = OWN || SHARED_ROWS > ROWS ? ROWS : SHARED_ROWS; // own rows that get something: of neighbours the first and the last
#pragma unroll
  for (int k = 0; k < TARGETS * VECTOR; k++) {
    const int r = k / VECTOR, j = TARGETS == ROWS || r < LOW_R ? r : r + (ROWS - TARGETS), i = k % VECTOR;
    // Slot 0 is the plane completed now, slot m the one m planes later.
    Real sum[OPEN + 1];
    each<OPEN + 1>([&](int m) {
      if (OWN)
        sum[m] = m < OPEN && !first ? s.sum[m < OPEN ? m : 0][j][i] : CONSTANT_TERM; // with the first plane all sums begin
      else
        sum[m] = m == 0 ? s.done[0][j][i] : s.sum[m > 0 ? m - 1 : 0][j][i];
    });
    accumulate<OWN>(sum, e, j, i);
    if (ENDS && (first || last)) accumulate_beyond<OWN>(sum, e, j, i, first, last);
    s.done[0][j][i] = sum[0];
    each<OPEN>([&](int m) { s.sum[m][j][i] = sum[m + 1]; });
  }
}

// A stage takes the cells v of plane p: everything that the thread's own rows give.
template <bool ENDS>
__device__ __forceinline__ void arrive(Stage &s, const Cells (&v)[ARRAYS], const LaneHalo &lane_halo, int, int p, const Place &at, const Edges &edges) {
  const bool none = ENDS && p >= at.planes; // there is no such plane: it must not count
  Rows e;
  Cells own;
#pragma unroll
  for (int j = 0; j < ROWS; j++) {
#pragma unroll
    for (int i = 0; i < VECTOR; i++) e[LOW_R + j][LOW_X + i] = own[j][i] = none ? Real(0) : v[0][j][i];
    Real next[LANE_HALO > 0 ? LANE_HALO : 1];
#pragma unroll
    for (int k = 0; k < LANE_HALO; k++) next[k] = none ? Real(0) : lane_halo[j][k];
    halo_x(e[LOW_R + j], at, LOW_X, HIGH_X, next);
  }
  publish(own, at, edges.now(0));
  accumulate_plane<ENDS, true>(s, e, p, at.planes);
}

// What the rows of other warps add to a stage.
template <bool ENDS>
__device__ __forceinline__ void join(Stage &s, int, int p, const Place &at, const Edges &edges) {
  if constexpr (SHARED_ROWS > 0) {
    Rows e;
    neighbours(e, at, edges.now(0));
    if constexpr (DIAGONAL) {
#pragma unroll
      for (int r = 0; r < SHARED_ROWS; r++) halo_x(e[r < LOW_R ? r : r + ROWS], at, LOW_X, HIGH_X, nullptr);
    }
    accumulate_plane<ENDS, false>(s, e, p, at.planes);
  }
}

