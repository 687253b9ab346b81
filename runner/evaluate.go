package runner

import (
	"context"
	"slices"

	"stenciltune/device"
	"stenciltune/kernels"
	"stenciltune/outcome"
	"stenciltune/space"
	"stenciltune/stencil"
	"stenciltune/timing"
)

// candidate is a schedule on its way to the device.
type candidate struct {
	outcome outcome.Outcome
	kernel  kernels.Kernel
	binary  device.Binary
	draws   []timing.Draw // of the finals
	known   bool          // the journal had the answer
	err     error         // the device is lost
	done    chan struct{}
	losses  int // devices that were lost while it ran
}

// decided tells whether it needs no device: rejected, failed to compile, or known.
func (c *candidate) decided() bool { return c.outcome.Status != "" }

// prepare generates and compiles a schedule in the background.
func (t *Session) prepare(ctx context.Context, s space.Schedule) *candidate {
	c := t.draft(s)
	if !c.decided() {
		t.start(ctx, c)
	}
	return c
}

// draft is a candidate before it is compiled: decided, if it is illegal or known.
func (t *Session) draft(s space.Schedule) *candidate {
	if err := t.Space.Check(s); err != nil {
		c := &candidate{outcome: outcome.Outcome{Schedule: s, Status: timing.Rejected, Reason: err.Error()}, done: make(chan struct{})}
		close(c.done)
		return c
	}
	c := t.generate(t.Problem, s)
	t.recall(c)
	return c
}

// recall gives a candidate the outcome that the journal knows, if it does.
func (t *Session) recall(c *candidate) bool {
	if t.Journal == nil {
		return false
	}
	known, ok := t.Journal.Known(c.outcome.Schedule, c.outcome.SourceHash)
	if ok {
		known.Known = true
		c.outcome, c.known = known, true
		close(c.done)
	}
	return ok
}

// kernel generates a schedule's kernel.
func (t *Session) kernel(p stencil.Problem, s space.Schedule) kernels.Kernel {
	k := kernels.Find(t.Families, s.Family()).Kernel(p, s)
	if t.Mutate != nil {
		k = t.Mutate(k)
	}
	return k
}

// generate is a candidate with its kernel's source.
func (t *Session) generate(p stencil.Problem, s space.Schedule) *candidate {
	k := t.kernel(p, s)
	return &candidate{outcome: outcome.Outcome{Schedule: s, SourceHash: k.SourceHash()}, kernel: k, done: make(chan struct{})}
}

// start compiles a candidate in the background; candidates of one source one
// after the other, so that the compiler's cache serves all but the first. A
// simulated device compiles at once: the time passes when it is waited for.
func (t *Session) start(ctx context.Context, c *candidate) {
	if t.simulated != nil {
		c.compile(ctx, t.Device)
		close(c.done)
		return
	}
	first, shared := t.sources[c.outcome.SourceHash]
	if !shared {
		t.sources[c.outcome.SourceHash] = c.done
	}
	go func() {
		if shared {
			<-first
		}
		c.compile(ctx, t.Device)
		close(c.done)
		select {
		case t.compiled <- struct{}{}:
		default:
		}
	}()
}

// await waits until a candidate is compiled.
func (t *Session) await(c *candidate) {
	<-c.done
	if t.simulated != nil {
		t.pass(t.readyAt(c))
	}
}

// compile builds the candidate and applies the limits only a compiler can tell.
func (c *candidate) compile(ctx context.Context, d device.Device) {
	b, err := d.Compile(ctx, c.kernel)
	switch {
	case lost(err):
		c.err = err
		return
	case err != nil:
		fail(&c.outcome, err)
		return
	}
	c.binary = b
	o := &c.outcome
	o.Registers, o.SpillBytes, o.BlocksPerSM = b.Registers, b.SpillBytes, b.BlocksPerSM
	o.CompileSeconds, o.Compiler, o.Options = b.CompileSeconds, b.Compiler, b.Options
	if err := kernels.CheckRegisters(d.Machine(), o.Schedule, c.kernel.Launch.Threads(), b.Registers); err != nil {
		o.Status, o.Reason = timing.Rejected, err.Error()
		d.Release(b)
		c.binary = device.Binary{}
	}
}

// passes is the launches that run a candidate twice, or three times if it does
// single steps: enough for both buffers to be read and written.
func (c *candidate) passes(size stencil.Size, p stencil.Problem, fam kernels.Family) []device.Pass {
	launch := fam.Kernel(p.Resized(size), c.outcome.Schedule).Launch
	count := 2
	if launch.Steps == 1 {
		count = 3
	}
	return []device.Pass{{Binary: c.binary, Launch: launch, Count: count}}
}

