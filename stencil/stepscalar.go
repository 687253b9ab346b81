package stencil

import (
	"fmt"
	"maps"
	"slices"
	"strings"
)

// StepScalar is a number that every time step computes anew before its stages, from the state before the step.
// Scalar{len(Scalars) + i} reads number i.
type StepScalar struct {
	Name string
	Op   string // sum, min or max over all cells; "" of one that is computed once, from other numbers
	Body []Stmt // gives a cell's value, or the number itself
	// Points says where each array is read, fields and then read-only arrays: distinct offsets in order z, y, x.
	Points    [][]Offset
	Low, High [3]int // reach of its get()
}

// StepPass is step scalars that one look at the grid gives: first those that are folded over all cells, then those that follow
// from them and from passes before.
type StepPass struct{ Folded, Computed []int }

// StepPasses are the looks at the grid that a time step needs for its scalars, in order.
func (s *Stencil) StepPasses() (list []StepPass) {
	last := map[int]int{} // the pass of a step scalar
	for i := range s.StepScalars {
		after := -1 // the last pass that it reads a number of
		walkBody(s.StepScalars[i].Body, func(e Expr) {
			if v, ok := e.(Scalar); ok && v.Index >= len(s.Scalars) {
				after = max(after, last[v.Index-len(s.Scalars)])
			}
		})
		folded := s.StepScalars[i].Op != ""
		if n := len(list); n == 0 || folded && after == n-1 {
			list = append(list, StepPass{})
		}
		at := &list[len(list)-1]
		if last[i] = len(list) - 1; folded {
			at.Folded = append(at.Folded, i)
		} else {
			at.Computed = append(at.Computed, i)
		}
	}
	return list
}

// Points are where a pass reads each array, for all that it folds.
func (pass StepPass) Points(s *Stencil) [][]Offset {
	all := make([][]Offset, len(s.Fields)+len(s.ReadOnly))
	for _, i := range pass.Folded {
		for a, points := range s.StepScalars[i].Points {
			for _, o := range points {
				all[a] = addPoint(all[a], o)
			}
		}
	}
	return all
}

// FoldsStored are the fields that the last stage sets and the first pass of the next step's scalars reads, if a kernel that stores the
// last stage's cells can fold them for that: of fields the pass reads the own cell alone, and sources change none of them after they are stored. None if it cannot.
func (s *Stencil) FoldsStored() (list []int) {
	if len(s.StepScalars) == 0 {
		return nil
	}
	writes := s.Stages[len(s.Stages)-1].Writes(1)
	for a, points := range s.StepPasses()[0].Points(s) {
		switch {
		case len(points) == 0:
		case len(points) > 1 || points[0] != Offset{}:
			return nil
		case slices.ContainsFunc(s.Sparse, func(l Sparse) bool { return l.Field == a }):
			return nil
		case slices.Contains(writes, a): // fields come first
			list = append(list, a)
		}
	}
	return list
}

// StepBytes is the bytes that a time step must read for its scalars for each cell, over all passes.
func (p Problem) StepBytes() (n int) {
	stored := len(p.Stencil.Launched(1).FoldsStored()) > 0
	for i, pass := range p.Stencil.StepPasses() {
		n += p.PassBytes(pass, stored && i == 0)
	}
	return n
}

// PassBytes is the bytes that a pass of a time step's scalars reads for each cell: of every array once. With stored it is folded where
// the step before stores its cells, and reads only what no stage sets.
func (p Problem) PassBytes(pass StepPass, stored bool) int {
	s := p.Stencil
	read := map[int]bool{}
	for a, points := range pass.Points(s) {
		if len(points) > 0 && !(stored && a < len(s.Fields) && s.sets(a)) {
			read[a] = true
		}
	}
	for _, i := range pass.Folded {
		walkBody(s.StepScalars[i].Body, func(e Expr) {
			if r, ok := e.(ReadAt); ok && s.ReadOnly[r.Array].Axis == 0 {
				read[len(s.Fields)+r.Array] = true
			}
		})
	}
	return p.bytesOf(slices.Collect(maps.Keys(read)))
}

// stepNamed gives the index of a step scalar by its name, -1 for none.
func (p *parser) stepNamed(name string) int {
	return slices.IndexFunc(p.out.StepScalars, func(a StepScalar) bool { return a.Name == name })
}

// stepScalar parses [sum|min|max] name { ... }.
func (p *parser) stepScalar(key token) error {
	var a StepScalar
	if t := p.peek(); slices.Contains(folds, t.text) && p.after().kind == tokName {
		a.Op = p.take().text
	}
	if t := p.peek(); a.Op == "" && slices.Contains(folds, t.text) {
		return p.fail(p.after(), "want the name of a step scalar here, like StepScalar %s total { return get(0); }, found %s", t.text, p.after())
	}
	t, err := p.newName("a step scalar")
	if err != nil {
		return err
	}
	a.Name = t.text
	if len(p.out.StepScalars) == maxNames {
		return p.fail(key, "more than %d step scalars", maxNames)
	}
	if p.is("=") {
		return p.fail(p.peek(), `want "{" here, found "="; a step scalar that follows from others is StepScalar %.40s { return ...; }`, a.Name)
	}
	if !p.is("{") {
		return p.fail(p.peek(), `want "{" here, found %s; a step scalar is StepScalar sum %.40s { return get(0); }, with sum, min or max of all cells, or without one of them a formula`, p.peek(), a.Name)
	}
	p.out.StepScalars = append(p.out.StepScalars, a)
	return p.skipBlock(key)
}

