package stream

import (
	"fmt"
	"slices"
	"strings"
	"sync"

	"stenciltune/kernels"
	"stenciltune/stencil"
)

// stages is how a stencil's stages work: with sums, if it is nothing but a weighted
// sum of points of one field, else with the values of the planes.
type stages struct {
	dims int
	radius
	linear   bool
	narrow   bool // float16 holds the weights
	weights  costed
	factored costed             // the same as multiples of a common factor
	arrays   [][]stencil.Offset // fields, then read-only arrays: where each is read; nil = nowhere
	rim
	held     ends // cells that never change, of a weighted sum
	late     bool // a plane completes only once other warps have given rows of the newest
	diagonal bool // rows other than the own are read in neighbour columns
	triples  bool // neighbours in a row share sums
	// newestNeighbours says that the newest plane is read in neighbour columns.
	newestNeighbours bool
	ring             int  // planes whose edge rows are kept
	long             bool // the loop holds one plane step, so that instruction caches hold it
}

// known are the stages of stencils seen before: work is counted for every schedule
// of a space, and a stencil never changes.
var known sync.Map // *stencil.Stencil to stages

func stagesOf(st *stencil.Stencil) stages {
	if s, ok := known.Load(st); ok {
		return s.(stages)
	}
	s := analyse(st)
	known.Store(st, s)
	return s
}

// A cell function of so many operations makes loops that gain nothing from several plane steps, if moving on what a stage keeps of a cell
// takes at most so many hundredths as many instructions (docs/lab/0033-loops-of-one-plane-step.md).
const (
	longFunction = 80
	mostMoves    = 15
)

func analyse(st *stencil.Stencil) stages {
	s := stages{dims: st.Dims, radius: radiusOf(st), arrays: st.Stages[0].Points, rim: rimOf(st)}
	if held := heldOf(st); st.Of == nil && len(st.ReadOnly) == 0 && !s.rim.holds(held) && s.sums(st) {
		if w, ok := weightsOf(st); ok {
			u, _ := weightsBy(bestFactor(st), st)
			s.weights, s.factored = w.costed(), u.costed()
			s.images = w.images(s.rim, held)
			s.narrow = narrowWeights(st)
			s.linear, s.held, s.late, s.diagonal, s.triples, s.newestNeighbours, s.ring = true, held, w.late(s.mirrors[2]), w.diagonal(), w.triples(), w.newestNeighbours(), 2
			return s
		}
	}
	first, last, rows := 0, 0, false // planes with points off the own row, and the own plane
	for _, points := range s.arrays {
		for _, o := range points {
			if _, dy, dz := kernels.StreamingAxes(st.Dims, o); dy != 0 {
				first, last, rows = min(first, dz), max(last, dz), true
			}
		}
	}
	switch {
	case !rows:
		first = s.highS
	case s.mirrors[2]: // a plane that is read may stand for one on the other side
		first, last = -s.lowS, s.highS
	}
	s.late = rows && last == s.highS
	s.ring = s.highS - first + 1
	if s.late {
		s.ring++
	}
	s.long = st.Ops.Total() >= longFunction && 100*s.perStage() <= mostMoves*st.Ops.Total()
	return s
}

// early tells whether warps have given all that others read before the last stage, which then waits for nobody.
func (s stages) early() bool { return s.dims == 3 && !s.linear && !s.late && s.lowR+s.highR > 0 }

// aprons tells whether the first time step may read rows next to a tile as they were copied. Held cells leave no registers for that, but for
// whole planes (docs/lab/0068-held-cells-and-memory.md).
func (s stages) aprons(p stencil.Problem) bool {
	return s.dims == 3 && s.linear && s.lowR+s.highR > 0 && !s.held.inPlane() && p.DType.Size() >= 4 && kernels.OneType(p)
}

// used counts the arrays that are read.
func (s stages) used() int {
	n := 0
	for _, points := range s.arrays {
		if len(points) > 0 {
			n++
		}
	}
	return n
}

