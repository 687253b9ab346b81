package emit

import (
	"bytes"
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"

	"stenciltune/cache"
	"stenciltune/internal/golden"
	"stenciltune/kernels/all"
	"stenciltune/machine"
	"stenciltune/search"
	"stenciltune/space/spacetest"
	"stenciltune/stencil"
	"stenciltune/stencil/stenciltest"
	"stenciltune/study/matmul"
	"stenciltune/timing"
)

// h200 and a100 are two devices, as far as configs tell of them.
var (
	h200 = machine.Machine{Kind: machine.CUDA, Name: "NVIDIA H200", ComputeCapability: "9.0", Driver: "580.159.04", CUDAVersion: "13.0", Compiler: "NVRTC 13.0", SMs: 132, MemoryBytes: 150_110_011_392}
	a100 = machine.Machine{Kind: machine.CUDA, Name: "NVIDIA A100-SXM4-80GB", ComputeCapability: "8.0", Driver: "570.1", CUDAVersion: "12.8", Compiler: "NVRTC 12.8", SMs: 108, MemoryBytes: 85_899_345_920}
)

// sourceOf is a tuned stencil with a real schedule and invented times.
func sourceOf(t testing.TB, name string, dtype stencil.DType, n stencil.Size, schedule string, m machine.Machine) Source {
	t.Helper()
	if filepath.Ext(name) == ".sl" {
		return sourceOfStencil(t, stenciltest.File(t, name), dtype, n, schedule, m)
	}
	return sourceOfStencil(t, stenciltest.Lookup(t, name), dtype, n, schedule, m)
}

func sourceOfStencil(t testing.TB, st *stencil.Stencil, dtype stencil.DType, n stencil.Size, schedule string, m machine.Machine) Source {
	t.Helper()
	name := Name(st.Name)
	for a := st.Dims; a < 3; a++ {
		n[a] = 1
	}
	p := stencil.Problem{Stencil: st, DType: dtype, Size: n, Steps: 1000}
	sc := spacetest.Schedule(t, schedule)
	s := Source{Name: name, Problem: p, Families: all.Families()}
	c := cache.Config{
		Format: cache.ConfigFormat, Tool: cache.ToolInfo{Name: "tune", Version: "0.1.0"},
		Stencil: cache.StencilInfo{Name: name, Hash: st.Hash, DType: string(dtype), Dims: st.Dims, Points: len(st.Points), Radius: 1, Boundary: string(st.Boundary)},
		Problem: cache.ProblemInfo{Size: n[:st.Dims], Steps: 1000}, Device: cache.DeviceOf(m),
		Toolchain: cache.ToolchainInfo{Compiler: m.Compiler, CUDA: m.CUDAVersion}, Schedule: cache.ScheduleOf(sc),
		Launch:   cache.LaunchInfo{Grid: [3]int{9, 9, 8}, Block: [3]int{32, 16, 1}, SharedBytes: 65536, StepsPerLaunch: sc.Int("ph", 1)},
		Kernel:   cache.KernelInfo{Entry: name + "_0123abcd", SourceHash: strings.Repeat("cd", 32), Registers: 40},
		Measured: cache.MeasuredInfo{SecondsPerStep: 1.25e-4, Low: 1.24e-4, High: 1.26e-4, Samples: 50, CellsPerSecond: 1.07e12, Regime: timing.Warm},
		Baseline: &cache.BaselineInfo{Schedule: anySize, SecondsPerStep: 5e-4},
		Ties:     []cache.Tie{{Schedule: schedule, SecondsPerStep: 1.26e-4}},
		Search:   cache.SearchInfo{Strategy: "bayes", Evaluated: 10, Space: 100, RawSpace: 1000, Stop: search.Stall, Complete: true},
		Match:    cache.MatchInfo{Grade: cache.Exact}, Time: time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC),
	}
	if 1000%c.Launch.StepsPerLaunch != 0 {
		c.Remainder = &cache.RemainderInfo{Schedule: cache.ScheduleOf(sc.With("ph", 1)),
			Launch: cache.LaunchInfo{Grid: [3]int{8, 8, 8}, Block: [3]int{32, 16, 1}, StepsPerLaunch: 1},
			Kernel: cache.KernelInfo{Entry: name + "_4567ef01", SourceHash: strings.Repeat("ef", 32)}}
	}
	s.Configs = []cache.Config{c}
	if _, err := cache.Encode(c); err != nil {
		t.Fatal(err)
	}
	return s
}

