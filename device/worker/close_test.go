package worker

import (
	"bytes"
	"errors"
	"log/slog"
	"os"
	"os/exec"
	"runtime"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"stenciltune/device"
)

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

// A child that has not started yet when all is closed is no process that could be killed, and ends once it is one.
func TestCloseWhileAChildStarts(t *testing.T) {
	n := newNursery()
	busy := make(chan struct{})
	n.jobs <- func() { <-busy }
	started := make(chan *process, 1)
	go func() {
		p, err := startProcess(n, "child", exec.Command("sleep", "60"), slog.New(slog.DiscardHandler))
		if err != nil {
			t.Error(err)
		}
		started <- p
	}()
	for waiting := 0; waiting == 0; time.Sleep(time.Millisecond) {
		n.mu.Lock()
		waiting = len(n.children)
		n.mu.Unlock()
	}
	defer time.AfterFunc(exitGrace+200*time.Millisecond, func() { close(busy) }).Stop()
	if err := n.close(); err != nil {
		t.Error(err)
	}
	select {
	case <-(<-started).exited:
	case <-time.After(time.Second):
		t.Error("it runs still")
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
