package stencil

import (
	"fmt"
	"maps"
	"math"
	"slices"
	"sync"
)

// done is what was counted before of blocks of cells: a stencil never changes.
var done sync.Map // doneKey to tally

// tally is what a function takes for a block of cells.
type tally struct {
	ops         Ops
	late, early int // values alive
}

type doneKey struct {
	s     *Stencil
	stage int
	block [3]int
}

// Operations counts what a GPU does of a stage for a block of cells that one thread computes: of the function as kernels
// have it (StageCode), in which what occurs twice, in one cell or in several, is computed once, a product that is only
// added is part of the additions, and what is the same at every cell of a step costs nothing. A function whose code
// branches is computed for each cell: no compiler sees that it is the same. Of an if, both branches count: the threads
// of a warp run both. Those of a row all take the same by what is the same in a row: then the longer one counts. What a cell does
// whose coordinate equals a number does not count.
func (s *Stencil) Operations(stage int, block [3]int) Ops { return s.tally(stage, block).ops }

// Alive is how many values of a stage's function a thread holds at most for a block of cells, if each is computed as early as
// the text of the function has it, and none is that is the same at every cell: late if elements are read where they are first used, early if all are read at the begin.
func (s *Stencil) Alive(stage int, block [3]int) (late, early int) {
	c := s.tally(stage, block)
	return c.late, c.early
}

func (s *Stencil) tally(stage int, block [3]int) tally {
	key := doneKey{s, stage, block}
	if o, ok := done.Load(key); ok {
		return o.(tally)
	}
	c := newCounter()
	c.double = s.DType == Float64
	body := s.arranged(stage)
	for z := range block[2] {
		for y := range block[1] {
			for x := range block[0] {
				c.cell(body, Offset{x, y, z})
			}
		}
	}
	o := tally{ops: c.ops()}
	o.late, o.early = c.alive()
	done.Store(key, o)
	return o
}

// Updating counts the same of one cell that a stage updates, without the test of its Color.
func (s *Stencil) Updating(stage int) Ops {
	body := s.arranged(stage)
	if s.Stages[stage].Color != nil {
		body = body[1:]
	}
	c := newCounter()
	c.double = s.DType == Float64
	c.cell(body, Offset{})
	return c.ops()
}

// Folding counts what a pass of a step's scalars computes of one cell.
func (s *Stencil) Folding(pass int) Ops {
	key := doneKey{s, -1 - pass, [3]int{}} // beside the stages
	if o, ok := done.Load(key); ok {
		return o.(tally).ops
	}
	c := newCounter()
	c.double = s.DType == Float64
	for _, i := range s.StepPasses()[pass].Folded {
		c.cell(s.StepScalars[i].Body, Offset{})
	}
	o := tally{ops: c.ops()}
	done.Store(key, o)
	return o.ops
}

// Flops is what all stages do of one cell.
func (s *Stencil) Flops() (n int) {
	for i := range s.Stages {
		n += s.Updating(i).Total()
	}
	return n
}

// operations counts those of one cell, each once, functions by what they take about.
func operations(body []Stmt) int {
	c := newCounter()
	c.cell(body, Offset{})
	o := c.ops()
	return o.Total() + 3*o.Special
}

// counter numbers expressions: the same to those that are the same.
type counter struct {
	double bool   // which functions branch follows from the type
	at     Offset // of the cell that is counted
	locals map[int]int
	types  map[int]Type // of locals
	ids    map[key]int
	nodes  []node
}

// key is what makes expressions the same: what is done, with what or where.
type key struct {
	what    string
	x, y, z int
	at      Offset
}

// node is an expression that is computed once.
type node struct {
	of       Ops    // what computing it takes
	operands [3]int // the first used of them
	used     int
	uniform  bool // it is the same at every cell
	row      bool // it is the same at every cell of a row
	product  bool
	shift    bool // a product that a difference cannot be part of
	sum      bool
	less     bool // a difference
	flag     bool // true or false
	sums     int  // that use it
	others   int  // that use it otherwise
}

func newCounter() *counter { return &counter{ids: map[key]int{}, types: map[int]Type{}} }

// cell counts a function at a cell.
func (c *counter) cell(body []Stmt, at Offset) {
	c.at, c.locals = at, map[int]int{}
	c.block(body)
	for i, n := range c.locals {
		if i < 0 { // returned
			c.nodes[n].others++
		}
	}
}

