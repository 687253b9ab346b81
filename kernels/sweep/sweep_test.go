package sweep

import (
	"slices"
	"strings"
	"testing"

	"stenciltune/kernels"
	"stenciltune/kernels/kernelstest"
	"stenciltune/space/spacetest"
	"stenciltune/stencil"
	"stenciltune/stencil/stenciltest"
)

var volume = stencil.Size{512, 512, 512}

// star reaches two cells on each axis.
const star = "NumDimensions 3 StencilSize (2, 2, 2) CellValue { float sum = 0.4 * get(0, 0, 0); for (int i = 1; i <= 2; i++) " +
	"sum += 0.1 / i * (get(-i, 0, 0) + get(i, 0, 0) + get(0, -i, 0) + get(0, i, 0) + get(0, 0, -i) + get(0, 0, i)); return sum; }"

// box reads two arrays off both the own row and the own column.
const box = "NumDimensions 3 StencilSize (1, 1, 1) Fields (u, v) ReadOnly (a) Boundary wrap CellValue { float s = get(u, -1, 1, 0) + 2 * get(u, 0, 0, 1) + get(a, 1, -1, 1); " +
	"return get(a, 0, 0, 0) * s + get(v, 0, 0, 0), s * get(u, 0, 0, 0); }"

func problem(st *stencil.Stencil, d stencil.DType, n stencil.Size) stencil.Problem {
	return stencil.Problem{Stencil: st, DType: d, Size: n, Steps: 100}
}

func TestSourceOfEveryStructuralBranchIsAsReviewed(t *testing.T) {
	acoustic := kernelstest.Problem(t, "acoustic3d", stencil.Float32, volume)
	for _, c := range []kernelstest.Source{
		{Golden: "star.cu", Problem: problem(stenciltest.Parse(t, "given", star), stencil.Float32, volume), Schedule: "sweep/vx=4/vy=2/wp=16/ck=1/pf=2/mb=1"},
		{Golden: "box.cu", Problem: problem(stenciltest.Parse(t, "given", box), stencil.Float64, stencil.Size{511, 100, 100}), Schedule: "sweep/vx=2/vy=2/wp=8/ck=1/pf=1/mb=1"},
		{Golden: "acoustic.cu", Problem: acoustic, Schedule: "sweep/vx=4/vy=2/wp=16/ck=1/pf=2/mb=1/kp=1"},
		{Golden: "derived.cu", Problem: kernelstest.Problem(t, "hypterm", stencil.Float64, volume), Schedule: "sweep/vx=2/vy=1/wp=8/ck=1/pf=2/mb=1"},
		{Golden: "stages.cu", Problem: kernelstest.Problem(t, "diffterm", stencil.Float64, volume), Schedule: "sweep/vx=2/vy=1/wp=8/ck=1/pf=2/mb=1"},
		{Golden: "fixed.cu", Problem: problem(stenciltest.Parse(t, "given", star+" Boundary fixed"), stencil.Float16, volume), Schedule: "sweep/vx=8/vy=1/wp=8/ck=1/pf=2/mb=1"},
	} {
		k := Family{}.Kernel(c.Problem, spacetest.Schedule(t, c.Schedule))
		c.Check(t, k)
		if !strings.Contains(k.Source, "#define ENTRY "+k.Entry+"\n") || k.Schedule != spacetest.Schedule(t, c.Schedule) {
			t.Errorf("%s: entry %s, %s", c.Golden, k.Entry, k.Schedule)
		}
	}
}

func TestEveryParameterReachesTheSourceOrTheLaunch(t *testing.T) {
	p := kernelstest.Problem(t, "acoustic3d", stencil.Float32, volume)
	k := Family{}.Kernel(p, spacetest.Schedule(t, "sweep/vx=2/vy=3/wp=12/ck=6/pf=2/mb=1/kp=1"))
	kernelstest.CheckConstants(t, k, "VECTOR = 2", "ROWS = 3", "WARPS = 12", "PREFETCH = 2", "MIN_BLOCKS = 1", "KEEP = 1")
	other := Family{}.Kernel(p, spacetest.Schedule(t, "sweep/vx=2/vy=3/wp=12/ck=8/pf=2/mb=1/kp=1"))
	if other.Source != k.Source || other.Entry != k.Entry || k.Launch.Grid[2] != 6 || other.Launch.Grid[2] != 8 {
		t.Errorf("launches %+v and %+v of %s and %s", k.Launch, other.Launch, k.Entry, other.Entry)
	}
}

