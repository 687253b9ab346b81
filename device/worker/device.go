package worker

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"os/exec"
	"sync"
	"sync/atomic"
	"time"

	"stenciltune/device"
	"stenciltune/kernels"
	"stenciltune/machine"
	"stenciltune/outcome"
	"stenciltune/stencil"
	"stenciltune/timing"
)

// Options say how children are started and how long they may take. Zero values
// mean the defaults. Every time-out counts from when the operation really
// starts, not from when it is queued.
type Options struct {
	// GPUCommand and CompileCommand make the command of a child, a new one at
	// each call: a program that calls Serve with a Backend that has an Executor
	// or a Compiler. Its stdin, stdout and stderr are taken; where Env is nil
	// the child inherits the environment. Arguments show in the process list:
	// no secrets.
	GPUCommand     func() *exec.Cmd
	CompileCommand func() *exec.Cmd
	// Others make the children of further devices of the same model.
	Others []func() *exec.Cmd

	Compilers int // compile processes, each started when first needed; 1
	Threads   int // compiles at once in each; 1

	StartTimeout   time.Duration // for a child to open its device or compiler; 1 min
	CompileTimeout time.Duration // for a compile; 30 s
	LoadTimeout    time.Duration // for loading or unloading a binary; 10 s
	CheckTimeout   time.Duration // for a check or a copy; 1 min
	// TimeTimeout is what timing may take for each run, beyond the device time
	// that the policy grants it; 10 s.
	TimeTimeout time.Duration

	Logger *slog.Logger // children lost: info; started, ended and what they print: debug; nil = none
}

func (o Options) withDefaults() Options {
	o.Compilers, o.Threads = max(1, o.Compilers), max(1, o.Threads)
	for _, d := range []struct {
		value *time.Duration
		usual time.Duration
	}{
		{&o.StartTimeout, time.Minute},
		{&o.CompileTimeout, 30 * time.Second},
		{&o.LoadTimeout, 10 * time.Second},
		{&o.CheckTimeout, time.Minute},
		{&o.TimeTimeout, 10 * time.Second},
	} {
		if *d.value <= 0 {
			*d.value = d.usual
		}
	}
	if o.Logger == nil {
		o.Logger = slog.New(slog.DiscardHandler)
	}
	return o
}

// Device is a device in a child process, with its compilers in others; or several
// of one model, each in a child of its own, that share compilers: see Members. Its
// methods may be called from many goroutines at once.
//
// A context's cancellation returns at once. It ends the process in which a check
// or a timing was running; a compile or a load is abandoned and runs on. A
// context's deadline is different: what it leaves is the limit of a compile, check,
// timing or copy where that is shorter than the Options', counts from when the operation starts, and passing
// it is a failure of the schedule, not an error. So stop a whole tune by
// cancelling, not by a deadline.
type Device struct {
	*shared
	gpu  *gpu   // that checks and times
	gpus []*gpu // that have what is compiled, gpu the first
}

// shared is what a device and its members have in common.
type shared struct {
	options Options
	nursery *nursery
	pool    *pool
	built   *built
	all     []*gpu
	lastID  atomic.Int64 // of binaries
	closing sync.Once
	err     error
}

var (
	_ device.Device  = (*Device)(nil)
	_ device.Several = (*Device)(nil)
	_ device.Sensor  = (*Device)(nil)
	_ device.Copier  = (*Device)(nil)
	_ device.Meter   = (*Device)(nil)
)

