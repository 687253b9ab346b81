package stencil

import (
	"maps"
	"math"
)

// affine is a value as a weighted sum of points plus a constant.
type affine struct {
	weights  map[Offset]float64
	constant float64
}

// isConstant tells whether no point enters the value.
func (a affine) isConstant() bool { return len(a.weights) == 0 }

// plus is a + f*b; a's weights are changed in place.
func (a affine) plus(f float64, b affine) affine {
	if a.weights == nil {
		a.weights = map[Offset]float64{}
	}
	for o, w := range b.weights {
		a.weights[o] += f * w
	}
	a.constant += f * b.constant
	return a
}

// scaled is a with f applied to its weights, in place, and its constant.
func (a affine) scaled(f func(float64) float64) affine {
	for o, w := range a.weights {
		a.weights[o] = f(w)
	}
	a.constant = f(a.constant)
	return a
}

// times is a times f; over is a over f: a quotient is rounded once, as in the cell
// function, not twice as with a reciprocal.
func (a affine) times(f float64) affine { return a.scaled(func(v float64) float64 { return v * f }) }
func (a affine) over(f float64) affine  { return a.scaled(func(v float64) float64 { return v / f }) }

// Linear gives the cell function as constant + the sum of weight times point, if
// it is one: then a kernel may add its points in any order or in parts. The
// weights are computed in float64; a point whose weights cancel is not listed. It
// is not ok where a weight is not finite or where no point is left.
func (s *Stencil) Linear() (weights map[Offset]float64, constant float64, ok bool) {
	if len(s.Fields) != 1 || len(s.Stages) != 1 || !s.DType.Floating() {
		return nil, 0, false
	}
	l := linearizer{locals: map[int]affine{}}
	for _, st := range s.Stages[0].Body {
		switch st := st.(type) {
		case Let:
			reads := 0
			walk(st.Value, func(e Expr) {
				if r, ok := e.(Local); ok && r.Index == st.Local {
					reads++
				}
			})
			l.own = -1
			if reads == 1 { // a = a + ...: its old value is not needed again
				l.own = st.Local
			}
			v, ok := l.value(st.Value)
			if !ok {
				return nil, 0, false
			}
			l.locals[st.Local] = v
		case Return:
			l.own = -1
			v, ok := l.value(st.Values[0])
			if !ok || !finite(v.constant) {
				return nil, 0, false
			}
			for o, w := range v.weights {
				if !finite(w) {
					return nil, 0, false
				}
				if w == 0 {
					delete(v.weights, o)
				}
			}
			return v.weights, v.constant, len(v.weights) > 0
		default:
			return nil, 0, false
		}
	}
	return nil, 0, false
}

func finite(v float64) bool { return !math.IsInf(v, 0) && !math.IsNaN(v) }

// linearizer knows the locals' values so far.
type linearizer struct {
	locals map[int]affine
	own    int // the local whose value may be changed in place
}

// value gives e as an affine function of the points, not shared with any other.
func (l *linearizer) value(e Expr) (affine, bool) {
	switch e := e.(type) {
	case Num:
		return affine{constant: e.Value}, true
	case Local:
		v, ok := l.locals[e.Index]
		if e.Index != l.own {
			v.weights = maps.Clone(v.weights)
		}
		return v, ok
	case Get:
		return affine{weights: map[Offset]float64{e.At: 1}}, true
	case Neg:
		x, ok := l.value(e.X)
		return x.times(-1), ok
	case Binary:
		x, okX := l.value(e.X)
		y, okY := l.value(e.Y)
		if !okX || !okY {
			return affine{}, false
		}
		switch {
		case e.Op == "+":
			return x.plus(1, y), true
		case e.Op == "-":
			return x.plus(-1, y), true
		case e.Op == "*" && y.isConstant():
			return x.times(y.constant), true
		case e.Op == "*" && x.isConstant():
			return y.times(x.constant), true
		case e.Op == "/" && y.isConstant():
			return x.over(y.constant), true
		}
	}
	return affine{}, false
}
