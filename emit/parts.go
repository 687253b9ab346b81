package emit

import (
	"cmp"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"stenciltune/cache"
	"stenciltune/kernels"
	"stenciltune/space"
	"stenciltune/stencil"
)

// part is one kernel of an emitted source.
type part struct {
	kernels.Kernel
	Suffix string // of its names
	Scope  string // the Suffix of the part whose namespace holds its source, which may be several parts'
	Why    string
	Tiling kernels.Tiling
	Most   int64 // cells of the largest grid its indices reach; 0 = any
	Passes []pass
	For    stencil.Problem // it was written for
}

// pass is a launch of a stage's kernel.
type pass struct {
	Entry     string
	Scope     string // namespaces within the kernel's own that hold the entry
	Arguments []kernels.Argument
	Writes    []int
	Moves     []move
}

// move says that after a launch a field's array is one that before it had another use.
type move struct{ To, From string } // like now[0], next[0]

// passes are the launches of a time step, or of several.
func passes(p stencil.Problem, k kernels.Kernel) []pass {
	var list []pass
	st := p.Stencil.Launched(k.Stages)
	for i := range st.Stages {
		stage := &st.Stages[i]
		p := pass{Entry: kernels.StageEntry(k.Entry, i), Arguments: kernels.Given(p, kernels.Arguments(st, i, k.Launch.Steps)), Writes: stage.Writes(k.Launch.Steps)}
		if k.Stages > 0 {
			p.Scope = fmt.Sprintf("stage_%d::", i)
		}
		// What is written is the field from now on. A copy takes over the array it copies,
		// and what is free then is written next.
		free := slices.Clone(stage.Outputs)
		for _, w := range p.Writes {
			p.Moves = append(p.Moves, move{fmt.Sprintf("now[%d]", w), fmt.Sprintf("next[%d]", w)})
		}
		for _, c := range stage.Copies {
			if !slices.Contains(p.Writes, c.Field) {
				p.Moves = append(p.Moves, move{fmt.Sprintf("now[%d]", c.Field), fmt.Sprintf("now[%d]", c.From)})
				free = slices.DeleteFunc(free, func(f int) bool { return f == c.From })
			}
		}
		for _, w := range p.Writes { // fields in types of their own take arrays of such elements
			j := slices.IndexFunc(free, func(f int) bool { return st.Fields[f].Type == st.Fields[w].Type })
			p.Moves = append(p.Moves, move{fmt.Sprintf("next[%d]", w), fmt.Sprintf("now[%d]", free[j])})
			free = slices.Delete(free, j, j+1)
		}
		list = append(list, p)
	}
	return list
}

// anySize is the schedule that runs on every grid: a line of threads over all cells.
const anySize = "global/gx=256/gy=1/gz=1/wx=1/wy=1/wz=1/cw=0/zz=0/sp=1"

// stepped tells why no kernels can be emitted that step the grid of any caller, if so. Whoever launches them, or names what does, asks it first.
func (s Source) stepped() error {
	st := s.Problem.Stencil
	for _, c := range s.Configs {
		if st == nil {
			return fmt.Errorf("the config's stencil %s is not in the catalogue: name its file with --stencil", plain(c.Stencil.Name))
		}
		if s.Problem.Hash() != c.Stencil.Hash {
			return fmt.Errorf("the config is of stencil %s with hash %.12s and another one was given: name its file", plain(c.Stencil.Name), c.Stencil.Hash)
		}
		if f := kernels.Find(s.Families, c.Schedule.Family); f != nil {
			if _, ok := f.(kernels.Tiler); !ok {
				return fmt.Errorf("%s is no stencil, and nothing is emitted that launches it on any grid: tune source prints its kernel", plain(c.Stencil.Name))
			}
		}
	}
	return nil
}

// variant is the kernels that do some grids, by their place among the parts: of most time steps a launch, of fewer, of one. Some
// may be the same.
type variant struct {
	Kernels [3]int
	Winner  int // the config's place; -1 = every grid
	Cost    int // ps that a plane step takes in a launch of the first; 0 = not known
	AtOnce  int // blocks that a multiprocessor then runs
	Text    string
}

// winner is what a launcher knows of a config when it chooses.
type winner struct {
	Device                      string
	Capability, Multiprocessors int
	Size                        [3]int
	Seconds                     float64 // of a time step there
}

func (s Source) winners() (list []winner) {
	for _, c := range s.Configs {
		list = append(list, winner{plain(c.Device.Name), arch(c), c.Device.SMs, size(c), secondsOf(c)})
	}
	return list
}

// collector gathers the kernels of a source, each source text once.
type collector struct {
	Source
	list     []part
	variants []variant
}

