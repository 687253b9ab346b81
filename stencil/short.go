package stencil

import "slices"

// Short arrays end one cell before the grid does, along some axes: those of a staggered grid that lie between its points. All
// arrays have the grid's extents in memory; the last layer of a short one is no part of it.
//
// Kernels know nothing of that. This file makes conditions of it: a point beyond such an end becomes what the rule puts
// there, and a cell in the layer that a field lacks keeps its value. The reference computes the file's own functions
// instead (Stencil.native), so that each check compares the two.

// shortened is an entry of Short.
type shortened struct {
	array token
	axes  []token
}

// short parses (array axis {axis}, ...). Which arrays there are is known when all keys are.
func (p *parser) short(token) error {
	return p.list(func(int) error {
		e := shortened{array: p.take()}
		for axisOf(p.peek()) >= 0 {
			e.axes = append(e.axes, p.take())
		}
		p.shorts = append(p.shorts, e)
		if len(e.axes) == 0 {
			return p.fail(p.peek(), "want the axes on which %.40s ends one cell before the grid here, like Short (%.40s x), found %s", e.array.text, e.array.text, p.peek())
		}
		return nil
	})
}

// applyShort gives the arrays their extents.
func (p *parser) applyShort() error {
	s := p.out
	for _, e := range p.shorts {
		i := slices.IndexFunc(s.arrays(), func(a *Array) bool { return a.Name == e.array.text && a.Name != "" })
		if i < 0 {
			return p.fail(e.array, "want the name of a field or a read-only array here, found %s", e.array)
		}
		a := s.arrays()[i]
		for _, t := range e.axes {
			axis := axisOf(t)
			switch {
			case axis >= s.Dims:
				return p.fail(t, "there is no axis %c: NumDimensions is %d", "xyz"[axis], s.Dims)
			case a.Axis > 0 && a.Axis != axis+1:
				return p.fail(t, "%.40s lies along %c alone", a.Name, "xyz"[a.Axis-1])
			case a.Short[axis]:
				return p.fail(t, "%.40s is short on %c already; remove one", a.Name, "xyz"[axis])
			}
			a.Short[axis] = true
		}
	}
	for axis := range s.Dims {
		if len(p.shorts) > 0 && !slices.ContainsFunc(s.Fields, func(f Array) bool { return !f.Short[axis] }) {
			return p.fail(p.seen["Short"], "every field is short on %c; leave that out, and the grid has a cell less there", "xyz"[axis])
		}
	}
	return nil
}

// Least is the smallest extents of a grid: each array has a cell, and one that is short and mirrored at its low end all cells
// whose images are read there.
func (s *Stencil) Least() Size {
	least := Size{1, 1, 1}
	arrays := s.arrays()
	read := func(array int, at Offset) {
		a := arrays[array]
		for axis, short := range a.Short {
			if short && a.Rules[axis][0].Boundary == Mirror {
				least[axis] = max(least[axis], 2-at[axis])
			}
		}
	}
	for i, a := range arrays {
		for axis, short := range a.Short {
			if short {
				least[axis] = max(least[axis], 2)
			}
		}
		if a.Axis > 0 {
			var at Offset
			at[a.Axis-1] = -a.back
			read(i, at)
		}
	}
	for _, body := range s.bodies() {
		walkBody(body, func(e Expr) {
			switch e := e.(type) {
			case Get:
				read(e.Field, e.At)
			case Read:
				read(len(s.Fields)+e.Array, e.At)
			}
		})
	}
	return least
}

// checkShort refuses rules that make no sense at an end of a short array's own, or that no condition says.
func (p *parser) checkShort() error {
	s := p.out
	for i, a := range s.arrays() {
		for axis, short := range a.Short {
			if !short {
				continue
			}
			at := p.shortOf(a.Name)
			switch by := a.Rules[axis][1].Boundary; {
			case by == Wrap:
				return p.fail(at, "axis %c wraps, where arrays have as many cells between the points as points; remove %.40s from Short", "xyz"[axis], a.Name)
			case by == Mirror:
				return p.fail(at, "%.40s is short on %c, where a mirror at its last cell is none at the grid's; use clamp there, which mirrors between two cells: Boundary %.40s %c (%s, clamp)",
					a.Name, "xyz"[axis], a.Name, "xyz"[axis], a.Rules[axis][0])
			case by == Edge && i < len(s.Fields) && !simpleEdge(p.ends[i][axis]):
				return p.fail(at, "what lies beyond an end of %.40s's own is one expression of value, scalars and numbers: EdgeValue %.40s %c high { return -value; }; write others as conditions in CellValue",
					a.Name, a.Name, "xyz"[axis])
			}
		}
	}
	return nil
}

