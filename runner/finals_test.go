package runner

import (
	"context"
	"errors"
	"slices"
	"strings"
	"testing"

	"stenciltune/device"
	"stenciltune/kernels"
	"stenciltune/kernels/all"
	"stenciltune/outcome"
	"stenciltune/space"
	"stenciltune/space/spacetest"
	"stenciltune/timing"
)

func TestFinalsFindTheFastestInNoise(t *testing.T) {
	fast := tile(64, 4, 2, 1)
	times := at(map[string]float64{fast: 98e-6, tile(32, 4, 1, 1): 101e-6, tile(64, 8, 1, 1): 101.5e-6, tile(32, 8, 1, 1): 102e-6})
	for seed := range uint64(10) {
		d := newFake(t)
		d.seconds, d.noise, d.seed = times, 0.03, seed
		o := options(t, d)
		o.Strategy, o.Stop.Budget = strategy(t, "random", o.Space, seed), 48
		if r := mustTune(t, o); r.Winner.Schedule.String() != fast {
			t.Errorf("seed %d: %s at %g s", seed, r.Winner.Schedule, r.Winner.Seconds())
		}
	}
}

// TestTwoSamplesTellWhatLiesFarApart: a schedule that is simpler does not win by having few
// samples, as those have that a recording cut short.
func TestTwoSamplesTellWhatLiesFarApart(t *testing.T) {
	series := func(samples ...float64) timing.Series {
		return timing.Series{Samples: samples, Summary: timing.Summarise(samples)}
	}
	if alike(series(1, 1.01, 1.02, 1.01, 1, 1), series(10, 10.1)) {
		t.Error("ten times slower, and a tie")
	}
	if !alike(series(1, 1.01), series(1.005, 1.02)) || !alike(series(1, 1, 1, 1, 1, 1), series(1.001, 1.001, 1.001, 1.001, 1.001, 1.001)) {
		t.Error("what cannot be told apart is no tie")
	}
}

func TestTiesAreListedAndTheSimplestWins(t *testing.T) {
	same := []string{tile(64, 4, 2, 1), tile(64, 4, 1, 2), global(64, 8, 2), global(32, 8, 2)}
	for seed := range uint64(10) {
		d := newFake(t)
		// The more complex, the faster, but by less than counts.
		d.seconds = at(map[string]float64{same[0]: 90.02e-6, same[1]: 90e-6, same[2]: 90.04e-6, same[3]: 90.06e-6})
		d.noise, d.seed = 0.005, seed
		o := options(t, d)
		o.Strategy, o.Stop.Budget = strategy(t, "random", o.Space, seed), 48
		r := mustTune(t, o)
		if r.Winner.Schedule.String() != same[3] {
			t.Errorf("seed %d: winner %s", seed, r.Winner.Schedule)
		}
		if got, want := texts(r.Ties), []string{same[2], same[0], same[1]}; !slices.Equal(got, want) {
			t.Errorf("seed %d: ties %q", seed, got)
		}
	}
}

// TestATieFarAboveTheBestDoesNotWin: of few samples that scatter widely, what cannot be told apart may be several per cent apart.
func TestATieFarAboveTheBestDoesNotWin(t *testing.T) {
	scattered := func(schedule string, factor float64) *candidate {
		o := outcome.Outcome{Schedule: spacetest.Schedule(t, schedule), Status: timing.OK}
		return &candidate{outcome: o.Sampled([]float64{1 * factor, 1.1 * factor, 1.02 * factor, 1.08 * factor, 0.98 * factor, 1.04 / factor}, 1)}
	}
	simplest, near, best := scattered(global(32, 8, 2), 1.05), scattered(tile(64, 4, 2, 1), 1.01), scattered(tile(64, 4, 1, 2), 1)
	winner, ties := pick(all.Families(), []*candidate{best, simplest, near}, timing.ForTime)
	if winner != near || !slices.Equal(ties, []*candidate{simplest, best}) {
		t.Errorf("%s wins, ties %v", winner.outcome.Schedule, ties)
	}
}

