package worker

import (
	"errors"
	"math"
	"os"
	"sync"
	"syscall"
	"testing"
	"time"

	"stenciltune/device"
)

// starve lets the device's process, whichever it is, run 2 ms after each pause, until it is told to stop or so many were lost. Then busy tells
// whether the test itself got hardly any processor: what it says of the process means nothing then.
func starve(t *testing.T, d *Device, pause time.Duration, lost int) (stop func(), busy func() bool) {
	t.Helper()
	if _, err := os.Stat("/proc/self/stat"); err != nil {
		t.Skip("no /proc here")
	}
	done := make(chan struct{})
	var wg sync.WaitGroup
	signal := func(s syscall.Signal) {
		d.gpu.mu.Lock()
		defer d.gpu.mu.Unlock()
		if l := d.gpu.life; l != nil && l.process != nil {
			l.process.mu.Lock()
			defer l.process.mu.Unlock()
			if !l.process.reaped {
				_ = syscall.Kill(l.process.cmd.Process.Pid, s)
			}
		}
	}
	turns, begin, took := 0, time.Now(), time.Duration(0)
	wg.Go(func() {
		defer func() { took = time.Since(begin) }()
		for ; d.Stats().GPURestarts < lost; turns++ {
			signal(syscall.SIGSTOP)
			time.Sleep(pause)
			signal(syscall.SIGCONT)
			select {
			case <-done:
				return
			case <-time.After(2 * time.Millisecond):
			}
		}
	})
	stop = sync.OnceFunc(func() { close(done); wg.Wait() })
	return stop, func() bool {
		stop()
		return took > time.Duration(turns+1)*(pause+5*time.Millisecond) // a turn takes 3.5 ms more than its pause, and from 5 on, with two others for each processor, looks at the process are too few
	}
}

// A process that gets hardly any processor passes its deadlines, or gives up at them. That is no schedule's fault: it is run
// again. One that never gets any is lost.
func TestAStarvedProcessIsNoSchedulesFault(t *testing.T) {
	for _, how := range []string{"spin:100ms", "weary:100ms"} {
		t.Run(how, func(t *testing.T) {
			d := open(t, func(o *Options) { o.CheckTimeout, o.TimeTimeout = time.Second, time.Second }) // ten times what it takes, for busy machines
			good := compile(t, d, "check="+how+" time="+how, 1)
			stop, busy := starve(t, d, 60*time.Millisecond, 1)
			defer stop()
			c, checked := d.Check(background, checkOf(good))
			_, timed := d.Time(background, timingOf(good))
			switch n := d.Stats().GPURestarts; {
			case busy() || n == 0:
				t.Skip("the test got hardly any processor, or the process enough")
			case checked != nil || timed != nil || !c.OK() || n > maxRestarts:
				t.Errorf("%v, %v after %d restarts", checked, timed, n)
			}
		})
	}
	for _, how := range []string{"spin:100ms", "weary:100ms"} {
		t.Run(how+" for ever", func(t *testing.T) {
			d := open(t, func(o *Options) { o.CheckTimeout = 160 * time.Millisecond })
			good := compile(t, d, "check="+how, 1)
			stop, busy := starve(t, d, 30*time.Millisecond, math.MaxInt)
			defer stop()
			_, err := d.Check(background, checkOf(good))
			switch n := d.Stats().GPURestarts; {
			case busy() || err == nil:
				t.Skip("the test got hardly any processor, or the process enough")
			case device.AsFailure(err) != nil || !errors.Is(err, device.ErrLost) || n > maxRestarts+1:
				t.Errorf("%v after %d restarts", err, n)
			}
		})
	}
}

// What is seen of a process tells one that waits for a processor from one that works, and from one that waits for a device.
func TestWhoIsStarved(t *testing.T) {
	at := func(stopped bool, waited time.Duration) scheduling {
		return scheduling{stopped, map[string]time.Duration{"1": time.Hour, "2": waited}}
	}
	for name, c := range map[string]struct {
		see  func(i int) scheduling
		n    int
		want bool
	}{
		"works":        {func(int) scheduling { return at(false, 0) }, manyLooks, false},
		"stopped":      {func(i int) scheduling { return at(i%3 > 0, 0) }, manyLooks, true},
		"once stopped": {func(i int) scheduling { return at(i == 3, 0) }, manyLooks, false},
		"waits":        {func(i int) scheduling { return at(false, time.Duration(i)*9*time.Millisecond) }, manyLooks, true},
		"waits half":   {func(i int) scheduling { return at(false, time.Duration(i)*5*time.Millisecond) }, manyLooks, false},
		"a new thread": {func(i int) scheduling {
			return scheduling{waited: map[string]time.Duration{string(rune('a' + i)): time.Hour}}
		}, manyLooks, false},
		"nothing is known": {func(int) scheduling { return scheduling{} }, manyLooks, false},
		"early":            {func(int) scheduling { return at(true, 0) }, 1, false},
	} {
		var l looks
		begin := time.Now()
		for i := range c.n {
			l.add(c.see(i))
			l.first, l.last = begin, begin.Add(time.Duration(i)*10*time.Millisecond)
		}
		if l.starved() != c.want {
			t.Errorf("%s: %v", name, l.starved())
		}
	}
}
