package cuda

import (
	"context"
	"fmt"
	"sync/atomic"

	"stenciltune/device"
	"stenciltune/kernels"
	"stenciltune/machine"
)

// Device is a GPU and a compiler in one process: for tests and small tools. Tuning
// keeps them in processes of their own, which survive a bad kernel.
type Device struct {
	*GPU
	compiler *Compiler
	compiled atomic.Int64
}

var _ device.Device = (*Device)(nil)

// OpenDevice opens a GPU and NVRTC.
func OpenDevice(selector string) (*Device, error) {
	c, err := OpenCompiler()
	if err != nil {
		return nil, err
	}
	g, err := Open(selector)
	if err != nil {
		return nil, err
	}
	return &Device{GPU: g, compiler: c}, nil
}

// Compile builds and loads a kernel. Kernels of the same source are loaded each for
// itself, so that releasing one leaves the others.
func (d *Device) Compile(ctx context.Context, k kernels.Kernel) (device.Binary, error) {
	b, err := d.compiler.Compile(ctx, k, d.Machine())
	if err != nil {
		return b, err
	}
	b.ID = fmt.Sprintf("%s-%d", b.ID, d.compiled.Add(1))
	return d.Load(ctx, b, k.Launch)
}

// Machine is the GPU's facts.
func (d *Device) Machine() machine.Machine { return d.GPU.Machine() }
