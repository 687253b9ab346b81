package stencil

import (
	"cmp"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"math"
	"slices"
	"strings"
)

// Ops counts the operations of one cell update, from the syntax tree. Of an if,
// both branches count: the threads of a warp run both. Whether a short array has
// ended does not: few cells are asked.
type Ops struct {
	Add     int `json:"add"` // additions, subtractions, comparisons, selections
	Mul     int `json:"mul"`
	Div     int `json:"div"`     // and remainders
	Special int `json:"special"` // square roots, exponentials ...

	Calls Calls `json:"-"` // of Special
	// Among Add, as Operations counts them: minima and maxima; selections of one of two elements; those of conditions and whole numbers.
	Extremes, Selections, Decisions int `json:"-"`
}

// Total is every operation counted once.
func (o Ops) Total() int { return o.Add + o.Mul + o.Div + o.Special }

// plus adds the counts of another.
func (o Ops) plus(b Ops) Ops {
	for i, n := range b.Calls {
		o.Calls[i] += n
	}
	return Ops{o.Add + b.Add, o.Mul + b.Mul, o.Div + b.Div, o.Special + b.Special, o.Calls, o.Extremes + b.Extremes, o.Selections + b.Selections, o.Decisions + b.Decisions}
}

// times is the counts of n cells.
func (o Ops) times(n int) Ops {
	for i := range o.Calls {
		o.Calls[i] *= n
	}
	return Ops{n * o.Add, n * o.Mul, n * o.Div, n * o.Special, o.Calls, n * o.Extremes, n * o.Selections, n * o.Decisions}
}

func (o *Ops) count(e Expr) {
	switch e := e.(type) {
	case Binary:
		if asksEnd(e) {
			return
		}
		switch e.Op {
		case "*":
			o.Mul++
		case "/", "%":
			o.Div++
		default:
			o.Add++
		}
	case Cond:
		if !asksEnd(e.If) {
			o.Add++
		}
	case Call:
		if i := special(e.Func); i >= 0 {
			o.Special++
			o.Calls[i]++
		} else {
			o.Add++
		}
	}
}

func addPoint(points []Offset, o Offset) []Offset {
	if i, found := slices.BinarySearchFunc(points, o, compareOffsets); !found {
		return slices.Insert(points, i, o)
	}
	return points
}

func compareOffsets(a, b Offset) int {
	return cmp.Or(cmp.Compare(a[2], b[2]), cmp.Compare(a[1], b[1]), cmp.Compare(a[0], b[0]))
}

// readsAny tells whether a stage reads an array at places that are known.
func (s *Stencil) readsAny() bool {
	for i := range s.Stages {
		if slices.ContainsFunc(s.Stages[i].Points, func(points []Offset) bool { return len(points) > 0 }) {
			return true
		}
	}
	return false
}

// Asked are the points of an array, fields before read-only ones, that the file reads: Points has those, too, which kernels read in the
// place of what short arrays lack.
func (s *Stencil) Asked(array int) []Offset {
	points := s.arrays()[array].Points
	m := s.marked()
	if m == nil || !m.native {
		return points
	}
	asked := []Offset{{}} // where a cell may keep its value
	for _, body := range m.bodies() {
		walkBody(body, func(e Expr) {
			if g, is := e.(Get); is && g.Field == array {
				asked = append(asked, g.At)
			} else if r, is := e.(Read); is && len(s.Fields)+r.Array == array {
				asked = append(asked, r.At)
			}
		})
	}
	return slices.DeleteFunc(slices.Clone(points), func(o Offset) bool { return !slices.Contains(asked, o) })
}

// pointsRead are the offsets that cell functions read fields at.
func (s *Stencil) pointsRead() (points []Offset) {
	for i := range s.Stages {
		walkBody(s.Stages[i].Body, func(e Expr) {
			if g, is := e.(Get); is {
				points = addPoint(points, g.At)
			}
		})
	}
	return points
}

// reach widens low and high so that they cover o.
func reach(low, high *[3]int, o Offset) {
	for a := range 3 {
		low[a] = max(low[a], -o[a])
		high[a] = max(high[a], o[a])
	}
}

