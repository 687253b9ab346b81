// Times an emitted source beside that of the naive schedule, on grids that neither was tuned for, and
// compares their answers. problem.h says what the stencil takes.
//
//   emitted STEPS NX [NY [NZ]] ...
//
// prints for each grid: ns a step tuned, ns a step naive, the largest difference as a share of the largest
// value, the processor's ns to choose what runs and to launch one step, the ns a step that the tuned source expects, the ns a step
// after tunedMeasure and the ns that took, and what the source says that it runs, before and after.
#include <cuda_runtime.h>

#include <algorithm>
#include <chrono>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <vector>

#include "problem.h"

#ifndef TUNE_KERNEL // CUDA before 12 launches by an address without a type
#define TUNE_KERNEL(kernel) (const void *)kernel
#endif

#if FIELDS == 1
typedef Element *Grid;
#else
typedef Element *const *Grid;
#endif

extern "C" {
int tunedOnDevice(Grid grid, Grid scratch, ARRAYS EXTENTS, int iterations, Element **result, void *stream);
int naiveOnDevice(Grid grid, Grid scratch, ARRAYS EXTENTS, int iterations, Element **result, void *stream);
int tunedMeasure(Grid grid, Grid scratch, ARRAYS EXTENTS, void *stream);
const char *tunedVariant(EXTENTS);
double tunedExpected(EXTENTS);
}

static void check(int e) {
  if (e == 0) return;
  fprintf(stderr, "emitted: %s\n", cudaGetErrorString((cudaError_t)e));
  exit(1);
}

static Grid grid_of(Element **arrays) {
#if FIELDS == 1
  return arrays[0];
#else
  return arrays;
#endif
}

// Values that repeat after a prime number of cells, so that no two rows are alike.
static const size_t pattern = 4194301;
static std::vector<Element> chunk(pattern);

static void fill(Element *on_device, size_t cells) {
  check(cudaMemcpy(on_device, chunk.data(), std::min(pattern, cells) * sizeof(Element), cudaMemcpyHostToDevice));
  for (size_t i = pattern; i < cells; i += pattern)
    check(cudaMemcpy(on_device + i, on_device, std::min(pattern, cells - i) * sizeof(Element), cudaMemcpyDeviceToDevice));
}

// Each thread's largest difference and largest value. What is not a number stays.
static const int THREADS = 256, BLOCKS = 512;
static __global__ void compare(const Element *a, const Element *b, long long cells, double *differences, double *values) {
  double difference = 0, largest = 0;
  const int thread = blockIdx.x * THREADS + threadIdx.x;
  for (long long i = thread; i < cells; i += THREADS * BLOCKS) {
    const double d = fabs((double)a[i] - (double)b[i]), v = fabs((double)b[i]);
    difference = d <= difference ? difference : d;
    largest = v > largest ? v : largest;
  }
  differences[thread] = difference, values[thread] = largest;
}

// The largest difference of two arrays, and the second's largest value, where they exceed what is there.
static void compared(const Element *a, const Element *b, size_t cells, double *difference, double *largest) {
  static std::vector<double> found(2 * THREADS * BLOCKS);
  double *on_device = nullptr;
  check(cudaMalloc((void **)&on_device, found.size() * sizeof(double)));
  long long count = (long long)cells;
  double *values = on_device + THREADS * BLOCKS;
  void *arguments[] = {&a, &b, &count, &on_device, &values};
  check(cudaLaunchKernel(TUNE_KERNEL(compare), dim3(BLOCKS), dim3(THREADS), arguments, 0, 0));
  check(cudaMemcpy(found.data(), on_device, found.size() * sizeof(double), cudaMemcpyDeviceToHost));
  check(cudaFree(on_device));
  for (int i = 0; i < THREADS * BLOCKS; i++) {
    *difference = found[i] <= *difference ? *difference : found[i];
    *largest = std::max(*largest, found[THREADS * BLOCKS + i]);
  }
}

typedef int Run(Grid, Grid, ARRAYS EXTENTS, int, Element **, void *);

// The median of seven runs, in ns a step.
static double timed(Run *run, Element **grid, Element **scratch, const Element *array, EXTENTS, int steps) {
  (void)array;
  Element *result[FIELDS];
  std::vector<double> times;
  for (int i = 0; i < 8; i++) { // the first one warms up
    cudaEvent_t from, to;
    float ms;
    check(cudaEventCreate(&from));
    check(cudaEventCreate(&to));
    check(cudaEventRecord(from, 0));
    check(run(grid_of(grid), grid_of(scratch), GIVEN SIZE, steps, result, 0));
    check(cudaEventRecord(to, 0));
    check(cudaEventSynchronize(to));
    check(cudaEventElapsedTime(&ms, from, to));
    check(cudaEventDestroy(from));
    check(cudaEventDestroy(to));
    if (i > 0) times.push_back(1e6 * ms / steps);
  }
  std::nth_element(times.begin(), times.begin() + 3, times.end());
  return times[3];
}

