package all

import (
	"fmt"
	"math"
	"math/rand/v2"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"stenciltune/kernels"
	"stenciltune/machine"
	"stenciltune/machine/machinetest"
	"stenciltune/space"
	"stenciltune/stencil"
	"stenciltune/stencil/stenciltest"
)

func catalogued(t testing.TB, name string, d stencil.DType, n stencil.Size) stencil.Problem {
	t.Helper()
	return stencil.Problem{Stencil: stenciltest.Lookup(t, name), DType: d, Size: n, Steps: 1000}
}

// channel is periodic in x, with walls in y and z.
func channel(t testing.TB) stencil.Problem {
	t.Helper()
	s := stenciltest.Parse(t, "channel", "NumDimensions 3 StencilSize (1, 1, 1) Boundary (wrap, constant 0, (fixed, mirror)) CellValue { return 0.2 * (get(0, 0, 0) + get(-1, 0, 0) + get(1, 0, 0) + get(0, -1, 0) + get(0, 0, 1)); }")
	return stencil.Problem{Stencil: s, DType: stencil.Float32, Size: stencil.Size{512, 512, 512}, Steps: 1000}
}

// line is a one-dimensional problem; the catalogue has none.
func line(t testing.TB, n int) stencil.Problem {
	t.Helper()
	s := stenciltest.Parse(t, "line", "NumDimensions 1 StencilSize (1) CellValue { return 0.5 * (get(-1) + get(1)); }")
	return stencil.Problem{Stencil: s, DType: stencil.Float32, Size: stencil.Size{n, 1, 1}, Steps: 1000}
}

// draw makes a random problem: one to three dimensions, a lopsided radius, odd and
// even extents.
func draw(t testing.TB, r *rand.Rand) stencil.Problem {
	t.Helper()
	dims := 1 + r.IntN(3)
	radius := 1 + r.IntN(3)
	extents, offset := make([]string, dims), make([]string, dims)
	var terms []string
	for range 1 + r.IntN(7) {
		for a := range dims {
			extents[a] = fmt.Sprint(radius)
			offset[a] = fmt.Sprint(r.IntN(2*radius+1) - radius)
		}
		terms = append(terms, "get("+strings.Join(offset, ", ")+")")
	}
	src := fmt.Sprintf("NumDimensions %d StencilSize (%s) CellValue { return 0.5 * (%s); }", dims, strings.Join(extents, ", "), strings.Join(terms, " + "))
	s := stenciltest.Parse(t, "random", src)
	n := stencil.Size{1, 1, 1}
	limit := [3][3]int{{5000, 1, 1}, {2000, 500, 1}, {400, 150, 80}}[dims-1]
	for a := range dims {
		n[a] = 1 + r.IntN(limit[a])
	}
	return stencil.Problem{Stencil: s, DType: []stencil.DType{stencil.Float32, stencil.Float64}[r.IntN(2)], Size: n, Steps: 1 + r.IntN(9)}
}

func TestFamiliesDescribeThemselves(t *testing.T) {
	want := []string{"global", "smalltile", "tile", "slide", "sweep", "stream"}
	var names []string
	for _, f := range Families() {
		names = append(names, f.Name())
		if kernels.Find(Families(), f.Name()) != f {
			t.Errorf("%s is not found by its name", f.Name())
		}
		s := f.Space(catalogued(t, "jacobi3d", stencil.Float32, stencil.Size{512, 512, 512}), machinetest.H200())
		if s.Name != f.Name() {
			t.Errorf("%s calls its space %s", f.Name(), s.Name)
		}
		for _, p := range s.Params {
			if p.Doc == "" || len(p.Values) == 0 || !slices.IsSorted(p.Values) || !regexp.MustCompile(`^[a-z]+$`).MatchString(p.Name) {
				t.Errorf("%s: parameter %+v", f.Name(), p)
			}
		}
		seen := map[string]bool{}
		for _, c := range s.Constraints {
			if c.Why == "" || len(c.Needs) == 0 || seen[c.Name] {
				t.Errorf("%s: constraint %s: needs %v, why %q", f.Name(), c.Name, c.Needs, c.Why)
			}
			seen[c.Name] = true
		}
	}
	if len(names) < len(want) || !slices.Equal(slices.DeleteFunc(slices.Clone(names), func(n string) bool { return !slices.Contains(want, n) }), want) {
		t.Errorf("families %v, want %v in that order", names, want)
	}
	if kernels.Find(Families(), "nosuch") != nil {
		t.Error("a family that does not exist was found")
	}
}

