package search

// newRandom proposes schedules uniformly without replacement: the baseline that
// any other strategy has to beat.
func newRandom(p *pool, seed uint64) (Strategy, error) {
	return &line{pool: p, name: "random", order: p.shuffled(Rand(seed, "random"))}, nil
}
