// Asynchronous copies from memory to shared memory. A GPU that has none, before compute capability 8.0, waits for each.

// The address of p in shared memory, as copies take it.
__device__ __forceinline__ unsigned shared_address(const void *p) {
#if __CUDA_ARCH__ >= 800
  unsigned long long address;
  asm("cvta.to.shared.u64 %0, %1;" : "=l"(address) : "l"(p));
  return (unsigned)address;
#else
  return 0;
#endif
}

#ifdef __CUDA_ARCH__
// So many bytes as one load and one store, whatever lies there.
template <int BYTES> struct Word;
template <> struct Word<1> { typedef unsigned char __attribute__((__may_alias__)) Type; };
template <> struct Word<2> { typedef unsigned short __attribute__((__may_alias__)) Type; };
template <> struct Word<4> { typedef unsigned __attribute__((__may_alias__)) Type; };
template <> struct Word<8> { typedef unsigned long long __attribute__((__may_alias__)) Type; };
struct __align__(16) __attribute__((__may_alias__)) Word16 {
  unsigned long long low, high;
};
#endif

// Asks for BYTES, 16 at most, to be copied and does not wait for them; shared is the address of `to`. What is too small
// for that, below 4 bytes, is waited for. Nobody writes there meanwhile: so several such are on their way at once.
template <int BYTES> __device__ __forceinline__ void copy_async(void *to, unsigned shared, const void *from) {
#if __CUDA_ARCH__ >= 800
  if constexpr (BYTES == 16)
    asm volatile("cp.async.cg.shared.global [%0], [%1], 16;" ::"r"(shared), "l"(from) : "memory");
  else if constexpr (BYTES >= 4)
    asm volatile("cp.async.ca.shared.global [%0], [%1], %2;" ::"r"(shared), "l"(from), "n"(BYTES) : "memory");
  else
#elif defined(EMULATED_COPIES)
  if constexpr (BYTES >= 4)
    emulated_copy(to, from, BYTES);
  else
#endif
  {
#ifdef __CUDA_ARCH__
    if constexpr (BYTES == 16) {
      const ulonglong2 word = __ldg((const ulonglong2 *)from);
      *(Word16 *)to = {word.x, word.y};
    } else
      *(typename Word<BYTES>::Type *)to = __ldg((const typename Word<BYTES>::Type *)from);
#else
    memcpy(to, from, BYTES);
#endif
  }
}

// What was asked for since the last call is one plane.
__device__ __forceinline__ void copies_end() {
#if __CUDA_ARCH__ >= 800
  asm volatile("cp.async.commit_group;" ::: "memory");
#elif defined(EMULATED_COPIES)
  emulated_commit();
#endif
}

// Waits for all planes but the last N that were asked for.
template <int N> __device__ __forceinline__ void copies_wait() {
#if __CUDA_ARCH__ >= 800
  asm volatile("cp.async.wait_group %0;" ::"n"(N) : "memory");
#elif defined(EMULATED_COPIES)
  emulated_wait(N);
#endif
}
