package kernels

import (
	"cmp"
	"crypto/sha256"
	_ "embed"
	"encoding/hex"
	"fmt"
	"regexp"
	"slices"
	"strings"
	"sync"

	"stenciltune/space"
	"stenciltune/stencil"
)

//go:embed common.cu
var common string

//go:embed tile.cu
var tileText string

//go:embed windows.cu
var windowsText string

//go:embed copies.cu
var copiesText string

// Piece is a part of a kernel's text: a file's, or generated for the kernel.
type Piece struct {
	File string // from the module's root; none = generated
	Line int    // of the file at which it begins; 0 = 1
	Text string
	Of   func(stage int) string // gives the text where stages differ in it
	// Folds is the threads, a warp's or the block's, that leave a part of a number if the text folds the last stage's cells where it
	// stores them, for the scalars of the next step (Stencil.FoldsStored): what stands in NUMBERS(...) does. 0 = it does not.
	Folds int
	Traits
}

// Traits is what of a piece is not simple, as its family says.
type Traits struct {
	Images bool // it loads images of planes, for those beyond the grid
	Packed bool // the text computes words of two cells
	Turns  bool // rows repeat and are not whole vectors, so that parts of one lie apart: what stands in TURNS(...) finds them
	Apron  bool // rows next to a tile that the first time step reads are copied, by what stands in APRON{{...}}
	Again  bool // the first stage takes a plane from shared memory again, by what stands in AGAIN{{...}}AGAIN
	Held   bool // where whole planes alone are held, these are written as they arrive, by what stands in HELD{{...}}HELD
	Shares bool // blocks share the planes of all tiles, by what stands in SHARES(...), not in STREAM_TILES(...)
	Keeps  bool // L2 is to keep what keep_part(...) writes
	// WholeRows says that of rows which are not whole vectors those that begin with one are copied in vectors: by what stands in WHOLE_ROWS(...).
	WholeRows bool
}

// Around is a file's text with generated text in place of the line that says mark.
func Around(file, text, mark string, generated Piece) []Piece {
	before, after, found := strings.Cut(text, mark+"\n")
	if !found {
		panic("kernels: no line " + mark + " in " + file)
	}
	return []Piece{{File: file, Text: before}, generated, {File: file, Line: strings.Count(before, "\n") + 2, Text: after}}
}

// TilePiece is the text of the families that keep cells in shared memory, before their own.
func TilePiece() Piece { return Piece{File: "kernels/tile.cu", Text: tileText} }

// WindowsPiece is the text of the families whose tiles overlap by their halo: where a tile lies.
func WindowsPiece() Piece { return Piece{File: "kernels/windows.cu", Text: windowsText} }

// CopiesPiece is the text of the families that copy planes to shared memory ahead of their use.
func CopiesPiece() Piece { return Piece{File: "kernels/copies.cu", Text: copiesText} }

//go:embed kept.cu
var keptText string

// KeptPiece is the text of the families that write parts of rows: what L2 is to keep of them.
func KeptPiece() Piece { return Piece{File: "kernels/kept.cu", Text: keptText} }

//go:embed outside.cu
var outsideText string

// OutsidePiece is the text of the families that stream, behind what a thread knows of its place: values of what lies outside the grid.
func OutsidePiece() Piece { return Piece{File: "kernels/outside.cu", Text: outsideText} }

// Valued tells whether what lies outside the grid may have a value that is not a cell's.
func Valued(st *stencil.Stencil) bool { return st.Has(stencil.Edge) || st.Has(stencil.Constant) }

// Constant is one compile-time number of a kernel.
type Constant struct {
	Name  string
	Value int
	Doc   string // one line; for a schedule's parameter its own
}

// String is the constant as an entry's name depends on it: it has no doc, so that an entry
// keeps its name when words change.
func (c Constant) String() string { return fmt.Sprintf("{%s %d}", c.Name, c.Value) }

