package stencil

import (
	"fmt"
	"math"
	"slices"
	"strings"
)

// outside is what one key says of what lies outside: Boundary for all axes or one, of all arrays or one, or EdgeValue.
type outside struct {
	key    token
	array  token      // whose; no text = of all
	axis   int        // -1 = all
	side   int        // -1 = both
	rules  [][2]entry // one for all axes, or one for each
	listed bool       // there is one for each
	body   []Stmt     // EdgeValue's
}

// entry is a rule and where it stands.
type entry struct {
	Rule
	at token
}

// rank orders what is said: the more it is particular, the later it comes.
func (o outside) rank() (n int) {
	for i, is := range []bool{o.side >= 0, o.axis >= 0, o.array.text != ""} {
		if is {
			n |= 1 << i
		}
	}
	return n
}

// axisOf gives the axis of that name, -1 for none.
func axisOf(t token) int {
	if t.kind == tokName && len(t.text) == 1 {
		return strings.Index("xyz", t.text)
	}
	return -1
}

var ruleNames = []Boundary{Clamp, Mirror, Wrap, Constant, Fixed}

func isRule(t token) bool {
	return t.kind == tokName && slices.Contains(ruleNames, Boundary(t.text))
}

// boundary parses [array] [axis] (rule | "(" rule, rule ")"): with an axis the rules are of its low and its high side, else
// there is one for each axis, which may be two in parentheses.
func (p *parser) boundary(key token) (err error) {
	o := outside{key: p.peek(), axis: -1, side: -1}
	if t, next := p.peek(), p.after(); t.kind == tokName && !isRule(t) && axisOf(t) < 0 && (isRule(next) || axisOf(next) >= 0 || next.text == "(") {
		o.array = p.take()
	}
	if o.axis = axisOf(p.peek()); o.axis >= 0 {
		p.take()
	}
	if o.axis < 0 && p.is("(") {
		err = p.list(func(int) error {
			sides, err := p.sides()
			o.rules = append(o.rules, sides)
			return err
		})
		o.listed = true
	} else {
		var sides [2]entry
		sides, err = p.sides()
		o.rules = [][2]entry{sides}
	}
	if len(p.outside) > 6*maxNames {
		return p.fail(key, "more than %d rules", 6*maxNames)
	}
	p.outside = append(p.outside, o)
	return err
}

// sides parses a rule, or (rule of the low side, of the high one).
func (p *parser) sides() (e [2]entry, err error) {
	if !p.is("(") {
		e[0], err = p.rule()
		e[1] = e[0]
		return e, err
	}
	open, n := p.peek(), 0
	err = p.list(func(i int) error {
		if n = i + 1; n > 2 {
			return p.fail(open, "an axis has a low and a high side: (fixed, clamp)")
		}
		e[i], err = p.rule()
		return err
	})
	if err == nil && n < 2 {
		err = p.fail(open, "want the rules of the low and of the high side: (fixed, clamp)")
	}
	return e, err
}

func (p *parser) rule() (e entry, err error) {
	t := p.take()
	e = entry{Rule{Boundary: Boundary(t.text)}, t}
	switch {
	case !isRule(t):
		return e, p.unknownRule(t)
	case e.Boundary == Constant && p.peek().kind != tokNumber && !p.is("-"):
		more := ""
		switch {
		case p.is("("):
			more = "; each side has a rule of its own: (constant 0, constant 1)"
		case p.peek().kind == tokName && p.peek().line == t.line:
			more = fmt.Sprintf("; what is no number is an EdgeValue, like EdgeValue x low { return %.40s; }", p.peek().text)
		}
		return e, p.fail(p.peek(), "want the number outside here, like constant 0, found %s%s", p.peek(), more)
	case e.Boundary == Constant:
		e.Constant, err = p.literal()
	}
	return e, err
}

