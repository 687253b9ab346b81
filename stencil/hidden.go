package stencil

import (
	"cmp"
	"fmt"
	"maps"
	"math"
	"reflect"
	"slices"
	"sync"
)

// A hidden value pays where it saves at least leastSaved operations, one that only
// hidden stages read nestedSaved, and all of a stage together worthSaved. Additions and
// products count 1, quotients 8, functions 10.
const (
	leastSaved  = 3
	nestedSaved = 6
	worthSaved  = 6
)

// pointwisePlaces is at how many places a pointwise value is read at least: it saves little else, and takes planes.
const pointwisePlaces = 4

// maxCandidates and maxVisits bound what is tried for a stage, those first that may save
// most, and how many operations are visited to compare sets of them.
const (
	maxCandidates = 128
	maxVisits     = 5_000_000
)

// hoistings are those of stencils seen before: a stencil never changes.
var hoistings sync.Map // hoisting to *Stencil

type hoisting struct {
	st   *Stencil
	kind Hidden
}

// Hidden is which values that neighbouring cells compute alike are stages of their own.
type Hidden int

// Kinds of hidden values.
const (
	NoneHidden Hidden = iota
	// Shared are those that save most operations, wherever they read.
	Shared
	// Pointwise are computed at one cell, of several arrays or by what is no weighted sum: one array stands for several.
	Pointwise
	// Boxed are Shared where sums over boxes with separable weights are nested before (boxed), and sums along an axis may be hidden values.
	Boxed
)

// Hoisted is the stencil with hidden stages for what neighbouring cells compute alike, as
// fluxes through their common face; nil where there is nothing of the kind that pays, or it is the same as Shared. Its hidden fields
// follow the others. Sums are not grouped anew but where Boxed: only signs move, operands of + and * change
// sides, so that at most the sign of a zero differs (cross-iteration redundancy elimination of Luporini et al., "Architecture and
// performance of Devito", ACM TOMS 2020, section 4.3).
func (s *Stencil) Hoisted(kind Hidden) *Stencil {
	key := hoisting{s, kind}
	if h, ok := hoistings.Load(key); ok {
		return h.(*Stencil)
	}
	h := s.hoist(kind, leastSaved, worthSaved)
	if kind == Pointwise && h != nil {
		if shared := s.Hoisted(Shared); shared != nil && reflect.DeepEqual(h.Stages, shared.Stages) {
			h = nil
		}
	}
	kept, _ := hoistings.LoadOrStore(key, h)
	return kept.(*Stencil)
}

// hoist makes the hidden stages that save at least so much each, and of a stage together.
func (s *Stencil) hoist(kind Hidden, least, worth int) *Stencil {
	if s.Of != nil || kind == NoneHidden || kind == Boxed && !s.DType.Floating() {
		return nil
	}
	stages := slices.Clone(s.Stages)
	if kind == Boxed {
		found := false
		for i := range stages {
			if body := boxed(stages[i].Body); body != nil {
				stages[i].Body, found = body, true
			}
		}
		if !found { // without a search
			return nil
		}
	}
	h := *s
	h.Fields, h.ReadOnly, h.Stages = slices.Clone(s.Fields), slices.Clone(s.ReadOnly), nil
	for _, st := range stages {
		c := &canon{classes: map[string]*class{}}
		first := hoister{canon: c, elem: s.elem(), env: map[int]bound{}}
		first.block(st.Body)
		values := first.choose(kind, least, worth)
		if len(values) > 0 {
			h.Stages = append(h.Stages, s.hiddenStages(&h, values)...)
			second := hoister{canon: c, elem: s.elem(), env: map[int]bound{}, hidden: values}
			st.Body = live(second.block(st.Body))
		}
		h.Stages = append(h.Stages, st)
	}
	if len(h.Stages) == len(s.Stages) {
		return nil
	}
	h.refresh()
	if s.Has(Fixed) { // the cells that change are those that did
		real := 0
		h.Low, h.High = s.Low, s.High
		for i := range h.Stages {
			if !h.Stages[i].Hidden {
				h.Stages[i].Low, h.Stages[i].High = s.Stages[real].Low, s.Stages[real].High
				real++
			}
		}
	}
	return &h
}

