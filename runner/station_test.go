package runner

import (
	"context"
	"errors"
	"maps"
	"math"
	"slices"
	"testing"
	"testing/synctest"
	"time"

	"stenciltune/device"
	"stenciltune/kernels"
	"stenciltune/timing"
)

// several are fakes as one device: what one compiles all have loaded.
type several struct {
	*fake
	members []*fake
}

// fastest is the best schedule of these tests, which needs a remainder launch.
var fastest = tile(32, 8, 2, 2)

// newSeveral makes fakes that take so many times as long as the truth, and whose checks and
// timings take 10 ms.
func newSeveral(t testing.TB, factors ...float64) several {
	d := several{}
	for i, f := range factors {
		m := newFake(t)
		m.machine.Index, m.machine.UUID = i, string(rune('A'+i))
		m.seed, m.seconds = uint64(i), at(map[string]float64{fastest: 80e-6})
		m.slow = func(int) float64 { return f }
		m.delay = func(op, _ string) {
			if op != opCompile && op != opCompileDouble {
				time.Sleep(10 * time.Millisecond)
			}
		}
		d.members = append(d.members, m)
	}
	for _, m := range d.members {
		m.peers = d.members
	}
	d.fake = d.members[0]
	return d
}

func (d several) Members() (all []device.Device) {
	for _, m := range d.members {
		all = append(all, m)
	}
	return all
}

func (d several) Compile(ctx context.Context, k kernels.Kernel) (device.Binary, error) {
	b, err := d.fake.Compile(ctx, k)
	for _, m := range d.members {
		m.mu.Lock()
		if err == nil {
			m.live[b.ID] = true
		}
		m.mu.Unlock()
	}
	return b, err
}

func (d several) Release(b device.Binary) {
	for _, m := range d.members {
		m.Release(b)
	}
}

// tuneSeveral tunes on virtual time, and demands that each schedule came to an outcome once and
// nothing stays loaded. It gives the time of the search and how many schedules each member timed.
func tuneSeveral(t *testing.T, d several) (r Result, took time.Duration, timed []int) {
	t.Helper()
	synctest.Test(t, func(t *testing.T) {
		o := options(t, d.fake)
		o.Device, o.Ahead = d, 8
		j := &journal{d: d.fake}
		o.Journal = j
		var begin time.Time
		o.Watcher = watcher{phase: func(name string) {
			if name == "search" {
				begin = time.Now()
			} else if name == "finals" {
				took = time.Since(begin)
			}
		}}
		var err error
		if r, err = Tune(t.Context(), o); err != nil {
			t.Fatal(err, r.Warnings)
		}
		count := map[string]int{}
		for _, o := range r.Outcomes {
			count[o.Schedule.String()]++
		}
		for s, n := range count {
			if n != 1 {
				t.Errorf("%s has %d outcomes", s, n)
			}
		}
		kept := map[string]bool{}
		for _, o := range j.kept {
			kept[o.Schedule.String()] = true
		}
		if len(count) != 48 || len(kept) != 48 {
			t.Errorf("%d schedules have an outcome, %d are in the journal", len(count), len(kept))
		}
	})
	for _, m := range d.members {
		empty(t, m)
		seen := map[string]bool{}
		for _, e := range m.of(opTime) {
			seen[e.schedule] = true
		}
		timed = append(timed, len(seen))
	}
	return r, took, timed
}

