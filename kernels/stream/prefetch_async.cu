// Asks for a thread's part of a row to be copied to shared memory, a vector or as much in parts, and
// does not wait for it.
template <class Elem> __device__ __forceinline__ void copy_vector(char *to, unsigned shared, const Elem *from TURNS(, const int (&turns)[VECTOR / PART])) {
  constexpr int BYTES = alignof(PartOf<Elem>), STRIDE = BYTES * part_stride(COALESCED);
#pragma unroll
  for (int i = 0; i < (int)sizeof(VectorOf<Elem>) / BYTES; i++)
    copy_async<BYTES>(to + piece_at<Elem>(i, STRIDE), shared + piece_at<Elem>(i, STRIDE), reinterpret_cast<const char *>(from TURNS( + turns[part_at<Elem>(i)])) + piece_at<Elem>(i, STRIDE));
}

// Prefetch by asynchronous copies into shared memory: no register is held meanwhile. A thread copies
// the cells that it will use itself, so none waits for another, or parts that are coalesced: then
// those of a warp wait for each other.
struct Prefetch {
  static constexpr int ARRAY = LANES * (BANDS * ROWS + APRON * (LOW_R + HIGH_R)), PLANE = COPIED * ARRAY; // vectors
  static constexpr int STAYING = KEPT > 0 ? KEPT : APRON > 0 ? 2 + AGO : 2 * AGAIN; // planes that have been taken and lie there still
  static constexpr int PLACES = PREFETCH + STAYING;                                // of planes, taken in turn
  Vector *own;         // the thread's place in the first plane
  char *to;            // where it copies to
  unsigned shared;     // the address of that in shared memory
  int first = 0;       // vectors to the place of the plane that was asked for first
  APRON{{ApronRow *apron;     // the thread's first row of the apron: registers are scarce}}APRON

  // The planes lie behind the edge rows.
  __device__ __forceinline__ explicit Prefetch(Shared *edges)
      : own(reinterpret_cast<Vector *>(edges + RING * PYRAMID * Edges::STAGE) + (threadIdx.y * ROWS + APRON * LOW_R) * LANES + threadIdx.x),
        to(reinterpret_cast<char *>(own) - coalesced_offset(COALESCED) * (int)sizeof(T)), shared(shared_address(to)) {
    APRON{{apron = reinterpret_cast<ApronRow *>(reinterpret_cast<Vector *>(edges + RING * PYRAMID * Edges::STAGE) + PLACES * PLANE) + threadIdx.y * LANES + threadIdx.x;}}APRON
  }

  // Asks for array a's next plane to be copied to the place f vectors on.
  __device__ __forceinline__ void load(int f, int a, const Reader from, const Place &at) {
#pragma unroll
    for (int j = 0; j < ROWS; j++) {
      const int i = ring_at(f, a, j);
      copy_vector(of_array(to, a) + i, of_array(shared, a) + i, from + row_offset(at, j) TURNS(, at.turns));
    }
    APRON{{
#pragma unroll
    for (int m = 0; m < APRON_ROWS; m++) {
      const ApronRow row = apron[m * LANES * BANDS];
      const int i = f * (int)sizeof(Vector) + row.to;
      if (row.rows != ApronRow::NONE) copy_vector(to + i, shared + i, from + row_offset(at, 0) + (index_t)row.rows * at.grid.ldx TURNS(, at.turns));
    }}}APRON
  }
  APRON{{
  // Finds out what the thread's band copies of the apron. Rows that are a constant are so in every place, and not copied.
  __device__ __forceinline__ void find_apron(int row, int ny) {
    const bool low = threadIdx.y == 0, high = threadIdx.y == BANDS - 1;
    const int beside = low ? -LOW_R : ROWS, side = high;
#pragma unroll
    for (int m = 0; m < APRON_ROWS; m++) {
      const int j = row + beside + m;
      const bool one = low && m < LOW_R || high && m < HIGH_R, constant = given(1, 0) && j < 0 || given(1, 1) && j >= ny;
      apron[m * LANES * BANDS] = {one && !constant ? boundary_index<1>(0, j, ny) - boundary_index<1>(0, row, ny) : ApronRow::NONE, (beside + m) * LANES * (int)sizeof(Vector)};
      if (CONSTANT_ROW && one && constant)
        for (int f = 0; f < PLACES; f++)
          for (int i = 0; i < VECTOR; i++) own[f * PLANE + (beside + m) * LANES].at[i] = outside_cell(0).at[1][side];
    }
  }

  // The thread's own first row of the plane whose rows other bands take next: the one that is taken next, or was taken last. Nobody overwrites
  // it for two plane steps.
  __device__ __forceinline__ const Vector *beside() const { return own + first + (AGO == 0 ? 0 : first > 0 ? -PLANE : (PLACES - 1) * PLANE); }
}}APRON

  // Whatever was asked for since is one plane.
  __device__ __forceinline__ void loaded() { copies_end(); }

  // Reads the thread's own cells of array a in the plane that lies so many vectors on.
  __device__ __forceinline__ void read(Cells &v, int taken, int a) const {
#pragma unroll
    for (int j = 0; j < ROWS; j++) {
      const Vector vector = in_ring(own, taken, a, j);
#pragma unroll
      for (int i = 0; i < VECTOR; i++) v[j][i] = vector.at[i];
    }
  }

  // Gives the plane that was asked for first, when it is there. Returns the place that is free
  // then.
  __device__ __forceinline__ int take(Cells (&v)[ARRAYS], LaneHalo &) {
    copies_wait<PREFETCH - 1>();
    if (COALESCED) __syncwarp();
    const int taken = first;
#pragma unroll
    for (int a = 0; a < ARRAYS; a++) {
      if (reads(a)) read(v[a], taken, a);
    }
    if (COALESCED) __syncwarp(); // the place is free when all have taken theirs
    constexpr int END = PLACES * PLANE;
    first = first + PLANE < END ? first + PLANE : 0;
    return STAYING == 0 ? taken : taken + PREFETCH * PLANE - (taken + PREFETCH * PLANE < END ? 0 : END);
  }

  AGAIN{{// Gives the plane that was taken before the last one.
  __device__ __forceinline__ void again(Cells &v) const { read(v, first - 2 * PLANE + (first < 2 * PLANE ? PLACES * PLANE : 0), 0); }

}}AGAIN  // Gives held cells of plane `plane`, which was taken `ago` plane steps before the last, the value with which it arrived, times so much as values have grown since.
  template <bool ENDS> __device__ __forceinline__ void as_arrived(int a, int plane, int ago, Real growth, Cells &v, const Place &at) const {
    const bool whole = ENDS && held_plane(at, plane);
    if (!at.holds && !whole) return;
    const int back = (ago + 1) * PLANE, taken = first - back + (first < back ? PLACES * PLANE : 0);
    if (!SIDES || whole) {
#pragma unroll
      for (int j = 0; j < ROWS; j++) {
        const Vector vector = in_ring(own, taken, a, j);
#pragma unroll
        for (int i = 0; i < VECTOR; i++)
          if (whole || held_cell(at, j, i)) v[j][i] = growth * vector.at[i];
      }
      return;
    }
    const auto put = [&](int j, int i) { v[j][i] = growth * in_ring(own, taken, a, j).at[i]; };
    if (at.low_x) each<ROWS * HELD_LX>([&](int k) { put(k % ROWS, k / ROWS); });
    if (at.high_x) each<ROWS * HELD_HX>([&](int k) { put(k % ROWS, VECTOR - 1 - k / ROWS); });
    if (at.low_row) each<VECTOR * HELD_LR>([&](int k) { put(k / VECTOR, k % VECTOR); });
    if (at.high_row) each<VECTOR * HELD_HR>([&](int k) { put(ROWS - 1 - k / VECTOR, k % VECTOR); });
  }

  // Gives a thread for its own cells of an output the parts that it writes. They swap them behind the
  // planes, where all have read what was there before they took this step's plane.
  __device__ __forceinline__ void coalesce(int output, Cells &v) {
    const int i = PLACES * PLANE + output * ARRAY;
    Vector vector;
#pragma unroll
    for (int k = 0; k < VECTOR; k++) vector.at[k] = v[0][k];
    own[i] = vector;
    __syncwarp();
    const T *parts = reinterpret_cast<const T *>(to + i * (int)sizeof(Vector));
#pragma unroll
    for (int k = 0; k < VECTOR; k += PART) {
      const Part part = *reinterpret_cast<const Part *>(parts + k * part_stride(true));
#pragma unroll
      for (int m = 0; m < PART; m++) v[0][k + m] = part.at[m];
    }
  }
};