// Source assembles a kernel: a comment that says what it is, the element type, the
// constants, the text that families share and then, for each stage, its radius,
// its cell function and the family's own pieces. It fills in everything of the Kernel
// but its Launch. Parameters named in launch change nothing of the source: schedules that
// differ in those alone must come with one value of them.
//
// Every piece of a file begins with a #line that names the file; what is generated counts
// lines as the source itself has them, under the entry's name.
func Source(p stencil.Problem, s space.Schedule, launch []string, constants []Constant, pieces ...Piece) Kernel {
	return source(&writer{p: p}, s, launch, constants, pieces)
}

// Part is an entry of a staged kernel: the stencil whose stages it does, and constants of its own.
type Part struct {
	Stencil   *stencil.Stencil
	Constants []Constant
}

// StagedSource assembles a kernel of one entry for all stages of a time step, of the problem's stencil or
// of that with hidden stages (Hoisted). The pieces find the cell function of each as part_0::cell and so on; its Cell
// holds every output of the stage. With several parts it has an entry for each stage, of whose stencil (Alone) they are.
func StagedSource(p stencil.Problem, parts []Part, s space.Schedule, launch []string, constants []Constant, pieces ...Piece) Kernel {
	w := &writer{p: p, apart: parts, fields: len(p.Stencil.Fields)}
	if len(parts) == 1 {
		w.p.Stencil = p.Stencil.Merged()
		constants = append(slices.Clip(constants), parts[0].Constants...)
	}
	return source(w, s, launch, constants, pieces)
}

func source(w *writer, s space.Schedule, launch []string, constants []Constant, pieces []Piece) Kernel {
	p, st := w.p, w.p.Stencil
	pieces = slices.Clone(pieces)
	for i, piece := range pieces {
		pieces[i].Of = remembered(piece.Of)
	}
	named := constants
	if len(st.Stages) > 1 {
		for _, part := range w.apart {
			named = append(slices.Clip(named), part.Constants...)
		}
	}
	const contract = "awaits" // what a launcher relies on: an image of before, which lacks it, has no entry of this name
	id := sha256.Sum256([]byte(fmt.Sprint(s, p.DType, p.Wide(), st.Hash, named, contract)))
	k := Kernel{Schedule: s, DType: p.DType, Entry: identifier(st.Name) + "_" + s.Family() + "_" + hex.EncodeToString(id[:4])}
	if len(st.Stages) > 1 {
		k.Stages = len(st.Stages)
	}
	if k.Pitched = p.Pitched; p.Pitched {
		k.Entry += "_pitched"
	}
	w.timeTile, w.file, w.values, w.pieces = s.Int("ph", 1), k.file(), w.stepValues(), pieces
	w.line("// %s, %s: schedule %s\n// Generated by tune. DO NOT EDIT.", identifier(st.Name), p.DType, anyLaunch(s, launch))
	w.types()
	w.constants(constants)
	w.rules()
	w.ofStep()
	w.grid()
	for _, piece := range w.commonPieces() {
		w.piece(0, piece)
	}
	w.piece(0, Piece{})
	w.edges()
	w.withValues()
	if len(st.StepScalars)+len(st.Sparse) > 0 {
		w.piece(0, Piece{File: "kernels/readcell.cu", Text: readCellText})
		w.piece(0, Piece{})
	}
	w.stepScalars(k.Entry)
	if DoesLists(st, w.timeTile) {
		w.listValues()
	}
	for _, piece := range pieces {
		w.folds = max(w.folds, piece.Folds)
	}
	for i := range st.Stages {
		if k.Stages > 0 {
			w.line("\n// ---- stage %d", i)
			w.line("namespace stage_%d {", i)
		}
		w.stage(i, StageEntry(k.Entry, i))
		if k.Stages > 0 && w.apart != nil {
			w.constants(w.apart[i].Constants)
		}
		for _, piece := range pieces {
			w.piece(i, piece)
		}
		w.piece(i, Piece{Text: "#undef ENTRY\n#undef PARAMETERS\n#undef GRID\n#undef OUT\n"})
		if k.Stages > 0 {
			w.line("} // namespace stage_%d", i)
		}
	}
	w.sparse(k.Entry)
	k.Source = w.String()
	return k
}

