package cuda

import (
	"context"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/ebitengine/purego"

	"stenciltune/device"
	"stenciltune/kernels"
	"stenciltune/space/spacetest"
	"stenciltune/stencil"
	"stenciltune/stencil/stenciltest"
)

// A scenario runs in a process of its own, since libraries are opened once a
// process. Library files are names in the folder of the fakes; "" is the fake
// driver, the fake NVRTC and no NVML.
type scenario struct {
	name            string
	cuda, rtc, nvml string
	env             []string
	run             func(t *testing.T)
}

const scenarioEnv = "CUDA_TEST_SCENARIO"

// TestScenario is what the processes of TestFakeDriver run.
func TestScenario(t *testing.T) {
	name := os.Getenv(scenarioEnv)
	if name == "" {
		t.Skip("run by TestFakeDriver")
	}
	for _, s := range scenarios {
		if s.name == name {
			s.run(t)
			return
		}
	}
	t.Fatalf("no scenario %q", name)
}

// buildFakes compiles the fake libraries, new and old, and a text file named
// like one.
func buildFakes(t *testing.T, dir string) {
	cc, err := exec.LookPath("cc")
	if err != nil {
		t.Skip("no C compiler for the fake driver: ", err)
	}
	for _, b := range []struct{ out, source, option string }{
		{"libcuda.so.1", "fakecuda.c", "-DNEW"},
		{"old-libcuda.so.1", "fakecuda.c", "-DOLD"},
		{"libnvrtc.so.13", "fakenvrtc.c", "-DNEW"},
		{"old-libnvrtc.so", "fakenvrtc.c", "-DOLD"},
	} {
		cmd := exec.Command(cc, "-shared", "-fPIC", "-O1", b.option, "-o", filepath.Join(dir, b.out), filepath.Join("testdata", b.source))
		if out, err := cmd.CombinedOutput(); err != nil {
			t.Fatalf("%s: %v\n%s", b.source, err, out)
		}
	}
	if err := os.WriteFile(filepath.Join(dir, "text.so"), []byte(strings.Repeat("This is no library.\n", 500)), 0o644); err != nil {
		t.Fatal(err)
	}
}

func TestFakeDriver(t *testing.T) {
	dir := t.TempDir()
	buildFakes(t, dir)
	for _, s := range scenarios {
		t.Run(s.name, func(t *testing.T) {
			t.Parallel()
			file := func(name, otherwise string) string { return filepath.Join(dir, or(name, otherwise)) }
			ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
			defer cancel()
			cmd := exec.CommandContext(ctx, os.Args[0], "-test.run=^TestScenario$", "-test.count=1")
			cmd.Env = append(os.Environ(), scenarioEnv+"="+s.name,
				"TUNE_LIBCUDA="+file(s.cuda, "libcuda.so.1"),
				"TUNE_LIBNVRTC="+file(s.rtc, "libnvrtc.so.13"),
				"TUNE_LIBNVML="+file(s.nvml, "none/libnvidia-ml.so.1"),
				"GORACE="+os.Getenv("GORACE")+" atexit_sleep_ms=0") // else a second each
			cmd.Env = append(cmd.Env, s.env...)
			if out, err := cmd.CombinedOutput(); err != nil {
				t.Errorf("%v\n%s", err, out)
			}
		})
	}
}

func or(a, b string) string {
	if a != "" {
		return a
	}
	return b
}

// Counters of the fake driver.
const (
	liveModules = iota
	liveBlocks
	liveEvents
	liveContexts
	calls   // made so far
	changes // launches of a stencil kernel that was not the last one launched
	early   // launches that may begin before the one before has ended
)

func counter(t *testing.T, l *library, which int) int {
	t.Helper()
	f, err := purego.Dlsym(l.handle, "fake_live")
	if err != nil {
		t.Fatal(err)
	}
	n, _, _ := purego.SyscallN(f, uintptr(which))
	return int(n)
}

// live reads a counter of the fake driver.
func live(t *testing.T, which int) int {
	t.Helper()
	l, err := driver()
	if err != nil {
		t.Fatal(err)
	}
	return counter(t, l, which)
}

// allLive is the live counts of modules, blocks, events and contexts.
func allLive(t *testing.T) [4]int {
	t.Helper()
	return [4]int{live(t, liveModules), live(t, liveBlocks), live(t, liveEvents), live(t, liveContexts)}
}

// openFake opens the fake GPU; Close must succeed.
func openFake(t *testing.T) *Device {
	t.Helper()
	d, err := OpenDevice("0")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := d.Close(); err != nil {
			t.Error(err)
		}
	})
	return d
}

// copyProblem is the stencil whose right answer is its input, on n cells.
func copyProblem(t *testing.T, n int, dtype stencil.DType) stencil.Problem {
	t.Helper()
	st := stenciltest.Parse(t, "copy", "NumDimensions 1\nStencilSize (0)\nCellValue { return get(0); }")
	return stencil.Problem{Stencil: st, DType: dtype, Size: stencil.Size{n, 1, 1}, Steps: 1}
}

// fakeKernel copies, and does what the words in it say.
func fakeKernel(t *testing.T, p stencil.Problem, words string) kernels.Kernel {
	t.Helper()
	s := spacetest.Schedule(t, "test/gx=64")
	return kernels.Kernel{Schedule: s, Entry: "copy", DType: p.DType,
		Source: "typedef " + p.DType.C() + " T;\n// FAKE_COPY " + words + "\nextern \"C\" __global__ void copy(const T *in, T *out, int nx, int ny, int nz);\n",
		Launch: kernels.Launch{Grid: [3]int{(p.Size[0] + 63) / 64, 1, 1}, Block: [3]int{64, 1, 1}, Steps: 1}}
}

// load compiles and loads a kernel, ready to be launched count times.
func load(t *testing.T, d *Device, k kernels.Kernel, count int) device.Pass {
	t.Helper()
	b, err := d.Compile(context.Background(), k)
	if err != nil {
		t.Fatal(err)
	}
	return device.Pass{Binary: b, Launch: k.Launch, Count: count}
}

// checkPass checks one pass against the reference.
func checkPass(d *Device, p stencil.Problem, pass device.Pass, limit time.Duration) (stencil.Comparison, error) {
	ctx, cancel := context.WithTimeout(context.Background(), limit)
	defer cancel()
	return d.Check(ctx, device.Check{Problem: p, Passes: []device.Pass{pass}, Seed: 7})
}
