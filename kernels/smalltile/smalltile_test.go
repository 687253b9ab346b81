package smalltile

import (
	"testing"

	"stenciltune/kernels"
	"stenciltune/kernels/kernelstest"
	"stenciltune/space/spacetest"
	"stenciltune/stencil"
)

func TestSourceOfEveryStructuralBranchIsAsReviewed(t *testing.T) {
	kernelstest.CheckSources(t, Family{}, []kernelstest.Source{
		{Golden: "single2d.cu", Problem: kernelstest.Problem(t, "jacobi2d", stencil.Float32, kernelstest.Plane), Schedule: "smalltile/gx=64/gy=8/gz=1/wx=1/wy=1/wz=1/cw=0/zz=0/ph=1"},
		{Golden: "fused3d.cu", Problem: kernelstest.Problem(t, "jacobi3d", stencil.Float64, kernelstest.Volume), Schedule: "smalltile/gx=16/gy=8/gz=8/wx=1/wy=1/wz=1/cw=128/zz=1/ph=2"},
	})
}

func TestLaunchCoversTheGridWithWhatTheHaloLeaves(t *testing.T) {
	kernelstest.CheckLaunches(t, Family{}, []kernelstest.Launch{
		{Problem: kernelstest.Problem(t, "jacobi2d", stencil.Float32, kernelstest.Plane), Schedule: "smalltile/gx=32/gy=8/gz=1/wx=1/wy=1/wz=1/cw=0/zz=0/ph=1",
			Want: kernels.Launch{Grid: [3]int{34, 117, 1}, Block: [3]int{32, 8, 1}, SharedBytes: 32 * 8 * 4, Steps: 1}}, // tiles of 30 x 6
		{Problem: kernelstest.Problem(t, "jacobi3d", stencil.Float64, kernelstest.Volume), Schedule: "smalltile/gx=16/gy=8/gz=8/wx=1/wy=1/wz=1/cw=128/zz=1/ph=2",
			Want: kernels.Launch{Grid: [3]int{25 * 50 * 25, 1, 1}, Block: [3]int{16, 8, 8}, SharedBytes: 2 * 1024 * 8, Steps: 2}}, // of 12 x 4 x 4
		// Reach -2 .. 1 on x and 0 .. 1 on y: three and one cells a step.
		{Problem: kernelstest.Skew(t, stencil.Float32, kernelstest.Plane), Schedule: "smalltile/gx=32/gy=8/gz=1/wx=1/wy=1/wz=1/cw=0/zz=0/ph=3",
			Want: kernels.Launch{Grid: [3]int{44, 140, 1}, Block: [3]int{32, 8, 1}, SharedBytes: 2 * 32 * 8 * 4, Steps: 3}}, // of 23 x 5
	})
}

func TestWorkOfAFusedTileCountedByHand(t *testing.T) {
	w := Family{}.Work(kernelstest.Problem(t, "jacobi2d", stencil.Float32, stencil.Size{28 * 4, 4 * 8, 1}), spacetest.Schedule(t, "smalltile/gx=32/gy=8/gz=1/wx=1/wy=1/wz=1/cw=0/zz=0/ph=2"))
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
