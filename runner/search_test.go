package runner

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"stenciltune/device"
	"stenciltune/kernels"
	"stenciltune/kernels/all"
	"stenciltune/outcome"
	"stenciltune/search"
	"stenciltune/space"
	"stenciltune/stencil"
	"stenciltune/timing"
)

func TestEveryFastAnswerIsProved(t *testing.T) {
	for name, families := range map[string][]kernels.Family{"small": smallFamilies(), "all": all.Families()} {
		t.Run(name, func(t *testing.T) {
			d := newFake(t) // it demands a proof at each timing
			d.wrong = func(c device.Check) string {
				s := c.Passes[0].Binary.Schedule.String()
				switch h := hash(s); {
				case slices.Contains(naives, s):
				case h%5 == 0 && c.Trusted == nil, h%5 == 1 && c.Trusted != nil:
					return "wrong"
				}
				return ""
			}
			o := options(t, d)
			o.Families = families
			o.Space = kernels.Spaces(families, o.Problem, d.machine)
			o.Strategy, o.Stop.Budget, o.Ahead = strategy(t, "random", o.Space, 3), 43, 3
			r := mustTune(t, o)
			if r.Failed[timing.WrongAnswer] < 5 || r.Evaluated != 43 {
				t.Fatalf("%d evaluated, failed %v", r.Evaluated, r.Failed)
			}
			for _, o := range r.Outcomes {
				want := 2
				if o.Schedule.String() == naives[0] || o.Status == timing.WrongAnswer && hash(o.Schedule.String())%5 == 0 {
					want = 1
				}
				if len(o.Checks) != want || o.MaxError <= 0 {
					t.Errorf("%s, %s: %d checks, largest error %g", o.Schedule, o.Status, len(o.Checks), o.MaxError)
				}
			}
			demandChecks(t, d, o)
		})
	}
}

// TestOneTooSlowToWinIsNotCheckedOnTheWholeProblem, which would take longer than its time is worth;
// one that is fast and wrong there has no time.
func TestOneTooSlowToWinIsNotCheckedOnTheWholeProblem(t *testing.T) {
	fast, slow, wrong := tile(32, 4, 1, 1), tile(32, 4, 1, 2), tile(64, 4, 1, 1)
	d := newFake(t)
	d.seconds = at(map[string]float64{fast: 80e-6, slow: 400e-6, wrong: 20e-6})
	d.wrong = func(c device.Check) string {
		if s := c.Passes[0].Binary.Schedule.String(); c.Trusted != nil && (s == wrong || s == slow) {
			return "wrong"
		}
		return ""
	}
	o := options(t, d, fast, slow, wrong)
	o.Ahead = 1 // in the order of the list
	r := mustTune(t, o)
	if s := r.Winner.Schedule.String(); s != fast {
		t.Errorf("%s won", s)
	}
	for _, out := range r.Outcomes {
		switch s := out.Schedule.String(); {
		case s == slow && (out.Status != timing.CutSlow || out.Series.N != 1 || len(out.Checks) != 1 || d.count(opFull, s) > 0):
			t.Errorf("%s: %s, %d samples, %d checks", s, out.Status, out.Series.N, len(out.Checks))
		case s == wrong && (out.Status != timing.WrongAnswer || out.Series.N != 0 || !strings.Contains(out.Reason, "7 of ")):
			t.Errorf("%s: %s, %d samples: %s", s, out.Status, out.Series.N, out.Reason)
		}
	}
}