// The last launches of a run may be of fewer steps: they must be schedules that run.
func TestFewerStepsOfALegalScheduleAreLegal(t *testing.T) {
	for _, name := range []string{"jacobi1d", "jacobi2d", "hotspot2d", "srad2", "jacobi3d"} {
		st := stenciltest.Lookup(t, name)
		p := stencil.Problem{Stencil: st, DType: st.DType, Size: st.DefaultSize(false), Steps: 100}
		for _, f := range Families() {
			of := space.New(f.Space(p, machinetest.H200()))
			for s := range of.All() {
				if s.Int("ph", 1) == 1 {
					continue
				}
				for _, left := range []space.Schedule{kernels.Fewer(s), kernels.Remainder(s)} {
					if err := of.Check(left); err != nil {
						t.Fatalf("%s: %s: %v", name, s, err)
					}
				}
			}
		}
	}
}

// A parameter of the launch alone leaves the source as it is, and every other one changes it somewhere.
func TestParametersOfTheLaunchLeaveTheSourceAsItIs(t *testing.T) {
	for _, p := range []stencil.Problem{
		catalogued(t, "jacobi2d", stencil.Float64, stencil.Size{700, 300, 1}),
		catalogued(t, "jacobi3d", stencil.Float32, stencil.Size{300, 70, 30}),
	} {
		for _, kf := range Families() {
			f := kf.Space(p, machinetest.H200())
			of := space.New(f)
			changed := map[string][2]int{} // pairs of schedules, and those of two sources
			i := 0
			for s := range of.All() {
				if i++; i%53 != 0 {
					continue
				}
				at, _ := f.Encode(s)
				for j, param := range f.Params {
					for v := range param.Values {
						idx := slices.Clone(at)
						idx[j] = v
						other, err := f.Decode(idx)
						if err != nil || v == at[j] || of.Check(other) != nil {
							continue
						}
						n := changed[param.Name]
						n[0]++
						if kf.Kernel(p, other).SourceHash() != kf.Kernel(p, s).SourceHash() {
							n[1]++
						}
						changed[param.Name] = n
					}
				}
			}
			for _, param := range f.Params {
				if n := changed[param.Name]; n[0] > 0 && param.Launch != (n[1] == 0) {
					t.Errorf("%s, %s %s: %d of %d changes change the source", p.Text(), f.Name, param.Name, n[1], n[0])
				}
			}
		}
	}
}

