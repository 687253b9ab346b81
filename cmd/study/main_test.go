package main

import (
	"flag"
	"os"
	"strings"
	"syscall"
	"testing"
	"time"

	"stenciltune/cmd/internal/cli"
	"stenciltune/cmd/internal/clitest"
	"stenciltune/stencil"
	"stenciltune/tuner"
)

func TestMain(m *testing.M) {
	clitest.Main(m, func() int { return run(os.Args[1:], os.Stdout, os.Stderr) })
}

var flagDevice = flag.String("device", "host", "device of the end-to-end tests: host, or a GPU")

// needDevice skips where a device is missing.
func needDevice(t *testing.T, name string) {
	t.Helper()
	d, err := tuner.OpenDevice(t.Context(), name, stencil.Problem{})
	if err != nil {
		t.Skip(err)
	}
	d.Close()
}

// small is a size of a grid in two dimensions that suits the device under test.
func small() string {
	if *flagDevice == "host" {
		return "257x129"
	}
	return "8192x8192"
}

func TestBadInputGetsOneClearLine(t *testing.T) {
	store := clitest.StoreIn(t)
	for _, c := range []struct {
		args  string
		code  int
		words string
	}{
		{"nonsense", cli.Usage, "unknown command"},
		{"sweep --stencil nonsense --families", cli.Usage, `unknown stencil "nonsense"`},
		{"sweep --stencil jacobi2d", cli.Usage, "give --schedule and --vary, or --families"},
		{"sweep --stencil jacobi2d --families --vary gx=1", cli.Usage, "leave out"},
		{"sweep --stencil jacobi2d --schedule " + sweepBase, cli.Usage, "give --schedule and --vary"},
		{"sweep --stencil jacobi2d --schedule nonsense/gx=1 --vary gx=1", cli.Usage, "no such family"},
		{"sweep --stencil jacobi2d --schedule tile/gx=32 --vary gx=1", cli.Usage, "has the parameters"},
		{"sweep --stencil jacobi2d --schedule " + sweepBase + " --vary sp=1", cli.Usage, "has no parameter sp"},
		{"sweep --stencil jacobi2d --schedule " + sweepBase + " --vary gx=32 --vary gx=64", cli.Usage, "varied twice"},
		{"sweep --stencil jacobi2d --schedule " + sweepBase + " --vary gx=32,-1", cli.Usage, "write it as parameter=values"},
		{"sweep --stencil jacobi2d --schedule " + sweepBase + " --vary gx", cli.Usage, "write it as parameter=values"},
		{"sweep --stencil jacobi2d --schedule " + sweepBase + " --vary gx=32,64 --heatmap x.svg", cli.Usage, "two varied parameters"},
		{"sweep --stencil jacobi2d --device replay:h200 --schedule " + sweepBase + " --vary gx=33,35", cli.Usage, "gx must be one of"},
		{"sweep --stencil jacobi2d --timing hot --families", cli.Usage, "warm or cold"},
		{"sweep --stencil jacobi2d --device 99 --families", cli.NoDevice, ""},
		{"matmul --dtype float16 --device host", cli.Usage, "float32, float64"},
		{"matmul --size 8 --device host", cli.Usage, "want 2 extents"},
		{"matmul --device replay:h200", cli.NoDevice, "no recording of matmul"},
		{"matmul --strategy luck", cli.Usage, "use one of"},
		{"sl --stencil jacobi2d --device model:a100", cli.Usage, "nothing can run"},
		{"sl --stencil jacobi2d --device host --model none", cli.Usage, "a model of its own"},
		{"sl model --stencil jacobi2d", cli.Usage, "which device?"},
		{"sl model --stencil jacobi2d --device model:gtx480", cli.Usage, "there are: v100"},
		{"sl model --stencil jacobi2d --device model:a100 --top 0", cli.Usage, "at least one"},
		{"sl model --stencil jacobi2d --device model:a100 --size 1x1", cli.Usage, "no small tile"},
	} {
		p := clitest.Command(t, store, strings.Fields(c.args)...)
		p.Cmd.Env = append(p.Cmd.Env, "TUNE_LIBCUDA=")
		code, text := p.Run(t), p.Stderr.String()
		if code != c.code || !strings.Contains(text, c.words) || strings.Count(text, "\n") != 1 || strings.Contains(text, "goroutine") || p.Stdout.Len() > 0 {
			t.Errorf("study %s: exit %d, want %d with %q:\n%s%s", c.args, code, c.code, c.words, text, &p.Stdout)
		}
	}
}

// A study that is stopped ends at once, by the signal's code and a line of its own.
func TestExitCodesOfSignals(t *testing.T) {
	if *flagDevice != "host" {
		t.Skip("shown on the host")
	}
	needDevice(t, "host")
	for _, c := range []struct {
		args   string
		signal syscall.Signal
		code   int
	}{
		{"sweep --stencil jacobi2d --size 1030x1029 --families", syscall.SIGTERM, cli.Terminated},
		{"matmul --size 257x259", syscall.SIGINT, cli.Interrupted},
		{"sl --stencil jacobi2d --size 1030x1029", syscall.SIGHUP, cli.HungUp},
	} {
		const ended = -1 // by the signal: the program had not begun
		code, text, begin := ended, "", time.Time{}
		for wait := 500 * time.Millisecond; code == ended && wait < 10*time.Second; wait *= 2 {
			p := clitest.Command(t, clitest.StoreIn(t), append(strings.Fields(c.args), "--device", "host")...)
			if err := p.Cmd.Start(); err != nil {
				t.Fatal(err)
			}
			time.Sleep(wait)
			p.Cmd.Process.Signal(c.signal)
			begin = time.Now()
			p.Cmd.Wait()
			code, text = p.Cmd.ProcessState.ExitCode(), p.Stderr.String()
		}
		if code != c.code || time.Since(begin) > 5*time.Second || text == "" || strings.Contains(text, "context") {
			t.Errorf("study %s, %v: exit %d after %v, want %d\n%s", c.args, c.signal, code, time.Since(begin), c.code, text)
		}
	}
}

func TestHelpIsThere(t *testing.T) {
	for _, args := range []string{"", "--help", "--version", "sweep --help", "trace --help", "stencils --help", "matmul --help", "sl --help", "replay-bench --help", "landscape"} {
		p := clitest.Command(t, clitest.StoreIn(t), strings.Fields(args)...)
		if code := p.Run(t); code != 0 || p.Stdout.Len() == 0 || p.Stderr.Len() > 0 {
			t.Errorf("study %s: exit %d\n%s", args, code, &p.Stderr)
		}
	}
}
