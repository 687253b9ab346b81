package tuned

import (
	"cmp"
	"maps"
	"math"
	"slices"
	"strconv"
	"strings"

	"stenciltune/cache"
	"stenciltune/kernels"
	"stenciltune/kernels/all"
	"stenciltune/machine"
	"stenciltune/model"
	"stenciltune/space"
	"stenciltune/stencil"
)

// place is where schedules are timed: a problem on a machine.
type place struct {
	problem stencil.Problem
	machine machine.Machine
	known   map[space.Schedule]guess // predictions made so far
	model   model.Coefficients
	launch  map[string]bool // parameters of the launch alone
}

// guess is what the cost model says of a schedule.
type guess struct {
	seconds float64 // per step; +Inf where it has none
	alone   bool    // no SM holds two of its blocks
}

func at(p stencil.Problem, m machine.Machine) place {
	pl := place{p, m.WithLimits(), map[space.Schedule]guess{}, model.Fitted, map[string]bool{}}
	for _, f := range all.For(p) {
		for _, q := range f.Space(p, pl.machine).Params {
			pl.launch[q.Name] = q.Launch
		}
	}
	return pl
}

// predict is the cost model's seconds per step of a schedule at a place; +Inf where
// it has none.
func (pl place) predict(s space.Schedule) float64 { return pl.guess(s).seconds }

func (pl place) guess(s space.Schedule) guess {
	g, ok := pl.known[s]
	if !ok {
		g = pl.ask(s)
		pl.known[s] = g
	}
	return g
}

// ask asks the cost model.
func (pl place) ask(s space.Schedule) guess {
	if f := kernels.Find(all.For(pl.problem), s.Family()); f != nil {
		if v := pl.model.Schedule(pl.problem, f, s, model.Facts{}, pl.machine); v.Seconds > 0 {
			return guess{v.Seconds, v.BlocksPerSM == 1 || v.Waves*float64(v.BlocksPerSM) <= 1}
		}
	}
	return guess{seconds: math.Inf(1)}
}

// legal is every schedule there is at a place.
func (pl place) legal() []space.Schedule {
	return slices.Collect(kernels.Spaces(all.For(pl.problem), pl.problem, pl.machine).All())
}

