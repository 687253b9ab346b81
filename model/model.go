// Package model says HOW LONG a schedule should take: it turns the work a family
// counts and the facts of a machine into seconds per time step, term by term.
//
// It is arithmetic only and never measures. Its rank order is the prior of a search with
// an empty store; its absolute seconds are rough. Seconds and bytes throughout.
package model

import (
	"cmp"
	"math"
	"slices"

	"stenciltune/kernels"
	"stenciltune/machine"
	"stenciltune/space"
	"stenciltune/stencil"
)

// Term is one way in which a launch is limited.
type Term struct {
	Name    string  `json:"name"`
	Seconds float64 `json:"seconds"` // per launch, if nothing else limited it
	Why     string  `json:"why"`
}

// Prediction is the expected time of a schedule and where it goes.
type Prediction struct {
	Seconds     float64 `json:"seconds"` // per time step
	Terms       []Term  `json:"terms"`
	Limiter     string  `json:"limiter"`    // name of the largest term of the launch itself: not launch, numbers or lists
	DRAMBytes   float64 `json:"dram_bytes"` // a launch
	L2Bytes     float64 `json:"l2_bytes"`
	BlocksPerSM int     `json:"blocks_per_sm"` // resident
	Occupancy   string  `json:"occupancy"`     // what limits them
	Warps       float64 `json:"warps"`         // resident warps over what an SM can hold
	Registers   int     `json:"registers"`     // of a thread
	SpillBytes  float64 `json:"spill_bytes"`   // of a thread
	Waves       float64 `json:"waves"`
	Tail        float64 `json:"tail"`       // factor by which the last, partly filled wave stretches a launch
	Redundancy  float64 `json:"redundancy"` // updates made for each useful one
	Ghost       float64 `json:"ghost"`      // seconds per launch of computing that ghost zones repeat, if nothing else limited it
	Reuse       float64 `json:"reuse"`      // reads of a naive kernel for each cell a block loads
	// Parts are the seconds of a launch that each kind of resource would take by itself, as they enter
	// Seconds: memory, L2, L1 and shared memory, arithmetic, loading, waiting, and the launch.
	Parts [Parts]float64 `json:"-"`
}

// Parts is how many kinds of resource a prediction tells apart.
const Parts = 7

// Facts are what the compiler has told of a schedule; the zero value is nothing.
type Facts struct {
	Registers  int // of a thread; 0 = not compiled yet
	SpillBytes int // of a thread
}

// Schedule predicts a schedule of a family.
func Schedule(p stencil.Problem, f kernels.Family, s space.Schedule, facts Facts, m machine.Machine) Prediction {
	return Fitted.Schedule(p, f, s, facts, m)
}

// Schedule is that of the model with these coefficients.
func (c Coefficients) Schedule(p stencil.Problem, f kernels.Family, s space.Schedule, facts Facts, m machine.Machine) Prediction {
	p = kernels.Fused(p, s)
	return c.Predict(p, f.Work(p, s), facts, m)
}

// Predict gives the seconds per time step of a schedule whose work is w; p is the problem
// as the schedule runs it (kernels.Fused). What the compiler has told replaces the family's estimate.
func Predict(p stencil.Problem, w kernels.Work, f Facts, m machine.Machine) Prediction {
	return Fitted.Predict(p, w, f, m)
}

