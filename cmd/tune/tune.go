package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"maps"
	"math/rand/v2"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"stenciltune/cache"
	"stenciltune/device"
	"stenciltune/device/replay"
	"stenciltune/internal/runner"
	"stenciltune/kernels"
	"stenciltune/kernels/all"
	"stenciltune/machine"
	"stenciltune/search"
	"stenciltune/stencil"
	"stenciltune/timing"
	"stenciltune/tuned"
)

// tuneFlags are the flags of the main job.
type tuneFlags struct {
	problemFlags
	device     string
	strategy   string
	model      string
	sampler    string
	budget     int
	timeLimit  time.Duration
	stall      int
	converged  int
	roofline   float64
	seed       uint64
	regime     string
	exhaustive bool
	record     string
	output     string
	retune     bool
	maxAge     time.Duration
	seeds      int
}

func (f *tuneFlags) bind(c *cobra.Command) {
	f.problemFlags.bind(c)
	f.bindSearch(c)
	c.Flags().BoolVar(&f.exhaustive, "exhaustive", false, "try every legal schedule")
	c.Flags().StringVar(&f.record, "record", "", "write every outcome as a landscape to `file` (.jsonl.gz); one that is there is gone on with, or with --retune replaced")
	c.Flags().StringVarP(&f.output, "output", "o", "", "write the config to `file` too, only if it changed")
}

// bindSearch binds the flags that say where and how to search.
func (f *tuneFlags) bindSearch(c *cobra.Command) {
	c.Flags().StringVar(&f.device, "device", "", "`device`: index, UUID or PCI address of a GPU, host, or replay:h200 (default: the first GPU)")
	c.Flags().StringVar(&f.strategy, "strategy", "bayes", "search `strategy`: "+strings.Join(search.Names(), ", "))
	c.Flags().StringVar(&f.model, "model", modelCounts, modelFlag)
	c.Flags().StringVar(&f.sampler, "sampler", "", "goptuna `sampler` instead of a strategy: "+strings.Join(search.Samplers(), ", "))
	c.Flags().IntVar(&f.budget, "budget", 0, "end after `n` evaluations (default: 600 on a GPU, 60 on the host)")
	c.Flags().DurationVar(&f.timeLimit, "time-limit", 0, "end the search after this `time` (default: 10s on a GPU, 1m on the host)")
	c.Flags().IntVar(&f.stall, "stall", 0, "end after `n` evaluations without an improvement (default: 250)")
	c.Flags().IntVar(&f.converged, "converged", 0, "end after `n` proposals in a row of bayes expected to improve by less than 0.5 % (default: 15); they count by half with a model that measurements find off by 15 %, by a quarter without one or with one off by 30 %")
	c.Flags().Float64Var(&f.roofline, "roofline", 0, "end at this `share` of the roofline of one time step at copy bandwidth; fused steps can pass 1")
	c.Flags().Uint64Var(&f.seed, "seed", 1, "seed of the search and of the input data")
	c.Flags().StringVar(&f.regime, "timing", string(timing.Warm), "cache `regime`: warm (iterated stencils) or cold (single sweeps, L2 flushed before each sample)")
	c.Flags().BoolVar(&f.retune, "retune", false, "measure again, whatever is stored")
	c.Flags().DurationVar(&f.maxAge, "max-age", 0, "measure again what was tuned longer than this `time` ago (0 = never)")
	c.Flags().IntVar(&f.seeds, "seeds", 0, "try the `n` schedules first that stored tunes of other sizes, drivers and devices promise most of (default: they correct the model)")
}

// check refuses what no device could make sense of, before one is opened.
func (f *tuneFlags) check() error {
	switch {
	case f.budget < 0 || f.stall < 0 || f.timeLimit < 0 || f.maxAge < 0 || f.seeds < 0 || f.converged < 0 || !(f.roofline >= 0):
		return usagef("--budget, --stall, --converged, --roofline, --time-limit, --max-age and --seeds must not be negative")
	case f.sampler != "" && (f.strategy != "bayes" || f.exhaustive):
		return usagef("--sampler, --strategy and --exhaustive exclude each other")
	case f.sampler != "" && !slices.Contains(search.Samplers(), f.sampler):
		return usagef("--sampler %q: use one of %s", f.sampler, strings.Join(search.Samplers(), ", "))
	case f.regime != string(timing.Warm) && f.regime != string(timing.Cold):
		return usagef("--timing %q: use warm or cold", f.regime)
	case !slices.Contains(search.Names(), f.strategy):
		return usagef("--strategy %q: use one of %s", f.strategy, strings.Join(search.Names(), ", "))
	case !slices.Contains([]string{modelCounts, modelSL, modelNone}, f.model):
		return usagef("--model %q: use %s, %s or %s", f.model, modelCounts, modelSL, modelNone)
	case f.exhaustive && f.strategy != "bayes" && f.strategy != "exhaustive":
		return usagef("--exhaustive and --strategy %s exclude each other", f.strategy)
	}
	return nil
}

