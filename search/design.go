package search

import (
	"math/rand/v2"
	"slices"
)

// Sizes of the initial design.
const (
	seedsFromPrior = 10
	seedsAtRandom  = 2
)

// design is the points to measure before there is a model: the prior's first that are
// not nearly the same, the prior's best of every other family, and a few random ones, spread
// over the families and away from each other. The second cost little and say how
// far the prior is off between families; as families differ in what they cost to
// compile, some also answer long before the first do. Without a prior all of it is
// random.
func design(c *catalog, f *features, r *rand.Rand) (points []int) {
	chance := seedsAtRandom
	if f.z != nil {
		points = priorSeeds(c)
	} else {
		chance += seedsFromPrior
	}
	for _, q := range spread(c, f, r, chance) {
		if !slices.Contains(points, q) {
			points = append(points, q)
		}
	}
	return points
}

// priorSeeds are the prior's first that differ from each other in more than one parameter,
// and after them the first of each family that is not among them. What differs in one is
// much the same: often one kernel, compiled as slowly, with another launch.
func priorSeeds(c *catalog) (seeds []int) {
	met := map[int]bool{}
	alike := func(q int) bool {
		k, row := c.values(q)
		return slices.ContainsFunc(seeds, func(s int) bool {
			of, other := c.values(s)
			return of == k && differing(row, other) == 1
		})
	}
	for _, q := range c.byPrior() {
		if k := c.part(int(q)); !met[k] || len(seeds) < seedsFromPrior && !alike(int(q)) {
			met[k] = true
			seeds = append(seeds, int(q))
		}
	}
	return seeds
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
func spread(c *catalog, f *features, r *rand.Rand, n int) []int {
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
