// Family sweep: a block sweeps along z through the planes of its tile, one time step a launch. The planes that
// arrive lie in shared memory with their halo, a ring of them; what is read of earlier planes is not kept, but
// added to the open sums of the planes that it belongs to, which registers hold (2.5D blocking: Nguyen et al. 2010).

// A tile is what a block writes of a plane: a warp's vectors side by side, ROWS rows of them one above the other.
constexpr int TILE_X = 32 * VECTOR, TILE_Y = WARPS * ROWS;
constexpr int LINE = 128 / (int)sizeof(T), QUAD = 16 / (int)sizeof(T); // cells of 128 and of 16 bytes
// Planes of the ring: one that is read, those on their way, with KEEP those that are not complete, and with SPLIT the one that was read before.
constexpr int RING = PREFETCH + 1 + SPLIT + (KEEP ? HIGH_S : 0);

template <class Elem> struct __align__(aligned_16(sizeof(Elem), VECTOR)) VectorOf {
  Elem at[VECTOR];
};
// What is moved between memory and a thread at once: a vector, or the part of one in which rows are whole.
template <class Elem> struct __align__(aligned_16(sizeof(Elem), PART)) PartOf {
  Elem at[PART];
};

__host__ __device__ constexpr int up_to(int n, int of) { return (n + of - 1) / of * of; }

// An array's plane in shared memory: rows of the tile and its halo. K is its place among the arrays that lie there. A
// tile's row begins with a line as it does in memory: what is copied into two lines, or sectors, is fetched twice. Between
// two rows lie the cells right of the one and left of the other.
template <int K> struct Slab {
  static constexpr int LEFT = up_to(low_x(K), line_of<K>()); // cells before the first row
  static constexpr int PITCH = TILE_X + up_to(up_to(high_x(K), quad_of<K>()) + up_to(low_x(K), quad_of<K>()), line_of<K>()), HEIGHT = low_y(K) + TILE_Y + high_y(K);
  static constexpr int BEGIN = Slab<K - 1>::END, END = BEGIN + units<K>(LEFT + PITCH * HEIGHT); // of it, in cells
  static constexpr int ROUNDS = (HEIGHT + WARPS - 1) / WARPS;                  // rows that a warp copies
  // Cells beside the tile are copied one by one: each may stand for one outside the grid. Rows beside it have none
  // that are read where no point lies off both the own row and the own column.
  static constexpr int WIDE = low_x(K) + high_x(K), FIRST = diagonal(K) ? 0 : low_y(K), TALL = diagonal(K) ? HEIGHT : TILE_Y;
  static constexpr int SINGLES = (WIDE * TALL + 32 * WARPS - 1) / (32 * WARPS); // of a thread
};
template <> struct Slab<-1> {
  static constexpr int END = 0;
};
constexpr int PLANE = Slab<SWEPT - 1>::END; // cells of a place of the ring

// Whether what lies outside the grid has a value of its own, and is no copy of a cell inside.
__host__ __device__ constexpr bool valued(int array) { return (some(CONSTANT) || some(EDGE_VALUE)) && array < FIELDS; }

