package search

import (
	"cmp"
	"math"
	"slices"

	"stenciltune/space"
)

// Past is a schedule as it was measured for another size, element type or device,
// and what the prior said of it there; both in seconds per time step.
type Past struct {
	Schedule           space.Schedule
	Seconds, Predicted float64
}

// pastNoise is the standard deviation of how much a schedule's error of the prior
// changes from one such problem to the next, on log seconds: 20 %.
const pastNoise = 0.2

// Learn is the listing with a prior corrected by the past: where the prior erred
// there, it is taken to err here, and about as much for schedules alike. The
// corrections are a Gaussian process's, of log(measured / predicted) over the past
// (the multi-task transfer of GPTune in its simplest form; Liu et al., PPoPP 2021).
// Schedules that are not in the space, and a listing without a prior, teach nothing.
func (l *Listing) Learn(past []Past) *Listing {
	c := l.c
	if !c.hasPrior() {
		return l
	}
	type lesson struct {
		point      int
		seconds, r float64
	}
	var lessons []lesson
	seen := map[int]bool{}
	for _, p := range past {
		q := c.locate(p.Schedule)
		measured, predicted := logSeconds(p.Seconds), logSeconds(p.Predicted)
		if q < 0 || seen[q] || math.IsNaN(measured) || math.IsNaN(predicted) {
			continue
		}
		seen[q] = true
		lessons = append(lessons, lesson{q, measured, measured - predicted})
	}
	if len(lessons) < minModel {
		return l
	}
	slices.SortStableFunc(lessons, func(a, b lesson) int { return cmp.Compare(a.seconds, b.seconds) })
	order := make([]int, len(lessons))
	errors := make([]float64, len(lessons))
	for i, x := range lessons {
		order[i], errors[i] = i, x.r
	}
	slices.Sort(errors)
	f := newFeatures(c)
	g := newPosterior(newCovariance(f, modes(f)), nil)
	for _, i := range pick(order, maxTraining) {
		g.add(lessons[i].point, lessons[i].r-errors[len(errors)/2], true, pastNoise*pastNoise)
	}
	shift := make([]float64, c.size)
	g.scan(shift, g.weights(), c.canonical())
	learnt := &catalog{space: c.space, parts: c.parts, size: c.size, prior: slices.Clone(c.prior)}
	for i := range learnt.prior {
		learnt.prior[i] += shift[i]
	}
	return &Listing{learnt}
}
