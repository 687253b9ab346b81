// A small CUDA emulation: enough of the language for our kernels to be compiled
// by the host's C++ compiler, unchanged. Blocks run in parallel on the cores; the
// threads of a block run one after the other, as fibers where they must wait for
// each other. Only what is declared here exists.
#pragma once
// Mathematical special functions of C++17, which no kernel calls, would take a compiler twice as long as all the rest that
// headers declare: libstdc++ leaves them out.
#if __has_include(<bits/c++config.h>)
#include <bits/c++config.h>
#undef _GLIBCXX_USE_STD_SPEC_FUNCS
#define _GLIBCXX_USE_STD_SPEC_FUNCS 0
#endif
#include <math.h>
#include <stdint.h>
#include <string.h>

#define __global__
#define __device__
#define __host__
#define __constant__ static const
#if defined __OPTIMIZE__ && !defined EMULATED_PROOF
#define __forceinline__ inline __attribute__((always_inline))
#else
#define __forceinline__ inline // a copy for each call would take a compiler longer than it saves where a kernel runs once
#endif
#define __launch_bounds__(...)
#define __align__(n) __attribute__((aligned(n)))
// A block stays on one OS thread, and blocks there run one after the other.
#define __shared__ static thread_local

struct uint3 {
  unsigned x, y, z;
};
struct dim3 {
  unsigned x, y, z;
  constexpr dim3(unsigned x = 1, unsigned y = 1, unsigned z = 1) : x(x), y(y), z(z) {}
};

// What a CUDA thread knows of itself.
struct EmulatedThread {
  uint3 thread, block;
  dim3 block_dim, grid_dim;
  unsigned char *shared;
};
extern __thread EmulatedThread emulated;
#define threadIdx (emulated.thread)
#define blockIdx (emulated.block)
#define blockDim (emulated.block_dim)
#define gridDim (emulated.grid_dim)
constexpr int warpSize = 32;

extern "C" void emulated_barrier();                                   // __syncthreads
extern "C" void emulated_warp_barrier();                              // all lanes of the warp
extern "C" void *emulated_exchange(const void *mine, unsigned bytes); // what every lane gave, 16 bytes each
inline void __syncthreads() { emulated_barrier(); }
extern "C" void emulated_sync_warp(); // __syncwarp
inline void __syncwarp(unsigned = ~0u) { emulated_sync_warp(); }

inline int emulated_lane() {
  return ((threadIdx.z * blockDim.y + threadIdx.y) * blockDim.x + threadIdx.x) % warpSize;
}
template <class V> inline V emulated_from(V v, int lane) {
  char *all = (char *)emulated_exchange(&v, sizeof v);
  V got;
  memcpy(&got, all + 16 * lane, sizeof got);
  emulated_warp_barrier(); // nobody gives again before all have taken
  return got;
}
template <class V> inline V __shfl_sync(unsigned, V v, int lane, int width = 32) {
  const int base = emulated_lane() / width * width;
  return emulated_from(v, base + (lane & (width - 1)));
}
template <class V> inline V __shfl_up_sync(unsigned, V v, unsigned delta, int width = 32) {
  const int me = emulated_lane(), base = me / width * width;
  return emulated_from(v, me - (int)delta < base ? me : me - (int)delta);
}
template <class V> inline V __shfl_down_sync(unsigned, V v, unsigned delta, int width = 32) {
  const int me = emulated_lane(), end = me / width * width + width;
  return emulated_from(v, me + (int)delta >= end ? me : me + (int)delta);
}
template <class V> inline V __shfl_xor_sync(unsigned, V v, int mask, int = 32) {
  return emulated_from(v, (emulated_lane() ^ mask) % warpSize);
}
inline unsigned __ballot_sync(unsigned, int p) {
  const int mine = p != 0;
  char *all = (char *)emulated_exchange(&mine, sizeof mine);
  unsigned bits = 0;
  for (int i = 0; i < warpSize; i++) {
    int one;
    memcpy(&one, all + 16 * i, sizeof one);
    bits |= (unsigned)(one != 0) << i;
  }
  emulated_warp_barrier();
  return bits;
}
inline int __any_sync(unsigned m, int p) { return __ballot_sync(m, p) != 0; }
inline int __all_sync(unsigned m, int p) { return __ballot_sync(m, p) == ~0u; }

