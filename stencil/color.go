package stencil

import (
	"fmt"
	"slices"
	"strings"
)

// maxModulus bounds the colours of a grid: more than any order of a stencil of 16 cells' reach asks for.
const maxModulus = 64

// Color is which cells a stage updates: those whose coordinates satisfy each part. The others keep their values.
type Color []Congruence

// Congruence is a sum of multiples of a cell's coordinates that leaves Rest when it is divided by Modulus.
type Congruence struct {
	Weights [3]int // of x, y, z: 0 .. Modulus-1, not all 0
	Modulus int    // from 2 on
	Rest    int    // 0 .. Modulus-1
}

// same tells whether cells so far apart have one colour.
func (c Color) same(apart Offset) bool {
	for _, part := range c {
		sum := 0
		for a, w := range part.Weights {
			sum += w * apart[a]
		}
		if sum%part.Modulus != 0 {
			return false
		}
	}
	return true
}

// String is the colour as a file has it.
func (c Color) String() string {
	var parts []string
	for _, part := range c {
		var terms []string
		for a, w := range part.Weights {
			switch {
			case w == 1:
				terms = append(terms, "xyz"[a:a+1])
			case w > 1:
				terms = append(terms, fmt.Sprintf("%d * %c", w, "xyz"[a]))
			}
		}
		sum := strings.Join(terms, " + ")
		if len(sum) > 1 {
			sum = "(" + sum + ")"
		}
		parts = append(parts, fmt.Sprintf("%s %% %d == %d", sum, part.Modulus, part.Rest))
	}
	return strings.Join(parts, " && ")
}

// others is the condition that a cell has another colour. A sum of coordinates is in int's range; of multiples each
// coordinate's own remainder is taken first. A comparison with 0 costs the least.
func (c Color) others(p *parser) Expr {
	op := func(name string, x, y Expr) Expr {
		e, wrong := operation(name, x, y)
		if wrong != "" {
			panic("stencil: " + string(wrong))
		}
		return e
	}
	var any Expr
	for _, part := range c {
		modulus := p.whole(int64(part.Modulus))
		var sum Expr
		for a, w := range part.Weights {
			var term Expr = Var{Position, a, Type(Int32)}
			if w > 1 {
				term = op("*", p.whole(int64(w)), op("%", term, modulus))
			}
			switch {
			case w == 0:
			case sum == nil:
				sum = term
			default:
				sum = op("+", sum, term)
			}
		}
		rest, compare := part.Rest, "!="
		if part.Modulus == 2 && rest == 1 {
			rest, compare = 0, "=="
		}
		other := op(compare, op("%", sum, modulus), p.whole(int64(rest)))
		if any == nil {
			any = other
		} else {
			any = op("||", any, other)
		}
	}
	return any
}

// colored is a Color of the file.
type colored struct {
	key, stage token
	at         int // of the condition's first token
}

// color passes [stage] condition and keeps its place: constants in it are known when all keys are.
func (p *parser) color(key token) error {
	c := colored{key: key}
	if t, next := p.peek(), p.after(); t.kind == tokName && axisOf(t) < 0 && (next.kind != tokPunct || next.text == "(") {
		c.stage = p.take()
	}
	c.at = p.at
	ends := func(t token) bool {
		return t.kind == tokEOF || t.text == "{" || t.text == "const" || t.text == "#define" || isLocalType(t) || t.kind == tokName && slices.Contains(keys, t.text)
	}
	if ends(p.peek()) {
		return p.fail(p.peek(), "want a condition here, like (x + y) %% 2 == 0, found %s", p.peek())
	}
	for !ends(p.peek()) {
		p.take()
	}
	if len(p.colors) > maxNames {
		return p.fail(key, "more than %d colours", maxNames)
	}
	p.colors = append(p.colors, c)
	return nil
}

