package stencil

// replace gives e with every expression under it replaced, the innermost first.
func replace(e Expr, f func(Expr) Expr) Expr {
	return f(operands(e, func(x Expr) Expr { return replace(x, f) }))
}

// replaceOutermost gives e with those that f takes replaced, and nothing within them.
func replaceOutermost(e Expr, f func(Expr) (Expr, bool)) Expr {
	if with, ok := f(e); ok {
		return with
	}
	return operands(e, func(x Expr) Expr { return replaceOutermost(x, f) })
}

// operands gives e with what it is made of replaced.
func operands(e Expr, f func(Expr) Expr) Expr {
	switch x := e.(type) {
	case ReadAt:
		x.Index = f(x.Index)
		e = x
	case Neg:
		x.X = f(x.X)
		e = x
	case Not:
		x.X = f(x.X)
		e = x
	case mark:
		x.X = f(x.X)
		e = x
	case Cast:
		x.X = f(x.X)
		e = x
	case Binary:
		x.X, x.Y = f(x.X), f(x.Y)
		e = x
	case Cond:
		x.If, x.Then, x.Else = f(x.If), f(x.Then), f(x.Else)
		e = x
	case Call:
		args := make([]Expr, len(x.Args))
		for i, a := range x.Args {
			args[i] = f(a)
		}
		x.Args = args
		e = x
	}
	return e
}

// replaceBody replaces so in a block, the innermost first.
func replaceBody(body []Stmt, f func(Expr) Expr) []Stmt {
	return mapBody(body, func(e Expr) Expr { return replace(e, f) })
}

// mapBody gives a block with f of each statement's expressions.
func mapBody(body []Stmt, f func(Expr) Expr) []Stmt {
	var out []Stmt
	for _, st := range body {
		switch x := st.(type) {
		case Let:
			x.Value = f(x.Value)
			st = x
		case Return:
			values := make([]Expr, len(x.Values))
			for i, v := range x.Values {
				values[i] = f(v)
			}
			st = Return{values}
		case If:
			st = If{f(x.Cond), mapBody(x.Then, f), mapBody(x.Else, f)}
		}
		out = append(out, st)
	}
	return out
}
