// Workload matmul: C = A B. The grid's planes hold A, B and C; see the package's
// documentation.

constexpr int WRITE_X = GROUP_X * WORK_X, WRITE_Y = GROUP_Y * WORK_Y;

struct Matrices {
  const T *a, *b;
  int nx, ny, depth; // of C, and the inner extent; rows of a and b are nx apart
};

__device__ __forceinline__ Matrices matrices(const T *in, int nx, int ny) {
  return {in, in + (index_t)ny * nx, nx, ny, min(nx, ny)};
}

// Writes an element of C and copies the other planes' elements at its place.
__device__ __forceinline__ void write(const T *in, T *out, int x, int y, T c, int nx, int ny, int nz) {
  const index_t plane = (index_t)ny * nx;
  const index_t i = (index_t)y * nx + x;
  for (int z = 0; z < nz; z++) out[z * plane + i] = z == 2 ? c : in[z * plane + i];
}
