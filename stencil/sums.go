package stencil

import (
	"cmp"
	"maps"
	"math"
	"slices"
)

// Point is a cell of an array, at an offset from the own cell. Arrays are fields, then read-only arrays.
type Point struct {
	Array int
	At    Offset
}

// Parts is a stage's cell function as weighted sums of points and what is computed of them.
type Parts struct {
	Sums []map[Point]float64 // distinct: none is a multiple of another
	Rest []Stmt              // the cell function, in which Sum stands for one of them
}

// Split takes the weighted sums out of a stage's cell function: the largest parts of an expression that are sums of
// points with constant weights, through local variables too. Terms of arrays that the expression reads at the own
// cell alone stay in the rest, and so do sums of fewer than least points: with 1 the rest reads neighbours
// only by index. Weights are computed in float64, as Linear does; there are no sums of integers.
func (s *Stencil) Split(stage, least int) Parts {
	l := splitter{s: s, least: least, locals: map[int]form{}, emitted: map[int]bool{}, unsettled: map[int]bool{}, own: -1}
	body := s.Stages[stage].Body
	l.findUnsettled(body, map[int]bool{})
	return Parts{Rest: l.block(body), Sums: l.sums}
}

// form is a weighted sum of points plus a constant.
type form struct {
	weights  map[Point]float64
	constant float64
}

func (f form) isConstant() bool { return len(f.weights) == 0 }

// plus is f + w*g; f's weights are changed in place.
func (f form) plus(w float64, g form) form {
	if f.weights == nil {
		f.weights = map[Point]float64{}
	}
	for p, v := range g.weights {
		f.weights[p] += w * v
	}
	f.constant += w * g.constant
	return f
}

// scaled is f with a function applied to its numbers, its weights in place.
func (f form) scaled(by func(float64) float64) form {
	for p, v := range f.weights {
		f.weights[p] = by(v)
	}
	f.constant = by(f.constant)
	return f
}

// points are those of f in order.
func (f form) points() []Point { return slices.SortedFunc(maps.Keys(f.weights), comparePoints) }

// comparePoints orders points by array, plane, row and column.
func comparePoints(a, b Point) int {
	return cmp.Or(cmp.Compare(a.Array, b.Array), compareOffsets(a.At, b.At))
}

// splitter takes a function apart, statement by statement.
type splitter struct {
	s         *Stencil
	least     int
	sums      []map[Point]float64
	locals    map[int]form // those whose value is a form: they are not variables of the rest
	emitted   map[int]bool // that the rest has declared
	unsettled map[int]bool // that are set under a condition
	own       int          // the local whose form may be changed in place

	arrange bool // for arranged: sums are locals, numbered from first on
	first   int
}

// findUnsettled finds the locals that a branch sets and does not declare.
func (l *splitter) findUnsettled(body []Stmt, declared map[int]bool) {
	for _, st := range body {
		switch st := st.(type) {
		case Let:
			if st.Declare {
				declared[st.Local] = true
			} else if !declared[st.Local] {
				l.unsettled[st.Local] = true
			}
		case If:
			l.findUnsettled(st.Then, map[int]bool{})
			l.findUnsettled(st.Else, map[int]bool{})
		}
	}
}

func (l *splitter) block(body []Stmt) (rest []Stmt) {
	for _, st := range body {
		switch st := st.(type) {
		case Let:
			if st.Type != Elem || l.unsettled[st.Local] {
				st.Value = l.whole(st.Value)
				rest = append(rest, st)
				continue
			}
			f, other := l.assigned(st)
			if other == nil {
				l.locals[st.Local] = f
				continue
			}
			delete(l.locals, st.Local)
			rest = append(rest, Let{st.Local, st.Type, l.join(f, other), !l.emitted[st.Local]})
			l.emitted[st.Local] = true
		case Return:
			values := make([]Expr, len(st.Values))
			for i, v := range st.Values {
				values[i] = l.whole(v)
			}
			rest = append(rest, Return{values})
		case If:
			rest = append(rest, If{l.whole(st.Cond), l.block(st.Then), l.block(st.Else)})
		}
	}
	return rest
}

