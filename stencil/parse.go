package stencil

import (
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"
)

// Parse reads a stencil file: keys of the stencil language (seed paper section 4,
// "A Language and Optimizing Compiler for Iterative Stencil Loops") with a cell function in a
// small subset of C. name is the stencil's name, file is used in errors.
func Parse(name, file, src string) (*Stencil, error) {
	l := &lexer{file: file, src: src, line: 1}
	if len(src) > maxFileBytes {
		return nil, &SyntaxError{File: file, Msg: fmt.Sprintf("file has %d bytes, more than the %d a stencil may have", len(src), maxFileBytes)}
	}
	l.lines = strings.Split(src, "\n")
	toks, err := l.tokens()
	if err != nil {
		return nil, err
	}
	p := &parser{lexer: l, toks: toks, out: &Stencil{Name: name, Boundary: Clamp, DType: Float32, text: src}, seen: map[string]token{}, locals: map[string]int{}}
	if err := p.file(); err != nil {
		return nil, err
	}
	return p.out, nil
}

type parser struct {
	*lexer
	toks   []token
	at     int
	depth  int
	out    *Stencil
	bound  [3]int // StencilSize
	seen   map[string]token
	locals map[string]int
}

func (p *parser) peek() token { return p.toks[p.at] }
func (p *parser) take() token {
	t := p.toks[p.at]
	if t.kind != tokEOF {
		p.at++
	}
	return t
}
func (p *parser) fail(t token, format string, args ...any) error {
	return p.errorAt(t.line, t.col, format, args...)
}
func (p *parser) is(text string) bool {
	t := p.peek()
	return t.kind == tokPunct && t.text == text
}
func (p *parser) expect(text string) (token, error) {
	t := p.take()
	if t.kind != tokPunct || t.text != text {
		return t, p.fail(t, "want %q here, found %s", text, t)
	}
	return t, nil
}

// keys of a stencil file, in the order they are best written.
var keys = []string{"NumDimensions", "StencilSize", "DataType", "Boundary", "CellValue"}

func (p *parser) file() error {
	for p.peek().kind != tokEOF {
		key := p.take()
		if key.kind != tokName || !slices.Contains(keys, key.text) {
			return p.fail(key, "unknown key %s; the keys are %s", key, strings.Join(keys, ", "))
		}
		if _, dup := p.seen[key.text]; dup {
			return p.fail(key, "%s is given twice; remove one", key.text)
		}
		p.seen[key.text] = key
		if err := p.value(key); err != nil {
			return err
		}
	}
	for _, k := range []string{"NumDimensions", "StencilSize", "CellValue"} {
		if _, ok := p.seen[k]; !ok {
			return p.fail(p.peek(), "%s is missing; add it", k)
		}
	}
	return p.finish()
}

func (p *parser) value(key token) error {
	switch key.text {
	case "NumDimensions":
		n, err := p.integer()
		if err != nil {
			return err
		}
		if n < 1 || n > 3 {
			return p.fail(key, "NumDimensions must be 1, 2 or 3")
		}
		p.out.Dims = n
		return nil
	case "StencilSize":
		return p.stencilSize(key)
	case "DataType":
		t := p.take()
		d, err := ParseDType(t.text)
		if err != nil {
			return p.fail(t, "%v", err)
		}
		p.out.DType = d
		return nil
	case "Boundary":
		t := p.take()
		if t.text != string(Clamp) {
			return p.fail(t, "unknown boundary %s; use clamp (the nearest cell inside)", t)
		}
		return nil
	}
	return p.cell(key)
}

func (p *parser) integer() (int, error) {
	t := p.take()
	n, err := strconv.Atoi(t.text)
	if t.kind != tokNumber || err != nil {
		return 0, p.fail(t, "want a whole number here, found %s", t)
	}
	return n, nil
}

