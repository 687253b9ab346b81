// Package stencil says WHAT is computed: a grid's cells, the points each new
// value reads, the cell function, the rule at the boundary and the element type.
//
// It also holds the float64 reference that every kernel is compared with. Axis 0
// is x, the fastest; offsets are in cells. It knows nothing of schedules or devices.
package stencil

import (
	"cmp"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"
)

// Offset is a point relative to the own cell, in cells on x, y, z.
type Offset [3]int

func (o Offset) text(dims int) string {
	parts := make([]string, dims)
	for i := range parts {
		parts[i] = strconv.Itoa(o[i])
	}
	return strings.Join(parts, ", ")
}

// Stencil is one stencil, immutable once parsed.
type Stencil struct {
	Name     string
	Dims     int
	Points   []Offset // of every field and stage: distinct, in order z, y, x
	Low      [3]int   // largest reach towards smaller indices, >= 0; the same as High on an axis that mirrors
	High     [3]int   // largest reach towards larger indices, >= 0
	Boundary Boundary // the one rule that all of the arrays' Rules are; else Mixed
	Constant float64  // what lies outside where Boundary is Constant
	DType    DType    // the file's own element type; a Problem may choose another
	Fields   []Array  // what a cell holds; one without a name where the file has no Fields
	ReadOnly []Array  // what is read at a cell and never changes
	Scalars  []Argument
	// StepScalars are the numbers that each time step computes from the state before it, in order; empty without.
	StepScalars []StepScalar
	Stages      []Stage  // one time step, in order
	Sparse      []Sparse // sources and receivers, in the order in which they act after the stages; empty without
	Reduce      *Reduce  // nil without
	Until       *Until   // nil without
	Function    string   // the name of the exported function, if the file gives one
	Steps       int      // time steps of a run by default; 0 where the file gives none
	Ops         Ops      // of one cell update, all stages
	Hash        string   // SHA-256 of the meaning: same hash, same answer
	// Of is the stencil whose stages are composed into the one here (Fused), nil in any
	// other; Evaluations says where each of them is computed.
	Of          *Stencil
	Evaluations [][]Offset
	read        int      // values that its text reads (readMerged)
	size        Size     // DefaultSize; zero where the file gives none
	text        string   // the file as it was read
	marks       []Branch // of the conditions in the tree, where it was parsed with them; else none
	Wide        []Wide   // where a field keeps more cells than it would alone
	alone       bool     // its stage is one of several that a step of the whole has (Alone)
	native      bool     // functions are the file's own where arrays are short: the reference's, and no kernel's
}

// Array is a field or a read-only array.
type Array struct {
	Name   string
	Points []Offset // where it is read, in all stages: distinct, in order z, y, x
	// Temporary is a field that no time step hands on to the next, and no run gives.
	Temporary bool
	Indexed   bool    // a read-only array that read(i) reads by other than the own cell
	Short     [3]bool // axes on which it ends one cell before the grid does
	Axis      int     // a read-only array of a value for each place of an axis: 1 x, 2 y, 3 z; 0 of any other
	back      int     // how far such an array is read towards the low end
	// Type is what the elements are stored in; "" of the problem's element type, to which others are converted where they
	// are read. What a stage sets in a field of such a type is converted to it and back in the stage's body.
	Type  DType
	Rules Rules
	Range Range
	Edge  []Stmt     // a field's EdgeValue: what lies outside where its rule says so; nil without
	sides [3][2]bool // of which the file has an EdgeValue that names field and side
}

// Argument is a scalar that is the same for all cells and steps of a run.
type Argument struct {
	Name    string
	Type    Type
	Default float64 // 1 where the file gives none
}

// Stage is a cell function: it reads what the stage before left, and all its
// cells change at once.
type Stage struct {
	Name    string
	Outputs []int // fields set, in the order of the returned values
	Body    []Stmt
	Color   Color // of the cells that the stage updates; nil of all. Body begins with a condition that says so
	// Hidden is a stage that Hoisted has made. The value of its fields at any cell, also at
	// one outside the grid that a reader's offset names, is its function of what lies there,
	// the boundary rule applied to each point by itself: its fields have no rule of their
	// own, and with Boundary fixed no cell keeps its value. A coordinate that it depends on
	// is the reader's: it is not read at another one.
	Hidden bool
	// Copies are outputs whose new value is another field's old one, each of a field of
	// its own; only where a time step has one stage that is not hidden.
	Copies []Copy
	// Points says where each array is read, fields and then read-only arrays: distinct
	// offsets in order z, y, x. Where a cell may keep its value its fields are read, too.
	Points [][]Offset
	// Tables are the read-only arrays that read(i) reads elsewhere at most cells, or along the grid's only axis.
	Tables    []int
	Low, High [3]int // reach of its get()
	ends      [3]int // High where arrays are short, as Fixed takes it: theirs are a cell further
	Ops       Ops
}

