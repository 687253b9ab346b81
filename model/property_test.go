package model

import (
	"math"
	"math/rand/v2"
	"sync"
	"testing"

	"stenciltune/kernels"
	"stenciltune/kernels/all"
	"stenciltune/machine"
	"stenciltune/machine/machinetest"
	"stenciltune/space"
	"stenciltune/space/spacetest"
	"stenciltune/stencil"
	"stenciltune/stencil/stenciltest"
)

// sample is one schedule's work.
type sample struct {
	p stencil.Problem
	s space.Schedule
	w kernels.Work
}

var (
	samplesOnce sync.Once
	samples     []sample
)

// sampled calls f with the work of some schedules of every family on several
// problems.
func sampled(t *testing.T, f func(p stencil.Problem, s space.Schedule, w kernels.Work)) {
	t.Helper()
	samplesOnce.Do(func() {
		r := rand.New(rand.NewPCG(7, 11))
		for _, p := range []stencil.Problem{
			cube(t), problem(t, "jacobi3d", stencil.Float64, stencil.Size{256, 200, 150}), problem(t, "jacobi2d", stencil.Float32, stencil.Size{8192, 8192, 1}),
			problem(t, "gradient2d", stencil.Float64, stencil.Size{4096, 4000, 1}), problem(t, "jacobi3d27", stencil.Float32, stencil.Size{320, 320, 320}),
		} {
			family := "" // of the schedule before: of each family the first is taken, too
			for s := range kernels.Spaces(all.Families(), p, machinetest.H200()).All() {
				first := s.Family() != family
				family = s.Family()
				if r.IntN(150) == 0 || first {
					w := kernels.Find(all.Families(), s.Family()).Work(p, s)
					w.Torn = 0 // what they cost depends on how far blocks drift apart: more computing may be less time
					samples = append(samples, sample{p, s, w})
				}
			}
		}
	})
	families := map[string]bool{}
	for _, x := range samples {
		families[x.s.Family()] = true
		f(x.p, x.s, x.w)
	}
	if len(samples) < 200 || len(families) != len(all.Families()) {
		t.Errorf("only %d schedules of %v", len(samples), families)
	}
}

func TestRedundantWorkNeverPredictsLessTime(t *testing.T) {
	sampled(t, func(p stencil.Problem, s space.Schedule, w kernels.Work) {
		before := Predict(p, w, Facts{}, machinetest.H200())
		for _, k := range []float64{1.01, 1.3, 4} {
			more := w // the same useful cells, more updates for them
			more.Updates *= k
			more.Flops *= k
			more.Beside *= k
			more.Integer *= k
			more.Accesses *= k
			more.Shared *= k
			more.Waits *= k
			after := Predict(p, more, Facts{}, machinetest.H200())
			if after.Seconds < before.Seconds || after.Redundancy <= before.Redundancy || after.Ghost < before.Ghost {
				t.Errorf("%s %s: %g times the updates: %g s after %g s", p.Text(), s, k, after.Seconds, before.Seconds)
			}
			wider := w // a ghost zone loaded on each side
			for a := range p.Stencil.Dims {
				wider.Read[a] += int(k)
			}
			wider.L2Read *= k
			if got := Predict(p, wider, Facts{}, machinetest.H200()).Seconds; got < before.Seconds {
				t.Errorf("%s %s: a wider ghost zone: %g s after %g s", p.Text(), s, got, before.Seconds)
			}
		}
	})
}

func TestBandwidthBoundPredictionsFollowTheBandwidth(t *testing.T) {
	// Memory so slow that nothing else matters.
	slow := func(k float64) machine.Machine {
		m := machinetest.H200()
		m.CopyBytesPerSecond /= 2000 * k
		return m
	}
	sampled(t, func(p stencil.Problem, s space.Schedule, w kernels.Work) {
		base := Predict(p, w, Facts{}, slow(1))
		for _, k := range []float64{2, 3, 10} {
			got := Predict(p, w, Facts{}, slow(k))
			if got.Limiter != "dram" || math.Abs(got.Seconds/base.Seconds/k-1) > 0.03 {
				t.Errorf("%s %s: bandwidth / %g: time x %.3f, limited by %s", p.Text(), s, k, got.Seconds/base.Seconds, got.Limiter)
			}
		}
	})
}

// If every rate of a machine is k times as high, every time is 1/k: a term with a
// wrong unit would not follow.
func TestUnits(t *testing.T) {
	const k = 3.7
	m := machinetest.H200()
	m.Rates.Launch = 1.5e-6
	fast := m
	fast.ClockHz *= k
	fast.CopyBytesPerSecond *= k
	fast.Rates.Launch /= k
	m.Rates.DRAMLatency, m.Rates.L2Latency, m.Rates.Barrier = 5e-7, 2e-7, 2e-8
	fast.Rates.DRAMLatency, fast.Rates.L2Latency, fast.Rates.Barrier = 5e-7/k, 2e-7/k, 2e-8/k
	sampled(t, func(p stencil.Problem, s space.Schedule, w kernels.Work) {
		a, b := Fitted.Predict(p, w, Facts{}, m), Fitted.Predict(p, w, Facts{}, fast)
		if math.Abs(a.Seconds/b.Seconds/k-1) > 1e-9 {
			t.Fatalf("%s %s: %g s and %g s", p.Text(), s, a.Seconds, b.Seconds)
		}
		for i := range a.Terms {
			if x, y := a.Terms[i].Seconds, b.Terms[i].Seconds; math.Abs(x-k*y) > 1e-9*x {
				t.Fatalf("%s %s: term %s: %g s and %g s", p.Text(), s, a.Terms[i].Name, x, y)
			}
		}
		if a.DRAMBytes != b.DRAMBytes || a.L2Bytes != b.L2Bytes || a.Redundancy != b.Redundancy {
			t.Fatalf("%s %s: counts depend on rates", p.Text(), s)
		}
	})
}