// shortOf is where the file says that an array is short.
func (p *parser) shortOf(array string) token {
	for _, e := range p.shorts {
		if e.array.text == array {
			return e.array
		}
	}
	return p.seen["Short"]
}

// simpleEdge tells whether an EdgeValue is an expression that is the same wherever it is asked.
func simpleEdge(body []Stmt) bool {
	if len(body) != 1 {
		return false
	}
	_, is := body[0].(Return)
	walkBody(body, func(e Expr) {
		if v, ok := e.(Var); ok && v.Kind == Position {
			is = false
		}
	})
	return is
}

// maxLowered bounds what conditions are made of, in expressions: it is text for compilers.
const maxLowered = 20000

// lowering makes conditions of what short arrays lack.
type lowering struct {
	p      *parser
	from   [3]int // cells nearer to an axis's high end than so many are never computed
	corner string // the array of a point for which that cannot be done
	moved  string // the last array of which another cell is read in place of one that it lacks
	made   int    // expressions
}

// lower gives every function its conditions, and keeps what the file says for the reference.
func (p *parser) lower() error {
	s := p.out
	if len(p.shorts) == 0 {
		return nil
	}
	l := lowering{p: p}
	for i := range s.Stages {
		st := &s.Stages[i]
		p.written, l.moved = append(p.written, st.Body), ""
		_, st.ends = s.reachOf(st.Body)
		from := make([][3]int, len(st.Outputs)) // of each output
		shared := [3]int{maxRadius + 1, maxRadius + 1, maxRadius + 1}
		for o, f := range st.Outputs {
			for axis := range from[o] {
				switch a := s.Fields[f]; {
				case a.Rules[axis][1].Boundary == Fixed: // of which nothing outside is read
					from[o][axis] = maxRadius + 1
				case a.Short[axis]:
					from[o][axis] = 1
				}
				shared[axis] = min(shared[axis], from[o][axis])
			}
		}
		st.Body = l.body(st.Body, shared, func(o int, v Expr) Expr {
			l.from = from[o]
			return s.held(st, st.Outputs[o], l.expr(v))
		})
		if err := p.lowKept(st, p.written[i], l.moved); err != nil {
			return err
		}
	}
	for i := range s.StepScalars {
		a := &s.StepScalars[i]
		p.written = append(p.written, a.Body)
		if err := p.counted("StepScalar "+a.Name, a.Body); err != nil {
			return err
		}
		a.Body = l.body(a.Body, [3]int{}, nil)
	}
	for i := range s.Sparse {
		a := &s.Sparse[i]
		p.written = append(p.written, a.Body)
		if !a.Sources() {
			a.Body = l.body(a.Body, [3]int{}, nil)
			continue
		}
		var from [3]int
		for axis, short := range s.Fields[a.Field].Short {
			if short { // no source acts where the field has no cell
				from[axis] = 1
			}
		}
		l.moved = ""
		a.Body = l.body(a.Body, from, func(_ int, v Expr) Expr { l.from = from; return s.held(nil, a.Field, l.expr(v)) })
		if l.moved != "" {
			return p.fail(p.seen["Short"], "sources %.40s read %.40s where it has no cell, for which a rule puts the one beside, where other sources may act; read arrays there that are as long as %.40s", a.Name, l.moved, s.Fields[a.Field].Name)
		}
	}
	if s.Reduce != nil {
		if err := p.counted("Reduce", s.Reduce.Body); err != nil {
			return err
		}
		s.Reduce.Body = l.body(s.Reduce.Body, [3]int{}, nil)
	}
	if l.made > maxLowered {
		return p.fail(p.seen["Short"], "the ends of short arrays take more than %d operations where get() may read beyond them; read less far, or give these arrays a rule constant or fixed", maxLowered)
	}
	if l.corner != "" {
		return p.fail(p.seen["Short"], "a get() of %.40s leads beyond two axes at once, which have values of their own there; give one of them a rule that names a cell, or the same number to both", l.corner)
	}
	return nil
}

