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

// Asks for BYTES, 16 at most, to be copied and does not wait for them; shared is the address of `to`. What is too small
// for that, below 4 bytes, is waited for.
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
    memcpy(to, from, BYTES);
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
