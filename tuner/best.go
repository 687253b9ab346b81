package tuner

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"math"
	"slices"

	"stenciltune/cache"
	"stenciltune/kernels"
	"stenciltune/machine"
	"stenciltune/search"
	"stenciltune/space"
	"stenciltune/stencil"
	"stenciltune/timing"
	"stenciltune/transfer"
)

// Answer is a config and how well it fits.
type Answer struct {
	// Config is complete: its launch is that of the problem asked for, its match says
	// how well it fits, and Expected what it should reach if it was not measured there.
	Config cache.Config
	Grade  cache.Grade
	// Stale is set if the kernel that would be generated now is not the one that was
	// measured.
	Stale bool
}

// ErrNotTuned is in the chain of the error of a problem for which nothing of use is
// stored: tune it.
var ErrNotTuned = errors.New("nothing of use is stored")

// Best answers from the store, without measuring: the problem's own config if there is one,
// else the schedule that the measurements of other sizes, drivers or devices and the cost
// model promise most of. regime "" is warm. It answers for time: see BestFor.
func (t *Tuner) Best(ctx context.Context, p Problem, m machine.Machine, regime timing.Regime) (Answer, error) {
	return t.BestFor(ctx, p, m, regime, timing.ForTime)
}

// BestFor is Best of what was chosen by an objective. Nothing predicts energy: for another size,
// driver or device it answers with the nearest schedule that is legal there.
func (t *Tuner) BestFor(ctx context.Context, p Problem, m machine.Machine, regime timing.Regime, o timing.Objective) (Answer, error) {
	regime, o = cmp.Or(regime, timing.Warm), cmp.Or(o, timing.ForTime)
	known, grade, err := t.recall(ctx, p, KeyOf(p, m, regime).For(o), false)
	if err != nil {
		return Answer{Grade: cache.None}, err
	}
	if len(known) > 0 && grade == cache.Exact {
		return t.exact(known[0].config, p)
	}
	if len(known) > 0 {
		rated, err := t.Rated(m)
		if err != nil {
			return Answer{}, err
		}
		there := transfer.At(t.families(), p, rated)
		choices := there.Choices(t.Space(p, there.Machine), places(known))
		if o != timing.ForTime {
			if choices, known, err = t.nearestLegal(p, there.Machine, known); err != nil {
				return Answer{}, err
			}
		}
		if list := transfer.Rank(there, places(known), choices); len(list) > 0 {
			return Answer{Config: t.adapt(p, m.WithLimits(), grade, known, list[0]), Grade: grade}, nil
		}
	}
	if _, err := t.store.Bests(); err != nil { // so that one whose name is damaged is noticed: it may be what is asked for
		return Answer{Grade: cache.None}, err
	}
	by := string(regime)
	if o != timing.ForTime {
		by += ", by " + string(o)
	}
	return Answer{Grade: cache.None}, fmt.Errorf("%w for %s (%s) on %s: run tune there, or import its config", ErrNotTuned, p.Text(), by, m.Name)
}

// nearestLegal is the schedule of the nearest stored problem whose own is legal for p, and that
// problem.
func (t *Tuner) nearestLegal(p Problem, m machine.Machine, known []stored) ([]Schedule, []stored, error) {
	sp := t.Space(p, m)
	for i, k := range known {
		s, err := space.ParseSchedule(k.config.Schedule.Text)
		if err != nil {
			return nil, nil, err
		}
		if s = kernels.On(s, m); sp.Check(s) == nil {
			return []Schedule{s}, known[i : i+1], nil
		}
	}
	return nil, nil, nil
}

// exact is the answer of a problem's own config.
func (t *Tuner) exact(c Config, p Problem) (Answer, error) {
	stale, err := t.Refresh(&c, p)
	if err != nil {
		return Answer{}, err
	}
	c.Match = cache.MatchInfo{Grade: cache.Exact}
	if err := t.asAsked(&c, p); err != nil {
		return Answer{}, err
	}
	if stale {
		c.Warnings = append(slices.Clone(c.Warnings), "the kernel or its launch has changed since it was measured: tune again")
	}
	return Answer{Config: c, Grade: cache.Exact, Stale: stale}, nil
}

