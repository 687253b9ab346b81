package search

import (
	"math"
	"slices"
	"sort"

	"stenciltune/space"
)

// features turns points into what a Gaussian process measures distances in. A
// dimension is one parameter name, shared by all families that have it; a level
// is one of its values over all families, or its absence. There is one more
// dimension for the family itself. Distances between levels come from small
// tables, so that a pair of points costs one look-up a dimension.
type features struct {
	dims  []dimension
	level []uint8 // size x len(dims)
	part  []uint8 // family of every point
	z     []float64
	zUnit float64 // 1/(2 sd) of z: the scale of the prior as an input; 0 without a prior
}

// dimension is one axis of distances.
type dimension struct {
	levels int
	at     []float64 // coordinate of a level in [0,1]; nil for a choice
	kinds  bool      // whether levels also differ as kinds (Hamming distance)
}

// absent is the coordinate of a parameter that a family lacks.
const absent = 0.5

func newFeatures(c *enumeration) *features {
	f := &features{part: make([]uint8, c.size)}
	if len(c.parts) > 255 {
		panic("search: more than 255 families")
	}
	for k, p := range c.parts {
		for i := range p.size {
			f.part[p.first+i] = uint8(k)
		}
	}
	var names []string
	for _, p := range c.parts {
		for _, q := range p.family.Params {
			if !slices.Contains(names, q.Name) {
				names = append(names, q.Name)
			}
		}
	}
	var codes [][][]uint8 // per kept dimension and family: level of a value index; nil if absent
	var column [][]int    // per kept dimension and family: the parameter's position
	for _, name := range names {
		var values []int
		ordinal := true
		position := make([]int, len(c.parts))
		for k, p := range c.parts {
			position[k] = slices.IndexFunc(p.family.Params, func(q space.Param) bool { return q.Name == name })
			if position[k] >= 0 {
				q := p.family.Params[position[k]]
				values = append(values, q.Values...)
				ordinal = ordinal && q.Ordinal
			}
		}
		slices.Sort(values)
		values = slices.Compact(values)
		if len(values) < 2 || len(values) > 250 {
			// A fixed parameter tells nothing. One of very many values is left to the
			// prior and to the local steps.
			if len(values) < 2 {
				continue
			}
			values = thin(values, 250)
		}
		d := dimension{levels: len(values) + 1}
		if ordinal {
			d.at = append(coordinates(values), absent)
			d.kinds = len(values) > 2
		} else {
			d.kinds = true
		}
		f.dims = append(f.dims, d)
		code := make([][]uint8, len(c.parts))
		for k, p := range c.parts {
			if position[k] < 0 {
				continue
			}
			for _, v := range p.family.Params[position[k]].Values {
				i := sort.SearchInts(values, v)
				code[k] = append(code[k], uint8(min(i, len(values)-1)))
			}
		}
		codes, column = append(codes, code), append(column, position)
	}
	f.dims = append(f.dims, dimension{levels: max(2, len(c.parts)), kinds: true}) // the family
	w := len(f.dims)
	f.level = make([]uint8, c.size*w)
	for k, p := range c.parts {
		for i := range p.size {
			row := f.level[(p.first+i)*w : (p.first+i+1)*w]
			for j := range w - 1 {
				if codes[j][k] == nil {
					row[j] = uint8(f.dims[j].levels - 1)
				} else {
					row[j] = codes[j][k][p.index[i*p.width+column[j][k]]]
				}
			}
			row[w-1] = uint8(k)
		}
	}
	if c.hasPrior() {
		f.z = make([]float64, c.size)
		f.expect(c.predicted)
	}
	return f
}

// coordinates places ordinal values in [0,1]: on a log scale if they are positive
// and span a factor of four or more, as sizes and counts do, else by rank.
func coordinates(values []int) []float64 {
	n := len(values)
	lo, hi := float64(values[0]), float64(values[n-1])
	at := make([]float64, n)
	for i, v := range values {
		if lo > 0 && hi >= 4*lo {
			at[i] = math.Log(float64(v)/lo) / math.Log(hi/lo)
		} else {
			at[i] = float64(i) / float64(n-1)
		}
	}
	return at
}

// thin keeps n of the values, evenly.
func thin(values []int, n int) []int {
	out := make([]int, n)
	for i := range out {
		out[i] = values[i*(len(values)-1)/(n-1)]
	}
	return slices.Compact(out)
}

// expect makes z: what points are expected to take, as logarithms, +Inf for what is not known,
// centred, and compressed where far above the best: how slow a slow schedule is does not matter.
func (f *features) expect(expected func(point int) float64) {
	best := math.Inf(1)
	for i := range f.z {
		f.z[i] = expected(i)
		best = min(best, f.z[i])
	}
	sum, n := 0.0, 0
	for i, v := range f.z {
		if !math.IsInf(v, 1) {
			f.z[i] = compress(v - best)
			sum += f.z[i]
			n++
		}
	}
	mean, square := sum/float64(n), 0.0
	for i, v := range f.z {
		if math.IsInf(v, 1) {
			f.z[i] = 0 // nothing is known: the mean
			continue
		}
		f.z[i] -= mean
		square += f.z[i] * f.z[i]
	}
	f.zUnit = 1 / (2*math.Sqrt(square/float64(n)) + 1e-12)
}

// compress is the identity up to 1, a factor of e above the best, and grows as
// the logarithm beyond, with a continuous slope.
func compress(t float64) float64 {
	if t > 1 {
		return 1 + math.Log(t)
	}
	return t
}

func (f *features) row(point int) []uint8 {
	w := len(f.dims)
	return f.level[point*w : (point+1)*w]
}

// apart is the squared distance of two points in unscaled features; every
// coordinate counts up to 1, and so does every choice.
func (f *features) apart(a, b int) float64 {
	ra, rb := f.row(a), f.row(b)
	sum := 0.0
	for k, d := range f.dims {
		if ra[k] == rb[k] {
			continue
		}
		if d.at == nil {
			sum++
			continue
		}
		t := d.at[ra[k]] - d.at[rb[k]]
		sum += t * t
	}
	return sum
}
