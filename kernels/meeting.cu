// Where the warps of a block meet in each plane step.
struct Meeting {
  static constexpr int BYTES = 0; // of shared memory, before everything else
  __device__ __forceinline__ explicit Meeting(unsigned char *) {}
  __device__ __forceinline__ void arrive() {}
  __device__ __forceinline__ void wait() { __syncthreads(); }
};
