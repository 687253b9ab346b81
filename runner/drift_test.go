package runner

import (
	"context"
	"math"
	"slices"
	"testing"
	"testing/synctest"
	"time"

	"stenciltune/device"
	"stenciltune/kernels"
	"stenciltune/kernels/all"
	"stenciltune/outcome"
	"stenciltune/search"
	"stenciltune/space"
	"stenciltune/space/spacetest"
	"stenciltune/timing"
)

// slowFrom makes the device slower from its n-th timing on.
func slowFrom(n int, factor float64) func(int) float64 {
	return func(timed int) float64 {
		if timed >= n {
			return factor
		}
		return 1
	}
}

func TestASteadyDeviceIsNotMeasuredAgain(t *testing.T) {
	d := newFake(t)
	d.noise = 0.004
	r := mustTune(t, options(t, d))
	for _, s := range texts(r.Outcomes) {
		want := 1
		if s == naives[0] {
			want = 2 // once after 25 of the 45 schedules
		}
		if n := d.count(opTime, s); n != want {
			t.Errorf("%s timed %d times, want %d", s, n, want)
		}
		if find(t, r, s).Drifted {
			t.Errorf("%s drifted", s)
		}
	}
	if warned(r, "drift") {
		t.Errorf("warnings %q", r.Warnings)
	}
}

func TestDriftIsNoticedAndContendersAreMeasuredAgain(t *testing.T) {
	for _, factor := range []float64{1.03, 0.97} {
		d := newFake(t)
		hopeless := []string{global(32, 4, 2), tile(32, 4, 1, 1)}
		d.seconds = at(map[string]float64{hopeless[0]: 129e-6 / factor, hopeless[1]: 200e-6})
		d.slow = slowFrom(3+20, factor) // three baselines, then in the midst of the first 25
		o := options(t, d)
		j := &journal{d: d}
		o.Journal = j
		r := mustTune(t, o)
		if !warned(r, "the device drifted during the search") {
			t.Fatalf("factor %g: warnings %q", factor, r.Warnings)
		}
		again := 0
		for i, o := range r.Outcomes {
			s := o.Schedule.String()
			affected := i >= 3 && i < 28
			if o.Drifted != affected {
				t.Errorf("factor %g: %s, the %dth: drifted %v", factor, s, i, o.Drifted)
			}
			want := 1
			if affected && o.Status == timing.OK {
				want = 2
				again++
			}
			if s == naives[0] {
				want = 3 // the look that shows it, and the second that agrees
			}
			if n := d.count(opTime, s); n != want && s != hopeless[0] {
				t.Errorf("factor %g: %s timed %d times, want %d", factor, s, n, want)
			}
			recorded := len(slices.DeleteFunc(texts(j.kept), func(text string) bool { return text != s }))
			if n := d.count(opTime, s); s != naives[0] && recorded != n {
				t.Errorf("factor %g: %s recorded %d times of %d", factor, s, recorded, n)
			}
			if i >= 3 && o.Status == timing.OK {
				if truth := d.seconds(s); o.Seconds() < 0.995*truth || o.Seconds() > 1.005*truth || math.Abs(o.Scaled/factor-1) > 0.005 {
					t.Errorf("factor %g: %s at %g s, taken over %g; at the beginning it took %g", factor, s, o.Seconds(), o.Scaled, truth)
				}
			}
		}
		if again < 20 {
			t.Errorf("factor %g: only %d measured again", factor, again)
		}
		if d.count(opTime, hopeless[1]) != 1 {
			t.Errorf("factor %g: what cannot win is measured again", factor)
		}
	}
}

func TestAfterADriftTheNewPaceIsTheMeasure(t *testing.T) {
	d := newFake(t)
	d.slow = slowFrom(3, 1.03)
	o := options(t, d)
	o.Families = all.Families()
	o.Space = kernels.Spaces(o.Families, o.Problem, d.machine)
	o.Strategy, o.Stop.Budget = strategy(t, "random", o.Space, 1), 3+80
	// Its time is not the machine's: after two seconds of that it would look once more.
	o.Device = &simulated{fake: d, until: map[space.Schedule]time.Duration{}}
	mustTune(t, o)
	// The baseline, two looks after 25 schedules and one each after 50 and 75.
	if n := d.count(opTime, naives[0]); n != 1+2+1+1 {
		t.Errorf("the reference was timed %d times", n)
	}
}

