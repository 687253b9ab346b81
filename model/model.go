// Package model says HOW LONG a schedule should take: it turns the work a family
// counts and the facts of a machine into seconds per time step, term by term.
//
// It is arithmetic only and never measures. Its rank order seeds the search; its
// absolute seconds are rough. Seconds and bytes throughout.
package model

import (
	"cmp"
	"math"
	"slices"

	"stenciltune/device/machine"
	"stenciltune/kernels"
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
	Limiter     string  `json:"limiter"`       // name of the largest term
	DRAMBytes   float64 `json:"dram_bytes"`    // a launch
	BlocksPerSM int     `json:"blocks_per_sm"` // resident
	Occupancy   string  `json:"occupancy"`     // what limits them
	Waves       float64 `json:"waves"`
	Redundancy  float64 `json:"redundancy"` // updates made for each useful one
}

// Predict gives the seconds per time step of a schedule whose work is w. With
// registers > 0 that number, from the compiler, replaces the family's estimate.
func Predict(p stencil.Problem, w kernels.Work, registers int, m machine.Machine) Prediction {
	return Fitted.Predict(p, w, registers, m)
}

// Predict is the model with these coefficients.
func (c Coefficients) Predict(p stencil.Problem, w kernels.Work, registers int, m machine.Machine) Prediction {
	if registers == 0 {
		registers = w.Registers
	}
	spilled := 0.0 // bytes written and read again, a thread
	// __launch_bounds__ makes the compiler fit a block's registers; what does not
	// fit is spilled.
	threads := float64(w.Launch.Threads())
	if most := RegisterLimit(m, w.Launch.Threads()); registers > most {
		spilled = float64(registers-most) * 4 * 2
		registers = most
	}
	r := c.rates(m, p.DType)
	blocks, limit := Resident(m, w.Launch.Threads(), registers, w.Launch.SharedBytes)
	if blocks == 0 {
		return Prediction{Seconds: math.Inf(1), Occupancy: limit, Limiter: "occupancy", Redundancy: w.Redundancy()}
	}
	resident := math.Min(float64(blocks*m.SMs), float64(w.Launch.Blocks())) * threads
	dram := c.dramBytes(p, w, r, blocks*m.SMs)

	// Bandwidth at partial occupancy: BW(n) = 1 / (1/(a n) + 1/b), capped at the
	// roof (gpu-benches' stream data refitted: a = 6.5 bytes/ns per 1000 threads
	// and byte in flight, b = 2 roof).
	inFlight := w.Loads * float64(p.DType.Size())
	little := 1 / (1/(6.5e6*resident*inFlight) + 1/(2*r.dram))
	bandwidth := math.Min(r.dram, little)

	// An SM issues four warp instructions a clock; each lane counts as 1/32 of one.
	instructions := (w.Flops + w.Integer + 2*(w.L1Loads+w.L2Write+w.Shared)/float64(p.DType.Size())) / 32
	terms := []Term{
		{"dram", dram / bandwidth, "bytes to and from memory"},
		{"l2", (w.L2Read + w.L2Write) / r.l2, "bytes between L2 and the SMs"},
		{"l1", (w.L1Loads + spilled*threads*float64(w.Launch.Blocks())) / r.l1, "global loads through L1"},
		{"shared", w.Shared / r.shared, "shared memory reads and writes"},
		{"flops", (w.Flops + 15*w.Special) / r.flops, "floating-point operations"},
		{"issue", instructions / r.issue, "instructions issued"},
	}
	// A thread's own chain of waits, however much bandwidth there is: only resident
	// blocks hide it from each other.
	waves := float64(w.Launch.Blocks()) / float64(blocks*m.SMs)
	chain := w.LoadRounds*c.LoadLatency + w.Rounds*c.RoundLatency + float64(w.Barriers)*c.BarrierLatency + c.BlockLatency
	terms = append(terms, Term{"latency", math.Max(waves, 1) * chain / r.clock, "waiting of one block after the other on an SM"})
	// A kernel with barriers goes through phases: while a block loads it does not
	// compute. Only other resident blocks fill the gap, so with one block the
	// terms add up, and with many they overlap.
	q := c.Norm
	if w.Barriers > 0 {
		q = 1 + (c.Norm-1)*(1-math.Pow(float64(blocks), -c.Phase))
	}
	last := len(terms) - 1
	t := pnorm(c.Norm, pnorm(q, seconds(terms[:last])...), terms[last].Seconds)
	worst := slices.MaxFunc(terms, func(a, b Term) int { return cmp.Compare(a.Seconds, b.Seconds) })
	t *= tail(waves)
	terms = append(terms, Term{"launch", launchSeconds, "launching a kernel"})
	total := (t + launchSeconds) / float64(w.Steps)
	return Prediction{
		Seconds: total, Terms: terms, Limiter: worst.Name, DRAMBytes: dram,
		BlocksPerSM: blocks, Occupancy: limit, Waves: waves, Redundancy: w.Redundancy(),
	}
}

