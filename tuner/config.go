package tuner

import (
	"cmp"
	"math"
	"slices"
	"time"

	"stenciltune/cache"
	"stenciltune/device/replay"
	"stenciltune/kernels"
	"stenciltune/outcome"
	"stenciltune/runner"
	"stenciltune/space"
	"stenciltune/timing"
)

// configOf is the config of what was found.
func (j *job) configOf() Config {
	p, m, r := j.problem, j.machine, j.measured
	if len(r.Members) > 0 { // the first may have been dropped
		m = r.Members[0].Machine
	}
	st := p.Stencil
	cells := float64(p.Size.Cells())
	w := r.Winner
	k := j.Kernel(p, w.Schedule)
	seconds := w.Seconds()
	rate := cells / seconds
	bytes := rate * float64(p.Traffic())
	copyRate := cmp.Or(r.Copy, m.CopyBytesPerSecond)
	c := cache.Config{
		Tool:      cache.ToolInfo{Name: "tune", Version: Version, Revision: j.Revision},
		Stencil:   stencilInfo(p),
		Problem:   cache.ProblemInfo{Size: p.Size[:st.Dims], Steps: p.Steps},
		Scalars:   Scalars(p),
		Device:    cache.DeviceOf(m),
		Toolchain: cache.ToolchainInfo{Compiler: m.Compiler, CUDA: m.CUDAVersion, Options: options(w)},
		Schedule:  cache.ScheduleOf(w.Schedule),
		Launch:    launchInfo(k.Launch),
		Kernel:    kernelInfo(k, w),
		Measured: cache.MeasuredInfo{SecondsPerStep: seconds, Low: w.Series.Low, High: w.Series.High, Samples: w.Series.N,
			CellsPerSecond: rate, BytesPerSecond: bytes, Regime: j.Regime},
		Search: cache.SearchInfo{Strategy: j.Strategy, Evaluated: r.Evaluated, Space: j.space.Size(), RawSpace: j.space.Raw(), Stop: r.Stop,
			Seed: j.Seed, Complete: r.Complete, Seconds: r.Seconds, Utilisation: r.Utilisation},
		Match:    cache.MatchInfo{Grade: cache.Exact},
		Warnings: j.warnings(),
		Time:     time.Now(),
	}
	if d, ok := j.device.(replay.Device); ok {
		c.Device.Provenance = d.Header.Command + " at " + d.Header.Time
	}
	c.Device.CopyBytesPerSecond = copyRate
	for _, n := range r.Failed {
		c.Search.Failed += n
	}
	if n := r.Naive; n.Seconds() > 0 {
		c.Baseline = &cache.BaselineInfo{Schedule: n.Schedule.String(), SecondsPerStep: n.Seconds(), CopyBytesPerSecond: copyRate}
		c.Speedup = n.Seconds() / seconds
	}
	if copyRate > 0 {
		c.RooflineShare = bytes / copyRate
	}
	if o := r.Remainder; o != nil && p.Steps%k.Launch.Steps != 0 {
		rest := j.Kernel(p, o.Schedule)
		c.Remainder = &cache.RemainderInfo{Schedule: cache.ScheduleOf(o.Schedule), Launch: launchInfo(rest.Launch), Kernel: kernelInfo(rest, *o)}
	}
	if w := r.Within; w.Share > 0 {
		c.Within = &cache.WithinInfo{Share: w.Share, Probability: math.Floor(1000*w.Probability) / 1000}
	}
	for _, t := range r.Ties {
		c.Ties = append(c.Ties, cache.Tie{Schedule: t.Schedule.String(), SecondsPerStep: t.Seconds()})
	}
	for _, f := range r.Finals {
		c.Finals = append(c.Finals, cache.FinalInfo{Schedule: f.Schedule.String(), SecondsPerStep: f.Seconds(), Low: f.Series.Low, High: f.Series.High, Samples: f.Series.N})
	}
	c.Energy = energyInfo(r, w.Schedule, cells)
	for _, x := range r.Members {
		c.Members = append(c.Members, memberInfo(x, w.Schedule, cells))
	}
	if j.Objective != timing.ForTime && c.Energy != nil {
		c.Objective = j.Objective
	}
	for _, x := range w.Checks {
		c.Verification.Checks = append(c.Verification.Checks, cache.CheckInfo{
			Against: x.Against, DType: string(x.DType), Schedule: x.Schedule, Size: slices.Clone(x.Size[:st.Dims]), Steps: x.Steps, Cells: x.Cells, MaxError: x.MaxError, Tolerance: x.Tolerance, Seed: dataSeed(j.Seed)})
	}
	return c
}

