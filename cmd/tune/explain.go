package main

import (
	"context"
	"fmt"
	"io"
	"strings"
	"text/tabwriter"

	"github.com/spf13/cobra"

	"stenciltune/cmd/internal/cli"
	"stenciltune/model"
	"stenciltune/runner"
	"stenciltune/space"
	"stenciltune/stencil"
	"stenciltune/tuner"
)

// explained is one schedule of `tune explain`.
type explained struct {
	Role     string  `json:"role"` // "baseline", "best recorded", "asked for" ...
	Measured float64 `json:"measured_seconds_per_step,omitempty"`
	model.Explanation
}

// explanations is what `tune explain --json` prints.
type explanations struct {
	Problem   string      `json:"problem"`
	Device    string      `json:"device"`
	Kind      string      `json:"kind"`
	Source    string      `json:"source,omitempty"` // of the facts of a device that is not here
	Predicted bool        `json:"predicted"`        // always: nothing is run
	Schedules []explained `json:"schedules"`
}

func (a *app) explainCommand() *cobra.Command {
	var f cli.ProblemFlags
	var name string
	var texts []string
	c := &cobra.Command{
		Use:   "explain --stencil NAME --device DEVICE [--schedule SCHEDULE]",
		Short: "Say where the time of a schedule goes, by the cost model",
		Long: `explain predicts a schedule and says why: each term with its unit, what limits it,
occupancy and what limits that, reuse, redundant work, which layer conditions hold,
why this column width, why this time tile. Without --schedule it explains the
best one known (recorded, else stored, else predicted) against the baseline.
Nothing is run.`,
		Example: `  tune explain --stencil jacobi3d --device replay:h200
  tune explain --stencil jacobi3d --device model:a100 \
    --schedule tile/gx=32/gy=8/gz=2/wx=1/wy=2/wz=4/cw=0/zz=0/ph=2`,
		Args: cobra.NoArgs,
		RunE: func(c *cobra.Command, _ []string) error {
			p, err := f.On(name)
			if err != nil {
				return err
			}
			return a.explainAll(c.Context(), p, name, texts)
		},
	}
	f.Bind(c)
	c.Flags().StringVar(&name, "device", "", "`device`, as for tune itself, or the facts of one that is not here, like model:a100")
	c.Flags().StringArrayVar(&texts, "schedule", nil, "canonical `text` of a schedule; repeat it to explain several")
	return a.JSONFlag(c)
}

func (a *app) explainAll(ctx context.Context, p stencil.Problem, name string, texts []string) error {
	s, err := a.subjectOf(ctx, name, p)
	if err != nil {
		return err
	}
	t := new(tuner.Tuner)
	sp := t.Space(p, s.machine)
	out := explanations{Problem: p.Text(), Device: s.machine.Name, Kind: string(s.machine.Kind), Source: s.source, Predicted: true}
	add := func(role string, sc space.Schedule) {
		out.Schedules = append(out.Schedules, s.explain(role, p, t, sc))
	}
	for _, text := range texts {
		sc, err := tuner.ParseSchedule(text, sp)
		if err != nil {
			return err
		}
		add("asked for", sc)
	}
	if len(texts) == 0 {
		if naive := runner.Naive(p, sp); len(naive) > 0 {
			add("baseline", naive[0])
		}
		role := "best measured"
		if s.best.IsZero() || sp.Check(s.best) != nil {
			role = "best predicted"
			list := ranking(sp, t.Expected(p, s.machine))
			if len(list) == 0 {
				return cli.Usagef("no schedule is legal on a grid of %s: choose a larger --size", p.Size.Text(p.Stencil.Dims))
			}
			s.best = list[0].schedule
		}
		add(role, s.best)
	}
	if a.JSON {
		return a.PrintJSON(out)
	}
	a.Say("%s on %s: %s", out.Problem, out.Device, predicted(s))
	for i, e := range out.Schedules {
		if i > 0 {
			fmt.Fprintln(a.Out)
		}
		if err := printExplained(a.Out, p, e); err != nil {
			return err
		}
	}
	return nil
}

