package kernels

import (
	_ "embed"
	"fmt"
	"slices"
	"strings"

	"stenciltune/stencil"
)

//go:embed stepscalars.cu
var stepText string

//go:embed steppass.cu
var stepPassText string

//go:embed steplast.cu
var stepLastText string

// How all cells are folded to a number.
const (
	// FoldThreads is the threads of a block.
	FoldThreads = 256
	// MaxFoldBlocks fill any GPU several times over, and their numbers are folded in microseconds.
	MaxFoldBlocks = 1024
	// FoldCells keeps small grids from being spread over blocks whose launch costs more than their cells: a launch has a block
	// for each so many, up to MaxFoldBlocks.
	FoldCells = 8 * FoldThreads
)

// FoldBlocks is the blocks that fold so many cells.
func FoldBlocks(cells int64) int { return int(min((cells+FoldCells-1)/FoldCells, MaxFoldBlocks)) }

// StepLaunch is a launch that a time step begins with, for its step scalars.
type StepLaunch struct {
	Scope  string // namespaces within StepNamespace that hold the entry
	Entry  string
	Folds  bool // it has FoldBlocks blocks; else it is one
	Launch Launch
}

// StepLaunches are the launches before each time step, in order, of a problem whose kernel has that entry; none without step
// scalars. Each takes StepArguments.
func StepLaunches(p stencil.Problem, entry string) (list []StepLaunch) {
	for i, pass := range p.Stencil.StepPasses() {
		add := func(entry string, folds bool, blocks int) {
			list = append(list, StepLaunch{fmt.Sprintf("pass_%d::", i), entry, folds, Launch{Grid: [3]int{blocks, 1, 1}, Block: [3]int{FoldThreads, 1, 1}}})
		}
		if len(pass.Folded) > 0 {
			add(foldEntry(entry, i), true, FoldBlocks(p.Size.Cells()))
		}
		add(lastEntry(entry, i), false, 1)
	}
	return list
}

func foldEntry(entry string, pass int) string { return fmt.Sprintf("%s_fold_%d", entry, pass) }
func lastEntry(entry string, pass int) string { return fmt.Sprintf("%s_last_%d", entry, pass) }

// StepDoubles is the length of the array of Step, in doubles: the step scalars, and what the blocks of a pass leave.
func StepDoubles(st *stencil.Stencil) int {
	most := 0
	for _, pass := range st.StepPasses() {
		most = max(most, len(pass.Folded))
	}
	return len(st.StepScalars) + most*MaxFoldBlocks
}

// StepArguments lists the parameters of what StepLaunches launches.
func StepArguments(st *stencil.Stencil) []Argument {
	list := slices.DeleteFunc(Arguments(st, 0, 1), func(a Argument) bool { return a.Kind == Out })
	list[len(list)-1].C = "double *"
	return list
}

// StepNamespace begins the part of a source that has the entries of StepLaunches.
const StepNamespace = "namespace step_scalars {"

