package stencil

import "slices"

// Held is how many cells at the low and the high end of each axis keep their value in every time step.
type Held struct{ Low, High [3]int }

// maxHeld bounds them: a cell function that holds more is computed as it stands.
const maxHeld = 64

// Held is the cells that the rule fixed holds of every field, or the cell function of the only stage.
func (s *Stencil) Held() Held {
	_, held := s.holds()
	for a := range 3 {
		loose := func(side int) bool {
			return slices.ContainsFunc(s.Fields, func(f Array) bool { return f.Rules[a][side].Boundary != Fixed })
		}
		if !loose(0) {
			held.Low[a] = max(held.Low[a], s.Low[a])
		}
		if !loose(1) {
			held.High[a] = max(held.High[a], s.High[a])
		}
	}
	return held
}

// holds gives the body of the only stage without what holds cells near the grid's edges, and which
// these are: a condition that compares coordinates with the grid's ends alone, and under which the
// cell keeps its value.
func (s *Stencil) holds() (body []Stmt, held Held) {
	body = s.Stages[0].Body
	if len(s.Fields) != 1 || len(s.Stages) != 1 {
		return body, Held{}
	}
	for {
		rest, h, ok := hold(body)
		if !ok {
			return body, held
		}
		body = rest
		for a := range 3 {
			held.Low[a], held.High[a] = max(held.Low[a], h.Low[a]), max(held.High[a], h.High[a])
		}
	}
}

// hold takes one such condition out of a body.
func hold(body []Stmt) (rest []Stmt, h Held, ok bool) {
	own := func(list []Stmt) bool { // returns the old value
		r, one := Stmt(nil), len(list) == 1
		if one {
			r = list[0]
		}
		ret, is := r.(Return)
		return is && ownValue(ret.Values[0], body)
	}
	for i, st := range body {
		after := body[i+1:]
		join := func(list ...Stmt) []Stmt { return slices.Concat(body[:i], list) }
		switch st := st.(type) {
		case If:
			switch {
			case own(st.Then) && len(st.Else) == 0:
				rest = join(after...)
				h, ok = ends(st.Cond, true)
			case own(st.Then) && len(after) == 0:
				rest = join(st.Else...)
				h, ok = ends(st.Cond, true)
			case own(st.Else) && len(after) == 0, len(st.Else) == 0 && returns(st.Then) && own(after):
				rest = join(st.Then...)
				h, ok = ends(st.Cond, false)
			}
		case Return:
			if c, is := st.Values[0].(Cond); is && len(st.Values) == 1 {
				switch {
				case ownValue(c.Then, body):
					rest = join(Return{[]Expr{c.Else}})
					h, ok = ends(c.If, true)
				case ownValue(c.Else, body):
					rest = join(Return{[]Expr{c.Then}})
					h, ok = ends(c.If, false)
				}
			}
		}
		if ok {
			return rest, h, true
		}
		if st, is := st.(If); is && hasReturn(st) { // whose cells are not asked what follows
			break
		}
	}
	return nil, Held{}, false
}

// hasReturn tells whether a branch may end the function.
func hasReturn(st If) (has bool) {
	for _, inner := range slices.Concat(st.Then, st.Else) {
		switch inner := inner.(type) {
		case Return:
			return true
		case If:
			has = has || hasReturn(inner)
		}
	}
	return has
}

// ownValue tells whether e is the cell's old value, as it is or in a variable that is set once.
func ownValue(e Expr, body []Stmt) bool {
	if l, is := e.(Local); is {
		n := 0
		var count func(body []Stmt)
		count = func(body []Stmt) {
			for _, st := range body {
				switch st := st.(type) {
				case Let:
					if st.Local == l.Index {
						e, n = st.Value, n+1
					}
				case If:
					count(st.Then)
					count(st.Else)
				}
			}
		}
		count(body)
		if n != 1 {
			return false
		}
	}
	g, is := e.(Get)
	return is && g.At == Offset{}
}

// ends gives the cells of which a condition holds (or does not), if they are those at ends of axes.
func ends(cond Expr, holds bool) (Held, bool) {
	e := endCells{}
	if !e.add(cond, holds) {
		return Held{}, false
	}
	var h Held
	for side, single := range e.single {
		width := &h.Low[side%3]
		if side >= 3 {
			width = &h.High[side%3]
		}
		*width = e.width[side]
		slices.Sort(single)
		for _, at := range single {
			if at == *width {
				*width++
			} else if at > *width {
				return Held{}, false
			}
		}
		if *width > maxHeld {
			return Held{}, false
		}
	}
	return h, h != Held{}
}

// endCells are cells counted from the low ends of x, y and z and from the high ends: so many, and single ones.
type endCells struct {
	width  [6]int
	single [6][]int
}

