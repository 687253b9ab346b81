package cuda

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"runtime/debug"
	"strings"
	"sync"
	"testing"
	"time"

	"stenciltune/device"
	"stenciltune/kernels"
	"stenciltune/stencil"
	"stenciltune/stencil/stenciltest"
	"stenciltune/timing"
)

var scenarios []scenario

func init() { // the list and TestScenario refer to each other
	scenarios = []scenario{
		{name: "facts and selectors", run: factsAndSelectors},
		{name: "no driver", cuda: "none/libcuda.so.1", run: missing("libcuda.so.1", "install the NVIDIA driver")},
		{name: "driver too old", cuda: "old-libcuda.so.1", run: missing("cuMemsetD32Async", "old-libcuda.so.1", "too old", "install the NVIDIA driver")},
		{name: "text file as driver", cuda: "text.so", run: missing("text.so", "install the NVIDIA driver")},
		{name: "folder as driver", cuda: ".", run: missing("no such file")},
		{name: "relative path", env: []string{"TUNE_LIBCUDA=libcuda.so.1"}, run: missing(`TUNE_LIBCUDA="libcuda.so.1"`, "absolute path")},
		{name: "no GPU", env: []string{"FAKE_DEVICES=0", "CUDA_VISIBLE_DEVICES=3"}, run: missing("the driver shows no GPU", `CUDA_VISIBLE_DEVICES="3"`)},
		{name: "all of several GPUs", env: []string{"FAKE_DEVICES=3", "FAKE_ALIKE=2"}, run: lists("GPU-10111213 Fake GPU", "GPU-20111213 Fake GPU", "GPU-30111213 Other GPU")},
		{name: "GPUs that are visible by index", env: []string{"FAKE_DEVICES=4", "CUDA_VISIBLE_DEVICES=3,1"}, run: lists("GPU-40111213 Fake GPU", "GPU-20111213 Fake GPU")},
		{name: "GPUs that are visible by UUID", env: []string{"FAKE_DEVICES=4", "CUDA_VISIBLE_DEVICES=GPU-3011,GPU-10111213-1415-1617-1819-1a1b1c1d1e1f,9,0"}, run: lists("GPU-30111213 Fake GPU", "GPU-10111213 Fake GPU")},
		{name: "driver mismatch", env: []string{"FAKE_INIT=803"}, run: missing("cuInit", "CUDA_ERROR_SYSTEM_DRIVER_MISMATCH (803)", "reboot")},
		{name: "no NVRTC", rtc: "none/libnvrtc.so.13", run: noCompiler},
		{name: "old NVRTC", rtc: "old-libnvrtc.so", run: oldCompiler},
		{name: "sources and receivers", run: records},
		{name: "no NVML", run: noTelemetry},
		{name: "NVML", nvml: "libcuda.so.1", env: []string{"FAKE_THROTTLE=4"}, run: telemetry},
		{name: "throttled", nvml: "libcuda.so.1", env: []string{"FAKE_THROTTLE=64"}, run: throttled},
		{name: "energy", nvml: "libcuda.so.1", env: []string{"FAKE_THROTTLE=4"}, run: energy(250, timing.PowerCap)},
		{name: "energy of a counter that runs over", nvml: "libcuda.so.1", env: []string{"FAKE_COUNTER_BITS=40", "FAKE_POWER=400"}, run: energy(400)},
		{name: "energy of a counter that stands still", nvml: "libcuda.so.1", env: []string{"FAKE_POWER=0"}, run: energyUnknown},
		{name: "no NVML, no energy", run: unmetered},
		{name: "no energy counter", nvml: "libcuda.so.1", env: []string{"FAKE_NO_ENERGY=1"}, run: unmetered},
		{name: "energy of an instance", nvml: "libcuda.so.1", env: []string{"FAKE_MIG=1"}, run: unmetered},
		{name: "hang while energy is measured", nvml: "libcuda.so.1", run: hangWhileMetered},
		{name: "library candidates", run: libraryCandidates},
		{name: "compile errors", run: compileErrors},
		{name: "compiles at once", run: compilesAtOnce},
		{name: "bad images", run: badImages},
		{name: "answers", run: answers},
		{name: "answers against a trusted kernel", run: trustedAnswers},
		{name: "trusted answers are bounded", run: boundedAnswers},
		{name: "arrays are kept", run: keptArrays},
		{name: "parts of step scalars are left", run: leftParts},
		{name: "the number of Reduce", run: reduced},
		{name: "illegal address", run: fatal("FAKE_STATUS_700", timing.LaunchError, "CUDA_ERROR_ILLEGAL_ADDRESS (700)")},
		{name: "launch timeout", run: fatal("FAKE_STATUS_702", timing.Timeout, "CUDA_ERROR_LAUNCH_TIMEOUT (702)")},
		{name: "assertion", run: fatal("FAKE_STATUS_710", timing.LaunchError, "CUDA_ERROR_ASSERT (710)")},
		{name: "launch failed", run: fatal("FAKE_STATUS_719", timing.LaunchError, "CUDA_ERROR_LAUNCH_FAILED (719)")},
		{name: "unknown error", run: fatal("FAKE_STATUS_999", timing.LaunchError, "CUDA_ERROR_UNKNOWN (999)")},
		{name: "hang", run: fatal("FAKE_HANG", timing.Timeout, "deadline")},
		{name: "hang while timing", run: hangWhileTiming},
		{name: "out of resources", run: tooManyResources},
		{name: "launches that begin early", run: launchesThatBeginEarly},
		{name: "device lost", run: deviceLost(46, "exclusively")},
		{name: "no device any more", run: deviceLost(100, "nvidia-smi")},
		{name: "device of another number", run: deviceLost(101, "CUDA_VISIBLE_DEVICES")},
		{name: "memory that fails", run: deviceLost(214, "do not trust it")},
		{name: "NVML lost the GPU", nvml: "libcuda.so.1", env: []string{"FAKE_NVML_INIT=15"}, run: noTelemetry},
		{name: "out of memory", run: exhausted},
		{name: "timing", run: timesFollowThePolicy},
		{name: "timing beside the grids", run: timesNothingThatWritesBesideTheGrids},
		{name: "interleaved timing", run: interleaved},
		{name: "deadline while timing", run: deadlineWhileTiming},
		{name: "copy bandwidth", run: copyBandwidth},
		{name: "nothing leaks", run: nothingLeaks},
		{name: "close", run: closeFreesEverything},
	}
}

