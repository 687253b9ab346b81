package stencil

import (
	"math"
	"slices"
)

// Reduction is the stencil of one stage whose only output is, at each cell, the value
// that Reduce gives there; nil where s has no Reduce. Its fields are those of s before
// the step, which get reads, and then those of s after it, which value reads.
//
// It has the scalars and read-only arrays of s, and its boundary rules but Fixed: that
// says which cells change, and outside of the grid the nearest cell is read.
func (s *Stencil) Reduction() *Stencil {
	if s.Reduce == nil {
		return nil
	}
	r := *s
	r.Of, r.Evaluations = nil, nil
	r.Reduce, r.Until, r.StepScalars, r.Sparse, r.Points, r.Low, r.High, r.Ops = nil, nil, nil, nil, nil, [3]int{}, [3]int{}, Ops{}
	n := len(s.Fields)
	r.Fields, r.ReadOnly = nil, nil
	for range 2 { // before and after; every field has an EdgeValue if one has
		for _, f := range s.Fields {
			for axis := range f.Rules {
				for side := range f.Rules[axis] {
					if rule := &f.Rules[axis][side]; rule.Boundary == Fixed {
						rule.Boundary = Clamp
					}
				}
			}
			r.Fields = append(r.Fields, Array{Name: f.Name, Rules: f.Rules, Edge: f.Edge, Type: f.Type, Range: f.Range})
		}
	}
	for _, a := range s.ReadOnly {
		r.ReadOnly = append(r.ReadOnly, Array{Name: a.Name, Rules: a.Rules, Indexed: a.Indexed, Axis: a.Axis, Type: a.Type, Range: a.Range})
	}
	r.Stages = []Stage{{Outputs: []int{n}, Body: replaceBody(s.Reduce.Body, func(e Expr) Expr {
		if v, ok := e.(Var); ok && v.Kind == Updated {
			return Get{n + v.Index, Offset{}, v.Type}
		}
		return e
	})}}
	r.finish()
	return &r
}

// ReduceCells is what Reduce says of each cell of p, in float64, where the fields before and after the step and the read-only arrays are
// Start's of its reduction.
func ReduceCells(p Problem, seed uint32) []float64 { return p.reduceCells(seed, nil, false) }

// reduceCells is ReduceCells with errors, or of the function as kernels have it.
func (p Problem) reduceCells(seed uint32, n *noise, arranged bool) []float64 {
	p.Stencil = p.Stencil.Reduction()
	d := Start(p, seed)
	r := newRun(p, d)
	r.fields, r.iteration, r.noise = d.Fields, 1, n
	if arranged {
		return r.values(p.Stencil.arranged(0))
	}
	return r.values(p.Stencil.Stages[0].Body)
}

// JudgeReduce gives the number that a kernel of Reduce must give of those cells, and within what bound. A least or largest one is one of
// the cells', and errs as they do; a sum errs by what of their errors does not cancel, and by its own additions. A number that rounding
// may make anything is blind.
func JudgeReduce(p Problem, seed uint32) Verdict {
	op, q := p.Stencil.Reduce.Op, p
	q.Stencil = p.Stencil.Reduction()
	cells := ReduceCells(p, seed)
	want, bound := Fold(op, cells), 0.0
	if p.NaN {
		plain := p
		plain.NaN = false
		is, otherwise := math.IsNaN(want), math.IsNaN(Fold(op, p.reduceCells(seed, nil, true)))
		if v := JudgeReduce(plain, seed); is || otherwise || v.Blind > 0 {
			v.Want[0], v.Bound[0] = math.NaN(), wantsNaN
			if v.Blind > 0 || is != otherwise { // a sum may lack a point whose weights cancel
				v.Bound[0], v.Blind = math.Inf(1), 1
			}
			return v
		}
	}
	if op == "sum" {
		size, units := sumError(cells)
		bound = headroom * 0x1p-53 * size * units
		if !p.DType.Floating() && bound < 0.5 { // sums of integers are exact up to 2^53
			bound = 0
		}
	}
	if p.DType.Floating() {
		bound = max(bound, 3*p.DType.Epsilon()*math.Abs(want))
		ops := q.Stencil.Stages[0].Ops
		leans := ops.Div+ops.Special > 0 || slices.ContainsFunc(q.Stencil.arrays(), func(a *Array) bool { return a.Range.Count > 0 || a.Range.Share > 0 })
		for i := range manyRuns {
			n, scale := noiseOf(q, mix(uint32(i+1)), float64(1-2*(i&1)))
			if p.DType == Float64 {
				scale *= 2 // as in judge
			}
			n.along = leans && i%4 == 3 // the same values err alike in all cells, and so may functions
			bound = max(bound, headroom*scale*math.Abs(Fold(op, p.reduceCells(seed, &n, false))-want))
		}
	}
	v := Verdict{Want: []float64{want}, Bound: []float64{bound}}
	if !(bound <= math.MaxFloat64) {
		v.Bound[0], v.Blind = math.Inf(1), 1
	}
	return v
}

// judgeNaN is Judge where elements of the start are NaN. Of cells it judges nothing, for a kernel may multiply one that it does not want
// by 0. A number of the last step must be NaN where it is so by those elements alone, however sums are arranged.
func (p Problem) judgeNaN(seed uint32, steps int) Verdict {
	numbers := func(q Problem) ([]float64, []float64) {
		answer, end := q.answer(Start(q, seed), steps, func(*run) {})
		return answer, end.step
	}
	plain, other, s := p, p, *p.Stencil
	plain.NaN, other.Stencil, s.Stages = false, &s, slices.Clone(s.Stages)
	for i := range s.Stages {
		if body := s.arrange(i); body != nil {
			s.Stages[i].Body = body
		}
	}
	var v Verdict
	var step []float64
	v.Want, step = numbers(p)
	v.Bound, v.Blind = slices.Repeat([]float64{math.Inf(1)}, len(v.Want)), int64(len(v.Want))
	_, without := numbers(plain)
	_, arranged := numbers(other)
	v.step = [2][]float64{step, make([]float64, len(step))}
	for i, w := range step {
		v.step[1][i] = math.Inf(1)
		if math.IsNaN(w) && math.IsNaN(arranged[i]) && finite(without[i]) {
			v.step[1][i] = wantsNaN
		}
	}
	return v
}

// sumError is the sum of numbers without their signs, and by how many halves of a unit of it sums in different orders differ: one for
// each level of pairs.
func sumError(numbers []float64) (size, units float64) {
	for _, v := range numbers {
		size += math.Abs(v)
	}
	return size, math.Log2(float64(len(numbers)) + 1)
}
