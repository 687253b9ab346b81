package worker

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"os"
	"os/exec"
	"sync"
	"time"
)

// Patience with a child, beyond what its operations may take.
const (
	killGrace  = 250 * time.Millisecond // after its deadline, for an operation that reports its own time-out
	exitGrace  = time.Second            // to exit after a sticky error, or when its stdin has ended
	pipeGrace  = 500 * time.Millisecond // for what a dead child wrote to arrive
	reapGrace  = 5 * time.Second        // for a killed child to be gone: a driver may hold it up
	stallLimit = 20 * time.Second       // without any frame while it owes one and runs nothing
)

// process is one child: its pipes, the calls under way and why it ended. It owns
// the command and three pipe ends; its goroutines end soon after the child does.
type process struct {
	name    string // for reasons: "GPU worker"
	cmd     *exec.Cmd
	log     *slog.Logger
	nursery *nursery
	stdin   *os.File
	last    lastWords

	over   chan struct{} // closed when end is set: no call is under way any more
	exited chan struct{} // closed when the child is reaped and its pipes are closed

	mu     sync.Mutex
	end    *ended
	born   bool // it has a process
	reaped bool
	calls  map[uint64]*call
	lastID uint64
	outbox [][]byte
	wake   chan struct{} // the outbox changed
	hangup bool          // close stdin once the outbox is empty
	stall  *time.Timer
	owing  bool          // the stall clock runs
	silent time.Duration // stallLimit, or a test's
}

// startProcess starts a child. It answers nothing before the caller has sent it a hello.
func startProcess(n *nursery, name string, cmd *exec.Cmd, log *slog.Logger) (*process, error) {
	p := &process{
		name: name, cmd: cmd, log: log, nursery: n, silent: stallLimit,
		over: make(chan struct{}), exited: make(chan struct{}),
		calls: map[uint64]*call{}, wake: make(chan struct{}, 1),
	}
	// Not exec's own pipes: Wait would close them before the last reply is read.
	var files [6]*os.File
	for i := 0; i < len(files); i += 2 {
		r, w, err := os.Pipe()
		if err != nil {
			closeAll(files[:])
			return nil, fmt.Errorf("start %s: %w", name, err)
		}
		files[i], files[i+1] = r, w
	}
	theirs := []*os.File{files[0], files[3], files[5]}
	stdout, stderr := files[2], files[4]
	p.stdin = files[1]
	cmd.Stdin, cmd.Stdout, cmd.Stderr = theirs[0], theirs[1], theirs[2]
	isolate(cmd)
	p.stall = time.AfterFunc(time.Hour, p.stalled)
	p.stall.Stop()
	err := n.start(p)
	closeAll(theirs)
	if err != nil {
		closeAll([]*os.File{p.stdin, stdout, stderr})
		return nil, fmt.Errorf("start %s: %w", name, err)
	}
	log.Debug("worker started", "worker", name, "pid", cmd.Process.Pid)
	go p.send()
	go p.reap(stdout, stderr)
	return p, nil
}

// start starts the command, and ends it where nobody wants it any more.
func (p *process) start() error {
	err := p.cmd.Start()
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.born = err == nil; p.born && p.end != nil {
		killGroup(p.cmd)
	}
	return err
}

func closeAll(files []*os.File) {
	for _, f := range files {
		if f != nil {
			_ = f.Close() // a pipe: nothing is lost that somebody still wants
		}
	}
}

