package stencil

import "math"

// affine is a value as a weighted sum of points plus a constant.
type affine struct {
	weights  map[Offset]float64
	constant float64
}

// isConstant tells whether no point enters the value.
func (a affine) isConstant() bool { return len(a.weights) == 0 }

// plus is a + f*b.
func (a affine) plus(f float64, b affine) affine {
	sum := affine{weights: map[Offset]float64{}, constant: a.constant + f*b.constant}
	for o, w := range a.weights {
		sum.weights[o] = w
	}
	for o, w := range b.weights {
		sum.weights[o] += f * w
	}
	return sum
}

// times is a times a number, or a over it: a quotient is rounded once, as in the
// cell function, not twice as with a reciprocal.
func (a affine) times(f float64, divide bool) affine {
	scale := func(v float64) float64 {
		if divide {
			return v / f
		}
		return v * f
	}
	product := affine{weights: map[Offset]float64{}, constant: scale(a.constant)}
	for o, w := range a.weights {
		product.weights[o] = scale(w)
	}
	return product
}

// Linear gives the cell function as constant + the sum of weight times point, if
// it is one: then a kernel may add its points in any order or in parts. The
// weights are computed in float64; a point whose weights cancel is not listed. It
// is not ok where a weight is not finite or where no point is left.
func (s *Stencil) Linear() (weights map[Offset]float64, constant float64, ok bool) {
	if len(s.Fields) != 1 || len(s.Stages) != 1 || !s.DType.Floating() {
		return nil, 0, false
	}
	locals := map[int]affine{}
	for _, st := range s.Stages[0].Body {
		switch st := st.(type) {
		case Let:
			v, ok := linear(st.Value, locals)
			if !ok {
				return nil, 0, false
			}
			locals[st.Local] = v
		case Return:
			v, ok := linear(st.Values[0], locals)
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

// linear gives e as an affine function of the points.
func linear(e Expr, locals map[int]affine) (affine, bool) {
	switch e := e.(type) {
	case Num:
		return affine{constant: e.Value}, true
	case Local:
		v, ok := locals[e.Index]
		return v, ok
	case Get:
		return affine{weights: map[Offset]float64{e.At: 1}}, true
	case Neg:
		x, ok := linear(e.X, locals)
		return x.times(-1, false), ok
	case Binary:
		x, okX := linear(e.X, locals)
		y, okY := linear(e.Y, locals)
		if !okX || !okY {
			return affine{}, false
		}
		switch {
		case e.Op == "+":
			return x.plus(1, y), true
		case e.Op == "-":
			return x.plus(-1, y), true
		case e.Op == "*" && y.isConstant():
			return x.times(y.constant, false), true
		case e.Op == "*" && x.isConstant():
			return y.times(x.constant, false), true
		case e.Op == "/" && y.isConstant():
			return x.times(y.constant, true), true
		}
	}
	return affine{}, false
}
