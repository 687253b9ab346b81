package stencil

import (
	"maps"
	"math"
	"testing"
)

func TestLinearFindsTheWeights(t *testing.T) {
	at := func(x int) Offset { return Offset{x, 0, 0} }
	for _, c := range []struct {
		cell     string
		weights  map[Offset]float64
		constant float64
	}{
		{"return get(0);", map[Offset]float64{at(0): 1}, 0},
		{"return 0.5 * (get(-1) + get(1));", map[Offset]float64{at(-1): 0.5, at(1): 0.5}, 0},
		{"return (get(-1) - get(1)) / 4 + 3;", map[Offset]float64{at(-1): 0.25, at(1): -0.25}, 3},
		{"return get(0) / 3;", map[Offset]float64{at(0): 1. / 3}, 0},
		{"return -(get(0) - 2);", map[Offset]float64{at(0): -1}, 2},
		{"return get(1) + get(1) - 3 * get(1);", map[Offset]float64{at(1): -1}, 0},
		{"return get(0) + get(1) - get(1);", map[Offset]float64{at(0): 1}, 0},
		{"float a = get(0), b = 2, c; a = b * a; b = a; return b - 4 + c;", map[Offset]float64{at(0): 2}, -4},
		{"float a = get(0); float b = a; a = get(1); return a + 2 * b;", map[Offset]float64{at(0): 2, at(1): 1}, 0},
		{"float a = get(0), b = a; a += b; a -= get(1); b = 3 * b + a; return a * 2 + b;", map[Offset]float64{at(0): 9, at(1): -3}, 0},
		{"return (2 * 3 - 4 / 8.0) * get(0);", map[Offset]float64{at(0): 5.5}, 0},
	} {
		weights, constant, ok := mustParse(t, line(c.cell)).Linear()
		if !ok || constant != c.constant || !maps.Equal(weights, c.weights) {
			t.Errorf("%s: %v, %v, %v", c.cell, weights, constant, ok)
		}
	}
}

func TestLinearRefusesEverythingElse(t *testing.T) {
	for _, cell := range []string{
		"return get(0) * get(0);",
		"return 1 / get(0);",
		"return fabs(get(0));",
		"return get(0) + sqrt(get(1));",
		"float a = get(0); a = a * a; return get(0) + a;",
		"return get(0) / (1.0 - 1.0);",
		"return get(0) * 1e308 * 1e308;",
		"return get(0) - get(0) + 1;",
	} {
		if w, c, ok := mustParse(t, line(cell)).Linear(); ok {
			t.Errorf("%s: %v, %v", cell, w, c)
		}
	}
}

func TestWeightsComputeWhatTheReferenceComputes(t *testing.T) {
	linear := 0
	for _, name := range Names() {
		s := lookup(t, name)
		weights, constant, ok := s.Linear()
		if !ok || s.Plain() != nil {
			continue
		}
		linear++
		n := Size{7, 1, 1}
		for a := range s.Dims {
			n[a] = 7 - a
		}
		in := Fill(3, n.Cells())
		for i, want := range Reference(Problem{Stencil: s, DType: Float64, Size: n}, in, 1) {
			got := constant
			for o, w := range weights {
				x, y, z := clampIndex(i%n[0]+o[0], n[0]), clampIndex(i/n[0]%n[1]+o[1], n[1]), clampIndex(i/n[0]/n[1]+o[2], n[2])
				got += w * in[(z*n[1]+y)*n[0]+x]
			}
			if math.Abs(got-want) > 1e-15*float64(len(weights)) {
				t.Errorf("%s: cell %d is %v by its weights, %v by the reference", name, i, got, want)
			}
		}
	}
	if linear < 5 {
		t.Errorf("only %d stencils of the catalogue are linear", linear)
	}
}