func TestSimplerSchedulesComeFirst(t *testing.T) {
	shape := func(family, rest string) string { return family + "/gx=32/gy=8/gz=1/" + rest }
	order := spacetest.Schedules(t,
		"global/gx=32/gy=1/gz=1/wx=1/wy=1/wz=1/cw=0/zz=0/sp=0",
		shape("global", "wx=1/wy=1/wz=1/cw=0/zz=0/sp=0"),
		shape("global", "wx=1/wy=1/wz=1/cw=0/zz=0/sp=1"),
		shape("global", "wx=2/wy=2/wz=1/cw=0/zz=0/sp=0"),
		shape("global", "wx=1/wy=1/wz=1/cw=64/zz=0/sp=0"),
		shape("global", "wx=1/wy=1/wz=1/cw=64/zz=1/sp=0"),
		shape("tile", "wx=1/wy=1/wz=1/cw=0/zz=0/ph=1"),
		shape("tile", "wx=4/wy=1/wz=1/cw=64/zz=1/ph=1"),
		shape("tile", "wx=1/wy=1/wz=1/cw=0/zz=0/ph=2"),
		shape("slide", "wx=1/wy=1/wz=1/cw=0/zz=0/ph=1"),
		shape("stream", "wx=1/wy=1/wz=1/cw=0/zz=0/ph=1"),
		shape("later", "wx=1/wy=1/wz=1/cw=0/zz=0/ph=1"))
	families := append(all.Families(), boxOf("later", nil, nil, nil, "ph", nil))
	for i, a := range order {
		for j, b := range order {
			if got := simpler(families, outcome.Outcome{Schedule: a}, outcome.Outcome{Schedule: b}); (got < 0) != (i < j) || (got > 0) != (i > j) {
				t.Errorf("%s against %s: %d", a, b, got)
			}
		}
	}
}

func TestFinalsTimeNaiveWithTheBestInTurn(t *testing.T) {
	d := newFake(t)
	d.noise = 0.0001
	var list []string
	times := map[string]float64{naives[0]: 200e-6, naives[1]: 190e-6, naives[2]: 195e-6}
	for i, s := range []string{tile(32, 4, 1, 1), tile(32, 4, 1, 2), tile(32, 4, 1, 4), tile(64, 4, 1, 1), tile(64, 4, 1, 2), tile(64, 4, 1, 4), tile(64, 8, 1, 1)} {
		list = append(list, s)
		times[s] = 80e-6 + 2e-6*float64(i)
	}
	d.seconds = at(times)
	o := options(t, d, list...)
	o.Regime = timing.Cold
	r := mustTune(t, o)
	finals := d.of(opFinals)
	if got := schedulesOf(finals[0]); len(finals) != 6 || !slices.Equal(sorted(got), sorted(append(list[:5:5], naives[1]))) {
		t.Errorf("in the finals: %q", got)
	}
	policy := finals[0].timing.Policy
	if policy.MinSamples != 30 || policy.CutAbove != 0 || policy.Regime != timing.Cold {
		t.Errorf("policy %+v", policy)
	}
	if r.Naive.Schedule.String() != naives[1] || r.Naive.Series.N < 30 || r.Naive.Series.N != r.Winner.Series.N || r.Naive.Seconds() < 189e-6 {
		t.Errorf("naive %s: %d samples, the winner has %d", r.Naive.Schedule, r.Naive.Series.N, r.Winner.Series.N)
	}
	if r.Winner.Schedule.String() != list[0] || r.Remainder != nil || len(r.Ties) > 0 {
		t.Errorf("winner %s, remainder %v, ties %v", r.Winner.Schedule, r.Remainder, texts(r.Ties))
	}
	for _, e := range d.of(opTime) {
		if e.timing.Policy.Regime != timing.Cold {
			t.Errorf("%s is timed with %q caches", e.schedule, e.timing.Policy.Regime)
		}
	}
}

func schedulesOf(e event) []string {
	var list []string
	for _, run := range e.timing.Runs {
		list = append(list, run.Binary.Schedule.String())
	}
	return list
}

func sorted(list []string) []string {
	list = slices.Clone(list)
	slices.Sort(list)
	return list
}

func TestWhoeverOverlapsTheBestIsInTheFinals(t *testing.T) {
	d := newFake(t)
	d.noise = 0.01
	d.seconds = func(string) float64 { return 100e-6 }
	mustTune(t, options(t, d))
	n := len(d.of(opFinals)[0].timing.Runs)
	if n < maxFinalists || n > maxFinalists+1 {
		t.Errorf("%d finalists of 48 that are alike", n)
	}
}

