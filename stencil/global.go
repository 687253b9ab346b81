package stencil

import (
	"fmt"
	"math"
	"slices"
)

// This file reads what stands outside of blocks: constants, and functions that cell functions call.

// helper is a function of the file. It is expanded where it is called: nothing after the parser knows of it.
type helper struct {
	name   token
	result Type
	params []param
	body   int // its first token
	caller token
}

// param is a parameter of a helper.
type param struct {
	name    string
	typ     Type
	array   bool
	extents []int // of an array; -1 for any
	set     bool  // the body sets it
}

// isLocalType tells whether a declaration in a function begins here.
func isLocalType(t token) bool { return isTypeWord(t) || t.kind == tokName && t.text == "bool" }

// localType parses the type of a variable.
func (p *parser) localType() (Type, error) {
	first := p.peek()
	if first.text == "bool" {
		p.take()
		return Bool, nil
	}
	d, err := p.typeName()
	if err != nil {
		return "", err
	}
	return p.cellType(first, d)
}

// skipGlobal passes a constant or a function and keeps its place: types and names are known when all keys are.
func (p *parser) skipGlobal(key token) error {
	b := block{key: key, at: p.at - 1}
	p.globals = append(p.globals, b)
	if len(p.globals) > 3*maxNames {
		return p.fail(key, "more than %d constants and functions", 3*maxNames)
	}
	if key.text == "#define" {
		for p.peek().line == key.line && p.peek().kind != tokEOF {
			p.take()
		}
		return nil
	}
	for key.text != "const" && p.peek().kind == tokName {
		p.take()
	}
	if key.text != "const" && p.is("(") {
		for !p.is("{") {
			if t := p.take(); t.kind == tokEOF || t.text == ";" {
				return p.fail(t, `want "{" here, found %s; a function stands once, with its body`, t)
			}
		}
		return p.skipBraces()
	}
	if key.text != "const" {
		return p.fail(key, "a variable outside of blocks is a constant; write const %.40s", key.text)
	}
	for !p.accept(";") {
		if t := p.take(); t.kind == tokEOF {
			return p.fail(t, `want ";" here, found %s`, t)
		}
	}
	return nil
}

// global parses a constant or the head of a function.
func (p *parser) global(b block) error {
	p.at = b.at
	p.fn = &function{frame: &frame{}, scopes: []map[string]binding{p.constants}}
	switch b.key.text {
	case "#define":
		return p.define(p.take())
	case "const":
		if _, err := p.declare(); err != nil {
			return err
		}
		_, err := p.expect(";")
		return err
	}
	return p.helper()
}

// define parses #define NAME number, which is all that is read of C's preprocessor.
func (p *parser) define(at token) error {
	name, err := p.local()
	if err != nil {
		return err
	}
	behind := p.at
	refuse := func() error {
		p.at = behind
		return p.undefined(at, name)
	}
	if t := p.peek(); t.text == "(" && t.col == name.col+len(name.text) {
		return refuse()
	}
	depth, negative := 0, false
	for ; p.accept("("); depth++ {
	}
	if p.accept("-") {
		negative = true
	}
	if p.peek().kind != tokNumber || p.peek().line != at.line {
		return refuse()
	}
	v, err := p.number(p.take())
	if err != nil {
		return err
	}
	if negative {
		v = negate(v)
	}
	for ; depth > 0 && p.accept(")"); depth-- {
	}
	if t := p.peek(); depth > 0 || t.line == at.line && t.kind != tokEOF {
		return refuse()
	}
	p.constants[name.text] = binding{value: v}
	return nil
}

// notNumber is the fault of a constant that is none.
func (p *parser) notNumber(t token) error {
	return p.fail(t, "a constant outside of blocks is made of numbers; declare this one in the function that uses it")
}

// valueOf is the value of an expression of numbers and of variables whose values are known, computed in double; nil of any other.
func (p *parser) valueOf(e Expr) Expr {
	known, variables := true, false
	walk(e, func(e Expr) {
		switch e := e.(type) {
		case Scalar, Get, Read, ReadAt, Var:
			known = false
		case Local:
			known, variables = known && p.fn.values[e.Index] != nil, true
		}
	})
	if !known {
		return nil
	}
	if variables {
		e = replace(e, func(e Expr) Expr {
			if l, is := e.(Local); is {
				return p.fn.values[l.Index]
			}
			return e
		})
	}
	c := &evaluation{r: &run{s: p.out}}
	if e.typ().Floating() {
		return Num{c.float(e)(), e.typ()}
	}
	return Int{c.integer(e)(), e.typ()}
}

// known is what numbers and functions of them make, where that is a whole number; every other expression is as it was.
func (p *parser) known(e Expr) Expr {
	if l, is := e.(Local); is && l.Type.Floating() {
		return e
	}
	switch e.(type) {
	case Num, Int:
		return e
	}
	switch v := p.valueOf(e).(type) {
	case Int:
		p.fn.untidy = true
		return v
	case Num:
		if p.fn.untidy = true; v.Value == math.Trunc(v.Value) && math.Abs(v.Value) <= maxWhole {
			return Int{int64(v.Value), Type(Int64)}
		}
	}
	return e
}

