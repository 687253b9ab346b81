package report

import (
	"cmp"
	"math"
	"slices"
	"time"

	"stenciltune/cache"
	"stenciltune/kernels"
	"stenciltune/machine"
	"stenciltune/model"
	"stenciltune/outcome"
	"stenciltune/space"
	"stenciltune/stencil"
	"stenciltune/timing"
)

// Run is what is known of one problem on one device, for Make.
type Run struct {
	Origin    Origin
	ID        string
	Objective timing.Objective
	Phase     string          // of a running tune
	Trying    string          // by a running tune
	Time      time.Time       // when it ended or, of a running tune, began
	Changed   time.Time       // when something new was last known
	Name      string          // of the problem, where it has no stencil
	Problem   stencil.Problem // without a stencil if another tuner recorded it
	Machine   machine.Machine
	Regime    timing.Regime
	Families  []kernels.Family // what the cost model can predict; nil = nothing
	Space     *space.Space     // the parameters, with their docs; nil = what the schedules name
	Outcomes  []outcome.Outcome
	Search    []Evaluation   // in order; each is of a schedule among Outcomes
	Naive     space.Schedule // the baseline; zero = not known
	Config    *cache.Config  // of the winner; nil = none yet
	Recorded  bool           // Outcomes are (nearly) a whole space
	Notes     []string
}

// Evaluation is one of a search.
type Evaluation struct {
	Schedule space.Schedule
	Seconds  float64 // from the search's begin
}

// maker is a Tune in the making.
type maker struct {
	Run
	tune      Tune
	index     map[space.Schedule]int
	predicted []model.Prediction // of each point; Seconds 0 = none
}

// Make turns what is known of a problem into what a page shows. Source and Explanation are
// left for the caller. Of two outcomes of one schedule the later counts.
func Make(r Run) Tune {
	m := &maker{Run: r, index: map[space.Schedule]int{}}
	m.tune = Tune{Brief: Brief{ID: r.ID, Origin: r.Origin, Phase: r.Phase, Trying: r.Trying, Time: r.Time, Changed: r.Changed, Problem: r.Name, Regime: r.Regime, Cells: float64(r.Problem.Size.Cells()),
		Device: cache.DeviceOf(r.Machine), Toolchain: cache.ToolchainInfo{Compiler: r.Machine.Compiler, CUDA: r.Machine.CUDAVersion, Options: []string{}},
		Copy: r.Machine.CopyBytesPerSecond}, Best: -1, Predicted: -1, Recorded: r.Recorded, Config: r.Config,
		Notes: append([]string{}, r.Notes...), Families: []Family{}, Finals: []Final{}, Failures: []Failure{}, Importance: []Importance{},
		Points: Points{Family: []int{}, Values: [][]int{}, Seconds: []float64{}, Predicted: []float64{}, Limiter: []int{}, Status: []int{}, Registers: []int{}, Limiters: []string{}, Statuses: []timing.Status{}},
		Search: Search{Point: []int{}, Seconds: []float64{}, Best: []float64{}}}
	if r.Problem.Stencil != nil {
		m.tune.Problem = r.Problem.Text()
		m.tune.StepBytes = m.tune.Cells * float64(r.Problem.Traffic())
	}
	if c := r.Config; c != nil {
		m.tune.Device, m.tune.Toolchain = c.Device, c.Toolchain
		m.tune.Copy = cmp.Or(c.Device.CopyBytesPerSecond, m.tune.Copy)
		r.Objective = cmp.Or(r.Objective, c.Objective)
	}
	if r.Objective != "" && r.Objective != timing.ForTime {
		m.tune.Objective = r.Objective
		m.tune.Problem += " by " + string(r.Objective)
	}
	m.once()
	m.families()
	m.points()
	m.search()
	if m.tune.Best >= 0 {
		m.tune.Seconds = m.tune.Points.Seconds[m.tune.Best]
	}
	if r.Config != nil {
		m.tune.Seconds = r.Config.Measured.SecondsPerStep
	}
	_, m.tune.Naive = m.baseline()
	m.tune.Finals = m.finals()
	m.tune.Roofline = m.roofline()
	m.tune.Importance = importance(m.tune.Families, m.tune.Points)
	m.tune.Failures = failures(m.Outcomes)
	return m.tune
}

