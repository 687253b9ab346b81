// Stages for a cell function that is a weighted sum of points: each plane that
// arrives is accumulated, with its weights, into the sums of the planes it is a neighbour of. So a plane's
// neighbourhood is needed once, when it arrives, and never kept.

// Planes from which on the grid's first plane plays no part, and those before the end from which on
// the last does: what is mirrored, and held planes, reach further.
constexpr int SETTLED = HELD_LS > 0 ? (planes(MIRROR) && LOW_S > HELD_LS ? LOW_S : HELD_LS) + HIGH_S : planes(MIRROR) ? LOW_S + 1 : 1;
constexpr int BEYOND = planes(MIRROR) ? HIGH_S + 1 : 1, ENDING = HELD_HS > BEYOND ? HELD_HS : BEYOND;

// A held cell of a row or column may take its value back when its plane is complete, if the value of the plane that
// arrived before is at hand: then, and nothing in between costs anything. (Of planes that are held, all sums are left out.)
constexpr bool RESTORED = HOLDS && HIGH_S == 1 && !LATE && (PAIRS || BEGINS_AS_CELL || DIMS == 2);

// One time step in flight.
struct Stage {
  Cells sum[OPEN > 0 ? OPEN : 1]; // of planes p - HIGH_S, ...: what has arrived so far
  Cells done[ARRAYS];             // the plane completed last
  Real before[WORDS + 1];        // the plane that arrived last, from the cell left of the own ones on: for pairs, and held cells

  __device__ __forceinline__ void clear() {
#pragma unroll
    for (int j = 0; j < ROWS; j++)
#pragma unroll
      for (int i = 0; i < WORDS; i++) {
        done[0][j][i] = 0;
        each<OPEN>([&](int m) { sum[m][j][i] = 0; });
      }
    if constexpr (PAIRS || RESTORED) each<WORDS + 1>([&](int i) { before[i] = 0; });
  }
};

// Keeps the compiler from making a choice of two values of what two branches do: instructions with a condition
// cost nothing more. (Not below 3D, where it would move values instead.)
__device__ __forceinline__ void branch() {
#ifdef __CUDA_ARCH__
  if (DIMS == 3) asm volatile("");
#endif
}

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
__device__ __forceinline__ void accumulate_plane(Stage &s, const Rows &e, int p, const Place &at, int step, Outside constant) {
  const bool holds = KEPT == 0 || step < PYRAMID - 1; // else held cells are written as they arrived
  const bool first = ENDS && p == 0, last = ENDS && p == at.planes - 1;
  const bool mirrored = ENDS && BY_DISTANCE && (p < BEYOND || p >= at.planes - BEYOND);
  // Of four nearest neighbours of equal weight, the left one of a cell and the one in the next plane are also the one in
  // the plane before and the right one of another: the pair that they are is added up once.
  Real pair[PAIRS ? WORDS + 1 : 1];
  if constexpr (PAIRS) each<WORDS + 1>([&](int i) { pair[i] = (first ? Real(0) : s.before[i]) + e[0][LOW_X + i]; });
  constexpr int PASSED = OWN ? 0 : AGO; // sums that were complete before: rows of other bands come later
  constexpr int TARGETS = OWN || SHARED_ROWS > ROWS ? ROWS : SHARED_ROWS; // own rows that get something: of neighbours the first and the last
#pragma unroll
  for (int k = 0; k < TARGETS * WORDS; k++) {
    const int r = k / WORDS, j = TARGETS == ROWS || r < LOW_R ? r : r + (ROWS - TARGETS), i = k % WORDS;
    // Slot 0 is the plane completed now, slot m the one m planes later.
    Sum sum[OPEN + 1];
    each<OPEN + 1>([&](int m) {
      if (OWN)
        sum[m] = m < BEGUN && !first ? Sum(s.sum[m < OPEN ? m : 0][j][i]) : Sum(CONSTANT_TERM); // with the first plane all sums begin
      else
        sum[m] = m < PASSED ? Real(0) : m == PASSED ? s.done[0][j][i] : s.sum[m > PASSED ? m - PASSED - 1 : 0][j][i];
    });
    Real before[OPEN + 1];
    each<OPEN + 1>([&](int m) { before[m] = sum[m]; });
    accumulate<OWN>(sum, e, j, i);
    if constexpr (PAIRS) {
      sum[HIGH_S - 1] += PAIR * pair[i];
      sum[HIGH_S] += PAIR * pair[i + 1];
      if (rule(0, DIMS - 1, 1) == MIRROR && BEGUN < OPEN) sum[HIGH_S] += when(last, PAIR * s.before[i + 1]); // what lies beyond
    }
    if (mirrored)
      accumulate_beyond<OWN>(sum, e, j, i, p, at.planes - 1 - p, constant);
    else if (!BY_DISTANCE && !some(EDGE_VALUE) && (first || last))
      accumulate_beyond<OWN>(sum, e, j, i, first, last, constant);
    // A held cell is its own value, which is there when its plane arrives; planes after that add nothing.
    if constexpr (HOLDS && !RETAKEN)
      each<HIGH_S + 1>([&](int m) {
        const int target = p - HIGH_S + m;
        if (((!RESTORED || !OWN) && holds && held_cell(at, j, i)) || (ENDS && held_plane(at, target))) {
          sum[m] = OWN && m == HIGH_S ? GROWTH * e[LOW_R + j][LOW_X + i] : before[m];
          branch();
        } else {
          branch();
        }
      });
    if constexpr (RESTORED && OWN)
      if (holds && held_cell(at, j, i)) {
        sum[0] = GROWTH * (BEGINS_AS_CELL ? s.sum[OPEN - 1][j][i] : s.before[i + 1]);
        branch();
      }
    s.done[0][j][i] = sum[PASSED];
    each<OPEN - PASSED>([&](int m) { s.sum[m][j][i] = sum[m + PASSED + 1]; });
  }
  if constexpr (PAIRS || (RESTORED && OWN)) each<WORDS + 1>([&](int i) { if (i > 0 || PAIRS) s.before[i] = e[0][LOW_X - 1 + i]; });
}

