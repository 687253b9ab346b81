package stencil

import (
	"maps"
	"slices"
)

// live is a function's block without what nothing reads.
func live(body []Stmt) []Stmt {
	out, _ := liveBlock(body, map[int]bool{})
	return declared(out)
}

// liveBlock gives a block without what nothing reads, and the locals it reads; after are
// those read after it, changed in place.
func liveBlock(body []Stmt, after map[int]bool) ([]Stmt, map[int]bool) {
	reads := func(e Expr) {
		walk(e, func(e Expr) {
			if l, ok := e.(Local); ok {
				after[l.Index] = true
			}
		})
	}
	var out []Stmt
	for _, st := range slices.Backward(body) {
		switch x := st.(type) {
		case Let:
			if !after[x.Local] {
				if !x.Declare {
					continue
				}
				x.Value = nil // a declaration, if a later value needs it
				st = x
				break
			}
			delete(after, x.Local)
			reads(x.Value)
		case Return:
			clear(after)
			for _, v := range x.Values {
				reads(v)
			}
		case If:
			then, a := liveBlock(x.Then, maps.Clone(after))
			otherwise, b := liveBlock(x.Else, maps.Clone(after))
			if len(then)+len(otherwise) == 0 {
				continue
			}
			maps.Copy(a, b)
			after = a
			reads(x.Cond)
			st = If{x.Cond, then, otherwise}
		}
		out = append(out, st)
	}
	slices.Reverse(out)
	return out, after
}

// declared moves declarations without a value to the first value, and drops those that
// nothing needs.
func declared(body []Stmt) []Stmt {
	var out []Stmt
	pending := map[int]Let{}
	for _, st := range body {
		switch x := st.(type) {
		case Let:
			if x.Value == nil {
				pending[x.Local] = x
				continue
			}
			if _, ok := pending[x.Local]; ok {
				delete(pending, x.Local)
				x.Declare = true
				st = x
			}
		case If:
			set := map[int]bool{}
			sets([]Stmt{x}, set)
			for _, l := range slices.Sorted(maps.Keys(set)) {
				if d, ok := pending[l]; ok {
					delete(pending, l)
					d.Value = nothing(d.Type)
					out = append(out, d)
				}
			}
			x.Then, x.Else = declared(x.Then), declared(x.Else)
			st = x
		}
		out = append(out, st)
	}
	return out
}

// free is a local from which on a function has none.
func free(body []Stmt) (first int) {
	set := map[int]bool{}
	sets(body, set)
	for l := range set {
		first = max(first, l+1)
	}
	return first
}

// sets finds the locals that a block sets.
func sets(body []Stmt, set map[int]bool) {
	for _, st := range body {
		switch x := st.(type) {
		case Let:
			set[x.Local] = true
		case If:
			sets(x.Then, set)
			sets(x.Else, set)
		}
	}
}

// nothing is the zero of a type.
func nothing(t Type) Expr {
	if t.Floating() {
		return Num{0, t}
	}
	return Int{0, t}
}

// OutputPoints are the points that one output of a stage is computed from, by array, fields first. Its own is one where an edge may hold it.
func (s *Stencil) OutputPoints(stage, output int) [][]Offset {
	points := make([][]Offset, len(s.Fields)+len(s.ReadOnly))
	if f := s.Stages[stage].Outputs[output]; s.Fields[f].Has(Fixed) {
		points[f] = addPoint(nil, Offset{}) // a cell near the edge may keep its value
	}
	walkBody(s.OutputBody(stage, output), func(e Expr) {
		switch e := e.(type) {
		case Get:
			points[e.Field] = addPoint(points[e.Field], e.At)
		case Read:
			points[len(s.Fields)+e.Array] = addPoint(points[len(s.Fields)+e.Array], e.At)
		}
	})
	return points
}

// OutputBody is a stage's function that returns one of its outputs alone.
func (s *Stencil) OutputBody(stage, output int) []Stmt {
	return live(only(s.Stages[stage].Body, []int{output}))
}

// only is a block that returns some of its values.
func only(body []Stmt, outputs []int) []Stmt {
	out := slices.Clone(body)
	for i, st := range out {
		switch x := st.(type) {
		case Return:
			var values []Expr
			for _, o := range outputs {
				values = append(values, x.Values[o])
			}
			out[i] = Return{values}
		case If:
			out[i] = If{x.Cond, only(x.Then, outputs), only(x.Else, outputs)}
		}
	}
	return out
}
