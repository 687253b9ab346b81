package main

import (
	"errors"
	"fmt"
	"reflect"
	"strings"
	"text/tabwriter"

	"github.com/spf13/cobra"

	"stenciltune/cmd/internal/cli"
	"stenciltune/stencil"
	"stenciltune/tuner"
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
	var f, unset cli.TuneFlags
	var bench bool
	c := &cobra.Command{
		Use:   "stencils [--bench [--device D] [NAME ...]]",
		Short: "List the stencils that ship with the program, or tune them",
		Long: `stencils lists the stencils that ship with the program.

stencils --bench tunes them, or those that are named, each at its own size and element
type, and prints Go benchmark lines. What the store has an answer for is not tuned again;
--retune does so. With several GPUs each tunes another stencil, and they share compilers.`,
		Example: "  tune stencils\n  tune stencils --json\n  tune stencils --bench --device all",
		RunE: func(c *cobra.Command, names []string) error {
			if bench {
				return a.benchStencils(c, f, names)
			}
			if len(names) > 0 || !reflect.DeepEqual(f, unset) {
				return cli.Usagef("names, --device and the flags of a search go with --bench")
			}
			list, err := catalogue()
			if err != nil {
				return err
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
	f.Bind(c)
	unset = f
	c.Flags().BoolVar(&bench, "bench", false, "tune them and print what each reaches")
	return a.JSONFlag(c)
}

// catalogue is the stencils that ship with the program.
func catalogue() (list []stencilInfo, err error) {
	for _, g := range []struct {
		name     string
		stencils []string
	}{{"textbook", stencil.Textbook()}, {"application", stencil.Applications()}} {
		for _, name := range g.stencils {
			s, err := stencil.Lookup(name)
			if err != nil {
				return nil, err
			}
			r := s.Radius()
			list = append(list, stencilInfo{s.Name, g.name, s.Dims, len(s.Points), r[:s.Dims], s.DType, s.Outside(), s.Flops(), s.DefaultSize(false).Text(s.Dims), s.Hash,
				len(s.Fields), len(s.ReadOnly), len(s.Stages), stencil.Problem{Stencil: s, DType: s.DType}.Compulsory()})
		}
	}
	return list, nil
}

// benchStencils tunes stencils of the catalogue, all or those that are named, as many at once as
// there are devices, and prints a benchmark line of each.
func (a *app) benchStencils(c *cobra.Command, f cli.TuneFlags, names []string) error {
	if err := f.Check(); err != nil {
		return err
	}
	if len(names) == 0 {
		names = append(stencil.Textbook(), stencil.Applications()...)
	}
	t, err := a.Tuner()
	if err != nil {
		return err
	}
	var tasks []cli.Task
	for _, n := range names {
		p := cli.ProblemFlags{Spec: tuner.Spec{Stencil: n}}
		on, err := p.On(f.Device)
		if err != nil {
			return err
		}
		tasks = append(tasks, cli.Task{Problem: on, Flags: f})
	}
	models, err := f.Models(t)
	if err != nil {
		return err
	}
	var groups []cli.Group
	for _, m := range models {
		groups = append(groups, cli.Group{Model: m, Tasks: tasks})
	}
	var failed error
	head := ""
	err = a.Spread(c.Context(), t, groups, func(p tuner.Problem, config tuner.Config, err error) error {
		if err != nil && c.Context().Err() == nil {
			err = fmt.Errorf("%s: %w", p.Text(), err)
		}
		failed = errors.Join(failed, err)
		if config.Schedule.Text == "" {
			return nil
		}
		if h := benchHeader(config.Machine()); h != head {
			head = h
			fmt.Fprint(a.Out, h)
		}
		_, err = fmt.Fprintf(a.Out, "BenchmarkTuned/%s \t%d\t%.6g ns/op\t%.4g GCells/s\t%.4g x-naive\t%.3g tune-s\n", p.Text(), config.Measured.Samples,
			1e9*config.Measured.SecondsPerStep, config.Measured.CellsPerSecond/1e9, config.Speedup, config.Search.Seconds)
		return err
	})
	return errors.Join(failed, err)
}
