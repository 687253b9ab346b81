package main

import (
	"cmp"
	"errors"
	"fmt"

	"github.com/spf13/cobra"

	"stenciltune/cmd/internal/cli"
	"stenciltune/tuner"
)

func (a *app) retune() *cobra.Command {
	var p cli.ProblemFlags
	var f cli.TuneFlags
	var all bool
	var from string
	c := &cobra.Command{
		Use:   "retune (--all | --stencil NAME) [--device D]",
		Short: "Tune again what a new driver, kernel or GPU has made old",
		Long: `retune --all looks through everything stored for a device and tunes again, there, what
no longer holds: another driver or compiler, kernels whose source has changed, and with
--max-age what is too old. With --from it does so for what was tuned on another device:
what to do after a GPU was replaced. Each search begins with what the stored schedules
promise. The configs are printed one after the other.

retune --stencil measures one problem again, whatever is stored.`,
		Example: `  tune retune --all --device 0
  tune retune --all --device 0 --from "NVIDIA A100-SXM4-80GB"
  tune retune --all --max-age 720h`,
		Args: cobra.NoArgs,
		RunE: func(c *cobra.Command, _ []string) error {
			switch {
			case all && p.Stencil != "":
				return cli.Usagef("--all and --stencil exclude each other")
			case all:
				return a.retuneAll(c, f, from)
			case p.Stencil == "":
				return cli.Usagef("what? name it with --stencil, or take all with --all")
			}
			f.Again = true
			return a.tune(c, p, f)
		},
	}
	p.Bind(c)
	f.BindWhole(c)
	c.Flags().BoolVar(&all, "all", false, "everything stored for the device")
	c.Flags().StringVar(&from, "from", "", "with --all, what was tuned on another device: its `name`")
	return c
}

// retuneAll tunes again what is outdated. One problem that fails does not keep the
// others from being tuned.
func (a *app) retuneAll(c *cobra.Command, f cli.TuneFlags, from string) error {
	if err := f.Check(); err != nil {
		return err
	}
	t, err := a.Tuner()
	if err == nil {
		err = t.Store().Writable() // once, before anything is opened
	}
	if err != nil {
		return err
	}
	m, err := t.Machine(f.Device)
	if err != nil {
		return err
	}
	name := m.Name
	if from != "" {
		old, err := t.Stored(from)
		if err != nil {
			return err
		}
		name = old.Name
	}
	again, fresh, refused, err := t.Outdated(name, m, f.MaxAge)
	if err != nil {
		return err
	}
	for _, r := range refused {
		a.Say("warning: %v", r)
	}
	if len(again)+fresh == 0 {
		return cli.NoAnswerf("nothing is stored for %s: name the device it was tuned on with --from (tune store list shows them)", name)
	}
	var failed error
	for _, s := range again {
		p, err := tuner.ProblemOf(s.Config, "")
		if err != nil {
			return err
		}
		g := f
		g.Regime, g.Objective = cmp.Or(s.Config.Measured.Regime, f.Regime), s.Config.Objective
		if err := a.Tune(c, t, p, g); err != nil {
			if c.Context().Err() != nil {
				return err
			}
			a.Say("%s: %v", p.Text(), err)
			failed = errors.Join(failed, fmt.Errorf("%s: %w", p.Text(), err))
		}
	}
	a.Say("%d problems, %d up to date", len(again)+fresh, fresh)
	return failed
}