// kernel adds a schedule's kernel and answers its place: that of one that is the same in all, if there is one.
func (c *collector) kernel(suffix, why string, p stencil.Problem, sc space.Schedule) (int, error) {
	f := kernels.Find(c.Families, sc.Family())
	tiler, ok := f.(kernels.Tiler)
	if !ok {
		return 0, fmt.Errorf("schedule %s: no family to launch it from an emitted source", sc)
	}
	k := f.Kernel(p, sc)
	one := part{Kernel: k, Suffix: suffix, Scope: suffix, Why: why, Tiling: tiler.Tiling(p, sc), Passes: passes(p, k), For: p}
	if !p.Wide() {
		one.Most = 1<<31 - 1<<24 // stencil.Problem.Wide
	}
	for i, other := range c.list {
		if other.Source != k.Source {
			continue
		}
		one.Scope = other.Scope
		k, o := k, other.Kernel
		k.Launch.Grid, o.Launch.Grid = [3]int{}, [3]int{} // launchers count the blocks
		if k == o && other.Tiling == one.Tiling && other.Most == one.Most {
			return i, nil
		}
	}
	c.list = append(c.list, one)
	return len(c.list) - 1, nil
}

// variant adds a schedule on a kind of grid and what does the steps it leaves over, unless the winner has the same already.
func (c *collector) variant(winner int, form, why string, p stencil.Problem, sc space.Schedule) error {
	tag := ""
	if winner > 0 {
		tag = fmt.Sprintf("_%d", winner+1)
	}
	first, err := c.kernel(form+tag, why, p, sc)
	if err != nil {
		return err
	}
	main := c.list[first]
	v := variant{[3]int{first, first, first}, winner, 0, 0, fmt.Sprintf("%s: %s", main.Schedule, why)}
	if winner >= 0 && sc.String() == c.Configs[winner].Schedule.Text {
		v.Text += reached(c.Configs[winner])
	}
	if slices.ContainsFunc(c.variants, func(w variant) bool { return w.Winner == winner && w.Kernels[0] == first }) {
		return nil
	}
	if main.Launch.Steps > 1 {
		rest := form + "_rest" + tag
		if form == "tuned" {
			rest = "rest" + tag
		}
		fewer := kernels.Fewer(sc)
		if v.Kernels[1], err = c.kernel(strings.Replace(rest, "rest", "fewer", 1), fmt.Sprintf("%d steps a launch, for steps left over", fewer.Int("ph", 1)), p, fewer); err != nil {
			return err
		}
		if v.Kernels[2], err = c.kernel(rest, "one step a launch, for the last steps left over", p, kernels.Remainder(sc)); err != nil {
			return err
		}
	}
	c.variants = append(c.variants, v)
	return nil
}

// shapes reckons the costs of a winner's variants, from one on, and adds some in tiles of other shapes. These are for grids of
// fewer than 2^31 cells: in larger ones few tiles are not full. Steps that they leave over are done by the kernels that are there.
func (c *collector) shapes(winner, from int, sc space.Schedule) error {
	of := c.Configs[winner]
	faster := 1.0 // the tuned schedule won since it is faster than reckoned, where it was tuned: so it will be on rows of other kinds
	p := c.Problem.Resized(size(of))
	if tuned, ok := c.shape(of, p, sc); ok {
		faster = min(1, secondsOf(of)/tuned.on(p))
	}
	for i := range c.variants[from:] {
		v := c.variants[from+i]
		main := c.list[v.Kernels[0]]
		own, ok := c.shape(of, main.For, main.Schedule)
		if !ok {
			continue
		}
		if main.Schedule.String() == of.Schedule.Text {
			own.seconds *= faster
		} else {
			own.seconds *= doubt
		}
		c.variants[from+i].Cost, c.variants[from+i].AtOnce = own.cost(), own.blocks
		if main.Most == 0 {
			continue
		}
		for _, other := range c.others(of, main.For, own) {
			const why = "tiles of another shape, for grids that they fit better"
			text := fmt.Sprintf("%s: %s; the other was tuned for %s on %s", other.schedule, why, sizeText(of), plain(of.Device.Name))
			k, err := c.kernel(fmt.Sprintf("shape_%d", len(c.list)), why, main.For, other.schedule)
			if err != nil {
				return err
			}
			w := variant{[3]int{k, v.Kernels[1], v.Kernels[2]}, winner, other.cost(), other.blocks, text}
			if main.Launch.Steps == 1 {
				w.Kernels = [3]int{k, k, k}
			}
			c.variants = append(c.variants, w)
		}
	}
	return nil
}

// reached says what a config's schedule was tuned for and did there.
func reached(c cache.Config) string {
	verb := "reached"
	if c.Expected != nil {
		verb = "should reach"
	}
	rate := float64(size(c).Cells()) / secondsOf(c) / 1e9
	return fmt.Sprintf("; tuned for %s on %s, where it %s %s GCells/s", sizeText(c), plain(c.Device.Name), verb, strconv.FormatFloat(rate, 'f', 1, 64))
}