func TestMemoryTrafficIsNeverBelowTheCompulsory(t *testing.T) {
	small := Fitted
	small.Resident = 1e-9 // L2 keeps no grid from launch to launch
	sampled(t, func(p stencil.Problem, s space.Schedule, w kernels.Work) {
		got := small.Predict(p, w, Facts{}, machinetest.H200())
		if least := 2 * float64(p.Bytes()); got.DRAMBytes < least*(1-1e-9) || got.DRAMBytes > math.Max(got.L2Bytes, least)*(1+1e-9) {
			t.Errorf("%s %s: %g bytes of memory, %g of L2, at least %g", p.Text(), s, got.DRAMBytes, got.L2Bytes, least)
		}
	})
}

func TestOccupancyIsTheMostThatFits(t *testing.T) {
	r := rand.New(rand.NewPCG(5, 5))
	for _, k := range machine.KnownDevices() {
		m := k.Machine
		fits := func(blocks, threads, registers, shared int) bool {
			warps := (threads + 31) / 32
			perWarp := (registers*32 + 255) / 256 * 256
			each := 0
			if shared > 0 {
				each = (shared + m.SharedReserved + 127) / 128 * 128
			}
			return blocks <= m.MaxBlocksSM && blocks*warps*32 <= m.MaxThreadsSM && blocks*warps <= m.RegistersSM/4/perWarp*4 && blocks*each <= m.SharedSM
		}
		for range 1500 {
			threads, registers, shared := 1+r.IntN(1024), 16+r.IntN(240), r.IntN(m.SharedBlockOptin)
			if r.IntN(3) == 0 {
				shared = 0
			}
			blocks, _ := Resident(m, threads, registers, shared)
			if blocks > 0 && !fits(blocks, threads, registers, shared) || fits(blocks+1, threads, registers, shared) {
				t.Fatalf("%s: %d threads of %d registers, %d bytes: %d blocks", k.ID, threads, registers, shared, blocks)
			}
		}
	}
}

// Thresholds are smooth: a little more of anything changes a prediction a little.
func TestNoCliffs(t *testing.T) {
	p := cube(t)
	for _, text := range []string{naive, fused, "stream/vx=2/vy=4/wp=16/ck=8/pf=2/mb=1/ph=4"} {
		w := work(t, p, text)
		check := func(what string, from, to float64, at func(v float64) float64) {
			before := at(from)
			for v := from; v < to; v *= 1.02 {
				now := at(v)
				if now/before > 1.1 || before/now > 1.1 {
					t.Errorf("%s: %s at %g: %g s after %g s", text, what, v, now, before)
				}
				before = now
			}
		}
		check("L2", 1<<18, 1<<28, func(v float64) float64 {
			m := machinetest.H200()
			m.L2Bytes = int64(v)
			return Predict(p, w, Facts{}, m).Seconds
		})
		check("loads in flight", 0.5, 100, func(v float64) float64 {
			w := w
			w.Loads = v
			return Predict(p, w, Facts{}, machinetest.H200()).Seconds
		})
		before := Predict(p, w, Facts{}, machinetest.H200()).Seconds
		for least := w.Least; least < 400; least++ { // one register more
			w.Least = least
			now := Predict(p, w, Facts{}, machinetest.H200()).Seconds
			if now/before > 1.2 || now < before*(1-1e-12) {
				t.Errorf("%s: %d registers at least: %g s after %g s", text, least, now, before)
			}
			before = now
		}
	}
}

// The estimates of registers, against what the compiler took for every recorded
// schedule, are tested in TestRegisterEstimates; here only that spilling costs.
func TestSpillsCost(t *testing.T) {
	p := cube(t)
	w := work(t, p, "stream/vx=2/vy=4/wp=16/ck=8/pf=2/mb=1/ph=4")
	none, some := Predict(p, w, Facts{Registers: 128}, machinetest.H200()), Predict(p, w, Facts{Registers: 128, SpillBytes: 200}, machinetest.H200())
	if some.Seconds <= none.Seconds || some.SpillBytes != 200 || none.SpillBytes != 0 {
		t.Errorf("%g s without, %g s with spills", none.Seconds, some.Seconds)
	}
	w.Least = 200
	if got := Predict(p, w, Facts{}, machinetest.H200()); got.SpillBytes < 200 || got.Seconds <= none.Seconds {
		t.Errorf("%+v", got)
	}
}

// A grid that L2 holds from launch to launch costs no memory traffic, one of many times its
// size all; between the two it grows.
func TestGridsWithinL2StayThere(t *testing.T) {
	st := stenciltest.Lookup(t, "jacobi2d")
	last := 0.0
	for n := 128; n <= 16384; n *= 2 {
		p := stencil.Problem{Stencil: st, DType: stencil.Float32, Size: stencil.Size{n, n, 1}, Steps: 1000}
		f := kernels.Find(all.Families(), "global")
		s := spacetest.Schedule(t, "global/gx=64/gy=4/gz=1/wx=1/wy=1/wz=1/cw=0/zz=0/sp=0")
		share := Predict(p, f.Work(p, s), Facts{}, machinetest.H200()).DRAMBytes / (2 * float64(p.Bytes()))
		if share <= last || n == 128 && share > 0.01 || n == 16384 && share < 0.99 {
			t.Errorf("%d^2: %g of the grid from memory, %g of one half as wide", n, share, last)
		}
		last = share
	}
}
