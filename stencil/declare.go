package stencil

import "fmt"

// maxElements bounds an array of variables: each element is one.
const maxElements = 256

// declare parses a type and names, each with or without extents and a value. Whole constants
// are known while parsing, and those of the file all are.
func (p *parser) declare() ([]Stmt, error) {
	constant := p.peek().text == "const"
	if constant {
		p.take()
	}
	if first := p.peek(); !isLocalType(first) {
		return nil, p.fail(first, "want a type here, found %s", first)
	}
	typ, err := p.localType()
	if err != nil {
		return nil, err
	}
	var body []Stmt
	for {
		name, err := p.local()
		if err != nil {
			return nil, err
		}
		var more []Stmt
		var b binding
		if p.is("[") {
			b, more, err = p.declareArray(name, typ, constant)
		} else {
			b, more, err = p.declareOne(name, typ, constant)
		}
		if err != nil {
			return nil, err
		}
		p.fn.bind(name.text, b)
		body = append(body, more...)
		if !p.accept(",") {
			return body, nil
		}
	}
}

// declareOne parses [= value] of a new name.
func (p *parser) declareOne(name token, typ Type, constant bool) (binding, []Stmt, error) {
	v := convert(Int{0, Whole}, typ)
	switch {
	case p.accept("="):
		at := p.peek()
		e, err := p.expr() // before the name is known: float a = a; is an error
		if err == nil && p.fn.key == "" {
			e, err = p.evaluated(at, e)
		}
		if err != nil {
			return binding{}, nil, err
		}
		v = convert(e, typ)
	case p.fn.key == "":
		return binding{}, nil, p.fail(p.peek(), `want "=" here, found %s: a constant has a value`, p.peek())
	case p.is("(") || p.is(":"):
		return binding{}, nil, p.fail(p.peek(), `want ";" here, found %s`, p.peek())
	}
	b, body := p.holding(typ, v, constant)
	return b, append(p.before(), body...), nil
}

// holding is a name for a value: the value itself where it is known, else a new local.
func (p *parser) holding(typ Type, v Expr, constant bool) (binding, []Stmt) {
	if _, whole := v.(Int); constant && whole || p.fn.key == "" {
		return binding{value: v, typ: typ}, nil
	}
	b, let := p.variable(typ, v)
	b.variable = !constant
	return b, []Stmt{let}
}

// extentsOf parses [n] [n] ...; the first may be empty where any is allowed, and is -1 then.
func (p *parser) extentsOf(any bool) ([]int, error) {
	var list []int
	total := 1
	for p.is("[") {
		p.take()
		if any && len(list) == 0 && p.accept("]") {
			list = append(list, -1)
			continue
		}
		at := p.peek()
		n, err := p.constantOf(Type(Int64), "an array's length must be a constant: a number or const int")
		if err != nil {
			return nil, err
		}
		if n.Value < 1 || n.Value > maxElements || total*int(n.Value) > maxElements {
			return nil, p.fail(at, "an array has 1 to %d elements", maxElements)
		}
		total *= int(n.Value)
		list = append(list, int(n.Value))
		if _, err := p.expect("]"); err != nil {
			return nil, err
		}
	}
	return list, nil
}

// declareArray parses [n] ... [= { value, ... }]; elements without a value are 0.
func (p *parser) declareArray(name token, typ Type, constant bool) (b binding, body []Stmt, err error) {
	b.typ = typ
	if b.extents, err = p.extentsOf(true); err != nil {
		return b, nil, err
	}
	var values []Expr
	if p.accept("=") {
		if values, err = p.initializer(name, typ, b.extents); err != nil {
			return b, nil, err
		}
	} else if b.extents[0] < 0 || p.fn.key == "" {
		return b, nil, p.fail(name, "%.40s needs its length, or its values: %.40s[] = {1, 2}", name.text, name.text)
	}
	if b.extents[0] < 0 {
		inner := product(b.extents[1:])
		b.extents[0] = len(values) / inner
	}
	p.fn.untidy = true
	body = p.before()
	for i := range product(b.extents) {
		v := convert(Int{0, Whole}, typ)
		if i < len(values) {
			v = values[i]
		}
		e, more := p.holding(typ, v, constant)
		b.elements = append(b.elements, e)
		body = append(body, more...)
	}
	return b, body, nil
}

func product(list []int) int {
	n := 1
	for _, e := range list {
		n *= e
	}
	return n
}

// initializer parses { value, ... }, of which each is one in braces where there are further extents.
func (p *parser) initializer(name token, typ Type, extents []int) ([]Expr, error) {
	if _, err := p.expect("{"); err != nil {
		return nil, err
	}
	inner := product(extents[1:])
	var values []Expr
	for n := 0; !p.is("}"); n++ {
		at := p.peek()
		if extents[0] >= 0 && n >= extents[0] || (n+1)*inner > maxElements {
			return nil, p.fail(at, "more values than %.40s has elements", name.text)
		}
		if len(extents) > 1 {
			row, err := p.initializer(name, typ, extents[1:])
			if err != nil {
				return nil, err
			}
			for len(row) < inner {
				row = append(row, convert(Int{0, Whole}, typ))
			}
			values = append(values, row...)
		} else {
			v, err := p.expr()
			if err == nil && p.fn.key == "" {
				v, err = p.evaluated(at, v)
			}
			if err != nil {
				return nil, err
			}
			values = append(values, convert(v, typ))
		}
		if !p.accept(",") {
			break
		}
	}
	at := p.peek()
	if len(values) == 0 {
		return nil, p.fail(at, "want a value here, found %s", at)
	}
	_, err := p.expect("}")
	return values, err
}

// element parses the indices of an array that a name stands for: constants, so that each element is a variable.
func (p *parser) element(name token, b binding) (binding, error) {
	if b.extents == nil {
		if p.is("[") {
			return b, p.fail(name, "%.40s is no array", name.text)
		}
		return b, nil
	}
	i := 0
	for _, n := range b.extents {
		if !p.is("[") {
			return b, p.fail(p.peek(), "%.40s is an array; want %s here, found %s", name.text, `"[" and an element's index`, p.peek())
		}
		p.take()
		at := p.peek()
		k, err := p.constantOf(Type(Int64), fmt.Sprintf("the index of %.40s must be known here: a number, a loop's variable or const int; choose between elements with ?:, or index a ReadOnly array: read(name, i)", name.text))
		if err != nil {
			return b, err
		}
		if p.fn.dry > 0 {
			k.Value = 0
		}
		if k.Value < 0 || k.Value >= int64(n) {
			return b, p.fail(at, "%.40s has no element %d: it has %d, from 0 on", name.text, k.Value, n)
		}
		if _, err := p.expect("]"); err != nil {
			return b, err
		}
		i = i*n + int(k.Value)
	}
	return b.elements[i], nil
}
