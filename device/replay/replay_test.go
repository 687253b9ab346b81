package replay

import (
	"bytes"
	"context"
	"math"
	"reflect"
	"slices"
	"strings"
	"testing"

	"stenciltune/device"
	"stenciltune/kernels"
	"stenciltune/machine"
	"stenciltune/space/spacetest"
	"stenciltune/stencil"
	"stenciltune/timing"
)

func replayed(t testing.TB) (Device, stencil.Problem) {
	t.Helper()
	p := problem(t)
	l, err := Read(bytes.NewReader(write(t, header(p), records(t))))
	if err != nil {
		t.Fatal(err)
	}
	return New(l), p
}

func compile(t testing.TB, d Device, text string) (device.Binary, error) {
	t.Helper()
	return d.Compile(context.Background(), kernels.Kernel{Schedule: spacetest.Schedule(t, text), Entry: "entry"})
}

func pass(t testing.TB, text string, count, steps int) device.Pass {
	t.Helper()
	return device.Pass{Binary: device.Binary{Schedule: spacetest.Schedule(t, text)}, Launch: kernels.Launch{Steps: steps}, Count: count}
}

// failed tells whether err is a failure of that status: data, not a lost device.
func failed(err error, status timing.Status) bool {
	f := device.AsFailure(err)
	return f != nil && f.Status == status
}

func TestReplayIsMarkedAsSuch(t *testing.T) {
	d, _ := replayed(t)
	m := d.Machine()
	if m.Kind != machine.Replay || m.Name != "Test GPU" || m.SMs != 4 {
		t.Errorf("%+v", m)
	}
	if d.Header.Machine.Kind != machine.CUDA {
		t.Error("the landscape's own header was changed")
	}
}

func TestCompileAnswersWithWhatWasRecorded(t *testing.T) {
	d, _ := replayed(t)
	b, err := compile(t, d, "tile/gx=32/ph=2")
	if err != nil || b.Registers != 40 || b.SpillBytes != 16 || b.Entry != "entry" || b.Schedule != spacetest.Schedule(t, "tile/gx=32/ph=2") || b.ID == "" || b.Compiler != "NVRTC 13.0" {
		t.Errorf("%+v, %v", b, err)
	}
	other, err := compile(t, d, "global/gx=32")
	if err != nil || other.ID == b.ID || other.CompileSeconds != 0.5 || other.BlocksPerSM != 8 {
		t.Errorf("%+v, %v", other, err)
	}
	if _, err := compile(t, d, "global/gx=128"); !failed(err, timing.CompileError) || !strings.Contains(err.Error(), "too many registers") {
		t.Errorf("a recorded compile error: %v", err)
	}
	if _, err := compile(t, d, "global/gx=256"); err != nil {
		t.Errorf("a schedule with a wrong answer did compile: %v", err)
	}
	d.Release(b)
	d.Release(device.Binary{ID: "unknown"})
	if err := d.Close(); err != nil {
		t.Error(err)
	}
}

func TestNothingIsInventedForWhatWasNotRecorded(t *testing.T) {
	d, p := replayed(t)
	const unknown = "global/gx=1024"
	ctx := context.Background()
	_, compileErr := compile(t, d, unknown)
	_, checkErr := d.Check(ctx, device.Check{Problem: p, Passes: []device.Pass{pass(t, "global/gx=32", 1, 1), pass(t, unknown, 1, 1)}})
	series, timeErr := d.Time(ctx, device.Timing{Problem: p, Runs: []device.Pass{pass(t, "global/gx=32", 1, 1), pass(t, unknown, 1, 1)}, Policy: timing.Search()})
	for name, err := range map[string]error{"compile": compileErr, "check": checkErr, "time": timeErr} {
		if !failed(err, timing.Skipped) || !strings.Contains(err.Error(), unknown+" was not recorded") {
			t.Errorf("%s: %v", name, err)
		}
	}
	if series != nil {
		t.Errorf("times: %+v", series)
	}
	if _, err := d.Time(ctx, device.Timing{Problem: p, Runs: []device.Pass{pass(t, "global/gx=512", 1, 1)}, Policy: timing.Search()}); !failed(err, timing.Skipped) {
		t.Errorf("a record without samples: %v", err)
	}
	if _, err := d.Time(ctx, device.Timing{Problem: p, Runs: []device.Pass{pass(t, "global/gx=256", 1, 1)}, Policy: timing.Search()}); !failed(err, timing.WrongAnswer) {
		t.Errorf("the time of a wrong answer: %v", err)
	}
}

