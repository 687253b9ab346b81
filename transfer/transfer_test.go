package transfer

import (
	"math"
	"slices"
	"testing"

	"stenciltune/kernels/all"
	"stenciltune/machine"
	"stenciltune/machine/machinetest"
	"stenciltune/space"
	"stenciltune/space/spacetest"
	"stenciltune/stencil"
	"stenciltune/stencil/stenciltest"
)

func problem(t testing.TB, n stencil.Size) stencil.Problem {
	t.Helper()
	return stencil.Problem{Stencil: stenciltest.Lookup(t, "jacobi2d"), DType: stencil.Float32, Size: n, Steps: 1000}
}

func at(p stencil.Problem, m machine.Machine) Place { return At(all.Families(), p, m) }

// TestStreamTilesFillTheOtherDevicesSMs: what fills 132 SMs on an H200 fills 108 on an A100.
func TestStreamTilesFillTheOtherDevicesSMs(t *testing.T) {
	here, there := at(problem(t, stencil.Size{8192, 8192, 1}), machinetest.H200()), at(problem(t, stencil.Size{8192, 8192, 1}), machinetest.A100())
	measured := spacetest.Schedule(t, "stream/vx=4/vy=1/wp=1/ck=8/pf=4/mb=1/ph=16/sm=132/pm=1")
	seconds := map[space.Schedule]float64{measured: 0.7 * here.Predict(measured)}
	for _, s := range spacetest.Schedules(t, "stream/vx=4/vy=1/wp=1/ck=16/pf=4/mb=1/ph=16/sm=132/pm=1", "stream/vx=4/vy=1/wp=1/ck=8/pf=2/mb=1/ph=16/sm=132/pm=1") {
		seconds[s] = here.Predict(s)
	}
	first := Rank(there, []Evidence{{Place: here, Seconds: seconds}}, slices.Collect(all.Space(there.Problem, there.Machine).All()))[0]
	if first.Schedule.String() != "stream/vx=4/vy=1/wp=1/ck=8/pf=4/mb=1/ph=16/sm=108/pm=1" || first.Weight == 0 || first.Seconds >= there.Predict(first.Schedule) {
		t.Errorf("%v", first)
	}
}

// TestWhatWasMeasuredNowhereHasAHandicap, as docs/store.md says.
func TestWhatWasMeasuredNowhereHasAHandicap(t *testing.T) {
	half := 1 / math.Pow(1+math.Sqrt(3)*math.Ln2, 2) // of the weight of a grid of half the extents
	for _, c := range []struct{ weight, low, high float64 }{{1, 0.009, 0.011}, {12, 0.02, 0.03}, {1e9, 0.0299, 0.0301}, {half, 0.001, 0.005}} {
		if ahead := (Ranked{Seconds: 1}).order()/(Ranked{Seconds: 1, Weight: c.weight}).order() - 1; ahead < c.low || ahead > c.high {
			t.Errorf("measured with weight %g: %g", c.weight, ahead)
		}
	}
}

// TestALevelIsAMedian: of an even count the mean of the middle two, whatever their order.
func TestALevelIsAMedian(t *testing.T) {
	here := at(problem(t, stencil.Size{8192, 8192, 1}), machinetest.H200())
	of := spacetest.Schedules(t, "stream/vx=4/vy=1/wp=1/ck=64/pf=4/mb=1/ph=8/pm=1", "stream/vx=8/vy=1/wp=1/ck=64/pf=4/mb=1/ph=8/pm=1")
	if a, b := here.Predict(of[0]), here.Predict(of[1]); math.Abs(math.Log(a/b)) > 0.1 {
		t.Fatalf("%g and %g s are predicted", a, b)
	}
	e := Evidence{Place: here, Seconds: map[space.Schedule]float64{of[0]: 1.1 * here.Predict(of[0]), of[1]: 1.3 * here.Predict(of[1])}}
	if got, want := e.offset(), (math.Log(1.1)+math.Log(1.3))/2; math.Abs(got-want) > 1e-12 {
		t.Errorf("%g, want %g", got, want)
	}
	if (Evidence{Place: here}).offset() != 0 {
		t.Error("a level of nothing")
	}
}

// TestLaunchesLearnFromTheirKernel: what was measured of a compiled kernel counts for other stream tiles of it, not for
// another kernel, and not where an SM holds several of its blocks where it held one.
func TestLaunchesLearnFromTheirKernel(t *testing.T) {
	here := at(problem(t, stencil.Size{8192, 8192, 1}), machinetest.H200())
	known := spacetest.Schedules(t, "stream/vx=4/vy=1/wp=1/ck=64/pf=4/mb=1/ph=8/pm=1", "stream/vx=8/vy=1/wp=1/ck=64/pf=4/mb=1/ph=8/pm=1", "stream/vx=8/vy=1/wp=1/ck=64/pf=4/mb=1/ph=10/pm=1")
	seconds := map[space.Schedule]float64{known[0]: 0.8 * here.Predict(known[0]), known[1]: here.Predict(known[1]), known[2]: here.Predict(known[2])}
	expected := func(there Place, s space.Schedule) float64 {
		return Rank(there, []Evidence{{Place: here, Seconds: seconds}}, []space.Schedule{s})[0].Seconds / there.Predict(s)
	}
	others := spacetest.Schedules(t, "stream/vx=4/vy=1/wp=1/ck=128/pf=4/mb=1/ph=8/pm=1", "stream/vx=4/vy=1/wp=1/ck=64/pf=2/mb=1/ph=8/pm=1", "stream/vx=2/vy=1/wp=1/ck=64/pf=4/mb=1/ph=8/pm=1")
	same, tiles, near, other := expected(here, known[0]), expected(here, others[0]), expected(here, others[1]), expected(here, others[2])
	if !(same < tiles && tiles < near && near < other && math.Abs(other-1) < 1e-9) {
		t.Errorf("expected over predicted: the schedule %g, other stream tiles %g, another prefetch depth %g, another kernel %g", same, tiles, near, other)
	}
	small := at(problem(t, stencil.Size{1024, 1024, 1}), machinetest.H200())
	if alone := spacetest.Schedule(t, "stream/vx=4/vy=1/wp=1/ck=8/pf=4/mb=1/ph=8/pm=1"); !small.guess(alone).alone || here.guess(known[0]).alone || math.Abs(expected(small, alone)-1) > 1e-9 {
		t.Errorf("%+v, %+v, expected over predicted %g", small.guess(alone), here.guess(known[0]), expected(small, alone))
	}
}
