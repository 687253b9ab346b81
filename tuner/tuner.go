// Package tuner finds the schedule that runs a stencil fastest on a device, proves its
// answer, remembers it, and answers for sizes and devices that were never tuned.
//
// Ten lines tune a stencil on a recording that ships with the package:
//
//	t, err := tuner.Open("store.db")                    // "" = the user's own store
//	p, err := tuner.Spec{Stencil: "jacobi3d"}.Problem() // its own size, float32
//	d, err := tuner.OpenDevice(ctx, "replay:h200", p)   // "0" = the first GPU
//	defer d.Close()
//	c, err := t.Tune(ctx, p, d, tuner.Options{})
//	fmt.Println(c.Schedule.Text, c.Measured.SecondsPerStep)
//
// On a GPU, main calls Worker before anything else. Best answers from the store without
// measuring, Measure checks and times schedules, Source gives a schedule's CUDA source.
//
// Times are seconds per time step, sizes cells, rates cells or bytes a second.
//
// # Compatibility
//
// A config keeps every field of the format stenciltune.config/v1: none is renamed, removed
// or given another meaning, and what is new comes as an optional field. One that a later
// version wrote reads here, and its unknown fields are kept.
package tuner

import (
	"cmp"
	"errors"
	"slices"
	"time"

	"stenciltune/cache"
	"stenciltune/device"
	"stenciltune/kernels"
	"stenciltune/kernels/all"
	"stenciltune/machine"
	"stenciltune/outcome"
	"stenciltune/runner"
	"stenciltune/search"
	"stenciltune/space"
	"stenciltune/stencil"
	"stenciltune/timing"
)

// What a tune is about.
type (
	Problem  = stencil.Problem // stencil, element type, grid, time steps
	Device   = device.Device
	Config   = cache.Config // the answer, as JSON writes it
	Schedule = space.Schedule
	Outcome  = outcome.Outcome // what is known of one schedule
	Progress = search.Progress
)

// Version is the tool's own.
const Version = "0.1.0"

// Tuner tunes, and remembers in one store.
type Tuner struct {
	// Families are what kernels are made by, the simplest first; nil = all of package
	// kernels/all. Judge goes with families that compute something else than a stencil.
	Families []kernels.Family
	Judge    *runner.Judge
	// Revision is the commit that the program was built from, for configs.
	Revision string
	// Mutate changes a kernel before it is compiled: the hook by which tests inject
	// faults. nil in use.
	Mutate func(kernels.Kernel) kernels.Kernel

	store *cache.Store
}

// Open opens a tuner on a store's file, which need not exist; "" is the user's own (see
// cache.DefaultPath).
func Open(path string) (*Tuner, error) {
	if path == "" {
		var err error
		if path, err = cache.DefaultPath(); err != nil {
			return nil, err
		}
	}
	s, err := cache.Open(path)
	if err != nil {
		return nil, err
	}
	return &Tuner{store: s}, nil
}

// Store is what the tuner remembers in.
func (t *Tuner) Store() *cache.Store { return t.store }

func (t *Tuner) families() []kernels.Family {
	if t.Families == nil {
		return all.Families()
	}
	return t.Families
}

// Space is every schedule that is legal for a problem on a machine, with the advice that
// searches follow.
func (t *Tuner) Space(p Problem, m machine.Machine) *space.Space {
	if t.Families == nil {
		return all.Space(p, m)
	}
	return kernels.Spaces(t.Families, p, m)
}

// Family is the kernel family of a schedule; nil if there is none.
func (t *Tuner) Family(s Schedule) kernels.Family { return kernels.Find(t.families(), s.Family()) }

// Kernel is the CUDA source and the launch of a schedule that is legal for a problem.
func (t *Tuner) Kernel(p Problem, s Schedule) kernels.Kernel { return t.Family(s).Kernel(p, s) }

// Source is the kernel that a schedule's text names, for a machine or, if that is the zero
// Machine, for any GPU. A schedule that is legal neither on the problem's grid nor, as proofs run it on small ones, on one of the
// stencil's own size is an error that says why.
func (t *Tuner) Source(p Problem, text string, m machine.Machine) (kernels.Kernel, error) {
	if m.Name == "" {
		m = AnyGPU(text)
	}
	s, err := ParseSchedule(text, t.Space(p, m))
	if err != nil && (s.IsZero() || t.Space(p.Resized(p.Stencil.DefaultSize(false)), m).Check(s) != nil) {
		return kernels.Kernel{}, err
	}
	return t.Kernel(p, s), nil
}

