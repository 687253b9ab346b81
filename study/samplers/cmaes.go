package samplers

import (
	"math"
	"math/rand/v2"

	"github.com/c-bata/goptuna"
	"github.com/c-bata/goptuna/cmaes"
	"gonum.org/v1/gonum/mat"

	"stenciltune/outcome"
	"stenciltune/search"
	"stenciltune/space"
)

// cmaesStrategy is the covariance matrix adaptation evolution strategy (Hansen,
// "The CMA Evolution Strategy: A Tutorial", 2016) as a baseline: goptuna's
// optimizer on the unit cube, each vector answered by the nearest legal schedule
// that was not tried yet. When it has converged it starts anew at a random place
// with twice the population (IPOP; Auger and Hansen, CEC 2005).
//
// Note: goptuna's own cmaes.Sampler reads the whole study at every proposal, has
// no lock and no axis for a family's own parameters; hence its optimizer, as the
// study's relative sampler.
type cmaesStrategy struct {
	*study
	box     *box
	rng     *rand.Rand
	o       *cmaes.Optimizer
	vectors map[int][]float64 // of the points asked for
	drawn   map[int]int       // start that a point belongs to
	answers []*cmaes.Solution
	start   int // how often it began
	worst   float64
}

func newCMAES(p search.Pool, seed uint64) (search.Strategy, error) {
	r := search.Rand(seed, "cmaes")
	s := &cmaesStrategy{box: newBox(p), rng: r, vectors: map[int][]float64{}, drawn: map[int]int{}, worst: math.Inf(-1)}
	s.study = newStudy("cmaes", p, goptuna.StudyOptionRelativeSampler(s))
	s.restart(0)
	return s, nil
}

// restart begins in the middle at first and then at random; population 0 is the
// usual one.
func (s *cmaesStrategy) restart(population int) {
	n := max(2, len(s.box.names)) // it adapts a covariance: one axis more does no harm
	mean, bounds := make([]float64, n), mat.NewDense(n, 2, nil)
	for i := range mean {
		bounds.Set(i, 1, 1)
		mean[i] = 0.5
		if s.o != nil {
			mean[i] = s.rng.Float64()
		}
	}
	options := []cmaes.OptimizerOption{cmaes.OptimizerOptionBounds(bounds), cmaes.OptimizerOptionSeed(s.rng.Int64())}
	if population > 0 {
		options = append(options, cmaes.OptimizerOptionPopulationSize(population))
	}
	var err error
	s.o, err = cmaes.NewOptimizer(mean, 1.0/3, options...)
	must(err)
	s.start++
	s.answers = nil
}

// Name is the strategy's name.
func (s *cmaesStrategy) Name() string { return "cmaes" }

// Ask proposes the nearest new schedules to n vectors.
func (s *cmaesStrategy) Ask(n int) []space.Schedule {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.Take(n, s.begin)
}

// SampleRelative gives goptuna the axes of the schedule nearest to the next vector.
func (s *cmaesStrategy) SampleRelative(*goptuna.Study, goptuna.FrozenTrial, map[string]any) (map[string]float64, error) {
	x, err := s.o.Ask()
	if err != nil {
		return nil, err
	}
	q := s.box.nearest(x)
	s.vectors[q], s.drawn[q] = x, s.start
	return s.coordinates(q), nil
}

// Tell counts what failed as the worst seen, and closes a generation with as many
// answers as it has members, whichever vectors of this start they answer: when many
// are asked at once, some answers come a generation late.
func (s *cmaesStrategy) Tell(outcomes []outcome.Outcome) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.Told(outcomes, func(q int, o outcome.Outcome) {
		t := search.Usable(o)
		s.end(q, o, t)
		x, asked := s.vectors[q]
		mine := s.drawn[q] == s.start
		delete(s.vectors, q)
		delete(s.drawn, q)
		if !asked || !mine || o.Status == "" {
			return
		}
		value := math.Log(t)
		if math.IsNaN(value) {
			value = max(s.worst, 0) + 1
		} else {
			s.worst = max(s.worst, value)
		}
		s.answers = append(s.answers, &cmaes.Solution{Params: x, Value: value})
		if len(s.answers) < s.o.PopulationSize() {
			return
		}
		must(s.o.Tell(s.answers))
		s.answers = nil
		if s.o.ShouldStop() {
			s.restart(2 * s.o.PopulationSize())
		}
	})
}
