package search

import (
	"cmp"
	"maps"
	"math"
	"slices"
)

// Doubt is what a search knows of how good its best schedule is: by how much a schedule of which it has no
// answer may be better.
type Doubt struct {
	Left  bool    // whether there is one, or no best
	None  float64 // log of the probability that none is, by independent draws of each from the posterior
	Since int     // timed schedules since the best
	Trust float64 // in the prior, see rely
}

// Standing says with what probability a schedule takes at most 1 + Share times as long as the best of
// the space that was searched.
type Standing struct{ Share, Probability float64 }

// usualShare is that of a standing of which nothing else is asked.
const usualShare = 0.01

// Stands is the standing of a strategy's best for the share of a stop rule, of 1 % without one. It is zero
// if the strategy does not say.
func Stands(s Strategy, rule Stop) Standing {
	f, ok := s.(Forecaster)
	if !ok {
		return Standing{}
	}
	share := cmp.Or(rule.Within, usualShare)
	return Standing{share, f.Within(share)}
}

// local is the standard deviation of log seconds, beside the posterior's own, of a schedule of which the
// posterior is drawn. It is half of jagged, which is to find what is there; with this one the draws tell the most of
// recorded searches.
const local = 0.05

// calibration turns a doubt into a probability: the logarithm of its odds is linear in what a doubt
// holds. Fitted to searches of four recorded spaces under right and wrong models by "go test ./study/contest -run Within
// -within fit"; bench/search/within.txt has how it holds for the other six.
var calibration = struct{ constant, none, since, trust float64 }{-0.87, -0.481, 0.403, 0.911}

// Terms are what the logarithm of the odds is linear in: a constant, the draws, the time since the best, trust.
func (d Doubt) Terms() [4]float64 {
	return [4]float64{1, math.Log(0.01 - d.None), math.Log(float64(1 + d.Since)), d.Trust}
}

// Probability is that of the statement that was doubted.
func (d Doubt) Probability() float64 {
	if !d.Left {
		return 1
	}
	t := d.Terms()
	odds := calibration.constant*t[0] + calibration.none*t[1] + calibration.since*t[2] + calibration.trust*t[3]
	return 1 / (1 + math.Exp(-odds))
}

// doubt is of the statement that the best takes at most 1 + share times as long as any schedule of the
// space. Candidates stand for all of them: the others are expected to be slower.
func (b *brain) doubt(share float64) Doubt {
	d := Doubt{Left: b.left > 0 || len(b.pending) > 0 || b.best < 0, None: math.Inf(-1), Trust: b.trust}
	if b.post == nil || b.best < 0 {
		return d
	}
	d.None, d.Since = 0, len(b.timed)-1-b.best
	mark := b.timed[b.best].log - b.base - math.Log1p(share)
	draw := func(mean, variance float64) {
		z := (mean - mark) / math.Sqrt(max(variance, 0)+local*local)
		d.None += math.Log1p(-min(0.5*math.Erfc(z/math.Sqrt2), 1-1e-12))
	}
	alpha := b.post.weights() // refreshes the means
	for i, q := range b.post.cand {
		if !b.taken[q] {
			draw(b.post.mean[i]+b.mean(int(q)), b.post.rest[i])
		}
	}
	for _, q := range slices.Sorted(maps.Keys(b.pending)) { // in one order, for the sum's last digit
		draw(b.post.c.sum(q, b.post.points, alpha)+b.mean(q), 0)
	}
	return d
}
