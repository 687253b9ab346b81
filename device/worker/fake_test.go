package worker

import (
	"context"
	"errors"
	"fmt"
	"math"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"strconv"
	"strings"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"stenciltune/device"
	"stenciltune/kernels"
	"stenciltune/machine"
	"stenciltune/space"
	"stenciltune/stencil"
	"stenciltune/timing"
)

// The test binary is its own child: asChild chooses what it is.
const (
	asChild = "WORKER_TEST_CHILD" // "gpu", "compile", "parent", "raw"
	moodIn  = "WORKER_TEST_MOOD"  // a file that says how the device opens
)

func TestMain(m *testing.M) {
	switch os.Getenv(asChild) {
	case "gpu":
		serve(Backend{Executor: func() (device.Executor, error) { return openFake() }})
	case "compile":
		serve(Backend{Compiler: func() (device.Compiler, error) { return openFakeCompiler() }})
	case "parent":
		parent()
	case "raw": // a program that is no worker
		fmt.Println("usage: raw")
		time.Sleep(time.Minute)
	default:
		os.Exit(m.Run())
	}
}

func serve(b Backend) {
	b.Sticky = func(err error) bool { return errors.Is(err, errPoison) }
	if err := Serve(os.Stdin, os.Stdout, b); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
	os.Exit(0)
}

var errPoison = errors.New("the context is poisoned")

// Stats is what a Device has done so far.
type Stats struct {
	Compiles         int     // attempts that ended, failed ones included
	CompileSeconds   float64 // summed over compiles, so it may grow faster than time
	DeviceSeconds    float64 // checking and timing: what the device is there for
	GPURestarts      int     // processes of the device that were lost
	CompilerRestarts int     // and of the compilers
}

// Stats gives the counts so far.
func (d *Device) Stats() Stats {
	p := d.pool
	p.stats.Lock()
	s := Stats{Compiles: p.stats.compiles, CompileSeconds: p.stats.seconds, CompilerRestarts: p.stats.restarts}
	p.stats.Unlock()
	for _, g := range d.gpus {
		g.mu.Lock()
		s.DeviceSeconds += g.busy.Seconds()
		s.GPURestarts += g.restarts
		g.mu.Unlock()
	}
	return s
}

// sayer is an error that tells by itself.
type sayer struct {
	error
	sticky bool
}

func (e sayer) Sticky() bool  { return e.sticky }
func (e sayer) Unwrap() error { return e.error }

