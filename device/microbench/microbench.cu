// Micro-benchmarks of a device. Each entry has the parameters of every kernel here:
// T is float, the grids in and out have nx * ny * nz cells. Where a length must vary,
// it is LENGTH times the grid's extent on x and only block 0 works, so that one
// compiled kernel gives two lengths: the difference is free of what comes before.

// Nothing: what a launch costs.
extern "C" __global__ void micro_null(const T *__restrict__ in, T *__restrict__ out, int nx, int ny, int nz) {}

struct __align__(16) Four {
  T at[4];
};

// Every cell once in and once out, with all the threads the device holds.
extern "C" __global__ void micro_copy(const T *__restrict__ in, T *__restrict__ out, int nx, int ny, int nz) {
  const long long n = (long long)nx * ny * nz / 4, stride = (long long)gridDim.x * blockDim.x;
  for (long long i = (long long)blockIdx.x * blockDim.x + threadIdx.x; i < n; i += stride)
    reinterpret_cast<Four *>(out)[i] = reinterpret_cast<const Four *>(in)[i];
}

// Each block reads the first SET cells SWEEPS times, beginning elsewhere than the
// others, so that L2 answers and L1 does not.
extern "C" __global__ void micro_l2(const T *__restrict__ in, T *__restrict__ out, int nx, int ny, int nz) {
  const Four *cells = reinterpret_cast<const Four *>(in);
  const int n = SET / 4;
  int i = (int)((long long)blockIdx.x * n / gridDim.x) + threadIdx.x;
  T sum = 0;
  for (int k = 0; k < READS; k++) {
    if (i >= n) i -= n;
    const Four v = cells[i];
    sum += v.at[0] + v.at[1] + v.at[2] + v.at[3];
    i += blockDim.x;
  }
  if (sum == T(-1)) out[0] = sum; // never, but the compiler cannot know
}

// Every thread reads its own bank again and again.
extern "C" __global__ void micro_shared(const T *__restrict__ in, T *__restrict__ out, int nx, int ny, int nz) {
  __shared__ T cells[1024];
  for (int i = threadIdx.x; i < 1024; i += blockDim.x) cells[i] = in[i];
  __syncthreads();
  const volatile T *own = cells + threadIdx.x % 32;
  T sum[4] = {0, 0, 0, 0};
  for (int k = 0; k < READS / 32; k++) {
#pragma unroll
    for (int j = 0; j < 32; j++) sum[j % 4] += own[32 * j];
  }
  if (sum[0] + sum[1] + sum[2] + sum[3] == T(-1)) out[0] = sum[0];
}

// One barrier after the other.
extern "C" __global__ void micro_barrier(const T *__restrict__ in, T *__restrict__ out, int nx, int ny, int nz) {
  if (blockIdx.x > 0) return;
  for (int k = 0; k < LENGTH * (int)gridDim.x; k++) __syncthreads();
}

// One read after the other, each from a line of 32 cells that the one before decides
// upon: 17 lines further on, of the first LINES.
template <class Cells> __device__ __forceinline__ T chase(const Cells &cells, int lines, int reads) {
  int line = 0;
  T v = 0;
  for (int k = 0; k < reads; k++) {
    v = cells[line * 32];
    line += 17 + (v > T(1e30)); // input is small
    if (line >= lines) line -= lines;
  }
  return v;
}

extern "C" __global__ void micro_chase(const T *__restrict__ in, T *__restrict__ out, int nx, int ny, int nz) {
  if (blockIdx.x > 0 || threadIdx.x > 0) return;
  if (chase(in, LINES, LENGTH * (int)gridDim.x) == T(-1)) out[0] = 0;
}

extern "C" __global__ void micro_shared_chase(const T *__restrict__ in, T *__restrict__ out, int nx, int ny, int nz) {
  __shared__ T cells[64 * 32];
  if (blockIdx.x > 0 || threadIdx.x > 0) return;
  for (int i = 0; i < 64; i++) cells[i * 32] = in[i];
  const volatile T *own = cells;
  if (chase(own, 64, LENGTH * (int)gridDim.x) == T(-1)) out[0] = 0;
}
