// Stages for any other cell function: the planes around the one that is completed
// are kept, of every array that is read, and the cell function reads them. Arrays
// that never change pass through the stages like the fields: each is loaded once.

constexpr Real GROWTH = 1, SCALE = 1; // values are what they are
constexpr int SETTLED = OPEN, ENDING = 1; // planes from which on the grid's first plane plays no part, and those before its end from which on the last does

// One time step in flight.
struct Stage {
  Cells kept[ARRAYS][OPEN + 1]; // planes p - OPEN .. p
  Cells done[ARRAYS];           // the plane completed last

  __device__ __forceinline__ void clear() {
#pragma unroll
    for (int a = 0; a < ARRAYS; a++)
#pragma unroll
      for (int j = 0; j < ROWS; j++)
#pragma unroll
        for (int i = 0; i < VECTOR; i++) {
          done[a][j][i] = 0;
#pragma unroll
          for (int m = 0; m <= OPEN; m++) kept[a][m][j][i] = 0;
        }
  }
};

// What plane target of an array finds dz = -LOW_S .. HIGH_S planes away.
template <bool ENDS>
__device__ __forceinline__ void around(Cells (&plane)[OPEN + 1], const Cells (&kept)[OPEN + 1], int target, const Place &at) {
#pragma unroll
  for (int m = 0; m <= OPEN; m++) copy(plane[m], kept[m]);
  if (!ENDS || wraps(DIMS - 1)) return;
  if (planes(MIRROR)) {
#pragma unroll
    for (int dz = -LOW_S; dz <= HIGH_S; dz++) {
      const int from = boundary_index<DIMS - 1>(0, target + dz, at.planes) - target;
#pragma unroll
      for (int d = -LOW_S; d <= HIGH_S; d++)
        if (d != dz && d == from) copy(plane[dz + LOW_S], kept[d + LOW_S]);
    }
    return;
  }
#pragma unroll
  for (int dz = -1; dz >= -LOW_S; dz--) // the nearest one inside
    if (target + dz < 0) copy(plane[dz + LOW_S], plane[dz + LOW_S + 1]);
#pragma unroll
  for (int dz = 1; dz <= HIGH_S; dz++)
    if (target + dz >= at.planes) copy(plane[dz + LOW_S], plane[dz + LOW_S - 1]);
}

// Completes plane p - HIGH_S in time step `iteration`. Only planes of which more than the own
// cells are read have room for their neighbours: to a compiler every cell is a variable.
template <bool ENDS>
__device__ __forceinline__ void complete(Stage &s, int iteration, int p, const Place &at, const Edges &edges) {
  const int target = p - HIGH_S;
  Cells own[ARRAYS][OPEN + 1];
  Rows wide[WIDE > 0 ? WIDE : 1];
#pragma unroll
  for (int a = 0; a < ARRAYS; a++) {
    if (!reads(a)) continue;
    around<ENDS>(own[a], s.kept[a], target, at);
#pragma unroll
    for (int dz = -LOW_S; dz <= HIGH_S; dz++) {
      const Cells &plane = own[a][dz + LOW_S];
      if (plane_wide(a, dz) < 0) {
        outside<ENDS, false>(own[a][dz + LOW_S], 0, 0, a, target + dz, dz, iteration, at);
        continue;
      }
      Rows &to = wide[plane_wide(a, dz)];
#pragma unroll
      for (int j = 0; j < ROWS; j++) {
#pragma unroll
        for (int i = 0; i < VECTOR; i++) to[LOW_R + j][LOW_X + i] = plane[j][i];
        halo_x(to[LOW_R + j], at, plane_low_x(a, dz), plane_high_x(a, dz), nullptr, 0);
      }
      if (plane_has_rows(a, dz)) {
        int ago = HIGH_S - dz;
        // Of a plane that is not the grid's the values are never used: its rows are not taken where other warps put theirs meanwhile.
        if (ENDS && !wraps(DIMS - 1)) ago = min(max(p - boundary_index<DIMS - 1>(0, target + dz, at.planes), LATE ? 0 : 1), LATE || EARLY ? RING - 2 : RING - 1);
        neighbours(to, [&](int r) { return edges.before(a, ago)[at.other[r]]; });
#pragma unroll
        for (int r = 0; r < SHARED_ROWS; r++)
          halo_x(to[r < LOW_R ? r : r + ROWS], at, plane_low_x(a, dz), plane_high_x(a, dz), nullptr, 0);
      }
      outside<ENDS, false>(to, LOW_R, LOW_X, a, target + dz, dz, iteration, at);
    }
  }
#pragma unroll
  for (int j = 0; j < ROWS; j++)
#pragma unroll
    for (int i = 0; i < VECTOR; i++) {
      const auto old = [&](int array, int dx, int dy, int dz) -> Real {
        const int s = DIMS == 3 ? dz : dy, r = DIMS == 3 ? dy + j : j, w = plane_wide(array, s);
        return w < 0 ? own[array][LOW_S + s][j][i] : wide[w < 0 ? 0 : w][LOW_R + r][LOW_X + dx + i];
      };
      const Cell value = cell<some(FIXED) || some(WRAP), true>(at.grid, at.x + i, DIMS == 3 ? at.y + j : target, DIMS == 3 ? target : 0, iteration, old);
#pragma unroll
      for (int a = 0; a < ARRAYS; a++)
        if (output_of(a) >= 0)
          s.done[a][j][i] = value.at[output_of(a)];
        else if (reads(a))
          s.done[a][j][i] = old(a, 0, 0, 0);
    }
}

// Gives the edge rows of plane p to the other bands.
template <bool ENDS> __device__ __forceinline__ void give(const Cells (&v)[ARRAYS], int p, const Place &at, const Edges &edges) {
#pragma unroll
  for (int a = 0; a < ARRAYS; a++)
    if (edge_slot(a) >= 0) publish(v[a], at, edges.now(a));
}

// A stage takes the cells v of plane p.
template <bool ENDS>
__device__ __forceinline__ void arrive(Stage &s, const Cells (&v)[ARRAYS], const LaneHalo &, int, int iteration, int p, const Place &at, const Edges &edges) {
  if (LATE) give<ENDS>(v, p, at, edges);
#pragma unroll
  for (int a = 0; a < ARRAYS; a++) {
#pragma unroll
    for (int m = 0; m < OPEN; m++) copy(s.kept[a][m], s.kept[a][m + 1]);
    copy(s.kept[a][OPEN], v[a]);
  }
  if constexpr (!LATE) complete<ENDS>(s, iteration, p, at, edges);
}

// Once every band has given its edge rows.
template <bool ENDS>
__device__ __forceinline__ void join(Stage &s, int, int iteration, int p, const Place &at, const Edges &edges) {
  if constexpr (LATE) complete<ENDS>(s, iteration, p, at, edges);
}
