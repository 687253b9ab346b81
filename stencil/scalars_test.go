package stencil

import (
	"slices"
	"testing"
)

func TestScalarsThatSteerAreFound(t *testing.T) {
	for body, want := range map[string]bool{
		"return a * get(0);":                                       false,
		"float b = a + 1; return b / get(0);":                      false,
		"if (get(0) > a) return 1; return 0;":                      true,
		"return get(0) > a ? 1 : 0;":                               true,
		"float b = a; float c = 2 * b; return c < 1 ? get(0) : 1;": true,
		"float b; if (x > 3) b = a; return b > 0 ? get(0) : 1;":    true,
		"return get(0) + read(x + (int)a);":                        true,
		"return (a > 1 && get(0) > 2) + get(0);":                   true,
		"return x > 3 ? a : get(0);":                               false,
	} {
		s := mustParse(t, line(body)+" ScalarVariables (float other, float a = 2)")
		if got := s.steering(); !slices.Equal(got, []bool{false, want}) {
			t.Errorf("%s: %v", body, got)
		}
		p := Problem{Stencil: s, DType: Float32}
		if p.Scalars = []float64{7, 2}; p.Hash() != s.Hash {
			t.Errorf("%s: the default has another hash", body)
		}
		if p.Scalars = []float64{1, 3}; (p.Hash() != s.Hash) != want {
			t.Errorf("%s: hash of another value", body)
		}
	}
}

func TestScalarsOfAProblemReachTheReference(t *testing.T) {
	s := mustParse(t, line("return a * get(0) + b;")+" ScalarVariables (float a = 2, float b)")
	p := Problem{Stencil: s, DType: Float64, Size: Size{2, 1, 1}}
	in := []float64{1, 10}
	if got := Reference(p, in, 1); !slices.Equal(got, []float64{3, 21}) {
		t.Error(got)
	}
	p.Scalars = []float64{5, -1}
	if got := Reference(p, in, 1); !slices.Equal(got, []float64{4, 49}) {
		t.Error(got)
	}
	if got := Start(p, 1).Scalars; !slices.Equal(got, p.Scalars) {
		t.Error(got)
	}
}
