package runner

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"testing"
	"testing/synctest"
	"time"

	"stenciltune/device"
	"stenciltune/kernels"
	"stenciltune/outcome"
	"stenciltune/search"
	"stenciltune/space/spacetest"
	"stenciltune/stencil/stenciltest"
	"stenciltune/timing"
)

// A strategy may propose the baseline alone, which is known: it is asked again.
func TestProposingTheBaselineAloneIsNoEnd(t *testing.T) {
	d := newFake(t)
	o := options(t, d)
	naive := Naive(o.Problem, o.Space)
	o.Strategy = &script{list: append(slices.Clone(naive), spacetest.Schedules(t, tile(32, 1, 1, 1))...)}
	o.Ahead = 1
	ctx, cancel := context.WithCancel(t.Context())
	defer time.AfterFunc(20*time.Second, cancel).Stop() // no deadline, which policies look at
	r, err := tune(ctx, t, o)
	if err != nil || !r.Complete || len(r.Outcomes) != len(naive)+1 {
		t.Errorf("%v, complete %v, %d outcomes", err, r.Complete, len(r.Outcomes))
	}
}

func TestStopRules(t *testing.T) {
	t.Run("budget", func(t *testing.T) {
		for _, budget := range []int{1, 3, 4, 17, 48, 60} {
			for _, ahead := range []int{1, 4, 30} {
				d := newFake(t)
				o := options(t, d)
				o.Stop.Budget, o.Ahead = budget, ahead
				r := mustTune(t, o)
				want, why := min(max(budget, 3), 48), search.Budget
				if budget > 48 {
					why = search.Exhausted
				}
				compiled := map[string]bool{}
				for _, e := range d.of(opCompile) {
					compiled[e.schedule] = true
				}
				if r.Evaluated != want || len(r.Outcomes) != want || len(compiled) != want || r.Stop != why {
					t.Errorf("budget %d, %d ahead: %d evaluated, %d outcomes, %d compiled, %s", budget, ahead, r.Evaluated, len(r.Outcomes), len(compiled), r.Stop)
				}
			}
		}
	})
	t.Run("time", func(t *testing.T) {
		synctest.Test(t, func(t *testing.T) {
			d := newFake(t)
			d.delay = func(op, _ string) {
				if op == opTime {
					time.Sleep(10 * time.Millisecond)
				}
			}
			o := options(t, d)
			o.Stop.Time, o.Ahead = 95*time.Millisecond, 5
			if r := mustTune(t, o); r.Stop != search.TimeLimit || r.Evaluated != 3+10 {
				t.Errorf("%s after %d", r.Stop, r.Evaluated)
			}
		})
	})
	t.Run("stall", func(t *testing.T) {
		d := newFake(t)
		d.noise = 0
		list := []string{tile(32, 4, 1, 1), tile(32, 4, 1, 2), tile(32, 4, 1, 4), tile(64, 4, 1, 1), tile(64, 4, 1, 2), tile(64, 4, 1, 4), tile(64, 8, 1, 1), tile(64, 8, 1, 2)}
		d.seconds = at(map[string]float64{list[1]: 90e-6, list[3]: 89.9e-6}) // the second is too little
		o := options(t, d, list...)
		o.Stop.Stall = 4
		if r := mustTune(t, o); r.Stop != search.Stall || r.Evaluated != 3+2+4 {
			t.Errorf("%s after %d", r.Stop, r.Evaluated)
		}
	})
	t.Run("roofline", func(t *testing.T) { // of every array that a step reads and writes
		for name, want := range map[string]search.Reason{"jacobi2d": search.Exhausted, "acoustic3d": search.Roofline} {
			d := newFake(t)
			o := options(t, d, tile(32, 4, 1, 1), tile(32, 4, 1, 2))
			o.Problem.Stencil = stenciltest.Lookup(t, name)
			d.machine.CopyBytesPerSecond = float64(o.Problem.Size.Cells()) * 12 / 100e-6 // naive's 100 us move 12 bytes a cell: 8 are needed, or 16
			o.Stop.Roofline = 0.9
			if r := mustTune(t, o); r.Stop != want {
				t.Errorf("%s: %s after %d", name, r.Stop, r.Evaluated)
			}
		}
	})
	t.Run("exhausted", func(t *testing.T) {
		d := newFake(t)
		r := mustTune(t, options(t, d))
		seen := map[string]bool{}
		for _, s := range texts(r.Outcomes) {
			seen[s] = true
		}
		if r.Stop != search.Exhausted || r.Evaluated != 48 || len(seen) != 48 {
			t.Errorf("%s after %d, %d different", r.Stop, r.Evaluated, len(seen))
		}
	})
}

