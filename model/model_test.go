package model

import (
	"encoding/json"
	"math"
	"math/rand/v2"
	"testing"

	"stenciltune/kernels"
	"stenciltune/kernels/all"
	"stenciltune/machine"
	"stenciltune/machine/machinetest"
	"stenciltune/space/spacetest"
	"stenciltune/stencil"
	"stenciltune/stencil/stenciltest"
)

func problem(t testing.TB, name string, d stencil.DType, n stencil.Size) stencil.Problem {
	t.Helper()
	return stencil.Problem{Stencil: stenciltest.Lookup(t, name), DType: d, Size: n, Steps: 1000}
}

func cube(t testing.TB) stencil.Problem {
	return problem(t, "jacobi3d", stencil.Float32, stencil.Size{512, 512, 512})
}

func work(t testing.TB, p stencil.Problem, text string) kernels.Work {
	t.Helper()
	s := spacetest.Schedule(t, text)
	return kernels.Find(all.Families(), s.Family()).Work(p, s)
}

const (
	naive = "global/gx=64/gy=4/gz=1/wx=1/wy=1/wz=1/cw=0/zz=0/sp=0"
	fused = "tile/gx=32/gy=8/gz=2/wx=1/wy=2/wz=4/cw=0/zz=0/ph=2"
)

func TestOccupancyEqualsHandComputedExamplesOfAnH200(t *testing.T) {
	for _, c := range []struct {
		threads, registers, shared int
		blocks                     int
		limit                      string
	}{
		{32, 16, 0, 32, "blocks"},
		{64, 32, 0, 32, "blocks"},                 // 32 blocks of 2 warps fill the 64 warps too
		{256, 32, 0, 8, "threads"},                // 8 x 256 = 2048
		{100, 32, 0, 16, "threads"},               // as 128: threads come in warps
		{256, 40, 0, 6, "registers"},              // 1280 a warp; 12 warps in a quarter of 16384, 48 in all
		{256, 64, 0, 4, "registers"},              // 2048 a warp, 32 warps
		{256, 33, 0, 6, "registers"},              // 1056 a warp is given as 1280
		{1024, 32, 0, 2, "threads"},               // 2 x 1024 = 2048
		{1024, 64, 0, 1, "registers"},             // 32 warps of 2048
		{1024, 65, 0, 0, "registers"},             // 2304 a warp: 28 warps at most
		{128, 255, 0, 2, "registers"},             // 8192 a warp: 8 warps
		{96, 255, 0, 2, "registers"},              // 8 warps, 3 a block
		{96, 40, 0, 16, "registers"},              // 12 warps in each quarter, 48 in all, 3 a block
		{128, 999, 0, 2, "registers"},             // no thread has more than 255
		{128, 32, 48 << 10, 4, "shared memory"},   // 49 KiB with the reserve: 4 x 49 = 196 of 228
		{128, 32, 1, 16, "threads"},               // 1152 bytes: 202 of them
		{1024, 32, 227 << 10, 1, "shared memory"}, // all of it
		{1024, 32, 227<<10 + 1, 0, "shared memory"},
		{128, 64, 100 << 10, 2, "shared memory"}, // registers would allow 8
		{512, 128, 10 << 10, 1, "registers"},     // 4096 a warp: 16 warps; shared memory would allow 20
	} {
		blocks, limit := Resident(machinetest.H200(), c.threads, c.registers, c.shared)
		if blocks != c.blocks || limit != c.limit {
			t.Errorf("%d threads of %d registers, %d bytes: %d blocks by %s, want %d by %s", c.threads, c.registers, c.shared, blocks, limit, c.blocks, c.limit)
		}
	}
}

func TestRegisterLimitIsWhatLaunchBoundsLeaves(t *testing.T) {
	for threads, want := range map[int]int{32: 255, 256: 255, 257: 168, 320: 168, 384: 168, 512: 128, 544: 96, 768: 80, 1024: 64} {
		if got := registerLimit(machinetest.H200(), threads); got != want {
			t.Errorf("%d threads: %d registers, want %d", threads, got, want)
		}
		if blocks, _ := Resident(machinetest.H200(), threads, want, 0); blocks < 1 {
			t.Errorf("%d threads with all the registers they may have: %d blocks", threads, blocks)
		}
		if blocks, _ := Resident(machinetest.H200(), threads, want+8, 0); blocks > 0 && want < 255 {
			t.Errorf("%d threads with more registers than they may have: %d blocks", threads, blocks)
		}
	}
	if got := registerLimit(machine.Machine{WarpSize: 32}, 1024); got != 255 {
		t.Errorf("no facts: %d", got)
	}
}

