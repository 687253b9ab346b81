package search

import (
	"math"

	"gonum.org/v1/gonum/mat"
	"gonum.org/v1/gonum/optimize"
)

// Priors of the hyper-parameters, normal on their logarithms around modes.
const (
	lengthSD = 1.0
	ampSD    = 1.2
	noiseSD  = 1.0
)

// fit finds the hyper-parameters of the highest posterior density for residuals
// r at points p with known extra noise variances, by L-BFGS from start. It never
// fails: at worst the start comes back.
func fit(f *features, start hyper, p []int32, r, extra []float64, evaluations int) hyper {
	d := newDensity(f, p, r, extra)
	best, bestX := math.Inf(1), []float64(nil)
	grad := make([]float64, d.width)
	lastX, lastG := make([]float64, d.width), make([]float64, d.width)
	eval := func(x []float64) float64 {
		v := d.negative(grad, x)
		copy(lastX, x)
		copy(lastG, grad)
		if v < best {
			best, bestX = v, append(bestX[:0], x...)
		}
		return v
	}
	x0 := d.pack(start)
	problem := optimize.Problem{
		Func: eval,
		Grad: func(g, x []float64) {
			for i := range x {
				if x[i] != lastX[i] {
					eval(x)
					break
				}
			}
			copy(g, lastG)
		},
	}
	// The error only says why it stopped early; the best point seen is what counts.
	_, _ = optimize.Minimize(problem, x0, &optimize.Settings{
		FuncEvaluations:   evaluations,
		GradientThreshold: 1e-2,
		Converger:         &optimize.FunctionConverge{Absolute: 1e-2, Iterations: 3},
	}, &optimize.LBFGS{})
	if bestX == nil {
		return start
	}
	return d.unpack(bestX)
}

// density is the negative log posterior of hyper-parameters given data.
type density struct {
	f     *features
	mode  hyper
	p     []int32
	r     []float64
	extra []float64
	slot  []slot // which numbers of a hyper are free
	width int
}

// slot is one free hyper-parameter.
type slot struct {
	dim  int // -1 prior, -2 amplitude, -3 noise
	kind bool
	mu   float64
	sd   float64
}

func newDensity(f *features, p []int32, r, extra []float64) *density {
	d := &density{f: f, mode: modes(f), p: p, r: r, extra: extra}
	for k, dim := range f.dims {
		// A dimension in which the data do not vary cannot be learnt.
		varies := false
		for _, x := range p {
			if f.row(int(x))[k] != f.row(int(p[0]))[k] {
				varies = true
				break
			}
		}
		if !varies {
			continue
		}
		if dim.at != nil {
			d.slot = append(d.slot, slot{k, false, d.mode.near[k], lengthSD})
		}
		if dim.kinds {
			d.slot = append(d.slot, slot{k, true, d.mode.kind[k], lengthSD})
		}
	}
	if f.z != nil {
		d.slot = append(d.slot, slot{-1, false, d.mode.prior, lengthSD})
	}
	d.slot = append(d.slot, slot{-2, false, d.mode.amp, ampSD}, slot{-3, false, d.mode.noise, noiseSD})
	d.width = len(d.slot)
	return d
}

func (d *density) at(h *hyper, s slot) *float64 {
	switch {
	case s.dim == -1:
		return &h.prior
	case s.dim == -2:
		return &h.amp
	case s.dim == -3:
		return &h.noise
	case s.kind:
		return &h.kind[s.dim]
	}
	return &h.near[s.dim]
}

func (d *density) pack(h hyper) []float64 {
	x := make([]float64, d.width)
	for i, s := range d.slot {
		x[i] = *d.at(&h, s)
	}
	return x
}

func (d *density) unpack(x []float64) hyper {
	h := modes(d.f)
	for i, s := range d.slot {
		*d.at(&h, s) = x[i]
	}
	return h
}

// negative is the negative log posterior density, and its gradient.
func (d *density) negative(grad, x []float64) float64 {
	clear(grad)
	for i, s := range d.slot {
		if math.Abs(x[i]-s.mu) > 8*s.sd || math.IsNaN(x[i]) {
			return math.Inf(1) // the line search went mad
		}
	}
	h := d.unpack(x)
	c := newCovariance(d.f, h)
	n := len(d.p)
	k := mat.NewSymDense(n, nil)
	row := make([]float64, n)
	noise := math.Exp(h.noise)
	for i, p := range d.p {
		c.against(row[:i], int(p), d.p[:i])
		for j := range i {
			k.SetSym(i, j, row[j])
		}
		k.SetSym(i, i, c.at0(int(p))+noise+d.extra[i])
	}
	var chol mat.Cholesky
	if !chol.Factorize(k) {
		return math.Inf(1)
	}
	var alpha mat.VecDense
	r := mat.NewVecDense(n, d.r)
	if chol.SolveVecTo(&alpha, r) != nil {
		return math.Inf(1)
	}
	v := 0.5*mat.Dot(r, &alpha) + 0.5*chol.LogDet()
	var inv mat.SymDense
	if chol.InverseTo(&inv) != nil {
		return math.Inf(1)
	}
	// d/dt = 1/2 sum_ij (K^-1 - alpha alpha')_ij dK_ij/dt.
	near := make([]float64, len(d.f.dims))
	kind := make([]float64, len(d.f.dims))
	var gPrior, gAmp, gNoise float64
	inear, ikind := make([]float64, len(near)), make([]float64, len(near))
	for i := range near {
		inear[i], ikind[i] = math.Exp(-2*h.near[i]), math.Exp(-2*h.kind[i])
	}
	for i, p := range d.p {
		a := d.f.row(int(p))
		ai := alpha.AtVec(i)
		wii := inv.At(i, i) - ai*ai
		gAmp += 0.5 * wii * c.s2
		gNoise += 0.5 * wii * noise
		for j := range i {
			q := int(d.p[j])
			b := d.f.row(q)
			r2 := 0.0
			for m, t := range c.table {
				r2 += t[int(a[m])*d.f.dims[m].levels+int(b[m])]
			}
			z := 0.0
			if d.f.z != nil {
				z = d.f.z[p] - d.f.z[q]
				z = z * z * c.zi
				r2 += z
			}
			s := math.Sqrt(5 * r2)
			e := math.Exp(-s)
			w := inv.At(i, j) - ai*alpha.AtVec(j) // twice a half: i,j and j,i
			gAmp += w * c.s2 * (1 + s + s*s/3) * e
			// d k / d log l = s2 5/3 (1+s) e^-s times the squared scaled distance along it.
			g := w * c.s2 * (5.0 / 3) * (1 + s) * e
			gPrior += g * z
			for m := range near {
				if a[m] == b[m] {
					continue
				}
				if at := d.f.dims[m].at; at != nil {
					t := at[a[m]] - at[b[m]]
					near[m] += g * t * t * inear[m]
				}
				kind[m] += g * ikind[m]
			}
		}
	}
	for i, s := range d.slot {
		switch {
		case s.dim == -1:
			grad[i] = gPrior
		case s.dim == -2:
			grad[i] = gAmp
		case s.dim == -3:
			grad[i] = gNoise
		case s.kind:
			grad[i] = kind[s.dim]
		default:
			grad[i] = near[s.dim]
		}
		t := (x[i] - s.mu) / s.sd
		v += 0.5 * t * t
		grad[i] += t / s.sd
	}
	return v
}
