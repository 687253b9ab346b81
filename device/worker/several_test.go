package worker

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"stenciltune/device"
)

// openSeveral opens as many devices as moods, which say how each opens.
func openSeveral(t *testing.T, moods ...string) *Device {
	t.Helper()
	return open(t, func(o *Options) {
		o.Compilers, o.Threads = 1, 2
		for i, m := range moods {
			file := filepath.Join(t.TempDir(), "mood")
			if err := os.WriteFile(file, []byte(m), 0o600); err != nil {
				t.Fatal(err)
			}
			if c := command("gpu", file); i == 0 {
				o.GPUCommand = c
			} else {
				o.Others = append(o.Others, c)
			}
		}
	})
}

// What is compiled once runs on every member, at once, and is released on all.
func TestMembersShareCompilersAndBinaries(t *testing.T) {
	d := openSeveral(t, "", "", "")
	members := d.Members()
	if len(members) != 3 {
		t.Fatalf("%d members", len(members))
	}
	a, b := compile(t, d, "time=slow:100ms", 1), compile(t, d, "", 2)
	processes := map[int]bool{}
	var all sync.WaitGroup
	for _, m := range members {
		processes[m.(device.Sensor).Telemetry().Processes] = true
		all.Go(func() {
			if s, err := m.Time(background, timingOf(a, b)); err != nil || len(s) != 2 {
				t.Errorf("time: %+v, %v", s, err)
			}
		})
	}
	all.Wait()
	if s := d.Stats(); len(processes) != 3 || s.Compiles != 2 || s.DeviceSeconds < 0.25 { // counted from the word that it began, which comes late under load
		t.Errorf("%d processes, stats %+v", len(processes), s)
	}
	d.Release(a)
	for _, m := range members {
		if _, err := m.Time(background, timingOf(a)); err == nil {
			t.Error("a released binary is timed")
		}
	}
	// A member compiles for itself, by the same compilers and from what was built.
	own, err := members[1].Compile(background, kernel("", 2))
	if err != nil {
		t.Fatal(err)
	}
	works(t, members[1].(*Device), own)
	if _, err := members[0].Time(background, timingOf(own)); err == nil {
		t.Error("another member has what one compiled for itself")
	}
	if s := d.Stats(); s.Compiles != 2 {
		t.Errorf("%d compiles of two sources", s.Compiles)
	}
	if err := members[2].Close(); err != nil {
		t.Error(err)
	}
	if err := d.Close(); err != nil {
		t.Error(err)
	}
	if left := children(os.Getpid()); len(left) > 0 {
		t.Errorf("children left: %v", left)
	}
}

// A device that does not open is the last member and lost; the others work. None is an error.
func TestAMemberThatDoesNotOpenIsLost(t *testing.T) {
	d := openSeveral(t, "missing", "", "open=segv")
	members := d.Members()
	for n := range 6 { // each loads in its turn
		works(t, members[0].(*Device), compile(t, d, "", n+1))
	}
	b := compile(t, d, "", 7)
	for i, m := range members[1:] {
		begin := time.Now()
		_, err := m.Time(background, timingOf(b))
		if !errors.Is(err, []error{device.ErrMissing, device.ErrLost}[i]) || time.Since(begin) > 10*time.Second {
			t.Errorf("member %d: %v after %v", i+1, err, time.Since(begin))
		}
	}
	o := options(filepath.Join(t.TempDir(), "none"))
	file := filepath.Join(t.TempDir(), "mood")
	if err := os.WriteFile(file, []byte("missing"), 0o600); err != nil {
		t.Fatal(err)
	}
	o.GPUCommand = command("gpu", file)
	o.Others = append(o.Others, o.GPUCommand)
	if _, err := Open(background, o); !errors.Is(err, device.ErrMissing) || !strings.Contains(err.Error(), "install a driver") {
		t.Errorf("none opens: %v", err)
	}
}

// A member that is lost in the middle costs nobody else anything; binaries go on to be loaded.
func TestAMemberIsLostAlone(t *testing.T) {
	d := openSeveral(t, "", "")
	members := d.Members()
	if _, err := members[1].Time(background, timingOf(compile(t, d, "time=lost", 1))); !errors.Is(err, device.ErrLost) {
		t.Fatal(err)
	}
	for n := range 4 {
		b := compile(t, d, "", n+2)
		works(t, members[0].(*Device), b)
		if _, err := members[1].Time(background, timingOf(b)); !errors.Is(err, device.ErrLost) {
			t.Error(err)
		}
	}
}
