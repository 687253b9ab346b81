package stencil

import (
	"fmt"
	"math"
	"sync"
)

// Allowance bounds the error of an array's cells, whose values are at most Peak, without their signs: where an answer has larger
// ones, the bound grows with them. A Peak of 0 means that it holds as it is.
type Allowance struct {
	Error float64 `json:"error"`
	Peak  float64 `json:"peak,omitempty"`
}

// For is the largest error where an array's largest value, without its sign, is peak.
func (a Allowance) For(peak float64) float64 {
	if a.Peak > 0 && peak > a.Peak {
		return a.Error * (peak / a.Peak)
	}
	return a.Error
}

// Of is the allowance of an array: the fields in their order, then what each receiver recorded. The last holds for those after it.
func Of(list []Allowance, array int) Allowance {
	if len(list) == 0 {
		return Allowance{}
	}
	return list[min(array, len(list)-1)]
}

// Between are the allowances of two kernels that are compared with each other, for both err.
func Between(p Problem, steps int) (list []Allowance) {
	for _, a := range Allowances(p, steps) {
		a.Error *= 2
		list = append(list, a)
	}
	return list
}

// sample is a grid that stands for a larger one, by dimensions.
var sample = [3]Size{{2049, 1, 1}, {48, 45, 1}, {15, 13, 12}}

// allowances are kept: a tune asks for the same ones again and again.
var allowances sync.Map

// Tolerance bounds the difference that rounding alone may cause between a kernel in the
// element type and the reference after steps time steps from Start, of any cell: 0 for
// integers, which are exact.
func Tolerance(p Problem, steps int) (most float64) {
	for _, a := range Allowances(p, steps) {
		most = max(most, a.Error)
	}
	return most
}

// Allowances bound, array by array, the difference that rounding alone may cause between a kernel in the element type and the
// reference after steps time steps from Start; none for integers, which are exact. Of a large grid a part is computed, from its
// ends and its middle, with the coordinates and extents of the whole; but by those of its own where step scalars are sums over the
// grid. An array of which the part holds nothing but zeros may err by the share of its largest value by which the worst of the others may.
func Allowances(p Problem, steps int) []Allowance {
	if !p.DType.Floating() {
		return nil
	}
	key := fmt.Sprint(p.Course(1), " ", steps)
	if a, ok := allowances.Load(key); ok {
		return a.([]Allowance)
	}
	extent := p.Size
	for a := range p.Size {
		p.Size[a] = min(p.Size[a], sample[p.Stencil.Dims-1][a])
	}
	if len(p.Stencil.StepScalars) > 0 {
		extent = p.Size
	}
	v, now := judge(p, extent, Start(p, 1), steps, nil, 1)
	list := make([]Allowance, len(v.most))
	at, share := 0, p.DType.Epsilon()
	for i := range list {
		end := at + int(p.Size.Cells())
		if f := i - len(p.Stencil.Fields); f >= 0 {
			end = at + now[0].records[f].Len()
		}
		list[i] = Allowance{v.most[i], peak(v.Want[at:end])}
		if list[i].Peak > 0 && list[i].Error < math.MaxFloat64/4 {
			share = max(share, list[i].Error/list[i].Peak)
		}
		at = end
	}
	for i, a := range list {
		if a == (Allowance{}) {
			const tiny = 0x1p-200 // any value that is not 0 is larger
			list[i] = Allowance{share * tiny, tiny}
		}
	}
	allowances.Store(key, list)
	return list
}