// call sends a request. The limit counts from when the child starts it, or from
// now for one that opens something: a child that cannot start must not be waited
// for. On a process that has ended the call is over at once, and not guilty.
func (p *process) call(op string, limit time.Duration, payload any) (*call, error) {
	c := &call{op: op, limit: limit, lax: op == opTelemetry, done: make(chan struct{})}
	p.mu.Lock()
	p.lastID++
	c.id = p.lastID
	p.mu.Unlock()
	frame, err := encodeFrame(request[any]{ID: c.id, Op: op, Limit: limit.Seconds(), Payload: payload})
	if err != nil {
		return nil, fmt.Errorf("worker: %s: %w", op, err)
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.end != nil {
		c.ended = p.end
		close(c.done)
		return c, nil
	}
	p.calls[c.id] = c
	p.outbox = append(p.outbox, frame)
	if op == opCompiler || op == opExecutor {
		p.arm(c)
	}
	if !p.owing { // else new requests would keep a dead child alive
		p.watch()
	}
	p.poke()
	return c, nil
}

// arm starts a call's clock. p.mu is held.
func (p *process) arm(c *call) {
	if c.limit > 0 && c.timer == nil {
		c.seen.begin = time.Now()
		c.timer = time.AfterFunc(c.seen.next(c.limit), func() { p.look(c) })
	}
}

// look sees every now and then whether the child gets a processor, and kills it when a call's time is up.
func (p *process) look(c *call) {
	p.mu.Lock()
	if p.end != nil || c.ended != nil || p.calls[c.id] != c {
		p.mu.Unlock()
		return
	}
	if c.seen.n < manyLooks {
		var s scheduling
		if !p.reaped {
			s = schedulingOf(p.cmd)
		}
		c.seen.add(s)
		c.timer.Reset(c.seen.next(c.limit))
		p.mu.Unlock()
		return
	}
	e := ended{deadline, c, fmt.Sprintf("%s passed its deadline of %v", doing[c.op], c.limit.Round(time.Millisecond))}
	if c.seen.starved() {
		e = p.unfed()
	}
	p.mu.Unlock()
	p.kill(e)
}

// unfed is the end of a child that was starved.
func (p *process) unfed() ended {
	return ended{starved, nil, p.name + " got hardly any processor time"}
}

// watch restarts the clock of a child that owes an answer. p.mu is held.
func (p *process) watch() {
	p.owing = false
	for _, c := range p.calls {
		p.owing = p.owing || !c.lax && c.timer == nil
	}
	if p.owing {
		p.stall.Reset(p.silent)
	} else {
		p.stall.Stop()
	}
}

// stalled kills a child that has been silent for too long, unless an operation
// runs: that has a deadline of its own.
func (p *process) stalled() {
	p.mu.Lock()
	owes := false
	for _, c := range p.calls {
		if c.timer != nil {
			p.watch()
			p.mu.Unlock()
			return
		}
		owes = owes || !c.lax
	}
	p.mu.Unlock()
	if owes {
		p.kill(ended{stalled, nil, fmt.Sprintf("%s did not answer for %v", p.name, p.silent)})
	}
}

// poke tells the sender that there is something to do.
func (p *process) poke() {
	select {
	case p.wake <- struct{}{}:
	default:
	}
}

// send writes requests to the child, so that a child that does not read holds up
// nobody else. It owns stdin.
func (p *process) send() {
	defer p.stdin.Close()
	for {
		p.mu.Lock()
		var frame []byte
		if len(p.outbox) > 0 {
			frame, p.outbox = p.outbox[0], p.outbox[1:]
		}
		hangup := p.hangup
		p.mu.Unlock()
		switch {
		case frame != nil:
			if _, err := p.stdin.Write(frame); err != nil {
				return // the child is gone, or about to be: reap says so
			}
		case hangup:
			return
		default:
			<-p.wake
		}
	}
}

// receive takes replies until the child's stdout ends.
func (p *process) receive(stdout io.Reader) {
	for {
		frame, err := readFrame(stdout)
		var r reply[json.RawMessage]
		if err == nil {
			err = json.Unmarshal(frame, &r)
		}
		switch {
		case err == nil:
			p.deliver(r)
		case errors.Is(err, io.EOF), errors.Is(err, io.ErrUnexpectedEOF), errors.Is(err, os.ErrDeadlineExceeded):
			return // it ended; reap knows how
		default:
			p.kill(ended{died, nil, fmt.Sprintf("%s spoke nonsense: %s", p.name, oneLine(err.Error()))})
			return
		}
	}
}

// deliver hands a reply to its call.
func (p *process) deliver(r reply[json.RawMessage]) {
	p.mu.Lock()
	c := p.calls[r.ID]
	switch {
	case c == nil: // it ended with its process
	case r.Started:
		if c.begin.IsZero() {
			c.begin = time.Now()
		}
		p.arm(c)
	default:
		c.reply = r
		p.settle(c)
	}
	p.watch()
	p.mu.Unlock()
	if r.Sticky {
		e := ended{poisoned, c, p.name + " was replaced after a sticky error"}
		if c != nil && c.starved() {
			e = p.unfed()
		}
		p.finish(e)
		time.AfterFunc(exitGrace, p.signal)
	}
}

// settle ends a call. p.mu is held.
func (p *process) settle(c *call) {
	delete(p.calls, c.id)
	if c.timer != nil {
		c.timer.Stop()
	}
	if !c.begin.IsZero() {
		c.spent = time.Since(c.begin)
	}
	close(c.done)
}

// finish ends every call under way and refuses further ones. The first reason counts.
func (p *process) finish(e ended) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.end != nil {
		return
	}
	p.end = &e
	for _, c := range p.calls {
		c.ended = p.end
		p.settle(c)
	}
	p.watch()
	p.outbox, p.hangup = nil, true
	p.poke()
	close(p.over)
}

