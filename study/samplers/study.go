// Package samplers are strategies that draw as goptuna's samplers do, for comparison with the
// tuner's own: the tree-structured Parzen estimator, CMA-ES and a Sobol sequence.
//
// goptuna keeps the study and its trials; docs/decisions/0008-goptuna.md says what of it is used.
package samplers

import (
	"fmt"
	"math"
	"strings"
	"sync"

	"github.com/c-bata/goptuna"

	"stenciltune/outcome"
	"stenciltune/search"
	"stenciltune/space"
	"stenciltune/timing"
)

// study keeps the trials of a search in goptuna: which points were asked, with
// which indices, and what became of them. Every axis is an integer index,
// inclusive on both sides; every suggestion is checked against the space; a time
// is told only if it is finite and positive, and anything else ends pruned, with
// its status as an attribute. One mutex guards asking and telling, and goptuna's
// own loop is not used.
//
// goptuna's storage in memory cannot fail on these calls: an error is our own bug.
type study struct {
	search.Pool
	mu    sync.Mutex
	s     *goptuna.Study
	trial map[int]int // running trial of a point
}

// newStudy makes a study over the pool's space.
func newStudy(name string, p search.Pool, options ...goptuna.StudyOption) *study {
	options = append([]goptuna.StudyOption{
		goptuna.StudyOptionLogger(nil), // silent; the default writes to standard output
		goptuna.StudyOptionDirection(goptuna.StudyDirectionMinimize),
		goptuna.StudyOptionDefineSearchSpace(axes(p)),
	}, options...)
	s, err := goptuna.CreateStudy(name, options...)
	must(err)
	return &study{Pool: p, s: s, trial: map[int]int{}}
}

func must(err error) {
	if err != nil {
		panic(fmt.Sprintf("samplers: goptuna: %v", err))
	}
}

// familyAxis is the axis that says which family's axes apply.
const familyAxis = "family"

func axisName(f *space.Family, p space.Param) string { return f.Name + "." + p.Name }

// axes are all axes of a space as goptuna's distributions.
func axes(p search.Pool) map[string]any {
	m := map[string]any{familyAxis: indexAxis(len(p.Families()))}
	for _, f := range p.Families() {
		for _, q := range f.Params {
			m[axisName(f, q)] = indexAxis(len(q.Values))
		}
	}
	return m
}

func indexAxis(n int) goptuna.IntUniformDistribution {
	return goptuna.IntUniformDistribution{Low: 0, High: max(0, n-1)}
}

// coordinates are a point's values on the axes.
func (s *study) coordinates(point int) map[string]float64 {
	k, row := s.Values(point)
	f := s.Families()[k]
	m := map[string]float64{familyAxis: float64(k)}
	for i, q := range f.Params {
		m[axisName(f, q)] = float64(row[i])
	}
	return m
}

// begin creates a trial and lets goptuna sample it; -1 if what it sampled is not
// a point of the space, or is taken. The trial is then pruned.
func (s *study) begin() int {
	id, err := s.s.Storage.CreateNewTrial(s.s.ID)
	must(err)
	t := goptuna.Trial{Study: s.s, ID: id}
	must(t.CallRelativeSampler())
	k, err := t.SuggestInt(familyAxis, 0, max(0, len(s.Families())-1))
	must(err)
	f := s.Families()[k]
	idx := make([]int, len(f.Params))
	for i, q := range f.Params {
		idx[i], err = t.SuggestInt(axisName(f, q), 0, len(q.Values)-1)
		must(err)
		if idx[i] < 0 || idx[i] >= len(q.Values) {
			s.prune(id, "outside the axis "+q.Name)
			return -1
		}
	}
	point := s.Find(k, idx)
	switch {
	case point < 0:
		s.prune(id, string(timing.Rejected))
		return -1
	case s.Taken(point):
		s.prune(id, "repeated")
		return -1
	}
	s.trial[point] = id
	return point
}

// force creates a trial of a given point.
func (s *study) force(point int) int {
	id, err := s.s.Storage.CreateNewTrial(s.s.ID)
	must(err)
	k, row := s.Values(point)
	f := s.Families()[k]
	must(s.s.Storage.SetTrialParam(id, familyAxis, float64(k), indexAxis(len(s.Families()))))
	for i, q := range f.Params {
		must(s.s.Storage.SetTrialParam(id, axisName(f, q), float64(row[i]), indexAxis(len(q.Values))))
	}
	s.trial[point] = id
	return point
}

// statusAttribute is the trial attribute that holds an outcome's status.
const statusAttribute = "status"

// prune ends a trial without a time. goptuna reads a pruned trial without an
// intermediate value as the worst there is, which is what an infeasible one is.
func (s *study) prune(id int, why string) {
	must(s.s.Storage.SetTrialUserAttr(id, statusAttribute, clip(why)))
	must(s.s.Storage.SetTrialState(id, goptuna.TrialStatePruned))
}

// clip keeps an attribute within what any of goptuna's storages can hold.
func clip(s string) string {
	s = strings.Map(func(r rune) rune {
		if r < ' ' || r > '~' {
			return '?'
		}
		return r
	}, s)
	return s[:min(len(s), 200)]
}

// end reports an outcome; of a point never asked for, a trial is made first.
// seconds are what is usable, and NaN if nothing is.
func (s *study) end(point int, o outcome.Outcome, seconds float64) {
	id, running := s.trial[point]
	if !running {
		s.force(point)
		id = s.trial[point]
	}
	delete(s.trial, point)
	if math.IsNaN(seconds) {
		s.prune(id, string(o.Status))
		return
	}
	must(s.s.Storage.SetTrialUserAttr(id, statusAttribute, clip(string(o.Status))))
	must(s.s.Storage.SetTrialValue(id, seconds))
	must(s.s.Storage.SetTrialState(id, goptuna.TrialStateComplete))
}
