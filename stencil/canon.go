package stencil

import (
	"cmp"
	"fmt"
)

// class is a value modulo a shift of its points and, of a floating-point type, a sign.
type class struct {
	id        int
	node      Expr // without its operands; a point at the origin, a number not negative
	typ       Type
	args      []term  // at places relative to the first point
	points    bool    // reads any
	pins      [3]bool // axes on whose coordinate it depends: it is not shifted along them
	affine    bool    // in its points, with weights that are the same at all cells
	low, high Offset  // box of its points
	cost      int     // of the operation itself
}

// term is a class at a place; its negative where neg.
type term struct {
	c   *class
	at  Offset
	neg bool
}

func (t term) negated() term { t.neg = !t.neg; return t }

// zero tells a literal 0, whose sign is of no account.
func (t term) zero() bool { n, ok := t.c.node.(Num); return ok && n.Value == 0 }

func plus(a, b Offset) Offset  { return Offset{a[0] + b[0], a[1] + b[1], a[2] + b[2]} }
func minus(a, b Offset) Offset { return Offset{a[0] - b[0], a[1] - b[1], a[2] - b[2]} }

// canon gives equal classes to what is equal modulo a shift and a sign.
type canon struct {
	classes map[string]*class
	list    []*class
}

// node is an operation on terms, or a leaf, with the shift and the pins of its own.
func (k *canon) node(e Expr, t Type, own Offset, pins [3]bool, args ...term) term {
	c := class{node: e, typ: t, pins: pins, cost: weight(e)}
	switch e.(type) {
	case Get, Read:
		c.points = true
	}
	at, found := own, c.points
	for _, a := range args {
		c.points = c.points || a.c.points
		if a.c.points && !found {
			at, found = a.at, true
		}
		for i, p := range a.c.pins {
			c.pins[i] = c.pins[i] || p
		}
	}
	for i, p := range c.pins {
		if p {
			at[i] = 0
		}
	}
	first := len(args) > 0
	key := fmt.Sprintf("%T%v %s", e, e, t)
	for _, a := range args {
		if a.c.points {
			a.at = minus(a.at, at)
			for i := range 3 {
				low, high := a.at[i]+a.c.low[i], a.at[i]+a.c.high[i]
				if first {
					c.low[i], c.high[i] = low, high
				}
				c.low[i], c.high[i] = min(c.low[i], low), max(c.high[i], high)
			}
			first = false
		}
		c.args = append(c.args, a)
		key += fmt.Sprint(" ", a.c.id, a.at, a.neg)
	}
	known, ok := k.classes[key]
	if !ok {
		c.id = len(k.list)
		c.affine = c.isAffine()
		known = &c
		k.classes[key] = known
		k.list = append(k.list, known)
	}
	return term{known, at, false}
}

// holds finds what a class is computed from.
func (c *class) holds(met map[*class]bool) {
	for _, a := range c.args {
		if !met[a.c] {
			met[a.c] = true
			a.c.holds(met)
		}
	}
}

// pointwise tells whether a class reads one cell alone, of several arrays unless it is no weighted sum. A multiple of
// another class is none.
func (c *class) pointwise() bool {
	if c.low != c.high {
		return false
	}
	operands := 0
	for _, a := range c.args {
		if a.c.points {
			operands++
		}
	}
	return !c.affine || operands > 1 && len(c.arrays(map[int]bool{})) > 1
}

// arrays adds the arrays that a class reads: fields by their numbers, read-only ones by -1, -2, ...
func (c *class) arrays(met map[int]bool) map[int]bool {
	switch e := c.node.(type) {
	case Get:
		met[e.Field] = true
	case Read:
		met[-1-e.Array] = true
	}
	for _, a := range c.args {
		a.c.arrays(met)
	}
	return met
}

// weight is what an operation costs.
func weight(e Expr) int {
	switch e := e.(type) {
	case Binary:
		if e.Op == "/" || e.Op == "%" {
			return 8
		}
		return 1
	case Call:
		if special(e.Func) >= 0 {
			return 10
		}
		return 1
	case Cond:
		return 1
	case Cast:
		return 1
	}
	return 0
}

