package cuda

import (
	"context"
	"errors"
	"fmt"
	"runtime"
	"slices"
	"sync"
	"time"

	"stenciltune/device"
	"stenciltune/kernels"
	"stenciltune/machine"
	"stenciltune/stencil"
	"stenciltune/timing"
)

// GPU is one device with its context. Its methods may be called from any
// goroutine, one at a time; Machine and Telemetry at any time. After an error
// that is ErrSticky only Close makes sense, and the process should end.
type GPU struct {
	machine machine.Machine
	device  cuDevice
	context cuContext
	nvml    *nvml
	jobs    chan func()

	modules  map[string]*module
	arrays   []*arrays      // the one used last at the end
	expected []*expectation // least recently used first
	want     map[wantKey]stencil.Verdict
	helpers  map[string]*helper // by element type
	from, to cuEvent            // around a timed region
	batches  [3]cuEvent         // after a batch of launches: the last that ended, and two on the stream
	args     *arguments
	flush    buffer // written to empty L2
	poisoned bool   // a sticky error was seen: nothing may be asked of the driver
	closed   sync.Once
}

var (
	_ device.Executor = (*GPU)(nil)
	_ device.Sensor   = (*GPU)(nil)
	_ device.Copier   = (*GPU)(nil)
	_ device.Meter    = (*GPU)(nil)
)

// module is a loaded binary.
type module struct {
	handle cuModule
	stages []cuFunction
	around []cuFunction // what launches before and after a time step run (state.before and after), as far as they have
	facts  device.Binary
}

// Open takes the GPU a selector names: a driver ordinal, a UUID or its
// beginning, or a PCI address.
func Open(selector string) (*GPU, error) {
	m, d, err := find(selector)
	if err != nil {
		return nil, err
	}
	g := &GPU{machine: m, device: d, nvml: openNVML(m.PCI), jobs: make(chan func()),
		modules: map[string]*module{}, want: map[wantKey]stencil.Verdict{}, helpers: map[string]*helper{}, args: newArguments()}
	go g.thread()
	err = g.do(func() error {
		if g.context, err = cuDevicePrimaryCtxRetain(d); err != nil {
			return fmt.Errorf("%w: %s: %w", device.ErrLost, m.Name, err)
		}
		if err = cuCtxSetCurrent(g.context); err != nil {
			return err
		}
		if g.machine.FreeBytes, _, err = cuMemGetInfo(); err != nil {
			return err
		}
		for _, e := range g.events() {
			if *e, err = cuEventCreate(); err != nil {
				return err
			}
		}
		return nil
	})
	if err != nil {
		g.Close()
		return nil, err
	}
	if c, err := OpenCompiler(); err == nil {
		g.machine.Compiler = c.Version()
	}
	return g, nil
}

// events are all that the GPU owns.
func (g *GPU) events() []*cuEvent {
	return []*cuEvent{&g.from, &g.to, &g.batches[0], &g.batches[1], &g.batches[2]}
}

// thread is the OS thread that owns the context: the driver keeps the current
// context per thread.
func (g *GPU) thread() {
	runtime.LockOSThread()
	for job := range g.jobs {
		job()
	}
}

// do runs f on the GPU's thread. After a sticky error it only says so again.
func (g *GPU) do(f func() error) (err error) {
	done := make(chan struct{})
	g.jobs <- func() {
		defer close(done)
		if g.poisoned {
			err = ErrSticky
			return
		}
		err = f()
		g.poisoned = errors.Is(err, ErrSticky)
	}
	<-done
	return err
}

// Machine is the GPU's facts.
func (g *GPU) Machine() machine.Machine { return g.machine }

// Telemetry is the GPU's state now; zero without NVML.
func (g *GPU) Telemetry() device.Telemetry {
	if g.nvml == nil {
		return device.Telemetry{}
	}
	return g.nvml.telemetry()
}

// defaultShared is the dynamic shared memory a kernel may have without asking.
const defaultShared = 48 << 10

// Load loads an image and tells its registers, spills, shared memory and
// occupancy at l. A binary that is loaded already stays.
func (g *GPU) Load(_ context.Context, b device.Binary, l kernels.Launch) (device.Binary, error) {
	err := g.do(func() error {
		if m, ok := g.modules[b.ID]; ok {
			b = m.facts
			return nil
		}
		image := b.Image
		if len(image) == 0 {
			return fmt.Errorf("cuda: binary %.12s of %s has no image", b.ID, b.Schedule)
		}
		b.Awaits = b.Awaits && launchesEarly()
		m := &module{}
		var err error
		if m.handle, err = cuModuleLoadData(append(slices.Clip(image), 0)); err != nil {
			return g.failed(b, "loading", err)
		}
		if err = g.inspect(m, &b, l); err != nil {
			cuModuleUnload(m.handle)
			return g.failed(b, "loading", err)
		}
		b.Image = nil
		m.facts = b
		g.modules[b.ID] = m
		return nil
	})
	b.Image = nil
	return b, err
}