// Predict is the model with these coefficients.
func (c Coefficients) Predict(p stencil.Problem, w kernels.Work, f Facts, m machine.Machine) Prediction {
	threads, blocks := float64(w.Launch.Threads()), float64(w.Blocks())
	registers, spilled := allocate(w, f, m)
	resident, limit := Resident(m, w.Launch.Threads(), registers, w.Launch.SharedBytes)
	out := Prediction{BlocksPerSM: resident, Occupancy: limit, Registers: registers, SpillBytes: spilled, Redundancy: w.Redundancy()}
	out.Reuse = reads(p.Stencil) * float64(w.Steps) * volume(w.Write) / volume(w.Read)
	if resident == 0 {
		out.Seconds, out.Limiter = math.Inf(1), "occupancy"
		return out
	}
	if w.Launch.Leaves() { // cells are folded where they are stored
		flops, beside := kernels.Folding(p, 0, true)
		w.Flops += flops * float64(p.Size.Cells())
		w.Beside += beside * float64(p.Size.Cells())
	}
	r := c.rates(m, p.DType)
	sms := float64(max(m.SMs, 1))
	at := math.Min(float64(resident), math.Ceil(blocks/sms)) // blocks on an SM at a time
	warps := threads / float64(m.WarpSize)
	out.Waves = blocks / (float64(resident) * sms)
	out.Warps = float64(resident) * math.Ceil(warps) * float64(m.WarpSize) / float64(max(m.MaxThreadsSM, 1))
	out.DRAMBytes = c.dramBytes(p, w, r, math.Min(float64(resident)*sms, blocks))
	fetched := c.fetched(p, w, r.l2Bytes)
	out.DRAMBytes *= fetched
	out.L2Bytes = c.lineReads(w, at, m) + w.L2Write + w.Resent

	// Bandwidth at partial occupancy, BW(n) = 1 / (1/(a n) + 1/b) with b twice the
	// roof (gpu-benches' stream data, refitted: 0.2 to 4.3 % off on five GPUs), capped
	// at the roof by the norm of the two.
	inFlight := math.Min(float64(resident)*sms, blocks) * threads * w.Loads * float64(p.DType.Size())
	drain := c.draining(w, at, warps)
	dram := pnorm(6, out.DRAMBytes/r.dram, drain*out.DRAMBytes*(r.inFlight/inFlight+1/(2*r.dram)))

	// Some SMs have a block less than others, or none, and all wait for the last. A block of
	// fewer warps than an SM has schedulers leaves some of them to others.
	idle := 1 + c.Idle*(uneven(blocks/(sms*math.Max(1, schedulers/math.Ceil(warps))))-1)

	// An SM issues four warp instructions a clock; each lane counts as 1/32 of one.
	spills := spilled * c.SpillTraffic * 2 * math.Max(w.SpillTrips, 1) * threads * blocks // bytes
	instructions := (w.Flops + w.Beside + w.Integer + w.Accesses + spills/4) / 32
	own := 32 * instructions / (blocks * threads) // of one thread
	out.Terms = append(make([]Term, 0, 11),
		Term{"dram", dram, "bytes to and from memory"},
		Term{"l2", idle * (out.L2Bytes + c.Fill*out.DRAMBytes) / r.l2, "bytes between L2 and the SMs, and to fill it from memory"},
		Term{"l1", idle * (w.L1Loads + spills) / r.pipe, "global loads through L1, wavefront by wavefront"},
		Term{"shared", idle * w.Shared / r.pipe, "shared memory and shuffles, bank conflicts included"},
		Term{"flops", idle * w.Flops / r.flops, "floating-point operations"},
		Term{"issue", idle * instructions / r.issue, "instructions issued"},
		Term{"fetch", idle * fetching(w, instructions, own, warps) / (sms * r.clock), "instructions that an SM's cache does not hold"})

	// A thread's own chain of waits, however much bandwidth there is: only resident
	// blocks hide it from each other.
	passes := math.Max(out.Waves, 1)
	latency := r.l2Latency + (r.loadLatency-r.l2Latency)*fetched
	starting := 0.0
	if w.Line.Asked > 0 {
		latency, starting = lineLatency(w, r, out.DRAMBytes), blocks/sms*startClocks/r.clock
		out.Terms = append(out.Terms, Term{"starts", starting, "starting blocks: an SM starts one at a time"})
	}
	loading := passes * (w.LoadWaits*latency + c.BlockLatency) / r.clock
	barrier := r.barrier + c.WarpLatency*math.Log2(math.Max(warps, 1))
	ownIssue := c.OwnIssue
	if _, _, sum := p.Stencil.Linear(); !sum {
		ownIssue *= chained(p.DType, w)
	}
	waiting := passes * (w.Waits*c.RoundLatency + own*ownIssue + float64(w.Barriers)*barrier + spillClocks*spilled/4*math.Max(w.SpillTrips, 1)) / r.clock
	out.Terms = append(out.Terms,
		Term{"loading", loading, "starting blocks and waiting for global loads, one block after the other"},
		Term{"waiting", waiting, "waiting for shared memory, spilled values, arithmetic and barriers, one block after the other"})

	// Within the SM: L1 and shared memory are one pipe. Waiting and computing of
	// different warps overlap.
	t := out.Terms
	compute := pnorm(c.Norm, t[2].Seconds+t[3].Seconds, t[4].Seconds, t[5].Seconds, t[6].Seconds)
	stretch := gap(out.Waves, c.Tail)
	compute = pnorm(c.WaitNorm, compute, waiting*stretch)
	if w.Split {
		compute *= 1 - (1-waitsLate)*splitSpills/(splitSpills+spilled)
	}
	if w.Barriers > 0 && w.Prefetched {
		compute *= 1 + spilling*spilled/(firstSpills+spilled)
	}
	if float64(resident)*float64(w.Launch.SharedBytes+m.SharedReserved) > float64(m.SharedSM-leftForL1) && w.Copied > 0 && w.Copied < 16 {
		compute *= crowded
	}
	dram = torn(p, w, r, math.Min(float64(resident)*sms, blocks), dram, compute)
	t[0].Seconds = dram
	memory := pnorm(c.Norm, dram, drain*t[1].Seconds, drain*loading*stretch)
	// A kernel with barriers goes through phases: while a block loads it does not
	// compute. A kernel that loads ahead does both.
	q := c.Norm
	if w.Barriers > 0 && !w.Prefetched {
		q = c.PhaseNorm
	}
	out.Tail = stretch
	compute *= drain
	out.Ghost = math.Max(t[4].Seconds, t[5].Seconds) * (1 - 1/out.Redundancy)
	total := math.Max(starting, pnorm(q, compute, memory)) * (1 + (out.Tail-1)/2)
	out.Limiter = slices.MaxFunc(t, func(a, b Term) int { return cmp.Compare(a.Seconds, b.Seconds) }).Name
	launch := launchSeconds(m) + c.Ramp/r.clock
	launching := launch * launches(p, w)
	out.Terms = append(out.Terms, Term{"launch", launching, "launching a kernel, or one for each stage, filling the device and emptying it"})
	out.Parts = [Parts]float64{dram, drain * t[1].Seconds, drain * (t[2].Seconds + t[3].Seconds), drain * slices.Max([]float64{t[4].Seconds, t[5].Seconds, t[6].Seconds}),
		drain * loading * stretch, drain * waiting * stretch, launching}
	out.Seconds = (total + launching) / float64(w.Steps)
	if n := len(kernels.StepLaunches(p, "")); n > 0 { // a step's numbers: what no kernel has left is read from memory once more
		folding, cells := 0.0, float64(p.Size.Cells())
		for i, pass := range p.Stencil.StepPasses() {
			left := i == 0 && w.Launch.Leaves()
			look := float64(p.PassBytes(pass, left)) / r.dram
			if !left && len(pass.Folded) > 0 {
				flops, beside := kernels.Folding(p, i, false)
				look = math.Max(look, (flops+beside)/32/r.issue)
			}
			folding += look * cells
		}
		if w.Launch.Leaves() {
			n--
		}
		folding += float64(n) * launch
		out.Terms = append(out.Terms, Term{"numbers", folding, "step scalars: reading and folding what they are computed from, and launching that"})
		out.Seconds += folding
	}
	if after := kernels.SparseLaunches(p, "", w.Steps); len(after) > 0 { // a few cells each: a launch takes longer than what it does
		acting := float64(len(after)) * launch
		out.Terms = append(out.Terms, Term{"lists", acting, "sources and receivers: a launch of each list"})
		out.Seconds += acting
	}
	return out
}