// edgeValue parses [field] [axis [low | high]] and the function.
func (p *parser) edgeValue(key token) (err error) {
	o := outside{key: key, axis: -1, side: -1}
	if t := p.peek(); t.kind == tokName && axisOf(t) < 0 {
		p.take()
		if o.array = t; p.field(t) < 0 {
			return p.fail(t, "want the name of a field here, found %s; a side is low or high of an axis: EdgeValue x low { ... }", t)
		}
	}
	if o.axis = axisOf(p.peek()); o.axis >= 0 {
		p.take()
		if o.side = slices.Index([]string{"low", "high"}, p.peek().text); o.side >= 0 {
			p.take()
		}
		p.fn.locals = p.edgeLocals // another function may stand beside it
	}
	p.fn.results = []Type{p.out.elem()}
	o.body, err = p.wholeBody()
	if o.axis >= 0 {
		p.edgeLocals = p.fn.locals
	}
	o.rules = [][2]entry{{{Rule{Boundary: Edge}, key}, {Rule{Boundary: Edge}, key}}}
	p.outside = append(p.outside, o)
	return err
}

// rules gives each array its rules, from the general to the particular, and each field its EdgeValue.
func (p *parser) rules() error {
	s := p.out
	slices.SortStableFunc(p.outside, func(a, b outside) int { return a.rank() - b.rank() })
	for _, o := range p.outside {
		if err := p.checkOutside(o); err != nil {
			return err
		}
	}
	var wraps [3]*outside
	for i, a := range s.arrays() {
		var from [3][2]*outside // what each side's rule was said by
		for k := range p.outside {
			o := &p.outside[k]
			if o.array.text != "" && o.array.text != a.Name || i >= len(s.Fields) && o.body != nil {
				continue
			}
			if err := p.apply(o, a, &from, i >= len(s.Fields)); err != nil {
				return err
			}
		}
		if err := p.edges(a, &from); err != nil {
			return err
		}
		if i < len(s.Fields) {
			p.ends = append(p.ends, [3][]Stmt{})
			for axis := range p.ends[i] {
				if o := from[axis][1]; o != nil {
					p.ends[i][axis] = o.body
				}
			}
		}
		for axis := range s.Dims {
			if o := from[axis][0]; a.Rules[axis][0].Boundary == Wrap {
				wraps[axis] = o
			} else if o := from[axis][1]; a.Rules[axis][1].Boundary == Wrap {
				wraps[axis] = o
			}
		}
	}
	for axis, o := range wraps {
		for i, a := range s.arrays() {
			if o == nil || a.Rules[axis] == [2]Rule{{Boundary: Wrap}, {Boundary: Wrap}} {
				continue
			}
			if i >= len(s.Fields) && !slices.ContainsFunc(p.outside, func(o outside) bool { return o.array.text == a.Name }) {
				a.Rules[axis] = s.Fields[0].Rules[axis]
				continue
			}
			name := a.Name
			if name == "" {
				name = "the field"
			}
			return p.fail(o.key, "axis %c wraps on both sides and for all arrays, or not at all: %.40s has another rule there", "xyz"[axis], name)
		}
	}
	return nil
}

// checkOutside checks what one key says by itself.
func (p *parser) checkOutside(o outside) error {
	s := p.out
	if o.array.text != "" && !slices.ContainsFunc(s.arrays(), func(a *Array) bool { return a.Name == o.array.text }) {
		if otherRules[strings.ToLower(o.array.text)] != "" {
			return p.unknownRule(o.array)
		}
		return p.fail(o.array, "want the name of a field or a read-only array here, found %s", o.array)
	}
	if o.axis >= s.Dims {
		return p.fail(o.key, "there is no axis %c: NumDimensions is %d", "xyz"[o.axis], s.Dims)
	}
	if o.listed && s.Dims == 1 && len(o.rules) == 2 {
		return p.fail(o.key, "two rules, and one axis; of its low and its high side they are Boundary x (%s, %s)", o.rules[0][0].Rule, o.rules[1][0].Rule)
	}
	if o.listed && len(o.rules) != s.Dims {
		return p.fail(o.key, "%d rules, NumDimensions says %d: give one for each axis", len(o.rules), s.Dims)
	}
	for _, sides := range o.rules {
		for _, e := range sides {
			if v := e.Constant; !s.DType.Floating() && s.DType.Round(v) != v {
				return p.fail(e.at, "%v is no %s", v, s.DType)
			} else if !s.DType.Floating() && math.Abs(v) >= maxWhole {
				return p.fail(e.at, "a rule's number is less than 2^53; write a larger one as EdgeValue { return ...; }")
			}
		}
	}
	return nil
}

