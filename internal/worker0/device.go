package worker

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"os/exec"
	"sync"
	"time"

	"stenciltune/device"
	"stenciltune/device/machine"
	"stenciltune/device/timing"
	"stenciltune/kernels"
	"stenciltune/stencil"
)

// Options say how children are started and how long they may take.
type Options struct {
	GPUCommand     func() *exec.Cmd
	CompileCommand func() *exec.Cmd
	Compilers      int           // compile processes, each compiling one kernel at a time
	CompileTimeout time.Duration // per kernel; 0 = 30 s
	CallTimeout    time.Duration // per call on the GPU without a deadline of its own; 0 = 30 s
	Logger         *slog.Logger  // restarts are logged at debug level; nil = none
}

// Device is a GPU in a child process, with compilers in others. It implements
// device.Device, Sensor and Copier, and keeps the image of every binary that is
// not released, so that a new child can take over where one died.
type Device struct {
	o        Options
	machine  machine.Machine
	idle     chan *compiler // compilers not at work
	closed   chan struct{}
	closing  sync.Once
	gpu      sync.Mutex // held during a call on the GPU
	child    *process
	restarts int // in a row, without a call that went well between them

	mu     sync.Mutex
	images map[string]image
}

// image is what loading a binary anew takes.
type image struct {
	binary device.Binary
	launch kernels.Launch
}

type compiler struct{ child *process }

var (
	_ device.Device = (*Device)(nil)
	_ device.Sensor = (*Device)(nil)
	_ device.Copier = (*Device)(nil)
)

// maxRestarts in a row mean that the device is gone, not that kernels are bad.
const maxRestarts = 5

// Open starts the child that owns the GPU, and the compilers.
func Open(ctx context.Context, o Options) (*Device, error) {
	if o.CompileTimeout == 0 {
		o.CompileTimeout = 30 * time.Second
	}
	if o.CallTimeout == 0 {
		o.CallTimeout = 30 * time.Second
	}
	if o.Logger == nil {
		o.Logger = slog.New(slog.DiscardHandler)
	}
	n := max(o.Compilers, 1)
	d := &Device{o: o, idle: make(chan *compiler, n), closed: make(chan struct{}), images: map[string]image{}}
	for range n {
		c := &compiler{}
		if n > 1 { // start them at once: they load NVRTC while the GPU child makes its context
			c.child, _ = start(o.CompileCommand) // a failure shows when it is needed
		}
		d.idle <- c
	}
	err := d.onGPU(ctx, "machine", nil, &d.machine)
	if err != nil {
		d.Close()
		return nil, err
	}
	return d, nil
}

// Machine is the GPU's facts.
func (d *Device) Machine() machine.Machine { return d.machine }

// Compile builds a kernel in a free compiler and loads it, since only the loaded
// kernel tells its registers and occupancy.
func (d *Device) Compile(ctx context.Context, k kernels.Kernel) (device.Binary, error) {
	b, err := d.compile(ctx, k)
	if err != nil {
		return b, err
	}
	d.mu.Lock()
	d.images[b.ID] = image{b, k.Launch}
	d.mu.Unlock()
	var loaded device.Binary
	if err := d.onGPU(ctx, "load", loadRequest{b, k.Launch}, &loaded); err != nil {
		d.Release(b)
		return device.Binary{}, err
	}
	return loaded, nil
}