// parts are the tuned kernels, those for the steps that are left over, and the one
// for grids that no tuned one can do. The last comes always, so that a program
// may be given any grid. With all, a tuned schedule comes in all its forms. The variants of a winner
// are in the order in which to ask whether they suit a grid.
func (s Source) parts(all bool) ([]part, []variant, error) {
	c := collector{Source: s}
	for i, config := range s.Configs {
		sc, err := space.ParseSchedule(config.Schedule.Text)
		if err != nil {
			return nil, nil, err
		}
		from := len(c.variants)
		for _, f := range s.forms(i, all) {
			if err := c.variant(i, f.name, f.why, s.Problem.Resized(f.size), sc); err != nil {
				return nil, nil, err
			}
		}
		slices.SortStableFunc(c.variants[from:], func(a, b variant) int { // in which to ask whether they suit
			x, y := c.list[a.Kernels[0]], c.list[b.Kernels[0]]
			return cmp.Or(cmp.Compare(y.Most, x.Most), cmp.Compare(y.Multiple, x.Multiple))
		})
		if !all {
			continue
		}
		first := c.list[c.variants[from].Kernels[0]]
		if slim, p, ok := s.narrower(config, sc, first.Least[0]); ok {
			if err := c.variant(i, "slim", "narrower, for short rows and others that it fits better", p, slim); err != nil {
				return nil, nil, err
			}
		}
		if err := c.shapes(i, from, sc); err != nil {
			return nil, nil, err
		}
	}
	if all {
		if err := c.naive(); err != nil {
			return nil, nil, err
		}
	}
	fallback, err := space.ParseSchedule(anySize)
	if err != nil {
		return nil, nil, err
	}
	if err := c.variant(-1, "any", "for every grid, however small, large or odd", large(s.Problem), fallback); err != nil {
		return nil, nil, err
	}
	return c.list, c.variants, nil
}

// naive adds the naive schedule of the first config that has one, for grids of fewer than 2^31 cells that no tile fits into.
func (c *collector) naive() error {
	i := slices.IndexFunc(c.Configs, func(of cache.Config) bool { return of.Baseline != nil })
	if i < 0 {
		return nil
	}
	sc, err := space.ParseSchedule(c.Configs[i].Baseline.Schedule)
	if err != nil {
		return err
	}
	n := size(c.Configs[i])
	for a := range n {
		n[a] = min(n[a], 64)
	}
	return c.variant(-1, "naive", "the naive kernel, for grids that no tile fits into", c.Problem.Resized(n), sc)
}

// narrower is a schedule with vectors a quarter or half as wide, and a problem of rows that are shorter than least and no
// whole vectors, for which it is legal.
func (s Source) narrower(of cache.Config, sc space.Schedule, least int) (space.Schedule, stencil.Problem, bool) {
	width := sc.Int("vx", 1)
	f := kernels.Find(s.Families, sc.Family())
	for _, part := range []int{4, 2} {
		n := size(of)
		n[0] = least/part + 1
		if p := s.Problem.Resized(n); least > 1 && width%part == 0 && p.Stencil != nil {
			if slim := sc.With("vx", width/part); space.New(f.Space(p, of.Machine())).Check(slim) == nil {
				return slim, p, true
			}
		}
	}
	return space.Schedule{}, stencil.Problem{}, false
}

// form is a kind of grid that a schedule is compiled for, by one of them.
type form struct {
	name, why string
	size      stencil.Size
}

// forms are the kinds of grids that a config's schedule comes for, the tuned one first: rows as they were, of whole vectors
// and of any length, in grids of fewer than 2^31 cells and in others. Some may turn out the same.
func (s Source) forms(config int, all bool) []form {
	tuned := size(s.Configs[config])
	list := []form{{"tuned", "the tuned schedule", tuned}}
	if !all {
		return list
	}
	axis := s.Problem.Stencil.Dims - 1
	isWide := s.Problem.Resized(tuned).Wide()
	for _, wide := range []bool{isWide, !isWide} {
		of, cells, short := tuned, "", ""
		switch {
		case wide && s.larger(config):
			continue
		case wide && !isWide:
			cells, short = " for grids of 2^31 cells and more", "wide"
			for of.Cells() < 1<<31 {
				of[axis] *= 2
			}
		case isWide && !wide:
			cells, short = " for grids of fewer than 2^31 cells", "narrow"
			for of.Cells() >= 1<<30 && of[axis] > 1 {
				of[axis] /= 2
			}
		}
		whole, odd := of, of
		whole[0], odd[0] = kernels.RoundUp(of[0], 64), of[0]|1
		for _, f := range []form{{"", "", of}, {"even", " for rows of whole vectors", whole}, {"odd", " for rows of any length", odd}} {
			list = append(list, form{strings.Trim(f.name+"_"+short, "_"), "the same" + f.why + cells, f.size})
		}
	}
	return list
}

// larger tells whether another config of the same device is of a larger grid, which then has the kernels for huge ones.
func (s Source) larger(config int) bool {
	c := s.Configs[config]
	for i, other := range s.Configs {
		if a, b := size(other).Cells(), size(c).Cells(); other.Device.Name == c.Device.Name && (a > b || a == b && i < config) {
			return true
		}
	}
	return false
}

// large is a problem whose kernels have 64-bit indices.
func large(p stencil.Problem) stencil.Problem {
	p.Size = stencil.Size{1 << 30, 2, 1}
	p.Size[0] <<= min(1, p.Stencil.Dims-1)
	return p
}