// lists demands these GPUs, each found by its ordinal and its UUID.
func lists(want ...string) func(*testing.T) {
	return func(t *testing.T) {
		all, err := List()
		if err != nil || len(all) != len(want) {
			t.Fatal(all, err)
		}
		for i, m := range all {
			if got := m.UUID[:12] + " " + m.Name; got != want[i] || m.Index != i {
				t.Errorf("GPU %d is %s with index %d, want %s", i, got, m.Index, want[i])
			}
			for _, selector := range []string{fmt.Sprint(i), m.UUID, m.PCI} {
				g, err := Open(selector)
				if err != nil {
					t.Fatal(err)
				}
				if got := g.Machine().UUID; got != m.UUID {
					t.Errorf("%s opens %s, want %s", selector, got, m.UUID)
				}
				g.Close()
			}
		}
		if _, err := Match(all, "GPU-"); err == nil {
			t.Error("a beginning that all share names one")
		}
		_, err = Open(fmt.Sprint(len(want)))
		says(t, err, fmt.Sprintf("no device matches \"%d\"", len(want)), "0 = Fake GPU")
	}
}

func factsAndSelectors(t *testing.T) {
	all, err := List()
	if err != nil || len(all) != 1 {
		t.Fatal(all, err)
	}
	m := all[0]
	uuid := "GPU-10111213-1415-1617-1819-1a1b1c1d1e1f"
	if m.Name != "Fake GPU" || m.UUID != uuid || m.PCI != "0000:41:00.0" || m.ComputeCapability != "9.0" || m.CUDAVersion != "13.0" {
		t.Errorf("%+v", m)
	}
	if m.SMs != 4 || m.WarpSize != 32 || m.MaxBlockDim != [3]int{1024, 1024, 64} || m.MaxGridDim != [3]int{1<<31 - 1, 65535, 65535} ||
		m.SharedBlock != 48<<10 || m.SharedBlockOptin != 227<<10 || m.SharedSM != 228<<10 || m.SharedReserved != 1024 || m.MaxBlocksSM != 32 ||
		m.L2Bytes != 4<<20 || m.MemoryBytes != 512<<20 || m.ClockHz != 1.5e9 || m.PeakDRAM() != 256e9 || !m.ECC || m.MIG || m.Driver != "" {
		t.Errorf("%+v", m)
	}
	for _, selector := range []string{"0", uuid, "GPU-1011", "gpu-10111213-14", "0000:41:00.0", "41:00.0"} {
		g, err := Open(selector)
		if err != nil {
			t.Errorf("%q: %v", selector, err)
			continue
		}
		if m := g.Machine(); m.UUID != uuid || m.FreeBytes != 512<<20 || m.Compiler != "NVRTC 13.1" {
			t.Errorf("%q: %+v", selector, m)
		}
		if err := g.Close(); err != nil {
			t.Error(err)
		}
	}
	for _, selector := range []string{"1", "-1", "", "GPU-", "GPU-10111214", "42:00.0", "00.0", "Fake GPU"} {
		_, err := Open(selector)
		if !errors.Is(err, device.ErrMissing) {
			t.Errorf("%q: %v", selector, err)
			continue
		}
		says(t, err, fmt.Sprintf("no device matches %q", selector), "0 = Fake GPU ("+uuid+", PCI 0000:41:00.0)")
	}
	if got := allLive(t); got != [4]int{} {
		t.Errorf("left open: %v", got)
	}
}

// says fails unless the error's text has all words.
func says(t *testing.T, err error, words ...string) {
	t.Helper()
	for _, w := range words {
		if err == nil || !strings.Contains(err.Error(), w) {
			t.Errorf("%v does not say %q", err, w)
		}
	}
}

// missing wants every way in to say that there is no GPU here, in these words.
func missing(words ...string) func(t *testing.T) {
	return func(t *testing.T) {
		_, listed := List()
		_, opened := Open("0")
		_, both := OpenDevice("0")
		for _, err := range []error{listed, opened, both} {
			if !errors.Is(err, device.ErrMissing) || errors.Is(err, ErrSticky) {
				t.Errorf("%v", err)
			}
			says(t, err, words...)
		}
	}
}

func noCompiler(t *testing.T) {
	for _, open := range []func() error{
		func() error { _, err := OpenCompiler(); return err },
		func() error { _, err := OpenDevice("0"); return err },
	} {
		err := open()
		if !errors.Is(err, device.ErrMissing) {
			t.Error(err)
		}
		says(t, err, "NVRTC", "libnvrtc.so.13", "install the CUDA toolkit")
	}
	g, err := Open("0")
	if err != nil {
		t.Fatal(err)
	}
	if g.Machine().Compiler != "" {
		t.Error(g.Machine().Compiler)
	}
	if err := g.Close(); err != nil {
		t.Error(err)
	}
}

// oldCompiler: an NVRTC without CUBINs gives PTX, which the driver compiles.
func oldCompiler(t *testing.T) {
	d := openFake(t)
	p := copyProblem(t, 100, stencil.Float32)
	pass := load(t, d, fakeKernel(t, p, ""), 1)
	if pass.Binary.Options[0] != "--gpu-architecture=compute_90" {
		t.Error(pass.Binary.Options)
	}
	if cmp, err := checkPass(d, p, pass, time.Minute); err != nil || !cmp.OK() {
		t.Errorf("%+v %v", cmp, err)
	}
}