func (p *parser) stencilSize(key token) error {
	if _, err := p.expect("("); err != nil {
		return err
	}
	for i := 0; ; i++ {
		t := p.peek()
		n, err := p.integer()
		if err != nil {
			return err
		}
		if n > maxRadius {
			return p.fail(t, "a stencil may reach %d cells at most", maxRadius)
		}
		if i > 2 {
			return p.fail(t, "a stencil has at most three axes")
		}
		p.bound[i] = n
		if !p.is(",") {
			p.seen["#axes"] = token{col: i + 1}
			break
		}
		p.take()
	}
	_, err := p.expect(")")
	return err
}

// cell parses { statements }.
func (p *parser) cell(key token) error {
	if p.out.Dims == 0 {
		return p.fail(key, "NumDimensions must come before CellValue")
	}
	open, err := p.expect("{")
	if err != nil {
		return err
	}
	for !p.is("}") {
		if p.peek().kind == tokEOF {
			return p.fail(open, "this { is never closed; end the block with }")
		}
		if n := len(p.out.Body); n > 0 {
			if _, done := p.out.Body[n-1].(Return); done {
				return p.fail(p.peek(), "statement after return is never reached; remove it")
			}
		}
		if err := p.statement(); err != nil {
			return err
		}
	}
	end := p.take()
	n := len(p.out.Body)
	if n == 0 {
		return p.fail(end, "CellValue returns nothing; end it with return")
	}
	if _, ok := p.out.Body[n-1].(Return); !ok {
		return p.fail(end, "CellValue must end with return")
	}
	return nil
}

func (p *parser) statement() error {
	t := p.take()
	if t.kind != tokName {
		return p.fail(t, "want a statement here, found %s", t)
	}
	switch t.text {
	case "return":
		v, err := p.expr()
		if err != nil {
			return err
		}
		p.out.Body = append(p.out.Body, Return{v})
		_, err = p.expect(";")
		return err
	case "float", "double":
		return p.declare()
	}
	i, ok := p.locals[t.text]
	if !ok {
		return p.fail(t, "unknown name %s; declare it first, like float %.40s = ...", t, t.text)
	}
	return p.assign(i, false)
}

// declare parses the names of a declaration, each with or without a value.
func (p *parser) declare() error {
	for {
		t := p.take()
		if t.kind != tokName || reserved(t.text) {
			return p.fail(t, "want the name of a new variable here, found %s", t)
		}
		if _, dup := p.locals[t.text]; dup {
			return p.fail(t, "%s is declared twice", t.text)
		}
		if p.is("=") {
			p.take()
			v, err := p.expr() // before the name is known: float a = a; is an error
			if err != nil {
				return err
			}
			p.locals[t.text] = len(p.locals)
			p.out.Body = append(p.out.Body, Let{p.locals[t.text], v, true})
		} else {
			p.locals[t.text] = len(p.locals)
			p.out.Body = append(p.out.Body, Let{p.locals[t.text], Num{0}, true})
		}
		if !p.is(",") {
			_, err := p.expect(";")
			return err
		}
		p.take()
	}
}

func (p *parser) assign(local int, declare bool) error {
	if _, err := p.expect("="); err != nil {
		return err
	}
	v, err := p.expr()
	if err != nil {
		return err
	}
	p.out.Body = append(p.out.Body, Let{local, v, declare})
	_, err = p.expect(";")
	return err
}

func reserved(name string) bool {
	_, fn := mathFuncs[name]
	return fn || slices.Contains([]string{"get", "read", "return", "float", "double", "x", "y", "z", "iteration", "input_size", "value"}, name)
}

func (p *parser) expr() (Expr, error) {
	return p.binary("+-", func() (Expr, error) { return p.binary("*/", p.unary) })
}

func (p *parser) binary(ops string, operand func() (Expr, error)) (Expr, error) {
	x, err := operand()
	if err != nil {
		return nil, err
	}
	for p.peek().kind == tokPunct && strings.Contains(ops, p.peek().text) {
		op := p.take()
		y, err := operand()
		if err != nil {
			return nil, err
		}
		if n, ok := y.(Num); ok && op.text == "/" && n.Value == 0 {
			return nil, p.fail(op, "division by zero")
		}
		x = Binary{op.text[0], x, y}
	}
	return x, nil
}

