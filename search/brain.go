package search

import (
	"cmp"
	"math"
	"math/rand/v2"
	"slices"

	"stenciltune/timing"
)

// Sizes that trade the quality of a proposal for its cost.
const (
	minModel    = 4    // timed points before there is a model
	maxTraining = 256  // rows a rebuilt model starts with
	maxRows     = 320  // rows at which it is rebuilt at the latest
	maxPending  = 32   // believers a rebuilt model starts with
	minFit      = 40   // timed points before the hyper-parameters are fitted
	maxFit      = 96   // points the hyper-parameters are fitted to
	maxCand     = 800  // candidates kept at hand, neighbours of new bests aside
	scanned     = 4000 // points of the space looked at for candidates on a rebuild
	bestAround  = 20   // best points whose neighbours are candidates
	faithful    = 16   // proposals after the design of which some are the prior's own next
	localEvery  = 4    // every so many proposals is a neighbour of a good point
	localStuck  = 2    // the same while nothing better is found
	stuck       = 60   // timed points without a new best after which that is
	relaunched  = 0.15 // log seconds above the best up to which other launches of a source are worth a look
	tooFar      = 0.4  // log seconds above the best beyond which a neighbour is not worth a look
	niche       = 0.5  // squared distance from the best beyond which another basin begins
)

// seen is one timed point.
type seen struct {
	point int
	log   float64 // log of the seconds
	extra float64 // its own noise variance
}

// brain decides which point to try next: a Gaussian process on the log of
// measured over predicted time proposes, and every localEvery-th proposal
// descends from the best point instead, because the last per cent of a jagged
// space are in single steps that a smooth model does not see. At first as many are the
// prior's own next, while it is of use: a best that stands alone looks bad to a model
// of what lies around it.
type brain struct {
	*pool
	f      *features
	rng    *rand.Rand
	chance line    // random points, for when there is nothing better
	ranked line    // the prior's order, as rescaled
	stated []int32 // the prior's order, as it was given

	queue []int       // of the initial design
	timed []seen      // in the order told
	at    map[int]int // position in timed
	valid validity
	best  int // position in timed of the fastest, -1 before

	h         hyper
	post      *posterior
	rowOf     map[int]int  // row of the posterior of a point
	base      float64      // log seconds that residuals count from
	offset    float64      // constant of the mean
	slope     float64      // centre of the prior's slope: 1, or 0 if it proved useless
	unknown   float64      // share of the points that the prior has no time for
	trust     float64      // rank correlation of the prior with what was measured, where the prior expects much
	off       float64      // standard deviation of the prior's errors there, in log seconds
	errs      float64      // by how much the model errs on what it knows, see errors
	nextScale int          // timed points at which to rescale the prior's parts again
	nextFit   int          // timed points at which to fit again
	nextCand  int          // timed points at which to choose candidates again
	count     int          // proposals after the design
	descents  int          // of them, proposals of local
	idle      int          // quarters of proposals of global in a row that expected little
	pending   map[int]bool // proposals without an answer
	sweep     int          // points of the space looked at so far
	around    map[int]bool
}

func newBrain(p *pool, seed uint64) *brain {
	f := newFeatures(p.enumeration)
	b := &brain{pool: p, f: f, rng: Rand(seed, "bayes"), at: map[int]int{}, pending: map[int]bool{}, best: -1, off: math.Inf(1), h: modes(f)}
	b.valid.f = f
	if p.size > 0 {
		b.queue = design(p.enumeration, f, b.rng)
	}
	b.chance = line{pool: p, order: p.shuffled(b.rng)}
	if f.z != nil {
		b.ranked = line{pool: p, order: p.byPrior()}
		b.stated = b.ranked.order
		unknown := 0
		for q := range p.size {
			if math.IsInf(p.predicted(q), 1) {
				unknown++
			}
		}
		b.unknown = float64(unknown) / float64(p.size)
	}
	return b
}

// next is a point that is not taken; there must be one.
func (b *brain) next() int {
	q := b.choose()
	b.pending[q] = true
	return q
}