// launches is the kernels that run for what w counts: one, or one for each stage of a step.
func launches(p stencil.Problem, w kernels.Work) float64 {
	if w.Arrays == 0 {
		return float64(len(p.Stencil.Stages))
	}
	return 1
}

// reads is the cells that the cell function reads of an array, on average over the arrays of a step.
func reads(st *stencil.Stencil) float64 {
	n := 0
	for i := range st.Stages {
		for _, points := range st.Stages[i].Points {
			n += len(points)
		}
		n += len(st.Stages[i].Tables)
	}
	return float64(n) / float64(max(st.Reads(), 1))
}

// draining is the factor by which what an SM does takes longer because blocks leave it partly idle
// while they end, unless others fill the gap, or they are long and load ahead: less is in flight
// then. Warps of a line know nothing of each other, and end one by one.
func (c Coefficients) draining(w kernels.Work, at, warps float64) float64 {
	switch {
	case w.Prefetched:
		return 1
	case w.Line.Asked > 0:
		return 1 + c.Drain/(at*warps)
	}
	return 1 + c.Drain/at
}

// Copies of less than 16 bytes pass L1. Of what an SM has for both, shared memory is given a step of leftForL1 less, or all but the least that
// L1 can do with: with that kernels took 1.01 to 1.46 times as long (docs/lab/0048-first-picks.md).
const (
	leftForL1 = 32 << 10
	crowded   = 1.2
	// What a kernel computes in takes so much less where warps wait late for each other (docs/lab/0061-warps-that-wait-late.md): jacobi3d
	// went from 1,671 to 1,776 GCells/s in float32 (504x504x512), and from 785 to 878 in double precision.
	waitsLate = 0.9
	// Bytes that a thread spills when half of that is lost, for what it then waits for comes before it arrives (docs/lab/0066-spaces-of-today.md).
	splitSpills = 48
	// Where blocks load ahead, few bytes cost as much as many: by jacobi3d's kernels up to a tenth. With more than so much answers for sizes that were
	// never tuned get worse; half of it with so many bytes.
	spilling, firstSpills = 0.04, 16
)

