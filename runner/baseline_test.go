package runner

import (
	"slices"
	"strings"
	"testing"

	"stenciltune/device"
	"stenciltune/kernels"
	"stenciltune/space/spacetest"
	"stenciltune/timing"
)

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
