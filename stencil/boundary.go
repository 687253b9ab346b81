package stencil

import (
	"fmt"
	"slices"
	"strings"
)

// Boundary is a rule for points that lie outside the grid.
type Boundary string

// The boundary rules; EdgeValue stands in their place where a file has it.
const (
	Clamp    Boundary = "clamp"    // the nearest cell inside
	Mirror   Boundary = "mirror"   // the cell as far inside, the edge cell as the mirror: -1 reads 1
	Wrap     Boundary = "wrap"     // the grid repeats: -1 reads the last cell
	Constant Boundary = "constant" // a number
	Fixed    Boundary = "fixed"    // a cell whose points' box reaches outside never changes; what other fields' cells read there is the nearest cell
	Edge     Boundary = "edge"     // EdgeValue's function
	Mixed    Boundary = "mixed"    // of a whole stencil: its rules differ by axis, side or field
)

// Rule is what stands for a point beyond one side of an axis.
type Rule struct {
	Boundary Boundary
	Constant float64 // the number, where Boundary is Constant
}

// Rules are an array's: by axis, of its low and its high side. A point outside is settled axis by axis: on one whose rule
// names a cell (clamp, mirror, wrap) it is the point there. If it lies outside on others still, the first of them, in order
// x, y, z, says what it is worth.
type Rules [3][2]Rule

// all are the same rule everywhere.
func (r Rule) all() Rules { return Rules{{r, r}, {r, r}, {r, r}} }

// valued tells whether the rule gives a value of its own, and names no cell.
func (r Rule) valued() bool { return r.Boundary == Constant || r.Boundary == Edge }

// side is which rule holds for index i of an axis, outside.
func side(i int) int {
	if i < 0 {
		return 0
	}
	return 1
}

func clampIndex(i, n int) int { return min(max(i, 0), n-1) }

// index gives the index on an axis of extent n that stands for i, or, where the rule names none, the nearest.
func (b Boundary) index(i, n int) int {
	if i >= 0 && i < n {
		return i
	}
	switch b {
	case Mirror:
		if n == 1 {
			return 0
		}
		i = ((i % (2*n - 2)) + 2*n - 2) % (2*n - 2)
		return min(i, 2*n-2-i)
	case Wrap:
		return (i%n + n) % n
	}
	return clampIndex(i, n)
}

// readOnly is the rule for read-only arrays: those that name a cell inside hold
// for them as well, else the nearest cell inside is read.
func (r Rule) readOnly() Rule {
	if r.Boundary == Mirror || r.Boundary == Wrap {
		return r
	}
	return Rule{Boundary: Clamp}
}

// Wraps tells whether the grid repeats on an axis: for all arrays, or for none.
func (s *Stencil) Wraps(axis int) bool { return s.Fields[0].Rules[axis][0].Boundary == Wrap }

// repeating are rules of the axes that wrap alone.
func (s *Stencil) repeating() (r Rules) {
	for axis := range r {
		if s.Wraps(axis) {
			r[axis] = s.Fields[0].Rules[axis]
		}
	}
	return r
}

// Has tells whether some side of some field has the rule.
func (s *Stencil) Has(b Boundary) bool {
	for i := range s.Fields {
		if s.Fields[i].Has(b) {
			return true
		}
	}
	return false
}

// Has tells whether a rule holds beyond some side of the array.
func (a *Array) Has(b Boundary) bool {
	for _, sides := range a.Rules {
		if sides[0].Boundary == b || sides[1].Boundary == b {
			return true
		}
	}
	return false
}

// Mirrors tells whether points of the array beyond a side of an axis are mirrored.
func (a *Array) Mirrors(axis int) bool {
	return a.Rules[axis][0].Boundary == Mirror || a.Rules[axis][1].Boundary == Mirror
}

// Mirrors tells whether some array has mirrored points on an axis.
func (s *Stencil) Mirrors(axis int) bool {
	return slices.ContainsFunc(s.arrays(), func(a *Array) bool { return a.Mirrors(axis) })
}

// ReadsBeyond tells whether an array is read beyond a side of the grid, the low one (0) or the high one of an axis: by a stage, a
// number of the step, or sources and receivers.
func (s *Stencil) ReadsBeyond(array, axis, side int) bool {
	beyond := func(points []Offset) bool {
		return slices.ContainsFunc(points, func(o Offset) bool { return side == 0 && o[axis] < 0 || side == 1 && o[axis] > 0 })
	}
	by := func(points [][]Offset) bool { return len(points) > 0 && beyond(points[array]) } // some read no array
	return beyond(s.arrays()[array].Points) ||
		slices.ContainsFunc(s.StepScalars, func(a StepScalar) bool { return by(a.Points) }) ||
		slices.ContainsFunc(s.Sparse, func(a Sparse) bool { return by(a.Points) })
}