func TestLaunchAsksForTheSharedMemoryOfTheRing(t *testing.T) {
	kernelstest.CheckLaunches(t, Family{}, []kernelstest.Launch{
		// 3 planes of 32 before the first row and 32 + 4 rows of 128 cells, between which 4 + 4 are rounded up to 128 bytes.
		{Problem: problem(stenciltest.Parse(t, "given", star), stencil.Float32, volume), Schedule: "sweep/vx=4/vy=2/wp=16/ck=4/pf=2/mb=1",
			Want: kernels.Launch{Grid: [3]int{4, 16, 4}, Block: [3]int{32, 16, 1}, SharedBytes: 3 * (32 + 36*160) * 4, Steps: 1}},
		// 2 + 1 + 4 planes of the pressure alone, of 32 + 8 rows.
		{Problem: kernelstest.Problem(t, "acoustic3d", stencil.Float32, volume), Schedule: "sweep/vx=4/vy=2/wp=16/ck=2/pf=2/mb=1/kp=1",
			Want: kernels.Launch{Grid: [3]int{4, 16, 2}, Block: [3]int{32, 16, 1}, SharedBytes: 7 * (32 + 40*160) * 4, Steps: 1}},
		// 2 planes: of u 8 + 1 rows of 64 + 16 cells, for its rows above are not read; of a as many, the halo below and beside.
		{Problem: problem(stenciltest.Parse(t, "given", box), stencil.Float64, stencil.Size{511, 100, 100}), Schedule: "sweep/vx=2/vy=1/wp=8/ck=2/pf=1/mb=1",
			Want: kernels.Launch{Grid: [3]int{8, 13, 2}, Block: [3]int{32, 8, 1}, SharedBytes: 2 * (16 + 9*80 + 9*80) * 8, Steps: 1}},
	})
}

func TestPlanOfAStarHasAPatternForTheColumnAndOneForThePlane(t *testing.T) {
	q := planOf(stenciltest.Parse(t, "given", star)).stages[0]
	if q.low != 2 || q.high != 2 || q.open() != 4 || len(q.patterns) != 2 || len(q.own) != 0 {
		t.Fatalf("%+v", q)
	}
	if k := q.patterns[0]; len(k.points) != 1 || len(k.users) != 4 || k.unit() != k.points[0].Weight {
		t.Errorf("%+v", k)
	}
	if k := q.patterns[1]; len(k.points) != 9 || k.shared() || !q.continues(1) {
		t.Errorf("%+v", k)
	}
	if q.operations != 13+0 {
		t.Errorf("%v operations", q.operations)
	}
	q = planOf(stenciltest.Parse(t, "given", box)).stages[0]
	if !slices.Equal(q.own, []int{0, 1, 2}) || len(q.swept) != 2 || !q.swept[0].diagonal || q.swept[1].array != 2 || q.low != 0 || q.high != 1 {
		t.Errorf("%+v", q)
	}
	for _, text := range []string{
		"NumDimensions 2 StencilSize (1, 1) CellValue { return get(1, 0); }",
		"NumDimensions 3 StencilSize (1, 1, 1) DataType int32 CellValue { return get(1, 0, 0); }",
		"NumDimensions 3 StencilSize (1, 1, 1) CellValue { return 2 * get(0, 0, 0); }",
		"NumDimensions 3 StencilSize (1, 1, 1) Fields (u, v) Stages (p, q) CellValue p (u) { return get(v, 1, 0, 0); } CellValue q (v) { return 2 * get(u, 0, 0, 0); }",
	} {
		if planOf(stenciltest.Parse(t, "given", text)) != nil {
			t.Errorf("%s has a plan", text)
		}
	}
}

