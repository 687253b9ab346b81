package runner

import (
	"cmp"
	"context"
	"maps"
	"slices"

	"stenciltune/device"
	"stenciltune/kernels"
	"stenciltune/outcome"
	"stenciltune/space"
	"stenciltune/timing"
)

// finalists is how many of the best are timed again, and maxFinalists how many at
// most when further intervals overlap the best's. The remainder launches of the first
// few, and their designs in float64, compile while they are timed.
const (
	finalists    = 5
	maxFinalists = 12
	likely       = 2
)

// field is who takes part in the finals: the naive kernel, so that the speed-up is a paired one, and
// the contenders, with remainder launches and designs in float64 as they are needed.
type field struct {
	session    *Session
	ctx        context.Context // of what is compiled
	candidates []*candidate
	rests      map[space.Schedule]*candidate
	doubles    map[space.Schedule]*double
}

// enter begins to compile the finalists.
func (t *Session) enter(ctx context.Context) *field {
	f := &field{t, ctx, nil, map[space.Schedule]*candidate{}, map[space.Schedule]*double{}}
	contenders := slices.DeleteFunc(t.contenders(), func(o outcome.Outcome) bool { return o.Schedule == t.naive.Schedule })
	for _, o := range append([]outcome.Outcome{t.naive}, contenders...) {
		c := &candidate{outcome: o, kernel: t.kernel(t.Problem, o.Schedule), done: make(chan struct{})}
		c.outcome.Status, c.outcome.Known = "", false
		t.start(ctx, c)
		f.candidates = append(f.candidates, c)
	}
	for _, c := range f.candidates[1:min(1+likely, len(f.candidates))] {
		if t.simulated == nil && c.kernel.Launch.Steps > 1 {
			f.rest(c.outcome.Schedule)
		}
		f.double(c.outcome.Schedule)
	}
	return f
}

// rest is the remainder launch of a schedule. It is legal wherever the schedule is, whether or
// not the search may propose it; and measured or not, it is needed now.
func (f *field) rest(s space.Schedule) *candidate {
	s = kernels.Remainder(s)
	if f.rests[s] == nil {
		f.rests[s] = f.session.generate(f.session.Problem, s)
		f.session.start(f.ctx, f.rests[s])
	}
	return f.rests[s]
}

// release frees what was compiled.
func (f *field) release() {
	list := slices.AppendSeq(f.candidates, maps.Values(f.rests))
	for _, d := range f.doubles {
		if d != nil {
			d.give()
		}
		list = append(list, d.candidates()...)
	}
	for _, c := range list {
		<-c.done
		f.session.Device.Release(c.binary)
	}
}

// runnable waits for the finalists and gives those that can be run.
func (t *Session) runnable(ctx context.Context, cs []*candidate) (ready []*candidate, err error) {
	for _, c := range cs {
		t.await(c)
		if c.err != nil {
			return nil, c.err
		}
		if err := ctx.Err(); err != nil { // its failure, if any, is the cancellation's
			return nil, err
		}
		if c.outcome.Status == "" {
			ready = append(ready, c)
		} else if err := t.drop(c); err != nil {
			return nil, err
		}
	}
	return ready, nil
}

// finals times the best schedules again, interleaved and paired, measures their energy if that
// decides, picks the winner and proves it over steps that need the remainder launch too.
func (t *Session) finals(ctx context.Context, r *Result) error {
	if t.best().Schedule.IsZero() {
		return nil
	}
	t.phase("finals")
	f := t.enter(ctx)
	defer f.release()
	ready, err := t.runnable(ctx, f.candidates)
	if err != nil {
		return err
	}
	policy := timing.Finals()
	policy.Regime = t.Regime
	lead := t.lead()
	for len(ready) > 0 {
		began := ready
		if ready, err = lead.together(ctx, began, policy); err == nil && !t.byTime() {
			ready, err = lead.contest(ctx, ready)
		}
		if err != nil {
			return err
		}
		for _, c := range began {
			switch {
			case !c.outcome.Status.Timed():
				if err := t.drop(c); err != nil {
					return err
				}
			case c.outcome.Schedule == t.naive.Schedule:
				t.naive = c.outcome
			}
		}
		if len(ready) == 0 {
			break
		}
		winner, ties := pick(t.Families, ready, t.Objective)
		t.trying(winner)
		rest, members, err := f.prove(ctx, winner)
		if err != nil {
			return err
		}
		if winner.outcome.Status == timing.OK {
			if rest != nil {
				r.Remainder = &rest.outcome
			}
			r.Members = members
			t.crown(r, winner, ties, ready)
			return nil
		}
		if err := t.drop(winner); err != nil {
			return err
		}
		ready = slices.DeleteFunc(ready, func(c *candidate) bool { return c == winner })
	}
	return nil
}