// The processor's time of a call, in ns: the least of some averages.
template <class Call> double called(int calls, Call call) {
  double least = 0;
  for (int i = 0; i < 5; i++) {
    check(cudaDeviceSynchronize());
    const auto from = std::chrono::steady_clock::now();
    for (int j = 0; j < calls; j++) call();
    const double ns = std::chrono::duration<double, std::nano>(std::chrono::steady_clock::now() - from).count() / calls;
    least = i == 0 || ns < least ? ns : least;
  }
  check(cudaDeviceSynchronize());
  return least;
}

// What a run of steps that leave a remainder gives, in kept.
static void answer(Run *run, Element **grid, Element **scratch, const Element *array, Element **kept, EXTENTS, size_t cells) {
  (void)array;
  Element *result[FIELDS];
  for (int f = 0; f < FIELDS; f++) fill(grid[f], cells);
  check(run(grid_of(grid), grid_of(scratch), GIVEN SIZE, 23, result, 0));
  for (int f = 0; f < FIELDS; f++) check(cudaMemcpy(kept[f], result[f], cells * sizeof(Element), cudaMemcpyDeviceToDevice));
}

// One grid: its times and the difference of the answers.
static void measure(EXTENTS, size_t cells, int steps) {
  Element *grid[FIELDS], *scratch[FIELDS], *kept[FIELDS], *naive_kept[FIELDS], *result[FIELDS], *array = nullptr;
  const size_t bytes = cells * sizeof(Element);
  for (int f = 0; f < FIELDS; f++)
    for (Element **a : {&grid[f], &scratch[f], &kept[f], &naive_kept[f]}) check(cudaMalloc((void **)a, bytes));
  check(cudaMalloc((void **)&array, GIVEN_COUNT ? bytes : 1));
  fill(array, GIVEN_COUNT ? cells : 0);
  answer(naiveOnDevice, grid, scratch, array, naive_kept, SIZE, cells);
  double difference = 0, largest = 0;
  const bool left[FIELDS] = {LEFT}; // temporary fields hold anything
  const auto judge = [&] {
    answer(tunedOnDevice, grid, scratch, array, kept, SIZE, cells);
    for (int f = 0; f < FIELDS; f++)
      if (left[f]) compared(kept[f], naive_kept[f], cells, &difference, &largest);
  };
  judge();
  const double tuned = timed(tunedOnDevice, grid, scratch, array, SIZE, steps);
  const double naive = timed(naiveOnDevice, grid, scratch, array, SIZE, std::max(1, steps / 4));
  const double pick = called(10000, [&] { tunedVariant(SIZE); });
  const double launch = called(100, [&] { check(tunedOnDevice(grid_of(grid), grid_of(scratch), GIVEN SIZE, 1, result, 0)); }); // fewer than are queued
  const double expected = 1e9 * tunedExpected(SIZE);
  const char *chosen = tunedVariant(SIZE);
  const auto from = std::chrono::steady_clock::now();
  check(tunedMeasure(grid_of(grid), grid_of(scratch), GIVEN SIZE, 0));
  const double wall = std::chrono::duration<double, std::nano>(std::chrono::steady_clock::now() - from).count();
  judge();
  const double measured = timed(tunedOnDevice, grid, scratch, array, SIZE, steps);
  printf("%.6g %.6g %.3g %.4g %.4g %.6g %.6g %.6g %s; measured: %s\n", tuned, naive, difference / largest, pick, launch, expected, measured, wall, chosen, tunedVariant(SIZE));
  fflush(stdout);
  for (int f = 0; f < FIELDS; f++) {
    check(cudaFree(grid[f]));
    check(cudaFree(scratch[f]));
    check(cudaFree(kept[f]));
    check(cudaFree(naive_kept[f]));
  }
  check(cudaFree(array));
}

int main(int argc, char **argv) {
  for (size_t i = 0; i < pattern; i++) chunk[i] = (Element)((i * 2654435761u >> 8) % 1000) / 1000;
  const int steps = argc > 1 ? atoi(argv[1]) : 0;
  for (int i = 2; i + DIMS <= argc && steps > 0; i += DIMS) {
    int n[3] = {1, 1, 1};
    for (int a = 0; a < DIMS; a++) n[a] = atoi(argv[i + a]);
    measure(EXTENTS_OF(n), (size_t)n[0] * n[1] * n[2], steps);
  }
}
