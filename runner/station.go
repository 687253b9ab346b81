package runner

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"stenciltune/device"
	"stenciltune/machine"
	"stenciltune/outcome"
	"stenciltune/timing"
)

// station is one device of a session: the only one, or a member of a device that is several.
// The first is the lead: baseline and finals are held there. While it works its fields are its
// job's; else they belong to the session's goroutine.
type station struct {
	*Session
	device device.Device
	drift  drift
	held   []held // binaries timed here since the drift check last passed
	// factor is the seconds that the reference takes here over those on the lead at the beginning. Times of
	// the search are divided by it: chips of one model differ, and change their pace, and a schedule must not
	// win by that.
	factor   float64
	stepping float64 // seconds of a time step in the longest check against the reference in Go
	seen     string  // of the stencil's branches, by those checks

	works bool
	c     *candidate    // that is evaluated; nil where the reference is timed again
	err   error         // of the last job: the device is lost
	took  time.Duration // by it
	ends  time.Duration // of it, on a simulated device
}

// Member is the winner on one device of several.
type Member struct {
	Machine machine.Machine
	Factor  float64       // seconds of the reference over those on the first device
	Series  timing.Series // of the winner, as taken there
	Draws   []timing.Draw // empty = not known
}

// stations are a device's members, or the device alone.
func stations(t *Session) (all []*station) {
	for _, d := range device.Members(t.Device) {
		all = append(all, &station{Session: t, device: d, factor: 1})
	}
	return all
}

// lead is the station of baseline and finals.
func (t *Session) lead() *station { return t.stations[0] }

// idle is a station that does nothing; nil if all work.
func (t *Session) idle() *station {
	for _, s := range t.stations {
		if !s.works {
			return s
		}
	}
	return nil
}

// working is how many stations work.
func (t *Session) working() (n int) {
	for _, s := range t.stations {
		if s.works {
			n++
		}
	}
	return n
}

// do begins a job, which come waits for. On a simulated device it is done at once, and its
// time passes when it is waited for.
func (t *station) do(job func() error) {
	t.works = true
	run := func() {
		begin := t.now()
		t.err = job()
		t.ends = t.now()
		t.took = t.ends - begin
	}
	if t.simulated != nil {
		begin := t.simulated.Now()
		run()
		t.simulated.Set(begin)
		return
	}
	go func() {
		run()
		t.back <- t
	}()
}

// soonest is the simulated station that ends its job first; nil if none works.
func (t *Session) soonest() (first *station) {
	for _, s := range t.stations {
		if s.works && (first == nil || s.ends < first.ends) {
			first = s
		}
	}
	return first
}

// come waits for a station to end its job, which is then idle.
func (t *Session) come() (s *station) {
	if t.simulated == nil {
		s = <-t.back
	} else {
		s = t.soonest()
		t.pass(s.ends)
	}
	s.works = false
	return s
}

// each runs a job on each of some stations, and drops those where it fails; the error is of one
// that may not be dropped.
func (t *Session) each(ctx context.Context, list []*station, job func(*station) error) error {
	for _, s := range list {
		s.do(func() error { return job(s) })
	}
	var failed error
	for range list {
		if s := t.come(); s.err != nil {
			failed = errors.Join(failed, t.discard(ctx, s, s.err))
		}
	}
	return failed
}

// discard drops a station whose device failed, unless it is the last or the tune was cancelled:
// then it gives the error back.
func (t *Session) discard(ctx context.Context, s *station, err error) error {
	if ctx.Err() != nil || len(t.stations) == 1 {
		return err
	}
	m := s.device.Machine()
	t.warn("%s was dropped, the others go on: %v", cmp.Or(m.UUID, fmt.Sprintf("%s %d", m.Name, m.Index)), err)
	s.dropHeld()
	t.stations = slices.DeleteFunc(t.stations, func(o *station) bool { return o == s })
	t.depth.Others = len(t.stations) - 1
	return nil
}

// join proves and times the reference on every other station, which gives its factor.
func (t *Session) join(ctx context.Context) error {
	policy := timing.Search()
	policy.Regime = t.Regime
	return t.each(ctx, slices.Clone(t.stations[1:]), func(s *station) error {
		c := s.copied(t.reference)
		if err := s.evaluate(ctx, c, policy); err != nil {
			return err
		}
		if c.outcome.Status != timing.OK {
			return fmt.Errorf("the naive kernel, which judges all others, does not work there: %s", c.outcome.Reason)
		}
		s.drift = drift{median: c.outcome.Seconds(), last: t.now()}
		s.factor = c.outcome.Seconds() / t.naive.Seconds()
		return nil
	})
}

