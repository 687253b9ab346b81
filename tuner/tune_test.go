package tuner

import (
	"context"
	"errors"
	"testing"

	"stenciltune/cache"
	"stenciltune/outcome"
	"stenciltune/search"
	"stenciltune/timing"
)

// stopper cancels a tune when it comes to a phase.
type stopper struct {
	silent
	at   string
	stop context.CancelFunc
}

func (s stopper) Phase(name string) {
	if name == s.at {
		s.stop()
	}
}

func replayed(t *testing.T) (Problem, Device) {
	t.Helper()
	p, err := Spec{Stencil: "jacobi3d"}.Problem()
	if err != nil {
		t.Fatal(err)
	}
	d, err := OpenDevice(t.Context(), "replay:h200", p)
	if err != nil {
		t.Fatal(err)
	}
	return p, d
}

// TestInterruptedInAnyPhase: the user's stop is no failure, whether or not anything was
// measured by then.
func TestInterruptedInAnyPhase(t *testing.T) {
	for phase, found := range map[string]bool{"baseline": false, "search": true, "finals": true} {
		p, d := replayed(t)
		ctx, stop := context.WithCancel(t.Context())
		c, err := open(t).Tune(ctx, p, d, Options{Watcher: stopper{at: phase, stop: stop}})
		stop()
		if !errors.Is(err, ErrInterrupted) || (c.Schedule.Text != "") != found || c.Search.Complete {
			t.Errorf("%s: %v, config %q", phase, err, c.Schedule.Text)
		}
	}
}

// TestZeroOptionsAreTheDefaults, and what cannot be meant is refused before anything runs.
func TestZeroOptionsAreTheDefaults(t *testing.T) {
	if err := (Options{}).Check(); err != nil {
		t.Error(err)
	}
	for _, o := range []Options{{Strategy: "luck"}, {Regime: "hot"}, {Stop: search.Stop{Budget: -1}}, {Exhaustive: true, Strategy: "random"}} {
		if err := o.Check(); !errors.As(err, new(InputError)) {
			t.Errorf("%+v: %v", o, err)
		}
	}
}

// TestTheStrategyExhaustiveHasLimits: only an exhaustive tune has none, and asks no store.
func TestTheStrategyExhaustiveHasLimits(t *testing.T) {
	p, d := replayed(t)
	tn := open(t)
	c, err := tn.Tune(t.Context(), p, d, Options{Strategy: "exhaustive", Stop: search.Stop{Budget: 9}})
	if err != nil || c.Search.Evaluated != 9 {
		t.Fatalf("%v, %d evaluated", err, c.Search.Evaluated)
	}
	again, err := tn.Tune(t.Context(), p, d, Options{Strategy: "exhaustive"})
	if err != nil || again.Search.Evaluated != 9 {
		t.Errorf("%v: the store did not answer", err)
	}
}

// TestATuneThatWasInterruptedTeaches: a journal without a config is known to tunes of other
// sizes on the same device.
func TestATuneThatWasInterruptedTeaches(t *testing.T) {
	tn := open(t)
	pl := at(problem(t, fourSizes[1]), h200())
	key := KeyOf(pl.Problem, pl.Machine, timing.Warm)
	j, err := openJournal(tn.store, key, cache.Running{Worker: "a:1:0"}, false, nil)
	if err != nil {
		t.Fatal(err)
	}
	for _, s := range sample(pl, 1001) {
		if err := j.Record([]outcome.Outcome{{Schedule: s, Status: timing.OK}}); err != nil {
			t.Fatal(err)
		}
		if err := j.Record([]outcome.Outcome{outcome.Outcome{Schedule: s, Status: timing.OK}.Sampled([]float64{truth(pl, s)}, 1)}); err != nil {
			t.Fatal(err)
		}
	}
	for _, c := range []struct {
		p    Problem
		want int
	}{{problem(t, fourSizes[0]), 1}, {pl.Problem, 0}} { // its own journal is no other's
		if _, known, err := tn.expected(t.Context(), c.p, pl.Machine, KeyOf(c.p, pl.Machine, timing.Warm), false); err != nil || known != c.want {
			t.Errorf("%s: %d others known, %v", c.p.Text(), known, err)
		}
	}
}
