// Heat in a volume that MPI processes share, each a box of it with a GPU.
//
//   mpirun -n 8 heat [STEPS [NX NY NZ [EXCHANGE]]]
//
// The grid is cut along z, y and x into as many boxes as there are processes. After EXCHANGE steps each has from its neighbours the layers of
// ghost cells that as many steps need: along x, y and z in turn, so that those at edges and corners come with the others. Prints the time of a
// step. Small grids are computed again by the first process alone, and compared.
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

// What a process has: along each axis its own cells first .. last, layers of ghost cells beside them, and extents with these.
struct Box {
  int first[3], last[3], below[3], above[3], n[3], neighbour[3][2];
  size_t cells() const { return (size_t)n[0] * n[1] * n[2]; }
};

static Box box_of(MPI_Comm grid, const int n[3], int exchange) {
  int cuts[3], repeats[3], at[3];
  Box b;
  MPI_Cart_get(grid, 3, cuts, repeats, at);
  for (int a = 0; a < 3; a++) {
    const int d = 2 - a, depth = jacobi3dBoxGhosts(a, exchange);
    b.first[a] = (int)((long long)n[a] * at[d] / cuts[d]), b.last[a] = (int)((long long)n[a] * (at[d] + 1) / cuts[d]);
    MPI_Cart_shift(grid, d, 1, &b.neighbour[a][0], &b.neighbour[a][1]);
    b.below[a] = b.neighbour[a][0] == MPI_PROC_NULL ? 0 : depth, b.above[a] = b.neighbour[a][1] == MPI_PROC_NULL ? 0 : depth;
    b.n[a] = b.below[a] + b.last[a] - b.first[a] + b.above[a];
    if (depth < 0 || (cuts[d] > 1 && b.last[a] - b.first[a] < depth)) {
      fprintf(stderr, "heat: boxes must be at least %d cells wide: take fewer processes or a smaller EXCHANGE\n", depth);
      MPI_Abort(MPI_COMM_WORLD, 1);
    }
  }
  return b;
}

// Copies layers of a box along an axis, whole with ghost cells, from the device to a buffer or back. Gives their cells. Those along x are a few
// bytes of each row: a program that is cut there would pack them by a kernel of its own.
static int copy_layers(const Box &b, float *grid, int axis, int from, int layers, float *buffer, cudaMemcpyKind kind, cudaStream_t stream) {
  size_t extent[3] = {(size_t)b.n[0], (size_t)b.n[1], (size_t)b.n[2]}, stride = 1;
  for (int a = 0; a < axis; a++) stride *= b.n[a];
  extent[axis] = layers;
  const size_t row = sizeof(float) * extent[0];
  const cudaPitchedPtr device = {grid + from * stride, sizeof(float) * b.n[0], row, (size_t)b.n[1]}, host = {buffer, row, row, extent[1]};
  cudaMemcpy3DParms p = {};
  p.srcPtr = kind == cudaMemcpyDeviceToHost ? device : host;
  p.dstPtr = kind == cudaMemcpyDeviceToHost ? host : device;
  p.extent = {row, extent[1], extent[2]};
  p.kind = kind;
  check(cudaMemcpy3DAsync(&p, stream));
  return (int)(extent[0] * extent[1] * extent[2]);
}

// Fills the ghost cells along an axis from the neighbours' own cells. An MPI that knows of CUDA would take layers on the device.
static void fill(const Box &b, float *grid, int axis, float *out, float *in, MPI_Comm all, cudaStream_t stream) {
  for (int side = 0; side < 2; side++) { // all send down, then all send up
    const int to = b.neighbour[axis][side], from = b.neighbour[axis][!side];
    const int depth = std::max(b.below[axis], b.above[axis]);
    int sent = 0, arrive = 0;
    if (to != MPI_PROC_NULL) {
      sent = copy_layers(b, grid, axis, side ? b.n[axis] - b.above[axis] - depth : b.below[axis], depth, out, cudaMemcpyDeviceToHost, stream);
      check(cudaStreamSynchronize(stream));
    }
    if (from != MPI_PROC_NULL) arrive = (int)(b.cells() / b.n[axis] * depth);
    MPI_Sendrecv(out, sent, MPI_FLOAT, to, side, in, arrive, MPI_FLOAT, from, side, all, MPI_STATUS_IGNORE);
    if (from != MPI_PROC_NULL) {
      copy_layers(b, grid, axis, side ? 0 : b.n[axis] - depth, depth, in, cudaMemcpyHostToDevice, stream);
      check(cudaStreamSynchronize(stream));
    }
  }
}