func TestSchedulesAreSpreadOverDevices(t *testing.T) {
	one, alone, _ := tuneSeveral(t, newSeveral(t, 1))
	if one.Winner.Schedule.String() != fastest {
		t.Fatalf("winner %s", one.Winner.Schedule)
	}
	if one.Members != nil {
		t.Errorf("a device alone has members: %v", one.Members)
	}
	d := newSeveral(t, 1, 1.08, 0.95)
	r, took, timed := tuneSeveral(t, d)
	if r.Winner.Schedule != one.Winner.Schedule || !r.Complete {
		t.Errorf("winner %s", r.Winner.Schedule)
	}
	if share := float64(took) / float64(alone); share > 0.4 {
		t.Errorf("three devices took %v, one %v", took, alone)
	}
	if slices.Min(timed) < 10 {
		t.Errorf("schedules timed by each: %v", timed)
	}
	scaled := map[float64]bool{}
	for _, o := range r.Outcomes {
		if truth := d.seconds(o.Schedule.String()); o.Status == timing.OK && math.Abs(o.Seconds()/truth-1) > 0.005 {
			t.Errorf("%s took %g, as on the first device it takes %g", o.Schedule, o.Seconds(), truth)
		}
		scaled[math.Round(100*o.Scaled)] = true
	}
	if want := map[float64]bool{0: true, 108: true, 95: true}; !maps.Equal(scaled, want) {
		t.Errorf("scaled by %v", scaled)
	}
	compiled := map[string]int{}
	for _, e := range d.of(opCompile) {
		compiled[e.schedule]++
	}
	for s, n := range compiled {
		if n > 3 { // for the search, as a finalist, and as its remainder launch
			t.Errorf("%s was compiled %d times", s, n)
		}
	}
	if len(r.Members) != 3 {
		t.Fatalf("%d members", len(r.Members))
	}
	for i, f := range []float64{1, 1.08, 0.95} {
		m := r.Members[i]
		if m.Machine.Index != i || math.Abs(m.Factor/f-1) > 0.005 || math.Abs(m.Series.Median/d.seconds(r.Winner.Schedule.String())/f-1) > 0.005 {
			t.Errorf("member %d: %+v", i, m)
		}
		if got := d.members[i].count(opFull, r.Winner.Schedule.String()); got < 1 {
			t.Errorf("the winner was not proved on member %d", i)
		}
		if n := len(d.members[i].of(opFinals)); n > 0 != (i == 0) {
			t.Errorf("member %d timed %d finalists in turn", i, n)
		}
	}
}

// A device that becomes slower than the first times its schedules again, by what it takes now.
func TestADriftOfOneDeviceIsItsOwn(t *testing.T) {
	d := newSeveral(t, 1, 1.08)
	for _, m := range d.members {
		m.delay = func(op, _ string) {
			if op != opCompile && op != opCompileDouble {
				time.Sleep(60 * time.Millisecond) // so that looks are due
			}
		}
	}
	const slower = 1.08 * 1.05
	d.members[1].slow = func(timed int) float64 {
		if timed > 6 {
			return slower
		}
		return 1.08
	}
	r, _, _ := tuneSeveral(t, d)
	if !warned(r, "drifted") {
		t.Errorf("warnings %q", r.Warnings)
	}
	again := 0
	for _, o := range r.Outcomes {
		if truth := d.seconds(o.Schedule.String()); o.Status == timing.OK && math.Abs(o.Seconds()/truth-1) > 0.005 {
			t.Errorf("%s took %g, as on the first device it takes %g", o.Schedule, o.Seconds(), truth)
		}
		if math.Abs(o.Scaled/slower-1) < 0.005 {
			again++
		}
	}
	if again < 10 || len(r.Members) != 2 || math.Abs(r.Members[1].Factor/slower-1) > 0.005 {
		t.Errorf("%d timed by the new pace, members %+v", again, r.Members)
	}
}

