package verify_test

import (
	"context"
	"errors"
	"fmt"
	"math"
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"

	"stenciltune/device"
	"stenciltune/device/verify"
	"stenciltune/kernels"
	"stenciltune/kernels/all"
	"stenciltune/machine"
	"stenciltune/space"
	"stenciltune/stencil"
	"stenciltune/stencil/stenciltest"
	"stenciltune/timing"
)

// gpu has the limits of compute capability 9.0.
var gpu = machine.Machine{
	Kind: machine.CUDA, Name: "test", WarpSize: 32, MaxThreadsBlock: 1024, MaxBlockDim: [3]int{1024, 1024, 64},
	MaxGridDim: [3]int{1<<31 - 1, 65535, 65535}, MaxThreadsSM: 2048, MaxBlocksSM: 32,
	RegistersBlock: 65536, RegistersSM: 65536, SharedBlock: 48 << 10, SharedBlockOptin: 227 << 10, SharedSM: 228 << 10, SharedReserved: 1 << 10,
}

func problem(t *testing.T, name string) stencil.Problem {
	t.Helper()
	st := stenciltest.Lookup(t, name)
	return stencil.Problem{Stencil: st, DType: st.DType}
}

func TestCasesAreTheSameDrawnAloneOrTogether(t *testing.T) {
	source, p := verify.NewSource(gpu, all.Families()), problem(t, "jacobi2d")
	many, err := source.Cases(p, 5, 0, 30)
	if err != nil {
		t.Fatal(err)
	}
	for _, i := range []int{0, 7, 29} {
		one, err := verify.NewSource(gpu, all.Families()).Cases(p, 5, i, 1)
		if err != nil || !reflect.DeepEqual(one[0], many[i]) {
			t.Errorf("case %d: %v", i, err)
		}
	}
	if other, err := source.Cases(p, 6, 0, 30); err != nil || reflect.DeepEqual(other, many) {
		t.Errorf("another seed draws the same: %v", err)
	}
}

// A few hundred cases hold every family that is able and every kind of grid, suit
// their kernels and stay small enough for the reference.
func TestCasesAreOfEveryKind(t *testing.T) {
	if testing.Short() {
		t.Skip("draws many cases")
	}
	source := verify.NewSource(gpu, all.Families())
	for _, name := range []string{"jacobi1d", "box9", "jacobi3d13", "acoustic3d"} {
		p := problem(t, name)
		cases, err := source.Cases(p, 1, 0, 400)
		if err != nil {
			t.Fatal(err)
		}
		families, kinds, fused := map[string]int{}, map[verify.Kind]int{}, 0
		for _, c := range cases {
			families[c.Kernel.Schedule.Family()]++
			for _, k := range verify.Kinds() {
				if c.Is(k) {
					kinds[k]++
				}
			}
			n := c.Problem.Size
			if c.Kernel.Suited(n) != n || n.Cells() > 4<<20 || c.Steps() < 2 {
				t.Errorf("%s: %d steps", c.Name(), c.Steps())
			}
			for a := p.Stencil.Dims; a < 3; a++ {
				if n[a] != 1 {
					t.Errorf("%s: %v", c.Name(), n)
				}
			}
			if steps := c.Kernel.Launch.Steps; steps > 1 {
				if fused++; c.Remainder == nil || c.Remainder.Launch.Steps != 1 || c.Steps() != c.Launches*steps+1 {
					t.Errorf("%s: remainder %+v", c.Name(), c.Remainder)
				}
			}
		}
		able, unable := source.Able(p)
		if len(families) != len(able) || len(able)+len(unable) != len(all.Families()) || len(kinds) != len(verify.Kinds()) || fused == 0 && name != "acoustic3d" && p.Stencil.Steps != 1 || fused > 0 && p.Stencil.Steps == 1 {
			t.Errorf("%s: families %v, grids %v, %d fused", name, families, kinds, fused)
		}
		for _, f := range unable {
			if why := source.Why(p, f); !strings.HasPrefix(why, f.Name()+" (") {
				t.Errorf("%s: %q", name, why)
			}
		}
	}
}