func TestCheckAnswersWithTheRecordedError(t *testing.T) {
	d, p := replayed(t)
	c, err := d.Check(context.Background(), device.Check{Problem: p, Allowed: []stencil.Allowance{{Error: 1e-6}}, Passes: []device.Pass{pass(t, "tile/gx=32/ph=2", 3, 2), pass(t, "global/gx=32", 1, 1)}})
	if err != nil || !c.OK() || c.Cells != 64*32 || c.Steps != 7 || c.MaxError != 1.25e-7 || c.Tolerance != 1e-6 || c.Against != "recorded" {
		t.Errorf("%+v, %v", c, err)
	}
	if _, err := d.Check(context.Background(), device.Check{Problem: p, Passes: []device.Pass{pass(t, "global/gx=256", 1, 1)}}); !failed(err, timing.WrongAnswer) || !strings.Contains(err.Error(), "3 of 9") {
		t.Errorf("a recorded wrong answer: %v", err)
	}
}

func TestTimeHandsOutTheRecordedSamplesInOrder(t *testing.T) {
	d, p := replayed(t)
	policy := timing.Search()
	policy.HalfWidth = 0 // as many as there are
	runs := []device.Pass{pass(t, "global/gx=32", 0, 1), pass(t, "tile/gx=32/ph=2", 0, 2), pass(t, "global/gx=64", 0, 1)}
	all, err := d.Time(context.Background(), device.Timing{Problem: p, Runs: runs, Policy: policy, Interleaved: true})
	if err != nil || len(all) != 3 {
		t.Fatalf("%d series, %v", len(all), err)
	}
	for i, s := range all {
		want := d.Records[runs[i].Binary.Schedule]
		if len(s.Samples) != len(want.Series.Samples) {
			t.Errorf("%s: %d samples, want %d", want.Schedule, len(s.Samples), len(want.Series.Samples))
			continue
		}
		for k, x := range want.Series.Samples {
			if math.Abs(s.Samples[k]/x-1) > 1e-12 {
				t.Errorf("%s: sample %d is %g, want %g", want.Schedule, k, s.Samples[k], x)
			}
		}
		if s.Launches != want.Series.Launches || s.Steps != want.Series.Launches*runs[i].Launch.Steps || s.Warnings != nil || s.CutSlow {
			t.Errorf("%s: %+v", want.Schedule, s)
		}
		if m := timing.Summarise(want.Series.Samples).Median; math.Abs(s.Median/m-1) > 1e-12 {
			t.Errorf("%s: median %g, want %g", want.Schedule, s.Median, m)
		}
	}
	again, err := d.Time(context.Background(), device.Timing{Problem: p, Runs: runs, Policy: policy, Interleaved: true})
	if err != nil || !reflect.DeepEqual(again, all) {
		t.Errorf("a second time it answers otherwise: %v", err)
	}
}

func TestTimeObeysThePolicy(t *testing.T) {
	d, p := replayed(t)
	ask := func(policy timing.Policy) timing.Series {
		all, err := d.Time(context.Background(), device.Timing{Problem: p, Runs: []device.Pass{pass(t, "global/gx=32", 0, 1)}, Policy: policy})
		if err != nil {
			t.Fatal(err)
		}
		return all[0]
	}
	policy := timing.Search()
	policy.MinSamples, policy.MaxSamples = 2, 4
	if s := ask(policy); s.N != 4 {
		t.Errorf("at most four: %d samples", s.N)
	}
	policy.HalfWidth = 0.5
	if s := ask(policy); s.N != 2 {
		t.Errorf("content with little: %d samples", s.N)
	}
	policy.CutAbove = 1.5e-3
	if s := ask(policy); !s.CutSlow || s.N != 2 {
		t.Errorf("cut: %+v", s)
	}
}

func TestReplayIsADeviceForAWholeLandscape(t *testing.T) {
	d, p := replayed(t)
	var dev device.Device = d
	var best string
	low := math.Inf(1)
	counts := map[timing.Status]int{}
	for _, s := range slices.Backward(d.Order) {
		b, err := dev.Compile(context.Background(), kernels.Kernel{Schedule: s})
		var series []timing.Series
		if err == nil {
			run := device.Pass{Binary: b, Launch: kernels.Launch{Steps: s.Int("ph", 1)}, Count: 1}
			if _, err = dev.Check(context.Background(), device.Check{Problem: p, Passes: []device.Pass{run}}); err == nil {
				series, err = dev.Time(context.Background(), device.Timing{Problem: p, Runs: []device.Pass{run}, Policy: timing.Search()})
			}
		}
		status := timing.OK
		switch f := device.AsFailure(err); {
		case f != nil:
			status = f.Status
		case err != nil:
			t.Fatalf("%s: the device is lost: %v", s, err)
		case series[0].CutSlow:
			status = timing.CutSlow
		}
		counts[status]++
		if status == timing.OK && series[0].Median < low {
			best, low = s.String(), series[0].Median
		}
	}
	if want := map[timing.Status]int{timing.OK: 3, timing.CompileError: 1, timing.WrongAnswer: 1, timing.Skipped: 1}; !reflect.DeepEqual(counts, want) {
		t.Errorf("outcomes %v, want %v", counts, want)
	}
	if r, _ := d.Best(); best != r.Schedule.String() {
		t.Errorf("found %s, recorded best %s", best, r.Schedule)
	}
}
