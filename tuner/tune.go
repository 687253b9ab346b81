package tuner

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"time"

	"stenciltune/cache"
	"stenciltune/device"
	"stenciltune/device/microbench"
	"stenciltune/device/replay"
	"stenciltune/machine"
	"stenciltune/model"
	"stenciltune/runner"
	"stenciltune/search"
	"stenciltune/space"
	"stenciltune/timing"
)

// A tune is these steps, one after the other. Those of prepare end it where the store has
// the answer; those of keep run whatever became of the measuring.
var (
	prepare = []step{(*job).fit, (*job).goOn, (*job).answer, (*job).enumerate, (*job).acquaint, (*job).predict, (*job).open}
	measure = []step{(*job).baseline, (*job).search, (*job).finals}
	keep    = []step{(*job).close, (*job).record, (*job).configure, (*job).remember}
)

// step does one part of a tune.
type step func(*job, context.Context) error

// job is one tune under way.
type job struct {
	*Tuner
	Options
	problem Problem
	device  Device
	machine machine.Machine

	key       cache.Key
	recording *replay.Landscape // that is gone on with; nil = none
	legal     *space.Space      // all schedules there are
	space     *space.Space      // that are searched
	prior     search.Prior
	parts     search.Parts
	journal   log
	session   *runner.Session
	measured  runner.Result

	incumbent Schedule // that is stored, and is measured beside what is found; zero = none
	answered  bool     // by the store
	config    Config
}

// Tune is the config of a problem on a device: the store's if it has one that still holds,
// else of a search, which is stored. With ErrInterrupted the config is the best so far;
// where nothing was found it is the zero Config. No schedule that works is a
// runner.ErrNoSchedule, what a person must mend an InputError.
func (t *Tuner) Tune(ctx context.Context, p Problem, d Device, o Options) (Config, error) {
	j := &job{Tuner: t, Options: o.withDefaults(), problem: p, device: d, machine: d.Machine()}
	err := j.do(ctx, prepare)
	if err != nil || j.answered {
		return j.config, err
	}
	err = j.do(ctx, measure)
	j.measured, err = j.session.End(ctx, err)
	if errors.Is(err, runner.ErrNoEnergy) {
		err = Inputf("--objective %s on %s: %w", j.Objective, j.machine.Name, err)
	}
	var none *runner.ErrNoSchedule
	if j.measured.Stop == search.Interrupted && errors.As(err, &none) { // the user's stop, and no fault
		err = nil
	}
	for _, s := range keep {
		err = also(err, s(j, ctx))
	}
	if err == nil && j.measured.Stop == search.Interrupted {
		err = ErrInterrupted
	}
	return j.config, err
}

// also adds an error, unless it is the store's once more: one that is away fails whatever comes.
func also(err, more error) error {
	var e *cache.Error
	if errors.As(err, &e) && errors.As(more, &e) {
		return err
	}
	return errors.Join(err, more)
}

// do runs steps until one fails or the store has answered.
func (j *job) do(ctx context.Context, steps []step) error {
	for _, s := range steps {
		if err := s(j, ctx); err != nil || j.answered {
			return err
		}
	}
	return nil
}

// fit refuses what cannot be tuned on this device.
func (j *job) fit(context.Context) error {
	if err := j.Check(); err != nil {
		return err
	}
	if err := j.Tuner.store.Writable(); err != nil {
		return err
	}
	if err := metered(j.device, j.machine, j.Objective); err != nil {
		return err
	}
	return fit(j.problem, j.device, j.Regime)
}

// metered refuses an objective that a device cannot tell.
func metered(d Device, m machine.Machine, o timing.Objective) error {
	if meter, ok := d.(device.Meter); o == timing.ForTime || ok && meter.Metered() {
		return nil
	}
	return Inputf("--objective %s: %s (%s) has no energy counter of its own; NVIDIA GPUs have one since Volta, instances of a partitioned GPU (MIG) have none. Use --objective time", o, m.Name, m.Kind)
}

// goOn reads the landscape that the tune is to go on with, and refuses a file that cannot be written in the end.
func (j *job) goOn(context.Context) (err error) {
	if j.Record == "" {
		return nil
	}
	if err := cache.CanWrite(j.Record); err != nil {
		return err
	}
	if !j.Again {
		j.recording, err = recorded(j.Record, j.problem, j.machine, j.Regime)
	}
	return err
}

