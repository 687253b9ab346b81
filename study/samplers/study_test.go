package samplers

import (
	"errors"
	"io"
	"math"
	"os"
	"slices"
	"testing"

	"github.com/c-bata/goptuna"

	"stenciltune/outcome"
	"stenciltune/search"
	"stenciltune/search/searchtest"
	"stenciltune/space"
	"stenciltune/space/spacetest"
	"stenciltune/timing"
)

// TestStudy: what goptuna's study holds after a search is what happened.
func TestStudy(t *testing.T) {
	sp, prior := spacetest.Room()
	for _, name := range Names() {
		st, err := New(name, search.List(sp, nil, nil), 4)
		if err != nil {
			t.Fatal(err)
		}
		var s *study
		switch x := st.(type) {
		case *cmaesStrategy:
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

// TestSamplersKeepTheContract: the suite that every strategy passes.
func TestSamplersKeepTheContract(t *testing.T) {
	for _, name := range Names() {
		searchtest.Conform(t, name, func(o search.Options) (search.Strategy, error) {
			if o.Space == nil {
				return nil, errors.New("no space given")
			}
			return New(name, search.List(o.Space, nil, nil), o.Seed)
		})
	}
	if _, err := New("luck", search.List(space.New(), nil, nil), 1); err == nil {
		t.Error("an unknown sampler was made")
	}
}

// TestSeeds: the same seed repeats a search to the letter, another does not; and nothing is
// written to standard output or error.
func TestSeeds(t *testing.T) {
	r, w, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	out, errOut := os.Stdout, os.Stderr
	os.Stdout, os.Stderr = w, w
	l, _ := searchtest.Jagged(2)
	var wrong []string
	for _, name := range Names() {
		orders := [3][]space.Schedule{}
		for i, seed := range []uint64{5, 5, 6} {
			s, err := New(name, search.List(l.Space, nil, nil), seed)
			if err == nil {
				orders[i] = searchtest.Run(s, l, 100, 5).Order
			}
		}
		if !slices.Equal(orders[0], orders[1]) || slices.Equal(orders[0], orders[2]) {
			wrong = append(wrong, name)
		}
	}
	os.Stdout, os.Stderr = out, errOut
	w.Close()
	if b, err := io.ReadAll(r); err != nil || len(b) > 0 {
		t.Errorf("written: %q, %v", b, err)
	}
	if len(wrong) > 0 {
		t.Errorf("seeds do not decide %v", wrong)
	}
}
