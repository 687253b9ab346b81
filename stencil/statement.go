package stencil

// statements parses up to the closing brace, which it leaves.
func (p *parser) statements() ([]Stmt, error) {
	var body []Stmt
	for !p.is("}") {
		first := p.peek()
		more, err := p.statement()
		if err != nil {
			return nil, err
		}
		if body = append(body, more...); !returns(body) || p.is("}") {
			continue
		}
		if _, open := body[len(body)-1].(If); open || first.text == "return" {
			return nil, p.fail(p.peek(), "statement after return is never reached; remove it")
		}
		return body, p.dropped(func() error { // a branch that is always taken returns
			_, err := p.statements()
			return err
		})
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
		return nil, p.fail(t, "loops and functions expand to more than %d tokens; shorten them", maxParsed)
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
	case p.is("#define"):
		return nil, p.fail(t, "#define stands outside of blocks; here declare a constant, like const float N = 3;")
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
	case t.text == "const" || isLocalType(t):
		body, err = p.declare()
	default:
		body, err = p.assign()
	}
	if err != nil {
		return nil, err
	}
	_, err = p.expect(";")
	return append(p.before(), body...), err
}

// before takes what calls have left to come before the statement being parsed.
func (p *parser) before() []Stmt {
	list := p.fn.expanded
	p.fn.expanded = nil
	return list
}

// result parses return value, value ...
func (p *parser) result() ([]Stmt, error) {
	p.take()
	var r Return
	for i, t := range p.fn.results {
		if i > 0 {
			if !p.is(",") {
				return nil, p.fail(p.peek(), "want %d values, one for each output, found %s after %d%s", len(p.fn.results), p.peek(), i, p.fewer())
			}
			p.take()
		}
		v, err := p.expr()
		if err != nil {
			return nil, err
		}
		r.Values = append(r.Values, convert(v, t))
	}
	if p.is(",") && p.fn.key == "CellValue" && len(p.calls) == 0 {
		return nil, p.fail(p.peek(), "want no more than %d values, one for each output; name more outputs with Fields, or of a stage with CellValue (...)", len(r.Values))
	}
	return []Stmt{r}, nil
}

