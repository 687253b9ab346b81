package stream

import (
	"math"
	"strings"
	"testing"

	"stenciltune/stencil"
	"stenciltune/stencil/stenciltest"
)

func TestTheCommonFactorIsTheWeightThatSavesMost(t *testing.T) {
	for _, c := range []struct {
		name        string
		stencil     *stencil.Stencil
		common      float64
		plain, with float64 // operations
	}{
		{"nearest neighbours in pairs", stenciltest.Lookup(t, "jacobi2d"), 0.2, 4, 3},
		{"pairs alone", parsed(t, "1, 1", "return 0.25 * (get(-1, 0) + get(1, 0) + get(0, -1) + get(0, 1));"), 0.25, 3, 2},
		{"pairs beside another weight", parsed(t, "1, 1", "return 0.6 * get(0, 0) + 0.1 * (get(-1, 0) + get(1, 0) + get(0, -1) + get(0, 1));"), 0.6, 4, 3},
		{"neighbours that weigh unlike are no pairs", parsed(t, "1, 1", "return 0.2 * (get(0, 0) + get(-1, 0) + get(1, 0)) + 0.1 * (get(0, -1) + get(0, 1));"), 0.1, 4.5, 3.5},
		{"a cell alone begins its sum", stenciltest.Lookup(t, "jacobi3d"), 1. / 7, 6.5, 5.5},
		{"three in a row", stenciltest.Lookup(t, "jacobi1d"), 1. / 3, 2.5, 1.5},
		{"the largest of those that save as much", stenciltest.Lookup(t, "jacobi2d9"), 9. / 118, 9, 8},
		{"two patterns begin with it", stenciltest.Lookup(t, "gaussian2d"), 4. / 273, 18, 16},
		{"a box", stenciltest.Lookup(t, "jacobi3d27"), 0.025, 19, 18},
		{"weights above 1", parsed(t, "1, 1", "return 2 * get(-1, -1) + 3 * get(1, -1);"), 1, 2, 2},
		{"a negative weight", parsed(t, "1, 1", "return get(0, -1) - 0.5 * get(1, -1) - 0.5 * get(-1, -1);"), 1, 2, 2},
		{"a constant", parsed(t, "1", "return 0.25 * get(-1) + 0.5 * get(0) + 0.25 * get(1) + 1;"), 1, 3, 3},
	} {
		plain, ok := weightsOf(c.stencil)
		if !ok {
			t.Fatalf("%s: not linear", c.name)
		}
		common := bestFactor(c.stencil)
		in, _ := weightsBy(common, c.stencil)
		if math.Abs(common/c.common-1) > 1e-15 || plain.operations() != c.plain || in.operations() != c.with {
			t.Errorf("%s: factor %v (1/%v), %v operations, %v with it", c.name, common, 1/common, plain.operations(), in.operations())
		}
	}
}

func TestWeightsAreFactoredWhereValuesStayFinite(t *testing.T) {
	gaussian, line := stagesOf(stenciltest.Lookup(t, "gaussian2d")), stagesOf(stenciltest.Lookup(t, "jacobi1d")) // 1/68 and 1/3
	for _, c := range []struct {
		stages   stages
		dtype    stencil.DType
		timeTile int
		taken    bool
	}{
		{gaussian, stencil.Float32, 1, true},
		{gaussian, stencil.Float32, 6, true}, // 68 to the 6th is 2 to the 36.6th
		{gaussian, stencil.Float32, 7, false},
		{gaussian, stencil.Float16, 6, true}, // computed in float
		{gaussian, stencil.Float16, 7, false},
		{line, stencil.Float16x2, 2, false}, // computed in float16, whose range is small
		{gaussian, stencil.Float64, 16, true},
		{line, stencil.Float32, 1, false}, // one operation saved, one multiplication to bring values back
		{line, stencil.Float32, 2, true},
	} {
		w := plan{problem: stencil.Problem{Stencil: &stencil.Stencil{}, DType: c.dtype}, stages: c.stages, shape: shape{timeTile: c.timeTile}}.bestWeights()
		if (w.common != 1) != c.taken {
			t.Errorf("%s, %d steps: factor %v", c.dtype, c.timeTile, w.common)
		}
		if want := "SCALE = " + literal(math.Pow(w.common, float64(c.timeTile))) + ";"; !strings.Contains(w.text(c.timeTile, rim{}, ends{}), want) {
			t.Errorf("%s, %d steps: no %s", c.dtype, c.timeTile, want)
		}
	}
}