// Grids lie on both sides of whole tiles: a cell less, as many, and a cell more; and where a family moves rows in
// parts, rows end within a vector.
func TestCasesLieOnBothSidesOfWholeTiles(t *testing.T) {
	source := verify.NewSource(gpu, all.Families())
	cases, err := source.Cases(problem(t, "jacobi2d"), 1, 0, 200)
	if err != nil {
		t.Fatal(err)
	}
	off, parts := map[string]map[int]int{}, map[string]int{}
	for _, c := range cases {
		s := c.Kernel.Schedule
		if off[s.Family()] == nil {
			off[s.Family()] = map[int]int{}
		}
		if s.Family() == "tile" { // whose tiles begin where the one before ends
			width := s.Int("gx", 1) * s.Int("wx", 1)
			off[s.Family()][(c.Problem.Size[0]+1)%width-1]++
		}
		if c.Is(verify.Parts) {
			parts[s.Family()]++
		}
	}
	for _, cells := range []int{-1, 0, 1} {
		if off["tile"][cells] == 0 {
			t.Errorf("no case of tile is off whole tiles by %d cells", cells)
		}
	}
	for _, f := range []string{"stream", "global"} {
		if parts[f] == 0 {
			t.Errorf("no case of %s has rows that end within a vector", f)
		}
	}
}

// Of the proofs in float32 and float64 some grid lacks a cell or two of the room that tiles need to begin early; and where
// a stencil reaches far, some last tile has fewer cells of its own.
func TestCasesLieWhereTheLastTileIsASliver(t *testing.T) {
	if testing.Short() {
		t.Skip("draws many cases")
	}
	for _, c := range []struct{ stencil, family string }{{"jacobi2d", "stream"}, {"acoustic3d", "pipeline"}} {
		family := all.Families()[slices.IndexFunc(all.Families(), func(f kernels.Family) bool { return f.Name() == c.family })]
		for seed := range uint64(3) {
			short, sliver := 0, 0
			for _, dtype := range []stencil.DType{stencil.Float32, stencil.Float64} {
				p := problem(t, c.stencil)
				p.DType = dtype
				cases, err := verify.NewSource(gpu, all.Families()).Cases(p, seed, 0, 100)
				if err != nil {
					t.Fatal(err)
				}
				for _, one := range cases {
					if one.Kernel.Schedule.Family() != c.family {
						continue
					}
					g := family.(kernels.Tiler).Tiling(one.Problem, one.Kernel.Schedule)
					if one.Problem.Size[0] <= g.Hold[0] {
						continue
					}
					own := (one.Problem.Size[0] - g.Hold[0]) % g.Step[0] // cells of the last tile; 0 = a whole step
					room := (g.Step[0] - own) % g.Step[0]
					if g.Early > 0 && room < g.Early && room >= g.Early-2 {
						short++
					}
					if own > 0 && own < p.Stencil.High[0] {
						sliver++
					}
				}
			}
			if c.family == "stream" && short == 0 || c.family == "pipeline" && sliver < 4 {
				t.Errorf("%s, seed %d: %d grids lack room, %d last tiles are slivers", c.stencil, seed, short, sliver)
			}
		}
	}
}

// Of every parameter each value that some legal schedule has comes up within 100 cases, on a grid of several
// tiles, and each family runs on grids of whole tiles.
func TestEveryValueHasItsCase(t *testing.T) {
	names := []string{"jacobi1d", "box9", "srad2", "acoustic3d", "hotspot3d", "fdtd3d"}
	if testing.Short() {
		names = names[:1]
	}
	for _, name := range names {
		for seed := range uint64(2) {
			source, p := verify.NewSource(gpu, all.Families()), problem(t, name)
			cases, err := source.Cases(p, seed, 0, 100)
			if err != nil {
				t.Fatal(err)
			}
			if missing := source.Untried(p, seed, 100); len(missing) > 0 {
				t.Errorf("%s: 100 cases try all but %v", name, missing)
			}
			if missing := source.Untried(p, seed, 4); len(missing) < 3 {
				t.Errorf("%s: four cases try all but %v", name, missing)
			}
			able, _ := source.Able(p)
			for _, f := range able {
				tried, whole := map[space.Field]bool{}, 0
				for _, c := range cases {
					if s := c.Kernel.Schedule; s.Family() == f.Name() {
						for _, v := range s.Fields() {
							tried[v] = true
						}
						if c.Is(verify.Whole) {
							whole++
						}
					}
				}
				for _, s := range source.Legal(p, f) {
					for _, v := range s.Fields() {
						if !tried[v] {
							t.Fatalf("%s: no case of %s with %v", name, f.Name(), v)
						}
					}
				}
				if whole < 4 { // others run on whole tiles beside grids of their own
					t.Errorf("%s: %s has whole tiles in %d cases", name, f.Name(), whole)
				}
			}
		}
	}
}