// Copy is a field that a time step sets to what another one held before it, as the
// older of two time levels: instead of writing it, a program lets arrays change places.
type Copy struct{ Field, From int }

// Writes lists the fields that a launch of so many time steps writes: the outputs,
// and of one step all but the copies.
func (st *Stage) Writes(steps int) []int {
	if steps > 1 || len(st.Copies) == 0 {
		return st.Outputs
	}
	return slices.DeleteFunc(slices.Clone(st.Outputs), func(f int) bool {
		return slices.ContainsFunc(st.Copies, func(c Copy) bool { return c.Field == f })
	})
}

// Reduce is a number computed from all cells after a step.
type Reduce struct {
	Op   string // sum, min or max
	Body []Stmt // one value per cell
}

// Until ends a run: after every Every steps, if the reduced number compares so.
type Until struct {
	Op    string // < <= > >=
	Limit float64
	Every int
}

// Text is the stencil file itself.
func (s *Stencil) Text() string { return s.text }

// Radius is the largest reach on each axis.
func (s *Stencil) Radius() [3]int {
	return [3]int{max(s.Low[0], s.High[0]), max(s.Low[1], s.High[1]), max(s.Low[2], s.High[2])}
}

// elem is the type of a cell's value in the syntax tree.
func (s *Stencil) elem() Type {
	if s.DType.Floating() {
		return Elem
	}
	return Type(s.DType)
}

// stencilJSON is a stencil as it crosses a process boundary: the file.
type stencilJSON struct {
	Name string `json:"name"`
	Text string `json:"text"`
}

// MarshalJSON writes the stencil as its name and file.
func (s *Stencil) MarshalJSON() ([]byte, error) { return json.Marshal(stencilJSON{s.Name, s.text}) }

// UnmarshalJSON parses the file again.
func (s *Stencil) UnmarshalJSON(b []byte) error {
	var j stencilJSON
	if err := json.Unmarshal(b, &j); err != nil {
		return err
	}
	p, err := Parse(j.Name, j.Name+".sl", j.Text)
	if err != nil {
		return err
	}
	*s = *p
	return nil
}

// Problem is what a schedule is tuned for.
type Problem struct {
	Stencil *Stencil  `json:"stencil"`
	DType   DType     `json:"dtype"`
	Size    Size      `json:"size"`
	Steps   int       `json:"steps"`             // time steps of one run of the user's program
	Scalars []float64 `json:"scalars,omitempty"` // values, in the stencil's order; nil = the defaults
	// Pitched: rows and planes may be parts of longer ones. How far they are apart is given to a launch. Nothing is tuned
	// for that.
	Pitched bool `json:"pitched,omitempty"`
	// Partial: a launch is given the planes, along the outermost axis, that it computes. Families that cut these into stream tiles
	// heed it. Nothing is tuned for that.
	Partial bool `json:"partial,omitempty"`
	// Impulses: a check starts from fields of which one cell in 61 is 256 and the others are 0, so that a step gives products with one
	// weight each, which no sum rounds. Nothing is tuned for that.
	Impulses bool `json:"impulses,omitempty"`
	// NaN: a check starts from fields of which the elements whose random bits are all ones (SeedFor) are NaN. What is judged then are
	// numbers that follow from all cells. Nothing is tuned for that.
	NaN bool `json:"nan,omitempty"`
}

// Bytes is the size of one grid.
func (p Problem) Bytes() int64 { return p.Size.Cells() * int64(p.DType.Size()) }

// ScalarValues are the values of the stencil's scalars.
func (p Problem) ScalarValues() []float64 {
	if p.Scalars != nil {
		return p.Scalars
	}
	var v []float64
	for _, a := range p.Stencil.Scalars {
		v = append(v, a.Default)
	}
	return v
}

