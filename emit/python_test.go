package emit

import (
	"bytes"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"stenciltune/kernels"
	"stenciltune/stencil"
)

// recorder precedes an emitted source: its launches are then printed, and nothing runs.
const recorder = `#include <cuda_runtime.h>
#include <stdio.h>
#include <string.h>
#undef TUNE_KERNEL
#define TUNE_KERNEL(kernel) #kernel, kernel
#define cudaLaunchKernel record
#define cudaGetDeviceProperties(p, device) (strcpy((p)->name, "NVIDIA H200"), (p)->major = 9, (p)->minor = 0, (p)->multiProcessorCount = 132, (p)->l2CacheSize = 1 << 16, cudaSuccess)
static void print(const void *v) { printf(" %llx", (unsigned long long)v); }
static void print(int v) { printf(" %d", v); }
static void print(long long v) { printf(" %lld", v); }
static void print(double v) {
  unsigned long long bits;
  memcpy(&bits, &v, 8);
  printf(" %016llx", bits);
}
template <class... A, size_t... I> void print_all(void (*)(A...), void **args, std::index_sequence<I...>) { (print(*(A *)args[I]), ...); }
template <class... A> cudaError_t record(const char *name, void (*kernel)(A...), dim3 grid, dim3 block, void **args, size_t shared, cudaStream_t stream) {
  if ((size_t)stream != 7) return cudaErrorInvalidValue;
  printf("%s %u %u %u %u %u %u %d", strrchr(name, ':') + 1, grid.x, grid.y, grid.z, block.x, block.y, block.z, (int)shared);
  print_all(kernel, args, std::index_sequence_for<A...>());
  puts("");
  return cudaSuccess;
}
`

// recordedCase is a run whose launches are compared.
type recordedCase struct {
	Module  string    `json:"module"`
	N       []int     `json:"n"`
	Steps   int       `json:"steps"`
	Lengths []int64   `json:"lengths"`
	Lists   [][2]int  `json:"lists"` // places, rows
	Scalars []float64 `json:"scalars"`
}

// call is the C++ for it, with the addresses that testdata/fakecuda.py gives.
func (c recordedCase) call(s Source) string {
	st, e := s.Problem.Stencil, exportsOf(s)
	var b strings.Builder
	fields := len(st.Fields)
	fmt.Fprintf(&b, "  {\n    %s *f[%d], *s[%[2]d], *r[%[2]d];\n    for (int i = 0; i < %[2]d; i++) f[i] = (%[1]s *)((1LL << 44) + ((long long)i << 36)), s[i] = (%[1]s *)((2LL << 44) + ((long long)i << 36));\n", e.Cell, fields)
	extents := strings.Trim(strings.ReplaceAll(fmt.Sprint(c.N[:st.Dims]), " ", ", "), "[]")
	fmt.Fprintf(&b, "    printf(\"%s [%s] %d: %%s\\n\", %[1]sVariant(%[4]s));\n", s.Name, strings.Trim(strings.ReplaceAll(fmt.Sprint(c.N), " ", ", "), "[]"), c.Steps, extents)
	args := "f, s"
	result := "r"
	if fields == 1 {
		args, result = "f[0], s[0]", "r"
	}
	for i, a := range st.ReadOnly {
		args += fmt.Sprintf(", (%s *)((3LL << 44) + (%dLL << 36))", e.Elements[i], i)
		if a.Indexed {
			args += fmt.Sprintf(", %d", c.Lengths[i])
		}
	}
	for i := range st.Sparse {
		args += fmt.Sprintf(", (long long *)((4LL << 44) + (%dLL << 36)), %d, (%s *)((4LL << 44) + (%dLL << 36)), %d", 2*i, c.Lists[i][0], e.Element, 2*i+1, c.Lists[i][1])
	}
	args += fmt.Sprintf(", %s, %d", extents, c.Steps)
	if st.Iterates() {
		args += ", 5"
	}
	for _, v := range c.Scalars {
		args += fmt.Sprintf(", %v", v)
	}
	fmt.Fprintf(&b, "    if (%sOnDevice(%s, %s, (void *)7)) return 1;\n    printf(\"result\");\n    for (int i = 0; i < %d; i++) print(r[i]);\n    puts(\"\");\n  }\n", s.Name, args, result, fields)
	return b.String()
}