func TestKindsOfAGrid(t *testing.T) {
	source, p := verify.NewSource(gpu, all.Families()), problem(t, "jacobi2d9s") // reach 2
	cases, err := source.Cases(p, 1, 0, 1)
	if err != nil {
		t.Fatal(err)
	}
	c := cases[0]
	for _, k := range []struct {
		size stencil.Size
		want []verify.Kind
	}{
		{stencil.Size{1, 64 << 10, 1}, []verify.Kind{verify.Single, verify.Narrow, verify.Cut}},
		{stencil.Size{2, 64 << 10, 1}, []verify.Kind{verify.Narrow, verify.Cut}},
		{stencil.Size{3, 3, 1}, []verify.Kind{verify.Small, verify.Cut}},
		{stencil.Size{64 << 10, 64 << 10, 1}, []verify.Kind{verify.Whole}}, // extents and work are powers of two
	} {
		c.Problem.Size = k.size
		var got []verify.Kind
		for _, kind := range verify.Kinds() {
			if c.Is(kind) {
				got = append(got, kind)
			}
		}
		if !reflect.DeepEqual(got, k.want) {
			t.Errorf("%v, %s: %v, want %v", k.size, c.Kernel.Schedule, got, k.want)
		}
	}
}

// fake answers as it is told; it counts what it holds.
type fake struct {
	device.Device
	compile func(kernels.Kernel) error
	check   func(n int) (stencil.Comparison, error)
	asked   func(device.Check)
	wrong   func(device.Check) bool // that a cell is; nil = check tells
	checked int
	held    chan int
}

func (f *fake) Compile(_ context.Context, k kernels.Kernel) (device.Binary, error) {
	if f.compile != nil {
		if err := f.compile(k); err != nil {
			return device.Binary{}, err
		}
	}
	f.held <- <-f.held + 1
	return device.Binary{ID: k.Entry, Schedule: k.Schedule}, nil
}

func (f *fake) Check(_ context.Context, c device.Check) (stencil.Comparison, error) {
	f.checked++
	if f.asked != nil {
		f.asked(c)
	}
	if f.wrong != nil && f.wrong(c) {
		return stencil.Comparison{Cells: 1, Wrong: 1}, nil
	}
	return f.check(f.checked)
}

func (f *fake) Release(device.Binary) { f.held <- <-f.held - 1 }

// grids are the case on each grid that its kernels run on.
func grids(t *testing.T, c verify.Case) (list []verify.Case) {
	t.Helper()
	f := &fake{held: make(chan int, 1), check: func(int) (stencil.Comparison, error) { return stencil.Comparison{Cells: 1}, nil },
		asked: func(k device.Check) {
			on := c
			on.Problem = k.Problem
			list = append(list, on)
		}}
	f.held <- 0
	if err := verify.Run(t.Context(), f, []verify.Case{c}, func(verify.Case, verify.Result) bool { return true }); err != nil {
		t.Fatal(err)
	}
	return list
}