// predictAll predicts schedules on all processors.
func (pl place) predictAll(of []space.Schedule) {
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

// evidence is what was measured at one place.
type evidence struct {
	place
	key     cache.Key
	config  cache.Config
	seconds map[space.Schedule]float64
}

// gather collects the measurements of one stored config: its own schedules, and those
// in the journal beside it. Schedules that are not legal there are left out: nobody
// can have measured them.
func gather(s *cache.Store, st *stencil.Stencil, c cache.Stored) (evidence, error) {
	e := evidence{key: c.Key, config: c.Config, seconds: map[space.Schedule]float64{}}
	if len(c.Config.Problem.Size) != st.Dims {
		return e, nil
	}
	p := stencil.Problem{Stencil: st, DType: stencil.DType(c.Config.Stencil.DType), Size: stencil.Size{1, 1, 1}, Steps: c.Config.Problem.Steps}
	copy(p.Size[:], c.Config.Problem.Size)
	e.place = at(p, MachineOf(c.Config))
	sp := kernels.Spaces(all.For(e.problem), e.problem, e.machine)
	add := func(sc space.Schedule, seconds float64) {
		if seconds > 0 && sp.Check(sc) == nil {
			e.seconds[sc] = seconds
		}
	}
	entries, err := s.Entries(c.Key)
	if err != nil {
		return e, err
	}
	for _, x := range entries {
		if x.Status.Timed() {
			add(x.Schedule, x.Series.Median)
		}
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

// measured is the schedules that were measured at a place, in the order of their texts: sums over them are the same every time.
func (e evidence) measured() []space.Schedule {
	return slices.SortedFunc(maps.Keys(e.seconds), func(a, b space.Schedule) int { return cmp.Compare(a.String(), b.String()) })
}

// best is the fastest schedule at a place, and its time; ties go to the smaller text.
func (e evidence) best() (space.Schedule, float64) {
	var at space.Schedule
	low := math.Inf(1)
	for s, t := range e.seconds {
		if t < low || t == low && s.String() < at.String() {
			at, low = s, t
		}
	}
	return at, low
}

// offset is what the model is wrong by at a place, whatever the schedule: the median of
// log(measured / predicted) over those worth choosing. Grids that fit into L2 are all faster
// than predicted.
func (e evidence) offset() float64 {
	_, low := e.best()
	var list []float64
	for s, t := range e.seconds {
		if own := e.predict(s); t < 1.5*low && !math.IsInf(own, 1) {
			list = append(list, math.Log(t/own))
		}
	}
	if len(list) == 0 {
		return 0
	}
	slices.Sort(list)
	return list[len(list)/2]
}

// ranked is a schedule and the time expected of it.
type ranked struct {
	schedule space.Schedule
	seconds  float64
	weight   float64 // of where the schedule itself was measured; 0 = nowhere
}

// order is by what is expected, with a handicap for what was not measured near.
func (r ranked) order() float64 { return r.seconds * (1 + unproved*doubt/(r.weight+doubt)) }

// Weights of what was measured elsewhere. A place at logarithmic distance d counts
// 1/(near + d)^2: at the same size all, at half the extents a third or less. doubt is the
// weight of what is thought without: of a schedule what its program was off by, of a program what those
// are that are nearly the same, and of them that the model is right.
const near, doubt = 1.0, 2.0

// unproved is the share by which a schedule must be expected to be faster that was measured nowhere.
// What was measured corrects the model by at most this logarithm: larger errors are of one size.
const unproved, correction = 0.03, 0.3

// kin is under which names what was measured of a schedule counts elsewhere: programs that differ in how
// far they load ahead and in how many blocks an SM must hold; the program, whatever its launch; the schedule. What the
// model is off by is what a compiler made of the program, for the most part, and differs where SMs hold several of its
// blocks (docs/decisions/0023). Rows that are no whole vectors are moved in parts, by another program.
func (pl place) kin(s space.Schedule) [3]string {
	program := []byte(strconv.Itoa(kernels.WholePart(s.Int("vx", 1), pl.problem.Size[0])))
	if pl.guess(s).alone {
		program = append(program, " alone"...)
	}
	group := slices.Clone(program)
	for i, field := range strings.Split(s.String(), "/") {
		name, _, _ := strings.Cut(field, "=")
		if i > 0 && pl.launch[name] {
			continue
		}
		program = append(append(program, '/'), field...)
		if name != "pf" && name != "mb" {
			group = append(append(group, '/'), field...)
		}
	}
	return [3]string{string(group) + "...", string(program), s.String()}
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

// rank orders schedules that are legal at a place by the time expected of them there: the
// model's time, corrected by what the model was wrong by where the schedule was measured, or its kin, and
// at all there (else what was measured on grids within L2 alone would look fast everywhere).
func rank(there place, known []evidence, of []space.Schedule) []ranked {
	type sum struct{ weight, residual float64 }
	sums := map[string]sum{}
	level, levels := 0.0, 0.0
	for _, e := range known {
		d := distance(there.problem.Size, e.problem.Size)
		w := 1 / ((near + d) * (near + d))
		offset := e.offset()
		level += w * offset
		levels += w
		for _, s := range e.measured() {
			own, t := e.predict(s), e.seconds[s]
			if math.IsInf(own, 1) {
				continue
			}
			residual := w * min(max(math.Log(t/own)-offset, -correction), correction)
			for _, k := range e.kin(kernels.On(s, there.machine)) {
				x := sums[k]
				x.weight += w
				x.residual += residual
				sums[k] = x
			}
		}
	}
	if levels > 0 {
		level /= levels
	}
	there.predictAll(of)
	var list []ranked
	for _, s := range of {
		t := there.predict(s)
		if math.IsInf(t, 1) {
			continue
		}
		residual, weight := 0.0, 0.0
		for _, k := range there.kin(s) {
			x := sums[k]
			residual = (x.residual + doubt*residual) / (x.weight + doubt)
			weight = x.weight
		}
		list = append(list, ranked{s, t * math.Exp(level+residual), weight})
	}
	slices.SortFunc(list, func(a, b ranked) int {
		if c := cmp.Compare(a.order(), b.order()); c != 0 {
			return c
		}
		return cmp.Compare(a.schedule.String(), b.schedule.String())
	})
	return list
}

// leaveOneOut is the mean share of time that answers lose where the truth is known:
// each place is answered from the others. It needs two places.
func leaveOneOut(known []evidence) float64 {
	sum, n := 0.0, 0
	for i, e := range known {
		others := slices.Concat(known[:i], known[i+1:])
		if list := rank(e.place, others, slices.Collect(maps.Keys(e.seconds))); len(list) > 0 {
			_, low := e.best()
			sum += e.seconds[list[0].schedule]/low - 1
			n++
		}
	}
	if n < 2 {
		return 0
	}
	return sum / float64(n)
}
