package stencil

import (
	"encoding/json"
	"math"
	"testing"
)

func TestCompareCountsEveryWrongCell(t *testing.T) {
	nan, inf := math.NaN(), math.Inf(1)
	negativeZero := math.Copysign(0, -1)
	for _, c := range []struct {
		name      string
		got, want []float64
		ok        bool
		wrong     int64
		first     int64
		gotText   string
		maxError  float64
	}{
		{"equal", []float64{1, -2, 3}, []float64{1, -2, 3}, true, 0, 0, "", 0},
		{"within the tolerance", []float64{1.25, 2}, []float64{1.5, 2}, true, 0, 0, "", 0.25},
		{"just beyond the tolerance", []float64{1, 2.2500000000000004}, []float64{1, 2}, false, 1, 1, "2.2500000000000004", 0.25000000000000044},
		{"first of several", []float64{0, 9, 0, 7}, []float64{0, 0, 0, 0}, false, 2, 1, "9", 9},
		{"minus zero is zero", []float64{negativeZero}, []float64{0}, true, 0, 0, "", 0},
		{"NaN", []float64{0, 0, nan}, []float64{0, 0, 0}, false, 1, 2, "NaN", 0},
		{"NaN even where NaN is due", []float64{nan}, []float64{nan}, false, 1, 0, "NaN", 0},
		{"number where NaN is due", []float64{1}, []float64{nan}, false, 1, 0, "1", 0},
		{"infinity", []float64{inf}, []float64{1}, false, 1, 0, "+Inf", 0},
		{"infinity where it is due", []float64{inf, -inf}, []float64{inf, -inf}, true, 0, 0, "", 0},
		{"infinity of the other sign", []float64{-inf}, []float64{inf}, false, 1, 0, "-Inf", 0},
		{"finite where infinity is due", []float64{1e300}, []float64{inf}, false, 1, 0, "1e+300", 0},
		{"nothing at all", nil, nil, false, 0, 0, "", 0},
		{"too short", []float64{1}, []float64{1, 1}, false, 0, 0, "", 0},
		{"too long", []float64{1, 1, 1}, []float64{1, 1}, false, 0, 0, "", 0},
	} {
		r := Compare(c.got, c.want, 0.25)
		if r.OK() != c.ok || r.Wrong != c.wrong || r.First != c.first || r.Got != c.gotText || r.MaxError != c.maxError {
			t.Errorf("%s: %+v", c.name, r)
		}
		if (r.Reason(Size{len(c.want) + 1, 1, 1}) == "") != c.ok {
			t.Errorf("%s: reason %q", c.name, r.Reason(Size{9, 1, 1}))
		}
		if _, err := json.Marshal(r); err != nil {
			t.Errorf("%s: %v", c.name, err)
		}
	}
}

func TestReasonNamesTheFirstWrongCell(t *testing.T) {
	n := Size{5, 4, 3}
	want := make([]float64, n.Cells())
	got := make([]float64, n.Cells())
	got[2*20+3*5+4], got[59] = 0.5, math.NaN()
	c := Compare(got, want, 1e-6)
	c.Steps = 7
	if r, want := c.Reason(n), "1 of 60 cells wrong after 7 steps on 5x4x3; first at (4, 3, 2): got NaN, want 0, tolerance 1e-06"; r != want {
		t.Errorf("got %q", r)
	}
	got[59] = 0
	got[1*20+2*5+3] = 0.5
	if r, want := Compare(got, want, 1e-6).Reason(n), "1 of 60 cells wrong after 0 steps on 5x4x3; first at (3, 2, 1): got 0.5, want 0, tolerance 1e-06"; r != want {
		t.Errorf("got %q", r)
	}
	if r := (Comparison{Cells: 60, Guard: 2}).Reason(n); r != "out-of-bounds write: 2 elements outside the output changed" {
		t.Errorf("got %q", r)
	}
	if r := (Comparison{}).Reason(n); r != "no cell was compared" {
		t.Errorf("got %q", r)
	}
}