// Every kernel runs on a grid of whole tiles: where the last one ends with the grid a text may differ as nowhere else. Of kernels
// whose rows hold no whole vectors tiles are whole on the other axes alone.
func TestEveryKernelRunsOnWholeTiles(t *testing.T) {
	for _, name := range []string{"jacobi1d", "jacobi2d", "acoustic3d"} {
		cases, err := verify.NewSource(gpu, all.Families()).Cases(problem(t, name), 3, 0, 100)
		if err != nil {
			t.Fatal(err)
		}
		for _, c := range cases {
			done := slices.ContainsFunc(grids(t, c), func(on verify.Case) bool { return !on.Is(verify.Cut) })
			family := all.Families()[slices.IndexFunc(all.Families(), func(f kernels.Family) bool { return f.Name() == c.Kernel.Schedule.Family() })]
			hold := stencil.Size(family.(kernels.Tiler).Tiling(c.Problem, c.Kernel.Schedule).Hold)
			if !done && !c.Is(verify.Parts) && hold.Cells() < 1<<17 { // larger ones take the reference too long
				t.Errorf("%s: on no grid of whole tiles", c.Name())
			}
		}
	}
}

// A fault has the grid that it was seen on: the case's, a further one, or the one that started from impulses.
func TestAFaultNamesTheGridThatWasRun(t *testing.T) {
	p := problem(t, "jacobi2d")
	p.DType = stencil.Float16x2
	cases, err := verify.NewSource(gpu, all.Families()).Cases(p, 5, 0, 14)
	if err != nil {
		t.Fatal(err)
	}
	for what, wrong := range map[string]func(c verify.Case, k device.Check) bool{
		"": func(c verify.Case, k device.Check) bool {
			return k.Problem.Size == c.Problem.Size && !k.Problem.Impulses
		},
		"a thin grid":    func(c verify.Case, k device.Check) bool { return k.Problem.Size != c.Problem.Size },
		" from impulses": func(_ verify.Case, k device.Check) bool { return k.Problem.Impulses && device.Steps(k.Passes) == 1 },
	} {
		found := 0
		for _, c := range cases {
			var last stencil.Problem
			f := &fake{held: make(chan int, 1), check: func(int) (stencil.Comparison, error) { return stencil.Comparison{Cells: 1}, nil },
				wrong: func(k device.Check) bool { last = k.Problem; return wrong(c, k) }}
			f.held <- 0
			err := verify.Run(t.Context(), f, []verify.Case{c}, func(_ verify.Case, r verify.Result) bool {
				if r.Fault() == "" {
					return true
				}
				found++
				n, name := last.Size, last.Text()+"/"+c.Kernel.Schedule.String()
				if last.Impulses {
					name += " from impulses"
				}
				if r.Name(c) != name || !strings.Contains(r.Fault(), fmt.Sprintf("on %dx%dx%d", n[0], n[1], n[2])) {
					t.Errorf("%s: want %s, got %s: %s", what, name, r.Name(c), r.Fault())
				}
				return true
			})
			if err != nil {
				t.Error(err)
			}
		}
		if found < len(cases)/2 {
			t.Errorf("%q: %d of %d cases have a fault", what, found, len(cases))
		}
	}
}

// A fault of the case is told, whatever became of the kernel of its Reduce.
func TestAFaultIsToldThoughReduceDoesNotCompile(t *testing.T) {
	st := stenciltest.Parse(t, "r", "NumDimensions 2\nStencilSize (1, 1)\nCellValue { return 0.5 * get(0, 0) + 0.5 * get(1, 0); }\nReduce sum { return get(0, 0); }\n")
	cases, err := verify.NewSource(gpu, all.Families()).Cases(stencil.Problem{Stencil: st, DType: st.DType}, 5, 0, 1)
	if err != nil {
		t.Fatal(err)
	}
	c := cases[0]
	f := &fake{held: make(chan int, 1), check: func(int) (stencil.Comparison, error) { return stencil.Comparison{Cells: 1, Wrong: 1}, nil },
		compile: func(k kernels.Kernel) error {
			if k.Entry == c.Reduction.Kernel.Entry {
				return device.Fail(timing.CompileError, "no")
			}
			return nil
		}}
	f.held <- 0
	err = verify.Run(t.Context(), f, cases, func(_ verify.Case, r verify.Result) bool {
		if r.Failure != nil || r.Wrong != 1 || r.On.Size != c.Problem.Size {
			t.Errorf("%s: %s", r.Name(c), r.Fault())
		}
		return true
	})
	if err != nil {
		t.Error(err)
	}
}

