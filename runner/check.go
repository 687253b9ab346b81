package runner

import (
	"context"
	"fmt"

	"stenciltune/device"
	"stenciltune/kernels"
	"stenciltune/outcome"
	"stenciltune/stencil"
	"stenciltune/timing"
)

// steadyRuns and steadySeconds bound how often the winner is proved again, so that one that is wrong now and then is
// found out: so many times, within so much device time.
const (
	steadyRuns    = 50
	steadySeconds = 0.1
)

// erratic is what a kernel's or the device's doing must be if the same launches give different answers.
const erratic = "the kernel races, or the device errs"

// check proves a candidate's answer on grids: on the small odd one against the float64
// reference, on others against the trusted kernel, since the reference takes too long
// there, or on all against the judge if there is one. It fills in the outcome's status
// if the answer is wrong.
func (t *station) check(ctx context.Context, c *candidate, grids []stencil.Size, extra ...device.Pass) error {
	for _, size := range grids {
		if size != SmallSize(t.Problem.Stencil.Dims) && t.trusted == nil && t.judge == nil {
			continue // this is the trusted kernel itself
		}
		req := t.request(c, size, extra)
		cmp, err := t.ask(ctx, req)
		if lost(err) {
			return err
		}
		if err != nil {
			fail(&c.outcome, err)
			return nil
		}
		cmp.Size = size
		t.seen = stencil.Together(t.seen, cmp.Seen)
		if cmp.Blind > 0 {
			t.warn("rounding alone may give nearly any value in cells of the grid that is compared with the reference, so that nothing is proved of them: keep values " + stencil.Provable)
		}
		cmp.Seen = ""
		c.outcome.Checks = append(c.outcome.Checks, cmp)
		c.outcome.MaxError = max(c.outcome.MaxError, outcome.Float(cmp.MaxError))
		if !cmp.OK() {
			c.outcome.Status, c.outcome.Reason = timing.WrongAnswer, cmp.Reason(size)
			if t.simulated == nil && !cmp.Unproved() {
				return t.again(ctx, c, req)
			}
			return nil
		}
	}
	return nil
}

// request is what proves a candidate, and passes of others after it, on a grid.
func (t *station) request(c *candidate, size stencil.Size, extra []device.Pass) device.Check {
	p := t.Problem.Resized(size)
	launch := func(pass device.Pass, count int) device.Pass {
		s := pass.Binary.Schedule
		return device.Pass{Binary: pass.Binary, Launch: kernels.Find(t.Families, s.Family()).Kernel(p, s).Launch, Count: count}
	}
	passes := c.passes(size, t.Problem, kernels.Find(t.Families, c.outcome.Schedule.Family()))
	for _, e := range extra {
		passes = append(passes, launch(e, e.Count))
	}
	steps := device.Steps(passes)
	req := device.Check{Problem: p, Passes: passes, Seed: t.Seed}
	switch {
	case t.judge != nil:
		judge := *t.judge
		judge.Launch, judge.Count = t.Judge.Kernel(p).Launch, steps
		req.Trusted, req.Allowed = []device.Pass{judge}, []stencil.Allowance{{Error: t.Judge.Tolerance(p)}}
	case size != SmallSize(p.Stencil.Dims):
		req.Trusted = []device.Pass{launch(*t.trusted, steps)}
		req.Allowed = stencil.Between(p, steps)
	}
	return req
}

// ask runs a check within its deadline.
func (t *station) ask(ctx context.Context, req device.Check) (stencil.Comparison, error) {
	steps := device.Steps(req.Passes)
	granted := 0.0 // to the reference, which knows nothing of deadlines
	if len(req.Trusted) == 0 {
		granted = 3 * t.stepping * float64(steps)
	}
	bounded, cancel := t.deadline(ctx, req.Problem.Size.Cells(), 2*steps+4, granted)
	defer cancel()
	begin := t.now()
	cmp, err := t.device.Check(bounded, req)
	if err == nil && len(req.Trusted) == 0 {
		t.stepping = max(t.stepping, (t.now()-begin).Seconds()/float64(steps))
	}
	return cmp, err
}

// again asks once more what had a wrong answer. One that is right now stays wrong, and it is said; so it is if the
// trusted kernel does not give its own answer again, for then nobody knows which of two is wrong.
func (t *station) again(ctx context.Context, c *candidate, req device.Check) error {
	found := ""
	cmp, err := t.ask(ctx, req)
	if err == nil && cmp.OK() {
		found = "right when run again: " + erratic
	} else if err == nil && len(req.Trusted) > 0 && t.judge == nil {
		req.Passes = req.Trusted
		if cmp, err = t.ask(ctx, req); err == nil && !cmp.OK() {
			found = "but the trusted kernel does not give its own answer again: the device errs"
		}
	}
	if found != "" {
		c.outcome.Reason += "; " + found
		t.warn("%s: %s", c.outcome.Schedule, c.outcome.Reason)
	}
	if lost(err) {
		return err
	}
	return nil
}

// steady proves a winner that was right again and again on the whole problem, as often as time allows.
func (t *station) steady(ctx context.Context, w *candidate, extra ...device.Pass) error {
	if t.simulated != nil || w.outcome.Status != timing.OK {
		return nil
	}
	req := t.request(w, t.Problem.Size, extra)
	begin, slowest := t.now().Seconds(), 0.0
	for n := 1; n < steadyRuns; n++ {
		from := t.now().Seconds()
		if from-begin+slowest > steadySeconds {
			break
		}
		cmp, err := t.ask(ctx, req)
		if lost(err) || ctx.Err() != nil {
			return err
		}
		slowest = max(slowest, t.now().Seconds()-from)
		switch {
		case err != nil:
			fail(&w.outcome, err)
		case !cmp.OK():
			w.outcome.Status, w.outcome.Reason = timing.WrongAnswer, cmp.Reason(t.Problem.Size)
		default:
			continue
		}
		cause := ": " + erratic
		if w.outcome.Status == timing.WorkerLost {
			cause = "" // whoever ended the process
		}
		w.outcome.Reason = fmt.Sprintf("right in %d runs and then not: %s%s", n, w.outcome.Reason, cause)
		break
	}
	return nil
}
