package pipeline

import (
	"slices"
	"strings"
	"testing"

	"stenciltune/kernels"
	"stenciltune/kernels/kernelstest"
	"stenciltune/machine"
	"stenciltune/space"
	"stenciltune/space/spacetest"
	"stenciltune/stencil"
	"stenciltune/stencil/stenciltest"
)

// hopper is what an SM of compute capability 9.0 has.
var hopper = machine.Machine{WarpSize: 32, MaxThreadsBlock: 1024, MaxBlockDim: [3]int{1024, 1024, 64}, MaxGridDim: [3]int{1<<31 - 1, 65535, 65535}, MaxThreadsSM: 2048, MaxBlocksSM: 32,
	RegistersBlock: 65536, RegistersSM: 65536, SharedBlock: 48 << 10, SharedBlockOptin: 227 << 10, SharedSM: 228 << 10, SharedReserved: 1 << 10, SMs: 132}

// Reviewed: two stages in 3D with rows of other warps, stages and steps in 2D, hidden stages, read-only arrays in
// shared memory under a constant, sources and receivers between steps, numbers that are folded where they are stored.
func TestSourceOfEveryStructuralBranchIsAsReviewed(t *testing.T) {
	for _, c := range []kernelstest.Source{
		{Golden: "stages3d.cu", Problem: kernelstest.Problem(t, "fdtd3d", stencil.Float32, kernelstest.Volume), Schedule: "pipeline/vx=2/vy=2/wp=8/ck=1/pf=2/mb=1/ph=1", Whole: true},
		{Golden: "stages2d.cu", Problem: kernelstest.Problem(t, "srad2", stencil.Float32, kernelstest.Plane), Schedule: "pipeline/vx=4/vy=1/wp=1/ck=1/pf=2/mb=1/ph=2"},
		{Golden: "hidden.cu", Problem: kernelstest.Problem(t, "peronamalik", stencil.Float32, kernelstest.Plane), Schedule: "pipeline/vx=4/vy=1/wp=1/ck=1/pf=2/mb=1/ph=1/hs=1"},
		{Golden: "lists.cu", Problem: listed(t, surveyLists), Schedule: "pipeline/vx=2/vy=1/wp=1/ck=1/pf=1/mb=1/ph=2/sh=1"},
		{Golden: "numbers.cu", Problem: kernelstest.Numbers(t, stencil.Float32, kernelstest.Plane), Schedule: "pipeline/vx=4/vy=1/wp=1/ck=1/pf=2/mb=1/ph=1"},
	} {
		c.Check(t, Family{}.Kernel(c.Problem, spacetest.Schedule(t, c.Schedule)))
	}
}

// Maxwell's equations on Yee's grid, worked out by hand: H reads the E of its own plane and of the next, so it lags a
// plane; the next time step's E reads the H of its own plane and of the one before.
func TestStagesLagByWhatTheyReadAhead(t *testing.T) {
	p := kernelstest.Problem(t, "fdtd3d", stencil.Float32, kernelstest.Volume)
	l := planOf(planKey{p.Stencil, 2, false, stencil.NoneHidden, false})
	if l.loads != 6 || len(l.jobs) != 4 || len(l.stores) != 6 {
		t.Fatalf("%d loads, %d jobs, %d stores", l.loads, len(l.jobs), len(l.stores))
	}
	for i, want := range []int{0, 1, 1, 2} {
		if l.jobs[i].lag != want {
			t.Errorf("job %d lags %d planes, want %d", i, l.jobs[i].lag, want)
		}
	}
	for a := range 3 { // E reads a cell before its own, H one after, in each of two steps
		if l.low[a] != 2 || l.high[a] != 2 {
			t.Errorf("axis %d: a halo of %d and %d cells, want 2 and 2", a, l.low[a], l.high[a])
		}
	}
	// H reads rows of E that other warps gave a plane step before; the next step's E those of H that they have just given.
	for i, want := range []bool{false, false, true, false} {
		if l.jobs[i].barrier != want {
			t.Errorf("a barrier before job %d: %v, want %v", i, l.jobs[i].barrier, want)
		}
	}
}

// A cell's flux through its right face is the next one's through the left: with hidden stages it is computed for the
// own cells and one column before, and in y kept for one plane.
func TestHiddenStagesComputeWhatTheirReadersRead(t *testing.T) {
	p := kernelstest.Problem(t, "peronamalik", stencil.Float32, kernelstest.Plane)
	l := planOf(planKey{p.Stencil, 1, false, stencil.Shared, false})
	wide, kept := 0, 0
	for _, v := range l.versions {
		if v.hidden {
			wide += l.jobs[v.job].lowX + l.jobs[v.job].highX
			kept += v.depth - 1
		}
	}
	if len(l.jobs) < 2 || wide != 1 || kept != 1 {
		t.Errorf("%d jobs; %d columns more, %d planes kept, want one of each", len(l.jobs), wide, kept)
	}
}