// block counts statements. What a function returns are locals before the first.
func (c *counter) block(body []Stmt) {
	for i, st := range body {
		switch st := st.(type) {
		case Let:
			c.locals[st.Local], c.types[st.Local] = c.id(st.Value), st.Type
		case Return:
			for i, v := range st.Values {
				id := c.id(v)
				if before, ok := c.locals[-1-i]; ok { // where a branch has returned
					id = c.choice("", -1, before, id)
				}
				c.locals[-1-i] = id
			}
		case If:
			before, cond := c.locals, c.id(st.Cond)
			c.nodes[cond].others++
			seldom := rare(st.Cond)
			if n := len(st.Then); n > 0 && len(st.Else) == 0 && (seldom != 0 || c.nodes[cond].row) {
				if _, returns := st.Then[n-1].(Return); returns { // what follows is the other branch
					st.Else, body = body[i+1:], nil
				}
			}
			if seldom != 0 {
				if seldom < 0 {
					st.Else = st.Then
				}
				c.block(st.Else)
				if body == nil {
					return
				}
				continue
			}
			first := len(c.nodes)
			branch := func(body []Stmt) map[int]int {
				c.locals = maps.Clone(before)
				c.block(body)
				return c.locals
			}
			then := branch(st.Then)
			second := len(c.nodes)
			otherwise := branch(st.Else)
			if c.nodes[cond].row {
				shorter(c.nodes[first:second], c.nodes[second:])
			}
			c.locals = maps.Clone(otherwise)
			for _, i := range slices.Sorted(maps.Keys(then)) {
				if b, both := otherwise[i]; both && b != then[i] {
					c.locals[i] = c.choice(c.types[i], cond, then[i], b)
				} else {
					c.locals[i] = then[i]
				}
			}
			if body == nil {
				return
			}
		}
	}
}

// selection is that of one of two values of a type; of what is returned it is "".
func selection(t Type) Ops {
	if t == "" || t.Floating() {
		return Ops{Add: 1, Selections: 1}
	}
	return Ops{Add: 1, Decisions: 1}
}

// shorter makes what the shorter of two branches computes cost nothing.
func shorter(a, b []node) {
	length := func(list []node) (n int) {
		for _, of := range list {
			n += of.of.Total() + 3*of.of.Special
		}
		return n
	}
	if length(a) > length(b) {
		a = b
	}
	for i := range a {
		a[i].of = Ops{}
	}
}

// rare is 1 of a condition that few cells fulfil, as those do whose coordinate equals a number, and -1 of one that few do not.
func rare(e Expr) int {
	switch e := e.(type) {
	case mark:
		return rare(e.X)
	case Not:
		return -rare(e.X)
	case Binary:
		switch e.Op {
		case "==":
			if position(e.X) && constant(e.Y) || position(e.Y) && constant(e.X) {
				return 1
			}
		case "!=":
			return -rare(Binary{"==", e.X, e.Y, e.Type})
		case "&&":
			return max(rare(e.X), rare(e.Y))
		case "||":
			return min(rare(e.X), rare(e.Y))
		}
	}
	return 0
}

// position tells whether an expression is a coordinate, or so far from it.
func position(e Expr) bool {
	switch e := e.(type) {
	case mark:
		return position(e.X)
	case Cast:
		return position(e.X)
	case Var:
		return e.Kind == Position
	case Binary:
		return (e.Op == "+" || e.Op == "-") && (position(e.X) && constant(e.Y) || e.Op == "+" && constant(e.X) && position(e.Y))
	}
	return false
}

// constant tells whether an expression is the same at every cell, made of numbers, scalars and extents.
func constant(e Expr) bool {
	switch e := e.(type) {
	case mark:
		return constant(e.X)
	case Cast:
		return constant(e.X)
	case Neg:
		return constant(e.X)
	case Num, Int, Scalar:
		return true
	case Var:
		return e.Kind == Extent || e.Kind == Iteration
	case Binary:
		return constant(e.X) && constant(e.Y)
	}
	return false
}

// choice is one of two values of a type, by a condition that has been counted.
func (c *counter) choice(t Type, cond, x, y int) int {
	operands := []int{x, y}
	of := selection(t)
	if cond >= 0 { // what is chosen from constants is none
		operands = append(operands, cond)
		if c.nodes[cond].row { // a branch
			of = Ops{}
		}
	}
	return c.node(key{what: "chosen", x: cond, y: x, z: y}, node{of: of}, operands...)
}

