package slide

import (
	"testing"

	"stenciltune/kernels"
	"stenciltune/kernels/kernelstest"
	"stenciltune/space/spacetest"
	"stenciltune/stencil"
)

func TestSourceOfEveryStructuralBranchIsAsReviewed(t *testing.T) {
	kernelstest.CheckSources(t, Family{}, []kernelstest.Source{
		{Golden: "rows.cu", Problem: kernelstest.Problem(t, "jacobi2d", stencil.Float32, kernelstest.Plane), Schedule: "slide/gx=64/gy=4/gz=1/wx=2/wy=1/wz=1/cw=256/zz=1/ws=32/db=0"},
		{Golden: "planes.cu", Problem: kernelstest.Problem(t, "jacobi3d", stencil.Float64, kernelstest.Volume), Schedule: "slide/gx=32/gy=8/gz=1/wx=1/wy=2/wz=1/cw=0/zz=0/ws=64/db=1"},
	})
}

func TestLaunchAsksForTheSharedMemoryOfTheWindow(t *testing.T) {
	kernelstest.CheckLaunches(t, Family{}, []kernelstest.Launch{
		{Problem: kernelstest.Problem(t, "jacobi2d", stencil.Float32, kernelstest.Plane), Schedule: "slide/gx=64/gy=4/gz=1/wx=2/wy=1/wz=1/cw=0/zz=0/ws=32/db=0", // 2 + 4 rows of 130
			Want: kernels.Launch{Grid: [3]int{8, 6, 1}, Block: [3]int{64, 4, 1}, SharedBytes: 6 * 130 * 4, Steps: 1}},
		{Problem: kernelstest.Problem(t, "jacobi2d", stencil.Float32, kernelstest.Plane), Schedule: "slide/gx=64/gy=4/gz=1/wx=2/wy=1/wz=1/cw=256/zz=1/ws=32/db=1", // 2 + 2 x 4
			Want: kernels.Launch{Grid: [3]int{48, 1, 1}, Block: [3]int{64, 4, 1}, SharedBytes: 10 * 130 * 4, Steps: 1}},
		{Problem: kernelstest.Problem(t, "jacobi3d", stencil.Float64, kernelstest.Volume), Schedule: "slide/gx=32/gy=8/gz=2/wx=1/wy=2/wz=1/cw=0/zz=0/ws=8/db=1", // 2 + 2 x 2 planes of 34 x 18
			Want: kernels.Launch{Grid: [3]int{10, 13, 7}, Block: [3]int{32, 8, 2}, SharedBytes: 6 * 34 * 18 * 8, Steps: 1}},
	})
}

func TestWorkOfAWindowCountedByHand(t *testing.T) {
	p := kernelstest.Problem(t, "jacobi2d", stencil.Float32, stencil.Size{128, 64, 1})
	w := Family{}.Work(p, spacetest.Schedule(t, "slide/gx=32/gy=2/gz=1/wx=1/wy=1/wz=1/cw=0/zz=0/ws=8/db=0"))
	const cells, blocks, read = 128 * 64, 4 * 4, 34 * 18
	for name, c := range map[string][2]float64{
		"steps": {float64(w.Steps), 1}, "cells": {w.Cells, cells}, "updates": {w.Updates, cells}, "flops": {w.Flops, cells * 5},
		"L1 loads": {w.L1Loads, blocks * read * kernels.LoadBytes(4, 1, false)}, "L2 write": {w.L2Write, cells * 4},
		// A row of 34 cells begins one cell ahead of a sector: 1 + 5 sectors.
		"L2 read": {w.L2Read, blocks * 18 * 6 * 32},
		// A store for each cell loaded, five loads for each computed.
		"shared": {w.Shared, (blocks*read + cells*5) * 4}, "barriers": {float64(w.Barriers), 16},
	} {
		if c[0] != c[1] {
			t.Errorf("%s: %v, want %v", name, c[0], c[1])
		}
	}
	if w.Write != [3]int{32, 16, 1} || w.Read != [3]int{34, 18, 1} {
		t.Errorf("writes %v, reads %v", w.Write, w.Read)
	}
	double := Family{}.Work(p, spacetest.Schedule(t, "slide/gx=32/gy=2/gz=1/wx=1/wy=1/wz=1/cw=0/zz=0/ws=8/db=1"))
	if double.Barriers != 9 || double.LoadWaits >= w.LoadWaits {
		t.Errorf("double buffer: %d barriers, waits for %v loads after %v", double.Barriers, double.LoadWaits, w.LoadWaits)
	}
}
