package samplers

import (
	"math"
	"slices"

	"stenciltune/search"
)

// box is a space as the unit cube of one axis for the family and one for every
// parameter that any family varies: what samplers of continuous vectors draw from.
// Axes of one value are left out (goptuna's CMA-ES cannot have them).
type box struct {
	search.Pool
	names []string
	axis  [][]int // per family and parameter: its axis, -1 without
}

// familyCoordinate is the first axis: the family.
const familyCoordinate = 0

func newBox(p search.Pool) *box {
	b := &box{Pool: p, names: []string{familyAxis}}
	for _, f := range p.Families() {
		var axis []int
		for _, q := range f.Params {
			if len(q.Values) < 2 {
				axis = append(axis, -1)
				continue
			}
			i := slices.Index(b.names, q.Name)
			if i < 0 {
				i = len(b.names)
				b.names = append(b.names, q.Name)
			}
			axis = append(axis, i)
		}
		b.axis = append(b.axis, axis)
	}
	return b
}

// middle is the coordinate in the middle of a value's share of an axis.
func middle(index, values int) float64 { return (float64(index) + 0.5) / float64(values) }

// nearest is the point that is not taken nearest to a vector, in the vector's
// family if that has one left; -1 if nothing is left.
func (b *box) nearest(x []float64) int {
	families := b.Families()
	want := min(max(int(x[familyCoordinate]*float64(len(families))), 0), len(families)-1)
	best, least := -1, math.Inf(1)
	for step := range families {
		k := (want + step) % len(families)
		first, size := b.Points(k)
		for q := first; q < first+size; q++ {
			if b.Taken(q) {
				continue
			}
			d := 0.0
			_, row := b.Values(q)
			for j, v := range row {
				if a := b.axis[k][j]; a >= 0 {
					t := x[a] - middle(int(v), len(families[k].Params[j].Values))
					d += t * t
				}
			}
			if d < least {
				best, least = q, d
			}
		}
		if best >= 0 {
			return best
		}
	}
	return -1
}
