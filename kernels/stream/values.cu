// Stages for any other cell function: the planes around the one that is completed
// are kept, and the cell function reads them.

constexpr int SETTLED = OPEN; // planes from which on the grid's first plane plays no part

// One time step in flight.
struct Stage {
  T kept[OPEN + 1][ROWS][VECTOR]; // planes p - OPEN .. p
  Cells done;                     // the plane completed last

  __device__ __forceinline__ void clear() {
#pragma unroll
    for (int j = 0; j < ROWS; j++)
#pragma unroll
      for (int i = 0; i < VECTOR; i++) {
        done[j][i] = 0;
#pragma unroll
        for (int m = 0; m <= OPEN; m++) kept[m][j][i] = 0;
      }
  }
};

// Completes plane p - HIGH_S.
template <bool ENDS>
__device__ __forceinline__ void complete(Stage &s, int p, const Place &at, const Edges &edges) {
  const int target = p - HIGH_S;
  Cells plane[OPEN + 1]; // what the target finds dz = -LOW_S .. HIGH_S planes away
#pragma unroll
  for (int m = 0; m <= OPEN; m++) copy(plane[m], s.kept[m]);
  if (ENDS) { // a plane outside the grid is the nearest one inside
#pragma unroll
    for (int dz = -1; dz >= -LOW_S; dz--)
      if (target + dz < 0) copy(plane[dz + LOW_S], plane[dz + LOW_S + 1]);
#pragma unroll
    for (int dz = 1; dz <= HIGH_S; dz++)
      if (target + dz >= at.planes) copy(plane[dz + LOW_S], plane[dz + LOW_S - 1]);
  }
  Rows e[OPEN + 1];
#pragma unroll
  for (int dz = -LOW_S; dz <= HIGH_S; dz++) {
    Rows &to = e[dz + LOW_S];
#pragma unroll
    for (int j = 0; j < ROWS; j++) {
#pragma unroll
      for (int i = 0; i < VECTOR; i++) to[LOW_R + j][LOW_X + i] = plane[dz + LOW_S][j][i];
      halo_x(to[LOW_R + j], at, plane_low_x(dz), plane_high_x(dz), nullptr);
    }
    if (!plane_has_rows(dz)) continue;
    int rounds = HIGH_S - dz;
    if (ENDS) rounds = min(max(p - clamp_index(target + dz, at.planes), 0), RING - 1);
    neighbours(to, at, edges.before(rounds));
#pragma unroll
    for (int r = 0; r < SHARED_ROWS; r++)
      halo_x(to[r < LOW_R ? r : r + ROWS], at, plane_low_x(dz), plane_high_x(dz), nullptr);
  }
#pragma unroll
  for (int j = 0; j < ROWS; j++)
#pragma unroll
    for (int i = 0; i < VECTOR; i++)
      s.done[j][i] = cell<false>(Grid(), 0, 0, 0, 0, [&](int, int dx, int dy, int dz) {
        return DIMS == 3 ? e[LOW_S + dz][LOW_R + dy + j][LOW_X + dx + i] : e[LOW_S + dy][j][LOW_X + dx + i];
      }).at[0];
}

// A stage takes the cells v of plane p.
template <bool ENDS>
__device__ __forceinline__ void arrive(Stage &s, const Cells &v, const Sides &, int p, const Place &at, const Edges &edges) {
  publish(v, at, edges.now());
#pragma unroll
  for (int m = 0; m < OPEN; m++) copy(s.kept[m], s.kept[m + 1]);
  copy(s.kept[OPEN], v);
  if constexpr (!LATE) complete<ENDS>(s, p, at, edges);
}

// Once every warp has given its edge rows.
template <bool ENDS>
__device__ __forceinline__ void join(Stage &s, int p, const Place &at, const Edges &edges) {
  if constexpr (LATE) complete<ENDS>(s, p, at, edges);
}