// act does what a kernel's text says for one stage, like "time=hang". It returns
// what the stage is to fail with.
func act(ctx context.Context, stage, text string) error {
	for word := range strings.FieldsSeq(text) {
		what, ok := strings.CutPrefix(word, stage+"=")
		if !ok {
			continue
		}
		what, arg, _ := strings.Cut(what, ":")
		switch what {
		case "hang":
			time.Sleep(time.Hour)
		case "heed": // give up at the deadline, naming no failure
			<-ctx.Done()
			return ctx.Err()
		case "spin", "weary": // takes so much of a processor; the weary one heeds its deadline
			for begin := processor(); processor()-begin < duration(arg); {
				if what == "weary" && ctx.Err() != nil {
					return ctx.Err()
				}
			}
		case "segv", "abort":
			number := syscall.SIGSEGV
			if what == "abort" {
				number = syscall.SIGABRT
			}
			fmt.Fprintln(os.Stderr, "the fake kernel misbehaves")
			_ = syscall.Kill(os.Getpid(), number)
			time.Sleep(time.Hour)
		case "kill":
			_ = syscall.Kill(os.Getpid(), syscall.SIGKILL)
			time.Sleep(time.Hour)
		case "exit":
			fmt.Fprintln(os.Stderr, "first line\nno more \x1b[31mlines\x1b[0m")
			os.Exit(3)
		case "orphan", "runaway": // starts another, writes its number into the file arg, and exits
			c := exec.Command("sleep", "60")
			c.Stderr = os.Stderr
			c.SysProcAttr = &syscall.SysProcAttr{Setpgid: what == "runaway"}
			if err := c.Start(); err != nil {
				panic(err)
			}
			if err := os.WriteFile(arg, []byte(strconv.Itoa(c.Process.Pid)), 0o600); err != nil {
				panic(err)
			}
			os.Exit(5)
		case "panic":
			panic("a bug of the backend")
		case "once": // dies the first time, arg is a file that remembers
			if f, err := os.OpenFile(arg, os.O_CREATE|os.O_EXCL, 0o600); err == nil {
				_ = f.Close()
				os.Exit(4)
			}
		case "slow":
			time.Sleep(duration(arg))
		case "print": // a library that thinks stdout is its own
			fmt.Println("hello from a library")
			_, _ = syscall.Write(syscall.Stdout, []byte("and from another, in C\n"))
		case "shout":
			line := strings.Repeat("x", 1<<20)
			for range 4 {
				fmt.Fprint(os.Stderr, line)
			}
			fmt.Fprintln(os.Stderr)
		case "nonsense": // a frame that is none
			_, _ = syscall.Write(replies(), []byte("nonsense"))
			time.Sleep(time.Hour)
		case "sticky":
			return errors.Join(device.Fail(timing.LaunchError, "CUDA_ERROR_ILLEGAL_ADDRESS (700)"), errPoison)
		case "tells":
			return errors.Join(sayer{errors.New("harmless"), false}, fmt.Errorf("sync: %w", sayer{device.Fail(timing.Timeout, "CUDA_ERROR_LAUNCH_TIMEOUT (702)"), true}))
		case "bare": // sticky, but no failure
			return fmt.Errorf("sync: %w", errPoison)
		case "lost":
			return fmt.Errorf("%w: fell off the bus", device.ErrLost)
		case "fail":
			return &device.Failure{Status: timing.LaunchError, Reason: "out of\nresources (701)", Log: strings.Repeat("log ", 1<<20)}
		case "refuse":
			return &device.Failure{Status: timing.CompileError, Reason: "2 errors", Log: strings.Repeat("error\n", 1<<20) + "\xff"}
		case "error":
			return errors.New("something else")
		}
	}
	return nil
}

func duration(text string) time.Duration {
	d, err := time.ParseDuration(text)
	if err != nil {
		panic(err)
	}
	return d
}

// processor is the time that this process has had of one.
func processor() time.Duration {
	var used syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &used); err != nil {
		panic(err)
	}
	return time.Duration(used.Utime.Nano() + used.Stime.Nano())
}

// replies finds the descriptor that Serve moved the protocol to: the highest pipe.
func replies() int {
	fd := 0
	for i := 3; i < 50; i++ {
		if link, err := os.Readlink(fmt.Sprintf("/proc/self/fd/%d", i)); err == nil && strings.HasPrefix(link, "pipe:") {
			fd = i
		}
	}
	return fd
}

type fakeCompiler struct{}

func openFakeCompiler() (device.Compiler, error) {
	return fakeCompiler{}, act(context.Background(), "compiler", mood())
}

func (fakeCompiler) Compile(ctx context.Context, k kernels.Kernel, m machine.Machine) (device.Binary, error) {
	if err := act(ctx, "compile", k.Source); err != nil {
		return device.Binary{}, err
	}
	return device.Binary{
		ID: "always the same", Schedule: k.Schedule, Entry: k.Entry, Image: []byte(k.Source),
		Compiler: fmt.Sprintf("fake on %s, process %d", m.Name, os.Getpid()), CompileSeconds: 0.25,
	}, nil
}

func (fakeCompiler) Close() error { return nil }

// mood is what the test wants of the next process.
func mood() string {
	b, err := os.ReadFile(os.Getenv(moodIn))
	if err != nil {
		return ""
	}
	return string(b)
}