func TestWorkOfASweepCountedByHand(t *testing.T) {
	p := problem(stenciltest.Parse(t, "given", star), stencil.Float32, stencil.Size{256, 64, 100})
	w := Family{}.Work(p, spacetest.Schedule(t, "sweep/vx=4/vy=2/wp=8/ck=2/pf=2/mb=1"))
	const cells, blocks, steps, slab = 256 * 64 * 100, 2 * 4 * 2, 54, 128*20 + 4*16
	for name, c := range map[string][2]float64{
		"steps": {float64(w.Steps), 1}, "cells": {w.Cells, cells}, "updates": {w.Updates, 256 * 64 * steps * 2}, "flops": {w.Flops, w.Updates * 13},
		"L1 loads": {w.L1Loads, blocks * steps * slab * 4}, "L2 write": {w.L2Write, cells * 4},
		// Of 128 + 4 cells the first two lie in a sector of their own, and the last two.
		"L2 read": {w.L2Read, blocks * steps * 20 * 18 * 32},
		// A thread reads 2 + 2 + 2 rows, and two vectors beside each of its own two.
		"shared": {w.Shared, blocks * steps * (slab + 256*4*10) * 4}, "barriers": {float64(w.Barriers), steps},
	} {
		if c[0] != c[1] {
			t.Errorf("%s: %v, want %v", name, c[0], c[1])
		}
	}
	if w.Write != [3]int{128, 16, 50} || w.Read != [3]int{132, 20, 54} {
		t.Errorf("writes %v, reads %v", w.Write, w.Read)
	}
}

// hypterm adds up fluxes, products of two or three arrays at a cell: each is a value, and no point of them a sum.
func TestProductsAtACellAreDerived(t *testing.T) {
	q := planOf(stenciltest.Lookup(t, "hypterm")).stages[0]
	if len(q.swept) != 8 || len(q.derived) != 12 || len(q.sums) != 5 || q.open() != 5*8 {
		t.Fatalf("%d arrays, %d derived, %d sums, %d open", len(q.swept), len(q.derived), len(q.sums), q.open())
	}
	for i, d := range q.derived {
		for _, array := range d.of {
			if a := q.swept[q.place(array)]; a.low[0] < d.low[0] || a.high[0] < d.high[0] || a.low[1] < d.low[1] || a.high[1] < d.high[1] {
				t.Errorf("value %d is read further than array %d", i, array)
			}
		}
	}
	// What is read off the own cell is no product at a cell: it stays two points.
	if q := planOf(stenciltest.Parse(t, "given", "NumDimensions 3 StencilSize (1, 1, 1) Fields (u, v) CellValue { return get(u, 1, 0, 0) * get(v, 0, 1, 0) + get(u, -1, 0, 0) * get(v, 0, -1, 0), get(v, 0, 0, 0); }")).stages[0]; len(q.derived) != 0 || len(q.sums) != 4 {
		t.Errorf("%d derived, %d sums", len(q.derived), len(q.sums))
	}
}

// What is derived may call functions that the stage itself does not.
func TestFunctionsOfDerivedValuesStandInTheSource(t *testing.T) {
	st := stenciltest.Parse(t, "given", "NumDimensions 3 StencilSize (1, 1, 1) Fields (u, v) InputRange (0.5, 1.5) CellValue { "+
		"return 0.1 * (get(u, 1, 0, 0) * get(u, 1, 0, 0) / get(v, 1, 0, 0) + get(u, -1, 0, 0) * get(u, -1, 0, 0) / get(v, -1, 0, 0)) + 0.1 * pow(get(v, 0, 0, 1), 1.4) + 0.1 * pow(get(v, 0, 0, -1), 1.4), get(v, 0, 0, 0); }")
	if n := len(planOf(st).stages[0].derived); n != 2 {
		t.Fatalf("%d derived values", n)
	}
	src := Family{}.Kernel(problem(st, stencil.Float32, volume), spacetest.Schedule(t, "sweep/vx=4/vy=2/wp=8/ck=2/pf=1/mb=1")).Source
	for _, f := range []string{"quotient", "power"} {
		if !strings.Contains(src, f+"(get_1(0, 0, 0)") && !strings.Contains(src, f+"(get_0(0, 0, 0)") || !strings.Contains(src, " float "+f+"(") {
			t.Errorf("no %s of a derived value, or nothing that says what it is", f)
		}
	}
}

func TestEachStageOfAStepHasAPlan(t *testing.T) {
	l := planOf(stenciltest.Lookup(t, "elastic3d4"))
	if len(l.stages) != 2 || len(l.stages[0].swept) != 6 || len(l.stages[1].swept) != 3 || l.reach() != 4 {
		t.Fatalf("%+v", l)
	}
}