func noTelemetry(t *testing.T) {
	d := openFake(t)
	if got := d.Telemetry(); got.SMClockHz != 0 || got.Temperature != 0 || got.PowerWatts != 0 || got.Throttle != nil {
		t.Errorf("%+v", got)
	}
	series := timeAlone(t, d, timing.Search())
	if series.N == 0 {
		t.Errorf("%+v", series)
	}
}

func telemetry(t *testing.T) {
	d := openFake(t)
	got := d.Telemetry()
	if got.SMClockHz != 1.4e9 || got.MemClockHz != 2e9 || got.Temperature != 55 || got.PowerWatts != 250 || strings.Join(got.Throttle, ",") != "power cap" {
		t.Errorf("%+v", got)
	}
	if d.Machine().Driver != "580.1" {
		t.Errorf("driver %q", d.Machine().Driver)
	}
	if s := timeAlone(t, d, timing.Search()); s.N == 0 || s.Discarded != 0 || !strings.Contains(strings.Join(s.Warnings, ";"), "power cap") {
		t.Errorf("%+v", s)
	}
}

// throttled: samples taken while the hardware protects itself do not count.
func throttled(t *testing.T) {
	p := timing.Search()
	p.MinSamples, p.MaxSamples = 2, 2
	s := timeAlone(t, openFake(t), p)
	text := strings.Join(s.Warnings, ";")
	if s.N != 0 || s.Discarded == 0 || !strings.Contains(text, "no accepted samples") || !strings.Contains(text, "hardware thermal slowdown") {
		t.Errorf("%+v", s)
	}
}

// libraryCandidates: what is absent is passed over.
func libraryCandidates(t *testing.T) {
	const env = "CUDA_TEST_LIBRARY" // not set
	fake := os.Getenv("TUNE_LIBCUDA")
	none := filepath.Join(filepath.Dir(fake), "none", "libcuda.so.1")
	text := filepath.Join(filepath.Dir(fake), "text.so")
	l, err := openLibrary(env, "a driver", "buy one", []string{"libno-such-name.so.1", none, text, fake}, []string{"cuInit"}, []string{"cuInit2", "fake_live"})
	if err != nil {
		t.Fatal(err)
	}
	if l.name != fake || !l.has("cuInit") || l.has("cuInit2") || !l.has("fake_live") || l.call("cuInit", 0) != 0 {
		t.Errorf("%+v", l)
	}
	_, err = openLibrary(env, "a driver", "buy one", []string{"libno-such-name.so.1", none}, nil, nil)
	if !errors.Is(err, device.ErrMissing) || strings.Contains(err.Error(), none) {
		t.Error(err)
	}
	says(t, err, "a driver not found", "looked for libno-such-name.so.1:", "; buy one")
	_, err = openLibrary(env, "a driver", "buy one", []string{none, text}, nil, nil)
	says(t, err, none+": no such file")
	_, err = openLibrary(env, "a driver", "buy one", []string{fake}, []string{"cuInit", "cuNewest"}, nil)
	says(t, err, "a driver in "+fake+" has no cuNewest", "buy one")
}

func compileErrors(t *testing.T) {
	d := openFake(t)
	p := copyProblem(t, 100, stencil.Float32)
	for range 2 {
		_, err := d.Compile(context.Background(), fakeKernel(t, p, "FAKE_COMPILE_ERROR"))
		f := device.AsFailure(err)
		if f == nil || f.Status != timing.CompileError || f.Reason != `copy.cu(7): error: identifier "nonsense" is undefined` {
			t.Fatalf("%v", err)
		}
		if !strings.Contains(f.Log, "warning #177-D") || !strings.Contains(f.Log, "1 error detected") {
			t.Errorf("log %q", f.Log)
		}
	}
	// A fault of the compiler's own is no schedule's.
	_, err := d.Compile(context.Background(), fakeKernel(t, p, "FAKE_COMPILER_BREAKS"))
	if err == nil || device.AsFailure(err) != nil {
		t.Errorf("%v", err)
	}
	says(t, err, "NVRTC 13.1", "nvrtcCompileProgram: NVRTC error 11")
	b, err := d.compiler.Compile(context.Background(), fakeKernel(t, p, ""), d.Machine())
	if err != nil || b.ID == "" || b.Compiler != "NVRTC 13.1" || b.Options[0] != "--gpu-architecture=sm_90" || !strings.Contains(string(b.Image), "FAKE_COPY") {
		t.Errorf("%+v %v", b, err)
	}
	noPrograms(t, d)
}

// noPrograms fails if the compiler holds programs.
func noPrograms(t *testing.T, d *Device) {
	t.Helper()
	if n := counter(t, d.compiler.lib, 0); n != 0 {
		t.Errorf("%d programs not destroyed", n)
	}
}

// compilesAtOnce: compiling is allowed from any goroutine, beside a check.
func compilesAtOnce(t *testing.T) {
	d := openFake(t)
	p := copyProblem(t, 10000, stencil.Float32)
	pass := load(t, d, fakeKernel(t, p, ""), 3)
	var wg sync.WaitGroup
	for i := range 8 {
		wg.Go(func() {
			for j := range 25 {
				words := fmt.Sprint("kernel ", i, " ", j)
				b, err := d.Compile(context.Background(), fakeKernel(t, p, words))
				if err != nil {
					t.Error(err)
				}
				d.Release(b)
			}
		})
	}
	for range 20 {
		if cmp, err := checkPass(d, p, pass, time.Minute); err != nil || !cmp.OK() {
			t.Errorf("%+v %v", cmp, err)
		}
	}
	wg.Wait()
	noPrograms(t, d)
	if n := live(t, liveModules); n != 2 { // the pass and the check kernels
		t.Errorf("%d modules", n)
	}
}

