package emit

import (
	"os"
	"os/exec"
	"path/filepath"
	"testing"

	"stenciltune/stencil"
)

// failingRuntime precedes an emitted source: the call of CUDA that is the fail_at-th fails, and memory is counted.
const failingRuntime = `#include <cuda_runtime.h>
#include <stdio.h>
#include <string.h>
#include <set>
#include <vector>
#include "drift.h"
#include "survey.h"
static int calls, fail_at;
static bool copies_back; // all was computed
static std::set<void *> live;
static bool fails() { return ++calls == fail_at; }
static cudaError_t held(void **p, size_t bytes) {
  if (fails()) return cudaErrorMemoryAllocation;
  cudaMalloc(p, bytes);
  live.insert(*p);
  return cudaSuccess;
}
static cudaError_t freed(void *p) {
  if (p && !live.erase(p)) puts("freed twice");
  return cudaFree(p);
}
#define ASK(call) (fails() ? 719 : call)
#define cudaMalloc(p, bytes) held(p, bytes)
#define cudaFree(p) freed(p)
#define cudaMemcpy(...) ASK(cudaMemcpy(__VA_ARGS__))
#define cudaMemcpyAsync(...) ASK(cudaMemcpyAsync(__VA_ARGS__))
#undef TUNE_KERNEL
#define TUNE_KERNEL(kernel) kernel
#define cudaLaunchKernel(...) ASK(cudaLaunchKernel(__VA_ARGS__))
#define cudaGetDevice(n) ASK(cudaGetDevice(n))
#define cudaGetDeviceProperties(p, n) ASK(cudaGetDeviceProperties(p, n))
#define cudaOccupancyMaxActiveBlocksPerMultiprocessor(b, k, t, s) ASK(cudaOccupancyMaxActiveBlocksPerMultiprocessor(b, k, t, s))
#define cudaFuncSetAttribute(k, a, v) ASK(cudaFuncSetAttribute(k, a, v))
#define cudaStreamSynchronize(s) ASK(cudaStreamSynchronize(s))
#define cudaDeviceSynchronize() (fails() ? 719 : (copies_back = true, cudaSuccess))
`

// failingMain runs two sources as often as they call CUDA, each time with another call that fails.
const failingMain = `
typedef std::vector<float> Floats;
template <class Run> static int each(const char *name, Floats &data, Run run) {
  const Floats start = data;
  const size_t before = live.size();
  Floats want;
  int faults = 0, failed = 0;
  for (int k = 0, all = 1; k <= all; k++) { // none first
    data = start, calls = 0, fail_at = k, copies_back = false;
    const int e = run();
    if (k == 0) want = data, all = calls;
    failed += e != 0;
    if (k == 0 ? e : e ? !copies_back && data != start : data != want) faults++, printf("%s: call %d of %d fails: error %d, and data is another\n", name, k, all, e);
    if (live.size() != before) return printf("%s: call %d of %d fails: %d pieces of memory, were %d\n", name, k, all, (int)live.size(), (int)before);
  }
  return faults + (failed < 10);
}
int main() {
  enum { NX = 130, NY = 24, N = NX * NY };
  Floats u(3 * N), m(N, 0.2f), shot(3 * 7, 1), trace(5 * 7);
  const long long at[] = {5, 77, 800, 900, 901};
  for (int i = 0; i < 3 * N; i++) u[i] = 1 + i % 7 * 0.1f;
  driftSetData(m.data(), N), surveySetData(m.data(), N);
  int faults = each("drift", u, [&] { return drift(u.data(), NX, NY, 7, 0.5f, 2), driftError(); });
  faults += each("survey", u, [&] { return survey(u.data(), at, 3, shot.data(), 7, at, 5, trace.data(), 7, NX, NY, 7), surveyError(); });
  driftSetData(nullptr, 0), surveySetData(nullptr, 0);
  return faults || live.size();
}
`

// TestCallsThatFail: whichever call of CUDA fails, a run on host memory says so or gives the same answer, leaves the data as it was and
// keeps no memory.
func TestCallsThatFail(t *testing.T) {
	if os.Getenv("TUNE_NVCC") != "" {
		t.Skip("needs the emulation's nvcc")
	}
	dir := t.TempDir()
	var text string
	for name, schedule := range map[string]string{"testdata/drift.sl": tiles2d + "2", surveyFile: "pipeline/vx=2/vy=1/wp=2/ck=4/pf=1/mb=1/ph=3"} {
		s := sourceOf(t, name, stencil.Float32, stencil.Size{512, 512, 1}, schedule, h200)
		emitted(t, dir, s.Name+".h", "header", s)
		source, err := Text("cu", s)
		if err != nil {
			t.Fatal(err)
		}
		text += string(source)
	}
	write(t, dir, "failing.cu", failingRuntime+text+failingMain)
	build(t, dir, nvccOf(t), "-std=c++17", "-O0", "-o", "failing", "failing.cu")
	if out, err := exec.Command(filepath.Join(dir, "failing")).CombinedOutput(); err != nil || len(out) > 0 {
		t.Errorf("%v\n%s", err, out)
	}
}
