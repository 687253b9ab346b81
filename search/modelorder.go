package search

import (
	"cmp"
	"errors"
	"slices"
)

// newModelOrder proposes schedules in the order of the prior, fastest first;
// where the prior has no answer last, ties in canonical order.
func newModelOrder(p *pool, _ uint64) (Strategy, error) {
	if p.prior == nil {
		return nil, errors.New("strategy model: it follows a prior and none was given")
	}
	return &line{pool: p, name: "model", order: p.byPrior()}, nil
}

// byPrior is all points in ascending order of their predicted time; not to be changed.
func (c *enumeration) byPrior() []int32 {
	c.once.Do(func() {
		c.ranking = c.canonical()
		slices.SortStableFunc(c.ranking, func(a, b int32) int {
			return cmp.Compare(c.predicted(int(a)), c.predicted(int(b)))
		})
	})
	return c.ranking
}
