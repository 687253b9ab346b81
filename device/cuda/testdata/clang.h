// CUDA's device side as clang needs it to compile our sources without a toolkit: only what they use.
#pragma once
#define __device__ __attribute__((device))
#define __host__ __attribute__((host))
#define __global__ __attribute__((global))
#define __shared__ __attribute__((shared))
#define __constant__ __attribute__((constant))
#define __launch_bounds__(...) __attribute__((launch_bounds(__VA_ARGS__)))
#define __forceinline__ inline __attribute__((always_inline))
#define __align__(n) __attribute__((aligned(n)))
typedef decltype(sizeof 0) size_t;
typedef unsigned char uint8_t; typedef unsigned short uint16_t; typedef unsigned uint32_t; typedef unsigned long long uint64_t;
typedef unsigned uint;
typedef signed char int8_t; typedef short int16_t; typedef int int32_t; typedef long long int64_t;
#include <__clang_cuda_builtin_vars.h>
struct __align__(8) float2 { float x, y; };
struct __align__(16) float4 { float x, y, z, w; };
struct __align__(16) double2 { double x, y; };
struct __align__(8) int2 { int x, y; };
struct __align__(16) int4 { int x, y, z, w; };
struct __align__(8) uint2 { unsigned x, y; };
struct __align__(16) uint4 { unsigned x, y, z, w; };
#define D __device__ __forceinline__
D float2 make_float2(float x, float y) { return {x, y}; }
D float4 make_float4(float x, float y, float z, float w) { return {x, y, z, w}; }
D double2 make_double2(double x, double y) { return {x, y}; }
D void __syncwarp(unsigned m = ~0u) { __nvvm_bar_warp_sync(m); }
#define LDG(T, B) D T __ldg(const T *p) { return B(p); }
LDG(char, __nvvm_ldg_c) D signed char __ldg(const signed char *p) { return (signed char)__nvvm_ldg_c((const char *)p); } LDG(unsigned char, __nvvm_ldg_uc)
LDG(short, __nvvm_ldg_s) LDG(unsigned short, __nvvm_ldg_us) LDG(int, __nvvm_ldg_i) LDG(unsigned, __nvvm_ldg_ui)
LDG(long, __nvvm_ldg_l) LDG(unsigned long, __nvvm_ldg_ul)
LDG(long long, __nvvm_ldg_ll) LDG(unsigned long long, __nvvm_ldg_ull) LDG(float, __nvvm_ldg_f) LDG(double, __nvvm_ldg_d)
#define LDGV(T, E, n, B, ...) D T __ldg(const T *p) { typedef E V __attribute__((ext_vector_type(n))); V v = B((const V *)p); T r; __builtin_memcpy(&r, &v, sizeof r); return r; }
LDGV(float2, float, 2, __nvvm_ldg_f2) LDGV(float4, float, 4, __nvvm_ldg_f4) LDGV(double2, double, 2, __nvvm_ldg_d2)
LDGV(int2, int, 2, __nvvm_ldg_i2) LDGV(int4, int, 4, __nvvm_ldg_i4) LDGV(uint2, unsigned, 2, __nvvm_ldg_ui2) LDGV(uint4, unsigned, 4, __nvvm_ldg_ui4)
#define SHFL(name, builtin, mask) \
D int name(unsigned m, int v, int d, int w = 32) { return builtin(m, v, d, ((32 - w) << 8) | mask); } \
D unsigned name(unsigned m, unsigned v, int d, int w = 32) { return builtin(m, (int)v, d, ((32 - w) << 8) | mask); } \
D float name(unsigned m, float v, int d, int w = 32) { int i; __builtin_memcpy(&i, &v, 4); i = name(m, i, d, w); __builtin_memcpy(&v, &i, 4); return v; } \
D long long name(unsigned m, long long v, int d, int w = 32) { int i[2]; __builtin_memcpy(i, &v, 8); i[0] = name(m, i[0], d, w); i[1] = name(m, i[1], d, w); __builtin_memcpy(&v, i, 8); return v; } \
D unsigned long long name(unsigned m, unsigned long long v, int d, int w = 32) { return name(m, (long long)v, d, w); } \
D long name(unsigned m, long v, int d, int w = 32) { return name(m, (long long)v, d, w); } \
D unsigned long name(unsigned m, unsigned long v, int d, int w = 32) { return name(m, (long long)v, d, w); } \
D double name(unsigned m, double v, int d, int w = 32) { long long i; __builtin_memcpy(&i, &v, 8); i = name(m, i, d, w); __builtin_memcpy(&v, &i, 8); return v; }
SHFL(__shfl_sync, __nvvm_shfl_sync_idx_i32, 0x1f)
SHFL(__shfl_up_sync, __nvvm_shfl_sync_up_i32, 0)
SHFL(__shfl_down_sync, __nvvm_shfl_sync_down_i32, 0x1f)
SHFL(__shfl_xor_sync, __nvvm_shfl_sync_bfly_i32, 0x1f)
D int __ballot_sync(unsigned m, int p) { return __nvvm_vote_ballot_sync(m, p); }
D int __any_sync(unsigned m, int p) { return __nvvm_vote_any_sync(m, p); }
#define MINMAX(T) D T min(T a, T b) { return a < b ? a : b; } D T max(T a, T b) { return a > b ? a : b; }
MINMAX(int) MINMAX(unsigned) MINMAX(long) MINMAX(unsigned long) MINMAX(long long) MINMAX(unsigned long long)
D float fminf(float a, float b) { return __nvvm_fmin_f(a, b); }
D float fmaxf(float a, float b) { return __nvvm_fmax_f(a, b); }
D double fmin(double a, double b) { return __nvvm_fmin_d(a, b); }
D double fmax(double a, double b) { return __nvvm_fmax_d(a, b); }
D float fmin(float a, float b) { return fminf(a, b); }
D float fmax(float a, float b) { return fmaxf(a, b); }
D float min(float a, float b) { return fminf(a, b); }
D float max(float a, float b) { return fmaxf(a, b); }
D double min(double a, double b) { return fmin(a, b); }
D double max(double a, double b) { return fmax(a, b); }
#define MATH1(f) extern "C" __device__ float f##f(float); extern "C" __device__ double f(double); D float f(float a) { return f##f(a); }
#define MATH2(f) extern "C" __device__ float f##f(float, float); extern "C" __device__ double f(double, double); D float f(float a, float b) { return f##f(a, b); }
MATH1(sqrt) MATH1(exp) MATH1(exp2) MATH1(log) MATH1(log2) MATH1(log10) MATH1(log1p) MATH1(expm1) MATH1(sin) MATH1(cos) MATH1(tan) MATH1(asin) MATH1(acos) MATH1(atan)
MATH1(sinh) MATH1(cosh) MATH1(tanh) MATH1(asinh) MATH1(acosh) MATH1(atanh) MATH1(erf) MATH1(cbrt) MATH1(fabs) MATH1(floor) MATH1(ceil) MATH1(round) MATH1(trunc) MATH1(rsqrt) MATH1(rint)
MATH2(pow) MATH2(fmod) MATH2(atan2) MATH2(hypot) MATH2(copysign) MATH2(fdim)
extern "C" __device__ float fmaf(float, float, float); extern "C" __device__ double fma(double, double, double); D float fma(float a, float b, float c) { return fmaf(a, b, c); }
D int abs(int a) { return a < 0 ? -a : a; }
D long long llabs(long long a) { return a < 0 ? -a : a; }
extern "C" __device__ void *memcpy(void *, const void *, size_t);
extern "C" __device__ float ldexpf(float, int);
D unsigned long long atomicAdd(unsigned long long *p, unsigned long long v) { return __nvvm_atom_add_gen_ll((long long *)p, v); }
D unsigned long long atomicMin(unsigned long long *p, unsigned long long v) { return __nvvm_atom_min_gen_ull(p, v); }
D unsigned long long atomicMax(unsigned long long *p, unsigned long long v) { return __nvvm_atom_max_gen_ull(p, v); }
D int __double2hiint(double v) { long long i; __builtin_memcpy(&i, &v, 8); return (int)(i >> 32); }
D long long __double_as_longlong(double v) { long long i; __builtin_memcpy(&i, &v, 8); return i; }
#undef D