// Worked out by hand: of hx, hy and hz rows or columns of other threads are read in one plane, and one
// is on its way; ex, ey and ez are read at the own cell alone, and need no shared memory; of what E leaves in ex and ez two
// planes of two edge rows a warp. E reads a cell and a row before its own, so that loaded
// rows have a vector more and planes a row. H reads the E after its own: 300 cells in tiles of 64 that are 62 apart,
// 200 rows in tiles of 16 that are 15 apart.
func TestLaunches(t *testing.T) {
	p := kernelstest.Problem(t, "fdtd3d", stencil.Float32, kernelstest.Volume)
	kernelstest.CheckLaunches(t, Family{}, []kernelstest.Launch{{
		Problem: p, Schedule: "pipeline/vx=2/vy=2/wp=8/ck=2/pf=1/mb=1/ph=1",
		Want: kernels.Launch{Grid: [3]int{5, 14, 2}, Block: [3]int{32, 8, 1}, Steps: 1, SharedBytes: (3*2)*66*17*4 + 2*2*64*16*4},
	}})
}

// A lane looks for what a point outside mirrors in its own vector and in the next lane's: no further.
func TestAFarMirrorNeedsAWideVector(t *testing.T) {
	p := kernelstest.Problem(t, "srad2", stencil.Float32, kernelstest.Plane)
	p.Stencil = stenciltest.Parse(t, "far", "NumDimensions 2 StencilSize (3, 1) Fields (u, v) Boundary mirror CellValue { return sin(get(u, 1, 0)), sin(get(v, -3, 0)) + get(u, 0, 1); }")
	m := hopper
	widths := map[int]bool{}
	for s := range space.New(Family{}.Space(p, m)).All() {
		widths[s.Int("vx", 0)] = true
	}
	if widths[2] || !widths[4] || !widths[8] {
		t.Errorf("vectors of %v", widths)
	}
}

// Velocity and stress of an elastic solid on a staggered grid, worked out by hand: of the velocities only vz reads the
// plane after its own, so it waits a plane, and the stresses with it; the others need not. A step reaches a cell far
// though each of its two stages does.
func TestOutputsThatReadNoLaterPlaneDoNotWait(t *testing.T) {
	p := kernelstest.Problem(t, "elastic3d", stencil.Float32, kernelstest.Volume)
	l := planOf(planKey{p.Stencil, 2, true, stencil.NoneHidden, false})
	var lags []int
	for _, j := range l.jobs {
		lags = append(lags, j.lag)
	}
	if want := []int{0, 1, 1, 1, 2, 2}; !slices.Equal(lags, want) {
		t.Errorf("lags %v, want %v", lags, want)
	}
	if want := [3]int{2, 2, 2}; l.low != want || l.high != want {
		t.Errorf("a halo of %v and %v cells, want %v", l.low, l.high, want)
	}
}

// Worked out by hand: of 15 fluxes only the five along the third axis are read at the plane after. The others are computed
// a plane later, when they are read, so that none of their planes is kept: 5 pairs of planes, 10 single ones, 5 of what the
// cells had (loaded without shared memory), 5 of what they become.
func TestOutputsWaitForThoseWhoReadThem(t *testing.T) {
	p := kernelstest.Problem(t, "miniflux", stencil.Float64, kernelstest.Volume)
	l := planOf(planKey{p.Stencil, 1, true, stencil.NoneHidden, true})
	var lags, outputs []int
	for _, j := range l.jobs {
		lags, outputs = append(lags, j.lag), append(outputs, len(j.outputs))
	}
	if want := []int{1, 2, 2}; !slices.Equal(lags, want) || !slices.Equal(outputs, []int{5, 10, 5}) || l.kept() != 5*2+10+5+5 {
		t.Errorf("lags %v of %v outputs, %d planes kept", lags, outputs, l.kept())
	}
	direct := 0
	for _, v := range l.versions {
		if v.direct {
			direct++
		}
	}
	if direct != 5 {
		t.Errorf("%d arrays need no shared memory, want 5", direct)
	}
}

// What a stage makes of coordinates alone is needed in more rows than anything that is loaded.
func TestATileMayHoldMoreRowsThanAreRead(t *testing.T) {
	st := stenciltest.Parse(t, "made", "NumDimensions 3 StencilSize (1, 3, 1) Fields (u, v) Stages (first, second) "+
		"CellValue first (u) { return 0.01 * (x + y + iteration); } CellValue second (v) { return get(u, 0, -3, 0) + 0.5 * get(u, 0, 3, 0) + 0.1 * get(v, 0, 2, 1); }")
	if low, high := planOf(planKey{st, 2, false, stencil.NoneHidden, false}).extraRows(); low != 0 || high != 0 {
		t.Errorf("%d and %d rows beyond the tile's, want none", low, high)
	}
}

