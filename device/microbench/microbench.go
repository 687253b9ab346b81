// Package microbench measures a device once: bandwidths of its memories, latencies, the
// cost of a launch and of a barrier. It runs small kernels through the device's own
// contract, so that every device that runs kernels can be measured. Seconds, bytes.
package microbench

import (
	"cmp"
	"context"
	_ "embed"
	"fmt"

	"stenciltune/device"
	"stenciltune/kernels"
	"stenciltune/machine"
	"stenciltune/space"
	"stenciltune/stencil"
	"stenciltune/timing"
)

//go:embed microbench.cu
var text string

// Result is what was measured.
type Result struct {
	machine.Rates
	CopyBytesPerSecond float64 // read plus written
}

// few samples: the median of five is within a few per cent.
var few = timing.Policy{MinSamples: 5, MaxSamples: 9, HalfWidth: 0.02, Region: 200e-6, TimeLimit: 0.1}

// fewer are those of Quick. The seven series of its jobs take a fifth of a second at most.
var fewer = timing.Policy{MinSamples: 3, MaxSamples: 5, HalfWidth: 0.05, Region: 200e-6, TimeLimit: 0.03}

// suite is the kernels for one machine.
type suite struct {
	d             device.Device
	problem       stencil.Problem
	policy        timing.Policy
	reads, length int // of a thread, in loops that measure bandwidth and latency
}

const elem = 4 // bytes of a cell

// newSuite chooses a grid that L2 cannot hold: four times its size. An emulation
// gets a small one: any size proves as much.
func newSuite(d device.Device) (suite, error) {
	m := d.Machine()
	s := suite{d: d, policy: few, reads: 4096, length: 1000}
	bytes := max(4*m.L2Bytes, 64<<20)
	if m.Kind == machine.Host {
		s.reads, s.length, bytes = 64, 20, 16<<20
	}
	if free := cmp.Or(m.FreeBytes, m.MemoryBytes); free > 0 {
		bytes = min(bytes, free/4)
	}
	st, err := stencil.Lookup("jacobi2d") // any: its own kernels are not used
	const wide = 4096
	s.problem = stencil.Problem{Stencil: st, DType: stencil.Float32, Size: stencil.Size{wide, max(1, int(bytes/elem/wide)), 1}, Steps: 1}
	return s, err
}

// job is one kernel and what its times say. set and lines are what it reads, where
// that matters.
type job struct {
	entry           string
	blocks, threads int
	set, lines      int
	cold            bool
	slope           bool                  // time two lengths, which are numbers of blocks
	take            func(seconds float64) // of a launch, or of one turn of the loop
}

// The two lengths of a slope, in turns of a loop of suite.length.
const short, long = 4, 8

func (s suite) kernel(j job) (kernels.Kernel, error) {
	id, err := space.ParseSchedule(fmt.Sprintf("micro/set=%d/lines=%d", j.set, j.lines))
	source := fmt.Sprintf("typedef float T;\nconstexpr int SET = %d, LINES = %d, READS = %d, LENGTH = %d;\n#line 1 \"microbench.cu\"\n%s",
		max(j.set, 4), max(j.lines, 1), s.reads, s.length, text)
	return kernels.Kernel{
		Schedule: id, Source: source, Entry: j.entry, DType: stencil.Float32,
		Launch: kernels.Launch{Grid: [3]int{j.blocks, 1, 1}, Block: [3]int{j.threads, 1, 1}, Steps: 1},
	}, err
}

// run compiles all jobs at once, and times them one after the other.
func (s suite) run(ctx context.Context, jobs []job) error {
	type built struct {
		binary device.Binary
		err    error
	}
	ready := make([]chan built, len(jobs))
	for i, j := range jobs {
		ready[i] = make(chan built, 1)
		go func() {
			k, err := s.kernel(j)
			var b device.Binary
			if err == nil {
				b, err = s.d.Compile(ctx, k)
			}
			ready[i] <- built{b, err}
		}()
	}
	var failed error
	for i, j := range jobs {
		b := <-ready[i]
		if b.err == nil && failed == nil {
			b.err = s.time(ctx, j, b.binary)
		}
		if b.err != nil && failed == nil {
			failed = fmt.Errorf("%s: %w", j.entry, b.err)
		}
		s.d.Release(b.binary)
	}
	return failed
}

