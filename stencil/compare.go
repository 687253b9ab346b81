package stencil

import (
	"fmt"
	"math"
)

// Comparison is what comparing every cell found.
type Comparison struct {
	Cells     int64   `json:"cells"`              // of all fields, and numbers that receivers recorded
	Recorded  int64   `json:"recorded,omitempty"` // of them, those numbers: the last but Numbers
	Numbers   int64   `json:"numbers,omitempty"`  // of them, numbers that follow from all cells, of a step or of Reduce: the last
	Size      Size    `json:"size,omitzero"`      // of the grid, if whoever compared has said
	DType     DType   `json:"dtype,omitempty"`    // if in another than the problem's
	Schedule  string  `json:"schedule,omitempty"` // if of another than what was asked about
	Steps     int     `json:"steps"`
	Against   string  `json:"against"` // "reference" or the trusted schedule
	MaxError  float64 `json:"max_error"`
	Tolerance float64 `json:"tolerance"`       // of the first wrong cell, else of that which came nearest to its own
	Share     float64 `json:"share,omitempty"` // of its tolerance that the error of that cell is
	Blind     int64   `json:"blind,omitempty"` // cells of which nearly any value is right, for rounding explains it
	Seen      string  `json:"seen,omitempty"`  // what the reference saw of the branches: for Stencil.Untaken
	Alike     bool    `json:"alike,omitempty"` // in each field nearly all cells should have one value
	Wrong     int64   `json:"wrong"`           // cells beyond the tolerance, or NaN
	First     int64   `json:"first,omitempty"` // index of the first wrong cell
	Got       string  `json:"got,omitempty"`   // its value, printed: JSON has no NaN
	Want      string  `json:"want,omitempty"`
	Guard     int64   `json:"guard,omitempty"` // elements changed outside the output
}

// OK tells whether the answer is right.
func (c Comparison) OK() bool { return c.Wrong == 0 && c.Guard == 0 && c.Cells > c.Blind }

// Unproved tells whether nothing is wrong that could be seen, for no cell could be judged.
func (c Comparison) Unproved() bool {
	return c.Wrong == 0 && c.Guard == 0 && c.Cells > 0 && c.Cells <= c.Blind
}

// Provable is how to keep values of which rounding alone may give nearly any.
const Provable = "bounded with --scalar, or with InputRange in the file, divisors away from 0, and apart what conditions compare"

// Reason says what is wrong, for a grid of the given size.
func (c Comparison) Reason(n Size) string {
	switch {
	case c.OK():
		return ""
	case c.Guard > 0:
		return fmt.Sprintf("out-of-bounds write: %d elements outside the output changed", c.Guard)
	case c.Cells == 0:
		return "no cell was compared"
	case c.Unproved():
		return fmt.Sprintf("nothing is proved of any of %d cells after %d steps on %dx%dx%d: rounding alone may give nearly any value, or values leave the type's range; keep them %s", c.Cells, c.Steps, n[0], n[1], n[2], Provable)
	}
	x, y, z := c.First%int64(n[0]), c.First/int64(n[0])%int64(n[1]), c.First/int64(n[0])/int64(n[1])
	of := ""
	if last := c.Cells - c.Numbers; c.First >= last {
		return fmt.Sprintf("%s of %dx%dx%d cells is wrong: got %s, want %s, tolerance %.2g", which(c.Steps, c.First-last), n[0], n[1], n[2], c.Got, c.Want, c.Tolerance)
	}
	if fields := c.Cells - c.Recorded - c.Numbers; c.First >= fields {
		return fmt.Sprintf("%d of %d cells and recorded numbers wrong after %d steps on %dx%dx%d; first number %d that receivers recorded: got %s, want %s, tolerance %.2g",
			c.Wrong, c.Cells, c.Steps, n[0], n[1], n[2], c.First-fields, c.Got, c.Want, c.Tolerance)
	} else if fields > n.Cells() {
		of = fmt.Sprintf(" of field %d", z/int64(n[2]))
		z %= int64(n[2])
	}
	return fmt.Sprintf("%d of %d cells wrong after %d steps on %dx%dx%d; first at (%d, %d, %d)%s: got %s, want %s, tolerance %.2g",
		c.Wrong, c.Cells, c.Steps, n[0], n[1], n[2], x, y, z, of, c.Got, c.Want, c.Tolerance)
}

// which names a number that follows from all cells.
func which(step int, i int64) string {
	if step == 0 {
		return "the number that Reduce gives"
	}
	return fmt.Sprintf("number %d (StepScalar) of step %d,", i+1, step)
}

// Compare looks at every cell. NaN is always wrong, even where the reference is
// NaN: it cannot be told from a cell that was never written.
func Compare(got, want []float64, tolerance float64) Comparison {
	c := compare(got, want, func(int) float64 { return tolerance })
	c.Tolerance = tolerance
	return c
}

// wantsNaN is the tolerance of a number that must be NaN.
const wantsNaN = -1

// compare is Compare with a tolerance for each cell. An infinite one takes anything.
func compare(got, want []float64, tolerance func(i int) float64) Comparison {
	c := Comparison{Cells: int64(len(want))}
	if len(got) != len(want) {
		c.Cells = 0
		return c
	}
	for i := range want {
		t := tolerance(i)
		if math.IsInf(t, 1) {
			continue
		}
		d := math.Abs(got[i] - want[i])
		if got[i] == want[i] || t == wantsNaN && math.IsNaN(got[i]) { // also where both are the same infinity
			d = 0
		}
		t = max(t, 0)
		if d <= t {
			c.MaxError = math.Max(c.MaxError, d)
			if c.Wrong == 0 && (d > c.Share*t || c.Tolerance == 0) {
				c.Tolerance = t
				if d > 0 {
					c.Share = d / t
				}
			}
			continue
		}
		if c.Wrong == 0 {
			c.First, c.Got, c.Want = int64(i), fmt.Sprint(got[i]), fmt.Sprint(want[i])
			c.Tolerance, c.Share = t, 0
		}
		c.Wrong++
		if !math.IsNaN(d) && !math.IsInf(d, 0) {
			c.MaxError = math.Max(c.MaxError, d)
		}
	}
	return c
}
