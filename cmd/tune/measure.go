package main

import (
	"context"
	"fmt"
	"strings"

	"github.com/spf13/cobra"

	"stenciltune/device/machine"
	"stenciltune/device/timing"
	"stenciltune/internal/runner"
	"stenciltune/kernels"
	"stenciltune/kernels/all"
	"stenciltune/stencil"
)

func (a *app) measure() *cobra.Command {
	var f problemFlags
	var text, name, regime string
	var seed uint64
	c := &cobra.Command{
		Use:   "measure --stencil NAME --schedule SCHEDULE",
		Short: "Check and time one schedule; prints Go benchmark lines",
		Example: `  tune measure --stencil jacobi3d --device 0 \
    --schedule tile/gx=64/gy=4/gz=1/wx=1/wy=2/wz=8/cw=0/zz=0/ph=2`,
		Args: cobra.NoArgs,
		RunE: func(c *cobra.Command, _ []string) error {
			p, err := f.problem(isHost(name))
			if err != nil {
				return err
			}
			if text != "" { // fail early, before a device is opened
				if _, err := schedule(text, kernels.Spaces(all.Families(), p, anyGPU)); err != nil {
					return err
				}
			}
			if regime != string(timing.Warm) && regime != string(timing.Cold) {
				return usagef("--timing %q: use warm or cold", regime)
			}
			return a.measureOne(c.Context(), p, name, text, timing.Regime(regime), seed)
		},
	}
	f.bind(c)
	c.Flags().StringVar(&text, "schedule", "", "canonical `text` of the schedule")
	c.Flags().StringVar(&name, "device", "", "`device`, as for tune itself")
	c.Flags().StringVar(&regime, "timing", string(timing.Warm), "cache `regime`: warm or cold")
	c.Flags().Uint64Var(&seed, "seed", 1, "seed of the input data")
	return c
}

func (a *app) measureOne(ctx context.Context, p stencil.Problem, name, text string, regime timing.Regime, seed uint64) error {
	d, err := a.openDevice(ctx, name, p)
	if err != nil {
		return err
	}
	defer d.Close()
	m := d.Machine()
	if err := fits(p, m); err != nil {
		return err
	}
	sp := kernels.Spaces(all.Families(), p, m)
	s, err := schedule(text, sp)
	if err != nil {
		return err
	}
	policy := timing.Finals()
	policy.Regime = regime
	o := runner.Options{Problem: p, Device: d, Families: all.Families(), Space: sp, Regime: regime, Seed: dataSeed(seed), Mutate: faultMutator()}
	out, err := runner.Single(ctx, o, s, policy)
	if err != nil {
		return err
	}
	if out.Status.Failed() {
		return fmt.Errorf("%w: %s: %s", &runner.ErrNoSchedule{Failed: map[timing.Status]int{out.Status: 1}}, out.Status, out.Reason)
	}
	for _, w := range out.Series.Warnings {
		a.say("warning: %s", w)
	}
	_, err = fmt.Fprint(a.out, benchHeader(m), benchLine(p, out))
	return err
}

// benchHeader is the configuration lines of Go benchmark text.
func benchHeader(m machine.Machine) string {
	var b strings.Builder
	for _, kv := range [][2]string{
		{"device", m.Name}, {"kind", string(m.Kind)}, {"uuid", m.UUID}, {"driver", m.Driver}, {"toolchain", m.Compiler},
		{"clock-hz", fmt.Sprintf("%.0f", m.ClockHz)}, {"commit", revision()},
	} {
		if kv[1] != "" && kv[1] != "0" {
			fmt.Fprintf(&b, "%s: %s\n", kv[0], kv[1])
		}
	}
	return b.String()
}

// benchLine is one result as Go benchmark text: one line a sample would be what
// benchstat likes best, so every sample gets its line.
func benchLine(p stencil.Problem, o runner.Outcome) string {
	var b strings.Builder
	cells := float64(p.Size.Cells())
	for _, s := range o.Series.Samples {
		fmt.Fprintf(&b, "BenchmarkStep/%s/%s \t%d\t%.1f ns/op\t%.2f GCells/s\t%.3f TB/s\n", p.Text(), o.Schedule,
			o.Series.Launches, s*1e9, cells/s/1e9, cells*2*float64(p.DType.Size())/s/1e12)
	}
	return b.String()
}