// crown files the winner, what ties with it, and all finalists.
func (t *Session) crown(r *Result, winner *candidate, ties, ready []*candidate) {
	r.Winner, r.Complete = winner.outcome, true
	for _, c := range ready {
		r.Finals = append(r.Finals, c.outcome)
	}
	slices.SortStableFunc(r.Finals, func(a, b outcome.Outcome) int { return cmp.Compare(a.Seconds(), b.Seconds()) })
	for _, c := range ties {
		r.Ties = append(r.Ties, c.outcome)
	}
	t.energies(r, winner, ready)
	for _, w := range winner.outcome.Series.Warnings {
		t.warn("%s", w)
	}
	if s, ok := t.lead().device.(device.Sensor); ok {
		if n := s.Telemetry().Processes; n > 0 {
			t.warn("%d other processes use the device and may have disturbed the times", n)
		}
	}
}

// drop gives up a finalist that failed: it is not the best so far either. That its answer was wrong is recorded, for the
// search had found it right; other failures may pass.
func (t *Session) drop(c *candidate) error {
	t.warn("finals: %s dropped: %s", c.outcome.Schedule, c.outcome.Reason)
	t.failed[c.outcome.Status]++
	for i := range t.outcomes {
		if o := &t.outcomes[i]; o.Schedule == c.outcome.Schedule {
			o.Status, o.Reason = c.outcome.Status, c.outcome.Reason
		}
	}
	t.tracker.Forget(t.outcomes)
	if c.outcome.Status != timing.WrongAnswer {
		return nil
	}
	wrong := c.outcome
	wrong.Series = timing.Series{}
	return t.record(wrong)
}

// contenders is the best five by median and whoever's interval overlaps the best's; where energy
// decides, those of spread; and the incumbent.
func (t *Session) contenders() []outcome.Outcome {
	var ok []outcome.Outcome
	for _, o := range t.outcomes {
		if o.Status == timing.OK {
			ok = append(ok, o)
		}
	}
	slices.SortStableFunc(ok, func(a, b outcome.Outcome) int { return cmp.Compare(a.Seconds(), b.Seconds()) })
	ok = slices.CompactFunc(ok, func(a, b outcome.Outcome) bool { return a.Schedule == b.Schedule })
	var list []outcome.Outcome
	if t.byTime() {
		n := min(finalists, len(ok))
		for n < min(maxFinalists, len(ok)) && ok[n].Series.Overlaps(ok[0].Series.Summary) {
			n++
		}
		list = slices.Clone(ok[:n])
	} else {
		list = spread(ok)
	}
	is := func(o outcome.Outcome) bool { return o.Schedule == t.Incumbent }
	if i := slices.IndexFunc(ok, is); i >= 0 && !slices.ContainsFunc(list, is) {
		list = append(list, ok[i])
	}
	return list
}

// simple is the share above the lowest median beyond which a tie is for want of samples, and simplicity no reason to take it: energies
// are few and scatter by some per cent.
const simple = 0.02