// applyColors gives the stages their colours. A cell of another one keeps its values: as none reads a neighbour of its own
// colour, it is no matter whether that is done in place.
func (p *parser) applyColors() error {
	s := p.out
	for _, c := range p.colors {
		i := slices.IndexFunc(s.Stages, func(st Stage) bool { return st.Name == c.stage.text })
		switch {
		case i < 0 && c.stage.text != "":
			return p.fail(c.stage, "want the name of a stage here, found %s", c.stage)
		case i < 0:
			return p.fail(c.key, "the colour of which stage? write Color %.40s %s", s.Stages[0].Name, p.toks[c.at].text+" ...")
		case s.Stages[i].Color != nil:
			return p.fail(c.key, "the stage has a Color already; join the parts of one by &&")
		}
		p.at = c.at
		p.fn = &function{key: "Color", name: "Color", frame: &frame{}, scopes: []map[string]binding{p.constants}}
		e, err := p.expr()
		if err != nil {
			return err
		}
		st := &s.Stages[i]
		if err := p.congruences(p.toks[c.at], e, &st.Color); err != nil {
			return err
		}
		keep := Return{}
		for _, f := range st.Outputs {
			keep.Values = append(keep.Values, Get{f, Offset{}, s.elem()})
		}
		st.Body = slices.Insert(st.Body, 0, Stmt(If{Cond: st.Color.others(p), Then: []Stmt{keep}}))
	}
	return nil
}

// congruences takes the parts of a condition.
func (p *parser) congruences(at token, e Expr, c *Color) error {
	unlike := p.fail(at, "a Color is a sum of coordinates whose remainder is compared, like (x + y) %% 2 == 0 or (x + 2 * y) %% 4 == 3, or several of those joined by &&, like x %% 2 == 0 && y %% 2 == 1")
	b, ok := e.(Binary)
	if ok && b.Op == "&&" {
		if err := p.congruences(at, b.X, c); err != nil {
			return err
		}
		return p.congruences(at, b.Y, c)
	}
	sum, isSum := b.X.(Binary)
	rest, isRest := b.Y.(Int)
	if !ok || b.Op != "==" && b.Op != "!=" || !isSum || sum.Op != "%" || !isRest {
		return unlike
	}
	modulus, isModulus := sum.Y.(Int)
	var terms coordinate
	if !isModulus || !terms.add(sum.X, 1) || terms.extent != [3]int64{} {
		return unlike
	}
	n := modulus.Value
	switch {
	case n < 2 || n > maxModulus:
		return p.fail(at, "a grid has 2 to %d colours, not %d", maxModulus, n)
	case rest.Value < 0 || rest.Value >= n:
		return p.fail(at, "a remainder of %d is 0 to %d, not %d", n, n-1, rest.Value)
	case b.Op == "!=" && n > 2:
		return p.fail(at, "cells of %d colours at once are neighbours of each other; give each a stage, with ==", n-1)
	case b.Op == "!=":
		rest.Value = 1 - rest.Value
	}
	positive := func(v int64) int { return int((v%n + n) % n) }
	part := Congruence{Modulus: int(n), Rest: positive(rest.Value - terms.constant)}
	divisor := int(n)
	for a, w := range terms.position {
		if part.Weights[a] = positive(w); a >= p.out.Dims && part.Weights[a] != 0 {
			return p.fail(at, "there is no axis %c: NumDimensions is %d", "xyz"[a], p.out.Dims)
		}
		for v := part.Weights[a]; v != 0; {
			divisor, v = v, divisor%v
		}
	}
	if divisor == int(n) || part.Rest%divisor != 0 {
		return p.fail(at, "this holds for every cell or for none; choose other multiples of the coordinates")
	}
	*c = append(*c, part)
	return nil
}

