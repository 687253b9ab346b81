package stencil

import (
	"math"
	"testing"
)

// Run's reduced number is the sum, or the least or largest, of what the reduction
// stencil gives at each cell from the states before and after the last step.
func TestReductionGivesWhatReduceReduces(t *testing.T) {
	for name, src := range map[string]string{
		"change":    line("return 0.5 * get(1);") + "Reduce max { return fabs(value - get(0)); }",
		"around":    line("return 0.5 * get(1);") + "Boundary wrap Reduce sum { return (value - get(-1)) * (value - get(1)) * a + x; } ScalarVariables (float a = 3)",
		"fixed":     line("return get(-1);") + "Boundary fixed Reduce min { return get(-2) + value; }",
		"constant":  line("return get(-1);") + "Boundary constant 4 Reduce sum { return get(2) - value; }",
		"fields":    line("return get(v, 1), 2 * get(u, -1) - read(x + iteration);") + "Fields (u, v) EdgeValue u { return value + x; } EdgeValue v { return iteration; } Reduce sum { float d = value(v) - get(u, -2); if (d < 0) d = -d; return d > 1 ? d : value(u); }",
		"integers":  "NumDimensions 2 StencilSize (1, 1) DataType int8 CellValue { return 3 * get(1, 0) + get(0, -1); } Reduce sum { return value * get(0, 1); }",
		"read only": "NumDimensions 2 StencilSize (1, 1) ReadOnly (w) CellValue { return get(1, 0) + get(w, 0, 1); } Reduce max { return -get(w, -1, 0) * value; }",
	} {
		s := mustParse(t, src)
		p := Problem{Stencil: s, DType: s.DType, Size: Size{9, 1, 1}}
		if s.Dims == 2 {
			p.Size[1] = 5
		}
		if s.DType.Floating() {
			p.DType = Float64
		}
		d := Start(p, 3)
		const steps = 3
		want := Run(p, d, steps)
		quiet := *s
		quiet.Reduce = nil
		q := p
		q.Stencil = &quiet
		before := Run(q, d, steps-1).Fields
		r := p
		r.Stencil = s.Reduction()
		// The reduction's first step would be iteration 1; it is asked for the last one.
		state := newRun(r, d)
		state.iteration, state.fields = steps, append(before, want.Fields...)
		n := int(p.Size.Cells())
		target := Values{Float: make([]float64, n)}
		if !s.DType.Floating() {
			target = Values{Int: make([]int64, n)}
		}
		state.stage(&r.Stencil.Stages[0], []Values{target})
		values := target.Floats(s.DType)
		got := values[0]
		for _, v := range values[1:] {
			switch s.Reduce.Op {
			case "sum":
				got += v
			case "min":
				got = min(got, v)
			case "max":
				got = max(got, v)
			}
		}
		if math.Abs(got-want.Reduced) > 1e-12*math.Abs(got) || math.IsNaN(got) || got == 0 {
			t.Errorf("%s: %v, want %v", name, got, want.Reduced)
		}
	}
	if s := mustParse(t, line("return get(0);")); s.Reduction() != nil {
		t.Error("a reduction of nothing")
	}
}

// The bound of a reduced number follows from the cells: of integers it is 0 as long as double holds their sum, and a number that may be
// anything is not judged.
func TestTheBoundOfAReducedNumber(t *testing.T) {
	for src, most := range map[string]float64{
		line("return get(1);") + "Reduce max { return value; }":                                                                                            4e-7,
		line("return get(1);") + "Reduce sum { return 0.1 * value + get(-1) * get(1); }":                                                                   1e-4,
		line("return get(1);") + "Reduce min { return sqrt(value - 9); }":                                                                                  math.Inf(1),
		"NumDimensions 1 StencilSize (1) DataType int CellValue { return get(1); } Reduce sum { return 7 * value; }":                                       0,
		"NumDimensions 1 StencilSize (1) DataType int64 InputRange (0, 2000000000) CellValue { return get(1); } Reduce sum { return value * 2000000000; }": 1e8,
	} {
		s := mustParse(t, src)
		p := Problem{Stencil: s, DType: s.DType, Size: Size{2000, 1, 1}}
		v := JudgeReduce(p, 5)
		want := Fold(s.Reduce.Op, ReduceCells(p, 5))
		if b := v.Bound[0]; b > most || b < most/100 || v.Want[0] != want && want == want || (v.Blind == 1) != math.IsInf(most, 1) {
			t.Errorf("%s: %v within %v, %d blind", src, v.Want, b, v.Blind)
		}
		if c := v.Compare([]float64{want + 2*v.Bound[0] + 1e-3}); c.OK() {
			t.Errorf("%s: another number is right", src)
		}
	}
}

// The noisy runs err each in its own way, also in rows of one cell: the errors of a sum add up differently in each.
func TestBoundsOfSumsDoNotDependOnTheGridsShape(t *testing.T) {
	s := mustParse(t, "NumDimensions 2 StencilSize (1, 1) DataType float16 Boundary wrap CellValue { return get(1, 0); } Reduce sum { return 3 * value * get(0, 0); }")
	for seed := range uint32(20) {
		p := Problem{Stencil: s, DType: Float16, Size: Size{2049, 1, 1}}
		along := JudgeReduce(p, seed).Bound[0]
		p.Size = Size{1, 2049, 1}
		if across := JudgeReduce(p, seed).Bound[0]; across < along/2 || across > 2*along {
			t.Errorf("seed %d: %v in a row, %v in a column", seed, along, across)
		}
	}
}
