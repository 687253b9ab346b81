package stencil

import "slices"

// copies finds the outputs of a stage that are the old value at the own cell of another field, stored in
// the same type, each field's at most once. A function with several returns has none.
func (st *Stage) copies(fields []Array) []Copy {
	last := len(st.Body) - 1
	ret, ok := st.Body[last].(Return)
	if !ok || slices.ContainsFunc(st.Body[:last], holdsReturn) {
		return nil
	}
	var found []Copy
	for o, field := range st.Outputs {
		g, ok := st.resolve(ret.Values[o]).(Get)
		taken := func(c Copy) bool { return c.From == g.Field }
		if !ok || g.At != (Offset{}) || g.Field == field || fields[g.Field].Type != fields[field].Type || !slices.Contains(st.Outputs, g.Field) || slices.ContainsFunc(found, taken) {
			continue
		}
		found = append(found, Copy{field, g.Field})
	}
	if len(found) == len(st.Outputs) { // fields that only change places: nothing would be left to compute
		return nil
	}
	return found
}

// holdsReturn tells whether a statement holds a return.
func holdsReturn(s Stmt) bool {
	switch s := s.(type) {
	case Return:
		return true
	case If:
		return slices.ContainsFunc(s.Then, holdsReturn) || slices.ContainsFunc(s.Else, holdsReturn)
	}
	return false
}

// resolve gives what a local holds that is set once, or the expression itself.
func (st *Stage) resolve(e Expr) Expr {
	l, ok := e.(Local)
	if !ok {
		return e
	}
	var values []Expr
	var walk func([]Stmt)
	walk = func(body []Stmt) {
		for _, s := range body {
			switch s := s.(type) {
			case Let:
				if s.Local == l.Index {
					values = append(values, s.Value)
				}
			case If:
				walk(s.Then)
				walk(s.Else)
			}
		}
	}
	walk(st.Body)
	if len(values) != 1 {
		return e
	}
	return values[0]
}
