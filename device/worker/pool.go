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
	"stenciltune/kernels"
	"stenciltune/machine"
	"stenciltune/timing"
)

// How often a compile is tried again.
const (
	maxResent = 2 // because another compile ended its process
	maxStarts = 3 // starts of a compile process that dies at once
)

// maxCompiles is how many a process takes before another has its place: NVRTC 13.0 keeps half a megabyte of each program.
const maxCompiles = 256

// pool is the compile processes. Each is started when first needed and takes as
// many compiles at once as it has threads; more wait here, so that a compile's
// deadline counts from when it really starts.
//
// A compile that passes its deadline costs its process and nobody else: the
// others there are sent again. Where a process dies by itself, any compile in it
// may be the cause; each is tried again alone, in a process of its own, and
// whoever dies there too is the culprit.
type pool struct {
	command func() *exec.Cmd
	nursery *nursery
	log     *slog.Logger
	threads int
	open    time.Duration // for a process to start
	limit   time.Duration // for one compile
	lasts   int           // maxCompiles, or a test's

	tokens chan struct{} // holds one for each further compile that may run
	alone  chan struct{} // holds one while no compile is tried alone

	mu      sync.Mutex
	members []*member

	stats struct {
		sync.Mutex
		compiles, restarts int
		seconds            float64
	}
}

// member is one place for a process.
type member struct {
	load int // compiles here or on their way; guarded by pool.mu

	turn    chan struct{} // holds one while no process starts
	builder *builder      // nil: none yet
}

func newMember() *member {
	m := &member{turn: make(chan struct{}, 1)}
	m.turn <- struct{}{}
	return m
}

// builder is a compile process.
type builder struct {
	*process
	uses sync.WaitGroup // compiles that it has been given and that are waited for
	left int            // compiles before its place is another's; for whoever has its member's turn
}

// retire ends a builder that no place has any more, once nobody waits for it.
func (c *builder) retire() {
	c.uses.Wait()
	// One that cannot be ended is reported by the nursery.
	_ = c.close()
}

func newPool(o Options, n *nursery, log *slog.Logger) *pool {
	p := &pool{
		command: o.CompileCommand, nursery: n, log: log,
		threads: o.Threads, open: o.StartTimeout, limit: o.CompileTimeout, lasts: maxCompiles,
		tokens: make(chan struct{}, o.Compilers*o.Threads), alone: make(chan struct{}, 1),
	}
	p.alone <- struct{}{}
	for range cap(p.tokens) {
		p.tokens <- struct{}{}
	}
	for range o.Compilers {
		p.members = append(p.members, newMember())
	}
	return p
}

// compile builds a kernel. The binary has no ID.
func (p *pool) compile(ctx context.Context, k kernels.Kernel, m machine.Machine) (device.Binary, error) {
	if ctx.Err() != nil {
		return device.Binary{}, ctx.Err()
	}
	limit := within(ctx, p.limit)
	if err := await(ctx, p.tokens, nil); err != nil {
		return device.Binary{}, err
	}
	defer func() { p.tokens <- struct{}{} }()
	suspect := false
	for resent := 0; ; {
		alone := suspect || resent > maxResent
		c, err := p.attempt(ctx, limit, compileRequest{k, m}, alone)
		if err != nil {
			return device.Binary{}, err
		}
		p.count(c)
		if c.ended == nil {
			if err := c.outcome(); err != nil {
				return device.Binary{}, err
			}
			return decode[device.Binary](c)
		}
		switch {
		case c.ended.how == closed:
			return device.Binary{}, errClosed
		case c.ended.culprit == c:
			return device.Binary{}, device.Fail(timing.CompileTimeout, "%s", c.ended.reason)
		case c.ended.how == deadline || c.ended.how == starved || !c.guilty():
			if resent++; alone && resent > 2*maxResent {
				return device.Binary{}, fmt.Errorf("worker: compiling %s: %s", k.Schedule, c.ended.reason)
			}
		case alone:
			return device.Binary{}, device.Fail(timing.CompileError, "%s", c.ended.reason)
		default:
			suspect = true
		}
	}
}