// stepScalars writes the kernels that compute the step scalars.
func (w *writer) stepScalars(entry string) {
	st := w.p.Stencil
	if len(st.StepScalars) == 0 {
		return
	}
	w.line("\n%s", StepNamespace)
	w.line("constexpr int STEP_SCALARS = %d, FOLD_THREADS = %d, FOLD_BLOCKS = %d, FOLD_CELLS = %d; // at most so many blocks, with so many cells at least", len(st.StepScalars), FoldThreads, MaxFoldBlocks, FoldCells)
	w.piece(0, Piece{File: "kernels/stepscalars.cu", Text: stepText})
	for i, pass := range st.StepPasses() {
		w.piece(0, Piece{Text: fmt.Sprintf("namespace pass_%d {\n#define FOLD_ENTRY %s\n#define LAST_ENTRY %s\n", i, foldEntry(entry, i), lastEntry(entry, i))})
		w.parameters(StepArguments(st))
		w.line("constexpr int FOLDED = %d; // numbers that are folded over all cells", len(pass.Folded))
		folds, numbers := "", ""
		for n, s := range pass.Folded {
			folds += fmt.Sprintf("n == %d ? %s : ", n, strings.ToUpper(st.StepScalars[s].Op))
			numbers += fmt.Sprintf("n == %d ? %d : ", n, s)
		}
		w.line("__host__ __device__ constexpr Fold fold_of(int n) { return %sSUM; }", folds)
		w.line("__host__ __device__ constexpr int number_of(int n) { return %s-1; } // which step scalar it is", numbers)
		if len(pass.Folded) > 0 {
			w.folded(pass)
			w.piece(0, Piece{File: "kernels/steppass.cu", Text: stepPassText})
			w.piece(0, Piece{})
		}
		w.computedOnce(pass)
		w.piece(0, Piece{File: "kernels/steplast.cu", Text: stepLastText})
		w.piece(0, Piece{Text: fmt.Sprintf("#undef FOLD_ENTRY\n#undef LAST_ENTRY\n#undef PARAMETERS\n#undef GRID\n} // namespace pass_%d\n", i)})
	}
	w.line("} // namespace step_scalars")
}

// folded writes what a pass folds, at a cell.
func (w *writer) folded(pass stencil.StepPass) {
	st := w.p.Stencil
	var reach stencil.Stage
	for _, i := range pass.Folded {
		for a := range 3 {
			reach.Low[a], reach.High[a] = max(reach.Low[a], st.StepScalars[i].Low[a]), max(reach.High[a], st.StepScalars[i].High[a])
		}
	}
	w.radius(&reach)
	for n, i := range pass.Folded {
		w.line("\ntemplate <bool EDGE, class Old>\n__device__ __forceinline__ Real step_value_%d(const Grid &grid, int px, int py, int pz, int iteration, const Old &old) {", n)
		var before strings.Builder
		w.reads(st.StepScalars[i].Points, func(format string, args ...any) { fmt.Fprintf(&before, "  "+format+"\n", args...) })
		w.function(stencil.StepCode(st, i), before.String())
		w.line("}")
	}
	w.line("\ntemplate <bool EDGE>\n__device__ __forceinline__ void step_values(const Grid &grid, int x, int y, int z, double (&to)[FOLDED]) {")
	w.line("  const auto old = [&](int array, int dx, int dy, int dz) { return step_read<EDGE>(grid, array, x + dx, y + dy, z + dz); };")
	for n := range pass.Folded {
		w.line("  to[%d] = (double)step_value_%[1]d<EDGE>(grid, x, y, z, grid.iteration, old);", n)
	}
	w.line("}")
}

// computedOnce writes what of a pass follows from numbers, in double for floating-point stencils.
func (w *writer) computedOnce(pass stencil.StepPass) {
	st := w.p.Stencil
	w.line("\n// What follows from numbers, one after the other.\n__device__ __forceinline__ void step_compute(const Grid &grid, double *step) {")
	if st.Iterates() {
		w.line("  const int iteration = grid.iteration;")
	}
	w.exact = w.p.DType.Floating()
	for _, i := range pass.Computed {
		w.line("  step[%d] = [&]() -> double {", i)
		w.function(stencil.StepCode(st, i), "")
		w.line("  }();")
	}
	w.exact = false
	w.line("}")
}

// elementType is the type of a step scalar in the function being written.
func (w *writer) elementType() string {
	if w.p.DType.Floating() {
		return w.computed()
	}
	return w.p.DType.C()
}

// stepValue is what step scalar i is to a function.
func (w *writer) stepValue(i int) string {
	value := fmt.Sprintf("grid.step[%d]", i)
	if w.p.DType.Floating() {
		return fmt.Sprintf("(%s)%s", w.elementType(), value)
	}
	return stencil.FromDouble(w.p.DType, value)
}
