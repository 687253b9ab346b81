package stencil

import (
	"slices"
	"testing"
)

func TestCopiesAreOutputsThatAreAnotherFieldsOldValue(t *testing.T) {
	const head = "NumDimensions 1 StencilSize (1) Fields (a, b, c) "
	for src, want := range map[string][]Copy{
		head + "CellValue (a, b) { return get(a, 1), get(a, 0); }":                                 {{1, 0}},
		head + "CellValue (a, b, c) { return get(a, 1), get(a, 0), get(b, 0); }":                   {{1, 0}, {2, 1}}, // three levels
		head + "CellValue (b, a) { float v = get(a, 0); return v, v + get(b, 1); }":                {{1, 0}},
		head + "CellValue (a, b) { float v = get(a, 0); v = 2 * v; return v, v; }":                 nil,      // v is set twice
		head + "CellValue (a, b) { return get(a, 1), get(a, 1); }":                                 nil,      // not the own cell
		head + "CellValue (b) { return get(a, 0); }":                                               nil,      // a stays: both are needed
		head + "CellValue (a, b) { return get(b, 0), get(a, 0); }":                                 nil,      // nothing is computed
		head + "CellValue (a, b, c) { return get(b, 1), get(a, 0), get(a, 0); }":                   {{1, 0}}, // one of them is written
		head + "CellValue (a, b) { if (get(a, 0) > 0) return 1, 2; return get(a, 1), get(a, 0); }": nil,
		head + "Boundary fixed CellValue (a, b) { return get(a, 1), get(a, 0); }":                  nil, // cells at the edge keep b
	} {
		s := mustParse(t, src)
		if got := s.Stages[0].Copies; !slices.Equal(got, want) {
			t.Errorf("%s: %v, want %v", src, got, want)
		}
		if n := len(s.Stages[0].Writes(1)); n != len(s.Stages[0].Outputs)-len(want) || len(s.Stages[0].Writes(2)) != len(s.Stages[0].Outputs) {
			t.Errorf("%s: one step writes %d fields", src, n)
		}
	}
	if got := lookup(t, "acoustic3d").Stages[0].Copies; !slices.Equal(got, []Copy{{1, 0}}) {
		t.Errorf("acoustic3d: %v", got)
	}
	for name, bytes := range map[string]int{"jacobi3d": 8, "acoustic3d": 16, "srad2": 8, "fdtd3d": 48, "redblack": 12, "shallowwater": 48, "weno5": 16} {
		if n := (Problem{Stencil: lookup(t, name), DType: lookup(t, name).DType}).Compulsory(); n != bytes {
			t.Errorf("%s must move %d bytes a cell, want %d", name, n, bytes)
		}
	}
	if n := (Problem{Stencil: lookup(t, "acoustic3d"), DType: Float32}).Traffic(); n != 16 {
		t.Errorf("acoustic3d moves %d bytes a cell, want three reads and a write", n)
	}
}
