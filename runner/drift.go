package runner

import (
	"context"
	"math"
	"time"

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

// drift watches the fixed reference schedule: the naive kernel.
type drift struct {
	reference *candidate
	median    float64 // of the reference when last trusted
	last      time.Duration
	moved     int
}

// checkDrift times the reference again when due. If it moved, and a second look
// agrees, what was timed since is measured again: the machine has changed.
func (t *Session) checkDrift(ctx context.Context) error {
	d := &t.drift
	if d.reference == nil || len(t.held) < driftSchedules && t.now()-d.last < driftInterval {
		return nil
	}
	d.last = t.now()
	policy := timing.Search()
	policy.Regime = t.Regime
	now := math.NaN()
	for range 2 {
		begin := t.now()
		series, err := t.timeAll(ctx, []*candidate{d.reference}, policy, false)
		t.busy += t.now() - begin
		if lost(err) {
			return err
		}
		if err != nil || series[0].N == 0 {
			t.warn("the reference schedule could not be timed again")
			t.dropHeld()
			return nil
		}
		now = series[0].Median
		if math.Abs(now/d.median-1) <= driftLimit {
			t.dropHeld()
			return nil
		}
	}
	d.moved++
	d.median = now
	t.warn("the device drifted during the search; what was affected was measured again")
	best := t.best().Seconds()
	for _, h := range t.held {
		o := &t.outcomes[h.index]
		o.Drifted = true
		if o.Status != timing.OK || o.Seconds() > timing.CutFactor*best {
			continue
		}
		h.c.outcome.Status = ""
		if err := t.time(ctx, h.c, t.policy()); err != nil {
			return err
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
	}
	t.tracker.Forget(t.outcomes)
	t.dropHeld()
	return nil
}

func (t *Session) dropHeld() {
	for _, h := range t.held {
		t.Device.Release(h.c.binary)
	}
	t.held = t.held[:0]
}