// attempt sends a compile to a process and waits for its end, whatever it is.
func (p *pool) attempt(ctx context.Context, limit time.Duration, r compileRequest, alone bool) (*call, error) {
	var m *member
	if alone {
		m = newMember()
		if err := await(ctx, p.alone, nil); err != nil {
			return nil, err
		}
		defer func() { p.alone <- struct{}{} }()
		defer func() {
			if m.builder != nil {
				m.builder.retire()
			}
		}()
	} else {
		m = p.choose()
		defer p.leave(m)
	}
	proc, err := p.take(ctx, m)
	if err != nil {
		return nil, err
	}
	defer proc.uses.Done()
	c, err := proc.call(opCompile, limit, r)
	if err != nil {
		return nil, err
	}
	// A cancelled compile runs on: killing it would cost those beside it.
	return c, c.wait(ctx)
}

// count adds up what the compilers were busy with.
func (p *pool) count(c *call) {
	p.stats.Lock()
	defer p.stats.Unlock()
	p.stats.compiles++
	p.stats.seconds += c.spent.Seconds()
}

// choose takes the least busy place, among equals the first: it is the likeliest
// to have a process.
func (p *pool) choose() *member {
	p.mu.Lock()
	defer p.mu.Unlock()
	best := p.members[0]
	for _, m := range p.members[1:] {
		if m.load < best.load {
			best = m
		}
	}
	best.load++
	return best
}

func (p *pool) leave(m *member) {
	p.mu.Lock()
	defer p.mu.Unlock()
	m.load--
}

// take gives a place's builder for one compile, which ends with uses.Done.
func (p *pool) take(ctx context.Context, m *member) (*builder, error) {
	if err := m.await(ctx); err != nil {
		return nil, err
	}
	defer m.done()
	if m.builder != nil && m.builder.left == 0 {
		go m.builder.retire()
		m.builder = nil
	}
	c, err := p.start(ctx, m)
	if err != nil {
		return nil, err
	}
	c.left--
	c.uses.Add(1)
	return c, nil
}

// await waits for the turn, which ends with done, unless the context is cancelled.
func (m *member) await(ctx context.Context) error {
	if err := await(ctx, m.turn, nil); err != nil {
		return err
	}
	if errors.Is(ctx.Err(), context.Canceled) { // no process need start
		m.done()
		return ctx.Err()
	}
	return nil
}

func (m *member) done() { m.turn <- struct{}{} }

// start gives a place's builder, starting one if there is none that lives, by whoever has the turn.
func (p *pool) start(ctx context.Context, m *member) (*builder, error) {
	if m.builder != nil {
		select {
		case <-m.builder.over:
			p.stats.Lock()
			p.stats.restarts++
			p.stats.Unlock()
			m.builder = nil
		default:
			return m.builder, nil
		}
	}
	for starts := 1; ; starts++ {
		proc, err := startProcess(p.nursery, "compiler", p.command(), p.log)
		if err != nil {
			return nil, err
		}
		lowerPriority(proc.cmd)
		c, err := proc.call(opCompiler, p.open, hello{Protocol: protocol, Threads: p.threads})
		if err == nil {
			err = c.wait(ctx)
		}
		if err == nil && c.ended == nil {
			err = c.outcome()
		}
		switch {
		case err != nil:
			proc.kill(ended{closed, nil, ""})
			return nil, err
		case c.ended == nil:
			m.builder = &builder{process: proc, left: p.lasts}
			return m.builder, nil
		case c.ended.how == closed:
			return nil, errClosed
		case starts == maxStarts:
			return nil, fmt.Errorf("worker: the compiler does not start: %s", c.ended.reason)
		}
	}
}

// warm starts the first process, so that a missing compiler shows at once.
func (p *pool) warm(ctx context.Context) error {
	m := p.members[0]
	if err := m.await(ctx); err != nil {
		return err
	}
	defer m.done()
	_, err := p.start(ctx, m)
	return err
}