// once leaves one outcome of each schedule, at the place of the first.
func (m *maker) once() {
	var list []outcome.Outcome
	for _, o := range m.Outcomes {
		if i, again := m.index[o.Schedule]; again {
			list[i] = o
			continue
		}
		m.index[o.Schedule] = len(list)
		list = append(list, o)
	}
	m.Outcomes = list
}

// families lists the families that occur, with all parameters that occur.
func (m *maker) families() {
	texts := map[string][][]space.Field{}
	for _, o := range m.Outcomes {
		name := o.Schedule.Family()
		if texts[name] == nil {
			m.tune.Families = append(m.tune.Families, Family{Name: name, Params: []Param{}})
		}
		texts[name] = append(texts[name], o.Schedule.Fields())
	}
	for i := range m.tune.Families {
		f := &m.tune.Families[i]
		if m.Space != nil {
			if known := m.Space.Family(f.Name); known != nil {
				for _, p := range known.Params {
					q := Param{Name: p.Name, Doc: p.Doc, Optional: p.Optional}
					if p.Optional && len(p.Values) > 0 {
						q.Default = p.Values[0]
					}
					f.Params = append(f.Params, q)
				}
			}
		}
		f.Params = named(f.Params, texts[f.Name])
	}
}

// named adds to a family's parameters those that only its schedules name, which may be of another version or of a
// family that is not known. What a text leaves out is optional, with a default that no text has.
func named(params []Param, texts [][]space.Field) []Param {
	texts = slices.Clone(texts)
	slices.SortStableFunc(texts, func(a, b []space.Field) int { return cmp.Compare(len(b), len(a)) }) // which tell more of the order
	for _, fields := range texts {
		at := 0
		for _, x := range fields {
			k := slices.IndexFunc(params, func(p Param) bool { return p.Name == x.Name })
			if k < 0 {
				k = at
				params = slices.Insert(params, k, Param{Name: x.Name})
			}
			at = k + 1
		}
	}
	for k := range params {
		p := &params[k]
		given, zero := 0, false
		for _, fields := range texts {
			if i := slices.IndexFunc(fields, func(x space.Field) bool { return x.Name == p.Name }); i >= 0 {
				given++
				zero = zero || fields[i].Value == 0
			}
		}
		if !p.Optional && given < len(texts) {
			p.Optional = true
			if zero {
				p.Default = -1
			}
		}
	}
	return params
}

// points fills in the columns of the schedules.
func (m *maker) points() {
	p := &m.tune.Points
	m.predicted = m.predictions()
	for i, o := range m.Outcomes {
		at := slices.IndexFunc(m.tune.Families, func(f Family) bool { return f.Name == o.Schedule.Family() })
		values := []int{}
		for _, x := range m.tune.Families[at].Params {
			values = append(values, o.Schedule.Int(x.Name, x.Default))
		}
		q := m.predicted[i]
		limiter := -1
		if q.Seconds > 0 {
			limiter = place(&p.Limiters, q.Limiter)
			if m.tune.Predicted < 0 || q.Seconds < m.predicted[m.tune.Predicted].Seconds {
				m.tune.Predicted = i
			}
		}
		seconds := round(o.Seconds())
		if o.Status == timing.OK && seconds > 0 && (m.tune.Best < 0 || seconds < p.Seconds[m.tune.Best]) {
			m.tune.Best = i
		}
		p.Family, p.Values = append(p.Family, at), append(p.Values, values)
		p.Seconds, p.Predicted = append(p.Seconds, seconds), append(p.Predicted, round(q.Seconds))
		p.Limiter, p.Status = append(p.Limiter, limiter), append(p.Status, place(&p.Statuses, o.Status))
		p.Registers = append(p.Registers, o.Registers)
	}
}

