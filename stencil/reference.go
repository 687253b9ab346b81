package stencil

import (
	"runtime"
	"slices"
	"sync"
)

// Values are the elements of an array: Float of a floating-point stencil, Int of
// an integer one.
type Values struct {
	Float []float64
	Int   []int64
}

// Len is the number of elements.
func (v Values) Len() int { return len(v.Float) + len(v.Int) }

func (v Values) clone() Values {
	return Values{append([]float64(nil), v.Float...), append([]int64(nil), v.Int...)}
}

// Floats gives the elements as float64.
func (v Values) Floats(d DType) []float64 {
	if d.Floating() {
		return v.Float
	}
	f := make([]float64, len(v.Int))
	for i, n := range v.Int {
		f[i] = Type(d).asFloat(n)
	}
	return f
}

// valuesOf stores numbers as elements of a type.
func valuesOf(d DType, f []float64) Values {
	if d.Floating() {
		return Values{Float: f}
	}
	v := Values{Int: make([]int64, len(f))}
	for i := range f {
		v.Int[i] = Type(d).fromFloat(f[i])
	}
	return v
}

// Data is what a run starts from: a value per cell of every field, the read-only
// arrays and the scalars, in the stencil's order.
type Data struct {
	Fields   []Values
	ReadOnly []Values     // one element per cell, or any number where it is Indexed
	Scalars  []float64    // nil: the problem's
	Sparse   []SparseData // of each list; nil: none acts
	Records  []Values     // what each list of receivers has recorded before; nil: nothing
}

// Finish is what a run ends with.
type Finish struct {
	Fields  []Values
	Steps   int      // that were run: fewer than asked for where Until held
	Reduced float64  // after the last step that computed it
	Until   bool     // Until ended the run
	Records []Values // of each list of receivers, a row of its places for each step
}

// Reference computes steps time steps of p from in, which holds the fields one
// after the other (one value per cell, x fastest) and then the read-only arrays,
// and gives the fields. Arrays that in does not hold are zero. in is left as it was.
func Reference(p Problem, in []float64, steps int) []float64 {
	var d Data
	cells := int(p.Size.Cells())
	next := func() Values {
		f := make([]float64, cells)
		in = in[copy(f, in):]
		return valuesOf(p.Stencil.DType, f)
	}
	for range p.Stencil.Fields {
		d.Fields = append(d.Fields, next())
	}
	for range p.Stencil.ReadOnly {
		d.ReadOnly = append(d.ReadOnly, next())
	}
	var out []float64
	for _, f := range Run(p, d, steps).Fields {
		out = append(out, f.Floats(p.Stencil.DType)...)
	}
	return out
}

// Run computes at most steps time steps of p, one cell at a time, with no thought
// for speed beyond using all processors: floating-point values in float64 (in
// float32 where an integer stencil says so), integers exactly as generated code
// does. The arrays of d are left as they were.
func Run(p Problem, d Data, steps int) Finish {
	return newRun(p, d).run(d, steps)
}

func newRun(p Problem, d Data) *run {
	r := &run{s: p.Stencil, element: p.DType, n: p.Size, extent: p.Size, readOnly: d.ReadOnly, scalars: d.Scalars, sparse: d.Sparse, seen: make([]byte, len(p.Stencil.marks))}
	if d.Scalars == nil {
		r.scalars = p.ScalarValues()
	}
	for _, a := range p.Stencil.arrays() {
		r.ends, r.rules = append(r.ends, p.Size), append(r.rules, &a.Rules)
		for axis, short := range a.Short {
			if short && p.Stencil.native {
				r.ends[len(r.ends)-1][axis]--
			}
		}
	}
	r.scalars = append(slices.Clone(r.scalars), make([]float64, len(p.Stencil.StepScalars))...)
	return r
}

func (r *run) run(d Data, steps int) Finish {
	s := r.s
	spare := make([]Values, len(s.Fields))
	for i, f := range d.Fields {
		r.fields = append(r.fields, f.clone())
		spare[i] = f.clone()
	}
	if r.records = r.emptyRecords(); d.Records != nil {
		for i, v := range d.Records {
			r.records[i] = v.clone()
		}
	}
	var out Finish
	for r.iteration = r.done + 1; r.iteration <= steps; r.iteration++ {
		check := s.Reduce != nil && (r.iteration == steps || s.Until != nil && r.iteration%s.Until.Every == 0)
		var before []Values
		if check {
			for _, f := range r.fields {
				before = append(before, f.clone())
			}
		}
		r.stepScalars()
		for i := range s.Stages {
			st := &s.Stages[i]
			targets := make([]Values, len(st.Outputs))
			for j, f := range st.Outputs {
				targets[j] = spare[f]
			}
			r.stage(st, targets)
			for j, f := range st.Outputs {
				r.fields[f], spare[f] = targets[j], r.fields[f]
			}
		}
		r.act()
		out.Steps = r.iteration
		if check {
			out.Reduced = r.reduce(before)
			if s.Until != nil && r.iteration%s.Until.Every == 0 && s.Until.holds(out.Reduced) {
				out.Until = true
				break
			}
		}
	}
	out.Fields, out.Records = r.fields, r.records
	return out
}

