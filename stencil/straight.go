package stencil

import (
	"maps"
	"slices"
)

// straight is a function in which short alternatives that cells choose from by what they read are all computed, before one of
// them is taken. Compilers leave approximations of quotients and roots behind a branch where they are several, and a warp whose cells
// differ takes both ways, one after the other. What depends on the place or the step alone stays a branch: most warps take one way
// (docs/lab/0039-alternatives.md).
func (s *Stencil) straight(body []Stmt) []Stmt {
	a := alternatives{dtype: s.DType, next: free(body), reads: map[int]bool{}}
	return a.block(body)
}

// alternatives makes a function straight.
type alternatives struct {
	dtype  DType        // of floating-point numbers in a stencil of integers all are double
	next   int          // a local that is free
	reads  map[int]bool // locals that follow from what the cell reads
	before []Stmt       // what a statement needs computed before it
}

// block makes a block straight.
func (a *alternatives) block(body []Stmt) (out []Stmt) {
	for i, st := range body {
		switch st := st.(type) {
		case Let:
			a.reads[st.Local] = a.reads[st.Local] && !st.Declare || a.varies(st.Value)
			st.Value = a.expr(st.Value)
			out = append(a.needed(out), st)
		case Return:
			values := make([]Expr, len(st.Values))
			for i, v := range st.Values {
				values[i] = a.expr(v)
			}
			out = append(a.needed(out), Return{values})
		case If:
			varies := a.varies(st.Cond)
			then, otherwise := a.block(st.Then), a.block(st.Else)
			sets([]Stmt{st}, a.reads)
			x, y := slices.Clip(then), slices.Clip(otherwise)
			ends := returns(then) || returns(otherwise)
			var rest []Stmt
			if ends { // the branch that goes on computes what follows
				rest = a.block(body[i+1:])
				if !returns(x) {
					x = append(x, rest...)
				}
				if !returns(y) {
					y = append(y, rest...)
				}
			}
			if varies && returns(x) == returns(y) && a.short(x, y) {
				out = append(out, a.chosen(st.Cond, x, y)...)
			} else {
				out = append(append(out, If{st.Cond, then, otherwise}), rest...)
			}
			if ends {
				return out
			}
		}
	}
	return out
}

// needed is a block with what its next statement needs.
func (a *alternatives) needed(out []Stmt) []Stmt {
	out = append(out, a.before...)
	a.before = nil
	return out
}

// varies tells whether e follows from what the cell reads.
func (a *alternatives) varies(e Expr) (yes bool) {
	walk(e, func(e Expr) {
		switch e := e.(type) {
		case Get, Read, ReadAt, Sum:
			yes = true
		case Local:
			yes = yes || a.reads[e.Index]
		}
	})
	return yes
}

// Operations of both alternatives, at least where none of them approximates (compilers compute so few by themselves), and at most. In
// double approximations are many operations, of slower units; integers of 64 bits take two and more for each.
const (
	leastExact = 9
	mostSingle = 48
	mostDouble = 24
)

// short tells whether both of two blocks are computed: they have no branch left, no function whose code branches, and few operations.
func (a *alternatives) short(then, otherwise []Stmt) bool {
	var values []Expr
	for _, st := range slices.Concat(then, otherwise) {
		switch st := st.(type) {
		case If:
			return false
		case Let:
			values = append(values, st.Value)
		case Return:
			values = append(values, st.Values...)
		}
	}
	branches, approximations, long := false, 0, a.dtype.Size() == 8
	double := a.dtype == Float64 || !a.dtype.Floating()
	for _, v := range values {
		walk(v, func(e Expr) {
			long = long || double && e.typ().Floating()
			switch e := e.(type) {
			case ReadAt: // it may lie anywhere
				branches = true
			case Binary:
				divides := e.Op == "/" || e.Op == "%"
				branches = branches || divides && helped(e)
				if divides && e.Type.Floating() && !uniform(e.Y) {
					approximations++
				}
			case Call:
				branches = branches || branchy(e, double)
				if special(e.Func) >= 0 {
					approximations++
				}
			}
		})
	}
	o := counted(then).plus(counted(otherwise))
	least, most, weight := leastExact, mostSingle, 2
	if long {
		most, weight = mostDouble, 8
	}
	return !branches && (approximations > 0 || o.Total() >= least) && o.Total()+weight*(o.Div+o.Special) <= most
}

// counted are the operations of a block of one cell.
func counted(body []Stmt) Ops {
	c := newCounter()
	c.cell(body, Offset{})
	for _, id := range c.locals {
		c.nodes[id].others++
	}
	return c.ops()
}

// kept is e, or a local that is e where it takes an operation, or is a local that is set to something else before e is asked for.
func (a *alternatives) kept(e Expr, set map[int]bool) (Expr, []Stmt) {
	switch e := e.(type) {
	case Num, Int, Scalar, Var, Get, Read:
		return e, nil
	case Local:
		if !set[e.Index] {
			return e, nil
		}
	}
	l := Let{a.next, e.typ(), e, true}
	a.next++
	a.reads[l.Local] = true
	return Local{l.Local, l.Type}, []Stmt{l}
}

// chosen are two blocks one after the other, and which of their results is taken.
func (a *alternatives) chosen(cond Expr, then, otherwise []Stmt) (out []Stmt) {
	set := map[int]bool{} // one after the other
	sets(then, set)
	sets(otherwise, set)
	test, out := a.kept(cond, set)
	type pair [2]Expr
	var results []pair
	values, inside := map[int]pair{}, map[int]bool{}
	for i, body := range [][]Stmt{then, otherwise} {
		names := map[int]Expr{}
		keep := func(e Expr) Expr {
			v, before := a.kept(expanded(e, names), set)
			out = append(out, before...)
			return v
		}
		for _, st := range body {
			switch st := st.(type) {
			case Let:
				names[st.Local] = keep(st.Value)
				inside[st.Local] = inside[st.Local] || st.Declare
			case Return:
				for j, v := range st.Values {
					if i == 0 {
						results = append(results, pair{})
					}
					results[j][i] = keep(v)
				}
			}
		}
		for l, v := range names {
			both := values[l]
			both[i] = v
			values[l] = both
		}
	}
	if results != nil {
		var last []Expr
		for _, both := range results {
			last = append(last, Cond{test, both[0], both[1]})
		}
		return append(out, Return{last})
	}
	for _, l := range slices.Sorted(maps.Keys(values)) {
		if inside[l] { // nothing after the blocks knows it
			continue
		}
		both := values[l]
		for i, v := range both {
			if v == nil {
				both[i] = Local{l, both[1-i].typ()}
			}
		}
		out = append(out, Let{l, both[0].typ(), Cond{test, both[0], both[1]}, false})
	}
	return out
}

// expr is e whose short alternatives are computed before.
func (a *alternatives) expr(e Expr) Expr {
	return replaceOutermost(e, func(e Expr) (Expr, bool) {
		c, ok := e.(Cond)
		if !ok {
			return nil, false
		}
		then, otherwise := []Stmt{Return{[]Expr{c.Then}}}, []Stmt{Return{[]Expr{c.Else}}}
		if !a.varies(c.If) || !a.short(then, otherwise) {
			return c, true
		}
		keep := func(e Expr) Expr {
			v, before := a.kept(a.expr(e), nil)
			a.before = append(a.before, before...)
			return v
		}
		return Cond{a.expr(c.If), keep(c.Then), keep(c.Else)}, true
	})
}
