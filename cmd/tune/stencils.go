package main

import (
	"stenciltune/tuner"
	"stenciltune/internal/cli"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"text/tabwriter"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"stenciltune/kernels/matmul"
	"stenciltune/stencil"
)

// loadStencil finds a stencil by catalogue name, or reads a .sl file. The product of
// matrices is known by its name too.
func tuner.LoadStencil(name string) (*stencil.Stencil, error) {
	if name == matmul.Name {
		return matmul.Stencil(), nil
	}
	if !strings.HasSuffix(name, ".sl") {
		s, err := stencil.Lookup(name)
		if err != nil && !strings.Contains(err.Error(), "unknown stencil") {
			return nil, err
		}
		if err != nil {
			return nil, tuner.Input(err)
		}
		return s, nil
	}
	info, err := os.Stat(name)
	if err != nil {
		return nil, cli.Usagef("stencil file: %w", err)
	}
	if !info.Mode().IsRegular() {
		return nil, cli.Usagef("stencil file %s is not a regular file", name)
	}
	f, err := os.Open(name)
	if err != nil {
		return nil, cli.Usagef("stencil file: %w", err)
	}
	defer f.Close()
	text, err := io.ReadAll(io.LimitReader(f, 1<<20))
	if err != nil {
		return nil, cli.Usagef("stencil file: %w", err)
	}
	base := strings.TrimSuffix(filepath.Base(name), ".sl")
	return stencil.Parse(base, name, string(text))
}

// stencilInfo is a stencil as `tune stencils --json` prints it.
type stencilInfo struct {
	Name        string        `json:"name"`
	Dims        int           `json:"dims"`
	Points      int           `json:"points"`
	Radius      []int         `json:"radius"`
	DType       stencil.DType `json:"dtype"`
	Boundary    string        `json:"boundary"`
	Flops       int           `json:"flops"`
	DefaultSize string        `json:"default_size"`
	Hash        string        `json:"hash"`
	Fields      int           `json:"fields"`
	ReadOnly    int           `json:"read_only"` // arrays
	Stages      int           `json:"stages"`    // of a time step
}

func (a *app) stencils() *cobra.Command {
	var bench bool
	var f benchFlags
	c := &cobra.Command{
		Use:   "stencils",
		Short: "List the stencils that ship with the program, or tune them all",
		Example: "  tune stencils\n  tune stencils --json\n  tune stencils --bench --sizes thesis --device 0\n" +
			"  tune stencils --bench --match 'hotspot|srad' --sizes paper,4096x4096 --device host",
		Args: cobra.NoArgs,
		RunE: func(c *cobra.Command, _ []string) error {
			if bench {
				return a.benchStencils(c.Context(), f)
			}
			if given := benchOnly(c); given != "" {
				return cli.Usagef("--%s goes with --bench", given)
			}
			var list []stencilInfo
			for _, name := range stencil.Names() {
				s, err := stencil.Lookup(name)
				if err != nil {
					return err
				}
				r := s.Radius()
				list = append(list, stencilInfo{s.Name, s.Dims, len(s.Points), r[:s.Dims], s.DType, string(s.Boundary), s.Ops.Total(), s.DefaultSize(false).Text(s.Dims), s.Hash,
					len(s.Fields), len(s.ReadOnly), len(s.Stages)})
			}
			if a.JSON {
				return a.PrintJSON(list)
			}
			w := tabwriter.NewWriter(a.Out, 0, 8, 2, ' ', 0)
			fmt.Fprintln(w, "name\tdims\tpoints\tradius\tdtype\tboundary\tfields\tread-only\tstages\tflops\tdefault size")
			for _, s := range list {
				fmt.Fprintf(w, "%s\t%d\t%d\t%s\t%s\t%s\t%d\t%d\t%d\t%d\t%s\n", s.Name, s.Dims, s.Points, strings.Trim(fmt.Sprint(s.Radius), "[]"), s.DType, s.Boundary,
					s.Fields, s.ReadOnly, s.Stages, s.Flops, s.DefaultSize)
			}
			if err := w.Flush(); err != nil {
				return err
			}
			_, err := fmt.Fprintln(a.Out, "\nmatmul, a product of square matrices, is no stencil but is tuned like one")
			return err
		},
	}
	c.Flags().BoolVar(&bench, "bench", false, "tune them, one line each")
	f.Bind(c)
	return a.JSONFlag(c)
}

// benchOnly names a flag that was given and is of a tune, "" without.
func benchOnly(c *cobra.Command) (name string) {
	c.LocalNonPersistentFlags().VisitAll(func(f *pflag.Flag) {
		if f.Changed && f.Name != "json" {
			name = f.Name
		}
	})
	return name
}

func (a *app) printJSON(v any) error {
	b, err := json.MarshalIndent(v, "", "  ")
	if err != nil {
		return err
	}
	_, err = fmt.Fprintf(a.Out, "%s\n", b)
	return err
}
