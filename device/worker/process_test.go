package worker

import (
	"bufio"
	"bytes"
	"encoding/json"
	"errors"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"stenciltune/device"
	"stenciltune/timing"
)

// alive tells whether a process runs and is no zombie.
func alive(pid string) bool {
	b, err := os.ReadFile("/proc/" + pid + "/stat")
	if err != nil {
		return false
	}
	_, rest, _ := strings.Cut(string(b), ") ")
	return !strings.HasPrefix(rest, "Z")
}

// A parent that is killed takes its children along, also those that hang.
func TestParentKilled(t *testing.T) {
	if _, err := os.Stat("/proc/self/stat"); err != nil {
		t.Skip("no /proc here")
	}
	p := command("parent", "")()
	out, err := p.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	p.Stderr = os.Stderr
	if err := p.Start(); err != nil {
		t.Fatal(err)
	}
	line, err := bufio.NewReader(out).ReadString('\n')
	pids := strings.Fields(line)
	if err != nil || len(pids) != 2 {
		t.Fatalf("children %q, %v", line, err)
	}
	for _, pid := range pids {
		n, err := strconv.Atoi(pid)
		if err != nil {
			t.Fatal(err)
		}
		if group, err := syscall.Getpgid(n); err != nil || group != n {
			t.Errorf("process %d is in group %d: a Ctrl-C would reach it; %v", n, group, err)
		}
		if !alive(pid) {
			t.Fatalf("process %s is gone too early", pid)
		}
	}
	if err := p.Process.Kill(); err != nil {
		t.Fatal(err)
	}
	_ = p.Wait() // killed: its error says so
	for deadline := time.Now().Add(2 * time.Second); alive(pids[0]) || alive(pids[1]); time.Sleep(10 * time.Millisecond) {
		if time.Now().After(deadline) {
			t.Fatalf("children %v outlive their parent", pids)
		}
	}
}

// What a dead child had started ends with it. Where that left the child's process group and holds its pipes, nobody
// waits for it.
func TestADeadChildLeavesNothing(t *testing.T) {
	if _, err := os.Stat("/proc/self/stat"); err != nil {
		t.Skip("no /proc here")
	}
	for _, how := range []string{"orphan", "runaway"} {
		t.Run(how, func(t *testing.T) {
			d := open(t, func(o *Options) { o.TimeTimeout = time.Minute })
			file := filepath.Join(t.TempDir(), "pid")
			b := compile(t, d, "time="+how+":"+file, 1)
			begin := time.Now()
			_, err := d.Time(background, timingOf(b))
			wants(t, err, timing.WorkerLost, "exit code 5", begin, 20*time.Second)
			pid, err := os.ReadFile(file)
			if err != nil {
				t.Fatal(err)
			}
			n, err := strconv.Atoi(string(pid))
			if err != nil {
				t.Fatal(err)
			}
			if how == "runaway" {
				_ = syscall.Kill(n, syscall.SIGKILL)
				return
			}
			for deadline := time.Now().Add(5 * time.Second); alive(string(pid)); time.Sleep(10 * time.Millisecond) {
				if time.Now().After(deadline) {
					_ = syscall.Kill(n, syscall.SIGKILL)
					t.Fatal("what the child had started outlives it")
				}
			}
		})
	}
}

// The number of a child that is reaped may be somebody else's.
func TestAReapedChildIsNotKilled(t *testing.T) {
	if _, err := os.Stat("/proc/self/stat"); err != nil {
		t.Skip("no /proc here")
	}
	p := &process{cmd: exec.Command("sleep", "60"), reaped: true}
	isolate(p.cmd)
	if err := p.start(); err != nil {
		t.Fatal(err)
	}
	p.signal()
	time.Sleep(100 * time.Millisecond)
	if !alive(strconv.Itoa(p.cmd.Process.Pid)) {
		t.Error("killed")
	}
	p.reaped = false
	p.signal()
	if err := p.cmd.Wait(); err == nil {
		t.Error("not killed")
	}
}

// An operation has one clock: a second would run on after its end, and kill the next one's process. An answer about
// the device's state is not owed.
func TestClocks(t *testing.T) {
	p, c := &process{}, &call{limit: time.Hour}
	p.arm(c)
	first := c.timer
	p.arm(c)
	if c.timer != first {
		t.Error("two clocks")
	}
	first.Stop()
	p = &process{calls: map[uint64]*call{1: {lax: true, done: make(chan struct{})}}, over: make(chan struct{}), wake: make(chan struct{}, 1),
		reaped: true, stall: time.NewTimer(time.Hour)}
	p.watch()
	p.stalled()
	if p.owing || p.end != nil {
		t.Errorf("a state is owed: %v, %+v", p.owing, p.end)
	}
}

// raw talks to a child by hand.
type raw struct {
	t   *testing.T
	cmd *exec.Cmd
	in  io.WriteCloser
	out *bufio.Reader
}

func startRaw(t *testing.T, kind string) *raw {
	cmd := command(kind, filepath.Join(t.TempDir(), "mood"))()
	in, err := cmd.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		_ = cmd.Process.Kill() // most have ended
		_ = cmd.Wait()
	})
	return &raw{t, cmd, in, bufio.NewReader(out)}
}

func (r *raw) send(op string, payload any) {
	r.t.Helper()
	f, err := encodeFrame(request[any]{ID: 7, Op: op, Payload: payload})
	if err == nil {
		_, err = r.in.Write(f)
	}
	if err != nil {
		r.t.Fatal(err)
	}
}

