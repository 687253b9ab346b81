package kernels

import (
	_ "embed"
	"fmt"
	"slices"

	"stenciltune/stencil"
)

//go:embed reader.cu
var readerText string

//go:embed writer.cu
var writerText string

//go:embed putpart.cu
var putPartText string

//go:embed stored.cu
var storedText string

// storedTypes are the types that arrays are stored in and that are not the element type. A kernel's text numbers them from 1 on.
func storedTypes(p stencil.Problem) (types []stencil.DType) {
	for a := range len(p.Stencil.Fields) + len(p.Stencil.ReadOnly) {
		if d := p.Stored(a); d != p.DType && !slices.Contains(types, d) {
			types = append(types, d)
		}
	}
	return types
}

// OneType tells whether all arrays are stored in the element type.
func OneType(p stencil.Problem) bool { return len(storedTypes(p)) == 0 }

// OneOutput tells whether all fields are stored in the element type.
func OneOutput(p stencil.Problem) bool {
	for f := range p.Stencil.Fields {
		if p.Stored(f) != p.DType {
			return false
		}
	}
	return true
}

// reader declares what stands for an array of any type, where there are several.
func (w *writer) reader() {
	types := storedTypes(w.p)
	if len(types) == 0 {
		return
	}
	for _, d := range types {
		w.WriteString(stencil.TypeSource(d))
	}
	w.line("__host__ __device__ constexpr int least(int a, int b) { return a < b ? a : b; }")
	w.line("// Of bytes that lie together those that are moved at once: 16 at most, and never a part of an element.")
	w.line("__host__ __device__ constexpr int at_once(int element, int bytes) { return element > bytes ? element : least(bytes, 16); }\n")
	w.line("// Calls f with a pointer to nothing of the type that an array is stored in: 0 stands for T.")
	w.line("template <class F> __device__ __forceinline__ auto by_type(int stored, F f) {")
	for i, d := range types {
		w.line("  if (stored == %d) return f((%s *)nullptr);", i+1, d.C())
	}
	w.line("  return f((T *)nullptr);\n}")
	w.line("// What an element is worth.\ntemplate <class S> __device__ __forceinline__ T element(S stored) { return T(stored); }")
	if convertsByAdding(w.p) {
		for _, d := range types {
			if smallWhole(w.p, d) {
				w.line("template <> __device__ __forceinline__ T element<%s>(%[1]s stored) { return of_whole(stored); }", d.C())
			}
		}
	}
	w.piece(0, Piece{File: "kernels/reader.cu", Text: readerText})
	if !OneOutput(w.p) {
		w.line("// A value as it is stored. It has been converted to that and back before (the cell function does), so that it changes no more.")
		w.line("template <class S> __device__ __forceinline__ S stored_as(T value) { return S(value); }")
		for _, d := range types {
			if smallWhole(w.p, d) {
				w.line("template <> __device__ __forceinline__ %s stored_as<%[1]s>(T value) { return (%[1]s)to_whole(value); }", d.C())
			}
		}
		w.piece(0, Piece{File: "kernels/writer.cu", Text: writerText})
	}
	w.piece(0, Piece{})
}

// smallWhole tells whether what is stored in a type is small whole numbers, computed in a floating-point type that stencil.WholeSource converts.
func smallWhole(p stencil.Problem, d stencil.DType) bool {
	return (p.DType == stencil.Float32 || p.DType == stencil.Float64) && !d.Floating() && d.Size() <= 2
}

// convertsByAdding tells whether small whole numbers are better converted to float by stencil.WholeSource's additions than by the unit that
// has the functions as well, of which it does 16 a cycle and multiprocessor, where the others do 128 operations: where functions and quotients
// keep it at least half as long as the others are kept.
func convertsByAdding(p stencil.Problem) bool {
	if p.DType != stencil.Float32 {
		return false
	}
	functions, all := 0, 0.0
	for i := range p.Stencil.Stages {
		o := p.Stencil.Updating(i)
		flops, _ := Counts(o, p.DType)
		functions, all = functions+o.Special+o.Div, all+flops
	}
	return 2*128/16*float64(functions) > all
}

