package stencil

import (
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"
)

// reserved tells whether a file may not give the name to anything of its own.
func reserved(name string) bool {
	_, fn := functionName(name)
	words := []string{"get", "read", "return", "if", "else", "for", "const", "bool", "x", "y", "z", "iteration", "input_size"}
	return fn || slices.Contains(words, name) || foreign[name] != "" || isTypeWord(token{kind: tokName, text: name})
}

// whole is a constant as a literal of its value has it.
func (p *parser) whole(v int64) Int {
	switch {
	case p.out.DType.Floating():
		return Int{v, Whole}
	case v == int64(int32(v)):
		return Int{v, Type(Int32)}
	}
	return Int{v, Type(Int64)}
}

// operate is operation with the place of the operator.
func (p *parser) operate(at token, op string, x, y Expr) (Expr, error) {
	if op == "&&" || op == "||" {
		x, y = p.decided(x), p.decided(y)
	}
	e, wrong := operation(op, x, y)
	if wrong != "" {
		return nil, p.fail(at, "%s", string(wrong))
	}
	return e, nil
}

// expr parses a value: operators and ?:.
func (p *parser) expr() (Expr, error) {
	test, err := p.operators(1)
	at := p.peek()
	if err != nil || !p.accept("?") {
		return test, err
	}
	if p.depth++; p.depth > maxDepth {
		return nil, p.fail(p.peek(), "nested more than %d deep; use a local variable", maxDepth)
	}
	defer func() { p.depth-- }()
	a, err := p.expr()
	if err != nil {
		return nil, err
	}
	if _, err := p.expect(":"); err != nil {
		return nil, err
	}
	b, err := p.expr()
	if err != nil {
		return nil, err
	}
	e := conditional(p.decided(test), a, b)
	if c, ok := e.(Cond); ok {
		c.If = p.marked(at, c.If)
		e = c
	}
	return e, nil
}

// operators parses binary operators of at least the given precedence.
func (p *parser) operators(least int) (Expr, error) {
	x, err := p.unary()
	if err != nil {
		return nil, err
	}
	for {
		op := p.peek()
		n := precedence[op.text]
		if op.kind != tokPunct || n == 0 || n < least {
			return x, nil
		}
		p.take()
		y, err := p.operators(n + 1)
		if err != nil {
			return nil, err
		}
		if x, err = p.operate(op, op.text, x, y); err != nil {
			return nil, err
		}
	}
}

func (p *parser) unary() (Expr, error) {
	if p.depth++; p.depth > maxDepth {
		return nil, p.fail(p.peek(), "nested more than %d deep; use a local variable", maxDepth)
	}
	defer func() { p.depth-- }()
	t := p.take()
	switch {
	case t.kind == tokNumber:
		return p.number(t)
	case t.kind == tokName:
		return p.name(t)
	}
	switch t.text {
	case "-":
		x, err := p.unary()
		if err != nil {
			return nil, err
		}
		return negate(x), nil
	case "+":
		return p.unary()
	case "!":
		x, err := p.unary()
		if err != nil {
			return nil, err
		}
		return not(x), nil
	case "(":
		if isLocalType(p.peek()) {
			return p.cast()
		}
		x, err := p.expr()
		if err != nil {
			return nil, err
		}
		if p.is(",") && len(p.fn.results) > 1 {
			return nil, p.fail(t, "values of several outputs are returned without parentheses: return a, b;")
		}
		_, err = p.expect(")")
		return x, err
	case "++", "--":
		return nil, p.fail(t, "%s changes a variable, which only a statement may; write two signs apart", t.text)
	}
	return nil, p.noValue(t)
}

// cast parses type) value after its opening parenthesis.
func (p *parser) cast() (Expr, error) {
	t, err := p.localType()
	if err != nil {
		return nil, err
	}
	if _, err := p.expect(")"); err != nil {
		return nil, err
	}
	x, err := p.unary()
	if err != nil {
		return nil, err
	}
	if x.typ() == Whole && !t.Floating() {
		return convert(x, t), nil
	}
	return convert(settled(x), t), nil
}

func (p *parser) number(t token) (Expr, error) {
	if strings.Trim(t.text, "0123456789") == "" {
		v, err := strconv.ParseInt(t.text, 10, 64)
		switch {
		case err == nil && (v <= maxWhole || !p.out.DType.Floating()):
			return p.whole(v), nil
		case !p.out.DType.Floating():
			return nil, p.fail(t, "%s is no whole number from 0 to %d", t, int64(math.MaxInt64))
		}
	}
	v, err := p.decimal(t)
	if err != nil {
		return nil, err
	}
	switch {
	case p.out.DType.Floating():
		return Num{v, Elem}, nil
	case strings.HasSuffix(strings.ToLower(t.text), "f"):
		if math.Abs(v) > math.MaxFloat32 {
			return nil, p.fail(t, "%s is not a decimal number in range", t)
		}
		return Num{v, Type(Float32)}, nil
	}
	return Num{v, Type(Float64)}, nil
}

