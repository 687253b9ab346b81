package search

import (
	"math"

	"gonum.org/v1/gonum/mat"
)

// overlap is the exponent of the norm by which parts are taken to make up a time: 1 would be
// their sum, infinity the largest (the cost model's own is fitted to 3.6).
const overlap = 3.0

// scales are what a prior is wrong by, as logarithms: a factor for each of its parts, and one for each
// family. On a device that it does not know, a prior mostly misjudges how fast one resource is
// beside another; some measurements tell, and then all schedules are ranked anew.
type scales struct {
	part   []float64
	family []float64
}

// Standard deviations, on log seconds: of a part's scale, of a family's, and of what is left.
const (
	partScaleSD   = 0.5
	familyScaleSD = 0.5
	scaledSD      = 0.1
)

// shares are those of a schedule's time, by overlap; their sum is 1.
func shares(parts []float64) []float32 {
	most := 0.0
	for _, v := range parts {
		most = max(most, v)
	}
	u, sum := make([]float64, len(parts)), 0.0
	for i, v := range parts {
		if v > 0 {
			u[i] = math.Pow(v/most, overlap)
			sum += u[i]
		}
	}
	out := make([]float32, len(parts))
	for i := range u {
		if sum > 0 {
			out[i] = float32(u[i] / sum)
		}
	}
	return out
}

// stretch is the log of the factor by which scales change the time of a point.
func (c *enumeration) stretch(s scales, factor []float64, point int) float64 {
	sum := 0.0
	for i, u := range c.shares(point) {
		sum += float64(u) * factor[i]
	}
	return math.Log(sum)/overlap + s.family[c.part(point)]
}

// rescaled is the log of the seconds of every point by the prior as corrected, +Inf where it gives none.
func (c *enumeration) rescaled(s scales) []float64 {
	factor := s.factors()
	log := make([]float64, c.size)
	for q := range log {
		if log[q] = c.predicted(q); !math.IsInf(log[q], 1) {
			log[q] += c.stretch(s, factor, q)
		}
	}
	return log
}

// factors are those of shares.
func (s scales) factors() []float64 {
	f := make([]float64, len(s.part))
	for i, v := range s.part {
		f[i] = math.Exp(overlap * v)
	}
	return f
}

// rescale finds the most probable scales given what points took, as logarithms of seconds, by
// Gauss-Newton with weights that fall with a point's error (Cauchy), since a few are outliers, and
// with its distance from the best, since how slow a slow schedule is matters little.
func (c *enumeration) rescale(points []int, logs []float64) scales {
	k, families := c.kinds, len(c.parts)
	s := scales{make([]float64, k), make([]float64, families)}
	best := math.Inf(1)
	for _, v := range logs {
		best = min(best, v)
	}
	n := k + families + 1
	level := 0.0
	for range 12 {
		a, g := mat.NewSymDense(n, nil), mat.NewVecDense(n, nil)
		for i, v := range append(append([]float64{}, s.part...), s.family...) {
			sd := partScaleSD
			if i >= k {
				sd = familyScaleSD
			}
			a.SetSym(i, i, 1/(sd*sd))
			g.SetVec(i, -v/(sd*sd))
		}
		a.SetSym(n-1, n-1, 1e-6)
		factor := s.factors()
		row := make([]float64, n)
		for j, q := range points {
			expected := c.predicted(q)
			if math.IsInf(expected, 1) {
				continue
			}
			r := logs[j] - expected - c.stretch(s, factor, q) - level
			sd := scaledSD * (1 + 2*(logs[j]-best))
			w := 1 / (sd * sd) / (1 + r*r/(9*sd*sd))
			clear(row)
			sum := 0.0
			for i, u := range c.shares(q) {
				row[i] = float64(u) * factor[i]
				sum += row[i]
			}
			for i := range k {
				row[i] /= sum
			}
			row[k+c.part(q)] = 1
			row[n-1] = 1
			for i := range n {
				g.SetVec(i, g.AtVec(i)+w*r*row[i])
				for l := range i + 1 {
					a.SetSym(i, l, a.At(i, l)+w*row[i]*row[l])
				}
			}
		}
		var chol mat.Cholesky
		if !chol.Factorize(a) {
			break
		}
		var step mat.VecDense
		if chol.SolveVecTo(&step, g) != nil {
			break
		}
		for i := range k {
			s.part[i] = min(max(s.part[i]+min(max(step.AtVec(i), -1), 1), -2.5), 2.5)
		}
		for i := range families {
			s.family[i] += step.AtVec(k + i)
		}
		level += step.AtVec(n - 1)
	}
	return s
}