// decided is a condition, or its value where that is known.
func (p *parser) decided(e Expr) Expr {
	e = convert(settled(e), Bool)
	if _, is := e.(Int); is {
		return e
	}
	if v, is := p.valueOf(e).(Int); is {
		p.fn.untidy = true
		return v
	}
	return e
}

// evaluated is a constant of the file, computed in double.
func (p *parser) evaluated(at token, e Expr) (Expr, error) {
	v := p.valueOf(e)
	if len(p.fn.expanded) > 0 || v == nil {
		return nil, p.notNumber(at)
	}
	if f, is := v.(Num); is && !finite(f.Value) {
		return nil, p.fail(at, "this constant is %v; want a number in range", f.Value)
	}
	return v, nil
}

// helper parses the head of a function of the file.
func (p *parser) helper() error {
	result, err := p.localType()
	if err != nil {
		return err
	}
	h := &helper{result: result}
	if h.name, err = p.local(); err != nil {
		return err
	}
	p.fn.open() // for its parameters
	if p.after().text == ")" {
		p.take()
		p.take()
	} else if err := p.list(func(int) error { return p.param(h) }); err != nil {
		return err
	}
	if !p.is("{") {
		return p.fail(p.peek(), `want "{" here, found %s`, p.peek())
	}
	h.body = p.at
	p.findSet(h)
	p.helpers[h.name.text] = h
	return nil
}

// param parses [const] type name [extents].
func (p *parser) param(h *helper) error {
	if p.peek().text == "const" {
		p.take()
	}
	if !isLocalType(p.peek()) {
		return p.fail(p.peek(), "want the type of a parameter here, found %s", p.peek())
	}
	typ, err := p.localType()
	if err != nil {
		return err
	}
	if p.is("*") {
		return p.fail(p.peek(), "there are no pointers; an array is a parameter as in float w[3]")
	}
	t := p.peek()
	if t.text == "x" || t.text == "y" || t.text == "z" { // parameters of that name are C's, coordinates are not
		p.take()
	} else if t, err = p.local(); err != nil {
		return err
	}
	if _, dup := p.fn.lookup(t.text); dup {
		return p.fail(t, "%.40s is declared twice", t.text)
	}
	a := param{name: t.text, typ: typ}
	if a.array = p.is("["); a.array {
		if a.extents, err = p.extentsOf(true); err != nil {
			return err
		}
	}
	p.fn.bind(t.text, binding{typ: typ})
	h.params = append(h.params, a)
	return nil
}

// findSet finds the parameters that a body sets: they are variables of their own.
func (p *parser) findSet(h *helper) {
	changes := []string{"=", "+=", "-=", "*=", "/=", "%=", "++", "--"}
	depth := 0
	for i := h.body; ; i++ {
		switch t := p.toks[i]; {
		case t.text == "{":
			depth++
		case t.text == "}":
			if depth--; depth == 0 {
				return
			}
		case t.kind == tokName && (slices.Contains(changes, p.toks[i+1].text) || slices.Contains(changes[6:], p.toks[i-1].text)):
			for j := range h.params {
				h.params[j].set = h.params[j].set || h.params[j].name == t.text
			}
		}
	}
}

// head is how a helper is declared, for messages.
func (h *helper) head() string {
	text := ""
	for i, a := range h.params {
		if i > 0 {
			text += ", "
		}
		text += fmt.Sprintf("%.40s", a.name)
		if a.array {
			text += "[]"
		}
	}
	return fmt.Sprintf("%.40s(%s)", h.name.text, text)
}

// expand parses a call's arguments and the function's body with them in the place of its parameters. The body's
// statements come before the one that calls; what it returns stands for the call.
func (p *parser) expand(at token, h *helper) (Expr, error) {
	if slices.Contains(p.calls, h) {
		return nil, p.fail(at, "%.40s calls itself; a function is expanded where it is called, so use a loop with constant bounds", at.text)
	}
	if _, err := p.expect("("); err != nil {
		return nil, err
	}
	f := p.fn
	inner := &function{key: f.key, name: h.name.text, results: []Type{h.result}, frame: f.frame, dry: f.dry,
		scopes: []map[string]binding{p.constants}}
	inner.open()
	for i, a := range h.params {
		if i > 0 && !p.accept(",") || i == 0 && p.is(")") {
			return nil, p.fail(p.peek(), "%s takes %s, found %s", h.head(), Several(len(h.params), "value"), p.peek())
		}
		b, err := p.argument(h, a)
		if err != nil {
			return nil, err
		}
		inner.bind(a.name, b)
	}
	if !p.accept(")") {
		return nil, p.fail(p.peek(), "%s takes %s, found %s", h.head(), Several(len(h.params), "value"), p.peek())
	}
	inner.open() // its variables may not hide parameters, which lookup sees
	back := p.at
	h.caller = at
	p.calls = append(p.calls, h)
	p.fn, p.at = inner, h.body
	body, err := p.functionBody()
	if err != nil {
		return nil, err
	}
	value, err := p.returned(body, h.result)
	if err != nil {
		return nil, err
	}
	p.calls = p.calls[:len(p.calls)-1]
	p.fn, p.at = f, back
	f.untidy = true
	f.expanded = append(f.expanded, inner.expanded...)
	return value, nil
}

