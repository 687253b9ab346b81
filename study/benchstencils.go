package main

import (
	"context"
	"errors"
	"fmt"
	"regexp"
	"strings"

	"github.com/spf13/cobra"

	"stenciltune/cache"
	"stenciltune/device"
	"stenciltune/internal/runner"
	"stenciltune/stencil"
)

// benchFlags are the flags of tune stencils --bench.
type benchFlags struct {
	tuneFlags
	match string
	sizes []string
}

func (f *benchFlags) bind(c *cobra.Command) {
	f.bindSearch(c)
	c.Flags().StringVar(&f.match, "match", "", "only stencils whose whole name matches this regular `expression`")
	c.Flags().StringSliceVar(&f.sizes, "sizes", []string{sizesDefault}, "`sizes` to tune at: default, thesis, paper, or some written out like 4096x4096, each for stencils of as many axes")
}

// benchRow is a stencil tuned at a size, as `tune stencils --bench --json` prints it.
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
		return nil, nil, usagef("--match: %w", err)
	}
	var problems []stencil.Problem
	var rows []benchRow
	for _, name := range stencil.Names() {
		if f.match != "" && !pattern.MatchString(name) {
			continue
		}
		f.stencil = name
		p, err := f.problem(isHost(f.device))
		if err != nil {
			return nil, nil, err
		}
		for _, set := range f.sizes {
			sizes, err := sizesOf(set, p.Stencil, isHost(f.device))
			if err != nil {
				return nil, nil, usageError{err}
			}
			for _, s := range sizes {
				problems = append(problems, p.Resized(s.size))
				rows = append(rows, benchRow{Stencil: name, DType: p.DType, Sizes: s.set, Size: s.size.Text(p.Stencil.Dims)})
			}
		}
	}
	if len(problems) == 0 {
		return nil, nil, usagef("--match %q with --sizes %s: no stencil is left; see tune stencils", f.match, strings.Join(f.sizes, ","))
	}
	return problems, rows, nil
}

// benchStencils tunes stencils one after the other. One for which no schedule works is
// a row that says so; a device that is missing or lost ends it.
func (a *app) benchStencils(ctx context.Context, f benchFlags) error {
	if err := f.check(); err != nil {
		return err
	}
	problems, rows, err := f.benchmarks()
	if err != nil {
		return err
	}
	if !a.json {
		fmt.Fprintf(a.out, benchFormat, "stencil", "dtype", "size", "GCells/s", "ms/step", "naive", "speed-up", "of copy", "schedule")
	}
	var failed []string
	done := 0
	for i, p := range problems {
		row := &rows[i]
		c, terr := a.tuned(ctx, f.tuneFlags, p)
		switch {
		case c != nil:
			row.fill(*c)
		case terr != nil && ofProblem(terr):
			row.Failed = terr.Error()
			failed = append(failed, row.Stencil+" "+row.Size)
			terr = nil
		}
		if c != nil || row.Failed != "" {
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
	if a.json {
		err = errors.Join(err, a.printJSON(rows[:done]))
	}
	if err == nil && len(failed) > 0 {
		err = &benchFailure{failed}
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
	var usage usageError
	var none *runner.ErrNoSchedule
	return errors.As(err, &usage) || errors.As(err, &none) || device.AsFailure(err) != nil
}

// benchFailure is problems for which no schedule works.
type benchFailure struct{ problems []string }

func (b *benchFailure) Error() string {
	return "no schedule for " + strings.Join(b.problems, ", ") + ": their lines say why"
}

// benchFormat is a line: fixed columns, for every line is printed as soon as it is known.
const benchFormat = "%-12s %-8s %-15s %9s %9s %9s %8s %8s  %s\n"

// printBench prints a row, of a table only.
func (a *app) printBench(r benchRow) error {
	if a.json {
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
	_, err := fmt.Fprintf(a.out, benchFormat, r.Stencil, r.DType, r.Size, number("%.2f", r.CellsPerSecond/1e9), number("%.4f", 1e3*r.SecondsPerStep),
		number("%.4f", 1e3*r.NaiveSeconds), number("%.2f", r.Speedup), number("%.2f", r.RooflineShare), last)
	return err
}
