package kernels

import (
	_ "embed"
	"fmt"
	"slices"
	"strings"

	"stenciltune/stencil"
)

//go:embed readcell.cu
var readCellText string

//go:embed stepscalars.cu
var stepText string

//go:embed steppass.cu
var stepPassText string

//go:embed steplast.cu
var stepLastText string

//go:embed stepstored.cu
var stepStoredText string

// How all cells are folded to a number.
const (
	// FoldThreads is the threads of a block that reads cells.
	FoldThreads = 256
	// MaxFoldBlocks fill any GPU several times over, and their numbers are folded in microseconds.
	MaxFoldBlocks = 1024
	// FoldCells keeps small grids from being spread over blocks whose launch costs more than their cells: a launch has a block
	// for each so many, up to MaxFoldBlocks.
	FoldCells = 8 * FoldThreads
	// MaxFoldParts is the most numbers that one block folds: 256 KiB, which an SM reads in about 3 microseconds.
	MaxFoldParts = 32768
	// lastThreads is the threads of that block.
	lastThreads = 512
)

// FoldBlocks is the blocks that fold so many cells.
func FoldBlocks(cells int64) int { return int(min((cells+FoldCells-1)/FoldCells, MaxFoldBlocks)) }

// StepLaunch is a launch that a time step begins with, for its step scalars, or ends with, for a list of places.
type StepLaunch struct {
	Scope  string // namespaces that hold the entry
	Entry  string
	Reads  bool // it reads all cells, in FoldBlocks blocks; else it is one
	Launch Launch
}

// StepLaunches are the launches before each time step, in order, of a problem whose kernel has that entry; none without step
// scalars. Each takes StepArguments. The first is left out after a launch that Leaves.
func StepLaunches(p stencil.Problem, entry string) (list []StepLaunch) {
	for i, pass := range p.Stencil.StepPasses() {
		add := func(entry string, reads bool, blocks, threads int) {
			list = append(list, StepLaunch{fmt.Sprintf("step_scalars::pass_%d::", i), entry, reads, Launch{Grid: [3]int{blocks, 1, 1}, Block: [3]int{threads, 1, 1}}})
		}
		if len(pass.Folded) > 0 {
			add(foldEntry(entry, i), true, FoldBlocks(p.Size.Cells()), FoldThreads)
		}
		add(lastEntry(entry, i), false, 1, lastThreads)
	}
	return list
}

func foldEntry(entry string, pass int) string { return fmt.Sprintf("%s_fold_%d", entry, pass) }
func lastEntry(entry string, pass int) string { return fmt.Sprintf("%s_last_%d", entry, pass) }

// Leaves tells whether the launch leaves, for the time step after it, what the first of StepLaunches would.
func (l Launch) Leaves() bool { return l.Parts > 0 && l.Blocks()*l.Parts <= MaxFoldParts }

// StepDoubles is the length of the array of Step, in doubles: the step scalars, the number of parts, and the parts of what a pass
// folds.
func StepDoubles(st *stencil.Stencil) int {
	if len(st.StepScalars) == 0 {
		return 0
	}
	most := 0
	for _, pass := range st.StepPasses() {
		most = max(most, len(pass.Folded))
	}
	return len(st.StepScalars) + 1 + most*MaxFoldParts
}

// StepArguments lists the parameters of what StepLaunches launches.
func StepArguments(st *stencil.Stencil) []Argument {
	list := inputs(st)
	list[len(list)-1].C = "double *"
	return list
}

// inputs lists the parameters of every kernel of a stencil, its outputs left out.
func inputs(st *stencil.Stencil) []Argument {
	return slices.DeleteFunc(Arguments(st, 0, 1), func(a Argument) bool { return a.Kind == Out })
}

// stepScalars writes the kernels that compute the step scalars.
func (w *writer) stepScalars(entry string) {
	st := w.p.Stencil
	if len(st.StepScalars) == 0 {
		return
	}
	w.line("\nnamespace step_scalars {")
	w.line("constexpr int STEP_SCALARS = %d, FOLD_THREADS = %d, LAST_THREADS = %d, FOLD_PARTS = %d; // at most so many parts of a number", len(st.StepScalars), FoldThreads, lastThreads, MaxFoldParts)
	w.piece(0, Piece{File: "kernels/stepscalars.cu", Text: stepText})
	for i, pass := range st.StepPasses() {
		fold := ""
		if len(pass.Folded) > 0 {
			fold = "#define FOLD_ENTRY " + foldEntry(entry, i) + "\n"
		}
		w.piece(0, Piece{Text: fmt.Sprintf("namespace pass_%d {\n%s#define LAST_ENTRY %s\n", i, fold, lastEntry(entry, i))})
		w.parameters(StepArguments(st), nil, "")
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

// stored writes what takes a stage's cells and folds them.
func (w *writer) stored(stage *stencil.Stage) {
	var values strings.Builder
	writes := stage.Writes(w.timeTile)
	for a, points := range w.p.Stencil.StepPasses()[0].Points(w.p.Stencil) {
		if o := slices.Index(writes, a); len(points) > 0 && o >= 0 {
			fmt.Fprintf(&values, "      if (array == %d) return step_scalars::stored(now[%d]);\n", a, o)
			continue
		}
		for _, c := range stage.Copies {
			if c.Field == a { // which takes over that array after the step, as it was before
				fmt.Fprintf(&values, "      if (array == %d) return __ldg(grid.in[%d] + cell_index(grid, x, y, z));\n", a, c.From)
			}
		}
	}
	w.line("constexpr int PART_THREADS = %d; // that leave a part of a number of the next step", w.folds)
	values.WriteString("      return __ldg(grid.in[array] + cell_index(grid, x, y, z));\n")
	for _, piece := range Around("kernels/stepstored.cu", stepStoredText, "@VALUES@", Piece{Text: values.String()}) {
		w.piece(0, piece)
	}
	w.piece(0, Piece{})
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
	w.totals(pass)
}

// totals writes what holds the numbers of some cells: sums in double, others in what cell functions compute in, which is as good.
func (w *writer) totals(pass stencil.StepPass) {
	var members, begin, add, numbers strings.Builder
	for n, i := range pass.Folded {
		c := "double"
		if w.p.DType.Floating() && w.p.Stencil.StepScalars[i].Op != "sum" {
			c = "Real"
		}
		fmt.Fprintf(&members, "  %s of_%d;\n", c, n)
		fmt.Fprintf(&begin, "    of_%d = (%s)nothing(fold_of(%[1]d));\n", n, c)
		fmt.Fprintf(&add, "    of_%d = combine(fold_of(%[1]d), of_%[1]d, (%s)step_value_%[1]d<EDGE>(grid, x, y, z, iteration, old));\n", n, c)
		fmt.Fprintf(&numbers, "n == %d ? (double)of_%[1]d : ", n)
	}
	w.line("\n// What is folded of some cells.\nstruct Totals {\n%s  __device__ __forceinline__ Totals() {\n%s  }", members.String(), begin.String())
	w.line("  template <bool EDGE, class Old>\n  __device__ __forceinline__ void add(const Grid &grid, int x, int y, int z, int iteration, const Old &old) {\n%s  }", add.String())
	w.line("  __device__ __forceinline__ double number(int n) const { return %s0; }\n};", numbers.String())
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
