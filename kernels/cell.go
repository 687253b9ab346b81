package kernels

import (
	"fmt"
	"regexp"
	"slices"
	"strings"

	"stenciltune/stencil"
)

// stage writes what is particular to a stage: its radius, its outputs, its
// parameters and its cell function.
func (w *writer) stage(i int, entry string) {
	st := w.p.Stencil
	stage := &st.Stages[i]
	w.line("#define ENTRY %s", entry)
	w.radius(stage)
	w.rim(i)
	w.keeps(stage)
	writes := stage.Writes(w.timeTile)
	w.line("constexpr int OUTPUTS = %d; // fields that the stage writes", len(writes))
	folds := w.folds > 0 && i == len(st.Stages)-1
	if folds {
		w.stored(stage)
	} else {
		w.line("struct Out {\n  %sfield[OUTPUTS];\n};", w.outputs())
	}
	w.arrayFunction("bool reads", "false", "whether the stage reads array a", func(a int) string { return choose(len(stage.Points[a]) > 0, "true") })
	tiles := 0
	w.arrayFunction("int slot", "-1", "which tile of shared memory it has, if any", func(a int) string {
		if !Staged(stage.Points[a], w.timeTile) {
			return ""
		}
		tiles++
		return fmt.Sprint(tiles - 1)
	})
	w.line("constexpr int TILES = %d; // of shared memory, in all", tiles)
	w.arrayFunction("int output_of", "-1", "which output it is", func(f int) string {
		if o := slices.Index(writes, f); o >= 0 {
			return fmt.Sprint(o)
		}
		return ""
	})
	room := ""
	if folds {
		room = ", Out::room(step)"
	}
	w.parameters(Arguments(st, i, w.timeTile), writes, room)
	switch {
	case w.apart != nil:
		w.parts(writer{p: w.p, timeTile: 2, fields: w.fields}, w.apart[i].Stencil) // two steps: every output is there
	case st.Of != nil:
		w.composed()
	default:
		w.cell(i)
	}
}

// choose is text if c, else nothing.
func choose(c bool, text string) string {
	if c {
		return text
	}
	return ""
}

// Staged tells whether an array with the points has a tile in shared memory: if it is
// read off the own cell; if steps are fused, if it is read at all.
func Staged(points []stencil.Offset, timeTile int) bool {
	return len(points) > 0 && (timeTile > 1 || len(points) > 1 || points[0] != stencil.Offset{})
}

// Tiles is the most tiles of shared memory that a stage needs.
func Tiles(st *stencil.Stencil, timeTile int) int {
	most := 0
	for _, stage := range st.Stages {
		n := 0
		for _, points := range stage.Points {
			if Staged(points, timeTile) {
				n++
			}
		}
		most = max(most, n)
	}
	return most
}

// arrayFunction writes a function of an array's index: value's texts, and otherwise
// where there is none.
func (w *writer) arrayFunction(head, otherwise, doc string, value func(a int) string) {
	var cases strings.Builder
	for a := range len(w.p.Stencil.Fields) + len(w.p.Stencil.ReadOnly) {
		if v := value(a); v != "" {
			fmt.Fprintf(&cases, "a == %d ? %s : ", a, v)
		}
	}
	w.line("__host__ __device__ constexpr %s(int a) { return %s%s; } // %s", head, cases.String(), otherwise, doc)
}

// parameters writes a kernel's parameters and how a Grid and an Out, of the fields that are written and by room beside them,
// are made of them.
func (w *writer) parameters(arguments []Argument, writes []int, room string) {
	st := w.p.Stencil
	var params, in, out []string
	lengths := make([]string, len(st.Fields)+len(st.ReadOnly))
	scalars, iteration := "", "1"
	var lists [4][]string // places, how many, tables, rows
	for i := range lengths {
		lengths[i] = "0"
	}
	leading := ""
	if w.p.Pitched {
		leading = "ldx, ldy, "
	}
	for _, a := range Given(w.p, arguments) {
		c := a.C + " "
		switch a.Kind {
		case In, ReadOnly:
			var reader string
			c, reader = w.readerOf(len(in), a.Name) // fields, then read-only arrays
			in = append(in, reader)
		case Out:
			var writer string
			c, writer = w.writerOf(writes[a.Index], a.Name)
			out = append(out, writer)
		case Length:
			lengths[len(st.Fields)+a.Index] = a.Name
		case Iteration:
			iteration = a.Name
		case Scalar:
			scalars += fmt.Sprintf(", (%s)%s", w.scalarType(st.Scalars[a.Index]), a.Name)
		case Step:
			scalars += ", " + a.Name // without __restrict__: compilers took it for unchanging, and read it before await_launch
		case Places, PlaceCount, Table, TableRows:
			lists[a.Kind-Places] = append(lists[a.Kind-Places], a.Name)
		}
		params = append(params, c+a.Name)
	}
	arrays := ""
	if len(st.ReadOnly) > 0 {
		arrays = fmt.Sprintf("{%s}, ", strings.Join(lengths, ", "))
	}
	if DoesLists(st, w.timeTile) { // else those of a kernel of one list
		for _, names := range lists {
			scalars += fmt.Sprintf(", {%s}", strings.Join(names, ", "))
		}
	}
	w.line("#define PARAMETERS %s", strings.Join(params, ", "))
	grid := fmt.Sprintf("{{%s}, %snx, ny, nz, %s%s%s}", strings.Join(in, ", "), arrays, leading, iteration, scalars)
	if len(w.values) > 0 {
		grid = "with_values(" + grid + ")"
	}
	w.line("#define GRID %s", grid)
	if len(out) > 0 {
		w.line("#define OUT {{%s}%s}", strings.Join(out, ", "), room)
	}
}