// lowKept refuses conditions that read further towards a low end than the file does, where fixed holds as many cells there as are read: for
// kernels that is one reach.
func (p *parser) lowKept(st *Stage, written []Stmt, array string) error {
	s := p.out
	reads, _ := s.readReach(written, false)
	made, _ := s.readReach(st.Body, false)
	for axis := range s.Dims {
		for _, f := range st.Outputs {
			if a := s.Fields[f]; made[axis] > reads[axis] && a.Rules[axis][0].Boundary == Fixed {
				return p.fail(p.shortOf(array), "%.40s keeps as many cells at the low end of %c as are read beyond it, which are %d, but at the high end a cell nearer is read in place of the one that %.40s lacks; hold %[1]s by a condition on %[2]c in place of fixed, or give %[4]s the rule constant at its high end",
					a.Name, "xyz"[axis], reads[axis], array)
			}
		}
	}
	return nil
}

// unlower puts the file's own functions back in their places: what follows from the others is known.
func (p *parser) unlower() {
	s, next := p.out, 0
	if len(p.written) == 0 {
		return
	}
	s.native = true
	take := func(body *[]Stmt) { *body, next = p.written[next], next+1 }
	for i := range s.Stages {
		take(&s.Stages[i].Body)
	}
	for i := range s.StepScalars {
		take(&s.StepScalars[i].Body)
	}
	for i := range s.Sparse {
		take(&s.Sparse[i].Body)
	}
	s.indexProfiles() // as those in whose place they are were
}

// reachOf is how far a body reads towards the ends, as if short arrays were whole and all that they hold a cell further towards the high ones.
func (s *Stencil) reachOf(body []Stmt) (low, high [3]int) { return s.readReach(body, true) }

// readReach is how far a body reads towards the ends, and of short arrays beyond the high ones if that is asked.
func (s *Stencil) readReach(body []Stmt, beyond bool) (low, high [3]int) {
	add := func(a Array, at Offset) {
		reach(&low, &high, at)
		for axis, short := range a.Short {
			if short && beyond {
				at[axis]++
			}
		}
		reach(&low, &high, at)
	}
	walkBody(body, func(e Expr) {
		switch e := e.(type) {
		case Get:
			add(s.Fields[e.Field], e.At)
		case Read:
			add(s.ReadOnly[e.Array], e.At)
		}
	})
	for axis := range high {
		if s.Mirrors(axis) {
			high[axis] = max(high[axis], low[axis])
			low[axis] = high[axis]
		}
	}
	return low, high
}

// counted refuses a number of all cells that counts cells which an array lacks, unless it asks where they lie.
func (p *parser) counted(what string, body []Stmt) (err error) {
	s := p.out
	var asked [3]bool
	walkBody(body, func(e Expr) {
		if v, ok := e.(Var); ok && v.Kind == Position {
			asked[v.Index] = true
		}
	})
	walkBody(body, func(e Expr) {
		var a Array
		switch e := e.(type) {
		case Get:
			if a = s.Fields[e.Field]; e.At != (Offset{}) {
				return
			}
		case Read:
			if a = s.ReadOnly[e.Array]; e.At != (Offset{}) {
				return
			}
		case Var:
			if e.Kind != Updated {
				return
			}
			a = s.Fields[e.Index]
		default:
			return
		}
		for axis, short := range a.Short {
			if short && !asked[axis] {
				err = p.fail(p.seen["Short"], "%.60s looks at all cells of the grid, of which %.40s lacks the last on %c; say what they count, like %[3]c < input_size.%[3]c - 1 ? ... : 0", what, a.Name, "xyz"[axis])
			}
		}
	})
	return err
}

// highEnd tells whether the own cell is one of the last n on an axis.
func highEnd(axis, n int) Expr { return Var{HighEnd, axis + 3*n, Bool} }

// asksEnd tells whether a condition asks for ends of short arrays, and nothing else.
func asksEnd(e Expr) bool {
	switch e := e.(type) {
	case Var:
		return e.Kind == HighEnd
	case Binary:
		return e.Op == "||" && asksEnd(e.X) && asksEnd(e.Y)
	}
	return false
}

// Asks tells of how many cells at the high end of each axis a stage's function asks whether the own one is among them, for short
// arrays; for a step of fused stages, the most of them.
func (s *Stencil) Asks(stage int) (most [3]int) {
	stages := s.Stages[stage : stage+1]
	if s.Of != nil {
		stages = s.Of.Stages
	}
	for i := range stages {
		walkBody(stages[i].Body, func(e Expr) {
			if v, is := e.(Var); is && v.Kind == HighEnd {
				most[v.Index%3] = max(most[v.Index%3], v.Index/3)
			}
		})
	}
	return most
}