// badImages: an image the driver refuses is its schedule's failure.
func badImages(t *testing.T) {
	d := openFake(t)
	p := copyProblem(t, 100, stencil.Float32)
	k := fakeKernel(t, p, "")
	good := load(t, d, k, 1).Binary
	if good.Registers != 40 || good.SpillBytes != 8 || good.StaticShared != 512 || good.BlocksPerSM != 32 || good.Image != nil {
		t.Errorf("%+v", good)
	}
	again, err := d.Compile(context.Background(), k)
	if err != nil || again.ID == good.ID || live(t, liveModules) != 2 {
		t.Errorf("%+v %v, %d modules", again, err, live(t, liveModules))
	}
	d.Release(again) // which leaves the other kernel of the same source
	if _, err := checkPass(d, p, device.Pass{Binary: good, Launch: k.Launch, Count: 1}, time.Minute); err != nil {
		t.Error(err)
	}
	d.Release(again)
	for name, b := range map[string]device.Binary{
		"CUDA_ERROR_INVALID_IMAGE (200)": {ID: "a", Entry: "copy", Image: []byte("nonsense")},
		"CUDA_ERROR_NOT_FOUND (500)":     {ID: "b", Entry: "other", Image: []byte(k.Source)},
	} {
		_, err := d.Load(context.Background(), b, k.Launch)
		if f := device.AsFailure(err); f == nil || f.Status != timing.LaunchError || errors.Is(err, ErrSticky) {
			t.Errorf("%v", err)
		}
		says(t, err, name)
	}
	l := k.Launch
	l.SharedBytes = 300 << 10 // more than the device grants
	_, err = d.Load(context.Background(), device.Binary{ID: "c", Entry: "copy", Image: []byte(k.Source)}, l)
	if device.AsFailure(err) == nil {
		t.Error(err)
	}
	if _, err := d.Load(context.Background(), device.Binary{ID: "d", Entry: "copy"}, l); err == nil || device.AsFailure(err) != nil {
		t.Errorf("no image: %v", err)
	}
	if n := live(t, liveModules); n != 2 { // good's, and the check kernels'
		t.Errorf("%d modules", n)
	}
	d.Release(device.Binary{ID: "never loaded"})
	d.Release(good)
	if _, err := checkPass(d, p, device.Pass{Binary: good, Launch: k.Launch, Count: 1}, time.Minute); err == nil || !strings.Contains(err.Error(), "is not loaded") {
		t.Errorf("released: %v", err)
	}
}

// An answer is what a check of a kernel with some words must find.
type answer struct {
	words               string
	wrong, first, guard int64
	got                 string
}

// answersOf lists right and wrong kernels on n cells of words 32-bit words each.
func answersOf(n, words int64) []answer {
	half := stencil.Input(7, n/2)
	return []answer{
		{"", 0, 0, 0, ""},
		{"FAKE_NAN", n, 0, 0, "NaN"},
		{"FAKE_PARTIAL", 10, n - 10, 0, "NaN"},
		{"FAKE_WRONG", 1, n / 2, 0, fmt.Sprint(half + 1)},
		{"FAKE_OOB", 0, 0, words, ""},
		{"FAKE_BEFORE", 0, 0, words, ""},
		{"FAKE_PARTIAL FAKE_OOB", 10, n - 10, words, "NaN"},
		{"right again", 0, 0, 0, ""},
	}
}

func (a answer) compare(t *testing.T, cmp stencil.Comparison, err error, dtype stencil.DType) {
	t.Helper()
	got := cmp.Got
	if a.words == "FAKE_WRONG" {
		got = a.got // rounded in float
	}
	if err != nil || cmp.Wrong != a.wrong || cmp.First != a.first || cmp.Guard != a.guard || got != a.got || cmp.OK() != (a.wrong+a.guard == 0) || cmp.Cells != 1003 {
		t.Errorf("%s, %q: %+v, %v", dtype, a.words, cmp, err)
	}
}

func answers(t *testing.T) {
	d := openFake(t)
	for _, dtype := range []stencil.DType{stencil.Float32, stencil.Float64} {
		p := copyProblem(t, 1003, dtype) // no multiple of 256 bytes: padding is guard too
		for _, a := range answersOf(1003, int64(dtype.Size()/4)) {
			pass := load(t, d, fakeKernel(t, p, a.words), 1)
			cmp, err := checkPass(d, p, pass, time.Minute)
			a.compare(t, cmp, err, dtype)
			if cmp.Against != "reference" || cmp.Steps != 1 {
				t.Errorf("%+v", cmp)
			}
			d.Release(pass.Binary)
		}
		// Over several launches both grids are written to, and both are looked at.
		pass := load(t, d, fakeKernel(t, p, "FAKE_OOB FAKE_WRONG"), 4)
		cmp, err := checkPass(d, p, pass, time.Minute)
		if err != nil || cmp.Guard != 2*int64(dtype.Size()/4) || cmp.Wrong != 1 || cmp.Steps != 4 || cmp.MaxError < 3.9 {
			t.Errorf("%s: %+v %v", dtype, cmp, err)
		}
		cmp, err = d.Check(context.Background(), device.Check{Problem: p, Passes: []device.Pass{pass}, Seed: 7, Allowed: []stencil.Allowance{{Error: 5}}})
		if err != nil || cmp.Wrong != 0 || cmp.Tolerance != 5 {
			t.Errorf("%s: %+v %v", dtype, cmp, err)
		}
	}
}

