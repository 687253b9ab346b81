package stencil

import "strings"

// foreign are C's words that the language does not have, with what to use instead.
var foreign = map[string]string{
	"while": "use for with constant bounds", "do": "use for with constant bounds", "goto": "use if", "break": "use if",
	"continue": "use if", "switch": "use if", "case": "use if", "static": "remove it", "struct": "use several variables",
	"sizeof": "write the number", "void": "use a variable", "auto": "name the type", "typedef": "name the type", "extern": "remove it",
	"volatile": "remove it", "register": "remove it", "inline": "remove it", "enum": "use const int", "union": "use several variables",
	"default": "use if", "restrict": "remove it", "asm": "remove it",
}

// statements parses up to the closing brace, which it leaves.
func (p *parser) statements() ([]Stmt, error) {
	var body []Stmt
	for !p.is("}") {
		if returns(body) {
			return nil, p.fail(p.peek(), "statement after return is never reached; remove it")
		}
		more, err := p.statement()
		if err != nil {
			return nil, err
		}
		body = append(body, more...)
	}
	return body, nil
}

// scoped parses a statement in a scope of its own.
func (p *parser) scoped() ([]Stmt, error) {
	p.fn.open()
	defer p.fn.close()
	return p.statement()
}

// statement parses one statement; an unrolled loop gives several.
func (p *parser) statement() ([]Stmt, error) {
	if p.nested++; p.nested > maxDepth {
		return nil, p.fail(p.peek(), "statements nested more than %d deep", maxDepth)
	}
	defer func() { p.nested-- }()
	t := p.peek()
	if p.parsed > maxParsed {
		return nil, p.fail(t, "loops unroll to more than %d tokens; shorten them", maxParsed)
	}
	switch {
	case p.is(";"):
		p.take()
		return nil, nil
	case p.is("{"):
		p.take()
		p.fn.open()
		defer p.fn.close()
		body, err := p.statements()
		p.take()
		return body, err
	case t.kind != tokName && !p.is("++") && !p.is("--"):
		return nil, p.fail(t, "want a statement here, found %s", t)
	case t.text == "if":
		return p.branch()
	case t.text == "for":
		return p.loop()
	case t.text == "else":
		return nil, p.fail(t, "else without if")
	case foreign[t.text] != "":
		return nil, p.fail(t, "%s is not in the language; %s", t.text, foreign[t.text])
	}
	var body []Stmt
	var err error
	switch {
	case t.text == "return":
		body, err = p.result()
	case t.text == "const" || isTypeWord(t):
		body, err = p.declare()
	default:
		body, err = p.assign()
	}
	if err != nil {
		return nil, err
	}
	_, err = p.expect(";")
	return body, err
}

// result parses return value, value ...
func (p *parser) result() ([]Stmt, error) {
	p.take()
	var r Return
	for i, t := range p.fn.results {
		if i > 0 {
			if !p.is(",") {
				return nil, p.fail(p.peek(), "want %d values, one for each output, found %s after %d", len(p.fn.results), p.peek(), i)
			}
			p.take()
		}
		v, err := p.expr()
		if err != nil {
			return nil, err
		}
		r.Values = append(r.Values, convert(v, t))
	}
	return []Stmt{r}, nil
}

// declare parses a type and names, each with or without a value. Whole constants
// are known while parsing.
func (p *parser) declare() ([]Stmt, error) {
	constant := p.peek().text == "const"
	if constant {
		p.take()
	}
	first := p.peek()
	if !isTypeWord(first) {
		return nil, p.fail(first, "want a type here, found %s", first)
	}
	d, err := p.typeName()
	if err != nil {
		return nil, err
	}
	typ, err := p.cellType(first, d)
	if err != nil {
		return nil, err
	}
	var body []Stmt
	for {
		name, err := p.local()
		if err != nil {
			return nil, err
		}
		v := convert(Int{0, Whole}, typ)
		if p.is("=") {
			p.take()
			if v, err = p.expr(); err != nil { // before the name is known: float a = a; is an error
				return nil, err
			}
			v = convert(v, typ)
		} else if p.is("(") || p.is(":") {
			return nil, p.fail(p.peek(), `want ";" here, found %s`, p.peek())
		}
		if c, whole := v.(Int); constant && whole {
			p.fn.bind(name.text, binding{fixed: &c})
		} else {
			local := Local{p.fn.locals, typ}
			p.fn.locals++
			p.fn.bind(name.text, binding{local: local})
			body = append(body, Let{local.Index, typ, v, true})
		}
		if !p.accept(",") {
			return body, nil
		}
	}
}

// local parses the name of a new local.
func (p *parser) local() (token, error) {
	t := p.take()
	if t.kind != tokName || reserved(t.text) {
		return t, p.fail(t, "want the name of a new variable here, found %s", t)
	}
	if _, dup := p.fn.lookup(t.text); dup || p.named(t.text) {
		return t, p.fail(t, "%.40s is declared twice", t.text)
	}
	return t, nil
}

// assign parses name = value, name += value ... and name++, ++name.
func (p *parser) assign() ([]Stmt, error) {
	var step token
	if p.is("++") || p.is("--") {
		step = p.take()
	}
	name := p.take()
	b, ok := p.fn.lookup(name.text)
	switch {
	case !ok && p.named(name.text):
		return nil, p.fail(name, "%s may only be read; return a field's new value", name)
	case !ok || name.kind != tokName:
		return nil, p.unknown(name)
	case b.fixed != nil:
		return nil, p.fail(name, "%s is constant here; declare another variable", name)
	}
	op := step
	if op.text == "" {
		op = p.take()
	}
	v, err := p.changed(op, b.local)
	if err != nil {
		return nil, err
	}
	return []Stmt{Let{b.local.Index, b.local.Type, convert(v, b.local.Type), false}}, nil
}