// choose is next, not yet pending.
func (b *brain) choose() int {
	for len(b.queue) > 0 {
		q := b.queue[0]
		b.queue = b.queue[1:]
		if !b.taken[q] {
			return b.believe(q)
		}
	}
	b.count++
	if len(b.timed) < minModel {
		if b.count%4 > 0 && len(b.ranked.order) > 0 {
			return b.ranked.next()
		}
		return b.chance.next()
	}
	b.prepare()
	every := localEvery
	if len(b.timed)-b.best > stuck {
		every = localStuck
	}
	if b.count%every == 0 {
		if q := b.local(); q >= 0 {
			return b.believe(q)
		}
	}
	if b.count%localEvery == localEvery/2 && b.count <= faithful && b.slope > 0 {
		if q := b.ranked.next(); q >= 0 {
			return b.believe(q)
		}
	}
	if q, gain := b.global(); q >= 0 {
		little := gain < math.Log(GainShare) || b.sure()
		if little {
			if near := b.due(); near >= 0 {
				return b.believe(near)
			}
		}
		b.expect(little)
		return b.believe(q)
	}
	return b.believe(b.chance.next())
}

// believe adds a proposal to the model as a believer.
func (b *brain) believe(q int) int {
	if b.post != nil {
		if b.post.add(q, 0, false, 0) {
			b.rowOf[q] = len(b.post.points) - 1
		}
	}
	return q
}

// tell takes what became of a point: its seconds, or that it failed. Told twice,
// the faster of two times counts.
func (b *brain) tell(q int, seconds, extra float64, ok bool) {
	i, again := b.at[q]
	if !ok {
		if !again {
			b.valid.add(q, false)
		}
		return
	}
	s := seen{q, math.Log(seconds), extra}
	if again {
		if s.log >= b.timed[i].log {
			return
		}
		b.timed[i] = s
	} else {
		i = len(b.timed)
		b.at[q] = i
		b.timed = append(b.timed, s)
		b.valid.add(q, true)
	}
	if b.best < 0 || s.log < b.timed[b.best].log {
		if b.best >= 0 && b.timed[b.best].log-s.log > GainShare {
			b.idle = 0
		}
		b.idle /= 2 // what is due of the new best comes first
		b.best = i
	}
	if b.post == nil {
		return
	}
	if row, in := b.rowOf[q]; in {
		b.post.set(row, b.residual(s))
	} else if b.post.add(q, b.residual(s), true, extra) {
		b.rowOf[q] = len(b.post.points) - 1
	}
}

// forget takes back what was told of a point. If it was the best, another one is, and what was expected of it counts no
// longer.
func (b *brain) forget(q int) {
	i, timed := b.at[q]
	if !timed {
		return
	}
	b.timed = slices.Delete(b.timed, i, i+1)
	delete(b.at, q)
	for j, s := range b.timed[i:] {
		b.at[s.point] = i + j
	}
	b.valid.ok = slices.DeleteFunc(b.valid.ok, func(p int32) bool { return int(p) == q })
	switch {
	case i < b.best:
		b.best--
	case i == b.best:
		b.best, b.idle = -1, 0
		if len(b.timed) > 0 {
			b.best = b.byTime()[0]
		}
	}
	b.nextCand = 0 // a model without it
}

// residual is what the model learns: log time, compressed where far above the
// best, less the prior mean.
func (b *brain) residual(s seen) float64 {
	return compress(s.log-b.base) - b.mean(s.point)
}

// mean is the prior mean of a point, on the scale of compress(log time - base).
func (b *brain) mean(q int) float64 {
	if b.f.z == nil {
		return b.offset
	}
	return b.offset + b.slope*b.f.z[q]
}

// prepare rebuilds the model when enough was learnt since it was built.
func (b *brain) prepare() {
	n := len(b.timed)
	if b.post != nil && n < b.nextCand && len(b.post.points) < maxRows {
		return
	}
	b.base = b.timed[b.best].log
	set := b.training()
	if b.kinds > 0 && n >= b.nextScale {
		b.follow(set)
		b.nextScale = n + max(4, n/4)
	}
	b.judge(set)
	b.rely()
	if n >= max(b.nextFit, minFit) {
		b.refit(set)
		b.nextFit = n + n/2
	}
	b.build(set)
	b.nextCand = n + max(4, min(n/6, 40))
}

// judge keeps the prior in the mean only if what was measured is more probable
// with it than without (the marginal likelihood; Rasmussen and Williams, 2006,
// section 5.4): a wrong prior is worse than none. It stays an input either way, so
// that schedules it takes for alike can teach about each other.
func (b *brain) judge(set []int) {
	b.slope = 0
	if b.f.z == nil {
		b.centre(set)
		return
	}
	var evidence [2]float64
	cov := newCovariance(b.f, b.h)
	for i := range evidence {
		b.slope = float64(i)
		b.centre(set)
		evidence[i] = b.condition(cov, set).evidence()
	}
	if evidence[0] > evidence[1] {
		b.slope = 0
		b.centre(set)
	}
}