const (
	streamed = "stream/vx=2/vy=4/wp=4/ck=3/pf=1/mb=1/ph=3"
	tiled    = "tile/gx=32/gy=4/gz=1/wx=1/wy=2/wz=2/cw=0/zz=0/ph=3"
	tiles2d  = "tile/gx=32/gy=4/gz=1/wx=1/wy=2/wz=1/cw=0/zz=0/ph="
	columned = "tile/gx=32/gy=4/gz=1/wx=1/wy=2/wz=1/cw=64/zz=1/ph=1"
)

// two is one stencil on two devices.
func two(t testing.TB) Source {
	s := sourceOf(t, "jacobi3d", stencil.Float32, stencil.Size{512, 512, 512}, streamed, h200)
	other := sourceOf(t, "jacobi3d", stencil.Float32, stencil.Size{512, 512, 512}, tiled, a100).Configs[0]
	other.Launch.SharedBytes = 20480
	s.Configs = append(s.Configs, other)
	return s
}

// TestTextsAreTheSameEverywhere holds every form against its golden file, which is
// the same on every platform.
func TestTextsAreTheSameEverywhere(t *testing.T) {
	one := two(t)
	one.Configs = one.Configs[:1]
	for _, f := range Formats() {
		s := one
		if f.Name == "header" {
			s = two(t)
		}
		text, err := Text(f.Name, s)
		if err != nil {
			t.Errorf("%s: %v", f.Name, err)
			continue
		}
		if f.Name == "cu" { // the kernels have goldens of their own
			_, launcher, _ := strings.Cut(string(text), "launcher\"\n")
			text = []byte(launcher)
		}
		if f.Name == "python" {
			table, _, _ := strings.Cut(string(text), "# The kernels' sources")
			text = []byte(table)
		}
		golden.Check(t, "jacobi3d."+f.Name, text)
	}
	image, err := ImageOf(one)
	if err != nil {
		t.Fatal(err)
	}
	var geometry struct{ Kernels []struct{ Entry string } }
	if err := json.Unmarshal(image.Geometry, &geometry); err != nil || len(geometry.Kernels) != 3 || geometry.Kernels[0].Entry != image.Kernel.Entry {
		t.Errorf("%v %+v", err, geometry)
	}
	for _, k := range geometry.Kernels {
		if !strings.Contains(image.Kernel.Source, "#define ENTRY "+k.Entry+"\n") {
			t.Errorf("kernel %s is not in the image", k.Entry)
		}
	}
	module, err := Text("python", one)
	if err != nil {
		t.Fatal(err)
	}
	for _, text := range []string{image.Kernel.Source, string(module)} { // what compiles them finds kernels by name
		if strings.Contains(text, "static __global__") || !strings.Contains(text, `extern "C" __global__`) {
			t.Error("kernels have no names of C")
		}
	}
}

// TestImageOfSeveralStages holds the geometry of a stencil with all that kernels take
// against its golden file, and of one with Until what launches it.
func TestImageOfSeveralStages(t *testing.T) {
	for _, c := range []struct {
		name     string
		dtype    stencil.DType
		schedule string
	}{
		{"acoustic3d", stencil.Float32, "stream/vx=2/vy=4/wp=8/ck=3/pf=1/mb=1/ph=1"},
		{"testdata/ripple.sl", stencil.Uint16, "tile/gx=32/gy=4/gz=2/wx=1/wy=1/wz=1/cw=0/zz=0/ph=1"},
		{"testdata/drift.sl", stencil.Float64, tiles2d + "2/fs=1"},
	} {
		s := sourceOf(t, c.name, c.dtype, stencil.Size{512, 512, 512}, c.schedule, h200)
		image, err := ImageOf(s)
		if err != nil {
			t.Fatal(err)
		}
		golden.Check(t, s.Name+".geometry", image.Geometry)
		for _, format := range []string{"cu", "header"} { // of the header what it declares
			text, err := Text(format, s)
			if err != nil {
				t.Fatal(err)
			}
			_, from, _ := strings.Cut(string(text), map[string]string{"cu": "launcher\"\n", "header": "extern \"C\" {\n"}[format])
			if format == "header" {
				from, _, _ = strings.Cut(from, "}")
			}
			golden.Check(t, s.Name+"."+format, []byte(from))
		}
	}
}

func TestOrderOfDevicesDoesNotMatter(t *testing.T) {
	s := two(t)
	a, err := Text("header", s)
	if err != nil {
		t.Fatal(err)
	}
	s.Configs[0], s.Configs[1] = s.Configs[1], s.Configs[0]
	if b, err := Text("header", s); err != nil || !bytes.Equal(a, b) {
		t.Errorf("the header depends on the order of configs: %v", err)
	}
}