// asksEdge tells whether a field's EdgeValue is asked anywhere.
func (s *Stencil) asksEdge(field int) bool {
	for axis := range s.Dims {
		for side := range 2 {
			if s.Fields[field].Rules[axis][side].Boundary == Edge && s.ReadsBeyond(field, axis, side) {
				return true
			}
		}
	}
	return false
}

// MirrorsApart tells whether beyond a side of an axis the first field is mirrored and another array that is read along the axis is
// not, or the other way round: then a point outside does not stand for the same cell in all of them.
func (s *Stencil) MirrorsApart(axis int) bool { return s.MirroredApart(axis) != nil }

// MirroredApart is that array, nil if there is none.
func (s *Stencil) MirroredApart(axis int) *Array {
	for _, a := range s.arrays() {
		if s.mirrorsUnlikeFirst(a, axis) && slices.ContainsFunc(a.Points, func(o Offset) bool { return o[axis] != 0 }) {
			return a
		}
	}
	return nil
}

// mirrorsUnlikeFirst tells whether beyond a side of an axis the array is mirrored and the first field is not, or the other way round.
func (s *Stencil) mirrorsUnlikeFirst(a *Array, axis int) bool {
	mirrors := func(a *Array, side int) bool { return a.Rules[axis][side].Boundary == Mirror }
	return mirrors(a, 0) != mirrors(&s.Fields[0], 0) || mirrors(a, 1) != mirrors(&s.Fields[0], 1)
}

// MirrorsDiffer tells whether beyond some side arrays are mirrored and others are not, whatever is read of them: there a function of several at a
// cell has no cell that it stands for. Hidden fields have no rules.
func (s *Stencil) MirrorsDiffer() bool {
	for i, a := range s.arrays() {
		hidden := slices.ContainsFunc(s.Stages, func(st Stage) bool { return st.Hidden && slices.Contains(st.Outputs, i) })
		for axis := range s.Dims {
			if !hidden && s.mirrorsUnlikeFirst(a, axis) {
				return true
			}
		}
	}
	return false
}

// oneRule puts a stencil's rules in one word, if they are one.
func (s *Stencil) oneRule() {
	first := s.Fields[0].Rules[0][0]
	s.Boundary, s.Constant = first.Boundary, first.Constant
	want := make([]Rules, 0, len(s.Fields)+len(s.ReadOnly))
	for range s.Fields {
		want = append(want, first.all())
	}
	for range s.ReadOnly {
		want = append(want, first.readOnly().all())
	}
	for i, a := range s.arrays() {
		for axis := range s.Dims {
			if a.Rules[axis] != want[i][axis] {
				s.Boundary, s.Constant = Mixed, 0
			}
		}
	}
	for i, a := range s.arrays() { // axes that there are not
		for axis := s.Dims; axis < 3; axis++ {
			a.Rules[axis] = want[i][axis]
			if s.Boundary == Mixed {
				a.Rules[axis] = [2]Rule{{Boundary: Clamp}, {Boundary: Clamp}}
			}
		}
	}
}

// arrays are the fields and then the read-only arrays.
func (s *Stencil) arrays() (list []*Array) {
	for i := range s.Fields {
		list = append(list, &s.Fields[i])
	}
	for i := range s.ReadOnly {
		list = append(list, &s.ReadOnly[i])
	}
	return list
}

// Outside is the name of the boundary rule, or the rules that differ as a file has them: each part follows the word Boundary,
// the first for all arrays that no other names. EdgeValue stands where that says what lies beyond a side.
func (s *Stencil) Outside() string {
	if s.Boundary != Mixed {
		return string(s.Boundary)
	}
	first := s.Fields[0].Rules
	parts := []string{first.text(s.Dims)}
	for i, a := range s.arrays() {
		want := first
		if i >= len(s.Fields) {
			want = first.readOnly()
		}
		if a.Rules != want {
			parts = append(parts, a.Name+" "+a.Rules.text(s.Dims))
		}
	}
	return strings.Join(parts, ", ")
}

// readOnly are the rules for read-only arrays.
func (r Rules) readOnly() Rules {
	for axis := range r {
		for side := range r[axis] {
			r[axis][side] = r[axis][side].readOnly()
		}
	}
	return r
}

// String is a rule as a file has it.
func (r Rule) String() string {
	switch r.Boundary {
	case Constant:
		return fmt.Sprint("constant ", r.Constant)
	case Edge:
		return "EdgeValue"
	}
	return string(r.Boundary)
}

func (r Rules) text(dims int) string {
	switch sides := r[0]; {
	case dims == 1 && sides[0] == sides[1]:
		return sides[0].String()
	case dims == 1:
		return fmt.Sprintf("x (%s, %s)", sides[0], sides[1])
	}
	var axes []string
	for _, sides := range r[:dims] {
		if sides[0] == sides[1] {
			axes = append(axes, sides[0].String())
		} else {
			axes = append(axes, fmt.Sprintf("(%s, %s)", sides[0], sides[1]))
		}
	}
	return "(" + strings.Join(axes, ", ") + ")"
}
