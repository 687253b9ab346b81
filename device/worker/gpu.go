package worker

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"sync"
	"time"

	"stenciltune/device"
	"stenciltune/kernels"
	"stenciltune/machine"
	"stenciltune/timing"
)

// When a device that keeps losing its process counts as lost.
const (
	maxRestarts = 3  // in a row, without one answer between them
	maxBarren   = 50 // in a row, without one check or timing that ended well: no family of kernels is that bad
	// A driver takes a moment to clean up after a process that was killed.
	restartPause = 200 * time.Millisecond // before another try when a start failed; doubles
	releaseWait  = 30 * time.Second       // for a killed process to be gone, before the next one opens the device
)

// gpu is the process that owns the device, through all its restarts.
type gpu struct {
	options Options
	nursery *nursery
	log     *slog.Logger
	done    chan struct{} // closed by close
	work    sync.WaitGroup

	mu       sync.Mutex
	life     *life         // nil: none; the next operation starts one
	previous chan struct{} // closed when the last life's process is gone
	images   map[string]*image
	machine  machine.Machine // as first seen
	metered  bool            // likewise
	known    bool
	streak   int   // processes lost since the last answer
	barren   int   // and since the last check or timing that ended well
	starving int   // of them, those that got no processor
	lost     error // why there is no device any more
	closed   bool
	asking   *call // the last telemetry request
	restarts int
	busy     time.Duration // checking and timing
}

// image is a binary that is not released: what loading it anew takes.
type image struct {
	binary device.Binary
	launch kernels.Launch
}

// life is one process, from its start to the moment its end is dealt with.
type life struct {
	ready   chan struct{} // closed when process or err is set
	gone    chan struct{} // closed when its successor, if any, is gpu.life
	process *process
	err     error
	welcome welcome
	loads   map[string]*load // guarded by gpu.mu
}

// load is one binary on its way onto one life's device, or there.
type load struct {
	done   chan struct{}
	binary device.Binary
	err    error
}

// errAgain means that a process ended through no fault of the operation.
var errAgain = errors.New("worker: sent again")

func newGPU(o Options, n *nursery, log *slog.Logger) *gpu {
	return &gpu{options: o, nursery: n, log: log, done: make(chan struct{}), images: map[string]*image{}}
}

// close ends no process, the nursery does; it ends whoever waits for one.
func (g *gpu) close() {
	g.mu.Lock()
	if !g.closed {
		g.closed = true
		close(g.done)
	}
	g.mu.Unlock()
}

// get gives the life that runs or is about to, starting one if there is none.
func (g *gpu) get(ctx context.Context) (*life, error) {
	g.mu.Lock()
	if err := g.over(); err != nil {
		g.mu.Unlock()
		return nil, err
	}
	if g.life == nil {
		g.begin()
	}
	l := g.life
	g.mu.Unlock()
	if err := await(ctx, l.ready, g.done); err != nil {
		return nil, err
	}
	return l, l.err
}

// over tells why no operation is possible any more. g.mu is held.
func (g *gpu) over() error {
	if g.closed {
		return errClosed
	}
	return g.lost
}

// begin starts a life in the background. g.mu is held.
func (g *gpu) begin() {
	l := &life{ready: make(chan struct{}), gone: make(chan struct{}), loads: map[string]*load{}}
	g.life = l
	g.work.Go(func() { g.live(l) })
}

// live is a life: start, wait for the end, put a successor in place.
func (g *gpu) live(l *life) {
	p, w, err := g.start()
	g.mu.Lock()
	if err == nil && g.known && w.Machine.UUID != g.machine.UUID {
		err = g.lose("another device answers: " + w.Machine.Name + " " + w.Machine.UUID)
		p.kill(ended{closed, nil, p.name + " was closed"})
	}
	if err != nil {
		l.err = err
		close(l.ready)
		close(l.gone)
		g.life = nil
		g.mu.Unlock()
		return
	}
	if !g.known {
		g.machine, g.metered, g.known = w.Machine, w.Metered, true
	}
	l.process, l.welcome = p, w
	g.previous = p.exited
	close(l.ready)
	g.mu.Unlock()

	<-p.over
	g.mu.Lock()
	defer g.mu.Unlock()
	defer close(l.gone)
	g.life = nil
	p.mu.Lock()
	e := *p.end
	p.mu.Unlock()
	if g.closed || g.lost != nil {
		return
	}
	if e.how == cancelled {
		return // the next operation starts one, if there is a next
	}
	g.log.Info("worker lost", "worker", p.name, "why", e.reason)
	g.barren++
	if e.how == starved {
		g.starving++
	}
	if err := g.strike(e.reason); err == nil {
		g.begin()
	}
}