// needsWhole tells whether a text of such arrays calls functions of stencil.WholeSource.
func needsWhole(p stencil.Problem) bool {
	return slices.ContainsFunc(storedTypes(p), func(d stencil.DType) bool { return smallWhole(p, d) }) && (!OneOutput(p) || convertsByAdding(p))
}

// readerOf is the type by which a kernel takes an array, and what makes the array's Reader.
func (w *writer) readerOf(array int, name string) (c, reader string) {
	types, d := storedTypes(w.p), w.p.Stored(array)
	if len(types) == 0 {
		return "const T *__restrict__ ", name
	}
	n := slices.Index(types, d) + 1
	if n == 0 {
		return "const T *__restrict__ ", fmt.Sprintf("{(const char *)%s, 0}", name)
	}
	return fmt.Sprintf("const %s *__restrict__ ", d.C()), fmt.Sprintf("{(const char *)%s, %d}", name, n)
}

// writerOf is the type by which a kernel takes where a field goes, and what makes the field's Writer.
func (w *writer) writerOf(field int, name string) (c, writer string) {
	if OneOutput(w.p) {
		return "T *__restrict__ ", name
	}
	return ElementC(w.p, field) + " *__restrict__ ", fmt.Sprintf("{(char *)%s, %d}", name, StoredNumber(w.p, field))
}

// outputs is the type of where fields go.
func (w *writer) outputs() string {
	if OneOutput(w.p) {
		return "T *"
	}
	return "Writer "
}

// StoredPieces are the text of families that copy planes as they are stored, before their own: none where all arrays
// are of the element type.
func StoredPieces(p stencil.Problem) []Piece {
	if OneType(p) {
		return nil
	}
	constant := fmt.Sprintf("constexpr int MOVED = %d; // cells on whose multiples rows begin, where more are moved at once\n", moved(p))
	pieces := []Piece{{Text: constant}, {File: "kernels/stored.cu", Text: storedText}}
	if !OneOutput(p) {
		pieces = append(pieces, Piece{File: "kernels/putpart.cu", Text: putPartText})
	}
	return pieces
}

// moved is the cells that are moved at once at most: a pitched grid's rows begin where 16 bytes of the element type do.
func moved(p stencil.Problem) int {
	if p.Pitched {
		return max(1, 16/p.DType.Size())
	}
	return 16
}

// MovedBytes is the bytes that one copy moves of so many cells of an array that is stored so, 16 at most.
func MovedBytes(p stencil.Problem, d stencil.DType, cells int) int {
	return max(d.Size(), min(min(cells, moved(p))*min(d.Size(), p.DType.Size()), 16))
}

// ElementC is the type of an array's elements in a kernel's text.
func ElementC(p stencil.Problem, array int) string {
	if d := p.Stored(array); d != p.DType {
		return d.C()
	}
	return "T"
}

// StoredNumber is how a kernel's text numbers the type that an array is stored in: 0 stands for the element type.
func StoredNumber(p stencil.Problem, array int) int {
	return slices.Index(storedTypes(p), p.Stored(array)) + 1
}

// Converts tells whether an element of an array takes an instruction where it is read or set: it is stored in another type than it is computed in.
func Converts(p stencil.Problem, array int) bool {
	return p.Stored(array) != p.DType || Rounds(p.DType)
}

// Rounds tells whether what is computed is rounded to a narrower type wherever a stage sets it.
func Rounds(d stencil.DType) bool { return !d.Packed() && ComputedSize(d) != d.Size() }

// Narrowed is the work of a launch, counted as if every array were of the element type, of what its arrays are stored in.
func Narrowed(p stencil.Problem, w Work) Work {
	w.L2Read *= p.ReadShare()
	w.L2Write *= p.WriteShare(w.Steps)
	return w
}