func TestEveryLegalScheduleKeepsTheDevicesLimitsAndCountsSoundly(t *testing.T) {
	seed := uint64(time.Now().UnixNano())
	t.Logf("seed %d", seed)
	r := rand.New(rand.NewPCG(seed, 3))
	m := machinetest.H200()
	problems := []stencil.Problem{line(t, 1009), catalogued(t, "jacobi2d", stencil.Float32, stencil.Size{197, 83, 1}), catalogued(t, "jacobi3d", stencil.Float64, stencil.Size{67, 45, 29})}
	for range 6 {
		problems = append(problems, draw(t, r))
	}
	own := stenciltest.Parse(t, "own", "NumDimensions 2 StencilSize (1, 1) CellValue { return 0.5 * get(0, 0); }")
	problems = append(problems, stencil.Problem{Stencil: own, DType: stencil.Float32, Size: stencil.Size{1328, 71, 1}, Steps: 5})
	short := stenciltest.Parse(t, "short", "NumDimensions 1 StencilSize (1) CellValue { return 0.5 * get(0); }")
	problems = append(problems, stencil.Problem{Stencil: short, DType: stencil.Float64, Size: stencil.Size{611, 1, 1}, Steps: 3}) // a last warp of 3 lanes
	once := stenciltest.Parse(t, "once", "NumDimensions 3 StencilSize (1, 1, 1) CellValue { return 0.5 * get(1, 0, 1); }")
	problems = append(problems, stencil.Problem{Stencil: once, DType: stencil.Float64, Size: stencil.Size{298, 145, 12}, Steps: 2}) // every cell is read once
	for _, p := range problems {
		for _, f := range Families() {
			s := space.New(f.Space(p, m))
			every := 1 + s.Size()/400 // a sample of large spaces is enough
			i := r.IntN(every)
			for sc := range s.All() {
				if i++; i%every == 0 {
					soundness(t, f, p, m, sc)
				}
			}
			if t.Failed() {
				t.Fatalf("stencil:\n%s", p.Stencil.Text())
			}
		}
	}
}

func soundness(t *testing.T, f kernels.Family, p stencil.Problem, m machine.Machine, s space.Schedule) {
	t.Helper()
	bad := func(format string, args ...any) {
		t.Helper()
		t.Errorf("%s %s, %d steps: %s", p.Text(), s, p.Steps, fmt.Sprintf(format, args...))
	}
	k, w := f.Kernel(p, s), f.Work(p, s)
	l := k.Launch

	if l.Threads() < 1 || l.Threads() > m.MaxThreadsBlock || l.Threads()%m.WarpSize != 0 || l.SharedBytes < 0 || l.SharedBytes > m.SharedBlockOptin || l.Steps < 1 || l.Steps > p.Steps {
		bad("launch %+v", l)
	}
	for a := range 3 {
		if l.Block[a] < 1 || l.Block[a] > m.MaxBlockDim[a] || l.Grid[a] < 1 || l.Grid[a] > m.MaxGridDim[a] {
			bad("launch %+v on axis %d", l, a)
		}
	}
	if k.Suited(p.Size) != p.Size {
		bad("the kernel is not for this grid: at least %v, rows of whole %d cells", k.Least, k.Multiple)
	}
	if s.Int("gx", 0) > 0 { // families whose tiles lie side by side
		groups(p, s, k, w, bad)
	}

	// The source names the schedule, or one that it serves too.
	head, _, _ := strings.Cut(k.Source, "\n")
	named, whatever := s, []string(nil) // the parameters of the launch are not the source's
	for _, param := range f.Space(p, m).Params {
		if param.Launch {
			named, whatever = named.Without(param.Name), append(whatever, param.Name)
		}
	}
	text := named.String()
	if whatever != nil {
		text += ", any " + strings.Join(whatever, " and ")
	}
	if head != "// "+p.Stencil.Name+", "+string(p.DType)+": schedule "+text || !strings.Contains(k.Source, "#define ENTRY "+k.Entry+"\n") {
		bad("source begins with %.120q", k.Source)
	}

	cells, bytes := float64(p.Size.Cells()), float64(p.Bytes())
	if w.Launch != l || w.Steps != l.Steps {
		bad("work is of launch %+v, the kernel of %+v", w.Launch, l)
	}
	if w.Cells != cells*float64(l.Steps) || w.Redundancy() < 1 || w.Redundancy() > 1e6 {
		bad("%v cells, redundancy %v", w.Cells, w.Redundancy())
	}
	if w.L2Read < bytes || w.L2Write != bytes || w.L1Loads < bytes {
		bad("reads %v from L2 and %v through L1, writes %v of %v bytes", w.L2Read, w.L1Loads, w.L2Write, bytes)
	}
	least := 0.0
	for i := range p.Stencil.Stages { // threads of many cells compute once what several need
		least += float64(p.Stencil.Operations(i, [3]int{8, 8, 1}).Total()) / 64
	}
	if f := k.Schedule.Family(); f == "stream" || f == "sweep" { // they add equal terms up, and fuse
		least = min(least, 1)
	}
	if w.Flops < cells*float64(l.Steps)*least || w.Accesses <= 0 || w.Least < 0 || w.Registers < 1 || w.Loads <= 0 || w.Integer <= 0 || w.Barriers < 0 || w.Shared < 0 {
		bad("work %+v", w)
	}
	for a := range 3 {
		if w.Write[a] < 1 || w.Read[a] < w.Write[a] {
			bad("a block writes %v and reads %v", w.Write, w.Read)
		}
	}
	for name, v := range map[string]float64{"cells": w.Cells, "updates": w.Updates, "flops": w.Flops, "beside": w.Beside, "integer": w.Integer,
		"L1": w.L1Loads, "L2": w.L2Read, "shared": w.Shared, "loads": w.Loads, "load waits": w.LoadWaits, "waits": w.Waits} {
		if math.IsNaN(v) || math.IsInf(v, 0) || v < 0 {
			bad("%s: %v", name, v)
		}
	}
	if s.Family() == "tile" {
		// A stencil that reads nothing beside the own cell needs no tile for one step.
		want := p.DType.Size()
		if s.Int("ph", 0) == 1 && len(p.Stencil.Points) == 1 && p.Stencil.Points[0] == (stencil.Offset{}) {
			want = 0
		}
		for a := range 3 {
			row := s.Int("g"+"xyz"[a:a+1], 0)*s.Int("w"+"xyz"[a:a+1], 0) + s.Int("ph", 0)*(p.Stencil.Low[a]+p.Stencil.High[a])
			if a == 0 {
				row += s.Int("pd", 0)
			}
			want *= row
		}
		if s.Int("ph", 0) > 1 {
			want *= 2
		}
		if l.SharedBytes != want {
			bad("%d bytes of shared memory, want %d", l.SharedBytes, want)
		}
	}
}

