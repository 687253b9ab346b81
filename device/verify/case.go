// Package verify draws random legal schedules of a stencil on random small grids, and
// proves kernels on any device against the float64 reference.
package verify

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"

	"stenciltune/kernels"
	"stenciltune/machine"
	"stenciltune/space"
	"stenciltune/stencil"
)

// Case is a schedule on a grid: so many launches of its kernel, and then one of the
// remainder, from the start data of Seed.
type Case struct {
	Problem   stencil.Problem
	Kernel    kernels.Kernel
	Remainder *kernels.Kernel // the same schedule with a time tile of 1, if it fuses steps
	Launches  int
	Seed      uint32
	Reduction *Reduction // of a stencil with Reduce
	nan       uint32     // a seed under which an element that a step's numbers read is NaN; 0 = there is none
	tiles     tiles
	further   []further // grids on which the kernels have the same texts: of whole tiles, if the case's has none, and a thin one
}

// further is a grid that a case's kernels run on beside its own, and how they are launched there.
type further struct {
	problem           stencil.Problem
	kernel, remainder kernels.Launch
	launches          int // of the kernel; one of the remainder follows
}

// Name is the case on one line.
func (c Case) Name() string { return c.Problem.Text() + "/" + c.Kernel.Schedule.String() }

// Steps is the time steps that the case runs.
func (c Case) Steps() int {
	n := c.Launches * c.Kernel.Launch.Steps
	if c.Remainder != nil {
		n += c.Remainder.Launch.Steps
	}
	return n
}

// Kind is what makes a grid a hard one.
type Kind string

// The kinds; a grid may be of several, or of none.
const (
	Single Kind = "an extent of 1"
	Narrow Kind = "an extent within the stencil's radius"
	Small  Kind = "less than one tile"
	Cut    Kind = "tiles cut by the edge"
	Whole  Kind = "whole tiles alone, several a side"
	Parts  Kind = "rows that end within a vector"
)

// Kinds lists every kind, in the order of their mention.
func Kinds() []Kind { return []Kind{Single, Narrow, Small, Cut, Whole, Parts} }

// Is tells whether the case's grid is of a kind.
func (c Case) Is(k Kind) bool {
	n, st := c.Problem.Size, c.Problem.Stencil
	if k == Parts {
		return n[0]%c.Kernel.Schedule.Int("vx", 1) != 0
	}
	for a := range st.Dims {
		tiles, whole := c.tiles.count(a, n[a])
		switch {
		case k == Single && n[a] == 1,
			k == Narrow && (n[a] <= st.Low[a] || n[a] <= st.High[a]),
			k == Cut && !whole:
			return true
		case k == Small && n[a] >= c.tiles.hold[a],
			k == Whole && (tiles < 2 && c.tiles.cuts[a] != 1 || !whole):
			return false
		}
	}
	return k == Small || k == Whole
}

// Source draws cases for a machine.
type Source struct {
	machine  machine.Machine
	families []kernels.Family
	legal    map[string][]space.Schedule // listed before, by legalKey
	able     map[string]bool             // whether there is one
	plans    map[planKey]*plan
}

// NewSource makes a source of the families' schedules.
func NewSource(m machine.Machine, families []kernels.Family) *Source {
	return &Source{machine: m, families: families, legal: map[string][]space.Schedule{}, able: map[string]bool{}, plans: map[planKey]*plan{}}
}

// large is the problem for which schedules must be legal: on a large grid tiles,
// columns and pyramids of every size occur, and small grids then cut them in every way. A program of one step fuses none.
func large(p stencil.Problem) stencil.Problem {
	p.Size, p.Steps = p.Stencil.DefaultSize(false), 100
	if p.Stencil.Steps == 1 {
		p.Steps = 1
	}
	return p
}

// legalKey is what a family's schedules follow from.
func legalKey(p stencil.Problem, f kernels.Family) string {
	return f.Name() + " " + string(p.DType) + " " + p.Stencil.Hash
}