// asAsked makes a config of p's key one of p: the number of steps may leave others over, and
// scalars that the key has not may have other values.
func (t *Tuner) asAsked(c *Config, p Problem) error {
	c.Scalars = Scalars(p)
	if c.Problem.Steps == p.Steps {
		return nil
	}
	s, err := space.ParseSchedule(c.Schedule.Text)
	if err == nil {
		t.relaunch(c, p, s)
	}
	return err
}

// expected is the prior of a tune on a machine with its rates: the order in which Best would
// answer if the problem itself had no config. known is how many other stored problems it
// knows of; with again none. What was measured of the problem itself the journal answers.
func (t *Tuner) expected(ctx context.Context, p Problem, m machine.Machine, key cache.Key, again bool) (x transfer.Expectation, known int, err error) {
	var list []stored
	if !again {
		if list, _, err = t.recall(ctx, p, key, true); err != nil {
			return x, 0, err
		}
		begun, err := t.unfinished(p, m, key, list)
		if err != nil {
			return x, 0, err
		}
		list = append(list, begun...)
	}
	return transfer.Expect(transfer.At(t.families(), p, m), places(list)), len(list), nil
}

// Expected is the cost model's prior of a problem on a machine, before anything is known.
func (t *Tuner) Expected(p Problem, m machine.Machine) search.Prior {
	return transfer.Expect(transfer.At(t.families(), p, m), nil).Order
}

// Refresh makes the launches of a config from elsewhere those that follow from its schedule,
// its problem and the kernels generated now, if these are not what it says. A schedule that
// is not legal on the config's own problem and device is an error.
func (t *Tuner) Refresh(c *Config, p Problem) (stale bool, err error) {
	sc, err := space.ParseSchedule(c.Schedule.Text)
	if err != nil {
		return false, err
	}
	if err := t.Space(p, c.Machine()).Check(sc); err != nil {
		return false, err
	}
	now := *c
	p.Steps = c.Problem.Steps // those of the problem may leave others over
	t.relaunch(&now, p, sc)
	if sameKernels(*c, now) && differentLaunch(*c, now) == "" {
		return false, nil
	}
	*c = now
	return true, nil
}

// Follows refuses a config from elsewhere whose schedule is not legal, or whose launch is not
// what follows from it: it was never measured like that. Of kernels that are generated
// differently now, only the schedule can be judged.
func (t *Tuner) Follows(c Config, p Problem) error {
	said := c
	if stale, err := t.Refresh(&c, p); err != nil || !stale || !sameKernels(said, c) {
		return err
	}
	return fmt.Errorf("%s is not what follows from its schedule %s on %s", differentLaunch(said, c), c.Schedule.Text, p.Size.Text(p.Stencil.Dims))
}

// sameKernels tells whether two configs are of the same sources.
func sameKernels(a, b Config) bool {
	return a.Kernel.SourceHash == b.Kernel.SourceHash &&
		(a.Remainder == nil || b.Remainder == nil || a.Remainder.Kernel.SourceHash == b.Remainder.Kernel.SourceHash)
}

// differentLaunch says what of a config's launches is not as in the other, "" if nothing.
func differentLaunch(c, want Config) string {
	switch {
	case c.Kernel.Entry != want.Kernel.Entry:
		return fmt.Sprintf("its entry %.100q", c.Kernel.Entry)
	case c.Launch != want.Launch:
		return fmt.Sprintf("its launch (grid %v, block %v, %d bytes, %d steps)", c.Launch.Grid, c.Launch.Block, c.Launch.SharedBytes, c.Launch.StepsPerLaunch)
	case (c.Remainder == nil) != (want.Remainder == nil):
		return "whether steps are left over"
	case c.Remainder != nil && (c.Remainder.Launch != want.Remainder.Launch || c.Remainder.Schedule.Text != want.Remainder.Schedule.Text || c.Remainder.Kernel.Entry != want.Remainder.Kernel.Entry):
		return "the launch of the steps left over"
	}
	return ""
}