// HasEnds tells whether a stage's function asks so.
func (s *Stencil) HasEnds() bool {
	for i := range s.Stages {
		if s.Asks(i) != [3]int{} {
			return true
		}
	}
	return false
}

// held is a field's new value v where a cell of it does not keep the old one: the reference's rule is in run.keeps.
func (s *Stencil) held(st *Stage, field int, v Expr) Expr {
	f := s.Fields[field]
	var keeps Expr
	for axis := range s.Dims {
		n := 0
		if f.Short[axis] && !f.Temporary {
			n = 1
		}
		if st != nil && f.Rules[axis][1].Boundary == Fixed {
			n = max(n, st.ends[axis])
		}
		switch {
		case n == 0:
		case keeps == nil:
			keeps = highEnd(axis, n)
		default:
			keeps = Binary{"||", keeps, highEnd(axis, n), Bool}
		}
	}
	if keeps == nil {
		return v
	}
	return Cond{keeps, Get{field, Offset{}, s.elem()}, v}
}

// body is a block; what it returns is the business of result, if that is given.
func (l *lowering) body(body []Stmt, from [3]int, result func(o int, v Expr) Expr) (out []Stmt) {
	for _, st := range body {
		switch x := st.(type) {
		case Let:
			l.from = from
			x.Value = l.expr(x.Value)
			st = x
		case Return:
			var values []Expr
			for o, v := range x.Values {
				l.from = from
				if result != nil {
					v = result(o, v)
				} else {
					v = l.expr(v)
				}
				values = append(values, v)
			}
			st = Return{values}
		case If:
			l.from = from
			st = If{l.expr(x.Cond), l.body(x.Then, from, result), l.body(x.Else, from, result)}
		}
		out = append(out, st)
	}
	return out
}

func (l *lowering) expr(e Expr) Expr {
	s := l.p.out
	return replace(e, func(e Expr) Expr {
		switch x := e.(type) {
		case Get:
			return l.point(x.Field, x.At, 0, func(o Offset) Expr { x.At = o; return x })
		case Read:
			return l.point(len(s.Fields)+x.Array, x.At, 0, func(o Offset) Expr { x.At = o; return x })
		}
		return e
	})
}

// point is an array's value at an offset, from an axis on.
func (l *lowering) point(array int, o Offset, axis int, read func(Offset) Expr) Expr {
	a := l.p.out.arrays()[array]
	for ; axis < 3; axis++ {
		if a.Short[axis] && o[axis] >= l.from[axis] {
			break
		}
	}
	if l.made++; axis == 3 || l.made > maxLowered || l.corner != "" {
		return read(o)
	}
	rule := a.Rules[axis][1]
	if rule.valued() {
		l.corners(a, o, axis)
	}
	value := l.point(array, o, axis+1, read)
	if rule.Boundary == Constant {
		return Cond{highEnd(axis, o[axis]+1), convert(Num{rule.Constant, Elem}, value.typ()), value}
	}
	for back := o[axis]; back >= l.from[axis]; back-- { // cells counted from the high end: from each, the last one lies elsewhere
		nearest := o
		nearest[axis] = back - 1
		l.moved = a.Name
		beyond := l.point(array, nearest, axis+1, read)
		if rule.Boundary == Edge {
			near, size := beyond, 0
			walk(near, func(Expr) { size++ })
			beyond = replace(l.p.ends[array][axis][0].(Return).Values[0], func(e Expr) Expr {
				l.made++
				if v, is := e.(Var); is && v.Kind == Nearest && l.made <= maxLowered {
					l.made += size
					return near
				}
				return e
			})
		}
		value = Cond{highEnd(axis, back+1), beyond, value}
	}
	return value
}

// corners finds a point that may lie beyond another axis as well where one condition does not say what it is worth.
func (l *lowering) corners(a *Array, o Offset, axis int) {
	for other, at := range o {
		if other == axis || at == 0 && !(a.Short[other] && l.from[other] == 0) {
			continue
		}
		here, there := a.Rules[axis][1], a.Rules[other][side(at)]
		numbers := here.Boundary == Constant && there.Boundary == Constant
		if there.valued() && !(numbers && (here == there || axis < other || a.Short[other] && side(at) == 1)) {
			l.corner = a.Name
		}
	}
}