// inspect finds the entry of each stage, grants shared memory and reads the facts:
// the most of any stage, and the fewest blocks.
func (g *GPU) inspect(m *module, b *device.Binary, l kernels.Launch) error {
	for i := range max(1, b.Stages) {
		f, err := cuModuleGetFunction(m.handle, kernels.StageEntry(b.Entry, i))
		if err != nil {
			return err
		}
		m.stages = append(m.stages, f)
		if l.SharedBytes > defaultShared {
			if err = cuFuncSetAttribute(f, funcMaxDynamicShared, l.SharedBytes); err != nil {
				return err
			}
		}
		for _, a := range []struct {
			attribute int
			to        *int
		}{{funcRegisters, &b.Registers}, {funcLocalBytes, &b.SpillBytes}, {funcSharedBytes, &b.StaticShared}} {
			v, err := cuFuncGetAttribute(a.attribute, f)
			if err != nil {
				return err
			}
			*a.to = max(*a.to, v)
		}
		blocks, err := cuOccupancy(f, l.Threads(), l.SharedBytes)
		if err != nil {
			return err
		}
		if i == 0 || blocks < b.BlocksPerSM {
			b.BlocksPerSM = blocks
		}
	}
	return nil
}

// failed turns a driver error into the failure of a schedule; a sticky one stays
// in the chain.
func (g *GPU) failed(b device.Binary, doing string, err error) error {
	e, ok := errors.AsType[*Error](err)
	if !ok {
		return err
	}
	if e.Status.gone() {
		return fmt.Errorf("%w: %s: %w", device.ErrLost, g.machine.Name, err)
	}
	status := timing.LaunchError
	if e.Status == launchTimeout {
		status = timing.Timeout
	}
	f := device.Fail(status, "%s %s: %v", doing, b.Schedule, err)
	if e.Status.Sticky() {
		return errors.Join(f, err)
	}
	return f
}

// Release unloads a binary.
func (g *GPU) Release(b device.Binary) {
	g.do(func() error {
		if m, ok := g.modules[b.ID]; ok {
			delete(g.modules, b.ID)
			return cuModuleUnload(m.handle)
		}
		return nil
	})
}

// Close frees everything and ends the GPU's thread. After a sticky error nothing
// is freed: the driver might wait for ever, and the process is about to end.
func (g *GPU) Close() (err error) {
	g.closed.Do(func() {
		if err = g.do(g.freeAll); errors.Is(err, ErrSticky) {
			err = nil
		}
		close(g.jobs)
		g.args.free()
	})
	return err
}

func (g *GPU) freeAll() error {
	var errs []error
	for _, m := range g.modules {
		errs = append(errs, cuModuleUnload(m.handle))
	}
	errs = append(errs, g.dropArrays(len(g.arrays)))
	for _, e := range g.expected {
		errs = append(errs, e.free())
	}
	for _, h := range g.helpers {
		errs = append(errs, h.free())
	}
	errs = append(errs, g.flush.free())
	for _, e := range g.events() {
		if *e != 0 {
			errs = append(errs, cuEventDestroy(*e))
		}
	}
	if g.context != 0 {
		errs = append(errs, cuDevicePrimaryCtxRelease(g.device))
	}
	return errors.Join(errs...)
}

// wait polls until everything launched so far is done, or the context's deadline
// passes: then a kernel hangs and the process must end. On the GPU's thread.
func (g *GPU) wait(ctx context.Context, e cuEvent) error {
	begin := time.Now()
	for {
		done, err := cuEventQuery(e)
		if err != nil {
			return err
		}
		if done {
			return nil
		}
		if err := overdue(ctx); err != nil {
			return err
		}
		// Spin at first: a sleep would put its length on top of a short kernel's.
		if waited := time.Since(begin); waited > 5*time.Millisecond {
			time.Sleep(50 * time.Microsecond)
		} else {
			runtime.Gosched()
		}
	}
}

// overdue is the error of launches whose context has ended before they did.
func overdue(ctx context.Context) error {
	err := ctx.Err()
	if errors.Is(err, context.DeadlineExceeded) {
		return errors.Join(device.Fail(timing.Timeout, "the kernel did not end within its deadline"), ErrSticky)
	}
	return err
}