// isAffine tells sums of points with weights that are the same at all cells.
func (c *class) isAffine() bool {
	constant := func(t term) bool { return !t.c.points && t.c.pins == [3]bool{} }
	affine := func(t term) bool { return t.c.points && t.c.affine }
	switch e := c.node.(type) {
	case Get, Read:
		return true
	case Neg:
		return affine(c.args[0])
	case Binary:
		x, y := c.args[0], c.args[1]
		switch e.Op {
		case "+", "-":
			return (affine(x) || constant(x)) && (affine(y) || constant(y)) && c.points
		case "*":
			return affine(x) && constant(y) || constant(x) && affine(y)
		case "/":
			return affine(x) && constant(y)
		}
	}
	return false
}

// inOrder puts two operands in an order that no shift changes.
func inOrder(x, y term) (term, term, bool) {
	if cmp.Or(cmp.Compare(x.c.id, y.c.id), compareOffsets(x.at, y.at)) > 0 {
		return y, x, true
	}
	return x, y, false
}

// parities are the functions that a sign passes through (-1) or vanishes in (1).
var parities = map[string]int{"fabs": 1, "cos": 1, "cosh": 1, "sin": -1, "tan": -1, "asin": -1, "atan": -1,
	"sinh": -1, "tanh": -1, "cbrt": -1, "trunc": -1, "round": -1}

var mirrored = map[string]string{"<": ">", "<=": ">=", ">": "<", ">=": "<=", "==": "==", "!=": "!=", "fmin": "fmax", "fmax": "fmin"}

// binary is an operation with two operands.
func (k *canon) binary(op string, t Type, x, y term) term {
	build := func(op string, args ...term) term {
		return k.node(Binary{Op: op, Type: t}, t, Offset{}, [3]bool{}, args...)
	}
	signed := x.c.typ.Floating()
	if signed && op == "-" {
		op, y = "+", y.negated()
	}
	neg := false
	switch op {
	case "+":
		x, y, _ = inOrder(x, y)
		if neg = x.neg; neg {
			x, y = x.negated(), y.negated()
		}
	case "*":
		x, y, _ = inOrder(x, y)
		neg = x.neg != y.neg
		x.neg, y.neg = false, false
	case "/":
		neg = x.neg != y.neg
		x.neg, y.neg = false, false
	case "<", "<=", ">", ">=", "==", "!=":
		var swapped bool
		if x, y, swapped = inOrder(x, y); swapped {
			op = mirrored[op]
		}
		lead := x
		if x.zero() {
			lead = y
		}
		if lead.neg {
			x, y, op = x.negated(), y.negated(), mirrored[op]
		}
		for _, a := range []*term{&x, &y} {
			a.neg = a.neg && !a.zero()
		}
	}
	r := build(op, x, y)
	r.neg = neg
	return r
}

// choice is test ? a : b.
func (k *canon) choice(test, a, b term) term {
	if a == b {
		return a
	}
	lead := a
	if a.zero() {
		lead = b
	}
	if lead.neg {
		a, b = a.negated(), b.negated()
	}
	for _, v := range []*term{&a, &b} {
		v.neg = v.neg && !v.zero()
	}
	r := k.node(Cond{}, a.c.typ, Offset{}, [3]bool{}, test, a, b)
	r.neg = lead.neg
	return r
}

// call is a function's value.
func (k *canon) call(e Call, args []term) term {
	neg := false
	switch parity := parities[e.Func]; {
	case parity != 0:
		neg = parity < 0 && args[0].neg
		args[0].neg = false
	case e.Func == "fmin" || e.Func == "fmax":
		args[0], args[1], _ = inOrder(args[0], args[1])
		if neg = args[0].neg; neg {
			args[0], args[1], e.Func = args[0].negated(), args[1].negated(), mirrored[e.Func]
		}
	}
	r := k.node(Call{Func: e.Func, Type: e.Type}, e.Type, Offset{}, [3]bool{}, args...)
	r.neg = neg
	return r
}
