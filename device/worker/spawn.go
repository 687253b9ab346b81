package worker

import (
	"errors"
	"runtime"
	"sync"
)

// errClosed is what operations on a closed Device get.
var errClosed = errors.New("worker: the device is closed")

// nursery starts every child from one OS thread, which lives as long as any of
// them: the kernel kills a child with the thread that started it, not with the
// process (prctl(2), PR_SET_PDEATHSIG), and Go ends threads as it likes.
type nursery struct {
	jobs chan func()

	mu       sync.Mutex
	children map[*process]struct{} // not yet reaped
	closed   bool
}

func newNursery() *nursery {
	n := &nursery{jobs: make(chan func()), children: map[*process]struct{}{}}
	go func() {
		runtime.LockOSThread() // never unlocked: the thread ends with the goroutine
		for f := range n.jobs {
			f()
		}
	}()
	return n
}

// start runs a child's start on the thread.
func (n *nursery) start(p *process) error {
	n.mu.Lock()
	if n.closed {
		n.mu.Unlock()
		return errClosed
	}
	n.children[p] = struct{}{} // before it starts, so that close waits for it
	n.mu.Unlock()
	done := make(chan error, 1)
	n.jobs <- func() { done <- p.start() }
	err := <-done
	if err != nil {
		n.reaped(p)
	}
	return err
}

func (n *nursery) reaped(p *process) {
	n.mu.Lock()
	delete(n.children, p)
	n.mu.Unlock()
	close(p.exited)
}

// close ends every child, politely at first, and then the thread. It gives an
// error if a child cannot be killed; then the thread stays.
func (n *nursery) close() error {
	n.mu.Lock()
	if n.closed {
		n.mu.Unlock()
		return nil
	}
	n.closed = true
	var children []*process
	for p := range n.children {
		children = append(children, p)
	}
	n.mu.Unlock()
	errs := make([]error, len(children))
	var wg sync.WaitGroup
	for i, p := range children {
		wg.Go(func() { errs[i] = p.close() })
	}
	wg.Wait()
	if err := errors.Join(errs...); err != nil {
		return err
	}
	close(n.jobs)
	return nil
}