// TestPythonModuleLaunchesWhatTheLauncherDoes compares, launch by launch, what the module asks of a stand-in
// for the driver with what the CUDA source asks of the runtime: blocks, shared memory and every argument.
func TestPythonModuleLaunchesWhatTheLauncherDoes(t *testing.T) {
	if testing.Short() {
		t.Skip("compiles several sources")
	}
	if os.Getenv("TUNE_NVCC") != "" {
		t.Skip("needs the emulation's nvcc")
	}
	python, nvcc := tool(t, "python3"), nvccOf(t)
	dir := t.TempDir()
	var source, calls, cases bytes.Buffer
	source.WriteString(recorder)
	for _, c := range []struct {
		stencil  string
		dtype    stencil.DType
		schedule string
		grids    [][]int
	}{
		{"jacobi3d", stencil.Float32, streamed, [][]int{{512, 512, 512}, {510, 300, 701}, {509, 701, 403}, {64, 20, 3000}, {64, 16, 40}, {128, 128, 128}, {128, 128, 129}, {1023, 301, 77}, {640, 640, 61}, {1290, 1290, 1290}, {1291, 1290, 1290}, {7, 5, 3}, {1, 1, 1}}},
		{"gaussian2d", stencil.Float32, "stream/vx=8/vy=1/wp=1/ck=2/pf=2/mb=1/ph=3/sm=3/pm=1", [][]int{{512, 512, 1}, {1000, 3000, 1}, {515, 80, 1}}},
		{"heat3d", stencil.Float32, "stream/vx=2/vy=8/wp=8/ck=2/pf=4/mb=1/ph=4/sm=132/pm=1", [][]int{{512, 512, 512}, {520, 512, 512}, {300, 301, 700}, {64, 64, 40}, {1, 1, 1}}},
		{"jacobi2d", stencil.Float32, columned, [][]int{{512, 512, 1}, {257, 45, 1}}},
		{"hotspot2d", stencil.Float32, tiles2d + "2", [][]int{{96, 24, 1}, {33, 7, 1}}},
		{"acoustic3d", stencil.Float32, "stream/vx=2/vy=4/wp=8/ck=3/pf=1/mb=1/ph=1", [][]int{{80, 240, 90}, {11, 7, 5}}},
		{"srad2", stencil.Float32, "tile/gx=32/gy=4/gz=1/wx=1/wy=2/wz=1/cw=0/zz=0/ph=2/fs=1", [][]int{{640, 24, 1}, {33, 7, 1}}},
		{"testdata/churn.sl", stencil.Float64, "tile/gx=32/gy=8/gz=1/wx=1/wy=1/wz=1/cw=0/zz=0/ph=2", [][]int{{96, 24, 1}, {33, 7, 1}}},
		{"testdata/crust.sl", stencil.Float32, "pipeline/vx=2/vy=1/wp=2/ck=4/pf=2/mb=1/ph=3", [][]int{{260, 50, 1}, {31, 5, 1}}},
		{"testdata/halves.sl", stencil.Float32, "stream/vx=2/vy=4/wp=4/ck=3/pf=1/mb=1/ph=2", [][]int{{80, 30, 9}, {33, 7, 5}}},
		{surveyFile, stencil.Float32, "pipeline/vx=2/vy=1/wp=2/ck=4/pf=1/mb=1/ph=3", [][]int{{512, 512, 1}, {33, 7, 1}}},
		{"testdata/ripple.sl", stencil.Uint16, "tile/gx=32/gy=4/gz=2/wx=1/wy=1/wz=1/cw=0/zz=0/ph=1", [][]int{{64, 8, 6}, {13, 7, 5}}},
	} {
		s := sourceOf(t, c.stencil, c.dtype, stencil.Size{512, 512, 512}, c.schedule, h200)
		if c.stencil == "jacobi3d" {
			s = several(t)
		}
		emitted(t, dir, s.Name+".py", "python", s)
		text, err := Text("cu", s)
		if err != nil {
			t.Fatal(err)
		}
		for _, planes := range []string{", int from_plane, int to_plane", ", &run.planes[0], &run.planes[1]"} { // the module's kernels always compute all
			text = bytes.ReplaceAll(text, []byte(planes), nil)
		}
		source.Write(emptied(t, text))
		for i, n := range c.grids {
			for _, steps := range []int{0, 1, 7} {
				one := recordedCase{Module: s.Name, N: n, Steps: steps, Lengths: []int64{}, Lists: [][2]int{}, Scalars: []float64{}}
				if len(s.Problem.Stencil.Sparse) > 0 { // lists that end within the run, one with more places than threads; one without any
					one.Lists = [][][2]int{{{301, 7}, {200000, 100}}, {{0, 0}, {5, 6}}}[i]
				}
				for _, a := range s.Problem.Stencil.ReadOnly {
					one.Lengths = append(one.Lengths, s.Problem.Resized(stencil.Size(n)).Size.Cells())
					if a.Indexed {
						one.Lengths[len(one.Lengths)-1] = 77
					}
				}
				for _, a := range s.Problem.Stencil.Scalars {
					v := 3.0
					if a.Type.Floating() {
						v = 0.1 // which float32 rounds
					}
					one.Scalars = append(one.Scalars, v)
				}
				calls.WriteString(one.call(s))
				line, err := json.Marshal(one)
				if err != nil {
					t.Fatal(err)
				}
				cases.Write(append(line, '\n'))
			}
		}
	}
	fmt.Fprintf(&source, "int main() {\n%s  return 0;\n}\n", calls.String())
	write(t, dir, "record.cu", source.String())
	build(t, dir, nvcc, "-std=c++17", "-O0", "-o", "record", "record.cu")
	want := build(t, dir, filepath.Join(dir, "record"))
	fake, err := filepath.Abs("testdata/fakecuda.py")
	if err != nil {
		t.Fatal(err)
	}
	cmd := exec.Command(python, "-B", fake, dir)
	cmd.Stdin = &cases
	out, err := cmd.CombinedOutput()
	if err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	wants, gots := strings.Split(want, "\n"), strings.Split(string(out), "\n")
	if len(wants) < 100 {
		t.Errorf("only %d launches were compared", len(wants))
	}
	for i := range max(len(wants), len(gots)) {
		if i >= len(wants) || i >= len(gots) || wants[i] != gots[i] {
			t.Fatalf("line %d of %d: the launcher\n%s\nthe module\n%s", i+1, len(wants), strings.Join(wants[max(0, i-2):min(i+1, len(wants))], "\n"), strings.Join(gots[max(0, i-2):min(i+1, len(gots))], "\n"))
		}
	}
}