// node is the number of an expression.
func (c *counter) node(k key, n node, operands ...int) int {
	if id, ok := c.ids[k]; ok {
		return id
	}
	n.used = copy(n.operands[:], operands)
	n.uniform, n.row = n.uniform || n.used > 0, n.row || n.uniform || n.used > 0
	for _, o := range operands {
		n.uniform, n.row = n.uniform && c.nodes[o].uniform, n.row && c.nodes[o].row
		if n.sum {
			c.nodes[o].sums++
		} else {
			c.nodes[o].others++
		}
	}
	c.ids[k] = len(c.nodes)
	c.nodes = append(c.nodes, n)
	return c.ids[k]
}

// of is the number of an operation on expressions.
func (c *counter) of(what string, of Ops, operands ...Expr) int {
	var ids [3]int
	for i, x := range operands {
		ids[i] = c.id(x)
	}
	return c.node(key{what: what, x: ids[0], y: ids[1], z: ids[2], at: Offset{len(operands)}}, node{of: of}, ids[:len(operands)]...)
}

// id is the number of an expression.
func (c *counter) id(e Expr) int {
	shifted := func(at Offset) Offset { return Offset{at[0] + c.at[0], at[1] + c.at[1], at[2] + c.at[2]} }
	switch e := e.(type) {
	case Local:
		if id, ok := c.locals[e.Index]; ok {
			return id
		}
		return c.node(key{what: "local", x: e.Index}, node{})
	case Get:
		return c.node(key{what: "get", x: e.Field, at: shifted(e.At)}, node{})
	case Read:
		return c.node(key{what: "read", x: e.Array, at: shifted(e.At)}, node{})
	case ReadAt:
		i := c.id(e.Index)
		return c.node(key{what: "read at", x: e.Array, y: i}, node{}, i)
	case Sum:
		return c.node(key{what: "sum", x: e.Index, at: c.at}, node{})
	case Var:
		k := key{what: "variable", x: int(e.Kind), y: e.Index}
		switch e.Kind {
		case Position:
			k.z = c.at[e.Index]
			return c.node(k, node{row: e.Index > 0})
		case Extent, Iteration:
			return c.node(k, node{uniform: true})
		}
		k.at = c.at
		return c.node(k, node{})
	case Num:
		return c.node(key{what: "number", x: int(math.Float64bits(e.Value))}, node{uniform: true})
	case Int:
		return c.node(key{what: "integer", x: int(e.Value)}, node{uniform: true})
	case Scalar:
		return c.node(key{what: "scalar", x: e.Index}, node{uniform: true})
	case mark:
		return c.id(e.X)
	case Neg: // of an operand, which costs nothing
		x := c.id(e.X)
		k := key{what: "-", x: x}
		if n := c.nodes[x]; n.product { // k * (-c): the sum sees the product
			return c.node(k, node{of: n.of, product: true}, n.operands[:n.used]...)
		}
		return c.node(k, node{}, x)
	case Not:
		return c.of("!", Ops{}, e.X)
	case Cast:
		if e.Type == e.X.typ() || e.Type.Floating() && e.X.typ() == Elem || e.X.typ().Floating() && e.Type == Elem {
			return c.id(e.X)
		}
		switch from := e.X.typ(); {
		case from == Bool && !e.Type.Floating(): // a sum adds where it is so
			x := c.id(e.X)
			return c.node(key{what: e.Type.C(), x: x, at: Offset{1}}, node{of: Ops{Add: 1}, product: true}, x)
		case from.whole() && e.Type.whole() && e.Type.bits() >= from.bits() && (e.Type.bits() >= 32 || e.Type.signed() || !from.signed()): // registers have it as it is
			return c.id(e.X)
		}
		return c.of(e.Type.C(), Ops{Add: 1}, e.X)
	case Cond:
		if asksEnd(e.If) {
			return c.of("end ?", Ops{}, e.Then, e.Else)
		}
		return c.of("?", selection(e.typ()), e.If, e.Then, e.Else)
	case Call:
		if o, ok := powerOps(e, c.double); ok {
			return c.of(e.Func, o, e.Args...)
		}
		if i := special(e.Func); i >= 0 {
			o := Ops{Special: 1}
			o.Calls[i]++
			what := e.Func
			if branchy(e, c.double) { // no compiler sees that two are the same
				what = fmt.Sprint(what, " at ", c.at)
			}
			return c.of(what, o, e.Args...)
		}
		switch {
		case e.Func == "fabs": // of an operand
			return c.of(e.Func, Ops{}, e.Args...)
		case len(e.Args) > 1:
			return c.of(e.Func, Ops{Add: 1, Extremes: 1}, e.Args...)
		}
		return c.of(e.Func, Ops{Add: 1}, e.Args...)
	case Binary:
		return c.binary(e)
	}
	panic(fmt.Sprintf("stencil: unknown expression %T", e))
}

