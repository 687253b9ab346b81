package stencil

import (
	"fmt"
	"math"
	"sync"
)

// sample is a grid that stands for a larger one, by dimensions.
var sample = [3]Size{{2049, 1, 1}, {48, 45, 1}, {15, 13, 12}}

// allowances are kept: a tune asks for the same one again and again.
var allowances sync.Map

// Tolerance bounds the difference that rounding alone may cause between a kernel in the
// element type and the reference after steps time steps from Start, of any cell: 0 for
// integers, which are exact.
func Tolerance(p Problem, steps int) float64 {
	tolerance, _ := Allowance(p, steps)
	return tolerance
}

// Allowance is Tolerance and the largest value, without its sign, that it is for: where an answer
// has larger ones, it grows with them. Of a large grid a part is computed, from its ends and its
// middle, with the coordinates and extents of the whole; but by those of its own where step scalars are sums over the grid.
func Allowance(p Problem, steps int) (tolerance, peak float64) {
	if !p.DType.Floating() {
		return 0, 0
	}
	extent := p.Size
	for a := range p.Size {
		p.Size[a] = min(p.Size[a], sample[p.Stencil.Dims-1][a])
	}
	key := fmt.Sprint(p.Stencil.Hash, p.Scalars, p.Stencil.ranges(), p.DType, extent, steps)
	if a, ok := allowances.Load(key); ok {
		return a.([2]float64)[0], a.([2]float64)[1]
	}
	if len(p.Stencil.StepScalars) > 0 {
		extent = p.Size
	}
	v, _ := judge(p, extent, Start(p, 1), steps, nil, 1)
	if v.most == 0 && v.Blind > 0 { // no cell can be judged
		v.most = math.MaxFloat64 / 4 // so that twice as much is a number
	}
	peak = v.Peak()
	allowances.Store(key, [2]float64{v.most, peak})
	return v.most, peak
}
