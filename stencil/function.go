package stencil

import (
	"fmt"
	"slices"
)

// function is a function being parsed.
type function struct {
	key     string // of the file: CellValue, EdgeValue, Reduce and so on; empty of a constant of the file
	name    string // as messages have it
	results []Type // of the values it returns
	*frame
	scopes   []map[string]binding
	expanded []Stmt // of calls in the statement being parsed: they come before it
	dry      int    // > 0 in a branch that is never taken: it is checked and dropped
	index    int    // > 0 inside the index of read(): positions are int64
}

// frame is what a function shares with those that are expanded in it.
type frame struct {
	stage  int // of a CellValue
	locals int
	untidy bool         // may hold what nothing reads
	values map[int]Expr // of the locals whose values are known at the place that is being parsed: Int or Num
	log    []change
}

// change is a local before its value changed.
type change struct {
	local int
	value Expr // nil: not known
}

// note says what a local's value is from here on; nil where it is not known.
func (f *frame) note(local int, v Expr) {
	if f.values == nil {
		f.values = map[int]Expr{}
	}
	f.log = append(f.log, change{local, f.values[local]})
	if f.values[local] = v; v == nil {
		delete(f.values, local)
	}
}

// back takes back the changes of a branch, but for the first so many, and gives the locals that changed.
func (f *frame) back(first int) (locals []int) {
	for _, c := range slices.Backward(f.log[first:]) {
		locals = append(locals, c.local)
		if f.values[c.local] = c.value; c.value == nil {
			delete(f.values, c.local)
		}
	}
	f.log = f.log[:first]
	return locals
}

// binding is what a name stands for: a value, a local that may be set, or an array of those.
type binding struct {
	value    Expr
	variable bool // value is a Local that may be set
	typ      Type
	extents  []int // of an array, else nil
	elements []binding
}

func (f *function) lookup(name string) (binding, bool) {
	for _, scope := range slices.Backward(f.scopes) {
		if b, ok := scope[name]; ok {
			return b, true
		}
	}
	return binding{}, false
}

func (f *function) bind(name string, b binding) { f.scopes[len(f.scopes)-1][name] = b }
func (f *function) open()                       { f.scopes = append(f.scopes, map[string]binding{}) }
func (f *function) close()                      { f.scopes = f.scopes[:len(f.scopes)-1] }

// cellType is the type of a local or scalar that a file declares with type d.
func (p *parser) cellType(t token, d DType) (Type, error) {
	switch {
	case p.out.DType.Floating() && d.Floating():
		return Elem, nil
	case d == Float16 || d == BFloat16:
		return "", p.fail(t, "%s is an element type only; use float", d)
	}
	return Type(d), nil
}

// block parses a function: [stage or field] [(outputs)] { statements }.
func (p *parser) block(b block) error {
	s := p.out
	p.at = b.at
	p.fn = &function{key: b.key.text, name: b.key.text, frame: &frame{}, scopes: []map[string]binding{p.constants}}
	p.fn.open()
	switch b.key.text {
	case "CellValue":
		return p.cellValue(b.key)
	case "EdgeValue":
		return p.edgeValue(b.key)
	case "StepScalar":
		return p.stepBody()
	case "Sources", "Receivers":
		return p.sparseBody(b.key)
	}
	p.fn.results = []Type{s.elem()}
	var err error
	s.Reduce.Body, err = p.wholeBody()
	return err
}

