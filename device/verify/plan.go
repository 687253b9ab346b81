package verify

import (
	"fmt"
	"math/bits"
	"math/rand/v2"

	"stenciltune/kernels"
	"stenciltune/space"
	"stenciltune/stencil"
)

// plan is the order in which a family's schedules have their turn in a proof: a covering design. Every value of
// every parameter comes early, on a grid of several tiles; then pairs of values, and of a value and a shape of
// grid. A pair with a choice, which is mostly another text, counts for more than one of two numbers. Drawn
// uniformly, values that few legal schedules have would hardly come up.
type plan struct {
	r         *rand.Rand
	fits      func(space.Schedule) bool // whether three tiles a side are a small grid
	schedules []space.Schedule
	ids       [][]uint16 // of each schedule: its values, numbered
	names     []string   // of the values, by number: parameter=value
	choice    []bool     // whether the value is one of a choice
	vector    []bool     // whether it is the cells of a vector
	untried   bitset     // values without a case on several tiles
	pairs     bitset     // of numbers that had a case together
	drawn     []int      // schedules that had their turn
}

// bitset is a set of small numbers.
type bitset []uint64

func newBitset(n int) bitset    { return make(bitset, n/64+1) }
func (b bitset) has(i int) bool { return b[i/64]>>(i%64)&1 != 0 }
func (b bitset) add(i int)      { b[i/64] |= 1 << (i % 64) }
func (b bitset) drop(i int)     { b[i/64] &^= 1 << (i % 64) }
func (b bitset) len() (n int) {
	for _, w := range b {
		n += bits.OnesCount64(w)
	}
	return n
}

// plan is the family's plan for a problem's stencil and element type under a seed.
func (s *Source) plan(p stencil.Problem, f kernels.Family, seed uint64) *plan {
	key := planKey{f.Name(), p.DType, p.Stencil.Hash, seed}
	if s.plans[key] == nil {
		q := large(p)
		// Another size of element draws other schedules, so that the proof in float64 adds some to that in the stencil's own type.
		s.plans[key] = newPlan(rand.New(rand.NewPCG(seed, 1<<63+uint64(p.DType.Size()))), f.Space(q, s.machine), s.Legal(p, f), func(sc space.Schedule) bool {
			t, ok := f.(kernels.Tiler)
			return ok && t.Tiling(q, sc).Early > 0
		})
		s.plans[key].fits = func(sc space.Schedule) bool { return tilesOf(f, q, sc).three(q.Stencil.Dims).Cells() <= largest }
	}
	return s.plans[key]
}

type planKey struct {
	family string
	dtype  stencil.DType
	hash   string
	seed   uint64
}

// newPlan makes the plan of a list of schedules. Whether their tiles begin early follows from several parameters, and counts as one more.
func newPlan(r *rand.Rand, f *space.Family, list []space.Schedule, early func(space.Schedule) bool) *plan {
	p := &plan{r: r, schedules: list}
	numbers := map[string]uint16{}
	number := func(name string, choice, vector bool) uint16 {
		id, ok := numbers[name]
		if !ok {
			id = uint16(len(p.names))
			numbers[name] = id
			p.names, p.choice, p.vector = append(p.names, name), append(p.choice, choice), append(p.vector, vector)
		}
		return id
	}
	for _, s := range list {
		values, err := f.Values(s)
		if err != nil {
			panic(fmt.Sprintf("verify: %s, which is legal: %v", s, err))
		}
		ids := make([]uint16, len(values))
		for i, v := range values {
			param := f.Params[i]
			ids[i] = number(fmt.Sprintf("%s=%d", param.Name, v), !param.Ordinal || param.Optional, param.Name == "vx")
		}
		if early(s) {
			ids = append(ids, number("tiles begin early", false, false))
		}
		p.ids = append(p.ids, ids)
	}
	n := len(p.names)
	p.untried, p.pairs = newBitset(n), newBitset((n+len(shapes))*n)
	for id := range n {
		p.untried.add(id)
	}
	return p
}

// at is the schedule of the family's case j, from 0 on.
func (p *plan) at(j int) space.Schedule {
	for len(p.drawn) <= j {
		p.next()
	}
	return p.schedules[p.drawn[j]]
}

// next draws the schedule that brings most of what had no case yet.
func (p *plan) next() {
	shape := shapeOf(len(p.drawn))
	start := p.r.IntN(len(p.schedules))
	best, most := start, -1
	for k := range p.schedules {
		i := (start + k) % len(p.schedules)
		if gain := p.gain(p.ids[i], shape); gain > most && (shape != whole || p.fits(p.schedules[i])) {
			best, most = i, gain
		}
		if most == 0 && k > 1000 && p.untried.len() == 0 { // little is new any more: any will do
			break
		}
	}
	for n, a := range p.ids[best] {
		p.pairs.add(p.on(shape, a))
		if shape == odd { // it may have one tile: what was tried there does not count
			continue
		}
		p.untried.drop(int(a))
		for _, b := range p.ids[best][:n] {
			p.pairs.add(int(a)*len(p.names) + int(b))
		}
	}
	p.drawn = append(p.drawn, best)
}

// on numbers the pair of a shape of grid and a value.
func (p *plan) on(s shape, value uint16) int { return (len(p.names)+int(s))*len(p.names) + int(value) }

// gain is how much of a schedule had no case. A vector on rows that hold no whole ones is another text.
func (p *plan) gain(ids []uint16, grid shape) int {
	const value, rows, chosen = 1 << 16, 1 << 8, 8 // what they count for, a pair of numbers counting 1
	gain := 0
	for n, a := range ids {
		if grid != odd && p.untried.has(int(a)) {
			gain += value
		}
		switch {
		case p.pairs.has(p.on(grid, a)):
		case grid == parts && p.vector[a]:
			gain += rows
		default:
			gain++
		}
		row := int(a) * len(p.names)
		for _, b := range ids[:n] {
			switch {
			case p.pairs.has(row + int(b)):
			case p.choice[a] || p.choice[b]:
				gain += chosen
			default:
				gain++
			}
		}
	}
	return gain
}

// Untried names the values of parameters of which the first n cases have none on a grid
// of several tiles, by family.
func (s *Source) Untried(p stencil.Problem, seed uint64, n int) map[string][]string {
	able, _ := s.Able(p)
	missing := map[string][]string{}
	for i, f := range able {
		pl := s.plan(p, f, seed)
		tried := map[uint16]bool{}
		for j := range max(0, (n-i+len(able)-1)/len(able)) {
			pl.at(j)
			if shapeOf(j) == odd {
				continue
			}
			for _, id := range pl.ids[pl.drawn[j]] {
				tried[id] = true
			}
		}
		for id, name := range pl.names {
			if !tried[uint16(id)] {
				missing[f.Name()] = append(missing[f.Name()], name)
			}
		}
	}
	return missing
}
