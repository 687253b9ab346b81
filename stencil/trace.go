package stencil

// traces is what a program computes, however indirectly, from fields that are stored with fewer digits than it computes in. What
// leaves none of them, as an integer field beside a float16 one, errs by its own arithmetic alone.
type traces struct{ fields, numbers map[int]bool } // by index, of fields and of scalars

// traces finds them: they grow until nothing new has any.
func (p Problem) traces(unit float64) traces {
	s, t := p.Stencil, traces{map[int]bool{}, map[int]bool{}}
	for f := range s.Fields {
		if d := p.Stored(f); d.Floating() && d.Epsilon()/2 > unit {
			t.fields[f] = true
		}
	}
	for known := -1; known < len(t.fields)+len(t.numbers); {
		known = len(t.fields) + len(t.numbers)
		mark := func(body []Stmt, near int, set map[int]bool, of ...int) {
			if _, any := t.in(body, near); any {
				for _, i := range of {
					set[i] = true
				}
			}
		}
		for i := range s.StepScalars {
			mark(s.StepScalars[i].Body, -1, t.numbers, len(s.Scalars)+i)
		}
		for f := range s.Fields {
			mark(s.Fields[f].Edge, f, t.fields, f)
		}
		for _, a := range s.Sparse {
			if a.Sources() {
				mark(a.Body, -1, t.fields, a.Field)
			}
		}
		for _, st := range s.Stages {
			for i, f := range st.Outputs {
				mark(st.returning(i), -1, t.fields, f)
			}
		}
	}
	return t
}

// returning is the stage's function of one output.
func (st *Stage) returning(output int) []Stmt {
	var only func(body []Stmt) []Stmt
	only = func(body []Stmt) (out []Stmt) {
		for _, one := range body {
			switch x := one.(type) {
			case Return:
				one = Return{x.Values[output : output+1]}
			case If:
				one = If{x.Cond, only(x.Then), only(x.Else)}
			}
			out = append(out, one)
		}
		return out
	}
	return only(st.Body)
}

// in gives the locals of a function that have traces, all of them where a decision has, and whether what it returns has; near is the
// field of an EdgeValue, or -1.
func (t traces) in(body []Stmt, near int) (locals map[int]bool, returned bool) {
	locals = map[int]bool{}
	all := false
	var follow func(body []Stmt)
	follow = func(body []Stmt) {
		for _, one := range body {
			switch x := one.(type) {
			case Let:
				if x.Value != nil && (all || t.of(x.Value, near, locals)) {
					locals[x.Local] = true
				}
			case Return:
				for _, v := range x.Values {
					returned = returned || all || t.of(v, near, locals)
				}
			case If:
				all = all || t.of(x.Cond, near, locals)
				follow(x.Then)
				follow(x.Else)
			}
		}
	}
	follow(body)
	return locals, returned
}

// of tells whether an expression has traces.
func (t traces) of(e Expr, near int, locals map[int]bool) (found bool) {
	walk(e, func(e Expr) {
		switch e := e.(type) {
		case Get:
			found = found || t.fields[e.Field]
		case Scalar:
			found = found || t.numbers[e.Index]
		case Local:
			found = found || locals[e.Index]
		case Var:
			found = found || e.Kind == Nearest && near >= 0 && t.fields[near]
		}
	})
	return found
}