func (p *parser) cellValue(key token) error {
	s := p.out
	var st *Stage
	if _, named := p.seen["Stages"]; named {
		t := p.take()
		i := slices.IndexFunc(s.Stages, func(st Stage) bool { return st.Name == t.text })
		if i < 0 {
			return p.fail(t, "want the name of a stage here, found %s; every stage stands in Stages (...)", t)
		}
		if st = &s.Stages[i]; st.Body != nil {
			return p.fail(key, "stage %.40s is given twice; remove one", st.Name)
		}
	} else {
		if len(s.Stages) > 0 {
			return p.fail(key, "CellValue is given twice; name several with Stages (first, second)")
		}
		s.Stages = []Stage{{}}
		st = &s.Stages[0]
	}
	if t := p.peek(); t.kind == tokName {
		if p.field(t) >= 0 {
			return p.fail(t, `want "{" here, found %s; the fields that a function sets stand in parentheses: CellValue (%.40s)`, t, t.text)
		}
		return p.fail(t, `want "{" here, found %s; stages are named by Stages (%.40s), in the order they run`, t, t.text)
	}
	if p.is("(") {
		err := p.list(func(int) error {
			t := p.take()
			i, err := p.anotherField(t, func(i int) bool { return slices.Contains(st.Outputs, i) })
			if err != nil {
				return err
			}
			st.Outputs = append(st.Outputs, i)
			return nil
		})
		if err != nil {
			return err
		}
	} else {
		for i := range s.Fields {
			st.Outputs = append(st.Outputs, i)
		}
	}
	for range st.Outputs {
		p.fn.results = append(p.fn.results, s.elem())
	}
	p.fn.stage = slices.IndexFunc(s.Stages, func(one Stage) bool { return one.Name == st.Name })
	var err error
	st.Body, err = p.wholeBody()
	return err
}

// field gives the index of a field by its name, -1 for none.
func (p *parser) field(t token) int {
	return slices.IndexFunc(p.out.Fields, func(f Array) bool { return f.Name == t.text && f.Name != "" })
}

// anotherField is the field that a token of a list names, one that is not taken yet.
func (p *parser) anotherField(t token, taken func(int) bool) (int, error) {
	i := p.field(t)
	switch {
	case i < 0:
		return 0, p.fail(t, "want the name of a field here, found %s; Fields declares them all", t)
	case taken(i):
		return 0, p.fail(t, "%s is named twice; remove one", t)
	}
	return i, nil
}

// Several is a number of things, in words: 1 step, 2 steps.
func Several(n int, what string) string {
	if n == 1 {
		return "1 " + what
	}
	return fmt.Sprintf("%d %ss", n, what)
}

// wholeBody is functionBody of a function that stands by itself.
func (p *parser) wholeBody() ([]Stmt, error) {
	body, err := p.functionBody()
	if p.fn.untidy {
		body = trimmed(body, map[int]bool{})
	}
	return body, err
}

// trimmed is a block without variables that nothing reads after they are set: read are those that what follows reads.
func trimmed(body []Stmt, read map[int]bool) []Stmt {
	reads := func(e Expr) {
		walk(e, func(e Expr) {
			if l, ok := e.(Local); ok {
				read[l.Index] = true
			}
		})
	}
	var out []Stmt
	for _, st := range slices.Backward(body) {
		switch x := st.(type) {
		case Let:
			if !read[x.Local] {
				continue
			}
			reads(x.Value)
		case Return:
			for _, v := range x.Values {
				reads(v)
			}
		case If:
			x.Else, x.Then = trimmed(x.Else, read), trimmed(x.Then, read)
			if len(x.Then)+len(x.Else) == 0 {
				continue
			}
			reads(x.Cond)
			st = x
		}
		out = append(out, st)
	}
	slices.Reverse(out)
	return out
}

// functionBody parses { statements } that must return on every way.
func (p *parser) functionBody() ([]Stmt, error) {
	if _, err := p.expect("{"); err != nil {
		return nil, err
	}
	body, err := p.statements()
	if err != nil {
		return nil, err
	}
	end := p.take()
	switch {
	case len(body) == 0:
		return nil, p.fail(end, "%.40s returns nothing; end it with return", p.fn.name)
	case !returns(body):
		return nil, p.fail(end, "%.40s must end with return", p.fn.name)
	}
	return body, nil
}

// returns tells whether no way leads past the end of a block.
func returns(body []Stmt) bool {
	if len(body) == 0 {
		return false
	}
	switch last := body[len(body)-1].(type) {
	case Return:
		return true
	case If:
		return returns(last.Then) && returns(last.Else)
	}
	return false
}