// edgeArrays counts those of which other rows than the own are read.
func (s stages) edgeArrays() int {
	n := 0
	for _, points := range s.arrays {
		if s.offRow(points) {
			n++
		}
	}
	return n
}

func (s stages) offRow(points []stencil.Offset) bool {
	return slices.ContainsFunc(points, func(o stencil.Offset) bool {
		_, dy, _ := kernels.StreamingAxes(s.dims, o)
		return dy != 0
	})
}

// stagesSource is the text of the stages.
func (g plan) stagesSource() []kernels.Piece {
	st := g.problem.Stencil
	if g.linear {
		return kernels.Around(folder+"sums.cu", sumsSource, "@WEIGHTS@", kernels.Piece{Text: g.bestWeights().text(g.timeTile, g.rim, g.held)})
	}
	pieces := []kernels.Piece{{Text: g.planesText()}}
	if g.nearest(st) {
		pieces = append(pieces, kernels.Piece{File: folder + "nearest.cu", Text: nearestSource})
	}
	if kernels.Valued(st) {
		pieces = append(pieces, kernels.OutsidePiece())
	}
	return append(pieces, kernels.Piece{File: folder + "values.cu", Text: valuesSource})
}

// nearest tells whether beyond an edge on x there is a constant of fields, and of a read-only array a cell.
func (s stages) nearest(st *stencil.Stencil) bool {
	beside := func(o stencil.Offset) bool { return o[0] != 0 }
	return st.Boundary == stencil.Constant && slices.ContainsFunc(s.arrays[len(st.Fields):], func(points []stencil.Offset) bool { return slices.ContainsFunc(points, beside) })
}

// places writes which place each array has of those that have one, as an expression of the
// array's number a. (Not as a loop: compilers leave it in the kernel.)
func (s stages) places(has func(points []stencil.Offset) bool) string {
	n, expression := 0, ""
	for a, points := range s.arrays {
		if has(points) {
			expression += fmt.Sprintf("a == %d ? %d : ", a, n)
			n++
		}
	}
	return expression + "-1"
}

// slotsText says which place an array's edge rows have in shared memory, and its planes
// that are prefetched by copies.
func (g plan) slotsText() string {
	s := g.stages
	read := func(points []stencil.Offset) bool { return len(points) > 0 }
	if !kernels.OneType(g.problem) {
		return g.storedSlotsText()
	}
	return fmt.Sprintf("constexpr int EDGE_ARRAYS = %d; // arrays of which other rows than the own are read\n"+
		"__host__ __device__ constexpr int edge_slot(int a) { return %s; } // which of them array a is\n"+
		"constexpr int COPIED = %d; // arrays that are read\n"+
		"__host__ __device__ constexpr int copied_slot(int a) { return %s; } // which of them array a is\n\n", s.edgeArrays(), s.places(s.offRow), s.used(), s.places(read))
}

// storedSlotsText is that where arrays are of several types.
func (g plan) storedSlotsText() string {
	var number, bytes, before strings.Builder
	sum := 0
	for a, points := range g.arrays {
		if len(points) > 0 {
			fmt.Fprintf(&number, "a == %d ? %d : ", a, kernels.StoredNumber(g.problem, a))
			fmt.Fprintf(&bytes, "a == %d ? %d : ", a, g.problem.Stored(a).Size())
			fmt.Fprintf(&before, "a == %d ? %d : ", a, sum)
			sum += g.problem.Stored(a).Size()
		}
	}
	return fmt.Sprintf("constexpr int EDGE_ARRAYS = %d; // arrays of which other rows than the own are read\n"+
		"__host__ __device__ constexpr int edge_slot(int a) { return %s; } // which of them array a is\n"+
		"constexpr int COPIED = %d; // arrays of the element type that would take as much room as those that are read\n"+
		"__host__ __device__ constexpr int stored_in(int a) { return %s0; } // what array a is stored in, as by_type takes it\n"+
		"__host__ __device__ constexpr int bytes_of(int a) { return %s1; } // of an element\n"+
		"__host__ __device__ constexpr int bytes_before(int a) { return %s0; } // of an element of each array before it\n\n",
		g.edgeArrays(), g.places(g.offRow), g.copiedArrays(), number.String(), bytes.String(), before.String())
}