// remembered is a piece's text by stage, made once: it is asked for the functions that it calls, and then written.
func remembered(of func(stage int) string) func(stage int) string {
	if of == nil {
		return nil
	}
	texts := map[int]string{}
	return func(stage int) string {
		text, ok := texts[stage]
		if !ok {
			text = of(stage)
			texts[stage] = text
		}
		return text
	}
}

// anyLaunch is a schedule's text for all that differ in the named parameters alone.
func anyLaunch(s space.Schedule, launch []string) string {
	text := s
	for _, name := range launch {
		text = text.Without(name)
	}
	if len(launch) == 0 {
		return text.String()
	}
	return text.String() + ", any " + strings.Join(launch, " and ")
}

// writer writes the text that comes before a family's own.
type writer struct {
	strings.Builder
	file     string // by which generated lines are named
	p        stencil.Problem
	timeTile int
	part     bool                // of a fused time step
	exact    bool                // what is written computes in double
	folds    int                 // threads of a part, where the last stage's cells are folded as they are stored; 0 = they are not
	fields   int                 // that a launch is given, where hidden ones follow; 0 = all
	values   []stencil.StepValue // that a launch computes once for each of its steps
	pieces   []Piece             // the family's
	apart    []Part              // those whose stages' cell functions stand apart, of each entry; none = one function for all
}

// constants declares them.
func (w *writer) constants(list []Constant) {
	for _, c := range list {
		w.line("constexpr int %s = %d; // %s", c.Name, c.Value, c.Doc)
	}
}

func (w *writer) line(format string, args ...any) { fmt.Fprintf(w, format+"\n", args...) }

// piece writes a stage's piece after a #line that says where it is from.
func (w *writer) piece(stage int, p Piece) {
	if p.Of != nil {
		p.Text = p.Of(stage)
	}
	w.line("")
	if p.File == "" {
		w.line("#line %d %q", strings.Count(w.String(), "\n")+2, w.file)
	} else {
		w.line("#line %d %q", max(p.Line, 1), p.File)
		p.Text = Spelling(p.Text, Simple{Traits: p.Traits, OneRule: w.p.Stencil.Boundary != stencil.Mixed, Dense: !w.p.Pitched, Partial: w.p.Partial, OneType: OneType(w.p), OneOutput: OneOutput(w.p), Folds: p.Folds > 0 && stage == len(w.p.Stencil.Stages)-1, Ends: w.p.Stencil.HasEnds(), Valued: Valued(w.p.Stencil), Apart: MirrorsApart(w.p.Stencil)})
	}
	w.WriteString(p.Text)
}

// integerHelpers finds calls of stencil.HelperSource's functions.
var integerHelpers = regexp.MustCompile(`\b(?:(?:wrap_\w+|divide|modulo|int_\w+|to_integer|rounded_mul)\(|narrowed<)`)

// wholeHelpers finds calls of stencil.WholeSource's functions.
var wholeHelpers = regexp.MustCompile(`\b(to_whole|whole_part)\(`)

// arithmeticHelpers finds calls of stencil.ArithmeticSource's functions.
var arithmeticHelpers = regexp.MustCompile(`\b(?:(?:quotient|square_root|reciprocal_root|exponential|logarithm(?:2|10)?|power|arctangent)\(|(?:whole|half)_power<)`)