// demandChecks looks at all checks that were asked for.
func demandChecks(t *testing.T, d *fake, o Options) {
	t.Helper()
	for i, e := range d.of(opSmall, opFull) {
		c := e.check
		size := o.Problem.Size
		if e.op == opSmall {
			size = SmallSize(2)
		}
		if c.Problem.Size != size || size[0]%2 == 0 || size[1]%2 == 0 {
			t.Errorf("%s: %s on %v", e.schedule, e.op, c.Problem.Size)
		}
		launches, steps := 0, 0
		for _, p := range c.Passes {
			k := kernels.Find(o.Families, p.Binary.Schedule.Family()).Kernel(c.Problem, p.Binary.Schedule)
			if p.Launch != k.Launch {
				t.Errorf("%s: %s with launch %v, want %v", e.schedule, e.op, p.Launch, k.Launch)
			}
			launches += p.Count
			steps += p.Count * k.Launch.Steps
		}
		if launches < 2 || steps < 3 {
			t.Errorf("%s: %s with %d launches, %d steps: one buffer is never read or never written", e.schedule, e.op, launches, steps)
		}
		var want []stencil.Allowance // the reference has a bound for each cell
		if e.op != opSmall {
			want = slices.Clone(stencil.Allowances(c.Problem, steps))
		}
		for i := range want {
			want[i].Error *= 2
		}
		if !slices.Equal(c.Allowed, want) || c.Seed != o.Seed {
			t.Errorf("%s: %+v allowed, want %+v; seed %d", e.schedule, c.Allowed, want, c.Seed)
		}
		switch {
		case e.op == opSmall: // the reference judges
		case len(c.Trusted) != 1 || c.Trusted[0].Binary.Schedule.String() != naives[0] || device.Steps(c.Trusted) != steps:
			t.Errorf("%s: judged by %+v over %d steps", e.schedule, c.Trusted, steps)
		case c.Passes[0].Binary.ID == c.Trusted[0].Binary.ID: // whether it contradicts itself
		case i == 0 || d.of(opSmall, opFull)[i-1].schedule != e.schedule:
			t.Errorf("%s: on the full problem before the small grid", e.schedule)
		}
	}
}

func TestEveryFailureIsRecordedAndEndsNothing(t *testing.T) {
	at := func(op string, status timing.Status) func(*fake, string) {
		return func(d *fake, s string) {
			d.fail = func(o, text string, _ int) error {
				if o == op && text == s {
					return fmt.Errorf("wrapped: %w", &device.Failure{Status: status, Reason: "because", Log: "line 3"})
				}
				return nil
			}
		}
	}
	answer := func(what string, full bool) func(*fake, string) {
		return func(d *fake, s string) {
			d.wrong = func(c device.Check) string {
				if c.Passes[0].Binary.Schedule.String() == s && full == (c.Trusted != nil) {
					return what
				}
				return ""
			}
		}
	}
	bad := tile(32, 4, 1, 2)
	for name, c := range map[string]struct {
		set    func(*fake, string)
		status timing.Status
		reason string
	}{
		"compile rejected":     {at(opCompile, timing.Rejected), timing.Rejected, "because"},
		"compile error":        {at(opCompile, timing.CompileError), timing.CompileError, "because"},
		"compile timeout":      {at(opCompile, timing.CompileTimeout), timing.CompileTimeout, "because"},
		"load error":           {at(opCompile, timing.LaunchError), timing.LaunchError, "because"},
		"small launch error":   {at(opSmall, timing.LaunchError), timing.LaunchError, "because"},
		"small timeout":        {at(opSmall, timing.Timeout), timing.Timeout, "because"},
		"full launch error":    {at(opFull, timing.LaunchError), timing.LaunchError, "because"},
		"full worker lost":     {at(opFull, timing.WorkerLost), timing.WorkerLost, "because"},
		"time launch error":    {at(opTime, timing.LaunchError), timing.LaunchError, "because"},
		"time timeout":         {at(opTime, timing.Timeout), timing.Timeout, "because"},
		"time worker lost":     {at(opTime, timing.WorkerLost), timing.WorkerLost, "because"},
		"small wrong":          {answer("wrong", false), timing.WrongAnswer, "7 of 16351 cells wrong after 4 steps on 197x83x1; first at (3, 0, 0): got NaN, want 0.5"},
		"full wrong":           {answer("wrong", true), timing.WrongAnswer, "7 of 8385 cells wrong after 4 steps on 129x65x1"},
		"full guard":           {answer("guard", true), timing.WrongAnswer, "out-of-bounds write: 2 elements"},
		"no sample":            {func(d *fake, s string) { d.empty = func(_, text string, _ int) bool { return text == s } }, timing.LaunchError, "no accepted samples"},
		"registers of a block": {func(d *fake, s string) { d.regs = registers(s, 600) }, timing.Rejected, "128 threads of 600 registers need 76800, a block has 65536"},
	} {
		t.Run(name, func(t *testing.T) {
			d := newFake(t)
			c.set(d, bad)
			o := options(t, d, tile(32, 4, 1, 1), bad, tile(32, 4, 1, 4))
			j := &journal{d: d}
			o.Journal = j
			r := mustTune(t, o)
			if r.Evaluated != 6 || r.Stop != search.Exhausted || len(r.Failed) != 1 || r.Failed[c.status] != 1 {
				t.Errorf("%d evaluated, stopped by %s, failed %v", r.Evaluated, r.Stop, r.Failed)
			}
			kept := j.kept[slices.IndexFunc(j.kept, func(o outcome.Outcome) bool { return o.Schedule.String() == bad })]
			for _, o := range []outcome.Outcome{find(t, r, bad), kept} {
				if o.Status != c.status || !strings.Contains(o.Reason, c.reason) || o.Seconds() != 0 {
					t.Errorf("status %s, reason %q, %g s", o.Status, o.Reason, o.Seconds())
				}
				if c.reason == "because" && o.Log != "line 3" {
					t.Errorf("log %q", o.Log)
				}
			}
			told := o.Strategy.(*script).told
			i := slices.IndexFunc(told, func(o outcome.Outcome) bool { return o.Schedule.String() == bad })
			if len(told) != 6 || told[i].Status != c.status || told[i].Seconds() != 0 {
				t.Errorf("the strategy was told %+v", told)
			}
			if good := find(t, r, tile(32, 4, 1, 4)); good.Status != timing.OK {
				t.Errorf("the next one ended as %s: %s", good.Status, good.Reason)
			}
		})
	}
}

