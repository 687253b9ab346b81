package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"runtime"
	"strings"

	"github.com/spf13/cobra"

	"stenciltune/device"
	"stenciltune/device/cuda"
	"stenciltune/device/host"
	"stenciltune/device/replay"
	"stenciltune/device/worker"
	"stenciltune/stencil"
)

// isHost tells whether a --device value means the host emulation.
func isHost(name string) bool { return name == "host" }

const replayPrefix = "replay:"

// openDevice opens what --device names for a problem. Without a name it takes
// the first GPU.
func (a *app) openDevice(ctx context.Context, name string, p stencil.Problem) (device.Device, error) {
	switch {
	case isHost(name):
		return host.Open(host.Options{})
	case strings.HasPrefix(name, modelPrefix):
		return nil, usagef("--device %s: only facts of that device are here, nothing can run; tune model and tune explain predict for it", name)
	case strings.HasPrefix(name, replayPrefix):
		return replay.Open(strings.TrimPrefix(name, replayPrefix), p)
	case name == "replay":
		return nil, usagef("which recording? name its device, like replay:h200, or its file, like replay:./landscape.jsonl.gz")
	case name == "":
		d, err := a.openGPU(ctx, "0")
		if errors.Is(err, device.ErrMissing) {
			return nil, fmt.Errorf("%w; without a GPU use --device host (this machine's processor, needs a C++ compiler) or --device replay:h200 (recordings that ship with the program)", err)
		}
		return d, err
	}
	return a.openGPU(ctx, name)
}

// openGPU starts the processes that own a GPU and compile for it.
func (a *app) openGPU(ctx context.Context, selector string) (device.Device, error) {
	self, err := os.Executable()
	if err != nil {
		return nil, fmt.Errorf("own executable: %w", err)
	}
	child := func(args ...string) func() *exec.Cmd {
		return func() *exec.Cmd { return exec.Command(self, append([]string{"worker"}, args...)...) }
	}
	return worker.Open(ctx, worker.Options{
		GPUCommand:     child("gpu", "--device", selector),
		CompileCommand: child("compile"),
		Compilers:      compilers(),
		Threads:        compileThreads,
	})
}

// Threads of one process share NVRTC's lock, so beyond about four of them another
// process is what helps; each process costs some 100 MB. Four by four compiles as
// fast as fifteen by one on 16 cores (bench/h200/nvrtc.txt).
const compileThreads = 4

// compilers is how many compile processes to use.
func compilers() int { return max(1, min(runtime.NumCPU()/compileThreads, 8)) }

// compilations is how many kernels a device compiles at once.
func compilations(d device.Device) int {
	switch r := d.(type) {
	case replay.Device:
		return r.Compilers()
	case *host.Device:
		return runtime.NumCPU()
	}
	return compilers() * compileThreads
}

// ahead is how many schedules are compiled ahead of the device: twice what is
// compiled at once, so that no compile process waits for the device.
func ahead(d device.Device) int { return max(2, 2*compilations(d)) }

// worker is the hidden command by which the program runs itself as the owner of
// a GPU or as a compiler.
func (a *app) worker() *cobra.Command {
	var selector string
	var noCache bool
	gpu := &cobra.Command{
		Use: "gpu", Args: cobra.NoArgs, Hidden: true,
		RunE: func(*cobra.Command, []string) error {
			return worker.Serve(os.Stdin, os.Stdout, worker.Backend{
				Executor: func() (device.Executor, error) { return cuda.Open(selector) },
			})
		},
	}
	gpu.Flags().StringVar(&selector, "device", "0", "")
	compile := &cobra.Command{
		Use: "compile", Args: cobra.NoArgs, Hidden: true,
		RunE: func(*cobra.Command, []string) error {
			return worker.Serve(os.Stdin, os.Stdout, worker.Backend{
				Compiler: func() (device.Compiler, error) {
					c, err := cuda.OpenCompiler()
					if err != nil {
						return nil, err
					}
					c.NoCache = noCache
					return c, nil
				},
			})
		},
	}
	compile.Flags().BoolVar(&noCache, "no-cache", false, "compile anew what was compiled before: for measuring")
	c := &cobra.Command{Use: "worker", Hidden: true, Short: "Own a GPU for another process (internal)"}
	c.AddCommand(gpu, compile)
	return c
}
