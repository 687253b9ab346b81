package main

import (
	"cmp"
	"context"
	"fmt"
	"math"
	"slices"
	"strings"
	"text/tabwriter"

	"github.com/spf13/cobra"

	"stenciltune/cmd/internal/cli"
	"stenciltune/device/microbench"
	"stenciltune/device/replay"
	"stenciltune/machine"
	"stenciltune/space"
	"stenciltune/study/sl"
	"stenciltune/tuner"
)

func (a *app) sl() *cobra.Command {
	var problem cli.ProblemFlags
	var f cli.TuneFlags
	c := &cobra.Command{
		Use:   "sl --stencil NAME [--device 0|host]",
		Short: "Tune with the SL paper's model of the pyramid height",
		Long: `sl measures what the optimiser of the SL compiler gathers at run time - the null
kernel, and one tile at pyramid heights 1 and 2 -, lets its model choose the height,
and tunes as tune does, beginning with the model's schedules.`,
		Example: "  study sl --stencil hotspot2d --device 0\n  study sl --stencil jacobi2d --size 256x256 --device host --strategy model --budget 5",
		Args:    cobra.NoArgs,
		RunE: func(c *cobra.Command, _ []string) error {
			if err := f.Check(); err != nil {
				return err
			}
			if f.NoPrior {
				return cli.Usagef("--model %s: this command has a model of its own", f.Model)
			}
			p, err := problem.On(f.Device)
			if err != nil {
				return err
			}
			t, err := a.Tuner()
			if err != nil {
				return err
			}
			plan, err := calibrated(c.Context(), t, p, f)
			if err != nil {
				return err
			}
			a.Say("SL model: %s", plan)
			f.Prior, f.Beyond = plan.Prior, true // advice leaves out the one family that the model knows
			return a.Tune(c, t, p, f)
		},
	}
	problem.Bind(c)
	f.BindWhole(c)
	c.AddCommand(a.slModel())
	return c
}

// tile is the SL optimiser's tile of a problem on a machine.
func tile(t *tuner.Tuner, p tuner.Problem, m machine.Machine) (one, two space.Schedule, err error) {
	one, two, ok := sl.Tile(t.Space(p, m))
	if !ok {
		return one, two, cli.Usagef("no small tile of two fused steps is legal for %s", p.Text())
	}
	return one, two, nil
}

// calibrated is the plan for a problem on the device that the flags name, where what it
// needs is measured.
func calibrated(ctx context.Context, t *tuner.Tuner, p tuner.Problem, f cli.TuneFlags) (sl.Plan, error) {
	d, err := tuner.OpenDevice(ctx, f.Device, p)
	if err != nil {
		return sl.Plan{}, err
	}
	defer d.Close()
	m, err := t.Rated(d.Machine())
	if err != nil {
		return sl.Plan{}, err
	}
	one, two, err := tile(t, p, m)
	if err != nil {
		return sl.Plan{}, err
	}
	if m.Rates.Launch == 0 && (m.Kind == machine.CUDA || m.Kind == machine.Host) {
		l := t.Kernel(p, one).Launch
		if m.Rates.Launch, err = microbench.Launch(ctx, d, l.Blocks(), l.Threads()); err != nil {
			return sl.Plan{}, err
		}
	}
	outcomes, err := t.Measure(ctx, p, d, f.Options, func(*space.Space) ([]space.Schedule, error) { return []space.Schedule{one, two}, nil })
	if err != nil {
		return sl.Plan{}, err
	}
	var seconds [2]float64
	for i, o := range outcomes {
		if seconds[i] = o.Seconds(); seconds[i] == 0 {
			return sl.Plan{}, cli.NoAnswerf("%s, which calibrates the model: %s: %s", o.Schedule, o.Status, o.Reason)
		}
	}
	return sl.New(p, m, one, seconds)
}

// slRow is one line of `study sl model`.
type slRow struct {
	Rank     int            `json:"rank"`
	Schedule space.Schedule `json:"schedule"`
	Seconds  float64        `json:"seconds_per_step"`
	Cells    float64        `json:"cells_per_second"`
}