// answer ends the tune if the store has a config that still holds, and says what is new
// otherwise.
func (j *job) answer(context.Context) (err error) {
	j.key = KeyOf(j.problem, j.machine, j.Regime).For(j.Objective)
	nearest, err := j.nearest(j.key)
	if err != nil || nearest == nil {
		return err
	}
	exact := j.key.Match(nearest.Key) == cache.Exact
	if s, err := space.ParseSchedule(nearest.Config.Schedule.Text); err == nil && exact && !j.Share {
		j.incumbent = s
	}
	if j.Again || j.Record != "" || j.Exhaustive {
		return nil
	}
	why := j.news(j.problem, j.key, *nearest, j.MaxAge)
	if why == "" && j.Beyond && nearest.Config.Search.Space < j.whole().Size() {
		why = "the stored tune left out what --beyond asks for"
	}
	if j.answered = why == ""; j.answered {
		j.config = nearest.Config
		j.Watcher.Note("answered from the store (tuned %s%s); --retune measures again", j.config.Time.Format(time.DateTime), otherScalars(j.problem, j.config))
		return j.asAsked(&j.config, j.problem)
	}
	j.Watcher.Note("%s: tuning", why)
	return nil
}

// enumerate is the space: all that is legal here, less what advice leaves out.
func (j *job) enumerate(context.Context) error {
	j.legal = j.whole()
	j.space = j.legal
	if !j.Beyond && !j.Exhaustive {
		j.space = j.legal.Advised()
	}
	n := j.space.Size()
	if n == 0 {
		return fmt.Errorf("%w: none is legal on a grid of %s: choose a larger --size", &runner.ErrNoSchedule{}, j.problem.Size.Text(j.problem.Stencil.Dims))
	}
	several := ""
	if k := len(device.Members(j.device)); k > 1 {
		several = fmt.Sprintf("%d ", k)
	}
	j.Watcher.Note("%s on %s%s (%s): %d schedules to search of %d", j.problem.Text(), several, j.machine.Name, j.machine.Kind, n, j.space.Raw())
	j.Stop = stops(j.Stop, j.machine.Kind, j.Exhaustive)
	if j.Stop.Budget > 0 {
		n = min(n, j.Stop.Budget)
	}
	j.Watcher.Searching(j.problem, n)
	return nil
}

// whole is all that is legal on the device, of a recording what it holds.
func (j *job) whole() *space.Space {
	sp := j.Space(j.problem, j.machine)
	if r, ok := j.device.(replay.Device); ok {
		return r.Within(sp)
	}
	return sp
}

// acquaint measures what the model needs of a GPU that it was not fitted on, once for each
// device and driver. A GPU that cannot run these kernels is tuned by what its driver says.
func (j *job) acquaint(ctx context.Context) error {
	if j.NoPrior || j.Prior != nil || j.machine.Kind != machine.CUDA || model.Calibrated.FittedOn(j.machine) {
		return nil
	}
	if _, ok, err := j.Tuner.store.Rates(j.machine); ok || err != nil {
		return err
	}
	begin := time.Now()
	got, err := microbench.Quick(ctx, j.device)
	if failure := device.AsFailure(err); failure != nil {
		j.Watcher.Note("warning: %s could not be measured (%s): the cost model goes by what its driver says", j.machine.Name, failure.Reason)
		return nil
	}
	if err != nil {
		return err
	}
	r := cache.DeviceRates{Device: j.machine.Name, Driver: j.machine.Driver, Rates: got.Rates, CopyBytesPerSecond: got.CopyBytesPerSecond,
		Seconds: time.Since(begin).Seconds(), Time: time.Now().UTC()}
	if err := j.Tuner.store.PutRates(j.machine, r); err != nil {
		return err
	}
	j.Watcher.Note("%s is new here: memory %.0f GB/s, L2 %.0f GB/s, latency %.0f ns, barrier %.0f ns, launch %.1f us, measured in %.1f s; tune devices --bench measures more",
		j.machine.Name, r.CopyBytesPerSecond/1e9, r.Rates.L2Bytes/1e9, 1e9*r.Rates.DRAMLatency, 1e9*r.Rates.Barrier, 1e6*r.Rates.Launch, r.Seconds)
	return nil
}

// predict is the prior: what schedules are expected to take, by the cost model and what is
// stored of other sizes, drivers and devices.
func (j *job) predict(ctx context.Context) error {
	switch {
	case j.NoPrior:
	case j.Prior != nil:
		j.prior = j.Prior
	default:
		m, err := j.Rated(j.machine)
		if err != nil {
			return err
		}
		x, known, err := j.expected(ctx, j.problem, m, j.key.Journal(), j.Again)
		if err != nil {
			return err
		}
		j.prior, j.parts = x.Order, x.Parts
		if known > 0 {
			j.Watcher.Note("starts from what was measured of %d other sizes, drivers or devices", known)
		}
	}
	return nil
}