func (s suite) time(ctx context.Context, j job, b device.Binary) error {
	policy, blocks := s.policy, []int{j.blocks}
	policy.Regime = timing.Warm
	if j.cold {
		policy.Regime = timing.Cold
	}
	if j.slope {
		blocks = []int{short, long}
	}
	var medians []float64
	for _, n := range blocks {
		l := kernels.Launch{Grid: [3]int{n, 1, 1}, Block: [3]int{j.threads, 1, 1}, Steps: 1}
		series, err := s.d.Time(ctx, device.Timing{Problem: s.problem, Runs: []device.Pass{{Binary: b, Launch: l, Count: 1}}, Policy: policy})
		if err != nil {
			return err
		}
		medians = append(medians, series[0].Median)
	}
	if j.slope {
		j.take(max(0, (medians[1]-medians[0])/float64((long-short)*s.length)))
	} else {
		j.take(medians[0])
	}
	return nil
}

// Launch is the seconds between two launches of a kernel that does nothing, with as
// many blocks of as many threads.
func Launch(ctx context.Context, d device.Device, blocks, threads int) (seconds float64, err error) {
	s, err := newSuite(d)
	if err != nil {
		return 0, err
	}
	err = s.run(ctx, []job{{entry: "micro_null", blocks: blocks, threads: threads, take: func(t float64) { seconds = t }}})
	return seconds, err
}

// Measure runs them all: on a GPU well below 3 s, most of which is compiling.
func Measure(ctx context.Context, d device.Device) (Result, error) {
	s, err := newSuite(d)
	if err != nil {
		return Result{}, err
	}
	var r Result
	err = s.run(ctx, append(s.needed(&r), s.others(&r)...))
	return r, err
}

// Quick measures the five facts that a prediction needs and no driver tells: copy and L2
// bandwidth, memory latency, barrier and launch. The others stay 0.
func Quick(ctx context.Context, d device.Device) (Result, error) {
	s, err := newSuite(d)
	if err != nil {
		return Result{}, err
	}
	s.policy = fewer
	var r Result
	err = s.run(ctx, s.needed(&r))
	return r, err
}

// per sets a rate to bytes over the time.
func per(to *float64, bytes float64) func(float64) { return func(t float64) { *to = bytes / t } }

// as sets a fact to the time.
func as(to *float64) func(float64) { return func(t float64) { *to = t } }

// full is the blocks of 1024 threads that fill every SM, from compute capability 7.0 on.
func (s suite) full() int { return 2 * max(s.d.Machine().SMs, 1) }

// loaded is the bytes of 4 that all threads of a full device read in their loops.
func (s suite) loaded() float64 { return elem * float64(s.reads*s.full()*1024) }

// needed are the jobs of Quick.
func (s suite) needed(r *Result) []job {
	m := s.d.Machine()
	cells := s.problem.Size.Cells()
	set := int(min(max(m.L2Bytes/4, 1<<20), 16<<20, cells*elem)) / elem / 4096 * 4096
	return []job{
		{entry: "micro_null", blocks: 1, threads: 32, take: as(&r.Rates.Launch)},
		{entry: "micro_copy", blocks: s.full(), threads: 1024, take: per(&r.CopyBytesPerSecond, 2*elem*float64(cells))},
		{entry: "micro_l2", blocks: s.full(), threads: 1024, set: set, take: per(&r.L2Bytes, 4*s.loaded())},
		{entry: "micro_barrier", threads: 256, slope: true, take: as(&r.Barrier)},
		// Lines that the first reading of a grid brings from memory; the host's caches
		// cannot be flushed. 17 divides none of the numbers of lines.
		{entry: "micro_chase", threads: 32, lines: int(cells)/32 - 1, slope: true, cold: m.Kind != machine.Host, take: as(&r.DRAMLatency)},
	}
}

// others are the jobs that Measure runs beside them.
func (s suite) others(r *Result) []job {
	return []job{
		{entry: "micro_shared", blocks: s.full(), threads: 1024, take: per(&r.SharedBytes, s.loaded())},
		{entry: "micro_shared_chase", threads: 32, slope: true, take: as(&r.SharedLatency)},
		// Lines that L1 holds, and that L2 but not L1 holds.
		{entry: "micro_chase", threads: 32, lines: 128, slope: true, take: as(&r.L1Latency)},
		{entry: "micro_chase", threads: 32, lines: 1 << 14, slope: true, take: as(&r.L2Latency)},
	}
}