// Within a proof each family runs on grids with 1, 2 and 3 cells on every axis, if its kernels take so few.
func TestEveryAxisIsThinOnce(t *testing.T) {
	for _, name := range []string{"jacobi1d", "jacobi2d", "jacobi3d"} {
		p := problem(t, name)
		cases, err := verify.NewSource(gpu, all.Families()).Cases(p, 1, 0, 100)
		if err != nil {
			t.Fatal(err)
		}
		had := map[[2]int]map[string]bool{} // by axis and extent: families
		takes := map[string]stencil.Size{}  // the fewest cells that some kernel of a family takes
		for _, c := range cases {
			least := c.Kernel.Suited(stencil.Size{1, 1, 1})
			of, ok := takes[c.Kernel.Schedule.Family()]
			for a := range least {
				if !ok || least[a] < of[a] {
					of[a] = least[a]
				}
			}
			takes[c.Kernel.Schedule.Family()] = of
		}
		for _, c := range cases {
			family := c.Kernel.Schedule.Family()
			for _, on := range grids(t, c) {
				for a := range p.Stencil.Dims {
					at := [2]int{a, on.Problem.Size[a]}
					if had[at] == nil {
						had[at] = map[string]bool{}
					}
					had[at][family] = true
				}
			}
		}
		for a := range p.Stencil.Dims {
			for n := 1; n <= 3; n++ {
				for family, least := range takes {
					if n >= least[a] && !had[[2]int{a, n}][family] {
						t.Errorf("%s: %s has no grid of %d cells on %c", name, family, n, "xyz"[a])
					}
				}
			}
		}
	}
}

