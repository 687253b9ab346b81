package runner

import (
	"cmp"
	"context"
	"fmt"
	"time"

	"stenciltune/device"
	"stenciltune/kernels"
	"stenciltune/space"
	"stenciltune/stencil"
	"stenciltune/timing"
)

// double is a finalist's design in float64, whose bound is so narrow that it sees what rounding hides in narrower types:
// a weight that hardly counts, a neighbour that is nearly alike. Where a schedule's elements would take too much room twice
// as wide, or more than a vector holds, it is the nearest schedule that is legal.
type double struct {
	problem      stencil.Problem // on the small odd grid
	kernel, rest *candidate      // rest is nil if the kernel does single steps
	ctx          context.Context // of its compiling
	give         context.CancelFunc
}

// doublePatience is how long a tune waits for a design in float64 to be compiled, once all else is done.
const doublePatience = 5 * time.Second

// double begins to compile a finalist's design in float64; nil where that says no more than the finalist's own proof, or where
// nobody knows the answer in float64.
func (f *field) double(s space.Schedule) *double {
	t := f.session
	p := t.Problem
	if t.simulated != nil || t.Judge != nil || !p.DType.Floating() || p.DType == stencil.Float64 {
		return nil
	}
	if d, ok := f.doubles[s]; ok {
		return d
	}
	p.DType = stencil.Float64
	var d *double
	if near, ok := kernels.Find(t.Families, s.Family()).Space(p, t.Device.Machine()).Nearest(s); ok {
		d = &double{problem: p.Resized(SmallSize(p.Stencil.Dims)), kernel: t.generate(p, near)}
		d.ctx, d.give = context.WithCancel(f.ctx)
		if d.kernel.kernel.Launch.Steps > 1 {
			d.rest = t.generate(p, kernels.Remainder(near))
		}
		for _, c := range d.candidates() {
			t.start(d.ctx, c)
		}
	}
	f.doubles[s] = d
	return d
}

// candidates are what was compiled of a design in float64.
func (d *double) candidates() (list []*candidate) {
	if d == nil {
		return nil
	}
	if d.rest != nil {
		list = append(list, d.rest)
	}
	return append(list, d.kernel)
}

// prove checks a winner's design in float64, after the winner itself. What is wrong there is the winner's failure; one that
// cannot be run proves nothing, and that is said.
func (d *double) prove(ctx context.Context, t *station, w *candidate) error {
	if d == nil {
		return nil
	}
	late := time.AfterFunc(doublePatience, d.give)
	defer late.Stop()
	for _, c := range d.candidates() {
		t.await(c)
		if d.ctx.Err() != nil && ctx.Err() == nil {
			t.warn("not proved in float64 too: %s takes the compiler long; tune verify proves it", c.outcome.Schedule)
			return nil
		}
		if c.err != nil {
			return c.err
		}
		if c.decided() {
			t.warn("not proved in float64 too: %s: %s", c.outcome.Schedule, c.outcome.Reason)
			return nil
		}
	}
	p := d.problem.Resized(d.kernel.kernel.Suited(d.problem.Size))
	family := kernels.Find(t.Families, w.outcome.Schedule.Family())
	req := device.Check{Problem: p, Passes: d.kernel.passes(p.Size, p, family), Seed: t.Seed}
	if d.rest != nil {
		req.Passes = append(req.Passes, device.Pass{Binary: d.rest.binary, Launch: family.Kernel(p, d.rest.outcome.Schedule).Launch, Count: 1})
	}
	answer, err := t.ask(ctx, req)
	switch {
	case lost(err):
		return err
	case err != nil:
		fail(&w.outcome, err)
	case answer.OK():
		answer.Size, answer.DType = p.Size, stencil.Float64
		if near := d.kernel.outcome.Schedule; near != w.outcome.Schedule {
			answer.Schedule = near.String()
		}
		t.seen = stencil.Together(t.seen, answer.Seen)
		answer.Seen = ""
		w.outcome.Checks = append(w.outcome.Checks, answer)
		return nil
	case answer.Unproved():
		t.warn("not proved in float64 too: %s", answer.Reason(p.Size))
		return nil
	default:
		w.outcome.Status, w.outcome.Reason = timing.WrongAnswer, answer.Reason(p.Size)
	}
	w.outcome.Reason = fmt.Sprintf("in float64, as %s: %s", d.kernel.outcome.Schedule, cmp.Or(w.outcome.Reason, string(w.outcome.Status)))
	return nil
}