// changed parses what follows an assignment's operator, on a variable that reads
// as old, and gives its new value.
func (p *parser) changed(op token, old Expr) (Expr, error) {
	switch op.text {
	case "++", "--":
		return p.operate(op, op.text[:1], old, p.whole(1))
	case "=":
		return p.expr()
	case "+=", "-=", "*=", "/=", "%=":
		v, err := p.expr()
		if err != nil {
			return nil, err
		}
		return p.operate(op, op.text[:1], old, v)
	}
	return nil, p.fail(op, `want "=" here, found %s`, op)
}

// branch parses if (test) statement [else statement]. A branch that a constant
// test rules out is checked and dropped: its get() are no points.
func (p *parser) branch() ([]Stmt, error) {
	at := p.take()
	if _, err := p.expect("("); err != nil {
		return nil, err
	}
	test, err := p.expr()
	if err != nil {
		return nil, err
	}
	if _, err := p.expect(")"); err != nil {
		return nil, err
	}
	st := If{Cond: convert(settled(test), Bool)}
	fixed, constant := st.Cond.(Int)
	if st.Then, err = p.taken(!constant || fixed.Value != 0); err != nil {
		return nil, err
	}
	if p.peek().kind == tokName && p.peek().text == "else" {
		p.take()
		if st.Else, err = p.taken(!constant || fixed.Value == 0); err != nil {
			return nil, err
		}
	}
	switch {
	case !constant:
		st.Cond = p.marked(at, st.Cond)
		return []Stmt{st}, nil
	case fixed.Value != 0:
		return st.Then, nil
	}
	return st.Else, nil
}

// taken parses the statement of a branch; one that is never taken gives nothing.
func (p *parser) taken(live bool) ([]Stmt, error) {
	if live {
		return p.scoped()
	}
	p.fn.dry++
	locals := p.fn.locals
	_, err := p.scoped()
	p.fn.locals = locals
	p.fn.dry--
	return nil, err
}

// loop parses and unrolls for (int i = a; i < b; i++) statement: the body is
// parsed once for each value of i, which is a constant in it.
func (p *parser) loop() ([]Stmt, error) {
	p.take()
	if _, err := p.expect("("); err != nil {
		return nil, err
	}
	p.fn.open()
	defer p.fn.close()
	first := p.peek()
	if !isTypeWord(first) {
		return nil, p.fail(first, "declare the loop's variable here, like int i = 0")
	}
	d, err := p.typeName()
	if err != nil {
		return nil, err
	}
	if d.Floating() {
		return nil, p.fail(first, "a loop counts in an integer type; use int")
	}
	name, err := p.local()
	if err != nil {
		return nil, err
	}
	if _, err := p.expect("="); err != nil {
		return nil, err
	}
	i, err := p.constant(Type(d))
	if err != nil {
		return nil, err
	}
	if _, err := p.expect(";"); err != nil {
		return nil, err
	}
	head := p.at
	var all []Stmt
	for {
		p.at = head
		p.fn.bind(name.text, binding{fixed: &i})
		more, next, err := p.loopHead(name, i)
		if err != nil {
			return nil, err
		}
		body, err := p.taken(more)
		if err != nil || !more {
			return all, err
		}
		if all = append(all, body...); returns(all) {
			return all, nil
		}
		i = next
	}
}

// loopHead parses test; change) for one value of the loop's variable.
func (p *parser) loopHead(name token, i Int) (more bool, next Int, err error) {
	test, err := p.constant(Bool)
	if err != nil {
		return false, next, err
	}
	if _, err = p.expect(";"); err != nil {
		return false, next, err
	}
	op := p.take()
	changes := op
	if op.text == "++" || op.text == "--" {
		changes = p.take()
	} else {
		op = p.take()
	}
	if changes.text != name.text {
		return false, next, p.fail(changes, "want a change of %.40s here, like %.40s++, found %s", name.text, name.text, changes)
	}
	at := p.peek()
	v, err := p.changed(op, i)
	if err != nil {
		return false, next, err
	}
	c, ok := convert(v, i.Type).(Int)
	if !ok {
		return false, next, p.notConstant(at)
	}
	_, err = p.expect(")")
	return test.Value != 0, c, err
}

// constant parses an expression that must be known while parsing.
func (p *parser) constant(t Type) (Int, error) {
	at := p.peek()
	v, err := p.expr()
	if err != nil {
		return Int{}, err
	}
	c, ok := convert(v, t).(Int)
	if !ok {
		return Int{}, p.notConstant(at)
	}
	return c, nil
}

func (p *parser) notConstant(at token) error {
	return p.fail(at, "a loop's bounds must be constants, so that it can be unrolled; use numbers and const int")
}

// unknown is the fault of a name that nothing declares.
func (p *parser) unknown(t token) error {
	if t.kind != tokName {
		return p.fail(t, "want a name here, found %s", t)
	}
	if strings.HasSuffix(t.text, "_t") || foreign[t.text] != "" {
		return p.fail(t, "%s is not in the language", t)
	}
	if p.at >= 3 && p.toks[p.at-2].text == "(" && p.toks[p.at-3].text == "get" {
		return p.fail(t, "unknown name %s; if it is an array, declare it with Fields (...) or ReadOnly (%.40s)", t, t.text)
	}
	return p.fail(t, "unknown name %s; declare it first, like float %.40s = ...", t, t.text)
}
