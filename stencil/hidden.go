package stencil

import (
	"cmp"
	"fmt"
	"maps"
	"math"
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

// maxCandidates and maxVisits bound what is tried for a stage, those first that may save
// most, and how many operations are visited to compare sets of them.
const (
	maxCandidates = 128
	maxVisits     = 5_000_000
)

// hoistings are those of stencils seen before: a stencil never changes.
var hoistings sync.Map // *Stencil to *Stencil

// Hoisted is the stencil with hidden stages for what neighbouring cells compute alike, as
// fluxes through their common face; nil where there is nothing that pays. Its hidden fields
// follow the others. Sums are never grouped anew: only signs move, operands of + and * change
// sides, so that at most the sign of a zero differs (cross-iteration redundancy elimination of Luporini et al., "Architecture and
// performance of Devito", ACM TOMS 2020, section 4.3).
func (s *Stencil) Hoisted() *Stencil {
	if h, ok := hoistings.Load(s); ok {
		return h.(*Stencil)
	}
	h, _ := hoistings.LoadOrStore(s, s.hoist(leastSaved, worthSaved))
	return h.(*Stencil)
}

// hoist makes the hidden stages that save at least so much each, and of a stage together.
func (s *Stencil) hoist(least, worth int) *Stencil {
	if s.Of != nil {
		return nil
	}
	h := *s
	h.Fields, h.ReadOnly, h.Stages = slices.Clone(s.Fields), slices.Clone(s.ReadOnly), nil
	for i := range s.Stages {
		st := s.Stages[i]
		c := &canon{classes: map[string]*class{}}
		first := hoister{canon: c, elem: s.elem(), env: map[int]bound{}}
		first.block(st.Body)
		values := first.choose(least, worth)
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
	if s.Boundary == Fixed { // the cells that change are those that did
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

// class is a value modulo a shift of its points and, of a floating-point type, a sign.
type class struct {
	id        int
	node      Expr // without its operands; a point at the origin, a number not negative
	typ       Type
	args      []term  // at places relative to the first point
	points    bool    // reads any
	pins      [3]bool // axes on whose coordinate it depends: it is not shifted along them
	affine    bool    // in its points, with weights that are the same at all cells
	low, high Offset  // box of its points
	cost      int     // of the operation itself
}

// term is a class at a place; its negative where neg.
type term struct {
	c   *class
	at  Offset
	neg bool
}

func (t term) negated() term { t.neg = !t.neg; return t }

// zero tells a literal 0, whose sign is of no account.
func (t term) zero() bool { n, ok := t.c.node.(Num); return ok && n.Value == 0 }

func plus(a, b Offset) Offset  { return Offset{a[0] + b[0], a[1] + b[1], a[2] + b[2]} }
func minus(a, b Offset) Offset { return Offset{a[0] - b[0], a[1] - b[1], a[2] - b[2]} }

// canon gives equal classes to what is equal modulo a shift and a sign.
type canon struct {
	classes map[string]*class
	list    []*class
}

// node is an operation on terms, or a leaf, with the shift and the pins of its own.
func (k *canon) node(e Expr, t Type, own Offset, pins [3]bool, args ...term) term {
	c := class{node: e, typ: t, pins: pins, cost: weight(e)}
	switch e.(type) {
	case Get, Read:
		c.points = true
	}
	at, found := own, c.points
	for _, a := range args {
		c.points = c.points || a.c.points
		if a.c.points && !found {
			at, found = a.at, true
		}
		for i, p := range a.c.pins {
			c.pins[i] = c.pins[i] || p
		}
	}
	for i, p := range c.pins {
		if p {
			at[i] = 0
		}
	}
	first := len(args) > 0
	key := fmt.Sprintf("%T%v %s", e, e, t)
	for _, a := range args {
		if a.c.points {
			a.at = minus(a.at, at)
			for i := range 3 {
				low, high := a.at[i]+a.c.low[i], a.at[i]+a.c.high[i]
				if first {
					c.low[i], c.high[i] = low, high
				}
				c.low[i], c.high[i] = min(c.low[i], low), max(c.high[i], high)
			}
			first = false
		}
		c.args = append(c.args, a)
		key += fmt.Sprint(" ", a.c.id, a.at, a.neg)
	}
	known, ok := k.classes[key]
	if !ok {
		c.id = len(k.list)
		c.affine = c.isAffine()
		known = &c
		k.classes[key] = known
		k.list = append(k.list, known)
	}
	return term{known, at, false}
}

// holds finds what a class is computed from.
func (c *class) holds(met map[*class]bool) {
	for _, a := range c.args {
		if !met[a.c] {
			met[a.c] = true
			a.c.holds(met)
		}
	}
}

// weight is what an operation costs.
func weight(e Expr) int {
	switch e := e.(type) {
	case Binary:
		if e.Op == "/" || e.Op == "%" {
			return 8
		}
		return 1
	case Call:
		if mathFuncs[e.Func].special {
			return 10
		}
		return 1
	case Cond:
		return 1
	case Cast:
		return 1
	}
	return 0
}

// isAffine tells sums of points with weights that are the same at all cells.
func (c *class) isAffine() bool {
	constant := func(t term) bool { return !t.c.points && t.c.pins == [3]bool{} }
	affine := func(t term) bool { return t.c.points && t.c.affine }
	switch e := c.node.(type) {
	case Get, Read:
		return true
	case Neg:
		return affine(c.args[0])
	case Binary:
		x, y := c.args[0], c.args[1]
		switch e.Op {
		case "+", "-":
			return (affine(x) || constant(x)) && (affine(y) || constant(y)) && c.points
		case "*":
			return affine(x) && constant(y) || constant(x) && affine(y)
		case "/":
			return affine(x) && constant(y)
		}
	}
	return false
}

// inOrder puts two operands in an order that no shift changes.
func inOrder(x, y term) (term, term, bool) {
	if cmp.Or(cmp.Compare(x.c.id, y.c.id), compareOffsets(x.at, y.at)) > 0 {
		return y, x, true
	}
	return x, y, false
}

// parities are the functions that a sign passes through (-1) or vanishes in (1).
var parities = map[string]int{"fabs": 1, "cos": 1, "cosh": 1, "sin": -1, "tan": -1, "asin": -1, "atan": -1,
	"sinh": -1, "tanh": -1, "cbrt": -1, "trunc": -1, "round": -1}

var mirrored = map[string]string{"<": ">", "<=": ">=", ">": "<", ">=": "<=", "==": "==", "!=": "!=", "fmin": "fmax", "fmax": "fmin"}

// binary is an operation with two operands.
func (k *canon) binary(op string, t Type, x, y term) term {
	build := func(op string, args ...term) term {
		return k.node(Binary{Op: op, Type: t}, t, Offset{}, [3]bool{}, args...)
	}
	signed := x.c.typ.Floating()
	if signed && op == "-" {
		op, y = "+", y.negated()
	}
	neg := false
	switch op {
	case "+":
		x, y, _ = inOrder(x, y)
		if neg = x.neg; neg {
			x, y = x.negated(), y.negated()
		}
	case "*":
		x, y, _ = inOrder(x, y)
		neg = x.neg != y.neg
		x.neg, y.neg = false, false
	case "/":
		neg = x.neg != y.neg
		x.neg, y.neg = false, false
	case "<", "<=", ">", ">=", "==", "!=":
		var swapped bool
		if x, y, swapped = inOrder(x, y); swapped {
			op = mirrored[op]
		}
		lead := x
		if x.zero() {
			lead = y
		}
		if lead.neg {
			x, y, op = x.negated(), y.negated(), mirrored[op]
		}
		for _, a := range []*term{&x, &y} {
			a.neg = a.neg && !a.zero()
		}
	}
	r := build(op, x, y)
	r.neg = neg
	return r
}

// choice is test ? a : b.
func (k *canon) choice(test, a, b term) term {
	if a == b {
		return a
	}
	lead := a
	if a.zero() {
		lead = b
	}
	if lead.neg {
		a, b = a.negated(), b.negated()
	}
	for _, v := range []*term{&a, &b} {
		v.neg = v.neg && !v.zero()
	}
	r := k.node(Cond{}, a.c.typ, Offset{}, [3]bool{}, test, a, b)
	r.neg = lead.neg
	return r
}

// call is a function's value.
func (k *canon) call(e Call, args []term) term {
	neg := false
	switch parity := parities[e.Func]; {
	case parity != 0:
		neg = parity < 0 && args[0].neg
		args[0].neg = false
	case e.Func == "fmin" || e.Func == "fmax":
		args[0], args[1], _ = inOrder(args[0], args[1])
		if neg = args[0].neg; neg {
			args[0], args[1], e.Func = args[0].negated(), args[1].negated(), mirrored[e.Func]
		}
	}
	r := k.node(Call{Func: e.Func, Type: e.Type}, e.Type, Offset{}, [3]bool{}, args...)
	r.neg = neg
	return r
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
		if x.Kind == Position {
			pins[x.Index] = true
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

// place is a class at a place.
type place struct {
	c  *class
	at Offset
}

// instance is a place with its operands.
type instance struct {
	place
	args  []int
	known bool // args are
}

// search looks for the set of hidden values that leaves least to compute.
type search struct {
	roots     []int
	instances []instance
	index     map[place]int
	least     int
	chosen    map[*class]bool
	seen      []int // by instance, the walk that met it last
	walk      int
	visits    int
	needs     map[*class][]Offset // where chosen ones are read
	direct    map[*class]bool     // by the stage itself
}

func (s *search) at(p place) int {
	i, ok := s.index[p]
	if !ok {
		i = len(s.instances)
		s.index[p] = i
		s.instances = append(s.instances, instance{place: p})
		s.seen = append(s.seen, 0)
	}
	return i
}

func (s *search) args(i int) []int {
	if p := s.instances[i]; !p.known {
		var args []int
		for _, a := range p.c.args {
			at := a.at
			if a.c.points {
				at = plus(at, p.at)
			}
			args = append(args, s.at(place{a.c, at}))
		}
		s.instances[i].args, s.instances[i].known = args, true
	}
	return s.instances[i].args
}

// compute counts the operations below an instance that this walk has not met yet, as far
// as chosen ones, which it notes.
func (s *search) compute(i int, direct bool) int {
	if s.seen[i] == s.walk {
		return 0
	}
	s.seen[i] = s.walk
	p := s.instances[i]
	if s.chosen[p.c] {
		s.needs[p.c] = append(s.needs[p.c], p.at)
		s.direct[p.c] = s.direct[p.c] || direct
		return 0
	}
	return s.below(i, direct)
}

func (s *search) below(i int, direct bool) int {
	s.visits++
	n := 0
	if c := s.instances[i].c; c.points || c.pins != [3]bool{} { // others are the same at all cells
		n = c.cost
	}
	for _, a := range s.args(i) {
		n += s.compute(a, direct)
	}
	return n
}

// total is the operations of the stage and its hidden stages.
func (s *search) total() int {
	s.needs, s.direct = map[*class][]Offset{}, map[*class]bool{}
	s.walk++
	n := 0
	for _, r := range s.roots {
		n += s.compute(r, true)
	}
	s.walk++
	for _, c := range s.ordered() {
		if at, needed := s.origin(c); needed {
			n += s.below(s.at(place{c, at}), false)
		}
	}
	return n
}

// ordered is the chosen ones, those first that others cannot hold.
func (s *search) ordered() []*class {
	return slices.SortedFunc(maps.Keys(s.chosen), func(a, b *class) int { return b.id - a.id })
}

// origin is the place at which a hidden stage computes a class: reach of the stage and of
// its readers together is least, then that of the readers; those read backwards if all is
// the same.
func (s *search) origin(c *class) (at Offset, needed bool) {
	needs := s.needs[c]
	if len(needs) == 0 {
		return at, false
	}
	for a := range 3 {
		if c.pins[a] {
			continue
		}
		low, high := needs[0][a], needs[0][a]
		for _, o := range needs {
			low, high = min(low, o[a]), max(high, o[a])
		}
		var best [3]int
		for b := high; b >= low; b-- {
			readers := [2]int{max(0, b-low), max(0, high-b)}
			own := [2]int{max(0, -c.low[a]-b), max(0, c.high[a]+b)}
			cost := [3]int{readers[0] + readers[1] + own[0] + own[1], max(readers[0], readers[1]), max(own[0], own[1])}
			if b == high || slices.Compare(cost[:], best[:]) < 0 {
				best, at[a] = cost, b
			}
		}
	}
	return at, true
}

// objective is total with what hidden values cost, twice.
func (s *search) objective() int {
	n := 2 * s.total()
	for c := range s.chosen {
		switch {
		case len(s.needs[c]) == 0:
		case s.direct[c]:
			n += 2*s.least - 1
		default:
			n += 2*max(s.least, nestedSaved) - 1
		}
	}
	return n
}

// with is the objective with more classes chosen.
func (s *search) with(more ...*class) int {
	before := maps.Clone(s.chosen)
	for _, c := range more {
		s.chosen[c] = true
	}
	n := s.objective()
	s.chosen = before
	return n
}

// prune drops chosen ones that no longer pay, and gives the objective.
func (s *search) prune() int {
	n := s.objective()
	for again := true; again; {
		again = false
		for _, c := range s.ordered() {
			delete(s.chosen, c)
			if m := s.objective(); m <= n {
				n, again = m, true
			} else {
				s.chosen[c] = true
			}
		}
	}
	return n
}

// choose finds the hidden values of the function that was followed.
func (h *hoister) choose(least, worth int) map[*class]*hiddenValue {
	s := &search{index: map[place]int{}, least: least, chosen: map[*class]bool{}}
	for _, r := range h.roots {
		s.roots = append(s.roots, s.at(place{r.c, r.at}))
	}
	plain := s.total()
	candidates := s.candidates(h.elem)
	now := 2 * plain
	for len(s.chosen) < maxCandidates {
		best, add := now, []*class(nil)
		for _, c := range candidates {
			for _, move := range [][]*class{{c.class}, c.alike} {
				if len(move) == 0 || s.chosen[c.class] && len(move) == 1 || s.visits > maxVisits {
					continue
				}
				if n := s.with(move...); n < best {
					best, add = n, move
				}
			}
		}
		if add == nil {
			break
		}
		for _, c := range add {
			s.chosen[c] = true
		}
		now = s.prune()
	}
	if plain-s.total() < worth || len(s.chosen) == 0 {
		return nil
	}
	return s.values()
}

// candidate is a class that may pay.
type candidate struct {
	*class
	saves int      // at most
	alike []*class // this and later ones at the same places, for the first of them
}

// candidates finds the classes that the stage computes at several places, largest first.
// total has been called.
func (s *search) candidates(elem Type) []candidate {
	places := map[*class][]Offset{}
	for _, p := range s.instances {
		places[p.c] = append(places[p.c], p.at)
	}
	var all []candidate
	for c, at := range places {
		if len(at) < 2 || !c.points || c.affine || c.typ != elem {
			continue
		}
		s.walk++
		if n := (len(at) - 1) * s.below(s.index[place{c, at[0]}], true); n >= s.least {
			all = append(all, candidate{class: c, saves: n})
		}
	}
	slices.SortFunc(all, func(a, b candidate) int { return cmp.Or(b.saves-a.saves, b.id-a.id) })
	all = all[:min(len(all), maxCandidates)]
	groups := map[string]int{}
	for i, c := range all {
		at := slices.SortedFunc(slices.Values(places[c.class]), compareOffsets)
		for j := range at {
			at[j] = minus(at[j], at[0]) // the last one is the first itself
		}
		key := fmt.Sprint(at[1:])
		if first, ok := groups[key]; ok {
			all[first].alike = append(all[first].alike, c.class)
		} else {
			groups[key] = i
			all[i].alike = []*class{c.class}
		}
	}
	for i := range all { // of those that hold each other only the outer ones
		inner := map[*class]bool{}
		for _, c := range all[i].alike {
			c.holds(inner)
		}
		all[i].alike = slices.DeleteFunc(all[i].alike, func(c *class) bool { return inner[c] })
		if len(all[i].alike) == 1 {
			all[i].alike = nil
		}
	}
	return all
}

// values are the chosen ones that are read.
func (s *search) values() map[*class]*hiddenValue {
	s.total()
	values := map[*class]*hiddenValue{}
	for _, c := range s.ordered() {
		at, needed := s.origin(c)
		if !needed {
			continue
		}
		v := &hiddenValue{class: c, at: at}
		for i, o := range s.needs[c] {
			o = minus(o, at)
			for a := range 3 {
				if i == 0 {
					v.low[a], v.high[a] = o[a], o[a]
				}
				v.low[a], v.high[a] = min(v.low[a], o[a]), max(v.high[a], o[a])
			}
		}
		values[c] = v
	}
	for _, c := range slices.Backward(s.ordered()) { // what a class holds comes before it
		if v := values[c]; v != nil {
			var look func(*class)
			met := map[*class]bool{}
			look = func(c *class) {
				for _, a := range c.args {
					if u := values[a.c]; u != nil {
						v.level = max(v.level, u.level+1)
					} else if !met[a.c] {
						met[a.c] = true
						look(a.c)
					}
				}
			}
			look(c)
		}
	}
	return values
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
			h.Fields = append(h.Fields, Array{Name: fmt.Sprint("hidden ", v.field-len(s.Fields)+1), Temporary: true})
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

// writer writes the function of a hidden stage.
type writer struct {
	elem   Type
	values map[*class]*hiddenValue
	uses   map[place]int
	locals map[place]Local
	body   []Stmt
}

// operand is an operand of what is computed at a place.
func (p place) operand(a term) place {
	if a.c.points {
		return place{a.c, plus(p.at, a.at)}
	}
	return place{a.c, a.at}
}

// count counts how often each place is used.
func (w *writer) count(p place, output bool) {
	if !output {
		w.uses[p]++
		if w.uses[p] > 1 || w.values[p.c] != nil {
			return
		}
	}
	for _, a := range p.c.args {
		w.count(p.operand(a), false)
	}
}

// term reads or computes an operand.
func (w *writer) term(p place, neg bool) Expr {
	e := w.value(p)
	if n, ok := e.(Num); ok && neg {
		n.Value = -n.Value
		return n
	}
	if neg {
		return Neg{e}
	}
	return e
}

func (w *writer) value(p place) Expr {
	if v := w.values[p.c]; v != nil {
		return Get{v.field, minus(p.at, v.at), w.elem}
	}
	if l, ok := w.locals[p]; ok {
		return l
	}
	e := w.operation(p)
	if w.uses[p] < 2 || len(p.c.args) == 0 {
		return e
	}
	l := Local{len(w.locals), p.c.typ}
	w.locals[p] = l
	w.body = append(w.body, Let{l.Index, l.Type, e, true})
	return l
}

// operation computes a place's value.
func (w *writer) operation(p place) Expr {
	var args []Expr
	for _, a := range p.c.args {
		args = append(args, w.term(p.operand(a), a.neg))
	}
	switch e := p.c.node.(type) {
	case Get:
		e.At = p.at
		return e
	case Read:
		e.At = p.at
		return e
	case ReadAt:
		e.Index, e.Type = args[0], p.c.typ
		return e
	case Neg:
		return Neg{args[0]}
	case Not:
		return Not{args[0]}
	case Cast:
		e.X = args[0]
		return e
	case Binary:
		e.X, e.Y = args[0], args[1]
		if y, ok := e.Y.(Num); ok && y.Value < 0 && e.Op == "+" && e.Type.Floating() {
			e.Op, e.Y = "-", Num{-y.Value, y.Type}
		}
		return signed(e)
	case Cond:
		return Cond{args[0], args[1], args[2]}
	case Call:
		e.Args = args
		return e
	}
	return p.c.node
}

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
