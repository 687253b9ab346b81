package stencil

// inGrid is a stage's function without the questions that every cell of a grid answers alike: with 0 <= x < nx x + 1 is not
// below 0, and x - 1 is below nx. (What neighbours share is computed beyond the grid, too: such a stencil keeps them.)
func (s *Stencil) inGrid(stage int) []Stmt {
	body := s.Stages[stage].Body
	asks := false
	walkBody(body, func(e Expr) {
		v, ok := e.(Var)
		asks = asks || ok && v.Kind == Position
	})
	if !asks || s.Of != nil {
		return body
	}
	return withoutDecided(replaceBody(body, func(e Expr) Expr {
		switch e := e.(type) {
		case Binary:
			if e.Op == "&&" || e.Op == "||" {
				return joinedBy(e)
			}
			if holds, known := everywhere(e); known {
				return truth(holds)
			}
		case Not:
			if holds, known := decided(e.X); known {
				return truth(!holds)
			}
		case Cond:
			if holds, known := decided(e.If); known && holds {
				return e.Then
			} else if known {
				return e.Else
			}
		}
		return e
	}))
}

// withoutDecided is a block without branches whose condition is known.
func withoutDecided(body []Stmt) (out []Stmt) {
	for _, st := range body {
		branch, ok := st.(If)
		if !ok {
			out = append(out, st)
			continue
		}
		branch.Then, branch.Else = withoutDecided(branch.Then), withoutDecided(branch.Else)
		holds, known := decided(branch.Cond)
		switch {
		case known && holds && !declares(branch.Then):
			out = append(out, branch.Then...)
		case known && !holds && !declares(branch.Else):
			out = append(out, branch.Else...)
		default:
			out = append(out, branch)
		}
		if returns(out) {
			break
		}
	}
	return out
}

// declares tells whether a block has locals of its own.
func declares(body []Stmt) (yes bool) {
	for _, st := range body {
		l, ok := st.(Let)
		yes = yes || ok && l.Declare
	}
	return yes
}

// decided tells what is known of a condition.
func decided(e Expr) (holds, known bool) {
	if m, ok := e.(mark); ok {
		e = m.X
	}
	i, ok := e.(Int)
	return ok && i.Value != 0, ok && i.Type == Bool
}

// joinedBy is && or || of what is left.
func joinedBy(e Binary) Expr {
	for _, side := range []struct{ e, other Expr }{{e.X, e.Y}, {e.Y, e.X}} {
		if holds, known := decided(side.e); known && holds == (e.Op == "&&") {
			return side.other
		} else if known {
			return truth(holds)
		}
	}
	return e
}

// axisSum is a coordinate or an extent of an axis, and what is added to it.
type axisSum struct {
	kind  VarKind // Position or Extent; another for a number
	axis  int
	added int64
}

const nowhere = VarKind(-1)

// axisSumOf reads one.
func axisSumOf(e Expr) (p axisSum, ok bool) {
	switch e := e.(type) {
	case Int:
		return axisSum{kind: nowhere, added: e.Value}, true
	case Var:
		return axisSum{kind: e.Kind, axis: e.Index}, e.Kind == Position || e.Kind == Extent
	case Neg:
		i, is := e.X.(Int)
		return axisSum{kind: nowhere, added: -i.Value}, is
	case Binary:
		x, okX := axisSumOf(e.X)
		y, okY := axisSumOf(e.Y)
		switch {
		case !okX || !okY:
		case e.Op == "+" && y.kind == nowhere:
			return axisSum{x.kind, x.axis, x.added + y.added}, true
		case e.Op == "+" && x.kind == nowhere:
			return axisSum{y.kind, y.axis, x.added + y.added}, true
		case e.Op == "-" && y.kind == nowhere:
			return axisSum{x.kind, x.axis, x.added - y.added}, true
		}
	}
	return axisSum{}, false
}

// opposite are comparisons as they read from the other side.
var opposite = map[string]string{"<": ">", ">": "<", "<=": ">=", ">=": "<=", "==": "==", "!=": "!="}

// everywhere tells whether a comparison of a coordinate holds at every cell of every grid, or at none, if either is so.
func everywhere(e Binary) (holds, known bool) {
	op, is := opposite[e.Op]
	x, okX := axisSumOf(e.X)
	y, okY := axisSumOf(e.Y)
	const far = 1 << 20 // no sum of these wraps
	if !is || !okX || !okY || max(x.added, y.added) > far || min(x.added, y.added) < -far || !e.X.typ().signed() {
		return false, false
	}
	if x.kind == Position {
		op = e.Op
	} else {
		x, y = y, x
	}
	if x.kind != Position || y.kind == Position || y.kind == Extent && x.axis != y.axis {
		return false, false
	}
	least := x.added >= y.added    // x + a >= b for all x >= 0
	beyond := x.added > y.added    // x + a > b
	below := x.added <= y.added    // x + a < n + b for all x < n
	atMost := x.added <= y.added+1 // x + a <= n + b
	if y.kind == Extent {
		switch op {
		case "<", "!=":
			return true, below
		case ">=", "==":
			return false, below
		case "<=":
			return true, atMost
		case ">":
			return false, atMost
		}
	}
	switch op {
	case "<":
		return false, least
	case ">=":
		return true, least
	case "<=", "==":
		return false, beyond
	case ">", "!=":
		return true, beyond
	}
	return false, false
}
