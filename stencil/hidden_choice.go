package stencil

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
)

// place is a class at a place.
type place struct {
	c  *class
	at Offset
}

// instance is a place with its operands.
type instance struct {
	place
	args  []int
	known bool // args are
}

// search looks for the set of hidden values that leaves least to compute.
type search struct {
	roots     []int
	instances []instance
	index     map[place]int
	least     int
	chosen    map[*class]bool
	seen      []int // by instance, the walk that met it last
	walk      int
	visits    int
	needs     map[*class][]Offset // where chosen ones are read
	direct    map[*class]bool     // by the stage itself
}

func (s *search) at(p place) int {
	i, ok := s.index[p]
	if !ok {
		i = len(s.instances)
		s.index[p] = i
		s.instances = append(s.instances, instance{place: p})
		s.seen = append(s.seen, 0)
	}
	return i
}

func (s *search) args(i int) []int {
	if p := s.instances[i]; !p.known {
		var args []int
		for _, a := range p.c.args {
			at := a.at
			if a.c.points {
				at = plus(at, p.at)
			}
			args = append(args, s.at(place{a.c, at}))
		}
		s.instances[i].args, s.instances[i].known = args, true
	}
	return s.instances[i].args
}

// compute counts the operations below an instance that this walk has not met yet, as far
// as chosen ones, which it notes.
func (s *search) compute(i int, direct bool) int {
	if s.seen[i] == s.walk {
		return 0
	}
	s.seen[i] = s.walk
	p := s.instances[i]
	if s.chosen[p.c] {
		s.needs[p.c] = append(s.needs[p.c], p.at)
		s.direct[p.c] = s.direct[p.c] || direct
		return 0
	}
	return s.below(i, direct)
}

func (s *search) below(i int, direct bool) int {
	s.visits++
	n := 0
	if c := s.instances[i].c; c.points || c.pins != [3]bool{} { // others are the same at all cells
		n = c.cost
	}
	for _, a := range s.args(i) {
		n += s.compute(a, direct)
	}
	return n
}

// total is the operations of the stage and its hidden stages.
func (s *search) total() int {
	s.needs, s.direct = map[*class][]Offset{}, map[*class]bool{}
	s.walk++
	n := 0
	for _, r := range s.roots {
		n += s.compute(r, true)
	}
	s.walk++
	for _, c := range s.ordered() {
		if at, needed := s.origin(c); needed {
			n += s.below(s.at(place{c, at}), false)
		}
	}
	return n
}

// ordered is the chosen ones, those first that others cannot hold.
func (s *search) ordered() []*class {
	return slices.SortedFunc(maps.Keys(s.chosen), func(a, b *class) int { return b.id - a.id })
}

// origin is the place at which a hidden stage computes a class: reach of the stage and of
// its readers together is least, then that of the readers; those read backwards if all is
// the same.
func (s *search) origin(c *class) (at Offset, needed bool) {
	needs := s.needs[c]
	if len(needs) == 0 {
		return at, false
	}
	for a := range 3 {
		if c.pins[a] {
			continue
		}
		low, high := needs[0][a], needs[0][a]
		for _, o := range needs {
			low, high = min(low, o[a]), max(high, o[a])
		}
		var best [3]int
		for b := high; b >= low; b-- {
			readers := [2]int{max(0, b-low), max(0, high-b)}
			own := [2]int{max(0, -c.low[a]-b), max(0, c.high[a]+b)}
			cost := [3]int{readers[0] + readers[1] + own[0] + own[1], max(readers[0], readers[1]), max(own[0], own[1])}
			if b == high || slices.Compare(cost[:], best[:]) < 0 {
				best, at[a] = cost, b
			}
		}
	}
	return at, true
}

// objective is total with what hidden values cost, twice.
func (s *search) objective() int {
	n := 2 * s.total()
	for c := range s.chosen {
		switch {
		case len(s.needs[c]) == 0:
		case s.direct[c]:
			n += 2*s.least - 1
		default:
			n += 2*max(s.least, nestedSaved) - 1
		}
	}
	return n
}

// with is the objective with more classes chosen.
func (s *search) with(more ...*class) int {
	before := maps.Clone(s.chosen)
	for _, c := range more {
		s.chosen[c] = true
	}
	n := s.objective()
	s.chosen = before
	return n
}