// stop is the stop rules, with defaults for the kind of device.
func (f *tuneFlags) stop(kind machine.Kind) search.Stop {
	if f.exhaustive {
		return search.Stop{Budget: f.budget, Time: f.timeLimit, Stall: f.stall, Roofline: f.roofline}
	}
	s := search.Stop{Budget: 600, Time: 10 * time.Second, Stall: 250, Converged: 15, Roofline: f.roofline}
	if kind == machine.Host {
		s.Budget, s.Time, s.Stall = 60, time.Minute, 40
	}
	if f.converged > 0 {
		s.Converged = f.converged
	}
	if f.budget > 0 {
		s.Budget = f.budget
	}
	if f.timeLimit > 0 {
		s.Time = f.timeLimit
	}
	if f.stall > 0 {
		s.Stall = f.stall
	}
	return s
}

// tune is the main job: config on stdout.
func (a *app) tune(ctx context.Context, f tuneFlags) error {
	if err := f.check(); err != nil {
		return err
	}
	p, err := f.problem(isHost(f.device))
	if err != nil {
		return err
	}
	c, err := a.tuned(ctx, f, p)
	if c != nil {
		err = errors.Join(err, a.emitConfig(*c, f.output))
	}
	return err
}

// tuned is the config of a problem: from the store, or of a tune, which is stored. If
// that ended early there is a config as well as an error, where anything was found.
func (a *app) tuned(ctx context.Context, f tuneFlags, p stencil.Problem) (*cache.Config, error) {
	store, err := a.openStore()
	if err != nil {
		return nil, err
	}
	d, err := a.openDevice(ctx, f.device, p)
	if err != nil {
		return nil, err
	}
	defer d.Close()
	m := d.Machine()
	if err := fits(p, m); err != nil {
		return nil, err
	}
	regime := timing.Regime(f.regime)
	if err := canTime(d, regime); err != nil {
		return nil, err
	}
	var old *replay.Landscape
	if f.record != "" && !f.retune {
		if old, err = recorded(f.record, p, m, regime); err != nil {
			return nil, err
		}
	}
	key := tuned.KeyOf(p, m, regime)
	nearest, err := store.Fitting(key)
	if err != nil {
		return nil, err
	}
	if !f.retune && f.record == "" && !f.exhaustive {
		why := news(p, key, nearest, f.maxAge)
		if len(nearest) > 0 && why == "" {
			c := nearest[0].Config
			a.say("answered from the store (tuned %s%s); --retune measures again", c.Time.Format(time.DateTime), otherScalars(p, c))
			return &c, nil
		}
		if why != "" {
			a.say("%s: tuning", why)
		}
		// What is too old is not taken from the journal either.
		f.retune = f.maxAge > 0 && len(nearest) > 0 && time.Since(nearest[0].Config.Time) > f.maxAge
	}
	sp := kernels.Spaces(all.For(p), p, m)
	if r, ok := d.(replay.Device); ok {
		sp = r.Within(sp)
	}
	if sp.Size() == 0 {
		return nil, fmt.Errorf("%w: none is legal on a grid of %s: choose a larger --size", &runner.ErrNoSchedule{}, p.Size.Text(p.Stencil.Dims))
	}
	a.say("%s on %s (%s): %d legal schedules of %d", p.Text(), m.Name, m.Kind, sp.Size(), sp.Raw())

	name := cmp.Or(f.sampler, f.strategy)
	if f.exhaustive {
		name = "exhaustive"
	}
	var past []search.Past
	if !f.retune {
		if past, err = a.past(store, key, p, m); err != nil {
			return nil, err
		}
	}
	stop := f.stop(m.Kind)
	total := sp.Size()
	if stop.Budget > 0 {
		total = min(total, stop.Budget)
	}
	o := runner.Options{
		Problem: p, Device: d, Families: all.For(p), Judge: judgeOf(p), Space: sp, Stop: stop,
		Regime: regime, Seed: dataSeed(f.seed), Ahead: ahead(d), Mutate: faultMutator(),
	}
	known, err := rated(store, m)
	if err != nil {
		return nil, err
	}
	rank, err := a.priorNamed(f.model, p, known, measureFor(ctx, o, d, &known))
	if err != nil {
		return nil, err
	}
	strategy, err := search.New(name, search.Options{Space: sp, Prior: rank, Past: past, Seed: f.seed})
	if err != nil {
		return nil, usageError{err}
	}
	if f.seeds > 0 && !f.exhaustive && len(nearest) > 0 {
		seeds, err := tuned.Seeds(ctx, store, tuned.Question{Problem: p, Machine: m, Regime: regime}, f.seeds)
		if err != nil {
			return nil, err
		}
		strategy = seed(strategy, sp, seeds)
	}
	o.Strategy = strategy
	j := newJournal(store, key)
	if !f.retune {
		if j, err = openJournal(store, key); err != nil {
			return nil, err
		}
	}
	if old != nil {
		j.take(old)
	}
	o.Journal = j
	g := a.progress(p, total)
	o.Watcher = g
	result, err := runner.Tune(ctx, o)
	g.done()
	if cerr := j.close(); cerr != nil {
		err = errors.Join(err, cerr)
	}
	if f.record != "" && len(result.Outcomes) > 0 {
		if werr := record(f.record, old, p, m, result, sp, o.Regime, compilations(d), a.args); werr != nil {
			err = errors.Join(err, werr)
		}
	}
	if result.Winner.Schedule.IsZero() {
		if err == nil || result.Stop == search.Interrupted {
			a.say("interrupted before any schedule was measured")
			return nil, silentError(exitInterrupted)
		}
		return nil, err
	}
	facts := searchFacts{strategy: strategy.Name(), space: sp.Size(), raw: sp.Raw(), seed: f.seed, regime: o.Regime, dataSeed: o.Seed}
	if r, ok := d.(replay.Device); ok {
		facts.provenance = r.Header.Command + " at " + r.Header.Time
	}
	c := configOf(p, m, result, facts)
	if result.Complete {
		if perr := store.PutBest(key, c); perr != nil {
			err = errors.Join(err, perr)
		}
	}
	for _, w := range append(store.Warnings(), c.Warnings...) {
		a.say("warning: %s", w)
	}
	a.say("%s: %.1f GCells/s (%.4g ms a step), %.2f times naive; %d evaluated in %.1f s, stopped by %s",
		c.Schedule.Text, c.Measured.CellsPerSecond/1e9, 1e3*c.Measured.SecondsPerStep, c.Speedup, c.Search.Evaluated, c.Search.Seconds, c.Search.Stop)
	if err == nil && result.Stop == search.Interrupted {
		err = silentError(exitInterrupted)
	}
	return &c, err
}

