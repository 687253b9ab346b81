package cuda

import (
	"context"
	"math"
	"slices"
	"testing"
	"time"

	"stenciltune/device"
	"stenciltune/stencil"
	"stenciltune/timing"
)

// metered measures one stretch of a kernel that does what the words say.
func metered(t *testing.T, d *Device, words string, s timing.Stretch, limit time.Duration) (timing.Draw, error) {
	t.Helper()
	p := copyProblem(t, 1000, stencil.Float32)
	ctx, cancel := context.WithTimeout(t.Context(), limit)
	defer cancel()
	return d.Energy(ctx, device.Energy{Problem: p, Run: load(t, d, fakeKernel(t, p, words), 1), Stretch: s})
}

// energy: the counter of the fake moves every 10 ms, and each launch takes a millisecond. A machine at work may see it 50 ms late.
func energy(watts float64, lowered ...string) func(*testing.T) {
	return func(t *testing.T) {
		d := openFake(t)
		if !d.Metered() {
			t.Fatal("no energy counter")
		}
		got, err := metered(t, d, "FAKE_SLOW", timing.Stretch{Settle: 0.02, Span: 1, Limit: 5}, time.Minute)
		if err != nil || math.Abs(got.Watts/watts-1) > 0.1 || got.ClockHz != 1.4e9 || got.Lowered == nil || !slices.Equal(got.Lowered, lowered) {
			t.Errorf("%+v %v", got, err)
		}
		if got.SecondsPerStep < 1e-3 || got.SecondsPerStep > 1 {
			t.Errorf("%g s a step", got.SecondsPerStep)
		}
	}
}

func energyUnknown(t *testing.T) {
	got, err := metered(t, openFake(t), "FAKE_SLOW", timing.Stretch{Settle: 0.01, Span: 0.05, Limit: 0.1}, time.Minute)
	if err != nil || got.Known() {
		t.Errorf("%+v %v", got, err)
	}
	// A kernel that writes beside its array is found out here as well.
	_, err = metered(t, openFake(t), "FAKE_OOB", timing.Stretch{Limit: 0.02}, time.Minute)
	if f := device.AsFailure(err); f == nil || f.Status != timing.WrongAnswer {
		t.Error(err)
	}
}

func unmetered(t *testing.T) {
	d := openFake(t)
	if d.Metered() {
		t.Error("a counter of its own")
	}
	_, err := metered(t, d, "", timing.Metering(), time.Minute)
	if err == nil || device.AsFailure(err) != nil {
		t.Errorf("%v", err)
	}
}

func hangWhileMetered(t *testing.T) {
	d, err := OpenDevice("0")
	if err != nil {
		t.Fatal(err)
	}
	_, err = metered(t, d, "FAKE_HANG", timing.Metering(), 200*time.Millisecond)
	if f := device.AsFailure(err); f == nil || f.Status != timing.Timeout {
		t.Error(err)
	}
}
