package stencil

import (
	"fmt"
	"math"
	"slices"
)

// evaluation runs one function on one cell: the syntax tree turned into closures
// once. Bool is an integer of 0 or 1.
type evaluation struct {
	r            *run
	at           [3]int  // the own cell
	nearF        float64 // in EdgeValue: the nearest cell inside; of sources: their value
	nearI        int64
	localFloats  []float64
	localInts    []int64
	localSquares []float64    // with noise: of the terms of a local
	near         int          // the field of an EdgeValue, else -1
	traced       map[int]bool // with noise: locals that have traces
	state        *uint64      // of the noise
	seen         []byte       // of each mark: bit 0 if its condition was false, bit 1 if it was true
	floats       []float64    // what it returned, by output: floats or ints
	ints         []int64
	body         func() bool // true when it has returned
	edges        []*evaluation
	hidden       map[*Stage]*evaluation // at places outside
}

func newEvaluation(r *run, body []Stmt) *evaluation {
	return (&evaluation{r: r, state: new(uint64), seen: make([]byte, len(r.s.marks)), near: -1}).of(body)
}

// inner is an evaluation of another function for the same cell: of field near's EdgeValue, or -1.
func (c *evaluation) inner(body []Stmt, near int) *evaluation {
	return (&evaluation{r: c.r, state: c.state, seen: c.seen, near: near}).of(body)
}

func (c *evaluation) of(body []Stmt) *evaluation {
	c.edges = make([]*evaluation, len(c.r.s.Fields))
	if n := c.r.noise; n != nil && n.lean != n.fine {
		c.traced, _ = n.traces.in(body, c.near)
	}
	c.body = c.block(body)
	return c
}

func (c *evaluation) run() {
	if !c.body() {
		panic("stencil: cell function without return")
	}
}

// index is the own cell's in the grid.
func (c *evaluation) index() int { return (c.at[2]*c.r.n[1]+c.at[1])*c.r.n[0] + c.at[0] }

// grow makes room for element i.
func grow[V any](v *[]V, i int) {
	for len(*v) <= i {
		*v = append(*v, *new(V))
	}
}

func (c *evaluation) block(body []Stmt) func() bool {
	var steps []func() bool
	for _, st := range body {
		steps = append(steps, c.statement(st))
	}
	return func() bool {
		for _, f := range steps {
			if f() {
				return true
			}
		}
		return false
	}
}

func (c *evaluation) statement(st Stmt) func() bool {
	switch st := st.(type) {
	case Let:
		grow(&c.localFloats, st.Local)
		grow(&c.localInts, st.Local)
		if st.Type.Floating() && c.r.noise != nil {
			grow(&c.localSquares, st.Local)
			v := c.noisy(st.Value)
			return func() bool { c.localFloats[st.Local], c.localSquares[st.Local] = v(); return false }
		}
		if st.Type.Floating() {
			v := c.float(st.Value)
			return func() bool { c.localFloats[st.Local] = v(); return false }
		}
		v := c.integer(st.Value)
		return func() bool { c.localInts[st.Local] = v(); return false }
	case Return:
		var steps []func()
		for i, e := range st.Values {
			grow(&c.floats, i)
			grow(&c.ints, i)
			if e.typ().Floating() {
				v := c.float(e)
				if c.r.noise != nil {
					steps = append(steps, func() { c.floats[i] = c.keep(v()) })
					continue
				}
				steps = append(steps, func() { c.floats[i] = v() })
			} else {
				v := c.integer(e)
				steps = append(steps, func() { c.ints[i] = v() })
			}
		}
		return func() bool {
			for _, f := range steps {
				f()
			}
			return true
		}
	case If:
		test, then, otherwise := c.integer(st.Cond), c.block(st.Then), c.block(st.Else)
		return func() bool {
			if test() != 0 {
				return then()
			}
			return otherwise()
		}
	}
	panic(fmt.Sprintf("stencil: unknown statement %T", st))
}