// checkColors refuses stages of which cells read other cells of their own colour: in place, the answer would depend on the
// order in which cells change.
func (p *parser) checkColors() error {
	s := p.out
	for _, c := range p.colors {
		stage := max(0, slices.IndexFunc(s.Stages, func(st Stage) bool { return st.Name == c.stage.text }))
		st := &s.Stages[stage]
		field, at, meets := st.meets(func(field, axis, o int) []int {
			if !slices.ContainsFunc(st.Outputs, func(f int) bool { return s.Fields[f].Rules[axis][side(o)].Boundary != Fixed }) {
				return []int{o} // a cell that would read beyond the edge keeps all its values
			}
			return met(s.Fields[field].Rules[axis], o)
		})
		if !meets {
			continue
		}
		said := p.said(read{stage, field, at})
		at = said.at
		what := fmt.Sprintf("get(%s)", at.text(s.Dims))
		if name := s.Fields[field].Name; name != "" {
			what = fmt.Sprintf("get(%.40s, %s)", name, at.text(s.Dims))
		}
		where := p.gets[said]
		p.calls = where.calls
		return p.fail(where.at, "%s is a cell of the own colour, or by the boundary rule may stand for one: changed in place, the values would depend on the order of cells; use more colours, like (x + 2 * y) %% 4 == 0 to 3 for the nine points of a square, or leave out Color and set a second field", what)
	}
	return nil
}

// said is the get() of the file by which a stage reads a point: of that point, or of one further out, in whose place it is read where a
// short array has ended.
func (p *parser) said(point read) read {
	if _, is := p.gets[point]; is {
		return point
	}
	said, short := point, p.out.Fields[point.field].Short
	for g := range p.gets {
		stands := g.field == point.field && g.stage == point.stage
		for axis, o := range g.at {
			further := o - point.at[axis]
			stands = stands && (further == 0 || further > 0 && short[axis])
		}
		if stands && (said == point || compareOffsets(g.at, said.at) < 0) {
			said = g
		}
	}
	return said
}

// meets finds a point of a field that the stage sets, where another cell of its own colour may lie; away lists the
// distances on an axis at which the cell may be that a field's point stands for.
func (st *Stage) meets(away func(field, axis, o int) []int) (field int, at Offset, found bool) {
	for _, f := range st.Outputs {
		for _, o := range st.Points[f] {
			for _, x := range away(f, 0, o[0]) {
				for _, y := range away(f, 1, o[1]) {
					for _, z := range away(f, 2, o[2]) {
						if apart := (Offset{x, y, z}); apart != (Offset{}) && st.Color.same(apart) {
							return f, o, true
						}
					}
				}
			}
		}
	}
	return 0, Offset{}, false
}

// met lists how far away on an axis the cell may be that an offset of o leads to by the rules of an axis: o itself, and
// beyond an edge what the rule makes of it. Where the axis wraps that depends on its extent, see Seams.
func met(rules [2]Rule, o int) []int {
	list := []int{o}
	switch rules[side(o)].Boundary {
	case Clamp, Fixed, Edge: // the edge's cell, any distance nearer
		for d := o; d != 0; {
			d += 1 - 2*side(o)
			list = append(list, d)
		}
	case Mirror:
		list = append(list, 0) // where there is one cell
		for d := -max(o, -o); d <= max(o, -o); d += 2 {
			list = append(list, d)
		}
	}
	return list
}

// Seams names the axes across whose edges cells of one colour are neighbours, because the grid repeats there after a number of
// cells that is not one of its colours; "" without. In a half sweep they read each other's values from before it.
func (p Problem) Seams() string {
	s := p.Stencil
	var names []string
	for i := range s.Stages {
		st := &s.Stages[i]
		if st.Color == nil {
			continue
		}
		_, _, meets := st.meets(func(_, axis, o int) []int {
			n := p.Size[axis]
			if !s.Wraps(axis) {
				return []int{o}
			}
			near := ((o % n) + n) % n // of the two cells that far apart, one lies beyond the edge
			return []int{near, near - n}[:min(2, 1+near)]
		})
		for axis := range s.Dims {
			var around Offset
			around[axis] = p.Size[axis]
			if name := "xyz"[axis : axis+1]; meets && s.Wraps(axis) && !st.Color.same(around) && !slices.Contains(names, name) {
				names = append(names, name)
			}
		}
	}
	slices.Sort(names)
	return strings.Join(names, ", ")
}