// bodies are all functions of the stencil.
func (s *Stencil) bodies() [][]Stmt {
	if s.Of != nil {
		return s.Of.bodies()
	}
	var all [][]Stmt
	for _, st := range s.Stages {
		all = append(all, st.Body)
	}
	for _, f := range s.Fields {
		all = append(all, f.Edge)
	}
	if s.Reduce != nil {
		all = append(all, s.Reduce.Body)
	}
	for _, a := range s.StepScalars {
		all = append(all, a.Body)
	}
	for _, a := range s.Sparse {
		all = append(all, a.Body)
	}
	return all
}

// Iterates tells whether a time step depends on its number, as it does by the tables of sources and receivers.
func (s *Stencil) Iterates() bool {
	found := len(s.Sparse) > 0
	for _, body := range s.bodies() {
		walkBody(body, func(e Expr) {
			if v, ok := e.(Var); ok && v.Kind == Iteration {
				found = true
			}
		})
	}
	return found
}

// Places tells whether a time step depends on where a cell lies on an axis, or on the grid's extent there, by more than
// the boundary rule.
func (s *Stencil) Places(axis int) bool {
	found, step := false, *s
	step.Reduce = nil
	for _, body := range step.bodies() {
		walkBody(body, func(e Expr) {
			if v, ok := e.(Var); ok && ((v.Kind == Position || v.Kind == Extent) && v.Index == axis || v.Kind == HighEnd && v.Index%3 == axis) {
				found = true
			}
		})
	}
	return found
}

// steering tells for each scalar whether a condition or the index of a read may
// depend on it, through local variables too.
func (s *Stencil) steering() []bool {
	decides := make([]bool, len(s.Scalars)+len(s.StepScalars))
	for _, body := range s.bodies() {
		// By local, the scalars that its value was computed from; a variable that is
		// set under a condition depends on that as well, which then counts anyway.
		locals := map[int][]int{}
		from := func(e Expr) (list []int) {
			walk(e, func(e Expr) {
				switch e := e.(type) {
				case Scalar:
					list = append(list, e.Index)
				case Local:
					list = append(list, locals[e.Index]...)
				}
			})
			slices.Sort(list)
			return slices.Compact(list)
		}
		decide := func(e Expr) {
			for _, i := range from(e) {
				decides[i] = true
			}
		}
		var block func([]Stmt)
		block = func(body []Stmt) {
			for _, st := range body {
				var values []Expr
				switch st := st.(type) {
				case Let:
					values = []Expr{st.Value}
					locals[st.Local] = append(locals[st.Local], from(st.Value)...)
				case Return:
					values = st.Values
				case If:
					values = []Expr{st.Cond}
					decide(st.Cond)
					block(st.Then)
					block(st.Else)
				}
				for _, v := range values {
					walk(v, func(e Expr) {
						switch e := e.(type) {
						case Cond:
							decide(e.If)
						case ReadAt:
							decide(e.Index)
						case Binary:
							if e.Op == "&&" || e.Op == "||" {
								decide(e.X)
							}
						}
					})
				}
			}
		}
		block(body)
	}
	for i, a := range slices.Backward(s.StepScalars) { // what decides comes of what it is computed from
		walkBody(a.Body, func(e Expr) {
			if v, ok := e.(Scalar); ok && decides[len(s.Scalars)+i] {
				decides[v.Index] = true
			}
		})
	}
	return decides
}

// finish derives everything that follows from the functions.
func (s *Stencil) finish() {
	s.oneRule()
	s.facts()
	if len(s.marks) == 0 { // else it is the reference's own, and never printed
		sum := sha256.Sum256([]byte(s.meaning()))
		s.Hash = hex.EncodeToString(sum[:])
	}
	s.nameEdges()
}