// Open starts the child that owns the device and one that compiles, and waits
// until both are open; ctx bounds that and nothing after. Errors of the child's
// constructors come back with device.ErrMissing and device.ErrLost still to be
// found in them. Of several devices one must open; the others are the last members,
// and lost.
//
// From then on a schedule that fails costs at most its own process:
//
//   - an operation past its deadline: the process group is killed; timing.Timeout, or
//     timing.CompileTimeout for a compile
//   - a process that dies: timing.WorkerLost, or timing.CompileError for a
//     compile that does so twice
//   - a sticky error: the failure that came with it
//
// An operation whose process got hardly any processor time until its deadline is run again, in
// the next process; the device is lost when that happens four times in a row.
//
// The next process is started in the background, and binaries are loaded again
// when they are next used. The device is lost, device.ErrLost, when its process
// ends four times without one answer between, or 51 times without one check or
// timing that ended well, when it cannot be opened any more, or when
// another device answers.
func Open(ctx context.Context, o Options) (*Device, error) {
	if o.GPUCommand == nil || o.CompileCommand == nil {
		panic("worker: Options without a command")
	}
	o = o.withDefaults()
	n := newNursery()
	s := &shared{options: o, nursery: n, pool: newPool(o, n, o.Logger), built: newBuilt()}
	for _, command := range append([]func() *exec.Cmd{o.GPUCommand}, o.Others...) {
		o.GPUCommand = command
		s.all = append(s.all, newGPU(o, n, o.Logger))
	}
	opening, cancel := context.WithCancel(context.WithoutCancel(ctx)) // by a deadline, too
	defer cancel()
	defer context.AfterFunc(ctx, cancel)()
	compiler := make(chan error, 1)
	go func() { compiler <- s.pool.warm(opening) }()
	err := s.open(opening)
	d := &Device{shared: s, gpu: s.all[0], gpus: s.all}
	if err != nil {
		cancel() // a compiler without a device is of no use
		<-compiler
	} else {
		err = <-compiler
	}
	if err == nil {
		return d, nil
	}
	if ctx.Err() != nil {
		err = ctx.Err()
	}
	return nil, errors.Join(err, d.Close())
}

// open waits until every device is open or has failed, and sorts those that failed to the end.
// The error is the first one's if all have.
func (s *shared) open(ctx context.Context) error {
	errs := make([]error, len(s.all))
	var starts sync.WaitGroup
	for i, g := range s.all {
		starts.Go(func() { _, errs[i] = g.get(ctx) })
	}
	starts.Wait()
	var well, failed []*gpu
	for i, g := range s.all {
		if errs[i] == nil {
			well = append(well, g)
			continue
		}
		failed = append(failed, g)
		g.mu.Lock()
		if g.lost == nil {
			g.lost = errs[i]
		}
		g.mu.Unlock()
	}
	s.all = append(well, failed...)
	if len(well) > 0 {
		return nil
	}
	return errs[0]
}

// Members are the single devices. Each has what the whole compiles, and may compile for itself;
// closing one closes all.
func (d *Device) Members() (all []device.Device) {
	for _, g := range d.gpus {
		all = append(all, &Device{shared: d.shared, gpu: g, gpus: []*gpu{g}})
	}
	return all
}

// Lost tells why the device is gone; nil while it is not.
func (d *Device) Lost() error {
	d.gpu.mu.Lock()
	defer d.gpu.mu.Unlock()
	return d.gpu.lost
}

// Machine is what the device said of itself when it was opened.
func (d *Device) Machine() machine.Machine {
	d.gpu.mu.Lock()
	defer d.gpu.mu.Unlock()
	return d.gpu.machine
}

// Compile builds a kernel in a compile process, while the device may be busy, unless
// its source was built before, and loads it: after the check or timing that runs, before
// those that wait. The binary's image is shared with the Device; do not write to it.
func (d *Device) Compile(ctx context.Context, k kernels.Kernel) (device.Binary, error) {
	source := k.SourceHash()
	built, ok := d.built.find(source)
	if !ok {
		var err error
		if built, err = d.pool.compile(ctx, k, d.Machine()); err != nil {
			return device.Binary{}, err
		}
		d.built.keep(source, built)
	}
	built.Schedule = k.Schedule
	n := d.lastID.Add(1)
	built.ID = fmt.Sprint("b", n)
	for _, g := range d.gpus {
		g.adopt(built, k.Launch)
	}
	b, err := d.load(ctx, int(n), built.ID)
	if err != nil {
		d.Release(built)
		return device.Binary{}, err
	}
	b.ID, b.Image = built.ID, built.Image
	return b, nil
}

