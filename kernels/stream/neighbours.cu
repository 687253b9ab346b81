// A warp waits in every round for those alone whose edge rows it reads, so that the warps
// of a block need not all be at the same plane. Each has two barriers (mbarrier), for
// rounds in turn: with one, a warp that is a round ahead would look like one behind. GPUs
// that have none (before compute capability 8.0) wait for the whole block.
constexpr int MEETING_BYTES = 16 * WARPS; // of shared memory
constexpr int NEAR = ((LOW_R > HIGH_R ? LOW_R : HIGH_R) + ROWS - 1) / ROWS; // warps on either side whose rows it reads, or that read its own

struct Meeting {
  unsigned long long *barriers; // two a warp
  int round = 0;

  __device__ __forceinline__ explicit Meeting(unsigned char *shared) : barriers(reinterpret_cast<unsigned long long *>(shared)) {
    if (threadIdx.x < 2) {
      unsigned long long *own = barriers + 2 * threadIdx.y + threadIdx.x;
#if __CUDA_ARCH__ >= 800
      asm volatile("mbarrier.init.shared.b64 [%0], 1;" ::"r"(address(own)) : "memory");
#else
      *own = 0;
#endif
    }
    __syncthreads();
  }

  __device__ __forceinline__ void wait() {
#if __CUDA_ARCH__ >= 800 || defined(EMULATED_BARRIERS)
    __syncwarp();
    if (threadIdx.x == 0) arrive(barriers + 2 * threadIdx.y + (round & 1));
#pragma unroll
    for (int n = 1; n <= NEAR; n++) {
      if ((int)threadIdx.y >= n) await(barriers + 2 * (threadIdx.y - n) + (round & 1));
      if (threadIdx.y + n < WARPS) await(barriers + 2 * (threadIdx.y + n) + (round & 1));
    }
    round++;
#else
    __syncthreads();
#endif
  }

#if __CUDA_ARCH__ >= 800
  __device__ __forceinline__ static unsigned address(const void *p) {
    unsigned long long shared;
    asm("cvta.to.shared.u64 %0, %1;" : "=l"(shared) : "l"(p));
    return (unsigned)shared;
  }

  __device__ __forceinline__ void arrive(unsigned long long *barrier) const {
    unsigned long long state;
    asm volatile("mbarrier.arrive.shared.b64 %0, [%1];" : "=l"(state) : "r"(address(barrier)) : "memory");
  }

  // Until this round's arrival: each barrier sees every second round.
  __device__ __forceinline__ void await(unsigned long long *barrier) const {
    unsigned done;
    do {
      asm volatile(
          "{\n"
          "  .reg .pred p;\n"
#if __CUDA_ARCH__ >= 900
          "  mbarrier.try_wait.parity.shared.b64 p, [%1], %2;\n" // the thread may sleep for a while
#else
          "  mbarrier.test_wait.parity.shared.b64 p, [%1], %2;\n"
#endif
          "  selp.u32 %0, 1, 0, p;\n"
          "}"
          : "=r"(done)
          : "r"(address(barrier)), "r"(round >> 1 & 1)
          : "memory");
    } while (!done);
  }
#elif defined(EMULATED_BARRIERS)
  void arrive(unsigned long long *barrier) const { ++*barrier; }
  void await(unsigned long long *barrier) const { emulated_await(barrier, round / 2 + 1); }
#endif
};

