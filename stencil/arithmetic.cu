// Quotients and roots, from the GPU's own approximations. In float they are right within 2 units in the last
// place (PTX ISA, rcp, sqrt and rsqrt) where a divisor lies between 2^-126 and 2^126 in size. In double the
// approximation's error, 2^-20 of it, is cubed by two or three operations more: right within 2 units where
// a divisor, or what a root is of, lies between 2^-1022 and 2^1022. Beyond they are 0 or infinite.
#ifdef __CUDA_ARCH__
#define APPROXIMATION(instruction, exactly) asm(instruction ".approx.ftz.f32 %0, %1;" : "=f"(x) : "f"(x))
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
  APPROXIMATION("rcp", 1 / x);
  return x;
}
__host__ __device__ inline float square_root(float x) {
  APPROXIMATION("sqrt", sqrt(x));
  return x;
}
__host__ __device__ inline float reciprocal_root(float x) {
  APPROXIMATION("rsqrt", rsqrt(x));
  return x;
}
#undef APPROXIMATION
__host__ __device__ inline float quotient(float a, float b) { return a * reciprocal(b); }
