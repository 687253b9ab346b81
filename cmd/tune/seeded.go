package main

import (
	"slices"

	"stenciltune/search"
	"stenciltune/space"
)

// seeded proposes schedules that were good elsewhere first, then what its strategy
// proposes. The strategy is told of all.
type seeded struct {
	search.Strategy
	seeds []space.Schedule // still to be proposed
	given map[space.Schedule]bool
}

// seed puts the seeds that are legal before a strategy.
func seed(s search.Strategy, sp *space.Space, seeds []space.Schedule) search.Strategy {
	legal := slices.DeleteFunc(slices.Clone(seeds), func(x space.Schedule) bool { return sp.Check(x) != nil })
	if len(legal) == 0 {
		return s
	}
	given := map[space.Schedule]bool{}
	for _, x := range legal {
		given[x] = true
	}
	return &seeded{s, legal, given}
}

// Ask gives the seeds first. The strategy may propose one of them before it is told
// what became of it: that is dropped.
func (s *seeded) Ask(n int) []space.Schedule {
	if len(s.seeds) > 0 {
		n = min(n, len(s.seeds))
		first := s.seeds[:n]
		s.seeds = s.seeds[n:]
		return first
	}
	for {
		list := s.Strategy.Ask(n)
		left := slices.DeleteFunc(slices.Clone(list), func(x space.Schedule) bool { return s.given[x] })
		if len(left) > 0 || len(list) == 0 {
			return left
		}
	}
}
