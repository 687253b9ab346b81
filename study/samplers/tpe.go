package samplers

import (
	"cmp"
	"math"
	"math/rand/v2"
	"slices"

	"github.com/c-bata/goptuna"
	"github.com/c-bata/goptuna/sobol"
	"github.com/c-bata/goptuna/tpe"

	"stenciltune/outcome"
	"stenciltune/search"
	"stenciltune/space"
)

// tpeStrategy is the tree-structured Parzen estimator (Bergstra, Bardenet, Bengio
// and Kegl, "Algorithms for Hyper-Parameter Optimization", NIPS 2011) as a
// baseline: goptuna's Parzen estimators over integer index axes, the family
// first and then the axes of that family.
//
// Note: goptuna's own tpe.Sampler draws from the global random source, so no seed
// reproduces it, and reads the whole study for every axis, which takes tens of
// milliseconds a trial after some hundred. Hence a sampler of our own around its
// estimators, with its history at hand. The estimator assigns its weights and
// widths to the wrong points unless the points come sorted, so they do, and the
// weights are flat.
type tpeStrategy struct {
	*study
	rng     *rand.Rand
	chance  func() int // a point that is not taken
	history map[string][]observation
	order   []observation // per axis as now split; reused
	name    string
	startup int        // trials before the estimators
	first   func() int // a point of those
}

// observation is a trial's index on one axis and its time, +Inf if it failed.
type observation struct{ index, seconds float64 }

// The numbers of goptuna's sampler, which are Optuna's.
const (
	tpeStartup    = 10
	tpeCandidates = 24
	tpeAttempts   = 4 // suggestions that may be illegal or repeated before a random schedule
)

func newTPE(p search.Pool, seed uint64) (search.Strategy, error) {
	s := makeTPE(p, "tpe", seed)
	s.startup, s.first = tpeStartup, s.chance
	return s, nil
}

func makeTPE(p search.Pool, name string, seed uint64) *tpeStrategy {
	r := search.Rand(seed, name)
	s := &tpeStrategy{name: name, rng: r, chance: p.Shuffled(r), history: map[string][]observation{}}
	s.study = newStudy(name, p, goptuna.StudyOptionSampler(s))
	return s
}

// sobolStartup is the trials of the Sobol sequence: a power of two, which it fills
// the cube most evenly with.
const sobolStartup = 32

// newSobol is TPE after points of a Sobol sequence, shifted at random so that
// seeds differ (Cranley and Patterson, SIAM J. Numer. Anal. 13, 1976), each
// answered by the nearest legal schedule.
func newSobol(p search.Pool, seed uint64) (search.Strategy, error) {
	s := makeTPE(p, "sobol", seed)
	b := newBox(p)
	engine := sobol.NewEngine(uint32(len(b.names)))
	shift := make([]float64, len(b.names))
	for i := range shift {
		shift[i] = s.rng.Float64()
	}
	s.startup = sobolStartup
	s.first = func() int {
		x := engine.Draw()
		for i := range x {
			_, x[i] = math.Modf(x[i] + shift[i])
		}
		return b.nearest(x)
	}
	return s, nil
}

// Name is the strategy's name.
func (s *tpeStrategy) Name() string { return s.name }

// Ask proposes n suggestions, each legal and new.
func (s *tpeStrategy) Ask(n int) []space.Schedule {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.Take(n, func() int {
		if len(s.history[familyAxis]) < s.startup {
			return s.force(s.first())
		}
		for range tpeAttempts {
			if q := s.begin(); q >= 0 {
				return q
			}
		}
		return s.force(s.chance())
	})
}

// Tell files the outcome on every axis of its schedule. What failed counts as
// slower than anything.
func (s *tpeStrategy) Tell(outcomes []outcome.Outcome) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.Told(outcomes, func(q int, o outcome.Outcome) {
		t := search.Usable(o)
		s.end(q, o, t)
		if math.IsNaN(t) {
			if !o.Status.Failed() {
				return
			}
			t = math.Inf(1)
		}
		k, row := s.Values(q)
		s.file(familyAxis, k, t)
		f := s.Families()[k]
		for i, p := range f.Params {
			s.file(axisName(f, p), int(row[i]), t)
		}
	})
}

func (s *tpeStrategy) file(axis string, index int, seconds float64) {
	s.history[axis] = append(s.history[axis], observation{float64(index), seconds})
}

// Sample draws an index for one axis: of some draws from the density of the good
// trials, the one where that density is highest against that of the others.
func (s *tpeStrategy) Sample(_ *goptuna.Study, _ goptuna.FrozenTrial, name string, distribution any) (float64, error) {
	d, ok := distribution.(goptuna.IntUniformDistribution)
	if !ok {
		return 0, goptuna.ErrUnknownDistribution
	}
	seen := s.history[name]
	if d.High == d.Low {
		return float64(d.Low), nil
	}
	if len(seen) < tpeStartup {
		return float64(d.Low + s.rng.IntN(d.High-d.Low+1)), nil
	}
	s.order = append(s.order[:0], seen...)
	slices.SortStableFunc(s.order, func(a, b observation) int { return cmp.Compare(a.seconds, b.seconds) })
	cut := tpe.DefaultGamma(len(s.order))
	low, high := float64(d.Low)-0.5, float64(d.High)+0.5
	good, other := estimator(s.order[:cut], low, high), estimator(s.order[cut:], low, high)
	best, top := 0.0, math.Inf(-1)
	weighed := make([]bool, d.High-d.Low+1)
	for range tpeCandidates {
		x := min(max(math.Round(s.draw(good, low, high)), float64(d.Low)), float64(d.High))
		i := int(x) - d.Low
		if weighed[i] {
			continue
		}
		weighed[i] = true
		if a := logMass(good, x) - logMass(other, x); a > top {
			best, top = x, a
		}
	}
	return best, nil
}

func estimator(seen []observation, low, high float64) *tpe.ParzenEstimator {
	x := make([]float64, len(seen))
	for i, o := range seen {
		x[i] = o.index
	}
	slices.Sort(x)
	return tpe.NewParzenEstimator(x, low, high, tpe.ParzenEstimatorParams{
		ConsiderPrior: true, PriorWeight: 1, ConsiderMagicClip: true, Weights: flat,
	})
}

func flat(n int) []float64 {
	w := make([]float64, n)
	for i := range w {
		w[i] = 1
	}
	return w
}

// draw is one value of a truncated mixture of normals.
func (s *tpeStrategy) draw(e *tpe.ParzenEstimator, low, high float64) float64 {
	for {
		u, i := s.rng.Float64(), 0
		for i < len(e.Weights)-1 && u >= e.Weights[i] {
			u -= e.Weights[i]
			i++
		}
		if x := e.Mus[i] + e.Sigmas[i]*s.rng.NormFloat64(); low <= x && x < high {
			return x
		}
	}
}

// logMass is the log of a mixture's mass on the unit interval around x; what the
// ends cut off is the same for every x and left out.
func logMass(e *tpe.ParzenEstimator, x float64) float64 {
	m := 1e-12
	for i, w := range e.Weights {
		d := math.Sqrt2 * max(e.Sigmas[i], 1e-12)
		m += w * 0.5 * (math.Erf((x+0.5-e.Mus[i])/d) - math.Erf((x-0.5-e.Mus[i])/d))
	}
	return math.Log(m)
}
