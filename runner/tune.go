package runner

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"math"
	"slices"
	"time"

	"stenciltune/device"
	"stenciltune/kernels"
	"stenciltune/outcome"
	"stenciltune/search"
	"stenciltune/space"
	"stenciltune/stencil"
	"stenciltune/timing"
)

// Baseline proves and times the naive kernel, while what the search begins with compiles.
// A cancelled context is no error here nor of what follows: the session then does nothing
// more, and its result is the best so far with Stop Interrupted.
func (t *Session) Baseline(ctx context.Context) error {
	t.ahead, t.stop = context.WithCancel(ctx)
	for {
		err := t.baseline(ctx, t.propose)
		if err == nil {
			return t.settle(ctx, t.join(ctx))
		}
		if err := t.discard(ctx, t.lead(), err); err != nil {
			return t.settle(ctx, err)
		}
		// The next one begins as if it were the first.
		t.release()
		t.naive, t.firsts, t.outcomes, t.filed, t.tracker, t.failed = outcome.Outcome{}, nil, nil, map[space.Schedule]bool{}, search.Tracker{}, map[timing.Status]int{}
	}
}

// Search runs the strategy until a stop rule holds.
func (t *Session) Search(ctx context.Context) (err error) {
	if t.result.Stop == search.Interrupted {
		return nil
	}
	t.result.Stop, err = t.search(ctx)
	if rest := t.drain(ctx); err == nil {
		err = rest
	}
	t.result.Within = search.Stands(t.Strategy, t.Stop)
	t.abandon()
	t.searched = t.now()
	return t.settle(ctx, err)
}

// Finals times the best again, interleaved and paired, and proves the winner.
func (t *Session) Finals(ctx context.Context) error {
	if t.result.Stop == search.Interrupted {
		return nil
	}
	for {
		err := t.finals(ctx, &t.result)
		if err == nil || errors.Is(err, ErrNoEnergy) {
			return err
		}
		if err := t.discard(ctx, t.lead(), err); err != nil { // else they are held on the next
			return t.settle(ctx, err)
		}
	}
}

// End frees what the session holds and gives its result, with the error that ended it;
// ErrNoSchedule if nothing was found. With any other error the device or the journal is
// lost; the result still holds what was measured.
func (t *Session) End(ctx context.Context, err error) (Result, error) {
	t.abandon()
	t.release()
	r := &t.result
	if r.Winner.Schedule.IsZero() {
		r.Winner = t.best()
	}
	r.Naive, r.Evaluated, r.Repeated, r.Failed, r.Outcomes = t.naive, t.tracker.Evaluated(), t.repeated, t.failed, t.outcomes
	r.Seconds = t.now().Seconds()
	r.Utilisation = min(1, t.busy.Seconds()/cmp.Or(t.searched, t.now()).Seconds()/float64(len(t.stations)))
	if err == nil && r.Stop != search.Interrupted {
		r.Copy = t.bandwidth(ctx)
	}
	if err != nil && r.Stop == "" {
		r.Stop = search.Lost
	}
	if seen := t.lead().seen; seen != "" {
		for _, s := range t.stations[1:] {
			seen = stencil.Together(seen, s.seen)
		}
		for _, u := range t.Problem.Stencil.Untaken(seen) {
			t.warn("%s, in any cell that is compared with the reference: there kernels are compared with each other alone", u)
		}
	}
	r.Warnings = t.warnings
	if err == nil && r.Winner.Schedule.IsZero() {
		err = &ErrNoSchedule{Failed: r.Failed}
	}
	return *r, err
}

// settle takes a cancellation for what it is: the user's stop, and no fault.
func (t *Session) settle(ctx context.Context, err error) error {
	if cancelled(ctx, err) {
		t.result.Stop = search.Interrupted
		return nil
	}
	return err
}

// bandwidth is the device's copy bandwidth in bytes a second, measured once if it can
// be, else as the machine knows it; 0 if nobody knows.
func (t *Session) bandwidth(ctx context.Context) float64 {
	if t.copied != nil {
		return *t.copied
	}
	d := t.lead().device
	b := d.Machine().CopyBytesPerSecond
	if c, ok := d.(device.Copier); ok {
		var err error
		b, err = c.CopyBandwidth(ctx, t.Problem.Bytes())
		if ctx.Err() != nil {
			return 0
		}
		if err != nil {
			t.warn("copy bandwidth unknown: %v", err)
			b = 0
		}
	}
	t.copied = &b
	return b
}

