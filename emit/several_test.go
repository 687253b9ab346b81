package emit

import (
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"stenciltune/machine"
	"stenciltune/stencil"
)

// several is jacobi3d tuned on two devices, on one of them for three grids.
func several(t testing.TB) Source {
	l4 := machine.Machine{Kind: machine.CUDA, Name: "NVIDIA L4", ComputeCapability: "8.9", Driver: "570.1", CUDAVersion: "12.8", Compiler: "NVRTC 12.8", SMs: 58, MemoryBytes: 24 << 30}
	const small, odd = "stream/vx=2/vy=2/wp=4/ck=2/pf=1/mb=1/ph=2", "stream/vx=4/vy=2/wp=2/ck=1/pf=1/mb=1/ph=1"
	s := sourceOf(t, "jacobi3d", stencil.Float32, stencil.Size{512, 512, 512}, streamed, h200)
	for _, c := range []Source{
		sourceOf(t, "jacobi3d", stencil.Float32, stencil.Size{128, 128, 128}, small, h200),
		sourceOf(t, "jacobi3d", stencil.Float32, stencil.Size{1023, 301, 77}, odd, h200),
		sourceOf(t, "jacobi3d", stencil.Float32, stencil.Size{512, 512, 512}, streamed, l4), // the same kernels
		sourceOf(t, "jacobi3d", stencil.Float32, stencil.Size{128, 128, 128}, tiled, l4),
	} {
		s.Configs = append(s.Configs, c.Configs...)
	}
	return s
}

// device is what the stand-in for CUDA tells of itself.
type fakeDevice struct {
	Name       string `json:"name"`
	Capability int    `json:"capability"`
	SMs        int    `json:"sms"`
	Shared     int    `json:"shared"` // bytes a block may have
}

// choice is a grid on a device, and what must do it.
type choice struct {
	device fakeDevice
	n      [3]int
	want   string
}

var chosen = []choice{
	{fakeDevice{"NVIDIA H200", 90, 132, 227 << 10}, [3]int{512, 512, 512}, "ph=3: the tuned schedule; tuned for 512x512x512 on NVIDIA H200, where it reached 1073.7 GCells/s"},
	{fakeDevice{"NVIDIA H200", 90, 132, 227 << 10}, [3]int{511, 512, 512}, "ph=3: tiles of another shape, for grids that they fit better; the other was tuned for 512x512x512 on NVIDIA H200"},
	{fakeDevice{"NVIDIA H200", 90, 132, 227 << 10}, [3]int{130, 128, 130}, "ph=2: the tuned schedule; tuned for 128x128x128 on NVIDIA H200"},
	{fakeDevice{"NVIDIA H200", 90, 132, 227 << 10}, [3]int{900, 300, 81}, "ph=1: tiles of another shape, for grids that they fit better; the other was tuned for 1023x301x77 on NVIDIA H200"},
	{fakeDevice{"NVIDIA H200", 90, 132, 227 << 10}, [3]int{1023, 301, 77}, "ph=1: the tuned schedule; tuned for 1023x301x77 on NVIDIA H200"},
	{fakeDevice{"NVIDIA H200", 90, 132, 227 << 10}, [3]int{1001, 500, 300}, "tuned for 1023x301x77 on NVIDIA H200"}, // rows of any length
	{fakeDevice{"NVIDIA H200", 90, 132, 227 << 10}, [3]int{1000, 500, 300}, "tuned for 512x512x512 on NVIDIA H200"},
	{fakeDevice{"NVIDIA H200", 90, 132, 227 << 10}, [3]int{1300, 1300, 1300}, "ph=3: the same for grids of 2^31 cells and more; tuned for 512x512x512 on NVIDIA H200"},
	{fakeDevice{"NVIDIA H200", 90, 132, 227 << 10}, [3]int{2, 2, 2}, "ph=3: the tuned schedule; tuned for 128x128x128 on NVIDIA L4"}, // whose tiles need no least extents
	{fakeDevice{"NVIDIA L4", 89, 58, 99 << 10}, [3]int{512, 512, 512}, "ph=3: the tuned schedule; tuned for 512x512x512 on NVIDIA L4"},
	{fakeDevice{"NVIDIA L4", 89, 58, 99 << 10}, [3]int{100, 130, 127}, "ph=3: the tuned schedule; tuned for 128x128x128 on NVIDIA L4"},
	{fakeDevice{"NVIDIA L40", 89, 142, 99 << 10}, [3]int{512, 512, 512}, "on NVIDIA L4,"},                          // the nearest compute capability
	{fakeDevice{"NVIDIA H100", 90, 114, 227 << 10}, [3]int{128, 128, 128}, "tuned for 128x128x128 on NVIDIA H200"}, // of it
	{fakeDevice{"Tesla V100", 70, 80, 96 << 10}, [3]int{512, 512, 512}, "on NVIDIA L4,"},
	{fakeDevice{"Tesla V100", 70, 80, 96 << 10}, [3]int{1 << 30, 2, 2}, "sp=1: for every grid"}, // no tile fits, and indices are long
}