func trustedAnswers(t *testing.T) {
	d := openFake(t)
	for _, dtype := range []stencil.DType{stencil.Float32, stencil.Float64} {
		p := copyProblem(t, 1003, dtype)
		trusted := load(t, d, fakeKernel(t, p, "trusted"), 1)
		for _, a := range answersOf(1003, int64(dtype.Size()/4)) {
			pass := load(t, d, fakeKernel(t, p, a.words), 1)
			cmp, err := d.Check(context.Background(), device.Check{Problem: p, Passes: []device.Pass{pass}, Seed: 7, Trusted: []device.Pass{trusted}})
			a.compare(t, cmp, err, dtype)
			if cmp.Against != "test/gx=64" || cmp.Steps != 1 {
				t.Errorf("%+v", cmp)
			}
			if a.words == "FAKE_WRONG" && (cmp.MaxError < 0.99 || cmp.MaxError > 1.01 || cmp.Want == "") {
				t.Errorf("%+v", cmp)
			}
		}
		off := load(t, d, fakeKernel(t, p, "FAKE_WRONG"), 1)
		cmp, err := d.Check(context.Background(), device.Check{Problem: p, Passes: []device.Pass{off}, Seed: 7, Allowed: []stencil.Allowance{{Error: 5}}, Trusted: []device.Pass{trusted}})
		if err != nil || !cmp.OK() || cmp.MaxError < 0.99 || cmp.MaxError > 1.01 {
			t.Errorf("within the tolerance: %+v %v", cmp, err)
		}
		// The trusted answer is computed once a seed: its kernel may go.
		d.Release(trusted.Binary)
		pass := load(t, d, fakeKernel(t, p, ""), 1)
		for seed, ok := range map[uint32]bool{7: true, 8: false} {
			cmp, err := d.Check(context.Background(), device.Check{Problem: p, Passes: []device.Pass{pass}, Seed: seed, Trusted: []device.Pass{trusted}})
			if (err == nil && cmp.OK()) != ok {
				t.Errorf("seed %d: %+v %v", seed, cmp, err)
			}
		}
	}
	p := copyProblem(t, 1003, stencil.Float32)
	bad := load(t, d, fakeKernel(t, p, "FAKE_STATUS_701"), 1)
	_, err := d.Check(context.Background(), device.Check{Problem: p, Passes: []device.Pass{bad}, Trusted: []device.Pass{bad}})
	if f := device.AsFailure(err); f == nil || !strings.HasPrefix(f.Reason, "the trusted kernel failed: ") {
		t.Error(err)
	}
}

// boundedAnswers: trusted answers take at most a quarter of the memory.
func boundedAnswers(t *testing.T) {
	d := openFake(t)
	p := copyProblem(t, 4<<20, stencil.Float32) // 16 MiB a grid
	trusted := load(t, d, fakeKernel(t, p, ""), 1)
	for seed := range uint32(12) {
		cmp, err := d.Check(context.Background(), device.Check{Problem: p, Passes: []device.Pass{trusted}, Seed: seed, Trusted: []device.Pass{trusted}})
		if err != nil || !cmp.OK() {
			t.Fatalf("%+v %v", cmp, err)
		}
	}
	if n := len(d.expected); n < 6 || n > 8 || live(t, liveBlocks) != n+3 { // two grids, one report
		t.Errorf("%d answers kept in %d blocks", n, live(t, liveBlocks))
	}
	// Room for a larger grid is made by forgetting.
	p = copyProblem(t, 24<<20, stencil.Float32) // 96 MiB a grid
	trusted = load(t, d, fakeKernel(t, p, ""), 1)
	cmp, err := d.Check(context.Background(), device.Check{Problem: p, Passes: []device.Pass{trusted}, Trusted: []device.Pass{trusted}})
	if err != nil || !cmp.OK() || len(d.expected) != 3 { // 96 MiB and two of 16
		t.Errorf("%+v %v, %d answers", cmp, err, len(d.expected))
	}
}

// reduced: the number of Reduce is what is in its kernel's output, which nobody has written.
func reduced(t *testing.T) {
	d := openFake(t)
	p := copyProblem(t, 3000, stencil.Float32)
	p.Stencil = stenciltest.Parse(t, "copy", "NumDimensions 1\nStencilSize (0)\nCellValue { return get(0); }\nReduce sum { return value; }")
	k := fakeKernel(t, p, "")
	k.Entry, k.Source = "_last_", strings.ReplaceAll(k.Source, " copy(", " _last_(") // which the library does nothing for
	k.Launch.Grid[0] = 2
	got, err := d.Check(context.Background(), device.Check{Problem: p, Passes: []device.Pass{load(t, d, k, 1)}, Seed: 7, Reduce: true})
	if err != nil || got.Cells != 1 || got.Numbers != 1 || got.Wrong != 1 || got.Got != "NaN" || got.Guard != 0 {
		t.Errorf("%+v %v", got, err)
	}
}

// leftParts: after a launch that leaves the parts of a step's scalars no cells are read for them, but a run begins with that.
func leftParts(t *testing.T) {
	d := openFake(t)
	st := stenciltest.Parse(t, "copy", "NumDimensions 1\nStencilSize (0)\nStepScalar max s { return get(0); }\nCellValue { return get(0) + 0 * s; }")
	for parts, want := range []int{3 * 3, 3*2 + 1} { // launches, each of another kernel than the one before
		p := copyProblem(t, 1000, stencil.Float32)
		p.Stencil = st
		k := fakeKernel(t, p, "")
		k.Source += "extern \"C\" __global__ void copy_fold_0(double *step);\nextern \"C\" __global__ void copy_last_0(double *step);\n"
		k.Launch.Parts = parts
		pass := load(t, d, k, 3)
		for range 2 {
			before := live(t, changes)
			cmp, err := checkPass(d, p, pass, time.Minute)
			if err != nil || cmp.Wrong != 1 || cmp.First != 1000 || cmp.Got != "NaN" { // nobody has computed the last step's number
				t.Fatalf("%+v %v", cmp, err)
			}
			if n := live(t, changes) - before; n != want {
				t.Errorf("%d parts a block: %d launches, want %d", parts, n, want)
			}
		}
	}
}

