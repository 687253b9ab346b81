package stencil

import (
	_ "embed"
	"strings"
)

// ArithmeticSource is the CUDA C++ text of the functions that generated code calls for quotients,
// roots, exponentials, logarithms and powers of floating-point numbers.
//
//go:embed arithmetic.cu
var ArithmeticSource string

// HelperSource is the CUDA C++ text of the functions that generated code calls
// for integers, so that it has no undefined behaviour: signed results wrap,
// x / 0 is 0, x % 0 is x, the smallest value over -1 wraps, and a number that an
// integer type cannot hold becomes its nearest limit, NaN 0. No quotient branches, so that a thread computes those of
// several cells side by side: what is divided is never divided by 0. A product of floating-point numbers is rounded before
// anything is added to it. To fewer than 32 bits a number is narrowed by a function: where they know of a cast, compilers compute in 16 bits
// what comes before, and NVIDIA's assembler (ptxas 12.5 and 13.0) takes the negative of -32768 in 16 bits for 32768.
var HelperSource = strings.ReplaceAll(wrapping, "INT", "int") + strings.ReplaceAll(wrapping, "INT", "long long") + anyInteger

const wrapping = `__host__ __device__ inline INT wrap_add(INT a, INT b) { return (INT)((unsigned INT)a + (unsigned INT)b); }
__host__ __device__ inline INT wrap_sub(INT a, INT b) { return (INT)((unsigned INT)a - (unsigned INT)b); }
__host__ __device__ inline INT wrap_mul(INT a, INT b) { return (INT)((unsigned INT)a * (unsigned INT)b); }
__host__ __device__ inline INT wrap_neg(INT a) { return (INT)(0u - (unsigned INT)a); }
__host__ __device__ inline INT int_abs(INT a) { return a < 0 ? wrap_neg(a) : a; }
__host__ __device__ inline unsigned INT divide(unsigned INT a, unsigned INT b) {
  const unsigned INT q = a / (b + (b == 0));
  return b == 0 ? 0 : q;
}
__host__ __device__ inline unsigned INT modulo(unsigned INT a, unsigned INT b) {
  const unsigned INT r = a % (b + (b == 0));
  return b == 0 ? a : r;
}
__host__ __device__ inline INT divide(INT a, INT b) {
  const unsigned INT q = divide((unsigned INT)int_abs(a), (unsigned INT)int_abs(b));
  return (INT)((a ^ b) < 0 ? 0u - q : q);
}
__host__ __device__ inline INT modulo(INT a, INT b) {
  const unsigned INT r = modulo((unsigned INT)int_abs(a), (unsigned INT)int_abs(b));
  return (INT)(a < 0 ? 0u - r : r);
}
__host__ __device__ inline unsigned INT int_abs(unsigned INT a) { return a; }
`

const anyInteger = `template <class N, class I> __host__ __device__ inline N narrowed(I v) {
  int low = (int)v;
#ifdef __CUDA_ARCH__
  asm("" : "+r"(low)); // else what gives it is computed in 16 bits, where negatives may come out wrong
#endif
  return (N)low;
}
template <class I> __host__ __device__ inline I int_min(I a, I b) { return b < a ? b : a; }
template <class I> __host__ __device__ inline I int_max(I a, I b) { return a < b ? b : a; }
template <class F, class I> __host__ __device__ inline I to_integer(F v, I low, I high) {
  return v != v ? (I)0 : v <= (F)low ? low : v >= (F)high ? high : (I)v;
}
#ifdef __CUDA_ARCH__
#define ROUNDED_MUL(F, rounded, plain) __host__ __device__ inline F rounded_mul(F a, F b) { return rounded(a, b); }
#else
#define ROUNDED_MUL(F, rounded, plain) __host__ __device__ inline F rounded_mul(F a, F b) { return plain; }
#endif
ROUNDED_MUL(float, __fmul_rn, a * b)
ROUNDED_MUL(double, __dmul_rn, a * b)
#undef ROUNDED_MUL
`
