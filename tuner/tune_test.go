package tuner

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"testing"
	"time"

	"stenciltune/cache"
	"stenciltune/device/replay"
	"stenciltune/machine"
	"stenciltune/machine/machinetest"
	"stenciltune/outcome"
	"stenciltune/runner"
	"stenciltune/search"
	"stenciltune/space/spacetest"
	"stenciltune/stencil"
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

// A tune that begins anew does not put a slower config in the place of the stored one: that is measured again, too.
func TestWhatIsStoredIsMeasuredBesideWhatIsFound(t *testing.T) {
	p, d := replayed(t)
	tn := open(t)
	c, err := tn.Tune(t.Context(), p, d, Options{})
	if err != nil {
		t.Fatal(err)
	}
	for _, o := range []Options{{Again: true}, {MaxAge: time.Nanosecond}, {Exhaustive: true}, {Record: filepath.Join(t.TempDir(), "l.jsonl.gz")}} {
		o.Stop.Budget = 1
		got, err := tn.Tune(t.Context(), p, d, o)
		if err != nil || got.Schedule.Text != c.Schedule.Text || got.Search.Evaluated != 4 || got.Search.Stop != search.Budget {
			t.Errorf("%+v: %v, %s, %d evaluated, %s", o, err, got.Schedule.Text, got.Search.Evaluated, got.Search.Stop)
		}
	}
}

// What a recording holds counts as long as it may hold, whether the recording itself is older or the store says so of a schedule.
func TestWhatARecordingHoldsMayBeTooOld(t *testing.T) {
	p, d := replayed(t)
	for name, c := range map[string]struct {
		maxAge  time.Duration
		written string // before; "" as it is
		kept    bool   // what is not measured again, as finals are
	}{
		"of any age":       {0, "2020-01-01T00:00:00Z", true},
		"young":            {time.Hour, "", true},
		"an old recording": {time.Hour, "2020-01-01T00:00:00Z", false},
		"of no known age":  {time.Hour, "yesterday", false},
		"old by the store": {time.Nanosecond, "2100-01-01T00:00:00Z", false},
	} {
		t.Run(name, func(t *testing.T) {
			tn, file := open(t), filepath.Join(t.TempDir(), "l.jsonl.gz")
			o := Options{Record: file, Stop: search.Stop{Budget: 5}}
			if _, err := tn.Tune(t.Context(), p, d, o); err != nil {
				t.Fatal(err)
			}
			l, err := replay.Find(file, p)
			if err != nil {
				t.Fatal(err)
			}
			before := map[string]bool{}
			for _, s := range l.Order {
				before[s.String()] = true
			}
			if c.written != "" {
				l.Header.Time = c.written
				var b bytes.Buffer
				if err := replay.Write(&b, l.Header, slices.Collect(maps.Values(l.Records))); err != nil {
					t.Fatal(err)
				}
				if err := os.WriteFile(file, b.Bytes(), 0o600); err != nil {
					t.Fatal(err)
				}
			}
			if name != "old by the store" { // it knows nothing
				tn = open(t)
			}
			again, measured, kept := 0, map[string]bool{}, 0
			o.MaxAge, o.Stop.Budget, o.Watcher = c.maxAge, 1, counted{f: func(s string) {
				if measured[s] = true; before[s] {
					again++
				}
			}}
			if _, err := tn.Tune(t.Context(), p, d, o); err != nil {
				t.Fatal(err)
			}
			if l, err = replay.Find(file, p); err != nil {
				t.Fatal(err)
			}
			for _, s := range l.Order {
				if before[s.String()] && !measured[s.String()] {
					kept++
				}
			}
			if left := len(before) - again; left == 0 || c.kept && kept != left || !c.kept && kept != 0 {
				t.Errorf("%d of %d are kept", kept, left)
			}
		})
	}
}

// The store does not answer for schedules that its tune left out.
func TestASearchBeyondIsNotAnsweredByOneThatWasNot(t *testing.T) {
	p, d := replayed(t)
	tn := open(t)
	sizes := map[bool]int{}
	for i, beyond := range []bool{false, false, true, true, false} {
		n := 0
		c, err := tn.Tune(t.Context(), p, d, Options{Beyond: beyond, Stop: search.Stop{Budget: 20}, Watcher: counted{f: func(string) { n++ }}})
		if answered := i%2 == 1 || i == 4; err != nil || (n == 0) != answered {
			t.Errorf("%d: %v, %d measured", i, err, n)
		}
		if i < 4 {
			sizes[beyond] = c.Search.Space
		}
	}
	if sizes[true] <= sizes[false] {
		t.Errorf("%v schedules", sizes)
	}
}

