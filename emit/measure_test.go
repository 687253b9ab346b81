package emit

import (
	"os"
	"path/filepath"
	"testing"

	"stenciltune/stencil"
)

// measuringRuntime precedes an emitted source: what a launch takes, and whether it fails, is the test's choice.
const measuringRuntime = countedRuntime + `#include <functional>
struct Launch {
  const void *kernel;
  unsigned tiles;
  bool operator==(const Launch &o) const { return kernel == o.kernel && tiles == o.tiles; }
};
static double ms;                                                                    // of the launches since the last question
static Launch last;
static std::function<double(Launch)> cost = [](Launch) { return 1.0; };              // ms
static std::function<cudaError_t(Launch)> refused = [](Launch) { return cudaSuccess; };
static cudaError_t kept, lost;                                                       // the last error; one that every later call returns
static cudaError_t say(cudaError_t e) {
  if (lost) e = lost;
  if (e) kept = e;
  return e;
}
static cudaError_t launch(const void *kernel, dim3 grid) {
  last = {kernel, grid.z}, launched++;
  if (lost) return say(lost);
  const cudaError_t e = refused(last); // if it loses all, that is told by the next call
  if (e) return kept = e;
  ms += cost(last);
  return cudaSuccess;
}
static cudaError_t elapsed(float *to) {
  *to = (float)ms, ms = 0;
  return say(cudaSuccess);
}
static cudaError_t last_error() {
  const cudaError_t e = kept;
  kept = lost;
  return e;
}
#undef cudaLaunchKernel
#undef cudaGetLastError
#define cudaLaunchKernel(kernel, grid, ...) launch((const void *)kernel, grid)
#define cudaGetLastError() last_error()
#define cudaEventRecord(...) say(cudaSuccess)
#define cudaEventSynchronize(...) say(cudaSuccess)
#define cudaStreamSynchronize(...) say(cudaSuccess)
#define cudaEventElapsedTime(to, ...) elapsed(to)
`

// measuringMain begins a program on an H200, with arrays of any grid and what asks about one.
const measuringMain = `
static float *const a = (float *)(1LL << 40), *const b = (float *)(2LL << 40);
static int measured(int n) { return jacobi3dMeasure(a, b, n, n, n, 0); }
static Launch does(int n, int steps = 3) { // the last launch, of one step or three
  float *result;
  return jacobi3dOnDevice(a, b, n, n, n, steps, &result, 0) ? Launch() : last;
}
#define WANT(what) if (!(what)) return printf("device %d: not %s\n", fake_number, #what), 1
int main() {
  strcpy(fake.name, "NVIDIA H200");
  fake.major = 9, fake.multiProcessorCount = 132, shared_limit = 227 << 10;
`

// measuring runs a program that begins as measuringMain does on jacobi3d of one tune on an H200.
func measuring(t *testing.T, program string) {
	t.Helper()
	measuringOf(t, sourceOf(t, "jacobi3d", stencil.Float32, stencil.Size{512, 512, 512}, streamed, h200), program)
}

// measuringOf builds a source of jacobi3d with that runtime and runs such a program.
func measuringOf(t *testing.T, s Source, program string) {
	t.Helper()
	if testing.Short() {
		t.Skip("compiles a source")
	}
	if os.Getenv("TUNE_NVCC") != "" {
		t.Skip("needs the emulation's nvcc")
	}
	source, err := Text("cu", s)
	if err != nil {
		t.Fatal(err)
	}
	dir := t.TempDir()
	write(t, dir, "measure.cu", measuringRuntime+string(emptied(t, source))+measuringMain+program+"  return 0;\n}\n")
	build(t, dir, nvccOf(t), "-std=c++17", "-O0", "-o", "measure", "measure.cu")
	build(t, dir, filepath.Join(dir, "measure"))
}

// TestMeasuringTriesWhatIsChosen: on the tuned grid that is the tuned schedule in the stream tiles of its tune, which no rule for other grids gives. What is
// found is of the device that is current, though another one was asked last with which it shares a place. It stands until it is measured again.
func TestMeasuringTriesWhatIsChosen(t *testing.T) {
	measuring(t, `
  for (fake_number = 0; fake_number < 17; fake_number += 16) {
    const Launch fastest = does(512);
    if (fake_number > 0) {
      fake_number = 0;
      jacobi3dVariant(500, 500, 500);
      fake_number = 16;
    }
    cost = [&](Launch l) { return l == fastest ? 0.01 : 1; };
    ms = 0;
    WANT(!measured(512) && does(512) == fastest);
    WANT(jacobi3dExpected(512, 512, 512) < 1e-5);
    cost = [&](Launch l) { return l == fastest ? 1 : 0.01; };
    ms = 0;
    WANT(!measured(512) && !(does(512) == fastest));
    cost = [&](Launch l) { return l == fastest ? 0.01 : 1; };
    ms = 0;
    WANT(!measured(512) && does(512) == fastest);
  }
`)
}