// Legal lists a family's schedules for a problem's stencil and element type.
func (s *Source) Legal(p stencil.Problem, f kernels.Family) []space.Schedule {
	key := legalKey(p, f)
	if _, ok := s.legal[key]; !ok {
		s.legal[key] = slices.Collect(space.New(f.Space(large(p), s.machine)).All())
	}
	return s.legal[key]
}

// Why says why a family has no schedule for a problem's stencil and element type: of some schedules, the constraint that
// is broken by the one which keeps most of those before it.
func (s *Source) Why(p stencil.Problem, f kernels.Family) string {
	const tries = 4000 // each costs a microsecond
	sf := f.Space(large(p), s.machine)
	sp, r := space.New(sf), Random(1, 0)
	furthest, text := -1, f.Name()+": it has no legal schedule"
	index := make([]int, len(sf.Params))
	for range tries {
		sc, err := sf.Decode(index)
		if err == nil {
			err = sp.Check(sc)
		}
		if broken, ok := errors.AsType[*space.Rejection](err); ok {
			at := slices.IndexFunc(sf.Constraints, func(c space.Constraint) bool { return c.Name == broken.Constraint })
			if at > furthest {
				furthest, text = at, fmt.Sprintf("%s (%s): %s", f.Name(), broken.Constraint, broken.Why)
			}
		}
		for i, param := range sf.Params {
			index[i] = r.IntN(len(param.Values))
		}
	}
	return text
}

// Able splits the families into those that have schedules for a problem's stencil and
// element type, and those that have none.
func (s *Source) Able(p stencil.Problem) (able, unable []kernels.Family) {
	for _, f := range s.families {
		if s.some(p, f) {
			able = append(able, f)
		} else {
			unable = append(unable, f)
		}
	}
	return able, unable
}

// some tells whether a family has a schedule, without a list of them all.
func (s *Source) some(p stencil.Problem, f kernels.Family) bool {
	key := legalKey(p, f)
	if list, ok := s.legal[key]; ok {
		return len(list) > 0
	}
	if _, ok := s.able[key]; !ok {
		s.able[key] = !space.New(f.Space(large(p), s.machine)).Empty()
	}
	return s.able[key]
}

// Draw draws a schedule of a family that is able, and a grid.
func (s *Source) Draw(r *rand.Rand, p stencil.Problem, f kernels.Family) Case {
	list := s.Legal(p, f)
	c := s.draw(r, p, f, list[r.IntN(len(list))], r.IntN(len(shapes)*9))
	c.Reduction = Reduce(r, p, r.IntN(8*len(reduced)))
	c.nan = nanFor(r, c.Problem)
	return c
}

// draw draws the grids of a family's case j for a schedule.
func (s *Source) draw(r *rand.Rand, p stencil.Problem, f kernels.Family, sc space.Schedule, j int) Case {
	p = large(p)
	c := Case{Launches: 2 + r.IntN(2), Seed: r.Uint32(), tiles: tilesOf(f, p, sc)}
	size := c.tiles.size(r, p.Stencil, shapeOf(j))
	q := p
	q.Size = suited(r, f.Kernel(s.withRows(p, f, sc, size[0]), sc), size, p.Stencil.Least())
	c.generate(q, f, sc)
	also := func(launches int, sizes ...stencil.Size) bool {
		for _, n := range sizes {
			q.Size = suited(r, f.Kernel(s.withRows(p, f, sc, n[0]), sc), n, p.Stencil.Least())
			if c.runsOn(q, f, sc, launches) {
				return true
			}
		}
		return false
	}
	if n, ok := c.tiles.fit(c.tiles.three(p.Stencil.Dims), p.Stencil.Dims); ok && shapeOf(j) != whole {
		also(1, n, stencil.Size{size[0], n[1], n[2]}) // the rows of the case's own grid may have a text of their own
	}
	if c.tiles.workers > 0 { // of as few tiles no share would end within one, where so many workers are; rows may end within a vector as the case's do, whose text is another
		if n, ok := c.tiles.shared(r); ok && also(1, n, stencil.Size{n[0] - vector + size[0]%vector, n[1], n[2]}) {
			at := &c.further[len(c.further)-1]
			c.tiles.fewWorkers(r, &at.kernel)
			if c.Remainder != nil {
				c.tiles.fewWorkers(r, &at.remainder)
			}
		}
	}
	thin := thinSize(r, p.Stencil.Dims, j, c.tiles)
	also(c.Launches, thin, stencil.Size{kernels.RoundUp(thin[0], vector), thin[1], thin[2]})
	return c
}

