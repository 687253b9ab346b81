package worker

import (
	"context"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"

	"stenciltune/device"
	"stenciltune/timing"
)

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