// A thread's share of the copies of an array's planes: where they come from is worked out once.
template <int K> struct Share : Share<K - 1> {
  typedef Slab<K> S;
  static constexpr int A = array_of(K);
  static constexpr int SINGLES = S::SINGLES > 0 ? S::SINGLES : 1;
  index_t row[S::ROUNDS];  // elements from a plane's first to the thread's cells of a row
  index_t single[SINGLES]; // and to a cell beside the tile
  int place[SINGLES];      // where that belongs in the slab
  unsigned beyond_rows = 0, beyond_singles = 0; // bit n: the nth lies outside the grid and has a value of its own, which is no copy

  __device__ __forceinline__ int row_of(int n) const { return (int)threadIdx.y + n * WARPS; }
  __device__ __forceinline__ bool has_row(int n) const { return S::HEIGHT % WARPS == 0 || n < S::ROUNDS - 1 || row_of(n) < S::HEIGHT; }
  __device__ __forceinline__ int number(int n) const { return (int)(threadIdx.y * 32 + threadIdx.x) + n * 32 * WARPS; }
  __device__ __forceinline__ bool has_single(int n) const { return S::WIDE * S::TALL % (32 * WARPS) == 0 || n < S::SINGLES - 1 || number(n) < S::WIDE * S::TALL; }
  // The column, from the tile's first, of a cell beside the tile, and its row in the slab.
  __device__ __forceinline__ int column_of(int n) const {
    const int c = number(n) % (S::WIDE > 0 ? S::WIDE : 1);
    return c < low_x(K) ? c - low_x(K) : c - low_x(K) + TILE_X;
  }
  __device__ __forceinline__ int line_of(int n) const { return S::FIRST + number(n) / (S::WIDE > 0 ? S::WIDE : 1); }

  __device__ __forceinline__ Share(const Grid &grid, int x, int y) : Share<K - 1>(grid, x, y) {
#pragma unroll
    for (int n = 0; n < S::ROUNDS; n++) {
      const int gy = y - low_y(K) + row_of(n);
      row[n] = (index_t)boundary_index<1>(A, gy, grid.ny) * grid.ldx + x + (int)threadIdx.x * PART;
      if (valued(A) && unsettled<1>(A, gy, grid.ny)) beyond_rows |= 1u << n;
    }
#pragma unroll
    for (int n = 0; n < S::SINGLES; n++) {
      const int gx = x + column_of(n), gy = y - low_y(K) + line_of(n);
      single[n] = (index_t)boundary_index<1>(A, gy, grid.ny) * grid.ldx + boundary_index<0>(A, gx, grid.nx);
      place[n] = line_of(n) * S::PITCH + S::LEFT + column_of(n);
      if (valued(A) && (unsettled<0>(A, gx, grid.nx) || unsettled<1>(A, gy, grid.ny))) beyond_singles |= 1u << n;
    }
  }

  // Gives what lies outside the grid in plane z its value, or ALL of the plane; nearest is the nearest plane's first
  // cell, (x, y) the tile's.
  template <bool ALL> __device__ __forceinline__ void put_outside(const Grid &grid, Ring *slabs, const ElemOf<K> *nearest, int x, int y, int z) const {
    const auto value = [&](index_t cell, int px, int py) { return stored_as<K>(boundary_value(grid, A, some(EDGE_VALUE) ? element(nearest[cell]) : T(0), px, py, z, grid.iteration)); };
#pragma unroll 1
    for (int n = 0; n < S::ROUNDS; n++) {
      if (!has_row(n) || (!ALL && !(beyond_rows >> n & 1))) continue;
      const int gy = y - low_y(K) + row_of(n);
      const index_t first = (index_t)boundary_index<1>(A, gy, grid.ny) * grid.ldx + x;
      for (int c = threadIdx.x; c < TILE_X; c += 32) slab_of<K>(slabs)[row_of(n) * S::PITCH + S::LEFT + c] = value(first + c, x + c, gy);
    }
#pragma unroll
    for (int n = 0; n < S::SINGLES; n++)
      if (has_single(n) && (ALL || beyond_singles >> n & 1)) slab_of<K>(slabs)[place[n]] = value(single[n], x + column_of(n), y - low_y(K) + line_of(n));
  }

  // Gives it to all places of the ring, where it is the same in every plane: there nothing is copied over it.
  __device__ __forceinline__ void prepare(const Grid &grid, Ring *ring, int x, int y) const {
    Share<K - 1>::prepare(grid, ring, x, y);
    if (CONSTANT_ALONE && (beyond_rows | beyond_singles) != 0)
      for (int f = 0; f < RING; f++) put_outside<false>(grid, ring + f * PLANE, nullptr, x, y, 0);
  }

  // Asks for plane z, which lies at `shared` and in `slabs`.
  __device__ __forceinline__ void fetch(const Grid &grid, Ring *slabs, unsigned shared, int x, int y, int z) const {
    Share<K - 1>::fetch(grid, slabs, shared, x, y, z);
    const ElemOf<K> *plane = elements<ElemOf<K>>(grid.in[A]) + (index_t)boundary_index<2>(A, z, grid.nz) * ((index_t)grid.ldx * grid.ldy);
#ifdef __CUDA_ARCH__
    asm("" : "+l"(plane)); // so that an address is one operation away
#endif
    if (valued(A) && unsettled<2>(A, z, grid.nz)) return put_outside<true>(grid, slabs, plane, x, y, z);
#pragma unroll
    for (int n = 0; n < S::ROUNDS; n++) {
      if (!has_row(n) || (valued(A) && beyond_rows >> n & 1)) continue;
#pragma unroll
      for (int i = 0; i < VECTOR; i += PART) {
        const int to = S::BEGIN + units<K>(row_of(n) * S::PITCH + S::LEFT + (int)threadIdx.x * PART + i * 32);
        copy_part<PartOf<ElemOf<K>>>(slabs + to, shared + to * (int)sizeof(Ring), plane + row[n] + i * 32);
      }
    }
#pragma unroll
    for (int n = 0; n < S::SINGLES; n++) {
      if (!has_single(n) || (valued(A) && beyond_singles >> n & 1)) continue;
      const int to = S::BEGIN + units<K>(place[n]);
      copy_part<ElemOf<K>>(slabs + to, shared + to * (int)sizeof(Ring), plane + single[n]);
    }
    if (some(EDGE_VALUE) && valued(A) && (beyond_rows | beyond_singles) != 0) put_outside<false>(grid, slabs, plane, x, y, z);
  }
};
template <> struct Share<-1> {
  __device__ __forceinline__ Share(const Grid &, int, int) {}
  __device__ __forceinline__ void prepare(const Grid &, Ring *, int, int) const {}
  __device__ __forceinline__ void fetch(const Grid &, Ring *, unsigned, int, int, int) const {}
};