// inside gives the index of an array's cell at an offset, -1 if it lies outside.
func (c *evaluation) inside(array int, o Offset) int {
	n, end := &c.r.n, &c.r.ends[array]
	x, y, z := c.at[0]+o[0], c.at[1]+o[1], c.at[2]+o[2]
	if x < 0 || x >= end[0] || y < 0 || y >= end[1] || z < 0 || z >= end[2] {
		return -1
	}
	return (z*n[1]+y)*n[0] + x
}

// beyond settles a point outside: the cell that stands for it or is the nearest, where the point lies then, and the rule
// that gives it a value, if one does.
func (c *evaluation) beyond(array int, o Offset) (cell int, at [3]int, value *Rule) {
	n, end, rules := c.r.n, c.r.ends[array], c.r.rules[array]
	var near [3]int
	for a := range 3 {
		i := c.at[a] + o[a]
		near[a], at[a] = i, i
		if i >= 0 && i < end[a] {
			continue
		}
		rule := &rules[a][side(i)]
		near[a] = rule.Boundary.index(i, end[a])
		if !rule.valued() {
			at[a] = near[a]
		} else if value == nil {
			value = rule
		}
	}
	return (near[2]*n[1]+near[1])*n[0] + near[0], at, value
}

// outside runs a field's EdgeValue for a point, to which a cell is the nearest.
func (c *evaluation) outside(field, near int, at [3]int) *evaluation {
	e := c.edges[field]
	if e == nil {
		e = c.inner(c.r.s.Fields[field].Edge, field)
		c.edges[field] = e
	}
	if v := c.r.fields[field]; v.Int != nil {
		e.nearI = v.Int[near]
	} else {
		e.nearF = v.Float[near]
	}
	e.at = at
	e.run()
	return e
}

// hiddenStage gives the hidden stage that sets a field, and which of its outputs it is.
func (r *run) hiddenStage(field int) (*Stage, int) {
	for i := range r.s.Stages {
		if st := &r.s.Stages[i]; st.Hidden {
			if o := slices.Index(st.Outputs, field); o >= 0 {
				return st, o
			}
		}
	}
	return nil, 0
}

// hiddenAt computes a hidden stage at the place at an offset, outside the grid.
func (c *evaluation) hiddenAt(st *Stage, o Offset) *evaluation {
	e := c.hidden[st]
	if e == nil {
		e = c.inner(st.Body, -1)
		if c.hidden == nil {
			c.hidden = map[*Stage]*evaluation{}
		}
		c.hidden[st] = e
	}
	for a := range 3 {
		e.at[a] = c.at[a] + o[a]
	}
	e.run()
	return e
}

// read is where a point is read: beside it, if it is the one that is read wrongly.
func (r *run) read(array int, at Offset) Offset {
	if w := r.wrongAt; w != nil && *w == (Point{array, at}) {
		at[0]++
	}
	return at
}

// cellOf is the cell of a read-only array that a point of it is, or that stands for it.
func (c *evaluation) cellOf(e Read) int {
	if i := c.inside(len(c.r.s.Fields)+e.Array, e.At); i >= 0 {
		return i
	}
	i, _, _ := c.beyond(len(c.r.s.Fields)+e.Array, e.At)
	return i
}

// element is the clamped index of read(i).
func element(i int64, n int) int { return int(min(max(i, 0), int64(n)-1)) }

// rounded rounds to float32 where an integer stencil computes in it.
func rounded(t Type, f func() float64) func() float64 {
	if t != Type(Float32) {
		return f
	}
	return func() float64 { return float64(float32(f())) }
}

// literal is a number as kernels compute with it: infinite where float does not hold it and elements are no wider.
func (r *run) literal(e Num) float64 {
	if f := float64(float32(e.Value)); e.Type == Type(Float32) || e.Type == Elem && r.element != Float64 && math.IsInf(f, 0) {
		return f
	}
	return e.Value
}

// float turns a floating-point expression into a closure.
func (c *evaluation) float(e Expr) func() float64 {
	if c.r.noise != nil {
		f := c.noisy(e)
		return func() float64 { v, _ := f(); return v }
	}
	return c.exact(e)
}

