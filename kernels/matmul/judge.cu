// The judge of workload matmul: an element of C a thread, added up in double.
extern "C" __global__ void ENTRY(const T *in, T *out, int nx, int ny, int nz) {
  const int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y * blockDim.y + threadIdx.y;
  if (x >= nx || y >= ny) return;
  const long long plane = (long long)ny * nx, at = (long long)y * nx + x;
  double sum = 0;
  for (int k = 0; k < nx && k < ny; k++) sum += (double)in[(long long)y * nx + k] * (double)in[plane + (long long)k * nx + x];
  for (int z = 0; z < nz; z++) out[z * plane + at] = z == 2 ? (T)sum : in[z * plane + at];
}
