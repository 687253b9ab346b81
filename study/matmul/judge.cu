// The judge of workload matmul: an element of C a thread, added up in double.
extern "C" __global__ void ENTRY(PARAMETERS) {
  if (await_launch(nx)) return;
  const Grid grid = GRID;
  const Out out = OUT;
  const long long x = (long long)blockIdx.x * blockDim.x + threadIdx.x, y = (long long)blockIdx.y * blockDim.y + threadIdx.y;
  if (x >= nx || y >= ny) return;
  double sum = 0;
  for (long long k = 0; k < inner(grid); k++) sum += (double)grid.in[A][y * nx + k] * (double)grid.in[B][k * nx + x];
  out.field[0][y * nx + x] = (T)sum;
}