// chained is the clocks between a warp's instructions, waits for memory aside, over those of a weighted sum, whose cells do not wait for each
// other, rounded medians of what counters say of 107 launches (docs/lab/0051-instructions.md). A thread that computes a single cell in double
// precision has little else to do while it waits.
func chained(d stencil.DType, w kernels.Work) float64 {
	switch {
	case d != stencil.Float64:
		return 1.5
	case w.Abreast == 1:
		return 2.8
	}
	return 2
}

// schedulers of an SM: each issues one warp instruction a clock.
const schedulers = 4

// startClocks is what an SM takes to start a block, whatever it computes: box9 in lines of 32 threads
// (bench/h200/columns.txt, 4096x4096: 0.323 ms in every column of whole warps).
const startClocks = 158

// spillClocks is what a thread waits for each word that it spills, in every turn of its loop: of 10, 20 and 30 what the recordings of stream say
// where the bytes are known (docs/lab/0034-registers.md).
const spillClocks = 20

func volume(b [3]int) float64 { return float64(b[0]) * float64(b[1]) * float64(b[2]) }

// allocate is the registers a thread gets and the bytes it spills. The launch
// bounds make the compiler fit a block's registers, and as many blocks as an SM
// must hold; what does not fit is spilled. At the family's least number it begins to, a few
// values for each register that is missing (as it did for recorded schedules of the family
// stream; smooth).
func allocate(w kernels.Work, f Facts, m machine.Machine) (registers int, spilled float64) {
	if f.Registers > 0 {
		return f.Registers, float64(f.SpillBytes)
	}
	most := registerLimit(m, w.Launch.Threads()*max(w.MinBlocks, 1))
	least := w.Least
	if least == 0 {
		least = w.Registers
	}
	const softness, values = 3, 1.2
	missing := softness * softplus(float64(least-most)/softness)
	return min(w.Registers, most), 4 * cmp.Or(w.Spilled, values) * missing
}