// progress is how far the tune is, while so many schedules wait to be evaluated.
func (t *Session) progress(queue int) search.Progress {
	now := t.now()
	p := t.tracker.Progress(now, true)
	if s := t.best().Seconds(); s > 0 && t.copied != nil && *t.copied > 0 {
		p.Roofline = t.share(s, *t.copied)
	}
	p.Likely = max(0, t.Stop.Budget-p.Evaluated)
	if t.Stop.Budget == 0 {
		p.Likely = math.MaxInt
	}
	if f, ok := t.Strategy.(search.Forecaster); ok {
		p.Foretells = f.Foretells()
		if t.Stop.Converged > 0 {
			p.Likely = min(p.Likely, f.Left(t.Stop.Converged)+queue)
		}
	}
	if t.Stop.Stall > 0 {
		p.Likely = min(p.Likely, t.Stop.ToStall(p))
	}
	if p.Likely == math.MaxInt || t.began == 0 {
		p.Likely = 0
		return p
	}
	if n := p.Evaluated - t.before; n > 0 {
		p.End = now + (now-t.began)*time.Duration(p.Likely)/time.Duration(n)
		if limit := t.began + t.Stop.Time; t.Stop.Time > 0 && p.Evaluated+p.Likely >= t.Stop.Least {
			p.End = min(p.End, max(limit, now))
		}
	}
	return p
}

// share is the share of the roofline of one step at which a step takes so long.
func (t *Session) share(seconds, bandwidth float64) float64 {
	return float64(t.Problem.Size.Cells()) * float64(t.Problem.Traffic()) / seconds / bandwidth
}

// best is the fastest outcome so far; the zero Outcome if there is none.
func (t *Session) best() outcome.Outcome {
	o, _ := t.tracker.Best()
	return o
}

// cancelled tells whether an error is the user's stop and no fault.
func cancelled(ctx context.Context, err error) bool {
	return err != nil && ctx.Err() != nil
}

func (t *Session) phase(name string) {
	if t.Watcher != nil {
		t.Watcher.Phase(name)
	}
}

func (t *Session) trying(c *candidate) {
	if t.Watcher != nil {
		t.Watcher.Trying(c.outcome.Schedule)
	}
}

// policy is the timing policy while searching.
func (t *Session) policy() timing.Policy {
	p := timing.Search()
	p.Regime = t.Regime
	if s := t.best().Seconds(); s > 0 {
		p.CutAbove = timing.CutFactor * s
	}
	return p
}

// naiveGroups are the usual group shapes of a naive kernel, by dimensions.
var naiveGroups = [3][][3]int{
	{{256, 1, 1}, {128, 1, 1}, {512, 1, 1}},
	{{64, 4, 1}, {32, 8, 1}, {128, 2, 1}},
	{{64, 4, 1}, {32, 8, 1}, {128, 2, 1}},
}

// Naive are the baseline's schedules: one cell a thread, no column order.
func Naive(p stencil.Problem, sp *space.Space) []space.Schedule {
	var list []space.Schedule
	for _, g := range naiveGroups[p.Stencil.Dims-1] {
		s, err := space.ParseSchedule(fmt.Sprintf("global/gx=%d/gy=%d/gz=%d/wx=1/wy=1/wz=1/cw=0/zz=0/sp=0", g[0], g[1], g[2]))
		if err == nil && sp.Check(s) == nil {
			list = append(list, s)
		}
	}
	if len(list) == 0 { // a grid so small that the usual shapes are illegal
		for s := range sp.All() {
			if h := kernels.ShapeOf(s); s.Family() == "global" && h.Work == [3]int{1, 1, 1} && h.Column == 0 {
				return []space.Schedule{s}
			}
		}
	}
	return list
}