// unsigned tells whether an integer is one without a sign that became one with more bits.
func unsigned(e Expr) bool {
	c, is := e.(Cast)
	return is && c.X.typ().whole() && !c.X.typ().signed()
}

func (c *counter) binary(e Binary) int {
	if asksEnd(e) {
		return c.node(key{what: "end"}, node{})
	}
	x, y := c.id(e.X), c.id(e.Y)
	divides := e.Op == "/" || e.Op == "%"
	switch {
	case divides && !e.Type.Floating():
		n := node{of: Ops{Div: 1}}
		if d, is := e.Y.(Int); is && d.Value > 0 && d.Value&(d.Value-1) == 0 && (!e.Type.signed() || unsigned(e.X)) { // bits, or a shift, which a sum adds
			n.of, n.product, n.shift = Ops{Add: 1}, e.Op == "/", e.Op == "/"
		} else if is {
			n.of = Ops{Add: 3} // a product's high half, shifts
		}
		return c.node(key{what: e.Op, x: x, y: y}, n, x, y)
	case divides && c.nodes[y].uniform: // a product
		y = c.node(key{what: "1 /", x: y}, node{}, y)
		e.Op = "*"
	case divides: // times a reciprocal, which may serve several
		if root, is := e.Y.(Call); is && root.Func == "sqrt" {
			y = c.id(Call{"rsqrt", root.Args, root.Type})
		} else {
			y = c.node(key{what: "1 /", x: y}, node{of: Ops{Div: 1}}, y)
		}
		if one, is := e.X.(Num); is && one.Value == 1 {
			return y
		}
		e.Op = "*"
	}
	n := node{flag: e.Type == Bool}
	switch e.Op {
	case "*":
		n.of, n.product = Ops{Mul: 1}, true
	case "+", "-":
		n.of, n.sum, n.less = Ops{Add: 1}, true, e.Op == "-"
	case "&&", "||": // of comparisons, which do it
	default:
		n.of = Ops{Add: 1}
	}
	if x > y && (e.Op == "+" || e.Op == "*") {
		x, y = y, x
	}
	return c.node(key{what: e.Op, x: x, y: y}, n, x, y)
}

// ops are those of all that was counted.
func (c *counter) ops() (all Ops) {
	absorbed := make([]int, len(c.nodes)) // products, by how many sums
	for _, n := range c.nodes {
		if !n.sum {
			continue
		}
		for _, x := range n.operands[:n.used] { // one of them
			if p := c.nodes[x]; p.product && p.others == 0 && !p.uniform && !(p.shift && n.less) {
				absorbed[x]++
				break
			}
		}
	}
	for i, n := range c.nodes {
		if n.uniform || n.product && n.sums > 0 && absorbed[i] == n.sums || n.sums+n.others == 0 {
			continue
		}
		all = all.plus(n.of)
	}
	return all
}

// alive is Stencil.Alive of all that was counted.
func (c *counter) alive() (late, early int) {
	n := len(c.nodes)
	last := make([]int, n) // node that uses it last
	for i := range last {
		last[i] = i
	}
	for i, id := range c.locals {
		if i < 0 { // returned, at the end
			last[id] = n
		}
	}
	held := func(i int) bool { // by a register of its own, which flags have none of, nor what an operand's sign is changed by
		of := c.nodes[i]
		return !of.uniform && !of.flag && !(of.used == 1 && of.of == Ops{})
	}
	for i := n - 1; i >= 0; i-- {
		of := c.nodes[i]
		until := i
		if of.used == 1 && !held(i) {
			until = last[i]
		}
		for _, x := range of.operands[:of.used] {
			last[x] = max(last[x], until)
		}
	}
	ends, ahead, now := make([]int, n+2), 0, 0
	for i, of := range c.nodes {
		if held(i) {
			ends[last[i]+1]++
			if of.used == 0 {
				ahead++
			}
		}
	}
	for i, of := range c.nodes {
		now -= ends[i]
		if held(i) {
			now++
			if of.used == 0 {
				ahead--
			}
		}
		late, early = max(late, now), max(early, now+ahead)
	}
	return late, early
}