// holds compares with the limit.
func (u *Until) holds(v float64) bool {
	switch u.Op {
	case "<":
		return v < u.Limit
	case "<=":
		return v <= u.Limit
	case ">":
		return v > u.Limit
	}
	return v >= u.Limit
}

// run is the state of a run.
type run struct {
	s         *Stencil
	n         Size
	ends      []Size   // of each array: n, but where it is short
	rules     []*Rules // of each array
	fields    []Values // what get() reads
	updated   []Values // in Reduce: the new fields
	readOnly  []Values
	scalars   []float64 // of the run, then of the step
	sparse    []SparseData
	records   []Values // of receivers
	iteration int
	done      int // steps before the data that the run starts from
	element   DType
	extent    Size   // what the program takes the grid's extents for: n, or more (place)
	noise     *noise // nil without
	wrongAt   *Point // a point that reads the next cell on x; nil if none does
	mu        sync.Mutex
	seen      []byte // as evaluation's, of all cells
}

// place is the coordinate of index i of an axis. Where the grid stands for a larger one, it is a
// third from its low end, a third from its middle and the rest from its high end.
func (r *run) place(axis, i int) int {
	n, extent := r.n[axis], r.extent[axis]
	switch {
	case n == extent || i < n/3:
		return i
	case i < n/3*2:
		return i - n/2 + extent/2
	}
	return i - n + extent
}

// rows calls f on every row of cells, in parallel, with an evaluation of its own
// for each worker.
func (r *run) rows(body []Stmt, f func(c *evaluation, row int)) {
	rows := r.n[1] * r.n[2]
	workers := min(runtime.GOMAXPROCS(0), max(1, int(r.n.Cells()/4096)))
	var wg sync.WaitGroup
	for w := range workers {
		wg.Go(func() {
			c := newEvaluation(r, body)
			for row := rows * w / workers; row < rows*(w+1)/workers; row++ {
				c.at[1], c.at[2] = row%r.n[1], row/r.n[1]
				if r.noise != nil { // the same whoever computes the row, and no run's signs are those of another
					h := mix(r.noise.seed + uint32(r.iteration))
					*c.state = uint64(h)<<32 | uint64(mix(uint32(row)^h)|1)
				}
				f(c, row)
			}
			r.mu.Lock()
			defer r.mu.Unlock()
			for i, b := range c.seen {
				r.seen[i] |= b
			}
		})
	}
	wg.Wait()
}

// stage computes one stage into the targets of its outputs.
func (r *run) stage(st *Stage, targets []Values) {
	var fixed []int // outputs of which cells near the edge keep their value
	for j, f := range st.Outputs {
		if r.s.Fields[f].Has(Fixed) || r.ends[f] != r.n && !r.s.Fields[f].Temporary {
			fixed = append(fixed, j)
		}
	}
	r.rows(st.Body, func(c *evaluation, row int) {
		keeps := make([]bool, len(targets))
		for x := range r.n[0] {
			i := row*r.n[0] + x
			c.at[0] = x
			kept := 0
			for _, j := range fixed {
				if keeps[j] = r.keeps(st, st.Outputs[j], c.at); keeps[j] {
					kept++
				}
			}
			if kept < len(targets) {
				c.run()
			}
			for j, t := range targets {
				if keeps[j] && t.Int != nil {
					t.Int[i] = r.fields[st.Outputs[j]].Int[i]
				} else if keeps[j] {
					t.Float[i] = r.fields[st.Outputs[j]].Float[i]
				} else if t.Int != nil {
					t.Int[i] = c.ints[j]
				} else {
					t.Float[i] = c.floats[j]
				}
			}
		}
	})
}

// keeps tells whether a cell of a field keeps its value: the box of the stage's points reaches beyond a side where the
// field's rule is fixed, or it is none of the field's.
func (r *run) keeps(st *Stage, field int, at [3]int) bool {
	high := st.High
	if r.s.native {
		high = st.ends
	}
	for a, sides := range r.s.Fields[field].Rules {
		if at[a] < st.Low[a] && sides[0].Boundary == Fixed || at[a] >= r.n[a]-high[a] && sides[1].Boundary == Fixed {
			return true
		}
	}
	return r.lacks(field, at)
}

// lacks tells whether a cell of the grid is none of a field's.
func (r *run) lacks(field int, at [3]int) bool {
	n := r.ends[field]
	return at[0] >= n[0] || at[1] >= n[1] || at[2] >= n[2]
}

// reduce computes Reduce over all cells, x fastest, in float64; before is the
// state that get() reads.
func (r *run) reduce(before []Values) float64 {
	after := r.fields
	r.fields, r.updated = before, after
	v := r.folded(r.s.Reduce.Op, r.s.Reduce.Body)
	r.fields, r.updated = after, nil
	return v
}
