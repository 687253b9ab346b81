#!/usr/bin/env bash
# Instruction caches: on which SMs the blocks of a grid start, and what stream's kernels fetch.
# Two SMs of a TPC share a cache (ICC); what it does not hold comes from that of their GPC
# (GCC). One line a program: stencil dtype size schedule, milliseconds a launch, then of one
# launch: nanoseconds, instructions, requests to ICC and how many of 100 it answers, requests
# to GCC for instructions and of 100 how many it can answer at most. Needs what profile.sh does.
#
#   bench/h200/icache.sh path/to/tune > bench/h200/icache.txt
set -euo pipefail
tune=$1
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
. "$(dirname "$0")/profile.sh"
cat >"$work/start.cu" <<'CUDA'
#include <cstdio>
__global__ void start(int *sm) {
  int id;
  asm volatile("mov.u32 %0, %%smid;" : "=r"(id));
  if (threadIdx.x == 0) sm[blockIdx.x + gridDim.x * (blockIdx.y + gridDim.y * blockIdx.z)] = id;
  for (long long from = clock64(); clock64() - from < 20000;) {}
}
int main() {
  static int *sm, list[1024];
  cudaMallocManaged(&sm, sizeof(list));
  const int shared = 150000; // one block an SM
  cudaFuncSetAttribute(start, cudaFuncAttributeMaxDynamicSharedMemorySize, shared);
  for (dim3 grid : {dim3(132), dim3(4, 11, 3), dim3(10, 10, 3)}) {
    start<<<grid, 256, shared>>>(sm);
    if (cudaDeviceSynchronize() != cudaSuccess) return 1;
    printf("# SMs of the blocks of a grid of %d x %d x %d:", grid.x, grid.y, grid.z);
    for (unsigned i = 0; i < grid.x * grid.y * grid.z; i++) printf(" %d", sm[i]);
    printf("\n");
  }
}
CUDA
echo "# bench/h200/icache.sh tune, $("$tune" --version)"
device
nvcc -O3 -std=c++17 -arch=native -o "$work/start" "$work/start.cu" && "$work/start"
three() { # stencil size, then vx vy wp ck pf ph
  wanted "$1" float32 "$2" "stream/vx=$3/vy=$4/wp=$5/ck=$6/pf=$7/mb=1/ph=$8/pm=1"
}
two() { # stencil size, then vx ck ph
  wanted "$1" float32 "$2" "stream/vx=$3/vy=1/wp=1/ck=$4/pf=2/mb=1/ph=$5${6-/pm=1}"
}
three jacobi3d 198x593x395 2 8 8 3 4 5
three jacobi3d 198x593x395 2 8 8 3 4 4
three jacobi3d 198x593x395 2 6 8 3 4 5
wanted jacobi3d float32 198x593x395 stream/vx=2/vy=8/wp=8/ck=1/pf=4/mb=1/ph=5/sm=132/pm=1
three jacobi3d 512x512x512 2 8 8 3 4 4
three jacobi3d 512x512x512 2 8 8 3 4 5
three jacobi3d 512x512x512 4 4 8 3 2 4
three jacobi3d 230x230x230 2 8 8 8 2 4
three jacobi3d 212x212x424 2 8 8 8 4 5
three jacobi3d 183x183x366 2 6 8 6 4 6
three jacobi3d 593x395x198 2 6 8 1 4 6
three heat3d 384x384x384 2 8 8 3 4 4
three jacobi3d27 384x384x384 2 6 8 3 2 4
three jacobi3d13 384x384x384 2 6 8 3 2 2
three jacobi3d13 384x384x384 2 6 8 3 2 3
three jacobi3d13 384x384x384 4 4 8 3 2 2
two jacobi2d 8192x8192 8 32 12
two gaussian2d 8192x8192 8 32 4
two gaussian2d 1863x9316 8 64 4 ""
two jacobi2d9s 8192x8192 8 32 4
wait
metrics=gpu__time_duration.sum,smsp__inst_executed.sum,sm__icc_requests.sum,sm__icc_request_hit_rate.pct,gcc__cache_requests_type_instruction.sum,gcc__cache_requests_type_instruction.sum.pct_of_peak_sustained_elapsed
for i in $(seq $n); do
  ms=$("$work/$i" 14 | sed 's/.*: \([0-9.]*\) ms.*/\1/')
  counters "$i" $metrics | awk -v head="$(cat "$work/$i.head") $ms" -v names=$metrics '
    { of[$1] = $2 }
    END { n = split(names, name, ","); line = head; for (k = 1; k <= n; k++) line = line " " of[name[k]]; print line }'
done