// compile runs one compile. A compiler that passes its deadline or dies is
// replaced; dying is tried once more, since it may not be the kernel's fault.
func (d *Device) compile(ctx context.Context, k kernels.Kernel) (b device.Binary, err error) {
	var c *compiler
	select {
	case c = <-d.idle:
	case <-ctx.Done():
		return b, ctx.Err()
	case <-d.closed:
		return b, errClosed
	}
	defer func() { d.idle <- c }()
	for attempt := 1; ; attempt++ {
		if c.child == nil || !c.child.alive() {
			if c.child, err = start(d.o.CompileCommand); err != nil {
				return b, err
			}
		}
		limit, cancel := context.WithTimeout(ctx, d.o.CompileTimeout)
		_, err = c.child.call("compile", compileRequest{k, d.machine}, limit.Done(), &b)
		cancel()
		switch {
		case errors.Is(err, errStuck):
			c.child.kill()
			if ctx.Err() != nil {
				return b, ctx.Err()
			}
			return b, device.Fail(timing.CompileTimeout, "the compiler did not finish %s within %v", k.Schedule, d.o.CompileTimeout)
		case errors.Is(err, errDied) && attempt < 2:
			continue
		case errors.Is(err, errDied):
			return b, device.Fail(timing.CompileError, "the compiler %s", c.child.cause)
		}
		return b, err
	}
}

var errClosed = errors.New("the device is closed")

// onGPU makes one call on the GPU's child, started anew if need be, after the
// binaries it needs are loaded. What goes wrong there is the schedule's failure;
// the child is killed, and only a child that cannot be brought back is an error.
func (d *Device) onGPU(ctx context.Context, op string, payload, result any, needs ...device.Binary) error {
	d.gpu.Lock()
	defer d.gpu.Unlock()
	if err := ctx.Err(); err != nil {
		return err
	}
	if _, ok := ctx.Deadline(); !ok {
		var cancel context.CancelFunc
		ctx, cancel = context.WithTimeout(ctx, d.o.CallTimeout)
		defer cancel()
	}
	if err := d.ready(needs); err != nil {
		return err
	}
	// The child has the deadline too and reports a hang itself; half a second
	// later it is taken for stuck.
	grace, cancel := context.WithTimeout(context.WithoutCancel(ctx), untilDeadline(ctx)+500*time.Millisecond)
	defer cancel()
	stop := context.AfterFunc(ctx, func() {
		if errors.Is(ctx.Err(), context.Canceled) {
			cancel()
		}
	})
	defer stop()
	if l, ok := payload.(loadRequest); ok {
		d.child.loaded[l.Binary.ID] = true
	}
	stuck, err := d.child.call(op, payload, grace.Done(), result)
	switch {
	case errors.Is(err, errDied):
		d.drop()
		return device.Fail(timing.WorkerLost, "the GPU's process %s", d.cause())
	case stuck:
		d.drop()
		if errors.Is(err, errStuck) {
			if errors.Is(ctx.Err(), context.Canceled) {
				return ctx.Err()
			}
			return device.Fail(timing.Timeout, "no answer from the GPU within the deadline")
		}
		return err
	case err == nil && op != "machine":
		d.restarts = 0
	}
	return err
}

func untilDeadline(ctx context.Context) time.Duration {
	at, _ := ctx.Deadline()
	return max(time.Until(at), 0)
}

// drop kills the GPU's child; the next call starts another.
func (d *Device) drop() {
	d.child.kill()
	<-d.child.dead
	d.restarts++
	d.o.Logger.Debug("the GPU's process is replaced", "cause", d.cause())
}

func (d *Device) cause() string {
	d.child.mu.Lock()
	defer d.child.mu.Unlock()
	return d.child.cause
}

