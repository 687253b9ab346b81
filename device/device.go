// Package device is the contract of whatever runs a kernel: a GPU, the host's
// emulation, or a recording.
//
// A schedule that fails is data: a *Failure, with its status. Any other error
// means that the device is lost and the tune must stop. Seconds and bytes throughout.
package device

import (
	"context"
	"errors"
	"fmt"
	"time"

	"stenciltune/kernels"
	"stenciltune/machine"
	"stenciltune/space"
	"stenciltune/stencil"
	"stenciltune/timing"
)

// Device runs kernels. Compile may be called from many goroutines at once, also
// while Check or Time runs; Check and Time are called one at a time.
type Device interface {
	// Machine is what the device says about itself.
	Machine() machine.Machine
	// Compile builds a kernel and loads it.
	Compile(ctx context.Context, k kernels.Kernel) (Binary, error)
	// Check runs passes on a fresh input and compares every cell.
	Check(ctx context.Context, c Check) (stencil.Comparison, error)
	// Time measures each run's seconds per time step.
	Time(ctx context.Context, t Timing) ([]timing.Series, error)
	// Release frees a binary. Unknown ones are ignored.
	Release(b Binary)
	// Close frees everything.
	Close() error
}

// Binary is a compiled kernel. ID is unique within its device.
type Binary struct {
	ID             string         `json:"id"`
	Schedule       space.Schedule `json:"schedule"`
	Entry          string         `json:"entry"`
	Stages         int            `json:"stages,omitempty"` // as the kernel's
	Image          []byte         `json:"image,omitempty"`  // CUBIN; empty where the device keeps it
	Registers      int            `json:"registers"`        // a thread
	SpillBytes     int            `json:"spill_bytes"`      // local memory a thread
	StaticShared   int            `json:"static_shared"`
	Awaits         bool           `json:"awaits,omitempty"` // its kernels wait for the launch before them: they may be launched before that has ended
	BlocksPerSM    int            `json:"blocks_per_sm"`    // resident at the launch it was compiled for
	CompileSeconds float64        `json:"compile_seconds"`
	Compiler       string         `json:"compiler"` // name and version
	Options        []string       `json:"options"`
}

// Pass is a number of launches of one binary, one after the other, each reading
// what the last one wrote.
type Pass struct {
	Binary Binary         `json:"binary"`
	Launch kernels.Launch `json:"launch"`
	Count  int            `json:"count"`
}

// Steps is the time steps the passes advance in all.
func Steps(passes []Pass) int {
	n := 0
	for _, p := range passes {
		n += p.Count * p.Launch.Steps
	}
	return n
}

// Check asks whether passes compute the right answer on Problem.Size from
// stencil.Start(Problem, Seed). Output buffers are poisoned with NaN and stand between
// guard zones that must not change.
type Check struct {
	Problem stencil.Problem `json:"problem"`
	Passes  []Pass          `json:"passes"`
	Seed    uint32          `json:"seed"`
	// Allowed is the largest error of a cell, array by array (stencil.Of); nil means of each cell what
	// rounding explains (stencil.Judge), and with Trusted that all must be as it says.
	Allowed []stencil.Allowance `json:"allowed,omitempty"`
	// Trusted computes the expected answer on the device, in as many steps; nil
	// means stencil.Judge in float64, which only small grids can afford.
	Trusted []Pass `json:"trusted,omitempty"`
	// Reduce asks for the number of the problem's Reduce instead: the one pass is its kernel's (package kernels/reduce), and the fields
	// before and after a step are stencil.Start's of the reduction, whose first output has room for the blocks' numbers.
	Reduce bool `json:"reduce,omitempty"`
}

// Reduced compares the numbers that the blocks of a Reduce's kernel left, as bytes, once they are folded.
func (c Check) Reduced(raw []byte, guard int64) stencil.Comparison {
	got := stencil.Fold(c.Problem.Stencil.Reduce.Op, stencil.Widen(stencil.Float64, raw))
	v := stencil.JudgeReduce(c.Problem, c.Seed)
	r := v.Compare([]float64{got})
	r.Numbers, r.Against, r.Guard = 1, "reference", guard
	return r
}

