package main

import (
	"fmt"
	"strings"
	"text/tabwriter"

	"github.com/spf13/cobra"

	"stenciltune/stencil"
)

// stencilInfo is a stencil as `tune stencils --json` prints it.
type stencilInfo struct {
	Name        string        `json:"name"`
	Group       string        `json:"group"` // textbook or application
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
	Bytes       int           `json:"bytes"`     // that a time step must move for each cell
}

func (a *app) stencils() *cobra.Command {
	c := &cobra.Command{
		Use:     "stencils",
		Short:   "List the stencils that ship with the program",
		Example: "  tune stencils\n  tune stencils --json",
		Args:    cobra.NoArgs,
		RunE: func(*cobra.Command, []string) error {
			var list []stencilInfo
			for _, g := range []struct {
				name     string
				stencils []string
			}{{"textbook", stencil.Textbook()}, {"application", stencil.Applications()}} {
				for _, name := range g.stencils {
					s, err := stencil.Lookup(name)
					if err != nil {
						return err
					}
					r := s.Radius()
					list = append(list, stencilInfo{s.Name, g.name, s.Dims, len(s.Points), r[:s.Dims], s.DType, s.Outside(), s.Ops.Total(), s.DefaultSize(false).Text(s.Dims), s.Hash,
						len(s.Fields), len(s.ReadOnly), len(s.Stages), stencil.Problem{Stencil: s, DType: s.DType}.Compulsory()})
				}
			}
			if a.JSON {
				return a.PrintJSON(list)
			}
			w := tabwriter.NewWriter(a.Out, 0, 8, 2, ' ', 0)
			fmt.Fprintln(w, "name\tgroup\tdims\tpoints\tradius\tdtype\tboundary\tfields\tread-only\tstages\tflops\tbytes\tdefault size")
			for _, s := range list {
				fmt.Fprintf(w, "%s\t%s\t%d\t%d\t%s\t%s\t%s\t%d\t%d\t%d\t%d\t%d\t%s\n", s.Name, s.Group, s.Dims, s.Points, strings.Trim(fmt.Sprint(s.Radius), "[]"), s.DType, s.Boundary,
					s.Fields, s.ReadOnly, s.Stages, s.Flops, s.Bytes, s.DefaultSize)
			}
			return w.Flush()
		},
	}
	return a.JSONFlag(c)
}
