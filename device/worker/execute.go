package worker

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"sync"

	"stenciltune/device"
	"stenciltune/outcome"
)

// executor is a child's device and what is loaded on it. It belongs to one goroutine.
type executor struct {
	*server
	device device.Executor
	loaded map[string]device.Binary // as Load returned them
}

// do does one operation and gives the payload of its reply.
func (e *executor) do(ctx context.Context, q request[json.RawMessage]) (any, error) {
	if q.Op == opExecutor {
		return e.open(q.Payload)
	}
	if e.device == nil {
		return nil, fmt.Errorf("%s before the device is open", q.Op)
	}
	switch q.Op {
	case opLoad:
		var p loadRequest
		if err := json.Unmarshal(q.Payload, &p); err != nil {
			return nil, err
		}
		b, err := e.device.Load(ctx, p.Binary, p.Launch)
		if err != nil {
			return nil, err
		}
		e.loaded[p.Binary.ID] = b
		b.Image = nil // the parent has it
		return b, nil
	case opRelease:
		var p releaseRequest
		if err := json.Unmarshal(q.Payload, &p); err != nil {
			return nil, err
		}
		if b, ok := e.loaded[p.ID]; ok {
			delete(e.loaded, p.ID)
			e.device.Release(b)
		}
		return nil, nil
	case opCheck:
		return e.check(ctx, q.Payload)
	case opTime:
		return e.time(ctx, q.Payload)
	case opEnergy:
		return e.energy(ctx, q.Payload)
	case opCopy:
		var p copyRequest
		if err := json.Unmarshal(q.Payload, &p); err != nil {
			return nil, err
		}
		c, ok := e.device.(device.Copier)
		if !ok {
			return nil, errors.New("the device cannot measure its copy bandwidth")
		}
		rate, err := c.CopyBandwidth(ctx, p.Bytes)
		return outcome.Float(rate), err
	}
	return nil, fmt.Errorf("unknown operation %q", q.Op)
}

func (e *executor) open(payload json.RawMessage) (any, error) {
	if _, err := greet(payload); err != nil {
		return nil, err
	}
	if e.Executor == nil {
		return nil, errors.New("this worker has no device")
	}
	d, err := e.Executor()
	if err != nil {
		return nil, err
	}
	e.device = d
	w := welcome{Machine: d.Machine()}
	_, w.Copier = d.(device.Copier)
	if m, ok := d.(device.Meter); ok {
		w.Metered = m.Metered()
	}
	var sensor device.Sensor
	if sensor, w.Sensor = d.(device.Sensor); w.Sensor {
		e.sensor <- sensor
	}
	return w, nil
}

// check answers a check whose binaries are loaded.
func (e *executor) check(ctx context.Context, payload json.RawMessage) (any, error) {
	var p checkRequest
	if err := json.Unmarshal(payload, &p); err != nil {
		return nil, err
	}
	c := device.Check{Problem: p.Problem, Seed: p.Seed, Allowed: p.Allowed, Reduce: p.Reduce}
	var err error
	if c.Passes, err = e.passes(p.Passes); err != nil {
		return nil, err
	}
	if c.Trusted, err = e.passes(p.Trusted); err != nil {
		return nil, err
	}
	found, err := e.device.Check(ctx, c)
	return wireComparison(found), err
}

// time answers a timing whose binaries are loaded.
func (e *executor) time(ctx context.Context, payload json.RawMessage) (any, error) {
	var p timeRequest
	if err := json.Unmarshal(payload, &p); err != nil {
		return nil, err
	}
	t := device.Timing{Problem: p.Problem, Policy: p.Policy, Interleaved: p.Interleaved}
	var err error
	if t.Runs, err = e.passes(p.Runs); err != nil {
		return nil, err
	}
	return e.device.Time(ctx, t)
}

// energy answers for a stretch of a run whose binary is loaded.
func (e *executor) energy(ctx context.Context, payload json.RawMessage) (any, error) {
	var p energyRequest
	if err := json.Unmarshal(payload, &p); err != nil {
		return nil, err
	}
	m, ok := e.device.(device.Meter)
	if !ok {
		return nil, errors.New("the device has no energy counter")
	}
	runs, err := e.passes([]pass{p.Run})
	if err != nil {
		return nil, err
	}
	return m.Energy(ctx, device.Energy{Problem: p.Problem, Run: runs[0], Stretch: p.Stretch})
}

// passes puts the loaded binaries back in the place of their IDs.
func (e *executor) passes(wire []pass) ([]device.Pass, error) {
	var passes []device.Pass
	for _, p := range wire {
		b, ok := e.loaded[p.ID]
		if !ok {
			return nil, fmt.Errorf("binary %s is not loaded", p.ID)
		}
		passes = append(passes, device.Pass{Binary: b, Launch: p.Launch, Count: p.Count})
	}
	return passes, nil
}

// queue holds the requests that wait for the device, the urgent ones first.
type queue struct {
	mu     sync.Mutex
	filled *sync.Cond
	urgent []request[json.RawMessage]
	rest   []request[json.RawMessage]
	closed bool
}

func newQueue() *queue {
	q := &queue{}
	q.filled = sync.NewCond(&q.mu)
	return q
}

func (q *queue) put(r request[json.RawMessage], urgent bool) {
	q.mu.Lock()
	defer q.mu.Unlock()
	if urgent {
		q.urgent = append(q.urgent, r)
	} else {
		q.rest = append(q.rest, r)
	}
	q.filled.Signal()
}

// take waits for the next request; false means that the queue was closed.
func (q *queue) take() (request[json.RawMessage], bool) {
	q.mu.Lock()
	defer q.mu.Unlock()
	for {
		switch {
		case q.closed:
			return request[json.RawMessage]{}, false
		case len(q.urgent) > 0:
			r := q.urgent[0]
			q.urgent = q.urgent[1:]
			return r, true
		case len(q.rest) > 0:
			r := q.rest[0]
			q.rest = q.rest[1:]
			return r, true
		}
		q.filled.Wait()
	}
}

// close drops what waits: whoever sent it is gone.
func (q *queue) close() {
	q.mu.Lock()
	defer q.mu.Unlock()
	q.closed = true
	q.filled.Broadcast()
}
