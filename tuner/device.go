package tuner

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"runtime"
	"strconv"
	"strings"

	"stenciltune/device"
	"stenciltune/device/cuda"
	"stenciltune/device/host"
	"stenciltune/device/replay"
	"stenciltune/device/worker"
	"stenciltune/machine"
)

// Prefixes of devices' names.
const (
	ReplayPrefix = "replay:" // a recording
	ModelPrefix  = "model:"  // facts of a GPU that is not here
)

// IsHost tells whether a device's name means the host emulation.
func IsHost(name string) bool { return name == "host" }

// CheckDevice tells why a name is none of one device that a tune can run on, without looking for it.
func CheckDevice(name string) error {
	switch {
	case strings.HasPrefix(name, ModelPrefix):
		return Inputf("--device %s: only facts of that device are here, nothing can run; tune model and tune explain predict for it", name)
	case name == "replay":
		return Inputf("which recording? name its device, like replay:h200, or its file, like replay:./landscape.jsonl.gz")
	case !strings.HasPrefix(name, ReplayPrefix) && listed(name):
		return Inputf("--device %s: several devices are for tune, tune retune --all and tune stencils --bench; name one", name)
	}
	return nil
}

// OpenDevice opens a device for a problem: a GPU by ordinal, UUID or PCI address, "host",
// or "replay:NAME", a recording of that problem. "" is the first GPU. One that is not here
// is a device.ErrMissing. A GPU is owned by a child process: see Worker.
func OpenDevice(ctx context.Context, name string, p Problem) (Device, error) {
	if err := CheckDevice(name); err != nil {
		return nil, err
	}
	recording, isReplay := strings.CutPrefix(name, ReplayPrefix)
	switch {
	case IsHost(name):
		return host.Open(host.Options{})
	case isReplay:
		return replay.Open(recording, p)
	case name != "":
		return openGPUs(ctx, name)
	}
	d, err := openGPUs(ctx, "0")
	return d, without(err)
}

// without says, of an error that means that there is no GPU, what to do without one.
func without(err error) error {
	if errors.Is(err, device.ErrMissing) {
		return fmt.Errorf("%w; without a GPU use --device host (this machine's processor, needs a C++ compiler) or --device replay:h200 (recordings that ship with the program)", err)
	}
	return err
}

// workerVariable is the environment's variable that makes a program a child of its own.
const workerVariable = "STENCILTUNE_WORKER"

// served is set once Worker was called: only then can the program be its own child.
var served bool

// Worker is what a program that opens GPUs calls first in main. A GPU is owned, and
// kernels are compiled, by children that the program starts of itself, so that a bad
// kernel harms neither; in such a child Worker serves its parent and does not return.
func Worker() {
	served = true
	role, ok := os.LookupEnv(workerVariable)
	if !ok {
		return
	}
	kind, arg, _ := strings.Cut(role, " ")
	if kind == "probe" {
		os.Exit(answerProbe(arg))
	}
	b := worker.Backend{Executor: func() (device.Executor, error) { return cuda.Open(arg) }}
	if kind == "compile" {
		b = worker.Backend{Compiler: func() (device.Compiler, error) {
			c, err := cuda.OpenCompiler()
			if err != nil {
				return nil, err
			}
			c.NoCache = arg == "anew"
			return c, nil
		}}
	}
	if err := worker.Serve(os.Stdin, os.Stdout, b); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
	os.Exit(0)
}

// child makes commands that run this program in a role: "gpu SELECTOR", "compile",
// "compile anew", which takes nothing from the compiler's cache, or "probe LIBRARY".
func child(role string) (func() *exec.Cmd, error) {
	if !served {
		return nil, errors.New("tuner: a program that opens a GPU must call tuner.Worker first in main")
	}
	self, err := os.Executable()
	if err != nil {
		return nil, fmt.Errorf("own executable: %w", err)
	}
	return func() *exec.Cmd {
		c := exec.Command(self)
		c.Env = append(os.Environ(), workerVariable+"="+role)
		return c
	}, nil
}

// openGPUs starts the processes that own GPUs of one model and compile for them.
func openGPUs(ctx context.Context, selectors ...string) (*worker.Device, error) {
	compile, err := child("compile")
	if err != nil {
		return nil, err
	}
	o := worker.Options{CompileCommand: compile, Compilers: compilers(len(selectors)), Threads: compileThreads}
	for i, s := range selectors {
		gpu, err := child("gpu " + s)
		if err != nil {
			return nil, err
		}
		if i == 0 {
			o.GPUCommand = gpu
		} else {
			o.Others = append(o.Others, gpu)
		}
	}
	return worker.Open(ctx, o)
}

// Threads of one process share NVRTC's lock, so beyond about four of them another
// process is what helps; each process costs some 100 MB. Four by four compiles as
// fast as fifteen by one on 16 cores (bench/h200/nvrtc.txt).
const compileThreads = 4

// compilers is how many compile processes to use for so many GPUs.
func compilers(gpus int) int { return max(1, min(runtime.NumCPU()/compileThreads, 8*gpus)) }

// compilations is how many kernels a device compiles at once.
func compilations(d Device) int {
	switch r := d.(type) {
	case replay.Device:
		return r.Compilers()
	case *host.Device:
		return runtime.NumCPU()
	}
	return compilers(len(device.Members(d))) * compileThreads
}

// compiledAhead is how many schedules are compiled ahead of the device: twice what is
// compiled at once, so that no compile process waits for the device.
func compiledAhead(d Device) int { return max(2, 2*compilations(d)) }

// Machine is the machine that a device's name means for an answer from the store: one
// that is here, a recording's, or one of which the store has configs ("h200"). Without a
// name it is the first GPU here, else the only device in the store.
func (t *Tuner) Machine(name string) (machine.Machine, error) {
	recording, isReplay := strings.CutPrefix(name, ReplayPrefix)
	switch {
	case IsHost(name):
		h, err := host.Open(host.Options{})
		if err != nil {
			return machine.Machine{}, err
		}
		defer h.Close()
		return h.Machine(), nil
	case isReplay:
		return replay.MachineOf(recording)
	case strings.HasPrefix(name, ModelPrefix):
		return machine.Machine{}, Inputf("--device %s: only facts of that device are here, and no config; tune model and tune explain predict for it", name)
	case name == "":
		m, err := cuda.Describe("0")
		if err == nil || !errors.Is(err, device.ErrMissing) {
			return m, err
		}
		all, err := t.store.Bests()
		if err != nil {
			return m, err
		}
		names := map[string]bool{}
		for _, s := range all {
			names[s.Config.Device.Name] = true
			name = s.Config.Device.Name
		}
		if len(names) > 1 {
			return m, Inputf("no GPU here, and the store knows several devices: choose one with --device NAME (tune store list shows them)")
		}
		return t.Stored(name)
	}
	if m, err := cuda.Describe(name); err == nil || selectsGPU(name) {
		return m, err
	}
	return t.Stored(name)
}

// selectsGPU tells whether a device's name is an ordinal, a UUID or a PCI address and
// so cannot be one that the store knows.
func selectsGPU(name string) bool {
	_, err := strconv.Atoi(name)
	return err == nil || strings.HasPrefix(name, "GPU-") || strings.Contains(name, ":")
}
