package stencil

import (
	"fmt"
	"maps"
)

// A text is long that says so many operations, each as often as it stands there, and so many times what differs among them.
const (
	longText     = 1500
	longRepeated = 2.5
)

// named is a function in which what a long text says several times is a local: compilers find that out, too, but take minutes for
// thousands of equal reads, as functions within loops make. What is only computed where a condition holds stays where it is.
func named(body []Stmt) []Stmt {
	text, branch := 0, 0
	walkBody(body, func(e Expr) {
		text++
		if branches(e) {
			branch++
		}
	})
	if text < longText && branch < 2 {
		return body
	}
	n := newNamer(body)
	n.pass(body) // counts
	n.long = text >= longText && float64(text) >= longRepeated*float64(len(n.uses))
	n.naming = true
	return n.pass(body)
}

// namer finds what a function says several times, and in a second pass names it.
type namer struct {
	naming bool
	long   bool           // all that is repeated has a name, not only what branches
	ids    map[string]int // of values: the same for what is made the same way of the same
	uses   []int          // how many others, which differ, have a value as an operand
	sets   map[int]int    // how often a local is set
	locals map[int]int    // what locals are worth
	joins  int            // locals whose value follows from a branch, so far
	names  map[int]Local  // of values
	before []Stmt         // what a statement needs computed before it
	next   int            // a local that is free
}

func newNamer(body []Stmt) *namer {
	n := &namer{ids: map[string]int{}, sets: map[int]int{}, next: free(body)}
	n.count(body)
	return n
}

// count counts how often locals are set.
func (n *namer) count(body []Stmt) {
	for _, st := range body {
		switch st := st.(type) {
		case Let:
			n.sets[st.Local]++
		case If:
			n.count(st.Then)
			n.count(st.Else)
		}
	}
}

// pass goes through a function.
func (n *namer) pass(body []Stmt) []Stmt {
	n.locals, n.joins, n.names = map[int]int{}, 0, map[int]Local{}
	return n.block(body)
}

func (n *namer) block(body []Stmt) (out []Stmt) {
	root := func(e Expr) Expr {
		e, id := n.expr(e, false)
		if !n.naming {
			n.uses[id]++
		}
		return e
	}
	for _, st := range body {
		switch x := st.(type) {
		case Let:
			e, id := n.made(x.Value, false)
			n.locals[x.Local] = id
			if name, ok := n.names[id]; ok {
				e = name
			} else if n.sets[x.Local] == 1 && !short(e) {
				n.names[id] = Local{x.Local, x.Type}
			}
			x.Value = e
			st = x
		case Return:
			st = mapBody([]Stmt{x}, root)[0]
		case If:
			x.Cond = root(x.Cond)
			out, n.before = append(out, n.before...), nil
			locals, names := n.locals, n.names
			n.locals, n.names = maps.Clone(locals), maps.Clone(names)
			x.Then = n.block(x.Then)
			n.locals, n.names = maps.Clone(locals), maps.Clone(names)
			x.Else = n.block(x.Else)
			n.locals, n.names = locals, names
			set := map[int]bool{}
			sets([]Stmt{x}, set)
			n.joins++
			for l := range set {
				n.locals[l] = n.id(fmt.Sprint("after branch ", n.joins, " local ", l), nil)
			}
			st = x
		}
		out, n.before = append(append(out, n.before...), st), nil
	}
	return out
}

// expr is an expression with what has a name replaced by that, and its value. What is guarded is computed only where a condition holds.
func (n *namer) expr(e Expr, guarded bool) (Expr, int) {
	e, id := n.made(e, guarded)
	if name, ok := n.names[id]; ok && !short(e) {
		return name, id
	}
	if n.naming && !guarded && n.uses[id] > 1 && !short(e) && (n.long || holdsBranching(e)) {
		name := Local{n.next, e.typ()}
		n.next++
		n.before = append(n.before, Let{name.Index, name.Type, e, true})
		n.names[id] = name
		return name, id
	}
	return e, id
}

// made is an expression of operands that have their names, and its value.
func (n *namer) made(e Expr, guarded bool) (Expr, int) {
	if l, ok := e.(Local); ok {
		if _, known := n.locals[l.Index]; !known {
			n.locals[l.Index] = n.id(fmt.Sprint("local ", l.Index), nil)
		}
		return e, n.locals[l.Index]
	}
	var of []Expr
	var ids []int
	_, choice := e.(Cond)
	b, either := e.(Binary)
	seldom := choice || either && (b.Op == "&&" || b.Op == "||") // all operands but the first
	shape := operands(e, func(x Expr) Expr {
		y, id := n.expr(x, guarded || seldom && len(ids) > 0)
		of, ids = append(of, y), append(ids, id)
		return nil
	})
	i := 0
	e = operands(e, func(Expr) Expr { i++; return of[i-1] })
	return e, n.id(fmt.Sprintf("%#v %v", shape, ids), ids)
}

// id numbers a value.
func (n *namer) id(text string, operands []int) int {
	id, ok := n.ids[text]
	if !ok {
		id = len(n.uses)
		n.ids[text] = id
		n.uses = append(n.uses, 0)
		for _, o := range operands {
			n.uses[o]++
		}
	}
	return id
}

// short tells whether a name would say no more than an expression, as it is printed.
func short(e Expr) bool {
	if _, folded := number(e); folded {
		return true
	}
	switch e := e.(type) {
	case Num, Int, Local, Scalar, Var:
		return true
	case Neg:
		return short(e.X)
	}
	return false
}

// holdsBranching tells whether the code of an expression, or of what it is made of, may branch.
func holdsBranching(e Expr) (found bool) {
	walk(e, func(e Expr) { found = found || branches(e) })
	return found
}

// branches tells whether the code of an expression may branch, beside its operands: no compiler finds two of those to be the same.
func branches(e Expr) bool {
	switch e := e.(type) {
	case Binary:
		_, constant := number(e.Y)
		return e.Op == "/" && e.Type.Floating() && !constant
	case Call:
		return costly(e) || e.Func == "sqrt" || e.Func == "rsqrt"
	}
	return false
}
