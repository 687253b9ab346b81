package worker

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"math"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strconv"
	"strings"
	"sync"
	"syscall"
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

func TestBadCompiles(t *testing.T) {
	for _, threads := range []int{1, 3} {
		t.Run(fmt.Sprint(threads), func(t *testing.T) {
			d := open(t, func(o *Options) { o.Threads, o.CompileTimeout = threads, time.Second })
			for _, c := range []struct {
				text   string
				status timing.Status
				reason string
			}{
				{"compile=hang", timing.CompileTimeout, "compile passed its deadline of 1s"},
				{"compile=segv", timing.CompileError, "compiler died (signal 11)"},
				{"compile=exit compile=shout", timing.CompileError, "compiler died (exit code 3)"},
				{"compile=shout compile=refuse", timing.CompileError, "2 errors"},
			} {
				var wg sync.WaitGroup // innocents beside it
				for i := range 4 {
					wg.Go(func() {
						b, err := d.Compile(background, kernel("compile=slow:100ms", 10+i))
						if err != nil {
							t.Errorf("beside %s: %v", c.text, err)
						}
						d.Release(b)
					})
				}
				begin := time.Now()
				_, err := d.Compile(background, kernel(c.text, 1))
				f := wants(t, err, c.status, c.reason, begin, 10*time.Second)
				if len(f.Log) > device.MaxLog+100 {
					t.Errorf("log of %d bytes", len(f.Log))
				}
				wg.Wait()
			}
			// A compiler that dies once is forgiven.
			once := filepath.Join(t.TempDir(), "once")
			works(t, d, compile(t, d, "compile=once:"+once, 2))
			if _, err := d.Compile(background, kernel("compile=error", 3)); err == nil || device.AsFailure(err) != nil {
				t.Errorf("other error: %v", err)
			}
			if s := d.Stats(); s.GPURestarts != 0 || s.CompilerRestarts == 0 {
				t.Errorf("stats: %+v", s)
			}
		})
	}
}