func TestRunTellsCasesInOrderAndHoldsNothingAfterwards(t *testing.T) {
	cases, err := verify.NewSource(gpu, all.Families()).Cases(problem(t, "jacobi2d"), 1, 0, 95)
	if err != nil {
		t.Fatal(err)
	}
	right := stencil.Comparison{Cells: 1}
	lost := errors.New("gone")
	for name, c := range map[string]struct {
		stop, told, wrong, erratic int
		err                        error
		compile                    func(kernels.Kernel) error
		check                      func(n int) (stencil.Comparison, error)
	}{
		"right":   {told: 95, check: func(int) (stencil.Comparison, error) { return right, nil }},
		"stopped": {stop: 33, told: 33, check: func(int) (stencil.Comparison, error) { return right, nil }},
		"wrong": {told: 95, wrong: 1, check: func(n int) (stencil.Comparison, error) {
			if n == 50 || n == 51 { // always
				return stencil.Comparison{Cells: 1, Wrong: 1}, nil
			}
			return right, nil
		}},
		"wrong once": {told: 95, wrong: 1, erratic: 1, check: func(n int) (stencil.Comparison, error) {
			if n == 50 {
				return stencil.Comparison{Cells: 1, Wrong: 1}, nil
			}
			return right, nil
		}},
		"hangs": {told: 95, wrong: 1, check: func(n int) (stencil.Comparison, error) {
			if n == 50 {
				return stencil.Comparison{}, device.Fail(timing.Timeout, "never ended")
			}
			return right, nil
		}},
		"lost": {told: 18, err: lost, check: func(n int) (stencil.Comparison, error) {
			if n == 50 {
				return stencil.Comparison{}, lost
			}
			return right, nil
		}},
		"refused": {told: 95, wrong: 95, check: func(int) (stencil.Comparison, error) { return right, nil },
			compile: func(kernels.Kernel) error { return device.Fail(timing.CompileError, "no") }},
	} {
		f := &fake{compile: c.compile, check: c.check, held: make(chan int, 1)}
		f.held <- 0
		told, wrong, erratic := 0, 0, 0
		err := verify.Run(t.Context(), f, cases, func(one verify.Case, r verify.Result) bool {
			if one.Name() != cases[told].Name() {
				t.Errorf("%s: case %d is %s", name, told, one.Name())
			}
			if r.Fault() != "" {
				wrong++
			}
			if strings.HasSuffix(r.Fault(), "; right when run again: the kernel races, or the device errs") {
				erratic++
			}
			told++
			return told != c.stop
		})
		if told != c.told || wrong != c.wrong || erratic != c.erratic || !errors.Is(err, c.err) {
			t.Errorf("%s: %d told, %d wrong, %d erratic, %v", name, told, wrong, erratic, err)
		}
		if held := <-f.held; held != 0 {
			t.Errorf("%s: %d binaries are still held", name, held)
		}
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	f := &fake{held: make(chan int, 1), check: func(int) (stencil.Comparison, error) { return right, nil }}
	f.held <- 0
	if err := verify.Run(ctx, f, cases, func(verify.Case, verify.Result) bool { return true }); !errors.Is(err, context.Canceled) {
		t.Error(err)
	}
}

// TestACaseIsToldBeforeAnotherIsCompiled: one kernel that compiles for minutes keeps back its own case and those behind it alone.
func TestACaseIsToldBeforeAnotherIsCompiled(t *testing.T) {
	cases, err := verify.NewSource(gpu, all.Families()).Cases(problem(t, "jacobi2d"), 1, 0, 3)
	if err != nil {
		t.Fatal(err)
	}
	told := make(chan bool)
	f := &fake{held: make(chan int, 1), check: func(int) (stencil.Comparison, error) { return stencil.Comparison{Cells: 1}, nil },
		compile: func(k kernels.Kernel) error {
			if k.Entry != cases[2].Kernel.Entry {
				return nil
			}
			select {
			case <-told:
				return nil
			case <-time.After(10 * time.Second):
				return errors.New("no case was told of meanwhile")
			}
		}}
	f.held <- 0
	n := 0
	if err := verify.Run(t.Context(), f, cases, func(_ verify.Case, r verify.Result) bool {
		if n++; n == 2 {
			close(told)
		}
		return r.Fault() == ""
	}); err != nil || n != 3 {
		t.Errorf("%d told, %v", n, err)
	}
}

// The numbers of Reduce tell whether a cell was left out: the last one, the first, and those at the ends of rows, planes and blocks, on
// grids of one block and of several.
func TestTheNumberOfReduceShowsEveryEnd(t *testing.T) {
	const first, last, row = 0, -1, 1 << 30
	for _, reduction := range []string{"max { return fabs(value - get(0, 0)); }", "min { return value * get(-1, 0) + 0.01 * x; }", "sum { return value - get(1, 0); }"} {
		st := stenciltest.Parse(t, "s", "NumDimensions 2 StencilSize (1, 1) Boundary mirror CellValue { return get(1, 0); } Reduce "+reduction)
		shown, blocks := map[int]int{}, map[int]int{}
		for i := range 100 {
			c := verify.Reduce(verify.Random(1, i), stencil.Problem{Stencil: st, DType: stencil.Float32, Steps: 1}, i)
			blocks[c.Kernel.Launch.Blocks()]++
			values := stencil.ReduceCells(c.Problem, c.Seeds[0])
			n, bound := len(values), stencil.JudgeReduce(c.Problem, c.Seeds[0]).Bound[0]
			whole := stencil.Fold(st.Reduce.Op, values)
			for name, at := range map[int]int{first: 0, last: n - 1, 255: 255, 256: 256, row: c.Problem.Size[0] - 1} {
				if at < n && n > 1 && math.Abs(whole-stencil.Fold(st.Reduce.Op, slices.Delete(slices.Clone(values), at, at+1))) > bound {
					shown[name]++
				}
			}
		}
		for _, name := range []int{first, last, 255, 256, row} {
			if shown[name] < 3 {
				t.Errorf("%s: cell %d is seen in %d cases", reduction, name, shown[name])
			}
		}
		if blocks[1] < 50 || blocks[2] < 10 || blocks[3] < 10 {
			t.Errorf("%s: blocks %v", reduction, blocks)
		}
	}
	one := verify.Reduce(verify.Random(1, 0), stencil.Problem{Stencil: problem(t, "jacobi2d").Stencil, DType: stencil.Float32}, 0)
	if one != nil {
		t.Error("a stencil without Reduce has a case of its kernel")
	}
}
