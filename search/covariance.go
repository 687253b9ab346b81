package search

import "math"

// hyper are the parameters of the covariance. Lengths are per dimension: near for
// the coordinate, kind for the Hamming copy, which lets neighbouring values be
// unrelated where unrolling or a whole wave of blocks makes a cliff.
type hyper struct {
	near, kind []float64 // log length scales; meaningless where the dimension lacks the part
	prior      float64   // log length scale of the prior as an input
	amp        float64   // log of the variance of the Matern part
	noise      float64   // log of the variance of a measurement
}

// Variances of the linear parts, on log seconds: a constant, the slope of the
// prior around its centre, and an offset per family.
const (
	constVar  = 0.25
	slopeVar  = 0.5
	familyVar = 0.5
)

// Modes of the hyper-parameters: what maximum a posteriori fits to 250 schedules of
// each recorded landscape of jacobi2d and jacobi3d in both element types agree on.
// Length scales are in units of the square root of the number of dimensions, as the
// distance of two random points is (Hvarfner, Hellsten and Nardi, "Vanilla Bayesian
// Optimization Performs Great in High Dimensions", ICML 2024).
const (
	nearMode   = 0.45
	kindMode   = 1.3  // of the Hamming copy of an ordinal dimension
	choiceMode = 0.7  // of a dimension without order
	priorMode  = 0.8  // as it is: in twice the prior's standard deviation
	ampMode    = 0.08 // variance of log seconds
	noiseMode  = 0.004
)

// modes are the most probable hyper-parameters before any data.
func modes(f *features) hyper {
	n := float64(len(f.dims) + 1)
	for _, d := range f.dims {
		if d.at != nil && d.kinds {
			n++
		}
	}
	unit := math.Sqrt(n)
	h := hyper{near: make([]float64, len(f.dims)), kind: make([]float64, len(f.dims))}
	for k, d := range f.dims {
		h.near[k], h.kind[k] = math.Log(nearMode*unit), math.Log(kindMode*unit)
		if d.at == nil {
			h.kind[k] = math.Log(choiceMode * unit)
		}
	}
	h.prior = math.Log(priorMode)
	h.amp = math.Log(ampMode)
	h.noise = 2 * math.Log(noiseMode)
	return h
}

// covariance is a Matern-5/2 kernel with one length scale a dimension on levels
// and prior, plus the linear parts (Rasmussen and Williams, Gaussian Processes
// for Machine Learning, 2006, sections 2.7 and 4.2).
type covariance struct {
	*features
	hyper
	table [][]float64 // per dimension: levels x levels squared scaled distances
	s2    float64
	zi    float64 // 1 / squared length of the prior input
}

func newCovariance(f *features, h hyper) *covariance {
	c := &covariance{features: f, hyper: h, s2: math.Exp(h.amp)}
	if f.z != nil {
		c.zi = f.zUnit * f.zUnit * math.Exp(-2*h.prior)
	}
	for k, d := range f.dims {
		t := make([]float64, d.levels*d.levels)
		near, kind := math.Exp(-2*h.near[k]), math.Exp(-2*h.kind[k])
		for a := range d.levels {
			for b := range d.levels {
				v := 0.0
				if d.at != nil {
					x := d.at[a] - d.at[b]
					v += x * x * near
				}
				if d.kinds && a != b {
					v += kind
				}
				t[a*d.levels+b] = v
			}
		}
		c.table = append(c.table, t)
	}
	return c
}

// at0 is the prior variance of a point.
func (c *covariance) at0(p int) float64 {
	v := c.s2 + constVar + familyVar
	if c.z != nil {
		v += slopeVar * c.z[p] * c.z[p]
	}
	return v
}

// probe is one point's side of its covariances.
type probe struct {
	c    *covariance
	rows [][]float64 // per dimension: squared scaled distances from its level
	z    float64
	part uint8
}

func (c *covariance) probe(p int) probe {
	o := probe{c: c, rows: make([][]float64, len(c.dims)), part: c.part[p]}
	for k, l := range c.row(p) {
		n := c.dims[k].levels
		o.rows[k] = c.table[k][int(l)*n : (int(l)+1)*n]
	}
	if c.z != nil {
		o.z = c.z[p]
	}
	return o
}

// to gives the squared scaled distance to a point and the linear covariance with it.
func (o *probe) to(x int32) (r2, linear float64) {
	c := o.c
	w := len(o.rows)
	level := c.level[int(x)*w : int(x)*w+w]
	for k, row := range o.rows {
		r2 += row[level[k]]
	}
	linear = constVar
	if c.z != nil {
		z := c.z[x]
		r2 += (o.z - z) * (o.z - z) * c.zi
		linear += slopeVar * o.z * z
	}
	if o.part == c.part[x] {
		linear += familyVar
	}
	return r2, linear
}

// against writes the covariances of point p with every point of q.
func (c *covariance) against(dst []float64, p int, q []int32) {
	o := c.probe(p)
	for i, x := range q {
		r2, linear := o.to(x)
		dst[i] = linear + c.s2*matern(r2)
	}
}

// sum is the sum over q of alpha times the covariance with p, with the Matern
// correlation read from a table: within 0.01, enough to rank points by.
func (c *covariance) sum(p int, q []int32, alpha []float64) float64 {
	o := c.probe(p)
	s := 0.0
	for i, x := range q {
		r2, k := o.to(x)
		if at := int(r2 * maternPerUnit); at < len(maternTable) {
			k += c.s2 * maternTable[at]
		}
		s += alpha[i] * k
	}
	return s
}

// maternTable is matern at the middle of intervals of 1/maternPerUnit.
const maternPerUnit = 256

var maternTable = func() (t [16 * maternPerUnit]float64) {
	for i := range t {
		t[i] = matern((float64(i) + 0.5) / maternPerUnit)
	}
	return t
}()

// matern is the Matern-5/2 correlation at a squared distance.
func matern(r2 float64) float64 {
	r := math.Sqrt(5 * r2)
	return (1 + r + r*r/3) * math.Exp(-r)
}
