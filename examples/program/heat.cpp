// A program that spreads heat in a volume with the tuned jacobi3d: the consumer of the
// make and cmake examples. Prints the time of a step beside what the config claims.
//
//   heat [STEPS [NX NY NZ]]
//
// Small grids are computed a second time, plainly, and compared.
#include <cuda_runtime.h>

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <vector>

#include "jacobi3d.h"

TUNE_JACOBI3D_ASSERT_ELEMENT(float);

static void check(int e) {
  if (e == 0) return;
  fprintf(stderr, "heat: %s\n", cudaGetErrorString((cudaError_t)e));
  exit(1);
}

// One step as the textbook has it: the mean of a cell and its neighbours.
static void plain(const std::vector<float> &in, std::vector<float> &out, const int n[3]) {
  auto at = [&](int x, int y, int z) {
    const int c[3] = {x, y, z};
    size_t i = 0;
    for (int a = 2; a >= 0; a--) i = i * n[a] + (c[a] < 0 ? 0 : c[a] < n[a] ? c[a] : n[a] - 1);
    return in[i];
  };
  for (int z = 0; z < n[2]; z++)
    for (int y = 0; y < n[1]; y++)
      for (int x = 0; x < n[0]; x++)
        out[((size_t)z * n[1] + y) * n[0] + x] =
            (at(x, y, z) + at(x - 1, y, z) + at(x + 1, y, z) + at(x, y - 1, z) + at(x, y + 1, z) + at(x, y, z - 1) + at(x, y, z + 1)) / 7;
}

int main(int argc, char **argv) {
  int n[3] = {TUNE_JACOBI3D_NX, TUNE_JACOBI3D_NY, TUNE_JACOBI3D_NZ};
  const int steps = argc > 1 ? atoi(argv[1]) : TUNE_JACOBI3D_STEPS;
  for (int a = 0; a < 3 && argc > 4; a++) n[a] = atoi(argv[2 + a]);
  std::vector<float> start((size_t)n[0] * n[1] * n[2]), answer(start.size());
  for (size_t i = 0; i < start.size(); i++) start[i] = (float)((i * 2654435761u >> 8) % 1000) / 1000;
  const size_t bytes = start.size() * sizeof(float);

  float *grid, *scratch, *result;
  check(cudaMalloc(&grid, bytes));
  check(cudaMalloc(&scratch, bytes));
  float best = INFINITY;
  for (int round = 0; round < (bytes > 1 << 22 ? 11 : 1); round++) { // the first one warms up
    cudaEvent_t from, to;
    float ms;
    check(cudaMemcpy(grid, start.data(), bytes, cudaMemcpyHostToDevice));
    check(cudaEventCreate(&from));
    check(cudaEventCreate(&to));
    check(cudaEventRecord(from, 0));
    check(jacobi3dOnDevice(grid, scratch, n[0], n[1], n[2], steps, &result, 0));
    check(cudaEventRecord(to, 0));
    check(cudaEventSynchronize(to));
    check(cudaEventElapsedTime(&ms, from, to));
    best = ms < best ? ms : best;
  }
  check(cudaMemcpy(answer.data(), result, bytes, cudaMemcpyDeviceToHost));
  printf("seconds_per_step %.9g claimed %.9g\n", 1e-3 * best / steps, (double)TUNE_JACOBI3D_SECONDS_PER_STEP);

  if (start.size() <= 1 << 20) {
    std::vector<float> next(start.size());
    for (int i = 0; i < steps; i++) plain(start, next, n), start.swap(next);
    float worst = 0;
    for (size_t i = 0; i < start.size(); i++) worst = fmaxf(worst, fabsf(start[i] - answer[i]));
    printf("largest error %g\n", worst);
    if (!(worst < 1e-4)) return 1;
  }
  return 0;
}
