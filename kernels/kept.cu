// Puts a part in memory, where L2 keeps it longer than what is read: what tiles side by side write to a sector or a row meets there before it
// leaves (docs/lab/0059-what-l2-keeps.md). The eviction priority evict_last is known from compute capability 8.0 and CUDA 11.4 on. Lines that have it
// stay until others that have it come: TUNE_PLAIN_STORES does without.
template <class P> __device__ __forceinline__ void put_kept(P *to, const P &part) {
#if __CUDA_ARCH__ >= 800 && __CUDACC_VER_MAJOR__ * 100 + __CUDACC_VER_MINOR__ >= 1104 && !defined(TUNE_PLAIN_STORES)
  unsigned long long last;
  asm("createpolicy.fractional.L2::evict_last.b64 %0, 1.0;" : "=l"(last));
  unsigned word[sizeof(P) < 4 ? 1 : sizeof(P) / 4] = {};
  memcpy(word, &part, sizeof(P));
  if constexpr (sizeof(P) == 2)
    asm volatile("st.global.L2::cache_hint.b16 [%0], %1, %2;" ::"l"(to), "h"((unsigned short)word[0]), "l"(last) : "memory");
  else if constexpr (sizeof(P) == 4)
    asm volatile("st.global.L2::cache_hint.b32 [%0], %1, %2;" ::"l"(to), "r"(word[0]), "l"(last) : "memory");
  else if constexpr (sizeof(P) == 8)
    asm volatile("st.global.L2::cache_hint.v2.b32 [%0], {%1, %2}, %3;" ::"l"(to), "r"(word[0]), "r"(word[1]), "l"(last) : "memory");
  else {
#pragma unroll
    for (int i = 0; i < (int)sizeof(P) / 4; i += 4)
      asm volatile("st.global.L2::cache_hint.v4.b32 [%0], {%1, %2, %3, %4}, %5;" ::"l"((unsigned *)to + i), "r"(word[i]), "r"(word[i + 1]),
                   "r"(word[i + 2]), "r"(word[i + 3]), "l"(last) : "memory");
  }
#else
  *to = part;
#endif
}
