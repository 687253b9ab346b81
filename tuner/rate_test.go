package tuner

import "testing"

func TestRateHasAFittingUnit(t *testing.T) {
	for rate, want := range map[float64]string{
		1.5631e12: "1563.1 GCells/s", 1e9: "1.0 GCells/s", 9.9997e8: "1.0 GCells/s", 9.98e8: "998.0 MCells/s", 27.94e6: "27.9 MCells/s", 8.12e5: "812.0 kCells/s", 999.96: "1.0 kCells/s",
		12.5: "12.5 Cells/s", 0: "0.0 Cells/s",
	} {
		if got := Rate(rate); got != want {
			t.Errorf("%g: %q, want %q", rate, got, want)
		}
	}
}
