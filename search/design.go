package search

import (
	"math"
	"math/rand/v2"
	"slices"
)

// Sizes of the initial design.
const (
	seedsApart    = 6
	seedsInOrder  = 2
	seedsAtRandom = 2
)

// lighter are the logarithms by which light schedules may be slower than the prior's first.
var lighter = []float64{0.3, 0.6, 0.9}

// design is the points to measure before there is a model: the prior's own, and a few
// random ones, spread over the families and away from each other. Without a prior all of it
// is random.
func design(c *enumeration, f *features, r *rand.Rand) (points []int) {
	chance := seedsAtRandom
	if f.z != nil {
		points = priorSeeds(c)
	} else {
		chance += seedsApart
	}
	for _, q := range spread(c, f, r, chance) {
		if !slices.Contains(points, q) {
			points = append(points, q)
		}
	}
	return points
}

// priorSeeds are what the prior would measure: its first; light schedules, which compile
// long before it does, since until the first answer nobody knows anything; its next two, whatever
// they are; and those that are apart. As many as a tune compiles at once, more or less.
func priorSeeds(c *enumeration) (seeds []int) {
	add := func(q int) {
		if !slices.Contains(seeds, q) {
			seeds = append(seeds, q)
		}
	}
	order := c.byPrior()
	for i, q := range apart(c) {
		add(q)
		if i == 0 {
			for _, l := range light(c) {
				add(l)
			}
		}
		if i < seedsInOrder && i+1 < len(order) {
			add(int(order[i+1]))
		}
	}
	return seeds
}

// apart are the prior's first that differ from each other in more than one parameter,
// and after them the first of each family that is not among them. What differs in one is
// much the same: often one kernel, compiled as slowly, with another launch. The best of other families
// cost little and say how far the prior is off between families.
func apart(c *enumeration) (seeds []int) {
	met := map[int]bool{}
	alike := func(q int) bool {
		k, row := c.values(q)
		return slices.ContainsFunc(seeds, func(s int) bool {
			of, other := c.values(s)
			return of == k && differing(row, other) == 1
		})
	}
	for _, q := range c.byPrior() {
		if k := c.part(int(q)); !met[k] || len(seeds) < seedsApart && !alike(int(q)) {
			met[k] = true
			seeds = append(seeds, int(q))
		}
	}
	return seeds
}

// light are the schedules with the least values of all that the prior expects near its first:
// values are how often something is there, so that the least make the shortest kernels, which
// compile soonest. One for each of lighter.
func light(c *enumeration) (lights []int) {
	order := c.byPrior()
	for _, by := range lighter {
		best, least := -1, math.Inf(1)
		for _, q := range order {
			if c.predicted(int(q)) > c.predicted(int(order[0]))+by {
				break
			}
			if w := c.weight(int(q)); w < least && !slices.ContainsFunc(lights, func(l int) bool { return c.source(l) == c.source(int(q)) }) {
				best, least = int(q), w
			}
		}
		if best >= 0 {
			lights = append(lights, best)
		}
	}
	return lights
}

// weight is the sum of the logarithms of the values that make a point's source.
func (c *enumeration) weight(point int) (w float64) {
	k, row := c.values(point)
	for i, p := range c.parts[k].family.Params {
		if !p.Launch && p.Ordinal {
			w += math.Log2(float64(max(p.Values[row[i]], 1)))
		}
	}
	return w
}

// differing counts the values in which two points of a family differ.
func differing(a, b []uint16) (n int) {
	for i := range a {
		if a[i] != b[i] {
			n++
		}
	}
	return n
}

// spread draws n points, family after family, each the one of 16 draws that is
// farthest from those before it.
func spread(c *enumeration, f *features, r *rand.Rand, n int) []int {
	var points []int
	for i := 0; len(points) < n && i < 8*n; i++ {
		p := c.parts[i%len(c.parts)]
		if p.size == 0 {
			continue
		}
		best, far := -1, -1.0
		for range 16 {
			q := p.first + r.IntN(p.size)
			near := 1e9
			for _, s := range points {
				near = min(near, f.apart(q, s))
			}
			if near > far {
				best, far = q, near
			}
		}
		if far > 0 {
			points = append(points, best)
		}
	}
	return points
}