// Gives a row of plane `plane` the values of EdgeValue where it lies outside the grid: e holds the nearest
// cells inside, and whole says that every cell lies outside.
template <bool ENDS>
__device__ __forceinline__ void edge_row_values(Real (&e)[SPAN_X], const Place &at, int row, int plane, bool whole, int step, int iteration) {
#ifdef __CUDA_ARCH__
  if (!ENDS) __builtin_assume(plane >= 0 && plane < at.planes); // what EdgeValue asks of it need not be asked
  if (DIMS == 3 && !ENDS && !whole) __builtin_assume(row >= 0 && row < at.grid.ny);
#endif
  const auto value = [&](int i) {
    const int x = at.x + i - LOW_X, y = DIMS == 3 ? row : plane, z = DIMS == 3 ? plane : 0;
    if (whole || x < 0 || x >= at.nx) e[i] = growth_of(step) * Real(boundary_value(at.grid, 0, T(scale_of(step) * e[i]), x, y, z, iteration));
  };
  if (whole) each<SPAN_X>(value);
  if (!whole && (LOW_X <= VECTOR ? at.low_x : at.x < LOW_X)) each<LOW_X>(value);
  if (!whole && (HIGH_X <= VECTOR ? at.high_x : at.x + VECTOR + HIGH_X > at.nx)) each<HIGH_X>([&](int k) { value(LOW_X + WORDS + k); });
}

// The same for the rows of a plane: the thread's own, or (not OWN) those of its neighbours.
template <bool ENDS, bool OWN>
__device__ __forceinline__ void edge_values(Rows &e, const Place &at, int plane, bool whole, int step, int iteration) {
  each<(OWN ? ROWS : SHARED_ROWS)>([&](int r) {
    const int k = OWN ? LOW_R + r : r < LOW_R ? r : r + ROWS, row = at.y + k - LOW_R;
    edge_row_values<ENDS>(e[k], at, row, plane, whole || (!OWN && (row < 0 || row >= at.grid.ny)), step, iteration);
  });
}

// What planes beyond the grid's first and last add where EdgeValue says what lies there. near is the nearest
// plane inside, which has just arrived.
template <bool OWN>
__device__ __forceinline__ void accumulate_edge_planes(Stage &s, const Rows &near, int p, const Place &at, int step, int iteration) {
  each<LOW_S + HIGH_S>([&](int k) {
    const int low = k < LOW_S ? k + 1 : 0, high = k < LOW_S ? 0 : k - LOW_S + 1; // planes from the first or the last
    if (p != (low > 0 ? 0 : at.planes - 1)) return;
    Rows e;
    each<LOW_R + ROWS + HIGH_R>([&](int r) { each<SPAN_X>([&](int i) { e[r][i] = near[r][i]; }); });
    edge_values<true, OWN>(e, at, p - low + high, true, step, iteration);
    each<ROWS * WORDS>([&](int c) {
      const int j = c / WORDS, i = c % WORDS;
      Sum sum[OPEN + 1] = {};
      constexpr int PASSED = OWN ? 0 : AGO;
      each<OPEN + 1 - PASSED>([&](int m) { sum[m + PASSED] = m == 0 ? s.done[0][j][i] : s.sum[m > 0 ? m - 1 : 0][j][i]; });
      accumulate_beyond<OWN>(sum, e, j, i, low, high, 0);
      each<OPEN + 1 - PASSED>([&](int m) {
        if (m + PASSED <= HIGH_S && (held_cell(at, j, i) || held_plane(at, p - HIGH_S + m + PASSED))) return;
        (m == 0 ? s.done[0][j][i] : s.sum[m > 0 ? m - 1 : 0][j][i]) = sum[m + PASSED];
      });
    });
  });
}

