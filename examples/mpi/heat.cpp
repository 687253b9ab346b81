// Heat in a volume that several MPI processes share, each a slab of it along z with a GPU.
//
//   mpirun -n 2 heat [STEPS [NX NY NZ [EXCHANGE]]]
//
// Neighbours exchange ghost zones as deep as EXCHANGE steps need, after as many steps: while these travel, the inside of the
// slab is computed. Prints the time of a step. Small grids are computed again by the first process alone, and compared.
#include <cuda_runtime.h>
#include <mpi.h>

#include <algorithm>
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
  MPI_Abort(MPI_COMM_WORLD, 1);
}

static float start(size_t cell) { return (float)((cell * 2654435761u >> 8) % 1000) / 1000; }

int main(int argc, char **argv) {
  int rank, ranks, devices, n[3] = {96, 64, 128};
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &ranks);
  const int steps = argc > 1 ? atoi(argv[1]) : 24, exchange = argc > 5 ? atoi(argv[5]) : 4;
  for (int a = 0; a < 3 && argc > 4; a++) n[a] = atoi(argv[2 + a]);
  check(cudaGetDeviceCount(&devices));
  check(cudaSetDevice(rank % devices)); // mpirun puts processes of one host side by side

  // The slab: own planes z0 .. z1, and ghost planes where there is a neighbour.
  const int depth = jacobi3dGhost(exchange), z0 = (int)((long long)n[2] * rank / ranks), z1 = (int)((long long)n[2] * (rank + 1) / ranks);
  const int neighbour[2] = {rank > 0 ? rank - 1 : MPI_PROC_NULL, rank + 1 < ranks ? rank + 1 : MPI_PROC_NULL};
  const int below = rank > 0 ? depth : 0, above = rank + 1 < ranks ? depth : 0, planes = below + z1 - z0 + above;
  if (exchange < 1 || (ranks > 1 && z1 - z0 < 2 * depth)) {
    fprintf(stderr, "heat: EXCHANGE must be at least 1, and slabs at least %d planes: take fewer processes or a smaller EXCHANGE\n", 2 * depth);
    MPI_Abort(MPI_COMM_WORLD, 1);
  }
  const size_t plane = (size_t)n[0] * n[1];
  std::vector<float> host(plane * planes);
  for (size_t i = 0; i < host.size(); i++) host[i] = start((size_t)(z0 - below) * plane + i);

  float *grid, *scratch, *work, *out[2], *in[2];
  check(cudaMalloc(&grid, host.size() * sizeof(float)));
  check(cudaMalloc(&scratch, host.size() * sizeof(float)));
  check(cudaMalloc(&work, (size_t)jacobi3dSlabWork(n[0], n[1], exchange)));
  for (int side = 0; side < 2; side++) {
    check(cudaMallocHost(&out[side], depth * plane * sizeof(float)));
    check(cudaMallocHost(&in[side], depth * plane * sizeof(float)));
  }
  check(cudaMemcpy(grid, host.data(), host.size() * sizeof(float), cudaMemcpyHostToDevice));
  cudaStream_t compute, copies;
  cudaEvent_t edges_done, arrived;
  check(cudaStreamCreateWithFlags(&compute, cudaStreamNonBlocking));
  check(cudaStreamCreateWithFlags(&copies, cudaStreamNonBlocking));
  check(cudaEventCreateWithFlags(&edges_done, cudaEventDisableTiming));
  check(cudaEventCreateWithFlags(&arrived, cudaEventDisableTiming));
  check(cudaDeviceSynchronize());

  MPI_Barrier(MPI_COMM_WORLD);
  const double begin = MPI_Wtime();
  for (int done = 0, now; done < steps; done += now) {
    now = std::min(exchange, steps - done);
    const int count = (int)(jacobi3dGhost(now) * plane); // cells that travel each way
    float *edges[2], *result;
    check(jacobi3dSlabEdges(grid, n[0], n[1], planes, below, above, now, work, edges, compute));
    check(cudaEventRecord(edges_done, compute));
    check(jacobi3dSlabInside(grid, scratch, n[0], n[1], planes, below, above, now, edges, &result, compute));
    // Meanwhile. An MPI that knows of CUDA would take edges and the ghost planes themselves.
    check(cudaStreamWaitEvent(copies, edges_done, 0));
    for (int side = 0; side < 2; side++)
      if (edges[side]) check(cudaMemcpyAsync(out[side], edges[side], count * sizeof(float), cudaMemcpyDeviceToHost, copies));
    check(cudaStreamSynchronize(copies));
    for (int side = 0; side < 2; side++) // all send down, then all send up
      MPI_Sendrecv(out[side], count, MPI_FLOAT, neighbour[side], side, in[!side], count, MPI_FLOAT, neighbour[!side], side, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    if (below) check(cudaMemcpyAsync(result + below * plane - count, in[0], count * sizeof(float), cudaMemcpyHostToDevice, copies));
    if (above) check(cudaMemcpyAsync(result + (planes - above) * plane, in[1], count * sizeof(float), cudaMemcpyHostToDevice, copies));
    check(cudaEventRecord(arrived, copies));
    check(cudaStreamWaitEvent(compute, arrived, 0));
    if (result != grid) std::swap(grid, scratch);
  }
  check(cudaDeviceSynchronize());
  MPI_Barrier(MPI_COMM_WORLD);
  const double seconds = (MPI_Wtime() - begin) / std::max(1, steps), cells = (double)plane * n[2];
  if (rank == 0) printf("seconds_per_step %.9g on %d processes: %.1f GCells/s\n", seconds, ranks, cells / seconds / 1e9);

  int wrong = 0;
  if (cells <= 1 << 22) {
    check(cudaMemcpy(host.data(), grid + below * plane, (z1 - z0) * plane * sizeof(float), cudaMemcpyDeviceToHost));
    std::vector<float> answer(rank ? 0 : (size_t)cells), want(answer.size());
    std::vector<int> counts(ranks), places(ranks);
    for (int r = 0; r < ranks; r++) {
      places[r] = (int)((long long)n[2] * r / ranks * plane);
      counts[r] = (int)((long long)n[2] * (r + 1) / ranks * plane) - places[r];
    }
    MPI_Gatherv(host.data(), counts[rank], MPI_FLOAT, answer.data(), counts.data(), places.data(), MPI_FLOAT, 0, MPI_COMM_WORLD);
    for (size_t i = 0; i < want.size(); i++) want[i] = start(i);
    if (rank == 0) {
      jacobi3d(want.data(), n[0], n[1], n[2], steps);
      check(jacobi3dError());
      float worst = 0;
      for (size_t i = 0; i < want.size(); i++) worst = std::max(worst, fabsf(want[i] - answer[i]));
      printf("largest difference from one process %g\n", worst);
      wrong = !(worst < 1e-5f);
    }
  }
  MPI_Finalize();
  return wrong;
}
