package cuda

import (
	"context"
	"fmt"
	"time"

	"stenciltune/device"
	"stenciltune/stencil"
	"stenciltune/timing"
)

// timed is one run being measured.
type timed struct {
	run      device.Pass
	module   *module
	sampler  *timing.Sampler
	launches int
}

// Time measures each run's seconds per step with events. The grids hold what
// checks and earlier steps left: real numbers, never zeros. If anything was written
// beside them, the runs fail as giving a wrong answer.
func (g *GPU) Time(ctx context.Context, t device.Timing) ([]timing.Series, error) {
	var all []timing.Series
	err := g.do(func() (err error) {
		all, err = g.time(ctx, t)
		return err
	})
	return all, err
}

func (g *GPU) time(ctx context.Context, t device.Timing) ([]timing.Series, error) {
	s, runs, err := g.ready(ctx, t)
	if err != nil {
		return nil, err
	}
	th := throttler{nvml: g.nvml}
	for round, more := 0, true; more; round++ {
		more = false
		for i := range runs {
			r := runs[(i+round)%len(runs)] // nobody always comes after the same one
			for r.sampler.More() {
				if err := ctx.Err(); err != nil { // between samples: nothing hangs
					return nil, device.Fail(timing.Timeout, "%s was not timed within the deadline", r.run.Binary.Schedule)
				}
				if err := g.sample(ctx, t, s, r, &th); err != nil {
					return nil, g.failed(r.run.Binary, "running", err)
				}
				more = true
				if t.Interleaved {
					break
				}
			}
		}
	}
	if err := g.untouched(t.Problem); err != nil {
		return nil, err
	}
	var all []timing.Series
	for _, r := range runs {
		series := r.sampler.Series()
		series.Warnings = append(series.Warnings, th.warnings()...)
		all = append(all, series)
	}
	return all, nil
}

// ready fills the arrays of a problem and runs each schedule unmeasured.
func (g *GPU) ready(ctx context.Context, t device.Timing) (*state, []*timed, error) {
	a, err := g.arraysFor(t.Problem)
	if err != nil {
		return nil, nil, err
	}
	s, err := g.start(t.Problem, a, 1)
	if err != nil {
		return nil, nil, err
	}
	var runs []*timed
	for _, run := range t.Runs {
		r := &timed{run: run, module: g.modules[run.Binary.ID]}
		if r.module == nil {
			return nil, nil, fmt.Errorf("cuda: %s is not loaded", run.Binary.Schedule)
		}
		runs = append(runs, r)
	}
	for _, r := range runs {
		if err := g.warm(ctx, t, s, r); err != nil {
			return nil, nil, g.failed(r.run.Binary, "running", err)
		}
	}
	return s, runs, nil
}

// untouched fails if anything was written beside the arrays: a search times what it has checked
// on a small grid alone.
func (g *GPU) untouched(p stencil.Problem) error {
	a, err := g.arraysFor(p)
	if err != nil {
		return err
	}
	h, err := g.helperFor(p.DType)
	if err != nil {
		return err
	}
	cmp := stencil.Comparison{Cells: p.Size.Cells()}
	if err := g.guards(h, a, &cmp); err != nil {
		return err
	}
	if !cmp.OK() {
		return device.Fail(timing.WrongAnswer, "%s while it was timed", cmp.Reason(p.Size))
	}
	return nil
}

// warm runs a schedule unmeasured and decides how many launches make a sample.
func (g *GPU) warm(ctx context.Context, t device.Timing, s *state, r *timed) error {
	r.launches = 1
	once, err := g.region(ctx, func() error { return g.launches(s, r) })
	if err != nil {
		return err
	}
	if once < t.Policy.Region { // the first launch of a module takes longer
		if once, err = g.region(ctx, func() error { return g.launches(s, r) }); err != nil {
			return err
		}
	}
	r.launches = t.Policy.LaunchesFor(once)
	r.sampler = timing.NewSampler(t.Policy, r.launches, r.launches*r.run.Launch.Steps)
	r.sampler.Warmed(once)
	return nil
}

// launches puts one sample's launches on the stream, from one set of fields to the
// other and back, as an iterating program would.
func (g *GPU) launches(s *state, r *timed) error {
	for range r.launches {
		if s.iteration+r.run.Launch.Steps > stencil.Iterations {
			s.iteration = 1
		}
		if err := g.launch(r.module, r.run.Launch, s, false); err != nil {
			return err
		}
	}
	return nil
}

func (g *GPU) sample(ctx context.Context, t device.Timing, s *state, r *timed, th *throttler) error {
	if t.Policy.Regime == timing.Cold {
		if err := g.flushL2(); err != nil {
			return err
		}
	}
	elapsed, err := g.region(ctx, func() error { return g.launches(s, r) })
	if err != nil {
		return err
	}
	spoilt := th.spoilt()
	r.sampler.Add(elapsed, spoilt)
	if spoilt && t.Interleaved && r.sampler.More() && ctx.Err() == nil {
		return g.sample(ctx, t, s, r, th) // at once, so that samples still pair up
	}
	return nil
}

// flushL2 writes a buffer twice as large as L2.
func (g *GPU) flushL2() error {
	if g.flush.ptr == 0 {
		var err error
		if g.flush, err = alloc(2 * max(g.machine.L2Bytes, 1<<20)); err != nil {
			return err
		}
	}
	return cuMemsetD32Async(g.flush.ptr, 0, g.flush.bytes/4)
}

// throttler asks NVML now and then whether the hardware slows its clocks.
type throttler struct {
	nvml  *nvml
	last  time.Time
	hard  bool
	row   int // spoilt samples in a row
	delay time.Duration
	soft  map[string]bool
}

// A reading is asked for at most this often: it costs some tens of microseconds.
const throttleInterval = 50 * time.Millisecond

// spoilt tells whether the sample just taken is to be discarded; after several
// in a row it lets the GPU rest (NVBench's delays: 50 ms growing to 500 ms).
func (t *throttler) spoilt() bool {
	if t.nvml == nil {
		return false
	}
	if t.hard || time.Since(t.last) > throttleInterval {
		var reasons []string
		reasons, t.hard = t.nvml.throttle()
		t.last = time.Now()
		for _, r := range reasons {
			if t.soft == nil {
				t.soft = map[string]bool{}
			}
			t.soft[r] = true
		}
	}
	if !t.hard {
		t.row, t.delay = 0, 0
		return false
	}
	if t.row++; t.row > 2 {
		t.delay = min(max(t.delay*3/2, 50*time.Millisecond), 500*time.Millisecond)
		time.Sleep(t.delay)
	}
	return true
}

func (t *throttler) warnings() []string {
	var w []string
	for _, b := range throttleBits {
		if t.soft[b.name] {
			w = append(w, "clocks were lowered while timing: "+b.name)
		}
	}
	return w
}