// runsOn has a case's kernels run on a further grid, if they have the same texts there.
func (c *Case) runsOn(p stencil.Problem, f kernels.Family, s space.Schedule, launches int) bool {
	var on Case
	on.generate(p, f, s)
	if on.Kernel.Source != c.Kernel.Source || c.Remainder != nil && on.Remainder.Source != c.Remainder.Source {
		return false
	}
	grid := further{problem: p, kernel: on.Kernel.Launch, launches: launches}
	if c.Remainder != nil {
		grid.remainder = on.Remainder.Launch
	}
	c.further = append(c.further, grid)
	return true
}

// fewWorkers has a launch's blocks share planes among more workers than there are tiles, but not as many as would leave each a part of a tile. How many there are is the launch's.
func (t tiles) fewWorkers(r *rand.Rand, l *kernels.Launch) {
	columns := l.Grid[0] - t.workers
	l.Grid[0] = columns + columns + 1 + r.IntN(max(1, columns-1))
}

// vector is the cells of the widest.
const vector = 8

// withRows is a large problem whose rows end like those of n cells, in the same part of a vector, if the schedule
// is legal there: not all of them move rows in parts.
func (s *Source) withRows(p stencil.Problem, f kernels.Family, sc space.Schedule, n int) stencil.Problem {
	q := p
	q.Size[0] = kernels.RoundUp(q.Size[0], vector) + n%vector
	if space.New(f.Space(q, s.machine)).Check(sc) != nil {
		return p
	}
	return q
}

// Of is the case of one schedule of a family.
func Of(p stencil.Problem, f kernels.Family, s space.Schedule, launches int, seed uint32) Case {
	c := Case{Launches: launches, Seed: seed, tiles: tilesOf(f, p, s)}
	c.generate(p, f, s)
	return c
}

// generate writes a case's kernels.
func (c *Case) generate(p stencil.Problem, f kernels.Family, s space.Schedule) {
	c.Problem, c.Kernel = p, f.Kernel(p, s)
	if c.Kernel.Launch.Steps > 1 {
		rest := f.Kernel(p, kernels.Remainder(s))
		c.Remainder = &rest
	}
}

// Random is the generator of case i of a seed: any case can be drawn alone.
func Random(seed uint64, i int) *rand.Rand { return rand.New(rand.NewPCG(seed, uint64(i))) }

// Cases draws cases from first on, n of them, of a problem's stencil, element type
// and scalars; each family that is able has its turn, by a plan that covers the values of its
// parameters. There are none where no family is able.
func (s *Source) Cases(p stencil.Problem, seed uint64, first, n int) ([]Case, error) {
	able, _ := s.Able(p)
	if len(able) == 0 {
		return nil, fmt.Errorf("no kernel family runs %s in %s", p.Stencil.Name, p.DType)
	}
	var list []Case
	for i := first; i < first+n; i++ {
		f, j := able[i%len(able)], i/len(able)
		r := Random(seed, i)
		c := s.draw(r, p, f, s.plan(p, f, seed).at(j), j)
		c.Reduction, c.nan = Reduce(r, p, i), nanFor(r, c.Problem)
		list = append(list, c)
	}
	return list, nil
}