// Parted is the stencil with stages of their own for some of a stage's outputs: groups has, for each stage, the outputs
// (their places among the stage's) of each that comes of it. No stage that reads what an earlier one of the same
// group sets may come of it: it would read the new value. A stage with copies stays whole.
func (s *Stencil) Parted(groups [][][]int) *Stencil {
	h := *s
	h.Fields, h.ReadOnly, h.Stages = slices.Clone(s.Fields), slices.Clone(s.ReadOnly), nil
	var of []int
	for i, st := range s.Stages {
		for _, outputs := range groups[i] {
			part := st
			if len(outputs) < len(st.Outputs) {
				part.Body, part.Outputs = live(only(st.Body, outputs)), nil
				for _, o := range outputs {
					part.Outputs = append(part.Outputs, st.Outputs[o])
				}
			}
			h.Stages = append(h.Stages, part)
			of = append(of, i)
		}
	}
	h.refresh()
	if s.Has(Fixed) { // the cells that change are those that did
		h.Low, h.High = s.Low, s.High
		for i := range h.Stages {
			h.Stages[i].Low, h.Stages[i].High = s.Stages[of[i]].Low, s.Stages[of[i]].High
		}
	}
	return &h
}

// lone are stages alone, of stencils seen before: a stencil never changes.
var lone sync.Map // loneStage to *Stencil

type loneStage struct {
	st    *Stencil
	stage int
}

// Alone is the stencil whose time step is one of several stages, as a launch of it has it: it reads and leaves what the stage does, temporary
// fields too, and no fields change places. Its only stage has no copies.
func (s *Stencil) Alone(stage int) *Stencil {
	key := loneStage{s, stage}
	if h, ok := lone.Load(key); ok {
		return h.(*Stencil)
	}
	of := *s
	of.alone = true
	groups, outputs := make([][][]int, len(s.Stages)), make([]int, len(s.Stages[stage].Outputs))
	for o := range outputs {
		outputs[o] = o
	}
	groups[stage] = [][]int{outputs}
	h, _ := lone.LoadOrStore(key, of.Parted(groups))
	return h.(*Stencil)
}

// refresh derives anew what follows from the functions, but for the hash.
func (s *Stencil) refresh() {
	s.Points, s.Low, s.High, s.Ops = nil, [3]int{}, [3]int{}, Ops{}
	for i := range s.Fields {
		s.Fields[i].Points = nil
	}
	for i := range s.ReadOnly {
		s.ReadOnly[i].Points = nil
	}
	for i := range s.Stages {
		st := &s.Stages[i]
		*st = Stage{Name: st.Name, Outputs: st.Outputs, Body: st.Body, Hidden: st.Hidden}
	}
	s.facts()
}

// bound is what a local holds; joined where branches set it.
type bound struct {
	term
	joined bool
}

// hoister follows a function and finds the class of each of its values; where hidden values
// are given it also reads them in their place.
type hoister struct {
	*canon
	elem   Type
	env    map[int]bound
	roots  []term // what it returns and decides by
	hidden map[*class]*hiddenValue
}

// hiddenValue is a class that a hidden stage computes, in its field: of a cell at the place.
type hiddenValue struct {
	class     *class
	at        Offset
	field     int
	level     int    // more than that of any hidden value that it reads
	low, high Offset // box of where it is read
}

// value gives an expression's class and what stands in its place.
func (h *hoister) value(e Expr) (term, Expr) {
	switch x := e.(type) {
	case Num:
		neg := math.Signbit(x.Value)
		t := h.node(Num{math.Abs(x.Value), x.Type}, x.Type, Offset{}, [3]bool{})
		t.neg = neg
		return t, e
	case Local:
		b := h.env[x.Index]
		if v := h.hidden[b.c]; v != nil && b.joined {
			return b.term, h.read(v, b.term)
		}
		return b.term, e
	case Get:
		return h.node(Get{x.Field, Offset{}, x.Type}, x.Type, x.At, [3]bool{}), e
	case Read:
		return h.node(Read{x.Array, Offset{}, x.Type}, x.Type, x.At, [3]bool{}), e
	case Var:
		var pins [3]bool
		switch x.Kind {
		case Position:
			pins[x.Index] = true
		case HighEnd:
			pins[x.Index%3] = true
		}
		return h.node(e, x.Type, Offset{}, pins), e
	case Neg:
		t, v := h.value(x.X)
		if t.c.typ.Floating() {
			if n, ok := v.(Neg); ok {
				return t.negated(), n.X
			}
			return t.negated(), Neg{v}
		}
		return h.node(Neg{}, e.typ(), Offset{}, [3]bool{}, t), Neg{v}
	}
	var t term
	switch x := e.(type) {
	case ReadAt:
		i, index := h.value(x.Index)
		t = h.node(ReadAt{Array: x.Array}, x.Type, Offset{}, [3]bool{true, true, true}, i)
		x.Index = index
		e = x
	case Not:
		a, v := h.value(x.X)
		t, e = h.node(Not{}, Bool, Offset{}, [3]bool{}, a), Not{v}
	case Cast:
		a, v := h.value(x.X)
		t, e = h.node(Cast{Type: x.Type}, x.Type, Offset{}, [3]bool{}, a), Cast{v, x.Type}
	case Binary:
		a, v := h.value(x.X)
		b, w := h.value(x.Y)
		t, e = h.binary(x.Op, x.Type, a, b), signed(Binary{x.Op, v, w, x.Type})
	case Cond:
		i, test := h.value(x.If)
		a, v := h.value(x.Then)
		b, w := h.value(x.Else)
		t, e = h.choice(i, a, b), Cond{test, v, w}
	case Call:
		var args []term
		var values []Expr
		for _, arg := range x.Args {
			a, v := h.value(arg)
			args, values = append(args, a), append(values, v)
		}
		t, e = h.call(x, args), Call{x.Func, values, x.Type}
	default:
		t = h.node(e, e.typ(), Offset{}, [3]bool{})
	}
	if v := h.hidden[t.c]; v != nil {
		e = h.read(v, t)
	}
	return t, e
}

