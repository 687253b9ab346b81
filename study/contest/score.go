package contest

import (
	"math"
	"slices"
	"sort"

	"gonum.org/v1/gonum/stat"

	"stenciltune/timing"
)

// Targets are the regrets whose evaluations are counted.
var Targets = []float64{0.05, 0.02, 0.01}

// To is the number of evaluations until the regret was at most share, +Inf if it
// never was.
func (r Run) To(share float64) float64 {
	for i, p := range r.Points {
		if p.Regret <= share {
			return float64(i + 1)
		}
	}
	return math.Inf(1)
}

// Seconds is the simulated time until the regret was at most share, +Inf if it
// never was.
func (r Run) Seconds(share float64) float64 {
	for _, p := range r.Points {
		if p.Regret <= share {
			return p.Time
		}
	}
	return math.Inf(1)
}

// at is the regret at a time; before the first evaluation it is first.
func (r Run) at(t, first float64) float64 {
	i := sort.Search(len(r.Points), func(i int) bool { return r.Points[i].Time > t })
	if i == 0 {
		return first
	}
	return r.Points[i-1].Regret
}

// Area is the mean regret over the first so many simulated seconds, from first on.
func (r Run) Area(first, until float64) float64 {
	sum, t, regret := 0.0, 0.0, first
	for _, p := range r.Points {
		if p.Time >= until {
			break
		}
		sum += (p.Time - t) * regret
		t, regret = p.Time, p.Regret
	}
	return (sum + (until-t)*regret) / until
}

// quantile is the value of rank ceil(q n) among values: one of them, so that infinite ones do no
// harm.
func quantile(values []float64, q float64) float64 {
	return stat.Quantile(q, stat.Empirical, slices.Sorted(slices.Values(values)), nil)
}

// The methodology's window: from where random search has made half to where it has
// made 96 % of the way from the median to the optimum, at so many points of time.
const (
	windowStart  = 0.50
	windowEnd    = 0.96
	windowPoints = 50
)

// pace is how fast random search goes: when, on average, each of its evaluations
// was done.
type pace []float64

// paceOf averages runs of random search; the evaluations that all of them reached.
func paceOf(runs []Run) pace {
	n := len(runs[0].Points)
	for _, r := range runs {
		n = min(n, len(r.Points))
	}
	p := make(pace, n)
	for i := range p {
		for _, r := range runs {
			p[i] += r.Points[i].Time / float64(len(runs))
		}
	}
	return p
}

// done is the evaluations random search has made by a time.
func (p pace) done(t float64) int { return sort.Search(len(p), func(i int) bool { return p[i] > t }) }

// Score is the performance of runs against the expectation of random search: the
// mean over time of (baseline - mean best) / (baseline - optimum), 1 if the
// optimum is known at once, 0 as good as random (Willemsen et al., FGCS 2024).
func (f *Field) Score(runs []Run, p pace) float64 {
	median := timing.Median(f.sorted)/f.Optimum - 1
	from, to := p[f.reach(median*(1-windowStart), len(p))-1], p[f.reach(median*(1-windowEnd), len(p))-1]
	sum := 0.0
	for i := range windowPoints {
		t := from + (to-from)*float64(i)/(windowPoints-1)
		mean := 0.0
		for _, r := range runs {
			mean += r.at(t, f.first()) / float64(len(runs))
		}
		base := f.baseline(p.done(t))
		sum += (base - mean) / base / windowPoints
	}
	return sum
}

// reach is the number of random evaluations, most at the most, after which the
// baseline is at or below a regret and not yet at the optimum.
func (f *Field) reach(regret float64, most int) int {
	m := 1
	for m < most && f.baseline(m) > regret && f.baseline(m+1) > 0 {
		m++
	}
	return m
}