// A vector of array K's plane in shared memory, so far from the thread's first cell.
template <int K> __device__ __forceinline__ Vector read_vector(const Ring *slabs, int column, int row) {
  typedef Slab<K> S;
  return vector_at<K>(slabs, (low_y(K) + (int)threadIdx.y * ROWS + row) * S::PITCH + S::LEFT + (int)threadIdx.x * VECTOR + column);
}

@WEIGHTS@
// Adds what value K has in the plane in shared memory to the parts of the thread's own cells.
template <int K, bool HALO> __device__ __forceinline__ void weigh_plane(Real (&part)[PARTS][ROWS][VECTOR], const Ring *slabs) {
  if constexpr (K >= 0) {
    weigh_plane<K - 1, HALO>(part, slabs);
    constexpr int LEFT = up_to(low_x(K), VECTOR), RIGHT = up_to(high_x(K), VECTOR);
#pragma unroll
    for (int r = 0; r < low_y(K) + ROWS + high_y(K); r++) {
      Real e[LEFT + VECTOR + RIGHT];
#pragma unroll
      for (int c = 0; c < LEFT + VECTOR + RIGHT; c += VECTOR) {
        const Vector v = values<K>(slabs, c - LEFT, r - low_y(K));
#pragma unroll
        for (int i = 0; i < VECTOR; i++) e[c + i] = v.at[i];
      }
#pragma unroll
      for (int j = 0; j < ROWS; j++) {
        const int dy = r - low_y(K) - j;
        if (dy < -low_y(K) || dy > high_y(K)) continue;
#pragma unroll
        for (int i = 0; i < VECTOR; i++) {
          Real own_parts[PARTS];
#pragma unroll
          for (int k = 0; k < PARTS; k++) own_parts[k] = part[k][j][i];
          weigh<K, HALO>(dy, e + LEFT + i, own_parts);
#pragma unroll
          for (int k = 0; k < PARTS; k++) part[k][j][i] = own_parts[k];
        }
      }
    }
  }
}

// Calls f(j, i) for cell i of row j of a thread.
template <class F> __device__ __forceinline__ void cells(F f) {
#pragma unroll
  for (int j = 0; j < ROWS; j++)
#pragma unroll
    for (int i = 0; i < VECTOR; i++) f(j, i);
}

// Keeps from the compiler what a value is.
__device__ __forceinline__ void hide(Real &value) {
#ifdef __CUDA_ARCH__
  if constexpr (sizeof(Real) == 4)
    asm volatile("" : "+r"(reinterpret_cast<unsigned &>(value)));
  else
    asm volatile("" : "+l"(reinterpret_cast<unsigned long long &>(value)));
#endif
}

// Adds a plane to the open sums, one of the halo or of those that the tile writes.
template <bool HALO>
__device__ __forceinline__ void add_plane(Real (&result)[SUMS][ROWS][VECTOR], Real (&sum)[OPEN > 0 ? OPEN : 1][ROWS][VECTOR], const Ring *slabs, Real nothing) {
  Real part[PARTS][ROWS][VECTOR];
  cells([&](int j, int i) { begin_parts(part, sum, j, i); });
  weigh_plane<VALUES - 1, HALO>(part, slabs);
  cells([&](int j, int i) { collect(result, sum, part, nothing, j, i); });
}

// A thread's own cells of the plane at hand, of the arrays whose centre is read there.
template <int K> __device__ __forceinline__ void load_centres(Vector (&centre)[SWEPT][ROWS], const Ring *slabs) {
  if constexpr (K >= 0) {
    typedef Slab<K> S;
    load_centres<K - 1>(centre, slabs);
#pragma unroll
    for (int j = 0; j < (centre_of(array_of(K)) < 0 ? 0 : ROWS); j++)
      centre[K][j] = vector_at<K>(slabs, (low_y(K) + (int)threadIdx.y * ROWS + j) * S::PITCH + S::LEFT + (int)threadIdx.x * VECTOR);
  }
}