// prune drops chosen ones that no longer pay, and gives the objective.
func (s *search) prune() int {
	n := s.objective()
	for again := true; again; {
		again = false
		for _, c := range s.ordered() {
			delete(s.chosen, c)
			if m := s.objective(); m <= n {
				n, again = m, true
			} else {
				s.chosen[c] = true
			}
		}
	}
	return n
}

// choose finds the hidden values of the function that was followed.
func (h *hoister) choose(kind Hidden, least, worth int) map[*class]*hiddenValue {
	s := &search{index: map[place]int{}, least: least, chosen: map[*class]bool{}}
	for _, r := range h.roots {
		s.roots = append(s.roots, s.at(place{r.c, r.at}))
	}
	plain := s.total()
	candidates := s.candidates(kind, h.elem)
	now := 2 * plain
	for len(s.chosen) < maxCandidates {
		best, add := now, []*class(nil)
		for _, c := range candidates {
			for _, move := range [][]*class{{c.class}, c.alike} {
				if len(move) == 0 || s.chosen[c.class] && len(move) == 1 || s.visits > maxVisits {
					continue
				}
				if n := s.with(move...); n < best {
					best, add = n, move
				}
			}
		}
		if add == nil {
			break
		}
		for _, c := range add {
			s.chosen[c] = true
		}
		now = s.prune()
	}
	if plain-s.total() < worth || len(s.chosen) == 0 {
		return nil
	}
	return s.values()
}

// candidate is a class that may pay.
type candidate struct {
	*class
	saves int      // at most
	alike []*class // this and later ones at the same places, for the first of them
}

// takes tells whether a class that is read at so many places may be a hidden value.
func (kind Hidden) takes(c *class, places int) bool {
	if kind == Pointwise {
		return places >= pointwisePlaces && c.pointwise()
	}
	return !c.affine || kind == Boxed
}

// candidates finds the classes that the stage computes at several places, largest first.
// total has been called.
func (s *search) candidates(kind Hidden, elem Type) []candidate {
	places := map[*class][]Offset{}
	for _, p := range s.instances {
		places[p.c] = append(places[p.c], p.at)
	}
	var all []candidate
	for c, at := range places {
		if len(at) < 2 || !c.points || c.typ != elem || !kind.takes(c, len(at)) {
			continue
		}
		s.walk++
		if n := (len(at) - 1) * s.below(s.index[place{c, at[0]}], true); n >= s.least {
			all = append(all, candidate{class: c, saves: n})
		}
	}
	slices.SortFunc(all, func(a, b candidate) int { return cmp.Or(b.saves-a.saves, b.id-a.id) })
	all = all[:min(len(all), maxCandidates)]
	groups := map[string]int{}
	for i, c := range all {
		at := slices.SortedFunc(slices.Values(places[c.class]), compareOffsets)
		for j := range at {
			at[j] = minus(at[j], at[0]) // the last one is the first itself
		}
		key := fmt.Sprint(at[1:])
		if first, ok := groups[key]; ok {
			all[first].alike = append(all[first].alike, c.class)
		} else {
			groups[key] = i
			all[i].alike = []*class{c.class}
		}
	}
	for i := range all { // of those that hold each other only the outer ones
		inner := map[*class]bool{}
		for _, c := range all[i].alike {
			c.holds(inner)
		}
		all[i].alike = slices.DeleteFunc(all[i].alike, func(c *class) bool { return inner[c] })
		if len(all[i].alike) == 1 {
			all[i].alike = nil
		}
	}
	return all
}

// values are the chosen ones that are read.
func (s *search) values() map[*class]*hiddenValue {
	s.total()
	values := map[*class]*hiddenValue{}
	for _, c := range s.ordered() {
		at, needed := s.origin(c)
		if !needed {
			continue
		}
		v := &hiddenValue{class: c, at: at}
		for i, o := range s.needs[c] {
			o = minus(o, at)
			for a := range 3 {
				if i == 0 {
					v.low[a], v.high[a] = o[a], o[a]
				}
				v.low[a], v.high[a] = min(v.low[a], o[a]), max(v.high[a], o[a])
			}
		}
		values[c] = v
	}
	for _, c := range slices.Backward(s.ordered()) { // what a class holds comes before it
		if v := values[c]; v != nil {
			var look func(*class)
			met := map[*class]bool{}
			look = func(c *class) {
				for _, a := range c.args {
					if u := values[a.c]; u != nil {
						v.level = max(v.level, u.level+1)
					} else if !met[a.c] {
						met[a.c] = true
						look(a.c)
					}
				}
			}
			look(c)
		}
	}
	return values
}