// name parses a value that begins with a name.
func (p *parser) name(t token) (Expr, error) {
	f := p.fn
	if b, ok := f.lookup(t.text); ok {
		b, err := p.element(t, b)
		return b.value, err
	}
	if h := p.helpers[t.text]; h != nil {
		return p.expand(t, h)
	}
	if i := slices.IndexFunc(p.out.Scalars, func(a Argument) bool { return a.Name == t.text }); i >= 0 {
		return Scalar{i, p.out.Scalars[i].Type}, nil
	}
	if i := p.stepNamed(t.text); i >= 0 {
		return p.stepValue(t, i)
	}
	if a := p.listNamed(t.text); a != nil {
		return nil, p.fail(t, "%.40s is a list of places; in the function of sources value is what its table has, and what receivers record goes to the program", a.Name)
	}
	if p.named(t.text) && t.text != ReadName {
		byIndex := ""
		if p.is("[") && p.field(t) < 0 {
			byIndex = fmt.Sprintf(", or with read(%.40s, i), an element by its index", t.text)
		}
		return nil, p.fail(t, "%s is an array; read it with %s%s", t, p.anyGet(t.text), byIndex)
	}
	position := Type(Int32)
	if f.index > 0 {
		position = Type(Int64)
	}
	if words := []string{"get", "read", "x", "y", "z", "iteration", "input_size"}; f.key == "" && slices.Contains(words, t.text) {
		return nil, p.notNumber(t)
	}
	if words := []string{"get", "read", "x", "y", "z"}; slices.Contains(words, t.text) && p.formula() {
		return nil, p.fail(t, "%.40s is computed once, not for each cell, so %s is not known; begin it with sum, min or max, or read a step scalar that does", p.out.StepScalars[p.step].Name, t.text)
	}
	switch t.text {
	case "get":
		return p.get(t)
	case "read":
		return p.read(t)
	case "x", "y", "z":
		return Var{Position, int(t.text[0] - 'x'), position}, nil
	case "iteration":
		return Var{Iteration, 0, position}, nil
	case "input_size":
		if _, err := p.expect("."); err != nil {
			return nil, err
		}
		axis := p.take()
		if len(axis.text) != 1 || axis.text[0] < 'x' || axis.text[0] > 'z' {
			return nil, p.fail(axis, "input_size has x, y and z, not %s", axis)
		}
		return Var{Extent, int(axis.text[0] - 'x'), position}, nil
	case "value":
		return p.ownValue(t)
	}
	if name, ok := functionName(t.text); ok {
		return p.call(name)
	}
	return nil, p.unknown(t)
}

// ownValue parses value: in EdgeValue the nearest cell, in Sources that of the table, in Reduce the new one.
func (p *parser) ownValue(t token) (Expr, error) {
	switch p.fn.key {
	case "EdgeValue", "Sources":
		return Var{Nearest, 0, p.out.elem()}, nil
	case "Reduce":
		field := 0
		if len(p.out.Fields) > 1 {
			if !p.accept("(") {
				return nil, p.fail(t, "value of which field? write value(%.40s)", p.out.Fields[0].Name)
			}
			name := p.take()
			if field = p.field(name); field < 0 {
				return nil, p.fail(name, "want the name of a field here, found %s", name)
			}
			if _, err := p.expect(")"); err != nil {
				return nil, err
			}
		}
		return Var{Updated, field, p.out.elem()}, nil
	}
	return nil, p.unknown(t)
}

// get parses get([array,] dx, dy, dz): as many constant offsets as the stencil has axes.
func (p *parser) get(name token) (Expr, error) {
	if p.fn.key == "EdgeValue" {
		return nil, p.fail(name, "EdgeValue may not call get(); value is the nearest cell inside; what needs other cells is said in CellValue, where the edge's cells are those of x == 0 and so on")
	}
	if _, err := p.expect("("); err != nil {
		return nil, err
	}
	field, array, err := p.arrayName()
	if err != nil {
		return nil, err
	}
	s := p.out
	if array >= 0 && s.ReadOnly[array].Axis > 0 {
		return p.profile(array)
	}
	var at Offset
	for i := range s.Dims {
		if i > 0 && !p.accept(",") {
			return nil, p.fail(p.peek(), "get takes %s in %s", Several(s.Dims, "offset"), Several(s.Dims, "dimension"))
		}
		t := p.peek()
		v, err := p.expr()
		if err != nil {
			return nil, err
		}
		n, ok := p.known(v).(Int)
		if !ok || n.Type == Bool {
			return nil, p.fail(t, "the offsets of get must be whole numbers known here, found %s; use const int, or choose between several get() with ?:", t)
		}
		if p.fn.dry > 0 {
			continue
		}
		if n.Value > maxRadius || n.Value < -maxRadius {
			return nil, p.fail(t, "a stencil may reach %d cells at most", maxRadius)
		}
		at[i] = int(n.Value)
	}
	if !p.is(")") {
		return nil, p.fail(p.peek(), `get takes %s in %s and then ")", found %s`, Several(s.Dims, "offset"), Several(s.Dims, "dimension"), p.peek())
	}
	p.take()
	for a := range 3 {
		if max(at[a], -at[a]) > p.bound[a] {
			return nil, p.fail(name, "get(%s) reaches beyond StencilSize; raise StencilSize or shorten the offset", at.text(s.Dims))
		}
	}
	if array >= 0 {
		return Read{array, at, s.elem()}, nil
	}
	if r := (read{p.fn.stage, field, at}); p.fn.key == "CellValue" && p.fn.dry == 0 && p.gets[r].at.text == "" {
		p.gets[r] = p.here(name)
	}
	return Get{field, at, s.elem()}, nil
}