// TestWinnersOfSeveralDevicesAndSizes asks what is chosen among several configs, and counts what the launcher asks of the driver:
// the second time it is told, and by many threads at once.
func TestWinnersOfSeveralDevicesAndSizes(t *testing.T) {
	s := several(t)
	// What is known costs one question: which device it is. Of 7 steps two launches are of three, one of one.
	if last, want := choose(t, s, chosen, nil), "asked 1 to choose, 1 and 3 launches to run; 8 threads agree"; last != want {
		t.Errorf("%s, want %s", last, want)
	}
}

// TestShapesOfTilesSuitTheGrid asks what is chosen on both sides of the borders where a shape's tiles need one more on an axis,
// or blocks one more round.
func TestShapesOfTilesSuitTheGrid(t *testing.T) {
	device := fakeDevice{"NVIDIA H200", 90, 132, 227 << 10}
	const tuned, flatter = "vy=8/wp=8/ck=3/pf=4/mb=1/ph=4/pm=1: the ", "vy=6/wp=8/ck=1/pf=4/mb=1/ph=4/pm=1: tiles of"
	list := []choice{
		{device, [3]int{512, 512, 512}, "vx=2/" + tuned},     // as it was tuned
		{device, [3]int{2047, 120, 1025}, "vx=2/" + tuned},   // two rows of tiles
		{device, [3]int{2047, 121, 1025}, "vx=2/" + flatter}, // which are not enough
		{device, [3]int{2047, 128, 1025}, "vx=2/" + flatter}, // three of both
		{device, [3]int{2047, 129, 1025}, "vx=2/" + tuned},
		{device, [3]int{511, 511, 511}, "vx=2/" + tuned},
		{device, [3]int{513, 513, 513}, "vx=2/" + flatter},
		{device, [3]int{48, 2048, 512}, "vx=1/vy=6/wp=12/ck=1/pf=4/mb=1/ph=4/pm=1: tiles of"},
		{device, [3]int{48, 64, 512}, "vx=1/vy=8/wp=8/ck=3/pf=4/mb=1/ph=4/pm=1: narrower"},
		{device, [3]int{2047, 129, 16400}, "vx=2/" + tuned}, // 2^31 cells and more
	}
	choose(t, sourceOf(t, "jacobi3d", stencil.Float32, stencil.Size{512, 512, 512}, "stream/vx=2/vy=8/wp=8/ck=3/pf=4/mb=1/ph=4/pm=1", h200), list, emptied)
}

