package worker

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"runtime"
	"slices"
	"sync"
	"time"

	"stenciltune/device"
)

// Backend is what a child serves. Each constructor is called at most once, when
// the parent asks for it.
type Backend struct {
	// Compiler opens the compiler. nil = this child does not compile.
	Compiler func() (device.Compiler, error)
	// Executor opens the device. nil = this child has none. Constructor and
	// calls happen on one goroutine, locked to its thread, one at a time. An
	// Executor that is a device.Sensor is asked for its telemetry from another
	// goroutine, also while a call runs: its Telemetry must allow that (NVML is
	// thread-safe).
	Executor func() (device.Executor, error)
	// Sticky tells whether an error leaves the process unfit for the device, for
	// errors that do not tell themselves by a method Sticky() bool. nil = none.
	Sticky func(error) bool
}

// isSticky tells whether an error leaves the process unfit for the device.
func (b Backend) isSticky(err error) bool {
	return err != nil && (tellsSticky(err) || b.Sticky != nil && b.Sticky(err))
}

// tellsSticky tells whether any error in a chain says so. errors.As would ask
// only the first that has the method.
func tellsSticky(err error) bool {
	if s, ok := err.(interface{ Sticky() bool }); ok && s.Sticky() {
		return true
	}
	switch u := err.(type) {
	case interface{ Unwrap() error }:
		return tellsSticky(u.Unwrap())
	case interface{ Unwrap() []error }:
		return slices.ContainsFunc(u.Unwrap(), tellsSticky)
	}
	return false
}

// How a child ends.
const (
	exitHung   = 16 // stdin ended while an operation hung
	exitSticky = 17 // a sticky error was reported; the process is unfit
	exitPipe   = 18 // nobody reads the replies
)

// closeGrace is how long the device gets to close once stdin has ended; the
// parent kills after as long.
const closeGrace = time.Second

// Serve answers requests from r on w until r ends. It is the whole life of a
// child: call it from main, before anything else reads or prints. Where w is the
// process's stdout, Serve takes it away from everybody else: whatever prints
// there afterwards, in Go or in C, prints on stderr.
//
// Serve exits the process after a sticky error, and when r ends while an
// operation does not: a kernel that hangs cannot be waited for.
func Serve(r io.Reader, w io.Writer, b Backend) error {
	out, err := takeStdout(w)
	if err != nil {
		return fmt.Errorf("take over stdout: %w", err)
	}
	ctx, cancel := context.WithCancel(context.Background())
	defer cancel()
	s := &server{Backend: b, ctx: ctx, out: out, queue: newQueue(), sensor: make(chan device.Sensor, 1)}
	executor := make(chan struct{})
	go func() {
		defer close(executor)
		s.execute()
	}()
	err = s.read(r)
	cancel()
	s.queue.close()
	select {
	case <-executor:
	case <-time.After(closeGrace):
		os.Exit(exitHung)
	}
	if c := s.compiler.idle(); c != nil {
		err = errors.Join(err, c.Close())
	}
	s.writing.Lock()
	defer s.writing.Unlock()
	s.out = nil
	return err
}

// server is one child.
type server struct {
	Backend
	ctx      context.Context
	queue    *queue // what the executor does, in turn
	compiler compiler
	sensor   chan device.Sensor // holds the sensor, once there is one, while nobody asks it

	writing sync.Mutex
	out     io.Writer // nil once Serve returns: what still runs is not answered
}

// compiler is the child's compiler and how many compiles are running.
type compiler struct {
	mu      sync.Mutex
	open    device.Compiler
	running int
	slots   chan struct{}
}

// idle gives the compiler if nothing is being compiled: only then may it be closed.
func (c *compiler) idle() device.Compiler {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.running > 0 {
		return nil
	}
	return c.open
}

// read takes requests until r ends.
func (s *server) read(r io.Reader) error {
	for {
		frame, err := readFrame(r)
		if err == io.EOF {
			return nil
		}
		if err != nil {
			return err
		}
		var q request[json.RawMessage]
		if err := json.Unmarshal(frame, &q); err != nil {
			return fmt.Errorf("request: %w", err)
		}
		switch q.Op {
		case opCompiler:
			payload, err := s.openCompiler(q.Payload)
			s.end(q.ID, payload, err)
		case opCompile:
			s.compiler.mu.Lock()
			s.compiler.running++
			s.compiler.mu.Unlock()
			go s.compile(q)
		case opTelemetry:
			go s.telemetry(q)
		case opLoad, opRelease:
			// A schedule's registers are needed as soon as it is compiled, and
			// loading takes microseconds: before the next check or timing.
			s.queue.put(q, true)
		default:
			s.queue.put(q, false)
		}
	}
}

