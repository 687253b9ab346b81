package search

import (
	"math"
	"math/rand/v2"
	"testing"

	"stenciltune/outcome"
	"stenciltune/space"
	"stenciltune/timing"
)

// doubting is a search of 512 schedules of which a number is known, without a prior.
func doubting(t *testing.T, known int) (*bayes, func(space.Schedule) float64) {
	t.Helper()
	f := &space.Family{Name: "f"}
	for _, name := range []string{"a", "b", "c"} {
		f.Params = append(f.Params, space.Param{Name: name, Values: []int{1, 2, 3, 4, 5, 6, 7, 8}, Ordinal: true})
	}
	truth := func(s space.Schedule) float64 {
		return 1e-3 * (1 + 0.05*math.Abs(float64(s.Int("a", 0)-3)) + 0.05*math.Abs(float64(s.Int("b", 0)-5)) + 0.02*float64(s.Int("c", 0)))
	}
	s, err := New("bayes", Options{Space: space.New(f), Seed: 1})
	if err != nil {
		t.Fatal(err)
	}
	for range known {
		asked := s.Ask(1)
		if len(asked) == 0 {
			break
		}
		s.Tell([]outcome.Outcome{outcome.Outcome{Schedule: asked[0], Status: timing.OK}.Sampled([]float64{truth(asked[0])}, 1)})
	}
	return s.(*bayes), truth
}

// TestWithin: a search knows nothing before it was told anything, is the surer the larger the share
// and the more it knows, and is sure when it has tried everything.
func TestWithin(t *testing.T) {
	if b, _ := doubting(t, 0); b.Within(0.5) != 0 {
		t.Errorf("%v before any answer", b.Within(0.5))
	}
	var last float64
	for _, known := range []int{16, 150} {
		b, _ := doubting(t, known)
		small, large := b.Within(0.001), b.Within(0.2)
		if !(small > 0 && small < large && large < 1 && small > last) {
			t.Errorf("of %d: within 0.1 %% with %v, within 20 %% with %v, before %v", known, small, large, last)
		}
		last = small
	}
	if b, _ := doubting(t, 512); b.Within(0) != 1 {
		t.Errorf("%v of a space that was tried", b.Within(0))
	}
	failing, _ := doubting(t, 0)
	for _, s := range failing.Ask(512) {
		failing.Tell([]outcome.Outcome{{Schedule: s, Status: timing.CompileError}})
	}
	if failing.Within(0.5) != 0 {
		t.Errorf("%v of a space in which everything fails", failing.Within(0.5))
	}
	if got := Stands(mute{}, Stop{Within: 0.1}); got != (Standing{}) {
		t.Errorf("a strategy that does not say stands at %v", got)
	}
}

// mute is a strategy that knows nothing of what it may gain.
type mute struct{ Strategy }

// TestDoubtIsThatOfDraws: the probability that no candidate is better is the share of draws in which none is.
func TestDoubtIsThatOfDraws(t *testing.T) {
	b, _ := doubting(t, 60)
	for _, share := range []float64{0, 0.01, 0.05} {
		want := math.Exp(b.Doubt(share).None)
		r, none := rand.New(rand.NewPCG(1, 2)), 0
		mark := b.b.timed[b.b.best].log - b.b.base - math.Log1p(share)
		const draws = 4000
		for range draws {
			better := false
			for i, q := range b.b.post.cand {
				sd := math.Sqrt(max(b.b.post.rest[i], 0) + local*local)
				if !b.b.taken[q] && b.b.post.mean[i]+b.b.mean(int(q))+sd*r.NormFloat64() < mark {
					better = true
					break
				}
			}
			if !better {
				none++
			}
		}
		if got := float64(none) / draws; math.Abs(got-want) > 0.03 {
			t.Errorf("share %g: %v of the draws, %v computed", share, got, want)
		}
	}
}

// TestADoubtIsTheSameEveryTime: a sum over what has no answer yet goes through it in one order.
func TestADoubtIsTheSameEveryTime(t *testing.T) {
	b, _ := doubting(t, 60)
	b.Ask(12)
	want := b.Doubt(0.01)
	for range 100 {
		if got := b.Doubt(0.01); got != want {
			t.Fatalf("%v, and before %v", got, want)
		}
	}
}

// TestWhatIsMeasuredAgainStandsForWhatWas: a time from before the device drifted back is none, be the new one slower or a failure.
func TestWhatIsMeasuredAgainStandsForWhatWas(t *testing.T) {
	for _, status := range []timing.Status{timing.OK, timing.WrongAnswer} {
		s, truth := doubting(t, 60)
		right := s.b.timed[s.b.best]
		for _, lucky := range s.Ask(3) {
			s.Tell([]outcome.Outcome{outcome.At(lucky, 0.5*truth(lucky), 0)})
			again := outcome.At(lucky, truth(lucky), 0)
			again.Drifted, again.Status = true, status
			s.Tell([]outcome.Outcome{again})
		}
		best := s.b.timed[s.b.best]
		for i, p := range s.b.timed {
			if s.b.at[p.point] != i || p.log < best.log || math.Abs(p.log-math.Log(truth(s.schedule(p.point)))) > 1e-9 {
				t.Errorf("%s: %s takes e^%.3f s, the best e^%.3f", status, s.schedule(p.point), p.log, best.log)
			}
		}
		if status != timing.OK && (best != right || len(s.b.timed) != 60) {
			t.Errorf("%s: the best of %d is %s, want %s", status, len(s.b.timed), s.schedule(best.point), s.schedule(right.point))
		}
		s.Ask(1)
		for i, q := range s.b.post.points {
			if at, timed := s.b.at[int(q)]; s.b.post.known[i] && (!timed || math.Abs(s.b.post.value[i]-s.b.residual(s.b.timed[at])) > 1e-9) {
				t.Errorf("%s: the model has learnt %v of %s", status, s.b.post.value[i], s.schedule(int(q)))
			}
		}
	}
}

// TestWhatWasSkippedIsNotBelieved: a proposal that will have no answer leaves the model when it is built anew.
func TestWhatWasSkippedIsNotBelieved(t *testing.T) {
	s, _ := doubting(t, 60)
	asked := s.Ask(2)
	s.Tell([]outcome.Outcome{{Schedule: asked[0], Status: timing.Skipped}})
	s.b.nextCand = 0
	last := s.Ask(1)[0]
	believed := map[space.Schedule]bool{}
	for i, q := range s.b.post.points {
		if !s.b.post.known[i] {
			believed[s.schedule(int(q))] = true
		}
	}
	if believed[asked[0]] || !believed[asked[1]] || !believed[last] || len(believed) != 2 {
		t.Errorf("%v, of which %s was skipped", believed, asked[0])
	}
}