// predictions are the cost model's of each schedule that is legal today; the others have none.
func (m *maker) predictions() []model.Prediction {
	list := make([]space.Schedule, len(m.Outcomes))
	for i, o := range m.Outcomes {
		list[i] = o.Schedule
	}
	return space.Each(list, func(s space.Schedule) model.Prediction {
		f := kernels.Find(m.Families, s.Family())
		if f == nil || m.Problem.Stencil == nil || m.Space == nil || m.Space.Check(s) != nil {
			return model.Prediction{}
		}
		o := m.Outcomes[m.index[s]]
		q := model.Schedule(m.Problem, f, s, model.Facts{Registers: o.Registers, SpillBytes: o.SpillBytes}, m.Machine)
		if math.IsInf(q.Seconds, 0) || math.IsNaN(q.Seconds) {
			return model.Prediction{}
		}
		return q
	})
}

// search fills in the columns of the search.
func (m *maker) search() {
	best := 0.0
	for _, e := range m.Search {
		i, ok := m.index[e.Schedule]
		if !ok {
			continue
		}
		if o := m.Outcomes[i]; o.Status == timing.OK && o.Seconds() > 0 && (best == 0 || o.Seconds() < best) {
			best = o.Seconds()
		}
		s := &m.tune.Search
		s.Point, s.Seconds, s.Best = append(s.Point, i), append(s.Seconds, round(e.Seconds)), append(s.Best, round(best))
	}
}

// shown is how many of the best are listed where no finals were held.
const shown = 12

// finals are what the last round timed, the winner and its ties first; before there is one,
// the best by median, and the baseline.
func (m *maker) finals() []Final {
	list := []Final{}
	add := func(role Role, text string, seconds, low, high float64) {
		if slices.ContainsFunc(list, func(f Final) bool { return f.Schedule == text }) {
			return
		}
		f := Final{Schedule: text, Role: role, Seconds: seconds, Low: low, High: high, Samples: []float64{}}
		if s, err := space.ParseSchedule(text); err == nil {
			if i, ok := m.index[s]; ok {
				f.Samples = append(f.Samples, m.Outcomes[i].Series.Samples...)
			}
		}
		list = append(list, f)
	}
	if c := m.Config; c != nil {
		add(Winner, c.Schedule.Text, c.Measured.SecondsPerStep, c.Measured.Low, c.Measured.High)
		timed := map[string]cache.FinalInfo{}
		for _, f := range c.Finals {
			timed[f.Schedule] = f
		}
		for _, t := range c.Ties {
			add(Tie, t.Schedule, t.SecondsPerStep, timed[t.Schedule].Low, timed[t.Schedule].High)
		}
		if b := c.Baseline; b != nil {
			add(Baseline, b.Schedule, b.SecondsPerStep, timed[b.Schedule].Low, timed[b.Schedule].High)
		}
		for _, f := range c.Finals {
			add(Close, f.Schedule, f.SecondsPerStep, f.Low, f.High)
		}
		return list
	}
	best := slices.DeleteFunc(slices.Clone(m.Outcomes), func(o outcome.Outcome) bool { return o.Status != timing.OK || o.Seconds() <= 0 })
	slices.SortStableFunc(best, func(a, b outcome.Outcome) int { return cmp.Compare(a.Seconds(), b.Seconds()) })
	for i, o := range best[:min(shown, len(best))] {
		role := Close
		if i == 0 {
			role = Winner
		}
		add(role, o.Schedule.String(), o.Seconds(), o.Series.Low, o.Series.High)
	}
	if s, seconds := m.baseline(); seconds > 0 {
		o := m.Outcomes[m.index[s]] // of the index since there is no config
		add(Baseline, s.String(), seconds, o.Series.Low, o.Series.High)
	}
	return list
}

