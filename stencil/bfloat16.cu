// The upper half of a float, as stored.
struct bfloat16 {
  unsigned short bits;
  bfloat16() = default;
  __host__ __device__ inline bfloat16(float v) {
    unsigned f;
    memcpy(&f, &v, 4);
    bits = (unsigned short)(v != v ? 0x7fffu : (f + 0x7fffu + (f >> 16 & 1u)) >> 16); // ties to even
  }
  __host__ __device__ inline operator float() const {
    const unsigned f = (unsigned)bits << 16;
    float v;
    memcpy(&v, &f, 4);
    return v;
  }
};
#ifdef __CUDA_ARCH__
__device__ __forceinline__ bfloat16 __ldg(const bfloat16 *p) {
  bfloat16 v;
  v.bits = __ldg(&p->bits);
  return v;
}
#endif
