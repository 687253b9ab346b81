package stencil

import (
	_ "embed"
	"math"
)

// WholeSource is the CUDA C++ text of a conversion of floating-point numbers that are known to be whole and small.
//
//go:embed whole.cu
var WholeSource string

// mostWhole is the largest of them, without its sign.
const mostWhole = 1 << 21

// whole gives limits of what an expression may be, if it is a small whole number at every cell.
func (s *Stencil) whole(e Expr) (low, high int64, ok bool) {
	of := func(d DType) (int64, int64, bool) {
		if d == "" || d.Floating() || d.Size() > 2 {
			return 0, 0, false
		}
		low, high := Type(d).limits()
		return low, high, true
	}
	join := func(x, y Expr, limits func(a, b, c, d int64) (int64, int64)) (int64, int64, bool) {
		a, b, okX := s.whole(x)
		c, d, okY := s.whole(y)
		if !okX || !okY {
			return 0, 0, false
		}
		low, high := limits(a, b, c, d)
		return low, high, -low <= mostWhole && high <= mostWhole
	}
	switch e := e.(type) {
	case Get:
		return of(s.Fields[e.Field].Type)
	case Read:
		return of(s.ReadOnly[e.Array].Type)
	case ReadAt:
		return of(s.ReadOnly[e.Array].Type)
	case Num:
		if e.Value == math.Trunc(e.Value) && math.Abs(e.Value) <= mostWhole {
			return int64(e.Value), int64(e.Value), true
		}
	case Neg:
		low, high, ok = s.whole(e.X)
		return -high, -low, ok && e.X.typ().Floating()
	case Cond:
		return join(e.Then, e.Else, func(a, b, c, d int64) (int64, int64) { return min(a, c), max(b, d) })
	case Binary:
		if !e.Type.Floating() {
			break
		}
		switch e.Op {
		case "+":
			return join(e.X, e.Y, func(a, b, c, d int64) (int64, int64) { return a + c, b + d })
		case "-":
			return join(e.X, e.Y, func(a, b, c, d int64) (int64, int64) { return a - d, b - c })
		case "*":
			return join(e.X, e.Y, func(a, b, c, d int64) (int64, int64) {
				return min(a*c, a*d, b*c, b*d), max(a*c, a*d, b*c, b*d)
			})
		}
	}
	return 0, 0, false
}

// wholeWithin tells whether a floating-point expression is a small whole number that a type holds.
func (s *Stencil) wholeWithin(e Expr, t Type) bool {
	if t.Floating() || t == Bool || !e.typ().Floating() {
		return false
	}
	low, high, ok := s.whole(e)
	least, most := t.limits()
	return ok && low >= least && (high <= most || DType(t) == Uint64)
}
