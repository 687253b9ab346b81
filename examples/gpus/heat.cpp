// Heat in a volume that the GPUs of one host share, each a slab of it along z.
//
//   heat [STEPS [NX NY NZ [EXCHANGE [GPUS]]]]
//
// Ghost zones are as deep as EXCHANGE steps need, and are copied from GPU to GPU after as many steps. This is done in two
// ways: slabs as a whole, then the copies; and what neighbours need first, so that copies go on while the rest is computed. Prints the time
// of a step of one GPU and of all, and the largest difference of their answers. With -DUSE_NCCL NCCL copies, as it does between hosts.
#include <cuda_runtime.h>
#ifdef USE_NCCL
#include <nccl.h>
#endif

#include <algorithm>
#include <chrono>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <utility>
#include <vector>

#include "jacobi3d.h"

TUNE_JACOBI3D_ASSERT_ELEMENT(float);

static void check(int e) {
  if (e == 0) return;
  fprintf(stderr, "heat: %s\n", cudaGetErrorString((cudaError_t)e));
  exit(1);
}

#ifdef USE_NCCL
static std::vector<ncclComm_t> communicators; // of each GPU

static void nccl(ncclResult_t r) {
  if (r == ncclSuccess) return;
  fprintf(stderr, "heat: %s\n", ncclGetErrorString(r));
  exit(1);
}
#endif

static double now() { return std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch()).count(); }

// A GPU and its slab: own planes z0 .. z1, and ghost planes where there is a neighbour.
struct Slab {
  int z0, z1, below, above, planes;
  float *grid, *scratch, *result;
  cudaStream_t edges, inside, copies; // of slabs as a whole all is on edges
  cudaEvent_t ready, arrived; // what neighbours take is there; the own ghost planes are
};

static void wait_for_all(const std::vector<Slab> &slabs) {
  for (size_t d = 0; d < slabs.size(); d++) {
    check(cudaSetDevice((int)d));
    check(cudaDeviceSynchronize());
  }
}

// So many steps of all slabs, and then the copies, none of which is waited for.
static void advance(std::vector<Slab> &slabs, const int n[3], int steps, bool apart) {
  const size_t plane = (size_t)n[0] * n[1], moved = jacobi3dGhost(steps) * plane;
  const int last = (int)slabs.size() - 1;
  for (int d = 0; d <= last; d++) {
    Slab &s = slabs[d];
    check(cudaSetDevice(d));
    for (int o = std::max(0, d - 1); o <= std::min(last, d + 1); o++) // what it has sent was taken, and its ghost planes are there
      check(cudaStreamWaitEvent(s.edges, slabs[o].arrived, 0));
    if (apart) check(jacobi3dSlabApart(s.grid, s.scratch, n[0], n[1], s.planes, s.below, s.above, steps, &s.result, s.edges, s.inside));
    else check(jacobi3dSlab(s.grid, s.scratch, n[0], n[1], s.planes, s.below, s.above, steps, &s.result, s.edges));
    check(cudaEventRecord(s.ready, s.edges));
  }
#ifdef USE_NCCL
  nccl(ncclGroupStart()); // the copies of all GPUs are one operation
#endif
  for (int d = 0; d <= last; d++) {
    Slab &s = slabs[d];
    check(cudaSetDevice(d));
    check(cudaStreamWaitEvent(s.copies, s.ready, 0)); // its ghost planes were read
    for (int o : {d - 1, d + 1}) {
      if (o < 0 || o > last) continue;
      float *to = o < d ? s.result + s.below * plane - moved : s.result + (s.planes - s.above) * plane;
#ifdef USE_NCCL
      const float *from = o < d ? s.result + s.below * plane : s.result + (s.planes - s.above) * plane - moved;
      nccl(ncclSend(from, moved, ncclFloat, o, communicators[d], s.copies));
      nccl(ncclRecv(to, moved, ncclFloat, o, communicators[d], s.copies));
#else
      const Slab &other = slabs[o];
      const float *from = o < d ? other.result + (other.planes - other.above) * plane - moved : other.result + other.below * plane;
      check(cudaStreamWaitEvent(s.copies, other.ready, 0));
      check(cudaMemcpyPeerAsync(to, d, from, o, moved * sizeof(float), s.copies));
#endif
    }
  }
#ifdef USE_NCCL
  nccl(ncclGroupEnd());
#endif
  for (int d = 0; d <= last; d++) {
    Slab &s = slabs[d];
    check(cudaSetDevice(d));
    check(cudaEventRecord(s.arrived, s.copies));
    if (s.result != s.grid) std::swap(s.grid, s.scratch);
  }
}