// keptArrays: checks on grids of several sizes leave each other's arrays alone, until
// half of the memory is theirs.
func keptArrays(t *testing.T) {
	d := openFake(t)
	check := func(cells int) {
		t.Helper()
		p := copyProblem(t, cells, stencil.Float32)
		k := load(t, d, fakeKernel(t, p, ""), 1)
		if cmp, err := d.Check(context.Background(), device.Check{Problem: p, Passes: []device.Pass{k}, Trusted: []device.Pass{k}}); err != nil || !cmp.OK() {
			t.Fatalf("%d cells: %+v %v", cells, cmp, err)
		}
	}
	var at []devicePtr
	for round := range 2 {
		for i, n := range []int{1000, 2000, 8 << 20, 3000} {
			check(n)
			now := d.arrays[len(d.arrays)-1].fields[0].a.cells
			if round == 0 {
				at = append(at, now)
			} else if now != at[i] {
				t.Errorf("%d cells: other arrays than before", n)
			}
		}
	}
	check(34 << 20) // 272 MiB: more than half
	if n := len(d.arrays); n != 2 {
		t.Errorf("%d sets of arrays kept beside a large one", n-1)
	}
}

// fatal wants a kernel to fail so that the process must end, and the driver to
// be left alone from then on.
func fatal(words string, status timing.Status, reason string) func(t *testing.T) {
	return func(t *testing.T) {
		d := openFake(t)
		p := copyProblem(t, 1000, stencil.Float32)
		good, bad := load(t, d, fakeKernel(t, p, ""), 1), load(t, d, fakeKernel(t, p, words), 2)
		if cmp, err := checkPass(d, p, good, time.Minute); err != nil || !cmp.OK() {
			t.Fatalf("%+v %v", cmp, err)
		}
		const limit = 300 * time.Millisecond
		begin := time.Now()
		_, err := checkPass(d, p, bad, limit)
		if took := time.Since(begin); took > limit+10*time.Second {
			t.Errorf("noticed after %v", took)
		}
		f := device.AsFailure(err)
		if f == nil || f.Status != status || !strings.Contains(f.Reason, reason) || !errors.Is(err, ErrSticky) {
			t.Fatalf("%v", err)
		}
		var sticky interface{ Sticky() bool }
		if !errors.As(err, &sticky) || !sticky.Sticky() {
			t.Errorf("%v has no method that says it is sticky", err)
		}
		before := live(t, calls)
		if _, err := checkPass(d, p, good, time.Minute); !errors.Is(err, ErrSticky) {
			t.Errorf("the next check: %v", err)
		}
		if _, err := d.Compile(context.Background(), fakeKernel(t, p, "after")); !errors.Is(err, ErrSticky) {
			t.Errorf("the next load: %v", err)
		}
		if n := d.FreeMemory(); n != 0 {
			t.Errorf("%d bytes free", n)
		}
		d.Release(good.Binary)
		if err := d.Close(); err != nil {
			t.Errorf("Close: %v", err)
		}
		if after := live(t, calls); after != before {
			t.Errorf("%d calls of the driver after the end", after-before)
		}
	}
}

func hangWhileTiming(t *testing.T) {
	d := openFake(t)
	p := copyProblem(t, 1000, stencil.Float32)
	pass := load(t, d, fakeKernel(t, p, "FAKE_HANG"), 1)
	ctx, cancel := context.WithTimeout(context.Background(), 200*time.Millisecond)
	defer cancel()
	begin := time.Now()
	_, err := d.Time(ctx, device.Timing{Problem: p, Runs: []device.Pass{pass}, Policy: timing.Search()})
	if f := device.AsFailure(err); f == nil || f.Status != timing.Timeout || !errors.Is(err, ErrSticky) || time.Since(begin) > 10*time.Second {
		t.Errorf("%v after %v", err, time.Since(begin))
	}
}

// launchesThatBeginEarly: only kernels that wait for the launch before them are launched so. The fake driver refuses others, and a config that is
// not as cuda.h has it.
func launchesThatBeginEarly(t *testing.T) {
	d := openFake(t)
	p := copyProblem(t, 1000, stencil.Float32)
	for words, want := range map[string]int{kernels.Await: 3, "griddepcontrol.wait": 0} {
		before := live(t, early)
		cmp, err := checkPass(d, p, load(t, d, fakeKernel(t, p, words), 3), time.Minute)
		if n := live(t, early) - before; err != nil || !cmp.OK() || n != want {
			t.Errorf("%q: %d launches, want %d; %+v %v", words, n, want, cmp, err)
		}
	}
}

// tooManyResources: a launch that asks too much fails alone.
func tooManyResources(t *testing.T) {
	d := openFake(t)
	p := copyProblem(t, 1000, stencil.Float32)
	pass := load(t, d, fakeKernel(t, p, "FAKE_STATUS_701"), 1)
	_, err := checkPass(d, p, pass, time.Minute)
	f := device.AsFailure(err)
	if f == nil || f.Status != timing.LaunchError || errors.Is(err, ErrSticky) || errors.Is(err, device.ErrLost) {
		t.Fatalf("%v", err)
	}
	says(t, f, "running test/gx=64", "cuLaunchKernel: CUDA_ERROR_LAUNCH_OUT_OF_RESOURCES (701)")
	if cmp, err := checkPass(d, p, pass, time.Minute); err != nil || !cmp.OK() {
		t.Errorf("the next check: %+v %v", cmp, err)
	}
}

// deviceLost: a GPU that is gone is no schedule's failure.
// deviceLost: a status that a launch returns and all calls after it, and the remedy that is told.
func deviceLost(status int, remedy string) func(t *testing.T) {
	return func(t *testing.T) {
		d, err := OpenDevice("0")
		if err != nil {
			t.Fatal(err)
		}
		p := copyProblem(t, 1000, stencil.Float32)
		_, err = checkPass(d, p, load(t, d, fakeKernel(t, p, fmt.Sprintf("FAKE_STATUS_%d", status)), 1), time.Minute)
		if !errors.Is(err, device.ErrLost) || device.AsFailure(err) != nil {
			t.Errorf("%v", err)
		}
		says(t, err, "Fake GPU", fmt.Sprintf("(%d)", status), remedy)
		if err := d.Close(); err == nil && !Status(status).Sticky() { // else the process ends without another call
			t.Error("Close of a lost GPU says nothing")
		}
	}
}