// slList is what `study sl model --json` prints.
type slList struct {
	Problem   string  `json:"problem"`
	Device    string  `json:"device"`
	Predicted bool    `json:"predicted"` // always: nothing is run
	Height    int     `json:"height"`
	Top       []slRow `json:"top"`
}

func (a *app) slModel() *cobra.Command {
	var f cli.ProblemFlags
	var name string
	var top int
	c := &cobra.Command{
		Use:   "model --stencil NAME --device DEVICE",
		Short: "Rank the schedules by the SL paper's model, without running anything",
		Long: `model calibrates the SL paper's model by times that the cost model predicts, and
ranks the schedules by it: also for a device that is not here, like model:a100.`,
		Example: "  study sl model --stencil jacobi2d --device model:a100",
		Args:    cobra.NoArgs,
		RunE: func(c *cobra.Command, _ []string) error {
			p, err := f.On(name)
			switch {
			case err != nil:
				return err
			case top < 1:
				return cli.Usagef("--top %d: show at least one", top)
			case name == "":
				return cli.Usagef("which device? name one with --device: 0, host, replay:h200, or model:a100")
			}
			return a.rankSL(p, name, top)
		},
	}
	f.Bind(c)
	c.Flags().StringVar(&name, "device", "", "`device`, as for tune itself, or the facts of one that is not here, like model:a100")
	c.Flags().IntVar(&top, "top", 10, "show the `n` schedules predicted fastest")
	return a.JSONFlag(c)
}

// machineOf is the machine that a device's name means.
func machineOf(t *tuner.Tuner, name string, p tuner.Problem) (machine.Machine, error) {
	if id, ok := strings.CutPrefix(name, tuner.ModelPrefix); ok {
		k, err := machine.FindKnown(id)
		if err != nil {
			return machine.Machine{}, tuner.Input(err)
		}
		return k.Machine, nil
	}
	if recording, ok := strings.CutPrefix(name, tuner.ReplayPrefix); ok {
		d, err := replay.Open(recording, p)
		if err != nil {
			return machine.Machine{}, err
		}
		return d.Machine(), nil
	}
	m, err := t.Machine(name)
	if err != nil {
		return m, err
	}
	return t.Rated(m)
}

func (a *app) rankSL(p tuner.Problem, name string, top int) error {
	t, err := a.Tuner()
	if err != nil {
		return err
	}
	m, err := machineOf(t, name, p)
	if err != nil {
		return err
	}
	one, two, err := tile(t, p, m)
	if err != nil {
		return err
	}
	counts := sl.Counts(p, m)
	plan, err := sl.New(p, m, one, [2]float64{counts(one), counts(two)})
	if err != nil {
		return err
	}
	var rows []slRow
	for s := range t.Space(p, m).All() {
		if v := plan.Prior(s); !math.IsInf(v, 1) {
			rows = append(rows, slRow{Schedule: s, Seconds: v, Cells: float64(p.Size.Cells()) / v})
		}
	}
	slices.SortStableFunc(rows, func(a, b slRow) int { return cmp.Compare(a.Seconds, b.Seconds) })
	rows = rows[:min(top, len(rows))]
	for i := range rows {
		rows[i].Rank = i + 1
	}
	if a.JSON {
		return a.PrintJSON(slList{p.Text(), m.Name, true, plan.Height, rows})
	}
	a.Say("%s on %s: predicted, not measured; SL model: %s", p.Text(), m.Name, plan)
	w := tabwriter.NewWriter(a.Out, 0, 8, 2, ' ', 0)
	fmt.Fprintln(w, "rank\tms a step\tGCells/s\tschedule")
	for _, r := range rows {
		fmt.Fprintf(w, "%d\t%.4g\t%.1f\t%s\n", r.Rank, 1e3*r.Seconds, r.Cells/1e9, r.Schedule)
	}
	return w.Flush()
}
