package cuda_test

import (
	"context"
	"flag"
	"fmt"
	"os"
	"runtime"
	"runtime/debug"
	"strings"
	"sync"
	"testing"
	"time"

	"stenciltune/device"
	"stenciltune/device/cuda"
	"stenciltune/device/devicetest"
	"stenciltune/device/verify"
	"stenciltune/kernels"
	"stenciltune/kernels/all"
	"stenciltune/space/spacetest"
	"stenciltune/stencil"
	"stenciltune/stencil/stenciltest"
	"stenciltune/timing"
)

var (
	flagGPU   = flag.String("gpu", "auto", "GPU tests: auto skips them without a GPU, require fails, off skips")
	flagCases = flag.Int("cases", 520, "random schedules to check on the GPU")
	flagEach  = flag.Int("each", 100, "random schedules of each stencil of the catalogue")
	flagSeed  = flag.Uint64("seed", 20261121, "seed of the random schedules")
	flagNamed = flag.String("named", "", "cases to check again, as a failure names them, with spaces between; of -launches and -seed")
	flagTimes = flag.Int("launches", 3, "launches of the cases of -named")
	flagLeak  = flag.Int("leak-schedules", 2000, "schedules of the leak test")
)

// openGPU opens the first GPU, or skips or fails as -gpu says.
func openGPU(t *testing.T) *cuda.Device {
	t.Helper()
	if *flagGPU == "off" {
		t.Skip("GPU tests are off")
	}
	d, err := cuda.OpenDevice("0")
	if err != nil && *flagGPU == "require" {
		t.Fatal(err)
	}
	if err != nil {
		t.Skip(err)
	}
	t.Cleanup(func() {
		if err := d.Close(); err != nil {
			t.Error(err)
		}
	})
	return d
}

// compileAll compiles kernels on all processors.
func compileAll(t *testing.T, ks []kernels.Kernel, compile func(context.Context, kernels.Kernel) (device.Binary, error)) []device.Binary {
	bs := make([]device.Binary, len(ks))
	slots := make(chan struct{}, runtime.NumCPU())
	var wg sync.WaitGroup
	for i, k := range ks {
		wg.Go(func() {
			slots <- struct{}{}
			defer func() { <-slots }()
			b, err := compile(context.Background(), k)
			if err != nil {
				t.Errorf("%s: %v", k.Schedule, err)
			}
			bs[i] = b
		})
	}
	wg.Wait()
	return bs
}

func TestGPURandomSchedulesGiveTheReferencesAnswer(t *testing.T) {
	d := openGPU(t)
	t.Log(d.Machine())
	devicetest.Check(t, d, devicetest.Cases(t, d.Machine(), *flagCases, *flagSeed))
}

func TestGPUCatalogueGivesTheReferencesAnswer(t *testing.T) {
	d := openGPU(t)
	devicetest.Check(t, d, devicetest.CatalogueCases(t, d.Machine(), *flagEach, *flagSeed+1))
}

func TestGPUEveryRuleGivesTheReferencesAnswer(t *testing.T) {
	d := openGPU(t)
	devicetest.Check(t, d, devicetest.SumCases(t, d.Machine(), *flagCases, *flagSeed+3))
	devicetest.Check(t, d, devicetest.MixedCases(t, d.Machine(), *flagCases/2, *flagSeed+6))
}

func TestGPUNegativesOfTheLeastNumbersGiveTheReferencesAnswer(t *testing.T) {
	d := openGPU(t)
	devicetest.Check(t, d, devicetest.NegativeCases(t, d.Machine(), *flagSeed+14))
}

func TestGPUSharedValuesGiveTheReferencesAnswer(t *testing.T) {
	d := openGPU(t)
	devicetest.Check(t, d, devicetest.SharedCases(t, d.Machine(), *flagCases, *flagSeed+13))
}

