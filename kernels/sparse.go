package kernels

import (
	_ "embed"
	"fmt"
	"strings"

	"stenciltune/stencil"
)

//go:embed lists.cu
var listsText string

//go:embed sources.cu
var sourcesText string

//go:embed receivers.cu
var receiversText string

// SparseThreads is the threads of a block that does a list of places, one each; from MaxSparseBlocks blocks on they do several.
const (
	SparseThreads   = 128
	MaxSparseBlocks = 1024
)

// DoesLists tells whether a kernel that advances so many time steps does itself what sources and receivers do: they act after each.
func DoesLists(st *stencil.Stencil, steps int) bool { return steps > 1 && len(st.Sparse) > 0 }

// SparseLaunches are the launches after one that advances so many time steps, one for each list of places, of a problem whose
// kernel has that entry, with as many places as checks and timings have; none where that does the lists itself. Launch i takes
// SparseArguments of list i.
func SparseLaunches(p stencil.Problem, entry string, steps int) (list []StepLaunch) {
	if DoesLists(p.Stencil, steps) {
		return nil
	}
	for i := range p.Stencil.Sparse {
		launch := Launch{Grid: [3]int{CeilDiv(stencil.SparsePlaces, SparseThreads), 1, 1}, Block: [3]int{SparseThreads, 1, 1}}
		list = append(list, StepLaunch{Scope: fmt.Sprintf("lists::list_%d::", i), Entry: sparseEntry(entry, i), Launch: launch})
	}
	return list
}

func sparseEntry(entry string, list int) string { return fmt.Sprintf("%s_list_%d", entry, list) }

// SparseArguments lists the parameters of what SparseLaunches launches for a list.
func SparseArguments(st *stencil.Stencil, i int) []Argument {
	list := inputs(st)
	table := "T *__restrict__"
	if a := &st.Sparse[i]; a.Sources() {
		list = append(list, Argument{Kind: Changed, Index: a.Field, Name: "field", C: pointerTo(st.Fields[a.Field]), Type: st.Fields[a.Field].Type})
		table = "const " + table
	}
	return append(list, listArguments(i, "", table)...)
}

// listArguments are the parameters that a list is given by, named with that ending; table is the type of its table.
func listArguments(i int, ending, table string) []Argument {
	return []Argument{{Kind: Places, Index: i, Name: "place" + ending, C: "const long long *__restrict__"}, {Kind: PlaceCount, Index: i, Name: "places" + ending, C: "long long"},
		{Kind: Table, Index: i, Name: "table" + ending, C: table}, {Kind: TableRows, Index: i, Name: "rows" + ending, C: "int"}}
}

// listValues writes what sources and receivers compute of their own cell, for a kernel that does them itself.
func (w *writer) listValues() {
	st := w.p.Stencil
	for i := range st.Sparse {
		w.line("\nnamespace list_%d {", i)
		w.line("// %s, from what its cell holds and what the table has.", choose(st.Sparse[i].Sources(), "The new value for a source")+choose(!st.Sparse[i].Sources(), "What a receiver records"))
		w.line("__device__ __forceinline__ Real value(const Grid &grid, int px, int py, int pz, int iteration, const T (&held)[FIELDS], T with) {")
		w.line("  const auto old = [&](int array, int, int, int) { return array < FIELDS ? held[array] : read_cell<false>(grid, array, px, py, pz); };")
		var before strings.Builder
		w.reads(st.Sparse[i].Points, func(format string, args ...any) { fmt.Fprintf(&before, "  "+format+"\n", args...) })
		if st.Sparse[i].Sources() {
			before.WriteString("  const T value = with;\n")
		}
		w.function(stencil.SparseCode(st, i), before.String())
		w.line("}\n} // namespace list_%d", i)
	}
}

// sparse writes the kernels that do what sources and receivers do.
func (w *writer) sparse(entry string) {
	st := w.p.Stencil
	if len(st.Sparse) == 0 || DoesLists(st, w.timeTile) {
		return
	}
	w.line("\nnamespace lists {")
	w.piece(0, Piece{File: "kernels/lists.cu", Text: listsText})
	for i := range st.Sparse {
		a := &st.Sparse[i]
		w.piece(0, Piece{Text: fmt.Sprintf("namespace list_%d {\n#define LIST_ENTRY %s\n", i, sparseEntry(entry, i))})
		w.parameters(SparseArguments(st, i), nil, "")
		w.line("constexpr int LIST_THREADS = %d; // of a block", SparseThreads)
		var before strings.Builder
		w.reads(a.Points, func(format string, args ...any) { fmt.Fprintf(&before, "  "+format+"\n", args...) })
		piece := Piece{File: "kernels/receivers.cu", Text: receiversText}
		if a.Sources() {
			piece = Piece{File: "kernels/sources.cu", Text: sourcesText}
			w.line("\n// The new value of a cell that holds a value, for a source.")
			w.line("__device__ __forceinline__ Real source_value(const Grid &grid, int px, int py, int pz, int iteration, T held, T with) {")
			w.line("  const auto old = [&](int array, int, int, int) { return array == %d ? held : read_cell<false>(grid, array, px, py, pz); };", a.Field)
			before.WriteString("  const T value = with;\n")
		} else {
			w.radius(&stencil.Stage{Low: a.Low, High: a.High})
			w.line("\n// What is recorded of a cell.\ntemplate <bool EDGE>\n__device__ __forceinline__ Real received(const Grid &grid, int px, int py, int pz, int iteration) {")
			w.line("  const auto old = [&](int array, int dx, int dy, int dz) { return read_cell<EDGE>(grid, array, px + dx, py + dy, pz + dz); };")
		}
		w.function(stencil.SparseCode(st, i), before.String())
		w.line("}")
		w.piece(0, piece)
		w.piece(0, Piece{Text: fmt.Sprintf("#undef LIST_ENTRY\n#undef PARAMETERS\n#undef GRID\n} // namespace list_%d\n", i)})
	}
	w.line("} // namespace lists")
}
