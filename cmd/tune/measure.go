package main

import (
	"context"
	"fmt"
	"strings"

	"github.com/spf13/cobra"

	"stenciltune/cmd/internal/cli"
	"stenciltune/machine"
	"stenciltune/space"
	"stenciltune/timing"
	"stenciltune/tuner"
)

func (a *app) measure() *cobra.Command {
	var f cli.ProblemFlags
	var texts []string
	var name, regime string
	var seed uint64
	c := &cobra.Command{
		Use:   "measure --stencil NAME --schedule SCHEDULE",
		Short: "Check and time schedules, interleaved; prints Go benchmark lines",
		Example: `  tune measure --stencil jacobi3d --device 0 \
    --schedule tile/gx=64/gy=4/gz=1/wx=1/wy=2/wz=8/cw=0/zz=0/ph=2`,
		Args: cobra.NoArgs,
		RunE: func(c *cobra.Command, _ []string) error {
			p, err := f.On(name)
			if err != nil {
				return err
			}
			t, err := a.Tuner()
			if err != nil {
				return err
			}
			if _, err := schedules(texts, t.Space(p, tuner.AnyGPU(texts...))); err != nil {
				return err // early, before a device is opened
			}
			r, err := cli.ParseRegime(regime)
			if err != nil {
				return err
			}
			return a.measureAll(c.Context(), t, p, name, texts, tuner.Options{Regime: r, Seed: seed})
		},
	}
	f.Bind(c)
	c.Flags().StringArrayVar(&texts, "schedule", nil, "canonical `text` of a schedule; repeat it to compare several")
	c.Flags().StringVar(&name, "device", "", "`device`, as for tune itself")
	c.Flags().StringVar(&regime, "timing", string(timing.Warm), "cache `regime`: warm or cold")
	c.Flags().Uint64Var(&seed, "seed", 1, "seed of the input data")
	return c
}

// schedules reads and checks schedules for a problem.
func schedules(texts []string, sp *space.Space) ([]space.Schedule, error) {
	if len(texts) == 0 {
		_, err := tuner.ParseSchedule("", sp)
		return nil, err
	}
	var list []space.Schedule
	for _, t := range texts {
		s, err := tuner.ParseSchedule(t, sp)
		if err != nil {
			return nil, err
		}
		list = append(list, s)
	}
	return list, nil
}

func (a *app) measureAll(ctx context.Context, t *tuner.Tuner, p tuner.Problem, name string, texts []string, o tuner.Options) error {
	d, err := tuner.OpenDevice(ctx, name, p)
	if err != nil {
		return err
	}
	defer d.Close()
	outcomes, err := t.Measure(ctx, p, d, o, func(sp *space.Space) ([]space.Schedule, error) { return schedules(texts, sp) })
	if err != nil {
		return err
	}
	m := d.Machine()
	fmt.Fprint(a.Out, benchHeader(m))
	failed := 0
	for _, out := range outcomes {
		if !out.Status.Timed() { // a recording may lack it, which is no fault of its own
			a.Say("%s: %s: %s", out.Schedule, out.Status, out.Reason)
			failed++
		}
		for _, w := range out.Series.Warnings {
			a.Say("warning: %s: %s", out.Schedule, w)
		}
		if _, err := fmt.Fprint(a.Out, benchLine(p, out)); err != nil {
			return err
		}
	}
	if failed > 0 {
		return cli.NoAnswerf("%d of %d schedules failed", failed, len(outcomes))
	}
	return nil
}

// benchHeader is the configuration lines of Go benchmark text.
func benchHeader(m machine.Machine) string {
	var b strings.Builder
	for _, kv := range [][2]string{
		{"device", m.Name}, {"kind", string(m.Kind)}, {"uuid", m.UUID}, {"driver", m.Driver}, {"toolchain", m.Compiler},
		{"clock-hz", fmt.Sprintf("%.0f", m.ClockHz)}, {"commit", cli.Revision()},
	} {
		if kv[1] != "" && kv[1] != "0" {
			fmt.Fprintf(&b, "%s: %s\n", kv[0], kv[1])
		}
	}
	return b.String()
}

// benchLine is one result as Go benchmark text: one line a sample would be what
// benchstat likes best, so every sample gets its line.
func benchLine(p tuner.Problem, o tuner.Outcome) string {
	var b strings.Builder
	cells := float64(p.Size.Cells())
	for _, s := range o.Series.Samples {
		fmt.Fprintf(&b, "BenchmarkStep/%s/%s \t%d\t%.1f ns/op\t%.4g GCells/s\t%.3f TB/s\n", p.Text(), o.Schedule,
			o.Series.Launches, s*1e9, cells/s/1e9, cells*float64(p.Traffic())/s/1e12)
	}
	return b.String()
}