// Arrays and fields in types of their own, and fields that multiply each other.
func TestGPUStoredTypesGiveTheReferencesAnswer(t *testing.T) {
	d := openGPU(t)
	devicetest.Check(t, d, devicetest.FieldCases(t, d.Machine(), *flagCases, *flagSeed+11))
	devicetest.Check(t, d, devicetest.StoredCases(t, d.Machine(), *flagCases/2, *flagSeed+8))
	devicetest.Check(t, d, devicetest.CoupledCases(t, d.Machine(), *flagCases/2, *flagSeed+12))
}

func TestGPUStepScalarsGiveTheReferencesAnswer(t *testing.T) {
	d := openGPU(t)
	devicetest.Check(t, d, devicetest.StepCases(t, d.Machine(), *flagEach, *flagSeed+9))
}

func TestGPUAnErrorIsFoundInWhicheverFieldItIs(t *testing.T) {
	devicetest.CheckFieldsApart(t, openGPU(t))
}

func TestGPUNamedCases(t *testing.T) {
	if *flagNamed == "" {
		t.Skip("no case is named")
	}
	d := openGPU(t)
	for name := range strings.FieldsSeq(*flagNamed) {
		t.Run(name, func(t *testing.T) {
			devicetest.Check(t, d, []verify.Case{devicetest.NamedCase(t, name, *flagTimes, uint32(*flagSeed))})
		})
	}
}

// handWritten is a kernel outside any family: text at the beginning of the naive body.
func handWritten(t *testing.T, size stencil.Size, before string, shared int) (kernels.Kernel, stencil.Problem) {
	st := stenciltest.Parse(t, "copy", "NumDimensions 3\nStencilSize (0, 0, 0)\nCellValue { return get(0, 0, 0); }")
	source := `extern "C" __global__ void copy(const float *in, float *out, int nx, int ny, int nz) {
  extern __shared__ float tile[];
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
` + before + `
  tile[threadIdx.x] = i < nx * ny * nz ? in[i] : 0;
  __syncthreads();
  if (i < nx * ny * nz) out[i] = tile[threadIdx.x];
}
`
	p := stencil.Problem{Stencil: st, DType: stencil.Float32, Size: size, Steps: 1}
	return kernels.Kernel{Source: source, Entry: "copy", DType: p.DType, Launch: kernels.Launch{
		Grid: [3]int{int((size.Cells() + 255) / 256), 1, 1}, Block: [3]int{256, 1, 1}, SharedBytes: shared, Steps: 1}}, p
}

func checkOnce(t *testing.T, d *cuda.Device, k kernels.Kernel, p stencil.Problem, limit time.Duration) (stencil.Comparison, error) {
	t.Helper()
	b, err := d.Compile(context.Background(), k)
	if err != nil {
		t.Fatal(err)
	}
	defer d.Release(b)
	ctx, cancel := context.WithTimeout(context.Background(), limit)
	defer cancel()
	return d.Check(ctx, device.Check{Problem: p, Passes: []device.Pass{{Binary: b, Launch: k.Launch, Count: 3}}, Seed: 7})
}

func TestGPUDetectsEveryKindOfWrongAnswer(t *testing.T) {
	d := openGPU(t)
	size := stencil.Size{67, 45, 29}
	for _, c := range []struct {
		name, before string
		shared       int
		ok           bool
		reason       string
	}{
		{"right", "", 1024, true, ""},
		{"200 KiB of shared memory", "", 200 << 10, true, ""},
		{"NaN", "if (i == 5) { out[i] = 0.0f / 0.0f; return; }", 1024, false, "got NaN"},
		{"unwritten cell", "if (i == 6) return;", 1024, false, "got NaN"},
		{"one cell off", "if (i == 8) { out[i] = in[i] + 1; return; }", 1024, false, "1 of 87435 cells"},
		{"write past the end", "if (i == 9) out[nx * ny * nz] = 1;", 1024, false, "out-of-bounds"},
		{"write before the beginning", "if (i == 9) out[-1] = 1;", 1024, false, "out-of-bounds"},
	} {
		t.Run(c.name, func(t *testing.T) {
			k, p := handWritten(t, size, c.before, c.shared)
			cmp, err := checkOnce(t, d, k, p, 10*time.Second)
			if err != nil || cmp.OK() != c.ok || !strings.Contains(cmp.Reason(size), c.reason) {
				t.Errorf("%+v, %q, %v", cmp, cmp.Reason(size), err)
			}
		})
	}
}

