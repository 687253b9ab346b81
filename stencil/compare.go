package stencil

import (
	"fmt"
	"math"
)

// Tolerance bounds the difference that rounding alone may cause between a kernel
// in the element type and the reference after steps time steps, on inputs of
// magnitude 1: each step commits at most one rounding per operation and per
// literal, each at most half an epsilon, and cell functions that average do not
// amplify what came before. Doubled for both sides rounding. A weighted sum whose
// weights add up to more than 1 amplifies values and errors alike, by that much in
// each step. Integers are exact.
func Tolerance(p Problem, steps int) float64 {
	ops := float64(p.Stencil.Ops.Total() + len(p.Stencil.Points))
	gain := 0.0
	weights, _, _ := p.Stencil.Linear()
	for _, w := range weights {
		gain += math.Abs(w)
	}
	if gain < 1+1e-6 { // an average, but for the rounding of its weights
		gain = 1
	}
	return p.DType.Epsilon() * ops * float64(steps) * math.Pow(gain, float64(steps))
}

// Comparison is what comparing every cell found.
type Comparison struct {
	Cells     int64   `json:"cells"`
	Size      Size    `json:"size,omitzero"` // of the grid, if whoever compared has said
	Steps     int     `json:"steps"`
	Against   string  `json:"against"` // "reference" or the trusted schedule
	MaxError  float64 `json:"max_error"`
	Tolerance float64 `json:"tolerance"`
	Wrong     int64   `json:"wrong"`           // cells beyond the tolerance, or NaN
	First     int64   `json:"first,omitempty"` // index of the first wrong cell
	Got       string  `json:"got,omitempty"`   // its value, printed: JSON has no NaN
	Want      string  `json:"want,omitempty"`
	Guard     int64   `json:"guard,omitempty"` // elements changed outside the output
}

// OK tells whether the answer is right.
func (c Comparison) OK() bool { return c.Wrong == 0 && c.Guard == 0 && c.Cells > 0 }

// Reason says what is wrong, for a grid of the given size.
func (c Comparison) Reason(n Size) string {
	switch {
	case c.OK():
		return ""
	case c.Guard > 0:
		return fmt.Sprintf("out-of-bounds write: %d elements outside the output changed", c.Guard)
	case c.Cells == 0:
		return "no cell was compared"
	}
	x, y, z := c.First%int64(n[0]), c.First/int64(n[0])%int64(n[1]), c.First/int64(n[0])/int64(n[1])
	return fmt.Sprintf("%d of %d cells wrong after %d steps on %dx%dx%d; first at (%d, %d, %d): got %s, want %s, tolerance %.2g",
		c.Wrong, c.Cells, c.Steps, n[0], n[1], n[2], x, y, z, c.Got, c.Want, c.Tolerance)
}

// Compare looks at every cell. NaN is always wrong, even where the reference is
// NaN: it cannot be told from a cell that was never written.
func Compare(got, want []float64, tolerance float64) Comparison {
	c := Comparison{Cells: int64(len(want)), Tolerance: tolerance}
	if len(got) != len(want) {
		c.Cells = 0
		return c
	}
	for i := range want {
		d := math.Abs(got[i] - want[i])
		if got[i] == want[i] { // also where both are the same infinity
			continue
		}
		if d <= tolerance {
			c.MaxError = math.Max(c.MaxError, d)
			continue
		}
		if c.Wrong == 0 {
			c.First, c.Got, c.Want = int64(i), fmt.Sprint(got[i]), fmt.Sprint(want[i])
		}
		c.Wrong++
		if !math.IsNaN(d) && !math.IsInf(d, 0) {
			c.MaxError = math.Max(c.MaxError, d)
		}
	}
	return c
}
