package main

import (
	"context"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"stenciltune/cache"
	"stenciltune/cmd/internal/cli"
	"stenciltune/device/replay"
	"stenciltune/figure"
	"stenciltune/kernels"
	"stenciltune/kernels/all"
	"stenciltune/machine"
	"stenciltune/model"
	"stenciltune/runner"
	"stenciltune/search"
	"stenciltune/space"
	"stenciltune/stencil"
	"stenciltune/study/contest"
	"stenciltune/tuner"
)

// replayBenchFlags are those of study replay-bench.
type replayBenchFlags struct {
	landscapes, entrants []string
	seeds, ahead, budget int
	seconds              float64
	plots                string
}

func (a *app) replayBench() *cobra.Command {
	var f replayBenchFlags
	c := &cobra.Command{
		Use:   "replay-bench",
		Short: "Compare search strategies on recorded landscapes, in simulated time",
		Long: `replay-bench runs strategies over recorded landscapes with many seeds and prints,
for each landscape, how many evaluations and how many simulated seconds they need.
Compiling and measuring take the recorded times, so the figures are the same on
every machine.

An entrant is a strategy, or a strategy with another prior than the cost model's:
bayes/unseen (the model fitted without that stencil), bayes/middle (its
coefficients fitted to nothing), bayes/inverted (ranked backwards), bayes/shuffled (at random), bayes/none.`,
		Example: `  study replay-bench --seeds 20
  study replay-bench --landscape jacobi3d_f32 --entrant bayes --entrant random
  study replay-bench --landscape ./mine.jsonl.gz --plots out`,
		Args: cobra.NoArgs,
		RunE: func(c *cobra.Command, _ []string) error { return a.runReplayBench(c.Context(), f) },
	}
	c.Flags().StringArrayVar(&f.landscapes, "landscape", nil, "part of the name of shipped `landscapes`, or a file; repeat it for several (default: all that ship)")
	c.Flags().StringArrayVar(&f.entrants, "entrant", nil, "`strategy`, or strategy/prior; repeat it for several (default: all, and bayes with each prior)")
	c.Flags().IntVar(&f.seeds, "seeds", 100, "seeds a landscape and entrant")
	c.Flags().IntVar(&f.ahead, "ahead", 0, "schedules asked for before the first is told (default: as many as a tune compiles ahead)")
	c.Flags().IntVar(&f.budget, "budget", 3000, "evaluations at most where they are counted; 0 is all")
	c.Flags().Float64Var(&f.seconds, "seconds", 10, "simulated seconds of a run")
	c.Flags().StringVar(&f.plots, "plots", "", "write a plot a landscape (SVG) into this `folder`")
	return c
}

// parse reads --entrant.
func (f *replayBenchFlags) parse() ([]contest.Entrant, error) {
	texts := f.entrants
	if len(texts) == 0 {
		texts = slices.DeleteFunc(contest.Strategies(), func(n string) bool { return n == "exhaustive" })
		for _, p := range contest.Priors()[1:] {
			texts = append(texts, "bayes/"+string(p))
		}
	}
	var list []contest.Entrant
	for _, t := range texts {
		name, prior, _ := strings.Cut(t, "/")
		e := contest.Entrant{Strategy: name, Prior: contest.Prior(prior)}
		if !slices.Contains(contest.Strategies(), name) || !slices.Contains(contest.Priors(), e.Prior) {
			return nil, cli.Usagef("--entrant %q: use one of %s, alone or with /unseen, /middle, /inverted, /shuffled or /none", t, strings.Join(contest.Strategies(), ", "))
		}
		list = append(list, e)
	}
	switch {
	case f.seeds < 1 || f.seeds > 100000:
		return nil, cli.Usagef("--seeds %d: use 1 to 100000", f.seeds)
	case f.ahead < 0 || f.budget < 0:
		return nil, cli.Usagef("--ahead and --budget must not be negative")
	case !(f.seconds > 0) || math.IsInf(f.seconds, 1):
		return nil, cli.Usagef("--seconds %g: it must be above 0", f.seconds)
	}
	return list, nil
}

