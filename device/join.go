package device

import (
	"context"

	"stenciltune/kernels"
	"stenciltune/machine"
	"stenciltune/stencil"
	"stenciltune/timing"
)

// Compiler turns source into an image. It needs no device and may be used from
// many goroutines at once.
type Compiler interface {
	// Compile builds k for m; the binary has Image, Entry, Compiler, Options and
	// CompileSeconds set, and an ID.
	Compile(ctx context.Context, k kernels.Kernel, m machine.Machine) (Binary, error)
	Close() error
}

// Executor owns a device: it loads images and runs them. One call at a time,
// except Machine.
type Executor interface {
	Machine() machine.Machine
	// Load loads b's image and fills in registers, spills, shared memory and occupancy at l.
	Load(ctx context.Context, b Binary, l kernels.Launch) (Binary, error)
	Check(ctx context.Context, c Check) (stencil.Comparison, error)
	Time(ctx context.Context, t Timing) ([]timing.Series, error)
	Release(b Binary)
	Close() error
}