// mostPlaces bounds the stored problems that are looked at, nearest first: further
// ones count little.
const mostPlaces = 12

// stored is what the store holds of one problem on one machine.
type stored struct {
	transfer.Evidence
	key    cache.Key
	config Config
}

// places is the evidence of stored problems.
func places(list []stored) []transfer.Evidence {
	var e []transfer.Evidence
	for _, s := range list {
		e = append(e, s.Evidence)
	}
	return e
}

// recall gathers what is stored of the best grade there is, nearest first, with others not of
// the problem itself. A record whose schedule is not legal on its own problem is passed over.
func (t *Tuner) recall(ctx context.Context, p Problem, key cache.Key, others bool) (known []stored, grade cache.Grade, err error) {
	grade = cache.None
	for c, err := range t.store.Fitting(key) {
		if err := errors.Join(err, ctx.Err()); err != nil {
			return nil, cache.None, err
		}
		g := key.Match(c.Key)
		if others && g == cache.Exact {
			continue
		}
		if len(known) == mostPlaces || len(known) > 0 && (g != grade || grade == cache.Exact) {
			break
		}
		e, err := t.gather(p, c)
		if err != nil {
			return nil, cache.None, err
		}
		sc, err := space.ParseSchedule(c.Config.Schedule.Text)
		if _, legal := e.Seconds[sc]; err != nil || !legal {
			continue
		}
		known, grade = append(known, e), g
	}
	return known, grade, nil
}

// gather collects the measurements of one stored config of p's stencil: its own schedules,
// and those in the journal beside it. Schedules that are not legal there are left out:
// nobody can have measured them.
func (t *Tuner) gather(p Problem, c cache.Stored) (stored, error) {
	e := stored{key: c.Key, config: c.Config}
	e.Seconds = map[space.Schedule]float64{}
	if len(c.Config.Problem.Size) != p.Stencil.Dims {
		return e, nil
	}
	p = Problem{Stencil: p.Stencil, DType: stencil.DType(c.Config.Stencil.DType), Size: stencil.Size{1, 1, 1}, Steps: c.Config.Problem.Steps}
	copy(p.Size[:], c.Config.Problem.Size)
	m, err := t.Rated(c.Config.Machine())
	if err != nil {
		return e, err
	}
	e.Place = transfer.At(t.families(), p, m)
	sp := t.Space(p, e.Machine)
	add := func(sc Schedule, seconds float64) {
		if seconds > 0 && sp.Check(sc) == nil {
			e.Seconds[sc] = seconds
		}
	}
	entries, err := t.store.History(c.Key.Journal())
	if err != nil {
		return e, err
	}
	for _, x := range entries {
		add(x.Schedule, x.Seconds())
	}
	text := func(text string, seconds float64) {
		if sc, err := space.ParseSchedule(text); err == nil {
			add(sc, seconds)
		}
	}
	if b := c.Config.Baseline; b != nil {
		text(b.Schedule, b.SecondsPerStep)
	}
	for _, t := range c.Config.Ties {
		text(t.Schedule, t.SecondsPerStep)
	}
	text(c.Config.Schedule.Text, c.Config.Measured.SecondsPerStep)
	return e, nil
}

