// Package cuda runs kernels on an NVIDIA GPU without a toolkit: the driver, NVRTC
// and NVML are opened at run time through purego, so that one CGO_ENABLED=0
// binary builds anywhere and starts anywhere.
//
// Ownership: a GPU owns its context, modules, buffers and events and frees them
// in Close or Release. Threads: every driver call runs on one locked OS thread,
// the GPU's own; a Compiler may be used from any goroutine. A sticky error
// (ErrSticky) leaves the process unfit for further CUDA work: it must end.
// The package never changes clocks, power limits or modes, and never prints.
package cuda
