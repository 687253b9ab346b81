package global

import (
	"strings"
	"testing"

	"stenciltune/kernels"
	"stenciltune/kernels/kernelstest"
	"stenciltune/space/spacetest"
	"stenciltune/stencil"
	"stenciltune/stencil/stenciltest"
)

func TestSourceOfEveryStructuralBranchIsAsReviewed(t *testing.T) {
	kernelstest.CheckSources(t, Family{}, []kernelstest.Source{
		{Golden: "blocks2d.cu", Problem: kernelstest.Problem(t, "jacobi2d", stencil.Float32, kernelstest.Plane), Schedule: "global/gx=64/gy=4/gz=1/wx=1/wy=2/wz=1/cw=0/zz=0/sp=0"},
		{Golden: "blocks3d.cu", Problem: kernelstest.Problem(t, "jacobi3d", stencil.Float64, kernelstest.Volume), Schedule: "global/gx=32/gy=4/gz=2/wx=2/wy=1/wz=4/cw=0/zz=0/sp=0", Whole: true},
		{Golden: "columns.cu", Problem: kernelstest.Problem(t, "jacobi3d", stencil.Float32, kernelstest.Volume), Schedule: "global/gx=32/gy=4/gz=1/wx=1/wy=2/wz=1/cw=128/zz=1/sp=0"},
		{Golden: "lengths.cu", Problem: kernelstest.Problem(t, "jacobi2d", stencil.Float32, kernelstest.Plane), Schedule: "global/gx=256/gy=1/gz=1/wx=1/wy=1/wz=1/cw=64/zz=1/sp=1"},
		{Golden: "vectors.cu", Problem: kernelstest.Problem(t, "jacobi3d", stencil.Float64, kernelstest.Volume), Schedule: "global/gx=32/gy=4/gz=2/wx=1/wy=2/wz=4/cw=0/zz=0/sp=0/vx=4"},
		{Golden: "fused.cu", Problem: kernelstest.Problem(t, "srad2", stencil.Float32, kernelstest.Plane), Schedule: "global/gx=32/gy=4/gz=1/wx=1/wy=2/wz=1/cw=0/zz=0/sp=0/fs=1"},
		{Golden: "wide.cu", Problem: kernelstest.Problem(t, "jacobi2d", stencil.Float32, stencil.Size{65536, 65536, 1}), Schedule: "global/gx=64/gy=4/gz=1/wx=1/wy=1/wz=1/cw=0/zz=0/sp=0"},
		{Golden: "numbers.cu", Problem: kernelstest.Numbers(t, stencil.Float32, kernelstest.Plane), Schedule: "global/gx=64/gy=4/gz=1/wx=1/wy=2/wz=1/cw=0/zz=0/sp=0"},
	})
	kernelstest.CheckLines(t, Family{}.Kernel(kernelstest.Numbers(t, stencil.Float64, kernelstest.Plane), spacetest.Schedule(t, "global/gx=32/gy=4/gz=1/wx=1/wy=2/wz=1/cw=0/zz=0/sp=0/vx=4")))
}

func TestEveryParameterReachesTheSource(t *testing.T) {
	k := Family{}.Kernel(kernelstest.Problem(t, "jacobi3d", stencil.Float32, kernelstest.Volume), spacetest.Schedule(t, "global/gx=128/gy=2/gz=4/wx=2/wy=8/wz=3/cw=512/zz=1/sp=1"))
	kernelstest.CheckConstants(t, k, "GROUP_X = 128", "GROUP_Y = 2", "GROUP_Z = 4", "WORK_X = 2", "WORK_Y = 8", "WORK_Z = 3", "COLUMN = 512", "ZIGZAG = 1", "PYRAMID = 1", "SPAN_LENGTHS = 1")
}

func TestLaunchCoversTheGridInBlocksColumnsOrOneLine(t *testing.T) {
	p := kernelstest.Problem(t, "jacobi2d", stencil.Float32, kernelstest.Plane)
	kernelstest.CheckLaunches(t, Family{}, []kernelstest.Launch{
		{Problem: p, Schedule: "global/gx=64/gy=4/gz=1/wx=2/wy=2/wz=1/cw=0/zz=0/sp=0", Want: kernels.Launch{Grid: [3]int{8, 88, 1}, Block: [3]int{64, 4, 1}, Steps: 1}},
		{Problem: p, Schedule: "global/gx=64/gy=4/gz=1/wx=2/wy=2/wz=1/cw=256/zz=0/sp=0", Want: kernels.Launch{Grid: [3]int{704, 1, 1}, Block: [3]int{64, 4, 1}, Steps: 1}},
		{Problem: p, Schedule: "global/gx=512/gy=1/gz=1/wx=1/wy=1/wz=1/cw=32/zz=1/sp=1", Want: kernels.Launch{Grid: [3]int{1368, 1, 1}, Block: [3]int{512, 1, 1}, Steps: 1}},
	})
}

