package kernels

import (
	"fmt"
	"slices"

	"stenciltune/stencil"
)

// ArgumentKind says what a parameter of a kernel is.
type ArgumentKind int

// The parameters of a kernel, in this order.
const (
	In         ArgumentKind = iota // const T *, or of the type that it is stored in: field Index before the stage, every field
	Out                            // T *, or so: field Stage.Writes(steps)[Index] after the stage
	ReadOnly                       // const T *, or so: read-only array Index
	Length                         // long long: elements of read-only array Index, if read(i) reads it
	Extent                         // int: cells of the grid on axis Index
	Leading                        // int: elements from row to row (Index 0), rows from plane to plane (1); of pitched kernels alone
	Plane                          // int: the first plane that is computed (Index 0), and the one after the last (1); of partial problems' kernels alone
	Iteration                      // int: the first time step computed, 1 for a run's first; if the stencil asks for it
	Scalar                         // double, or long long of an integer type: scalar Index
	Step                           // const double *: the step scalars, StepDoubles in all; if the stencil has any
	Changed                        // T *, or so: field Index, that sources change where it lies; of SparseArguments alone
	Places                         // const long long *: the places of list Index. This and the next are of SparseArguments, and of kernels that do lists themselves (DoesLists)
	PlaceCount                     // long long: how many
	Table                          // const T *, or T * of receivers: the table of list Index
	TableRows                      // int: its rows
)

// Argument is one parameter of a kernel.
type Argument struct {
	Kind  ArgumentKind
	Index int
	Name  string
	C     string // the type in CUDA C; T is the element type
	// Type is what the elements of a field or read-only array are stored in; "" = the element type.
	Type stencil.DType
}

// Arguments lists the parameters of a stage's kernel that advances so many time
// steps, whatever the family.
func Arguments(st *stencil.Stencil, stage, steps int) []Argument {
	var list []Argument
	add := func(kind ArgumentKind, i int, name, access string, of stencil.Array) {
		list = append(list, Argument{kind, i, fmt.Sprintf(name, i), access + pointerTo(of), of.Type})
	}
	for i, f := range st.Fields {
		add(In, i, "in_%d", "const ", f)
	}
	for i, f := range st.Stages[stage].Writes(steps) {
		add(Out, i, "out_%d", "", st.Fields[f])
	}
	for i, a := range st.ReadOnly {
		add(ReadOnly, i, "ro_%d", "const ", a)
	}
	for i, a := range st.ReadOnly {
		if a.Indexed {
			list = append(list, Argument{Kind: Length, Index: i, Name: fmt.Sprintf("length_%d", i), C: "long long"})
		}
	}
	for i := range 3 {
		list = append(list, Argument{Kind: Extent, Index: i, Name: "n" + axis(i), C: "int"})
	}
	if st.Iterates() {
		list = append(list, Argument{Kind: Iteration, Name: "iteration", C: "int"})
	}
	for i, a := range st.Scalars {
		list = append(list, Argument{Kind: Scalar, Index: i, Name: fmt.Sprintf("s_%d", i), C: ScalarC(a)})
	}
	if len(st.StepScalars) > 0 {
		list = append(list, Argument{Kind: Step, Name: "step", C: "const double *"})
	}
	if DoesLists(st, steps) {
		for i := range st.Sparse {
			list = append(list, listArguments(i, fmt.Sprintf("_%d", i), "T *__restrict__")...)
		}
	}
	return list
}

// pointerTo is the type in CUDA C of a pointer to an array's elements.
func pointerTo(a stencil.Array) string {
	if a.Type == "" {
		return "T *"
	}
	return a.Type.C() + " *"
}

// Given is the parameters, of those that Arguments and its like list, of a kernel of such a problem: with where rows lie in pitched
// grids, and which planes are computed of partial ones.
func Given(p stencil.Problem, list []Argument) []Argument {
	var more []Argument
	if p.Pitched {
		more = append(more, Argument{Kind: Leading, Name: "ldx", C: "int"}, Argument{Kind: Leading, Index: 1, Name: "ldy", C: "int"})
	}
	if p.Partial {
		more = append(more, Argument{Kind: Plane, Name: "from_plane", C: "int"}, Argument{Kind: Plane, Index: 1, Name: "to_plane", C: "int"})
	}
	for i, a := range list {
		if a.Kind == Extent && a.Index == 2 {
			return slices.Insert(list, i+1, more...)
		}
	}
	panic("kernels: parameters without extents")
}

// ScalarC is the type by which kernels take a scalar.
func ScalarC(a stencil.Argument) string {
	if a.Type.Floating() {
		return "double"
	}
	return "long long"
}

// StageEntry is the name of a stage's kernel.
func StageEntry(entry string, stage int) string {
	if stage == 0 {
		return entry
	}
	return fmt.Sprintf("%s_%d", entry, stage)
}
