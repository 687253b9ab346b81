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
	"stenciltune/space/spacetest"
	"stenciltune/stencil"
	"stenciltune/stencil/stenciltest"
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

func TestTheJournalKnowsOfEveryScheduleBeforeTheNextRuns(t *testing.T) {
	for _, ahead := range []int{1, 2, 7} {
		d := newFake(t)
		d.fail = func(op, s string, _ int) error {
			if op == opCompile && hash(s)%4 == 0 && !slices.Contains(naives, s) {
				return device.Fail(timing.CompileError, "because")
			}
			return nil
		}
		o := options(t, d)
		j := &journal{d: d, known: map[string]outcome.Outcome{}}
		for i, s := range []string{tile(32, 4, 1, 1), tile(32, 4, 1, 2), tile(64, 8, 2, 4)} {
			j.known[s] = knownAs(o, s, 110e-6+1e-6*float64(i))
		}
		o.Journal, o.Ahead = j, ahead
		r := mustTune(t, o)
		if len(r.Outcomes) != 48 || r.Repeated != 3 || len(j.kept) != 45 {
			t.Fatalf("%d outcomes, %d repeated, %d recorded", len(r.Outcomes), r.Repeated, len(j.kept))
		}
		begun, running := "", ""
		recorded := map[string]int{}
		for _, e := range d.of("record", opSmall, opFull, opTime, opFinals) {
			if e.op == opFinals {
				break
			}
			if e.op == "record" {
				if e.schedule != "" {
					recorded[e.schedule]++
					running = ""
				}
				if e.next != "" {
					begun = e.next
				}
				if _, ok := j.known[e.next]; ok {
					t.Errorf("%d ahead: %s is noted as begun, but its answer is known", ahead, e.next)
				}
				continue
			}
			if e.op == opTime && e.schedule == naives[0] { // the baseline, or a look at the reference
				continue
			}
			if running != "" && running != e.schedule {
				t.Errorf("%d ahead: %s runs before %s was recorded", ahead, e.schedule, running)
			}
			running = e.schedule
			if !slices.Contains(naives, e.schedule) && begun != e.schedule {
				t.Errorf("%d ahead: %s runs, but %q is noted as begun", ahead, e.schedule, begun)
			}
		}
		for _, o := range r.Outcomes {
			if want := 1; !o.Known && recorded[o.Schedule.String()] != want {
				t.Errorf("%d ahead: %s recorded %d times", ahead, o.Schedule, recorded[o.Schedule.String()])
			}
		}
	}
}

// knownAs is an outcome that a journal has.
func knownAs(o Options, text string, seconds float64) outcome.Outcome {
	s, err := space.ParseSchedule(text)
	if err != nil {
		panic(err)
	}
	k := kernels.Find(o.Families, s.Family()).Kernel(o.Problem, s)
	series := timing.Series{Samples: slices.Repeat([]float64{seconds}, 5), Launches: 2, Steps: 2, Summary: timing.Summarise(slices.Repeat([]float64{seconds}, 5))}
	return outcome.Outcome{Schedule: s, SourceHash: k.SourceHash(), Status: timing.OK, Series: series}
}

func TestWhatTheJournalKnowsIsNotMeasuredAgain(t *testing.T) {
	d := newFake(t)
	fast, failed := tile(32, 4, 1, 1), tile(32, 4, 1, 2)
	d.seconds = at(map[string]float64{fast: 80e-6})
	d.trust[fast] = true
	o := options(t, d, fast, failed, tile(32, 4, 1, 4))
	known := knownAs(o, failed, 0)
	known.Status, known.Reason, known.Series = timing.WrongAnswer, "as before", timing.Series{}
	j := &journal{d: d, known: map[string]outcome.Outcome{fast: knownAs(o, fast, 80e-6), failed: known, naives[0]: knownAs(o, naives[0], 1e-6)}}
	o.Journal = j
	r := mustTune(t, o)
	if r.Repeated != 2 || r.Failed[timing.WrongAnswer] != 1 || r.Winner.Schedule.String() != fast || r.Winner.Known {
		t.Errorf("%d repeated, failed %v, winner %s, known %v", r.Repeated, r.Failed, r.Winner.Schedule, r.Winner.Known)
	}
	for _, op := range []string{opSmall, opFull, opTime, opCompile} {
		n := 0 // the finals compile and prove the winner
		switch op {
		case opSmall, opCompile:
			n = 1
		case opFull:
			n = steadyRuns
		}
		if d.count(op, failed) != 0 || d.count(op, fast) != n {
			t.Errorf("%s: %d and %d times", op, d.count(op, failed), d.count(op, fast))
		}
	}
	if o := find(t, r, failed); !o.Known || o.Reason != "as before" {
		t.Errorf("%+v", o)
	}
	if d.count(opTime, naives[0]) != 1 || find(t, r, naives[0]).Known {
		t.Error("the baseline is measured in every run")
	}
	told := o.Strategy.(*script).told
	if len(told) != 6 || told[3].Seconds() != 80e-6 || told[4].Status != timing.WrongAnswer {
		t.Errorf("told %+v", told)
	}
	for _, o := range j.kept {
		if s := o.Schedule.String(); s == fast || s == failed {
			t.Errorf("%s recorded again", s)
		}
	}
}

