package tile

import (
	"math"
	"testing"

	"stenciltune/kernels"
	"stenciltune/kernels/kernelstest"
	"stenciltune/space/spacetest"
	"stenciltune/stencil"
)

func TestSourceOfEveryStructuralBranchIsAsReviewed(t *testing.T) {
	kernelstest.CheckSources(t, Family{}, []kernelstest.Source{
		{Golden: "single2d.cu", Problem: kernelstest.Problem(t, "jacobi2d", stencil.Float32, kernelstest.Plane), Schedule: "tile/gx=64/gy=4/gz=1/wx=1/wy=2/wz=1/cw=0/zz=0/ph=1"},
		{Golden: "fused3d.cu", Problem: kernelstest.Problem(t, "jacobi3d", stencil.Float64, kernelstest.Volume), Schedule: "tile/gx=32/gy=4/gz=2/wx=1/wy=2/wz=4/cw=0/zz=0/ph=3"},
		{Golden: "variants.cu", Problem: kernelstest.Problem(t, "jacobi2d", stencil.Float32, kernelstest.Plane), Schedule: "tile/gx=64/gy=4/gz=1/wx=1/wy=2/wz=1/cw=0/zz=0/ph=1/ld=2/pd=1/gd=1"},
		{Golden: "columns.cu", Problem: kernelstest.Problem(t, "jacobi2d", stencil.Float32, kernelstest.Plane), Schedule: "tile/gx=32/gy=8/gz=1/wx=2/wy=2/wz=1/cw=256/zz=1/ph=2"},
	})
}

func TestEveryParameterReachesTheSource(t *testing.T) {
	k := Family{}.Kernel(kernelstest.Problem(t, "jacobi3d", stencil.Float32, kernelstest.Volume), spacetest.Schedule(t, "tile/gx=128/gy=2/gz=4/wx=2/wy=8/wz=3/cw=512/zz=1/ph=4/ld=2/pd=1/gd=1"))
	kernelstest.CheckConstants(t, k, "GROUP_X = 128", "GROUP_Y = 2", "GROUP_Z = 4", "WORK_X = 2", "WORK_Y = 8", "WORK_Z = 3", "COLUMN = 512", "ZIGZAG = 1", "PYRAMID = 4",
		"LOADER = 2", "PADDING = 1", "SINGLE_DIM = 1")
}

func TestLaunchAsksForTheSharedMemoryOfItsTiles(t *testing.T) {
	kernelstest.CheckLaunches(t, Family{}, []kernelstest.Launch{
		{Problem: kernelstest.Problem(t, "jacobi2d", stencil.Float32, kernelstest.Plane), Schedule: "tile/gx=32/gy=4/gz=1/wx=2/wy=2/wz=1/cw=0/zz=0/ph=1",
			Want: kernels.Launch{Grid: [3]int{16, 88, 1}, Block: [3]int{32, 4, 1}, SharedBytes: 66 * 10 * 4, Steps: 1}},
		{Problem: kernelstest.Problem(t, "jacobi3d", stencil.Float64, kernelstest.Volume), Schedule: "tile/gx=32/gy=4/gz=2/wx=1/wy=2/wz=4/cw=0/zz=0/ph=3",
			Want: kernels.Launch{Grid: [3]int{10, 25, 13}, Block: [3]int{32, 4, 2}, SharedBytes: 2 * 38 * 14 * 14 * 8, Steps: 3}},
		{Problem: kernelstest.Problem(t, "jacobi2d", stencil.Float32, kernelstest.Plane), Schedule: "tile/gx=32/gy=8/gz=1/wx=2/wy=2/wz=1/cw=256/zz=1/ph=2",
			Want: kernels.Launch{Grid: [3]int{16 * 44, 1, 1}, Block: [3]int{32, 8, 1}, SharedBytes: 2 * 68 * 20 * 4, Steps: 2}},
		{Problem: kernelstest.Problem(t, "jacobi3d", stencil.Float32, kernelstest.Volume), Schedule: "tile/gx=32/gy=4/gz=2/wx=1/wy=2/wz=4/cw=0/zz=0/ph=2/pd=1",
			Want: kernels.Launch{Grid: [3]int{10, 25, 13}, Block: [3]int{32, 4, 2}, SharedBytes: 2 * 37 * 12 * 12 * 4, Steps: 2}},
		{Problem: kernelstest.Problem(t, "jacobi3d", stencil.Float32, kernelstest.Volume), Schedule: "tile/gx=32/gy=4/gz=2/wx=1/wy=2/wz=4/cw=0/zz=0/ph=1/gd=1",
			Want: kernels.Launch{Grid: [3]int{10 * 25 * 13, 1, 1}, Block: [3]int{32, 4, 2}, SharedBytes: 34 * 10 * 10 * 4, Steps: 1}},
		// Reach -2 .. 1 on x and 0 .. 1 on y: three and one more cells a step.
		{Problem: kernelstest.Skew(t, stencil.Float32, kernelstest.Plane), Schedule: "tile/gx=32/gy=4/gz=1/wx=1/wy=1/wz=1/cw=0/zz=0/ph=2",
			Want: kernels.Launch{Grid: [3]int{32, 175, 1}, Block: [3]int{32, 4, 1}, SharedBytes: 2 * 38 * 6 * 4, Steps: 2}},
	})
}

