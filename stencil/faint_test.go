package stencil

import (
	"math"
	"testing"
)

// A cell whose number and bound are infinite says nothing of a point, neither that it shows nor that it does not.
func TestInfiniteCellsSayNothingOfAPoint(t *testing.T) {
	for edge, faint := range map[string]int{"x < 2": 0, "x >= 0": 2} {
		s := mustParse(t, "NumDimensions 1\nStencilSize (1)\nDataType double\nCellValue { float a = get(-1) - 0.5 * get(1); return "+edge+" ? 1e300 * 1e300 * a : a; }")
		list := FaintPoints(Problem{Stencil: s, DType: Float64})
		for _, f := range list {
			if math.IsNaN(f.Share) || math.IsInf(f.Share, 0) {
				t.Errorf("%s: %s moves an answer by %g bounds", edge, f.Point, f.Share)
			}
		}
		if len(list) != faint {
			t.Errorf("%s: %v are faint", edge, list)
		}
	}
}