// baseline is the naive kernel and its seconds; 0 = not known.
func (m *maker) baseline() (space.Schedule, float64) {
	if m.Config != nil && m.Config.Baseline != nil {
		s, err := space.ParseSchedule(m.Config.Baseline.Schedule)
		if err == nil {
			return s, m.Config.Baseline.SecondsPerStep
		}
	}
	if i, ok := m.index[m.Naive]; ok {
		return m.Naive, m.Outcomes[i].Seconds()
	}
	return space.Schedule{}, 0
}

// roofline places the baseline, one step at copy bandwidth and the winner.
func (m *maker) roofline() Roofline {
	r := Roofline{Marks: []Mark{}}
	if m.Problem.Stencil == nil {
		return r
	}
	cells := m.tune.Cells
	mark := func(role Role, s space.Schedule, seconds float64) {
		f := kernels.Find(m.Families, s.Family())
		if f == nil || seconds <= 0 || m.Space == nil || m.Space.Check(s) != nil {
			return
		}
		var facts model.Facts
		if i, ok := m.index[s]; ok {
			facts = model.Facts{Registers: m.Outcomes[i].Registers, SpillBytes: m.Outcomes[i].SpillBytes}
		}
		q := model.Schedule(m.Problem, f, s, facts, m.Machine)
		if q.DRAMBytes > 0 {
			steps := float64(s.Int("ph", 1))
			r.Marks = append(r.Marks, Mark{role, s.String(), cells * steps / q.DRAMBytes, cells / seconds})
		}
	}
	s, seconds := m.baseline()
	mark(Baseline, s, seconds)
	if m.tune.Copy > 0 {
		r.Marks = append(r.Marks, Mark{OneStep, "", cells / m.tune.StepBytes, cells * m.tune.Copy / m.tune.StepBytes})
	}
	switch {
	case m.Config != nil:
		if s, err := space.ParseSchedule(m.Config.Schedule.Text); err == nil {
			mark(Winner, s, m.Config.Measured.SecondsPerStep)
		}
	case m.tune.Best >= 0:
		mark(Winner, m.Outcomes[m.tune.Best].Schedule, m.tune.Points.Seconds[m.tune.Best])
	}
	r.Arithmetic = m.arithmetic()
	return r
}

// arithmetic is the cells a second that the arithmetic units allow, if every result were one
// of a fused multiply and add; 0 = not known.
func (m *maker) arithmetic() float64 {
	single, double := m.Machine.Lanes()
	lanes := single
	if kernels.ComputedSize(m.Problem.DType) == 8 {
		lanes = double
	}
	total, _ := kernels.Operations(m.Problem, [3]int{1, 1, 1}, 1)
	if total <= 0 || m.Machine.Kind == machine.Host {
		return 0
	}
	return float64(lanes) * float64(m.Machine.SMs) * m.Machine.ClockHz / (total / 2)
}

// failures counts what failed, the most frequent first.
func failures(list []outcome.Outcome) []Failure {
	type kind struct {
		status timing.Status
		reason string
	}
	count := map[kind]*Failure{}
	for _, o := range list {
		if !o.Status.Failed() {
			continue
		}
		k := kind{o.Status, o.Reason}
		if count[k] == nil {
			count[k] = &Failure{o.Status, o.Reason, 0, o.Schedule.String()}
		}
		count[k].Count++
	}
	all := []Failure{}
	for _, f := range count {
		all = append(all, *f)
	}
	slices.SortFunc(all, func(a, b Failure) int {
		return cmp.Or(-cmp.Compare(a.Count, b.Count), cmp.Compare(a.Status, b.Status), cmp.Compare(a.Reason, b.Reason))
	})
	return all
}

// place is the place of a value in a list, to which it is appended if it is new.
func place[T comparable](list *[]T, v T) int {
	i := slices.Index(*list, v)
	if i < 0 {
		i = len(*list)
		*list = append(*list, v)
	}
	return i
}

// round keeps five digits: more than timers resolve, and half the bytes of a page.
func round(v float64) float64 { return timing.Digits(v, 5) }