// argument parses what a parameter stands for: a value that needs no operation, a variable of its own, or an array.
func (p *parser) argument(h *helper, a param) (binding, error) {
	at := p.peek()
	if a.array {
		b, known := p.fn.lookup(at.text)
		p.take()
		if !known || b.elements == nil || b.typ != a.typ || !p.is(",") && !p.is(")") {
			return b, p.fail(at, "want the name of an array of the same type here, for %.40s of %s, found %s", a.name, h.head(), at)
		}
		fits := len(a.extents) == len(b.extents)
		for i := range a.extents {
			fits = fits && (a.extents[i] == b.extents[i] || a.extents[i] < 0)
		}
		if !fits {
			return b, p.fail(at, "%.40s has %v elements, %.40s of %s has %v", at.text, b.extents, a.name, h.head(), a.extents)
		}
		b.elements = slices.Clone(b.elements)
		for i := range b.elements { // they may only be read
			b.elements[i].variable = false
		}
		return b, nil
	}
	e, err := p.expr()
	if err != nil {
		return binding{}, err
	}
	e = convert(e, a.typ)
	if !a.set {
		switch e.(type) {
		case Num, Int, Local, Get, Read, Scalar, Var:
			return binding{value: e, typ: a.typ}, nil
		}
	}
	b, let := p.variable(a.typ, e)
	p.fn.expanded = append(p.fn.expanded, let)
	return b, nil
}

// variable makes a new local.
func (p *parser) variable(t Type, v Expr) (binding, Let) {
	l := Local{p.fn.locals, t}
	p.fn.locals++
	p.fn.note(l.Index, p.valueOf(v))
	return binding{value: l, variable: true, typ: t}, Let{l.Index, t, v, true}
}

// maxReturns bounds the branches that return one after the other: each nests those that follow, which compilers bound.
const maxReturns = 64

// returned gives what the body of p.fn returns, whose statements come before.
func (p *parser) returned(body []Stmt, t Type) (Expr, error) {
	first := slices.IndexFunc(body, holdsReturn)
	p.fn.expanded = append(p.fn.expanded, body[:first]...)
	if e, ok := chosen(body[first:], 0); ok {
		return e, nil
	}
	b, let := p.variable(t, nothing(t))
	p.fn.note(let.Local, nil)
	set, err := p.setting(body[first:], b.value.(Local), 0)
	p.fn.expanded = append(append(p.fn.expanded, let), set...)
	return b.value, err
}

// chosen is a body that does nothing but choose what it returns, as an expression.
func chosen(body []Stmt, depth int) (Expr, bool) {
	switch st := body[0].(type) {
	case Return:
		return st.Values[0], true
	case If:
		if depth > maxReturns {
			return nil, false
		}
		then, otherwise := st.Then, slices.Concat(st.Else, body[1:])
		if !returns(then) {
			if !returns(st.Else) {
				return nil, false
			}
			then, otherwise = slices.Concat(then, body[1:]), st.Else
		}
		a, ok := chosen(then, depth+1)
		if !ok {
			return nil, false
		}
		b, ok := chosen(otherwise, depth+1)
		return Cond{st.Cond, a, b}, ok
	}
	return nil, false
}

// setting is a body that sets a local in the place of returning.
func (p *parser) setting(body []Stmt, l Local, depth int) ([]Stmt, error) {
	if depth > maxReturns {
		return nil, p.fail(p.calls[len(p.calls)-1].name, "more than %d branches that return, one after the other; set a variable and return it at the end", maxReturns)
	}
	var out []Stmt
	for i, st := range body {
		if p.parsed++; p.parsed > maxParsed { // what follows an if may stand in both of its branches
			return nil, p.fail(p.peek(), "loops and functions expand to more than %d tokens; shorten them", maxParsed)
		}
		switch x := st.(type) {
		case Return:
			return append(out, Let{l.Index, l.Type, x.Values[0], false}), nil
		case If:
			if !holdsReturn(x) {
				break
			}
			sides := [2][]Stmt{x.Then, x.Else}
			for s, side := range sides {
				if !returns(side) {
					side = slices.Concat(side, body[i+1:])
				}
				var err error
				if sides[s], err = p.setting(side, l, depth+1); err != nil {
					return nil, err
				}
			}
			return append(out, If{x.Cond, sides[0], sides[1]}), nil
		}
		out = append(out, st)
	}
	return out, nil
}