// Instructions that an SM's own cache does not hold come from the one behind it (docs/lab/0018-instruction-caches.md,
// 0033-loops-of-one-plane-step.md).
const (
	instructionBytes = 16
	textHeld         = 44 << 10  // bytes of a loop of which half is fetched anew in every turn
	textNear         = 128 << 10 // and from L2: what is behind holds so much on Volta (Jia et al., arXiv:1804.06826)
	nearAClock       = 2         // instructions that an SM then gets
	farAClock        = 0.44      // from L2 (docs/lab/0033-loops-of-one-plane-step.md)
)

// fetching is the clocks in which an SM fetches instructions anew, of so many that it issues of a loop; own are those of a thread. Warps
// that wait for each other at a barrier in every turn share them.
func fetching(w kernels.Work, issued, own, warps float64) float64 {
	text := math.Max(instructionBytes*own*float64(w.Unroll)/math.Max(w.SpillTrips, 1), 1)
	if w.Barriers > 0 {
		issued /= warps
	}
	return issued * (1/(1+math.Pow(textHeld/text, 6))/nearAClock + 1/(1+math.Pow(textNear/text, 6))/farAClock)
}

// launchSeconds is what a launch adds between kernels on one stream: measured, or
// as on an H200.
func launchSeconds(m machine.Machine) float64 { return cmp.Or(m.Rates.Launch, 1.5e-6) }

// gap is the factor by which the last, partly filled wave stretches what goes in
// waves; felt is the share of it that is felt. Blocks drift apart, so beyond a few
// waves half of it goes.
func gap(waves, felt float64) float64 {
	if waves < 1 { // a pass is a pass; how few blocks there are the caller has counted
		return 1
	}
	return 1 + felt*(uneven(waves)-1)*(0.5+0.5/(1+waves*waves/64))
}

// uneven is what the fullest of many holds over the average, which need not be whole.
func uneven(average float64) float64 {
	return math.Max(1, math.Max(1, math.Ceil(average-1e-9))/average)
}

// Resident is the blocks an SM holds and what limits them (CUDA occupancy rules:
// registers in units of 256 a warp, shared memory in units of 128 bytes plus the
// driver's reserve).
func Resident(m machine.Machine, threads, registers, shared int) (blocks int, limit string) {
	warps := (threads + m.WarpSize - 1) / m.WarpSize
	blocks, limit = m.MaxBlocksSM, "blocks"
	if b := m.MaxThreadsSM / (warps * m.WarpSize); b < blocks {
		blocks, limit = b, "threads"
	}
	if registers > 255 {
		registers = 255
	}
	if registers > 0 && m.RegistersSM > 0 {
		perWarp := (registers*m.WarpSize + 255) / 256 * 256
		if b := m.RegistersSM / 4 / perWarp * 4 / warps; b < blocks {
			blocks, limit = b, "registers"
		}
	}
	if shared > 0 {
		each := (shared + m.SharedReserved + 127) / 128 * 128
		if b := m.SharedSM / each; b < blocks {
			blocks, limit = b, "shared memory"
		}
	}
	return blocks, limit
}

// pnorm joins times that overlap: their sum for q = 1, the largest for q = infinity.
func pnorm(q float64, values ...float64) float64 {
	most := slices.Max(values)
	if most <= 0 {
		return 0
	}
	sum := 0.0
	for _, v := range values {
		switch {
		case v == most:
			sum++
		case v > 0:
			sum += math.Pow(v/most, q)
		}
	}
	return most * math.Pow(sum, 1/q)
}

// registerLimit is the most registers a thread may have in a block of that many
// threads: a multiple of 8, 255 at most. Each scheduler has its share of the registers,
// and the one with the most warps decides: warps count in fours (the hardware's check in
// cuda_occupancy.h of the CUDA toolkit).
func registerLimit(m machine.Machine, threads int) int {
	if m.RegistersBlock == 0 {
		return 255
	}
	warps := (threads + m.WarpSize - 1) / m.WarpSize
	warps = (warps + schedulers - 1) / schedulers * schedulers
	return min(m.RegistersBlock/(warps*m.WarpSize)/8*8, 255)
}

// rates are the throughputs of a machine.
type rates struct {
	dram, l2, pipe float64 // bytes per second
	flops          float64 // per second, each operation counted once
	issue          float64 // warp instructions per second
	clock          float64
	l2Bytes        float64
	inFlight       float64 // seconds a byte from memory is under way

	loadLatency, l2Latency, l1Latency, barrier float64 // clocks
}

