package search

import (
	"math"
	"math/rand/v2"
	"slices"
)

// Sizes of the initial design.
const (
	seedsFromPrior = 4
	seedsAtRandom  = 2
	seedApart      = 0.25 // least squared distance between seeds of the prior
	seedFactor     = 3    // times the best prediction beyond which a family gives no seed
)

// design is the points to measure before there is a model: the prior's best of
// every promising family, apart from each other, and a few random ones, spread over
// the families and away from each other. It is short, because the prior and the
// covariance say much about a space before anything is measured; without a prior
// all of it is random.
func design(c *catalog, f *features, r *rand.Rand) (points []int) {
	chance := seedsAtRandom
	if f.z != nil {
		points = priorSeeds(c, f)
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

// priorSeeds takes in turn from every promising family its best point not near one
// taken, the most promising family first.
func priorSeeds(c *catalog, f *features) []int {
	order := c.byPrior()
	worst := c.predicted(int(order[0])) + math.Log(seedFactor)
	var families []int
	for _, q := range order {
		if c.predicted(int(q)) > worst {
			break
		}
		if k := int(f.part[q]); !slices.Contains(families, k) {
			families = append(families, k)
		}
	}
	var seeds []int
	for range seedsFromPrior {
		for _, k := range families {
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