// kill ends the child and everything it started. It does not wait: whoever was
// waiting for an answer knows at once.
func (p *process) kill(e ended) {
	p.finish(e)
	p.signal()
}

// signal kills the process group, unless the child is reaped: then its number
// may be somebody else's. One that is still to start ends when it does.
func (p *process) signal() {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.born && !p.reaped {
		killGroup(p.cmd)
	}
}

// reap waits for the child's end, reads what it still had to say, and closes the pipes.
func (p *process) reap(stdout, stderr *os.File) {
	var reading sync.WaitGroup
	reading.Go(func() { p.receive(stdout) })
	reading.Go(func() { p.last.listen(stderr, p.log.With("worker", p.name)) })
	err := p.cmd.Wait()
	p.mu.Lock()
	p.reaped = true
	p.mu.Unlock()
	read := make(chan struct{})
	go func() {
		reading.Wait()
		close(read)
	}()
	select {
	case <-read:
	case <-time.After(pipeGrace):
		// A descendant still holds the pipes, so the group exists and its
		// number is nobody else's.
		killGroup(p.cmd)
		_ = stdout.SetReadDeadline(time.Now())
		_ = stderr.SetReadDeadline(time.Now())
		<-read
	}
	how := p.last.death(p.cmd, err)
	p.finish(ended{died, nil, p.name + " died " + how})
	_ = p.stdin.SetWriteDeadline(time.Now()) // frees the sender; on error it is closed already
	closeAll([]*os.File{stdout, stderr})
	p.log.Debug("worker ended", "worker", p.name, "pid", p.cmd.Process.Pid, "how", how, "why", p.end.reason)
	p.nursery.reaped(p)
}

// close ends the child politely: its stdin ends, and it is killed if it has not
// exited soon after.
func (p *process) close() error {
	p.finish(ended{closed, nil, p.name + " was closed"})
	select {
	case <-p.exited:
		return nil
	case <-time.After(exitGrace):
	}
	p.signal()
	select {
	case <-p.exited:
		return nil
	case <-time.After(reapGrace):
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	if !p.born {
		return fmt.Errorf("%s takes longer than %v to start, and cannot be ended before", p.name, exitGrace+reapGrace)
	}
	return fmt.Errorf("%s (process %d) does not end although it was killed", p.name, p.cmd.Process.Pid)
}
