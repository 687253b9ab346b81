package timing

import (
	"math"
	"slices"
	"testing"
)

// board is a GPU whose counter moves every tick seconds, and that runs a launch of 4 steps a
// millisecond.
type board struct {
	watts func(seconds float64) float64
	tick  float64
	bits  int     // of the counter
	start float64 // millijoules
	every float64 // seconds from reading to reading
}

func (b board) run(s Stretch) (d Draw, took float64, readings int) {
	m := NewMeter(s)
	joules, shown, next := b.start/1e3, uint64(b.start), b.tick
	const dt = 1e-4
	for i := 0; m.More(); i++ {
		now := float64(i) * dt
		if now >= next {
			shown, next = uint64(1e3*joules)&(1<<b.bits-1), next+b.tick
		}
		if i%int(math.Round(b.every/dt)) == 0 {
			m.Add(Reading{Seconds: now, Millijoules: shown, ClockHz: 1.5e9})
			readings++
		}
		if i%10 == 9 {
			m.Ran(1e-3, 4)
		}
		joules += b.watts(now) * dt
		took = now
	}
	return m.Draw(), took, readings
}

func steady(watts float64) func(float64) float64 { return func(float64) float64 { return watts } }

func TestAMeterCountsFromStepToStep(t *testing.T) {
	for _, tick := range []float64{0.01, 0.02, 0.05, 0.1, 0.2} {
		for _, watts := range []float64{75, 692.3} {
			d, took, _ := board{watts: steady(watts), tick: tick, bits: 63, every: 1e-3}.run(Metering())
			if math.Abs(d.Watts/watts-1) > 0.005 || math.Abs(d.SecondsPerStep-2.5e-4) > 1e-9 || d.ClockHz != 1.5e9 || d.Lowered != nil {
				t.Errorf("a step of %g s, %g W: %+v", tick, watts, d)
			}
			if want := 0.1 + 0.25 + 3*tick; took < 0.35 || took > want {
				t.Errorf("a step of %g s: it took %g s", tick, took)
			}
		}
	}
}

// TestWhatASettlingBoardDrawsDoesNotCount: power follows a change of kernels within some tens of
// milliseconds.
func TestWhatASettlingBoardDrawsDoesNotCount(t *testing.T) {
	d, _, _ := board{watts: func(s float64) float64 { return 600 - 400*math.Exp(-s/0.015) }, tick: 0.02, bits: 63, every: 1e-3}.run(Metering())
	if math.Abs(d.Watts/600-1) > 0.005 {
		t.Errorf("%+v", d)
	}
}

func TestACounterThatIsNoneTellsNothing(t *testing.T) {
	s := Metering()
	if d, took, _ := (board{watts: steady(0), tick: 0.02, bits: 63, every: 1e-3}).run(s); d.Known() || took < s.Limit-0.01 {
		t.Errorf("it stands still: %+v after %g s", d, took)
	}
	if d, took, _ := (board{watts: steady(600), tick: 5, bits: 63, every: 1e-3}).run(s); d.Known() || took < s.Limit-0.01 {
		t.Errorf("its step is too long: %+v after %g s", d, took)
	}
	if d, _, _ := (board{watts: steady(1e7), tick: 0.02, bits: 63, every: 1e-3}).run(s); d.Known() {
		t.Errorf("10 MW: %+v", d)
	}
	if d := NewMeter(s).Draw(); d.Known() || d.Joules() != 0 {
		t.Errorf("never read: %+v", d)
	}
}

// TestACounterThatRunsOverIsCountedAnew: 17 bits hold 131 J, which are drawn in 0.44 s.
func TestACounterThatRunsOverIsCountedAnew(t *testing.T) {
	for _, start := range []float64{0, 30e3, 60e3, 100e3, 131e3} {
		d, took, _ := board{watts: steady(300), tick: 0.02, bits: 17, start: start, every: 1e-3}.run(Metering())
		if math.Abs(d.Watts/300-1) > 0.005 {
			t.Errorf("from %g mJ: %+v", start, d)
		}
		if took > 1 {
			t.Errorf("from %g mJ: it took %g s", start, took)
		}
	}
}

// TestReadingsFarApartWidenTheError: what a slow management library costs.
func TestReadingsFarApartWidenTheError(t *testing.T) {
	d, _, n := board{watts: steady(500), tick: 0.02, bits: 63, every: 0.01}.run(Metering())
	if math.Abs(d.Watts/500-1) > 0.05 || n > 50 {
		t.Errorf("%+v of %d readings", d, n)
	}
}

// TestLaunchesThatOutlastTheSpan: one must end before their time is known, and what ended before
// the counter's first step does not count.
func TestLaunchesThatOutlastTheSpan(t *testing.T) {
	m := NewMeter(Metering())
	m.Ran(5, 1)
	for i := 0; m.More(); i++ {
		m.Add(Reading{Seconds: 0.01 * float64(i), Millijoules: uint64(5000 * i)})
		if i == 70 {
			m.Ran(0.7, 2)
		}
	}
	if d := m.Draw(); math.Abs(d.Watts-500) > 1e-6 || math.Abs(d.SecondsPerStep-0.35) > 1e-12 || m.last.Seconds > 0.75 {
		t.Errorf("%+v after %g s", d, m.last.Seconds)
	}
}

func TestReasonsAreGathered(t *testing.T) {
	m := NewMeter(Stretch{Span: 0.1, Limit: 1})
	for i, why := range [][]string{{"too early"}, nil, {}, {PowerCap}, {"heat", PowerCap}, {}} {
		m.Add(Reading{Seconds: 0.05 * float64(i), Millijoules: uint64(1000 * i), Lowered: why})
		m.Ran(0.05, 1)
	}
	if d := m.Draw(); !slices.Equal(d.Lowered, []string{"heat", PowerCap}) || math.Abs(d.Watts-20) > 1e-9 || d.ClockHz != 0 {
		t.Errorf("%+v", d)
	}
}

func TestObjectives(t *testing.T) {
	d := Draw{SecondsPerStep: 2, Watts: 300}
	for o, want := range map[Objective]float64{ForTime: 2, ForEnergy: 600, ForEDP: 1200} {
		if got, err := ParseObjective(string(o)); err != nil || got != o || d.Of(o) != want {
			t.Errorf("%s: %v %v %v", o, got, err, d.Of(o))
		}
	}
	if o, err := ParseObjective(""); o != ForTime || err != nil {
		t.Error(o, err)
	}
	if _, err := ParseObjective("power"); err == nil || err.Error() != `"power" is no objective: use time, energy or edp` {
		t.Error(err)
	}
	if s := Drawn([]Draw{{1, 100, 0, nil}, {1, 300, 0, nil}, {1, 200, 0, nil}}, ForEnergy); s.Median != 200 || s.Low != 100 || s.High != 300 || s.N != 3 {
		t.Errorf("%+v", s)
	}
}