// What `tune devices --bench` measured of the GPU that the coefficients were fitted on, an H200
// (bench/h200/gputest.txt): seconds, and its clock.
const (
	fittedDRAMLatency = 365e-9
	fittedL2Latency   = 168e-9
	fittedL1Latency   = 39e-9
	fittedBarrier     = 14.7e-9
	fittedClock       = 1.98e9
)

// latencies sets those of a machine: a coefficient, by as much longer or shorter as the
// machine's was measured to be. What was not measured takes as many clocks as on the H200.
func (c Coefficients) latencies(r *rates, m machine.Machine) {
	r.inFlight, r.loadLatency, r.barrier = c.InFlight, c.LoadLatency, c.BarrierLatency
	r.l2Latency = c.LoadLatency * c.L2Latency
	r.l1Latency = cmp.Or(m.Rates.L1Latency*r.clock, fittedL1Latency*fittedClock)
	if m.Rates.DRAMLatency > 0 {
		longer := m.Rates.DRAMLatency / fittedDRAMLatency
		r.inFlight *= longer
		r.loadLatency *= longer * r.clock / fittedClock
		r.l2Latency *= longer * r.clock / fittedClock // unless L2's own is known
	}
	if m.Rates.L2Latency > 0 {
		r.l2Latency = c.LoadLatency * c.L2Latency * m.Rates.L2Latency / fittedL2Latency * r.clock / fittedClock
	}
	if m.Rates.Barrier > 0 {
		r.barrier *= m.Rates.Barrier / fittedBarrier * r.clock / fittedClock
	}
}

// rates derives throughputs from a machine's facts.
func (c Coefficients) rates(m machine.Machine, d stencil.DType) rates {
	clock, sms := m.ClockHz, float64(max(m.SMs, 1))
	if clock == 0 {
		clock = 1.5e9
	}
	r := rates{
		dram: c.DRAM * m.DRAMBandwidth(),
		// 64 bytes a clock and SM at the crossbar, of which plain reads reach 58 % on an
		// H200 (gpu-benches: 9.7 TB/s); 128 bytes from L1 and shared memory (gpu-benches:
		// 125 to 128); four warp instructions.
		l2:      c.L2 * cmp.Or(m.Rates.L2Bytes/0.58, 64*sms*clock),
		pipe:    c.Pipe * cmp.Or(m.Rates.SharedBytes, 128*sms*clock),
		issue:   c.Issue * schedulers * sms * clock,
		flops:   c.Issue * lanes(m, d) * sms * clock,
		clock:   clock,
		l2Bytes: float64(m.L2Bytes),
	}
	c.latencies(&r, m)
	if r.dram == 0 {
		r.dram = 20e9 * sms // no facts: the host, or a driver that does not tell
	}
	return r
}

// lanes is the results of arithmetic that an SM gives a clock. Narrow floats are computed in float32. Of integers 64 (CUDA C++ programming
// guide, throughput of native arithmetic instructions), and half as many moves and products beside them: in machine code of a lattice gas
// and of a filter of ranks two instructions of three are for the integer units.
func lanes(m machine.Machine, d stencil.DType) float64 {
	single, double := m.Lanes()
	switch {
	case d == stencil.Float64:
		return float64(double)
	case d.Floating(): // or as many pairs of float16
		return float64(single)
	}
	return 96
}