// Timing asks for the time of each run on Problem.Size. With Interleaved, one
// sample of every run is taken in turn until all are content, so that drift
// falls on all alike and samples pair up.
type Timing struct {
	Problem     stencil.Problem `json:"problem"`
	Runs        []Pass          `json:"runs"` // Count is ignored
	Policy      timing.Policy   `json:"policy"`
	Interleaved bool            `json:"interleaved,omitempty"`
}

// Energy asks what a run draws while it is launched again and again on Problem.Size.
type Energy struct {
	Problem stencil.Problem `json:"problem"`
	Run     Pass            `json:"run"` // Count is ignored
	Stretch timing.Stretch  `json:"stretch"`
}

// Failure is a schedule that cannot be used, and why.
type Failure struct {
	Status timing.Status
	Reason string // one line
	Log    string // the compiler's log, clipped; may be empty
}

func (f *Failure) Error() string { return fmt.Sprintf("%s: %s", f.Status, f.Reason) }

// Fail makes a failure.
func Fail(status timing.Status, format string, args ...any) *Failure {
	return &Failure{Status: status, Reason: fmt.Sprintf(format, args...)}
}

// AsFailure gives the failure in err, or nil if err is none: then the device is lost.
func AsFailure(err error) *Failure {
	f, _ := errors.AsType[*Failure](err)
	return f
}

// ErrMissing is in the chain of every error that means: there is no such device here.
var ErrMissing = errors.New("no such device")

// ErrLost is in the chain of every error that means: the device was there and is gone.
var ErrLost = errors.New("device lost")

// Telemetry is the state of the device while it measures; fields it cannot tell are 0.
type Telemetry struct {
	SMClockHz   float64  `json:"sm_clock_hz"`
	MemClockHz  float64  `json:"mem_clock_hz"`
	Temperature float64  `json:"temperature_c"`
	PowerWatts  float64  `json:"power_w"`
	Throttle    []string `json:"throttle,omitempty"`  // reasons that slow the clocks now
	Processes   int      `json:"processes,omitempty"` // other processes on the device
}

// Sensor is a device that can tell its state. Optional.
type Sensor interface{ Telemetry() Telemetry }

// Meter is a device that may have an energy counter. Optional.
type Meter interface {
	// Metered tells whether it has one that is its own alone.
	Metered() bool
	// Energy measures one stretch of a run. What a counter that stands still tells is not Known.
	Energy(ctx context.Context, e Energy) (timing.Draw, error)
}

// Copier is a device that can measure its own copy bandwidth. Optional.
type Copier interface {
	// CopyBandwidth is bytes read plus bytes written a second, copying a buffer
	// of the given size.
	CopyBandwidth(ctx context.Context, bytes int64) (float64, error)
}

// Simulated is a device whose work takes simulated time, as a recording's does.
// Its Compile is called one at a time, in the order in which schedules are to be
// compiled, and returns at once; the time it takes passes as the clock is set on. Optional.
type Simulated interface {
	// Now is the simulated time since the device was opened.
	Now() time.Duration
	// Ready is when a schedule's compilation ends; 0 if there was none.
	Ready(s space.Schedule) time.Duration
	// Set turns the clock to a time, also back: what members of one device do at once is done one
	// after the other.
	Set(now time.Duration)
}

// Several is a device that is several of one model. What it compiled runs on each member; Compile,
// Release and Close are the whole's. Check and Time of different members may run at once; those of
// the whole run on the first. Optional.
type Several interface {
	// Members are the single devices, at least one.
	Members() []Device
}

// Members are the single devices that a device is: itself, if it is not Several.
func Members(d Device) []Device {
	if s, ok := d.(Several); ok {
		return s.Members()
	}
	return []Device{d}
}

// MaxLosses is how many devices may be lost under a schedule, or under a tune, before it is to blame
// and is not run on another.
const MaxLosses = 2

// MaxLog is where compiler logs are clipped, in bytes.
const MaxLog = 64 << 10

// Clip shortens a log and says so.
func Clip(log string) string {
	if len(log) <= MaxLog {
		return log
	}
	return log[:MaxLog] + "\n... clipped"
}