// inlined is what reads values in a fused time step. What these give may be the work of
// a whole stage: lambdas of that size the compiler need not inline, and a call would put
// the grid into local memory.
const inlined = `
template <class Old> struct Reads {
  const Old &old;
  int array;
  __device__ __forceinline__ Real operator()(int dx, int dy, int dz) const { return old(array, dx, dy, dz); }
};
template <class Old> struct Moved {
  const Old &old;
  int dx, dy, dz;
  __device__ __forceinline__ T operator()(int array, int ex, int ey, int ez) const { return old(array, dx + ex, dy + ey, dz + ez); }
};`

// composed writes the cell function of stages that are fused into one: a value that a
// stage has set is computed where a later one reads it.
func (w *writer) composed() {
	st := w.p.Stencil
	w.line("%s", inlined)
	w.parts(writer{p: w.p, timeTile: 1, part: true}, st.Of)
	for i := range st.Of.Stages {
		stage := &st.Of.Stages[i]
		w.line("\n// What part %d of the time step at cell (px, py, pz) finds or leaves: what it sets is computed where it is read.", i)
		w.line("template <bool EDGE, class Old> struct After_%d {", i)
		w.line("  const Grid &grid;\n  int px, py, pz, iteration;\n  const Old &old;")
		w.line("  bool inside; // the cell lies in the grid, so that a point outside has one that stands for it")
		w.line("  __device__ __forceinline__ T operator()(int array, int dx, int dy, int dz) const {")
		var set []string
		for _, f := range stage.Outputs {
			set = append(set, fmt.Sprintf("array == %d", f))
		}
		w.line("    if (!(%s)) return old(array, dx, dy, dz);", strings.Join(set, " || "))
		w.line("    int x = px + dx, y = py + dy, z = pz + dz;")
		if st.Boundary == stencil.Mixed {
			w.line("    if (EDGE && inside) held_in(grid, array, x, y, z);")
		} else {
			w.line("    if (EDGE && BOUNDARY != WRAP && inside) wrap(grid, x, y, z);")
		}
		w.line("    const auto value = part_%d::cell<EDGE>(grid, x, y, z, iteration, Moved<Old>{old, x - px, y - py, z - pz});", i)
		w.line("    T result = value.at[0];")
		for o, f := range stage.Outputs {
			if o > 0 {
				w.line("    if (array == %d) result = value.at[%d];", f, o)
			}
		}
		w.line("    return EDGE ? boundary_value(grid, array, result, px + dx, py + dy, pz + dz, iteration) : result;\n  }\n};")
	}
	w.line("\n// The new values of a cell.\nstruct Cell {\n  T at[OUTPUTS];\n};")
	w.line("\n// The time step at cell (px, py, pz), as if each part had run over the whole grid before the next.")
	w.line("template <bool EDGE, class Old>")
	w.line("__device__ __forceinline__ Cell cell(const Grid &grid, int px, int py, int pz, int iteration, const Old &old) {")
	w.line("  const bool inside = EDGE && in_grid(grid, px, py, pz);")
	before := "old"
	for i := range st.Of.Stages {
		w.line("  const After_%d<EDGE, decltype(%s)> after_%[1]d{grid, px, py, pz, iteration, %[2]s, inside};", i, before)
		before = fmt.Sprintf("after_%d", i)
	}
	w.line("  Cell result;")
	for o, f := range st.Stages[0].Outputs {
		w.line("  result.at[%d] = %s(%d, 0, 0, 0);", o, before, f)
	}
	w.line("  return result;\n}")
}

// parts writes the cell functions of a time step's stages, each in a namespace of its own.
func (w *writer) parts(parts writer, st *stencil.Stencil) {
	parts.p.Stencil = st
	for i := range st.Stages {
		stage := &st.Stages[i]
		parts.line("\nnamespace part_%d { // of the time step", i)
		parts.radius(stage)
		parts.rim(i)
		parts.line("constexpr int OUTPUTS = %d; // fields that the part sets", len(stage.Outputs))
		parts.cell(i)
		parts.line("} // namespace part_%d", i)
	}
	w.WriteString(parts.String())
}

// radius writes how far a stage reads on each side.
func (w *writer) radius(stage *stencil.Stage) {
	w.line("constexpr int LOW_X = %d, LOW_Y = %d, LOW_Z = %d;    // radius towards smaller indices", stage.Low[0], stage.Low[1], stage.Low[2])
	w.line("constexpr int HIGH_X = %d, HIGH_Y = %d, HIGH_Z = %d; // and towards larger ones", stage.High[0], stage.High[1], stage.High[2])
}

