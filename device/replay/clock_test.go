package replay

import (
	"testing"
	"time"

	"stenciltune/device"
	"stenciltune/outcome"
	"stenciltune/space"
	"stenciltune/space/spacetest"
	"stenciltune/timing"
)

// recorded is a landscape of schedules with a source and compile seconds each.
func recorded(t *testing.T, compilers int, rows ...line) Device {
	t.Helper()
	l := &Landscape{Header: Header{Compilers: compilers, StencilHash: "h"}, Records: map[space.Schedule]outcome.Outcome{}}
	for _, r := range rows {
		l.Records[r.Schedule] = r.outcome()
		l.Order = append(l.Order, r.Schedule)
	}
	return New(l)
}

// TestTimeIsSimulated: two processes compile three sources, one of them shared by
// two schedules, and the device waits for what it needs.
func TestTimeIsSimulated(t *testing.T) {
	row := func(text, source string, compile float64) line {
		return line{Schedule: spacetest.Schedule(t, text), SourceHash: source, Status: timing.OK, CompileSeconds: compile,
			DeviceSeconds: 0.5, Launches: 10, Samples: []float64{0.01, 0.01}}
	}
	// Recorded in another order, a2 came first and a1 from the compiler's cache.
	d := recorded(t, 2, row("s/x=1", "a", 0.125), row("s/x=2", "a", 1), row("s/x=3", "b", 2), row("s/x=4", "c", 0.25))
	for _, x := range []string{"s/x=1", "s/x=2", "s/x=3", "s/x=4"} {
		if _, err := compile(t, d, x); err != nil {
			t.Fatal(err)
		}
	}
	if d.Now() != 0 {
		t.Errorf("compiling took %v of the device's time", d.Now())
	}
	// Process 1 compiles a to 1 s and then c to 1.25 s, process 2 b to 2 s; the second
	// schedule of a is read from the cache at 1.125 s.
	for _, c := range []struct {
		text string
		want time.Duration
	}{{"s/x=1", time.Second}, {"s/x=2", 1125 * time.Millisecond}, {"s/x=1", 1125 * time.Millisecond}, {"s/x=4", 1250 * time.Millisecond}, {"s/x=3", 2 * time.Second}} {
		if d.Set(max(d.Now(), d.Ready(spacetest.Schedule(t, c.text)))); d.Now() != c.want {
			t.Errorf("%s is compiled at %v, want %v", c.text, d.Now(), c.want)
		}
	}
	// 0.5 s were recorded in all: a launch to warm up, 20 timed, and the check.
	p := pass(t, "s/x=3", 2, 1)
	begin := d.Now()
	if _, err := d.Check(t.Context(), device.Check{Passes: []device.Pass{p}, Trusted: []device.Pass{pass(t, "s/x=1", 2, 1)}}); err != nil {
		t.Fatal(err)
	}
	if got := d.Now() - begin; got.Round(time.Millisecond) != 290*time.Millisecond {
		t.Errorf("the check took %v", got)
	}
	if _, err := d.Time(t.Context(), device.Timing{Runs: []device.Pass{p}, Policy: timing.Search()}); err != nil {
		t.Fatal(err)
	}
	if got := d.Now() - begin; got.Round(time.Millisecond) != 500*time.Millisecond {
		t.Errorf("check and samples took %v", got)
	}
}

// TestWithin: the recorded part of a space holds every recorded schedule and no other.
func TestWithin(t *testing.T) {
	f := &space.Family{Name: "s", Params: []space.Param{
		{Name: "x", Values: []int{1, 2, 4, 8}, Ordinal: true},
		{Name: "y", Values: []int{0, 1, 2}, Ordinal: true},
		{Name: "o", Values: []int{0, 3, 5}, Optional: true},
	}}
	other := &space.Family{Name: "other", Params: []space.Param{{Name: "x", Values: []int{1}}}}
	var rows []line
	for _, text := range []string{"s/x=1/y=0", "s/x=4/y=2/o=5", "s/x=4/y=0", "s/x=16/y=0", "gone/x=1"} {
		rows = append(rows, line{Schedule: spacetest.Schedule(t, text), Status: timing.OK, Samples: []float64{1}})
	}
	sp := recorded(t, 0, rows...).Within(space.New(f, other))
	var got []string
	for s := range sp.All() {
		got = append(got, s.String())
	}
	if len(got) != 3 || got[0] != "s/x=1/y=0" || got[1] != "s/x=4/y=0" || got[2] != "s/x=4/y=2/o=5" {
		t.Errorf("%q", got)
	}
	if n := sp.Raw(); n != 2*2*2 {
		t.Errorf("%d points before constraints", n)
	}
	if err := sp.Check(spacetest.Schedule(t, "s/x=1/y=2")); err == nil {
		t.Error("what was not recorded is in the space")
	}
}
