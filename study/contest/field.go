// Package contest runs search strategies over recorded landscapes in simulated
// time, as a tune on the recorded device would, and scores them.
//
// A run depends on its landscape, strategy and seed alone, so that figures can be
// had again on any machine. Times are seconds, regrets shares above the optimum.
// The search is that of runner, baseline first, on a device that replays the
// recording; kernels have no text and no finals are held.
package contest

import (
	"math"
	"math/rand/v2"
	"slices"

	"stenciltune/device/replay"
	"stenciltune/kernels"
	"stenciltune/search"
	"stenciltune/space"
	"stenciltune/stencil"
)

// Field is a landscape prepared for many runs.
type Field struct {
	Name     string
	Optimum  float64 // seconds per step of the fastest schedule
	Best     space.Schedule
	Size     int // schedules
	problem  stencil.Problem
	recorded *replay.Landscape
	space    *space.Space // what was recorded
	families []kernels.Family
	seconds  map[space.Schedule]float64
	sorted   []float64 // seconds, ascending
	naive    space.Schedule
	listings map[Prior]*search.Listing
}

// Prior says what becomes of the cost model's predictions.
type Prior string

// Priors. Unseen is the cost model as it would be without the stencil's own
// measurements, Middle the one whose coefficients are fitted to nothing; Inverted ranks the space backwards; Shuffled gives every schedule the
// prediction of another one.
const (
	Model    Prior = ""
	Unseen   Prior = "unseen"
	Middle   Prior = "middle"
	Inverted Prior = "inverted"
	Shuffled Prior = "shuffled"
	None     Prior = "none"
)

// Priors are all of them.
func Priors() []Prior { return []Prior{Model, Unseen, Middle, Inverted, Shuffled, None} }

// NewField prepares the recorded part of a space. naive is the baseline, recorded too;
// prior is the cost model, and unseen the same fitted without the stencil, parts what both are made
// of. Of another
// tuner's landscape there is neither: then the median schedule is the baseline.
func NewField(l *replay.Landscape, p stencil.Problem, sp *space.Space, naive space.Schedule, prior, unseen search.Prior, parts search.Parts) *Field {
	f := &Field{Name: name(l, p), problem: p, recorded: l, naive: naive, space: l.Within(sp), seconds: map[space.Schedule]float64{}, listings: map[Prior]*search.Listing{}}
	within := f.space
	f.Size = within.Size()
	for _, family := range within.Families() {
		f.families = append(f.families, textless{family})
	}
	if p.Stencil == nil {
		f.problem = standIn(p.Size)
	}
	var all []space.Schedule
	predicted := map[space.Schedule]float64{}
	for s := range within.All() {
		all = append(all, s)
		if prior != nil {
			predicted[s] = prior(s)
		}
		if t := l.Records[s].Seconds(); t > 0 {
			f.seconds[s] = t
			f.sorted = append(f.sorted, f.seconds[s])
		}
	}
	slices.Sort(f.sorted)
	if naive.IsZero() {
		f.naive = f.median(all)
	}
	best, low := l.Best()
	f.Best, f.Optimum = best.Schedule, low
	f.listings[None] = search.List(within, nil, nil)
	f.listings[Model] = f.listings[None]
	if prior == nil {
		return f
	}
	other := slices.Clone(all)
	rand.New(rand.NewPCG(1, 1)).Shuffle(len(other), func(i, j int) { other[i], other[j] = other[j], other[i] })
	shuffled := map[space.Schedule]float64{}
	for i, s := range all {
		shuffled[s] = predicted[other[i]]
	}
	f.listings[Model] = search.List(within, func(s space.Schedule) float64 { return predicted[s] }, parts)
	f.listings[Unseen] = search.List(within, unseen, parts)
	f.listings[Inverted] = search.List(within, func(s space.Schedule) float64 { return f.Optimum * f.Optimum / predicted[s] }, nil) // no parts add up to it
	f.listings[Shuffled] = search.List(within, func(s space.Schedule) float64 { return shuffled[s] }, nil)
	return f
}

// Enter adds a prior of a name of its own, with what it is made of.
func (f *Field) Enter(name Prior, prior search.Prior, parts search.Parts) {
	f.listings[name] = search.List(f.space, prior, parts)
}

// name is the problem, or what another tuner calls its kernel.
func name(l *replay.Landscape, p stencil.Problem) string {
	if p.Stencil == nil {
		return l.Header.Stencil
	}
	return p.Text()
}

// HasPrior tells whether there is a cost model of the field.
func (f *Field) HasPrior() bool { return f.listings[Model] != f.listings[None] }

// regret is by how much a schedule is slower than the optimum, as a share.
func (f *Field) regret(s space.Schedule) float64 { return f.seconds[s]/f.Optimum - 1 }

// median is the schedule in the middle, the zero Schedule if none has a time.
func (f *Field) median(all []space.Schedule) space.Schedule {
	for _, s := range all {
		if len(f.sorted) > 0 && f.seconds[s] == f.sorted[len(f.sorted)/2] {
			return s
		}
	}
	return space.Schedule{}
}

// first is the regret before the search: the baseline's.
func (f *Field) first() float64 { return f.regret(f.naive) }

// baseline is the expected regret of the best of m schedules drawn at random
// without replacement: the (N+1)/(m+1)-th smallest of N times (Willemsen et al.,
// "A methodology for comparing optimization algorithms for auto-tuning", FGCS 2024).
func (f *Field) baseline(m int) float64 {
	n := len(f.sorted)
	i := int(math.Round(float64(n+1)/float64(m+1))) - 1
	return f.sorted[min(max(i, 0), n-1)]/f.Optimum - 1
}