// A legal schedule whose warps are no multiple of four and whose registers do not suffice spills; it has a time.
func TestTenWarpsThatWantMoreRegistersHaveATime(t *testing.T) {
	p := problem(t, "acoustic3d", stencil.Float32, stencil.Size{512, 512, 512})
	const text = "sweep/vx=4/vy=3/wp=10/ck=16/pf=4/mb=1"
	if got := Predict(p, work(t, p, text), Facts{}, machinetest.H200()); math.IsInf(got.Seconds, 1) || got.Registers != 168 || got.SpillBytes < 4 {
		t.Errorf("%g s, %d registers, %g bytes spilled, %s", got.Seconds, got.Registers, got.SpillBytes, got.Occupancy)
	}
}

func TestTailStretchesAndNeverShrinks(t *testing.T) {
	for w := 0.0; w < 100; w += 0.01 {
		if f := gap(w, 1); f < 1 || f > 2 || math.IsNaN(f) {
			t.Errorf("%v waves: factor %v", w, f)
		}
	}
	for _, w := range []float64{1, 2, 5, 64} {
		if gap(w, 1) != 1 {
			t.Errorf("%v full waves are stretched by %v", w, gap(w, 1))
		}
	}
	if gap(1.01, 1) <= gap(1.5, 1) || gap(1.01, 1) <= gap(2.01, 1) || gap(2.01, 1) <= gap(50.01, 1) {
		t.Error("a nearly empty last wave must cost more than a half full one, and less after more waves")
	}
}

func TestMoreWorkIsNeverFaster(t *testing.T) {
	p := cube(t)
	for _, text := range []string{naive, fused} {
		base := work(t, p, text)
		before := Predict(p, base, Facts{}, machinetest.H200())
		for name, change := range map[string]func(*kernels.Work){
			"bytes written":   func(w *kernels.Work) { w.L2Write *= 3 },
			"L2 reads":        func(w *kernels.Work) { w.L2Read *= 3 },
			"L1 loads":        func(w *kernels.Work) { w.L1Loads *= 3 },
			"shared memory":   func(w *kernels.Work) { w.Shared = 3*w.Shared + 1e9 },
			"flops":           func(w *kernels.Work) { w.Flops *= 3 },
			"beside":          func(w *kernels.Work) { w.Beside += w.Flops },
			"integer":         func(w *kernels.Work) { w.Integer *= 3 },
			"waits for loads": func(w *kernels.Work) { w.LoadWaits += 10 },
			"waits in a tile": func(w *kernels.Work) { w.Waits += 100 },
			"redundant fringe": func(w *kernels.Work) {
				w.L2Read *= float64(w.Read[2]+8) / float64(w.Read[2])
				w.Read[2] += 8
			},
		} {
			w := base
			change(&w)
			if after := Predict(p, w, Facts{}, machinetest.H200()); !(after.Seconds > before.Seconds) {
				t.Errorf("%s, more %s: %g s after %g s", text, name, after.Seconds, before.Seconds)
			}
		}
	}
}

func TestWeakerMachineIsNeverFaster(t *testing.T) {
	p := cube(t)
	for _, text := range []string{naive, fused} {
		w := work(t, p, text)
		before := Predict(p, w, Facts{}, machinetest.H200())
		for name, change := range map[string]func(*machine.Machine){
			"memory bandwidth": func(m *machine.Machine) { m.CopyBytesPerSecond /= 2 },
			"clock":            func(m *machine.Machine) { m.ClockHz /= 2 },
			"multiprocessors":  func(m *machine.Machine) { m.SMs /= 2 },
			"L2":               func(m *machine.Machine) { m.L2Bytes /= 16 },
		} {
			m := machinetest.H200()
			change(&m)
			if after := Predict(p, w, Facts{}, m); !(after.Seconds > before.Seconds) {
				t.Errorf("%s, less %s: %g s after %g s", text, name, after.Seconds, before.Seconds)
			}
		}
	}
}

func TestMissedRereadsGrowFromNoneToAll(t *testing.T) {
	before := 0.0
	for d := 1e3; d < 1e12; d *= 1.5 {
		m := missed(d, 60e6, 4)
		if m < before || m < 0 || m > 1 {
			t.Errorf("distance %g: %v after %v", d, m, before)
		}
		before = m
	}
	if missed(1e3, 60e6, 4) > 1e-9 || missed(1e12, 60e6, 4) < 1-1e-9 || missed(60e6, 60e6, 4) != 0.5 || missed(1e9, 0, 4) != 0 {
		t.Error("the ends or the middle")
	}
}