// read is a point of a field that a stage reads.
type read struct {
	stage, field int
	at           Offset
}

// spot is where something stands, and in which call of a function of the file.
type spot struct {
	at    token
	calls []*helper
}

func (p *parser) here(at token) spot {
	if len(p.calls) == 0 {
		return spot{at: at}
	}
	innermost := *p.calls[len(p.calls)-1] // another call of it changes the caller
	return spot{at, []*helper{&innermost}}
}

// arrayName parses the array that get reads; the only field may go without.
func (p *parser) arrayName() (field, array int, err error) {
	t := p.peek()
	array = slices.IndexFunc(p.out.ReadOnly, func(a Array) bool { return a.Name == t.text })
	field = p.field(t)
	if t.kind == tokName && t.text != ReadName && (array >= 0 || field >= 0) {
		p.take()
		_, err = p.expect(",")
		return field, array, err
	}
	if len(p.out.Fields) > 1 {
		if t.kind == tokName {
			return 0, -1, p.fail(t, "get which field? %s is no field and no read-only array; write get(%.40s, ...)", t, p.out.Fields[0].Name)
		}
		return 0, -1, p.fail(t, "get which field? write get(%.40s, ...)", p.out.Fields[0].Name)
	}
	return 0, -1, nil
}

// ReadName is the name of the array that read() reads; no file can declare it.
const ReadName = "read"

// read parses read([array,] index). The own cell's index in the grid is an offset of zero.
func (p *parser) read(name token) (Expr, error) {
	s := p.out
	if _, err := p.expect("("); err != nil {
		return nil, err
	}
	called := ReadName
	if p.peek().kind == tokName && p.after().text == "," {
		t := p.take()
		p.take()
		if called = t.text; !slices.ContainsFunc(s.ReadOnly, func(a Array) bool { return a.Name == called }) {
			if p.field(t) >= 0 {
				return nil, p.fail(t, "%s is a field, which only get reads, at offsets that are known here; read is of ReadOnly arrays", t)
			}
			return nil, p.fail(t, "want the name of a read-only array here, found %s; declare it with ReadOnly (%.40s)", t, t.text)
		}
	}
	array := slices.IndexFunc(s.ReadOnly, func(a Array) bool { return a.Name == called })
	p.fn.index++
	index, err := p.expr()
	p.fn.index--
	if err != nil {
		return nil, err
	}
	if p.is(",") {
		return nil, p.fail(p.peek(), "read takes one index; of a cell of the grid it is %s", []string{"x", "y * input_size.x + x", "(z * input_size.y + y) * input_size.x + x"}[s.Dims-1])
	}
	if index.typ().Floating() {
		return nil, p.fail(name, "read takes the index of an element; convert it with (int)")
	}
	if _, err := p.expect(")"); err != nil {
		return nil, err
	}
	if array < 0 {
		if p.fn.dry > 0 {
			return convert(Int{0, Whole}, s.elem()), nil
		}
		array = len(s.ReadOnly)
		s.ReadOnly = append(s.ReadOnly, Array{Name: ReadName})
	}
	index = convert(index, Type(Int64))
	if p.fn.key != "EdgeValue" && s.ReadOnly[array].Axis == 0 && isOwnIndex(index, s.Dims) {
		return Read{array, Offset{}, s.elem()}, nil
	}
	return ReadAt{array, index, s.elem()}, nil
}

// call parses the arguments of a function.
func (p *parser) call(name string) (Expr, error) {
	arity := mathFuncs[name].arity
	if floating, ok := choices[name]; ok {
		arity = mathFuncs[floating].arity
	}
	if _, err := p.expect("("); err != nil {
		return nil, err
	}
	var args []Expr
	for i := range arity {
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
	if p.is(",") {
		return nil, p.fail(p.peek(), "%s takes %d; %s", name, arity, map[bool]string{true: "nest calls, like " + name + "(a, " + name + "(b, c))", false: "remove what follows"}[arity > 1])
	}
	if _, err := p.expect(")"); err != nil {
		return nil, err
	}
	if _, ok := choices[name]; ok {
		return choice(name, args), nil
	}
	t := Elem
	if !p.out.DType.Floating() {
		t = Type(Float64)
		if !slices.ContainsFunc(args, func(a Expr) bool { return a.typ() != Type(Float32) }) {
			t = Type(Float32)
		}
	}
	for i := range args {
		args[i] = convert(args[i], t)
	}
	return Call{name, args, t}, nil
}
