package runner

import (
	"context"
	"math"
	"time"

	"stenciltune/outcome"
	"stenciltune/stencil"
	"stenciltune/timing"
)

// Drift checks come every so many schedules or so much time, and react to a
// reference that moved by more than this share.
const (
	driftSchedules = 25
	driftInterval  = 2 * time.Second
	driftLimit     = 0.01
)

// held is a timed candidate that may have to be measured again.
type held struct {
	c     *candidate
	index int // in Session.outcomes
}

// drift watches the reference on one station.
type drift struct {
	median float64 // of the reference when last trusted, as taken there
	last   time.Duration
	now    float64 // as a job saw it that is not dealt with yet; 0 = as before
}

// due tells whether the reference is to be timed again.
func (t *station) due() bool {
	return t.reference != nil && (len(t.held) >= driftSchedules || t.now()-t.drift.last >= driftInterval)
}

// look times the reference again. That it moved is noted if a second look agrees.
func (t *station) look(ctx context.Context) error {
	d := &t.drift
	d.last, d.now = t.now(), 0
	policy := timing.Search()
	policy.Regime = t.Regime
	now := 0.0
	for range 2 {
		series, err := t.timeAll(ctx, []*candidate{t.reference}, policy, false)
		if lost(err) {
			return err
		}
		if err != nil || series[0].N == 0 {
			t.warn("the reference schedule could not be timed again")
			return nil
		}
		now = series[0].Median
		if math.Abs(now/d.median-1) <= driftLimit {
			return nil
		}
	}
	d.now = now
	return nil
}

// looked deals with what look saw: if the reference moved, what was timed since is measured
// again, for the machine has changed. From then on times are those at the pace of the beginning:
// what was timed before stays comparable.
func (t *station) looked(ctx context.Context) error {
	defer t.dropHeld()
	d := &t.drift
	if d.now == 0 {
		return nil
	}
	moved := d.now / d.median
	t.factor *= moved
	d.median = d.now
	t.warn("the device drifted during the search; what was affected was measured again")
	policy := t.policy()
	policy.CutAbove *= max(moved, 1/moved) // nobody knows which were timed at which pace, the best among them
	for _, h := range t.held {
		o := &t.outcomes[h.index]
		o.Drifted = true
		if !o.Status.Timed() || o.Seconds() > policy.CutAbove {
			continue
		}
		var unchecked []stencil.Size
		if o.Status == timing.CutSlow {
			_, unchecked = t.parts(h.c)
		}
		h.c.outcome.Status = ""
		if err := t.compete(ctx, h.c, policy, unchecked); err != nil {
			return t.discard(ctx, t, err)
		}
		if err := ctx.Err(); err != nil { // its failure, if any, is the cancellation's
			return err
		}
		h.c.outcome.Drifted = true
		*o = h.c.outcome
		if o.Status.Failed() {
			t.failed[o.Status]++
		}
		if err := t.record(*o); err != nil {
			return err
		}
		t.Strategy.Tell([]outcome.Outcome{*o})
	}
	t.tracker.Forget(t.outcomes)
	return nil
}

func (t *station) dropHeld() {
	for _, h := range t.held {
		t.Device.Release(h.c.binary)
	}
	t.held = t.held[:0]
}