// assigned is what a local is set to.
func (l *splitter) assigned(st Let) (form, Expr) {
	reads := 0
	walk(st.Value, func(e Expr) {
		if r, ok := e.(Local); ok && r.Index == st.Local {
			reads++
		}
	})
	if reads == 1 { // a = a + ...: its old value is not needed again
		l.own = st.Local
	}
	defer func() { l.own = -1 }()
	return l.value(st.Value)
}

// whole is an expression of the rest.
func (l *splitter) whole(e Expr) Expr {
	if e.typ() == Elem {
		f, other := l.value(e)
		return l.join(f, other)
	}
	return l.inner(e)
}

// inner is an expression whose operands are taken apart, each on its own.
func (l *splitter) inner(e Expr) Expr {
	switch e := e.(type) {
	case ReadAt:
		e.Index = l.whole(e.Index)
		return e
	case Neg:
		return Neg{l.whole(e.X)}
	case Not:
		return Not{l.whole(e.X)}
	case Cast:
		e.X = l.whole(e.X)
		return e
	case Binary:
		e.X, e.Y = l.whole(e.X), l.whole(e.Y)
		return e
	case Cond:
		return Cond{l.whole(e.If), l.whole(e.Then), l.whole(e.Else)}
	case Call:
		args := make([]Expr, len(e.Args))
		for i, a := range e.Args {
			args[i] = l.whole(a)
		}
		e.Args = args
		return e
	}
	return e
}

// value gives an expression of the element type as a form, not shared with any other, plus
// another expression of the rest; nil is 0.
func (l *splitter) value(e Expr) (form, Expr) {
	switch e := e.(type) {
	case Num:
		return form{constant: e.Value}, nil
	case Get:
		return form{weights: map[Point]float64{{e.Field, e.At}: 1}}, nil
	case Read:
		return form{weights: map[Point]float64{{len(l.s.Fields) + e.Array, e.At}: 1}}, nil
	case Local:
		f, ok := l.locals[e.Index]
		if !ok {
			return form{}, e
		}
		if e.Index != l.own {
			f.weights = maps.Clone(f.weights)
		}
		return f, nil
	case Neg:
		f, other := l.value(e.X)
		if other != nil {
			other = Neg{other}
		}
		return f.scaled(func(v float64) float64 { return -v }), other
	case Binary:
		return l.binary(e)
	}
	return form{}, l.inner(e)
}

func (l *splitter) binary(e Binary) (form, Expr) {
	if e.Op != "+" && e.Op != "-" && e.Op != "*" && e.Op != "/" {
		return form{}, l.inner(e)
	}
	f, a := l.value(e.X)
	g, b := l.value(e.Y)
	times := func(f form, a Expr, c float64, op string) (form, Expr) {
		if a != nil && c != 1 {
			a = Binary{op, a, Num{c, Elem}, Elem}
		}
		if op == "*" {
			return f.scaled(func(v float64) float64 { return v * c }), a
		}
		return f.scaled(func(v float64) float64 { return v / c }), a
	}
	switch {
	case e.Op == "+" || e.Op == "-":
		w := 1.0
		if e.Op == "-" {
			w = -1
		}
		switch {
		case a == nil && b != nil && w < 0:
			a = Neg{b}
		case a == nil:
			a = b
		case b != nil:
			a = Binary{e.Op, a, b, Elem}
		}
		return f.plus(w, g), a
	case b == nil && g.isConstant() && sound(f, g.constant, e.Op):
		return times(f, a, g.constant, e.Op)
	case e.Op == "*" && a == nil && f.isConstant() && sound(g, f.constant, e.Op):
		return times(g, b, f.constant, "*")
	}
	if l.arrange && e.Op == "*" && a == nil && b == nil {
		if p, ok := l.product(f, g); ok {
			return form{}, p
		}
		if p, ok := l.product(g, f); ok {
			return form{}, p
		}
	}
	return form{}, Binary{e.Op, l.join(f, a), l.join(g, b), Elem}
}

