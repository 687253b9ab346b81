package stencil

import (
	"math"
	"slices"
)

// storeFields makes every value of a field that has a type of its own one of that type: what stages and sources set in it, and
// what lies outside. Then kernels may keep it anywhere, as a value of the element type.
func (p *parser) storeFields() error {
	s := p.out
	for i := range s.Stages {
		st := &s.Stages[i]
		st.Body = s.storing(st.Body, st.Outputs, false)
	}
	for i := range s.Sparse {
		if a := &s.Sparse[i]; a.Sources() {
			a.Body = s.storing(a.Body, []int{a.Field}, false)
		}
	}
	for i := range s.Fields {
		f := &s.Fields[i]
		f.Edge = s.storing(f.Edge, []int{i}, true)
		for axis := range p.ends[i] {
			p.ends[i][axis] = s.storing(p.ends[i][axis], []int{i}, true)
		}
		for axis := range s.Dims {
			for side := range f.Rules[axis] {
				c := &f.Rules[axis][side].Constant
				if v := f.Type.Round(*c); f.Type != "" && (v != *c && !f.Type.Floating() || math.IsInf(v, 0)) {
					return p.fail(p.saidOutside(f.Name, axis, side), "%v is no %s, which %.40s is stored in", *c, f.Type, f.Name)
				} else if f.Type != "" {
					*c = v
				}
			}
		}
	}
	return nil
}

// storing is a function whose values go to fields, or with edge an EdgeValue.
func (s *Stencil) storing(body []Stmt, outputs []int, edge bool) []Stmt {
	if !slices.ContainsFunc(outputs, func(f int) bool { return s.Fields[f].Type != "" }) {
		return body
	}
	var out []Stmt
	for _, st := range body {
		switch x := st.(type) {
		case Return:
			var values []Expr
			for i, v := range x.Values {
				values = append(values, s.stored(v, s.Fields[outputs[i]].Type, edge))
			}
			st = Return{values}
		case If:
			st = If{x.Cond, s.storing(x.Then, outputs, edge), s.storing(x.Else, outputs, edge)}
		}
		out = append(out, st)
	}
	return out
}

// stored is a value, of EdgeValue or not, that goes through an array of a type; "" is the element type.
func (s *Stencil) stored(v Expr, d DType, edge bool) Expr {
	switch e := v.(type) {
	case Get:
		if e.At == (Offset{}) && s.Fields[e.Field].Type == d { // it comes from one
			return v
		}
	case Var:
		if e.Kind == Nearest && edge { // so it does there
			return v
		}
	case Num:
		if r := d.Round(e.Value); d != "" && d.Floating() && finite(r) {
			return Num{r, e.Type}
		}
	}
	switch {
	case d == "" || d == Float64 || d == s.DType && !d.Floating(): // they hold every value
		return v
	case d.Floating():
		return Cast{Cast{v, Type(d)}, s.elem()}
	}
	return convert(convert(v, Type(d)), s.elem())
}

// storesAs tells whether an expression is a value that goes through an array of a floating-point type.
func (e Cast) storesAs() (DType, bool) {
	return DType(e.Type), e.Type != Elem && e.Type.Floating() && e.X.typ() == Elem
}

// coarsest is the field types that keep fewer digits than what is computed: the largest relative error of storing a value.
func (p Problem) coarsest() (unit float64) {
	for _, f := range p.Stencil.Fields {
		if f.Type != "" && f.Type.Floating() && f.Type != Float64 {
			unit = max(unit, f.Type.Epsilon()/2)
		}
	}
	return unit
}

// limit is the largest value that a field holds, as it is stored and as it is read.
func (p Problem) limit(field int) float64 {
	if d := p.Stored(field); d.Floating() {
		return min(d.largest(), p.DType.largest())
	}
	return p.DType.largest()
}

// keeps is the type whose digits a field has: its own, or the element type where that has fewer.
func (p Problem) keeps(field int) DType {
	if d := p.Stored(field); !d.Floating() || d.Epsilon() > p.DType.Epsilon() {
		return d
	}
	return p.DType
}