// launchSeconds is what a launch adds between kernels on one stream.
const launchSeconds = 1.5e-6

// tail is the factor by which the last, partly filled wave stretches a launch.
// Blocks drift apart, so beyond a few waves only half of the gap is felt.
func tail(waves float64) float64 {
	if waves <= 0 {
		return 1
	}
	full := math.Ceil(waves) / waves
	if waves < 1 {
		return 1 // fewer blocks than fit: the bandwidth term has counted the idle SMs
	}
	weight := 0.5 + 0.5/(1+math.Pow(waves/8, 2))
	return 1 + (full-1)*weight
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

func seconds(terms []Term) []float64 {
	var s []float64
	for _, t := range terms {
		s = append(s, t.Seconds)
	}
	return s
}

func pnorm(q float64, values ...float64) float64 {
	sum := 0.0
	for _, v := range values {
		sum += math.Pow(v, q)
	}
	return math.Pow(sum, 1/q)
}

// RegisterLimit is the most registers a thread may have in a block of that many
// threads: a multiple of 8, 255 at most.
func RegisterLimit(m machine.Machine, threads int) int {
	if m.RegistersBlock == 0 {
		return 255
	}
	warps := (threads + m.WarpSize - 1) / m.WarpSize
	return min(m.RegistersBlock/(warps*m.WarpSize)/8*8, 255)
}

// rates are the throughputs of a machine.
type rates struct {
	dram, l2, l1, shared float64 // bytes per second
	flops                float64 // per second, each operation counted once
	issue                float64 // warp instructions per second
	clock                float64
	l2Bytes              float64
}

// rates reckons throughputs from a machine's facts.
func (c Coefficients) rates(m machine.Machine, d stencil.DType) rates {
	clock, sms := m.ClockHz, float64(max(m.SMs, 1))
	if clock == 0 {
		clock = 1.5e9
	}
	r := rates{
		dram: c.DRAM * m.DRAMBandwidth(),
		// 64 bytes a clock and SM at the crossbar; 128 bytes from L1 and shared memory
		// (gpu-benches: 125 to 128); four warp instructions.
		l2:      c.L2 * 64 * sms * clock,
		l1:      c.L1 * 128 * sms * clock,
		shared:  c.Shared * 128 * sms * clock,
		issue:   c.Issue * 4 * sms * clock,
		flops:   lanes(m, d) * sms * clock,
		clock:   clock,
		l2Bytes: float64(m.L2Bytes),
	}
	if r.dram == 0 {
		r.dram = 20e9 * sms // no facts: the host, or a driver that does not tell
	}
	return r
}

// lanes is the floating-point results an SM gives a clock (CUDA C++ programming
// guide, arithmetic instructions: throughput table).
func lanes(m machine.Machine, d stencil.DType) float64 {
	major, minor := m.Major()
	if d == stencil.Float32 {
		if major == 7 || major == 8 && minor == 0 {
			return 64
		}
		return 128
	}
	switch {
	case major == 7 && minor == 0, major == 9, major == 10:
		return 64
	case major == 8 && minor == 0:
		return 32
	case major == 0:
		return 64
	}
	return 2
}

// dramBytes is what a launch moves: the grid in and out once, and again what
// blocks share but L2 has lost by the time the neighbour comes (layer conditions
// per axis of the block walk).
func (c Coefficients) dramBytes(p stencil.Problem, w kernels.Work, r rates, wave int) float64 {
	elem := float64(p.DType.Size())
	cells := float64(p.Size.Cells())
	n := [3]float64{float64(p.Size[0]), float64(p.Size[1]), float64(p.Size[2])}
	wide := n[0]
	if w.ColumnWide > 0 {
		wide = math.Min(wide, float64(w.ColumnWide*w.Write[0]))
	}
	// Bytes touched, in and out, between a tile and its neighbour on each axis; at
	// least one wave of blocks is in flight at once.
	inFlight := float64(wave) * float64(w.Write[0]*w.Write[1]*w.Write[2]) * 2 * elem
	distance := [3]float64{
		inFlight,
		math.Max(inFlight, wide*float64(w.Write[1]*w.Write[2])*2*elem),
		math.Max(inFlight, wide*n[1]*float64(w.Write[2])*2*elem),
	}
	bytes := cells*elem + w.L2Write
	for a := range p.Stencil.Dims {
		halo := float64(w.Read[a]-w.Write[a]) / float64(w.Write[a])
		bytes += cells * elem * halo * missed(distance[a], c.L2Knee*r.l2Bytes)
	}
	if w.ColumnWide > 0 { // both sides of a column are fetched by its neighbour too
		bytes += cells * elem * 2 * kernels.SectorBytes / elem / wide
	}
	return bytes
}

// missed is the share of re-reads at a reuse distance that a cache of the given
// size no longer holds: smooth, because GPU caches are neither LRU nor fully
// associative.
func missed(distance, size float64) float64 {
	if size <= 0 {
		return 0
	}
	return 1 / (1 + math.Pow(size/distance, 4))
}
