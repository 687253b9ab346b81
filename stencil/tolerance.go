package stencil

import (
	"fmt"
	"math"
	"sync"
)

// Tolerance bounds the difference that rounding alone may cause between a kernel
// in the element type and the reference after steps time steps from Start: each
// step commits at most one rounding per operation and per literal, each at most
// half an epsilon of the values at hand, doubled for both sides rounding, and what
// came before is amplified. Integers are exact.
func Tolerance(p Problem, steps int) float64 {
	ops := float64(p.Stencil.Ops.Total() + len(p.Stencil.Points))
	return p.DType.Epsilon() * ops * float64(steps) * amplification(p, steps)
}

// amplification is how much errors of all steps grow by the end, times the
// magnitude of the values where that is above 1. A weighted sum whose weights add
// up to more than 1 amplifies by that much in each step; of other cell functions it
// is measured.
func amplification(p Problem, steps int) float64 {
	weights, _, linear := p.Stencil.Linear()
	if !linear || !p.Stencil.plain() || p.Stencil.Range != [2]float64{} {
		return measuredAmplification(p, steps)
	}
	gain := 0.0
	for _, w := range weights {
		gain += math.Abs(w)
	}
	if gain < 1+1e-6 { // an average, but for the rounding of its weights
		return 1
	}
	return math.Pow(gain, float64(steps))
}

// amplifications are kept: a tune asks for the same one again and again.
var amplifications sync.Map

// measuredAmplification runs the reference on a small grid twice, from Start and
// from Start with every value a little off, and compares. The largest growth of a
// thousand random cells is not the largest there is: it counts four times.
func measuredAmplification(p Problem, steps int) float64 {
	if !p.DType.Floating() {
		return 1
	}
	key := fmt.Sprint(p.Stencil.Hash, p.Scalars, p.Stencil.Range, steps)
	if a, ok := amplifications.Load(key); ok {
		return a.(float64)
	}
	const off = 0x1p-30
	p.DType = Float64
	p.Size = [3]Size{{512, 1, 1}, {24, 24, 1}, {9, 9, 9}}[p.Stencil.Dims-1]
	s := *p.Stencil
	s.Reduce, s.Until = nil, nil
	p.Stencil = &s
	magnitude := 1.0
	run := func(off float64) []Values {
		d := Start(p, 1)
		i := int64(0)
		for _, array := range append(d.Fields, d.ReadOnly...) {
			for j, v := range array.Float {
				magnitude = max(magnitude, math.Abs(v))
				array.Float[j] += off * float64(1-2*int64(random(2, i)&1))
				i++
			}
		}
		return Run(p, d, steps).Fields
	}
	exact, moved := run(0), run(off)
	growth := 1.0
	for f := range exact {
		for i, v := range exact[f].Float {
			magnitude = max(magnitude, math.Abs(v))
			growth = max(growth, math.Abs(moved[f].Float[i]-v)/off)
		}
	}
	a := 4 * growth * magnitude
	amplifications.Store(key, a)
	return a
}