func TestCancellingGivesTheBestSoFarAtOnce(t *testing.T) {
	stuck := tile(64, 4, 2, 4) // its remainder launch is none of the list, which would compile twice
	fast := tile(32, 4, 1, 1)
	for name, c := range map[string]struct {
		op, s string
		n     int
		fails bool // the device calls the cancellation a failure of the schedule
		best  string
	}{
		"compile":                {opCompile, stuck, 0, false, fast},
		"small check":            {opSmall, stuck, 0, false, fast},
		"full check":             {opFull, stuck, 0, false, fast},
		"time":                   {opTime, stuck, 0, false, fast},
		"time, as a failure":     {opTime, stuck, 0, true, fast},
		"baseline compile":       {opCompile, naives[0], 0, false, ""},
		"baseline check":         {opSmall, naives[0], 0, false, ""},
		"baseline, as a failure": {opTime, naives[0], 0, true, ""},
		"second baseline":        {opTime, naives[1], 0, false, naives[0]},
		"finals compile":         {opCompile, fast, 1, false, fast},
		"finals":                 {opFinals, fast, 0, false, fast},
		"finals, as a failure":   {opFinals, fast, 0, true, fast},
		"proof":                  {opFull, fast, 1, false, fast},
		"proof, as a failure":    {opFull, fast, 1, true, fast},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				ctx, cancel := context.WithCancel(t.Context())
				d := newFake(t)
				d.seconds = at(map[string]float64{fast: 80e-6, stuck: 90e-6})
				d.fail = func(op, s string, n int) error {
					if op == c.op && s == c.s && n == c.n {
						if c.fails {
							cancel() // returns when the contexts below it are cancelled too
							return device.Fail(timing.WorkerLost, "killed")
						}
						go cancel()
						return errHang
					}
					return nil
				}
				o := options(t, d, fast, tile(32, 4, 1, 2), stuck, tile(64, 4, 1, 1))
				j := &journal{d: d}
				o.Journal, o.Ahead = j, 1 // in the order of the list
				begin := time.Now()
				r, err := tune(ctx, t, o)
				if took := time.Since(begin); took > 0 {
					t.Errorf("took %v", took)
				}
				if _, ok := errors.AsType[*ErrNoSchedule](err); ok != (c.best == "") || !ok && err != nil {
					t.Errorf("error %v", err)
				}
				if r.Stop != search.Interrupted || r.Complete || r.Winner.Schedule.String() != c.best {
					t.Errorf("%s, complete %v, best %s", r.Stop, r.Complete, r.Winner.Schedule)
				}
				for _, o := range j.kept {
					if o.Status.Failed() {
						t.Errorf("%s is recorded as %s: %s", o.Schedule, o.Status, o.Reason)
					}
				}
				if len(r.Failed) > 0 {
					t.Errorf("failed: %v", r.Failed)
				}
			})
		})
	}
}

func TestCancellingBetweenSchedulesStops(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	d := newFake(t)
	o := options(t, d)
	o.Ahead = 4
	var phases []string
	o.Watcher = watcher{
		phase: func(name string) { phases = append(phases, name) },
		evaluated: func(_, _ outcome.Outcome, p search.Progress) {
			if p.Evaluated == 10 {
				cancel()
			}
		},
	}
	r, err := tune(ctx, t, o)
	if err != nil || r.Stop != search.Interrupted || r.Complete || r.Evaluated != 10 || r.Winner.Schedule.IsZero() {
		t.Errorf("%v, %s, complete %v, %d evaluated", err, r.Stop, r.Complete, r.Evaluated)
	}
	if !slices.Equal(phases, []string{"baseline", "search"}) {
		t.Errorf("phases %v", phases)
	}
}

// A space of the naive kernel and at most two others, which may all fail, is searched to its end at once.
func TestASpaceOfFewSchedulesEndsAtOnce(t *testing.T) {
	only, more := global(32, 1, 1), []string{tile(32, 4, 1, 1), tile(32, 4, 1, 2)}
	for n := range len(more) + 1 {
		for _, name := range search.Names() {
			for _, within := range []float64{0, 0.01} {
				for _, status := range []timing.Status{timing.OK, timing.CompileError, timing.WrongAnswer} {
					d := newFake(t)
					d.seconds = at(map[string]float64{only: 100e-6, more[0]: 90e-6, more[1]: 80e-6})
					d.fail = func(op, s string, _ int) error {
						if op == opCompile && s != only && status == timing.CompileError {
							return device.Fail(status, "because")
						}
						return nil
					}
					d.wrong = func(c device.Check) string {
						if c.Passes[0].Binary.Schedule.String() != only && status == timing.WrongAnswer {
							return "wrong"
						}
						return ""
					}
					o := options(t, d)
					o.Families = []kernels.Family{boxOf("global", []int{32}, []int{1}, []int{1}, "sp", []int{0})}
					if n > 0 {
						o.Families = append(o.Families, boxOf("tile", []int{32}, []int{4}, []int{1}, "ph", []int{1, 2}[:n]))
					}
					o.Space = kernels.Spaces(o.Families, o.Problem, d.machine)
					o.Strategy, o.Stop, o.Ahead = strategy(t, name, o.Space, 1), search.Usual(), 4
					o.Stop.Within = within
					j := &journal{d: d}
					o.Journal = j
					ctx, cancel := context.WithCancel(t.Context())
					late := time.AfterFunc(10*time.Second, cancel) // no deadline, which policies look at
					r, err := tune(ctx, t, o)
					late.Stop()
					cancel()
					winner, why := only, search.Exhausted
					if n > 0 && status == timing.OK {
						winner = more[n-1]
					}
					if _, forecasts := o.Strategy.(search.Forecaster); forecasts && within > 0 {
						why = search.Within
					}
					what := fmt.Sprintf("%d more, %s, within %g, %s", n, name, within, status)
					if err != nil || !r.Complete || r.Stop != why || r.Winner.Schedule.String() != winner || r.Winner.Status != timing.OK {
						t.Fatalf("%s: %v, complete %v, stopped by %s, winner %s %s", what, err, r.Complete, r.Stop, r.Winner.Schedule, r.Winner.Status)
					}
					if len(r.Winner.Checks) == 0 || !slices.Equal(sorted(texts(j.kept)), sorted(append([]string{only}, more[:n]...))) || r.Evaluated != 1+n {
						t.Errorf("%s: %d checks, %d evaluated, recorded %v", what, len(r.Winner.Checks), r.Evaluated, texts(j.kept))
					}
					if f := r.Failed[status]; f != n && status != timing.OK {
						t.Errorf("%s: failed %v", what, r.Failed)
					}
				}
			}
		}
	}
}