// read reads a hidden value.
func (h *hoister) read(v *hiddenValue, t term) Expr {
	g := Get{v.field, minus(t.at, v.at), h.elem}
	if t.neg {
		return Neg{g}
	}
	return g
}

// signed takes signs into a sum.
func signed(e Binary) Expr {
	x, negX := e.X.(Neg)
	y, negY := e.Y.(Neg)
	switch {
	case !e.Type.Floating():
	case e.Op == "+" && negY:
		e.Op, e.Y = "-", y.X
	case e.Op == "-" && negY:
		e.Op, e.Y = "+", y.X
	case e.Op == "+" && negX:
		e.Op, e.X, e.Y = "-", e.Y, x.X
	}
	return e
}

// block follows a block and gives what stands in its place.
func (h *hoister) block(body []Stmt) []Stmt {
	var out []Stmt
	for _, st := range body {
		switch x := st.(type) {
		case Let:
			t, v := h.value(x.Value)
			h.env[x.Local] = bound{term: t}
			x.Value = v
			st = x
		case Return:
			var values []Expr
			for _, e := range x.Values {
				t, v := h.value(e)
				h.roots = append(h.roots, t)
				values = append(values, v)
			}
			st = Return{values}
		case If:
			st = h.branches(x)
		}
		out = append(out, st)
	}
	return out
}

func (h *hoister) branches(x If) Stmt {
	test, cond := h.value(x.Cond)
	h.roots = append(h.roots, test)
	before := h.env
	h.env = maps.Clone(before)
	then := h.block(x.Then)
	taken := h.env
	h.env = maps.Clone(before)
	otherwise := h.block(x.Else)
	for _, l := range slices.Sorted(maps.Keys(before)) {
		a, b := taken[l], h.env[l]
		switch {
		case returns(x.Then) || a.term == b.term:
		case returns(x.Else):
			h.env[l] = a
		default:
			h.env[l] = bound{h.choice(test, a.term, b.term), true}
		}
	}
	return If{cond, then, otherwise}
}

// hiddenStages are the stages that compute the values: those in one that reach as far, are
// read as far away and do not read each other. Their fields are added to h.
func (s *Stencil) hiddenStages(h *Stencil, values map[*class]*hiddenValue) []Stage {
	reach := func(v *hiddenValue) [4]Offset {
		return [4]Offset{plus(v.class.low, v.at), plus(v.class.high, v.at), v.low, v.high}
	}
	list := slices.SortedFunc(maps.Values(values), func(a, b *hiddenValue) int {
		return cmp.Or(a.level-b.level, a.class.id-b.class.id)
	})
	var stages []Stage
	var groups [][]*hiddenValue
	for _, v := range list {
		i := slices.IndexFunc(groups, func(g []*hiddenValue) bool { return g[0].level == v.level && reach(g[0]) == reach(v) })
		if i < 0 {
			i = len(groups)
			groups = append(groups, nil)
		}
		groups[i] = append(groups[i], v)
	}
	for _, g := range groups {
		st := Stage{Name: "hidden", Hidden: true}
		for _, v := range g {
			v.field = len(h.Fields)
			st.Outputs = append(st.Outputs, v.field)
			h.Fields = append(h.Fields, Array{Name: fmt.Sprint("hidden ", v.field-len(s.Fields)+1), Temporary: true, Rules: s.repeating()})
		}
		w := writer{elem: s.elem(), values: values, uses: map[place]int{}, locals: map[place]Local{}}
		for _, v := range g {
			w.count(place{v.class, v.at}, true)
		}
		var r Return
		for _, v := range g {
			r.Values = append(r.Values, w.operation(place{v.class, v.at}))
		}
		st.Body = append(w.body, r)
		stages = append(stages, st)
	}
	return stages
}