// facts derives all but the hash.
func (s *Stencil) facts() {
	shown := 0
	for i := range s.Stages {
		if !s.Stages[i].Hidden {
			shown++
		}
	}
	for i := range s.Stages {
		st := &s.Stages[i]
		st.Points = make([][]Offset, len(s.Fields)+len(s.ReadOnly))
		for _, f := range st.Outputs { // a cell near the edge may keep its value
			if s.Fields[f].Has(Fixed) {
				st.Points[f] = addPoint(nil, Offset{})
			}
		}
		walkBody(st.Body, func(e Expr) {
			st.Ops.count(e)
			switch e := e.(type) {
			case Get:
				reach(&st.Low, &st.High, e.At)
				s.Points = addPoint(s.Points, e.At)
				st.Points[e.Field] = addPoint(st.Points[e.Field], e.At)
				s.Fields[e.Field].Points = addPoint(s.Fields[e.Field].Points, e.At)
			case Read:
				reach(&st.Low, &st.High, e.At)
				a := len(s.Fields) + e.Array
				st.Points[a] = addPoint(st.Points[a], e.At)
			}
		})
		st.Tables = s.tables(st.Body)
		for a := range 3 {
			if s.Mirrors(a) { // what a point outside mirrors lies on the other side
				st.Low[a] = max(st.Low[a], st.High[a])
				st.High[a] = st.Low[a]
			}
		}
		for a := range 3 {
			s.Low[a], s.High[a] = max(s.Low[a], st.Low[a]), max(s.High[a], st.High[a])
		}
		s.Ops = s.Ops.plus(st.Ops)
		if shown == 1 && !st.Hidden && !s.alone && !s.Has(Fixed) {
			st.Copies = st.copies(s.Fields)
		}
	}
	for _, body := range s.bodies() {
		walkBody(body, func(e Expr) {
			switch e := e.(type) {
			case Read:
				s.ReadOnly[e.Array].Points = addPoint(s.ReadOnly[e.Array].Points, e.At)
			case ReadAt:
				s.ReadOnly[e.Array].Indexed = true
			}
		})
	}
}

// tables are the read-only arrays of which a function reads another element at most cells, by read(i) or along the grid's only axis: not
// those whose index is the same in a row, as that of a wavelet is, which is the time step.
func (s *Stencil) tables(body []Stmt) (arrays []int) {
	if len(s.ReadOnly) == 0 {
		return nil
	}
	c := newCounter()
	c.cell(body, Offset{})
	for k := range c.ids {
		if k.what == "read at" && !c.nodes[k.y].row && (s.ReadOnly[k.x].Axis == 0 || s.Dims == 1) {
			arrays = append(arrays, k.x)
		}
	}
	slices.Sort(arrays)
	return slices.Compact(arrays)
}

// nameEdges puts a boundary rule in the place of EdgeValue where one says the same of every field.
// The stencil keeps its hash.
func (s *Stencil) nameEdges() {
	if s.Boundary != Edge {
		return
	}
	rule, constant := s.Fields[0].named()
	for _, f := range s.Fields[1:] {
		if r, c := f.named(); r != rule || c != constant {
			return
		}
	}
	if rule == Edge {
		return
	}
	s.Boundary, s.Constant = rule, constant
	s.Fields = slices.Clone(s.Fields)
	for i := range s.Fields {
		s.Fields[i].Edge, s.Fields[i].Rules = nil, Rule{rule, constant}.all()
	}
}

// named is the rule by which a field's EdgeValue gives what lies outside, and the number where that is
// a constant: Edge if there is none.
func (f *Array) named() (Boundary, float64) {
	if len(f.Edge) != 1 {
		return Edge, 0
	}
	r, ok := f.Edge[0].(Return)
	if !ok {
		return Edge, 0
	}
	switch v := r.Values[0].(type) {
	case Var:
		if v.Kind == Nearest {
			return Clamp, 0
		}
	case Num:
		return Constant, v.Value
	case Int:
		if c := v.typ().asFloat(v.Value); math.Abs(c) <= maxWhole { // -1 of uint64 is its largest number
			return Constant, c
		}
	}
	return Edge, 0
}