// saidOutside is where the file gives an array's rule beyond a side.
func (p *parser) saidOutside(array string, axis, side int) (at token) {
	for _, o := range p.outside { // from what is said of all to what is said of one
		if len(o.rules) > 0 && (o.array.text == "" || o.array.text == array) && (o.axis < 0 || o.axis == axis) && (o.side < 0 || o.side == side) {
			at = o.rules[min(axis, len(o.rules)-1)][side].at
		}
	}
	return at
}

// apply sets the sides of an array of which o speaks.
func (p *parser) apply(o *outside, a *Array, from *[3][2]*outside, readOnly bool) error {
	for axis := range 3 {
		if o.axis >= 0 && axis != o.axis {
			continue
		}
		for side := range 2 {
			if o.side >= 0 && side != o.side {
				continue
			}
			e := o.rules[min(axis, len(o.rules)-1)][side]
			if before := from[axis][side]; before != nil && before.rank() == o.rank() {
				switch {
				case (before.body == nil) != (o.body == nil):
					later := o.key
					if k := before.key; k.line > later.line || k.line == later.line && k.col > later.col {
						later = k
					}
					return p.fail(later, "Boundary and EdgeValue both say what lies outside; remove one")
				case o.body != nil:
					return p.fail(o.key, "EdgeValue is given twice; remove one")
				}
				return p.fail(o.key, "Boundary is given twice; remove one, or say of which axis (Boundary x wrap) or field each is")
			}
			if readOnly && o.array.text != "" && e.Rule.readOnly() != e.Rule {
				return p.fail(e.at, "a read-only array's rule is clamp, mirror or wrap: beyond its edge it is a cell of its own")
			}
			from[axis][side], a.Rules[axis][side] = o, e.Rule
			a.sides[axis][side] = o.body != nil && o.side >= 0 && (o.array.text != "" || len(p.out.Fields) == 1)
			if readOnly || a.Temporary && e.Boundary == Fixed && o.array.text == "" { // which has nothing to keep
				a.Rules[axis][side] = e.Rule.readOnly()
			}
		}
	}
	return nil
}

// EdgeNames tells whether the EdgeValue of a field's side names both: it is none of an axis, of all sides or of all fields.
func (a *Array) EdgeNames(axis, side int) bool { return a.sides[axis][side] }

// edges gives a field its EdgeValue, which asks which side it is where several functions say that, and clamp where nothing
// is said.
func (p *parser) edges(a *Array, from *[3][2]*outside) error {
	var body []Stmt
	var last *outside
	for axis := 2; axis >= 0; axis-- {
		for side := 1; side >= 0; side-- {
			o := from[axis][side]
			switch {
			case o == nil:
				a.Rules[axis][side] = Rule{Boundary: Clamp}
			case o.body == nil || o == last:
			case body == nil:
				body, last = o.body, o
			default:
				at := Var{Position, axis, Type(Int32)}
				test := Binary{"<", at, Int{0, Type(Int32)}, Bool}
				if side == 1 {
					end := Expr(Var{Extent, axis, Type(Int32)})
					if a.Short[axis] { // it ends a cell earlier
						end = Binary{"-", end, Int{1, Type(Int32)}, Type(Int32)}
					}
					test = Binary{">=", at, end, Bool}
				}
				body, last = []Stmt{If{test, o.body, body}}, nil
			}
		}
	}
	a.Edge = body
	return nil
}