// planesText says which neighbours the points of each plane of an array need.
func (s stages) planesText() string {
	type need struct {
		low, high int
		rows      bool
	}
	needs := make([]map[int]need, len(s.arrays))
	for a, points := range s.arrays {
		needs[a] = map[int]need{}
		for _, o := range points {
			dx, dy, dz := kernels.StreamingAxes(s.dims, o)
			n := needs[a][dz]
			needs[a][dz] = need{max(n.low, -dx), max(n.high, dx), n.rows || dy != 0}
		}
	}
	var b strings.Builder
	function := func(head, otherwise string, value func(need) string) {
		fmt.Fprintf(&b, "__device__ __forceinline__ constexpr %s(int array, int dz) {\n", head)
		for a := range needs {
			for dz := -s.lowS; dz <= s.highS; dz++ {
				if v := value(needs[a][dz]); v != otherwise {
					fmt.Fprintf(&b, "  if (array == %d && dz == %d) return %s;\n", a, dz, v)
				}
			}
		}
		fmt.Fprintf(&b, "  return %s;\n}\n\n", otherwise)
	}
	b.WriteString("// Which neighbours are read in the plane dz away: cells of neighbour columns, other rows.\n")
	function("int plane_low_x", "0", func(n need) string { return fmt.Sprint(n.low) })
	function("int plane_high_x", "0", func(n need) string { return fmt.Sprint(n.high) })
	function("bool plane_has_rows", "false", func(n need) string { return fmt.Sprint(n.rows) })
	b.WriteString("// Which of the planes it is of which more than the own cells are read, if it is one.\n")
	wide := 0
	function("int plane_wide", "-1", func(n need) string {
		if n == (need{}) {
			return "-1"
		}
		wide++
		return fmt.Sprint(wide - 1)
	})
	fmt.Fprintf(&b, "constexpr int WIDE = %d;\n\n", wide)
	return b.String()
}

// perStage is the planes whose cells a stage keeps from plane step to plane step, of
// all arrays.
func (s stages) perStage() int {
	if s.linear {
		n := s.weights.begun()
		if s.late {
			n++
		}
		if s.weights.ring != 0 {
			n++
		}
		return n
	}
	total := 0
	for _, points := range s.arrays {
		if len(points) == 0 {
			continue
		}
		oldest := 0
		for _, o := range points {
			_, _, dz := kernels.StreamingAxes(s.dims, o)
			oldest = min(oldest, dz)
		}
		total += s.highS - oldest
		if s.late {
			total++
		}
	}
	return total
}

// neighbourCells counts the cells that a lane needs of its neighbour lanes, over all
// planes and arrays.
func (s stages) neighbourCells() int {
	n := 0
	for _, points := range s.arrays {
		for z := -s.lowS; z <= s.highS; z++ {
			low, high := 0, 0
			for _, o := range points {
				if dx, _, dz := kernels.StreamingAxes(s.dims, o); dz == z {
					low, high = max(low, -dx), max(high, dx)
				}
			}
			n += low + high
		}
	}
	return n
}

// splittable tells whether warps of sums have something to do before they need rows of others.
func (s stages) splittable() bool { return s.linear && s.dims == 3 && s.lowR+s.highR > 0 }

// findsAgain tells whether a stage may find the plane that it took last where it came from: the sum of the plane after that begins as it.
func (s stages) findsAgain(p stencil.Problem) bool {
	return s.dims == 3 && s.linear && !s.packs(p) && (s.weights.beginsAsCell(s.rim) || s.factored.beginsAsCell(s.rim))
}

// lag is the planes by which a stage is behind the one before.
func (s stages) lag() int {
	if s.late {
		return s.highS + 1
	}
	return s.highS
}
