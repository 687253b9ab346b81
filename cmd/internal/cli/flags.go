package cli

import (
	"errors"
	"fmt"
	"strconv"
	"strings"

	"github.com/spf13/cobra"

	"stenciltune/cache"
	"stenciltune/search"
	"stenciltune/stencil"
	"stenciltune/timing"
	"stenciltune/tuner"
)

// ProblemFlags name a problem.
type ProblemFlags struct{ tuner.Spec }

// Bind binds the flags of a problem.
func (f *ProblemFlags) Bind(c *cobra.Command) {
	f.bind(c)
	c.Flags().StringVar(&f.Size, "size", "", docSize)
}

// BindSizes binds the flags of a problem on several grids.
func (f *ProblemFlags) BindSizes(c *cobra.Command, sizes *[]string) {
	f.bind(c)
	c.Flags().StringArrayVar(sizes, "size", nil, docSize+"; repeat it for several")
}

const docSize = "grid `size`, x fastest, like 512x512x512 (default: the stencil's own)"

func (f *ProblemFlags) bind(c *cobra.Command) {
	c.Flags().StringVar(&f.Stencil, "stencil", "", "`name` of a stencil (see tune stencils) or path of a .sl file")
	f.BindCell(c)
	c.Flags().Var((*stepsFlag)(&f.Steps), "steps", "time `steps` of one run of the program that will use the config (default: the stencil's own, else 1000)")
}

// BindCell binds the flags that say how a cell is computed.
func (f *ProblemFlags) BindCell(c *cobra.Command) {
	c.Flags().StringVar(&f.DType, "dtype", "", "element `type`: float32, float64, float16 or bfloat16 (default: the stencil's own)")
	c.Flags().StringVar(&f.Compute, "compute", "", "`type` that it is computed in: float16 of float16 elements of a weighted sum, whose tolerance grows (default: float32 for 16 bits, else the element type)")
	c.Flags().StringArrayVar(&f.Scalars, "scalar", nil, "`name=value` of a scalar of the stencil; repeat it for several (default: the stencil's own)")
}

// On is the problem on a device: the host has smaller sizes of its own.
func (f *ProblemFlags) On(device string) (tuner.Problem, error) {
	f.Small = tuner.IsHost(device)
	return f.Problem()
}

// stepsFlag is the value of --steps; 0 = not given.
type stepsFlag int

func (f *stepsFlag) Type() string { return "int" }

func (f *stepsFlag) String() string {
	if *f == 0 {
		return ""
	}
	return strconv.Itoa(int(*f))
}

func (f *stepsFlag) Set(text string) error {
	n, err := strconv.Atoi(text)
	if err != nil || n < 1 || n > stencil.MaxSteps {
		return fmt.Errorf("the number of time steps must lie in 1..%d", stencil.MaxSteps)
	}
	*f = stepsFlag(n)
	return nil
}

// shareFlag is the value of a flag that is a share, as a number or in per cent; 0 = not given.
type shareFlag float64

func (f *shareFlag) Type() string { return "share" }

func (f *shareFlag) String() string {
	if *f == 0 {
		return ""
	}
	return strconv.FormatFloat(float64(*f), 'g', -1, 64)
}

func (f *shareFlag) Set(text string) error {
	number, percent := strings.CutSuffix(strings.TrimSpace(text), "%")
	v, err := strconv.ParseFloat(strings.TrimSpace(number), 64)
	if percent {
		v /= 100
	}
	if err != nil || !(v > 0) || v > 1 {
		return fmt.Errorf("%q is no share between 0 and 1: write 1%% or 0.01", text)
	}
	*f = shareFlag(v)
	return nil
}

// Models that rank schedules before they run, as --model names them.
const (
	ModelCounts = "counts"
	ModelNone   = "none"
)

// TuneFlags say where and how to tune.
type TuneFlags struct {
	Device string
	Model  string
	Output string
	tuner.Options
}

// Bind binds the flags of a search.
func (f *TuneFlags) Bind(c *cobra.Command) {
	c.Flags().StringVar(&f.Device, "device", "", "`device`: index, UUID or PCI address of a GPU, host, or replay:h200; several GPUs as 0,1 or all (default: the first GPU)")
	c.Flags().StringVar(&f.Strategy, "strategy", search.Names()[0], "search `strategy`: "+strings.Join(search.Names(), ", "))
	c.Flags().StringVar(&f.Model, "model", ModelCounts, "`model` that ranks schedules before they run: counts, none")
	c.Flags().BoolVar(&f.Beyond, "beyond", false, "also try schedules that are left out because their like was never the fastest where it was measured")
	c.Flags().IntVar(&f.Stop.Budget, "budget", 0, "end after `n` evaluations, of which those of the naive kernel, up to 3, and of a stored schedule are always made (default: 600 on a GPU, 60 on the host)")
	c.Flags().DurationVar(&f.Stop.Time, "time-limit", 0, "end the search after this `time` (default: 10s on a GPU, up to 17s for costly compilations; 1m on the host)")
	c.Flags().IntVar(&f.Stop.Stall, "stall", 0, "end after `n` evaluations without an improvement (default: 250, or 125 where the model foretells the space; 40 on the host)")
	c.Flags().IntVar(&f.Stop.Converged, "converged", 0, "end after `n` proposals in a row of bayes expected to improve by less than 0.5 % (default: 15); they count eightfold while measurements rank as the model does, by half while they roughly do, else by a quarter")
	c.Flags().Float64Var(&f.Stop.Roofline, "roofline", 0, "end at this `share` of the roofline of one time step at copy bandwidth; fused steps can pass 1")
	c.Flags().Var((*shareFlag)(&f.Stop.Within), "within", "end when the best is within this `share` (1% or 0.01) of the best of its space with probability 0.95, says bayes (default: off)")
	c.Flags().Uint64Var(&f.Seed, "seed", 1, "seed of the search and of the input data")
	f.Regime = timing.Warm
	c.Flags().StringVar((*string)(&f.Regime), "timing", string(timing.Warm), "cache `regime`: warm (iterated stencils) or cold (single sweeps, L2 flushed before each sample)")
	BindObjective(c, &f.Objective, "what the finals choose by: time, energy or edp (joules times seconds); the last two need a GPU with an energy counter")
	c.Flags().BoolVar(&f.Again, "retune", false, "measure again, whatever is stored")
	c.Flags().DurationVar(&f.MaxAge, "max-age", 0, "measure again what was tuned longer than this `time` ago (0 = never)")
}

