package emit

import (
	"os"
	"os/exec"
	"path/filepath"
	"testing"

	"stenciltune/stencil"
)

// arraysMain advances a grid from all places within a vector, and compares with the first answer. It gives arrays that
// overlap, by one element or all but one, and such as lie side by side or between each other's rows, which give the same answer too.
const arraysMain = `#include <cuda_runtime.h>
#include <math.h>
#include <stdio.h>
#include <string.h>
#include "warm.h"
enum { NX = 128, NY = 20, NZ = 5, LDX = 2 * NX + 4, LDY = 2 * NY + 1, CELLS = NX * NY * NZ, ALL = LDX * LDY * (NZ + 1) };
static cudaStream_t stream;
static float *array(void) {
  static float zeros[ALL];
  float *to = 0;
  cudaMalloc((void **)&to, sizeof zeros);
  cudaMemcpy(to, zeros, sizeof zeros, cudaMemcpyHostToDevice);
  return to;
}
static void fill(float *to, float phase, int row, int plane) {
  static float cells[CELLS];
  for (int i = 0; i < CELLS; i++) cells[i] = sinf(phase + i);
  for (int z = 0; z < NZ; z++) cudaMemcpy2D(to + z * plane, row * sizeof(float), cells + z * NY * NX, NX * sizeof(float), NX * sizeof(float), NY, cudaMemcpyHostToDevice);
}
static int differs(const float *from, int row, int plane) { // from the first answer that was given
  static float want[CELLS], got[CELLS];
  static int known = 0;
  for (int z = 0; z < NZ; z++) cudaMemcpy2D((known ? got : want) + z * NY * NX, NX * sizeof(float), from + z * plane, row * sizeof(float), NX * sizeof(float), NY, cudaMemcpyDeviceToHost);
  for (int i = 0; i < CELLS && known; i++)
    if (!(fabsf(got[i] - want[i]) < 1e-5f)) return printf("cell %d is %g, want %g\n", i, got[i], want[i]);
  known = 1;
  return 0;
}
static int answers(float *grid, float *scratch, float *source, int pitched) {
  const int row = pitched ? LDX : NX, plane = pitched ? LDX * LDY : NX * NY;
  float *result;
  fill(grid, 0, row, plane), fill(source, 1, row, plane);
  if (pitched ? warmPitchedOnDevice(grid, scratch, source, NX, NY, NZ, LDX, LDY, 3, &result, 0) : warmOnDevice(grid, scratch, source, NX, NY, NZ, 3, &result, stream)) return 0;
  return cudaStreamSynchronize(stream) == cudaSuccess && !differs(result, row, plane);
}
static int refused(float *grid, float *scratch, float *source, int pitched) {
  float *result;
  return cudaErrorInvalidValue == (pitched ? warmPitchedOnDevice(grid, scratch, source, NX, NY, NZ, LDX, LDY, 3, &result, 0) : warmOnDevice(grid, scratch, source, NX, NY, NZ, 3, &result, stream));
}
#define CHECK(what) if (!(what)) return printf("line %d: not so: %s\n", __LINE__, #what), 1
static float *within(float *a, int bytes) { return (float *)((char *)a + bytes); }
int main(void) {
  CHECK(cudaStreamCreate(&stream) == cudaSuccess && stream);
  float *a = array(), *b = array(), *c = NULL, *result;
  CHECK(cudaMallocManaged(&c, ALL * sizeof(float)) == cudaSuccess && cudaMemset(c, 0, ALL * sizeof(float)) == cudaSuccess && cudaPeekAtLastError() == cudaSuccess);
  for (int at = 0; at < 8; at++) {
    CHECK(answers(a + at, b, c, 0));
    CHECK(answers(a, b + at, c, 0));
    CHECK(answers(a, b, c + at, 0));
    CHECK(answers(a + at, b, c + at, 1));
  }
  CHECK(refused(within(a, 1), b, c, 0) && refused(a, within(b, 2), c, 0) && refused(a, b, within(c, 3), 0) && refused(a, within(b, 2), c, 1));
  CHECK(refused(a, a, b, 0) && refused(a, a + 1, b, 0) && refused(a, a + CELLS - 1, b, 0) && refused(a + CELLS - 1, a, b, 0));
  CHECK(refused(a, b, a, 0) && refused(a, b, b, 0) && refused(a, b, a + CELLS - 1, 0) && refused(a, b + CELLS - 1, b, 0));
  CHECK(answers(a, a + CELLS, a + 2 * CELLS, 0) && answers(a + 2 * CELLS, a + CELLS, a, 0));
  cudaGraphExec_t graph;
  CHECK(warmGraph(a, a + 1, b, NX, NY, NZ, 3, &result, (void **)&graph) == cudaErrorInvalidValue);
  const int row = LDX, plane = LDX * LDY;
  CHECK(refused(a, a, b, 1) && refused(a, a + NX - 1, b, 1) && refused(a + NX - 1, a, b, 1) && refused(a, b, b + row - NX + 1, 1)); // that one's row ends in the next
  CHECK(refused(a, a + (NY - 1) * row, b, 1) && refused(a, a + plane - (NY - 1) * row, b, 1) && refused(a, a + (NZ - 1) * plane + (NY - 1) * row + NX - 1, b, 1));
  CHECK(answers(a, a + NX, b, 1) && answers(a + NX, a, b, 1) && answers(a, a + NX, a + NY * row, 1) && answers(a + 4, b, b + row - NX, 1));
  CHECK(answers(a + plane - NY * row, a, b, 1) && answers(a, b, b + plane - NY * row + NX, 1));
  // What is no grid, no run or no slab.
  const int most = 2147483647, extents[][3] = {{0, NY, NZ}, {NX, 0, NZ}, {NX, NY, -1}, {-most - 1, NY, NZ}, {most, most, most}, {1, most - (1 << 24) + 2, 1}, {1 << 16, 1 << 16, 1 << 15}};
  for (auto &n : extents) {
    CHECK(warmOnDevice(a, b, c, n[0], n[1], n[2], 3, &result, stream) == cudaErrorInvalidValue && result == a);
    CHECK(warmPitchedOnDevice(a, b, c, n[0], n[1], n[2], LDX, LDY, 3, &result, stream) == cudaErrorInvalidValue && result == a);
    CHECK(warmGraph(a, b, c, n[0], n[1], n[2], 3, &result, (void **)&graph) == cudaErrorInvalidValue);
    CHECK(warmSlab(a, b, c, n[0], n[1], n[2], 3, 0, 3, &result, stream) == cudaErrorInvalidValue);
    CHECK(strstr(warmVariant(n[0], n[1], n[2]), "none: ") && strstr(warmPitchedVariant(n[0], n[1], n[2], LDX, LDY), "none: "));
  }
  CHECK(strstr(warmPitchedVariant(NX, NY, NZ, NX - 1, NY), "none: ") && strstr(warmPitchedVariant(NX, NY, NZ, 1 << 28, NY), "none: "));
  CHECK(warmOnDevice(a, b, c, NX, NY, NZ, -1, &result, stream) == cudaErrorInvalidValue && warmOnDevice(a, 0, c, NX, NY, NZ, 3, &result, stream) == cudaErrorInvalidValue);
  CHECK(warmOnDevice(a, b, c, NX, NY, NZ, 3, 0, stream) == cudaErrorInvalidValue && warmGraph(a, b, c, NX, NY, NZ, 3, &result, 0) == cudaErrorInvalidValue);
  CHECK(warmSlab(a, b, c, NX, NY, NZ, 0, 0, 3, 0, stream) == cudaErrorInvalidValue && warmSlabApart(a, b, c, NX, NY, NZ, 0, 0, 3, 0, stream, stream) == cudaErrorInvalidValue);
  CHECK(warmOnDevice(a, 0, 0, NX, NY, NZ, 0, &result, stream) == 0 && result == a); // no step
  const int slabs[][3] = {{3, 2, 1}, {-1, 0, 1}, {0, -1, 1}, {most, most, 1}, {2, 0, 3}, {1, 0, most}, {1, 0, -1}}; // below, above, steps
  for (auto &s : slabs) CHECK(warmSlab(a, b, c, NX, NY, NZ, s[0], s[1], s[2], &result, stream) == cudaErrorInvalidValue);
  CHECK(warmSlab(a, b, c, NX, NY, NZ, 2, 2, 2, &result, stream) == 0 && warmSlab(a, b, c, NX, NY, NZ, 2, 2, 0, &result, stream) == 0 && result == a);
  CHECK(warmSlabApart(a, b, c, NX, NY, NZ, 2, 2, 2, &result, stream, stream) == 0 && warmSlabApart(a, b, c, NX, NY, NZ, 1, 0, 2, &result, stream, stream) == cudaErrorInvalidValue);
  CHECK(warmGhost(most) == -1 && warmGhost(-1) == -1);
  // What was given belongs to the device that was current then.
  static float given[CELLS];
  int devices;
  warmSetData(given, CELLS);
  CHECK(warmError() == 0 && warmOnDevice(a, b, 0, NX, NY, NZ, 1, &result, stream) == 0 && cudaGetDeviceCount(&devices) == cudaSuccess);
  if (devices > 1) {
    CHECK(cudaSetDevice(1) == cudaSuccess && warmOnDevice(a, b, 0, NX, NY, NZ, 1, &result, 0) == cudaErrorInvalidValue);
    warm(given, NX, NY, NZ, 1);
    CHECK(warmError() == cudaErrorInvalidValue && cudaSetDevice(0) == cudaSuccess);
  }
  warmSetData(0, 0);
  CHECK(warmError() == 0 && warmOnDevice(a, b, 0, NX, NY, NZ, 1, &result, stream) == cudaErrorInvalidValue);
  // A graph that the program captures itself.
  cudaGraph_t launches;
  fill(a, 0, NX, NX * NY), fill(c, 1, NX, NX * NY);
  float *kept;
  size_t pitch;
  CHECK(cudaMallocPitch(&kept, &pitch, NX * sizeof(float), NY * NZ) == cudaSuccess && pitch >= NX * sizeof(float));
  CHECK(cudaMemcpy2D(kept, pitch, a, NX * sizeof(float), NX * sizeof(float), NY * NZ, cudaMemcpyDeviceToDevice) == cudaSuccess);
  CHECK(cudaStreamBeginCapture(stream, cudaStreamCaptureModeRelaxed) == cudaSuccess);
  CHECK(cudaMemcpy2DAsync(a, NX * sizeof(float), kept, pitch, NX * sizeof(float), NY * NZ, cudaMemcpyDeviceToDevice, stream) == cudaSuccess);
  CHECK(warmOnDevice(a, b, c, NX, NY, NZ, 3, &result, stream) == 0);
  CHECK(cudaStreamEndCapture(stream, &launches) == cudaSuccess && cudaGraphInstantiateWithFlags(&graph, launches, 0) == cudaSuccess);
  CHECK(cudaMemset(a, 0, CELLS * sizeof(float)) == cudaSuccess); // the graph copies, too
  CHECK(cudaGraphDestroy(launches) == cudaSuccess && cudaGraphLaunch(graph, stream) == cudaSuccess && cudaStreamSynchronize(stream) == cudaSuccess && !differs(result, NX, NX * NY));
  CHECK(cudaGraphExecDestroy(graph) == cudaSuccess && cudaStreamDestroy(stream) == cudaSuccess);
  return 0;
}
`

