package stencil

import (
	"fmt"
	"math"
	"reflect"
	"strings"
	"testing"
)

func TestFaultsOfStepScalarsAreShownWhereTheyStand(t *testing.T) {
	const head = "NumDimensions 1 StencilSize (2) ScalarVariables (float a)\n"
	const cell = "\nCellValue { return get(0) * s; }"
	for _, c := range []struct{ name, src, want string }{
		{"no name", head + "StepScalar { return 1; }" + cell, `s.sl:2:12: want the name of a step scalar here, found "{"`},
		{"no operation of that name", head + "StepScalar mean s { return get(0); }" + cell, `s.sl:2:17: want "{" here, found "s"; a step scalar is StepScalar sum mean { return get(0); }, with sum, min or max of all cells, or without one of them a formula`},
		{"name twice", head + "StepScalar a { return 1; }" + cell, "s.sl:2:12: a is declared twice"},
		{"two of a name", head + "StepScalar s { return 1; } StepScalar s { return 2; }" + cell, "s.sl:2:39: s is declared twice"},
		{"cells in a formula", head + "StepScalar s { return a * get(0); }" + cell, "s.sl:2:27: s is computed once, not for each cell, so get is not known; begin it with sum, min or max, or read a step scalar that does"},
		{"a place in a formula", head + "StepScalar s { return x; }" + cell, "s.sl:2:23: s is computed once, not for each cell, so x is not known"},
		{"a place in a formula's function", head + "float f(float b) { return b * x; }\nStepScalar s { return f(a); }" + cell, "s.sl:2:31: s is computed once, not for each cell, so x is not known"},
		{"one below", head + "StepScalar s { return t; } StepScalar t { return s; }" + cell, "s.sl:2:23: t is not known yet; step scalars are computed in the order of the file, so move its StepScalar up"},
		{"itself", head + "StepScalar sum s { return s + get(0); }" + cell, "s.sl:2:27: s is not known yet"},
		{"nobody reads it", head + "StepScalar sum s { return get(0); } StepScalar t { return s; }" + cell, "s.sl:2:37: nothing reads step scalar t; remove it"},
		{"set", head + "StepScalar s { return a; }\nCellValue { s = 2; return get(0); }", `s.sl:3:13: "s" may only be read`},
		{"in EdgeValue", head + "StepScalar s { return a; }" + cell + "EdgeValue { return s; }", "s.sl:3:52: EdgeValue may not read a step scalar, for what lies outside may be read while s is computed; read it in CellValue"},
		{"in Reduce", head + "StepScalar s { return a; }" + cell + "Reduce sum { return s; }", "s.sl:3:53: Reduce may not read a step scalar: a launcher looks after the step; compute it from value and get here"},
		{"in a constant", head + "const float c = s;\nStepScalar s { return a; }" + cell, "s.sl:2:17: a constant outside of blocks is made of numbers"},
		{"64 bits", head + "DataType int64 StepScalar sum s { return get(0); }" + cell, "s.sl:2:16: step scalars are kept in double, which does not hold every int64; use int or double"},
		{"of a temporary field", "NumDimensions 1 StencilSize (2) Fields (u, v) Temporary (v) Stages (p, q)\nStepScalar sum s { return get(v, 0); }\nCellValue p (v) { return s * get(u, 0); } CellValue q (u) { return get(v, 0); }",
			`s.sl:1:58: step scalar s reads "v" of the time step before, so it is not temporary`},
		{"beyond StencilSize", head + "StepScalar sum s { return get(3); }" + cell, "s.sl:2:27: get(3) reaches beyond StencilSize"},
	} {
		if _, err := Parse("s", "s.sl", c.src); err == nil || !strings.HasPrefix(err.Error(), c.want) {
			t.Errorf("%s:\n got %v\nwant %s", c.name, err, c.want)
		}
	}
}

func TestStepScalarsAreComputedInAsFewLooksAsTheyNeed(t *testing.T) {
	s := mustParse(t, "NumDimensions 1 StencilSize (1) StepScalar a { return 2; } StepScalar sum b { return get(1); } StepScalar c { return a * b; } StepScalar max d { return get(0); }"+
		"StepScalar min e { return get(0) * c; } StepScalar f { return e + d; } StepScalar sum g { return f * get(-1); } CellValue { return get(0) / g; }")
	want := []StepPass{{[]int{1, 3}, []int{0, 2}}, {[]int{4}, []int{5}}, {[]int{6}, nil}}
	if got := s.StepPasses(); !reflect.DeepEqual(got, want) {
		t.Errorf("%v, want %v", got, want)
	}
	for _, pass := range want {
		if n := (Problem{Stencil: s, DType: Float32}).PassBytes(pass, false); n != 4 {
			t.Errorf("%d bytes, want a read in each of three looks", n)
		}
	}
}

func TestStepScalarsAreOfTheStateBeforeTheStep(t *testing.T) {
	s := mustParse(t, "NumDimensions 1 StencilSize (1) DataType double ScalarVariables (double w = 0.25) Boundary wrap Fields (u, v) Stages (p, q)"+
		"StepScalar sum total { return get(u, 1) * get(u, 0); } StepScalar max most { return fabs(get(v, 0)) + total; } StepScalar k { return w * iteration / (1 + most); }"+
		"CellValue p (u) { return get(u, -1) + k; } CellValue q (v) { return get(u, 0) * k + total; }")
	p := Problem{Stencil: s, DType: Float64, Size: Size{37, 1, 1}}
	d := Start(p, 1)
	u, v := append([]float64(nil), d.Fields[0].Float...), append([]float64(nil), d.Fields[1].Float...)
	for step := 1; step <= 3; step++ {
		total, most := 0.0, math.Inf(-1)
		for i := range u {
			total += u[(i+1)%len(u)] * u[i]
		}
		for i := range v {
			most = max(most, math.Abs(v[i])+total)
		}
		k := 0.25 * float64(step) / (1 + most)
		next := make([]float64, len(u))
		for i := range u {
			next[i] = u[(i+len(u)-1)%len(u)] + k
		}
		u = next
		for i := range v {
			v[i] = u[i]*k + total
		}
	}
	got := Run(p, d, 3)
	nearly(t, got.Fields[0].Float, u)
	nearly(t, got.Fields[1].Float, v)
}

// A scalar decides a branch by way of a step scalar, so that problems which differ in it are not the same.
func TestAScalarSteersThroughAStepScalar(t *testing.T) {
	s := mustParse(t, "NumDimensions 1 StencilSize (1) ScalarVariables (float a, float b) StepScalar q { return 2 * a; } CellValue { if (q > 1) return get(0); return b * get(1); }")
	p := Problem{Stencil: s, DType: Float32, Size: Size{8, 1, 1}}
	hash := func(a, b float64) string { p.Scalars = []float64{a, b}; return p.Hash() }
	if hash(1, 1) == hash(3, 1) || hash(1, 1) != hash(1, 3) {
		t.Error("a does not decide, or b does")
	}
}

func TestNumbersOfWhatSourcesChangeAreNotFoldedWhereItIsStored(t *testing.T) {
	const text = "NumDimensions 1 StencilSize (1) Fields (u, v) StepScalar sum s { return get(%s, 0); } CellValue { return get(u, 1) * s, get(v, -1); } Sources shot (u) { return value; } Receivers trace { return get(v, 0); }"
	for field, want := range map[string][]int{"u": nil, "v": {1}} {
		s := mustParse(t, fmt.Sprintf(text, field))
		if got := s.FoldsStored(); !reflect.DeepEqual(got, want) {
			t.Errorf("%s: fields %v, want %v", field, got, want)
		}
	}
}
