package stencil

import (
	"cmp"
	"math"
	"slices"
)

// arranged is a stage's cell function with the fewest operations that are found: its weighted sums are collected, each
// weight is multiplied with the sum of all its points, and products of own cells join what else their cell is
// multiplied with, w*c + k*c*(a + b*d) as c*((w + k*a) + k*b*d). It is the function as its author wrote it where that saves no more than
// one, and where it branches, for then sums would be computed that nobody asks for.
func (s *Stencil) arranged(stage int) []Stmt {
	body := s.inGrid(stage)
	if !s.DType.Floating() || s.Stages[stage].Ops.Total() > 2000 { // the longest would take seconds
		return body
	}
	if all := s.arrange(stage); all != nil && operations(all) < operations(body)-1 {
		return all
	}
	return body
}

// arrange arranges a cell function; nil if it branches.
func (s *Stencil) arrange(stage int) []Stmt {
	body := s.inGrid(stage)
	if slices.ContainsFunc(body, func(st Stmt) bool { _, branch := st.(If); return branch }) {
		return nil
	}
	first := free(body)
	l := splitter{s: s, least: 2, locals: map[int]form{}, emitted: map[int]bool{}, own: -1, arrange: true, first: first}
	rest := l.block(body)
	var all []Stmt
	for i, weights := range l.sums {
		all = append(all, Let{first + i, Elem, l.collected(weights), true})
	}
	return append(all, rest...)
}

// collected is a weighted sum as an expression: each weight times the sum of its points.
func (l *splitter) collected(weights map[Point]float64) Expr {
	byWeight := map[float64][]Point{} // by size
	for _, p := range (form{weights: weights}).points() {
		w := math.Abs(weights[p])
		byWeight[w] = append(byWeight[w], p)
	}
	var sizes []float64
	for w := range byWeight {
		sizes = append(sizes, w)
	}
	slices.SortFunc(sizes, func(a, b float64) int {
		return cmp.Or(cmp.Compare(len(byWeight[b]), len(byWeight[a])), cmp.Compare(a, b))
	})
	var sum Expr
	for _, w := range sizes {
		var group Expr
		points := byWeight[w]
		slices.SortStableFunc(points, func(a, b Point) int { return cmp.Compare(weights[b], weights[a]) }) // added ones first
		negative := weights[points[0]] < 0
		for _, p := range points {
			switch {
			case group == nil:
				group = l.read(p)
			case (weights[p] < 0) == negative:
				group = Binary{"+", group, l.read(p), Elem}
			default:
				group = Binary{"-", group, l.read(p), Elem}
			}
		}
		if negative {
			w = -w
		}
		sum = withTerm(sum, w, group)
	}
	return sum
}

// withTerm is a sum, nil of nothing, and a weight times a term.
func withTerm(sum Expr, weight float64, term Expr) Expr {
	if size := math.Abs(weight); size != 1 {
		term = Binary{"*", Num{size, Elem}, term, Elem}
	}
	switch {
	case sum == nil && weight < 0:
		return Neg{term}
	case sum == nil:
		return term
	case weight < 0:
		return Binary{"-", sum, term, Elem}
	}
	return Binary{"+", sum, term, Elem}
}

// ownForm tells whether f reads own cells alone.
func ownForm(f form) bool {
	for p := range f.weights {
		if p.At != (Offset{}) {
			return false
		}
	}
	return true
}

// product is k*c * g as c * (k*g), where f = k*c is an own cell's multiple and g is of own cells: join may then add
// to what c is multiplied with.
func (l *splitter) product(f, g form) (Expr, bool) {
	if len(f.weights) != 1 || f.constant != 0 || !ownForm(f) || !ownForm(g) {
		return nil, false
	}
	p := f.points()[0]
	k := f.weights[p]
	if !sound(g, k, "*") {
		return nil, false
	}
	return Binary{"*", l.read(p), l.join(g.scaled(func(v float64) float64 { return k * v }), nil), Elem}, true
}

// nested takes a cell's weight out of f where other is a product with the cell: it is added to what it is multiplied with.
func (l *splitter) nested(f form, other Expr) Expr {
	sign := 1.0
	e := other
	if n, ok := e.(Neg); ok {
		e, sign = n.X, -1
	}
	m, ok := e.(Binary)
	if !ok || m.Op != "*" {
		return other
	}
	var p Point
	switch c := m.X.(type) {
	case Get:
		p = Point{c.Field, c.At}
	case Read:
		p = Point{len(l.s.Fields) + c.Array, c.At}
	default:
		return other
	}
	w, ok := f.weights[p]
	inner, plain := m.Y.(Binary)
	if !ok || !plain || p.At != (Offset{}) || inner.Op != "+" && inner.Op != "*" {
		return other
	}
	delete(f.weights, p)
	w *= sign
	if n, ok := inner.Y.(Num); ok && inner.Op == "+" {
		m.Y = Binary{"+", inner.X, Num{n.Value + w, Elem}, Elem}
	} else {
		m.Y = Binary{"+", inner, Num{w, Elem}, Elem}
	}
	if sign < 0 {
		return Neg{m}
	}
	return m
}

// read is the expression of a point.
func (l *splitter) read(p Point) Expr {
	if a := p.Array - len(l.s.Fields); a >= 0 {
		return Read{a, p.At, Elem}
	}
	return Get{p.Array, p.At, Elem}
}