func (a *app) runReplayBench(ctx context.Context, f replayBenchFlags) error {
	entrants, err := f.parse()
	if err != nil {
		return err
	}
	landscapes, err := openLandscapes(f.landscapes)
	if err != nil {
		return err
	}
	if f.plots != "" {
		if err := os.MkdirAll(f.plots, 0o755); err != nil {
			return cli.Usagef("--plots: %w", err)
		}
	}
	o := contest.Options{Seeds: f.seeds, Ahead: f.ahead, Time: f.seconds, Budget: f.budget}
	for i, l := range landscapes {
		field, err := fieldOf(l)
		if err != nil {
			return err
		}
		if !field.HasPrior() { // nothing to compare priors with
			o.Entrants = slices.DeleteFunc(slices.Clone(entrants), func(e contest.Entrant) bool { return e.Prior != contest.Model || e.Strategy == "model" })
		} else {
			o.Entrants = entrants
		}
		rows, err := field.Hold(ctx, o)
		if err != nil {
			return err
		}
		if i > 0 {
			fmt.Fprintln(a.Out)
		}
		if err := field.Print(a.Out, rows, o); err != nil {
			return err
		}
		if f.plots != "" {
			svg, err := figure.SVG(field.Plot(rows, o))
			if err != nil {
				return err
			}
			name := filepath.Join(f.plots, strings.ReplaceAll(field.Name, "/", "_")+".svg")
			if err := cache.WriteFile(name, svg); err != nil {
				return err
			}
		}
	}
	return nil
}

// openLandscapes opens recordings by file, or those that ship by part of their name.
func openLandscapes(names []string) ([]*replay.Landscape, error) {
	if len(names) == 0 {
		names = []string{""}
	}
	var list []*replay.Landscape
	for _, n := range names {
		found, err := replay.Match(n)
		if err != nil {
			return nil, err
		}
		list = append(list, found...)
	}
	return list, nil
}

// prior is the cost model with these coefficients.
func prior(c model.Coefficients, p stencil.Problem, m machine.Machine) search.Prior {
	families := all.Families()
	return func(s space.Schedule) float64 {
		return c.Schedule(p, kernels.Find(families, s.Family()), s, model.Facts{}, m).Seconds
	}
}

// parts are those of the cost model's predictions with these coefficients.
func parts(c model.Coefficients, p stencil.Problem, m machine.Machine) search.Parts {
	families := all.Families()
	return func(s space.Schedule) []float64 {
		v := c.Schedule(p, kernels.Find(families, s.Family()), s, model.Facts{}, m)
		return v.Parts[:]
	}
}

// fieldOf prepares a recording.
func fieldOf(l *replay.Landscape) (*contest.Field, error) {
	p, err := l.Problem()
	if err != nil {
		return nil, tuner.Input(err)
	}
	if best, _ := l.Best(); best.Schedule.IsZero() || len(l.Order) < 2 {
		return nil, cli.Usagef("the recording of %s holds nothing to search: %d schedules, the fastest %q", l.Header.Stencil, len(l.Order), best.Schedule)
	}
	if p.Stencil == nil { // another tuner's: no cost model, no naive kernel
		sp := l.Space()
		if err := search.Fits(sp); err != nil {
			return nil, cli.Usagef("the recording of %s cannot be searched: %w", l.Header.Stencil, err)
		}
		return contest.NewField(l, p, sp, space.Schedule{}, nil, nil, nil), nil
	}
	m := l.Header.Machine
	m.Kind = machine.Replay
	sp := kernels.Spaces(all.Families(), p, m)
	for _, s := range runner.Naive(p, sp) {
		if _, ok := l.Records[s]; ok {
			f := contest.NewField(l, p, sp, s, prior(model.Fitted, p, m), prior(model.Calibrated.Without(p.Stencil.Name), p, m), parts(model.Fitted, p, m))
			f.Enter(contest.Middle, prior(model.Middle(), p, m), parts(model.Middle(), p, m))
			return f, nil
		}
	}
	return nil, cli.Usagef("the recording of %s does not hold the naive kernel", p.Text())
}
