package stencil

import (
	"fmt"
	"math"
	"testing"
)

// An element that is NaN makes every number of its cell NaN, and only those: what a function drops, or may drop where its points are
// collected, is not judged so.
func TestOneNaNMakesTheNumberNaN(t *testing.T) {
	for src, want := range map[string]float64{
		"max { return value; }":                                         wantsNaN,
		"min { return value; }":                                         wantsNaN,
		"sum { return value; }":                                         wantsNaN,
		"max { return fmax(value, -3); }":                               0,
		"sum { return get(0, 0); }":                                     0,
		"sum { return value + get(0, 0) + get(1, 0) - value + 2 * y; }": math.Inf(1),
		"sum { return sqrt(value - 9); }":                               math.Inf(1),
	} {
		for _, dtype := range []DType{Float16, Float32, Float64} {
			p := Problem{Stencil: mustParse(t, "NumDimensions 2 StencilSize (1, 1) CellValue { return get(1, 0); } Reduce "+src), DType: dtype, Size: Size{30, 20, 1}, NaN: true}
			v := JudgeReduce(p, SeedForNaN(600+77, 5)) // of the field after the step
			if b := v.Bound[0]; b != want && !(want == 0 && finite(b) && b >= 0) || (b == wantsNaN) != (math.IsNaN(v.Want[0]) && v.Blind == 0) {
				t.Errorf("%s in %s: %v within %v", src, dtype, v.Want, b)
			}
			for _, got := range []float64{3, math.NaN()} {
				if ok := v.Compare([]float64{got}).Wrong == 0; want < 0 && ok != math.IsNaN(got) || want > 0 && !ok {
					t.Errorf("%s in %s: %v is right: %v", src, dtype, got, ok)
				}
			}
		}
	}
}

// A number of a step is judged so in each step, of cells nothing.
func TestOneNaNMakesTheNumbersOfLaterStepsNaN(t *testing.T) {
	for i, want := range []float64{wantsNaN, math.Inf(1)} { // of which the second reads the other field
		s := mustParse(t, fmt.Sprintf("NumDimensions 1 StencilSize (1) Fields (u, v) StepScalar max m { return get(%s, 0); } CellValue { return m > 9 ? 0 : get(u, 1), get(v, 0); }", []string{"u", "v"}[i]))
		p := Problem{Stencil: s, DType: Float32, Size: Size{50, 1, 1}, NaN: true}
		for steps := 1; steps < 4; steps++ {
			v := Judge(p, SeedForNaN(20, 1), steps)
			if v.step[1][0] != want || v.Blind != 100 {
				t.Errorf("%d steps: %v", steps, v.step)
			}
			c := v.CompareNumbers(v.Compare(make([]float64, 100)), []float64{0})
			if c.OK() != (want > 0) {
				t.Errorf("%d steps: a number passes: %v", steps, c)
			}
		}
	}
}