// Hash names what is computed as far as the best schedule may depend on it: the
// stencil, and of the scalars with another value than their default those that decide
// which branch a cell takes or which element it reads. The others change neither a
// kernel's text nor the instructions that it runs.
func (p Problem) Hash() string {
	var b strings.Builder
	steering := p.Stencil.steering()
	for i, v := range p.ScalarValues() {
		if steering[i] && v != p.Stencil.Scalars[i].Default {
			fmt.Fprintf(&b, " s_%d=%v", i, v)
		}
	}
	if b.Len() == 0 {
		return p.Stencil.Hash
	}
	sum := sha256.Sum256([]byte(p.Stencil.Hash + b.String()))
	return hex.EncodeToString(sum[:])
}

// Stored is the type that an array's elements are stored in: fields are numbered first, then read-only arrays.
func (p Problem) Stored(array int) DType {
	if a := array - len(p.Stencil.Fields); a >= 0 {
		return cmp.Or(p.Stencil.ReadOnly[a].Type, p.DType)
	}
	return cmp.Or(p.Stencil.Fields[array].Type, p.DType)
}

// FieldBytes is the size of all fields of a grid.
func (p Problem) FieldBytes() (n int64) {
	for f := range p.Stencil.Fields {
		n += p.Size.Cells() * int64(p.Stored(f).Size())
	}
	return n
}

// readArrays lists the arrays that a time step reads, each in every stage that reads it.
func (s *Stencil) readArrays() (arrays []int) {
	for _, stage := range s.Stages {
		for _, a := range stage.Tables {
			arrays = append(arrays, len(s.Fields)+a)
		}
		for a, points := range stage.Points {
			if len(points) > 0 {
				arrays = append(arrays, a)
			}
		}
	}
	return arrays
}

// Reads is the arrays that a time step reads, each counted in every stage that reads it.
func (s *Stencil) Reads() int { return len(s.readArrays()) }

// bytesOf is the bytes of an element of each array.
func (p Problem) bytesOf(arrays []int) (n int) {
	for _, a := range arrays {
		n += p.Stored(a).Size()
	}
	return n
}

// ReadShare is the bytes that a time step reads, as a share of what they would be if every array were of the element type.
func (p Problem) ReadShare() float64 {
	arrays := p.Stencil.readArrays()
	return float64(p.bytesOf(arrays)) / float64(max(1, len(arrays)*p.DType.Size()))
}

// WriteShare is the same of the bytes that a launch of so many time steps writes.
func (p Problem) WriteShare(steps int) float64 {
	var fields []int
	for i := range p.Stencil.Stages {
		fields = append(fields, p.Stencil.Stages[i].Writes(steps)...)
	}
	return float64(p.bytesOf(fields)) / float64(max(1, len(fields)*p.DType.Size()))
}

// Traffic is the bytes that a time step must move for each cell: every array that is
// read or written once, the stages fused if they can be.
func (p Problem) Traffic() int {
	st := p.Stencil.Launched(1)
	p.Stencil = st
	n := p.bytesOf(st.readArrays()) + p.StepBytes()
	for _, stage := range st.Stages {
		n += p.bytesOf(stage.Writes(1))
	}
	return n
}

// Compulsory is the bytes that a time step must move for each cell whatever the kernel:
// every array whose values from before the step are read counts once, and every field
// that it leaves changed, as if all stages were fused; and once more what its step scalars read. Traffic is the same where they can be.
func (p Problem) Compulsory() int {
	st := p.Stencil
	read, written := map[int]bool{}, map[int]bool{}
	for i := range st.Stages {
		stage := &st.Stages[i]
		for a, points := range stage.Points {
			if len(points) > 0 && !written[a] {
				read[a] = true
			}
		}
		for _, a := range stage.Tables {
			read[len(st.Fields)+a] = true
		}
		for _, f := range stage.Writes(1) {
			written[f] = true
		}
	}
	for i, f := range st.Fields {
		if f.Temporary {
			delete(written, i)
		}
	}
	return p.bytesOf(slices.Collect(maps.Keys(read))) + p.bytesOf(slices.Collect(maps.Keys(written))) + p.StepBytes()
}

// Wide tells whether element indices need 64 bits: a 32-bit index may go one
// block beyond the end before it is compared, so the border is 2^24 elements below 2^31.
func (p Problem) Wide() bool { return p.Size.Cells() >= 1<<31-1<<24 }

// Text is the problem on one line: "jacobi3d/f32/512x512x512".
func (p Problem) Text() string {
	return p.Stencil.Name + "/" + p.DType.Short() + "/" + p.Size.Text(p.Stencil.Dims)
}

// Resized is the same problem on another grid.
func (p Problem) Resized(s Size) Problem { p.Size = s; return p }
