package main

import (
	"context"
	"errors"
	"fmt"
	"strconv"
	"strings"

	"github.com/spf13/cobra"

	"stenciltune/cache"
	"stenciltune/cmd/internal/cli"
	"stenciltune/device"
	"stenciltune/device/replay"
	"stenciltune/stencil"
	"stenciltune/timing"
	"stenciltune/tuner"
)

// lookupFlags say what is wanted from the store.
type lookupFlags struct {
	cli.ProblemFlags
	device  string
	regime  string
	require string

	objective timing.Objective
}

const docObjective = "what the config was chosen by: time, energy or edp"

func (f *lookupFlags) bind(c *cobra.Command) {
	f.Bind(c)
	c.Flags().StringVar(&f.device, "device", "", "`device`: as for tune, or the name of one that the store knows, like h200 (default: the first GPU, else the store's only device)")
	c.Flags().StringVar(&f.regime, "timing", string(timing.Warm), "cache `regime`: warm or cold")
	cli.BindObjective(c, &f.objective, docObjective)
	c.Flags().StringVar(&f.require, "require", "other-device", "worst `grade` to answer with: "+strings.Join(cli.Grades(), ", "))
}

// lookup answers from the store, or fails with exit code 3.
func (a *app) lookup(ctx context.Context, f *lookupFlags) (stencil.Problem, tuner.Answer, error) {
	var answer tuner.Answer
	p, err := f.On(f.device)
	if err != nil {
		return p, answer, err
	}
	var worst cache.Grade
	if err := worst.UnmarshalText([]byte(f.require)); err != nil || worst == cache.None {
		return p, answer, cli.Usagef("--require %q: use one of %s", f.require, strings.Join(cli.Grades(), ", "))
	}
	regime, err := cli.ParseRegime(f.regime)
	if err != nil {
		return p, answer, err
	}
	objective, err := timing.ParseObjective(string(f.objective))
	if err != nil {
		return p, answer, cli.Usagef("--objective %w", err)
	}
	t, err := a.Tuner()
	if err != nil {
		return p, answer, err
	}
	m, err := t.Machine(f.device)
	if err != nil {
		return p, answer, f.remedied(err, p)
	}
	answer, err = t.BestFor(ctx, p, m, regime, objective)
	switch {
	case err != nil:
		return p, answer, f.remedied(err, p)
	case answer.Grade > worst:
		return p, answer, cli.NoAnswerf("the best match is %s (%s) and --require asks for %s: run tune on that device", answer.Grade, answer.Config.Match.Note, worst)
	case answer.Stale && worst == cache.Exact:
		return p, answer, cli.NoAnswerf("the kernel or its launch has changed since %s was measured and --require asks for exact: run tune again", p.Text())
	}
	return p, answer, nil
}

// remedied adds to the error of a look-up the command that gives the store an answer.
func (f *lookupFlags) remedied(err error, p stencil.Problem) error {
	if !errors.Is(err, tuner.ErrNotTuned) && !errors.Is(err, device.ErrMissing) {
		return err
	}
	tune := "tune --stencil " + f.Stencil
	for _, flag := range [][2]string{{"dtype", f.DType}, {"size", f.Size}} {
		if flag[1] != "" {
			tune += " --" + flag[0] + " " + flag[1]
		}
	}
	recording, isReplay := strings.CutPrefix(f.device, tuner.ReplayPrefix)
	_, none := replay.Find(recording, p) // without the prefix the name is whole
	_, number := strconv.Atoi(f.device)
	switch missing := errors.Is(err, device.ErrMissing); {
	case isReplay && none != nil:
		return fmt.Errorf("%w: of it there is no recording: %s --device host, and then here --device host, too", err, tune)
	case isReplay, tuner.IsHost(f.device), number == nil && !missing:
		return fmt.Errorf("%w: %s --device %s", err, tune, f.device)
	case number == nil: // what lacks was said
		return err
	case none == nil && f.device != "":
		return fmt.Errorf("%w: %s --device %s%s", err, tune, tuner.ReplayPrefix, f.device)
	case f.device == "":
		return fmt.Errorf("%w: %s --device 0; without a GPU --device replay:h200 or host, there and here", err, tune)
	}
	return fmt.Errorf("%w: %s --device 0 > config.json where a GPU %s is, and here tune store import config.json", err, tune, f.device)
}

func (a *app) best() *cobra.Command {
	var f lookupFlags
	var output string
	c := &cobra.Command{
		Use:   "best --stencil NAME [--size N] [--device D]",
		Short: "Answer from the store, without measuring",
		Long: `best prints the config that fits a problem best, from what is stored: the problem's
own, else what the measurements of other sizes, drivers or devices and the cost
model promise most of. Nothing is measured and no GPU is needed. The config's
match.grade says how well it fits, and expected what it should reach.

Ends with code 3 if nothing of the required grade is stored.`,
		Example: `  tune best --stencil jacobi3d --size 500x500x300 --device 0
  tune best --stencil jacobi3d --device h200 --require exact || echo tune first`,
		Args: cobra.NoArgs,
		RunE: func(c *cobra.Command, _ []string) error {
			p, answer, err := a.lookup(c.Context(), &f)
			if err != nil {
				return err
			}
			a.sayAnswer(p, answer)
			return a.EmitConfig(answer.Config, output)
		},
	}
	f.bind(c)
	c.Flags().StringVarP(&output, "output", "o", "", "write the config to `file` too, only if it changed")
	return c
}

// sayAnswer tells in one line what an answer is worth.
func (a *app) sayAnswer(p stencil.Problem, answer tuner.Answer) {
	c := answer.Config
	if e := c.Expected; e != nil {
		loss := "loss not known"
		if e.Sizes > 1 {
			loss = fmt.Sprintf("expected loss %.1f %%", 100*e.Loss)
		}
		a.Say("%s: match %s, %s; expected %.4g ms a step, %s", p.Text(), answer.Grade, c.Match.Note, 1e3*e.SecondsPerStep, loss)
		return
	}
	a.Say("%s: match %s; measured %.4g ms a step", p.Text(), answer.Grade, 1e3*c.Measured.SecondsPerStep)
	if answer.Stale {
		a.Say("warning: the kernel or its launch has changed since: tune again")
	}
}