// TestArraysOnTheDevice: they may begin with any element, and refused are those that overlap. The stream is one that programs make.
func TestArraysOnTheDevice(t *testing.T) {
	dir := t.TempDir()
	write(t, dir, "warm.sl", "NumDimensions 3 StencilSize (1, 1, 1) DataType float Boundary clamp ReadOnly (c) CellValue { return 0.2 * get(0, 0, 0) + 0.1 * (get(-1, 0, 0) + get(1, 0, 0) + get(0, -1, 0) + get(0, 1, 0) + get(0, 0, -1) + get(0, 0, 1)) + get(c, 0, 0, 0); }")
	s := sourceOf(t, filepath.Join(dir, "warm.sl"), stencil.Float32, stencil.Size{512, 512, 512}, "stream/vx=4/vy=2/wp=4/ck=2/pf=2/mb=1/ph=2", h200)
	s.Pitched = true
	emitted(t, dir, "warm.cu", "cu", s)
	emitted(t, dir, "warm.h", "header", s)
	write(t, dir, "main.cu", arraysMain)
	flags := []string{"-std=c++17", "-O0", "-o", "warm", "warm.cu", "main.cu"}
	if os.Getenv("TUNE_NVCC") == "" { // a GPU traps by itself
		flags = append(flags, "-fsanitize=address,alignment", "-fno-sanitize-recover=all")
	}
	build(t, dir, nvccOf(t), flags...)
	command := exec.Command(filepath.Join(dir, "warm"))
	command.Env = append(os.Environ(), "ASAN_OPTIONS=detect_leaks=0:verify_asan_link_order=0", "TUNE_EMULATED_DEVICES=2")
	if out, err := command.CombinedOutput(); err != nil {
		t.Errorf("%v\n%s", err, out)
	}
}
