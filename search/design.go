package search

import (
	"math/rand/v2"
	"slices"
)

// Sizes of the initial design.
const (
	seedsFromPrior = 8
	seedsAtRandom  = 8
	seedApart      = 0.25 // least squared distance between seeds of the prior
)

// design is the points to measure before there is a model: the prior's best of
// every family, apart from each other, in turn with random ones, spread over the
// families and away from each other. Prior and random are told apart because
// only the random ones can judge the prior.
func design(c *catalog, f *features, r *rand.Rand) (points []int, random map[int]bool) {
	random = map[int]bool{}
	var seeds []int
	if f.z != nil {
		seeds = priorSeeds(c, f)
	}
	want := seedsAtRandom + seedsFromPrior - len(seeds)
	chance := spread(c, f, r, want)
	for i := range max(len(seeds), len(chance)) {
		if i < len(seeds) && !slices.Contains(points, seeds[i]) {
			points = append(points, seeds[i])
		}
		if i < len(chance) && !slices.Contains(points, chance[i]) {
			points = append(points, chance[i])
			random[chance[i]] = true
		}
	}
	return points, random
}

// priorSeeds takes in turn from every family its best point not near one taken.
func priorSeeds(c *catalog, f *features) []int {
	order := c.byPrior()
	var seeds []int
	for range seedsFromPrior {
		for k := range c.parts {
			if len(seeds) == seedsFromPrior {
				return seeds
			}
			for _, q := range order {
				if int(f.part[q]) != k {
					continue
				}
				near := slices.ContainsFunc(seeds, func(s int) bool { return f.apart(s, int(q)) < seedApart })
				if !near {
					seeds = append(seeds, int(q))
					break
				}
			}
		}
	}
	return seeds
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
