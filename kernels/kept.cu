// Puts a part in memory. L2 keeps it longer than what is read (eviction priority evict_last, of GPUs from compute capability 8.0 on):
// what tiles side by side write to a sector or a row of memory meets there (docs/lab/0059-what-l2-keeps.md).
template <class P> __device__ __forceinline__ void put_kept(P *to, const P &part) {
#if __CUDA_ARCH__ >= 800
  unsigned long long last;
  asm("createpolicy.fractional.L2::evict_last.b64 %0, 1.0;" : "=l"(last));
  if constexpr (sizeof(P) == 2) {
    unsigned short word;
    memcpy(&word, &part, 2);
    asm volatile("st.global.L2::cache_hint.b16 [%0], %1, %2;" ::"l"(to), "h"(word), "l"(last) : "memory");
  } else if constexpr (sizeof(P) == 4) {
    unsigned word;
    memcpy(&word, &part, 4);
    asm volatile("st.global.L2::cache_hint.b32 [%0], %1, %2;" ::"l"(to), "r"(word), "l"(last) : "memory");
  } else if constexpr (sizeof(P) == 8) {
    unsigned word[2];
    memcpy(word, &part, 8);
    asm volatile("st.global.L2::cache_hint.v2.b32 [%0], {%1, %2}, %3;" ::"l"(to), "r"(word[0]), "r"(word[1]), "l"(last) : "memory");
  } else if constexpr (sizeof(P) % 16 == 0) {
    unsigned word[sizeof(P) / 4];
    memcpy(word, &part, sizeof(P));
#pragma unroll
    for (int i = 0; i < (int)sizeof(P) / 4; i += 4)
      asm volatile("st.global.L2::cache_hint.v4.b32 [%0], {%1, %2, %3, %4}, %5;" ::"l"((unsigned *)to + i), "r"(word[i]), "r"(word[i + 1]), "r"(word[i + 2]), "r"(word[i + 3]), "l"(last) : "memory");
  } else
#endif
    *to = part;
}