func TestRefusals(t *testing.T) {
	good := two(t)
	unknown := func(s *Source) { s.Configs, s.Problem.Stencil = s.Configs[:1], nil }
	for _, c := range []struct {
		format, want string
		change       func(*Source)
	}{
		{"make", "holds one config and 2 were given", func(*Source) {}},
		{"header", "two configs of NVIDIA H200", func(s *Source) { s.Configs[1] = s.Configs[0] }},
		{"header", "different stencils", func(s *Source) { s.Configs[1].Stencil.DType = "float64" }},
		{"header", "no config", func(s *Source) { s.Configs = nil }},
		{"wisdom", "one family", func(*Source) {}},
		{"json", "want letters", func(s *Source) { s.Name = "a-b" }},
		{"json", "is a word of C", func(s *Source) { s.Name = "double" }},
		{"header", "is a word of C", func(s *Source) { s.Name = "std" }},    // a namespace
		{"python", "is a word of C", func(s *Source) { s.Name = "lambda" }}, // no module can be imported by it
		{"header", "is a word of C", func(s *Source) { s.Name = "M_PI" }},   // a macro
		{"cu", "another one was given", func(s *Source) { s.Configs = s.Configs[:1]; s.Problem.Stencil = &stencil.Stencil{Hash: "x"} }},
		{"cu", "is no stencil", func(s *Source) {
			s.Configs = s.Configs[:1]
			s.Families = matmul.Families()
			s.Configs[0].Schedule.Family = "tile"
		}},
		{"cu", "not in the catalogue", unknown},
		{"fortran", "not in the catalogue", unknown},
		{"python", "not in the catalogue", unknown},
		{"header", "not in the catalogue", func(s *Source) { unknown(s); s.Pitched = true }},
		{"tex", "no format", func(*Source) {}},
	} {
		s := good
		s.Configs = append([]cache.Config(nil), good.Configs...)
		c.change(&s)
		if _, err := Text(c.format, s); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: got %v, want %q", c.format, err, c.want)
		}
	}
	unknown(&good)
	if _, err := ImageOf(good); err == nil || !strings.Contains(err.Error(), "not in the catalogue") {
		t.Errorf("an image: %v", err)
	}
}

// TestHostileNamesStayInComments gives a device a name that would end comments and
// strings, and begin others.
func TestHostileNamesStayInComments(t *testing.T) {
	s := two(t)
	s.Configs = s.Configs[:1]
	s.Configs[0].Device.Name = `x*/ int evil; /* " \ $(touch x) ${y} ` + "`id` ??/ %n é\u202e"
	for _, f := range Formats() {
		if f.Name == "json" {
			continue
		}
		text, err := Text(f.Name, s)
		if err != nil {
			t.Fatal(err)
		}
		for _, bad := range []string{"x*/", "$(touch", "${y}", "`id`", "??/", "\u202e", `" \ `} {
			if strings.Contains(string(text), bad) {
				t.Errorf("%s holds %q", f.Name, bad)
			}
		}
	}
}

// tool finds a program or skips.
func tool(t *testing.T, name string) string {
	t.Helper()
	path, err := exec.LookPath(name)
	if err != nil {
		t.Skip(err)
	}
	return path
}

// build runs a command in a folder.
func build(t *testing.T, dir string, name string, args ...string) string {
	t.Helper()
	cmd := exec.Command(name, args...)
	cmd.Dir = dir
	out, err := cmd.CombinedOutput()
	if err != nil {
		t.Fatalf("%s %s: %v\n%s", name, strings.Join(args, " "), err, out)
	}
	return string(out)
}

// kernelBody finds a kernel up to its body, and the body.
var kernelBody = regexp.MustCompile(`(?s)(\n(?:static |extern "C" )__global__ [^{;]*\{\n).*?\n\}\n`)

// emptied is an emitted source whose kernels do nothing, for a test of what launches them: compiling kernels takes longest by far.
func emptied(t *testing.T, text []byte) []byte {
	t.Helper()
	all, found := bytes.Count(text, []byte("__global__ ")), len(kernelBody.FindAllIndex(text, -1))
	if found == 0 || found != all {
		t.Fatalf("%d kernels of %d have a body that is found", found, all)
	}
	return kernelBody.ReplaceAll(text, []byte("$1}\n"))
}

func write(t *testing.T, dir, name, text string) {
	t.Helper()
	if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
}

func emitted(t *testing.T, dir, name, format string, s Source) {
	t.Helper()
	text, err := Text(format, s)
	if err != nil {
		t.Fatal(err)
	}
	write(t, dir, name, string(text))
}