func (e *endCells) add(cond Expr, holds bool) bool {
	switch c := cond.(type) {
	case Not:
		return e.add(c.X, !holds)
	case Binary:
		switch {
		case c.Op == "||" && holds, c.Op == "&&" && !holds:
			return e.add(c.X, holds) && e.add(c.Y, holds)
		case precedence[c.Op] == 3 || precedence[c.Op] == 4:
			op := c.Op
			if !holds {
				op = map[string]string{"<": ">=", ">=": "<", ">": "<=", "<=": ">", "==": "!=", "!=": "=="}[op]
			}
			return e.compare(op, c.X, c.Y)
		}
	}
	return false
}

// compare adds the cells of which x op y holds.
func (e *endCells) compare(op string, x, y Expr) bool {
	var p coordinate
	if !p.add(x, 1) || !p.add(y, -1) {
		return false
	}
	axis := slices.IndexFunc(p.position[:], func(n int64) bool { return n != 0 })
	if axis < 0 {
		return false
	}
	sign := p.position[axis]
	if sign == -1 {
		op = map[string]string{"<": ">", ">": "<", "<=": ">=", ">=": "<="}[op] + map[string]string{"==": "==", "!=": "!="}[op]
	}
	extent := sign * p.extent[axis]
	p.position[axis], p.extent[axis] = 0, 0
	if sign*sign != 1 || p.position != [3]int64{} || p.extent != [3]int64{} || p.constant > 1<<20 || p.constant < -1<<20 {
		return false
	}
	at := -int(sign * p.constant) // position op at, or position - extent op at
	switch {
	case extent == 0 && op == "==" && at >= 0:
		e.single[axis] = append(e.single[axis], at)
	case extent == 0 && op == "<":
		e.width[axis] = max(e.width[axis], at)
	case extent == 0 && op == "<=":
		e.width[axis] = max(e.width[axis], at+1)
	case extent == -1 && op == "==" && at < 0:
		e.single[axis+3] = append(e.single[axis+3], -1-at)
	case extent == -1 && op == ">":
		e.width[axis+3] = max(e.width[axis+3], -1-at)
	case extent == -1 && op == ">=":
		e.width[axis+3] = max(e.width[axis+3], -at)
	default:
		return false
	}
	return true
}

// coordinate is a sum of coordinates, extents and a constant.
type coordinate struct {
	position, extent [3]int64
	constant         int64
}

// add adds a multiple of e.
func (p *coordinate) add(e Expr, times int64) bool {
	switch e := e.(type) {
	case Int:
		if e.Value > 1<<20 || e.Value < -1<<20 {
			return false
		}
		p.constant += times * e.Value
		return true
	case Var:
		switch e.Kind {
		case Position:
			p.position[e.Index] += times
			return true
		case Extent:
			p.extent[e.Index] += times
			return true
		}
	case Neg:
		return p.add(e.X, -times)
	case Binary:
		switch e.Op {
		case "+":
			return p.add(e.X, times) && p.add(e.Y, times)
		case "-":
			return p.add(e.X, times) && p.add(e.Y, -times)
		case "*":
			x, y := e.X, e.Y
			if _, ok := x.(Int); ok {
				x, y = y, x
			}
			n, ok := y.(Int)
			return ok && max(n.Value, -n.Value) <= 1<<20 && max(times*n.Value, -times*n.Value) <= 1<<20 && p.add(x, times*n.Value)
		}
	}
	return false
}

// Wide is a side of a fixed rule at which a field keeps more cells than it would if its stage set no other field.
type Wide struct {
	Field, Axis, Side int // Side 1 is the high one
	Cells, Alone      int // deep
}

// findWide finds them, from functions as they are written. Where all fields of a stage are fixed they keep the same
// cells, as in a loop over inner cells; and a field that is computed from its own cell alone follows the others.
func (s *Stencil) findWide() {
	for i := range s.Stages {
		st := &s.Stages[i]
		var all [2][3]int
		all[0], all[1] = s.reachOf(st.Body)
		for o, f := range st.Outputs {
			var own [2][3]int
			own[0], own[1] = s.reachOf(trimmed(st.returning(o), map[int]bool{}))
			if own == ([2][3]int{}) {
				continue
			}
			for axis := range s.Dims {
				for side := range 2 {
					fixed := func(f int) bool { return s.Fields[f].Rules[axis][side].Boundary == Fixed }
					all, own := all[side][axis], own[side][axis]
					if fixed(f) && all > own && slices.ContainsFunc(st.Outputs, func(f int) bool { return !fixed(f) }) {
						s.Wide = append(s.Wide, Wide{f, axis, side, all, own})
					}
				}
			}
		}
	}
}