// fake is a device without one: what a kernel does stands in its text. It finds
// fault with a parent that breaks the Executor's contract.
type fake struct {
	name   string
	images map[string]string
	busy   atomic.Bool
	loads  int
}

func openFake() (device.Executor, error) {
	m := mood()
	if err := act(context.Background(), "open", m); err != nil {
		return nil, err
	}
	if strings.Contains(m, "missing") {
		return nil, fmt.Errorf("%w: libcuda.so.1 was not found; install a driver", device.ErrMissing)
	}
	f := &fake{name: "GPU-1234", images: map[string]string{}}
	if strings.Contains(m, "swapped") {
		f.name = "GPU-5678"
	}
	if strings.Contains(m, "blind") {
		return struct{ device.Executor }{f}, nil
	}
	return f, nil
}

// enter is called by each operation; two at once are a bug.
func (f *fake) enter() func() {
	if !f.busy.CompareAndSwap(false, true) {
		panic("two operations at once")
	}
	return func() { f.busy.Store(false) }
}

func (f *fake) Machine() machine.Machine {
	return machine.Machine{Kind: machine.CUDA, Name: "Fake H200", UUID: f.name, SMs: 132}
}

func (f *fake) Load(ctx context.Context, b device.Binary, l kernels.Launch) (device.Binary, error) {
	defer f.enter()()
	if len(b.Image) == 0 || l.Threads() == 0 {
		panic("load without image or launch")
	}
	if _, ok := f.images[b.ID]; ok {
		panic("loaded twice: " + b.ID)
	}
	f.loads++
	if err := act(ctx, "load", string(b.Image)); err != nil {
		return device.Binary{}, err
	}
	f.images[b.ID] = string(b.Image)
	b.Registers, b.BlocksPerSM = 32, l.Threads()
	return b, nil
}

func (f *fake) Check(ctx context.Context, c device.Check) (stencil.Comparison, error) {
	defer f.enter()()
	for _, p := range append(c.Passes, c.Trusted...) {
		if err := f.run(ctx, "check", p); err != nil {
			return stencil.Comparison{}, err
		}
	}
	r := stencil.Comparison{Cells: c.Problem.Size.Cells(), Steps: device.Steps(c.Passes), Against: "reference", Tolerance: stencil.Of(c.Allowed, 0).Error, MaxError: 1e-7}
	if c.Trusted != nil {
		r.Against = c.Trusted[0].Binary.Schedule.String()
	}
	if strings.Contains(f.images[c.Passes[0].Binary.ID], "check=nan") {
		r.MaxError, r.Wrong, r.Got = math.NaN(), 1, "NaN"
	}
	return r, nil
}

func (f *fake) Time(ctx context.Context, t device.Timing) ([]timing.Series, error) {
	defer f.enter()()
	var all []timing.Series
	for _, p := range t.Runs {
		if err := f.run(ctx, "time", p); err != nil {
			return nil, err
		}
		s := timing.NewSampler(t.Policy, 2, 2)
		for range 5 {
			s.Add(1e-3, false)
		}
		all = append(all, s.Series())
	}
	return all, nil
}

func (f *fake) run(ctx context.Context, stage string, p device.Pass) error {
	text, ok := f.images[p.Binary.ID]
	if !ok {
		panic("not loaded: " + p.Binary.ID)
	}
	return act(ctx, stage, text)
}

func (f *fake) Release(b device.Binary) {
	defer f.enter()()
	if _, ok := f.images[b.ID]; !ok {
		panic("released, but not loaded: " + b.ID)
	}
	_ = act(context.Background(), "release", f.images[b.ID])
	delete(f.images, b.ID)
}

func (f *fake) Close() error {
	defer f.enter()()
	return nil
}

func (f *fake) CopyBandwidth(ctx context.Context, bytes int64) (float64, error) {
	defer f.enter()()
	return float64(bytes), nil
}

func (f *fake) Metered() bool { return true }

