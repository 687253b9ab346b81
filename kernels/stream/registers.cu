// Loads the thread's own cells of a plane of an array, and the cells beside the tile: where it
// ends at the grid's edge the nearest cell inside.
__device__ __forceinline__ void load_cells(Cells &v, Sides &sides, const T *__restrict__ plane, const Place &at) {
#pragma unroll
  for (int j = 0; j < ROWS; j++) {
    const T *row = plane + row_offset(at, j);
#pragma unroll
    for (int i = 0; i < VECTOR; i += PART) {
      const Part part = *reinterpret_cast<const Part *>(row + i);
#pragma unroll
      for (int k = 0; k < PART; k++) v[j][i + k] = part.at[k];
    }
#pragma unroll
    for (int k = 0; k < SIDES; k++)
      if (at.low_x || at.high_x) sides[j][k] = row[at.low_x ? max(-1 - k, -at.x) : min(VECTOR + k, at.nx - 1 - at.x)];
  }
}

// Planes loaded ahead into registers.
struct Waiting {
  Cells plane[PREFETCH][ARRAYS];
  Sides beside[PREFETCH]; // and the cells beside the tile

  __device__ __forceinline__ explicit Waiting(Shared *) {}

  // Loads array a's next plane into place f.
  __device__ __forceinline__ void load(int f, int a, const T *__restrict__ from, const Place &at) { load_cells(plane[f][a], beside[f], from, at); }
  __device__ __forceinline__ void loaded() {}
  __device__ __forceinline__ void swap(int, Cells &) {}

  // Gives the plane that was loaded first. Returns the place that is free then.
  __device__ __forceinline__ int take(Cells (&v)[ARRAYS], Sides &sides) {
    copy_all(v, plane[0]);
    copy(sides, beside[0]);
#pragma unroll
    for (int f = 1; f < PREFETCH; f++) {
      copy_all(plane[f - 1], plane[f]);
      copy(beside[f - 1], beside[f]);
    }
    return PREFETCH - 1;
  }
};

