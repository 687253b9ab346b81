package main

import (
	"fmt"
	"slices"

	"github.com/spf13/cobra"

	"stenciltune/cmd/internal/cli"
	"stenciltune/kernels"
	"stenciltune/kernels/all"
	"stenciltune/machine"
	"stenciltune/runner"
	"stenciltune/stencil"
	"stenciltune/study/matmul"
	"stenciltune/tuner"
)

// problemFlags name a problem: a stencil, or the product of matrices by its name.
type problemFlags struct{ cli.ProblemFlags }

// on is the problem on a device: the host has smaller sizes of its own.
func (f *problemFlags) on(device string) (tuner.Problem, error) {
	if f.Stencil != matmul.Name {
		return f.On(device)
	}
	f.Small = tuner.IsHost(device)
	return product(f.Spec)
}

// product is the product of matrices that a spec names.
func product(s tuner.Spec) (tuner.Problem, error) {
	p, err := s.Of(matmul.Stencil())
	if err != nil {
		return p, err
	}
	if !slices.Contains(matmul.DTypes(), p.DType) {
		return p, cli.Usagef("--dtype %s: %s is computed in %s", p.DType, matmul.Name, stencil.JoinTypes(matmul.DTypes()))
	}
	if s.Size == "" {
		p.Size = matmul.DefaultSize(s.Small)
	}
	return p, nil
}

// familiesOf are the families that compute a problem.
func familiesOf(p stencil.Problem) []kernels.Family {
	if matmul.Is(p) {
		return matmul.Families()
	}
	return all.Families()
}

// tuner opens the tuner of a problem: products have families and a judge of their own.
func (a *app) tuner(p stencil.Problem) (*tuner.Tuner, error) {
	t, err := a.Tuner()
	if err == nil && matmul.Is(p) {
		t.Families, t.Judge = matmul.Families(), &runner.Judge{Kernel: matmul.Judge, Tolerance: matmul.Tolerance}
	}
	return t, err
}

func (a *app) matmul() *cobra.Command {
	var problem problemFlags
	var f cli.TuneFlags
	c := &cobra.Command{
		Use:   "matmul [--size WIDTHxHEIGHT] [--device 0|host]",
		Short: "Tune a product of matrices, which is no stencil but has a grid",
		Long: `matmul finds the schedule that computes the product C = A B fastest, as tune does for
a stencil, and prints its config. --size is C's width and height; the smaller is the
inner extent. study sweep --stencil matmul times chosen schedules.`,
		Example: "  study matmul --device 0\n  study matmul --dtype float64 --size 2048x1024 --device 0 -o matmul.json",
		Args:    cobra.NoArgs,
		RunE: func(c *cobra.Command, _ []string) error {
			if err := f.Check(); err != nil {
				return err
			}
			p, err := problem.on(f.Device)
			if err != nil {
				return err
			}
			t, err := a.tuner(p)
			if err != nil {
				return err
			}
			return a.Tune(c, t, p, f)
		},
	}
	bindProduct(c, &problem)
	f.BindWhole(c)
	c.AddCommand(a.matmulSource())
	return c
}

// bindProduct binds the flags of a product.
func bindProduct(c *cobra.Command, f *problemFlags) {
	f.Stencil = matmul.Name
	c.Flags().StringVar(&f.DType, "dtype", "", "element `type`: float32 or float64 (default: float32)")
	c.Flags().StringVar(&f.Size, "size", "", "`size` of the product, width x height (default: 1024x1024, on the host 256x256)")
}

func (a *app) matmulSource() *cobra.Command {
	var f problemFlags
	var text string
	c := &cobra.Command{
		Use:     "source --schedule SCHEDULE",
		Short:   "Print the CUDA source of a schedule of the product",
		Example: "  study matmul source --schedule tile/gx=32/gy=8/gz=1/wx=2/wy=4/wz=1/cw=256/zz=1/kd=16",
		Args:    cobra.NoArgs,
		RunE: func(*cobra.Command, []string) error {
			p, err := f.on("")
			if err != nil {
				return err
			}
			t, err := a.tuner(p)
			if err != nil {
				return err
			}
			k, err := t.Source(p, text, machine.Machine{})
			if err != nil {
				return err
			}
			_, err = fmt.Fprint(a.Out, k.Source)
			return err
		},
	}
	bindProduct(c, &f)
	c.Flags().StringVar(&text, "schedule", "", "canonical `text` of a schedule")
	return c
}
