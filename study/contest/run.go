package contest

import (
	"cmp"
	"context"
	"slices"

	"stenciltune/device"
	"stenciltune/device/replay"
	"stenciltune/kernels"
	"stenciltune/search"
	"stenciltune/space"
	"stenciltune/timing"
)

// Entrant is a strategy with the prior it is given.
type Entrant struct {
	Strategy string
	Prior    Prior
}

func (e Entrant) String() string {
	if e.Prior == Model {
		return e.Strategy
	}
	return e.Strategy + "/" + string(e.Prior)
}

// Rules say how a run goes and when it ends.
type Rules struct {
	Ahead  int     // schedules asked for before the first of them is told; 0 = as many as a tune does
	Budget int     // evaluations; 0 = all
	Time   float64 // simulated seconds; 0 = no limit
	Regret float64 // end at a regret this small; negative = go on
	Idle   int     // end when a strategy that tells has converged for so many proposals; 0 = go on
}

// Point is the state of a run after an evaluation.
type Point struct {
	Time   float64 // simulated seconds
	Regret float64 // of the schedule measured fastest so far, the naive kernel among them
}

// Run is one search.
type Run struct {
	Points []Point
	Order  []space.Schedule
	Busy   float64 // share of the time in which the device was checking or timing
}

// Run lets an entrant search the field. It asks, compiles ahead, measures what
// is compiled and tells as a tune does (internal/runner).
func (f *Field) Run(ctx context.Context, e Entrant, seed uint64, rules Rules) (Run, error) {
	strategy, err := f.listings[e.Prior].New(e.Strategy, seed)
	if err != nil {
		return Run{}, err
	}
	d := replay.New(f.recorded)
	ahead := search.Ahead{Most: 2 * f.recorded.Compilers()}
	var r Run
	var best search.Outcome
	var queue []space.Schedule
	regret, more, busy := f.first(), true, 0.0
	for {
		room := ahead.Depth() - len(queue)
		if rules.Ahead > 0 {
			room = rules.Ahead - len(queue)
		}
		if rules.Budget > 0 {
			room = min(room, rules.Budget-len(r.Points)-len(queue))
		}
		if more && room > 0 {
			asked := strategy.Ask(room)
			more = len(asked) > 0
			for _, s := range asked {
				// A failure is recorded and comes back from measure.
				_, _ = d.Compile(ctx, kernels.Kernel{Schedule: s})
				queue = append(queue, s)
			}
		}
		now := d.Now().Seconds()
		if len(queue) == 0 || rules.Time > 0 && now >= rules.Time || regret <= rules.Regret || ctx.Err() != nil {
			if now > 0 {
				r.Busy = busy / now
			}
			return r, ctx.Err()
		}
		i := slices.IndexFunc(queue, func(s space.Schedule) bool { return d.Ready(s) <= d.Now() })
		if i < 0 {
			s := slices.MinFunc(queue, func(a, b space.Schedule) int { return cmp.Compare(d.Ready(a), d.Ready(b)) })
			i = slices.Index(queue, s)
			d.Await(s)
		}
		s := queue[i]
		queue = slices.Delete(queue, i, i+1)
		begin := d.Now()
		o, err := f.measure(ctx, d, s, best.Seconds)
		if err != nil {
			return r, err
		}
		took := (d.Now() - begin).Seconds()
		busy += took
		ahead.Add(f.recorded.Records[s].CompileSeconds, took)
		if o.Status == timing.OK && (best.Seconds == 0 || o.Seconds < best.Seconds) {
			best = o
			if r := f.regret(s); r < regret || f.naive.IsZero() {
				regret = r
			}
		}
		r.Points = append(r.Points, Point{d.Now().Seconds(), regret})
		r.Order = append(r.Order, s)
		strategy.Tell([]search.Outcome{o})
		if c, ok := strategy.(search.Forecaster); ok && rules.Idle > 0 && c.Converged() >= rules.Idle {
			more, queue = false, nil
		}
	}
}

// measure checks and times a schedule as a tune does while it searches.
func (f *Field) measure(ctx context.Context, d replay.Device, s space.Schedule, best float64) (search.Outcome, error) {
	rec := f.recorded.Records[s]
	o := search.Outcome{Schedule: s, Status: rec.Status}
	if rec.Status.Failed() {
		return o, nil
	}
	steps := s.Int("ph", 1)
	pass := device.Pass{Binary: device.Binary{Schedule: s}, Launch: kernels.Launch{Steps: steps}, Count: 2}
	if steps == 1 {
		pass.Count = 3
	}
	trusted := device.Pass{Binary: device.Binary{Schedule: f.naive}, Launch: kernels.Launch{Steps: 1}, Count: pass.Count * steps}
	if f.naive.IsZero() {
		trusted = pass
	}
	if _, err := d.Check(ctx, device.Check{Problem: f.problem, Passes: []device.Pass{pass}, Trusted: []device.Pass{trusted}}); err != nil {
		return o, err
	}
	policy := timing.Search()
	if best > 0 {
		policy.CutAbove = timing.CutFactor * best
	}
	series, err := d.Time(ctx, device.Timing{Problem: f.problem, Runs: []device.Pass{pass}, Policy: policy})
	if err != nil {
		return o, err
	}
	o.Status, o.Seconds, o.Noise = timing.OK, series[0].Median, series[0].RelHalfWidth()
	if series[0].CutSlow {
		o.Status = timing.CutSlow
	}
	return o, nil
}
