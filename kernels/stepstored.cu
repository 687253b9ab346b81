// Where a stage's cells go, and what is folded of them for the scalars of the next time step: there each is stored once.
struct Out {
  Writer field[OUTPUTS];
  double *left; // parts for the scalars, with their number before them; null: there would be too many, and the next step reads the cells
  mutable step_scalars::pass_0::Totals totals;

  // Folds a cell that is stored: now[o] goes to field[o].
  __device__ __forceinline__ void count(const Grid &grid, int x, int y, int z, const T (&now)[OUTPUTS]) const {
    if (!left) return;
    totals.add<false>(grid, x, y, z, grid.iteration + 1, [&](int array, int, int, int) -> T {
@VALUES@
    });
  }

  // Folds N cells that follow each other, of which those of the grid are stored.
  template <bool WHOLE, int N, class Cell>
  __device__ __forceinline__ void count_row(const Grid &grid, int x, int y, int z, const Cell (&cells)[N]) const {
#pragma unroll
    for (int i = 0; i < N; i++)
      if (WHOLE || x + i < grid.nx) count(grid, x + i, y, z, cells[i].at);
  }

  // Leaves what PART_THREADS threads, a warp or the block, have folded. All of them ask for it, when they have stored what they store.
  __device__ __forceinline__ void leave() const {
    if (!left) return;
    const int thread = (threadIdx.z * blockDim.y + threadIdx.y) * blockDim.x + threadIdx.x;
    const int block = (blockIdx.z * gridDim.y + blockIdx.y) * gridDim.x + blockIdx.x;
    const int part = block * (int)parts_of_block() + thread / PART_THREADS;
#pragma unroll
    for (int n = 0; n < step_scalars::pass_0::FOLDED; n++) {
      double number = totals.number(n);
      if constexpr (PART_THREADS == 32) {
        number = step_scalars::fold_warp(step_scalars::pass_0::fold_of(n), number);
      } else {
        __shared__ double warps[32];
        number = step_scalars::fold_block<PART_THREADS>(step_scalars::pass_0::fold_of(n), number, thread, warps);
      }
      if (thread % PART_THREADS == 0) left[1 + n * step_scalars::FOLD_PARTS + part] = number;
    }
    if (block == 0 && thread == 0) left[0] = (double)parts_of_launch();
  }

  static __device__ __forceinline__ unsigned parts_of_block() { return blockDim.x * blockDim.y * blockDim.z / PART_THREADS; }
  static __device__ __forceinline__ unsigned long long parts_of_launch() { return (unsigned long long)gridDim.x * gridDim.y * gridDim.z * parts_of_block(); }

  // Behind the scalars, where a step's kernels read nothing.
  static __device__ __forceinline__ double *room(const double *step) {
    return parts_of_launch() > step_scalars::FOLD_PARTS ? nullptr : const_cast<double *>(step) + step_scalars::STEP_SCALARS;
  }
};