func TestWorkOfAFusedTileCountedByHand(t *testing.T) {
	w := Family{}.Work(kernelstest.Problem(t, "jacobi2d", stencil.Float32, stencil.Size{128, 64, 1}), spacetest.Schedule(t, "tile/gx=32/gy=8/gz=1/wx=1/wy=1/wz=1/cw=0/zz=0/ph=2"))
	const cells, blocks = 128 * 64, 4 * 8
	const read, middle, write = 36 * 12, 34 * 10, 32 * 8
	for name, c := range map[string][2]float64{
		"steps": {float64(w.Steps), 2}, "cells": {w.Cells, 2 * cells}, "updates": {w.Updates, blocks * (middle + write)},
		"flops": {w.Flops, blocks * (middle + write) * 5}, "L1 loads": {w.L1Loads, blocks * read * kernels.LoadBytes(4, 1, false)},
		"accesses": {w.Accesses, blocks * (2*read + middle*6 + write*6)},
		// A row of 36 cells begins two cells ahead of a sector: 1 + 5 sectors.
		"L2 read": {w.L2Read, blocks * 12 * 6 * 32}, "L2 write": {w.L2Write, cells * 4},
		// Loader's stores, five loads and a store in the middle (where 31 of 34 warps
		// reach over a row's end and take twice), five loads at the end.
		"shared": {w.Shared, blocks * (read + middle*6*(1+31.0/34) + write*5) * 4}, "barriers": {float64(w.Barriers), 2},
	} {
		if math.Abs(c[0]-c[1]) > 1e-9*c[1] {
			t.Errorf("%s: %v, want %v", name, c[0], c[1])
		}
	}
	if w.Write != [3]int{32, 8, 1} || w.Read != [3]int{36, 12, 1} {
		t.Errorf("writes %v, reads %v", w.Write, w.Read)
	}
}

func TestFusingStepsCostsRedundancyAndSavesTraffic(t *testing.T) {
	p := kernelstest.Problem(t, "jacobi2d", stencil.Float32, kernelstest.Plane)
	before := kernels.Work{}
	for i, text := range []string{"ph=1", "ph=2", "ph=3", "ph=4"} {
		w := Family{}.Work(p, spacetest.Schedule(t, "tile/gx=32/gy=8/gz=1/wx=2/wy=4/wz=1/cw=0/zz=0/"+text))
		if i > 0 && (w.Redundancy() <= before.Redundancy() || w.L2Read/w.Cells >= before.L2Read/before.Cells) {
			t.Errorf("%s: redundancy %v after %v", text, w.Redundancy(), before.Redundancy())
		}
		before = w
	}
}

func TestTheCubeLoaderWaitsForItsIdleThreads(t *testing.T) {
	p := kernelstest.Problem(t, "jacobi2d", stencil.Float32, kernelstest.Plane)
	const base = "tile/gx=32/gy=8/gz=1/wx=1/wy=1/wz=1/cw=0/zz=0/ph=1"
	flat, divide, cube := Family{}.Work(p, spacetest.Schedule(t, base)), Family{}.Work(p, spacetest.Schedule(t, base+"/ld=1")), Family{}.Work(p, spacetest.Schedule(t, base+"/ld=2"))
	// 34 x 10 cells are two turns of 256 threads, but 2 x 2 of the group's shape.
	if cube.LoadWaits != 2*flat.LoadWaits || divide.LoadWaits != flat.LoadWaits || cube.Integer >= flat.Integer || divide.Integer <= flat.Integer {
		t.Errorf("waits %v, %v, %v times; %v, %v, %v instructions", flat.LoadWaits, divide.LoadWaits, cube.LoadWaits, flat.Integer, divide.Integer, cube.Integer)
	}
}