// condition is a posterior given a training set, without candidates.
func (b *brain) condition(cov *covariance, set []int) *posterior {
	g := newPosterior(cov, nil)
	for _, t := range set {
		s := b.timed[t]
		g.add(s.point, b.residual(s), true, s.extra)
	}
	return g
}

// training chooses the timed points to learn from: all, or the best half and the
// rest evenly over how fast they are.
func (b *brain) training() []int {
	order := b.byTime()
	return pick(order, maxTraining)
}

// byTime are the positions in timed, fastest first.
func (b *brain) byTime() []int {
	order := make([]int, len(b.timed))
	for i := range order {
		order[i] = i
	}
	slices.SortStableFunc(order, func(i, j int) int { return cmp.Compare(b.timed[i].log, b.timed[j].log) })
	return order
}

// pick keeps n of an ordered list: the first half as it is, the rest evenly.
func pick(order []int, n int) []int {
	if len(order) <= n {
		return order
	}
	set := slices.Clone(order[:n/2])
	rest := order[n/2:]
	for i := range n - n/2 {
		set = append(set, rest[i*len(rest)/(n-n/2)])
	}
	return set
}

// centre puts the constant of the mean at the median residual.
func (b *brain) centre(set []int) {
	b.offset = 0
	r := make([]float64, len(set))
	for i, t := range set {
		r[i] = b.residual(b.timed[t])
	}
	slices.Sort(r)
	b.offset = timing.Median(r)
}

func (b *brain) refit(set []int) {
	set = pick(set, maxFit)
	p := make([]int32, len(set))
	r := make([]float64, len(set))
	extra := make([]float64, len(set))
	for i, t := range set {
		s := b.timed[t]
		p[i], r[i], extra[i] = int32(s.point), b.residual(s), s.extra
	}
	b.h = fit(b.f, b.h, p, r, extra, 20)
}

// build conditions a new posterior on the training set and what is pending.
func (b *brain) build(set []int) {
	cov := newCovariance(b.f, b.h)
	var pending []int
	if b.post != nil {
		for i, q := range b.post.points {
			if !b.post.known[i] && b.pending[int(q)] {
				pending = append(pending, int(q))
			}
		}
	}
	known := b.condition(cov, set)
	b.errs = b.errors(known)
	cand := b.candidates(known)
	b.post = newPosterior(cov, cand)
	b.rowOf = map[int]int{}
	for _, t := range set {
		s := b.timed[t]
		if b.post.add(s.point, b.residual(s), true, s.extra) {
			b.rowOf[s.point] = len(b.post.points) - 1
		}
	}
	// However many are asked for at once, the model stays small.
	for _, q := range pending[max(0, len(pending)-maxPending):] {
		b.believe(q)
	}
	b.around = map[int]bool{}
}

// candidates chooses the points to look at until the next rebuild: all of a small
// space; of a large one the neighbours of the best points, the best by the prior
// as corrected so far, the best of a random sample by the model, and some of the
// sample as they come.
func (b *brain) candidates(g *posterior) []int32 {
	var out []int32
	in := make(map[int]bool)
	put := func(q int) {
		if !b.taken[q] && !in[q] {
			in[q] = true
			out = append(out, int32(q))
		}
	}
	if b.size <= maxCand {
		for q := range b.size {
			put(q)
		}
		return out
	}
	var near []int
	for _, t := range b.byTime()[:min(bestAround, len(b.timed))] {
		near = b.steps(near, b.timed[t].point)
	}
	for _, q := range near {
		put(q)
	}
	// The sample goes through a random order of the whole space, so that in time
	// every point is looked at; what was a candidate is looked at again.
	sample := make([]int32, 0, scanned+scanned/4+maxCand)
	for range min(scanned, b.size) {
		if q := b.chance.order[b.sweep%b.size]; !b.taken[q] {
			sample = append(sample, q)
		}
		b.sweep++
	}
	plain := min(len(sample), 100)
	for i, n := 0, 0; i < len(b.ranked.order) && n < scanned/4; i++ {
		if q := b.ranked.order[i]; !b.taken[q] {
			sample = append(sample, q)
			n++
		}
	}
	if b.post != nil {
		sample = append(sample, b.post.cand[:min(maxCand, len(b.post.cand))]...)
	}
	alpha := g.weights()
	mean := make([]float64, len(sample))
	g.scan(mean, alpha, sample)
	order := make([]int, len(sample))
	for i, q := range sample {
		mean[i] += b.mean(int(q))
		order[i] = i
	}
	for _, q := range sample[:plain] {
		put(int(q))
	}
	slices.SortStableFunc(order, func(i, j int) int { return cmp.Compare(mean[i], mean[j]) })
	for _, i := range order {
		if len(out) >= maxCand {
			break
		}
		put(int(sample[i]))
	}
	return out
}