// unfinished gathers the journals of other sizes on the same device whose tunes did not come
// to a config, the nearest first, as many as there is room for beside what is known.
func (t *Tuner) unfinished(p Problem, m machine.Machine, key cache.Key, known []stored) (list []stored, err error) {
	keys, err := t.store.Keys()
	if err != nil {
		return nil, err
	}
	keys = slices.DeleteFunc(keys, func(k cache.Key) bool {
		return key.Match(k) != cache.OtherSize || slices.ContainsFunc(known, func(s stored) bool { return s.key.Journal() == k })
	})
	slices.SortFunc(keys, key.Nearer)
	for _, k := range keys {
		if len(known)+len(list) == mostPlaces {
			break
		}
		q := p
		if q.Size, err = stencil.ParseSize(k.Size, p.Stencil.Dims); err != nil {
			continue // written by another version
		}
		entries, err := t.store.History(k)
		if err != nil {
			return nil, err
		}
		e := stored{key: k, Evidence: transfer.Evidence{Place: transfer.At(t.families(), q, m), Seconds: map[space.Schedule]float64{}}}
		sp := t.Space(q, e.Machine)
		for _, x := range entries {
			if x.Seconds() > 0 && sp.Check(x.Schedule) == nil {
				e.Seconds[x.Schedule] = x.Seconds()
			}
		}
		if len(e.Seconds) > 0 {
			list = append(list, e)
		}
	}
	return list, nil
}

// relaunch makes a config's launches those of a problem and of the kernels generated
// now. What was measured of another source's kernel is dropped.
func (t *Tuner) relaunch(c *Config, p Problem, s Schedule) {
	kernel := func(s space.Schedule, options []string) (cache.LaunchInfo, cache.KernelInfo) {
		k := t.Kernel(p, s)
		info := cache.KernelInfo{Entry: k.Entry, SourceHash: k.SourceHash(), Options: options}
		if info.SourceHash == c.Kernel.SourceHash {
			info = c.Kernel
			info.Entry = k.Entry
		}
		return launchInfo(k.Launch), info
	}
	options := c.Kernel.Options
	c.Problem = cache.ProblemInfo{Size: slices.Clone(p.Size[:p.Stencil.Dims]), Steps: p.Steps}
	c.Schedule = cache.ScheduleOf(s)
	c.Remainder = nil
	c.Launch, c.Kernel = kernel(s, options)
	if p.Steps%c.Launch.StepsPerLaunch != 0 {
		rest := kernels.Remainder(s)
		l, k := kernel(rest, options)
		c.Remainder = &cache.RemainderInfo{Schedule: cache.ScheduleOf(rest), Launch: l, Kernel: k}
	}
}

// rounded keeps four digits: the last bits of a logarithm differ between processors, and
// the same store must give the same answer on all.
func rounded(v float64) float64 { return timing.Digits(v, 4) }

// adapt makes the nearest record's config one of another problem or device: nothing in
// it claims to be measured.
func (t *Tuner) adapt(p Problem, m machine.Machine, grade cache.Grade, known []stored, r transfer.Ranked) Config {
	c := known[0].config
	from := known[0].key
	for _, e := range known { // whose schedule it is
		if _, low := e.Best(); e.Seconds[r.Schedule] == low {
			from = e.key
			break
		}
	}
	t.relaunch(&c, p, r.Schedule)
	c.Scalars = Scalars(p)
	c.Device = cache.DeviceOf(m)
	c.Toolchain.Compiler, c.Toolchain.CUDA = m.Compiler, m.CUDAVersion
	c.Measured = cache.MeasuredInfo{Regime: c.Measured.Regime}
	c.Baseline, c.Speedup, c.RooflineShare, c.Ties, c.Finals, c.Energy, c.Within, c.Verification = nil, 0, 0, nil, nil, nil, nil, cache.VerificationInfo{}
	c.Expected = &cache.ExpectedInfo{SecondsPerStep: rounded(r.Seconds), Loss: rounded(math.Max(0, transfer.LeaveOneOut(places(known)))), Sizes: len(known)}
	c.Match = cache.MatchInfo{Grade: grade, Note: from.TunedFor()}
	if r.Weight == 0 {
		c.Match.Note += "; the schedule itself was measured nowhere"
	}
	c.Warnings = []string{fmt.Sprintf("not measured: match %s, %s", grade, c.Match.Note)}
	return c
}