func TestGPUFactsAndCopyBandwidthArePlausible(t *testing.T) {
	d := openGPU(t)
	m := d.Machine()
	rate, err := d.CopyBandwidth(context.Background(), 512<<20)
	if err != nil {
		t.Fatal(err)
	}
	t.Logf("%+v", m)
	t.Logf("copy %.3g B/s, peak %.3g B/s, %+v", rate, m.PeakDRAM(), d.Telemetry())
	if rate < 0.3*m.PeakDRAM() || rate > 1.05*m.PeakDRAM() {
		t.Errorf("copy bandwidth %g against a peak of %g", rate, m.PeakDRAM())
	}
	if m.SMs < 1 || m.SharedBlockOptin < m.SharedBlock || m.L2Bytes < 1<<20 || m.UUID == "" || m.Compiler == "" {
		t.Errorf("facts: %+v", m)
	}
}

func TestGPUTimeAgreesWithTheCopy(t *testing.T) {
	d := openGPU(t)
	size := stencil.Size{512, 512, 512}
	k, p := handWritten(t, size, "", 1024)
	b, err := d.Compile(context.Background(), k)
	if err != nil {
		t.Fatal(err)
	}
	for _, regime := range []timing.Regime{timing.Warm, timing.Cold} {
		policy := timing.Finals()
		policy.Regime = regime
		s, err := d.Time(context.Background(), device.Timing{Problem: p, Policy: policy, Runs: []device.Pass{{Binary: b, Launch: k.Launch}}})
		if err != nil {
			t.Fatal(err)
		}
		rate := 2 * float64(p.Bytes()) / s[0].Median
		t.Logf("%s: %.3g B/s, %d samples, +-%.2f %%", regime, rate, s[0].N, 100*s[0].RelHalfWidth())
		if peak := d.Machine().PeakDRAM(); rate < 0.3*peak || rate > 1.05*peak {
			t.Errorf("%s: a copy kernel moves %g B/s against a peak of %g", regime, rate, peak)
		}
	}
}