// energyInfo is what is known of the energy of a tune's winner and finalists; nil if nothing is.
func energyInfo(r runner.Result, winner space.Schedule, cells float64) *cache.EnergyInfo {
	var e cache.EnergyInfo
	for _, x := range r.Energies {
		d := drawInfo(x, cells)
		if x.Schedule == winner {
			e.Winner = d
		}
		if r.Best != nil {
			e.Finals = append(e.Finals, d)
		}
	}
	if e.Winner.Samples == 0 {
		return nil
	}
	slices.SortStableFunc(e.Finals, func(a, b cache.DrawInfo) int { return cmp.Compare(a.JoulesPerBillionCells, b.JoulesPerBillionCells) })
	if b := r.Best; b != nil {
		e.Best = &cache.BestInfo{Time: b[timing.ForTime].String(), Energy: b[timing.ForEnergy].String(), EDP: b[timing.ForEDP].String()}
	}
	return &e
}

// memberInfo is the winner on one device of several.
func memberInfo(x runner.Member, winner space.Schedule, cells float64) cache.MemberInfo {
	m := cache.MemberInfo{UUID: x.Machine.UUID, PCI: x.Machine.PCI, Factor: x.Factor,
		SecondsPerStep: x.Series.Median, Low: x.Series.Low, High: x.Series.High, Samples: x.Series.N}
	if len(x.Draws) > 0 {
		m.Energy = drawInfo(runner.Energy{Schedule: winner, Draws: x.Draws}, cells)
	}
	return m
}

// drawInfo is the energy of one schedule on a grid of so many cells.
func drawInfo(e runner.Energy, cells float64) cache.DrawInfo {
	s, per := timing.Drawn(e.Draws, timing.ForEnergy), 1e9/cells
	d := cache.DrawInfo{Schedule: e.Schedule.String(), JoulesPerBillionCells: s.Median * per, Low: s.Low * per, High: s.High * per, Samples: s.N,
		SecondsPerStep: timing.Drawn(e.Draws, timing.ForTime).Median}
	clocks := 0
	for _, x := range e.Draws {
		d.Watts += x.Watts / float64(s.N)
		if x.ClockHz > 0 {
			d.SMClockHz += x.ClockHz
			clocks++
		}
		if x.Lowered != nil {
			d.ClocksLowered = append([]string{}, d.ClocksLowered...)
		}
		for _, why := range x.Lowered {
			if !slices.Contains(d.ClocksLowered, why) {
				d.ClocksLowered = append(d.ClocksLowered, why)
			}
		}
	}
	if clocks > 0 {
		d.SMClockHz /= float64(clocks)
	}
	return d
}

// stencilInfo is the stencil of a problem.
func stencilInfo(p Problem) cache.StencilInfo {
	st := p.Stencil
	radius := st.Radius()
	return cache.StencilInfo{Name: st.Name, Hash: p.Hash(), DType: string(p.DType), Dims: st.Dims, Points: len(st.Points), Radius: max(radius[0], radius[1], radius[2]), Boundary: string(st.Boundary)}
}

// running is what the tune tells of itself before it has measured anything.
func (j *job) running() cache.Running {
	p, m := j.problem, j.machine
	return cache.Running{Worker: workerName(), Lease: j.Lease.Seconds(), Stencil: stencilInfo(p), Problem: cache.ProblemInfo{Size: p.Size[:p.Stencil.Dims], Steps: p.Steps}, Scalars: Scalars(p), Device: cache.DeviceOf(m),
		Toolchain: cache.ToolchainInfo{Compiler: m.Compiler, CUDA: m.CUDAVersion, Options: []string{}}, Regime: j.Regime, Objective: j.Objective, Begun: time.Now().UTC()}
}

func launchInfo(l kernels.Launch) cache.LaunchInfo {
	return cache.LaunchInfo{Grid: l.Grid, Block: l.Block, SharedBytes: l.SharedBytes, StepsPerLaunch: l.Steps}
}

func kernelInfo(k kernels.Kernel, o outcome.Outcome) cache.KernelInfo {
	return cache.KernelInfo{Entry: k.Entry, SourceHash: o.SourceHash, Options: options(o),
		Registers: o.Registers, SpillBytes: o.SpillBytes, BlocksPerSM: o.BlocksPerSM}
}

// warnings are the tune's own and those that follow from the machine.
func (j *job) warnings() []string {
	m := j.machine
	list := slices.Clone(j.measured.Warnings)
	if m.L2Bytes > 0 && 2*j.problem.Bytes() < m.L2Bytes {
		list = append(list, "both grids fit into the last-level cache: the time says nothing about larger grids")
	}
	if m.MIG {
		list = append(list, "the GPU is partitioned (MIG): other instances may disturb the time")
	}
	if axes := j.problem.Seams(); axes != "" {
		list = append(list, "half sweeps: the grid joins cells of one colour across its edges on "+axes+", where they read values from before the half sweep; other extents would not")
	}
	if !j.measured.Complete {
		list = append(list, "the tune did not finish: the best so far, not timed again in finals")
	}
	return list
}

// options are what a kernel was compiled with; an empty list, not none, for JSON.
func options(o outcome.Outcome) []string { return append([]string{}, o.Options...) }