// sound tells whether f's numbers stay where float32 has all its digits, and none but 0 becomes 0.
func sound(f form, c float64, op string) bool {
	ok := func(v float64) bool {
		w := v * c
		if op == "/" {
			w = v / c
		}
		size := math.Abs(w)
		return w == v || w == 0 && (v == 0 || c == 0) || size >= 0x1p-126 && size <= 0x1p127
	}
	for _, v := range f.weights {
		if !ok(v) {
			return false
		}
	}
	return ok(f.constant)
}

// join is a form plus another expression, as the rest has it.
func (l *splitter) join(f form, other Expr) Expr {
	var sum Expr
	add := func(e Expr) {
		if sum == nil {
			sum = e
			return
		}
		sum = Binary{"+", sum, e, Elem}
	}
	scaled := func(w float64, e Expr) Expr {
		switch w {
		case 1:
			return e
		case -1:
			return Neg{e}
		}
		return Binary{"*", Num{w, Elem}, e, Elem}
	}
	beside := map[int]bool{} // arrays that are read off the own cell
	for p, w := range f.weights {
		if w == 0 {
			delete(f.weights, p)
		} else if p.At != (Offset{}) {
			beside[p.Array] = true
		}
	}
	if l.arrange {
		other = l.nested(f, other)
	}
	points := f.points()
	var summed, own []Point
	for _, p := range points {
		if beside[p.Array] {
			summed = append(summed, p)
		} else {
			own = append(own, p)
		}
	}
	if len(summed) < l.least {
		summed, own = nil, points
	}
	if len(summed) > 0 {
		index, factor := l.sum(f, summed)
		if l.arrange {
			add(scaled(factor, Local{l.first + index, Elem}))
		} else {
			add(scaled(factor, Sum{index, Elem}))
		}
	}
	for _, p := range own {
		add(scaled(f.weights[p], l.read(p)))
	}
	if other != nil {
		add(other)
	}
	if f.constant != 0 || sum == nil {
		add(Num{f.constant, Elem})
	}
	return sum
}

// sum finds the sum of which f's is a multiple, or adds it.
func (l *splitter) sum(f form, points []Point) (index int, factor float64) {
	for i, known := range l.sums {
		if len(known) != len(points) {
			continue
		}
		factor := f.weights[points[0]] / known[points[0]]
		if !finite(factor) || math.Abs(factor) < 1e-3 || math.Abs(factor) > 1e3 { // a product that may leave the type's range
			continue
		}
		same := func(p Point) bool {
			w, ok := known[p]
			return ok && math.Abs(f.weights[p]-factor*w) <= 1e-15*math.Abs(f.weights[p])
		}
		if !slices.ContainsFunc(points, func(p Point) bool { return !same(p) }) {
			return i, factor
		}
	}
	weights := map[Point]float64{}
	for _, p := range points {
		weights[p] = f.weights[p]
	}
	l.sums = append(l.sums, weights)
	return len(l.sums) - 1, 1
}

// ReadsOwn tells whether the rest reads an array, which with sums of single points is at the own cell.
func (p Parts) ReadsOwn(s *Stencil, array int) bool {
	found := false
	walkBody(p.Rest, func(e Expr) {
		switch e := e.(type) {
		case Get:
			found = found || e.Field == array
		case Read:
			found = found || len(s.Fields)+e.Array == array
		}
	})
	return found
}

// Ops counts the operations of the rest, as Operations does.
func (p Parts) Ops() Ops {
	c := newCounter()
	c.cell(p.Rest, Offset{})
	return c.ops()
}