// TestChoiceIsByTheTimeOfAStep: of kernels that make different numbers of steps a launch, the one that takes least for each of them. What that is
// is what a step is expected to take.
func TestChoiceIsByTheTimeOfAStep(t *testing.T) {
	if testing.Short() {
		t.Skip("compiles a source")
	}
	if os.Getenv("TUNE_NVCC") != "" {
		t.Skip("needs the emulation's nvcc")
	}
	s := sourceOf(t, "gradient2d", stencil.Float32, stencil.Size{16384, 16384, 1}, "stream/vx=8/vy=1/wp=1/ck=8/pf=4/mb=1/ph=6/sm=132/pm=1", card())
	s.Name = "jacobi3d" // as choose.py calls it
	reckoned, ok := s.shape(s.Configs[0], s.Problem, mustSchedule(t, s.Configs[0].Schedule.Text))
	if !ok {
		t.Fatal("no shape")
	}
	s.Configs[0].Measured.SecondsPerStep = reckoned.on(s.Problem) // so that no shape is favoured
	list, variants, err := s.parts(true)
	if err != nil {
		t.Fatal(err)
	}
	var calls, cases, want strings.Builder
	for _, g := range []stencil.Size{{16384, 16384, 1}, {1024, 1024, 1}, {1920, 1080, 1}, {2561, 2129, 1}, {4096, 4096, 1}, {4097, 4096, 1}, {1448, 12637, 1}, {12000, 700, 1}, {50000, 45000, 1}} {
		least, text := 0.0, ""
		for _, v := range variants {
			k := list[v.Kernels[0]]
			if wide := g.Cells() >= 1<<31-1<<24; wide != (k.Most == 0) { // 64-bit indices are for these alone
				continue
			}
			if v.Cost == 0 || g[0] < k.Least[0] || g[1] < k.Least[1] || g[0]%k.Multiple != 0 {
				continue
			}
			_, steps := k.Tiling.Cut(g, g[1], v.AtOnce*h200.SMs)
			if time := float64(v.Cost) * float64(steps) / float64(k.Launch.Steps); least == 0 || time < least {
				least, text = time, v.Text
			}
		}
		if g == s.Problem.Size {
			least = 1e12 * s.Configs[0].Measured.SecondsPerStep
		}
		fmt.Fprintf(&calls, "  printf(\"%%s %%.6g\\n\", jacobi3dVariant(%d, %d), jacobi3dExpected(%[1]d, %[2]d));\n", g[0], g[1])
		fmt.Fprintf(&cases, "NVIDIA_H200 90 132 %d %d %d\n", 227<<10, g[0], g[1])
		fmt.Fprintf(&want, "%s %.6g\n", text, 1e-12*least)
	}
	dir := t.TempDir()
	source, err := Text("cu", s)
	if err != nil {
		t.Fatal(err)
	}
	write(t, dir, "choose.cu", countedRuntime+string(emptied(t, source))+`
int main() {
  strcpy(fake.name, "NVIDIA H200");
  fake.major = 9, fake.multiProcessorCount = 132, shared_limit = 227 << 10;
`+calls.String()+`  fake.multiProcessorCount = 114, fake_number++; // another one: what is not known there
  return jacobi3dExpected(4096, 4096) != 0;
}
`)
	build(t, dir, nvccOf(t), "-std=c++17", "-O0", "-o", "choose", "choose.cu")
	emitted(t, dir, "jacobi3d.py", "python", s)
	write(t, dir, "cases", cases.String())
	for who, got := range map[string]string{"launcher": build(t, dir, filepath.Join(dir, "choose")), "module": build(t, "testdata", tool(t, "python3"), "-B", "choose.py", dir, "times")} {
		if got != want.String() {
			t.Errorf("the %s chooses\n%swant\n%s", who, got, &want)
		}
	}
}

// choose asks the launcher and the Python module of a source, on stand-ins for CUDA, what they choose, and answers the
// launcher's last line. Of the source only what without leaves is compiled, all if it is nil.
func choose(t *testing.T, s Source, list []choice, without func(*testing.T, []byte) []byte) string {
	t.Helper()
	if testing.Short() {
		t.Skip("compiles a source")
	}
	if os.Getenv("TUNE_NVCC") != "" {
		t.Skip("needs the emulation's nvcc")
	}
	text, err := Text("cu", s)
	if err != nil {
		t.Fatal(err)
	}
	for _, entry := range regexp.MustCompile(`(?m)^#define ENTRY \w+$`).FindAllString(string(text), -1) {
		if n := strings.Count(string(text), entry+"\n"); n != 1 {
			t.Errorf("%s stands there %d times", entry, n)
		}
	}
	if without != nil {
		text = without(t, text)
	}
	dir := t.TempDir()
	var calls, cases strings.Builder
	for _, c := range list {
		fmt.Fprintf(&calls, "  choice(%q, %d, %d, %d, %d, %d, %d);\n", c.device.Name, c.device.Capability, c.device.SMs, c.device.Shared, c.n[0], c.n[1], c.n[2])
		fmt.Fprintf(&cases, "%s %d %d %d %d %d %d\n", strings.ReplaceAll(c.device.Name, " ", "_"), c.device.Capability, c.device.SMs, c.device.Shared, c.n[0], c.n[1], c.n[2])
	}
	write(t, dir, "choose.cu", countedRuntime+string(text)+strings.ReplaceAll(choosingMain, "CHOICES", calls.String()))
	build(t, dir, nvccOf(t), "-std=c++17", "-O0", "-o", "choose", "choose.cu")
	lines := strings.Split(strings.TrimSpace(build(t, dir, filepath.Join(dir, "choose"))), "\n")
	emitted(t, dir, "jacobi3d.py", "python", s)
	write(t, dir, "cases", cases.String())
	module := strings.Split(strings.TrimSpace(build(t, "testdata", tool(t, "python3"), "-B", "choose.py", dir)), "\n")
	if len(lines) != len(list)+1 || len(module) != len(list) {
		t.Fatalf("%d and %d lines:\n%s\n%s", len(lines), len(module), strings.Join(lines, "\n"), strings.Join(module, "\n"))
	}
	for i, c := range list {
		if !strings.Contains(lines[i], c.want) {
			t.Errorf("%v on %s: %s, want %s", c.n, c.device.Name, lines[i], c.want)
		}
		if lines[i] != module[i] {
			t.Errorf("%v on %s: the launcher\n%s\nthe module\n%s", c.n, c.device.Name, lines[i], module[i])
		}
	}
	return lines[len(list)]
}