// groups checks what a family with a group shape owes: tiles that cover the grid,
// and a constant for each parameter.
func groups(p stencil.Problem, s space.Schedule, k kernels.Kernel, w kernels.Work, bad func(format string, args ...any)) {
	h, l := kernels.ShapeOf(s), k.Launch
	cover := int64(l.Blocks())
	write := w.Write
	if s.Int("sp", 0) == 1 { // a line of threads
		write = h.Write()
	}
	for a := range 3 {
		cover *= int64(write[a])
		if h.Column == 0 && s.Int("sp", 0) == 0 && s.Int("gd", 0) == 0 && l.Grid[a]*write[a] < p.Size[a] {
			bad("the grid leaves cells uncovered on axis %d: %+v", a, l)
		}
	}
	if cover < p.Size.Cells() {
		bad("%d blocks cover %d of %d cells", l.Blocks(), cover, p.Size.Cells())
	}
	for _, c := range h.Constants() {
		if !strings.Contains(k.Source, fmt.Sprintf("constexpr int %s = %d; // ", c.Name, c.Value)) {
			bad("no constant %s", c.Name)
		}
	}
}

func TestSpacesOfUsualSizesAreWorthASearch(t *testing.T) {
	for _, c := range []struct {
		p         stencil.Problem
		low, high int
	}{
		{line(t, 1<<26), 20, 1000},
		{catalogued(t, "jacobi2d", stencil.Float32, stencil.Size{8192, 8192, 1}), 1000, 20000},
		{catalogued(t, "jacobi3d", stencil.Float32, stencil.Size{512, 512, 512}), 2000, 50000},
		{catalogued(t, "jacobi3d", stencil.Float64, stencil.Size{512, 512, 512}), 2000, 50000},
		{catalogued(t, "jacobi2d", stencil.Float32, stencil.Size{197, 83, 1}), 100, 20000},
		{catalogued(t, "jacobi3d", stencil.Float32, stencil.Size{67, 45, 29}), 500, 50000},
	} {
		begin := time.Now()
		s := kernels.Spaces(Families(), c.p, machinetest.H200())
		t.Logf("%-28s %6d legal of %7d, counted in %v", c.p.Text(), s.Size(), s.Raw(), time.Since(begin).Round(time.Millisecond))
		if n := s.Size(); n < c.low || n > c.high {
			t.Errorf("%s: %d schedules, want %d to %d", c.p.Text(), n, c.low, c.high)
		}
	}
}