// load loads a binary on one device, each in its turn, which tells what all would say of it. The
// others load it when they use it.
func (d *Device) load(ctx context.Context, turn int, id string) (b device.Binary, err error) {
	for i := range d.gpus {
		b, err = d.gpus[(turn+i)%len(d.gpus)].load(ctx, id)
		if err == nil || device.AsFailure(err) != nil || ctx.Err() != nil {
			break
		}
	}
	return b, err
}

// Check runs passes and compares every cell.
func (d *Device) Check(ctx context.Context, c device.Check) (stencil.Comparison, error) {
	r := checkRequest{
		Problem: c.Problem, Passes: wirePasses(c.Passes), Seed: c.Seed,
		Allowed: c.Allowed, Trusted: wirePasses(c.Trusted), Reduce: c.Reduce,
	}
	call, err := d.gpu.do(ctx, opCheck, d.options.CheckTimeout, r, binaries(c.Passes, c.Trusted)...)
	if err != nil {
		return stencil.Comparison{}, err
	}
	w, err := decode[comparison](call)
	return w.comparison(), err
}

// Time measures runs. Its limit grows with their number and with the device time
// that the policy grants each.
func (d *Device) Time(ctx context.Context, t device.Timing) ([]timing.Series, error) {
	r := timeRequest{Problem: t.Problem, Runs: wirePasses(t.Runs), Policy: t.Policy, Interleaved: t.Interleaved}
	each := d.options.TimeTimeout + time.Duration(t.Policy.TimeLimit*float64(time.Second))
	call, err := d.gpu.do(ctx, opTime, time.Duration(max(1, len(t.Runs)))*each, r, binaries(t.Runs)...)
	if err != nil {
		return nil, err
	}
	return decode[[]timing.Series](call)
}

// Metered tells whether the device had an energy counter when it was opened.
func (d *Device) Metered() bool {
	d.gpu.mu.Lock()
	defer d.gpu.mu.Unlock()
	return d.gpu.metered
}

// Energy measures a stretch of a run. Its limit is that of timing a run, and the stretch's own.
func (d *Device) Energy(ctx context.Context, e device.Energy) (timing.Draw, error) {
	runs := []device.Pass{e.Run}
	limit := d.options.TimeTimeout + time.Duration(e.Stretch.Limit*float64(time.Second))
	call, err := d.gpu.do(ctx, opEnergy, limit, energyRequest{e.Problem, wirePasses(runs)[0], e.Stretch}, binaries(runs)...)
	if err != nil {
		return timing.Draw{}, err
	}
	return decode[timing.Draw](call)
}

// CopyBandwidth has the device measure its copy bandwidth.
func (d *Device) CopyBandwidth(ctx context.Context, bytes int64) (float64, error) {
	call, err := d.gpu.do(ctx, opCopy, d.options.CheckTimeout, copyRequest{bytes})
	if err != nil {
		return 0, err
	}
	rate, err := decode[outcome.Float](call)
	return float64(rate), err
}

// Telemetry is the device's state, zero if it does not tell within a quarter of
// a second. It does not wait for what the device is doing.
func (d *Device) Telemetry() device.Telemetry { return d.gpu.telemetry() }

// Release unloads a binary, in the background, and forgets its image.
func (d *Device) Release(b device.Binary) {
	for _, g := range d.gpus {
		g.forget(b.ID)
	}
}

// Close ends every child, killing those that do not end by themselves within a
// second. Operations under way end with an error. It gives an error if a process
// cannot be killed.
func (d *Device) Close() error {
	d.closing.Do(func() {
		for _, g := range d.all {
			g.close()
		}
		d.err = d.nursery.close()
		for _, g := range d.all {
			g.work.Wait()
		}
	})
	return d.err
}

// binaries is the IDs that passes need, each once.
func binaries(lists ...[]device.Pass) []string {
	var ids []string
	seen := map[string]bool{}
	for _, passes := range lists {
		for _, p := range passes {
			if !seen[p.Binary.ID] {
				seen[p.Binary.ID] = true
				ids = append(ids, p.Binary.ID)
			}
		}
	}
	return ids
}