// global is the candidate with the highest expected improvement, and the log of the highest where only what is known of the
// space is taken for what the model does not see: what to try next is chosen as if there were more, and whether it pays is not. -1 if there is none.
func (b *brain) global() (point int, logGain float64) {
	b.widen()
	point, logGain = b.most(jagged)
	if unseen := b.unseen(); unseen < jagged {
		_, logGain = b.most(unseen)
	}
	return point, logGain
}

// most is the candidate with the highest expected improvement, and the log of that, with a standard deviation of what the model does not see.
func (b *brain) most(unseen float64) (point int, logGain float64) {
	best, top := -1, math.Inf(-1)
	target := b.target()
	for i, q := range b.post.cand {
		if b.taken[q] {
			continue
		}
		if a := b.score(i, target, unseen); a > top {
			// The probability of validity only lowers it.
			if a += b.valid.logP(int(q)); a > top {
				best, top = int(q), a
			}
		}
	}
	return best, top
}

// score is the log of the expected improvement at a candidate, with a standard deviation of what the model does not see.
func (b *brain) score(i int, target, unseen float64) float64 {
	sd := math.Sqrt(max(b.post.rest[i]+unseen*unseen, 1e-10))
	return logEI(target, b.post.mean[i]+b.mean(int(b.post.cand[i])), sd)
}

// target is the lowest posterior mean at a timed point: a single lucky
// measurement must not set the mark.
func (b *brain) target() float64 {
	alpha := b.post.weights()
	t := math.Inf(1)
	for i, q := range b.post.points {
		if b.post.known[i] {
			t = min(t, b.post.value[i]-b.post.error[i]*alpha[i]+b.mean(int(q)))
		}
	}
	return t
}

// widen makes the neighbours of the best point candidates.
func (b *brain) widen() {
	p := b.timed[b.best].point
	if b.around[p] {
		return
	}
	b.around[p] = true
	b.admit(b.trades(b.steps(nil, p), p))
}

// admit makes points candidates that are not, and gives their positions.
func (b *brain) admit(points []int) []int {
	at := make(map[int]int, len(b.post.cand))
	for i, q := range b.post.cand {
		at[int(q)] = i
	}
	b.post.refresh()
	var fresh []int32
	var where []int
	for _, q := range points {
		if b.taken[q] {
			continue
		}
		i, in := at[q]
		if !in {
			i = len(b.post.cand) + len(fresh)
			at[q] = i
			fresh = append(fresh, int32(q))
		}
		where = append(where, i)
	}
	b.post.more(fresh)
	return where
}

// local is the most promising untried neighbour of the best point; where none is
// left, of the next best, or -1. Every other time it leaves out what is near the
// best point, lest the search settle in one basin of several.
func (b *brain) local() int {
	order := b.byTime()
	if b.descents++; b.descents%2 == 0 {
		order = b.elsewhere(order)
	}
	target := b.target()
	for rank := range min(bestAround, len(order)) {
		p := b.timed[order[rank]].point
		nears := []func([]int, int) []int{b.launches, b.steps, b.trades}
		if b.timed[order[rank]].log > b.timed[b.best].log+relaunched {
			nears = nears[1:]
		}
		for _, near := range nears {
			where := b.admit(near(nil, p))
			best, top := -1, math.Inf(-1)
			for _, i := range where {
				q := int(b.post.cand[i])
				if a := b.score(i, target, jagged) + b.valid.logP(q); best < 0 || a > top {
					best, top = q, a
				}
			}
			if best >= 0 {
				return best
			}
		}
	}
	return -1
}

// elsewhere are the positions of an order that are not near its first.
func (b *brain) elsewhere(order []int) []int {
	p := b.timed[order[0]].point
	return slices.DeleteFunc(order, func(i int) bool { return b.f.apart(p, b.timed[i].point) <= niche })
}