func TestAFinalistThatFailsIsDroppedAndTheNextWins(t *testing.T) {
	first, second, third := tile(64, 4, 1, 2), tile(32, 4, 1, 1), global(32, 4, 2)
	fail := func(op, s string, from int, status timing.Status) func(*fake) {
		return func(d *fake) {
			d.fail = func(o, text string, n int) error {
				if (o == op || op == opFinals && o == opTime && n > 0) && text == s && n >= from {
					return device.Fail(status, "because")
				}
				return nil
			}
		}
	}
	judged := func(full bool, remainder bool) func(*fake) {
		return func(d *fake) {
			d.wrong = func(c device.Check) string {
				if c.Passes[0].Binary.Schedule.String() == first && (c.Trusted != nil) == full && (len(c.Passes) == 2) == remainder && d.count(opFinals, first) > 0 {
					return "wrong"
				}
				return ""
			}
		}
	}
	for name, c := range map[string]struct {
		set     func(*fake)
		status  timing.Status
		dropped []string
	}{
		"compile":           {fail(opCompile, first, 1, timing.CompileTimeout), timing.CompileTimeout, []string{first}},
		"hangs":             {fail(opFinals, first, 0, timing.Timeout), timing.Timeout, []string{first}},
		"second hangs":      {fail(opFinals, second, 0, timing.WorkerLost), timing.WorkerLost, []string{second}},
		"naive hangs":       {fail(opFinals, naives[0], 0, timing.WorkerLost), timing.WorkerLost, []string{naives[0]}},
		"proof hangs":       {fail(opSmall, first, 1, timing.Timeout), timing.Timeout, []string{first}},
		"small remainder":   {judged(false, true), timing.WrongAnswer, []string{first}},
		"full remainder":    {judged(true, true), timing.WrongAnswer, []string{first}},
		"remainder compile": {fail(opCompile, tile(64, 4, 1, 1), 0, timing.CompileError), timing.CompileError, []string{first}},
		"no sample":         {func(d *fake) { d.empty = func(op, s string, _ int) bool { return op == opFinals && s == first } }, timing.LaunchError, []string{first}},
		"both": {func(d *fake) {
			d.fail = func(op, s string, n int) error {
				if (op == opFinals || op == opTime && n > 0) && (s == first || s == second) {
					return device.Fail(timing.Timeout, "because")
				}
				return nil
			}
		}, timing.Timeout, []string{first, second}},
	} {
		t.Run(name, func(t *testing.T) {
			d := newFake(t)
			d.seconds = at(map[string]float64{first: 80e-6, second: 85e-6, third: 90e-6})
			c.set(d)
			o := options(t, d, first, second, third, tile(64, 8, 1, 4))
			kept := &journal{d: d}
			o.Journal = kept
			r := mustTune(t, o)
			stored := map[string]outcome.Outcome{}
			for _, o := range kept.kept {
				if had, ok := stored[o.Schedule.String()]; ok && had.SourceHash != o.SourceHash {
					t.Errorf("%s is stored of two sources", o.Schedule)
				}
				stored[o.Schedule.String()] = o
			}
			want := first
			for _, s := range []string{first, second, third} {
				if !slices.Contains(c.dropped, s) {
					want = s
					break
				}
			}
			if r.Winner.Schedule.String() != want {
				t.Errorf("winner %s, want %s; warnings %q", r.Winner.Schedule, want, r.Warnings)
			}
			if r.Failed[c.status] != len(c.dropped) || len(r.Failed) != 1 {
				t.Errorf("failed %v", r.Failed)
			}
			for _, s := range c.dropped {
				if !warned(r, "finals: "+s+" dropped: ") {
					t.Errorf("warnings %q", r.Warnings)
				}
				if o := find(t, r, s); o.Status != c.status || o.Reason == "" {
					t.Errorf("%s is listed as %s: %s", s, o.Status, o.Reason)
				}
				if wrong := stored[s].Status == timing.WrongAnswer && stored[s].Seconds() == 0; wrong != (c.status == timing.WrongAnswer) {
					t.Errorf("%s is stored as %s, %v s", s, stored[s].Status, stored[s].Seconds())
				}
			}
			if name == "remainder compile" && !strings.Contains(find(t, r, first).Reason, "its remainder launch: because") {
				t.Errorf("reason %q", find(t, r, first).Reason)
			}
		})
	}
}