// started waits until the child has begun a request.
func (r *raw) started() {
	r.t.Helper()
	for !r.next().Started {
	}
}

// answer is the next reply that ends a request.
func (r *raw) answer() reply[json.RawMessage] {
	r.t.Helper()
	for {
		if a := r.next(); !a.Started {
			return a
		}
	}
}

func (r *raw) next() (a reply[json.RawMessage]) {
	r.t.Helper()
	f, err := readFrame(r.out)
	if err == nil {
		err = json.Unmarshal(f, &a)
	}
	if err != nil {
		r.t.Fatal(err)
	}
	return a
}

func (r *raw) exit() (code int, took time.Duration) {
	begin := time.Now()
	_ = r.cmd.Wait() // the code is asked for below
	return r.cmd.ProcessState.ExitCode(), time.Since(begin)
}

// A child whose stdin ends exits by itself, whatever it is doing: not every
// system kills it with its parent.
func TestStdinEnds(t *testing.T) {
	idle := startRaw(t, "gpu")
	idle.send(opExecutor, hello{Protocol: protocol})
	idle.answer()
	idle.in.Close()
	if code, took := idle.exit(); code != 0 || took > 10*time.Second {
		t.Errorf("idle: exit code %d after %v", code, took)
	}

	busy := startRaw(t, "gpu")
	busy.send(opExecutor, hello{Protocol: protocol})
	busy.answer()
	k := kernel("load=hang", 1)
	busy.send(opLoad, loadRequest{device.Binary{ID: "b", Image: []byte(k.Source)}, k.Launch})
	busy.started()
	busy.in.Close()
	if code, took := busy.exit(); code != exitHung || took > 10*time.Second {
		t.Errorf("hanging: exit code %d after %v", code, took)
	}

	compiling := startRaw(t, "compile")
	compiling.send(opCompiler, hello{Protocol: protocol})
	compiling.send(opCompile, compileRequest{Kernel: kernel("compile=hang", 1)})
	compiling.started()
	compiling.in.Close()
	if code, took := compiling.exit(); code != 0 || took > 10*time.Second {
		t.Errorf("compiling: exit code %d after %v", code, took)
	}
}

func TestSignalsAreTheParents(t *testing.T) {
	r := startRaw(t, "gpu")
	r.send(opExecutor, hello{Protocol: protocol})
	r.answer()
	if err := r.cmd.Process.Signal(os.Interrupt); err != nil {
		t.Fatal(err)
	}
	time.Sleep(50 * time.Millisecond)
	r.send(opTelemetry, nil)
	if a := r.answer(); a.Error != nil {
		t.Errorf("after an interrupt: %+v", a.Error)
	}
}

func TestBadRequests(t *testing.T) {
	r := startRaw(t, "gpu")
	for _, c := range []struct {
		op      string
		payload any
		want    string
	}{
		{opCheck, nil, "before the device is open"},
		{opExecutor, hello{Protocol: protocol + 1}, "replaced while it ran"},
		{opCompiler, hello{Protocol: protocol}, "does not compile"},
		{opCompile, nil, "before the compiler is open"},
		{opExecutor, hello{Protocol: protocol}, ""},
		{"dance", nil, "unknown operation"},
		{opLoad, 1, "cannot unmarshal"},
		{opCheck, "x", "cannot unmarshal"},
		{opTime, timeRequest{Problem: testProblem, Runs: []pass{{ID: "b1"}}}, "b1 is not loaded"},
		{opRelease, releaseRequest{"b1"}, ""},
	} {
		r.send(c.op, c.payload)
		a := r.answer()
		if a.Failure != nil || (a.Error == nil) != (c.want == "") || a.Error != nil && !strings.Contains(a.Error.Text, c.want) {
			t.Errorf("%s %v: %+v", c.op, c.payload, a)
		}
	}
	if _, err := r.in.Write([]byte("GET / HTTP/1.1\r\n\r\n")); err != nil {
		t.Fatal(err)
	}
	if code, _ := r.exit(); code != 1 {
		t.Errorf("nonsense: exit code %d", code)
	}
}

// Serve needs no process of its own as long as nothing hangs.
func TestServeInProcess(t *testing.T) {
	var in, out bytes.Buffer
	for _, q := range []request[any]{
		{ID: 1, Op: opCompiler, Payload: hello{Protocol: protocol}},
		{ID: 2, Op: opTelemetry},
	} {
		f, err := encodeFrame(q)
		if err != nil {
			t.Fatal(err)
		}
		in.Write(f)
	}
	broken := errors.New("no compiler today")
	if err := Serve(&in, &out, Backend{Compiler: func() (device.Compiler, error) { return nil, broken }}); err != nil {
		t.Fatal(err)
	}
	if !strings.Contains(out.String(), broken.Error()) {
		t.Errorf("answered %q", out.String())
	}
}

// BenchmarkTime is what a call costs beyond its operation: budget some 2 ms a
// schedule.
func BenchmarkTime(b *testing.B) {
	d := open(b, nil)
	bin := compile(b, d, "", 1)
	for b.Loop() {
		if _, err := d.Time(background, timingOf(bin)); err != nil {
			b.Fatal(err)
		}
	}
}

// BenchmarkCompile compiles, loads and releases a kernel of a usual size.
func BenchmarkCompile(b *testing.B) {
	d := open(b, nil)
	text := strings.Repeat("x", 20<<10) // image and source
	for b.Loop() {
		bin, err := d.Compile(background, kernel(text, 1))
		if err != nil {
			b.Fatal(err)
		}
		d.Release(bin)
	}
}
