package search

import (
	"time"

	"stenciltune/outcome"
	"stenciltune/timing"
)

// Tracker counts outcomes for the stop rules and keeps the best one. The zero
// Tracker has seen nothing.
type Tracker struct {
	best      outcome.Outcome
	found     bool
	evaluated int
	since     int
	mark      float64 // seconds of the last best that counted as an improvement
}

// Add takes outcomes in the order in which they became known.
func (t *Tracker) Add(outcomes ...outcome.Outcome) {
	for _, o := range outcomes {
		if o.Status == timing.Skipped || o.Status == "" {
			continue
		}
		t.evaluated++
		t.since++
		if o.Status != timing.OK || !(o.Seconds() > 0) {
			continue
		}
		// Improvements too small to count add up until they do.
		if !t.found || o.Seconds() < t.mark*(1-StallShare) {
			t.mark, t.since = o.Seconds(), 0
		}
		t.better(o)
	}
}

// Best is the fastest outcome with status ok so far, and whether there is one.
func (t *Tracker) Best() (outcome.Outcome, bool) { return t.best, t.found }

// Forget takes a schedule for none that was found: it failed later, or was timed while the
// device drifted. left are the outcomes that still hold.
func (t *Tracker) Forget(left []outcome.Outcome) {
	t.best, t.found = outcome.Outcome{}, false
	for _, o := range left {
		t.better(o)
	}
	t.mark = t.best.Seconds()
}

// better keeps an outcome if it is the best so far.
func (t *Tracker) better(o outcome.Outcome) {
	if o.Status == timing.OK && o.Seconds() > 0 && (!t.found || o.Seconds() < t.best.Seconds()) {
		t.best, t.found = o, true
	}
}

// Evaluated is how many outcomes count.
func (t *Tracker) Evaluated() int { return t.evaluated }

// Progress is what Stop.Done wants; the caller knows the time and what is left.
func (t *Tracker) Progress(elapsed time.Duration, left bool) Progress {
	return Progress{Evaluated: t.evaluated, SinceBest: t.since, Elapsed: elapsed, Left: left}
}