// types declares the element type, the type that cell functions compute in and the
// index of an element.
func (w *writer) types() {
	w.WriteString(stencil.TypeSource(w.p.DType))
	index := "int"
	if w.p.Wide() {
		index = "long long"
	}
	w.line("typedef %s T;\ntypedef %s index_t; // of an element", w.p.DType.C(), index)
	if t := w.computed(); t != "T" {
		w.line("typedef %s Real; // what is computed in", t)
	} else {
		w.line("typedef T Real; // what is computed in")
	}
	functions := w.functions()
	if wholeHelpers.MatchString(functions) || needsWhole(w.p) {
		w.WriteString(stencil.WholeSource)
	}
	w.reader()
	if arithmeticHelpers.MatchString(functions) {
		w.WriteString(stencil.ArithmeticSource)
	}
	if integerHelpers.MatchString(functions) {
		w.WriteString(stencil.HelperSource)
	}
}

// stageCodes are the texts of stages that were asked for before: a stencil never changes, and arranging one takes longer than all the rest of a source.
var stageCodes sync.Map // stageKey to string

type stageKey struct {
	s     *stencil.Stencil
	stage int
}

func stageCode(s *stencil.Stencil, stage int) string {
	key := stageKey{s, stage}
	if text, ok := stageCodes.Load(key); ok {
		return text.(string)
	}
	text := stencil.StageCode(s, stage)
	stageCodes.Store(key, text)
	return text
}

// functions is the text of every function of the stencil.
func (w *writer) functions() string {
	st := w.p.Stencil
	if st.Of != nil {
		st = st.Of
	}
	var all strings.Builder
	for i := range st.Stages {
		all.WriteString(stageCode(st, i))
	}
	for _, part := range w.apart { // hidden stages may divide by what is a constant in the stencil's own
		for i := range part.Stencil.Stages {
			all.WriteString(stageCode(part.Stencil, i))
		}
	}
	for i := range st.Fields {
		all.WriteString(stencil.EdgeCode(st, i))
	}
	for i := range st.StepScalars {
		all.WriteString(stencil.StepCode(st, i) + w.stepValue(i))
	}
	for i := range st.Sparse {
		all.WriteString(stencil.SparseCode(st, i))
	}
	for _, v := range w.values {
		all.WriteString(v.Code)
	}
	for _, p := range w.pieces {
		if p.Of != nil && w.apart == nil { // what a family derives from cells, of which a stage's function knows nothing then
			for i := range w.p.Stencil.Stages {
				all.WriteString(p.Of(i))
			}
		}
	}
	return all.String()
}

// computed is the type that the function being written computes in.
func (w *writer) computed() string {
	if w.exact {
		return "double"
	}
	return Computed(w.p.DType)
}

// Computed is the type that cell functions compute in, T being the element type: 16-bit
// floating-point values are only stored so, and computed in float.
func Computed(d stencil.DType) string {
	if d.Floating() && d.Size() == 2 {
		return "float"
	}
	return "T"
}

// scalarType is the type of a scalar in a cell function.
func (w *writer) scalarType(a stencil.Argument) string {
	if a.Type == stencil.Elem {
		return w.computed()
	}
	return a.Type.C()
}

// grid declares what every stage's launch is given, but its outputs.
func (w *writer) grid() {
	st := w.p.Stencil
	w.line("constexpr int FIELDS = %d, ARRAYS = %d; // fields, then read-only arrays", len(st.Fields), len(st.Fields)+len(st.ReadOnly))
	w.line("\n// What a launch is given; element i of an array is in[array][i], x fastest.\nstruct Grid {")
	if OneType(w.p) {
		w.line("  const T *in[ARRAYS];")
	} else {
		w.line("  Reader in[ARRAYS];")
	}
	if len(st.ReadOnly) > 0 {
		w.line("  long long length[ARRAYS]; // of arrays that are read by index")
	}
	w.line("  int nx, ny, nz;")
	if w.p.Pitched {
		w.line("  int ldx, ldy; // elements from row to row, rows from plane to plane")
	}
	w.line("  int iteration; // the first time step computed")
	for i, a := range st.Scalars {
		w.line("  %s s_%d;", w.scalarType(a), i)
	}
	if len(st.StepScalars) > 0 {
		w.line("  const double *step; // step scalars")
	}
	if DoesLists(st, w.timeTile) {
		w.line("  const long long *place[%[1]d]; // of sources and receivers, list by list\n  long long places[%[1]d]; // how many\n  T *table[%[1]d]; // a row of as many elements for each time step\n  int rows[%[1]d];", len(st.Sparse))
	}
	if len(w.values) > 0 {
		w.line("  OfStep of_step[%d]; // of each time step", w.timeTile)
	}
	w.line("};")
}

