package runner

import (
	"errors"
	"strings"
	"testing"

	"stenciltune/device"
	"stenciltune/stencil/stenciltest"
	"stenciltune/timing"
)

// wrongAt makes checks of a schedule wrong: those that say so, by their number from 0 on.
func wrongAt(d *fake, s string, small bool, wrong func(n int) bool) {
	n := 0
	d.wrong = func(c device.Check) string {
		if c.Passes[0].Binary.Schedule.String() != s || small != (c.Trusted == nil) {
			return ""
		}
		if n++; wrong(n - 1) {
			return "wrong"
		}
		return ""
	}
}

// A kernel that is wrong once in many runs never wins, however fast it is, and is told from one that is always wrong.
func TestAnErraticKernelIsSaidToBeOne(t *testing.T) {
	fast, next := tile(64, 4, 2, 1), tile(32, 4, 1, 1)
	for name, c := range map[string]struct {
		small bool
		wrong func(n int) bool
		says  string // of the fast one; "" = nothing of errors that come and go
	}{
		"always wrong":                      {true, func(int) bool { return true }, ""},
		"wrong when first run":              {true, func(n int) bool { return n == 0 }, "right when run again"},
		"on the whole problem":              {false, func(n int) bool { return n == 0 }, "right when run again"},
		"always wrong on the whole problem": {false, func(int) bool { return true }, ""},
		"once in 50 runs, in the proof":     {false, func(n int) bool { return n%50 == 1 }, "right when run again"},
		"once in 50 runs, after it":         {false, func(n int) bool { return n%50 == 49 }, "right in 48 runs and then not"},
	} {
		d := newFake(t)
		d.seconds = at(map[string]float64{fast: 75e-6, next: 80e-6})
		wrongAt(d, fast, c.small, c.wrong)
		r := mustTune(t, options(t, d, fast, next))
		o := find(t, r, fast)
		if r.Winner.Schedule.String() != next || o.Status != timing.WrongAnswer || r.Failed[timing.WrongAnswer] != 1 {
			t.Errorf("%s: winner %s, %s is %s, failed %v", name, r.Winner.Schedule, fast, o.Status, r.Failed)
		}
		if said := strings.Contains(o.Reason, "the device errs"); said != (c.says != "") || !strings.Contains(o.Reason, c.says) || said && !warned(r, c.says) {
			t.Errorf("%s: %q, warnings %q", name, o.Reason, r.Warnings)
		}
	}
}

// Of a winner whose process ends while it is proved again, neither its kernel nor the device is blamed.
func TestAProcessThatEndsInTheProofIsNoRace(t *testing.T) {
	fast, next := tile(64, 4, 2, 1), tile(32, 4, 1, 1)
	d := newFake(t)
	d.seconds = at(map[string]float64{fast: 75e-6, next: 80e-6})
	d.fail = func(op, s string, n int) error {
		if op == opFull && s == fast && n == 7 {
			return device.Fail(timing.WorkerLost, "GPU worker died (signal 9)")
		}
		return nil
	}
	r := mustTune(t, options(t, d, fast, next))
	o := find(t, r, fast)
	if r.Winner.Schedule.String() != next || o.Status != timing.WorkerLost || !strings.Contains(o.Reason, "right in") || strings.Contains(o.Reason, erratic) {
		t.Errorf("winner %s, %s is %s: %s", r.Winner.Schedule, fast, o.Status, o.Reason)
	}
}

// The trusted kernel, which judges all others, is wrong once: whoever is compared with that
// answer is called wrong, and why is said.
func TestATrustedKernelThatContradictsItself(t *testing.T) {
	d := newFake(t)
	d.wrong = func(c device.Check) string { // its kept answer is wrong: nobody gives that again
		if c.Trusted != nil {
			return "wrong"
		}
		return ""
	}
	o := options(t, d, tile(64, 4, 2, 1))
	r, err := tune(t.Context(), t, o)
	if none := new(ErrNoSchedule); !errors.As(err, &none) {
		t.Fatal(err)
	}
	const says = "the trusted kernel does not give its own answer again"
	if w := find(t, r, tile(64, 4, 2, 1)); w.Status != timing.WrongAnswer || !strings.Contains(w.Reason, says) || !warned(r, says) {
		t.Errorf("%q, warnings %q", w.Reason, r.Warnings)
	}
}

// What no check saw is said with the result: branches that none took, cells that rounding hides.
func TestWhatChecksLeaveUnprovedIsAWarning(t *testing.T) {
	const source = "NumDimensions 2 StencilSize (1, 1) CellValue { float a = get(0, 0); if (x == 100000) a = 0; return a; }"
	st := stenciltest.Parse(t, "branch", source)
	const untaken, hidden = "the condition of if never holds", "rounding alone may give nearly any value"
	for name, c := range map[string]struct {
		seen            string // the sides that each schedule's check against the reference saw: '1' fails, '2' holds
		blind           int64
		untaken, hidden bool
	}{
		"both sides":  {"3", 0, false, false},
		"one side":    {"1", 0, true, false},
		"blind cells": {"3", 5, false, true},
	} {
		d := newFake(t)
		d.seen = func(k device.Check) (string, int64) {
			if k.Trusted != nil {
				return "", 0
			}
			return c.seen, c.blind
		}
		o := options(t, d, tile(64, 4, 2, 1))
		o.Problem.Stencil = st
		r := mustTune(t, o)
		if warned(r, untaken) != c.untaken || warned(r, hidden) != c.hidden {
			t.Errorf("%s: warnings %q", name, r.Warnings)
		}
	}
}