// dramBytes is what a launch moves: the grid in and out once, and again what
// blocks share but L2 has lost by the time the neighbour comes (layer conditions
// per axis of the walk over blocks). wave is the blocks in flight.
func (c Coefficients) dramBytes(p stencil.Problem, w kernels.Work, r rates, wave float64) float64 {
	read := readOnce(p, w)
	distance := reuseDistances(p, w, wave)
	again, all := 1.0, 1.0
	for a := range p.Stencil.Dims {
		halo := float64(w.Read[a]-w.Write[a]) / float64(w.Write[a])
		again *= 1 + halo*missed(distance[a], c.L2Knee*r.l2Bytes, c.L2Sharp)
		all *= 1 + halo
	}
	if all > 1 { // arrays that are read at the own cell have no halo
		again = 1 + (again-1)*math.Min(1, math.Max(0, w.L2Read/read-1)/(all-1))
	}
	bytes := read*again + w.L2Write
	if w.ColumnWide > 0 { // both sides of a column are fetched by its neighbour too
		sides := read * 2 * kernels.SectorBytes / float64(p.DType.Size()) / float64(w.ColumnWide*w.Write[0])
		if w.Line.Asked > 0 { // unless L2 holds a column until then
			column := float64(w.ColumnWide*w.Write[0]*p.Size[1]*p.Size[2]) / float64(p.Size.Cells())
			sides *= missed(column*touched(p, w), c.L2Knee*r.l2Bytes, c.L2Sharp)
		}
		bytes += sides
	}
	return math.Min(bytes, math.Max(w.L2Read, read)+w.L2Write)
}

// A sector of memory to which two blocks write, each to a part, has to be read before. That is spared while both do so
// at about the same time: blocks that stream side by side begin abreast, and drift apart in long stream tiles. Those that wait
// less for memory keep abreast longer, and so do those of which all neighbours run (docs/lab/0027-torn-sectors.md; the numbers are docs/lab/0066-spaces-of-today.md's). Where some plane steps
// take longer than those beside them, none does (docs/lab/0059-what-l2-keeps.md).
const (
	tornCost  = 8  // seconds for each of memory's, by the square of the share of torn sectors
	driftPath = 20 // how often blocks in flight stream through L2's size until half do not write together, if memory took no longer than computing
)

// torn is the seconds that memory takes of a launch whose computing takes so long, if without torn sectors it takes seconds.
// wave is the blocks in flight.
func torn(p stencil.Problem, w kernels.Work, r rates, wave, seconds, compute float64) float64 {
	if w.Torn == 0 || r.l2Bytes == 0 {
		return seconds
	}
	axis := p.Stencil.Dims - 1
	apart := seconds * (1 + tornCost*w.Torn*w.Torn)
	if w.Uneven {
		return apart
	}
	beside := float64(w.Blocks()) * float64(w.Write[axis]) / float64(p.Size[axis]) // blocks of a stream tile
	path := wave * volume(w.Write) * touched(p, w) / float64(p.Size.Cells()) / r.l2Bytes
	half := driftPath * (0.5 + wave/beside) * math.Pow(math.Min(1, compute/apart), 4)
	later := math.Max(2, float64(w.Blocks())/wave-1) // waves of blocks after the first, which begin together, but do not stay so for long
	half *= 1 + 1/(later*later)
	return seconds + (apart-seconds)/(1+math.Pow(half/path, 3))
}

// reuseDistances is the bytes touched, in and out, between a block's use of a cell
// and its neighbour's on each axis of the walk.
func reuseDistances(p stencil.Problem, w kernels.Work, wave float64) [3]float64 {
	each := touched(p, w) / launches(p, w) / float64(p.Size.Cells())
	n := [3]float64{float64(p.Size[0]), float64(p.Size[1]), float64(p.Size[2])}
	wide := n[0]
	if w.ColumnWide > 0 {
		wide = math.Min(wide, float64(w.ColumnWide*w.Write[0]))
	}
	window := w.Window
	if window == [3]int{} {
		window = w.Write
	}
	// At least one wave of blocks is in flight at once.
	inFlight := wave * volume(window) * each
	d := [3]float64{
		inFlight,
		math.Max(inFlight, wide*float64(window[1])*float64(window[2])*each),
		math.Max(inFlight, wide*n[1]*float64(window[2])*each),
	}
	for a := range d { // where a block streams, its neighbour begins when it ends
		if window[a] < w.Write[a] {
			d[a] = wave * volume(w.Write) * each
		}
	}
	return d
}

// softplus is log(1 + exp(x)).
func softplus(x float64) float64 { return max(x, 0) + math.Log1p(math.Exp(-math.Abs(x))) }
