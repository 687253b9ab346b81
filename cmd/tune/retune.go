package main

import (
	"errors"
	"fmt"
	"strings"

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
promise. The configs are printed one after the other. With several GPUs each tunes another
problem, and they share compilers.

retune --stencil measures one problem again, whatever is stored.`,
		Example: `  tune retune --all --device 0
  tune retune --all --device all
  tune retune --all --device 0 --from "NVIDIA A100-SXM4-80GB"
  tune retune --all --max-age 720h`,
		Args: cobra.NoArgs,
		RunE: func(c *cobra.Command, _ []string) error {
			switch name := given(c, "stencil", "size", "dtype", "compute", "steps", "scalar", "timing", "objective", "output", "record", "retune"); {
			case all && name == "retune":
				return cli.Usagef("--all and --retune exclude each other: --max-age 1ns measures again what still holds too")
			case all && name != "":
				return cli.Usagef("--all and --%s exclude each other: with --all problems are tuned as they are stored, and configs are printed; tune one with --stencil", name)
			case all:
				return a.retuneAll(c, f, from)
			case p.Stencil == "":
				return cli.Usagef("what? name it with --stencil, or take all with --all")
			case from != "":
				return cli.Usagef("--from %s goes with --all", from)
			case f.MaxAge != 0:
				return cli.Usagef("--max-age goes with --all: retune --stencil measures again whatever its age")
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

// given is the first of some flags that the command line has; "" = none.
func given(c *cobra.Command, flags ...string) string {
	for _, name := range flags {
		if c.Flags().Changed(name) {
			return name
		}
	}
	return ""
}

// retuneAll tunes again what is outdated, on each model of the devices what is stored for that, as
// many at once as there are devices. One problem that fails does not keep the others from being tuned.
func (a *app) retuneAll(c *cobra.Command, f cli.TuneFlags, from string) error {
	if err := f.Check(); err != nil {
		return err
	}
	t, err := a.Tuner()
	if err != nil {
		return err
	}
	models, err := f.Models(t)
	if err != nil {
		return err
	}
	var groups []cli.Group
	var names []string // of devices of which nothing is stored
	all, fresh := 0, 0
	for _, model := range models {
		name, tasks, still, err := a.outdated(t, model, f, from)
		if err != nil {
			return err
		}
		if len(tasks)+still == 0 {
			names = append(names, name)
		}
		if len(tasks) > 0 {
			groups = append(groups, cli.Group{Model: model, Tasks: tasks})
		}
		all, fresh = all+len(tasks)+still, fresh+still
	}
	if all == 0 {
		return cli.NoAnswerf("nothing is stored for %s: name the device it was tuned on with --from (tune store list shows them)", strings.Join(names, ", "))
	}
	var failed error
	err = a.Spread(c.Context(), t, groups, func(p tuner.Problem, config tuner.Config, err error) error {
		if config.Schedule.Text != "" {
			err = errors.Join(err, a.EmitConfig(config, ""))
		}
		if err != nil && c.Context().Err() == nil {
			a.Say("%s: %v", p.Text(), err)
			err = fmt.Errorf("%s: %w", p.Text(), err)
		}
		failed = errors.Join(failed, err)
		return nil
	})
	if c.Context().Err() == nil {
		a.Say("%d problems, %d up to date", all, fresh)
	}
	return errors.Join(failed, err)
}

// outdated is what is stored for the devices of a model, or for the one they have replaced, and has to
// be tuned again; and how many problems are up to date. The name is that device's.
func (a *app) outdated(t *tuner.Tuner, model tuner.Selection, f cli.TuneFlags, from string) (name string, tasks []cli.Task, fresh int, err error) {
	m, err := t.Machine(model[0])
	if err != nil {
		return "", nil, 0, err
	}
	name = m.Name
	if from != "" {
		old, err := t.Stored(from)
		if err != nil {
			return "", nil, 0, err
		}
		name = old.Name
	}
	again, fresh, refused, err := t.Outdated(name, m, f.MaxAge)
	if err != nil {
		return "", nil, 0, err
	}
	for _, r := range refused {
		a.Say("warning: %v", r)
	}
	for _, s := range again {
		p, err := tuner.ProblemOf(s.Config, "")
		if err != nil {
			return "", nil, 0, err
		}
		g := f
		g.Regime, g.Objective = s.Config.Measured.Regime, s.Config.Objective
		tasks = append(tasks, cli.Task{Problem: p, Flags: g})
	}
	return name, tasks, fresh, nil
}
