// Beyond an edge on x lies, where the fields have a constant there, the nearest cell of a read-only array. The
// fields get their constant afterwards. (A piece of its own: what has none of it keeps its source.)
__device__ __forceinline__ void halo_x(Real (&e)[SPAN_X], const Place &at, int low, int high, decltype(nullptr), int) {
#pragma unroll
  for (int k = 1; k <= LOW_X; k++) {
    if (k > low) break;
    const int lanes = (k + VECTOR - 1) / VECTOR;
    e[LOW_X - k] = __shfl_up_sync(~0u, e[LOW_X + lanes * VECTOR - k], lanes);
    if (at.x < k) e[LOW_X - k] = e[LOW_X - k + 1];
  }
#pragma unroll
  for (int k = 0; k < HIGH_X; k++) {
    if (k >= high) break;
    const int lanes = k / VECTOR + 1, i = LOW_X + VECTOR + k;
    e[i] = __shfl_down_sync(~0u, e[LOW_X + k % VECTOR], lanes);
    if (at.x + VECTOR + k >= at.nx) e[i] = e[i - 1];
  }
}

