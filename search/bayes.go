package search

import (
	"math"

	"stenciltune/outcome"
	"stenciltune/space"
	"stenciltune/timing"
)

// Usable is the time of an outcome, or NaN if it has none that can be used.
func Usable(o outcome.Outcome) float64 {
	if !o.Status.Timed() || !(o.Seconds() > 0) || math.IsInf(o.Seconds(), 1) {
		return math.NaN()
	}
	return o.Seconds()
}

// bayes is Bayesian optimisation: what the brain wants most, of what is not taken.
type bayes struct {
	*pool
	b *brain
}

func newBayes(p *pool, seed uint64) (Strategy, error) {
	return &bayes{p, newBrain(p, seed)}, nil
}

// Name is the strategy's name.
func (s *bayes) Name() string { return "bayes" }

// Converged is the number of proposals in a row of little expected improvement, weighed by how far
// the prior is to be trusted.
func (s *bayes) Converged() int {
	return s.b.idle / 4
}

// Waiting tells whether an answer is still to come that must be known before a search may end.
func (s *bayes) Waiting() bool { return s.b.waiting() }

// Foretells tells whether the prior has a time for what is legal, and errs little on what it expected much of.
func (s *bayes) Foretells() bool { return s.b.off <= mostOff }

// Left is how many proposals are still to come if nothing better is found.
func (s *bayes) Left(converged int) int { return min(s.b.toCome(converged), s.left) }

// Within is the probability that the best takes at most 1 + share times as long as the best of the space.
func (s *bayes) Within(share float64) float64 { return s.b.doubt(share).Probability() }

// Doubt is what Within is computed from.
func (s *bayes) Doubt(share float64) Doubt { return s.b.doubt(share) }

// Ask proposes the points the brain wants most, each as if the ones before it
// had come out as expected.
func (s *bayes) Ask(n int) []space.Schedule {
	return s.ask(n, s.b.next)
}

// Tell teaches the brain. A schedule cut short as slow counts with its time, but
// only roughly; one that was skipped teaches nothing. What is measured again since the device drifted
// stands for what was told before.
func (s *bayes) Tell(outcomes []outcome.Outcome) {
	s.told(outcomes, func(q int, o outcome.Outcome) {
		delete(s.b.pending, q)
		if o.Drifted {
			s.b.forget(q)
		}
		t := Usable(o)
		extra := o.Noise() * o.Noise()
		if !(extra < 1) {
			extra = 1
		}
		switch {
		case o.Status == timing.CutSlow && !math.IsNaN(t):
			s.b.tell(q, t, max(extra, cutSlowVar), true)
		case !math.IsNaN(t):
			s.b.tell(q, t, extra, true)
		case o.Status.Failed() || o.Status.Timed():
			s.b.tell(q, 0, 0, false)
		}
	})
}

// cutSlowVar is the noise variance of a time that was measured in a hurry: 10 %.
const cutSlowVar = 0.01