// Vectors of 16-bit elements are half as wide as those of what stages leave, which lie behind them.
func TestEdgeRowsOfStagesBeginWhereTheirVectorsMay(t *testing.T) {
	st := stenciltest.Parse(t, "sides", "NumDimensions 3 StencilSize (1, 1, 1) DataType float16 Fields (u, v) Stages (first, second) "+
		"CellValue first (u) { return get(v, -1, 0, 0) + get(v, 0, -1, 0); } CellValue second (v) { return get(u, 0, -1, 0) + get(v, 0, 0, 1); }")
	p := stencil.Problem{Stencil: st, DType: stencil.Float16, Size: kernelstest.Volume, Steps: 10}
	rounded := 0
	for s := range space.New(Family{}.Space(p, hopper)).All() {
		h := shapeOf(func(name string) int { return s.Int(name, 0) })
		l := h.plans(st)[0]
		_, loaded := h.loads(p, l)
		at := h.givenAt(p, loaded)
		if at%min(16, 4*h.vector) != 0 || at < loaded {
			t.Fatalf("%s: edge rows begin at byte %d, behind %d", s, at, loaded)
		}
		if at > loaded {
			rounded++
		}
	}
	if rounded == 0 {
		t.Error("no schedule needs it")
	}
}

const surveyLists = "Fields (u, old) CellValue { return 0.5 * sin(get(u, 0, 0)) + 0.2 * get(u, 1, 0) + 0.1 * get(u, 0, -1) - 0.1 * get(old, 0, 0), get(u, 0, 0); } " +
	"Sources s (u) { return 0.5 * get(u, 0, 0) + get(m, 0, 0) * value; } Receivers r { return get(u, 0, 0); }"

// listed is a problem in 2D with a read-only array m.
func listed(t *testing.T, text string) stencil.Problem {
	t.Helper()
	st := stenciltest.Parse(t, "listed", "NumDimensions 2 StencilSize (1, 1) ReadOnly (m) "+text)
	return stencil.Problem{Stencil: st, DType: stencil.Float32, Size: kernelstest.Plane, Steps: 10}
}

// Sources that read another field need it wherever what they change is needed: u is needed a cell to the right of what is
// written, by the second step, and so must v be, of which else nothing right of the cell is read.
func TestSourcesReachAsFarAsWhatTheyChange(t *testing.T) {
	const fields = "Fields (u, v) CellValue { return sin(get(u, 1, 0)), sin(get(v, -1, 0)) + get(v, 0, 0); } "
	for text, want := range map[string]int{"u": 0, "v": 1} {
		p := listed(t, fields+"Sources s (u) { return get("+text+", 0, 0) + value; }")
		l := planOf(planKey{p.Stencil, 2, false, stencil.NoneHidden, false})
		if v := l.versions[l.acts[0].current[1]]; v.high[0] != want || v.low[0] != 1 {
			t.Errorf("of %s: v is needed %d cells left and %d right, want 1 and %d", text, v.low[0], v.high[0], want)
		}
	}
}

