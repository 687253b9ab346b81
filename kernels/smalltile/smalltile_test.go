package smalltile

import (
	"strings"
	"testing"

	"stenciltune/internal/golden"
	"stenciltune/kernels"
	"stenciltune/space"
	"stenciltune/stencil"
)

func problem(t testing.TB, name string, d stencil.DType, n stencil.Size) stencil.Problem {
	t.Helper()
	s, err := stencil.Lookup(name)
	if err != nil {
		t.Fatal(err)
	}
	return stencil.Problem{Stencil: s, DType: d, Size: n, Steps: 10}
}

func schedule(t testing.TB, text string) space.Schedule {
	t.Helper()
	s, err := space.ParseSchedule(text)
	if err != nil {
		t.Fatal(err)
	}
	return s
}

var (
	plane = stencil.Size{1000, 700, 1}
	deep  = stencil.Size{300, 200, 100}
)

func TestSourceOfEveryStructuralBranchIsAsReviewed(t *testing.T) {
	for _, c := range []struct {
		golden, stencil string
		dtype           stencil.DType
		size            stencil.Size
		schedule        string
	}{
		{"single2d.cu", "jacobi2d", stencil.Float32, plane, "smalltile/gx=64/gy=8/gz=1/wx=1/wy=1/wz=1/cw=0/zz=0/ph=1"},
		{"fused3d.cu", "jacobi3d", stencil.Float64, deep, "smalltile/gx=16/gy=8/gz=8/wx=1/wy=1/wz=1/cw=128/zz=1/ph=2"},
	} {
		k := Family{}.Kernel(problem(t, c.stencil, c.dtype, c.size), schedule(t, c.schedule))
		golden.Check(t, c.golden, []byte(k.Source))
		if !strings.HasPrefix(k.Source, "// "+c.stencil+", "+string(c.dtype)+": schedule "+c.schedule+"\n") {
			t.Errorf("%s begins with %.80q", c.golden, k.Source)
		}
		if !strings.Contains(k.Source, "#define ENTRY "+k.Entry+"\n") || k.DType != c.dtype || k.Schedule != schedule(t, c.schedule) {
			t.Errorf("%s: entry %s, %s, %s", c.golden, k.Entry, k.DType, k.Schedule)
		}
	}
}

func TestLaunchCoversTheGridWithWhatTheHaloLeaves(t *testing.T) {
	skew, err := stencil.Parse("skew", "skew.sl", "NumDimensions 2 StencilSize (2, 1) CellValue { return get(-2, 0) + get(1, 0) + get(0, 1); }")
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		p        stencil.Problem
		schedule string
		want     kernels.Launch
	}{
		{problem(t, "jacobi2d", stencil.Float32, plane), "smalltile/gx=32/gy=8/gz=1/wx=1/wy=1/wz=1/cw=0/zz=0/ph=1",
			kernels.Launch{Grid: [3]int{34, 117, 1}, Block: [3]int{32, 8, 1}, SharedBytes: 32 * 8 * 4, Steps: 1}}, // tiles of 30 x 6
		{problem(t, "jacobi3d", stencil.Float64, deep), "smalltile/gx=16/gy=8/gz=8/wx=1/wy=1/wz=1/cw=128/zz=1/ph=2",
			kernels.Launch{Grid: [3]int{25 * 50 * 25, 1, 1}, Block: [3]int{16, 8, 8}, SharedBytes: 2 * 1024 * 8, Steps: 2}}, // of 12 x 4 x 4
		// Reach -2 .. 1 on x and 0 .. 1 on y: three and one cells a step.
		{stencil.Problem{Stencil: skew, DType: stencil.Float32, Size: plane, Steps: 9}, "smalltile/gx=32/gy=8/gz=1/wx=1/wy=1/wz=1/cw=0/zz=0/ph=3",
			kernels.Launch{Grid: [3]int{44, 140, 1}, Block: [3]int{32, 8, 1}, SharedBytes: 2 * 32 * 8 * 4, Steps: 3}}, // of 23 x 5
	} {
		if got := (Family{}).Kernel(c.p, schedule(t, c.schedule)).Launch; got != c.want {
			t.Errorf("%s: %+v, want %+v", c.schedule, got, c.want)
		}
	}
}

func TestWorkOfAFusedTileCountedByHand(t *testing.T) {
	w := Family{}.Work(problem(t, "jacobi2d", stencil.Float32, stencil.Size{28 * 4, 4 * 8, 1}), schedule(t, "smalltile/gx=32/gy=8/gz=1/wx=1/wy=1/wz=1/cw=0/zz=0/ph=2"))
	const cells, blocks = 28 * 4 * 4 * 8, 4 * 8
	const read, middle, write = 32 * 8, 30 * 6, 28 * 4
	for name, c := range map[string][2]float64{
		"steps": {float64(w.Steps), 2}, "cells": {w.Cells, 2 * cells}, "updates": {w.Updates, blocks * (middle + write)},
		"flops": {w.Flops, blocks * (middle + write) * 5}, "L1 loads": {w.L1Loads, blocks * read * kernels.LoadBytes(4, 1, false)}, "L2 write": {w.L2Write, cells * 4},
		// A row of 32 cells that begins at any of a sector's eight: 4 + 7/8 sectors.
		"L2 read": {w.L2Read, blocks * 8 * 4.875 * 32},
		// A store a thread, five loads and a store in the middle, five loads at the end.
		"shared": {w.Shared, blocks * (read + middle*6 + write*5) * 4}, "barriers": {float64(w.Barriers), 2},
	} {
		if c[0] != c[1] {
			t.Errorf("%s: %v, want %v", name, c[0], c[1])
		}
	}
	if w.Write != [3]int{28, 4, 1} || w.Read != [3]int{32, 8, 1} {
		t.Errorf("writes %v, reads %v", w.Write, w.Read)
	}
}