func exhausted(t *testing.T) {
	d := openFake(t)
	small := copyProblem(t, 1000, stencil.Float32)
	if cmp, err := checkPass(d, small, load(t, d, fakeKernel(t, small, ""), 1), time.Minute); err != nil || !cmp.OK() {
		t.Fatalf("%+v %v", cmp, err)
	}
	before := allLive(t)
	for _, n := range []int{60 << 20, 1 << 30} { // one of the two grids fits, none does
		p := copyProblem(t, n, stencil.Float32)
		pass := load(t, d, fakeKernel(t, p, fmt.Sprint(n)), 1)
		_, checked := checkPass(d, p, pass, time.Minute)
		_, timed := d.Time(context.Background(), device.Timing{Problem: p, Runs: []device.Pass{pass}, Policy: timing.Search()})
		for _, err := range []error{checked, timed} {
			if f := device.AsFailure(err); f == nil || f.Status != timing.LaunchError || errors.Is(err, ErrSticky) {
				t.Errorf("%v", err)
			}
			says(t, err, "bytes of device memory", "CUDA_ERROR_OUT_OF_MEMORY (2)", "choose a smaller grid")
		}
		d.Release(pass.Binary)
	}
	if after := allLive(t); after != before {
		t.Errorf("live %v, before %v", after, before)
	}
	if cmp, err := checkPass(d, small, load(t, d, fakeKernel(t, small, ""), 1), time.Minute); err != nil || !cmp.OK() {
		t.Errorf("the next check: %+v %v", cmp, err)
	}
}

// timeAlone times a kernel of a millisecond.
func timeAlone(t *testing.T, d *Device, policy timing.Policy) timing.Series {
	t.Helper()
	p := copyProblem(t, 1000, stencil.Float32)
	pass := load(t, d, fakeKernel(t, p, "FAKE_SLOW"), 1)
	defer d.Release(pass.Binary)
	series, err := d.Time(context.Background(), device.Timing{Problem: p, Runs: []device.Pass{pass}, Policy: policy})
	if err != nil || len(series) != 1 {
		t.Fatal(series, err)
	}
	return series[0]
}

// timesNothingThatWritesBesideTheGrids: what is timed was perhaps not checked on this grid.
func timesNothingThatWritesBesideTheGrids(t *testing.T) {
	d := openFake(t)
	p := copyProblem(t, 1003, stencil.Float32)
	for _, words := range []string{"FAKE_OOB", "", "FAKE_BEFORE", "FAKE_WRONG"} {
		pass := load(t, d, fakeKernel(t, p, words), 1)
		series, err := d.Time(context.Background(), device.Timing{Problem: p, Runs: []device.Pass{pass}, Policy: timing.Search()})
		f := device.AsFailure(err)
		if outside := words == "FAKE_OOB" || words == "FAKE_BEFORE"; outside != (f != nil && f.Status == timing.WrongAnswer && strings.Contains(f.Reason, "out-of-bounds")) ||
			!outside && (err != nil || series[0].N == 0) {
			t.Errorf("%q: %+v, %v", words, series, err)
		}
		d.Release(pass.Binary)
	}
}

func timesFollowThePolicy(t *testing.T) {
	d := openFake(t)
	policy := timing.Policy{Regime: timing.Warm, MinSamples: 7, MaxSamples: 7, Region: 50e-6, TimeLimit: 30}
	if s := timeAlone(t, d, policy); s.N != 7 || len(s.Samples) != 7 || s.Launches != 1 || s.Steps != 1 || s.CutSlow || s.Min < 1e-3 || s.Median > 1 {
		t.Errorf("%+v", s)
	}
	policy.Region = 5e-3 // several launches a sample, an even number; a step is still a millisecond
	if s := timeAlone(t, d, policy); s.N != 7 || s.Launches < 2 || s.Launches > 6 || s.Launches%2 != 0 || s.Steps != s.Launches || s.Min < 1e-3 || s.Min > 4e-3 {
		t.Errorf("%+v", s)
	}
	policy.CutAbove = 0.1e-3
	if s := timeAlone(t, d, policy); !s.CutSlow || s.N != 1 {
		t.Errorf("%+v", s)
	}
	policy.CutAbove = 10
	if s := timeAlone(t, d, policy); s.CutSlow || s.N != 7 {
		t.Errorf("%+v", s)
	}
	policy.TimeLimit = 1e-3
	if s := timeAlone(t, d, policy); s.N != 3 || !strings.Contains(strings.Join(s.Warnings, ";"), "only 3 samples") {
		t.Errorf("%+v", s)
	}
	policy = timing.Policy{Regime: timing.Cold, MinSamples: 3, MaxSamples: 3, Region: 5e-3, TimeLimit: 30}
	if s := timeAlone(t, d, policy); s.N != 3 || s.Launches != 1 {
		t.Errorf("cold: %+v", s)
	}
	if d.flush.bytes != 8<<20 {
		t.Errorf("%d bytes are written to empty an L2 of 4 MiB", d.flush.bytes)
	}
}

