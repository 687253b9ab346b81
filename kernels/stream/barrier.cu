// The warps of a block wait for each other in every round.
constexpr int MEETING_BYTES = 0; // of shared memory

struct Meeting {
  __device__ __forceinline__ explicit Meeting(unsigned char *) {}
  __device__ __forceinline__ void wait() { __syncthreads(); }
};