// A device that is lost costs its own work: every schedule has an outcome, and the others crown
// the same winner.
func TestADeviceThatIsLostIsDropped(t *testing.T) {
	for name, c := range map[string]struct {
		member int
		at     func(op, s string, calls int) bool
	}{
		"the lead, in its baseline":  {0, func(op, s string, _ int) bool { return op == opTime && s == naives[1] }},
		"the lead, in the search":    {0, func(op, _ string, n int) bool { return op == opTime && n == 9 }},
		"the lead, in the finals":    {0, func(op, _ string, _ int) bool { return op == opFinals }},
		"another, as it joins":       {1, func(op, _ string, n int) bool { return op == opSmall && n == 0 }},
		"another, in the search":     {1, func(op, _ string, n int) bool { return op == opFull && n == 4 }},
		"another, with the winner":   {1, func(op, s string, n int) bool { return n > 12 && op == opSmall && s == fastest }},
		"another, looking for drift": {1, func(op, s string, n int) bool { return op == opTime && s == naives[0] && n > 1 }},
	} {
		t.Run(name, func(t *testing.T) {
			d := newSeveral(t, 1, 1.02, 1.01)
			m := d.members[c.member]
			calls, gone := map[string]int{}, false
			m.fail = func(op, s string, _ int) error {
				if op == opCompile || op == opCompileDouble {
					return nil
				}
				gone = gone || c.at(op, s, calls[op])
				calls[op]++
				if gone {
					return device.ErrLost
				}
				return nil
			}
			r, _, _ := tuneSeveral(t, d)
			if name == "another, looking for drift" && !gone { // 48 schedules on three devices are too few for a look
				return
			}
			if !gone || !warned(r, m.machine.UUID+" was dropped") || len(r.Members) != 2 || slices.ContainsFunc(r.Members, func(x Member) bool { return x.Machine.Index == c.member }) {
				t.Errorf("gone %v, warnings %q, members %v", gone, r.Warnings, r.Members)
			}
			if r.Winner.Schedule.String() != fastest || !r.Complete {
				t.Errorf("winner %s", r.Winner.Schedule)
			}
		})
	}
}

func TestTheLastDeviceThatIsLostEndsTheTune(t *testing.T) {
	d := newSeveral(t, 1, 1)
	for _, m := range d.members {
		n := 0
		m.fail = func(op, _ string, _ int) error {
			if op == opTime {
				n++
			}
			if n > 6 {
				return device.ErrLost
			}
			return nil
		}
	}
	synctest.Test(t, func(t *testing.T) {
		o := options(t, d.fake)
		o.Device, o.Ahead = d, 8
		if r, err := Tune(t.Context(), o); !errors.Is(err, device.ErrLost) || r.Complete || len(r.Outcomes) < 7 {
			t.Errorf("%v, %d outcomes", err, len(r.Outcomes))
		}
	})
	for _, m := range d.members {
		empty(t, m)
	}
}

func TestAScheduleThatCostsTwoDevicesIsNotRunOnAThird(t *testing.T) {
	d := newSeveral(t, 1, 1, 1, 1)
	deadly := tile(32, 4, 1, 2)
	for _, m := range d.members {
		m.fail = func(op, s string, _ int) error {
			if op == opSmall && s == deadly {
				return device.ErrLost
			}
			return nil
		}
	}
	r, _, _ := tuneSeveral(t, d)
	if o := find(t, r, deadly); o.Status != timing.WorkerLost || len(r.Members) != 2 {
		t.Errorf("%s %s, %d members left", o.Status, o.Reason, len(r.Members))
	}
}

func TestADeviceWhoseNaiveKernelIsWrongIsDropped(t *testing.T) {
	for i := range 2 {
		d := newSeveral(t, 1, 1)
		d.members[i].wrong = func(device.Check) string { return "wrong" }
		r, _, _ := tuneSeveral(t, d)
		if len(r.Members) != 1 || r.Members[0].Machine.Index != 1-i || !warned(r, "naive kernel") {
			t.Errorf("members %v, warnings %q", r.Members, r.Warnings)
		}
	}
}

func TestAWinnerMustBeRightOnEveryDevice(t *testing.T) {
	d := newSeveral(t, 1, 1)
	d.members[1].wrong = func(c device.Check) string { // with its remainder launch, in the finals
		if len(c.Passes) > 1 && c.Passes[0].Binary.Schedule.String() == fastest {
			return "wrong"
		}
		return ""
	}
	r, _, _ := tuneSeveral(t, d)
	if r.Winner.Schedule.String() == fastest || !r.Complete || !warned(r, fastest+" dropped: on B: ") || len(r.Members) != 2 {
		t.Errorf("%s won, warnings %q", r.Winner.Schedule, r.Warnings)
	}
}
