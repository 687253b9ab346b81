// Family slide: a window of rows (2D) or planes (3D) in shared memory moves down
// the outermost axis (sliding tile of the Futhark thesis, section 5.4). A block
// makes WINDOW_STEPS steps; each computes GROUP_S rows or planes and loads as many
// new ones in place of those no longer needed. The window is a ring, so that nothing
// is copied. With DOUBLE_BUFFER the ring has room for the next step's rows: they are
// on their way to registers while this step computes, and one barrier a step is
// enough instead of two.

// The window moves on the axis s: y in 2D, z in 3D. Across it lie x and, in 3D, the
// axis p; in 2D a plane of the window is one row.
constexpr bool FLAT = DIMS == 2;
constexpr int GROUP_P = FLAT ? 1 : GROUP_Y, GROUP_S = FLAT ? GROUP_Y : GROUP_Z;
constexpr int LOW_P = FLAT ? 0 : LOW_Y, HIGH_P = FLAT ? 0 : HIGH_Y;
constexpr int LOW_S = FLAT ? LOW_Y : LOW_Z, HIGH_S = FLAT ? HIGH_Y : HIGH_Z;
constexpr int WORK_P = FLAT ? 1 : WORK_Y;

constexpr int THREADS = GROUP_X * GROUP_Y * GROUP_Z;
constexpr int WRITE_X = GROUP_X * WORK_X, WRITE_P = GROUP_P * WORK_P, WRITE_S = GROUP_S * WINDOW_STEPS;
constexpr int READ_X = WRITE_X + LOW_X + HIGH_X, READ_P = WRITE_P + LOW_P + HIGH_P;
constexpr int PLANE = READ_X * READ_P;
constexpr int HALO_S = LOW_S + HIGH_S;
constexpr int DEPTH = HALO_S + GROUP_S * (DOUBLE_BUFFER ? 2 : 1); // planes of the ring
constexpr int STEP_CELLS = GROUP_S * PLANE;                       // loaded for a step
constexpr int LOADS = (STEP_CELLS + THREADS - 1) / THREADS;       // by one thread at most

// A cell, or the grid's extents, on the window's axes.
struct Place {
  int x, p, s;
};

// The plane of the ring that holds plane k after the one at base.
__device__ __forceinline__ int ring(int base, int k) {
  const int slot = base + k;
  return slot < DEPTH ? slot : slot - DEPTH;
}

// An array at cell (x, p, s) of the grid, or what that is worth outside: along s that
// is looked after everywhere, on the other axes in blocks at the edge.
template <bool EDGE>
__device__ __forceinline__ T load(const Grid &grid, int array, int x, int p, int s, Place n) {
  const int ix = EDGE ? boundary_index<0>(array, x, n.x) : x, ip = EDGE ? boundary_index<(FLAT ? 2 : 1)>(array, p, n.p) : p, is = boundary_index<(FLAT ? 1 : 2)>(array, s, n.s);
  const T value = __ldg(grid.in[array] + ((index_t)is * (FLAT ? 1 : grid.ldy) + ip) * grid.ldx + ix);
  return boundary_value(grid, array, value, x, FLAT ? s : p, FLAT ? 0 : s, grid.iteration);
}

// The planes of one step on their way from global to shared memory: a thread takes
// every THREADS-th cell of each array.
template <bool EDGE>
struct Batch {
  T value[TILES > 0 ? TILES : 1][LOADS];

  // Reads the planes from plane s on.
  __device__ __forceinline__ void fetch(const Grid &grid, Place first, int s, int thread, Place n) {
#pragma unroll
    for (int l = 0; l < LOADS; l++) {
      const int i = thread + l * THREADS;
      if (l == LOADS - 1 && i >= STEP_CELLS) break;
#pragma unroll
      for (int a = 0; a < ARRAYS; a++)
        if (slot(a) >= 0)
          value[slot(a)][l] = load<EDGE>(grid, a, first.x - LOW_X + i % READ_X, first.p - LOW_P + i / READ_X % READ_P, s + i / PLANE, n);
    }
  }

  // Writes them into the ring from slot base on.
  __device__ __forceinline__ void put(T *window, int base, int thread) const {
#pragma unroll
    for (int l = 0; l < LOADS; l++) {
      const int i = thread + l * THREADS;
      if (l == LOADS - 1 && i >= STEP_CELLS) break;
#pragma unroll
      for (int t = 0; t < TILES; t++) window[(t * DEPTH + ring(base, i / PLANE)) * PLANE + i % PLANE] = value[t][l];
    }
  }
};

// The planes that the first step reads besides its own: filled once.
template <bool EDGE>
__device__ __forceinline__ void fill_halo(const Grid &grid, T *window, Place first, int thread, Place n) {
  for (int i = thread; i < HALO_S * PLANE; i += THREADS)
#pragma unroll
    for (int a = 0; a < ARRAYS; a++)
      if (slot(a) >= 0)
        window[slot(a) * DEPTH * PLANE + i] =
            load<EDGE>(grid, a, first.x - LOW_X + i % READ_X, first.p - LOW_P + i / READ_X % READ_P, first.s - LOW_S + i / PLANE, n);
}

