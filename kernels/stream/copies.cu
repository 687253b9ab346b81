// Asks for a vector to be copied to shared memory, and does not wait for it; shared is the
// address of `to` there. Where rows are not whole vectors its parts are copied one by one.
// GPUs that cannot (before compute capability 8.0) do wait.
__device__ __forceinline__ void copy_vector(Vector *to, unsigned shared, const T *from) {
  constexpr int BYTES = sizeof(Part) < 16 ? sizeof(Part) : 16;
#pragma unroll
  for (int b = 0; b < (int)sizeof(Vector); b += BYTES) {
    const char *part = reinterpret_cast<const char *>(from) + b;
#if __CUDA_ARCH__ >= 800
    if (BYTES == 16)
      asm volatile("cp.async.cg.shared.global [%0], [%1], 16;" ::"r"(shared + b), "l"(part) : "memory");
    else
      asm volatile("cp.async.ca.shared.global [%0], [%1], %2;" ::"r"(shared + b), "l"(part), "n"(BYTES < 16 ? BYTES : 8) : "memory");
#elif defined(EMULATED_COPIES)
    emulated_copy(reinterpret_cast<char *>(to) + b, part, BYTES);
#else
    memcpy(reinterpret_cast<char *>(to) + b, part, BYTES);
#endif
  }
}

// Planes copied ahead into shared memory: no register is held meanwhile. A thread copies the
// cells that it will use itself, so none waits for another.
struct Waiting {
  static constexpr int ARRAY = 32 * WARPS * ROWS, PLANE = COPIED * ARRAY; // vectors
  Vector *own;         // the thread's place in the first plane
  unsigned shared = 0; // its address in shared memory
  int first = 0;       // the plane that was asked for first

  // The planes lie behind the edge rows.
  __device__ __forceinline__ explicit Waiting(Shared *edges)
      : own(reinterpret_cast<Vector *>(edges + RING * PYRAMID * Edges::STAGE) + threadIdx.y * (ROWS * 32) + threadIdx.x) {
#if __CUDA_ARCH__ >= 800
    unsigned long long address;
    asm("cvta.to.shared.u64 %0, %1;" : "=l"(address) : "l"(own));
    shared = (unsigned)address;
#endif
  }

  // Asks for array a's next plane to be copied to place f.
  __device__ __forceinline__ void load(int f, int a, const T *from, const Place &at) {
#pragma unroll
    for (int j = 0; j < ROWS; j++) {
      const int i = f * PLANE + copied_slot(a) * ARRAY + j * 32;
      copy_vector(own + i, shared + i * (int)sizeof(Vector), from + row_offset(at, j));
    }
  }

  // Whatever was asked for since is one plane.
  __device__ __forceinline__ void loaded() {
#if __CUDA_ARCH__ >= 800
    asm volatile("cp.async.commit_group;" ::: "memory");
#elif defined(EMULATED_COPIES)
    emulated_commit();
#endif
  }

  // Waits for all that was asked for: another walk may use the places.
  __device__ __forceinline__ void settle() {
#if __CUDA_ARCH__ >= 800
    asm volatile("cp.async.wait_all;" ::: "memory");
#elif defined(EMULATED_COPIES)
    emulated_wait(0);
#endif
  }

  // Gives the plane that was asked for first, when it is there. Returns the place that is free
  // then.
  __device__ __forceinline__ int take(Cells (&v)[ARRAYS], Sides &) {
#if __CUDA_ARCH__ >= 800
    asm volatile("cp.async.wait_group %0;" ::"n"(PREFETCH - 1) : "memory");
#elif defined(EMULATED_COPIES)
    emulated_wait(PREFETCH - 1);
#endif
    const int taken = first;
#pragma unroll
    for (int a = 0; a < ARRAYS; a++) {
      if (!reads(a)) continue;
#pragma unroll
      for (int j = 0; j < ROWS; j++) {
        const Vector vector = own[taken * PLANE + copied_slot(a) * ARRAY + j * 32];
#pragma unroll
        for (int i = 0; i < VECTOR; i++) v[a][j][i] = vector.at[i];
      }
    }
    first = first + 1 < PREFETCH ? first + 1 : 0;
    return taken;
  }
};

