// Command tune finds the schedule that runs a stencil fastest on a device,
// proves its answer, remembers it and prints a config that other builds read.
//
//	tune --stencil jacobi3d --device 0            # on GPU 0
//	tune --stencil jacobi3d --device host         # on this machine's processor
//	tune --stencil jacobi3d --device replay:h200  # on a recording of an H200
//
// Data goes to stdout, progress and messages to stderr. See tune --help.
package main

import (
	"io"
	"os"

	"github.com/spf13/cobra"

	"stenciltune/cmd/internal/cli"
	"stenciltune/tuner"
)

func main() {
	tuner.Worker()
	os.Exit(run(os.Args[1:], os.Stdout, os.Stderr))
}

// run is the whole program: arguments in, exit code out.
func run(args []string, stdout, stderr io.Writer) int {
	return cli.Run("tune", args, stdout, stderr, func(a *cli.App) *cobra.Command { return (&app{a}).root() })
}

// app has a method for each command.
type app struct{ *cli.App }

func (a *app) root() *cobra.Command {
	var p cli.ProblemFlags
	var f cli.TuneFlags
	root := &cobra.Command{
		Use:   "tune --stencil NAME [--device 0|host|replay:h200]",
		Short: "Find the schedule that runs a stencil fastest on a device",
		Long: `tune finds the schedule (kernel family, group shape, work multipliers, column
width, time tile) that runs a stencil fastest on a device, proves that its
answer is right, remembers it and prints a config (JSON) on stdout.

Devices: 0, 1 ... or a GPU's UUID or PCI address; host (this machine's processor,
needs a C++ compiler); replay:h200 (recordings that ship with the program).
Without --device the first GPU is taken. tune model and tune explain also know the
facts of GPUs that are not here: model:a100 (see tune devices).

Exit codes: 0 ok, 1 internal error, 2 usage or bad input, 3 no schedule works, one
gives a wrong answer or none of the required grade is stored, 4 device missing or lost, 5 store locked or not
accessible, 6 store corrupt, 129 hung up, 130 interrupted, 143 terminated.`,
		Example: `  tune --stencil jacobi3d --device 0 > jacobi3d.json
  tune --stencil jacobi2d --dtype float64 --size 4096x4096 --device 0
  tune --stencil jacobi3d --device replay:h200
  tune --stencil jacobi3d --device 0 --exhaustive --record jacobi3d.jsonl.gz
  tune source --stencil jacobi3d --schedule global/gx=64/gy=4/gz=1/wx=1/wy=1/wz=1/cw=0/zz=0/sp=0`,
		Args: func(_ *cobra.Command, args []string) error {
			if len(args) > 0 {
				return cli.Usagef("unknown command %q; see tune --help", args[0])
			}
			return nil
		},
		RunE: func(c *cobra.Command, _ []string) error { return a.tune(c, p, f) },
	}
	p.Bind(root)
	f.BindWhole(root)
	root.AddCommand(a.devices(), a.stencils(), a.source(), a.measure(), a.model(), a.explainCommand(), a.check(), a.format(), a.verify(), a.schema(),
		a.best(), a.emit(), a.retune(), a.report(), a.plot(), a.serve(), a.status(), a.storeTools(), a.doctor())
	return root
}

// tune is the main job: config on stdout.
func (a *app) tune(c *cobra.Command, problem cli.ProblemFlags, f cli.TuneFlags) error {
	if err := f.Check(); err != nil {
		return err
	}
	p, err := problem.On(f.Device)
	if err != nil {
		return err
	}
	t, err := a.Tuner()
	if err != nil {
		return err
	}
	return a.Tune(c, t, p, f)
}
