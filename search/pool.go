package search

import (
	"math/rand/v2"

	"stenciltune/outcome"
	"stenciltune/space"
)

// pool is a enumeration and which of its points are taken: proposed or told of.
type pool struct {
	*enumeration
	taken []bool
	left  int // points not taken
}

func newPool(c *enumeration) *pool {
	return &pool{c, make([]bool, c.size), c.size}
}

// take marks a point; false if it was taken before.
func (p *pool) take(point int) bool {
	if p.taken[point] {
		return false
	}
	p.taken[point] = true
	p.left--
	return true
}

// Pool is a listed space and which of its points are taken, for strategies of other
// packages. Points are numbered from 0 in the space's order, family after family.
type Pool struct{ *pool }

// Pool is a pool of the listing's points, none of them taken.
func (l *Listing) Pool() Pool { return Pool{newPool(l.c)} }

// Size is how many points there are.
func (p Pool) Size() int { return p.size }

// Families are the families of the points, in their order.
func (p Pool) Families() []*space.Family { return p.space.Families() }

// Points are the number of a family's first point and of its points.
func (p Pool) Points(family int) (first, size int) {
	return p.parts[family].first, p.parts[family].size
}

// Values are the number of a point's family and the indices of its values; not to be changed.
func (p Pool) Values(point int) (family int, index []uint16) { return p.values(point) }

// Find is the point of a family with these indices of values; -1 if it is not legal.
func (p Pool) Find(family int, index []int) int { return p.find(family, index) }

// Taken tells whether a point was proposed or told of.
func (p Pool) Taken(point int) bool { return p.taken[point] }

// Take proposes up to n points as next yields them; next must yield a point that is not
// taken as long as there is one.
func (p Pool) Take(n int, next func() int) []space.Schedule { return p.ask(n, next) }

// Told marks the points of outcomes as taken, and hands each that is in the space on.
func (p Pool) Told(outcomes []outcome.Outcome, each func(point int, o outcome.Outcome)) {
	p.told(outcomes, each)
}

// Shuffled yields the points that are not taken in random order, -1 at the end.
func (p Pool) Shuffled(r *rand.Rand) (next func() int) {
	l := &line{pool: p.pool, order: p.shuffled(r)}
	return l.next
}

// ask proposes up to n points as next yields them; next must yield a point that
// is not taken as long as there is one.
func (p *pool) ask(n int, next func() int) []space.Schedule {
	var s []space.Schedule
	for len(s) < n && p.left > 0 {
		q := next()
		if !p.take(q) {
			panic("search: a point proposed twice: " + p.schedule(q).String())
		}
		s = append(s, p.schedule(q))
	}
	return s
}

// told marks the points of outcomes, and hands each that is in the space on.
func (p *pool) told(outcomes []outcome.Outcome, each func(point int, o outcome.Outcome)) {
	for _, o := range outcomes {
		if q := p.locate(o.Schedule); q >= 0 {
			p.take(q)
			if each != nil {
				each(q, o)
			}
		}
	}
}

// line is points in a fixed order, handed out until each is taken.
type line struct {
	*pool
	name  string
	order []int32
	at    int
}

// next is the first point of the line that is not taken, or -1.
func (l *line) next() int {
	for ; l.at < len(l.order); l.at++ {
		if q := int(l.order[l.at]); !l.taken[q] {
			return q
		}
	}
	return -1
}

// Name is the strategy's name.
func (l *line) Name() string { return l.name }

// Ask proposes the next n points of the line.
func (l *line) Ask(n int) []space.Schedule { return l.ask(n, l.next) }

// Tell keeps what was told from being proposed.
func (l *line) Tell(outcomes []outcome.Outcome) { l.told(outcomes, nil) }

// canonical is all points in the space's order.
func (c *enumeration) canonical() []int32 {
	order := make([]int32, c.size)
	for i := range order {
		order[i] = int32(i)
	}
	return order
}

// Rand is the one source of chance of a strategy; use tells strategies'
// streams apart.
func Rand(seed uint64, use string) *rand.Rand {
	h := uint64(14695981039346656037) // FNV-1a
	for _, b := range []byte(use) {
		h = (h ^ uint64(b)) * 1099511628211
	}
	return rand.New(rand.NewPCG(seed, h))
}

// shuffled is all points in random order.
func (c *enumeration) shuffled(r *rand.Rand) []int32 {
	order := c.canonical()
	r.Shuffle(len(order), func(i, j int) { order[i], order[j] = order[j], order[i] })
	return order
}
