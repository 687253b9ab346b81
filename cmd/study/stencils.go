package main

import (
	"errors"
	"fmt"
	"regexp"
	"strings"

	"github.com/spf13/cobra"

	"stenciltune/cache"
	"stenciltune/cmd/internal/cli"
	"stenciltune/device"
	"stenciltune/runner"
	"stenciltune/stencil"
	"stenciltune/tuner"
)

// benchFlags are the flags of study stencils.
type benchFlags struct {
	cli.ProblemFlags
	cli.TuneFlags
	match string
	sizes []string
}

func (a *app) stencils() *cobra.Command {
	var f benchFlags
	c := &cobra.Command{
		Use:     "stencils",
		Short:   "Tune the textbook stencils of the catalogue at the sizes of the sources, one line each",
		Example: "  study stencils --sizes thesis --device 0\n  study stencils --match 'hotspot|srad' --sizes paper,4096x4096 --device host",
		Args:    cobra.NoArgs,
		RunE:    func(c *cobra.Command, _ []string) error { return a.benchStencils(c, f) },
	}
	f.TuneFlags.Bind(c)
	c.Flags().StringVar(&f.match, "match", "", "only stencils whose whole name matches this regular `expression`")
	c.Flags().StringSliceVar(&f.sizes, "sizes", []string{sizesDefault}, "`sizes` to tune at: default, thesis, paper, or some written out like 4096x4096, each for stencils of as many axes")
	return a.JSONFlag(c)
}

// benchRow is a stencil tuned at a size, as `study stencils --json` prints it.
type benchRow struct {
	Stencil        string        `json:"stencil"`
	DType          stencil.DType `json:"dtype"`
	Sizes          string        `json:"sizes"` // the set that the size is of
	Size           string        `json:"size"`
	Schedule       string        `json:"schedule,omitempty"`
	SecondsPerStep float64       `json:"seconds_per_step,omitempty"`
	CellsPerSecond float64       `json:"cells_per_second,omitempty"`
	NaiveSeconds   float64       `json:"naive_seconds_per_step,omitempty"`
	Speedup        float64       `json:"speedup,omitempty"`        // over naive
	RooflineShare  float64       `json:"roofline_share,omitempty"` // of the copy's bandwidth
	Evaluated      int           `json:"evaluated,omitempty"`
	Ties           int           `json:"ties,omitempty"`
	SearchSeconds  float64       `json:"search_seconds,omitempty"`
	Warnings       []string      `json:"warnings,omitempty"`
	Failed         string        `json:"failed,omitempty"` // why there is no schedule
}

// benchmarks are the problems that the flags name.
func (f *benchFlags) benchmarks() ([]stencil.Problem, []benchRow, error) {
	pattern, err := regexp.Compile("^(?:" + f.match + ")$")
	if err != nil {
		return nil, nil, cli.Usagef("--match: %w", err)
	}
	var problems []stencil.Problem
	var rows []benchRow
	for _, name := range stencil.Textbook() {
		if f.match != "" && !pattern.MatchString(name) {
			continue
		}
		f.Stencil = name
		p, err := f.On(f.Device)
		if err != nil {
			return nil, nil, err
		}
		for _, set := range f.sizes {
			sizes, err := sizesOf(set, p.Stencil, tuner.IsHost(f.Device))
			if err != nil {
				return nil, nil, tuner.Input(err)
			}
			for _, s := range sizes {
				problems = append(problems, p.Resized(s.size))
				rows = append(rows, benchRow{Stencil: name, DType: p.DType, Sizes: s.set, Size: s.size.Text(p.Stencil.Dims)})
			}
		}
	}
	if len(problems) == 0 {
		return nil, nil, cli.Usagef("--match %q with --sizes %s: no stencil is left; see tune stencils", f.match, strings.Join(f.sizes, ","))
	}
	return problems, rows, nil
}

// benchStencils tunes stencils one after the other. One for which no schedule works is
// a row that says so; a device that is missing or lost ends it.
func (a *app) benchStencils(cmd *cobra.Command, f benchFlags) error {
	if err := f.Check(); err != nil {
		return err
	}
	problems, rows, err := f.benchmarks()
	if err != nil {
		return err
	}
	t, err := a.Tuner()
	if err != nil {
		return err
	}
	if !a.JSON {
		fmt.Fprintf(a.Out, benchFormat, "stencil", "dtype", "size", "GCells/s", "ms/step", "naive", "speed-up", "of copy", "schedule")
	}
	var failed []string
	done := 0
	for i, p := range problems {
		row := &rows[i]
		c, terr := a.Config(cmd, t, p, f.TuneFlags)
		found := c.Schedule.Text != ""
		switch {
		case found:
			row.fill(c)
		case terr != nil && cmd.Context().Err() == nil && ofProblem(terr):
			row.Failed = terr.Error()
			failed = append(failed, row.Stencil+" "+row.Size)
			terr = nil
		}
		if found || row.Failed != "" {
			done++
			if err := a.printBench(*row); err != nil {
				return err
			}
		}
		if terr != nil {
			err = terr
			break
		}
	}
	if a.JSON {
		err = errors.Join(err, a.PrintJSON(rows[:done]))
	}
	if err == nil && len(failed) > 0 {
		err = cli.NoAnswerf("no schedule for %s: their lines say why", strings.Join(failed, ", "))
	}
	return err
}

// fill takes over what a config says.
func (r *benchRow) fill(c cache.Config) {
	r.Schedule, r.SecondsPerStep, r.CellsPerSecond = c.Schedule.Text, c.Measured.SecondsPerStep, c.Measured.CellsPerSecond
	r.Speedup, r.RooflineShare, r.Evaluated, r.SearchSeconds = c.Speedup, c.RooflineShare, c.Search.Evaluated, c.Search.Seconds
	r.Warnings, r.Ties = c.Warnings, len(c.Ties)
	if c.Baseline != nil {
		r.NaiveSeconds = c.Baseline.SecondsPerStep
	}
}

// ofProblem tells whether an error is of one problem: it does not fit, or nothing works.
func ofProblem(err error) bool {
	var usage tuner.InputError
	var none *runner.ErrNoSchedule
	return errors.As(err, &usage) || errors.As(err, &none) || device.AsFailure(err) != nil
}

// benchFormat is a line: fixed columns, for every line is printed as soon as it is known.
const benchFormat = "%-12s %-8s %-15s %9s %9s %9s %8s %8s  %s\n"

// printBench prints a row, of a table only.
func (a *app) printBench(r benchRow) error {
	if a.JSON {
		return nil
	}
	number := func(format string, v float64) string {
		if v == 0 {
			return "-"
		}
		return fmt.Sprintf(format, v)
	}
	last := r.Schedule
	if r.Failed != "" {
		last = r.Failed
	}
	_, err := fmt.Fprintf(a.Out, benchFormat, r.Stencil, r.DType, r.Size, number("%.2f", r.CellsPerSecond/1e9), number("%.4f", 1e3*r.SecondsPerStep),
		number("%.4f", 1e3*r.NaiveSeconds), number("%.2f", r.Speedup), number("%.2f", r.RooflineShare), last)
	return err
}