func TestDRAMTrafficIsAtLeastTheGridInAndOut(t *testing.T) {
	p, cold := cube(t), Fitted
	cold.Resident = 1e-12 // nothing stays in L2 from launch to launch
	for _, text := range []string{naive, fused, "global/gx=64/gy=4/gz=1/wx=1/wy=1/wz=1/cw=128/zz=1/sp=0"} {
		w := work(t, p, text)
		if got := cold.Predict(p, w, Facts{}, machinetest.H200()).DRAMBytes; got < 2*float64(p.Bytes()) || got > 2*float64(p.Bytes())+w.L2Read {
			t.Errorf("%s: %g bytes, the grid has %d", text, got, p.Bytes())
		}
	}
	huge := machinetest.H200()
	huge.L2Bytes = 1 << 50
	if got := cold.Predict(p, work(t, p, naive), Facts{}, huge).DRAMBytes; math.Abs(got/(2*float64(p.Bytes()))-1) > 1e-6 {
		t.Errorf("with an L2 that holds everything: %g bytes", got)
	}
}

func TestKernelThatCannotBeResidentTakesForEver(t *testing.T) {
	p := cube(t)
	w := work(t, p, fused)
	w.Launch.SharedBytes = 300 << 10
	got := Predict(p, w, Facts{}, machinetest.H200())
	if !math.IsInf(got.Seconds, 1) || got.Occupancy != "shared memory" || got.Limiter != "occupancy" || got.BlocksPerSM != 0 {
		t.Errorf("%+v", got)
	}
	w = work(t, p, fused)
	w.Launch.Block = [3]int{1024, 4, 1}
	if got := Predict(p, w, Facts{}, machinetest.H200()); !math.IsInf(got.Seconds, 1) || got.Occupancy != "threads" {
		t.Errorf("%+v", got)
	}
}

func TestCompilersRegistersReplaceTheEstimate(t *testing.T) {
	p := cube(t)
	w := work(t, p, fused)
	if a, b := Predict(p, w, Facts{Registers: w.Registers}, machinetest.H200()).Seconds, Predict(p, w, Facts{}, machinetest.H200()).Seconds; math.Abs(a/b-1) > 1e-3 {
		t.Error("the estimate given as the compiler's number changes the prediction")
	}
	few, many := Predict(p, w, Facts{Registers: 32}, machinetest.H200()), Predict(p, w, Facts{Registers: 120}, machinetest.H200())
	if few.BlocksPerSM <= many.BlocksPerSM || few.Seconds >= many.Seconds {
		t.Errorf("32 registers: %d blocks, %g s; 120: %d blocks, %g s", few.BlocksPerSM, few.Seconds, many.BlocksPerSM, many.Seconds)
	}
	spilled := work(t, p, naive)
	spilled.Launch.Block = [3]int{1024, 1, 1} // 64 registers a thread at most
	if fit, spill := Predict(p, spilled, Facts{Registers: 64}, machinetest.H200()), Predict(p, spilled, Facts{Registers: 64, SpillBytes: 544}, machinetest.H200()); !(spill.Seconds > fit.Seconds) || spill.BlocksPerSM != fit.BlocksPerSM {
		t.Errorf("64 registers: %g s; 200, of which 136 are spilled: %g s", fit.Seconds, spill.Seconds)
	}
}

