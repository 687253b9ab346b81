package stencil

import (
	"slices"
	"sync"
)

// mostRead bounds how many values the text of a fused step reads: compilers are slow at more, and one has been seen to make wrong code of it, where functions
// are too large to be written out (docs/lab/0046-said-once.md).
const mostRead = 1000

// fusions are those of stencils seen before: a stencil never changes.
var fusions sync.Map // *Stencil to *Stencil

// Fused is the stencil with the stages of its time step composed into one, whose cells
// compute anew what they read of the stages before the last (compute_inline of
// Ragan-Kelley et al., "Halide", PLDI 2013, section 3). Its only stage sets what any
// stage sets, but for the fields of Temporary. It is nil where a step has one stage,
// leaves nothing or would compute too much, or asks at each place whether an array has ended: then compilers do not write the functions out.
func (s *Stencil) Fused() *Stencil {
	if f := s.Merged(); f != s && f != nil && f.read <= mostRead && !s.HasEnds() {
		return f
	}
	return nil
}

// Merged is the stencil with the stages of its time step as one, however much that would compute
// anew; nil where a step leaves nothing. A stencil of one stage is its own.
func (s *Stencil) Merged() *Stencil {
	if len(s.Stages) < 2 || s.Of != nil {
		return s
	}
	if f, ok := fusions.Load(s); ok {
		return f.(*Stencil)
	}
	f, _ := fusions.LoadOrStore(s, s.fuse())
	return f.(*Stencil)
}

// fuse composes the stages, from the last backwards: needs are the points of each array
// that are read of what the stages so far leave.
func (s *Stencil) fuse() *Stencil {
	f := *s
	f.Of = s
	last := Stage{}
	needs := make([][]Offset, len(s.Fields)+len(s.ReadOnly))
	for i := range s.Fields {
		if !s.Fields[i].Temporary && s.sets(i) {
			last.Outputs = append(last.Outputs, i)
			needs[i] = []Offset{{}}
		}
	}
	if len(last.Outputs) == 0 { // a step that leaves nothing
		return nil
	}
	f.Ops, f.Low, f.High = Ops{}, [3]int{}, [3]int{}
	for _, st := range slices.Backward(s.Stages) {
		var at []Offset // where the stage is computed
		for _, o := range st.Outputs {
			for _, p := range needs[o] {
				at = addPoint(at, p)
			}
			needs[o] = nil
		}
		for a, points := range st.Points {
			for _, p := range points {
				for _, o := range at {
					needs[a] = addPoint(needs[a], Offset{o[0] + p[0], o[1] + p[1], o[2] + p[2]})
				}
			}
		}
		if len(at) > 0 {
			for _, a := range st.Tables {
				if !slices.Contains(last.Tables, a) {
					last.Tables = append(last.Tables, a)
				}
			}
		}
		// Next to the grid's edge a stage is computed at the cell that stands for one
		// outside: nearer, so that each stage adds its whole reach on either side.
		for a := range 3 {
			f.Low[a] += st.Low[a]
			f.High[a] += st.High[a]
		}
		f.Evaluations = append([][]Offset{at}, f.Evaluations...)
		f.Ops = f.Ops.plus(st.Ops.times(len(at)))
	}
	f.read = s.readMerged()
	last.Points, last.Low, last.High, last.Ops = needs, f.Low, f.High, f.Ops
	f.Stages = []Stage{last}
	f.Points = nil
	for _, points := range needs {
		for _, o := range points {
			f.Points = addPoint(f.Points, o)
		}
	}
	return &f
}

// sets tells whether a stage sets the field.
func (s *Stencil) sets(field int) bool {
	return slices.ContainsFunc(s.Stages, func(st Stage) bool { return slices.Contains(st.Outputs, field) })
}

// Launched is the stencil as a kernel of so many entries runs it (0 is 1): where a time
// step has several stages, one entry does them all.
func (s *Stencil) Launched(entries int) *Stencil {
	if f := s.Merged(); f != nil && entries < 2 {
		return f
	}
	return s
}

// Forget sets the temporary fields of an answer, which begins with the fields one after the other, to
// zero: what they hold is nobody's business.
func (p Problem) Forget(values []float64) []float64 {
	cells := int(p.Size.Cells())
	for i, f := range p.Stencil.Fields {
		if f.Temporary {
			clear(values[i*cells : (i+1)*cells])
		}
	}
	return values
}

// readMerged is how many values the text of the stages as one reads: where a stage reads what an earlier one sets, all of that one's stand.
func (s *Stencil) readMerged() int {
	most, of := 0, map[int]int{} // by the array that a stage sets
	for _, st := range s.Stages {
		n := 0
		for a, points := range st.Points {
			n += len(points) * max(of[a], 1)
		}
		for _, o := range st.Outputs {
			of[o] = n
		}
		most = max(most, n)
	}
	return most
}