// rim writes how many cells more are near a high end, of which a stage asks for the ends of short arrays.
func (w *writer) rim(i int) {
	if !w.p.Stencil.HasEnds() {
		return
	}
	var more [3]int
	for a, n := range w.p.Stencil.Asks(i) {
		if n > 0 {
			more[a] = max(1, n-w.p.Stencil.Stages[i].High[a])
		}
	}
	w.line("constexpr int RIM_X = %d, RIM_Y = %d, RIM_Z = %d;    // and more at the high ends, where arrays end that are short", more[0], more[1], more[2])
}

// cell writes a stage's cell function.
func (w *writer) cell(i int) {
	st := w.p.Stencil
	stage := &st.Stages[i]
	single := len(stage.Outputs) == 1
	writes := stage.Writes(w.timeTile)
	w.line("\n// The new values of a cell.\nstruct Cell {\n  T at[OUTPUTS];\n  Cell() = default;")
	if single {
		w.line("  __device__ __forceinline__ Cell(%s v) : at{T(v)} {}", w.computed())
	}
	w.line("};")
	w.line("\n// The stage at cell (px, py, pz): old(a, dx, dy, dz) gives array a's value at an offset. Only")
	w.line("// with EDGE may a point of it lie outside the grid, or the cell itself, whose value nobody uses then.")
	if st.HasEnds() {
		w.line("// Only with RIM may it be near a high end, where an array that is short has ended.")
		w.line("template <bool EDGE, bool RIM = EDGE, class Old>")
	} else {
		w.line("template <bool EDGE, class Old>")
	}
	w.line("__device__ __forceinline__ Cell cell(const Grid &grid, int px, int py, int pz, int iteration, const Old &old) {")
	body := stageCode(st, i)
	var before strings.Builder
	line := func(format string, args ...any) { fmt.Fprintf(&before, "  "+format+"\n", args...) }
	if st.Has(stencil.Wrap) && regexp.MustCompile(`\bp[xyz]\b`).MatchString(body) {
		line("if (EDGE) wrap(grid, px, py, pz);")
	}
	w.reads(stage.Points, line)
	if regexp.MustCompile(`\bsum\(`).MatchString(body) {
		line("const auto sum = [&](int i) -> T { return old(ARRAYS + i, 0, 0, 0); }; // weighted sums follow the arrays")
	}
	if !single {
		line("Cell result;")
		for o := range stage.Outputs {
			line("T out_%d;", o)
		}
		line("const auto compute = [&] {")
	}
	after := w.keep(stage, single, line)
	w.function(body, before.String())
	if !single {
		w.line("  };\n  compute();")
		w.WriteString(after)
		for o, f := range stage.Outputs {
			if at := slices.Index(writes, f); at >= 0 {
				w.line("  result.at[%d] = out_%d;", at, o)
			}
		}
		w.line("  return result;")
	}
	w.line("}")
}

// reads writes by line the functions by which a function of the stencil reads arrays at the given points.
func (w *writer) reads(points [][]stencil.Offset, line func(format string, args ...any)) {
	st := w.p.Stencil
	reads := func(name string, array int) {
		switch {
		case len(points[array]) == 0:
		case w.part:
			line("const Reads<Old> %s{old, %d};", name, array)
		default:
			line("const auto %s = [&](int dx, int dy, int dz) -> T { return old(%d, dx, dy, dz); };", name, array)
		}
	}
	for f := range st.Fields {
		name := "get"
		if len(st.Fields) > 1 {
			name = fmt.Sprintf("get_%d", f)
		}
		reads(name, f)
	}
	for i := range st.ReadOnly {
		reads(fmt.Sprintf("ro_%d", i), len(st.Fields)+i)
	}
}

// keep writes by line that a cell near an edge that is fixed keeps its values, and gives what to write after the function if
// only some of them.
func (w *writer) keep(stage *stencil.Stage, single bool, line func(format string, args ...any)) (after string) {
	st := w.p.Stencil
	near := make([]string, len(stage.Outputs))
	for o, f := range stage.Outputs {
		near[o] = nearFixed(st.Fields[f])
	}
	all := near[0]
	if st.Boundary == stencil.Fixed {
		all = "EDGE && (px < LOW_X || px >= grid.nx - HIGH_X || py < LOW_Y || py >= grid.ny - HIGH_Y || pz < LOW_Z || pz >= grid.nz - HIGH_Z)"
	}
	kept := func(o int) string { return fmt.Sprintf("old(%d, 0, 0, 0)", stage.Outputs[o]) }
	switch {
	case slices.ContainsFunc(near, func(n string) bool { return n != near[0] }):
		for o, n := range near {
			if n != "" {
				after += fmt.Sprintf("  if (%s) out_%d = %s;\n", n, o, kept(o))
			}
		}
	case all == "":
	case single:
		line("if (%s) return %s(%s);", all, w.computed(), kept(0))
	default:
		line("if (%s) {", all)
		for o := range near {
			line("  out_%d = %s;", o, kept(o))
		}
		line("  return;\n  }")
	}
	return after
}
