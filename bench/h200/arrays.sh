#!/usr/bin/env bash
# What emitted sources promise of arrays and graphs, on a GPU: the Python module with arrays that show DLPack alone, with a
# CUBIN beside it and no NVRTC, and launches as a CUDA graph. Each answer must be that of the plain call, to the bit.
# Needs CUDA (nvcc, NVRTC), PyTorch and CuPy, no Go.
#
#   go build -o tune ./cmd/tune && bench/h200/arrays.sh ./tune > bench/h200/arrays.txt
set -uo pipefail
tune=$(realpath "$1")
work=$(mktemp -d)
config=$work/jacobi3d.json
trap 'rm -rf "$work"' EXIT
export TUNE_STORE=$work/store.db
cd "$work"
failed=0
"$tune" -q --stencil jacobi3d --device 0 >"$config" || exit 1
"$tune" devices | sed -n 's/^0 /# &/p'
"$tune" emit --config "$config" --format python -o jacobi3d.py || exit 1
cat >arrays.py <<'P'
import sys
import cupy, torch, jacobi3d

class Alone:
    """An array of which nothing but DLPack is seen."""
    def __init__(self, array): self.array = array
    def __dlpack__(self, **how): return self.array.__dlpack__(**how)
    def __dlpack_device__(self): return self.array.__dlpack_device__()

def run(library, alone):
    values = torch.rand(n, generator=torch.Generator().manual_seed(7))
    grid = values.cuda() if library == "torch" else cupy.asarray(values.numpy())
    jacobi3d.run(Alone(grid) if alone else grid, 23)
    torch.cuda.synchronize()
    return grid.cpu() if library == "torch" else torch.from_numpy(cupy.asnumpy(grid))

bad = False
for n in ((512, 512, 512), (23, 70, 131), (1, 3, 5)):
    want = run("torch", False)
    for library, alone in (("cupy", False), ("torch", True), ("cupy", True)):
        same = bool((run(library, alone) == want).all())
        bad |= not same
        print("%s %s%s: %s" % ("x".join(map(str, n[::-1])), library, ", DLPack alone" if alone else "", "the same" if same else "DIFFERENT"))
    torch.save(want, "%d.pt" % n[0])
sys.exit(bad)
P
python3 arrays.py || failed=1
"$tune" emit --config "$config" --format cubin -o jacobi3d.cubin || failed=1
cat >cubin.py <<'P'
import sys
import torch, jacobi3d

def none(*_): raise SystemExit("NVRTC was asked for")
jacobi3d._compile = none
grid = torch.rand((512, 512, 512), generator=torch.Generator().manual_seed(7)).cuda()
jacobi3d.run(grid, 23)
same = bool((grid.cpu() == torch.load("512.pt")).all())
print("512x512x512 by the CUBIN beside the module: %s" % ("the same" if same else "DIFFERENT"))
sys.exit(not same)
P
python3 cubin.py || failed=1
cat >graph.cu <<'C'
#include <cstdio>
#include <cstring>
#include <vector>
#include <cuda_runtime.h>
extern "C" int jacobi3dOnDevice(float *, float *, int, int, int, int, float **, void *);
extern "C" int jacobi3dGraph(float *, float *, int, int, int, int, float **, void **);
static float timed(cudaStream_t s, cudaEvent_t *e, int runs, auto run) {
  run();
  cudaEventRecord(e[0], s);
  for (int i = 0; i < runs; i++) run();
  cudaEventRecord(e[1], s);
  cudaStreamSynchronize(s);
  float ms = 0;
  cudaEventElapsedTime(&ms, e[0], e[1]);
  return ms / runs;
}
int main() {
  int bad = 0;
  cudaStream_t s;
  cudaEvent_t e[2];
  cudaStreamCreate(&s), cudaEventCreate(e), cudaEventCreate(e + 1);
  for (int n : {16, 64, 128, 512}) {
    const int steps = 100;
    const size_t cells = (size_t)n * n * n;
    std::vector<float> start(cells), a(cells), b(cells);
    for (size_t i = 0; i < cells; i++) start[i] = i * 2654435761u % 1000 / 1000.0f;
    float *grid, *scratch, *result;
    void *graph;
    cudaMalloc(&grid, 4 * cells), cudaMalloc(&scratch, 4 * cells);
    cudaMemcpy(grid, start.data(), 4 * cells, cudaMemcpyDefault);
    int error = jacobi3dOnDevice(grid, scratch, n, n, n, steps, &result, s);
    cudaStreamSynchronize(s);
    cudaMemcpy(a.data(), result, 4 * cells, cudaMemcpyDefault);
    cudaMemcpy(grid, start.data(), 4 * cells, cudaMemcpyDefault);
    error += jacobi3dGraph(grid, scratch, n, n, n, steps, &result, &graph);
    cudaGraphLaunch((cudaGraphExec_t)graph, s);
    cudaStreamSynchronize(s);
    cudaMemcpy(b.data(), result, 4 * cells, cudaMemcpyDefault);
    const bool same = !error && !memcmp(a.data(), b.data(), 4 * cells);
    bad |= !same;
    const float launches = timed(s, e, 20, [&] { jacobi3dOnDevice(grid, scratch, n, n, n, steps, &result, s); });
    const float whole = timed(s, e, 20, [&] { cudaGraphLaunch((cudaGraphExec_t)graph, s); });
    printf("%d^3, %d steps: a graph gives %s; %.1f us by launches, %.1f by the graph\n", n, steps, same ? "the same" : "OTHER CELLS", 1e3 * launches, 1e3 * whole);
    cudaGraphExecDestroy((cudaGraphExec_t)graph), cudaFree(grid), cudaFree(scratch);
  }
  return bad;
}
C
"$tune" emit --config "$config" --format cu -o jacobi3d.cu && nvcc -std=c++20 -O3 -arch=native -o graph graph.cu jacobi3d.cu && ./graph || failed=1
[ $failed = 0 ] && echo "# all the same" || echo "# FAILED"
exit $failed
