package replay

import (
	"context"

	"stenciltune/device"
	"stenciltune/kernels"
	"stenciltune/machine"
	"stenciltune/outcome"
	"stenciltune/space"
	"stenciltune/stencil"
	"stenciltune/timing"
)

// Device replays a landscape, in simulated time.
type Device struct {
	*Landscape
	clock  *clock
	others int // devices beside it that share its compilers
}

var (
	_ device.Device    = Device{}
	_ device.Simulated = Device{}
	_ device.Several   = Device{}
)

// New replays a landscape from simulated time 0.
func New(l *Landscape) Device { return Several(l, 1) }

// Several replays a landscape on n equal devices that share its compile processes.
func Several(l *Landscape, n int) Device { return Device{l, newClock(l), n - 1} }

// Members are the single devices.
func (d Device) Members() []device.Device {
	all := make([]device.Device, 1+d.others)
	for i := range all {
		all[i] = Device{d.Landscape, d.clock, 0}
	}
	return all
}

// Open opens the recording of p on the named device or in the named file.
func Open(name string, p stencil.Problem) (Device, error) {
	l, err := Find(name, p)
	if err != nil {
		return Device{}, err
	}
	return New(l), nil
}

// Machine is the recorded device, marked as a replay.
func (d Device) Machine() machine.Machine {
	m := d.Header.Machine
	m.Kind = machine.Replay
	return m
}

// record is what was recorded of a schedule. The remainder launch of a recorded one that was not
// itself recorded is as right as that; it has no time.
func (d Device) record(s space.Schedule) (outcome.Outcome, bool) {
	if r, ok := d.Records[s]; ok {
		return r, true
	}
	for _, whole := range d.Order {
		if r := d.Records[whole]; r.Status.Timed() && kernels.Remainder(whole) == s {
			r.Schedule, r.Series, r.CompileSeconds = s, timing.Series{}, 0
			return r, true
		}
	}
	return outcome.Outcome{}, false
}

// Compile answers with the recorded facts, or the recorded failure.
func (d Device) Compile(_ context.Context, k kernels.Kernel) (device.Binary, error) {
	r, ok := d.record(k.Schedule)
	if !ok {
		return device.Binary{}, device.Fail(timing.Skipped, "%s was not recorded", k.Schedule)
	}
	d.clock.compile(r)
	switch r.Status {
	case timing.Rejected, timing.CompileError, timing.CompileTimeout:
		return device.Binary{}, &device.Failure{Status: r.Status, Reason: r.Reason}
	}
	return device.Binary{
		ID: k.Schedule.String(), Schedule: k.Schedule, Entry: k.Entry,
		Registers: r.Registers, SpillBytes: r.SpillBytes, BlocksPerSM: r.BlocksPerSM,
		CompileSeconds: r.CompileSeconds, Compiler: d.Header.Machine.Compiler,
	}, nil
}

// Check answers that every cell is right, or with the recorded failure.
func (d Device) Check(_ context.Context, c device.Check) (stencil.Comparison, error) {
	against := "recorded"
	cmp := stencil.Comparison{Cells: c.Problem.Size.Cells(), Steps: device.Steps(c.Passes), Against: against}
	for _, a := range c.Allowed {
		cmp.Tolerance = max(cmp.Tolerance, a.Error)
	}
	if len(c.Allowed) == 0 && len(c.Trusted) == 0 {
		cmp.Tolerance = stencil.Tolerance(c.Problem, cmp.Steps)
	}
	for _, p := range c.Passes {
		r, ok := d.record(p.Binary.Schedule)
		if !ok {
			return cmp, device.Fail(timing.Skipped, "%s was not recorded", p.Binary.Schedule)
		}
		if r.Status.Failed() {
			return cmp, &device.Failure{Status: r.Status, Reason: r.Reason}
		}
		cmp.MaxError = max(cmp.MaxError, float64(r.MaxError))
	}
	if len(c.Trusted) > 0 {
		d.clock.pass(d.checking(c))
	}
	return cmp, nil
}

// Time hands out the recorded samples, as many as the policy wants and there are.
// What was cut short as slow when it was recorded is slow here only if it is slower
// than what this search has found: it may come before the others.
func (d Device) Time(_ context.Context, t device.Timing) ([]timing.Series, error) {
	var all []timing.Series
	for _, run := range t.Runs {
		r, ok := d.Records[run.Binary.Schedule]
		if !ok {
			return nil, device.Fail(timing.Skipped, "%s was not recorded", run.Binary.Schedule)
		}
		if r.Status.Failed() {
			return nil, &device.Failure{Status: r.Status, Reason: r.Reason}
		}
		if len(r.Series.Samples) == 0 {
			return nil, device.Fail(timing.Skipped, "%s was recorded without a time", run.Binary.Schedule)
		}
		steps := max(r.Series.Launches, 1) * run.Launch.Steps
		s := timing.NewSampler(t.Policy, r.Series.Launches, steps)
		for _, x := range r.Series.Samples {
			if !s.More() {
				break
			}
			s.Add(x*float64(steps), false)
		}
		series := s.Series()
		d.clock.pass(sampling(series.Samples, r.Series.Launches, run.Launch.Steps))
		series.Warnings = nil // how many samples there are was decided when it was recorded
		all = append(all, series)
	}
	return all, nil
}

// Release does nothing: nothing is held.
func (Device) Release(device.Binary) {}

// Close does nothing.
func (Device) Close() error { return nil }
