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