func TestFinalistsThatFailOnlyTogetherAreDroppedFromTheSlowEnd(t *testing.T) {
	d := newFake(t)
	first, second := tile(64, 4, 1, 1), tile(32, 4, 1, 1)
	d.seconds = at(map[string]float64{first: 80e-6, second: 85e-6})
	failures := 0
	d.fail = func(op, s string, _ int) error {
		if op == opFinals && s == first && failures < 2 {
			failures++
			return device.Fail(timing.LaunchError, "out of memory")
		}
		return nil
	}
	r := mustTune(t, options(t, d, first, second))
	finals := d.of(opFinals)
	last := schedulesOf(finals[len(finals)-1])
	if want := []string{naives[0], first, second}; !slices.Equal(sorted(last), sorted(want)) || r.Winner.Schedule.String() != first {
		t.Errorf("last finals among %q, winner %s", last, r.Winner.Schedule)
	}
}

func TestTheWinnerIsProvedWithItsRemainder(t *testing.T) {
	d := newFake(t)
	first := tile(64, 4, 2, 4)
	rest := tile(64, 4, 2, 1)
	d.seconds = at(map[string]float64{first: 80e-6})
	o := options(t, d, first, tile(32, 4, 1, 1))
	r := mustTune(t, o)
	if r.Winner.Schedule.String() != first || r.Remainder == nil {
		t.Fatalf("winner %s, remainder %v", r.Winner.Schedule, r.Remainder)
	}
	k := kernels.Find(o.Families, "tile").Kernel(o.Problem, r.Remainder.Schedule)
	if m := r.Remainder; m.Schedule.String() != rest || m.SourceHash != k.SourceHash() || m.Registers != 32 || m.Compiler == "" {
		t.Errorf("remainder %+v", m)
	}
	checks := d.of(opSmall, opFull)
	for i, e := range checks[len(checks)-1-steadyRuns:] {
		c := e.check
		if e.op != []string{opSmall, opFull}[min(i, 1)] || len(c.Passes) != 2 || c.Passes[0].Binary.Schedule.String() != first || c.Passes[0].Count != 2 ||
			c.Passes[1].Binary.Schedule.String() != rest || c.Passes[1].Count != 1 || device.Steps(c.Passes) != 9 {
			t.Errorf("%s: %+v", e.op, c.Passes)
		}
	}
	if len(r.Winner.Checks) != 3 || r.Winner.Checks[0].Steps != 9 || r.Winner.Checks[1].Against != naives[0] {
		t.Errorf("the winner's checks: %+v", r.Winner.Checks)
	}
	demandChecks(t, d, o)
}

func TestAWinnerOfSingleStepsHasNoRemainder(t *testing.T) {
	d := newFake(t)
	first := tile(64, 4, 2, 1)
	d.seconds = at(map[string]float64{first: 80e-6})
	r := mustTune(t, options(t, d, first))
	if r.Remainder != nil || len(r.Winner.Checks) != 3 || r.Winner.Checks[0].Steps != 3 {
		t.Errorf("remainder %v, checks %+v", r.Remainder, r.Winner.Checks)
	}
	if d.count(opSmall, first) != 2 {
		t.Errorf("proved %d times", d.count(opSmall, first))
	}
}

func TestNothingThatWorksInTheFinalsIsNoCompleteTune(t *testing.T) {
	first := tile(64, 4, 2, 1)
	for name, set := range map[string]func(*fake){
		"compile": func(d *fake) {
			d.fail = func(op, _ string, n int) error {
				if op == opCompile && n == 1 {
					return device.Fail(timing.CompileError, "disk full")
				}
				return nil
			}
		},
		"time": func(d *fake) {
			d.fail = func(op, _ string, n int) error {
				if op == opFinals || op == opTime && n > 0 {
					return device.Fail(timing.Timeout, "because")
				}
				return nil
			}
		},
		"proof": func(d *fake) {
			d.wrong = func(device.Check) string {
				if len(d.of(opFinals)) > 0 {
					return "wrong"
				}
				return ""
			}
		},
	} {
		d := newFake(t)
		set(d)
		r, err := tune(t.Context(), t, options(t, d, first))
		none, ok := errors.AsType[*ErrNoSchedule](err)
		if !ok || r.Complete || !r.Winner.Schedule.IsZero() || !strings.Contains(err.Error(), "no schedule gave a right answer") {
			t.Errorf("%s: %v, complete %v, winner %s", name, err, r.Complete, r.Winner.Schedule)
		} else if n := none.Failed[timing.CompileError] + none.Failed[timing.Timeout] + none.Failed[timing.WrongAnswer]; n != 4 {
			t.Errorf("%s: failed %v", name, none.Failed)
		}
	}
}

// copier is a fake that can copy.
type copier struct {
	*fake
	err error
}

