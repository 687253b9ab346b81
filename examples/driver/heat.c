/* Loads the tuned kernels of jacobi3d from a CUBIN and runs them through CUDA's driver
 * API. The header says how to launch them. Prints the time of a step beside what the
 * config claims.
 *
 *   heat [STEPS]
 */
#include <cuda.h>

#include <stdio.h>
#include <stdlib.h>

#include "jacobi3d.h"

static void check(CUresult e, const char *what) {
  const char *text = "unknown error";
  if (e == CUDA_SUCCESS) return;
  cuGetErrorString(e, &text);
  fprintf(stderr, "heat: %s: %s\n", what, text);
  exit(1);
}
#define CHECK(call) check(call, #call)

int main(int argc, char **argv) {
  const int steps = argc > 1 ? atoi(argv[1]) : TUNE_JACOBI3D_STEPS;
  int nx = TUNE_JACOBI3D_NX, ny = TUNE_JACOBI3D_NY, nz = TUNE_JACOBI3D_NZ;
  const size_t cells = (size_t)nx * ny * nz, bytes = cells * sizeof(TUNE_JACOBI3D_ELEMENT);
  float best = 0, ms;
  int round, left;
  CUdevice device;
  CUcontext context;
  CUmodule module;
  CUfunction tuned;
#if TUNE_JACOBI3D_REMAINDER
  CUfunction rest;
#endif
  CUdeviceptr in, out, swap;
  CUevent from, to;

  CHECK(cuInit(0));
  CHECK(cuDeviceGet(&device, 0));
  CHECK(cuDevicePrimaryCtxRetain(&context, device));
  CHECK(cuCtxSetCurrent(context));
  CHECK(cuModuleLoad(&module, "jacobi3d.cubin"));
  CHECK(cuModuleGetFunction(&tuned, module, TUNE_JACOBI3D_ENTRY));
  CHECK(cuFuncSetAttribute(tuned, CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES, TUNE_JACOBI3D_SHARED_BYTES));
#if TUNE_JACOBI3D_REMAINDER
  CHECK(cuModuleGetFunction(&rest, module, TUNE_JACOBI3D_REMAINDER_ENTRY));
  CHECK(cuFuncSetAttribute(rest, CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES, TUNE_JACOBI3D_REMAINDER_SHARED_BYTES));
#endif
  if (!TUNE_JACOBI3D_REMAINDER && steps % TUNE_JACOBI3D_STEPS_PER_LAUNCH != 0) {
    fprintf(stderr, "heat: the config is for a multiple of %d steps\n", TUNE_JACOBI3D_STEPS_PER_LAUNCH);
    return 2;
  }
  CHECK(cuMemAlloc(&in, bytes));
  CHECK(cuMemAlloc(&out, bytes));
  CHECK(cuMemsetD8(in, 0x3c, bytes));
  CHECK(cuEventCreate(&from, 0));
  CHECK(cuEventCreate(&to, 0));
  for (round = 0; round < 11; round++) { /* the first one warms up */
    CHECK(cuEventRecord(from, 0));
    for (left = steps; left > 0; swap = in, in = out, out = swap) {
      void *arguments[] = {&in, &out, &nx, &ny, &nz};
      if (left >= TUNE_JACOBI3D_STEPS_PER_LAUNCH) {
        CHECK(cuLaunchKernel(tuned, TUNE_JACOBI3D_GRID_X, TUNE_JACOBI3D_GRID_Y, TUNE_JACOBI3D_GRID_Z, TUNE_JACOBI3D_BLOCK_X, TUNE_JACOBI3D_BLOCK_Y,
                             TUNE_JACOBI3D_BLOCK_Z, TUNE_JACOBI3D_SHARED_BYTES, 0, arguments, 0));
        left -= TUNE_JACOBI3D_STEPS_PER_LAUNCH;
        continue;
      }
#if TUNE_JACOBI3D_REMAINDER
      CHECK(cuLaunchKernel(rest, TUNE_JACOBI3D_REMAINDER_GRID_X, TUNE_JACOBI3D_REMAINDER_GRID_Y, TUNE_JACOBI3D_REMAINDER_GRID_Z,
                           TUNE_JACOBI3D_REMAINDER_BLOCK_X, TUNE_JACOBI3D_REMAINDER_BLOCK_Y, TUNE_JACOBI3D_REMAINDER_BLOCK_Z,
                           TUNE_JACOBI3D_REMAINDER_SHARED_BYTES, 0, arguments, 0));
      left -= TUNE_JACOBI3D_REMAINDER_STEPS_PER_LAUNCH;
#endif
    }
    CHECK(cuEventRecord(to, 0));
    CHECK(cuEventSynchronize(to));
    CHECK(cuEventElapsedTime(&ms, from, to));
    if (round == 1 || (round > 1 && ms < best)) best = ms;
  }
  printf("seconds_per_step %.9g claimed %.9g\n", 1e-3 * best / steps, (double)TUNE_JACOBI3D_SECONDS_PER_STEP);
  return 0;
}
