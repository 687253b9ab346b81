package stencil

import (
	"fmt"
	"slices"
	"strings"
)

// Sparse is what every time step does at places that a run is given, once its stages are done: sources change a field
// there, receivers record a number of each place. A place is a cell's index in the grid, x fastest; one outside of the grid is passed
// over. A table has a row of as many elements as there are places for each of the first steps: what a source's value is, or
// where a receiver's number goes.
type Sparse struct {
	Name  string
	Field int    // that sources change; -1 of receivers
	Body  []Stmt // gives the field's new value, or the number; Var{Nearest} is a source's value
	// Points says where each array is read, fields and then read-only arrays: distinct offsets in order z, y, x. Sources read at
	// the own cell alone.
	Points    [][]Offset
	Low, High [3]int // reach of its get()
	mark      int    // of sources, where marks are: 2 has been seen once they changed a cell
	Range     Range  // the values that a table of sources is meant for
}

// Sources tells whether they are sources, else receivers.
func (a *Sparse) Sources() bool { return a.Field >= 0 }

// Checks and timings have SparsePlaces places for each list, and SparseRows rows of its table.
const (
	SparsePlaces = 64
	SparseRows   = Iterations
)

// RowsFor is how many rows of a list's table kernels are told of that run from a seed's data: of an even seed's two, so that checks
// see what follows the last row; else all, as timings need, whose seed is 1.
func RowsFor(seed uint32) int {
	if seed%2 == 0 {
		return 2
	}
	return SparseRows
}

// sparseSpread is how many places there may be in checks, equally far apart: fewer than entries, so that some come twice.
const sparseSpread = 47

// PlaceScale gives the places of checks and timings. The highest is the grid's last cell, the lowest lies outside where the grid is
// no multiple of their distance.
func (p Problem) PlaceScale() Scale {
	last := p.Size.Cells() - 1
	apart := max(1, last/(sparseSpread-2))
	return Scale{Low: float64(last - (sparseSpread-1)*apart), Step: sparseSpread * 0x1p-24, Quantum: float64(apart)}
}

// TableScale gives the start values of the table of sources.
func (p Problem) TableScale(i int) Scale { return p.Stencil.Sparse[i].Range.scale(p.DType.Floating()) }

// SparseData is what a list is given.
type SparseData struct {
	Places []int64
	Table  Values // of sources: a row of values for each step
	Rows   int
}

// emptyRecords makes tables for receivers, of zeros.
func (r *run) emptyRecords() (tables []Values) {
	for i, d := range r.sparse {
		if !r.s.Sparse[i].Sources() {
			tables = append(tables, valuesOf(r.s.DType, make([]float64, len(d.Places)*d.Rows)))
		}
	}
	return tables
}

// sparse parses what follows Sources, name (field) { ... }, and Receivers, name { ... }.
func (p *parser) sparse(key token) error {
	a := Sparse{Field: -1}
	t, err := p.newName("a list of places")
	if err != nil {
		return err
	}
	a.Name = t.text
	if len(p.out.Sparse) == maxNames {
		return p.fail(key, "more than %d lists of places", maxNames)
	}
	list := p.at
	if key.text == "Sources" {
		at := p.peek()
		if !p.accept("(") || p.take().kind != tokName || !p.accept(")") {
			return p.fail(at, "want the field that the sources change here, like Sources %.40s (u) { return get(u%s) + value; }", a.Name, strings.Repeat(", 0", max(1, p.out.Dims)))
		}
	}
	if !p.is("{") {
		return p.fail(p.peek(), `want "{" here, found %s; %s`, p.peek(), map[string]string{
			"Sources": "the function gives the field's new value, like { return get(u, 0, 0) + value; }", "Receivers": "the function gives what is recorded, like { return get(u, 0, 0); }"}[key.text])
	}
	p.out.Sparse = append(p.out.Sparse, a)
	if err := p.skipBlock(key); err != nil {
		return err
	}
	p.blocks[len(p.blocks)-1].at = list
	return nil
}

// sparseBody parses the function of the next list.
func (p *parser) sparseBody(key token) (err error) {
	a := &p.out.Sparse[p.nextList]
	p.fn.name = key.text + " " + a.Name
	p.fn.results = []Type{p.out.elem()}
	if key.text == "Sources" {
		p.take()
		t := p.take()
		p.take()
		if a.Field = p.field(t); a.Field < 0 {
			return p.fail(t, "want the name of a field here, found %s; declare it with Fields (%.40s)", t, t.text)
		}
		if p.out.Fields[a.Field].Temporary {
			return p.fail(t, "%.40s is temporary: each step sets it anew, so that nothing would see what sources add; name a field that lasts", t.text)
		}
	}
	if a.Body, err = p.wholeBody(); p.marking && a.Sources() {
		a.mark = len(p.out.marks)
		p.out.marks = append(p.out.marks, Branch{Line: key.line, Col: key.col, Word: a.Name, Sources: true})
	}
	p.nextList++
	return err
}