// open opens the journal and begins the session.
func (j *job) open(context.Context) error {
	strategy, err := search.New(j.Strategy, search.Options{Space: j.space, Prior: j.prior, Parts: j.parts, Seed: j.Seed})
	if err != nil {
		return InputError{err}
	}
	if err := j.openLog(); err != nil {
		return err
	}
	if j.legal.Check(j.incumbent) != nil {
		j.incumbent = Schedule{}
	}
	j.session = runner.New(runner.Options{
		Problem: j.problem, Device: j.device, Families: j.families(), Judge: j.Judge, Space: j.space, Strategy: strategy, Stop: j.Stop, Incumbent: j.incumbent,
		Regime: j.Regime, Objective: j.Objective, Seed: dataSeed(j.Seed), Ahead: compiledAhead(j.device), Mutate: j.Mutate, Journal: j.journal, Watcher: phases{j.Watcher, j.journal},
	})
	return nil
}

// openLog opens the journal, or joins those who share it.
func (j *job) openLog() error {
	if j.Share {
		study, err := joinStudy(j.Tuner.store, j.key.Journal(), j.running(), j.recording)
		if err != nil {
			return err
		}
		j.journal = study
		study.beat(study.tell)
		return nil
	}
	if j.recording != nil && j.MaxAge > 0 {
		stored, err := j.Tuner.store.Entries(j.key.Journal())
		if err != nil {
			return err
		}
		j.recording = young(j.recording, stored, j.MaxAge)
	}
	journal, err := openJournal(j.Tuner.store, j.key.Journal(), j.running(), j.Again, j.MaxAge, j.recording)
	if err != nil {
		return err
	}
	j.journal = journal
	journal.beat(journal.tell)
	return nil
}

func (j *job) baseline(ctx context.Context) error { return j.session.Baseline(ctx) }
func (j *job) search(ctx context.Context) error   { return j.session.Search(ctx) }
func (j *job) finals(ctx context.Context) error   { return j.session.Finals(ctx) }

// close ends the journal.
func (j *job) close(context.Context) error { return j.journal.close() }

// record writes the landscape that was asked for.
func (j *job) record(context.Context) error {
	if j.Record == "" || len(j.measured.Outcomes) == 0 {
		return nil
	}
	return j.writeLandscape()
}

// found tells whether any schedule works.
func (j *job) found() bool { return !j.measured.Winner.Schedule.IsZero() }

// configure makes the config of what was found.
func (j *job) configure(context.Context) error {
	if !j.found() {
		return nil
	}
	j.config = j.configOf()
	for _, w := range j.config.Warnings {
		j.Watcher.Note("warning: %s", w)
	}
	c := j.config
	within := ""
	if w := c.Within; w != nil {
		within = fmt.Sprintf("; within %g %% of the best with probability %.2f", 100*w.Share, math.Floor(100*w.Probability)/100)
	}
	j.Watcher.Note("%s: %s (%.4g ms a step), %.2f times naive; %d evaluated in %.1f s, stopped by %s%s",
		c.Schedule.Text, Rate(c.Measured.CellsPerSecond), 1e3*c.Measured.SecondsPerStep, c.Speedup, c.Search.Evaluated, c.Search.Seconds, c.Search.Stop, within)
	if j.Share {
		j.Watcher.Note("%d of %d were measured here, the others by tunes that share this one", c.Search.Evaluated-j.measured.Repeated, c.Search.Evaluated)
	}
	for i, x := range c.Members {
		j.Watcher.Note("%s: %.4g ms a step, %+.2f %% of the first", cmp.Or(x.UUID, fmt.Sprintf("device %d", i)), 1e3*x.SecondsPerStep, 100*(x.SecondsPerStep/c.Measured.SecondsPerStep-1))
	}
	if e := c.Energy; e != nil {
		j.Watcher.Note("energy: %.4g J for 10^9 cell updates at %.0f W%s", e.Winner.JoulesPerBillionCells, e.Winner.Watts, others(c))
	}
	if c.Search.Stop == search.TimeLimit {
		j.Watcher.Note("the time limit ended the search before it expected nothing better: --retune with a longer --time-limit goes on")
	}
	return nil
}