// TestHeaderChoosesItsDevice compiles the header as C99, C11, C++11 and C++17, for each
// device and for one nobody tuned for, and asks it at run time too.
func TestHeaderChoosesItsDevice(t *testing.T) {
	cc, cxx := tool(t, "cc"), tool(t, "c++")
	dir := t.TempDir()
	emitted(t, dir, "jacobi3d.h", "header", two(t))
	write(t, dir, "use.c", `#include <stdio.h>
#include "jacobi3d.h"
#include "jacobi3d.h"
TUNE_JACOBI3D_ASSERT_ELEMENT(float);
int main(void) {
  printf("%s|%s|%s|%d", TUNE_JACOBI3D_SCHEDULE, jacobi3d_for_device("NVIDIA H200")->schedule, jacobi3d_for_device("other")->device, TUNE_JACOBI3D_NX);
  return 0;
}
`)
	write(t, dir, "use.cpp", `#include "use.c"
static_assert(tune::jacobi3d::nx == 512, "");
#if __cplusplus >= 201703L
static_assert(tune::jacobi3d::seconds_per_step > 0, "");
#endif
`)
	write(t, dir, "wrong.cpp", "#include \"jacobi3d.h\"\nTUNE_JACOBI3D_ASSERT_ELEMENT(double);\n")
	write(t, dir, "wrong.c", "#include \"jacobi3d.h\"\nTUNE_JACOBI3D_ASSERT_ELEMENT(double);\n")
	// The A100's asks for less shared memory, so it is the safe one.
	for _, c := range []struct{ arch, schedule string }{{"90", streamed}, {"80", tiled}, {"75", tiled}, {"", tiled}} {
		for _, std := range []string{"c99", "c11", "c++11", "c++17"} {
			compiler, file := cc, "use.c"
			if strings.HasPrefix(std, "c++") {
				compiler, file = cxx, "use.cpp"
			}
			args := []string{"-std=" + std, "-Wall", "-Wextra", "-Werror", "-o", "use", file}
			if c.arch != "" {
				args = append(args, "-DTUNE_ARCH="+c.arch)
			}
			build(t, dir, compiler, args...)
			got := build(t, dir, filepath.Join(dir, "use"))
			if want := c.schedule + "|" + streamed + "|NVIDIA A100-SXM4-80GB|512"; got != want {
				t.Errorf("%s, arch %q: got %s", std, c.arch, got)
			}
		}
	}
	for _, c := range [][]string{{cxx, "-std=c++17", "wrong.cpp"}, {cc, "-std=c11", "wrong.c"}, {cc, "-std=c99", "wrong.c"}} {
		cmd := exec.Command(c[0], c[1], "-fsyntax-only", c[2])
		cmd.Dir = dir
		if out, err := cmd.CombinedOutput(); err == nil {
			t.Errorf("%v took a double for a float\n%s", c, out)
		}
	}
}

// TestBuildVariablesAreRead has make, a shell and, if there is one, cmake read theirs.
func TestBuildVariablesAreRead(t *testing.T) {
	s := two(t)
	s.Configs = s.Configs[:1]
	dir := t.TempDir()
	for name, format := range map[string]string{"t.mk": "make", "t.env": "env", "t.cmake": "cmake"} {
		emitted(t, dir, name, format, s)
	}
	want := streamed + " 32 1\n"
	if _, err := exec.LookPath("make"); err == nil {
		write(t, dir, "Makefile", "include t.mk\nall:\n\t@echo $(TUNE_JACOBI3D_SCHEDULE) $(TUNE_JACOBI3D_BLOCK_X) $(TUNE_JACOBI3D_REMAINDER)\n")
		if got := build(t, dir, "make", "-s"); got != want {
			t.Errorf("make: %q", got)
		}
	}
	if got := build(t, dir, "sh", "-c", ". ./t.env; echo $TUNE_JACOBI3D_SCHEDULE $TUNE_JACOBI3D_BLOCK_X $TUNE_JACOBI3D_REMAINDER"); got != want {
		t.Errorf("sh: %q", got)
	}
	if _, err := exec.LookPath("cmake"); err == nil {
		write(t, dir, "show.cmake", "include(t.cmake)\nexecute_process(COMMAND echo ${TUNE_JACOBI3D_SCHEDULE} ${TUNE_JACOBI3D_BLOCK_X} ${TUNE_JACOBI3D_REMAINDER})\n")
		if got := build(t, dir, "cmake", "-P", "show.cmake"); got != want {
			t.Errorf("cmake: %q", got)
		}
	}
}

// TestThePageOfEmitHasEveryForm: docs/emit.md has a row for each.
func TestThePageOfEmitHasEveryForm(t *testing.T) {
	page, err := os.ReadFile("../docs/emit.md")
	if err != nil {
		t.Fatal(err)
	}
	for _, f := range Formats() {
		if !strings.Contains(string(page), "`"+f.Name+"`") {
			t.Errorf("%s has no row in docs/emit.md", f.Name)
		}
	}
}
