package space

import (
	"math"
	"slices"
)

// enumerate gives the values of every legal schedule that begins with some values that walk gave, in order, as long as each asks for more; the
// slice is reused. Points that are listed are all given, for no values are asked for there (depth).
func (f *Family) enumerate(with []int, each func([]int) (more bool)) {
	if f.Points == nil {
		f.walk(with, len(f.Params), each)
		return
	}
	v := Values{f, make([]int, len(f.Params)), &made{}}
	for _, p := range f.Points {
		copy(v.v, p)
		v.made.same = false
		if f.broken(v) == nil && !each(v.v) {
			return
		}
	}
}

// walk gives the values of the first `to` parameters, those of which no constraint is known to be broken, of all that begin with some that walk gave.
func (f *Family) walk(with []int, to int, each func([]int) (more bool)) {
	v, at := Values{f, make([]int, len(f.Params)), &made{}}, make([]int, len(f.Params))
	from := copy(v.v, with)
	asked := make([][]question, len(f.ready))
	for i := from; i <= to; i++ {
		if i > 0 && i == from { // asked by the walk that gave them
			continue
		}
		var anew []question
		for _, c := range f.ready[i] {
			if q := f.question(c, from, i); q.said != nil {
				asked[i] = append(asked[i], q)
			} else {
				anew = append(anew, q)
			}
		}
		asked[i] = append(asked[i], anew...)
	}
	var level func(i int) bool
	level = func(i int) bool {
		for k := range asked[i] {
			if !asked[i][k].ok(v, at) {
				return true
			}
		}
		if i == to {
			return each(v.v)
		}
		for k, x := range f.Params[i].Values {
			v.v[i], v.made.same, at[i] = x, false, k
			if !level(i + 1) {
				return false
			}
		}
		return true
	}
	level(from)
}

// question is a constraint in a walk. Where it looks at few of the parameters that the walk sets, it is asked once for all values of the others.
type question struct {
	Constraint
	stride []int  // of each parameter's values in said
	said   []int8 // 0 = not yet asked, 1 = it holds, 2 = it does not; nil = it is asked each time
}

// mostSaid bounds what a walk keeps of one constraint, in bytes: twice what the families' own take after two parameters.
const mostSaid = 1 << 15

// question asks c whenever a walk that began after the first `from` parameters has set `to`.
func (f *Family) question(c Constraint, from, to int) question {
	size, all := 1, 1
	stride := make([]int, to)
	for i := from; i < to; i++ {
		n := len(f.Params[i].Values)
		if all = min(all*n, math.MaxInt32); slices.Contains(c.Needs, f.Params[i].Name) {
			stride[i] = size
			size = min(size*n, math.MaxInt32)
		}
	}
	q := question{Constraint: c}
	if size < all && size <= mostSaid {
		q.stride, q.said = stride, make([]int8, size)
	}
	return q
}

// ok tells whether the constraint holds of values, which are the at-th of their parameters.
func (q *question) ok(v Values, at []int) bool {
	if q.said == nil {
		return q.OK(v)
	}
	n := 0
	for i, s := range q.stride {
		n += s * at[i]
	}
	if q.said[n] == 0 {
		q.said[n] = 2
		if q.OK(v) {
			q.said[n] = 1
		}
	}
	return q.said[n] == 1
}