func (s *server) openCompiler(payload json.RawMessage) (any, error) {
	h, err := greet(payload)
	if err != nil {
		return nil, err
	}
	if s.Compiler == nil {
		return nil, errors.New("this worker does not compile")
	}
	c, err := s.Compiler()
	if err != nil {
		return nil, err
	}
	s.compiler.mu.Lock()
	s.compiler.open, s.compiler.slots = c, make(chan struct{}, max(1, h.Threads))
	s.compiler.mu.Unlock()
	return welcome{}, nil
}

// greet reads a hello and refuses a parent of another kind.
func greet(payload json.RawMessage) (h hello, err error) {
	if err := json.Unmarshal(payload, &h); err != nil {
		return h, err
	}
	if h.Protocol != protocol {
		return h, fmt.Errorf("worker speaks protocol %d, its parent %d: the program was replaced while it ran", protocol, h.Protocol)
	}
	return h, nil
}

// compile serves one request on its own goroutine.
func (s *server) compile(q request[json.RawMessage]) {
	c := &s.compiler
	c.mu.Lock()
	open, slots := c.open, c.slots
	c.mu.Unlock()
	defer func() {
		c.mu.Lock()
		c.running--
		c.mu.Unlock()
	}()
	if open == nil {
		s.end(q.ID, nil, errors.New("compile before the compiler is open"))
		return
	}
	slots <- struct{}{}
	defer func() { <-slots }()
	s.start(q.ID)
	var p compileRequest
	if err := json.Unmarshal(q.Payload, &p); err != nil {
		s.end(q.ID, nil, err)
		return
	}
	ctx, cancel := s.limited(q.Limit)
	defer cancel()
	b, err := open.Compile(ctx, p.Kernel, p.Machine)
	s.end(q.ID, b, err)
}

// limited is the context of an operation: the deadline it may heed. The parent
// kills whoever does not.
func (s *server) limited(seconds float64) (context.Context, context.CancelFunc) {
	if seconds <= 0 {
		return context.WithCancel(s.ctx)
	}
	return context.WithTimeout(s.ctx, time.Duration(seconds*float64(time.Second)))
}

// telemetry serves one request on its own goroutine. While an earlier one hangs
// in the driver, later ones are told nothing.
func (s *server) telemetry(q request[json.RawMessage]) {
	var t device.Telemetry
	select {
	case sensor := <-s.sensor:
		t = sensor.Telemetry()
		s.sensor <- sensor
	default:
	}
	s.end(q.ID, t, nil)
}

// execute does the device's operations, one at a time, on one thread.
func (s *server) execute() {
	runtime.LockOSThread() // for good: the thread may hold a context
	e := &executor{server: s, loaded: map[string]device.Binary{}}
	for q, ok := s.queue.take(); ok; q, ok = s.queue.take() {
		s.start(q.ID)
		ctx, cancel := s.limited(q.Limit)
		payload, err := e.do(ctx, q)
		err = overdue(ctx, err)
		cancel()
		s.end(q.ID, payload, err)
	}
	if e.device != nil {
		// Nobody is left to tell an error to.
		_ = e.device.Close()
	}
}

// start tells the parent that the clock of a request runs.
func (s *server) start(id uint64) { s.write(reply[any]{ID: id, Started: true}, false) }

// end answers a request. After a sticky error it does not return.
func (s *server) end(id uint64, payload any, err error) {
	r := reply[any]{ID: id, Sticky: s.isSticky(err)}
	if r.Failure, r.Error = wireError(err); err == nil {
		r.Payload = payload
	}
	s.write(r, r.Sticky)
}

// write sends a frame, and exits the process if it is the last one.
func (s *server) write(r reply[any], last bool) {
	frame, err := encodeFrame(r)
	if err != nil {
		frame, err = encodeFrame(reply[any]{ID: r.ID, Error: &fault{Text: err.Error()}, Sticky: r.Sticky})
	}
	s.writing.Lock()
	defer s.writing.Unlock()
	if s.out == nil {
		return
	}
	if err == nil {
		_, err = s.out.Write(frame)
	}
	if err != nil {
		os.Exit(exitPipe)
	}
	if last {
		os.Exit(exitSticky)
	}
}