// TestPythonModuleChecksItsArrays gives the module arrays that it must refuse, and some by DLPack.
func TestPythonModuleChecksItsArrays(t *testing.T) {
	python := tool(t, "python3")
	dir := t.TempDir()
	s := sourceOf(t, "jacobi3d", stencil.BFloat16, stencil.Size{512, 512, 512}, streamed, h200)
	emitted(t, dir, "jacobi3d.py", "python", s)
	emitted(t, dir, "crust.py", "python", sourceOf(t, "testdata/crust.sl", stencil.Float32, stencil.Size{512, 512, 1}, "pipeline/vx=2/vy=1/wp=2/ck=4/pf=2/mb=1/ph=3", h200))
	emitted(t, dir, "survey.py", "python", sourceOf(t, surveyFile, stencil.Float32, stencil.Size{512, 512, 1}, tiles2d+"1", h200))
	out := build(t, "testdata", python, "-B", "checks.py", dir)
	if !strings.Contains(out, "['1000', '100000'] ") {
		t.Errorf("the launch had other arrays: %s", out)
	}
}

func TestPythonRefusals(t *testing.T) {
	s := sourceOf(t, "testdata/drift.sl", stencil.Float64, stencil.Size{512, 512, 1}, tiles2d+"1", h200)
	if _, err := Text("python", s); err == nil || !strings.Contains(err.Error(), "has Until") {
		t.Errorf("a stencil with Until: %v", err)
	}
	for name, want := range map[string]string{"lambda": "lambda_", "steps": "steps_", "alpha": "alpha"} {
		if got := pythonName(name); got != want {
			t.Errorf("%s is %s, want %s", name, got, want)
		}
	}
}

