package worker

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"sync"
	"time"

	"golang.org/x/sys/unix"

	"stenciltune/device"
	"stenciltune/device/machine"
	"stenciltune/kernels"
)

// Backend makes what a child serves: one of the two.
type Backend struct {
	Compiler func() (device.Compiler, error)
	Executor func() (device.Executor, error)
}

// Messages between parent and child.
type (
	compileRequest struct {
		Kernel  kernels.Kernel  `json:"kernel"`
		Machine machine.Machine `json:"machine"`
	}
	loadRequest struct {
		Binary device.Binary  `json:"binary"`
		Launch kernels.Launch `json:"launch"`
	}
	checkRequest struct {
		Check    device.Check `json:"check"`
		Deadline time.Time    `json:"deadline"`
	}
	timeRequest struct {
		Timing   device.Timing `json:"timing"`
		Deadline time.Time     `json:"deadline"`
	}
	copyRequest struct {
		Bytes int64 `json:"bytes"`
	}
)

// Private takes standard output away from everything else in the process: it
// returns the real one for the protocol and lets what libraries print there go
// to standard error.
func Private() (*os.File, error) {
	fd, err := unix.Dup(1)
	if err != nil {
		return nil, fmt.Errorf("standard output: %w", err)
	}
	unix.CloseOnExec(fd)
	if err := unix.Dup3(2, 1, 0); err != nil {
		return nil, fmt.Errorf("standard output: %w", err)
	}
	return os.NewFile(uintptr(fd), "protocol"), nil
}

// stickyExit is the code with which a child ends whose device is poisoned.
const stickyExit = 17

// Serve is a child's life: it opens its half of a device, answers requests in
// order and ends when its input does - at once, even while a kernel hangs, since
// then the parent is gone. Telemetry is answered out of order.
func Serve(r io.Reader, w io.Writer, b Backend) error {
	s := &server{w: w}
	open := s.open(b)
	queue := make(chan request, 1024)
	go func() {
		for {
			var q request
			if err := readFrame(r, &q); err != nil {
				os.Exit(0)
			}
			if q.Op == "telemetry" {
				go s.telemetry(q)
				continue
			}
			queue <- q
		}
	}()
	for q := range queue {
		p := reply{ID: q.ID}
		v, err := any(nil), open
		if err == nil {
			v, err = s.handle(q)
		}
		p.answer(err)
		if err == nil && v != nil {
			if p.Payload, err = json.Marshal(v); err != nil {
				p.Error = err.Error()
			}
		}
		if err := s.send(p); err != nil {
			return err
		}
		if p.Sticky {
			os.Exit(stickyExit)
		}
		if q.Op == "close" {
			return nil
		}
	}
	return nil
}

type server struct {
	mu       sync.Mutex
	w        io.Writer
	compiler device.Compiler
	executor device.Executor
}

func (s *server) open(b Backend) (err error) {
	if b.Compiler != nil {
		s.compiler, err = b.Compiler()
	} else {
		s.executor, err = b.Executor()
	}
	return err
}

func (s *server) send(p reply) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	return writeFrame(s.w, p)
}

func (s *server) telemetry(q request) {
	p := reply{ID: q.ID}
	var t device.Telemetry
	if sensor, ok := s.executor.(device.Sensor); ok {
		t = sensor.Telemetry()
	}
	p.Payload, _ = json.Marshal(t) // numbers and strings always marshal
	s.send(p)
}

// decode reads a payload.
func decode[T any](q request) (T, error) {
	var v T
	err := json.Unmarshal(q.Payload, &v)
	return v, err
}

func (s *server) handle(q request) (any, error) {
	ctx := context.Background()
	switch q.Op {
	case "machine":
		if s.executor == nil {
			return machine.Machine{}, nil
		}
		return s.executor.Machine(), nil
	case "compile":
		m, err := decode[compileRequest](q)
		if err != nil {
			return nil, err
		}
		return s.compiler.Compile(ctx, m.Kernel, m.Machine)
	case "load":
		m, err := decode[loadRequest](q)
		if err != nil {
			return nil, err
		}
		return s.executor.Load(ctx, m.Binary, m.Launch)
	case "check":
		m, err := decode[checkRequest](q)
		if err != nil {
			return nil, err
		}
		ctx, cancel := context.WithDeadline(ctx, m.Deadline)
		defer cancel()
		return s.executor.Check(ctx, m.Check)
	case "time":
		m, err := decode[timeRequest](q)
		if err != nil {
			return nil, err
		}
		ctx, cancel := context.WithDeadline(ctx, m.Deadline)
		defer cancel()
		return s.executor.Time(ctx, m.Timing)
	case "copy":
		m, err := decode[copyRequest](q)
		c, ok := s.executor.(device.Copier)
		if err != nil || !ok {
			return 0.0, err
		}
		return c.CopyBandwidth(ctx, m.Bytes)
	case "release":
		b, err := decode[device.Binary](q)
		if err != nil {
			return nil, err
		}
		s.executor.Release(b)
		return true, nil
	case "close":
		if s.compiler != nil {
			return true, s.compiler.Close()
		}
		return true, s.executor.Close()
	}
	return nil, fmt.Errorf("unknown operation %q", q.Op)
}
