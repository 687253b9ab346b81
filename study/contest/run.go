package contest

import (
	"cmp"
	"context"
	"errors"
	"slices"
	"time"

	"stenciltune/device/replay"
	"stenciltune/kernels"
	"stenciltune/machine"
	"stenciltune/outcome"
	"stenciltune/runner"
	"stenciltune/search"
	"stenciltune/space"
	"stenciltune/stencil"
	"stenciltune/study/samplers"
)

// Entrant is a strategy with the prior it is given.
type Entrant struct {
	Strategy string
	Prior    Prior
}

// Strategies are the strategies that can enter: the tuner's own, and goptuna's samplers.
func Strategies() []string { return append(search.Names(), samplers.Names()...) }

// strategy begins a search of a listing.
func (e Entrant) strategy(l *search.Listing, seed uint64) (search.Strategy, error) {
	if slices.Contains(samplers.Names(), e.Strategy) {
		return samplers.New(e.Strategy, l, seed)
	}
	return l.New(e.Strategy, seed)
}

func (e Entrant) String() string {
	if e.Prior == Model {
		return e.Strategy
	}
	return e.Strategy + "/" + string(e.Prior)
}

// Rules say how a run goes and when it ends.
type Rules struct {
	Ahead  int       // schedules compiled ahead of the device, at most; 0 = as a tune does
	Budget int       // evaluations; 0 = all
	Time   float64   // simulated seconds of the search; 0 = no limit
	Regret float64   // end at a regret this small; negative = go on
	Stall  int       // end when so many evaluations found nothing better, half of them where the strategy foretells the space, as a tune does; 0 = go on
	Idle   int       // end when a strategy that tells has converged for so many proposals, after a last look; 0 = go on
	Doubts []float64 // shares by which the best may be above the best of the space, of which doubts are noted
}

// Point is the state of a run after an evaluation.
type Point struct {
	Time   float64        // simulated seconds since the search began
	Regret float64        // of the schedule measured fastest so far, the naive kernel among them
	Doubts []search.Doubt // of Rules.Doubts, if the strategy has any: before the strategy was told of the evaluation
}

// Run is one search.
type Run struct {
	Points []Point
	Order  []space.Schedule
	Busy   float64 // share of the time in which the device was checking or timing
	Stop   search.Reason
}

// Run lets an entrant search the field as a tune does. The baseline is measured before
// and does not count, nor does its time.
func (f *Field) Run(ctx context.Context, e Entrant, seed uint64, rules Rules) (Run, error) {
	strategy, err := e.strategy(f.listings[e.Prior], seed)
	if err != nil {
		return Run{}, err
	}
	d := replay.New(f.recorded)
	enough, stop := context.WithCancel(ctx)
	defer stop()
	n := &notes{field: f, strategy: strategy, device: d, rules: rules, regret: f.first(), stop: stop}
	o := runner.Options{
		Problem: f.problem, Device: d, Families: f.families, Space: f.space, Strategy: strategy, Baseline: []space.Schedule{f.naive},
		Stop:  search.Stop{Time: time.Duration(rules.Time * float64(time.Second)), Stall: rules.Stall, Foretold: rules.Stall / 2, Converged: rules.Idle},
		Ahead: cmp.Or(rules.Ahead, 2*f.recorded.Compilers()), Watcher: n,
	}
	if rules.Budget > 0 {
		o.Stop.Budget = rules.Budget + len(o.Baseline)
	}
	s := runner.New(o)
	err = s.Baseline(enough)
	if err == nil {
		err = s.Search(enough)
	}
	n.end()
	r, err := s.End(enough, err)
	n.run.Stop = r.Stop
	return n.run, errors.Join(err, ctx.Err())
}

// notes is the watcher of a run: it takes down how the search goes, and ends it at the
// regret of the rules.
type notes struct {
	field     *Field
	strategy  search.Strategy
	device    replay.Device
	rules     Rules
	stop      func()
	searching bool
	begin     time.Duration // of the search
	busy      float64       // seconds of the device
	regret    float64
	run       Run
}

// Phase begins to take notes with the search.
func (n *notes) Phase(name string) {
	n.searching, n.begin = name == "search", n.device.Now()
	n.check()
}

// Trying is of no interest.
func (n *notes) Trying(space.Schedule) {}

// Evaluated notes the state after an evaluation.
func (n *notes) Evaluated(o, best outcome.Outcome, _ search.Progress) {
	if !n.searching {
		return
	}
	doubts := n.doubts()
	if !best.Schedule.IsZero() {
		n.regret = min(n.regret, n.field.regret(best.Schedule))
	}
	n.busy += o.DeviceSeconds
	n.run.Points = append(n.run.Points, Point{(n.device.Now() - n.begin).Seconds(), n.regret, doubts})
	n.run.Order = append(n.run.Order, o.Schedule)
	n.check()
}

// doubts are those of the strategy that the rules ask for.
func (n *notes) doubts() (list []search.Doubt) {
	if s, ok := n.strategy.(interface {
		Doubt(share float64) search.Doubt
	}); ok {
		for _, share := range n.rules.Doubts {
			list = append(list, s.Doubt(share))
		}
	}
	return list
}

// check ends a search that is good enough.
func (n *notes) check() {
	if n.searching && n.regret <= n.rules.Regret {
		n.stop()
	}
}

// end notes what is known at the end of the search.
func (n *notes) end() {
	if t := (n.device.Now() - n.begin).Seconds(); t > 0 {
		n.run.Busy = n.busy / t
	}
}

// textless is a family of which only the launches' steps are known: all that a recording
// asks for, whoever's kernels it is of.
type textless struct{ space *space.Family }

// Name is the family's.
func (f textless) Name() string { return f.space.Name }

// Space is what was recorded, whatever the problem.
func (f textless) Space(stencil.Problem, machine.Machine) *space.Family { return f.space }

// Work counts nothing.
func (textless) Work(stencil.Problem, space.Schedule) kernels.Work { return kernels.Work{} }

// Kernel has no source.
func (textless) Kernel(_ stencil.Problem, s space.Schedule) kernels.Kernel {
	return kernels.Kernel{Schedule: s, Launch: kernels.Launch{Steps: s.Int("ph", 1)}}
}

// standIn is the problem of another tuner's landscape: its grid, and a stencil that
// nothing ever computes.
func standIn(n stencil.Size) stencil.Problem {
	s, err := stencil.Parse("recorded", "recorded.sl", "NumDimensions 3 StencilSize (0, 0, 0) CellValue { return get(0, 0, 0); }")
	if err != nil {
		panic("contest: " + err.Error())
	}
	return stencil.Problem{Stencil: s, DType: s.DType, Size: n, Steps: 1}
}
