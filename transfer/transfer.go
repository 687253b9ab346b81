// Package transfer says what schedules are expected to take on a problem and a machine:
// the cost model's time, corrected by what it was wrong by where the schedules, or others of
// the same compiled kernel, were measured.
//
// It is what answers for sizes and devices that were never tuned, and the prior of every
// tune. Times are seconds per time step. It reads no store and measures nothing.
package transfer

import (
	"cmp"
	"maps"
	"math"
	"slices"
	"strconv"
	"strings"

	"stenciltune/kernels"
	"stenciltune/machine"
	"stenciltune/model"
	"stenciltune/space"
	"stenciltune/stencil"
)

// Place is where schedules are timed: a problem on a machine.
type Place struct {
	Problem  stencil.Problem
	Machine  machine.Machine
	families []kernels.Family
	known    map[space.Schedule]guess // predictions made so far
	model    model.Coefficients
	launch   map[string]bool // parameters of the launch alone
	near     map[string]bool // parameters in which alike kernels differ
}

// guess is what the cost model says of a schedule.
type guess struct {
	seconds float64              // per step; +Inf where it has none
	alone   bool                 // no SM holds two of its blocks
	parts   [model.Parts]float64 // of a launch: model.Prediction.Parts
}

// At is the place of a problem on a machine, for the schedules of families.
func At(families []kernels.Family, p stencil.Problem, m machine.Machine) Place {
	pl := Place{p, m.WithLimits(), families, map[space.Schedule]guess{}, model.Fitted, map[string]bool{}, map[string]bool{}}
	for _, f := range families {
		for _, q := range f.Space(p, pl.Machine).Params {
			pl.launch[q.Name], pl.near[q.Name] = q.Launch, q.Near
		}
	}
	return pl
}

// Predict is the cost model's seconds per step of a schedule at a place; +Inf where
// it has none.
func (pl Place) Predict(s space.Schedule) float64 { return pl.guess(s).seconds }

func (pl Place) guess(s space.Schedule) guess {
	g, ok := pl.known[s]
	if !ok {
		g = pl.ask(s)
		pl.known[s] = g
	}
	return g
}

// told is a guess that is not kept, so that several goroutines may ask.
func (pl Place) told(s space.Schedule) guess {
	if g, ok := pl.known[s]; ok {
		return g
	}
	return pl.ask(s)
}

// ask asks the cost model.
func (pl Place) ask(s space.Schedule) guess {
	if f := kernels.Find(pl.families, s.Family()); f != nil {
		if v := pl.model.Schedule(pl.Problem, f, s, model.Facts{}, pl.Machine); v.Seconds > 0 {
			return guess{v.Seconds, v.BlocksPerSM == 1 || v.Waves*float64(v.BlocksPerSM) <= 1, v.Parts}
		}
	}
	return guess{seconds: math.Inf(1)}
}

// Choices are the schedules to choose from at a place: those of whole that a search would try,
// and those that advice is against but that were measured elsewhere. A measurement of the
// schedule itself says more than advice on schedules like it.
func (pl Place) Choices(whole *space.Space, known []Evidence) []space.Schedule {
	advised := whole.Advised()
	list := slices.Collect(advised.All())
	more := map[space.Schedule]bool{}
	for _, e := range known {
		for s := range e.Seconds {
			if s = kernels.On(s, pl.Machine); advised.Check(s) != nil && whole.Check(s) == nil {
				more[s] = true
			}
		}
	}
	return append(list, slices.SortedFunc(maps.Keys(more), byText)...)
}

// predictAll predicts schedules on all processors.
func (pl Place) predictAll(of []space.Schedule) {
	var left []space.Schedule
	for _, s := range of {
		if _, ok := pl.known[s]; !ok {
			left = append(left, s)
		}
	}
	for i, g := range space.Each(left, pl.ask) {
		pl.known[left[i]] = g
	}
}

// Evidence is what was measured at one place.
type Evidence struct {
	Place
	Seconds map[space.Schedule]float64 // per time step
}

// measured is the schedules that were measured at a place, in the order of their texts, so that
// sums over them are the same every time.
func (e Evidence) measured() []space.Schedule {
	return slices.SortedFunc(maps.Keys(e.Seconds), byText)
}

func byText(a, b space.Schedule) int { return cmp.Compare(a.String(), b.String()) }

// Best is the fastest schedule at a place, and its time; ties go to the smaller text.
func (e Evidence) Best() (space.Schedule, float64) {
	var at space.Schedule
	low := math.Inf(1)
	for s, t := range e.Seconds {
		if t < low || t == low && s.String() < at.String() {
			at, low = s, t
		}
	}
	return at, low
}

// offset is what the model is wrong by at a place, whatever the schedule: the median of
// log(measured / predicted) over those worth choosing. Grids that fit into L2 are all faster
// than predicted.
func (e Evidence) offset() float64 {
	_, low := e.Best()
	var list []float64
	for s, t := range e.Seconds {
		if own := e.Predict(s); t < 1.5*low && !math.IsInf(own, 1) {
			list = append(list, math.Log(t/own))
		}
	}
	n := len(list)
	if n == 0 {
		return 0
	}
	slices.Sort(list)
	return (list[(n-1)/2] + list[n/2]) / 2
}

// Ranked is a schedule and the time expected of it.
type Ranked struct {
	Schedule space.Schedule
	Seconds  float64
	Weight   float64 // of where the schedule itself was measured; 0 = nowhere
}

// order is the expected time, with a handicap for what was not measured nearby.
func (r Ranked) order() float64 { return r.Seconds * (1 + unproved*doubt/(r.Weight+doubt)) }