func registers(s string, n int) func(string) int {
	return func(text string) int {
		if text == s {
			return n
		}
		return 32
	}
}

func TestAKernelThatNeedsTooManyRegistersIsNeverRun(t *testing.T) {
	d := newFake(t)
	bad := tile(64, 8, 1, 1) // 512 threads
	d.regs = registers(bad, 168)
	r := mustTune(t, options(t, d, bad, tile(32, 8, 1, 1)))
	if o := find(t, r, bad); o.Status != timing.Rejected || o.Registers != 168 || !strings.Contains(o.Reason, "(registers)") {
		t.Errorf("%s: %s; %d registers", o.Status, o.Reason, o.Registers)
	}
	if d.count(opCompile, bad) != 1 || d.count(opSmall, bad)+d.count(opFull, bad)+d.count(opTime, bad) != 0 {
		t.Error("it was run")
	}
}

func TestAnIllegalProposalIsRejectedBeforeItIsCompiled(t *testing.T) {
	d := newFake(t)
	bad := tile(64, 16, 1, 1)
	r := mustTune(t, options(t, d, bad))
	if o := find(t, r, bad); o.Status != timing.Rejected || !strings.Contains(o.Reason, "gy must be one of [4 8]") || d.count(opCompile, bad) != 0 {
		t.Errorf("%s: %s", o.Status, o.Reason)
	}
}