// exact is float without noise; what an operation is done on is float's.
func (c *evaluation) exact(e Expr) func() float64 {
	r := c.r
	switch e := e.(type) {
	case Num:
		v := r.literal(e)
		return func() float64 { return v }
	case Local:
		return func() float64 { return c.localFloats[e.Index] }
	case Get:
		e.At = r.read(e.Field, e.At)
		if st, o := r.hiddenStage(e.Field); st != nil {
			return func() float64 {
				if i := c.inside(e.Field, e.At); i >= 0 {
					return r.fields[e.Field].Float[i]
				}
				return c.hiddenAt(st, e.At).floats[o]
			}
		}
		return func() float64 {
			if i := c.inside(e.Field, e.At); i >= 0 {
				return r.fields[e.Field].Float[i]
			}
			i, at, value := c.beyond(e.Field, e.At)
			switch {
			case value == nil:
				return r.fields[e.Field].Float[i]
			case value.Boundary == Constant: // which kernels hold as an element
				return r.element.Round(value.Constant)
			}
			return c.outside(e.Field, i, at).floats[0]
		}
	case Read:
		e.At = r.read(len(r.s.Fields)+e.Array, e.At)
		return func() float64 { return r.readOnly[e.Array].Float[c.cellOf(e)] }
	case ReadAt:
		index := c.integer(e.Index)
		return func() float64 { a := r.readOnly[e.Array].Float; return a[element(index(), len(a))] }
	case Scalar:
		return rounded(e.Type, func() float64 { return r.scalars[e.Index] })
	case Var:
		if e.Kind == Updated {
			return func() float64 { return r.updated[e.Index].Float[c.index()] }
		}
		return func() float64 { return c.nearF }
	case Neg:
		x := c.float(e.X)
		return func() float64 { return -x() }
	case Cast:
		from := e.X.typ()
		if _, ok := e.storesAs(); ok {
			return c.float(e.X)
		}
		if from.Floating() {
			return rounded(e.Type, c.float(e.X))
		}
		x := c.integer(e.X)
		return rounded(e.Type, func() float64 { return from.asFloat(x()) })
	case Binary:
		x, y := c.float(e.X), c.float(e.Y)
		switch e.Op {
		case "+":
			return rounded(e.Type, func() float64 { return x() + y() })
		case "-":
			return rounded(e.Type, func() float64 { return x() - y() })
		case "*":
			return rounded(e.Type, func() float64 { return x() * y() })
		case "/":
			return rounded(e.Type, func() float64 { return x() / y() })
		}
	case Cond:
		test, a, b := c.integer(e.If), c.float(e.Then), c.float(e.Else)
		return func() float64 {
			if test() != 0 {
				return a()
			}
			return b()
		}
	case Call:
		f, x := mathFuncs[e.Func].eval, c.float(e.Args[0])
		if len(e.Args) == 1 {
			return rounded(e.Type, func() float64 { return f(x(), 0) })
		}
		y := c.float(e.Args[1])
		return rounded(e.Type, func() float64 { return f(x(), y()) })
	}
	panic(fmt.Sprintf("stencil: unknown expression %#v", e))
}

func bit(v bool) int64 {
	if v {
		return 1
	}
	return 0
}