// What acts between the steps of a launch must find its fields in one job of the step, and change none that the step goes on to read.
func TestListsOfFusedSteps(t *testing.T) {
	const stages = "Fields (p, v) Stages (a, b) CellValue a (v) { return get(v, 0, 0) + sin(get(p, 1, 0)); } CellValue b (p) { return get(p, 0, 0) * 0.5 + sin(get(v, -1, 0)); } "
	for _, c := range []struct{ text, why string }{
		{surveyLists, ""},
		{"Fields (u) CellValue { return 0.5 * get(u, 0, 0) + 0.2 * get(u, 1, 0); } Sources s (u) { return get(u, 0, 0) + value; }", ""}, // a sum, which stream cannot fuse
		{stages + "Sources s (p) { return get(p, 0, 0) + value; } Receivers r { return get(v, 0, 0); }", ""},
		{surveyLists + " Receivers far { return get(u, 1, 0); }", "receivers far read neighbours, which other threads leave later"},
		{surveyLists + " Receivers far { return get(u, 0, 0) * get(m, 0, 1); }", "receivers far read neighbours, which other threads leave later"},
		{stages + "Short (v y) Receivers end { return get(v, 0, 0); }", "where v is short and has no cell, receivers end read the one beside, which other threads leave later (by a rule constant they read none)"},
		{stages + "Short (v y) Boundary v constant 0 Receivers end { return get(v, 0, 0); }", ""},
		{stages + "Short (v y) Receivers far { return get(v, 1, 0); }", "receivers far read neighbours, which other threads leave later"},
		{surveyLists + " Receivers late { return get(old, 0, 0); }", "late reads no field that the step sets, but as it was before"},
		{surveyLists + " Receivers none { return get(m, 0, 0); }", "none reads no field that the step sets, but as it was before"},
		{surveyLists + " Receivers both { return get(u, 0, 0) + get(old, 0, 0); }", "both reads fields that different stages leave"},
		{stages + "Sources s (v) { return get(v, 0, 0) + value; }", "a later stage of the step reads what sources s change after it"},
		{stages + "Receivers both { return get(p, 0, 0) + get(v, 0, 0); }", "both reads fields that different stages leave"},
	} {
		sp, steps := space.New(Family{}.Space(listed(t, c.text), hopper)), map[int]bool{}
		for s := range sp.All() {
			steps[s.Int("ph", 0)] = true
		}
		err := sp.Check(spacetest.Schedule(t, "pipeline/vx=4/vy=1/wp=1/ck=1/pf=2/mb=1/ph=2"))
		if c.why == "" && (err != nil || !steps[1] || !steps[4]) {
			t.Errorf("%s: steps %v; %v", c.text, steps, err)
		}
		if c.why != "" && (err == nil || !strings.Contains(err.Error(), c.why+": steps cannot be fused") || !steps[1] || len(steps) > 1) {
			t.Errorf("%s: steps %v; %v, want %s", c.text, steps, err, c.why)
		}
	}
}

// A loop that instruction caches do not hold has one plane step, whatever the grid.
func TestLongLoopsHoldOnePlaneStep(t *testing.T) {
	for _, c := range []struct {
		name, schedule, want string
		dtype                stencil.DType
	}{
		{"weno5", "pipeline/vx=4/vy=1/wp=1/ck=8/pf=4/mb=1/ph=1/sm=132/sh=1/hs=1", "UNROLL = 1;", stencil.Float64},
		{"weno5", "pipeline/vx=2/vy=1/wp=1/ck=8/pf=4/mb=1/ph=1/sm=132/sh=1/hs=1", "UNROLL = 2;", stencil.Float64},
		{"lbm3d", "pipeline/vx=2/vy=1/wp=8/ck=3/pf=1/mb=1/ph=2/sh=1", "UNROLL = 1;", stencil.Float32},
		{"peronamalik", "pipeline/vx=8/vy=1/wp=1/ck=8/pf=4/mb=1/ph=4/sm=132/sh=1/hs=1", "UNROLL = 2;", stencil.Float32},
	} {
		for _, n := range []stencil.Size{{512, 512, 512}, {2048, 1024, 256}} {
			st := stenciltest.Lookup(t, c.name)
			if st.Dims < 3 {
				n[2] = 1
			}
			k := Family{}.Kernel(stencil.Problem{Stencil: st, DType: c.dtype, Size: n, Steps: 10}, spacetest.Schedule(t, c.schedule))
			if !strings.Contains(k.Source, c.want) {
				t.Errorf("%s, %s: not %s", c.name, c.schedule, c.want)
			}
		}
	}
}

// Four cells of a thread and two steps: a coefficient at the own cells; of a field 4 cells above, 4 below and 12 in the plane, what each step sets, and what
// the second reads of the first.
func TestCellsOfTypesOfTheirOwnAreConverted(t *testing.T) {
	for text, want := range map[string]float64{
		"Fields (u) ReadOnly (m)":                 0,
		"Fields (u) ReadOnly (m: float16)":        2 * 4,
		"Fields (u: uint8) ReadOnly (m: float16)": 2*4 + 4 + 4 + 12 + 2*4 + 4,
	} {
		st := stenciltest.Parse(t, "s", "NumDimensions 3 StencilSize (1, 1, 1) "+text+
			" CellValue { return sin(get(m, 0, 0, 0)) + sin(get(u, -1, 0, 0) + get(u, 1, 0, 0)) + get(u, 0, -1, 0) + get(u, 0, 1, 0) + get(u, 0, 0, -1) + get(u, 0, 0, 1) + get(u, 0, 0, 0); }")
		p := stencil.Problem{Stencil: st, DType: stencil.Float32, Size: kernelstest.Volume, Steps: 10}
		h := scheduleShape(spacetest.Schedule(t, "pipeline/vx=2/vy=2/wp=4/ck=1/pf=1/mb=1/ph=2/sh=1"))
		if got := h.turn(p, h.plans(st)[0]).converted; got != want {
			t.Errorf("%s: %v conversions, want %v", text, got, want)
		}
	}
}