// copied is a compiled candidate of which nothing is known yet.
func (t *station) copied(of *candidate) *candidate {
	c := &candidate{outcome: of.outcome, kernel: of.kernel, binary: of.binary}
	c.outcome.Status, c.outcome.Known, c.outcome.Checks, c.outcome.Series = "", false, nil, timing.Series{}
	return c
}

// everywhere proves and times the winner, with its remainder launch, on the stations beside the
// lead, and measures its energy there. A wrong answer on any of them is the winner's: each
// has proved the naive kernel.
func (t *Session) everywhere(ctx context.Context, w *candidate, extra ...device.Pass) ([]Member, error) {
	policy := timing.Finals()
	policy.Regime = t.Regime
	lead, others := t.lead(), slices.Clone(t.stations[1:])
	found := map[*station]*candidate{lead: w}
	for _, s := range others {
		found[s] = s.copied(w)
	}
	err := t.each(ctx, others, func(s *station) error {
		c := found[s]
		if err := s.check(ctx, c, t.grids(c), extra...); err != nil || c.outcome.Status != "" {
			return err
		}
		series, err := s.timeAll(ctx, []*candidate{c}, policy, false)
		switch {
		case lost(err):
			return err
		case err != nil:
			fail(&c.outcome, err)
			return nil
		}
		settle(&c.outcome, series[0])
		return s.draw(ctx, c)
	})
	var list []Member
	for _, s := range t.stations {
		c, m := found[s], s.device.Machine()
		if c.outcome.Status != timing.OK {
			w.outcome.Status, w.outcome.Reason = c.outcome.Status, fmt.Sprintf("on %s: %s", cmp.Or(m.UUID, m.Name), c.outcome.Reason)
		}
		list = append(list, Member{m, s.factor / lead.factor, c.outcome.Series, c.draws})
	}
	return list, err
}

// dispatch has a station evaluate a candidate of the queue. One whose outcome is known takes no device.
func (t *Session) dispatch(ctx context.Context, s *station, i int) error {
	c := t.queue[i] // stays in the queue, to be released, until it runs or is filed
	if c.err != nil {
		return c.err
	}
	if err := t.begin(c); err != nil {
		return err
	}
	if gone, err := t.overtaken(i); gone || err != nil {
		return err
	}
	if c.decided() {
		if err := t.finish(s, c, slices.Concat(t.queue[:i], t.queue[i+1:])); err != nil {
			return err
		}
		t.queue = slices.Delete(t.queue, i, i+1)
		t.Strategy.Tell([]outcome.Outcome{c.outcome})
		return nil
	}
	t.queue = slices.Delete(t.queue, i, i+1)
	t.trying(c)
	policy := t.policy()
	s.c = c
	s.do(func() error { return s.evaluate(ctx, c, policy) })
	return nil
}

// returned files what a station did, and has it look for drift when that is due.
func (t *Session) returned(ctx context.Context, s *station) error {
	c := s.c
	s.c = nil
	if s.err != nil || ctx.Err() != nil {
		if c != nil {
			t.requeue(c)
		}
		if s.err != nil {
			return t.discard(ctx, s, s.err)
		}
		return nil // its failure, if any, is the cancellation's
	}
	t.busy += s.took
	if c == nil {
		return s.looked(ctx)
	}
	if err := t.finish(s, c, t.queue); err != nil {
		t.queue = append(t.queue, c) // to be released
		return err
	}
	t.Strategy.Tell([]outcome.Outcome{c.outcome})
	if s.due() {
		s.do(func() error { return s.look(ctx) })
	}
	return nil
}

// requeue puts a candidate whose device was lost back into the queue. One that has cost two devices
// is not run on a third.
func (t *Session) requeue(c *candidate) {
	o := &c.outcome
	o.Status, o.Reason, o.Checks, o.MaxError, o.Series = "", "", nil, 0, timing.Series{}
	if c.losses++; c.losses == device.MaxLosses {
		o.Status, o.Reason = timing.WorkerLost, "two devices were lost while it ran"
	}
	t.queue = slices.Insert(t.queue, 0, c)
}

// drain files what is under way when a search ends.
func (t *Session) drain(ctx context.Context) error {
	var failed error
	for t.working() > 0 {
		failed = errors.Join(failed, t.returned(ctx, t.come()))
	}
	return failed
}

// pass lets simulated time pass until then.
func (t *Session) pass(until time.Duration) {
	if wait := until - t.now(); wait > 0 {
		t.simulated.Set(t.simulated.Now() + wait)
	}
}