// One step: the window's first plane, LOW_S above the step's own, is at slot base.
template <bool EDGE>
__device__ __forceinline__ void compute(const Grid &grid, const Out &out, const T *window, int base, Place first, int s, Place n) {
  const int x = threadIdx.x;
  const int p = FLAT ? 0 : threadIdx.y * WORK_P;
  const int own = FLAT ? threadIdx.y : threadIdx.z;
  Cell value[WORK_P][WORK_X];
#pragma unroll
  for (int j = 0; j < WORK_P; j++)
#pragma unroll
    for (int i = 0; i < WORK_X; i++) {
      const int gx = first.x + x + i * GROUP_X, gp = first.p + p + j, gs = s + own;
      const auto old = [&](int array, int dx, int dy, int dz) {
        if (slot(array) < 0) return load<EDGE>(grid, array, gx, gp, gs, n); // its own cell only
        const int dp = FLAT ? 0 : dy, ds = FLAT ? dy : dz;
        return window[((slot(array) * DEPTH + ring(base, own + LOW_S + ds)) * READ_P + p + j + LOW_P + dp) * READ_X + x + i * GROUP_X + LOW_X + dx];
      };
      value[j][i] = cell<(EDGE || some(FIXED)), true>(grid, gx, FLAT ? gs : gp, FLAT ? 0 : gs, grid.iteration, old);
    }
  if (s + own >= n.s) return;
#pragma unroll
  for (int j = 0; j < WORK_P; j++)
#pragma unroll
    for (int i = 0; i < WORK_X; i++) {
      const int gx = first.x + x + i * GROUP_X, gp = first.p + p + j;
      if (EDGE && (gx >= n.x || gp >= n.p)) continue;
#pragma unroll
      for (int o = 0; o < OUTPUTS; o++) out.field[o][((index_t)(s + own) * (FLAT ? 1 : grid.ldy) + gp) * grid.ldx + gx] = value[j][i].at[o];
    }
}

template <bool EDGE>
__device__ __forceinline__ void block(const Grid &grid, const Out &out, T *window, Place first, Place n) {
  const int thread = (threadIdx.z * GROUP_Y + threadIdx.y) * GROUP_X + threadIdx.x;
  const int end = min(first.s + WRITE_S, n.s);
  Batch<EDGE> next;
  int base = 0;
  fill_halo<EDGE>(grid, window, first, thread, n);
  next.fetch(grid, first, first.s + HIGH_S, thread, n);
  if (DOUBLE_BUFFER) {
    next.put(window, HALO_S, thread);
    __syncthreads();
    for (int s = first.s; s < end; s += GROUP_S) {
      const bool more = s + GROUP_S < end;
      if (more) next.fetch(grid, first, s + GROUP_S + HIGH_S, thread, n);
      compute<EDGE>(grid, out, window, base, first, s, n);
      if (more) next.put(window, ring(base, HALO_S + GROUP_S), thread);
      base = ring(base, GROUP_S);
      __syncthreads();
    }
  } else {
    for (int s = first.s; s < end; s += GROUP_S) {
      if (s > first.s) {
        __syncthreads(); // all have read what is written over now
        next.fetch(grid, first, s + HIGH_S, thread, n);
      }
      next.put(window, ring(base, HALO_S), thread);
      __syncthreads();
      compute<EDGE>(grid, out, window, base, first, s, n);
      base = ring(base, GROUP_S);
    }
  }
}

extern "C" __global__ void __launch_bounds__(THREADS)
    ENTRY(PARAMETERS) {
  if (await_launch(nx)) return;
  const Grid grid = GRID;
  const Out out = OUT;
  extern __shared__ __align__(16) unsigned char shared_bytes[];
  T *window = reinterpret_cast<T *>(shared_bytes);
  constexpr int WRITE_Y = FLAT ? WRITE_S : WRITE_P, WRITE_Z = FLAT ? 1 : WRITE_S;
  const Position tile = block_tile<WRITE_X, WRITE_Y, WRITE_Z, COLUMN / WRITE_X, ZIGZAG>(nx, ny, nz);
  const Place n = {nx, FLAT ? 1 : ny, FLAT ? ny : nz};
  const Place first = {tile.x * WRITE_X, FLAT ? 0 : tile.y * WRITE_P, (FLAT ? tile.y : tile.z) * WRITE_S};
  const bool inside = first.x >= LOW_X && first.x + WRITE_X + HIGH_X <= nx && first.p >= LOW_P && first.p + WRITE_P + HIGH_P <= n.p;
  if (inside)
    block<false>(grid, out, window, first, n);
  else
    block<true>(grid, out, window, first, n);
}