func interleaved(t *testing.T) {
	d := openFake(t)
	p := copyProblem(t, 1000, stencil.Float32)
	runs := []device.Pass{load(t, d, fakeKernel(t, p, "FAKE_SLOW one"), 1), load(t, d, fakeKernel(t, p, "two"), 1), load(t, d, fakeKernel(t, p, "FAKE_SLOW three"), 1)}
	policy := timing.Policy{Regime: timing.Warm, MinSamples: 5, MaxSamples: 12, Region: 50e-6, TimeLimit: 30}
	for _, together := range []bool{true, false} {
		before := live(t, changes)
		series, err := d.Time(context.Background(), device.Timing{Problem: p, Runs: runs, Policy: policy, Interleaved: together})
		if err != nil || len(series) != len(runs) {
			t.Fatal(series, err)
		}
		least, most := series[0].N, series[0].N
		for _, s := range series {
			least, most = min(least, s.N), max(most, s.N)
		}
		if least < policy.MinSamples || most > least+1 {
			t.Errorf("between %d and %d samples", least, most)
		}
		if series[1].Median >= series[0].Median || series[1].Median >= series[2].Median {
			t.Errorf("medians %g %g %g: the second is the fastest", series[0].Median, series[1].Median, series[2].Median)
		}
		turns := live(t, changes) - before // warming up is three of them
		if together != (turns > 2*least) || turns < 5 {
			t.Errorf("interleaved %v: %d changes of kernel in %d samples each", together, turns, least)
		}
	}
}

// deadlineWhileTiming: a deadline between samples fails the schedule, not the process.
func deadlineWhileTiming(t *testing.T) {
	d := openFake(t)
	p := copyProblem(t, 1000, stencil.Float32)
	pass := load(t, d, fakeKernel(t, p, "FAKE_SLOW"), 1)
	ctx, cancel := context.WithTimeout(context.Background(), 50*time.Millisecond)
	defer cancel()
	policy := timing.Policy{MinSamples: 10000, MaxSamples: 10000, Region: 50e-6, TimeLimit: 60}
	_, err := d.Time(ctx, device.Timing{Problem: p, Runs: []device.Pass{pass}, Policy: policy})
	if f := device.AsFailure(err); f == nil || f.Status != timing.Timeout || errors.Is(err, ErrSticky) {
		t.Errorf("%v", err)
	}
	if cmp, err := checkPass(d, p, pass, time.Minute); err != nil || !cmp.OK() {
		t.Errorf("the next check: %+v %v", cmp, err)
	}
}

func copyBandwidth(t *testing.T) {
	d := openFake(t)
	if rate, err := d.CopyBandwidth(context.Background(), 4<<20+1); err != nil || rate < 1e7 || rate > 1e13 {
		t.Errorf("%g B/s, %v", rate, err)
	}
	if _, err := d.CopyBandwidth(context.Background(), 1<<40); device.AsFailure(err) == nil {
		t.Error(err)
	}
}

// nothingLeaks runs many schedules from source to times.
func nothingLeaks(t *testing.T) {
	const cycles = 2000
	d := openFake(t)
	ctx := context.Background()
	policy := timing.Policy{Regime: timing.Warm, MinSamples: 2, MaxSamples: 2, Region: 1e-6, TimeLimit: 1}
	n := 0
	run := func(count int) {
		for range count {
			n++
			p := copyProblem(t, 1000, []stencil.DType{stencil.Float32, stencil.Float64}[n%2])
			pass := load(t, d, fakeKernel(t, p, fmt.Sprint("schedule ", n)), 2)
			if cmp, err := checkPass(d, p, pass, time.Minute); err != nil || !cmp.OK() {
				t.Fatalf("%+v %v", cmp, err)
			}
			if _, err := d.Time(ctx, device.Timing{Problem: p, Runs: []device.Pass{pass}, Policy: policy}); err != nil {
				t.Fatal(err)
			}
			d.Release(pass.Binary)
		}
	}
	resident := func() int64 {
		runtime.GC()
		debug.FreeOSMemory()
		text, err := os.ReadFile("/proc/self/statm")
		if err != nil {
			t.Skip(err)
		}
		var total, pages int64
		if _, err := fmt.Sscan(string(text), &total, &pages); err != nil {
			t.Fatal(err)
		}
		return pages * int64(os.Getpagesize())
	}
	run(cycles / 10)
	before, host, threads := allLive(t), resident(), runtime.NumGoroutine()
	run(cycles)
	if after := allLive(t); after != before || len(d.modules) != 0 {
		t.Errorf("live modules, blocks, events, contexts: %v, before %v", after, before)
	}
	if grown := resident() - host; grown > 30<<20 {
		t.Errorf("the process grew by %d bytes", grown)
	}
	if now := runtime.NumGoroutine(); now > threads {
		t.Errorf("%d goroutines, before %d", now, threads)
	}
	noPrograms(t, d)
}

// closeFreesEverything, whatever was in use.
func closeFreesEverything(t *testing.T) {
	for range 3 {
		d, err := OpenDevice("0")
		if err != nil {
			t.Fatal(err)
		}
		for _, dtype := range []stencil.DType{stencil.Float32, stencil.Float64} {
			for _, n := range []int{1000, 2000, 3000} {
				p := copyProblem(t, n, dtype)
				pass := load(t, d, fakeKernel(t, p, ""), 1)
				cmp, err := d.Check(context.Background(), device.Check{Problem: p, Passes: []device.Pass{pass}, Trusted: []device.Pass{pass}})
				if err != nil || !cmp.OK() {
					t.Fatalf("%+v %v", cmp, err)
				}
			}
		}
		timeAlone(t, d, timing.Policy{Regime: timing.Cold, MinSamples: 1, MaxSamples: 1, TimeLimit: 1})
		got := allLive(t)
		if got[liveModules] != 8 || got[liveBlocks] < 8 || got[liveEvents] != 5 || got[liveContexts] != 1 { // three kernels and their helpers, twice
			t.Errorf("live before: %v", got)
		}
		for range 2 { // the second does nothing
			if err := d.Close(); err != nil {
				t.Error(err)
			}
		}
		if got := allLive(t); got != [4]int{} {
			t.Errorf("live after: %v", got)
		}
	}
}