func TestALostDeviceEndsTheTuneWithWhatWasMeasured(t *testing.T) {
	third := tile(32, 4, 1, 4)
	for name, c := range map[string]struct {
		op, s   string
		n       int
		outcome int // measured by then
	}{
		"baseline compile":      {opCompile, naives[1], 0, 1},
		"baseline first":        {opCompile, naives[0], 0, 0},
		"baseline check":        {opSmall, naives[0], 0, 0},
		"baseline judged check": {opFull, naives[2], 0, 2},
		"baseline time":         {opTime, naives[1], 0, 1},
		"search compile":        {opCompile, third, 0, 5},
		"search small check":    {opSmall, third, 0, 5},
		"search full check":     {opFull, third, 0, 5},
		"search time":           {opTime, third, 0, 5},
		"finals compile":        {opCompile, third, 1, 7},
		"finals time":           {opFinals, third, 0, 7},
		"finals check":          {opSmall, third, 1, 7},
		"remainder":             {opCompile, third[:len(third)-1] + "1", 1, 7},
	} {
		t.Run(name, func(t *testing.T) {
			d := newFake(t)
			d.seconds = func(s string) float64 {
				if s == third {
					return 90e-6
				}
				return hashed(s)
			}
			d.fail = func(op, s string, n int) error {
				if op == c.op && s == c.s && n == c.n {
					return fmt.Errorf("pulled out: %w", device.ErrLost)
				}
				return nil
			}
			o := options(t, d, tile(32, 4, 1, 1), tile(32, 4, 1, 2), third, tile(64, 4, 1, 1))
			o.Ahead = 1 // in the order of the list
			r, err := tune(t.Context(), t, o)
			if !errors.Is(err, device.ErrLost) || r.Complete {
				t.Fatalf("error %v, complete %v", err, r.Complete)
			}
			if len(r.Outcomes) != c.outcome || r.Evaluated != c.outcome {
				t.Errorf("%d outcomes of %d evaluated", len(r.Outcomes), r.Evaluated)
			}
			if best := r.Winner.Schedule.String(); c.outcome == 7 && best != third || c.outcome < 7 && c.outcome > 0 && best != naives[0] || c.outcome == 0 && best != "" {
				t.Errorf("best so far: %q", best)
			}
		})
	}
}

// sequence is what a tune found, in order.
func sequence(r Result) []string {
	var list []string
	for _, o := range r.Outcomes {
		list = append(list, fmt.Sprintf("%s %s %.9g", o.Schedule, o.Status, o.Seconds()))
	}
	return append(list, r.Winner.Schedule.String(), string(r.Stop))
}

// simulated is a fake whose compilations take simulated time, each its own.
type simulated struct {
	*fake
	now   time.Duration
	until map[space.Schedule]time.Duration
}

func (d *simulated) Compile(ctx context.Context, k kernels.Kernel) (device.Binary, error) {
	d.until[k.Schedule] = d.now + time.Duration(hash(k.Schedule.String())%2000)*time.Microsecond
	return d.fake.Compile(ctx, k)
}

func (d *simulated) Time(ctx context.Context, r device.Timing) ([]timing.Series, error) {
	d.now += 200 * time.Microsecond
	return d.fake.Time(ctx, r)
}

func (d *simulated) Now() time.Duration                   { return d.now }
func (d *simulated) Ready(s space.Schedule) time.Duration { return d.until[s] }
func (d *simulated) Set(now time.Duration)                { d.now = now }

func TestTheSameSeedGivesTheSameSearch(t *testing.T) {
	search := func(t *testing.T, name string, seed uint64, ahead int) (seq []string) {
		d := newFake(t)
		d.noise = 0.01
		d.fail = func(op, s string, _ int) error {
			if op == opSmall && hash(s)%7 == 0 && !slices.Contains(naives, s) {
				return device.Fail(timing.LaunchError, "because")
			}
			return nil
		}
		o := options(t, d)
		o.Device = &simulated{fake: d, until: map[space.Schedule]time.Duration{}}
		o.Strategy, o.Stop.Budget, o.Ahead = strategy(t, name, o.Space, seed), 30, ahead
		return sequence(mustTune(t, o))
	}
	for _, name := range []string{"random", "model", "bayes"} {
		for _, ahead := range []int{1, 4, 40} {
			want := search(t, name, 2, ahead)
			for range 3 {
				if got := search(t, name, 2, ahead); !slices.Equal(got, want) {
					t.Errorf("%s, %d ahead: %q\nwant %q", name, ahead, got, want)
				}
			}
		}
	}
	if slices.Equal(search(t, "random", 1, 1), search(t, "random", 2, 1)) {
		t.Error("the seed has no effect")
	}
}

