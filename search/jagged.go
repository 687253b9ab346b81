package search

import (
	"math"
	"slices"

	"stenciltune/timing"
)

// What no smooth model sees: whether one schedule's blocks fill the device's last wave, what the compiler made of it. Standard deviations are of log seconds.
const (
	// jagged is what is taken for it at first. Without it a search among tens of thousands is sure too soon. It was chosen on six
	// of the recorded spaces: with less, more searches miss an optimum that the model takes for twice as slow; with 0.12,
	// searches with the right model take longer.
	jagged = 0.1
	// smooth is the least that is believed of a space.
	smooth = 0.05
	// foretold is the schedules of which it is known how well the others foretell them, below which that says nothing.
	foretold = 12
)

// unseen is the standard deviation of what the model does not see by which a search ends: once it is stuck, and the prior is to be trusted, by how much it errs on
// what it knows. A space may hold hundreds of schedules that are all within jagged of the best, and a search that took each
// for one that may be it would try them all.
func (b *brain) unseen() float64 {
	if len(b.timed)-b.best <= stuck || b.trust < roughly {
		return jagged
	}
	return min(jagged, max(smooth, b.errs))
}

// errors is the standard deviation of the errors of a posterior on what it is conditioned on, each schedule foretold by the others, from their median. Those count that are within
// e^goodShare of the best. It is jagged where few are.
func (b *brain) errors(g *posterior) float64 {
	var errors []float64
	for i, e := range g.leftOut() {
		if b.timed[b.at[int(g.points[i])]].log < b.timed[b.best].log+goodShare {
			errors = append(errors, math.Abs(e))
		}
	}
	if len(errors) < foretold {
		return jagged
	}
	slices.Sort(errors)
	return perDeviation * timing.Median(errors)
}

// perDeviation is a standard deviation over the median of what a normal distribution is off by.
const perDeviation = 1.4826
