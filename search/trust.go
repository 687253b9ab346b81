package search

import (
	"cmp"
	"math"
	"slices"

	"gonum.org/v1/gonum/stat"
)

// What a prior must have shown before a search ends. On ten whole spaces the rank correlation is 0.8 to 0.97
// with the cost model as it is, and below 0.5 with the facts of most other GPUs.
const (
	goodShare   = 0.4  // log seconds above its first up to which what a prior expects is compared
	mostUnknown = 0.01 // share of the legal schedules that a prior may have no time for
	fewest      = 8    // points below which there is no correlation
	trusted     = 0.7  // correlation from which on a prior is believed
	roughly     = 0.5  // and half believed
	mostOff     = 0.15 // standard deviation of a prior's errors, in log seconds, up to which it foretells a space
	firstRanks  = 10   // of a prior that is believed, what must have been tried
	moreRanks   = 48   // of any other
)

// Quarters that a proposal of little expected improvement counts.
const (
	idleTrusted = 32
	idleRoughly = 2
	idleElse    = 1
)

// sure tells whether a search that believes its prior is as good as certain that nothing is better by GainShare.
func (b *brain) sure() bool {
	return b.trust >= trusted && b.doubt(GainShare).Probability() >= Certain
}

// expect counts proposals in a row of little expected improvement. They count eightfold with a prior that ranks what was
// measured as it came out, by half with one that roughly does, and by a quarter otherwise: then there is more that nobody
// has looked at.
func (b *brain) expect(little bool) {
	if !little {
		b.idle = 0
	} else {
		b.idle += weight(b.trust)
	}
}

// weight is the quarters that a proposal of little expected improvement counts.
func weight(trust float64) int {
	switch {
	case trust >= trusted:
		return idleTrusted
	case trust >= roughly:
		return idleRoughly
	}
	return idleElse
}

// rely finds how far the prior is to be trusted: by the ranks of what it expects to be good and was
// measured. A mean error says less: it grows with what all schedules have in common, and hides
// which of the best is the best. A prior that has no time for what is legal knows another device.
func (b *brain) rely() {
	b.trust, b.off = 0, math.Inf(1)
	if b.slope == 0 || b.f.z == nil || b.unknown > mostUnknown {
		return
	}
	least := slices.Min(b.f.z)
	var expected, took, errors []float64
	for _, s := range b.timed {
		if z := b.f.z[s.point]; z < least+goodShare && !math.IsInf(b.predicted(s.point), 1) {
			expected, took, errors = append(expected, z), append(took, s.log), append(errors, s.log-z)
		}
	}
	if len(expected) >= fewest {
		b.trust, b.off = stat.Correlation(ranks(expected), ranks(took), nil), stat.StdDev(errors, nil)
	}
}

// ranks are the ranks of values, those of equal ones in their order.
func ranks(values []float64) []float64 {
	order := make([]int, len(values))
	for i := range order {
		order[i] = i
	}
	slices.SortStableFunc(order, func(i, j int) int { return cmp.Compare(values[i], values[j]) })
	r := make([]float64, len(values))
	for at, i := range order {
		r[i] = float64(at)
	}
	return r
}

// follow corrects the prior by the scales of its parts that fit what was measured, and ranks all points anew.
func (b *brain) follow(set []int) {
	points, logs := make([]int, len(set)), make([]float64, len(set))
	for i, t := range set {
		points[i], logs[i] = b.timed[t].point, b.timed[t].log
	}
	expected := b.rescaled(b.rescale(points, logs))
	b.f.expect(func(q int) float64 { return expected[q] })
	order := b.canonical()
	slices.SortStableFunc(order, func(p, q int32) int { return cmp.Compare(expected[p], expected[q]) })
	b.ranked = line{pool: b.pool, order: order}
}