// baseline proves and times the naive kernel: the judge of full-size answers, the
// reference for drift, and the number the speed-up refers to. It is measured
// anew in every run, whatever the journal knows. The incumbent follows it. Once
// these are being compiled it calls compiling.
func (t *Session) baseline(ctx context.Context, compiling func() error) error {
	t.phase("baseline")
	lead := t.lead()
	if t.Judge != nil {
		b, err := t.Device.Compile(ctx, t.Judge.Kernel(t.Problem))
		if err != nil {
			return fmt.Errorf("the judge does not compile: %w", err)
		}
		t.judge = &device.Pass{Binary: b}
	}
	journal := t.Journal
	t.Journal = nil
	ctx, cancel := context.WithCancel(ctx)
	var cs []*candidate
	defer func() { // the reference and the judge stay loaded; the others go
		cancel()
		for _, c := range cs {
			<-c.done
			if c != t.reference && (t.trusted == nil || c.binary.ID != t.trusted.Binary.ID) {
				t.Device.Release(c.binary)
			}
		}
		lead.held = lead.held[:0]
	}()
	list := t.Options.Baseline
	if list == nil {
		list = Naive(t.Problem, t.Space)
	}
	for _, s := range list {
		cs = append(cs, t.prepare(ctx, s))
		t.firsts = append(t.firsts, s)
	}
	t.Journal = journal
	naive := len(cs)
	if s := t.Incumbent; !s.IsZero() && !slices.Contains(list, s) {
		c := t.generate(t.Problem, s)
		if !t.recall(c) {
			t.start(ctx, c)
		}
		cs = append(cs, c)
		t.firsts = append(t.firsts, s)
	}
	if err := compiling(); err != nil {
		return err
	}
	for i, c := range cs {
		if i == naive {
			if t.naive.Schedule.IsZero() { // nobody can judge it
				break
			}
			if err := t.begin(c); err != nil {
				return err
			}
		}
		t.await(c)
		if c.err != nil {
			return c.err
		}
		t.trying(c)
		begin := t.now()
		if err := lead.evaluate(ctx, c, t.policy()); err != nil {
			return err
		}
		t.busy += t.now() - begin
		if err := ctx.Err(); err != nil { // its failure, if any, is the cancellation's
			return err
		}
		if err := t.finish(lead, c, nil); err != nil {
			return err
		}
		if i < naive && c.outcome.Status.Timed() {
			if t.trusted == nil {
				t.trusted = &device.Pass{Binary: c.binary, Launch: c.kernel.Launch}
			}
			if t.naive.Schedule.IsZero() || c.outcome.Seconds() < t.naive.Seconds() {
				t.naive, t.reference = c.outcome, c
				lead.drift = drift{median: c.outcome.Seconds(), last: t.now()}
			}
		}
	}
	if t.naive.Schedule.IsZero() {
		reason := "the space has none"
		if naive > 0 {
			reason = cs[0].outcome.Reason
		}
		if naive > 0 && slices.ContainsFunc(cs[0].outcome.Checks, stencil.Comparison.Unproved) {
			return &ErrNoSchedule{t.failed, "no kernel can be judged here: " + reason}
		}
		return &ErrNoSchedule{t.failed, "the naive kernel, which judges all others, does not work here: " + reason}
	}
	return nil
}

// release frees what the tune kept loaded.
func (t *Session) release() {
	for _, s := range t.stations {
		s.dropHeld()
	}
	if t.reference != nil {
		t.Device.Release(t.reference.binary)
	}
	for _, p := range []*device.Pass{t.trusted, t.judge} {
		if p != nil {
			t.Device.Release(p.Binary)
		}
	}
	t.reference, t.trusted, t.judge = nil, nil, nil
}

// Measure checks schedules, each as a tune does, and times those that pass,
// interleaved. It is what `tune measure` shows.
func Measure(ctx context.Context, o Options, schedules []space.Schedule, policy timing.Policy) ([]outcome.Outcome, error) {
	for _, s := range schedules {
		if err := o.Space.Check(s); err != nil {
			return nil, err
		}
	}
	t := New(o)
	t.Journal = nil
	lead := t.lead()
	defer t.release()
	if err := t.baseline(ctx, func() error { return nil }); err != nil {
		return nil, err
	}
	var cs, ready []*candidate
	for _, s := range schedules {
		cs = append(cs, t.prepare(ctx, s))
	}
	defer func() {
		for _, c := range cs {
			<-c.done
			t.Device.Release(c.binary)
		}
	}()
	for _, c := range cs {
		t.await(c)
		if c.err != nil {
			return nil, c.err
		}
		if c.outcome.Status == "" {
			if err := lead.check(ctx, c, t.grids(c)); err != nil {
				return nil, err
			}
		}
		if c.outcome.Status == "" {
			ready = append(ready, c)
		}
	}
	if len(ready) > 0 {
		if _, err := lead.together(ctx, ready, policy); err != nil {
			return nil, err
		}
	}
	var all []outcome.Outcome
	for _, c := range cs {
		all = append(all, c.outcome)
	}
	return all, ctx.Err()
}
