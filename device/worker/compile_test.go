package worker

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"stenciltune/device"
	"stenciltune/machine"
	"stenciltune/timing"
)

func TestBadCompiles(t *testing.T) {
	for _, threads := range []int{1, 3} {
		t.Run(fmt.Sprint(threads), func(t *testing.T) {
			d := open(t, func(o *Options) { o.Threads, o.CompileTimeout = threads, 3*time.Second })
			for _, c := range []struct {
				text   string
				status timing.Status
				reason string
			}{
				{"compile=hang", timing.CompileTimeout, "compile passed its deadline of 3s"},
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

// Whoever waits for a compiler that another has started, and that does not answer, is not held up once cancelled.
func TestACancelledCompileWaitsForNoStart(t *testing.T) {
	var starts atomic.Int32
	o := Options{Threads: 4, CompileCommand: func() *exec.Cmd { starts.Add(1); return exec.Command("sleep", "60") }}.withDefaults()
	n := newNursery()
	p := newPool(o, n, o.Logger)
	errs := make(chan error, 3)
	begin := func(ctx context.Context) {
		go func() {
			_, err := p.compile(ctx, kernel("", 1), machine.Machine{})
			errs <- err
		}()
	}
	ctx, cancel := context.WithCancel(background)
	begin(background)
	for starts.Load() == 0 {
		time.Sleep(time.Millisecond)
	}
	begin(ctx)
	begin(ctx)
	time.Sleep(50 * time.Millisecond)
	cancel()
	for range 2 {
		select {
		case err := <-errs:
			if !errors.Is(err, context.Canceled) {
				t.Error(err)
			}
		case <-time.After(5 * time.Second):
			t.Fatal("it waits still")
		}
	}
	if err := n.close(); err != nil {
		t.Error(err)
	}
	if err := <-errs; !errors.Is(err, errClosed) || starts.Load() != 1 {
		t.Errorf("%v after %d starts", err, starts.Load())
	}
}