// resident is the process's memory in bytes.
func resident(t *testing.T) int64 {
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

// TestGPUEnergyRepeats: stretches of a copy draw the same, each within a second.
func TestGPUEnergyRepeats(t *testing.T) {
	d := openGPU(t)
	if !d.Metered() {
		t.Skip("this GPU has no energy counter of its own")
	}
	k, p := handWritten(t, stencil.Size{512, 512, 512}, "", 1024)
	b, err := d.Compile(context.Background(), k)
	if err != nil {
		t.Fatal(err)
	}
	defer d.Release(b)
	var low, high float64
	for i := range 4 {
		begin := time.Now()
		e, err := d.Energy(t.Context(), device.Energy{Problem: p, Run: device.Pass{Binary: b, Launch: k.Launch}, Stretch: timing.Metering()})
		took := time.Since(begin)
		if err != nil || !e.Known() || e.Watts > 2000 || took > time.Second {
			t.Fatalf("%+v in %v, %v", e, took, err)
		}
		t.Logf("%.1f W, %.4g us a step, %.0f MHz, lowered by %q, in %v", e.Watts, 1e6*e.SecondsPerStep, e.ClockHz/1e6, e.Lowered, took)
		if low, high = min(low, e.Watts), max(high, e.Watts); i == 0 {
			low = e.Watts
		}
	}
	if high/low > 1.1 {
		t.Errorf("from %.1f to %.1f W", low, high)
	}
}

func TestGPUManySchedulesLeaveMemoryWhereItWas(t *testing.T) {
	d := openGPU(t)
	ctx := context.Background()
	c, err := cuda.OpenCompiler()
	if err != nil {
		t.Fatal(err)
	}
	cases := devicetest.Cases(t, d.Machine(), 100, *flagSeed+7)
	var ks []kernels.Kernel
	for _, k := range cases {
		ks = append(ks, k.Kernel)
	}
	images := compileAll(t, ks, func(ctx context.Context, k kernels.Kernel) (device.Binary, error) {
		return c.Compile(ctx, k, d.Machine())
	})
	if t.Failed() {
		t.FailNow()
	}
	// One schedule is loaded under a new name each time, checked, timed, released.
	n := 0
	run := func(count int) {
		for range count {
			i := n % len(cases)
			n++
			b, p, l := images[i], cases[i].Problem, cases[i].Kernel.Launch
			b.ID = fmt.Sprintf("%s-%d", b.ID, n)
			b, err := d.Load(ctx, b, l)
			if err != nil {
				t.Fatal(err)
			}
			passes := []device.Pass{{Binary: b, Launch: l, Count: 2}}
			cmp, err := d.Check(ctx, device.Check{Problem: p, Passes: passes, Seed: 1})
			if err != nil || !cmp.OK() {
				t.Fatal(cases[i].Name(), cmp.Reason(p.Size), err)
			}
			policy := timing.Search()
			policy.MaxSamples = 2
			if _, err := d.Time(ctx, device.Timing{Problem: p, Policy: policy, Runs: passes}); err != nil {
				t.Fatal(cases[i].Name(), err)
			}
			d.Release(b)
		}
	}
	settle := func() (int64, int64) {
		runtime.GC()
		debug.FreeOSMemory()
		return d.FreeMemory(), resident(t)
	}
	run(min(400, *flagLeak))
	free, host := settle()
	run(*flagLeak)
	freeAfter, hostAfter := settle()
	t.Logf("%d schedules: device memory %+d bytes, process %+d bytes", *flagLeak, free-freeAfter, hostAfter-host)
	if lost := free - freeAfter; lost > 8<<20 {
		t.Errorf("%d bytes of device memory lost", lost)
	}
	if grown := hostAfter - host; grown > 32<<20 {
		t.Errorf("the process grew by %d bytes", grown)
	}
}

func TestGPUCompilingKeepsAMegabyteAProgram(t *testing.T) {
	d := openGPU(t)
	cases := devicetest.Cases(t, d.Machine(), 600, *flagSeed+8)
	compile := func(cases []verify.Case) int64 {
		var ks []kernels.Kernel
		for _, c := range cases {
			ks = append(ks, c.Kernel)
		}
		for _, b := range compileAll(t, ks, d.Compile) {
			d.Release(b)
		}
		runtime.GC()
		debug.FreeOSMemory()
		return resident(t)
	}
	before := compile(cases[:200])
	grown := compile(cases[200:]) - before
	t.Logf("400 first compiles: process %+d bytes", grown)
	// A process of the worker package takes 256 programs.
	if grown > 400<<20 {
		t.Errorf("compiling 400 kernels left %d bytes", grown)
	}
}

// A kernel whose indices have 32 bits where they need 64 is found: its answer is wrong, or it reads where there is no memory.
func TestGPUIndicesThatAreTooNarrowAreFound(t *testing.T) {
	p := stencil.Problem{Stencil: stenciltest.Lookup(t, "jacobi2d"), DType: stencil.Float32, Size: stencil.Size{46001, 47001, 1}, Steps: 100}
	for _, text := range []string{
		"global/gx=64/gy=4/gz=1/wx=1/wy=1/wz=1/cw=0/zz=0/sp=0",
		"tile/gx=64/gy=8/gz=1/wx=1/wy=8/wz=1/cw=256/zz=1/ph=1",
	} { // what streams counts by index where its tile begins alone, and that is below 2^31 here
		d := openGPU(t) // what it does may end the process that owns the GPU
		if need := 4 * p.Bytes(); need > d.Machine().FreeBytes {
			t.Skipf("needs %d bytes of device memory", need)
		}
		s := spacetest.Schedule(t, text)
		right := kernels.Find(all.Families(), s.Family()).Kernel(p, s)
		wrong := right
		wrong.Source = strings.Replace(right.Source, "typedef long long index_t;", "typedef int index_t;", 1)
		if wrong.Source == right.Source {
			t.Fatalf("%s: no index type in the source", s)
		}
		bs := compileAll(t, []kernels.Kernel{wrong, right}, d.Compile)
		cmp, err := d.Check(context.Background(), device.Check{Problem: p, Seed: 3,
			Passes:  []device.Pass{{Binary: bs[0], Launch: wrong.Launch, Count: 1}},
			Trusted: []device.Pass{{Binary: bs[1], Launch: right.Launch, Count: 1}}})
		t.Logf("%s: %v %s", s, err, cmp.Reason(p.Size))
		if err == nil && cmp.OK() {
			t.Errorf("%s: not found", s)
		}
	}
}

// Just below 2^31 elements indices are still 32-bit. The same schedules with
// 64-bit indices must give the same answer there, and above only those exist.
func TestGPUIndicesAtTheirBorder(t *testing.T) {
	d := openGPU(t)
	below := stencil.Problem{Stencil: stenciltest.Lookup(t, "jacobi2d"), DType: stencil.Float32, Size: stencil.Size{46001, 46317, 1}, Steps: 100}
	above := below.Resized(stencil.Size{46001, 47001, 1})
	if below.Wide() || !above.Wide() {
		t.Fatalf("%v and %v are not on both sides of the border", below.Size, above.Size)
	}
	if need := 4 * above.Bytes(); need > d.Machine().FreeBytes {
		t.Skipf("needs %d bytes of device memory", need)
	}
	ctx := context.Background()
	for _, text := range []string{
		"global/gx=64/gy=4/gz=1/wx=1/wy=1/wz=1/cw=0/zz=0/sp=0",
		"global/gx=256/gy=1/gz=1/wx=1/wy=1/wz=1/cw=64/zz=1/sp=1",
		"tile/gx=64/gy=8/gz=1/wx=1/wy=8/wz=1/cw=256/zz=1/ph=4",
	} {
		s := spacetest.Schedule(t, text)
		family := kernels.Find(all.Families(), s.Family())
		narrow, wide := family.Kernel(below, s), family.Kernel(above, s)
		if narrow.Source == wide.Source {
			t.Fatalf("%s: the same source on both sides of the border", s)
		}
		bs := compileAll(t, []kernels.Kernel{narrow, wide}, d.Compile)
		cmp, err := d.Check(ctx, device.Check{Problem: below, Seed: 3,
			Passes:  []device.Pass{{Binary: bs[0], Launch: narrow.Launch, Count: 2}},
			Trusted: []device.Pass{{Binary: bs[1], Launch: narrow.Launch, Count: 2}}})
		if err != nil || !cmp.OK() {
			t.Errorf("%s: %v %s", s, err, cmp.Reason(below.Size))
		}
		// Above the border, against the naive kernel with as many steps.
		judge := wide
		if s.Family() != "global" || s.Int("sp", 0) == 1 {
			n := spacetest.Schedule(t, "global/gx=64/gy=4/gz=1/wx=1/wy=1/wz=1/cw=0/zz=0/sp=0")
			judge = kernels.Find(all.Families(), "global").Kernel(above, n)
		}
		j := compileAll(t, []kernels.Kernel{judge}, d.Compile)[0]
		cmp, err = d.Check(ctx, device.Check{Problem: above, Seed: 3, Allowed: []stencil.Allowance{{Error: 2 * stencil.Tolerance(above, 8)}},
			Passes:  []device.Pass{{Binary: bs[1], Launch: wide.Launch, Count: 2}},
			Trusted: []device.Pass{{Binary: j, Launch: judge.Launch, Count: 2 * wide.Launch.Steps}}})
		if err != nil || !cmp.OK() {
			t.Errorf("%s above the border: %v %s", s, err, cmp.Reason(above.Size))
		}
		d.Release(bs[0])
		d.Release(bs[1])
		d.Release(j)
	}
}