// grids are those on which a candidate is checked: one that is small and odd, or as large
// as its tile needs, and the whole problem's.
func (t *Session) grids(c *candidate) []stencil.Size {
	return []stencil.Size{c.kernel.Suited(SmallSize(t.Problem.Stencil.Dims)), t.Problem.Size}
}

// time measures a checked candidate, in seconds of the lead's at the beginning: see station.factor.
func (t *station) time(ctx context.Context, c *candidate, policy timing.Policy) error {
	policy.CutAbove *= t.factor
	series, err := t.timeAll(ctx, []*candidate{c}, policy, false)
	if err != nil {
		if lost(err) {
			return err
		}
		fail(&c.outcome, err)
		return nil
	}
	settle(&c.outcome, series[0].Over(t.factor))
	if t.factor != 1 {
		c.outcome.Scaled = t.factor
	}
	return nil
}

// settle takes over a series as it was taken.
func settle(o *outcome.Outcome, s timing.Series) {
	o.Series, o.Scaled = s, 0
	switch {
	case s.N == 0:
		o.Status, o.Reason = timing.LaunchError, "no accepted samples"
	case s.CutSlow:
		o.Status = timing.CutSlow
	default:
		o.Status = timing.OK
	}
}

func (t *station) timeAll(ctx context.Context, cs []*candidate, policy timing.Policy, interleaved bool) ([]timing.Series, error) {
	req := device.Timing{Problem: t.Problem, Policy: policy, Interleaved: interleaved}
	for _, c := range cs {
		req.Runs = append(req.Runs, device.Pass{Binary: c.binary, Launch: c.kernel.Launch, Count: 1})
	}
	ctx, cancel := t.deadline(ctx, t.Problem.Size.Cells(), 10*len(cs), policy.TimeLimit*float64(len(cs)))
	defer cancel()
	return t.device.Time(ctx, req)
}

// together times candidates interleaved and gives those that have a time. If one
// fails all do, and nobody says which: then each is timed alone, and whoever
// fails is left out, its outcome telling why.
func (t *station) together(ctx context.Context, cs []*candidate, policy timing.Policy) ([]*candidate, error) {
	for len(cs) > 0 {
		series, err := t.timeAll(ctx, cs, policy, true)
		if err == nil {
			for i, c := range cs {
				settle(&c.outcome, series[i])
			}
			return timed(cs), nil
		}
		if lost(err) {
			return nil, err
		}
		alone := timing.Search()
		alone.Regime = policy.Regime
		for _, c := range cs {
			if err := ctx.Err(); err != nil { // its failure, if any, is the cancellation's
				return nil, err
			}
			if err := t.time(ctx, c, alone); err != nil {
				return nil, err
			}
		}
		if len(timed(cs)) == len(cs) { // only together do they fail: the last goes
			fail(&cs[len(cs)-1].outcome, err)
		}
		cs = timed(cs)
	}
	return nil, ctx.Err()
}

// timed is the candidates that have a time.
func timed(cs []*candidate) []*candidate {
	return slices.DeleteFunc(slices.Clone(cs), func(c *candidate) bool { return !c.outcome.Status.Timed() })
}

// evaluate checks and times a compiled candidate. One too slow to win is not checked on
// the whole problem, which takes longer than all else. The binary stays loaded.
func (t *station) evaluate(ctx context.Context, c *candidate, policy timing.Policy) error {
	if c.decided() {
		return nil
	}
	begin := t.now()
	defer func() { c.outcome.DeviceSeconds = (t.now() - begin).Seconds() }()
	first, then := t.parts(c)
	if err := t.check(ctx, c, first); err != nil || c.outcome.Status != "" {
		return err
	}
	return t.compete(ctx, c, policy, then)
}

// parts are the grids of a candidate's checks before it is timed and after that.
func (t *Session) parts(c *candidate) (first, then []stencil.Size) {
	grids := t.grids(c)
	if t.simulated != nil { // a recording has one time for all checks that there were
		return grids, nil
	}
	return grids[:1], grids[1:]
}

// compete times a candidate, and checks it on grids if it is not too slow to win.
func (t *station) compete(ctx context.Context, c *candidate, policy timing.Policy, then []stencil.Size) error {
	if err := t.time(ctx, c, policy); err != nil || c.outcome.Status != timing.OK {
		return err
	}
	err := t.check(ctx, c, then)
	if c.outcome.Status != timing.OK { // the time of a wrong answer is none
		c.outcome.Series = timing.Series{}
	}
	return err
}
