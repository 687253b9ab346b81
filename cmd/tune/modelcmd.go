package main

import (
	"fmt"
	"text/tabwriter"

	"github.com/spf13/cobra"

	"stenciltune/cmd/internal/cli"
	"stenciltune/model"
	"stenciltune/space"
	"stenciltune/stencil"
	"stenciltune/tuner"
)

// modelRow is one line of `tune model`.
type modelRow struct {
	Rank       int            `json:"rank"`
	Schedule   space.Schedule `json:"schedule"`
	Seconds    float64        `json:"seconds_per_step"`
	Cells      float64        `json:"cells_per_second"`
	Limiter    string         `json:"limiter"`
	BlocksSM   int            `json:"blocks_per_sm"`
	Redundancy float64        `json:"redundancy"`
	Measured   float64        `json:"measured_seconds_per_step,omitempty"` // recorded on that device
}

// modelList is what `tune model --json` prints.
type modelList struct {
	Problem   string     `json:"problem"`
	Device    string     `json:"device"`
	Kind      string     `json:"kind"`
	Source    string     `json:"source,omitempty"` // of the facts of a device that is not here
	Predicted bool       `json:"predicted"`        // always: nothing is run
	Space     int        `json:"space"`
	Top       []modelRow `json:"top"`
}

func (a *app) model() *cobra.Command {
	var f cli.ProblemFlags
	var name string
	var top int
	c := &cobra.Command{
		Use:   "model --stencil NAME --device DEVICE",
		Short: "Rank the schedules by the cost model, without running anything",
		Example: `  tune model --stencil jacobi3d --device model:a100
  tune model --stencil jacobi2d --device replay:h200 --top 20 --json`,
		Args: cobra.NoArgs,
		RunE: func(c *cobra.Command, _ []string) error {
			p, err := f.On(name)
			if err != nil {
				return err
			}
			if top < 1 {
				return cli.Usagef("--top %d: show at least one", top)
			}
			s, err := a.subjectOf(c.Context(), name, p)
			if err != nil {
				return err
			}
			sp := new(tuner.Tuner).Space(p, s.machine)
			list := modelList{Problem: p.Text(), Device: s.machine.Name, Kind: string(s.machine.Kind), Source: s.source, Predicted: true, Space: sp.Size(), Top: []modelRow{}}
			for i, r := range ranking(sp, new(tuner.Tuner).Expected(p, s.machine)) {
				if i == top {
					break
				}
				list.Top = append(list.Top, row(p, s, i+1, r))
			}
			return a.printModel(list, s)
		},
	}
	f.Bind(c)
	c.Flags().StringVar(&name, "device", "", "`device`, as for tune itself, or the facts of one that is not here, like model:a100")
	c.Flags().IntVar(&top, "top", 10, "show the `n` schedules predicted fastest")
	return a.JSONFlag(c)
}

func row(p stencil.Problem, s subject, rank int, r ranked) modelRow {
	got := model.Schedule(p, new(tuner.Tuner).Family(r.schedule), r.schedule, model.Facts{}, s.machine)
	return modelRow{rank, r.schedule, r.seconds, float64(p.Size.Cells()) / r.seconds, got.Limiter, got.BlocksPerSM, got.Redundancy, s.measured(r.schedule)}
}

func (a *app) printModel(list modelList, s subject) error {
	if a.JSON {
		return a.PrintJSON(list)
	}
	a.Say("%s on %s: %s", list.Problem, list.Device, predicted(s))
	w := tabwriter.NewWriter(a.Out, 0, 8, 2, ' ', 0)
	fmt.Fprintln(w, "rank\ta step\trate\tlimited by\tblocks/SM\tupdates a cell\tmeasured\tschedule")
	for _, r := range list.Top {
		measured := "-"
		if r.Measured > 0 {
			measured = scaled(r.Measured)
		}
		fmt.Fprintf(w, "%d\t%s\t%s\t%s\t%d\t%.2f\t%s\t%s\n", r.Rank, scaled(r.Seconds), tuner.Rate(r.Cells), r.Limiter, r.BlocksSM, r.Redundancy, measured, r.Schedule)
	}
	return w.Flush()
}
