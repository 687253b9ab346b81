// Stages for a cell function that is a weighted sum of points: each plane that
// arrives is weighed into the sums of the planes it is a neighbour of. So a plane's
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
#pragma unroll
        for (int m = 0; m < OPEN; m++) sum[m][j][i] = 0;
      }
  }
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

// Whether row j is one of those at hand: the thread's own, or (not OWN) the others.
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
      Real sum[OPEN + 1];
#pragma unroll
      for (int m = 0; m <= OPEN; m++)
        if (OWN)
          sum[m] = m < OPEN && !(ENDS && ends.first) ? s.sum[m < OPEN ? m : 0][j][i] : CONSTANT_TERM;
        else
          sum[m] = m == 0 ? s.done[0][j][i] : s.sum[m > 0 ? m - 1 : 0][j][i];
      if (ENDS)
        weigh_end<OWN>(sum, e, j, i, ends);
      else
        weigh<OWN>(sum, e, j, i);
      s.done[0][j][i] = sum[0];
#pragma unroll
      for (int m = 0; m < OPEN; m++) s.sum[m][j][i] = sum[m + 1];
    }
  }
}

// A stage takes the cells v of plane p: everything that the thread's own rows give.
template <bool ENDS>
__device__ __forceinline__ void arrive(Stage &s, const Cells (&v)[ARRAYS], const Sides &sides, int, int p, const Place &at, const Edges &edges) {
  Rows e;
#pragma unroll
  for (int j = 0; j < ROWS; j++) {
#pragma unroll
    for (int i = 0; i < VECTOR; i++) e[LOW_R + j][LOW_X + i] = v[0][j][i];
    halo_x(e[LOW_R + j], at, LOW_X, HIGH_X, sides[j]);
  }
  publish(v[0], at, edges.now(0));
  weigh_plane<ENDS, true>(s, e, p, at.planes);
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
    weigh_plane<ENDS, false>(s, e, p, at.planes);
  }
}

