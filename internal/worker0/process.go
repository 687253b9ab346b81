package worker

import (
	"bufio"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os/exec"
	"strings"
	"sync"
	"syscall"
	"time"
)

// process is one child and the requests it has not answered yet.
type process struct {
	cmd    *exec.Cmd
	stdin  io.WriteCloser
	stderr *tail
	dead   chan struct{} // closed once the child has ended
	loaded map[string]bool

	mu      sync.Mutex
	next    uint64
	waiting map[uint64]chan reply
	cause   string // why it ended
}

// errDied means that the child ended before it answered.
var errDied = errors.New("the worker process died")

// start runs a child in its own process group, so that a Ctrl-C at the terminal
// is the parent's to handle.
func start(make func() *exec.Cmd) (*process, error) {
	cmd := make()
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	cmd.WaitDelay = time.Second
	p := &process{cmd: cmd, stderr: &tail{}, dead: notify(), loaded: map[string]bool{}, waiting: map[uint64]chan reply{}}
	cmd.Stderr = p.stderr
	var err error
	if p.stdin, err = cmd.StdinPipe(); err != nil {
		return nil, err
	}
	out, err := cmd.StdoutPipe()
	if err != nil {
		return nil, err
	}
	if err := cmd.Start(); err != nil {
		return nil, fmt.Errorf("starting a worker process: %w", err)
	}
	go p.read(out)
	return p, nil
}

func notify() chan struct{} { return make(chan struct{}) }

// read delivers replies until the child ends, then tells everyone who waits.
func (p *process) read(out io.Reader) {
	r := bufio.NewReaderSize(out, 1<<16)
	for {
		var a reply
		if err := readFrame(r, &a); err != nil {
			break
		}
		p.mu.Lock()
		c := p.waiting[a.ID]
		delete(p.waiting, a.ID)
		p.mu.Unlock()
		if c != nil {
			c <- a
		}
	}
	p.kill() // a child that speaks no protocol is of no use
	err := p.cmd.Wait()
	p.mu.Lock()
	p.cause = p.describe(err)
	p.mu.Unlock()
	close(p.dead)
}

// describe says how the child ended and what it said last.
func (p *process) describe(err error) string {
	what := "ended"
	var exit *exec.ExitError
	if errors.As(err, &exit) {
		if ws, ok := exit.Sys().(syscall.WaitStatus); ok && ws.Signaled() {
			what = fmt.Sprintf("died (signal %d, %s)", ws.Signal(), ws.Signal())
		} else {
			what = fmt.Sprintf("ended with code %d", exit.ExitCode())
		}
	}
	if last := p.stderr.lastLine(); last != "" {
		what += ": " + last
	}
	return what
}

// call sends a request and waits for its answer, the child's end, or cancel. A
// cancelled call leaves the child running; the caller decides whether to kill it.
func (p *process) call(op string, payload any, cancel <-chan struct{}, result any) (stuck bool, err error) {
	body, err := json.Marshal(payload)
	if err != nil {
		return false, fmt.Errorf("worker request %s: %w", op, err)
	}
	c := make(chan reply, 1)
	p.mu.Lock()
	p.next++
	id := p.next
	p.waiting[id] = c
	err = writeFrame(p.stdin, request{ID: id, Op: op, Payload: body})
	p.mu.Unlock()
	if err != nil {
		p.kill()
		<-p.dead
		return false, fmt.Errorf("%w: %s", errDied, p.cause)
	}
	select {
	case a := <-c:
		return a.Sticky, a.finish(result)
	case <-p.dead:
		select {
		case a := <-c: // answered, then ended: a sticky failure
			return a.Sticky, a.finish(result)
		default:
		}
		return false, fmt.Errorf("%w: %s", errDied, p.cause)
	case <-cancel:
		p.mu.Lock()
		delete(p.waiting, id)
		p.mu.Unlock()
		return true, errStuck
	}
}

var errStuck = errors.New("no answer within the deadline")

func (a *reply) finish(result any) error {
	if err := a.err(); err != nil {
		return err
	}
	if result == nil || a.Payload == nil {
		return nil
	}
	return json.Unmarshal(a.Payload, result)
}

// alive tells whether the child still runs.
func (p *process) alive() bool {
	select {
	case <-p.dead:
		return false
	default:
		return true
	}
}

// kill ends the child and everything it started.
func (p *process) kill() {
	if p.cmd.Process != nil {
		syscall.Kill(-p.cmd.Process.Pid, syscall.SIGKILL)
	}
}

// stop asks the child to end and kills it if it does not.
func (p *process) stop() {
	expired := make(chan struct{})
	t := time.AfterFunc(time.Second, func() { close(expired) })
	defer t.Stop()
	if p.alive() {
		p.call("close", nil, expired, nil)
	}
	p.stdin.Close()
	select {
	case <-p.dead:
	case <-time.After(time.Second):
		p.kill()
		<-p.dead
	}
}

// tail keeps the end of what is written to it.
type tail struct {
	mu  sync.Mutex
	buf []byte
}

func (t *tail) Write(b []byte) (int, error) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.buf = append(t.buf, b...)
	if len(t.buf) > 8<<10 {
		t.buf = append(t.buf[:0], t.buf[len(t.buf)-(4<<10):]...)
	}
	return len(b), nil
}

// lastLine is the last line that is not blank.
func (t *tail) lastLine() string {
	t.mu.Lock()
	defer t.mu.Unlock()
	lines := strings.Split(strings.TrimSpace(string(t.buf)), "\n")
	return strings.TrimSpace(lines[len(lines)-1])
}
