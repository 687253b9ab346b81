package search

import (
	"math"

	"gonum.org/v1/gonum/floats"
)

// posterior is a Gaussian process conditioned row by row, which keeps the mean
// and the variance of a list of candidates at hand.
//
// A row is a point of the training set. A row without a value is a believer: it
// stands for a proposal whose answer is still to come, takes the mean as its
// value and so only shrinks the variance around it (Ginsbourger, Le Riche and
// Carraro, "Kriging is well-suited to parallelize optimization", 2010).
// Appending costs one row of the Cholesky factor L and one of V = L^-1 K(rows,
// candidates); giving a row its value costs nothing until the means are asked for.
type posterior struct {
	c     *covariance
	noise float64 // variance of a measurement

	points []int32
	value  []float64 // residual of a row
	known  []bool    // false for a believer
	error  []float64 // noise variance of a row
	l      [][]float64
	beta   []float64 // L^-1 values
	stale  bool      // beta and mean are older than the values

	cand []int32
	v    [][]float64
	mean []float64 // posterior mean of the residual at each candidate
	rest []float64 // posterior variance at each candidate
}

func newPosterior(c *covariance, cand []int32) *posterior {
	g := &posterior{c: c, noise: math.Exp(c.hyper.noise), cand: cand}
	g.mean = make([]float64, len(cand))
	g.rest = make([]float64, len(cand))
	for i, q := range cand {
		g.rest[i] = c.at0(int(q))
	}
	return g
}

// add appends a row; false, and no row, if the matrix would no longer be
// positive definite.
func (g *posterior) add(point int, value float64, known bool, extra float64) bool {
	n := len(g.points)
	row := make([]float64, n+1)
	g.c.against(row[:n], point, g.points)
	d := g.c.at0(point) + g.noise + extra
	for i := range n {
		row[i] = (row[i] - floats.Dot(g.l[i][:i], row[:i])) / g.l[i][i]
		d -= row[i] * row[i]
	}
	if !(d > 1e-10) {
		return false
	}
	row[n] = math.Sqrt(d)
	v := make([]float64, len(g.cand))
	g.c.against(v, point, g.cand)
	for i := range n {
		floats.AddScaled(v, -row[i], g.v[i])
	}
	floats.Scale(1/row[n], v)
	for i, x := range v {
		g.rest[i] -= x * x
	}
	g.points = append(g.points, int32(point))
	g.value = append(g.value, value)
	g.known = append(g.known, known)
	g.error = append(g.error, g.noise+extra)
	g.l = append(g.l, row)
	g.v = append(g.v, v)
	g.beta = append(g.beta, 0)
	if known {
		g.stale = true
	}
	return true
}

// set gives row i its value. Its noise stays what it was added with.
func (g *posterior) set(i int, value float64) {
	g.value[i], g.known[i], g.stale = value, true, true
}

// more appends candidates.
func (g *posterior) more(cand []int32) {
	k := make([]float64, len(g.points))
	for _, q := range cand {
		g.c.against(k, int(q), g.points)
		rest := g.c.at0(int(q))
		mean := 0.0
		for i := range k {
			k[i] = (k[i] - floats.Dot(g.l[i][:i], k[:i])) / g.l[i][i]
			rest -= k[i] * k[i]
			mean += k[i] * g.beta[i]
			g.v[i] = append(g.v[i], k[i])
		}
		g.cand = append(g.cand, q)
		g.mean = append(g.mean, mean)
		g.rest = append(g.rest, rest)
	}
}

// refresh brings beta and the means up to the values.
func (g *posterior) refresh() {
	if !g.stale {
		return
	}
	clear(g.mean)
	for i := range g.points {
		g.beta[i] = 0
		if g.known[i] {
			g.beta[i] = (g.value[i] - floats.Dot(g.l[i][:i], g.beta[:i])) / g.l[i][i]
			floats.AddScaled(g.mean, g.beta[i], g.v[i])
		}
	}
	g.stale = false
}

// evidence is the log of the marginal likelihood of the values, up to a constant.
func (g *posterior) evidence() float64 {
	g.refresh()
	v := 0.0
	for i := range g.points {
		if g.known[i] {
			v -= 0.5*g.beta[i]*g.beta[i] + math.Log(g.l[i][i])
		}
	}
	return v
}

// weights solve K alpha = values, with believers at their means.
func (g *posterior) weights() []float64 {
	g.refresh()
	a := append([]float64(nil), g.beta...)
	for i := len(a) - 1; i >= 0; i-- {
		a[i] /= g.l[i][i]
		floats.AddScaled(a[:i], -a[i], g.l[i][:i])
	}
	return a
}

// leftOut are the errors with which all other rows foretell each (Rasmussen and Williams, 2006, section 5.4.2).
func (g *posterior) leftOut() []float64 {
	off := g.weights()
	n := len(off)
	inverse := make([]float64, n) // diagonal of K^-1
	column := make([]float64, n)
	for i := range n { // of L^-1
		for k := i; k < n; k++ {
			column[k] = -floats.Dot(g.l[k][i:k], column[i:k])
			if k == i {
				column[k] = 1
			}
			column[k] /= g.l[k][k]
			inverse[i] += column[k] * column[k]
		}
	}
	for i := range off {
		off[i] /= inverse[i]
	}
	return off
}

// scan writes the posterior mean of the residual at any points, good enough to rank them.
func (g *posterior) scan(dst []float64, alpha []float64, at []int32) {
	for i, q := range at {
		dst[i] = g.c.sum(int(q), g.points, alpha)
	}
}