// A restart brings back all that is not released, the trusted kernel too.
func TestReload(t *testing.T) {
	d := open(t, nil)
	a, b, gone := compile(t, d, "", 1), compile(t, d, "", 2), compile(t, d, "", 3)
	d.Release(gone)
	if _, err := d.Time(background, timingOf(compile(t, d, "time=kill", 4))); device.AsFailure(err) == nil {
		t.Fatal(err)
	}
	c := checkOf(a)
	c.Trusted = []device.Pass{passOf(b)}
	if r, err := d.Check(background, c); err != nil || r.Against != "global/gx=2" {
		t.Errorf("%+v, %v", r, err)
	}
	// One that is bad only when it is loaded again.
	once := filepath.Join(t.TempDir(), "once")
	if err := os.WriteFile(once, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	bad := compile(t, d, "load=once:"+once, 5)
	if err := os.Remove(once); err != nil {
		t.Fatal(err)
	}
	if _, err := d.Time(background, timingOf(compile(t, d, "time=kill", 6))); device.AsFailure(err) == nil {
		t.Fatal(err)
	}
	_, err := d.Time(background, timingOf(a, bad))
	wants(t, err, timing.WorkerLost, "exit code 4", time.Now(), time.Second)
	works(t, d, a)
}

// Who shares a load with one that is cancelled has the binary loaded for itself.
func TestACancelledLoadIsSharedByNobody(t *testing.T) {
	d := open(t, nil)
	slow := compile(t, d, "load=slow:300ms", 1)
	if _, err := d.Time(background, timingOf(compile(t, d, "time=kill", 2))); device.AsFailure(err) == nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(background)
	var wg sync.WaitGroup
	wg.Go(func() {
		if _, err := d.Time(ctx, timingOf(slow)); err != context.Canceled {
			t.Errorf("cancelled: %v", err)
		}
	})
	for loading := false; !loading; time.Sleep(time.Millisecond) {
		d.gpu.mu.Lock()
		loading = d.gpu.life != nil && d.gpu.life.loads[slow.ID] != nil
		d.gpu.mu.Unlock()
	}
	wg.Go(func() {
		if _, err := d.Time(background, timingOf(slow)); err != nil {
			t.Errorf("beside it: %v", err)
		}
	})
	time.Sleep(50 * time.Millisecond)
	cancel()
	wg.Wait()
}

// Compiles go on while the device is busy, and several at once.
func TestOverlap(t *testing.T) {
	d := open(t, func(o *Options) { o.Compilers, o.Threads = 2, 2 })
	busy := compile(t, d, "time=slow:400ms", 1)
	var wg sync.WaitGroup
	begin := time.Now()
	done := make(chan time.Duration, 1)
	wg.Go(func() {
		if _, err := d.Time(background, timingOf(busy)); err != nil {
			t.Error(err)
		}
		done <- time.Since(begin)
	})
	time.Sleep(50 * time.Millisecond)
	processes := sync.Map{}
	for i := range 4 {
		wg.Go(func() {
			b, err := d.Compile(background, kernel("compile=slow:300ms", 2+i))
			if err != nil {
				t.Error(err)
			}
			processes.Store(b.Compiler, true)
			if timed := <-done; time.Since(begin) < timed {
				t.Error("loaded while the device was timing")
			} else {
				done <- timed
			}
		})
	}
	wg.Wait()
	if took := time.Since(begin); took >= 1600*time.Millisecond { // one after the other
		t.Errorf("4 compiles of 0.3 s beside a timing of 0.4 s took %v", took)
	}
	n := 0
	processes.Range(func(any, any) bool { n++; return true })
	if n != 2 {
		t.Errorf("%d compile processes", n)
	}
}

// A load that waits for a long timing is neither late nor behind the next one.
func TestLoadGoesFirst(t *testing.T) {
	d := open(t, func(o *Options) { o.LoadTimeout, o.TimeTimeout = 100*time.Millisecond, time.Minute })
	slow := compile(t, d, "time=slow:500ms", 1)
	var wg sync.WaitGroup
	var timed [2]time.Time
	for i := range timed {
		wg.Go(func() {
			if _, err := d.Time(background, timingOf(slow)); err != nil {
				t.Error(err)
			}
			timed[i] = time.Now()
		})
	}
	time.Sleep(100 * time.Millisecond)
	compile(t, d, "", 2)
	loaded := time.Now()
	wg.Wait()
	last := timed[0]
	if timed[1].After(last) {
		last = timed[1]
	}
	if last.Sub(loaded) < 300*time.Millisecond {
		t.Errorf("the load waited for both timings")
	}
	if n := d.Stats().GPURestarts; n != 0 {
		t.Errorf("%d restarts", n)
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

// A device whose processes only die is lost, after a few.
func TestRestartStorm(t *testing.T) {
	d := open(t, nil)
	b := compile(t, d, "", 1)
	bad := compile(t, d, "time=kill", 2)
	setMood(t, d, "open=exit")
	if _, err := d.Time(background, timingOf(bad)); device.AsFailure(err) == nil {
		t.Fatal(err)
	}
	begin := time.Now()
	_, err := d.Time(background, timingOf(b))
	if !errors.Is(err, device.ErrLost) || device.AsFailure(err) != nil {
		t.Fatal(err)
	}
	for _, want := range []string{"Fake H200 (GPU-1234)", "4 times", "exit code 3"} {
		if !strings.Contains(err.Error(), want) {
			t.Errorf("%q lacks %q", err, want)
		}
	}
	if took := time.Since(begin); took > 20*time.Second {
		t.Errorf("took %v", took)
	}
	begin = time.Now()
	if _, err := d.Compile(background, kernel("", 3)); !errors.Is(err, device.ErrLost) {
		t.Errorf("compile: %v", err)
	}
	if time.Since(begin) > time.Second || d.Telemetry().SMClockHz != 0 {
		t.Error("a lost device is still asked")
	}
}

// setMood decides how the device's next processes open.
func setMood(t testing.TB, d *Device, mood string) {
	t.Helper()
	for _, kv := range d.options.GPUCommand().Env {
		if path, ok := strings.CutPrefix(kv, moodIn+"="); ok {
			if err := os.WriteFile(path, []byte(mood), 0o600); err != nil {
				t.Fatal(err)
			}
		}
	}
}

func TestLost(t *testing.T) {
	for mood, reason := range map[string]string{
		"missing":    "libcuda.so.1 was not found",
		"swapped":    "another device answers",
		"open=lost":  "fell off the bus",
		"open=error": "something else",
	} {
		t.Run(mood, func(t *testing.T) {
			d := open(t, nil)
			good, bad := compile(t, d, "", 1), compile(t, d, "time=sticky", 2)
			setMood(t, d, mood)
			if _, err := d.Time(background, timingOf(bad)); device.AsFailure(err) == nil {
				t.Fatal(err)
			}
			_, err := d.Time(background, timingOf(good))
			if !errors.Is(err, device.ErrLost) || !strings.Contains(err.Error(), reason) || !strings.Contains(err.Error(), "GPU-1234") {
				t.Errorf("got %v", err)
			}
			if n := d.Stats().GPURestarts; (n > 1) != (mood == "open=error") {
				t.Errorf("%d restarts", n) // a device that says that it is lost is not tried again
			}
		})
	}
	d := open(t, nil)
	if _, err := d.Time(background, timingOf(compile(t, d, "time=lost", 1))); !errors.Is(err, device.ErrLost) {
		t.Errorf("an operation says so: %v", err)
	}
	if n := d.Stats().GPURestarts; n != 0 {
		t.Errorf("%d restarts of a lost device", n)
	}
}

// A moment's trouble with opening is got over.
func TestSlowRecovery(t *testing.T) {
	d := open(t, nil)
	good, bad := compile(t, d, "", 1), compile(t, d, "time=kill", 2)
	setMood(t, d, "open=error")
	if _, err := d.Time(background, timingOf(bad)); device.AsFailure(err) == nil {
		t.Fatal(err)
	}
	time.AfterFunc(300*time.Millisecond, func() { setMood(t, d, "") })
	works(t, d, good)
}

func TestManyBadSchedulesInARow(t *testing.T) {
	d := open(t, nil)
	for i := range 8 {
		_, err := d.Check(background, checkOf(compile(t, d, "check=sticky", i+1)))
		wants(t, err, timing.LaunchError, "700", time.Now(), time.Second)
	}
	works(t, d, compile(t, d, "", 9))
}

// Processes that load and compile well between their ends do not hide that no kernel runs.
func TestADeviceOnWhichNothingRunsWellIsLost(t *testing.T) {
	d := open(t, nil)
	good, bad := compile(t, d, "", 1), compile(t, d, "check=sticky", 2)
	almost := func() {
		d.gpu.mu.Lock()
		defer d.gpu.mu.Unlock()
		d.gpu.barren = maxBarren - 1
	}
	for what, run := range map[string]func() error{
		"check":  func() error { _, err := d.Check(background, checkOf(good)); return err },
		"timing": func() error { _, err := d.Time(background, timingOf(good)); return err },
		"energy": func() error {
			_, err := d.Energy(background, device.Energy{Problem: testProblem, Run: passOf(good), Stretch: timing.Stretch{Span: 0.25}})
			return err
		},
	} {
		almost()
		err := run()
		d.gpu.mu.Lock()
		if d.gpu.barren != 0 || err != nil {
			t.Errorf("a %s does not begin the count anew: %d, %v", what, d.gpu.barren, err)
		}
		d.gpu.mu.Unlock()
	}
	for range 2 {
		_, err := d.Check(background, checkOf(bad))
		wants(t, err, timing.LaunchError, "700", time.Now(), time.Minute)
		works(t, d, good)
	}
	almost()
	for range 2 {
		_, err := d.Check(background, checkOf(bad))
		wants(t, err, timing.LaunchError, "700", time.Now(), time.Minute)
	}
	if _, err := d.Check(background, checkOf(good)); !errors.Is(err, device.ErrLost) || !strings.Contains(err.Error(), "not one kernel ran well") {
		t.Error(err)
	}
}

func TestOpenFails(t *testing.T) {
	dir := t.TempDir()
	mood := func(text string) string {
		path := filepath.Join(dir, strconv.Itoa(len(text)))
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		return path
	}
	usual := options(filepath.Join(dir, "none"))
	for _, c := range []struct {
		name   string
		change func(*Options)
		is     error
		text   string
	}{
		{"missing", func(o *Options) { o.GPUCommand = command("gpu", mood("missing")) }, device.ErrMissing, "install a driver"},
		{"dies", func(o *Options) { o.GPUCommand = command("gpu", mood("open=segv")) }, device.ErrLost, "signal 11"},
		{"hangs", func(o *Options) {
			o.GPUCommand, o.StartTimeout = command("gpu", mood("open=hang")), 300*time.Millisecond
		}, device.ErrLost, "opening the device passed its deadline"},
		{"raw", func(o *Options) { o.GPUCommand = command("raw", "") }, device.ErrLost, "nonsense"},
		{"no compiler", func(o *Options) { o.CompileCommand = command("compile", mood("compiler=error")) }, nil, "something else"},
		{"compiler dies", func(o *Options) { o.CompileCommand = command("compile", mood("compiler=exit")) }, nil, "compiler died (exit code 3)"},
		{"wrong kind", func(o *Options) { o.GPUCommand = o.CompileCommand }, nil, "no device"},
		{"no such command", func(o *Options) {
			o.GPUCommand = command("gpu", "")
			c := o.GPUCommand()
			c.Path = filepath.Join(dir, "nothing")
			o.GPUCommand = func() *exec.Cmd { return c }
		}, os.ErrNotExist, "nothing"},
	} {
		t.Run(c.name, func(t *testing.T) {
			o := usual
			c.change(&o)
			begin := time.Now()
			d, err := Open(background, o)
			if err == nil {
				_ = d.Close()
				t.Fatal("opened")
			}
			if c.is != nil && !errors.Is(err, c.is) || !strings.Contains(err.Error(), c.text) {
				t.Errorf("got %v", err)
			}
			if took := time.Since(begin); took > 10*time.Second {
				t.Errorf("took %v", took)
			}
			if left := children(os.Getpid()); len(left) > 0 {
				t.Errorf("children left: %v", left)
			}
		})
	}
	o := usual
	o.GPUCommand = command("gpu", mood("open=hang"))
	ctx, cancel := context.WithTimeout(background, 200*time.Millisecond)
	defer cancel()
	begin := time.Now()
	if _, err := Open(ctx, o); !errors.Is(err, context.DeadlineExceeded) || time.Since(begin) > 10*time.Second {
		t.Errorf("open with a deadline: %v after %v", err, time.Since(begin))
	}
}

func TestTelemetry(t *testing.T) {
	d := open(t, nil)
	busy := compile(t, d, "time=slow:400ms", 1)
	done := make(chan struct{})
	go func() {
		defer close(done)
		if _, err := d.Time(background, timingOf(busy)); err != nil {
			t.Error(err)
		}
	}()
	time.Sleep(100 * time.Millisecond)
	begin := time.Now()
	for range 2 {
		if s := d.Telemetry(); s.SMClockHz == 0 || time.Since(begin) > 300*time.Millisecond {
			t.Errorf("%+v after %v", s, time.Since(begin))
		}
	}
	<-done
	setMood(t, d, "sense=hang")
	begin = time.Now()
	for range 10 {
		if s := d.Telemetry(); s.SMClockHz != 0 {
			t.Errorf("%+v", s)
		}
	}
	if took := time.Since(begin); took > 8*telemetryWait {
		t.Errorf("a sensor that hangs took %v", took)
	}
	works(t, d, compile(t, d, "", 2))
	if n := d.Stats().GPURestarts; n != 0 {
		t.Errorf("a sensor that hangs cost %d processes", n)
	}
}

func TestDeviceWithoutSensor(t *testing.T) {
	d := open(t, func(o *Options) {
		mood := filepath.Join(t.TempDir(), "mood")
		if err := os.WriteFile(mood, []byte("blind"), 0o600); err != nil {
			t.Fatal(err)
		}
		o.GPUCommand = command("gpu", mood)
	})
	if s := d.Telemetry(); s.SMClockHz != 0 {
		t.Errorf("%+v", s)
	}
	if _, err := d.CopyBandwidth(background, 1); err == nil {
		t.Error("copied")
	}
	if _, err := d.Energy(background, device.Energy{Problem: testProblem, Run: passOf(compile(t, d, "", 1))}); err == nil || device.AsFailure(err) != nil || d.Metered() {
		t.Errorf("an energy counter: %v", err)
	}
}

// TestEnergyHangs: a stretch is bounded as a timing is, and its kernel to blame.
func TestEnergyHangs(t *testing.T) {
	d := open(t, nil)
	bad := compile(t, d, "energy=hang", 1)
	_, err := d.Energy(background, device.Energy{Problem: testProblem, Run: passOf(bad), Stretch: timing.Stretch{Limit: 0.1}})
	if f := device.AsFailure(err); f == nil || f.Status != timing.Timeout || !strings.Contains(f.Reason, "measuring energy") {
		t.Error(err)
	}
	works(t, d, compile(t, d, "", 2))
}

// A compile that runs beside one that is killed for its deadline is not to blame.
func TestABystanderOfATimeOutIsCompiledAgain(t *testing.T) {
	d := open(t, func(o *Options) { o.Threads, o.CompileTimeout = 2, time.Second })
	var wg sync.WaitGroup
	wg.Go(func() {
		_, err := d.Compile(background, kernel("compile=hang", 1))
		wants(t, err, timing.CompileTimeout, "deadline", time.Now(), time.Minute)
	})
	time.Sleep(600 * time.Millisecond)
	<-d.pool.alone // a suspect would have to wait for this
	ctx, cancel := context.WithCancel(background)
	defer time.AfterFunc(10*time.Second, cancel).Stop()
	if _, err := d.Compile(ctx, kernel("compile=slow:700ms", 2)); err != nil {
		t.Error(err)
	}
	d.pool.alone <- struct{}{}
	wg.Wait()
}

// Close ends a child that does not hear it.
func TestCloseEndsAStoppedChild(t *testing.T) {
	d := open(t, nil)
	d.gpu.mu.Lock()
	pid := d.gpu.life.process.cmd.Process.Pid
	d.gpu.mu.Unlock()
	if err := syscall.Kill(pid, syscall.SIGSTOP); err != nil {
		t.Fatal(err)
	}
	if err := d.Close(); err != nil {
		t.Error(err)
		_ = syscall.Kill(pid, syscall.SIGKILL)
	}
}

// A stopped child says nothing, not even that it started something.
func TestSilence(t *testing.T) {
	d := open(t, nil)
	good := compile(t, d, "", 1)
	d.gpu.mu.Lock()
	p := d.gpu.life.process
	d.gpu.mu.Unlock()
	p.mu.Lock()
	p.silent = 300 * time.Millisecond
	p.mu.Unlock()
	if err := syscall.Kill(p.cmd.Process.Pid, syscall.SIGSTOP); err != nil {
		t.Fatal(err)
	}
	go func() { // requests that it does not hear
		for range 40 {
			_, _ = p.call(opTelemetry, 0, nil)
			select {
			case <-p.over:
				return
			case <-time.After(100 * time.Millisecond):
			}
		}
	}()
	begin := time.Now()
	works(t, d, good)
	if n, took := d.Stats().GPURestarts, time.Since(begin); n != 1 || took > 3*time.Second {
		t.Errorf("%d restarts, %v", n, took)
	}
}

// Unloading hangs: nobody waits for it, but it must not block the device.
func TestReleaseHangs(t *testing.T) {
	d := open(t, nil)
	good := compile(t, d, "", 1)
	d.Release(compile(t, d, "release=hang", 2))
	works(t, d, good)
	if n := d.Stats().GPURestarts; n != 1 {
		t.Errorf("%d restarts", n)
	}
}

func TestClose(t *testing.T) {
	d := open(t, nil)
	hang := compile(t, d, "time=hang", 1)
	errs := make(chan error, 2)
	go func() { _, err := d.Time(background, timingOf(hang)); errs <- err }()
	go func() { _, err := d.Compile(background, kernel("compile=hang", 2)); errs <- err }()
	time.Sleep(100 * time.Millisecond)
	begin := time.Now()
	if err := d.Close(); err != nil {
		t.Fatal(err)
	}
	if took := time.Since(begin); took > 10*time.Second {
		t.Errorf("close took %v", took)
	}
	for range 2 {
		if err := <-errs; !errors.Is(err, errClosed) {
			t.Errorf("interrupted by close: %v", err)
		}
	}
	if _, err := d.Compile(background, kernel("", 3)); !errors.Is(err, errClosed) {
		t.Errorf("after close: %v", err)
	}
	if _, err := d.Time(background, timingOf(hang)); !errors.Is(err, errClosed) {
		t.Errorf("after close: %v", err)
	}
	if s := d.Telemetry(); s.SMClockHz != 0 {
		t.Errorf("after close: %+v", s)
	}
	d.Release(hang)
	if err := d.Close(); err != nil {
		t.Errorf("second close: %v", err)
	}
}

// Two hundred schedules, bad ones among them, leave nothing behind.
// A compiler keeps memory of each program: another takes its place in time, while it ends what it has.
func TestCompilersTakeTurns(t *testing.T) {
	d := open(t, func(o *Options) { o.Threads = 4 })
	m := d.pool.members[0]
	first := m.builder.cmd.Process.Pid
	d.pool.lasts, m.builder.left = 3, 3
	var all sync.WaitGroup
	for i := range 12 {
		all.Go(func() {
			if _, err := d.Compile(background, kernel("compile=slow:20ms", i+1)); err != nil {
				t.Error(err)
			}
		})
	}
	all.Wait()
	if s := d.Stats(); s.Compiles != 12 || s.CompilerRestarts != 0 || m.builder.cmd.Process.Pid == first {
		t.Errorf("%d compiles, %d restarts, first process %d, last %d", s.Compiles, s.CompilerRestarts, first, m.builder.cmd.Process.Pid)
	}
	deadline := time.Now().Add(5 * time.Second)
	for len(children(os.Getpid())) > 2 { // the last compiler and the device
		if time.Now().After(deadline) {
			t.Fatalf("children left: %v", children(os.Getpid()))
		}
		time.Sleep(10 * time.Millisecond)
	}
}

func TestNoLeaks(t *testing.T) {
	descriptors := func() int {
		fds, err := os.ReadDir("/proc/self/fd")
		if err != nil {
			t.Skip("no /proc here")
		}
		return len(fds)
	}
	runtime.GC()
	fds, goroutines := descriptors(), runtime.NumGoroutine()
	d := open(t, func(o *Options) { o.Compilers = 2 })
	var during int
	for i := range 200 {
		text := ""
		switch i % 40 {
		case 7:
			text = "time=kill"
		case 17:
			text = "time=sticky"
		case 27:
			text = "compile=exit"
		case 37:
			text = "load=fail"
		}
		b, err := d.Compile(background, kernel(text, i+1))
		if err == nil {
			_, err = d.Time(background, timingOf(b))
			d.Release(b)
		}
		if err != nil && (device.AsFailure(err) == nil || text == "") {
			t.Fatal(err)
		}
		if i == 50 {
			during = descriptors()
		}
	}
	if n := descriptors(); n > during+2 {
		t.Errorf("%d descriptors after 50 schedules, %d after 200", during, n)
	}
	d.gpu.mu.Lock()
	if n := len(d.gpu.images); n != 0 {
		t.Errorf("%d images kept", n)
	}
	d.gpu.mu.Unlock()
	if err := d.Close(); err != nil {
		t.Fatal(err)
	}
	deadline := time.Now().Add(2 * time.Second)
	for descriptors() > fds+1 || runtime.NumGoroutine() > goroutines {
		if time.Now().After(deadline) {
			stacks := make([]byte, 1<<16)
			t.Fatalf("%d descriptors, were %d; %d goroutines, were %d\n%s", descriptors(), fds,
				runtime.NumGoroutine(), goroutines, stacks[:runtime.Stack(stacks, true)])
		}
		time.Sleep(10 * time.Millisecond)
	}
}

// Many goroutines at once; the race detector watches.
func TestConcurrency(t *testing.T) {
	var log bytes.Buffer
	d := open(t, func(o *Options) {
		o.Compilers, o.Threads = 2, 2
		o.Logger = slog.New(slog.NewTextHandler(&log, &slog.HandlerOptions{Level: slog.LevelDebug}))
	})
	good := compile(t, d, "", 1)
	var wg sync.WaitGroup
	for i := range 8 {
		wg.Go(func() {
			for j := range 6 {
				text := []string{"", "time=sticky", "compile=refuse", "load=fail", "check=exit", ""}[(i+j)%6]
				b, err := d.Compile(background, kernel(text, 1+10*i+j))
				if err == nil {
					_, err = d.Check(background, checkOf(b))
				}
				if err == nil {
					_, err = d.Time(background, timingOf(b, good))
				}
				d.Telemetry()
				d.Stats()
				d.Release(b)
				if err != nil && device.AsFailure(err) == nil {
					t.Error(err)
				}
				if (err == nil) != (text == "") {
					t.Errorf("%q: %v", text, err)
				}
			}
		})
	}
	wg.Wait()
	works(t, d, good)
	if err := d.Close(); err != nil {
		t.Error(err)
	}
	if !strings.Contains(log.String(), "no more") || strings.Contains(log.String(), "\x1b") {
		t.Errorf("log:\n%.2000s", log.String())
	}
}