func TestSpacesOfTinyGridsAreSmallOrEmpty(t *testing.T) {
	jacobi2d := catalogued(t, "jacobi2d", stencil.Float32, stencil.Size{})
	jacobi3d := catalogued(t, "jacobi3d", stencil.Float32, stencil.Size{})
	usual := kernels.Spaces(Families(), jacobi3d.Resized(stencil.Size{512, 512, 512}), machinetest.H200()).Size()
	for _, p := range []stencil.Problem{
		line(t, 1), line(t, 2), line(t, 33), line(t, 100),
		jacobi2d.Resized(stencil.Size{1, 1, 1}), jacobi2d.Resized(stencil.Size{3, 2, 1}), jacobi2d.Resized(stencil.Size{1, 1000, 1}), jacobi2d.Resized(stencil.Size{1000, 1, 1}),
		jacobi3d.Resized(stencil.Size{1, 1, 1}), jacobi3d.Resized(stencil.Size{3, 2, 1}), jacobi3d.Resized(stencil.Size{1, 1, 1000}), jacobi3d.Resized(stencil.Size{33, 3, 2}),
	} {
		s := kernels.Spaces(Families(), p, machinetest.H200())
		t.Logf("%-20s %5d legal of %7d", p.Text(), s.Size(), s.Raw())
		if s.Size() > usual {
			t.Errorf("%s: %d schedules, more than the %d of a usual grid", p.Text(), s.Size(), usual)
		}
		for sc := range s.All() {
			soundness(t, kernels.Find(Families(), sc.Family()), p, machinetest.H200(), sc)
		}
	}
}

// furnace has arrays of types of their own.
func furnace(t *testing.T) stencil.Problem {
	t.Helper()
	st := stenciltest.File(t, "../../examples/stencils/furnace.sl")
	return stencil.Problem{Stencil: st, DType: st.DType, Size: stencil.Size{4096, 4096, 1}, Steps: 100}
}

// A device keeps what it has compiled by an entry's name: no two texts have the same one, whatever the rows are whole of.
func TestAnEntryNamesOneSource(t *testing.T) {
	stages := "NumDimensions 2 StencilSize (2, 1) Fields (u, v) Stages (first, second) " +
		"CellValue first (v) { return sin(get(u, 1, 0) - get(u, -2, 0)); } CellValue second (u) { return get(v, 0, 0) + 0.1 * get(v, 0, 1) + sin(get(v, 1, 0) - get(v, 0, 0)); }"
	st := stenciltest.Parse(t, "stages", stages)
	sources := map[string]string{}
	for _, p := range []stencil.Problem{{Stencil: st, DType: stencil.Float64, Steps: 10}, catalogued(t, "jacobi2d", stencil.Float32, stencil.Size{}), catalogued(t, "srad2", stencil.Float32, stencil.Size{})} {
		for _, n := range []stencil.Size{{640, 128, 1}, {641, 128, 1}, {642, 128, 1}, {644, 128, 1}} {
			p.Size = n
			for _, f := range Families() {
				i := 0
				for s := range space.New(f.Space(p, machinetest.H200())).All() {
					if i++; i%47 != 0 {
						continue
					}
					k := f.Kernel(p, s)
					if other, ok := sources[k.Entry]; ok && other != k.Source {
						t.Fatalf("%s, %s has the entry %s of another source", p.Text(), s, k.Entry)
					}
					sources[k.Entry] = k.Source
				}
			}
		}
	}
	if len(sources) < 300 {
		t.Errorf("%d entries", len(sources))
	}
}