int main(int argc, char **argv) {
  int rank, ranks, devices, n[3] = {96, 64, 128}, cuts[3] = {}, repeats[3] = {};
  MPI_Init(&argc, &argv);
  MPI_Comm_size(MPI_COMM_WORLD, &ranks);
  const int steps = argc > 1 ? atoi(argv[1]) : 24, exchange = argc > 5 ? atoi(argv[5]) : 4;
  for (int a = 0; a < 3 && argc > 4; a++) n[a] = atoi(argv[2 + a]);
  if (exchange < 1) {
    fprintf(stderr, "heat: EXCHANGE must be at least 1\n");
    MPI_Abort(MPI_COMM_WORLD, 1);
  }
  MPI_Comm all;
  MPI_Dims_create(ranks, 3, cuts); // the most along the first axis, which is z
  MPI_Cart_create(MPI_COMM_WORLD, 3, cuts, repeats, 0, &all);
  MPI_Comm_rank(all, &rank);
  check(cudaGetDeviceCount(&devices));
  check(cudaSetDevice(rank % devices)); // mpirun puts processes of one host side by side

  const Box b = box_of(all, n, exchange);
  std::vector<float> host(b.cells());
  size_t i = 0, widest = 0;
  for (int z = 0; z < b.n[2]; z++)
    for (int y = 0; y < b.n[1]; y++)
      for (int x = 0; x < b.n[0]; x++)
        host[i++] = start(((size_t)(b.first[2] - b.below[2] + z) * n[1] + b.first[1] - b.below[1] + y) * n[0] + b.first[0] - b.below[0] + x);
  for (int a = 0; a < 3; a++) widest = std::max(widest, b.cells() / b.n[a] * std::max(b.below[a], b.above[a]));
  float *grid, *scratch, *out, *in;
  check(cudaMalloc(&grid, b.cells() * sizeof(float)));
  check(cudaMalloc(&scratch, b.cells() * sizeof(float)));
  check(cudaMallocHost(&out, widest * sizeof(float) + 1));
  check(cudaMallocHost(&in, widest * sizeof(float) + 1));
  check(cudaMemcpy(grid, host.data(), b.cells() * sizeof(float), cudaMemcpyHostToDevice));
  cudaStream_t stream;
  check(cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking));
  check(cudaDeviceSynchronize());

  MPI_Barrier(all);
  const double begin = MPI_Wtime();
  for (int done = 0, now; done < steps; done += now) {
    now = std::min(exchange, steps - done);
    float *result;
    check(jacobi3dBox(grid, scratch, b.n[0], b.n[1], b.n[2], b.below, b.above, now, &result, stream));
    if (result != grid) std::swap(grid, scratch);
    for (int a = 0; a < 3 && done + now < steps; a++) fill(b, grid, a, out, in, all, stream);
  }
  check(cudaDeviceSynchronize());
  MPI_Barrier(all);
  const double seconds = (MPI_Wtime() - begin) / std::max(1, steps), cells = (double)n[0] * n[1] * n[2];
  if (rank == 0) printf("seconds_per_step %.9g on %d processes, %d x %d x %d: %.1f GCells/s\n", seconds, ranks, cuts[2], cuts[1], cuts[0], cells / seconds / 1e9);

  int wrong = 0;
  if (cells <= 1 << 22) { // each process gives its own cells, and 0 elsewhere
    check(cudaMemcpy(host.data(), grid, b.cells() * sizeof(float), cudaMemcpyDeviceToHost));
    std::vector<float> own((size_t)cells), answer(own.size()), want(own.size());
    for (int z = b.first[2]; z < b.last[2]; z++)
      for (int y = b.first[1]; y < b.last[1]; y++)
        for (int x = b.first[0]; x < b.last[0]; x++)
          own[((size_t)z * n[1] + y) * n[0] + x] = host[((size_t)(z - b.first[2] + b.below[2]) * b.n[1] + y - b.first[1] + b.below[1]) * b.n[0] + x - b.first[0] + b.below[0]];
    MPI_Reduce(own.data(), answer.data(), (int)own.size(), MPI_FLOAT, MPI_SUM, 0, all);
    for (size_t c = 0; c < want.size(); c++) want[c] = start(c);
    if (rank == 0) {
      jacobi3d(want.data(), n[0], n[1], n[2], steps);
      check(jacobi3dError());
      float worst = 0;
      for (size_t c = 0; c < want.size(); c++)
        if (const float off = fabsf(want[c] - answer[c]); !(off <= worst)) worst = off; // what is no number is wrong, too
      printf("largest difference from one process %g\n", worst);
      wrong = !(worst < 1e-5f);
    }
  }
  MPI_Finalize();
  return wrong;
}
