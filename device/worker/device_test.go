package worker

import (
	"context"
	"math"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"stenciltune/device"
	"stenciltune/timing"
)

var background = context.Background()

// open opens a device of fake children; mood "" is a good one.
func open(t testing.TB, change func(*Options)) *Device {
	t.Helper()
	o := options(filepath.Join(t.TempDir(), "mood"))
	if change != nil {
		change(&o)
	}
	d, err := Open(background, o)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := d.Close(); err != nil {
			t.Error(err)
		}
		if left := children(os.Getpid()); len(left) > 0 && !t.Failed() {
			t.Errorf("children left: %v", left)
		}
	})
	return d
}

func compile(t testing.TB, d *Device, text string, n int) device.Binary {
	t.Helper()
	b, err := d.Compile(background, kernel(text, n))
	if err != nil {
		t.Fatalf("compile %q: %v", text, err)
	}
	return b
}

// works demands that a schedule can be checked and timed.
func works(t testing.TB, d *Device, b device.Binary) {
	t.Helper()
	if c, err := d.Check(background, checkOf(b)); err != nil || !c.OK() {
		t.Fatalf("check: %+v, %v", c, err)
	}
	if s, err := d.Time(background, timingOf(b)); err != nil || len(s) != 1 || s[0].N != 5 {
		t.Fatalf("time: %+v, %v", s, err)
	}
}

// wants demands a failure of a status whose reason says something, within a time.
func wants(t testing.TB, err error, status timing.Status, reason string, since time.Time, limit time.Duration) *device.Failure {
	t.Helper()
	f := device.AsFailure(err)
	if f == nil || f.Status != status || !strings.Contains(f.Reason, reason) {
		t.Fatalf("got %v, want %s: %s", err, status, reason)
	}
	if strings.ContainsAny(f.Reason, "\n\x1b") || len(f.Reason) > maxReason {
		t.Errorf("reason is not one short line: %q", f.Reason)
	}
	if took := time.Since(since); took > limit {
		t.Errorf("took %v, more than %v", took, limit)
	}
	return f
}

func TestGoodSchedule(t *testing.T) {
	d := open(t, nil)
	if m := d.Machine(); m.Name != "Fake H200" || m.SMs != 132 {
		t.Errorf("machine %+v", m)
	}
	a, b := compile(t, d, "compile=print load=print time=print", 1), compile(t, d, "", 2)
	if a.ID == b.ID || a.Registers != 32 || a.BlocksPerSM != 64 || len(a.Image) == 0 || a.Schedule != kernel("", 1).Schedule {
		t.Errorf("binary %+v", a)
	}
	works(t, d, a)
	c := checkOf(a)
	c.Trusted = []device.Pass{passOf(b)}
	if r, err := d.Check(background, c); err != nil || r.Against != "global/gx=2" || r.Steps != 2 || r.Tolerance != 1e-6 || r.MaxError != 1e-7 {
		t.Errorf("check: %+v, %v", r, err)
	}
	if s, err := d.Time(background, timingOf(a, b, a)); err != nil || len(s) != 3 || s[2].Median != 5e-4 {
		t.Errorf("time: %+v, %v", s, err)
	}
	if rate, err := d.CopyBandwidth(background, 1<<40); err != nil || rate != 1<<40 {
		t.Errorf("copy: %v, %v", rate, err)
	}
	if s := d.Telemetry(); s.SMClockHz != 1.98e9 {
		t.Errorf("telemetry: %+v", s)
	}
	before := d.Stats().DeviceSeconds
	stretch := device.Energy{Problem: testProblem, Run: passOf(a), Stretch: timing.Stretch{Span: 0.25}}
	if e, err := d.Energy(background, stretch); err != nil || !d.Metered() || e.Joules() != 125 || e.ClockHz != 1.4e9 || e.Lowered == nil {
		t.Errorf("energy: %+v, %v", e, err)
	}
	if d.Stats().DeviceSeconds <= before {
		t.Error("an energy counts as no time of the device")
	}
	d.Release(a)
	d.Release(a)
	d.Release(device.Binary{ID: "never"})
	if _, err := d.Time(background, timingOf(a)); err == nil || device.AsFailure(err) != nil {
		t.Errorf("time of a released binary: %v", err)
	}
	works(t, d, b)
	again := compile(t, d, "", 2) // its source was built
	works(t, d, again)
	if s := d.Stats(); s.Compiles != 2 || again.ID == b.ID || s.GPURestarts != 0 || s.CompileSeconds <= 0 || s.DeviceSeconds <= 0 {
		t.Errorf("stats: %+v, binary %s", s, again.ID)
	}
}

// A wrong answer's error is often NaN, which JSON cannot say.
func TestNotANumber(t *testing.T) {
	d := open(t, nil)
	r, err := d.Check(background, checkOf(compile(t, d, "check=nan", 1)))
	if err != nil || !math.IsNaN(r.MaxError) || r.Wrong != 1 || r.Got != "NaN" || r.OK() {
		t.Errorf("%+v, %v", r, err)
	}
}