// local parses the name of a new local.
func (p *parser) local() (token, error) {
	t := p.take()
	if t.text == "*" {
		return t, p.fail(t, "there are no pointers; arrays are read with get, and a variable is declared without *")
	}
	if t.kind != tokName || reserved(t.text) {
		return t, p.unnamed("a new variable", t)
	}
	if _, dup := p.fn.lookup(t.text); dup {
		return t, p.fail(t, "%.40s is declared twice", t.text)
	}
	if what := p.called(t.text); what != "" {
		return t, p.fail(t, "%.40s is %s, which nothing may hide; choose another name", t.text, what)
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
	case !ok && p.helpers[name.text] != nil:
		return nil, p.fail(name, "%s computes a value, which nothing takes; assign it", name)
	case !ok && (p.named(name.text) || name.text == "get"):
		return nil, p.fail(name, "%s may only be read; return a field's new value: all cells change at once, none sees what its neighbour becomes; half sweeps in place (red-black) are stages with a Color", name)
	case !ok && name.kind == tokName && p.setsElement():
		return nil, p.fail(name, "unknown name %s; declare an array with Fields (%.40s), and return its new value at the own cell: return ...;", name, name.text)
	case !ok || name.kind != tokName:
		return nil, p.unknown(name)
	}
	b, err := p.element(name, b)
	if err != nil {
		return nil, err
	}
	local, _ := b.value.(Local)
	if !b.variable {
		return nil, p.fail(name, "%s is constant here; declare another variable", name)
	}
	op := step
	if op.text == "" {
		op = p.take()
	}
	v, err := p.changed(op, local)
	if err != nil {
		return nil, err
	}
	v = convert(v, local.Type)
	p.fn.note(local.Index, p.valueOf(v))
	return []Stmt{Let{local.Index, local.Type, v, false}}, nil
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
	before := p.before()
	st := If{Cond: p.decided(test)}
	fixed, constant := st.Cond.(Int)
	log := len(p.fn.log)
	var changed []int
	if st.Then, err = p.taken(!constant || fixed.Value != 0); err != nil {
		return nil, err
	}
	if !constant {
		changed = p.fn.back(log)
	}
	if p.peek().kind == tokName && p.peek().text == "else" {
		p.take()
		if st.Else, err = p.taken(!constant || fixed.Value == 0); err != nil {
			return nil, err
		}
	}
	if !constant && !returns(st.Then) { // else what follows has what Else left
		changed = append(changed, p.fn.back(log)...)
		for _, local := range changed {
			p.fn.note(local, nil)
		}
	}
	switch {
	case !constant:
		st.Cond = p.marked(at, st.Cond)
		return append(before, st), nil
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
	return nil, p.dropped(func() error {
		_, err := p.scoped()
		return err
	})
}

// dropped parses what is never reached.
func (p *parser) dropped(parse func() error) error {
	p.fn.dry++
	before, f := *p.fn.frame, p.fn
	err := parse()
	f.back(len(before.log))
	before.values = f.values
	*f.frame = before
	f.dry--
	return err
}

// loop parses and unrolls for (int i = a; i < b; i++) statement: the body is
// parsed once for each value of i, which is a constant in it. C89's for (i = a; ...) leaves
// the last value in a variable.
func (p *parser) loop() ([]Stmt, error) {
	p.take()
	if _, err := p.expect("("); err != nil {
		return nil, err
	}
	p.fn.open()
	defer p.fn.close()
	name, typ, after, err := p.loopVariable()
	if err != nil {
		return nil, err
	}
	if _, err := p.expect("="); err != nil {
		return nil, err
	}
	i, err := p.constant(typ)
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
		p.fn.bind(name.text, binding{value: i})
		more, next, err := p.loopHead(name, i)
		if err != nil {
			return nil, err
		}
		if more && next == i {
			return nil, p.fail(name, "the loop never ends: %.40s stays %d", name.text, i.Value)
		}
		p.before() // of calls in the head, whose values are constants
		body, err := p.taken(more)
		if err != nil {
			return nil, err
		}
		if !more {
			for j := range after {
				after[j].Value = i
				p.fn.note(after[j].Local, i)
				all = append(all, after[j])
			}
			return all, nil
		}
		if all = append(all, body...); returns(all) {
			return all, nil
		}
		i = next
	}
}

// loopVariable parses int name, or the name of a variable, which is set after the loop.
func (p *parser) loopVariable() (name token, typ Type, after []Let, err error) {
	first := p.peek()
	b, known := p.fn.lookup(first.text)
	if l, is := b.value.(Local); known && is && b.variable && !l.Type.Floating() && l.Type != Bool {
		p.fn.untidy = true
		return p.take(), l.Type, []Let{{Local: l.Index, Type: l.Type}}, nil
	}
	if axisOf(first) >= 0 || isTypeWord(first) && axisOf(p.after()) >= 0 {
		return first, "", nil, p.fail(first, "the loops over cells are left out: the function is of one cell, at x, y and z; call the variable of another loop i")
	}
	if !isTypeWord(first) {
		return first, "", nil, p.fail(first, "declare the loop's variable here, like int i = 0")
	}
	d, err := p.typeName()
	if err != nil {
		return first, "", nil, err
	}
	if d.Floating() {
		return first, "", nil, p.fail(first, "a loop counts in an integer type; use int")
	}
	name, err = p.local()
	return name, Type(d), nil, err
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
	return p.constantOf(t, boundsKnown)
}

// constantOf is constant with what is said of one that is not known.
func (p *parser) constantOf(t Type, want string) (Int, error) {
	at := p.peek()
	v, err := p.expr()
	if err != nil {
		return Int{}, err
	}
	v = p.known(v)
	if c, ok := v.(Int); ok && t != Bool && c.Type == Bool {
		v = convert(c, Type(Int32))
	}
	c, ok := convert(v, t).(Int)
	if !ok || t != Bool && v.typ().Floating() {
		return Int{}, p.fail(at, "%s", want)
	}
	return c, nil
}

const boundsKnown = "a loop's bounds must be constants, so that it can be unrolled; use numbers and const int; the loops over cells and steps are left out"

func (p *parser) notConstant(at token) error { return p.fail(at, boundsKnown) }
