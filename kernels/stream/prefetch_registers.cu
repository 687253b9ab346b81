// Loads the thread's own cells of a plane of an array, and the cells next to the tile: where it
// ends at the grid's edge what lies outside.
__device__ __forceinline__ void load_cells(Cells &v, LaneHalo &lane_halo, const Reader &__restrict__ plane, const Place &at) {
#pragma unroll
  for (int j = 0; j < ROWS; j++) {
    const Reader row = plane + row_offset(at, j);
#pragma unroll
    for (int i = 0; i < VECTOR; i += PART) {
      const Part part = part_of(row + i TURNS( + at.turns[i / PART]));
#pragma unroll
      for (int k = 0; k < PART; k++) v[j][i + k] = part.at[k];
    }
#pragma unroll
    for (int k = 0; k < LANE_HALO; k++)
      if (at.low_x || at.high_x) {
        const int cell = at.x + (at.low_x ? -1 - k : VECTOR + k);
        if (rule(0, 0, 0) == MIRROR)
          lane_halo[j][k] = row[(cell < 0 ? -cell : cell >= at.nx ? at.nx - 2 - (cell - at.nx) : cell) - at.x];
        else
          lane_halo[j][k] = row[at.low_x ? max(-1 - k, -at.x) : min(VECTOR + k, at.nx - 1 - at.x)];
        if (given(0, 0) && (cell < 0 || cell >= at.nx)) lane_halo[j][k] = outside_cell(0).at[0][0];
      }
  }
}

// Prefetch by loads into registers.
struct Prefetch {
  static constexpr int PLANE = 1; // from place to place
  Cells plane[PREFETCH][ARRAYS];
  LaneHalo halo[PREFETCH]; // and the cells next to the tile

  __device__ __forceinline__ explicit Prefetch(Shared *) {}

  // Loads array a's next plane into place f.
  __device__ __forceinline__ void load(int f, int a, const Reader &__restrict__ from, const Place &at) { load_cells(plane[f][a], halo[f], from, at); }
  __device__ __forceinline__ void loaded() {}
  __device__ __forceinline__ void coalesce(int, Cells &) {}
  template <bool ENDS> __device__ __forceinline__ void as_arrived(int, int, int, Real, Cells &, const Place &) const {}

  // Gives the plane that was loaded first. Returns the place that is free then.
  __device__ __forceinline__ int take(Cells (&v)[ARRAYS], LaneHalo &lane_halo) {
    copy_all(v, plane[0]);
    copy(lane_halo, halo[0]);
#pragma unroll
    for (int f = 1; f < PREFETCH; f++) {
      copy_all(plane[f - 1], plane[f]);
      copy(halo[f - 1], halo[f]);
    }
    return PREFETCH - 1;
  }
};

