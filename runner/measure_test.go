package runner

import (
	"context"
	"errors"
	"slices"
	"strings"
	"testing"
	"testing/synctest"

	"stenciltune/device"
	"stenciltune/outcome"
	"stenciltune/space"
	"stenciltune/space/spacetest"
	"stenciltune/timing"
)

func measure(ctx context.Context, t *testing.T, o Options, list ...string) ([]outcome.Outcome, error) {
	t.Helper()
	policy := timing.Search()
	policy.MinSamples = 12
	got, err := Measure(ctx, o, spacetest.Schedules(t, list...), policy)
	empty(t, o.Device.(*fake))
	return got, err
}

func TestMeasureTimesSchedulesInTurn(t *testing.T) {
	d := newFake(t)
	list := []string{tile(64, 4, 1, 4), naives[0], global(32, 4, 2), tile(32, 8, 2, 1)}
	o := options(t, d)
	o.Journal = &journal{d: d, fail: func(int) error { return errors.New("measure has no journal") }}
	got, err := measure(t.Context(), t, o, list...)
	if err != nil || !slices.Equal(texts(got), list) {
		t.Fatalf("%v, %q", err, texts(got))
	}
	for _, o := range got {
		if o.Status != timing.OK || o.Series.N < 12 || o.Series.N != got[0].Series.N || o.Compiler == "" {
			t.Errorf("%s: %s, %d samples", o.Schedule, o.Status, o.Series.N)
		}
		if truth := d.seconds(o.Schedule.String()); o.Seconds() < 0.99*truth || o.Seconds() > 1.01*truth {
			t.Errorf("%s: %g s, want %g", o.Schedule, o.Seconds(), truth)
		}
		if len(o.Checks) != 2 {
			t.Errorf("%s: %d checks", o.Schedule, len(o.Checks))
		}
	}
	if f := d.of(opFinals); len(f) != 4 || !slices.Equal(schedulesOf(f[0]), list) || f[0].timing.Policy.MinSamples != 12 {
		t.Errorf("%d runs interleaved", len(f))
	}
}

func TestMeasureReportsWhatFailed(t *testing.T) {
	d := newFake(t)
	compile, answer, check, hang, regs, good := tile(64, 4, 1, 1), tile(64, 4, 1, 2), tile(64, 4, 1, 4), tile(64, 8, 1, 1), tile(64, 8, 1, 2), tile(64, 8, 1, 4)
	d.regs = registers(regs, 255)
	d.wrong = func(c device.Check) string {
		if c.Passes[0].Binary.Schedule.String() == answer {
			return "wrong"
		}
		return ""
	}
	d.fail = func(op, s string, _ int) error {
		switch {
		case op == opCompile && s == compile:
			return device.Fail(timing.CompileError, "because")
		case op == opFull && s == check:
			return device.Fail(timing.WorkerLost, "because")
		case (op == opTime || op == opFinals) && s == hang:
			return device.Fail(timing.Timeout, "because")
		}
		return nil
	}
	got, err := measure(t.Context(), t, options(t, d), compile, answer, check, hang, regs, good)
	if err != nil {
		t.Fatal(err)
	}
	want := []timing.Status{timing.CompileError, timing.WrongAnswer, timing.WorkerLost, timing.Timeout, timing.Rejected, timing.OK}
	for i, o := range got {
		if o.Status != want[i] || (o.Reason == "") != (o.Status == timing.OK) || (o.Seconds() > 0) != (o.Status == timing.OK) {
			t.Errorf("%s: %s: %s, %g s", o.Schedule, o.Status, o.Reason, o.Seconds())
		}
	}
	if n := got[5].Series.N; n < 12 {
		t.Errorf("the good one has %d samples", n)
	}
	if got, err := measure(t.Context(), t, options(t, d), compile); err != nil || len(got) != 1 || got[0].Status != timing.CompileError {
		t.Errorf("only a broken one: %v, %v", got, err)
	}
}

func TestMeasureRejectsIllegalSchedulesBeforeItTouchesTheDevice(t *testing.T) {
	d := newFake(t)
	got, err := measure(t.Context(), t, options(t, d), tile(64, 4, 1, 1), tile(64, 4, 1, 3))
	r, ok := errors.AsType[*space.Rejection](err)
	if !ok || r.Constraint != "ph" || got != nil || len(d.events) > 0 {
		t.Errorf("%v, %d outcomes, %d calls of the device", err, len(got), len(d.events))
	}
}

func TestMeasureEndsWithTheDevice(t *testing.T) {
	s := tile(64, 4, 1, 1)
	for name, c := range map[string]struct{ op, s string }{
		"baseline": {opTime, naives[2]}, "compile": {opCompile, s}, "check": {opFull, s}, "time": {opFinals, s},
	} {
		d := newFake(t)
		d.fail = func(op, text string, _ int) error {
			if op == c.op && text == c.s {
				return device.ErrLost
			}
			return nil
		}
		if got, err := measure(t.Context(), t, options(t, d), tile(32, 4, 1, 1), s); !errors.Is(err, device.ErrLost) || got != nil {
			t.Errorf("%s: %v, %v", name, got, err)
		}
	}
	d := newFake(t)
	d.wrong = func(device.Check) string { return "wrong" }
	if _, err := measure(t.Context(), t, options(t, d), s); err == nil || !strings.Contains(err.Error(), "naive kernel") {
		t.Errorf("broken naive kernel: %v", err)
	}
}

func TestMeasureIsCancelled(t *testing.T) {
	s := tile(64, 4, 1, 1)
	for _, op := range []string{opCompile, opSmall, opFull, opFinals} {
		synctest.Test(t, func(t *testing.T) {
			ctx, cancel := context.WithCancel(t.Context())
			d := newFake(t)
			d.fail = func(o, text string, _ int) error {
				if o == op && text == s {
					go cancel()
					return errHang
				}
				return nil
			}
			if _, err := measure(ctx, t, options(t, d), s, tile(64, 4, 1, 2)); !errors.Is(err, context.Canceled) {
				t.Errorf("%s: %v", op, err)
			}
		})
	}
}