// What the store answers is of the steps that were asked for, with a launch for those left over.
func TestTheStoreAnswersForTheStepsAskedFor(t *testing.T) {
	p, d := replayed(t)
	tn := open(t)
	c, err := tn.Tune(t.Context(), p, d, Options{})
	if err != nil || c.Launch.StepsPerLaunch == 1 || c.Remainder != nil {
		t.Fatalf("%v, %d steps a launch, remainder %v", err, c.Launch.StepsPerLaunch, c.Remainder)
	}
	p.Steps++
	again, err := tn.Tune(t.Context(), p, d, Options{})
	if err != nil || again.Time.Unix() != c.Time.Unix() || again.Problem.Steps != p.Steps || again.Remainder == nil || again.Remainder.Launch.StepsPerLaunch != 1 {
		t.Errorf("%v, %d steps, remainder %v", err, again.Problem.Steps, again.Remainder)
	}
}

// TestATuneThatWasInterruptedTeaches: a journal without a config is known to tunes of other
// sizes on the same device.
func TestATuneThatWasInterruptedTeaches(t *testing.T) {
	tn := open(t)
	pl := at(problem(t, fourSizes[1]), machinetest.H200())
	key := KeyOf(pl.Problem, pl.Machine, timing.Warm)
	j, err := openJournal(tn.store, key, cache.Running{Worker: "a:1:0"}, false, 0, nil)
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

// Of many such journals the nearest teach.
func TestTheNearestOfInterruptedTunesTeach(t *testing.T) {
	tn := open(t)
	pl := at(problem(t, stencil.Size{2600, 2600, 1}), machinetest.H200())
	key := KeyOf(pl.Problem, pl.Machine, timing.Warm)
	s := sample(pl, 1001)[0]
	for n := 1100; n <= 2500; n += 100 {
		q := pl.Problem.Resized(stencil.Size{n, n, 1})
		e := cache.Entry{Outcome: outcome.Outcome{Schedule: s, Status: timing.OK}.Sampled([]float64{1e-3}, 1)}
		if err := tn.store.Record(KeyOf(q, pl.Machine, timing.Warm), e); err != nil {
			t.Fatal(err)
		}
	}
	list, err := tn.unfinished(pl.Problem, pl.Machine, key, nil)
	if err != nil || len(list) != mostPlaces {
		t.Fatalf("%d, %v", len(list), err)
	}
	for i, x := range list {
		if want := 2500 - 100*i; x.Problem.Size[0] != want {
			t.Errorf("%d. is of %d cells, want %d", i+1, x.Problem.Size[0], want)
		}
	}
}

// What was tuned longer ago than asked for is not taken from the journal either.
func TestWhatIsTooOldIsMeasuredAgain(t *testing.T) {
	p, d := replayed(t)
	tn := open(t)
	var old Config
	for i, age := range []time.Duration{0, time.Hour, time.Nanosecond} {
		n := 0
		c, err := tn.Tune(t.Context(), p, d, Options{Strategy: "exhaustive", Stop: search.Stop{Budget: 9}, MaxAge: age, Watcher: counted{f: func(string) { n++ }}})
		if want := []int{9, 0, 9}[i]; err != nil || n != want || c.Search.Evaluated != 9 {
			t.Errorf("older than %v: %v, %d of %d measured, want %d", age, err, n, c.Search.Evaluated, want)
		}
		old = c
	}
	// Of a tune that did not come to its end, which has no config, the journal has an age all the same; and that of
	// another size's config is no reason to measure again what is new.
	tn = open(t)
	key := KeyOf(p, d.Machine(), timing.Warm)
	for i, c := range []struct{ journal, age time.Duration }{{2 * time.Hour, time.Hour}, {time.Minute, time.Hour}} {
		var entries []cache.Entry
		for _, s := range d.(replay.Device).Order[:40] {
			entries = append(entries, cache.Entry{Outcome: d.(replay.Device).Records[s], At: time.Now().Add(-c.journal)})
		}
		if err := tn.store.Record(key, entries...); err != nil {
			t.Fatal(err)
		}
		old.Problem.Size, old.Time = []int{500, 500, 500}, time.Now().Add(-24*time.Hour)
		if err := tn.store.PutBest(cache.KeyOf(old), old); err != nil {
			t.Fatal(err)
		}
		n := 0
		_, err := tn.Tune(t.Context(), p, d, Options{Strategy: "model", Stop: search.Stop{Budget: 40}, Beyond: true, MaxAge: c.age, Watcher: counted{f: func(string) { n++ }}})
		if err != nil || (n == 40) != (i == 0) {
			t.Errorf("%+v: %v, %d measured", c, err, n)
		}
		if err := tn.store.ForgetBest(key); err != nil {
			t.Fatal(err)
		}
	}
}

// few is a recording of the naive kernel and n schedules of another that give a right answer, the fastest last. change
// may change each record.
func few(t *testing.T, l *replay.Landscape, n int, change func(i int, o *outcome.Outcome)) replay.Device {
	t.Helper()
	list := []outcome.Outcome{l.Records[spacetest.Schedule(t, "global/gx=64/gy=4/gz=1/wx=1/wy=1/wz=1/cw=0/zz=0/sp=0")]}
	for _, s := range l.Order {
		o := l.Records[s]
		if s.Family() == "stream" && o.Status == timing.OK && o.Seconds() < 0.9*list[len(list)-1].Seconds() && len(list) <= n {
			list = append(list, o)
		}
	}
	short := &replay.Landscape{Header: l.Header, Records: map[Schedule]outcome.Outcome{}}
	for i, o := range list {
		change(i, &o)
		if err := short.Add(o); err != nil {
			t.Fatal(err)
		}
	}
	if len(list) != 1+n {
		t.Fatalf("%d schedules", len(list))
	}
	return replay.New(short)
}

// A recording of the naive kernel and at most two others, which may all fail, is searched to its end, and answered
// from the store the next time.
func TestATuneOfFewSchedulesEndsAtOnce(t *testing.T) {
	p, d := replayed(t)
	l := d.(replay.Device).Landscape
	for n := range 3 {
		for _, name := range []string{"bayes", "descent"} { // the others have their turn in package runner
			for _, within := range []float64{0, 0.01} {
				for _, status := range []timing.Status{timing.OK, timing.CompileError, timing.WrongAnswer} {
					if status != timing.OK && (n == 0 || within > 0) {
						continue
					}
					d := few(t, l, n, func(i int, o *outcome.Outcome) {
						if i > 0 && status != timing.OK {
							*o = outcome.Outcome{Schedule: o.Schedule, SourceHash: o.SourceHash, Status: status, Reason: "because"}
						}
					})
					tn, o := open(t), Options{Strategy: name, Beyond: true, Stop: search.Stop{Within: within}}
					c, err := tn.Tune(t.Context(), p, d, o)
					winner, failed, why := d.Order[0], n, search.Exhausted
					if status == timing.OK {
						winner, failed = d.Order[n], 0
					}
					if name == "bayes" && within > 0 {
						why = search.Within
					}
					what := fmt.Sprintf("%d more, %s, within %g, %s", n, name, within, status)
					if err != nil || c.Schedule.Text != winner.String() || c.Search.Stop != why || !c.Search.Complete || len(c.Verification.Checks) == 0 {
						t.Errorf("%s: %v, %s, stopped by %s, complete %v, %d checks", what, err, c.Schedule.Text, c.Search.Stop, c.Search.Complete, len(c.Verification.Checks))
					}
					if c.Search.Space != 1+n || c.Search.Evaluated != 1+n || c.Search.Failed != failed {
						t.Errorf("%s: %d of %d evaluated, %d failed", what, c.Search.Evaluated, c.Search.Space, c.Search.Failed)
					}
					entries, err := tn.store.Entries(KeyOf(p, d.Machine(), timing.Warm))
					if err != nil || len(entries) != 1+n {
						t.Errorf("%s: %d recorded, %v", what, len(entries), err)
					}
					if again, err := tn.Tune(t.Context(), p, d, o); err != nil || again.Time.Unix() != c.Time.Unix() || again.Schedule.Text != c.Schedule.Text {
						t.Errorf("%s: the store did not answer: %v, %s", what, err, again.Schedule.Text)
					}
				}
			}
		}
	}
}

// Where the only schedule there is fails, none works. It is recorded, and no config is stored.
func TestTheOnlyScheduleMayFail(t *testing.T) {
	p, d := replayed(t)
	l := d.(replay.Device).Landscape
	for _, status := range []timing.Status{timing.CompileError, timing.WrongAnswer} {
		d := few(t, l, 0, func(_ int, o *outcome.Outcome) {
			*o = outcome.Outcome{Schedule: o.Schedule, SourceHash: o.SourceHash, Status: status, Reason: "because"}
		})
		tn := open(t)
		c, err := tn.Tune(t.Context(), p, d, Options{})
		none, ok := errors.AsType[*runner.ErrNoSchedule](err)
		if !ok || none.Failed[status] != 1 || c.Schedule.Text != "" {
			t.Errorf("%s: %v, %s", status, err, c.Schedule.Text)
		}
		key := KeyOf(p, d.Machine(), timing.Warm)
		entries, err := tn.store.Entries(key)
		if err != nil || len(entries) != 1 || entries[0].Status != status {
			t.Errorf("%s: recorded %v, %v", status, entries, err)
		}
		if _, _, found, err := tn.store.Best(key); found || err != nil {
			t.Errorf("%s: a config is stored, %v", status, err)
		}
	}
}

// TestAStallThatWasAskedForHolds: the shorter one of spaces that the model foretells is a default of GPUs, and nothing else.
func TestAStallThatWasAskedForHolds(t *testing.T) {
	for _, c := range []struct {
		asked    search.Stop
		kind     machine.Kind
		stall    int
		foretold int
	}{{search.Stop{}, machine.CUDA, 250, 125}, {search.Stop{Stall: 300}, machine.CUDA, 300, 0}, {search.Stop{}, machine.Host, 40, 0}} {
		if got := stops(c.asked, c.kind, false); got.Stall != c.stall || got.Foretold != c.foretold {
			t.Errorf("%v on %s: %d, %d foretold", c.asked, c.kind, got.Stall, got.Foretold)
		}
	}
}
