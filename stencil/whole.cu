// A floating-point number that is known to be whole, and at most 2^21 in size, as an integer: a sum with 1.5 times the power of two from
// which on a type has no digits after the point holds it in its low bits. It takes two additions, where any number takes four comparisons
// and selections and a conversion, of which a multiprocessor does 16 a cycle.
__host__ __device__ inline int to_whole(float v) {
  union {
    float value;
    int bits;
  } sum = {v + 12582912.0f};
  return sum.bits - 0x4b400000;
}
__host__ __device__ inline int to_whole(double v) {
  union {
    double value;
    long long bits;
  } sum = {v + 6755399441055744.0};
  return (int)sum.bits;
}

// The other way about, of integers of 8 and 16 bits: an integer's bits are the low ones of its sum with such a power of two.
template <class I> __host__ __device__ inline float of_whole(I v) {
  const bool sign = (I)-1 < 0;
  union {
    int bits;
    float value;
  } sum = {sign ? 0x4b400000 + v : 0x4b000000 | v};
  return sum.value - (sign ? 12582912.0f : 8388608.0f);
}

// The whole part of a number, as what an 8 or 16 bits wide integer between these limits makes of it: the nearest limit beyond them, 0 of
// NaN. In float by additions that round to the side of 0, as to_whole.
__host__ __device__ inline float whole_part(float v, int low, int high) {
  if (low < 0 && v != v) v = 0;
  v = v > low ? v : low;
  v = v < high ? v : high;
#ifdef __CUDA_ARCH__
  if (low < 0) return (v < 0 ? __fadd_ru(v, 12582912.0f) : __fadd_rd(v, 12582912.0f)) - 12582912.0f;
  return __fadd_rz(v, 8388608.0f) - 8388608.0f;
#else
  return (float)(int)v;
#endif
}
__host__ __device__ inline double whole_part(double v, int low, int high) { return v != v ? 0 : v <= low ? low : v >= high ? high : (int)v; }