// pick finds the lowest median by an objective and everything that ties with it, and lets the
// simplest of those win that come near it.
func pick(families []kernels.Family, cs []*candidate, o timing.Objective) (winner *candidate, ties []*candidate) {
	best := slices.MinFunc(cs, func(a, b *candidate) int { return cmp.Compare(a.series(o).Median, b.series(o).Median) })
	tied := []*candidate{best}
	for _, c := range cs {
		if c != best && c.outcome.Status == timing.OK && alike(best.series(o), c.series(o)) {
			tied = append(tied, c)
		}
	}
	slices.SortStableFunc(tied, func(a, b *candidate) int { return simpler(families, a.outcome, b.outcome) })
	first := slices.IndexFunc(tied, func(c *candidate) bool { return c.series(o).Median <= best.series(o).Median*(1+simple) })
	return tied[first], slices.Delete(slices.Clone(tied), first, first+1)
}

// alike tells whether two series taken in turn cannot be told apart. Of fewer pairs than can
// differ, as a recording may have, ranges that lie apart do tell.
func alike(a, b timing.Series) bool {
	if min(a.N, b.N) < timing.LeastPairs && !a.Overlaps(b.Summary) {
		return false
	}
	return !timing.Differ(a.Samples, b.Samples)
}

// simpler orders schedules: earlier family of those that are tuned, smaller time tile, no columns, less
// work a thread, smaller group, then by text.
func simpler(families []kernels.Family, a, b outcome.Outcome) int {
	x, y := kernels.ShapeOf(a.Schedule), kernels.ShapeOf(b.Schedule)
	return cmp.Or(
		cmp.Compare(familyRank(families, a), familyRank(families, b)),
		cmp.Compare(x.Pyramid, y.Pyramid),
		cmp.Compare(min(x.Column, 1)+x.Zigzag, min(y.Column, 1)+y.Zigzag),
		cmp.Compare(product(x.Work), product(y.Work)),
		cmp.Compare(product(x.Group), product(y.Group)),
		cmp.Compare(a.Schedule.String(), b.Schedule.String()))
}

// familyRank is the place of a schedule's family among those that are tuned.
func familyRank(families []kernels.Family, o outcome.Outcome) int {
	return slices.IndexFunc(families, func(f kernels.Family) bool { return f.Name() == o.Schedule.Family() })
}

func product(v [3]int) int { return v[0] * v[1] * v[2] }

// prove proves the winner over steps that need its remainder launch too, and its design in float64, measures its energy, and
// does that and the first on every other station.
func (f *field) prove(ctx context.Context, w *candidate) (rest *candidate, members []Member, err error) {
	ok := func() bool { return err == nil && w.outcome.Status == timing.OK }
	lead := f.session.lead()
	rest, err = f.remainder(w)
	var extra []device.Pass
	if rest != nil {
		extra = []device.Pass{{Binary: rest.binary, Launch: rest.kernel.Launch, Count: 1}}
	}
	if ok() {
		err = lead.prove(ctx, w, extra...)
	}
	if ok() {
		err = f.double(w.outcome.Schedule).prove(ctx, lead, w)
	}
	if ok() && len(w.draws) == 0 {
		err = lead.draw(ctx, w)
	}
	if ok() && f.session.several {
		members, err = f.session.everywhere(ctx, w, extra...)
	}
	if err == nil {
		err = ctx.Err() // a failure, if any, is the cancellation's
	}
	return rest, members, err
}

// remainder is the compiled remainder launch of a winner, nil if that does single steps. One that
// cannot be run is the winner's failure.
func (f *field) remainder(w *candidate) (*candidate, error) {
	if w.kernel.Launch.Steps == 1 {
		return nil, nil
	}
	c := f.rest(w.outcome.Schedule)
	f.session.await(c)
	if c.outcome.Status != "" {
		w.outcome.Status, w.outcome.Reason = c.outcome.Status, "its remainder launch: "+c.outcome.Reason
	}
	return c, c.err
}

// prove checks the winner over a number of steps its time tile does not divide, so
// that the remainder launch, the same schedule with a time tile of 1, runs as well;
// and then again, whether it is right every time.
func (t *station) prove(ctx context.Context, w *candidate, extra ...device.Pass) error {
	w.outcome.Checks = nil
	err := t.check(ctx, w, t.grids(w), extra...)
	if err == nil {
		err = t.steady(ctx, w, extra...)
	}
	return err
}
