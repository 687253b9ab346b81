package search

import (
	"math"
	"stenciltune/outcome"
	"testing"

	"github.com/c-bata/goptuna"

	"stenciltune/timing"
)

// TestStudy: what goptuna's study holds after a search is what happened.
func TestStudy(t *testing.T) {
	sp, prior := room()
	for _, name := range []string{"bayes", "tpe"} {
		st, err := New(name, Options{Space: sp, Prior: prior, Seed: 4})
		if err != nil {
			t.Fatal(err)
		}
		var s *study
		switch x := st.(type) {
		case *bayes:
			s = x.study
		case *tpeStrategy:
			s = x.study
		}
		ok, failed := 0, 0
		for i := 0; ; i++ {
			asked := st.Ask(1)
			if len(asked) == 0 {
				break
			}
			o := outcome.At(asked[0], prior(asked[0]), 0)
			switch i % 5 {
			case 3:
				o = outcome.Outcome{Schedule: asked[0], Status: timing.LaunchError}
				failed++
			case 4:
				o = outcome.At(asked[0], math.NaN(), 0)
				failed++
			default:
				ok++
			}
			st.Tell([]outcome.Outcome{o})
		}
		trials, err := s.s.GetTrials()
		if err != nil {
			t.Fatal(err)
		}
		complete, pruned := 0, 0
		for _, tr := range trials {
			switch tr.State {
			case goptuna.TrialStateComplete:
				complete++
				if !(tr.Value > 0) || math.IsInf(tr.Value, 0) {
					t.Errorf("%s: trial %d has the value %v", name, tr.Number, tr.Value)
				}
			case goptuna.TrialStatePruned:
				if why := tr.UserAttrs[statusAttribute]; why == string(timing.LaunchError) || why == string(timing.OK) {
					pruned++
				}
			default:
				t.Errorf("%s: trial %d is left %v", name, tr.Number, tr.State)
			}
		}
		if complete != ok || pruned != failed {
			t.Errorf("%s: %d complete, %d pruned; want %d, %d", name, complete, pruned, ok, failed)
		}
	}
}

func TestClip(t *testing.T) {
	if got := clip("a\x00b\n\u00e9" + string(make([]byte, 500))); len(got) != 200 || got[:5] != "a?b??" {
		t.Errorf("%q", got)
	}
}

// BenchmarkStudy is what goptuna's study alone costs a trial: make it, set its
// parameters, file its value.
func BenchmarkStudy(b *testing.B) {
	sp, prior := room()
	c := newCatalog(sp, prior)
	for range b.N {
		s := newStudy("bench", newPool(c))
		for q := range c.size {
			s.force(q)
			s.end(q, outcome.At(c.schedule(q), 1, 0), 1)
		}
	}
	b.ReportMetric(b.Elapsed().Seconds()*1e6/float64(b.N*c.size), "us/trial")
	b.ReportMetric(float64(c.size), "trials")
}