// otherScalars says with which values of the scalars a stored config was tuned, "" if
// with the problem's. The key holds none that the best schedule may depend on.
func otherScalars(p stencil.Problem, c cache.Config) string {
	asked := scalarsOf(p)
	var other []string
	for _, name := range slices.Sorted(maps.Keys(c.Scalars)) {
		if v, ok := asked[name]; ok && v != c.Scalars[name] {
			other = append(other, fmt.Sprintf("%s=%v", name, c.Scalars[name]))
		}
	}
	if len(other) == 0 {
		return ""
	}
	return " with " + strings.Join(other, ", ") + ", which decides no branch"
}

// canTime refuses a cache regime that a device cannot offer.
func canTime(d device.Device, regime timing.Regime) error {
	if r, ok := d.(replay.Device); ok && r.Header.Regime != regime {
		return usagef("--timing %s: the recording was made with --timing %s", regime, r.Header.Regime)
	}
	if d.Machine().Kind == machine.Host && regime == timing.Cold {
		return usagef("--timing cold: the host's caches cannot be flushed; use warm, or a GPU")
	}
	return nil
}

// current tells whether a stored config's kernel is still what we would generate.
func current(p stencil.Problem, c cache.Config) bool {
	stale, err := tuned.Refresh(&c, p)
	return err == nil && !stale
}

// emitConfig prints a config, and writes it to a file if one is named.
func (a *app) emitConfig(c cache.Config, file string) error {
	b, err := cache.Encode(c)
	if err != nil {
		return err
	}
	if file != "" {
		if err := cache.WriteFile(file, b); err != nil {
			return err
		}
	}
	_, err = a.out.Write(b)
	return err
}

// openStore opens the store for writing too.
func (a *app) openStore() (*cache.Store, error) {
	s, err := a.readStore()
	if err != nil {
		return nil, err
	}
	return s, s.Writable()
}

// readStore opens the store, which need not exist, for reading.
func (a *app) readStore() (*cache.Store, error) {
	path := a.store
	if path == "" {
		var err error
		if path, err = cache.DefaultPath(); err != nil {
			return nil, err
		}
	}
	return cache.Open(path)
}

// buffers is how many grids of each field a tune needs at once: two to alternate, the
// expected answer, and one to compute it with.
const buffers = 4

// fits refuses a grid that does not fit into the device.
func fits(p stencil.Problem, m machine.Machine) error {
	free := m.FreeBytes
	if free == 0 {
		free = m.MemoryBytes
	}
	grids := buffers * len(p.Stencil.Fields)
	need := float64(grids) * float64(p.Bytes())
	for _, n := range p.Lengths() {
		need += float64(n) * float64(p.DType.Size())
	}
	if m.Kind == machine.Replay || free == 0 || need <= float64(free) {
		return nil
	}
	return usagef("--size %s: tuning keeps %d grids of %.1f GiB, with read-only arrays %.1f GiB, but %s has %.1f GiB free; choose a smaller size",
		p.Size.Text(p.Stencil.Dims), grids, float64(p.Bytes())/(1<<30), need/(1<<30), m.Name, float64(free)/(1<<30))
}

// dataSeed is the seed of the input data, drawn from the search's.
func dataSeed(seed uint64) uint32 { return rand.New(rand.NewPCG(seed, 0x5eed)).Uint32() }
