package runner

import (
	"errors"
	"slices"
	"strings"
	"testing"

	"stenciltune/device"
	"stenciltune/kernels"
	"stenciltune/outcome"
	"stenciltune/search"
	"stenciltune/space"
	"stenciltune/timing"
)

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