// strike counts a lost process and gives an error if there were too many.
// g.mu is held.
func (g *gpu) strike(reason string) error {
	g.streak++
	g.restarts++
	switch {
	case g.streak > maxRestarts:
		return g.lose(fmt.Sprintf("its process ended %d times in a row, at last: %s", g.streak, reason))
	case g.starving > maxRestarts:
		return g.lose(fmt.Sprintf("%s, %d times in a row: leave it a processor", reason, g.starving))
	case g.barren > maxBarren:
		return g.lose(fmt.Sprintf("its process ended %d times and not one kernel ran well between, at last: %s", g.barren, reason))
	}
	return nil
}

// lose gives the device up. g.mu is held.
func (g *gpu) lose(reason string) error {
	if g.lost == nil {
		name := g.machine.Name
		if g.machine.UUID != "" {
			name += " (" + g.machine.UUID + ")"
		}
		g.lost = fmt.Errorf("%w: %s: %s", device.ErrLost, name, reason)
	}
	return g.lost
}

// start starts a process that has the device open, once the last one is gone. A
// process that fails to is started again, a few times, except the very first:
// then the user waits for an answer.
func (g *gpu) start() (*process, welcome, error) {
	g.mu.Lock()
	previous, first := g.previous, !g.known
	g.mu.Unlock()
	if previous != nil {
		select {
		case <-previous:
		case <-g.done:
			return nil, welcome{}, errClosed
		case <-time.After(releaseWait):
			g.mu.Lock()
			defer g.mu.Unlock()
			return nil, welcome{}, g.lose("its process was killed and does not end")
		}
	}
	for pause := restartPause; ; pause *= 2 {
		p, w, err := g.open()
		if err == nil || first || errors.Is(err, errClosed) {
			return p, w, err
		}
		g.mu.Lock()
		if told := new(remoteError); errors.As(err, &told) && (told.Missing || told.Lost) {
			err = g.lose(told.Text)
		} else {
			err = g.strike(err.Error())
		}
		g.mu.Unlock()
		if err != nil {
			return nil, welcome{}, err
		}
		select {
		case <-time.After(pause):
		case <-g.done:
			return nil, welcome{}, errClosed
		}
	}
}

// open starts a process and has it open the device.
func (g *gpu) open() (*process, welcome, error) {
	p, err := startProcess(g.nursery, "GPU worker", g.options.GPUCommand(), g.log)
	if err != nil {
		return nil, welcome{}, err
	}
	c, err := p.call(opExecutor, g.options.StartTimeout, hello{Protocol: protocol})
	if err == nil {
		<-c.done // the process watches the time, and close ends it
		err = c.outcome()
	}
	switch {
	case err != nil:
	case c.ended != nil && c.ended.how == closed:
		err = errClosed
	case c.ended != nil:
		err = fmt.Errorf("%w: opening it: %s", device.ErrLost, c.ended.reason)
	default:
		w, err := decode[welcome](c)
		if err == nil {
			return p, w, nil
		}
	}
	p.kill(ended{closed, nil, p.name + " was closed"})
	return nil, welcome{}, err
}

// do runs one operation of the device to its end, whatever happens to processes
// meanwhile. The binaries it needs are loaded first where they are not. The
// error is a failure if the operation is to blame.
func (g *gpu) do(ctx context.Context, op string, limit time.Duration, payload any, needs ...string) (*call, error) {
	if ctx.Err() != nil {
		return nil, ctx.Err()
	}
	limit = within(ctx, limit)
	for {
		l, err := g.get(ctx)
		if err != nil {
			return nil, err
		}
		for i := 0; i < len(needs) && err == nil; i++ {
			_, err = g.ensure(ctx, l, needs[i])
		}
		if err == nil {
			var c *call
			c, err = g.attempt(ctx, l, op, limit, payload)
			if err == nil {
				return c, nil
			}
		}
		if err != errAgain {
			return nil, err
		}
	}
}

// attempt sends an operation to one life and judges how it ended. errAgain
// means that it has not run.
func (g *gpu) attempt(ctx context.Context, l *life, op string, limit time.Duration, payload any) (*call, error) {
	c, err := l.process.call(op, limit, payload)
	if err != nil {
		return nil, err
	}
	if err := c.wait(ctx); err != nil {
		if op != opLoad {
			// What runs cannot be stopped in any other way. Loads are short
			// and run on.
			l.process.kill(ended{cancelled, c, op + " was cancelled"})
		}
		return nil, err
	}
	g.count(c)
	if c.ended == nil {
		err := g.judge(c)
		if !c.starved() {
			return c, err
		}
		l.process.kill(l.process.unfed())
		if err := await(ctx, l.gone, g.done); err != nil {
			return nil, err
		}
		return nil, errAgain
	}
	switch e := c.ended; {
	case e.culprit == c && e.how == deadline:
		return nil, device.Fail(timing.Timeout, "%s", e.reason)
	case e.how == died && c.guilty():
		return nil, device.Fail(timing.WorkerLost, "%s", e.reason)
	}
	if err := await(ctx, l.gone, g.done); err != nil {
		return nil, err
	}
	return nil, errAgain
}