// TestTheDeviceTakesWhatIsCompiled: with one schedule in ten that compiles for
// long, and costs as they were measured on a GPU, the device is busy nearly all the
// time, and a source that several schedules share compiles once at a time.
func TestTheDeviceTakesWhatIsCompiled(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		d := newFake(t)
		var mu sync.Mutex
		compiled := map[string]bool{} // sources begun, and whether one compilation has ended
		d.delay = func(op, s string) {
			switch op {
			case opCompile:
				source := s[:strings.LastIndex(s, "/")] // the last parameter shares it
				mu.Lock()
				done, begun := compiled[source]
				if begun && !done {
					t.Errorf("%s is compiled before its source is in the cache", s)
				}
				compiled[source] = done
				mu.Unlock()
				switch {
				case done:
					time.Sleep(5 * time.Millisecond)
				case hash(s)%10 == 0:
					time.Sleep(400 * time.Millisecond)
				default:
					time.Sleep(60 * time.Millisecond)
				}
				mu.Lock()
				compiled[source] = true
				mu.Unlock()
			case opTime:
				time.Sleep(12 * time.Millisecond)
			}
		}
		o := options(t, d)
		o.Ahead = 32
		o.Strategy = strategy(t, "random", o.Space, 1)
		o.Mutate = func(k kernels.Kernel) kernels.Kernel {
			text := k.Schedule.String()
			k.Source = text[:strings.LastIndex(text, "/")]
			return k
		}
		r := mustTune(t, o)
		if r.Utilisation < 0.6 {
			t.Errorf("the device was busy for %.0f %% of the search", 100*r.Utilisation)
		}
	})
}

// TestTheFirstProposalsCompileWhileTheBaselineIsTimed: and what the baseline times is not run
// again when the strategy proposes it before it could be told.
func TestTheFirstProposalsCompileWhileTheBaselineIsTimed(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		first := tile(32, 4, 1, 1)
		d := newFake(t)
		d.delay = func(op, _ string) {
			if op == opSmall {
				time.Sleep(time.Millisecond)
			}
		}
		o := options(t, d, naives[0], first, tile(32, 8, 1, 1), naives[2])
		o.Ahead = 8
		r := mustTune(t, o)
		timed := map[string]int{}
		compiled, baseline := -1, -1
		for i, e := range d.events {
			switch {
			case e.op == opCompile && e.schedule == first && compiled < 0:
				compiled = i
			case e.op == opTime:
				timed[e.schedule]++
				if e.schedule == naives[0] {
					baseline = i
				}
			}
		}
		if compiled < 0 || compiled > baseline {
			t.Errorf("%s is compiled at event %d, the baseline timed at %d", first, compiled, baseline)
		}
		if r.Evaluated != len(naives)+2 || timed[naives[0]] != 1 || timed[naives[2]] != 1 {
			t.Errorf("%d evaluated, timed: %v", r.Evaluated, timed)
		}
	})
}

func TestAHangIsAFailureAfterItsDeadline(t *testing.T) {
	for _, op := range []string{opSmall, opFull, opTime} {
		synctest.Test(t, func(t *testing.T) {
			d := newFake(t)
			stuck := tile(32, 4, 1, 4)
			d.fail = func(o, s string, _ int) error {
				if o == op && s == stuck {
					return errHang
				}
				return nil
			}
			begin := time.Now()
			r := mustTune(t, options(t, d, stuck, tile(32, 4, 1, 2)))
			if o := find(t, r, stuck); o.Status != timing.Timeout {
				t.Errorf("%s: %s", op, o.Status)
			}
			if took := time.Since(begin); took < 2*time.Second || took > 5*time.Second {
				t.Errorf("%s: given up after %v", op, took)
			}
		})
	}
}

func TestTheWatcherSeesEveryOutcomeAndTheBest(t *testing.T) {
	d := newFake(t)
	o := options(t, d)
	var seen []string
	best := 1.0
	o.Watcher = watcher{evaluated: func(o, b outcome.Outcome, p search.Progress) {
		seen = append(seen, o.Schedule.String())
		best = min(best, o.Seconds())
		if b.Seconds() != best || p.Evaluated != len(seen) {
			t.Errorf("best %g, want %g; %d evaluated", b.Seconds(), best, p.Evaluated)
		}
	}}
	r := mustTune(t, o)
	if !slices.Equal(seen, texts(r.Outcomes)) || r.Utilisation <= 0 || r.Utilisation > 1 || r.Seconds <= 0 {
		t.Errorf("saw %d of %d; utilisation %g, %g s", len(seen), len(r.Outcomes), r.Utilisation, r.Seconds)
	}
}