// However far the pace moves, what is fastest is not cut for that, nor hidden by times of the old pace: not if it is the
// last of the search, nor if it was timed just after the drift and before anyone saw that.
func TestALargeDriftHidesNoWinner(t *testing.T) {
	best := tile(64, 8, 2, 2)
	for _, factor := range []float64{0.5, 0.7, 1.25, 1.4, 2, 3} {
		for _, place := range []int{0, 19, 21, 40} {
			d := newFake(t)
			d.seconds = at(map[string]float64{best: 90e-6})
			d.slow = slowFrom(3+20, factor)
			o := options(t, d)
			var list []string
			for s := range o.Space.All() {
				if text := s.String(); text != best && !slices.Contains(naives, text) {
					list = append(list, text)
				}
			}
			o.Strategy = &script{list: spacetest.Schedules(t, slices.Insert(list, place, best)...)}
			r := mustTune(t, o)
			cut := 0
			for _, o := range r.Outcomes {
				if o.Status == timing.CutSlow && d.seconds(o.Schedule.String()) < timing.CutFactor*85e-6 {
					cut++
				}
			}
			if w := r.Winner; w.Schedule.String() != best || w.Seconds() < 0.99*90e-6*factor || r.Naive.Seconds() < 0.99*100e-6*factor || cut > 0 {
				t.Errorf("factor %g, %dth: %s at %g s, naive %g s; %d cut that are near the best", factor, place, w.Schedule, w.Seconds(), r.Naive.Seconds(), cut)
			}
		}
	}
}

// A strategy hears what was measured again: else it keeps away from what it has only seen on the slower device.
func TestAStrategyHearsWhatIsMeasuredAgain(t *testing.T) {
	d := newFake(t)
	d.slow = slowFrom(3+5, 1.25)
	o := options(t, d)
	s := &script{list: slices.Collect(o.Space.All())}
	o.Strategy = s
	r := mustTune(t, o)
	last := map[space.Schedule]outcome.Outcome{}
	for _, told := range s.told {
		last[told.Schedule] = told
	}
	for _, o := range r.Outcomes {
		if o.Status == timing.OK && last[o.Schedule].Seconds() != o.Seconds() {
			t.Errorf("%s takes %g s, and %g s were told", o.Schedule, o.Seconds(), last[o.Schedule].Seconds())
		}
	}
}

func TestOneOddLookIsNoDrift(t *testing.T) {
	d := newFake(t)
	d.slow = func(n int) float64 {
		if n == 28 { // the first look at the reference
			return 1.05
		}
		return 1
	}
	r := mustTune(t, options(t, d))
	if warned(r, "drift") || d.count(opTime, naives[0]) != 3 {
		t.Errorf("warnings %q, the reference timed %d times", r.Warnings, d.count(opTime, naives[0]))
	}
}

func TestAWinnerOfTheFastTimesDoesNotSurviveTheDrift(t *testing.T) {
	d := newFake(t)
	early, late := tile(32, 4, 1, 1), tile(64, 8, 2, 2)
	d.seconds = at(map[string]float64{early: 91e-6, late: 90e-6})
	d.slow = slowFrom(3+22, 1.03)
	o := options(t, d)
	bests := map[string]bool{}
	o.Watcher = watcher{evaluated: func(_, best outcome.Outcome, _ search.Progress) { bests[best.Schedule.String()] = true }}
	r := mustTune(t, o)
	if r.Winner.Schedule.String() != late || !bests[late] {
		t.Errorf("winner %s, best ever %v", r.Winner.Schedule, bests)
	}
}

// After a drift the best is the best of what was measured again: what was fast before it must
// not hide what is faster now.
func TestAfterADriftTheBestIsFoundAnew(t *testing.T) {
	d := newFake(t)
	early, late := tile(32, 4, 1, 1), tile(64, 8, 2, 2)
	d.seconds = at(map[string]float64{early: 91e-6, late: 90e-6})
	d.slow = slowFrom(3+22, 1.03) // before the first look at the reference
	o := options(t, d)
	list := []string{early}
	for s := range o.Space.All() {
		if text := s.String(); text != early && text != late && !slices.Contains(naives, text) {
			list = append(list, text)
		}
	}
	o.Strategy = &script{list: spacetest.Schedules(t, append(list, late)...)}
	best := ""
	o.Watcher = watcher{evaluated: func(o, b outcome.Outcome, _ search.Progress) {
		if o.Schedule.String() == late {
			best = b.Schedule.String()
		}
	}}
	r := mustTune(t, o)
	if !warned(r, "drifted") || best != late {
		t.Errorf("when the last was measured, the best was %q; warnings %q", best, r.Warnings)
	}
}