// stepBody parses the function of the next step scalar.
func (p *parser) stepBody() (err error) {
	a := &p.out.StepScalars[p.step]
	p.fn.name = "StepScalar " + a.Name
	p.fn.results = []Type{p.out.elem()}
	a.Body, err = p.wholeBody()
	p.step++
	return err
}

// formula tells whether what is being parsed is computed once, not for each cell.
func (p *parser) formula() bool {
	return p.fn.key == "StepScalar" && p.out.StepScalars[p.step].Op == ""
}

// stepValue is step scalar i where a function reads it.
func (p *parser) stepValue(t token, i int) (Expr, error) {
	switch {
	case p.fn.key == "":
		return nil, p.notNumber(t)
	case p.fn.key == "EdgeValue":
		return nil, p.fail(t, "EdgeValue may not read a step scalar, for what lies outside may be read while %.40s is computed; read it in CellValue", t.text)
	case p.fn.key == "Reduce":
		return nil, p.fail(t, "Reduce may not read a step scalar: a launcher looks after the step; compute it from value and get here")
	case p.fn.key == "StepScalar" && i >= p.step:
		return nil, p.fail(t, "%.40s is not known yet; step scalars are computed in the order of the file, so move its StepScalar up", t.text)
	}
	p.stepRead[i] = true
	return Scalar{len(p.out.Scalars) + i, p.out.elem()}, nil
}

// stepScalars checks the step scalars once all functions are known, and finds what they read.
func (p *parser) stepScalars() error {
	s := p.out
	for i := range s.StepScalars {
		a := &s.StepScalars[i]
		if !p.stepRead[i] {
			return p.fail(p.seen["StepScalar"], "nothing reads step scalar %.40s; remove it", a.Name)
		}
		a.Points = make([][]Offset, len(s.Fields)+len(s.ReadOnly))
		walkBody(a.Body, func(e Expr) {
			switch e := e.(type) {
			case Get:
				reach(&a.Low, &a.High, e.At)
				a.Points[e.Field] = addPoint(a.Points[e.Field], e.At)
			case Read:
				reach(&a.Low, &a.High, e.At)
				n := len(s.Fields) + e.Array
				a.Points[n] = addPoint(a.Points[n], e.At)
			}
		})
	}
	return nil
}

// StepCode is the body of a step scalar's function: of a cell's value for a GPU, like StageCode; of one that is computed once in
// C's own operations.
func StepCode(s *Stencil, i int) string {
	a := &s.StepScalars[i]
	return printer{s: s, code: a.Op != "", cuda: true}.text(a.Body)
}

// FromDouble is a double as an integer element, in generated code.
func FromDouble(d DType, text string) string {
	low, high := Type(d).limits()
	return fmt.Sprintf("to_integer(%s, %s, %s)", text, intText(Int{low, Type(d)}), intText(Int{high, Type(d)}))
}

// stepMeaning is what of the step scalars a stencil's hash depends on.
func (s *Stencil) stepMeaning() string {
	var b strings.Builder
	for _, a := range s.StepScalars {
		fmt.Fprintf(&b, "step %s\n%s", a.Op, printer{s: s}.text(a.Body))
	}
	return b.String()
}

// stepScalars computes the numbers of a step from the fields as they are.
func (r *run) stepScalars() {
	for i := range r.s.StepScalars {
		a := &r.s.StepScalars[i]
		v := &r.numbers()[i]
		if a.Op != "" {
			*v = r.folded(a.Op, a.Body)
			continue
		}
		noise := r.noise
		if noise != nil && !noise.double { // it is computed in double, which errs by nothing that an element shows
			r.noise = nil
		}
		c := newEvaluation(r, a.Body)
		if noise != nil {
			*c.state = uint64(mix(noise.seed+uint32(r.iteration)))<<32 | 1
		}
		c.run()
		*v = c.number()
		for i, b := range c.seen {
			r.seen[i] |= b
		}
		r.noise = noise
	}
}

// numbers are the step scalars.
func (r *run) numbers() []float64 { return r.scalars[len(r.scalars)-len(r.s.StepScalars):] }

// number is what a function of one value has returned.
func (c *evaluation) number() float64 {
	if t := c.r.s.elem(); !t.Floating() {
		return t.asFloat(c.ints[0])
	}
	return c.floats[0]
}

// values computes a function at all cells.
func (r *run) values(body []Stmt) []float64 {
	values := make([]float64, r.n.Cells())
	r.rows(body, func(c *evaluation, row int) {
		for x := range r.n[0] {
			c.at[0] = x
			c.run()
			values[row*r.n[0]+x] = c.number()
		}
	})
	return values
}

// folded computes a function at all cells and folds what it gives in float64.
func (r *run) folded(op string, body []Stmt) float64 {
	values := r.values(body)
	v := Fold(op, values)
	if n := r.noise; n != nil && op == "sum" && n.double { // others add in double too, in another order
		c := newEvaluation(r, nil)
		*c.state = uint64(mix(n.seed+uint32(r.iteration)))<<32 | 1
		size, units := sumError(values)
		return c.off(v, size, units)
	}
	return v
}

// Fold gives the sum, min or max of numbers; NaN if one of them is.
func Fold(op string, numbers []float64) float64 {
	switch op {
	case "min":
		return slices.Min(numbers)
	case "max":
		return slices.Max(numbers)
	}
	return total(numbers)
}

// total adds in pairs, of pairs and so on: as exact as a GPU's threads and blocks do, or more.
func total(values []float64) (sum float64) {
	if n := len(values); n > 16 {
		return total(values[:n/2]) + total(values[n/2:])
	}
	for _, v := range values {
		sum += v
	}
	return sum
}