// due is the next point that must be tried before a search may end for lack of prospects, -1 if
// there is none. Of the best these are the points one parameter away, unless they are expected to be far slower,
// all launches of its source, whatever is expected, and a launch of each source beside it; with a prior that is not believed
// the launches of sources as good as its own; of the prior, as it was given and as rescaled, the first
// ranks, and without a prior as many schedules at random.
func (b *brain) due() int {
	p := b.timed[b.best].point
	if q := b.promising(b.steps(nil, p), tooFar); q >= 0 {
		return q
	}
	if q := b.promising(b.launches(nil, p), math.Inf(1)); q >= 0 {
		return q
	}
	if q := b.beside(p); q >= 0 {
		return q
	}
	if b.trust < trusted {
		if q := b.relaunch(p); q >= 0 {
			return q
		}
	}
	for _, q := range b.firsts(b.trust) {
		if !b.taken[q] {
			return int(q)
		}
	}
	return -1
}

// toCome is how many proposals are still to come until so many count as idle, if nothing better is found: the
// rest of the design, what is due and the idle ones, and among these the descents. What is due by the model is
// taken as the prior sees it, for to ask the model would change what it proposes. Launches of sources as good as
// the best's, which are due where the prior is not believed, nobody can foretell.
func (b *brain) toCome(converged int) int {
	design := 0
	for _, q := range b.queue {
		if !b.taken[q] {
			design++
		}
	}
	trust := b.trust
	if trust == 0 && b.f.z != nil && (b.post == nil || b.slope != 0) { // nobody has looked yet: mostly it is good
		trust = trusted
	}
	due := map[int]bool{}
	for _, q := range b.firsts(trust) {
		due[int(q)] = !b.taken[q]
	}
	if b.best >= 0 {
		p := b.timed[b.best].point
		for _, q := range b.steps(nil, p) {
			if b.mean(q)-b.mean(p) < tooFar {
				due[q] = !b.taken[q]
			}
		}
		for _, q := range b.launches(nil, p) {
			due[q] = !b.taken[q]
		}
		tried := b.sources()
		for _, q := range b.trades(nil, p) { // one of each source; which one makes no difference here
			if s := b.source(q); !tried[s] && b.exchanged(p, q) && b.mean(q)-b.mean(p) < sourceFar {
				tried[s] = true
				due[q] = !b.taken[q]
			}
		}
	}
	global := 0
	for _, untried := range due {
		if untried {
			global++
		}
	}
	global += max(0, (4*converged-b.idle+weight(trust)-1)/weight(trust))
	return design + global*localEvery/(localEvery-1)
}

// firsts are the prior's first ranks that are due; without a prior as many at random.
func (b *brain) firsts(trust float64) []int32 {
	if b.f.z == nil {
		return b.chance.order[:min(moreRanks, len(b.chance.order))]
	}
	most := moreRanks
	if trust >= trusted {
		most = firstRanks
	}
	return slices.Concat(b.ranked.order[:min(most, len(b.ranked.order))], b.stated[:min(most, len(b.stated))])
}

// waiting tells whether what was due has been proposed and has no answer yet. Launches of other sources than the best's, see
// beside and relaunch, are not: on the spaces of jacobi3d13 and gaussian2d that took up to a second more and found nothing.
func (b *brain) waiting() bool {
	if b.best < 0 {
		return false
	}
	p := b.timed[b.best].point
	near := b.launches(b.steps(nil, p), p)
	return slices.ContainsFunc(near, func(q int) bool { return b.pending[q] }) ||
		slices.ContainsFunc(b.firsts(b.trust), func(q int32) bool { return b.pending[int(q)] })
}

// promising is the untried point of a list of which the least is expected, -1 if all are expected to be
// by more than far slower than the best.
func (b *brain) promising(of []int, far float64) int {
	best, top := -1, b.timed[b.best].log-b.base+far
	for _, i := range b.admit(of) {
		q := int(b.post.cand[i])
		if mean := b.post.mean[i] + b.mean(q); mean < top {
			best, top = q, mean
		}
	}
	return best
}
