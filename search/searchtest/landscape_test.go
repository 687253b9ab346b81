package searchtest

import (
	"math"
	"reflect"
	"testing"

	"stenciltune/space"
	"stenciltune/timing"
)

// TestLandscapes: each is as large as it says, repeatable, jagged, partly
// failing, and its priors have the quality they are named for.
func TestLandscapes(t *testing.T) {
	for _, draw := range []func(uint64) (*Landscape, func(space.Schedule) float64){Jagged} {
		l, smooth := draw(1)
		again, _ := draw(1)
		best, seconds := l.Optimum()
		if b, s := again.Optimum(); b != best || s != seconds {
			t.Errorf("%s: optimum %s, and then %s", l.Name, best, b)
		}
		if n := l.Space.Size(); n < 5000 || n > 50000 {
			t.Errorf("%s: %d schedules", l.Name, n)
		}
		failed, near := 0, 0
		agree := map[Quality]float64{} // of log prior with log time
		n := 0.0
		for s := range l.Space.All() {
			if uniform(s.String(), 0, "sample") > 0.2 {
				continue
			}
			o := l.Measure(s)
			if !reflect.DeepEqual(o, again.Measure(s)) {
				t.Fatalf("%s: %s measured twice differs", l.Name, s)
			}
			if o.Status != timing.OK {
				failed++
				continue
			}
			if o.Seconds() < seconds*1.02 {
				near++
			}
			n++
			for _, q := range []Quality{Good, Noisy, Useless, Inverted} {
				if p := Prior(l, smooth, q)(s); p > 0 && !math.IsInf(p, 0) {
					agree[q] += math.Abs(math.Log(p / o.Seconds()))
				}
			}
		}
		if failed == 0 || float64(near) > 0.01*n {
			t.Errorf("%s: %d failed, %d of %v within 2 %%", l.Name, failed, near, n)
		}
		if !(agree[Good] < 0.3*n && agree[Good] < agree[Noisy] && agree[Noisy] < agree[Useless]) {
			t.Errorf("%s: mean errors of priors, times %v: %v", l.Name, n, agree)
		}
	}
}

func TestWithin(t *testing.T) {
	c := Curve{Regret: []float64{0.5, 0.01, 0.3, 0.02, 0.02, 0}}
	for share, want := range map[float64]int{0.02: 4, 0: 6, 1: 1, 0.3: 2} {
		if got := c.Within(share); got != want {
			t.Errorf("within %v: %d, want %d", share, got, want)
		}
	}
	if got := (Curve{Regret: []float64{0.5}}).Within(0.1); got != 2 {
		t.Errorf("never within: %d", got)
	}
	if c.Final() != 0 {
		t.Errorf("final %v", c.Final())
	}
}