func TestEveryLegalScheduleHasAFinitePredictionAboveEachOfItsTerms(t *testing.T) {
	r := rand.New(rand.NewPCG(4, 4))
	bare := machine.Machine{ // no rates at all: the host, or a driver that does not tell
		WarpSize: 32, SMs: 2, MaxThreadsBlock: 1024, MaxBlockDim: [3]int{1024, 1024, 64}, MaxGridDim: [3]int{math.MaxInt32, 65535, 65535},
		MaxThreadsSM: 2048, MaxBlocksSM: 32, SharedBlock: 48 << 10, SharedBlockOptin: 48 << 10, SharedSM: 48 << 10,
	}
	for _, m := range []machine.Machine{machinetest.H200(), bare} {
		for _, p := range []stencil.Problem{
			cube(t), problem(t, "jacobi3d", stencil.Float64, stencil.Size{67, 45, 29}), problem(t, "jacobi2d", stencil.Float32, stencil.Size{8192, 8192, 1}),
			problem(t, "jacobi2d", stencil.Float64, stencil.Size{3, 2, 1}),
		} {
			for s := range kernels.Spaces(all.Families(), p, m).All() {
				if r.IntN(10) > 0 {
					continue
				}
				w := kernels.Find(all.Families(), s.Family()).Work(p, s)
				got := Predict(p, w, Facts{}, m)
				if !(got.Seconds > 0) || math.IsInf(got.Seconds, 0) || got.Redundancy < 1 || got.BlocksPerSM < 1 || got.Waves <= 0 {
					t.Fatalf("%s %s: %+v", p.Text(), s, got)
				}
				worst, sum := "", 0.0
				largest := 0.0
				for _, term := range got.Terms {
					if !(term.Seconds >= 0) || term.Why == "" || term.Seconds > got.Seconds*float64(w.Steps)*(1+1e-9) {
						t.Fatalf("%s %s: a launch of %g s has the term %+v", p.Text(), s, got.Seconds*float64(w.Steps), term)
					}
					if term.Name != "launch" && term.Seconds > largest {
						worst, largest = term.Name, term.Seconds
					}
					sum += term.Seconds
				}
				if got.Limiter != worst {
					t.Fatalf("%s %s: limited by %s, the largest term is %s", p.Text(), s, got.Limiter, worst)
				}
				if got.Seconds*float64(w.Steps) > 2*sum {
					t.Fatalf("%s %s: %g s a launch, all terms together %g s", p.Text(), s, got.Seconds*float64(w.Steps), sum)
				}
				if _, err := json.Marshal(got); err != nil {
					t.Fatal(err)
				}
			}
		}
	}
}

func TestPredictionsOfAnH200AreInTheRightRegion(t *testing.T) {
	// Measured there: 0.48 ms a step (copy bandwidth alone: 0.26 ms).
	p := cube(t)
	if got := Predict(p, work(t, p, naive), Facts{}, machinetest.H200()).Seconds; got < 0.26e-3 || got > 1e-3 {
		t.Errorf("naive jacobi3d 512x512x512: %g s", got)
	}
}

func TestLargerGridsAndWiderTypesTakeLonger(t *testing.T) {
	before := 0.0
	for _, n := range []int{64, 128, 256, 512, 1024} {
		p := cube(t).Resized(stencil.Size{n, n, n})
		got := Predict(p, work(t, p, naive), Facts{}, machinetest.H200()).Seconds
		if got <= before {
			t.Errorf("%d cubed: %g s after %g s", n, got, before)
		}
		before = got
	}
	for _, text := range []string{naive, fused} {
		single, double := cube(t), cube(t)
		double.DType = stencil.Float64
		if a, b := Predict(single, work(t, single, text), Facts{}, machinetest.H200()).Seconds, Predict(double, work(t, double, text), Facts{}, machinetest.H200()).Seconds; b <= a {
			t.Errorf("%s: %g s in float, %g s in double", text, a, b)
		}
	}
}

func TestLanesFollowTheThroughputTable(t *testing.T) {
	for cc, want := range map[string][2]float64{"7.0": {64, 32}, "7.5": {64, 2}, "8.0": {64, 32}, "8.6": {128, 2}, "8.9": {128, 2}, "9.0": {128, 64}, "10.0": {128, 64}, "10.3": {128, 2}, "12.0": {128, 2}, "": {128, 2}} {
		m := machine.Machine{ComputeCapability: cc}
		if got := [2]float64{lanes(m, stencil.Float32), lanes(m, stencil.Float64)}; got != want {
			t.Errorf("%q: %v, want %v", cc, got, want)
		}
	}
}

// What was measured of a machine counts where it differs from what the coefficients stand for.
func TestMeasuredLatenciesAreUsed(t *testing.T) {
	p := cube(t)
	same := machinetest.H200()
	same.ClockHz = 1.98e9
	term := func(m machine.Machine, name string) float64 {
		for _, x := range Predict(p, work(t, p, "tile/gx=32/gy=4/gz=2/wx=1/wy=1/wz=1/cw=0/zz=0/ph=1/pd=0"), Facts{}, m).Terms {
			if x.Name == name {
				return x.Seconds
			}
		}
		t.Fatalf("no term %s", name)
		return 0
	}
	measured := same
	measured.Rates = machine.Rates{DRAMLatency: 365e-9, L2Latency: 168e-9, Barrier: 14.7e-9}
	slow := measured
	slow.Rates.DRAMLatency *= 2
	slow.Rates.Barrier *= 3
	for _, name := range []string{"dram", "loading", "waiting"} {
		base := term(same, name)
		if got := term(measured, name); math.Abs(got/base-1) > 1e-9 {
			t.Errorf("%s: %g s with an H200's own figures, %g s without", name, got, base)
		}
		if got := term(slow, name); got < 1.01*base {
			t.Errorf("%s: %g s on a slow device, %g s on an H200", name, got, base)
		}
	}
}