// BindObjective binds the flag that says by what a schedule is, or was, chosen.
func BindObjective(c *cobra.Command, o *timing.Objective, doc string) {
	*o = timing.ForTime
	c.Flags().StringVar((*string)(o), "objective", string(timing.ForTime), "`objective`: "+doc)
}

// BindWhole binds what only a tune of one problem takes.
func (f *TuneFlags) BindWhole(c *cobra.Command) {
	f.Bind(c)
	c.Flags().BoolVar(&f.Exhaustive, "exhaustive", false, "try every legal schedule")
	c.Flags().BoolVar(&f.Share, "share", false, "measure together with other tunes of this problem that share the store, on other machines too; --budget counts what all of them evaluate")
	c.Flags().StringVar(&f.Record, "record", "", "write every outcome as a landscape to `file` (.jsonl.gz); one that is there is gone on with, or with --retune replaced")
	c.Flags().StringVarP(&f.Output, "output", "o", "", "write the config to `file` too, only if it changed")
}

// Check refuses flags that no device could make sense of, before one is opened.
func (f *TuneFlags) Check() error {
	if f.Model != ModelCounts && f.Model != ModelNone {
		return Usagef("--model %q: use %s or %s", f.Model, ModelCounts, ModelNone)
	}
	f.NoPrior = f.Model == ModelNone
	return f.Options.Check()
}

// ParseRegime reads --timing.
func ParseRegime(text string) (timing.Regime, error) {
	if r := timing.Regime(text); r == timing.Warm || r == timing.Cold {
		return r, nil
	}
	return "", Usagef("--timing %q: use warm or cold", text)
}

// Tune tunes a problem on the devices that the flags name, and prints the config, one for each model.
// One whose tune ended early is printed where anything was found.
func (a *App) Tune(c *cobra.Command, t *tuner.Tuner, p tuner.Problem, f TuneFlags) error {
	models, err := f.Models(t)
	if err != nil {
		return err
	}
	var groups []Group
	for _, m := range models {
		groups = append(groups, Group{m, true, []Task{{Problem: p, Flags: f}}})
	}
	var failed error
	err = a.Spread(c.Context(), t, groups, func(_ tuner.Problem, config tuner.Config, err error) error {
		failed = errors.Join(failed, a.foundNothing(config, err))
		if config.Schedule.Text != "" {
			return a.EmitConfig(config, f.Output)
		}
		return nil
	})
	return errors.Join(failed, err)
}

// Models are the devices that the flags name, by model. What cannot be written is refused before one is opened.
func (f TuneFlags) Models(t *tuner.Tuner) ([]tuner.Selection, error) {
	if err := t.Store().Writable(); err != nil {
		return nil, err
	}
	if f.Output != "" {
		if err := cache.CanWrite(f.Output); err != nil {
			return nil, err
		}
	}
	models, err := tuner.Select(f.Device)
	if err == nil && len(models) > 1 && (f.Output != "" || f.Record != "") {
		err = Usagef("--device %s: devices of %d models are as many tunes, and --output and --record name one file: name the devices of one model (%s)", f.Device, len(models), models[0])
	}
	return models, err
}

// foundNothing says of an interrupted tune that has no config that it has none.
func (a *App) foundNothing(config tuner.Config, err error) error {
	if errors.Is(err, tuner.ErrInterrupted) && config.Schedule.Text == "" {
		a.Say("interrupted before any schedule was measured")
	}
	return err
}

// Config is the config of a problem on the devices of one model that the flags name.
func (a *App) Config(c *cobra.Command, t *tuner.Tuner, p tuner.Problem, f TuneFlags) (tuner.Config, error) {
	models, err := f.Models(t)
	if err != nil {
		return tuner.Config{}, err
	}
	if len(models) > 1 {
		return tuner.Config{}, Usagef("--device %s: the devices are of %d models; name those of one (%s)", f.Device, len(models), models[0])
	}
	config, err := a.tuneOn(c.Context(), t, p, f, models[0].Open, "")
	return config, a.foundNothing(config, err)
}

// command is the command line.
func (a *App) command() string { return strings.TrimSpace(a.Name + " " + strings.Join(a.Args, " ")) }

// EmitConfig prints a config, and writes it to a file if one is named.
func (a *App) EmitConfig(c tuner.Config, file string) error {
	b, err := cache.Encode(c)
	if err != nil {
		return err
	}
	if file != "" { // before stdout, which may be full, or closed where the file is enough
		if err = cache.WriteFile(file, b); err == nil {
			a.nowhere.Do(func() {})
		}
	}
	_, stdout := a.Out.Write(b)
	if stdout != nil {
		stdout = fmt.Errorf("the config could not be printed: %w", stdout)
	}
	return errors.Join(err, stdout)
}