int main(int argc, char **argv) {
  int n[3] = {96, 64, 128}, devices;
  check(cudaGetDeviceCount(&devices));
  const int steps = argc > 1 ? atoi(argv[1]) : 24, exchange = argc > 5 ? atoi(argv[5]) : 4, gpus = argc > 6 ? atoi(argv[6]) : devices;
  for (int a = 0; a < 3 && argc > 4; a++) n[a] = atoi(argv[2 + a]);
  const size_t plane = (size_t)n[0] * n[1], cells = plane * n[2];
  const int depth = jacobi3dGhost(exchange);
  if (gpus < 1 || gpus > devices || steps < 1 || exchange < 1 || (gpus > 1 && n[2] / gpus < depth)) {
    fprintf(stderr, "heat: of %d GPUs at least 1, STEPS and EXCHANGE at least 1, and %d planes a GPU\n", devices, depth);
    return 1;
  }
  std::vector<float> start(cells), want(cells), answer(cells);
  for (size_t i = 0; i < cells; i++) start[i] = (float)((i * 2654435761u >> 8) % 1000) / 1000;

  double one = 0, time[2];
  { // one GPU alone
    float *grid, *scratch, *result;
    check(cudaSetDevice(0));
    check(cudaMalloc(&grid, cells * sizeof(float)));
    check(cudaMalloc(&scratch, cells * sizeof(float)));
    for (int round = 0; round < 2; round++) { // the first one warms up
      check(cudaMemcpy(grid, start.data(), cells * sizeof(float), cudaMemcpyHostToDevice));
      const double begin = now();
      check(jacobi3dOnDevice(grid, scratch, n[0], n[1], n[2], steps, &result, 0));
      check(cudaDeviceSynchronize());
      one = (now() - begin) / steps;
    }
    check(cudaMemcpy(want.data(), result, cells * sizeof(float), cudaMemcpyDeviceToHost));
    check(cudaFree(grid));
    check(cudaFree(scratch));
  }

  std::vector<Slab> slabs(gpus);
  for (int d = 0; d < gpus; d++) {
    Slab &s = slabs[d];
    s.z0 = (int)((long long)n[2] * d / gpus), s.z1 = (int)((long long)n[2] * (d + 1) / gpus);
    s.below = d > 0 ? depth : 0, s.above = d + 1 < gpus ? depth : 0, s.planes = s.below + s.z1 - s.z0 + s.above;
    check(cudaSetDevice(d));
    for (int o : {d - 1, d + 1}) { // else copies go by way of the host
      int can = 0;
      if (o >= 0 && o < gpus) check(cudaDeviceCanAccessPeer(&can, d, o));
      if (can) check(cudaDeviceEnablePeerAccess(o, 0));
    }
    check(cudaMalloc(&s.grid, s.planes * plane * sizeof(float)));
    check(cudaMalloc(&s.scratch, s.planes * plane * sizeof(float)));
    int low, high;
    check(cudaDeviceGetStreamPriorityRange(&low, &high));
    for (cudaStream_t *stream : {&s.edges, &s.inside, &s.copies}) check(cudaStreamCreateWithPriority(stream, cudaStreamNonBlocking, stream == &s.inside ? low : high));
    for (cudaEvent_t *e : {&s.ready, &s.arrived}) check(cudaEventCreateWithFlags(e, cudaEventDisableTiming));
  }
#ifdef USE_NCCL
  communicators.resize(gpus);
  nccl(ncclCommInitAll(communicators.data(), gpus, nullptr));
#endif
  float worst = 0;
  for (bool apart : {false, true}) {
    for (int round = 0; round < 2; round++) {
      for (Slab &s : slabs) check(cudaMemcpy(s.grid, &start[(s.z0 - s.below) * plane], s.planes * plane * sizeof(float), cudaMemcpyHostToDevice));
      wait_for_all(slabs); // streams that wait for no other would not wait for these copies
      const double begin = now();
      for (int done = 0; done < steps; done += exchange) advance(slabs, n, std::min(exchange, steps - done), apart);
      wait_for_all(slabs);
      time[apart] = (now() - begin) / steps;
    }
    for (Slab &s : slabs) check(cudaMemcpy(&answer[s.z0 * plane], s.grid + s.below * plane, (s.z1 - s.z0) * plane * sizeof(float), cudaMemcpyDeviceToHost));
    for (size_t i = 0; i < cells; i++) worst = std::max(worst, fabsf(want[i] - answer[i]));
  }
  printf("seconds_per_step %.9g on 1 GPU\n", one);
  printf("seconds_per_step %.9g on %d GPUs, slabs as a whole: %.3f times one\n", time[0], gpus, one / time[0]);
  printf("seconds_per_step %.9g on %d GPUs, what neighbours need first: %.3f times one\n", time[1], gpus, one / time[1]);
  printf("largest difference from one GPU %g\n", worst);
  return !(worst < 1e-5f);
}