// An L1 that is too small for what blocks read at once sends them to L2 again.
func TestL1MustHoldWhatALineReads(t *testing.T) {
	p := problem(t, "box9", stencil.Float32, stencil.Size{4096, 4096, 1})
	const line = "global/gx=512/gy=1/gz=1/wx=1/wy=1/wz=1/cw=32/zz=0/sp=1"
	w := work(t, p, line)
	large := machinetest.H200()
	small := large
	small.ComputeCapability, small.SharedSM = "99.0", 4<<10 // 32 KiB with L1
	a, b := Predict(p, w, Facts{}, large), Predict(p, w, Facts{}, small)
	if a.L2Bytes > 1.01*(w.L2Read+w.L2Write) || b.L2Bytes < 1.3*a.L2Bytes || b.Seconds < a.Seconds {
		t.Errorf("%g bytes from L2 and %g s, with an L1 of 32 KiB %g and %g", a.L2Bytes, a.Seconds, b.L2Bytes, b.Seconds)
	}
}

func TestNumbersThatAKernelLeavesCostNoReading(t *testing.T) {
	st := stenciltest.Parse(t, "s", "NumDimensions 2 StencilSize (1, 1) StepScalar sum s { return get(0, 0); } CellValue { return (get(1, 0) + get(0, 1)) * s; }")
	p := stencil.Problem{Stencil: st, DType: stencil.Float32, Size: stencil.Size{8192, 8192, 1}, Steps: 10}
	seconds := func(schedule string) float64 {
		s := spacetest.Schedule(t, schedule)
		for _, term := range Predict(p, kernels.Find(all.Families(), s.Family()).Work(p, s), Facts{}, machinetest.H200()).Terms {
			if term.Name == "numbers" {
				return term.Seconds
			}
		}
		t.Fatalf("%s: no term of numbers", schedule)
		return 0
	}
	few, many := seconds("global/gx=64/gy=8/gz=1/wx=1/wy=8/wz=1/cw=0/zz=0/sp=0/vx=4"), seconds("global/gx=64/gy=8/gz=1/wx=1/wy=1/wz=1/cw=0/zz=0/sp=0")
	if reading := many - 2*few; reading < 4*8192*8192/5e12 || few > 10e-6 { // a launch against two and the grid, at no more than 5 TB/s
		t.Errorf("%g s by blocks that leave parts, %g s by more than one block can fold", few, many)
	}
}

// A kernel for each stage is launched for each of them; where stages are fused, or the family keeps them in a block, one is.
func TestEveryStageIsLaunched(t *testing.T) {
	st := stenciltest.Parse(t, "stages", "NumDimensions 2 StencilSize (1, 1) Fields (u, v) Stages (one, two, three) "+
		"CellValue one (u) { return sin(get(v, 1, 0)); } CellValue two (v) { return sin(get(u, 0, 1)); } CellValue three (u) { return sin(get(v, -1, 0)); }")
	p := stencil.Problem{Stencil: st, DType: stencil.Float32, Size: stencil.Size{512, 512, 1}, Steps: 10}
	for text, want := range map[string]float64{
		"global/gx=32/gy=4/gz=1/wx=1/wy=1/wz=1/cw=0/zz=0/sp=0": 3, "smalltile/gx=32/gy=8/gz=1/wx=1/wy=1/wz=1/cw=0/zz=0/ph=1": 3,
		"global/gx=32/gy=4/gz=1/wx=1/wy=1/wz=1/cw=0/zz=0/sp=0/fs=1": 1, "pipeline/vx=2/vy=1/wp=1/ck=4/pf=1/mb=1/ph=1": 1,
	} {
		s := spacetest.Schedule(t, text)
		got := Schedule(p, kernels.Find(all.Families(), s.Family()), s, Facts{}, machinetest.H200())
		one := launchSeconds(machinetest.H200()) + Fitted.Ramp/machinetest.H200().ClockHz
		if launch := got.Parts[Parts-1]; math.Abs(launch/one-want) > 1e-9 {
			t.Errorf("%s: %g launches, want %g", text, launch/one, want)
		}
	}
}
