package stencil

// Reduction is the stencil of one stage whose only output is, at each cell, the value
// that Reduce gives there; nil where s has no Reduce. Its fields are those of s before
// the step, which get reads, and then those of s after it, which value reads.
//
// It has the scalars and read-only arrays of s, and its boundary rules but Fixed: that
// says which cells change, and outside of the grid the nearest cell is read.
func (s *Stencil) Reduction() *Stencil {
	if s.Reduce == nil {
		return nil
	}
	r := *s
	r.Of, r.Evaluations = nil, nil
	r.Reduce, r.Until, r.StepScalars, r.Sparse, r.Points, r.Low, r.High, r.Ops = nil, nil, nil, nil, nil, [3]int{}, [3]int{}, Ops{}
	n := len(s.Fields)
	r.Fields, r.ReadOnly = nil, nil
	for range 2 { // before and after; every field has an EdgeValue if one has
		for _, f := range s.Fields {
			for axis := range f.Rules {
				for side := range f.Rules[axis] {
					if rule := &f.Rules[axis][side]; rule.Boundary == Fixed {
						rule.Boundary = Clamp
					}
				}
			}
			r.Fields = append(r.Fields, Array{Name: f.Name, Rules: f.Rules, Edge: f.Edge, Type: f.Type})
		}
	}
	for _, a := range s.ReadOnly {
		r.ReadOnly = append(r.ReadOnly, Array{Name: a.Name, Rules: a.Rules, Indexed: a.Indexed, Axis: a.Axis, Type: a.Type})
	}
	r.Stages = []Stage{{Outputs: []int{n}, Body: replaceBody(s.Reduce.Body, func(e Expr) Expr {
		if v, ok := e.(Var); ok && v.Kind == Updated {
			return Get{n + v.Index, Offset{}, v.Type}
		}
		return e
	})}}
	r.finish()
	return &r
}

// replace gives e with every expression under it replaced, the innermost first.
func replace(e Expr, f func(Expr) Expr) Expr {
	switch x := e.(type) {
	case ReadAt:
		x.Index = replace(x.Index, f)
		e = x
	case Neg:
		x.X = replace(x.X, f)
		e = x
	case Not:
		x.X = replace(x.X, f)
		e = x
	case mark:
		x.X = replace(x.X, f)
		e = x
	case Cast:
		x.X = replace(x.X, f)
		e = x
	case Binary:
		x.X, x.Y = replace(x.X, f), replace(x.Y, f)
		e = x
	case Cond:
		x.If, x.Then, x.Else = replace(x.If, f), replace(x.Then, f), replace(x.Else, f)
		e = x
	case Call:
		args := make([]Expr, len(x.Args))
		for i, a := range x.Args {
			args[i] = replace(a, f)
		}
		x.Args = args
		e = x
	}
	return f(e)
}

// replaceBody does so in a block.
func replaceBody(body []Stmt, f func(Expr) Expr) []Stmt {
	var out []Stmt
	for _, st := range body {
		switch x := st.(type) {
		case Let:
			x.Value = replace(x.Value, f)
			st = x
		case Return:
			values := make([]Expr, len(x.Values))
			for i, v := range x.Values {
				values[i] = replace(v, f)
			}
			st = Return{values}
		case If:
			st = If{replace(x.Cond, f), replaceBody(x.Then, f), replaceBody(x.Else, f)}
		}
		out = append(out, st)
	}
	return out
}
