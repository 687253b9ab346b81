package stencil

// writer writes the function of a hidden stage.
type writer struct {
	elem   Type
	values map[*class]*hiddenValue
	uses   map[place]int
	locals map[place]Local
	body   []Stmt
}

// operand is an operand of what is computed at a place.
func (p place) operand(a term) place {
	if a.c.points {
		return place{a.c, plus(p.at, a.at)}
	}
	return place{a.c, a.at}
}

// count counts how often each place is used.
func (w *writer) count(p place, output bool) {
	if !output {
		w.uses[p]++
		if w.uses[p] > 1 || w.values[p.c] != nil {
			return
		}
	}
	for _, a := range p.c.args {
		w.count(p.operand(a), false)
	}
}

// term reads or computes an operand.
func (w *writer) term(p place, neg bool) Expr {
	e := w.value(p)
	if n, ok := e.(Num); ok && neg {
		n.Value = -n.Value
		return n
	}
	if neg {
		return Neg{e}
	}
	return e
}

func (w *writer) value(p place) Expr {
	if v := w.values[p.c]; v != nil {
		return Get{v.field, minus(p.at, v.at), w.elem}
	}
	if l, ok := w.locals[p]; ok {
		return l
	}
	e := w.operation(p)
	if w.uses[p] < 2 || len(p.c.args) == 0 {
		return e
	}
	l := Local{len(w.locals), p.c.typ}
	w.locals[p] = l
	w.body = append(w.body, Let{l.Index, l.Type, e, true})
	return l
}

// operation computes a place's value.
func (w *writer) operation(p place) Expr {
	var args []Expr
	for _, a := range p.c.args {
		args = append(args, w.term(p.operand(a), a.neg))
	}
	switch e := p.c.node.(type) {
	case Get:
		e.At = p.at
		return e
	case Read:
		e.At = p.at
		return e
	case ReadAt:
		e.Index, e.Type = args[0], p.c.typ
		return e
	case Neg:
		return Neg{args[0]}
	case Not:
		return Not{args[0]}
	case Cast:
		e.X = args[0]
		return e
	case Binary:
		e.X, e.Y = args[0], args[1]
		if y, ok := e.Y.(Num); ok && y.Value < 0 && e.Op == "+" && e.Type.Floating() {
			e.Op, e.Y = "-", Num{-y.Value, y.Type}
		}
		return signed(e)
	case Cond:
		return Cond{args[0], args[1], args[2]}
	case Call:
		e.Args = args
		return e
	}
	return p.c.node
}
