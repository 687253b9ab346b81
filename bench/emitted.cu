// Times an emitted source beside that of the naive schedule, on grids that neither was tuned for, and
// compares their answers. problem.h says what the stencil takes.
//
//   emitted STEPS NX [NY [NZ]] ...
//
// prints for each grid: ns a step tuned, ns a step naive, the largest difference as a share of the largest
// value, and what the tuned source says that it runs.
#include <cuda_runtime.h>

#include <algorithm>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <vector>

#include "problem.h"

#if FIELDS == 1
typedef Element *Grid;
#else
typedef Element *const *Grid;
#endif

extern "C" {
int tunedOnDevice(Grid grid, Grid scratch, ARRAYS EXTENTS, int iterations, Element **result, void *stream);
int naiveOnDevice(Grid grid, Grid scratch, ARRAYS EXTENTS, int iterations, Element **result, void *stream);
const char *tunedVariant(EXTENTS);
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
  for (size_t i = 0; i < cells; i += pattern)
    check(cudaMemcpy(on_device + i, chunk.data(), std::min(pattern, cells - i) * sizeof(Element), cudaMemcpyHostToDevice));
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

// One grid: its times and the difference of the answers after steps that leave a remainder.
static void measure(EXTENTS, size_t cells, int steps) {
  Element *grid[FIELDS], *scratch[FIELDS], *result[FIELDS], *array = nullptr;
  const size_t bytes = cells * sizeof(Element);
  for (int f = 0; f < FIELDS; f++) {
    check(cudaMalloc((void **)&grid[f], bytes));
    check(cudaMalloc((void **)&scratch[f], bytes));
  }
  check(cudaMalloc((void **)&array, bytes));
  fill(array, cells);
  std::vector<std::vector<Element>> answers[2];
  for (Run *run : {tunedOnDevice, naiveOnDevice}) {
    for (int f = 0; f < FIELDS; f++) fill(grid[f], cells);
    check(run(grid_of(grid), grid_of(scratch), GIVEN SIZE, 23, result, 0));
    for (int f = 0; f < FIELDS; f++) {
      std::vector<Element> answer(cells);
      check(cudaMemcpy(answer.data(), result[f], bytes, cudaMemcpyDeviceToHost));
      answers[run == naiveOnDevice].push_back(std::move(answer));
    }
  }
  double difference = 0, largest = 0;
  for (int f = 0; f < FIELDS; f++)
    for (size_t i = 0; i < cells; i++) {
      const double d = fabs((double)answers[0][f][i] - (double)answers[1][f][i]);
      difference = d <= difference ? difference : d; // NaN stays
      largest = std::max(largest, fabs((double)answers[1][f][i]));
    }
  answers[0].clear(), answers[1].clear();
  const double tuned = timed(tunedOnDevice, grid, scratch, array, SIZE, steps);
  const double naive = timed(naiveOnDevice, grid, scratch, array, SIZE, std::max(1, steps / 4));
  printf("%.6g %.6g %.3g %s\n", tuned, naive, difference / largest, tunedVariant(SIZE));
  fflush(stdout);
  for (int f = 0; f < FIELDS; f++) {
    check(cudaFree(grid[f]));
    check(cudaFree(scratch[f]));
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
