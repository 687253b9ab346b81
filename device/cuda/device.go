package cuda

import (
	"context"

	"stenciltune/device"
	"stenciltune/device/machine"
	"stenciltune/kernels"
)

// Device is a GPU and a compiler in one process: for tests and small tools. Tuning
// keeps them in processes of their own, which survive a bad kernel.
type Device struct {
	*GPU
	compiler *Compiler
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
	return &Device{g, c}, nil
}

// Compile builds and loads a kernel.
func (d *Device) Compile(ctx context.Context, k kernels.Kernel) (device.Binary, error) {
	b, err := d.compiler.Compile(ctx, k, d.Machine())
	if err != nil {
		return b, err
	}
	return d.Load(ctx, b, k.Launch)
}

// Machine is the GPU's facts.
func (d *Device) Machine() machine.Machine { return d.GPU.Machine() }