inline int __ffs(int bits) { return __builtin_ffs(bits); }

inline int min(int a, int b) { return a < b ? a : b; }
inline int max(int a, int b) { return a > b ? a : b; }
inline unsigned min(unsigned a, unsigned b) { return a < b ? a : b; }
inline unsigned max(unsigned a, unsigned b) { return a > b ? a : b; }
inline long long min(long long a, long long b) { return a < b ? a : b; }
inline long long max(long long a, long long b) { return a > b ? a : b; }
inline float min(float a, float b) { return fminf(a, b); }
inline float max(float a, float b) { return fmaxf(a, b); }
inline double min(double a, double b) { return fmin(a, b); }
inline double max(double a, double b) { return fmax(a, b); }
inline float rsqrt(float a) { return 1 / sqrtf(a); }
inline double rsqrt(double a) { return 1 / sqrt(a); }
// C++'s math.h overloads sqrt, exp ... on the element type, as CUDA does.

template <class V> inline V __ldg(const V *p) { return *p; }

// cp.async of a thread, its commit_group and wait_group: a copy takes place at once or as
// late as the waits allow, so that a kernel which writes or reads too early is found out.
#define EMULATED_COPIES 1
extern "C" void emulated_copy(void *to, const void *from, unsigned bytes);
extern "C" void emulated_commit();
extern "C" void emulated_wait(int groups);
extern "C" void emulated_arrive();
extern "C" void emulated_await(unsigned odd);

#define EMULATED_VECTOR(T, n, ...)                                                                                     \
  struct __align__(n * sizeof(T) > 16 ? 16 : n * sizeof(T)) T##n {                                                     \
    T __VA_ARGS__;                                                                                                     \
  };
EMULATED_VECTOR(float, 2, x, y)
EMULATED_VECTOR(float, 4, x, y, z, w)
EMULATED_VECTOR(double, 2, x, y)
EMULATED_VECTOR(int, 2, x, y)
typedef unsigned uint;
EMULATED_VECTOR(uint, 2, x, y)
EMULATED_VECTOR(uint, 4, x, y, z, w)
EMULATED_VECTOR(int, 4, x, y, z, w)
inline float2 make_float2(float x, float y) { return {x, y}; }
inline float4 make_float4(float x, float y, float z, float w) { return {x, y, z, w}; }
inline double2 make_double2(double x, double y) { return {x, y}; }

// What a launch is given, kind by kind; a kernel takes each kind in this order.
struct EmulatedArguments {
  const void *const *in; // fields, then read-only arrays
  void *const *out;
  const int *ints;          // extents, then the iteration
  const long long *lengths; // of read-only arrays, then integer scalars
  const double *numbers;    // other scalars
};
template <class T> inline const T *emulated_take(EmulatedArguments &a, const T *) { return (const T *)*a.in++; }
template <class T> inline T *emulated_take(EmulatedArguments &a, T *) { return (T *)*a.out++; }
inline int emulated_take(EmulatedArguments &a, int) { return *a.ints++; }
inline long long emulated_take(EmulatedArguments &a, long long) { return *a.lengths++; }
inline double emulated_take(EmulatedArguments &a, double) { return *a.numbers++; }
template <class... A> struct EmulatedCall {
  void (*kernel)(A...);
  // Braces take from left to right.
  EmulatedCall(void (*kernel)(A...), A... a) { kernel(a...); }
};
template <class... A> inline void emulated_call(void (*kernel)(A...), EmulatedArguments a) {
  EmulatedCall<A...>{kernel, emulated_take(a, A())...};
}

// A kernel as the runtime calls it.
struct EmulatedKernel {
  const char *entry;
  void (*run)(const EmulatedArguments &);
  int waits; // its threads wait for each other
};