// integer turns an expression of an integer type or Bool into a closure.
func (c *evaluation) integer(e Expr) func() int64 {
	r := c.r
	switch e := e.(type) {
	case Int:
		return func() int64 { return e.Value }
	case Local:
		return func() int64 { return c.localInts[e.Index] }
	case Get:
		if st, o := r.hiddenStage(e.Field); st != nil {
			return func() int64 {
				if i := c.inside(e.Field, e.At); i >= 0 {
					return r.fields[e.Field].Int[i]
				}
				return c.hiddenAt(st, e.At).ints[o]
			}
		}
		return func() int64 {
			if i := c.inside(e.Field, e.At); i >= 0 {
				return r.fields[e.Field].Int[i]
			}
			i, at, value := c.beyond(e.Field, e.At)
			switch {
			case value == nil:
				return r.fields[e.Field].Int[i]
			case value.Boundary == Constant:
				return e.Type.fromFloat(value.Constant)
			}
			return c.outside(e.Field, i, at).ints[0]
		}
	case Read:
		return func() int64 { return r.readOnly[e.Array].Int[c.cellOf(e)] }
	case ReadAt:
		index := c.integer(e.Index)
		return func() int64 { a := r.readOnly[e.Array].Int; return a[element(index(), len(a))] }
	case Scalar:
		v := e.Type.fromFloat(r.scalars[e.Index])
		return func() int64 { return v }
	case Var:
		return c.variable(e)
	case Neg:
		x := c.integer(e.X)
		return func() int64 { return e.typ().wrap(-x()) }
	case Not:
		x := c.integer(e.X)
		return func() int64 { return 1 - x() }
	case mark:
		x := c.integer(e.X)
		return func() int64 {
			v := x()
			c.seen[e.Index] |= 1 << v
			return v
		}
	case Cast:
		if e.X.typ().Floating() {
			if c.r.noise != nil {
				x := c.leaning(c.noisy(e.X), e.X)
				return func() int64 { return e.Type.fromFloat(x()) }
			}
			x := c.float(e.X)
			return func() int64 { return e.Type.fromFloat(x()) }
		}
		x := c.integer(e.X)
		return func() int64 { return e.Type.wrap(x()) }
	case Binary:
		return c.binary(e)
	case Cond:
		test, a, b := c.integer(e.If), c.integer(e.Then), c.integer(e.Else)
		return func() int64 {
			if test() != 0 {
				return a()
			}
			return b()
		}
	case Call:
		x := c.integer(e.Args[0])
		if len(e.Args) == 1 {
			return func() int64 { return chosenInt(e.Func, e.Type, x(), 0) }
		}
		y := c.integer(e.Args[1])
		return func() int64 { return chosenInt(e.Func, e.Type, x(), y()) }
	}
	panic(fmt.Sprintf("stencil: unknown expression %#v", e))
}

func (c *evaluation) variable(e Var) func() int64 {
	switch e.Kind {
	case Position:
		return func() int64 { return int64(c.r.place(e.Index, c.at[e.Index])) }
	case Extent:
		return func() int64 { return int64(c.r.extent[e.Index]) }
	case Iteration:
		return func() int64 { return int64(c.r.iteration) }
	case HighEnd:
		axis, last := e.Index%3, e.Index/3
		return func() int64 { return bit(c.at[axis] >= c.r.n[axis]-last) }
	case Updated:
		return func() int64 { return c.r.updated[e.Index].Int[c.index()] }
	}
	return func() int64 { return c.nearI }
}

// binary is an operation with an integer or Bool result.
func (c *evaluation) binary(e Binary) func() int64 {
	t := e.X.typ()
	if t.Floating() {
		if c.r.noise != nil {
			return c.noisyCompare(e)
		}
		x, y := c.float(e.X), c.float(e.Y)
		return func() int64 { return bit(compareFloats(e.Op, x(), y())) }
	}
	x, y := c.integer(e.X), c.integer(e.Y)
	switch precedence[e.Op] {
	case precedence["||"]:
		return func() int64 { return bit(x() != 0 || y() != 0) }
	case precedence["&&"]:
		return func() int64 { return bit(x() != 0 && y() != 0) }
	case precedence["=="], precedence["<"]:
		return func() int64 { return bit(compareInts(e.Op, x(), y(), t)) }
	}
	return func() int64 { return arithmetic(e.Op, x(), y(), t) }
}

// compareFloats compares as C does: every comparison with NaN but != is false.
func compareFloats(op string, a, b float64) bool {
	switch op {
	case "<":
		return a < b
	case "<=":
		return a <= b
	case ">":
		return a > b
	case ">=":
		return a >= b
	case "==":
		return a == b
	}
	return a != b || math.IsNaN(a)
}