// edges writes what a point outside the grid is worth.
func (w *writer) edges() {
	st := w.p.Stencil
	for f, field := range st.Fields {
		if field.Edge == nil {
			continue
		}
		w.line("\n// What the point (px, py, pz) outside the grid is worth; nearest is the nearest cell inside.")
		w.line("__device__ __forceinline__ T edge_%d(const Grid &grid, T nearest, int px, int py, int pz, int iteration) {", f)
		w.function(stencil.EdgeCode(st, f), "  const T value = nearest;\n")
		w.line("}")
	}
	w.line("\n// What the point (x, y, z) of an array is worth, given the cell that stands for it: itself, or\n// by the boundary rule another if it lies outside.")
	ends := ""
	if st.Boundary == stencil.Mixed { // compilers do not conclude it from what is known of the plane
		w.line("// ends: the point may lie beyond the last axis.")
		ends = ", bool ends = true"
	}
	w.line("__device__ __forceinline__ T boundary_value(const Grid &grid, int array, T nearest, int x, int y, int z, int iteration%s) {", ends)
	switch st.Boundary {
	case stencil.Constant:
		w.line("  return array >= FIELDS || in_grid(grid, x, y, z) ? nearest : T(%s);", stencil.Number(w.p.DType, st.Constant))
	case stencil.Edge:
		w.line("  if (in_grid(grid, x, y, z)) return nearest;")
		for f := range st.Fields {
			w.line("  if (array == %d) return edge_%d(grid, nearest, x, y, z, iteration);", f, f)
		}
		w.line("  return nearest;")
	case stencil.Mixed:
		w.mixedValue()
	default:
		w.line("  return nearest;")
	}
	w.line("}")
}

// function writes the body of a function of the stencil after the names it uses,
// of which before gives some.
func (w *writer) function(body, before string) {
	st := w.p.Stencil
	uses := func(name string) bool { return regexp.MustCompile(`\b` + name + `\b`).MatchString(body) }
	if t := w.computed(); t != "T" {
		w.line("  typedef %s T;", t)
	}
	w.WriteString(before)
	for _, n := range []string{"nx", "ny", "nz"} {
		if uses(n) {
			w.line("  const int %s = grid.%s;", n, n)
		}
	}
	for i, a := range st.Scalars {
		if name := fmt.Sprintf("s_%d", i); uses(name) {
			w.line("  const %s %s = grid.%s;", w.scalarType(a), name, name)
		}
	}
	for i := range st.StepScalars {
		if name := fmt.Sprintf("s_%d", len(st.Scalars)+i); uses(name) {
			w.line("  const %s %s = %s;", w.elementType(), name, w.stepValue(i))
		}
	}
	for i := range st.ReadOnly {
		if name := fmt.Sprintf("read_%d", i); uses(name) {
			a := cmp.Or(w.fields, len(st.Fields)) + i
			w.line("  const auto %s = [&](long long i) -> T { return read_index(grid.in[%d], i, grid.length[%d]); };", name, a, a)
		}
	}
	for line := range strings.Lines(body) {
		w.WriteString("  " + line)
	}
}

// identifier makes a name fit for C and for a comment.
func identifier(name string) string {
	if name != "" && name[0] >= '0' && name[0] <= '9' {
		name = "_" + name
	}
	return strings.Map(func(r rune) rune {
		if r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z' || r >= '0' && r <= '9' || r == '_' {
			return r
		}
		return '_'
	}, name)
}

// Flag is a condition as a constant of a kernel: 1 or 0.
func Flag(is bool) int {
	if is {
		return 1
	}
	return 0
}
