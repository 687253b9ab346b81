// Step scalars: numbers that a time step computes from the state before it. What a pass folds over all cells is left in parts, each a
// double of a warp or block: by the kernel that stores the cells, or by one that reads them. Then one block folds the parts, in their
// order, and goes on to what follows from the numbers.

enum Fold { SUM, MIN, MAX };

template <class N> __device__ __forceinline__ N combine(Fold fold, N a, N b) {
  if (fold == SUM) return a + b;
  if (a != a) return a; // one cell that is not a number makes the whole none
  if (fold == MIN) return a < b ? a : b;
  return a > b ? a : b;
}

// What changes no number that it is combined with.
__device__ __forceinline__ double nothing(Fold fold) {
  double infinity = 1e300;
  infinity *= 1e300;
  return fold == SUM ? -0.0 : fold == MIN ? infinity : -infinity;
}

// Folds what the lanes of a warp have.
__device__ __forceinline__ double fold_warp(Fold fold, double mine) {
#pragma unroll
  for (int lanes = 16; lanes > 0; lanes /= 2) mine = combine(fold, mine, __shfl_xor_sync(~0u, mine, lanes));
  return mine;
}

// Folds what the threads of a block of THREADS have; all of them get the number.
template <int THREADS>
__device__ __forceinline__ double fold_block(Fold fold, double mine, int thread, double (&warps)[32]) {
  const int lane = thread % 32;
  mine = fold_warp(fold, mine);
  __syncthreads(); // all have read what was folded before
  if (lane == 0) warps[thread / 32] = mine;
  __syncthreads();
  return fold_warp(fold, lane < THREADS / 32 ? warps[lane] : nothing(fold));
}

// A value as it is stored: what is computed of it is not computed of what it was rounded from.
template <class V> __device__ __forceinline__ V stored(V v) { return v; }
#ifdef __CUDA_ARCH__
__device__ __forceinline__ float stored(float v) {
  asm("" : "+f"(v));
  return v;
}
__device__ __forceinline__ double stored(double v) {
  asm("" : "+d"(v));
  return v;
}
#endif
