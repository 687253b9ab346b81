package main

import (
	"cmp"
	"slices"
	"time"

	"stenciltune/cache"
	"stenciltune/internal/runner"
	"stenciltune/kernels"
	"stenciltune/machine"
	"stenciltune/stencil"
	"stenciltune/timing"
)

// searchFacts is what the config says of the search beyond its result.
type searchFacts struct {
	strategy   string
	space, raw int
	seed       uint64
	regime     timing.Regime
	dataSeed   uint32
	provenance string
}

// configOf is the config of a finished tune.
func configOf(p stencil.Problem, m machine.Machine, r runner.Result, f searchFacts) cache.Config {
	st := p.Stencil
	cells := float64(p.Size.Cells())
	radius := st.Radius()
	w := r.Winner
	seconds := w.Seconds()
	rate := cells / seconds
	bytes := rate * float64(p.Traffic())
	copyRate := cmp.Or(r.Copy, m.CopyBytesPerSecond)
	c := cache.Config{
		Tool:      cache.ToolInfo{Name: "tune", Version: version, Revision: revision()},
		Stencil:   cache.StencilInfo{Name: st.Name, Hash: p.Hash(), DType: string(p.DType), Dims: st.Dims, Points: len(st.Points), Radius: max(radius[0], radius[1], radius[2]), Boundary: string(st.Boundary)},
		Problem:   cache.ProblemInfo{Size: p.Size[:st.Dims], Steps: p.Steps},
		Scalars:   scalarsOf(p),
		Device:    cache.DeviceOf(m),
		Toolchain: cache.ToolchainInfo{Compiler: m.Compiler, CUDA: m.CUDAVersion, Options: options(w)},
		Schedule:  cache.ScheduleOf(w.Schedule),
		Launch:    launchInfo(w.Launch),
		Kernel:    kernelInfo(p, w),
		Measured: cache.MeasuredInfo{SecondsPerStep: seconds, Low: w.Series.Low, High: w.Series.High, Samples: w.Series.N,
			CellsPerSecond: rate, BytesPerSecond: bytes, Regime: f.regime},
		Search: cache.SearchInfo{Strategy: f.strategy, Evaluated: r.Evaluated, Space: f.space, RawSpace: f.raw, Stop: r.Stop,
			Seed: f.seed, Complete: r.Complete, Seconds: r.Seconds, Utilisation: r.Utilisation},
		Match:    cache.MatchInfo{Grade: cache.Exact},
		Warnings: warnings(p, m, r),
		Time:     time.Now(),
	}
	c.Device.Provenance = f.provenance
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
	if o := r.Remainder; o != nil && p.Steps%w.Launch.Steps != 0 {
		c.Remainder = &cache.RemainderInfo{Schedule: cache.ScheduleOf(o.Schedule), Launch: launchInfo(o.Launch), Kernel: kernelInfo(p, *o)}
	}
	for _, t := range r.Ties {
		c.Ties = append(c.Ties, cache.Tie{Schedule: t.Schedule.String(), SecondsPerStep: t.Seconds()})
	}
	for _, k := range w.Checks {
		c.Verification.Checks = append(c.Verification.Checks, cache.CheckInfo{
			Against: k.Against, Size: slices.Clone(k.Size[:p.Stencil.Dims]), Steps: k.Steps, Cells: k.Cells, MaxError: k.MaxError, Tolerance: k.Tolerance, Seed: f.dataSeed})
	}
	return c
}

// scalarsOf are the values of a problem's scalars, by name; nil without.
func scalarsOf(p stencil.Problem) map[string]float64 {
	if len(p.Stencil.Scalars) == 0 {
		return nil
	}
	values := map[string]float64{}
	for i, v := range p.ScalarValues() {
		values[p.Stencil.Scalars[i].Name] = v
	}
	return values
}

func launchInfo(l kernels.Launch) cache.LaunchInfo {
	return cache.LaunchInfo{Grid: l.Grid, Block: l.Block, SharedBytes: l.SharedBytes, StepsPerLaunch: l.Steps}
}

func kernelInfo(p stencil.Problem, o runner.Outcome) cache.KernelInfo {
	return cache.KernelInfo{Entry: kernelOf(p, o.Schedule).Entry, SourceHash: o.SourceHash, Options: options(o),
		Registers: o.Registers, SpillBytes: o.SpillBytes, BlocksPerSM: o.BlocksPerSM}
}

// warnings are the tune's own and those that follow from the machine.
func warnings(p stencil.Problem, m machine.Machine, r runner.Result) []string {
	list := slices.Clone(r.Warnings)
	if m.L2Bytes > 0 && 2*p.Bytes() < m.L2Bytes {
		list = append(list, "both grids fit into the last-level cache: the time says nothing about larger grids")
	}
	if m.MIG {
		list = append(list, "the GPU is partitioned (MIG): other instances may disturb the time")
	}
	if !r.Complete {
		list = append(list, "the tune did not finish: the best so far, not timed again in finals")
	}
	return list
}

// options are what a kernel was compiled with; an empty list, not none, for JSON.
func options(o runner.Outcome) []string { return append([]string{}, o.Options...) }
