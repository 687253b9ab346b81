// IEEE 754 binary16, as stored; compilers without a GPU convert by its bits.
struct float16 {
  unsigned short bits;
  float16() = default;
  __host__ __device__ inline float16(float v) {
#ifdef __CUDA_ARCH__
    asm("cvt.rn.f16.f32 %0, %1;" : "=h"(bits) : "f"(v));
#else
    unsigned f;
    memcpy(&f, &v, 4);
    const unsigned sign = f >> 16 & 0x8000u;
    const int e = (int)(f >> 23 & 0xff) - 112; // exponent of the result
    unsigned m = f & 0x7fffffu;
    if (e == 143) { // infinity or not a number
      bits = (unsigned short)(sign | 0x7c00u | (m ? 0x200u : 0));
      return;
    }
    if (e < -10) {
      bits = (unsigned short)sign;
      return;
    }
    unsigned shift = 13, high = (unsigned)(e > 0 ? e : 0) << 10;
    if (e <= 0) { // subnormal
      m |= 0x800000u;
      shift = 14 - e;
    }
    const unsigned kept = m >> shift, rest = m & ((1u << shift) - 1), half = 1u << (shift - 1);
    const unsigned h = high + kept + (rest > half || (rest == half && (kept & 1u)));
    bits = (unsigned short)(sign | (h > 0x7c00u ? 0x7c00u : h));
#endif
  }
  __host__ __device__ inline operator float() const {
    float v;
#ifdef __CUDA_ARCH__
    asm("cvt.f32.f16 %0, %1;" : "=f"(v) : "h"(bits));
#else
    const unsigned e = bits >> 10 & 31u, m = bits & 0x3ffu;
    if (e == 31) {
      const unsigned f = 0x7f800000u | m << 13;
      memcpy(&v, &f, 4);
    } else {
      v = ldexpf((float)(e ? m | 0x400u : m), (int)(e ? e : 1) - 25);
    }
    if (bits & 0x8000u) v = -v;
#endif
    return v;
  }
};
#ifdef __CUDA_ARCH__
__device__ __forceinline__ float16 __ldg(const float16 *p) {
  float16 v;
  v.bits = __ldg(&p->bits);
  return v;
}
#endif