func (c copier) CopyBandwidth(_ context.Context, bytes int64) (float64, error) {
	return float64(bytes), c.err
}

func TestCopyBandwidthComesWithTheResult(t *testing.T) {
	for _, lost := range []error{nil, device.ErrLost} {
		d := newFake(t)
		o := options(t, d, tile(64, 4, 2, 1))
		o.Device = copier{d, lost}
		r, err := Tune(t.Context(), o)
		empty(t, d)
		if err != nil || !r.Complete || lost == nil && r.Copy != 129*65*4 || lost != nil && (!warned(r, "copy bandwidth unknown: device lost")) {
			t.Errorf("%v, complete %v, copy %g, warnings %q", err, r.Complete, r.Copy, r.Warnings)
		}
	}
}

func TestTheWinnersWarningsTravelWithTheResult(t *testing.T) {
	d := newFake(t)
	d.noise = 0.2
	r := mustTune(t, options(t, d, tile(64, 4, 2, 1)))
	if !warned(r, "wide interval") {
		t.Errorf("warnings %q", r.Warnings)
	}
}

func TestFaultsAreInjectedBeforeTheCompiler(t *testing.T) {
	d := newFake(t)
	o := options(t, d, tile(64, 4, 1, 1), tile(64, 4, 2, 1))
	o.Mutate = func(k kernels.Kernel) kernels.Kernel {
		k.Source += "// changed"
		return k
	}
	r := mustTune(t, o)
	k := kernels.Find(o.Families, r.Winner.Schedule.Family()).Kernel(o.Problem, r.Winner.Schedule)
	if r.Winner.SourceHash != o.Mutate(k).SourceHash() {
		t.Error("the winner's source is another")
	}
}

// What won an earlier tune is measured again before all else, whatever the budget, the journal and the space, and is in
// the finals: what a search finds is compared with it.
func TestTheIncumbentIsMeasuredBesideWhatIsFound(t *testing.T) {
	incumbent, found := tile(64, 8, 2, 2), tile(32, 4, 1, 1)
	for _, c := range []struct {
		seconds float64 // of the incumbent; found takes 92e-6
		status  timing.Status
		winner  string
	}{{90e-6, timing.OK, incumbent}, {110e-6, timing.OK, found}, {300e-6, timing.CutSlow, found}} {
		d := newFake(t)
		d.seconds = at(map[string]float64{incumbent: c.seconds, found: 92e-6})
		o := options(t, d, incumbent, found, tile(32, 4, 1, 2), tile(32, 4, 2, 1), tile(32, 8, 1, 1), tile(32, 8, 2, 1), tile(64, 4, 1, 1))
		o.Incumbent = spacetest.Schedule(t, incumbent)
		o.Stop.Budget = 9
		r := mustTune(t, o)
		if got := find(t, r, incumbent).Status; got != c.status || r.Winner.Schedule.String() != c.winner || r.Outcomes[3].Schedule != o.Incumbent || r.Evaluated != 9 {
			t.Errorf("%g s: %s, winner %s, %d evaluated: %v", c.seconds, got, r.Winner.Schedule, r.Evaluated, texts(r.Outcomes))
		}
		if n, held := d.count(opTime, incumbent), slices.Contains(texts(r.Finals), incumbent); n != 1 || held != (c.status == timing.OK) {
			t.Errorf("%g s: timed %d times, in the finals: %v", c.seconds, n, held)
		}
	}
	d := newFake(t)
	d.seconds = at(map[string]float64{incumbent: 90e-6})
	o := options(t, d, found)
	o.Incumbent, o.Stop.Budget = spacetest.Schedule(t, incumbent), 1
	o.Space = space.New(o.Space.Families()[0]) // advice has changed
	if r := mustTune(t, o); r.Winner.Schedule != o.Incumbent || r.Evaluated != 4 {
		t.Errorf("winner %s, %d evaluated", r.Winner.Schedule, r.Evaluated)
	}
	o.Strategy, o.Journal = &script{}, &journal{d: d, known: map[string]outcome.Outcome{incumbent: {Schedule: o.Incumbent, SourceHash: find(t, mustTune(t, o), incumbent).SourceHash, Status: timing.WorkerLost}}}
	if r := mustTune(t, o); r.Winner.Schedule == o.Incumbent || r.Repeated != 1 {
		t.Errorf("what is not to be run again won, or was: %d known", r.Repeated)
	}
}
