package tuner

import (
	"context"
	"math"
	"path/filepath"
	"slices"
	"testing"
)

// forecasts notes what a tune says of its end.
type forecasts struct {
	silent
	at []Progress
}

func (f *forecasts) Evaluated(_, _ Outcome, p Progress) { f.at = append(f.at, p) }

// TestATuneForetellsItsEnd: not the budget, but what is due before the search may end.
func TestATuneForetellsItsEnd(t *testing.T) {
	for _, name := range []string{"jacobi3d", "jacobi2d"} {
		p, err := Spec{Stencil: name}.Problem()
		if err != nil {
			t.Fatal(err)
		}
		d, err := OpenDevice(context.Background(), "replay:h200", p)
		if err != nil {
			t.Fatal(err)
		}
		defer d.Close()
		var evaluations, seconds []float64
		var last Progress
		for seed := range uint64(4) { // one of them may need half as many again
			tu, err := Open(filepath.Join(t.TempDir(), "store.db"))
			if err != nil {
				t.Fatal(err)
			}
			var f forecasts
			if _, err := tu.Tune(context.Background(), p, d, Options{Watcher: &f, Seed: 1 + seed}); err != nil {
				t.Fatal(err)
			}
			last = f.at[len(f.at)-1]
			for _, p := range f.at {
				if p.End == 0 { // the baseline
					continue
				}
				evaluations = append(evaluations, math.Abs(float64(p.Evaluated+p.Likely-last.Evaluated))/float64(last.Evaluated))
				seconds = append(seconds, math.Abs((p.End-last.Elapsed).Seconds())/last.Elapsed.Seconds())
				if p.Roofline == 0 {
					t.Errorf("%s: no share of the roofline after %d", name, p.Evaluated)
				}
			}
		}
		slices.Sort(evaluations)
		slices.Sort(seconds)
		half, most := len(seconds)/2, len(seconds)*9/10
		t.Logf("%s: of %d evaluations in %.1f s, foretold within %.0f %% (median) and %.0f %% (nine in ten); seconds %.0f %% and %.0f %%", name, last.Evaluated, last.Elapsed.Seconds(),
			100*evaluations[half], 100*evaluations[most], 100*seconds[half], 100*seconds[most])
		if evaluations[half] > 0.25 || seconds[half] > 0.5 || last.Likely > last.Evaluated/4 {
			t.Errorf("%s: off by %.2f of the evaluations and %.2f of the seconds in the median, and by %d at the end", name, evaluations[half], seconds[half], last.Likely)
		}
	}
}
