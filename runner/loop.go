package runner

import (
	"context"
	"fmt"
	"math"
	"slices"
	"time"

	"stenciltune/outcome"
	"stenciltune/search"
	"stenciltune/space"
	"stenciltune/timing"
)

// ready tells whether a candidate is compiled.
func (t *Session) ready(c *candidate) bool {
	select {
	case <-c.done:
		return t.simulated == nil || t.readyAt(c) <= t.now()
	default:
		return false
	}
}

// readyAt is when a candidate's simulated compilation ends.
func (t *Session) readyAt(c *candidate) time.Duration {
	return t.simulated.Ready(c.outcome.Schedule) - t.epoch
}

// first is the place in the queue of what is noted as begun, or else of the first
// that is compiled; -1 if none is.
func (t *Session) first() int {
	is := func(c *candidate) bool { return c.outcome.Schedule == t.begun && !c.known && t.ready(c) }
	if i := slices.IndexFunc(t.queue, is); i >= 0 {
		return i
	}
	return slices.IndexFunc(t.queue, t.ready)
}

// next lets the next thing happen: an idle station is given what is compiled, or one comes back.
// It is false if the tune is cancelled before, or the time is up (0 = never) while no station works.
func (t *Session) next(ctx context.Context, until time.Duration) (bool, error) {
	var late <-chan time.Time
	if t.working() > 0 {
		until = 0
	}
	if until > 0 && t.simulated == nil {
		late = time.After(until - t.now())
	}
	for {
		s := t.idle()
		if s != nil {
			if i := t.first(); i >= 0 {
				return true, t.dispatch(ctx, s, i)
			}
		}
		if t.simulated != nil {
			ready := t.nextReady()
			switch b := t.soonest(); {
			case b != nil && (s == nil || b.ends <= ready):
				return true, t.returned(ctx, t.come())
			case until > 0 && ready > until:
				return false, nil
			}
			t.pass(ready)
			continue
		}
		compiled := t.compiled
		if s == nil {
			compiled = nil // nobody could take it
		}
		select {
		case s := <-t.back:
			s.works = false
			return true, t.returned(ctx, s)
		case <-compiled:
		case <-late:
			return false, nil
		case <-ctx.Done():
			return false, nil
		}
	}
}

// nextReady is when the next simulated compilation of the queue ends; the end of time if there is none.
func (t *Session) nextReady() time.Duration {
	at := time.Duration(math.MaxInt64)
	for _, c := range t.queue {
		at = min(at, t.readyAt(c))
	}
	return at
}

// propose asks the strategy for as many schedules as are to be under way, and compiles them.
func (t *Session) propose() error {
	if len(t.elsewhere) > 0 && time.Since(t.asked) > regain {
		if _, err := t.takeOver(); err != nil {
			return err
		}
	}
	under := len(t.queue) + t.working()
	room := t.depth.Depth() - under
	if t.Stop.Budget > 0 { // those count, whether or not they are evaluated yet
		room = min(room, t.Stop.Budget-max(t.tracker.Evaluated(), len(t.firsts))-under)
	}
	if t.study != nil && len(t.queue) > 0 && room < t.depth.Depth()/claimed {
		return nil
	}
	for more := room > 0 && !t.exhausted; more; {
		asked := t.Strategy.Ask(room)
		t.exhausted = len(asked) == 0
		asked = slices.DeleteFunc(asked, func(s space.Schedule) bool { return slices.Contains(t.firsts, s) })
		if err := t.take(asked); err != nil {
			return err
		}
		more = len(t.queue)+t.working() == 0 && !t.exhausted // nothing but the baseline, which is known
	}
	return nil
}

// abandon gives up what was proposed and not evaluated.
func (t *Session) abandon() {
	t.stop()
	for _, c := range t.queue {
		<-c.done
		t.Device.Release(c.binary)
	}
	t.giveUp()
	t.queue = nil
}