// sparses checks the lists once all functions are known, and finds what they read.
func (p *parser) sparses() error {
	s, next := p.out, 0
	for _, b := range p.blocks {
		if b.key.text != "Sources" && b.key.text != "Receivers" {
			continue
		}
		a := &s.Sparse[next]
		next++
		a.Points = make([][]Offset, len(s.Fields)+len(s.ReadOnly))
		temporary := ""
		walkBody(a.Body, func(e Expr) {
			switch e := e.(type) {
			case Get:
				reach(&a.Low, &a.High, e.At)
				a.Points[e.Field] = addPoint(a.Points[e.Field], e.At)
				if s.Fields[e.Field].Temporary {
					temporary = s.Fields[e.Field].Name
				}
			case Read:
				reach(&a.Low, &a.High, e.At)
				n := len(s.Fields) + e.Array
				a.Points[n] = addPoint(a.Points[n], e.At)
			}
		})
		if temporary != "" {
			return p.fail(b.key, "%.40s reads %.40s, which is temporary: no step hands it on; remove it from Temporary", a.Name, temporary)
		}
		if !a.Sources() {
			continue
		}
		if a.Low != [3]int{} || a.High != [3]int{} {
			return p.fail(b.key, "the function of sources %.40s reads beside its own cell, where other sources may act at the same time; get takes offsets of 0 there", a.Name)
		}
		if !s.sets(a.Field) {
			return p.fail(b.key, "no stage sets %.40s, which sources %.40s change; name a field that CellValue returns", s.Fields[a.Field].Name, a.Name)
		}
		for i := range s.Stages {
			for _, c := range s.Stages[i].Copies {
				if c.Field == a.Field {
					return p.fail(b.key, "%.40s is what %.40s was before the step, and takes over its array; sources %.40s cannot change it: name a field that a stage computes", s.Fields[c.Field].Name, s.Fields[c.From].Name, a.Name)
				}
			}
		}
	}
	return nil
}

// SparseCode is the body of a list's function for a GPU, like StageCode.
func SparseCode(s *Stencil, i int) string {
	return printer{s: s, code: true}.text(s.Sparse[i].Body)
}

// sparseMeaning is what of the lists a stencil's hash depends on.
func (s *Stencil) sparseMeaning() string {
	var b strings.Builder
	for _, a := range s.Sparse {
		fmt.Fprintf(&b, "list %d\n%s", a.Field, printer{s: s}.text(a.Body))
	}
	return b.String()
}

// act does what the lists do after the stages of a step.
func (r *run) act() {
	records := r.records
	for i, d := range r.sparse {
		a := &r.s.Sparse[i]
		table, row := d.Table, (r.iteration-1)*len(d.Places)
		if !a.Sources() {
			table, records = records[0], records[1:]
		}
		if r.iteration > d.Rows {
			continue
		}
		c := newEvaluation(r, a.Body)
		if r.noise != nil {
			*c.state = uint64(mix(r.noise.seed+uint32(r.iteration)))<<32 | uint64(mix(uint32(i))|1)
		}
		for j, place := range d.Places {
			if place < 0 || place >= r.n.Cells() {
				continue
			}
			cell, nx, ny := int(place), r.n[0], r.n[1]
			c.at = [3]int{cell % nx, cell / nx % ny, cell / nx / ny}
			to, at := table, row+j
			if a.Sources() && r.lacks(a.Field, c.at) {
				continue
			}
			if a.Sources() {
				if to, at = r.fields[a.Field], cell; table.Int != nil {
					c.nearI = table.Int[row+j]
				} else {
					c.nearF = table.Float[row+j]
				}
			}
			changed := false
			if c.run(); to.Int != nil {
				changed, to.Int[at] = to.Int[at] != c.ints[0], c.ints[0]
			} else {
				changed, to.Float[at] = to.Float[at] != c.floats[0], c.floats[0]
			}
			if changed && a.Sources() && len(r.seen) > 0 {
				r.seen[a.mark] |= 2
			}
		}
		for i, b := range c.seen {
			r.seen[i] |= b
		}
	}
}

// Recorded is the elements of what receivers record in a check, all lists.
func (p Problem) Recorded() (n int64) {
	for i := range p.Stencil.Sparse {
		if !p.Stencil.Sparse[i].Sources() {
			n += SparsePlaces * SparseRows
		}
	}
	return n
}

// listNamed gives the list of places of that name, nil for none.
func (p *parser) listNamed(name string) *Sparse {
	if i := slices.IndexFunc(p.out.Sparse, func(a Sparse) bool { return a.Name == name }); i >= 0 {
		return &p.out.Sparse[i]
	}
	return nil
}