// TestBadKernels runs one kernel after the other that harms its process, each
// between good ones.
func TestBadKernels(t *testing.T) {
	d := open(t, nil)
	good := compile(t, d, "", 1)
	for _, c := range []struct {
		text   string
		status timing.Status
		reason string
	}{
		{"hang", timing.Timeout, "passed its deadline of 500ms"},
		{"heed", timing.Timeout, "gave up at its deadline"},
		{"segv", timing.WorkerLost, "signal 11): the fake kernel misbehaves"},
		{"abort", timing.WorkerLost, "signal 6): the fake kernel misbehaves"},
		{"kill", timing.WorkerLost, "signal 9)"},
		{"exit", timing.WorkerLost, "exit code 3): no more"},
		{"panic", timing.WorkerLost, "panic: a bug of the backend"},
		{"nonsense", timing.WorkerLost, "nonsense"},
		{"sticky", timing.LaunchError, "ILLEGAL_ADDRESS"},
		{"tells", timing.Timeout, "LAUNCH_TIMEOUT"},
		{"bare", timing.LaunchError, "poisoned"},
		{"fail", timing.LaunchError, "out of resources (701)"},
	} {
		stages := []string{"time", "check", "load"}
		if testing.Short() {
			stages = stages[:1]
		}
		for _, stage := range stages {
			t.Run(stage+"/"+c.text, func(t *testing.T) {
				begin := time.Now()
				b, err := d.Compile(background, kernel(stage+"="+c.text, 2))
				if err == nil && stage != "load" {
					begin = time.Now()
					_, err = d.Check(background, checkOf(b))
				}
				if err == nil && stage == "time" {
					begin = time.Now()
					_, err = d.Time(background, timingOf(b))
				}
				limit := 10 * time.Second
				if c.text == "hang" && stage != "load" { // which counts from before its compile
					limit = 1400 * time.Millisecond
				}
				f := wants(t, err, c.status, c.reason, begin, limit)
				if len(f.Log) > device.MaxLog+100 {
					t.Errorf("log of %d bytes", len(f.Log))
				}
				d.Release(b)
				works(t, d, good)
			})
		}
	}
	restarts := d.Stats().GPURestarts
	if want := 11 * 3; restarts != want && !testing.Short() {
		t.Errorf("%d restarts, want %d", restarts, want)
	}
	_, err := d.Time(background, timingOf(compile(t, d, "time=error", 3)))
	if err == nil || err.Error() != "something else" || device.AsFailure(err) != nil {
		t.Errorf("other error: %v", err)
	}
	works(t, d, good)
	if d.Stats().GPURestarts != restarts {
		t.Error("a failure that is not sticky cost the process")
	}
}

// Whoever waits behind a kernel that kills the process is not to blame.
func TestInnocents(t *testing.T) {
	for _, how := range []string{"hang", "segv", "sticky"} {
		t.Run(how, func(t *testing.T) {
			d := open(t, nil)
			good, bad := compile(t, d, "", 1), compile(t, d, "time=slow:200ms time="+how, 2)
			var wg sync.WaitGroup
			wg.Go(func() {
				if _, err := d.Time(background, timingOf(bad)); device.AsFailure(err) == nil {
					t.Errorf("bad: %v", err)
				}
			})
			time.Sleep(50 * time.Millisecond)
			for i := range 3 {
				wg.Go(func() {
					if _, err := d.Compile(background, kernel("", 3+i)); err != nil {
						t.Errorf("load behind it: %v", err)
					}
				})
			}
			wg.Go(func() {
				if _, err := d.Check(background, checkOf(good)); err != nil {
					t.Errorf("check behind it: %v", err)
				}
			})
			wg.Wait()
		})
	}
}

// A context's deadline is the schedule's; its cancellation is the user's.
func TestContexts(t *testing.T) {
	d := open(t, func(o *Options) {
		o.TimeTimeout, o.CheckTimeout, o.CompileTimeout = time.Minute, time.Minute, time.Minute
	})
	good := compile(t, d, "", 1)
	hang := compile(t, d, "time=hang check=hang", 2)

	begin := time.Now()
	ctx, cancel := context.WithTimeout(background, 300*time.Millisecond)
	_, err := d.Time(ctx, timingOf(hang))
	cancel()
	wants(t, err, timing.Timeout, "timing passed its deadline of ", begin, 10*time.Second)

	// The restart is not the next schedule's fault.
	ctx, cancel = context.WithTimeout(background, 5*time.Millisecond)
	if _, err := d.Time(ctx, timingOf(good)); err != nil {
		t.Errorf("just after a restart: %v", err)
	}
	cancel()

	for _, run := range []func(context.Context) error{
		func(ctx context.Context) error { _, err := d.Time(ctx, timingOf(hang)); return err },
		func(ctx context.Context) error { _, err := d.Check(ctx, checkOf(hang)); return err },
		func(ctx context.Context) error { _, err := d.Compile(ctx, kernel("load=hang", 3)); return err },
		func(ctx context.Context) error { _, err := d.Compile(ctx, kernel("compile=slow:5s", 4)); return err },
	} {
		ctx, cancel := context.WithCancel(background)
		time.AfterFunc(100*time.Millisecond, cancel)
		begin := time.Now()
		if err := run(ctx); err != context.Canceled {
			t.Errorf("cancelled: %v", err)
		}
		if took := time.Since(begin); took > 3*time.Second {
			t.Errorf("cancelling took %v", took)
		}
		if err := run(ctx); err != context.Canceled {
			t.Errorf("cancelled before: %v", err)
		}
		works(t, d, good)
	}
	ctx, cancel = context.WithTimeout(background, 300*time.Millisecond)
	defer cancel()
	_, err = d.Compile(ctx, kernel("compile=hang", 5))
	wants(t, err, timing.CompileTimeout, "deadline of", begin, time.Minute)
}
