// Quotients and roots. In float they are the GPU's own approximations, right within 2 units in the last
// place (PTX ISA, rcp, sqrt and rsqrt) where a divisor lies between 2^-126 and 2^126 in size.
__host__ __device__ inline double quotient(double a, double b) { return a / b; }
__host__ __device__ inline double square_root(double x) { return sqrt(x); }
__host__ __device__ inline double reciprocal_root(double x) { return rsqrt(x); }
#ifdef __CUDA_ARCH__
#define APPROXIMATION(instruction, exactly) asm(instruction ".approx.ftz.f32 %0, %1;" : "=f"(x) : "f"(x))
#else
#define APPROXIMATION(instruction, exactly) x = exactly
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
