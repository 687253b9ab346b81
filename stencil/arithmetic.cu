// Quotients, roots, exponentials, logarithms, powers and arc tangents, from the GPU's own approximations. In float they are right within 2 units in the last
// place (PTX ISA, rcp, sqrt, rsqrt and ex2) where a divisor lies between 2^-126 and 2^126 in size. But e^x is 2^(x log2 e), whose
// argument is rounded: it errs by another 0.6 |x| of them. So is that of x^y = 2^(y log2 x), whose logarithm errs by 2^-22 besides,
// and by as much of itself beyond 1 (lg2): two |y| more, and as many for each |log2 x|. A logarithm near 0 errs as if its argument had
// been rounded twice or three times. In double the
// approximation's error, 2^-20 of it, is cubed by two or three operations more: right within 2 units where
// a divisor, or what a root is of, lies between 2^-1022 and 2^1022. Beyond they are 0 or infinite.
#ifdef __CUDA_ARCH__
#define APPROXIMATION(instruction, exactly) asm(instruction ".f32 %0, %1;" : "=f"(x) : "f"(x))
__host__ __device__ inline bool zero_or_infinite(double x) { return (__double2hiint(x) & 0x7fffffff) - 1u >= 0x7fefffffu; }
__host__ __device__ inline double reciprocal(double x) {
  double y;
  asm("rcp.approx.ftz.f64 %0, %1;" : "=d"(y) : "d"(x));
  const double e = fma(-x, y, 1.0);
  return zero_or_infinite(y) ? y : fma(y, fma(e, e, e), y);
}
__host__ __device__ inline double reciprocal_root(double x) {
  double y;
  asm("rsqrt.approx.ftz.f64 %0, %1;" : "=d"(y) : "d"(x));
  const double e = fma(-(x * y), y, 1.0);
  return zero_or_infinite(y) ? y : fma(y, fma(0.375, e, 0.5) * e, y);
}
__host__ __device__ inline double square_root(double x) {
  const double y = reciprocal_root(x);
  return zero_or_infinite(y) ? x : x * y;
}
__host__ __device__ inline double quotient(double a, double b) { return a * reciprocal(b); }
#else
#define APPROXIMATION(instruction, exactly) x = exactly
__host__ __device__ inline double quotient(double a, double b) { return a / b; }
__host__ __device__ inline double square_root(double x) { return sqrt(x); }
__host__ __device__ inline double reciprocal_root(double x) { return rsqrt(x); }
#endif
__host__ __device__ inline float reciprocal(float x) {
  APPROXIMATION("rcp.approx.ftz", 1 / x);
  return x;
}
__host__ __device__ inline float square_root(float x) {
  APPROXIMATION("sqrt.approx.ftz", sqrt(x));
  return x;
}
__host__ __device__ inline float reciprocal_root(float x) {
  APPROXIMATION("rsqrt.approx.ftz", rsqrt(x));
  return x;
}
__host__ __device__ inline float exponential(float x, float factor = 1) { // of x * factor, which is the same at every cell
  x *= factor * 1.44269504f;
  APPROXIMATION("ex2.approx.ftz", exp2(x));
  return x;
}
__host__ __device__ inline double exponential(double x, double factor = 1) { return exp(x * factor); }
#define LOGARITHM(name, f, unit) \
  __host__ __device__ inline float name(float x) { \
    APPROXIMATION("lg2.approx", log2(x)); \
    return x * unit; \
  } \
  __host__ __device__ inline double name(double x) { return f(x); }
LOGARITHM(logarithm, log, 0.693147181f)
LOGARITHM(logarithm2, log2, 1.f)
LOGARITHM(logarithm10, log10, 0.301029996f)
#undef LOGARITHM
__host__ __device__ inline float power(float x, float y) { // x^y, y no whole number: of less than 0 it is none
  APPROXIMATION("lg2.approx", log2(x));
  x *= y;
  APPROXIMATION("ex2.approx.ftz", exp2(x));
  return x;
}
__host__ __device__ inline double power(double x, double y) { return pow(x, y); }
#undef APPROXIMATION
__host__ __device__ inline float quotient(float a, float b) { return a * reciprocal(b); }
// A polynomial for 0 to 1, by Remez' algorithm: 2^-25.8 off at most before it is rounded.
__host__ __device__ inline float arctangent(float x) {
  const bool steep = fabsf(x) > 1;
  const float z = steep ? reciprocal(fabsf(x)) : fabsf(x), s = z * z;
  float p = 0.00292069116f;
  p = fmaf(p, s, -0.0163679235f);
  p = fmaf(p, s, 0.0432118513f);
  p = fmaf(p, s, -0.0755221322f);
  p = fmaf(p, s, 0.106660038f);
  p = fmaf(p, s, -0.142110556f);
  p = fmaf(p, s, 0.199937731f);
  p = fmaf(p, s, -0.333331525f);
  p = fmaf(p * s, z, z);
  return copysignf(steep ? 1.57079633f - p : p, x);
}
__host__ __device__ inline double arctangent(double x) { return atan(x); }
// x^N, and x^(N/2) of an odd N.
#define POWERS(F) \
  template <int N> __host__ __device__ inline F whole_power(F x) { \
    F y = N & 1 ? x : F(1); \
    for (int n = (N < 0 ? -N : N) / 2; n > 0; n /= 2) { \
      x *= x; \
      if (n & 1) y *= x; \
    } \
    return N < 0 ? quotient(F(1), y) : y; \
  } \
  template <int N> __host__ __device__ inline F half_power(F x) { \
    const F root = N < 0 ? reciprocal_root(x) : square_root(x); \
    return N / 2 == 0 ? root : root * whole_power<N / 2>(x); \
  }
POWERS(float)
POWERS(double)
#undef POWERS