// ready sees to a living child with the needed binaries loaded.
func (d *Device) ready(needs []device.Binary) (err error) {
	select {
	case <-d.closed:
		return errClosed
	default:
	}
	if d.child == nil || !d.child.alive() {
		if d.restarts > maxRestarts {
			return fmt.Errorf("%w: %s (%s): its process died %d times in a row, last it %s", device.ErrLost, d.machine.Name, d.machine.UUID, d.restarts, d.cause())
		}
		if d.child, err = start(d.o.GPUCommand); err != nil {
			return err
		}
		if d.machine.Name != "" { // a restart: is the device still there?
			var m machine.Machine
			expired, cancel := context.WithTimeout(context.Background(), d.o.CallTimeout)
			_, err := d.child.call("machine", nil, expired.Done(), &m)
			cancel()
			if err != nil {
				return fmt.Errorf("%w: %s (%s) did not come back: %w", device.ErrLost, d.machine.Name, d.machine.UUID, err)
			}
		}
	}
	for _, b := range needs {
		if d.child.loaded[b.ID] {
			continue
		}
		d.mu.Lock()
		i, ok := d.images[b.ID]
		d.mu.Unlock()
		if !ok {
			return fmt.Errorf("worker: %s was released", b.Schedule)
		}
		expired, cancel := context.WithTimeout(context.Background(), d.o.CallTimeout)
		_, err := d.child.call("load", loadRequest{i.binary, i.launch}, expired.Done(), nil)
		cancel()
		if err != nil {
			return fmt.Errorf("loading %s again: %w", b.Schedule, err)
		}
		d.child.loaded[b.ID] = true
	}
	return nil
}

// needed are the binaries of passes.
func needed(passes ...[]device.Pass) []device.Binary {
	var all []device.Binary
	for _, list := range passes {
		for _, p := range list {
			all = append(all, p.Binary)
		}
	}
	return all
}

// deadline is the context's, or the default.
func (d *Device) deadline(ctx context.Context) time.Time {
	if at, ok := ctx.Deadline(); ok {
		return at
	}
	return time.Now().Add(d.o.CallTimeout)
}

// Check runs a check on the GPU.
func (d *Device) Check(ctx context.Context, c device.Check) (stencil.Comparison, error) {
	var cmp stencil.Comparison
	err := d.onGPU(ctx, "check", checkRequest{c, d.deadline(ctx)}, &cmp, needed(c.Passes, c.Trusted)...)
	return cmp, err
}

// Time measures on the GPU.
func (d *Device) Time(ctx context.Context, t device.Timing) ([]timing.Series, error) {
	var s []timing.Series
	err := d.onGPU(ctx, "time", timeRequest{t, d.deadline(ctx)}, &s, needed(t.Runs)...)
	return s, err
}

// CopyBandwidth measures on the GPU.
func (d *Device) CopyBandwidth(ctx context.Context, bytes int64) (float64, error) {
	var rate float64
	err := d.onGPU(ctx, "copy", copyRequest{bytes}, &rate)
	return rate, err
}

// Telemetry asks the child beside whatever it does; zero if it does not answer
// within a quarter of a second.
func (d *Device) Telemetry() device.Telemetry {
	var t device.Telemetry
	d.mu.Lock()
	child := d.child
	d.mu.Unlock()
	if child == nil || !child.alive() {
		return t
	}
	expired, cancel := context.WithTimeout(context.Background(), 250*time.Millisecond)
	defer cancel()
	if _, err := child.call("telemetry", nil, expired.Done(), &t); err != nil {
		return device.Telemetry{}
	}
	return t
}

// Release frees a binary here and, when the GPU is next free, there.
func (d *Device) Release(b device.Binary) {
	d.mu.Lock()
	_, ok := d.images[b.ID]
	delete(d.images, b.ID)
	d.mu.Unlock()
	if !ok {
		return
	}
	d.gpu.Lock()
	defer d.gpu.Unlock()
	if d.child != nil && d.child.alive() && d.child.loaded[b.ID] {
		delete(d.child.loaded, b.ID)
		expired, cancel := context.WithTimeout(context.Background(), d.o.CallTimeout)
		defer cancel()
		d.child.call("release", device.Binary{ID: b.ID}, expired.Done(), nil)
	}
}

// Close ends all children.
func (d *Device) Close() error {
	d.closing.Do(func() {
		close(d.closed)
		d.gpu.Lock()
		defer d.gpu.Unlock()
		var wg sync.WaitGroup
		stop := func(p *process) {
			if p != nil {
				wg.Go(p.stop)
			}
		}
		stop(d.child)
		for range cap(d.idle) {
			stop((<-d.idle).child)
		}
		wg.Wait()
	})
	return nil
}