// others says which finalists other objectives would choose, and what they cost; "" if this one.
func others(c Config) string {
	b := c.Energy.Best
	if b == nil {
		return ""
	}
	text := ""
	for _, x := range []struct {
		o        timing.Objective
		schedule string
	}{{timing.ForTime, b.Time}, {timing.ForEnergy, b.Energy}, {timing.ForEDP, b.EDP}} {
		if i := slices.IndexFunc(c.Energy.Finals, func(d cache.DrawInfo) bool { return d.Schedule == x.schedule }); i >= 0 && x.schedule != c.Schedule.Text {
			text += fmt.Sprintf("; by %s %s: %.4g J", x.o, x.schedule, c.Energy.Finals[i].JoulesPerBillionCells)
		}
	}
	return text
}

// remember keeps the config of a tune that came to its end.
func (j *job) remember(context.Context) error {
	if !j.found() || !j.measured.Complete {
		return nil
	}
	return j.Tuner.store.PutBest(j.key, j.config)
}

// stops are the rules that end a search, with the defaults of a kind of device where
// nothing is said. An exhaustive search has no defaults.
func stops(s search.Stop, kind machine.Kind, exhaustive bool) search.Stop {
	if exhaustive {
		s.Converged = 0
		return s
	}
	d := search.Usual()
	if kind == machine.Host {
		d.Budget, d.Time, d.Least, d.Stall, d.Foretold = 60, time.Minute, 0, 40, 0
	}
	if s.Stall > 0 {
		d.Foretold = 0
	}
	if s.Time > 0 { // a limit that was asked for waits for nothing
		d.Least = 0
	}
	return search.Stop{Budget: cmp.Or(s.Budget, d.Budget), Least: d.Least, Most: d.Most, Time: cmp.Or(s.Time, d.Time), Stall: cmp.Or(s.Stall, d.Stall), Foretold: cmp.Or(s.Foretold, d.Foretold),
		Converged: cmp.Or(s.Converged, d.Converged), Roofline: s.Roofline, Within: s.Within}
}

// Measure checks schedules and times those that pass, interleaved. list chooses them from
// the device's space; a failure is an outcome's status, not an error.
func (t *Tuner) Measure(ctx context.Context, p Problem, d Device, o Options, list func(*space.Space) ([]Schedule, error)) ([]Outcome, error) {
	o.Regime = cmp.Or(o.Regime, timing.Warm)
	if err := fit(p, d, o.Regime); err != nil {
		return nil, err
	}
	sp := t.Space(p, d.Machine())
	schedules, err := list(sp)
	if err != nil {
		return nil, err
	}
	policy := timing.Finals()
	policy.Regime = o.Regime
	return runner.Measure(ctx, runner.Options{Problem: p, Device: d, Families: t.families(), Judge: t.Judge, Space: sp, Regime: o.Regime,
		Seed: dataSeed(cmp.Or(o.Seed, 1)), Mutate: t.Mutate}, schedules, policy)
}

// fit refuses a grid that does not fit into a device, and a cache regime that it cannot offer.
func fit(p Problem, d Device, regime timing.Regime) error {
	m := d.Machine()
	if r, ok := d.(replay.Device); ok && r.Header.Regime != regime {
		return Inputf("--timing %s: the recording was made with --timing %s", regime, r.Header.Regime)
	}
	if m.Kind == machine.Host && regime == timing.Cold {
		return Inputf("--timing cold: the host's caches cannot be flushed; use warm, or a GPU")
	}
	free := cmp.Or(m.FreeBytes, m.MemoryBytes)
	grids := buffers * len(p.Stencil.Fields)
	need := buffers * float64(p.FieldBytes())
	each := need / float64(grids)
	for i, n := range p.Lengths() {
		need += float64(n) * float64(p.Stored(len(p.Stencil.Fields)+i).Size())
	}
	if m.Kind == machine.Replay || free == 0 || need <= float64(free) {
		return nil
	}
	return Inputf("--size %s: tuning keeps %d grids of %.1f GiB, with read-only arrays %.1f GiB, but %s has %.1f GiB free; choose a smaller size",
		p.Size.Text(p.Stencil.Dims), grids, each/(1<<30), need/(1<<30), m.Name, float64(free)/(1<<30))
}

// buffers is how many grids of each field a tune needs at once: two to alternate, the
// expected answer, and one to compute it with.
const buffers = 4

// dataSeed is the seed of the input data, drawn from the search's.
func dataSeed(seed uint64) uint32 { return rand.New(rand.NewPCG(seed, 0x5eed)).Uint32() }

// silent is a watcher that tells nobody.
type silent struct{}

func (silent) Phase(string)                       {}
func (silent) Trying(Schedule)                    {}
func (silent) Evaluated(_, _ Outcome, _ Progress) {}
func (silent) Note(string, ...any)                {}
func (silent) Searching(Problem, int)             {}