// count adds up what the device was busy with.
func (g *gpu) count(c *call) {
	g.mu.Lock()
	defer g.mu.Unlock()
	switch c.op {
	case opCheck, opTime, opEnergy:
		g.busy += c.spent
	}
}

// judge turns a reply into an error, and notes whether the device is well.
func (g *gpu) judge(c *call) error {
	err := c.outcome()
	g.mu.Lock()
	defer g.mu.Unlock()
	if errors.Is(err, device.ErrLost) || errors.Is(err, device.ErrMissing) {
		return g.lose(err.Error())
	}
	if c.reply.Sticky {
		if device.AsFailure(err) == nil {
			// The next process shows whether the device is still there.
			err = device.Fail(timing.LaunchError, "%v", err)
		}
		return err
	}
	g.streak = 0
	if err == nil && (c.op == opCheck || c.op == opTime || c.op == opEnergy) {
		g.barren, g.starving = 0, 0
	}
	return err
}

// adopt keeps a compiled binary's image.
func (g *gpu) adopt(b device.Binary, launch kernels.Launch) {
	g.mu.Lock()
	defer g.mu.Unlock()
	g.images[b.ID] = &image{b, launch}
}

// load loads an adopted binary and gives what the device says of it.
func (g *gpu) load(ctx context.Context, id string) (device.Binary, error) {
	for {
		l, err := g.get(ctx)
		if err != nil {
			return device.Binary{}, err
		}
		b, err := g.ensure(ctx, l, id)
		if err != errAgain {
			return b, err
		}
	}
}

// ensure has a binary loaded in a life, by whoever comes first.
func (g *gpu) ensure(ctx context.Context, l *life, id string) (device.Binary, error) {
	g.mu.Lock()
	im := g.images[id]
	if im == nil {
		g.mu.Unlock()
		return device.Binary{}, fmt.Errorf("worker: binary %q was never compiled here, or was released", id)
	}
	ld, mine := l.loads[id], false
	if ld == nil {
		ld, mine = &load{done: make(chan struct{})}, true
		l.loads[id] = ld
	}
	g.mu.Unlock()
	if !mine {
		if err := await(ctx, ld.done, g.done); err != nil {
			return device.Binary{}, err
		}
		return ld.binary, ld.err
	}

	c, err := g.attempt(ctx, l, opLoad, g.options.LoadTimeout, loadRequest{im.binary, im.launch})
	if err == nil {
		ld.binary, err = decode[device.Binary](c)
	}
	g.mu.Lock()
	if err != nil {
		delete(l.loads, id)
		ld.err = err
		if ctx.Err() != nil {
			ld.err = errAgain // for those who share it: they were not cancelled
			g.unload(l, id)
		}
	}
	g.mu.Unlock()
	close(ld.done)
	return ld.binary, err
}

// forget drops a binary here and, in the background, in the child.
func (g *gpu) forget(id string) {
	g.mu.Lock()
	defer g.mu.Unlock()
	delete(g.images, id)
	if l := g.life; l != nil && l.loads[id] != nil {
		delete(l.loads, id)
		g.unload(l, id)
	}
}

// unload asks a child to unload a binary; requests to load are before it in the
// same queue. Nobody waits, but its deadline is watched. g.mu is held.
func (g *gpu) unload(l *life, id string) {
	if l.process != nil {
		// It cannot fail to encode, and a process that ended has nothing loaded.
		_, _ = l.process.call(opRelease, g.options.LoadTimeout, releaseRequest{id})
	}
}

// telemetryWait is how long a state is waited for: it is asked between samples.
const telemetryWait = 250 * time.Millisecond

// telemetry asks the child, unless it still owes an earlier answer.
func (g *gpu) telemetry() (t device.Telemetry) {
	g.mu.Lock()
	var p *process
	if l := g.life; l != nil && l.process != nil && l.welcome.Sensor {
		p = l.process
	}
	if g.asking != nil {
		select {
		case <-g.asking.done:
		default:
			p = nil
		}
	}
	var c *call
	if p != nil {
		// It cannot fail to encode.
		c, _ = p.call(opTelemetry, 0, nil)
		g.asking = c
	}
	g.mu.Unlock()
	if c == nil {
		return t
	}
	select {
	case <-c.done:
	case <-time.After(telemetryWait):
		return t
	}
	if c.ended == nil && c.outcome() == nil {
		t, _ = decode[device.Telemetry](c) // nonsense is no state either
	}
	return t
}
