package stencil

import "slices"

// profile parses offset) of an array along an axis, which is read by the own coordinate plus that: beyond the ends by
// the rule of read-only arrays.
func (p *parser) profile(array int) (Expr, error) {
	s := p.out
	a := s.ReadOnly[array]
	t := p.peek()
	e, err := p.expr()
	if err != nil {
		return nil, err
	}
	n, known := e.(Int)
	if !known || n.Type == Bool || n.Value > maxRadius || n.Value < -maxRadius {
		return nil, p.fail(t, "%.40s lies along %c: get wants one offset from the own cell, known here and of %d at most, like get(%.40s, 1)", a.Name, "xyz"[a.Axis-1], maxRadius, a.Name)
	}
	if !p.accept(")") {
		return nil, p.fail(p.peek(), "%.40s lies along %c, so get takes one offset, found %s", a.Name, "xyz"[a.Axis-1], p.peek())
	}
	s.ReadOnly[array].back = max(a.back, -int(n.Value))
	return ReadAt{array, profileAt{array, n.Value}, s.elem()}, nil
}

// profileAt stands for an index until the rules of all arrays are known.
type profileAt struct {
	array  int
	offset int64
}

func (profileAt) typ() Type { return Type(Int64) }

// indexProfiles puts the indices in their places.
func (s *Stencil) indexProfiles() {
	if !slices.ContainsFunc(s.ReadOnly, func(a Array) bool { return a.Axis > 0 }) {
		return
	}
	index := func(e Expr) Expr {
		if at, is := e.(profileAt); is {
			a := s.ReadOnly[at.array]
			side := 1
			if at.offset < 0 {
				side = 0
			}
			return along(a.Rules[a.Axis-1][side].Boundary, a.Axis-1, at.offset, a.Short[a.Axis-1])
		}
		return e
	}
	for i := range s.Stages {
		s.Stages[i].Body = replaceBody(s.Stages[i].Body, index)
	}
	for i := range s.StepScalars {
		s.StepScalars[i].Body = replaceBody(s.StepScalars[i].Body, index)
	}
	for i := range s.Sparse {
		s.Sparse[i].Body = replaceBody(s.Sparse[i].Body, index)
	}
	if s.Reduce != nil {
		s.Reduce.Body = replaceBody(s.Reduce.Body, index)
	}
}

// along is the index of the place at an offset on an axis: by the boundary rule as index computes it, and without the division by a number
// of 64 bits that takes a GPU a hundred instructions, unless the offset is large. A short array has an element less.
func along(b Boundary, axis int, offset int64, short bool) Expr {
	const t = Type(Int64)
	num := func(v int64) Expr { return Int{v, t} }
	do := func(op string, x, y Expr) Expr {
		if y, ok := y.(Int); ok && y.Value == 0 && (op == "+" || op == "-") {
			return x
		}
		result := t
		if precedence[op] < precedence["+"] {
			result = Bool
		}
		return Binary{op, x, y, result}
	}
	i, n := do("+", Var{Position, axis, t}, num(offset)), Expr(Var{Extent, axis, t})
	if short && offset >= 0 { // by clamp, as by any rule that it may have
		return Call{"min", []Expr{i, do("-", n, num(2))}, t}
	}
	if offset == 0 {
		return i
	}
	call := func(name string, of ...Expr) Expr { return Call{name, of, t} }
	modulo := func(m Expr) Expr { return do("%", do("+", do("%", i, m), m), m) }
	last := do("-", n, num(1))
	const near = 2
	switch {
	case b == Wrap:
		inside := func(at Expr) Expr {
			if offset < 0 {
				return do(">=", at, num(0))
			}
			return do("<", at, n)
		}
		back := do(choose(offset < 0, "+", "-"), i, n)
		if offset == -1 || offset == 1 {
			return Cond{inside(i), i, back}
		}
		again := do(choose(offset < 0, "+", "-"), i, do("*", num(2), n)) // of a single cell
		return Cond{inside(i), i, Cond{inside(back), back, choose(-near <= offset && offset <= near, again, modulo(n))}}
	case b == Mirror:
		period := do("-", do("*", num(2), n), num(2)) // 0 of a single cell
		at := i
		if offset < 0 {
			at = call("abs", i)
		}
		if offset != -1 { // which passes the first cell alone
			at = call("min", at, call("abs", do("-", period, at)))
		}
		at = call("min", at, last) // of a single cell
		if offset < -near || offset > near {
			j := modulo(period)
			at = Cond{do("<", call("abs", i), period), at, call("min", j, do("-", period, j))}
		}
		return at
	case offset < 0:
		return call("max", i, num(0))
	}
	return call("min", i, last)
}

func choose[T any](is bool, a, b T) T {
	if is {
		return a
	}
	return b
}
