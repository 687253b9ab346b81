// Where the warps of a block meet in each plane step: a warp arrives when its edge rows are written, and waits for the others only when it has
// done what it can do without theirs. An asynchronous barrier of shared memory, known from compute capability 8.0 on.
struct Meeting {
  static constexpr int BYTES = 128; // of shared memory, before everything else: rows behind it begin with a line
  unsigned address, phase = 0;

  __device__ __forceinline__ explicit Meeting(unsigned char *shared) : address(shared_address(shared)) {
#if __CUDA_ARCH__ >= 800
    if (threadIdx.x + threadIdx.y == 0) asm volatile("mbarrier.init.shared.b64 [%0], %1;" ::"r"(address), "n"(BANDS) : "memory");
    __syncthreads();
#endif
  }

  __device__ __forceinline__ void arrive() {
#if __CUDA_ARCH__ >= 800
    __syncwarp();
    if (threadIdx.x == 0) asm volatile("{ .reg .b64 state; mbarrier.arrive.shared.b64 state, [%0]; }" ::"r"(address) : "memory");
#elif defined(EMULATED_COPIES)
    emulated_arrive();
#endif
  }

  __device__ __forceinline__ void wait() {
    await();
    phase ^= 1;
  }

  __device__ __forceinline__ void await() const {
#if __CUDA_ARCH__ >= 900
    asm volatile("{ .reg .pred all; again: mbarrier.try_wait.parity.shared.b64 all, [%0], %1; @!all bra again; }" ::"r"(address), "r"(phase) : "memory");
#elif __CUDA_ARCH__ >= 800
    asm volatile("{ .reg .pred all; again: mbarrier.test_wait.parity.shared.b64 all, [%0], %1; @!all bra again; }" ::"r"(address), "r"(phase) : "memory");
#elif defined(EMULATED_COPIES)
    emulated_await(phase);
#else
    __syncthreads();
#endif
  }
};
