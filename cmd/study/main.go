// Command study shows what the sources that this program follows measured - two theses
// and the SL paper - with the kernels of today, on the device at hand. No tune needs it.
//
//	study sweep --stencil jacobi3d --families      # every kernel design, side by side
//	study trace --stencil box9 --walk columns=32   # what loads find in caches
//	study stencils --sizes thesis --device 0       # the catalogue, tuned
//	study matmul --device 0                        # a product of matrices, tuned
//	study sl --stencil hotspot2d --device 0        # by the SL paper's model
//	study replay-bench --seeds 20                  # strategies on recorded landscapes
//	study scale                                    # tunes on 1 to 256 GPUs, predicted
//	study landscape export --format t4 jacobi3d_f32
//
// Data goes to stdout, progress and messages to stderr. See docs/study.md.
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
	return cli.Run("study", args, stdout, stderr, func(a *cli.App) *cobra.Command { return (&app{a}).root() })
}

// app has a method for each command.
type app struct{ *cli.App }

func (a *app) root() *cobra.Command {
	root := &cobra.Command{
		Use:   "study",
		Short: "Show what the source documents measured, with the kernels of today",
		Long: `study shows what the documents behind tune measured: sweeps of parameters, cache
traces, the stencils and sizes of their tables, products of matrices, the SL paper's
model, and search strategies on recorded landscapes. docs/study.md says which is from
where. Devices, store and exit codes are those of tune.`,
		Args: func(_ *cobra.Command, args []string) error {
			if len(args) > 0 {
				return cli.Usagef("unknown command %q; see study --help", args[0])
			}
			return nil
		},
		RunE: func(c *cobra.Command, _ []string) error { return c.Help() },
	}
	root.AddCommand(a.sweep(), a.trace(), a.replayBench(), a.landscape(), a.stencils(), a.matmul(), a.sl(), a.scale())
	return root
}