func (p *parser) unary() (Expr, error) {
	if p.depth++; p.depth > maxDepth {
		return nil, p.fail(p.peek(), "nested more than %d deep; use a local variable", maxDepth)
	}
	defer func() { p.depth-- }()
	t := p.take()
	switch {
	case t.kind == tokPunct && t.text == "-":
		x, err := p.unary()
		if err != nil {
			return nil, err
		}
		if n, ok := x.(Num); ok {
			return Num{-n.Value}, nil
		}
		return Neg{x}, nil
	case t.kind == tokPunct && t.text == "+":
		return p.unary()
	case t.kind == tokPunct && t.text == "(":
		x, err := p.expr()
		if err != nil {
			return nil, err
		}
		_, err = p.expect(")")
		return x, err
	case t.kind == tokNumber:
		return p.number(t)
	case t.kind == tokName && t.text == "get":
		return p.get(t)
	case t.kind == tokName:
		if f, ok := mathFuncs[t.text]; ok {
			return p.call(t, f)
		}
		if i, ok := p.locals[t.text]; ok {
			return Local{i}, nil
		}
		return nil, p.fail(t, "unknown name %s; declare it first, like float %.40s = ...", t, t.text)
	}
	return nil, p.fail(t, "want a value here, found %s", t)
}

func (p *parser) number(t token) (Expr, error) {
	text := t.text
	if n := len(text) - 1; text[n] == 'f' || text[n] == 'F' { // C's suffix
		text = text[:n]
	}
	v, err := strconv.ParseFloat(text, 64)
	if err != nil || math.IsInf(v, 0) || strings.ContainsAny(text, "xXpP_iInN") {
		return nil, p.fail(t, "%s is not a decimal number in range", t)
	}
	return Num{v}, nil
}

// get parses get(dx, dy, dz): as many constant offsets as the stencil has axes.
func (p *parser) get(name token) (Expr, error) {
	if _, err := p.expect("("); err != nil {
		return nil, err
	}
	var at Offset
	for i := range p.out.Dims {
		if i > 0 {
			if _, err := p.expect(","); err != nil {
				return nil, err
			}
		}
		t := p.peek()
		sign := 1
		if p.is("-") {
			p.take()
			sign = -1
		}
		if p.peek().kind != tokNumber {
			return nil, p.fail(p.peek(), "the offsets of get must be whole numbers known here, found %s", p.peek())
		}
		n, err := p.integer()
		if err != nil {
			return nil, err
		}
		at[i] = sign * n
		if n > maxRadius {
			return nil, p.fail(t, "a stencil may reach %d cells at most", maxRadius)
		}
	}
	if !p.is(")") {
		return nil, p.fail(p.peek(), "get takes %d offsets in %d dimensions", p.out.Dims, p.out.Dims)
	}
	p.take()
	p.out.addPoint(at)
	return Get{at}, nil
}

func (p *parser) call(name token, f mathFunc) (Expr, error) {
	if _, err := p.expect("("); err != nil {
		return nil, err
	}
	var args []Expr
	for i := range f.arity {
		if i > 0 {
			if _, err := p.expect(","); err != nil {
				return nil, err
			}
		}
		a, err := p.expr()
		if err != nil {
			return nil, err
		}
		args = append(args, a)
	}
	if _, err := p.expect(")"); err != nil {
		return nil, err
	}
	return Call{name.text, args}, nil
}

// finish checks what only the whole file can tell and fills in what follows from it.
func (p *parser) finish() error {
	s := p.out
	cell := p.seen["CellValue"]
	if n := p.seen["#axes"].col; n != s.Dims {
		return p.fail(p.seen["StencilSize"], "StencilSize has %d extents, NumDimensions says %d", n, s.Dims)
	}
	if len(s.Points) == 0 {
		return p.fail(cell, "CellValue never calls get(), so there is nothing to tune")
	}
	for _, o := range s.Points {
		for a := range 3 {
			if o[a] > p.bound[a] || -o[a] > p.bound[a] {
				return p.fail(cell, "get(%s) reaches beyond StencilSize; raise StencilSize or shorten the offset", o.text(s.Dims))
			}
		}
	}
	s.finish()
	return nil
}