func TestAReferenceThatFailsIsAWarning(t *testing.T) {
	d := newFake(t)
	d.fail = func(op, s string, n int) error {
		if op == opTime && s == naives[0] && n > 0 {
			return device.Fail(timing.WorkerLost, "because")
		}
		return nil
	}
	if r := mustTune(t, options(t, d)); !warned(r, "the reference schedule could not be timed again") || r.Evaluated != 48 {
		t.Errorf("warnings %q, %d evaluated", r.Warnings, r.Evaluated)
	}
}

func TestALostDeviceInADriftCheckEndsTheTune(t *testing.T) {
	contender := global(32, 1, 1) // the first of the search
	for name, c := range map[string]struct {
		s string
		n int
	}{"reference": {naives[0], 1}, "second look": {naives[0], 2}, "contender": {contender, 1}} {
		d := newFake(t)
		d.slow = slowFrom(3, 1.03)
		d.fail = func(op, s string, n int) error {
			if op == opTime && s == c.s && n == c.n {
				return device.ErrLost
			}
			return nil
		}
		if r, err := tune(t.Context(), t, options(t, d)); err != device.ErrLost || len(r.Outcomes) != 28 {
			t.Errorf("%s: %v, %d outcomes", name, err, len(r.Outcomes))
		}
	}
}

func TestWhatFailsWhenMeasuredAgainIsOut(t *testing.T) {
	d := newFake(t)
	fast := global(32, 1, 1)
	d.seconds = at(map[string]float64{fast: 80e-6})
	d.slow = slowFrom(20, 1.03)
	d.fail = func(op, s string, n int) error {
		if op == opTime && s == fast && n == 1 {
			return device.Fail(timing.LaunchError, "because")
		}
		return nil
	}
	r := mustTune(t, options(t, d))
	if o := find(t, r, fast); o.Status != timing.LaunchError || r.Failed[timing.LaunchError] != 1 || r.Winner.Schedule == o.Schedule {
		t.Errorf("%s, failed %v, winner %s", o.Status, r.Failed, r.Winner.Schedule)
	}
}

func TestDriftIsLookedForEveryTwoSeconds(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		d := newFake(t)
		d.delay = func(op, _ string) {
			if op == opTime {
				time.Sleep(300 * time.Millisecond)
			}
		}
		o := options(t, d)
		o.Stop.Budget = 3 + 21
		mustTune(t, o)
		if n := d.count(opTime, naives[0]); n != 1+3 {
			t.Errorf("the reference was timed %d times in some seven seconds", n)
		}
	})
}

func TestCancellingWhileMeasuringAgainIsNoFailure(t *testing.T) {
	fast := global(32, 1, 1)
	for _, s := range []string{fast, naives[0]} {
		ctx, cancel := context.WithCancel(t.Context())
		d := newFake(t)
		d.seconds = at(map[string]float64{fast: 80e-6})
		d.slow = slowFrom(20, 1.03)
		d.fail = func(op, text string, n int) error {
			if op == opTime && text == s && n == 1 {
				cancel()
				return device.Fail(timing.WorkerLost, "killed")
			}
			return nil
		}
		o := options(t, d)
		j := &journal{d: d}
		o.Journal = j
		r, err := tune(ctx, t, o)
		if err != nil || r.Stop != search.Interrupted || r.Winner.Schedule.String() != fast || len(r.Failed) > 0 {
			t.Errorf("%v, %s, best %s, failed %v", err, r.Stop, r.Winner.Schedule, r.Failed)
		}
		if slices.ContainsFunc(j.kept, func(o outcome.Outcome) bool { return o.Status.Failed() }) {
			t.Error("the cancellation is recorded as a failure")
		}
	}
}