func TestAJournalThatFailsEndsTheTune(t *testing.T) {
	full := errors.New("no space left")
	for n := range 9 { // 3 baselines, 1 note of the first, 5 schedules
		for _, ahead := range []int{2, 4} {
			d := newFake(t)
			o := options(t, d, tile(32, 4, 1, 1), tile(32, 4, 1, 2), tile(32, 4, 1, 4), tile(64, 4, 1, 1), tile(64, 4, 1, 2))
			o.Ahead = ahead
			o.Journal = &journal{d: d, fail: func(i int) error {
				if i == n {
					return full
				}
				return nil
			}}
			r, err := tune(t.Context(), t, o)
			if !errors.Is(err, full) || r.Complete || r.Stop != search.Lost || !strings.Contains(err.Error(), "could not be stored") {
				t.Errorf("record %d: %v, complete %v", n, err, r.Complete)
			}
			most := n
			if n < 3 {
				most++ // a baseline is recorded after it ran, and what a note is of has not run
			}
			if ran := len(d.of(opSmall)); ran > most || len(r.Outcomes) > n {
				t.Errorf("record %d: %d schedules ran, %d outcomes", n, ran, len(r.Outcomes))
			}
		}
	}
}

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

func TestABrokenNaiveKernelIsAClearError(t *testing.T) {
	isNaive := func(s string) bool { return slices.Contains(naives, s) }
	for name, set := range map[string]func(*fake){
		"compile": func(d *fake) {
			d.fail = func(op, s string, _ int) error {
				if op == opCompile && isNaive(s) {
					return device.Fail(timing.CompileError, "no such header")
				}
				return nil
			}
		},
		"answer": func(d *fake) { d.wrong = func(device.Check) string { return "wrong" } },
		"sample": func(d *fake) { d.empty = func(string, string, int) bool { return true } },
	} {
		d := newFake(t)
		set(d)
		r, err := tune(t.Context(), t, options(t, d))
		want := map[string]string{"compile": "no such header", "answer": "cells wrong", "sample": "no accepted samples"}[name]
		if err == nil || !strings.Contains(err.Error(), "the naive kernel, which judges all others, does not work here: ") || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v", name, err)
		}
		if !r.Winner.Schedule.IsZero() || r.Complete || len(r.Outcomes) != 3 {
			t.Errorf("%s: winner %s, %d outcomes", name, r.Winner.Schedule, len(r.Outcomes))
		}
	}
	d := newFake(t)
	o := options(t, d)
	o.Families = smallFamilies()[1:]
	o.Space = kernels.Spaces(o.Families, o.Problem, d.machine)
	if _, err := tune(t.Context(), t, o); err == nil || !strings.Contains(err.Error(), "the space has none") {
		t.Errorf("no naive kernel in the space: %v", err)
	}
}

func TestAnotherNaiveShapeTakesOverWhenTheFirstFails(t *testing.T) {
	d := newFake(t)
	d.wrong = func(c device.Check) string {
		if c.Passes[0].Binary.Schedule.String() == naives[0] {
			return "wrong"
		}
		return ""
	}
	r := mustTune(t, options(t, d, tile(32, 4, 1, 1)))
	if r.Naive.Schedule.String() != naives[1] || r.Failed[timing.WrongAnswer] != 1 {
		t.Errorf("naive %s, failed %v", r.Naive.Schedule, r.Failed)
	}
	for _, e := range d.of(opFull) {
		if e.check.Trusted[0].Binary.Schedule.String() != naives[1] {
			t.Errorf("%s is judged by %s", e.schedule, e.check.Trusted[0].Binary.Schedule)
		}
	}
}

func TestAGridTooSmallForTheUsualShapesHasABaselineToo(t *testing.T) {
	d := newFake(t)
	o := options(t, d, global(32, 1, 2))
	o.Families = []kernels.Family{boxOf("global", []int{32}, []int{1, 2}, []int{1, 2}, "sp", []int{0})}
	o.Space = kernels.Spaces(o.Families, o.Problem, d.machine)
	if r := mustTune(t, o); r.Naive.Schedule.String() != global(32, 1, 1) || r.Evaluated != 2 {
		t.Errorf("naive %s, %d evaluated", r.Naive.Schedule, r.Evaluated)
	}
}

// TestABaselineThatIsNamed takes the place of the naive kernels, and judges the others.
func TestABaselineThatIsNamed(t *testing.T) {
	d := newFake(t)
	own, other := tile(32, 4, 1, 1), tile(64, 8, 1, 1)
	o := options(t, d, own, naives[0], other)
	o.Baseline = spacetest.Schedules(t, own)
	r := mustTune(t, o)
	if got := texts(r.Outcomes); !slices.Equal(got, []string{own, naives[0], other}) || r.Naive.Schedule.String() != own {
		t.Errorf("%v, baseline %s", got, r.Naive.Schedule)
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