func TestWorkOfANaiveKernelCountedByHand(t *testing.T) {
	w := Family{}.Work(kernelstest.Problem(t, "jacobi2d", stencil.Float32, stencil.Size{128, 64, 1}), spacetest.Schedule(t, "global/gx=32/gy=8/gz=1/wx=1/wy=1/wz=1/cw=0/zz=0/sp=0"))
	const cells, blocks = 128 * 64, 4 * 8
	// A block reads 8 rows of 32 cells with a sector more at either end, and the
	// 4 sectors of the row above and below.
	for name, c := range map[string][2]float64{
		"steps": {float64(w.Steps), 1}, "cells": {w.Cells, cells}, "updates": {w.Updates, cells}, "redundancy": {w.Redundancy(), 1},
		"flops": {w.Flops, 5 * cells}, "beside": {w.Beside, 0}, "accesses": {w.Accesses, 6 * cells},
		"L1 loads": {w.L1Loads, (3*4 + 2*kernels.LoadBytes(4, 1, false)) * cells}, // three aligned
		"L2 read":  {w.L2Read, blocks * (8*6 + 2*4) * 32}, "L2 write": {w.L2Write, 4 * cells}, "shared": {w.Shared, 0}, "barriers": {float64(w.Barriers), 0},
	} {
		if c[0] != c[1] {
			t.Errorf("%s: %v, want %v", name, c[0], c[1])
		}
	}
	if w.Write != [3]int{32, 8, 1} || w.Read != [3]int{34, 10, 1} || w.ColumnWide != 0 {
		t.Errorf("writes %v, reads %v, %d tiles a row", w.Write, w.Read, w.ColumnWide)
	}
}

func TestVectorsCoverTheGridAndLoadLess(t *testing.T) {
	p := kernelstest.Problem(t, "jacobi2d", stencil.Float32, kernelstest.Plane)
	const base = "global/gx=32/gy=8/gz=1/wx=1/wy=2/wz=1/cw=0/zz=0/sp=0"
	one, four := Family{}.Work(p, spacetest.Schedule(t, base)), Family{}.Work(p, spacetest.Schedule(t, base+"/vx=4"))
	if want := (kernels.Launch{Grid: [3]int{8, 44, 1}, Block: [3]int{32, 8, 1}, Steps: 1}); four.Launch != want {
		t.Errorf("launch %+v, want %+v", four.Launch, want)
	}
	// Two rows of four cells with one more at either end, and the rows above and below.
	if want := 8.0 * 44 * 256 * (4*4*4 + 2*2*kernels.LoadBytes(4, 4, false)); four.L1Loads != want {
		t.Errorf("%v bytes through L1, want %v", four.L1Loads, want)
	}
	if want := 8.0 * 44 * 256 * (4 + 2*2 + 2); four.Accesses != want { // loads, and a store a row
		t.Errorf("%v loads and stores, want %v", four.Accesses, want)
	}
	if four.L1Loads >= one.L1Loads || four.Integer >= one.Integer || four.Loads <= one.Loads || four.Registers <= one.Registers {
		t.Errorf("scalar %+v\nvectors %+v", one, four)
	}
	src := Family{}.Kernel(p, spacetest.Schedule(t, base+"/vx=4")).Source
	if !strings.Contains(src, "constexpr int VECTOR = 4; ") || strings.Contains(src, "SPAN_LENGTHS") {
		t.Error("the constants of a schedule with vectors")
	}
}

func TestMultiWriteLoadsLess(t *testing.T) {
	p := kernelstest.Problem(t, "jacobi2d", stencil.Float32, kernelstest.Plane)
	one := Family{}.Work(p, spacetest.Schedule(t, "global/gx=32/gy=8/gz=1/wx=1/wy=1/wz=1/cw=0/zz=0/sp=0"))
	four := Family{}.Work(p, spacetest.Schedule(t, "global/gx=32/gy=8/gz=1/wx=1/wy=4/wz=1/cw=0/zz=0/sp=0"))
	if four.L1Loads >= one.L1Loads || four.L2Read >= one.L2Read || four.Registers <= one.Registers {
		t.Errorf("one output: %v L1, %v L2, %d registers; four: %v, %v, %d", one.L1Loads, one.L2Read, one.Registers, four.L1Loads, four.L2Read, four.Registers)
	}
}

// A field of bytes is converted at five places and where it is set, a coefficient at one; four cells of a row share what is between them.
func TestCellsOfTypesOfTheirOwnAreConverted(t *testing.T) {
	for text, want := range map[string][2]float64{
		"Fields (u)":                            {0, 0},
		"Fields (u: uint8)":                     {5 + 1, 14 + 4},
		"Fields (u) ReadOnly (k: float16)":      {1, 4},
		"Fields (u: uint8) ReadOnly (k: uint8)": {6 + 1, 18 + 4},
	} {
		k := "1"
		if strings.Contains(text, "k:") {
			k = "get(k, 0, 0)"
		}
		st := stenciltest.Parse(t, "s", "NumDimensions 2 StencilSize (1, 1) "+text+" CellValue { return "+k+" * (get(u, -1, 0) + get(u, 1, 0) + get(u, 0, -1) + get(u, 0, 1) + get(u, 0, 0)); }")
		p := stencil.Problem{Stencil: st, DType: stencil.Float32, Size: stencil.Size{1024, 64, 1}, Steps: 10}
		for i, vx := range []string{"", "/vx=4"} {
			w := Family{}.Work(p, spacetest.Schedule(t, "global/gx=32/gy=8/gz=1/wx=1/wy=1/wz=1/cw=0/zz=0/sp=0"+vx))
			if got := w.Beside / float64(w.Launch.Blocks()*w.Launch.Threads()); got != want[i] {
				t.Errorf("%s%s: %v a thread, want %v", text, vx, got, want[i])
			}
		}
	}
}
