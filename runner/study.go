package runner

import (
	"cmp"
	"context"
	"maps"
	"slices"
	"time"

	"stenciltune/outcome"
	"stenciltune/space"
)

// Study is a Journal that several sessions work on at once, each on a device of its own: it tells
// who measures what, and what the others found.
type Study interface {
	Journal
	// Claim asks for schedules that this session is to compile and run, and gives those that no
	// other has.
	Claim(wanted ...space.Schedule) (ours []space.Schedule, err error)
	// Holds tells whether a schedule that was claimed and noted as begun is still this session's:
	// others take over from one that was not heard of for long.
	Holds(s space.Schedule) bool
	// Release gives up claims.
	Release(claimed ...space.Schedule)
	// News gives, once, schedules whose outcome has become Known by others.
	News() []space.Schedule
}

// What a session that shares its journal waits: linger where nothing is left but what others hold,
// and regain before it asks again for what they held when it asked.
const (
	linger = 250 * time.Millisecond
	regain = 5 * time.Second
)

// claimed is the share of the queue, 1 in so many, that is claimed at once: a claim is a write.
const claimed = 4

// take queues schedules that the strategy asked for: what is known, and what no other session
// holds, which is compiled.
func (t *Session) take(list []space.Schedule) error {
	var open []*candidate
	var wanted []space.Schedule
	for _, s := range list {
		if c := t.draft(s); c.decided() {
			delete(t.elsewhere, s)
			t.queue = append(t.queue, c)
		} else {
			open, wanted = append(open, c), append(wanted, s)
		}
	}
	if t.study != nil && len(wanted) > 0 {
		var err error
		if wanted, err = t.study.Claim(wanted...); err != nil {
			return err
		}
	}
	for _, c := range open {
		s := c.outcome.Schedule
		if !slices.Contains(wanted, s) {
			t.elsewhere[s] = true
			continue
		}
		delete(t.elsewhere, s)
		if t.study != nil && t.recall(c) { // recorded by another since it was drafted
			t.study.Release(s)
		} else {
			t.start(t.ahead, c)
		}
		t.queue = append(t.queue, c)
	}
	return nil
}

// takeOver asks again for what others held: they may have died, or given it up. It tells whether
// there is anything new in the queue.
func (t *Session) takeOver() (bool, error) {
	n := len(t.queue)
	t.asked = time.Now()
	list := slices.SortedFunc(maps.Keys(t.elsewhere), func(a, b space.Schedule) int { return cmp.Compare(a.String(), b.String()) })
	if len(list) == 0 {
		return false, nil
	}
	err := t.take(list)
	return len(t.queue) > n, err
}

// wait lets others work for a while, and asks again for what they held.
func (t *Session) wait(ctx context.Context) error {
	select {
	case <-time.After(linger):
	case <-ctx.Done():
		return nil
	}
	_, err := t.takeOver()
	return err
}

// hear files what other sessions found.
func (t *Session) hear() error {
	if t.study == nil {
		return nil
	}
	for _, s := range t.study.News() {
		queued := slices.ContainsFunc(t.queue, func(c *candidate) bool { return c.outcome.Schedule == s })
		runs := slices.ContainsFunc(t.stations, func(o *station) bool { return o.c != nil && o.c.outcome.Schedule == s })
		if queued || runs || t.filed[s] { // its own outcome is to come, or was there first
			continue
		}
		c := t.draft(s)
		if !c.known { // of another source
			continue
		}
		delete(t.elsewhere, s)
		if err := t.finish(t.lead(), c, t.queue); err != nil {
			return err
		}
		t.Strategy.Tell([]outcome.Outcome{c.outcome})
	}
	return nil
}

// overtaken tells whether another session has taken over what the i-th of the queue is to run, which
// then leaves the queue.
func (t *Session) overtaken(i int) (bool, error) {
	c := t.queue[i]
	if t.study == nil || c.decided() || t.study.Holds(c.outcome.Schedule) {
		return false, nil
	}
	t.queue = slices.Delete(t.queue, i, i+1)
	t.Device.Release(c.binary)
	return true, t.take([]space.Schedule{c.outcome.Schedule})
}

// giveUp releases the claims of the queue.
func (t *Session) giveUp() {
	if t.study == nil {
		return
	}
	var list []space.Schedule
	for _, c := range t.queue {
		if !c.known {
			list = append(list, c.outcome.Schedule)
		}
	}
	t.study.Release(list...)
}