// A thread's own cells of a plane in memory.
__device__ __forceinline__ void load(Vector (&v)[ROWS], const Reader &__restrict__ from, int ldx) {
#pragma unroll
  for (int j = 0; j < ROWS; j++)
#pragma unroll
    for (int i = 0; i < VECTOR; i += PART) {
      const Part part = part_of(from + (index_t)j * ldx + i);
#pragma unroll
      for (int k = 0; k < PART; k++) v[j].at[i + k] = part.at[k];
    }
}

// Part i of row j is the thread's to store where bit i + j * VECTOR of own is set.
__device__ __forceinline__ void store(const Writer &__restrict__ to, const Vector (&v)[ROWS], int ldx, unsigned own) {
#pragma unroll
  for (int j = 0; j < ROWS; j++)
#pragma unroll
    for (int i = 0; i < VECTOR; i += PART) {
      if (!(own >> (i + j * VECTOR) & 1)) continue;
      Part part;
#pragma unroll
      for (int k = 0; k < PART; k++) part.at[k] = v[j].at[i + k];
      put_part(to + (index_t)j * ldx + i, part);
    }
}

// Sweeps through planes begin .. end - 1 of the tile whose first cell is (x, y).
__device__ __forceinline__ void sweep(const Grid &grid, const Out &out, int x, int y, int begin, int end, Ring *ring, Meeting &meeting) {
  const int nx = grid.nx, ldx = grid.ldx, own_x = x + (int)threadIdx.x * VECTOR, own_y = y + (int)threadIdx.y * ROWS;
  const index_t stride = (index_t)ldx * grid.ldy, own = (index_t)own_y * ldx + own_x;
  const Share<SWEPT - 1> share(grid, x, y);
  share.prepare(grid, ring, x, y);
  const unsigned shared = shared_address(ring);
  unsigned kept = 0; // with a fixed edge, bit i + j * VECTOR: the cell keeps its value
  if (some(FIXED)) {
#pragma unroll
    for (int j = 0; j < ROWS; j++)
#pragma unroll
      for (int i = 0; i < VECTOR; i++)
        if (own_x + i < LOW_X || own_x + i >= nx - HIGH_X || own_y + j < LOW_Y || own_y + j >= grid.ny - HIGH_Y) kept |= 1u << (i + j * VECTOR);
#ifdef __CUDA_ARCH__
    asm("" : "+r"(kept)); // the compiler would rather find it out anew in every plane step
#endif
  }
  // Bit i + j * VECTOR: the cell is no other tile's, too. Were it stored by both, one run could have the bits of one and another run
  // those of the other: the compiler rounds a thread's cells apart.
  unsigned stored = 0;
#pragma unroll
  for (int j = 0; j < ROWS; j++)
#pragma unroll
    for (int i = 0; i < VECTOR; i += PART)
      if (own_x + i >= (int)blockIdx.x * TILE_X && own_y + j >= (int)blockIdx.y * TILE_Y) stored |= 1u << (i + j * VECTOR);
#ifdef __CUDA_ARCH__
  asm("" : "+r"(stored)); // as above
#endif
  Real sum[OPEN > 0 ? OPEN : 1][ROWS][VECTOR]; // what has arrived of those that are not complete
#pragma unroll
  for (int m = 0; m < OPEN; m++)
#pragma unroll
    for (int j = 0; j < ROWS; j++)
#pragma unroll
      for (int i = 0; i < VECTOR; i++) sum[m][j][i] = 0;
  // A sum begins with nothing, which the compiler is not told: it would share the product with the sum that ends with the
  // same one, and take an operation more.
  Real nothing = Real(-0.0);
  hide(nothing);
  Vector beside[BESIDE > 0 ? BESIDE : 1][ROWS]; // own cells of the plane that is completed next
  const auto load_beside = [&](int z) {
#pragma unroll
    for (int a = 0; a < ARRAYS; a++)
      if (beside_of(a) >= 0) load(beside[beside_of(a) >= 0 ? beside_of(a) : 0], grid.in[a] + (own + z * stride), ldx);
  };
  load_beside(begin);
  Writer written[OUTPUTS];
#pragma unroll
  for (int o = 0; o < OUTPUTS; o++) written[o] = out.field[o] + (own + begin * stride);
  const int last = end - 1 + HIGH_S;
  int p = begin - LOW_S; // the plane that arrives next
  // Places of the ring: of plane p, of the one that is asked for next, and of the one
  // that is complete with p, which is p's own unless planes are kept.
  int now = 0, free = 0, oldest = KEEP && HIGH_S > 0 ? RING - HIGH_S : 0;
  const auto fetch = [&](int z) {
    if (z <= last) share.fetch(grid, ring + free * PLANE, shared + free * (PLANE * (int)sizeof(Ring)), x, y, z);
    copies_end();
    if (++free == RING) free = 0;
  };
#pragma unroll 1
  for (int f = 0; f < PREFETCH; f++) fetch(p + f);
  if (SPLIT) {
    copies_wait<PREFETCH - 1>();
    meeting.arrive();
  }
#pragma unroll 1
  for (; p <= last; p++) {
    if (!SPLIT) copies_wait<PREFETCH - 1>();
    meeting.wait(); // all have copied this plane, and read the one before, with SPLIT the one before that
    fetch(p + PREFETCH);
    if (SPLIT) {
      copies_wait<PREFETCH - 1>(); // for the plane after this one
      meeting.arrive();
    }
    Real result[SUMS][ROWS][VECTOR];
    Vector centre[SWEPT][ROWS];
    if (!THIN || (p >= begin && p < end)) {
      add_plane<false>(result, sum, ring + now * PLANE, nothing);
    } else {
      add_plane<THIN>(result, sum, ring + now * PLANE, nothing);
      cells([&](int j, int i) { // the compiler would do for all planes what both have in common, in more operations
#pragma unroll
        for (int m = 0; m < OPEN; m++) hide(sum[m][j][i]);
#pragma unroll
        for (int n = 0; n < SUMS; n++) hide(result[n][j][i]);
      });
    }
    if (KEEP) load_centres<SWEPT - 1>(centre, ring + oldest * PLANE);
    const int z = p - HIGH_S;
    if (z >= begin) {
      Vector value[OUTPUTS][ROWS];
      cells([&](int j, int i) {
        const auto old = [&](int array, int, int, int) -> Real {
          if (array >= ARRAYS) return result[array >= ARRAYS ? array - ARRAYS : 0][j][i];
          return beside_of(array) >= 0 ? beside[beside_of(array) >= 0 ? beside_of(array) : 0][j].at[i] : centre[centre_of(array) >= 0 ? centre_of(array) : 0][j].at[i];
        };
        const Cell v = cell<false, true>(grid, own_x + i, own_y + j, z, grid.iteration, old);
#pragma unroll
        for (int o = 0; o < OUTPUTS; o++) value[o][j].at[i] = v.at[o];
      });
      if (some(FIXED)) {
        const unsigned keep = z < LOW_Z || z >= grid.nz - HIGH_Z ? ~0u : kept;
        if (keep) {
#pragma unroll
          for (int a = 0; a < FIELDS; a++)
            if (output_of(a) >= 0)
              cells([&](int j, int i) {
                if (keep >> (i + j * VECTOR) & 1 && keeps(a, grid, own_x + i, own_y + j, z)) value[output_of(a) >= 0 ? output_of(a) : 0][j].at[i] = grid.in[a][own + z * stride + (index_t)j * ldx + i];
              });
        }
      }
#pragma unroll
      for (int o = 0; o < OUTPUTS; o++) {
        store(written[o], value[o], ldx, stored);
        written[o] += stride;
      }
      if (z + 1 < end) load_beside(z + 1);
    }
    if (++now == RING) now = 0;
    if (KEEP && ++oldest == RING) oldest = 0;
  }
}

extern "C" __global__ void __launch_bounds__(32 * WARPS, MIN_BLOCKS)
    ENTRY(PARAMETERS) {
  if (await_launch(nx)) return;
  extern __shared__ __align__(16) unsigned char shared_bytes[];
  const Grid grid = GRID;
  const Out out = OUT;
  const int stream_tile = ceil_div(TO_PLANE(nz) - from_plane, gridDim.z), begin = from_plane + blockIdx.z * stream_tile;
  if (begin >= TO_PLANE(nz)) return; // more stream tiles than planes
  Meeting meeting(shared_bytes);
  // The last tile of a row or column of tiles is moved back into the grid, and computes some cells again.
  const int x = min((int)blockIdx.x * TILE_X, nx - TILE_X), y = min((int)blockIdx.y * TILE_Y, ny - TILE_Y);
  sweep(grid, out, x, y, begin, min(begin + stream_tile, TO_PLANE(nz)), reinterpret_cast<Ring *>(shared_bytes + Meeting::BYTES), meeting);
}