// TestMeasuringLeavesOutWhatFails: a choice that cannot be launched, or cannot any more, is not taken, and its error is dealt with. If none can be, or nothing
// works any more, the choice is the one that it was.
func TestMeasuringLeavesOutWhatFails(t *testing.T) {
	measuring(t, `
  const Launch first = does(512), rest = does(512, 1);
  Launch second = first, third = first;
  refused = [&](Launch l) { return second == first ? second = l : third == first || third == second ? third = l : l, 701; };
  WANT(measured(512) == 701 && kept == cudaSuccess); // launched are the first stages of all
  WANT(!(second == first) && !(third == first) && !(third == second));
  refused = [](Launch) { return cudaSuccess; };
  WANT(does(512) == first && jacobi3dExpected(512, 512, 512) > 1e-5);
  cost = [&](Launch l) { return l == first ? 0.01 : l == second ? 0.02 : 1; };

  fake_number++, ms = 0;
  refused = [&](Launch l) { return l == first ? 9 : cudaSuccess; };
  WANT(!measured(512) && kept == cudaSuccess && does(512) == second);

  fake_number++, ms = 0; // from the second time on that it is timed
  int times = 0;
  refused = [&](Launch l) { return l == first && ++times > 60 ? 2 : cudaSuccess; };
  WANT(!measured(512) && kept == cudaSuccess && does(512) == second);

  fake_number++, ms = 0; // what does steps left over
  refused = [&](Launch l) { return l.kernel == rest.kernel ? 701 : cudaSuccess; };
  WANT(!measured(512) && kept == cudaSuccess && does(512).kernel && does(512, 1).kernel);

  fake_number++, ms = 0; // a fault, which is told later
  does(512);
  refused = [&](Launch l) { return l == third ? launched = 0, lost = 719, cudaSuccess : cudaSuccess; };
  WANT(measured(512) == 719 && launched == 1); // after it: what is told
  lost = kept = cudaSuccess, refused = [](Launch) { return cudaSuccess; };
  WANT(does(512) == first);
`)
}

// TestWhatWasMeasuredIsKept: any number of grids, whatever is asked about meanwhile, each until it is measured again.
func TestWhatWasMeasuredIsKept(t *testing.T) {
	measuring(t, `
  for (int n = 101; n < 141; n++) WANT(!measured(n)); // 1 ms a launch
  for (int n = 201; n < 241; n++) jacobi3dVariant(n, n, n);
  for (int n = 101; n < 141; n++) WANT(jacobi3dExpected(n, n, n) > 1e-4);
  WANT(jacobi3dExpected(201, 201, 201) < 1e-4);
  ms = 0, cost = [](Launch) { return 1e-3; };
  WANT(!measured(120) && jacobi3dExpected(120, 120, 120) < 1e-4 && jacobi3dExpected(121, 121, 121) > 1e-4);
  fake_number += 16; // which shares a place
  WANT(jacobi3dExpected(121, 121, 121) < 1e-4);
`)
}

// TestMeasuringIsRefusedInACapture: nothing is launched then, and the capture goes on.
func TestMeasuringIsRefusedInACapture(t *testing.T) {
	measuring(t, `
  cudaStream_t stream;
  cudaGraph_t graph;
  WANT(!cudaStreamCreate(&stream) && !cudaStreamBeginCapture(stream, cudaStreamCaptureModeRelaxed));
  WANT(jacobi3dMeasure(a, b, 100, 100, 100, stream) == 900 && launched == 0);
  WANT(!cudaStreamEndCapture(stream, &graph) && !jacobi3dMeasure(a, b, 100, 100, 100, stream) && launched > 0);
`)
}

// TestMeasuringTriesTheRulesChoiceAgain: it is timed first, when a device that was at rest is slow.
func TestMeasuringTriesTheRulesChoiceAgain(t *testing.T) {
	measuring(t, `
  const Launch first = does(512);
  int times = 0;
  ms = 0, cost = [&](Launch l) { return l == first ? ++times < 50 ? 0.02 : 0.01 : 0.015; };
  WANT(!measured(512) && times > 70 && does(512) == first);
`)
}

// TestGridsAreUsedWhileTheyAreMeasured: by the choice that was.
func TestGridsAreUsedWhileTheyAreMeasured(t *testing.T) {
	measuring(t, `
  const Launch first = does(512);
  const char *was = jacobi3dVariant(512, 512, 512);
  int others = 0;
  cost = [&](Launch l) { return others += jacobi3dVariant(512, 512, 512) != was, l == first ? 1 : 0.01; };
  ms = 0;
  WANT(!measured(512) && others == 0 && !(does(512) == first));
`)
}

// TestMeasuringTriesEachKernelOnce: those that several winners share, too.
func TestMeasuringTriesEachKernelOnce(t *testing.T) {
	measuringOf(t, several(t), `
  std::vector<Launch> tried; // the first stage of each
  refused = [&](Launch l) { return tried.push_back(l), 701; };
  WANT(measured(500) == 701 && tried.size() > 20);
  for (size_t i = 0; i < tried.size(); i++)
    for (size_t j = 0; j < i; j++) WANT(!(tried[i] == tried[j]));
`)
}