// search runs the strategy until a stop rule holds. Schedules are compiled ahead
// of the stations, which take the first of them that is compiled: they do not wait
// for one that takes long while another is there.
func (t *Session) search(ctx context.Context) (search.Reason, error) {
	t.phase("search")
	t.Strategy.Tell(slices.Clone(t.outcomes))
	bandwidth := t.bandwidth(ctx)
	begin := t.now()
	t.began, t.before = begin, t.tracker.Evaluated()
	until := time.Duration(0) // end of the last look; 0 before it
	forecaster, _ := t.Strategy.(search.Forecaster)
	for {
		if until > 0 && forecaster.Converged() < t.Stop.Converged { // it found something
			until = 0
		}
		if err := t.hear(); err != nil {
			return "", err
		}
		if until == 0 && t.idle() != nil { // before that, with less knowledge
			if err := t.propose(); err != nil {
				return "", err
			}
		}
		left := len(t.queue) + t.working()
		now := t.tracker.Progress(t.now()-begin, !t.exhausted || left > 0 || len(t.elsewhere) > 0)
		if forecaster != nil {
			now.Converged, now.Foretells = forecaster.Converged(), forecaster.Foretells()
			if t.Stop.Within > 0 {
				now.Within = forecaster.Within(t.Stop.Within)
			}
		}
		if s := t.best().Seconds(); s > 0 && bandwidth > 0 {
			now.Roofline = t.share(s, bandwidth)
		}
		if why, done := t.Stop.Done(now); done {
			if why == search.Converged && left == 0 { // but for what a session held that died
				if _, err := t.takeOver(); err != nil {
					return "", err
				}
				left = len(t.queue)
			}
			if why != search.Converged || left == 0 {
				return why, nil
			}
			if until == 0 {
				until = t.now() + search.LastLook
			}
		}
		if err := ctx.Err(); err != nil {
			return search.Interrupted, nil
		}
		if len(t.queue)+t.working() == 0 { // others hold all that is left
			if err := t.wait(ctx); err != nil {
				return "", err
			}
			continue
		}
		late := until
		if until > 0 && forecaster.Waiting() { // for as long as that takes
			late = 0
		}
		if more, err := t.next(ctx, late); err != nil {
			return "", err
		} else if !more && ctx.Err() == nil { // the last look's time is up
			return search.Converged, nil
		}
	}
}

// finish files an outcome that a station found: journal, best so far, progress.
func (t *Session) finish(s *station, c *candidate, queue []*candidate) error {
	o := c.outcome
	if o.Known {
		t.repeated++
	} else {
		var next []space.Schedule
		for _, q := range queue {
			if !q.known && t.ready(q) { // known ones are not run
				next = append(next, q.outcome.Schedule)
				t.begun = q.outcome.Schedule
				break
			}
		}
		if err := t.record(o, next...); err != nil {
			return err
		}
	}
	t.outcomes = append(t.outcomes, o)
	t.filed[o.Schedule] = true
	if c.binary.ID != "" {
		if o.Status.Timed() {
			s.held = append(s.held, held{c, len(t.outcomes) - 1})
		} else {
			t.Device.Release(c.binary)
		}
	}
	if !o.Known && o.Status != timing.Rejected {
		t.depth.Add(o.CompileSeconds, o.DeviceSeconds)
	}
	t.tracker.Add(o)
	if o.Status.Failed() {
		t.failed[o.Status]++
	}
	if t.Watcher != nil {
		t.Watcher.Evaluated(o, t.best(), t.progress(len(queue)))
	}
	return nil
}

// begin notes in the journal that a candidate runs now, unless the last record did.
func (t *Session) begin(c *candidate) error {
	s := c.outcome.Schedule
	if t.Journal == nil || c.outcome.Status != "" || t.begun == s {
		return nil
	}
	t.begun = s
	if err := t.Journal.Record(nil, s); err != nil {
		return fmt.Errorf("that %s begins could not be stored: %w", s, err)
	}
	return nil
}

func (t *Session) record(o outcome.Outcome, next ...space.Schedule) error {
	if t.Journal == nil {
		return nil
	}
	if err := t.Journal.Record([]outcome.Outcome{o}, next...); err != nil {
		return fmt.Errorf("the outcome of %s could not be stored: %w", o.Schedule, err)
	}
	return nil
}