// TestAnImageIsLaunchedByItsDocument runs the example that reads FILE.json on the stand-in for the driver.
func TestAnImageIsLaunchedByItsDocument(t *testing.T) {
	python := tool(t, "python3")
	dir := t.TempDir()
	s := sourceOf(t, "jacobi3d", stencil.Float32, stencil.Size{96, 40, 30}, streamed, h200)
	image, err := ImageOf(s)
	if err != nil {
		t.Fatal(err)
	}
	write(t, dir, "jacobi3d.cubin", "image")
	write(t, dir, "jacobi3d.cubin.json", string(image.Geometry))
	write(t, dir, "run.py", `import ctypes, json, runpy, sys
sys.path.insert(0, sys.argv[1])
import fakecuda
fake = fakecuda.Fake()
kernels = json.load(open("jacobi3d.cubin.json"))["kernels"]
fake.source, fake.passes = json.dumps(kernels), {k["entry"]: ["now[0]", "next[0]", "n[0]", "n[1]", "n[2]"] for k in kernels}
held = iter([4096, 8192])
def allocate(address, size):
    address._obj.value = next(held)
    fake.memory[address._obj.value] = size.value
    return 0
fake.cuMemAlloc_v2 = allocate
ctypes.CDLL = lambda name: fake
sys.argv = [sys.argv[2], "jacobi3d.cubin", "8"]
try:
    runpy.run_path(sys.argv[0], run_name="__main__")
finally:
    print("\n".join(fake.lines))
`)
	here, err := filepath.Abs("testdata")
	if err != nil {
		t.Fatal(err)
	}
	example, err := filepath.Abs("../examples/driver/heat.py")
	if err != nil {
		t.Fatal(err)
	}
	out := build(t, dir, python, "-B", "run.py", here, example)
	k := image.Kernel
	launch := func(entry string, l kernels.Launch, from, to string) string {
		text := fmt.Sprintf("%s %v %v %d %s %s 96 40 30\n", entry, l.Grid, l.Block, l.SharedBytes, from, to)
		return strings.NewReplacer("[", "", "]", "").Replace(text)
	}
	want := launch(k.Entry, k.Launch, "1000", "2000") + launch(k.Entry, k.Launch, "2000", "1000")
	if _, launches, _ := strings.Cut(out, "\n"); !strings.HasPrefix(launches, want) || strings.Count(launches, "\n") != 4 {
		t.Errorf("8 steps of 3 a launch:\n%swant first\n%s", launches, want)
	}
}

// TestPythonExample runs it with stand-ins for CuPy and the driver: its calls, not its answer.
func TestPythonExample(t *testing.T) {
	python := tool(t, "python3")
	dir := t.TempDir()
	emitted(t, dir, "jacobi3d.py", "python", sourceOf(t, "jacobi3d", stencil.Float32, stencil.Size{512, 512, 512}, streamed, h200))
	example, err := filepath.Abs("../examples/python/heat.py")
	if err != nil {
		t.Fatal(err)
	}
	out := build(t, "testdata", python, "-B", "fakecupy.py", dir, example)
	if !strings.Contains(out, "the tuned schedule; tuned for 512x512x512 on NVIDIA H200, where it reached 1073.7 GCells/s\nlargest error 0\nseconds_per_step ") || !strings.HasSuffix(out, "\n334 launches\n") { // 333 of 3 steps and one
		t.Error(out)
	}
}