// meaning is the text that is hashed: everything the answer follows from but the
// element type of a floating-point stencil, which a problem names. A stencil that
// needs nothing but a cell function has kept the text of the first version.
func (s *Stencil) meaning() string {
	if s.plain() {
		return fmt.Sprintf("stencil v1 dims=%d boundary=%s\n%s", s.Dims, s.Boundary, CellSource(s))
	}
	var b strings.Builder
	fmt.Fprintf(&b, "stencil v2 dims=%d boundary=%s %v type=%s fields=%d readonly=%d\n", s.Dims, s.Boundary, s.Constant, s.elem(), len(s.Fields), len(s.ReadOnly))
	if s.Boundary == Mixed {
		for _, a := range s.arrays() {
			fmt.Fprintf(&b, "outside %v\n", a.Rules)
		}
	}
	for i, a := range s.ReadOnly {
		if a.Type != "" {
			fmt.Fprintf(&b, "array %d stored in %s\n", i, a.Type)
		}
		if a.Axis > 0 {
			fmt.Fprintf(&b, "array %d along %c\n", i, "xyz"[a.Axis-1])
		}
	}
	for i, f := range s.Fields {
		if f.Type != "" {
			fmt.Fprintf(&b, "field %d stored in %s\n", i, f.Type)
		}
	}
	for _, a := range s.Scalars {
		fmt.Fprintf(&b, "scalar %s %v\n", a.Type, a.Default)
	}
	for i := range s.Stages {
		fmt.Fprintf(&b, "stage %v\n%s", s.Stages[i].Outputs, StageSource(s, i))
		if c := s.Stages[i].Color; c != nil {
			fmt.Fprintf(&b, "color %s\n", c)
		}
	}
	for i, f := range s.Fields {
		if f.Temporary {
			fmt.Fprintf(&b, "temporary %d\n", i)
		}
		if f.Edge != nil {
			fmt.Fprintf(&b, "edge %d\n%s", i, EdgeSource(s, i))
		}
	}
	b.WriteString(s.stepMeaning())
	b.WriteString(s.sparseMeaning())
	if s.Reduce != nil {
		fmt.Fprintf(&b, "reduce %s\n%s", s.Reduce.Op, ReduceSource(s))
	}
	if s.Until != nil {
		fmt.Fprintf(&b, "until %+v\n", *s.Until)
	}
	return b.String()
}

func (s *Stencil) plain() bool { return s.Plain() == nil }

// Plain tells whether the stencil is a cell function of one field of float32 or
// float64 and nothing else, as every kernel family can run it: else what it uses
// beyond.
func (s *Stencil) Plain() error {
	beyond := ""
	for _, body := range s.bodies() {
		walkBody(body, func(e Expr) {
			switch e := e.(type) {
			case Var:
				beyond = "the position, the grid's size or the iteration"
			case Cast:
				if !e.Type.Floating() || e.X.typ() != Bool && !e.X.typ().Floating() {
					beyond = "integers"
				}
			case Binary:
				if !e.X.typ().Floating() && e.X.typ() != Bool {
					beyond = "integers"
				}
			case Local:
				if e.Type != Elem && e.Type != Bool {
					beyond = "integers"
				}
			}
		})
	}
	switch {
	case len(s.Fields) != 1:
		beyond = "several fields"
	case len(s.Stages) != 1 || s.Of != nil:
		beyond = "several stages"
	case len(s.ReadOnly) > 0:
		beyond = "read-only arrays"
	case len(s.Scalars) > 0:
		beyond = "scalars"
	case s.Fields[0].Edge != nil:
		beyond = "EdgeValue"
	case s.Boundary != Clamp:
		beyond = "Boundary " + s.Outside()
	case s.DType != Float32 && s.DType != Float64:
		beyond = "element type " + string(s.DType)
	case s.Reduce != nil:
		beyond = "Reduce"
	case len(s.StepScalars) > 0:
		beyond = "StepScalar"
	case len(s.Sparse) > 0:
		beyond = "Sources or Receivers"
	}
	if beyond != "" {
		return errors.New("does not support " + beyond + ", which " + s.Name + " uses")
	}
	return nil
}
