package search

import (
	"time"

	"stenciltune/timing"
)

// Tracker counts outcomes for the stop rules and keeps the best one. The zero
// Tracker has seen nothing.
type Tracker struct {
	best      Outcome
	found     bool
	evaluated int
	since     int
	mark      float64 // seconds of the last best that counted as an improvement
}

// Add takes outcomes in the order in which they became known.
func (t *Tracker) Add(outcomes ...Outcome) {
	for _, o := range outcomes {
		if o.Status == timing.Rejected || o.Status == timing.Skipped || o.Status == "" {
			continue
		}
		t.evaluated++
		t.since++
		if o.Status != timing.OK || !(o.Seconds > 0) {
			continue
		}
		// Improvements too small to count add up until they do.
		if !t.found || o.Seconds < t.mark*(1-StallShare) {
			t.mark, t.since = o.Seconds, 0
		}
		if !t.found || o.Seconds < t.best.Seconds {
			t.best, t.found = o, true
		}
	}
}

// Best is the fastest outcome with status ok so far, and whether there is one.
func (t *Tracker) Best() (Outcome, bool) { return t.best, t.found }

// Progress is what Stop.Done wants; the caller knows the time and what is left.
func (t *Tracker) Progress(elapsed time.Duration, left bool) Progress {
	return Progress{Evaluated: t.evaluated, SinceBest: t.since, Elapsed: elapsed, Left: left}
}