func (f *fake) Energy(ctx context.Context, e device.Energy) (timing.Draw, error) {
	defer f.enter()()
	return timing.Draw{SecondsPerStep: e.Stretch.Span, Watts: 500, ClockHz: 1.4e9, Lowered: []string{}}, f.run(ctx, "energy", e.Run)
}

func (f *fake) Telemetry() device.Telemetry {
	_ = act(context.Background(), "sense", mood())
	return device.Telemetry{SMClockHz: 1.98e9, Processes: os.Getpid()} // the test asks who answers
}

// parent is a program that tunes, prints its children and is killed.
func parent() {
	signal.Ignore(os.Interrupt)
	d, err := Open(context.Background(), options(""))
	if err != nil {
		fmt.Println(err)
		os.Exit(1)
	}
	b, err := d.Compile(context.Background(), kernel("time=hang", 1))
	if err != nil {
		fmt.Println(err)
		os.Exit(1)
	}
	go func() { _, _ = d.Compile(context.Background(), kernel("compile=hang", 2)) }()
	go func() { _, _ = d.Time(context.Background(), timingOf(b)) }()
	time.Sleep(200 * time.Millisecond)
	fmt.Println(strings.Join(children(os.Getpid()), " "))
	time.Sleep(time.Minute)
}

// children lists the processes that a process started.
func children(pid int) []string {
	var found []string
	stats, _ := filepath.Glob("/proc/[0-9]*/stat")
	for _, path := range stats {
		b, err := os.ReadFile(path)
		if err != nil {
			continue // it ended
		}
		_, rest, _ := strings.Cut(string(b), ") ")
		var state string
		var of int
		if _, err := fmt.Sscan(rest, &state, &of); err == nil && of == pid {
			found = append(found, filepath.Base(filepath.Dir(path)))
		}
	}
	return found
}

// command makes a child of a kind.
func command(kind, mood string) func() *exec.Cmd {
	return func() *exec.Cmd {
		c := exec.Command(os.Args[0], "-test.run=^$")
		// Under the race detector a process sleeps a second before it exits.
		c.Env = append(os.Environ(), asChild+"="+kind, moodIn+"="+mood, "GORACE=atexit_sleep_ms=0")
		return c
	}
}

// options are short-tempered, so that tests are short.
func options(mood string) Options {
	return Options{
		GPUCommand: command("gpu", mood), CompileCommand: command("compile", mood),
		CompileTimeout: 500 * time.Millisecond, LoadTimeout: 500 * time.Millisecond,
		CheckTimeout: 500 * time.Millisecond, TimeTimeout: 500 * time.Millisecond,
	}
}

var testProblem = func() stencil.Problem {
	s, err := stencil.Lookup("jacobi3d")
	if err != nil {
		panic(err)
	}
	return stencil.Problem{Stencil: s, DType: stencil.Float32, Size: stencil.Size{67, 45, 29}, Steps: 10}
}()

func kernel(text string, n int) kernels.Kernel {
	s, err := space.ParseSchedule(fmt.Sprintf("global/gx=%d", n))
	if err != nil {
		panic(err)
	}
	return kernels.Kernel{
		Schedule: s, Source: text + " // <&>", Entry: "entry", DType: stencil.Float32,
		Launch: kernels.Launch{Grid: [3]int{1, 1, 1}, Block: [3]int{32, 2, 1}, Steps: 1},
	}
}

func passOf(b device.Binary) device.Pass {
	return device.Pass{Binary: b, Launch: kernel("", 1).Launch, Count: 2}
}

func checkOf(b device.Binary) device.Check {
	return device.Check{Problem: testProblem, Passes: []device.Pass{passOf(b)}, Seed: 7, Allowed: []stencil.Allowance{{Error: 1e-6}}}
}

func timingOf(bs ...device.Binary) device.Timing {
	t := device.Timing{Problem: testProblem, Policy: timing.Policy{Regime: timing.Warm, MinSamples: 5, MaxSamples: 5}}
	for _, b := range bs {
		t.Runs = append(t.Runs, passOf(b))
	}
	return t
}