// explain explains a schedule on the device.
func (s subject) explain(role string, p stencil.Problem, t *tuner.Tuner, sc space.Schedule) explained {
	return explained{role, s.measured(sc), model.Explain(p, t.Family(sc), sc, s.facts(sc), s.machine)}
}

// printExplained is an explanation for people.
func printExplained(to io.Writer, p stencil.Problem, e explained) error {
	q := e.Prediction
	fmt.Fprintf(to, "%s: %s\n", e.Role, e.Schedule)
	fmt.Fprintf(to, "  predicted %s a step, %s", scaled(q.Seconds), tuner.Rate(float64(p.Size.Cells())/q.Seconds))
	if e.Measured > 0 {
		fmt.Fprintf(to, "; measured %s (%+.0f %% of the prediction)", scaled(e.Measured), 100*(e.Measured/q.Seconds-1))
	}
	fmt.Fprintf(to, "; memory alone would allow %.1f\n", e.CellsBound/1e9)
	w := tabwriter.NewWriter(to, 0, 8, 2, ' ', 0)
	fmt.Fprintf(w, "  term\ta launch (%d steps)\tof the launch\twhat\n", e.Steps)
	launch := q.Seconds * float64(e.Steps)
	for _, t := range q.Terms {
		mark := ""
		if t.Name == q.Limiter {
			mark = " *"
		}
		fmt.Fprintf(w, "  %s%s\t%s\t%.0f %%\t%s\n", t.Name, mark, scaled(t.Seconds), 100*t.Seconds/launch, t.Why)
	}
	if err := w.Flush(); err != nil {
		return err
	}
	fmt.Fprintf(to, "  * limits it; terms overlap, so that they do not add up to the whole\n")
	fmt.Fprintf(to, "  memory: %.1f MB to and from DRAM, %.1f MB between L2 and the SMs a launch\n", q.DRAMBytes/1e6, q.L2Bytes/1e6)
	fmt.Fprintf(to, "  occupancy: %d blocks an SM (%.0f %% of its warps), limited by %s; %d registers a thread", q.BlocksPerSM, 100*q.Warps, q.Occupancy, q.Registers)
	if q.SpillBytes >= 1 {
		fmt.Fprintf(to, ", %.0f bytes spilled", q.SpillBytes)
	}
	fmt.Fprintf(to, "; %.2f waves, tail x%.2f\n", q.Waves, q.Tail)
	fmt.Fprintf(to, "  reuse: %.2f reads of a naive kernel for each cell a block loads\n", q.Reuse)
	fmt.Fprintf(to, "  redundancy: %.2f updates made for each useful one", q.Redundancy)
	if q.Ghost > 0 {
		fmt.Fprintf(to, " (%s of computing a launch is ghost zones')", scaled(q.Ghost))
	}
	fmt.Fprintln(to)
	for _, c := range e.Conditions {
		state := "holds"
		if !c.Met {
			state = "is broken"
		}
		fmt.Fprintf(to, "  layer condition %s, %s: %.2f MB between two uses, %.2f MB of cache: %s (%.0f %% fetched again of %.2f cells a cell)\n",
			c.Level, c.Axis, c.Distance/1e6, c.Capacity/1e6, state, 100*c.Missed, c.Again)
	}
	if c := e.Column; c != nil {
		fmt.Fprintf(to, "  column width %s: %s\n", widthText(c.Width), c.Why)
		fmt.Fprintf(to, "    the formula says %.0f cells for L1 (%d in whole warps), %.0f for L2 (%d); predicted: %s\n", c.FormulaL1, c.WarpL1, c.FormulaL2, c.WarpL2, listed(c.Alternatives))
	}
	if y := e.Pyramid; y != nil {
		fmt.Fprintf(to, "  pyramid height %d: %s\n    predicted: %s\n", y.Height, y.Why, listed(y.Alternatives))
	}
	return nil
}

func widthText(w int) string {
	if w == 0 {
		return "off"
	}
	return fmt.Sprint(w)
}

func listed(list []model.Alternative) string {
	var parts []string
	for _, a := range list {
		parts = append(parts, fmt.Sprintf("%d: %s", a.Value, scaled(a.Seconds)))
	}
	return strings.Join(parts, ", ")
}