// A place at logarithmic distance d counts 1/(near + d)^2: at the same size fully, at half
// the extents a third or less. doubt is the weight of the estimate that stands in for
// measurements: for a schedule the residual of its compiled kernel, for a compiled kernel the
// residual of those that are nearly the same, for these that the model is right.
const near, doubt = 1.0, 2.0

// unproved is the share by which a schedule that was measured nowhere must be expected to be
// faster than one that was measured again and again. correction is the largest residual that counts: larger errors belong to one size.
const unproved, correction = 0.03, 0.3

// names are those under which what was measured of a schedule counts elsewhere, the widest
// first: compiled kernels that differ in prefetch depth and register limit alone; the compiled
// kernel, whatever its launch; the schedule. What the model is wrong by belongs to what the
// compiler made of the kernel, for the most part, and differs where SMs hold several of its
// blocks (docs/lab/0023-programs.md). Rows that are not whole vectors are moved in parts, by
// another kernel.
func (pl Place) names(s space.Schedule, g guess) [3]string {
	kernel := []byte(strconv.Itoa(kernels.WholePart(s.Int("vx", 1), pl.Problem.Size[0])))
	if g.alone {
		kernel = append(kernel, " alone"...)
	}
	group := slices.Clone(kernel)
	for i, field := range strings.Split(s.String(), "/") {
		name, _, _ := strings.Cut(field, "=")
		if i > 0 && pl.launch[name] {
			continue
		}
		kernel = append(append(kernel, '/'), field...)
		if !pl.near[name] {
			group = append(append(group, '/'), field...)
		}
	}
	return [3]string{string(group) + "...", string(kernel), s.String()}
}

// distance is how far two problems lie apart: the logarithms of their extents'
// ratios, as a vector's length, so that aspect and volume count alike.
func distance(a, b stencil.Size) float64 {
	sum := 0.0
	for i := range a {
		r := math.Log(float64(a[i]) / float64(b[i]))
		sum += r * r
	}
	return math.Sqrt(sum)
}

// sum is what was learnt under one name: the weight of what was measured, and the weighted
// logarithms of what the model was wrong by.
type sum struct{ weight, residual float64 }

// Expectation is what schedules are expected to take at a place.
type Expectation struct {
	there Place
	sums  map[string]sum // by Place.names
	level float64        // what the model is wrong by, whatever the schedule, as a logarithm
}

// Expect learns from what was measured elsewhere. A residual is what the model was wrong by
// beyond its error at that place: else what was measured only on grids within L2 would look
// fast everywhere.
func Expect(there Place, known []Evidence) Expectation {
	x := Expectation{there, map[string]sum{}, 0}
	levels := 0.0
	for _, e := range known {
		d := distance(there.Problem.Size, e.Problem.Size)
		w := 1 / ((near + d) * (near + d))
		measured := e.measured()
		e.predictAll(measured)
		offset := e.offset()
		x.level += w * offset
		levels += w
		for _, s := range measured {
			own, t := e.guess(s), e.Seconds[s]
			if math.IsInf(own.seconds, 1) {
				continue
			}
			residual := w * min(max(math.Log(t/own.seconds)-offset, -correction), correction)
			on := kernels.On(s, there.Machine)
			if on != s {
				own = e.guess(on)
			}
			for _, k := range e.names(on, own) {
				y := x.sums[k]
				y.weight += w
				y.residual += residual
				x.sums[k] = y
			}
		}
	}
	if levels > 0 {
		x.level /= levels
	}
	return x
}

// Of is what is expected of a schedule; false where the model has no time for it. It may be
// called from several goroutines.
func (x Expectation) Of(s space.Schedule) (Ranked, bool) {
	g := x.there.told(s)
	if math.IsInf(g.seconds, 1) {
		return Ranked{}, false
	}
	residual, weight := 0.0, 0.0
	for _, k := range x.there.names(s, g) {
		y := x.sums[k]
		residual = (y.residual + doubt*residual) / (y.weight + doubt)
		weight = y.weight
	}
	return Ranked{s, g.seconds * math.Exp(x.level+residual), weight}, true
}

// Order is the seconds by which schedules are tried: those expected, with the handicap; +Inf
// where the model has none. It is the prior of a search.
func (x Expectation) Order(s space.Schedule) float64 {
	r, ok := x.Of(s)
	if !ok {
		return math.Inf(1)
	}
	return r.order()
}

// Parts are what the cost model's time of a schedule is made of.
func (x Expectation) Parts(s space.Schedule) []float64 {
	g := x.there.told(s)
	return g.parts[:]
}

// Rank orders schedules that are legal at a place by the time expected of them there.
func Rank(there Place, known []Evidence, of []space.Schedule) []Ranked {
	x := Expect(there, known)
	there.predictAll(of)
	var list []Ranked
	for _, s := range of {
		if r, ok := x.Of(s); ok {
			list = append(list, r)
		}
	}
	slices.SortFunc(list, func(a, b Ranked) int {
		if c := cmp.Compare(a.order(), b.order()); c != 0 {
			return c
		}
		return cmp.Compare(a.Schedule.String(), b.Schedule.String())
	})
	return list
}

// LeaveOneOut is the mean share of time that answers lose where the truth is known:
// each place is answered from the others. It needs two places.
func LeaveOneOut(known []Evidence) float64 {
	sum, n := 0.0, 0
	for i, e := range known {
		others := slices.Concat(known[:i], known[i+1:])
		if list := Rank(e.Place, others, slices.Collect(maps.Keys(e.Seconds))); len(list) > 0 {
			_, low := e.Best()
			sum += e.Seconds[list[0].Schedule]/low - 1
			n++
		}
	}
	if n < 2 {
		return 0
	}
	return sum / float64(n)
}