// Gives the edge rows of plane p to the other bands.
template <bool ENDS> __device__ __forceinline__ void give(const Cells (&v)[ARRAYS], int p, const Place &at, const Edges &edges) {
  const bool none = ENDS && p >= at.planes; // there is no such plane: it must not count
  Cells own;
#pragma unroll
  for (int j = 0; j < ROWS; j++)
#pragma unroll
    for (int i = 0; i < WORDS; i++) own[j][i] = none ? Real(0) : v[0][j][i];
  publish(own, at, edges.now(0));
}

// A stage takes the cells v of plane p: everything that the thread's own rows give.
template <bool ENDS>
__device__ __forceinline__ void arrive(Stage &s, const Cells (&v)[ARRAYS], const LaneHalo &lane_halo, int step, int iteration, int p, const Place &at, const Edges &edges) {
  const bool none = ENDS && p >= at.planes; // there is no such plane: it must not count
  Rows e, near;
  Cells own;
#pragma unroll
  for (int j = 0; j < ROWS; j++) {
#pragma unroll
    for (int i = 0; i < WORDS; i++) e[LOW_R + j][LOW_X + i] = own[j][i] = none ? Real(0) : v[0][j][i];
    Real next[LANE_HALO > 0 ? LANE_HALO : 1];
#pragma unroll
    for (int k = 0; k < LANE_HALO; k++) next[k] = none ? Real(0) : lane_halo[j][k];
    halo_row(e[LOW_R + j], at, LOW_X, HIGH_X, next, none ? Outside{} : outside_cell(step));
  }
  if (LATE && !SPLIT && (APRON == 0 || step > 0)) publish(own, at, edges.now(0)); // not give: compilers would spill
  if (some(EDGE_VALUE) && !none) {
    if (ENDS) copy(near, e);
    edge_values<ENDS, true>(e, at, p, false, step, iteration);
  }
  accumulate_plane<ENDS, true>(s, e, p, at, step, outside_cell(step));
  if constexpr (some(EDGE_VALUE) && ENDS) accumulate_edge_planes<true>(s, near, p, at, step, iteration);
}

// What the rows of other bands, of plane p, add to a stage.
template <bool ENDS>
__device__ __forceinline__ void join(Stage &s, int step, int iteration, int p, const Place &at, const Edges &edges APRON{{, const Vector *plane}}APRON) {
  if constexpr (SHARED_ROWS > 0) {
    if ((CONSTANT_ROW || some(EDGE_VALUE) || gives(0, 0) || gives(0, 1)) && ENDS && p >= at.planes) return; // there is no such plane
    Rows e, near;
    APRON{{if (step == 0 && ENDS && p >= at.planes) return;
    if (step == 0)
      neighbours(e, [&](int r) { return plane[(r < LOW_R ? r - LOW_R : ROWS + r - LOW_R) * LANES]; });
    else}}APRON
      neighbours(e, [&](int r) { return (AGO > 0 ? edges.before(0, AGO) : edges.now(0))[at.other[r]]; });
    if constexpr (DIAGONAL) {
#pragma unroll
      for (int r = 0; r < SHARED_ROWS; r++) halo_row(e[r < LOW_R ? r : r + ROWS], at, LOW_X, HIGH_X, nullptr, outside_cell(step));
    }
    if (some(EDGE_VALUE)) {
      if (ENDS) copy(near, e);
      edge_values<ENDS, false>(e, at, p, false, step, iteration);
    }
    accumulate_plane<ENDS, false>(s, e, p, at, step, outside_cell(step));
    if constexpr (some(EDGE_VALUE) && ENDS) accumulate_edge_planes<false>(s, near, p, at, step, iteration);
  }
}