// AnyGPU is the machine to judge schedules by when no device is at hand: the limits that
// every GPU from compute capability 7.0 on shares, with the largest shared memory, and as
// many SMs as the schedules name.
func AnyGPU(texts ...string) machine.Machine {
	m := machine.Machine{
		Kind: machine.CUDA, Name: "any", WarpSize: 32, MaxThreadsBlock: 1024, MaxBlockDim: [3]int{1024, 1024, 64},
		MaxGridDim: [3]int{1<<31 - 1, 65535, 65535}, MaxThreadsSM: 2048, MaxBlocksSM: 32,
		RegistersBlock: 65536, RegistersSM: 65536, SharedBlock: 48 << 10, SharedBlockOptin: 227 << 10, SharedSM: 228 << 10, SharedReserved: 1 << 10,
	}
	for _, text := range texts {
		if s, err := space.ParseSchedule(text); err == nil {
			m.SMs = max(m.SMs, kernels.SMsOf(s))
		}
	}
	return m
}

// ParseSchedule reads a schedule that must be legal in a space.
func ParseSchedule(text string, sp *space.Space) (Schedule, error) {
	if text == "" {
		return Schedule{}, Inputf("which schedule? name one with --schedule, like global/gx=64/gy=4/gz=1/wx=1/wy=1/wz=1/cw=0/zz=0/sp=0")
	}
	s, err := space.ParseSchedule(text)
	if err != nil {
		return s, InputError{err}
	}
	return s, sp.Check(s)
}

// Options say how to tune; the zero Options are the defaults.
type Options struct {
	Strategy string       // of package search; "" = bayes
	Prior    search.Prior // what ranks schedules before they run; nil = the cost model and what is stored
	NoPrior  bool         // nothing ranks them
	Beyond   bool         // search also what advice leaves out
	// Exhaustive tries every legal schedule, whatever is stored and without the default limits.
	Exhaustive bool
	Stop       search.Stop      // rules that end the search; a field that is 0 has the device's default
	Regime     timing.Regime    // of caches; "" = warm
	Objective  timing.Objective // what the finals choose by; "" = time
	Seed       uint64           // of the search and of the input data; 0 = 1
	Again      bool             // measure again, whatever is stored
	MaxAge     time.Duration    // measure again what was tuned longer ago; 0 = never
	// Share has tunes of one problem that share a store measure together: each claims what it
	// measures, and learns what the others found. Stop counts what all of them evaluate.
	Share bool
	Lease time.Duration // of claims, after which one that was not heard of is taken for dead; 0 = cache.DefaultLease
	// Record is a file (.jsonl.gz) that every outcome is written to as a landscape; one that
	// is there is gone on with, or with Again replaced. Command is what its header says.
	Record  string
	Command string
	Watcher Watcher
}

// Watcher is told how a tune goes. Its methods must return quickly.
type Watcher interface {
	runner.Watcher
	// Note is a line for the user.
	Note(format string, args ...any)
	// Searching tells, before anything runs, what the tune is of and how many evaluations
	// it expects at most.
	Searching(p Problem, expected int)
}

// ErrInterrupted is the error of a tune that its context ended. The config is then the
// best so far, if there is one.
var ErrInterrupted = errors.New("interrupted")

// withDefaults fills in what is not given.
func (o Options) withDefaults() Options {
	if o.Exhaustive {
		o.Strategy = exhaustive
	}
	o.Strategy, o.Regime, o.Seed = cmp.Or(o.Strategy, search.Names()[0]), cmp.Or(o.Regime, timing.Warm), cmp.Or(o.Seed, 1)
	o.Objective = cmp.Or(o.Objective, timing.ForTime)
	if o.Watcher == nil {
		o.Watcher = silent{}
	}
	return o
}

// exhaustive is the strategy that goes through a whole space.
const exhaustive = "exhaustive"

// Check refuses options that no device could make sense of; Tune does so too.
func (o Options) Check() error {
	if o.Exhaustive && o.Strategy != "" && o.Strategy != search.Names()[0] && o.Strategy != exhaustive {
		return Inputf("--exhaustive and --strategy %s exclude each other", o.Strategy)
	}
	if _, err := timing.ParseObjective(string(o.Objective)); err != nil {
		return Inputf("--objective %w", err)
	}
	o = o.withDefaults()
	switch {
	case o.Share && (o.Again || o.MaxAge > 0):
		return Inputf("--share and --retune or --max-age exclude each other: those who join later would measure again what the first have measured; drop what is stored once, with tune store prune, and then share")
	case o.Objective != timing.ForTime && o.Regime == timing.Cold:
		return Inputf("--objective %s: energy is measured without a pause between launches, so caches are warm; use --timing warm", o.Objective)
	case o.Stop.Budget < 0 || o.Stop.Stall < 0 || o.Stop.Time < 0 || o.Stop.Converged < 0 || !(o.Stop.Roofline >= 0) || !(o.Stop.Within >= 0) || o.MaxAge < 0:
		return Inputf("--budget, --stall, --converged, --roofline, --within, --time-limit and --max-age must not be negative")
	case !slices.Contains(search.Names(), o.Strategy):
		return Inputf("--strategy %q: use one of %v", o.Strategy, search.Names())
	case o.Regime != timing.Warm && o.Regime != timing.Cold:
		return Inputf("--timing %q: use warm or cold", o.Regime)
	}
	return nil
}
