package reduce_test

import (
	"slices"
	"testing"

	"stenciltune/kernels/reduce"
	"stenciltune/stencil"
	"stenciltune/stencil/stenciltest"
)

func TestBeforeTellsWhatReduceReads(t *testing.T) {
	for reduction, want := range map[string]bool{
		"return value;": false, "return value * x + read(iteration);": false,
		"return fabs(value - get(0));": true, "return get(-1);": true,
	} {
		st := stenciltest.Parse(t, "s", "NumDimensions 1 StencilSize (1) CellValue { return get(1); } Reduce sum { "+reduction+" }")
		if got := reduce.Before(st); got != want {
			t.Errorf("%s: %v", reduction, got)
		}
	}
}

func TestOverwrittenIsWhatTwoStagesSetAndReduceGets(t *testing.T) {
	st := "NumDimensions 1 StencilSize (1) Fields (u, v, w) Stages (a, b) CellValue a (u, v) { return get(v, 1), get(w, 0); } CellValue b (u) { return get(u, 1); } "
	for reduction, want := range map[string][]int{
		"return value(u);": nil, "return get(v, 0) + get(w, 0);": nil, "return value(u) - get(u, 0) + get(v, 1);": {0},
	} {
		if got := reduce.Overwritten(stenciltest.Parse(t, "s", st+"Reduce sum { "+reduction+" }")); !slices.Equal(got, want) {
			t.Errorf("%s: %v, want %v", reduction, got, want)
		}
	}
}

func TestKernelHasABlockForSomeCells(t *testing.T) {
	st := stenciltest.Parse(t, "s", "NumDimensions 2 StencilSize (1, 1) CellValue { return get(1, 0); } Reduce sum { return value; }")
	for n, want := range map[int]int{1: 1, 45: 1, 46: 2, 20000: 1024} {
		p := stencil.Problem{Stencil: st, DType: stencil.Float32, Size: stencil.Size{n, n, 1}, Steps: 10}
		if got := reduce.Kernel(p).Launch.Blocks(); got != want {
			t.Errorf("%d x %d cells: %d blocks, want %d", n, n, got, want)
		}
	}
}
