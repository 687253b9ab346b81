package main

import (
	"fmt"

	"github.com/spf13/cobra"

	"stenciltune/cmd/internal/cli"
	"stenciltune/emit"
	"stenciltune/machine"
	"stenciltune/tuner"
)

func (a *app) source() *cobra.Command {
	var f cli.ProblemFlags
	var text string
	var program bool
	c := &cobra.Command{
		Use:     "source --stencil NAME --schedule SCHEDULE",
		Short:   "Print the CUDA source of a schedule",
		Example: "  tune source --stencil jacobi2d --schedule tile/gx=32/gy=8/gz=1/wx=1/wy=2/wz=1/cw=0/zz=0/ph=2",
		Args:    cobra.NoArgs,
		RunE: func(*cobra.Command, []string) error {
			p, err := f.Problem()
			if err != nil {
				return err
			}
			k, err := new(tuner.Tuner).Source(p, text, machine.Machine{})
			if err != nil {
				return err
			}
			if program {
				_, err = a.Out.Write(emit.Program(p, k))
				return err
			}
			_, err = fmt.Fprint(a.Out, k.Head(), k.Line(), k.Source)
			return err
		},
	}
	f.Bind(c)
	c.Flags().StringVar(&text, "schedule", "", "canonical `text` of the schedule")
	c.Flags().BoolVar(&program, "program", false, "with a main that launches it on random values: for nvcc and profilers")
	return c
}