// countedRuntime precedes an emitted source: it is a device of the test's, and counts what it is asked.
const countedRuntime = `#include <cuda_runtime.h>
#include <atomic>
#include <stdio.h>
#include <string>
#include <string.h>
#include <thread>
#include <vector>
static std::atomic<int> asked, launched;
static cudaDeviceProp fake;
static int fake_number, shared_limit;
#undef TUNE_KERNEL
#define TUNE_KERNEL(kernel) kernel
#define cudaLaunchKernel(...) (launched++, cudaSuccess)
#define cudaGetDevice(n) (asked++, *(n) = fake_number, cudaSuccess)
#define cudaGetDeviceProperties(p, n) (asked++, *(p) = fake, cudaSuccess)
#define cudaFuncSetAttribute(k, a, bytes) (asked++, (bytes) <= shared_limit ? cudaSuccess : cudaErrorInvalidValue)
#define cudaOccupancyMaxActiveBlocksPerMultiprocessor(b, k, t, s) (asked++, *(b) = 1, cudaSuccess)
#define cudaGetLastError() (asked++, cudaSuccess)
`

// choosingMain prints what is chosen for CHOICES, each on a device of its own, and then what the last choice costs.
const choosingMain = `
static void choice(const char *name, int capability, int sms, int shared, int nx, int ny, int nz) {
  fake_number++, shared_limit = shared;
  memset(&fake, 0, sizeof fake);
  strcpy(fake.name, name);
  fake.major = capability / 10, fake.minor = capability % 10, fake.multiProcessorCount = sms;
  puts(jacobi3dVariant(nx, ny, nz));
}
int main() {
CHOICES  strcpy(fake.name, "NVIDIA H200");
  fake.major = 9, fake.minor = 0, fake.multiProcessorCount = 132, fake_number++, shared_limit = 227 << 10;
  float *a = (float *)(1LL << 40), *b = (float *)(2LL << 40), *result;
  jacobi3dVariant(700, 512, 512);
  asked = 0;
  jacobi3dVariant(700, 512, 512);
  const int to_choose = asked;
  fake.multiProcessorCount = 0, fake_number++; // as where the device cannot be asked
  jacobi3dVariant(700, 512, 512);
  fake.multiProcessorCount = 132, fake_number++;
  jacobi3dVariant(700, 512, 512);
  for (int n : {0, -1, 1 << 30})
    if (!strstr(jacobi3dVariant(512, n, 1 << 22), "none: ")) return puts(jacobi3dVariant(512, n, 1 << 22)), 3;
  asked = launched = 0;
  if (jacobi3dOnDevice(a, b, 700, 512, 512, 7, &result, 0)) return 1;
  printf("asked %d to choose, %d and %d launches to run; ", to_choose, (int)asked, (int)launched);
  for (int pass = 0; pass < 2; pass++) { // as on a host of 8 GPUs, each with the slab of its part and those of its edges
    asked = 0;
    for (fake_number = 100; fake_number < 108; fake_number++)
      for (int planes = 10; planes < 50; planes += 10) jacobi3dVariant(512, 512, planes);
  }
  if (asked != 32) return printf("asked %d for what was chosen before\n", (int)asked), 2;
  std::vector<std::string> want;
  for (int i = 0; i < 40; i++) want.push_back(jacobi3dVariant(100 + 30 * i, 128 + i, 300));
  std::atomic<int> wrong(0);
  std::vector<std::thread> threads;
  for (int t = 0; t < 8; t++)
    threads.emplace_back([&, t] {
      for (int i = 0; i < 2000; i++) {
        const int g = (i * (t + 1)) % 40;
        if (want[g] != jacobi3dVariant(100 + 30 * g, 128 + g, 300)) wrong++;
      }
    });
  for (std::thread &t : threads) t.join();
  printf(wrong ? "threads were told %d times otherwise\n" : "8 threads agree\n", (int)wrong);
}
`

// TestSeveralWinnersCompile: by nvcc, for the oldest devices that are known and for the tuned ones.
func TestSeveralWinnersCompile(t *testing.T) {
	if os.Getenv("TUNE_NVCC") == "" {
		t.Skip("TUNE_NVCC is not set")
	}
	dir := t.TempDir()
	emitted(t, dir, "jacobi3d.cu", "cu", several(t))
	for _, arch := range []string{"70", "89", "90"} {
		if out := build(t, dir, nvccOf(t), "-std=c++17", "-O1", "-Xptxas", "-O0", "-Xcompiler", "-Wall,-Wextra", "-arch=sm_"+arch, "-c", "jacobi3d.cu"); strings.Contains(out, "warning") {
			t.Errorf("sm_%s: %s", arch, out)
		}
	}
}
