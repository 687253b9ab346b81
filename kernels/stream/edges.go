package stream

import (
	"fmt"
	"math"
	"slices"
	"strings"

	"stenciltune/kernels"
	"stenciltune/stencil"
)

// ends are cells at the low and the high end of x, of the rows of a plane and of the planes.
type ends struct{ lowX, highX, lowR, highR, lowS, highS int }

func endsOf(dims int, low, high [3]int) ends {
	e := ends{lowX: low[0], highX: high[0]}
	switch dims {
	case 2:
		e.lowS, e.highS = low[1], high[1]
	case 3:
		e.lowR, e.highR, e.lowS, e.highS = low[1], high[1], low[2], high[2]
	}
	return e
}

// inPlane tells whether there are any at the ends of rows or columns, not of whole planes alone.
func (e ends) inPlane() bool { return e.lowX+e.highX+e.lowR+e.highR > 0 }

// rim is what lies outside the grid, by x, the rows of a plane and the planes: 0, 1 and 2.
type rim struct {
	mixed   bool // rules differ by axis, side or field
	edge    bool // EdgeValue says some of it
	wraps   [3]bool
	mirrors [3]bool            // some array is mirrored there
	rules   [3][2]stencil.Rule // of the first field, by side
	images  bool               // planes beyond the grid are images of those inside, at every time step
}

func rimOf(st *stencil.Stencil) rim {
	one := stencil.Rule{Boundary: st.Boundary, Constant: st.Constant}
	r := rim{mixed: st.Boundary == stencil.Mixed, edge: st.Has(stencil.Edge), rules: [3][2]stencil.Rule{{one, one}, {one, one}, {one, one}}}
	for axis := range st.Dims {
		a := axis
		if axis > 0 && axis == st.Dims-1 {
			a = 2
		}
		r.wraps[a], r.mirrors[a], r.rules[a] = st.Wraps(axis), st.Mirrors(axis), st.Fields[0].Rules[axis]
	}
	return r
}

// holds tells whether cells are held at an end of an axis that repeats.
func (r rim) holds(h ends) bool {
	return r.wraps[0] && h.lowX+h.highX > 0 || r.wraps[1] && h.lowR+h.highR > 0 || r.wraps[2] && h.lowS+h.highS > 0
}

// constant is what lies beyond a side of an axis where that is a constant.
func (r rim) constant(axis, side int) (float64, bool) {
	rule := r.rules[axis][side]
	return rule.Constant, rule.Boundary == stencil.Constant
}

// sums tells whether sums of planes settle what lies outside. They do not ask EdgeValue on some sides only, nor, beyond two
// axes with constants that differ, which of the two it is.
func (r rim) sums(st *stencil.Stencil) bool {
	if !r.mixed {
		return true
	}
	for a := range 3 {
		for b := range a {
			for k := range 4 {
				v, one := r.constant(a, k/2)
				w, two := r.constant(b, k%2)
				if one && two && v != w && slices.ContainsFunc(st.Stages[0].Points[0], func(o stencil.Offset) bool {
					dx, dy, dz := kernels.StreamingAxes(st.Dims, o)
					return [3]int{dx, dy, dz}[a] != 0 && [3]int{dx, dy, dz}[b] != 0
				}) {
					return false
				}
			}
		}
	}
	return !r.edge
}

// heldOf is the cells that never change.
func heldOf(st *stencil.Stencil) ends {
	h := st.Held()
	return endsOf(st.Dims, h.Low, h.High)
}

// edgesText says which cells are held, and what lies outside the grid where that is a constant: the values
// of time step s are multiples.
func (g plan) edgesText() string {
	var b strings.Builder
	h := g.held
	fmt.Fprintf(&b, "constexpr int HELD_LX = %d, HELD_LR = %d, HELD_LS = %d; // held cells, which never change, at the low end of x, rows and planes\n", h.lowX, h.lowR, h.lowS)
	fmt.Fprintf(&b, "constexpr int HELD_HX = %d, HELD_HR = %d, HELD_HS = %d; // and at the high end\n", h.highX, h.highR, h.highS)
	fmt.Fprintf(&b, "constexpr bool HOLDS = %t;\n", h != ends{})
	fmt.Fprintf(&b, "constexpr int KEPT = %d; // planes that stay in shared memory until they are written, for what is held\n", g.kept())
	if g.images {
		b.WriteString(imagesText)
	}
	common, constant := 1.0, 0.0
	if g.mixed {
		b.WriteString(g.mixedText())
	}
	if g.linear {
		w := g.bestWeights()
		common, constant = w.common, g.constant()
		fmt.Fprintf(&b, "constexpr bool PAIRS = %t; // the four nearest neighbours are added up in pairs\n", w.ring != 0)
		fmt.Fprintf(&b, "constexpr int BEGUN = %d; // sums that have begun when a plane arrives\n", w.begun())
		fmt.Fprintf(&b, "constexpr bool BEGINS_AS_CELL = %t; // the sum of the plane after begins as the cell itself\n", w.beginsAsCell(g.rim))
	}
	steps := func(doc, name string, value float64, common float64) {
		fmt.Fprintf(&b, "// %s\n__host__ __device__ constexpr Real %s(int s) { return ", doc, name)
		for k := 0; k < g.timeTile-1 && value != 0 && common != 1; k++ {
			fmt.Fprintf(&b, "s == %d ? %s : ", k, literal(value))
			value /= common
		}
		fmt.Fprintf(&b, "%s; }\n", literal(value))
	}
	if g.mixed {
		b.WriteString(g.outsideText(common))
	} else {
		steps("What lies outside the grid in time step s of a launch, where it is a constant.", "outside_cell", constant, common)
	}
	if g.linear {
		if !g.edge {
			common = 1
		}
		steps("By how much values have grown by time step s, where EdgeValue is to know it.", "growth_of", 1, common)
		steps("And its reciprocal.", "scale_of", 1, 1/common)
	}
	b.WriteString("\n")
	return b.String()
}

// imagesText is for grids whose planes beyond the ends are images.
const imagesText = `constexpr bool IMAGES = true, ENDLESS = true; // planes beyond the grid are loaded and computed like those inside, as their images
// Where plane p is among the grid's planes, from 0 on, and their images, of which -k is that of plane k: these repeat.
__device__ __forceinline__ int image_from(int p, int planes) {
  const int period = 2 * planes - 2;
  p %= period;
  return p <= -planes ? p + period : p;
}
`

// constant is what lies outside the grid, 0 where that is no constant; of several the largest.
func (g plan) constant() (most float64) {
	for axis := range 3 {
		for side := range 2 {
			if v, _ := g.rim.constant(axis, side); math.Abs(v) > math.Abs(most) {
				most = v
			}
		}
	}
	return g.problem.DType.Round(most)
}

// constantRows is the rows of constants in shared memory, which stand for rows outside the grid: one by one rule, else one
// for each side.
func (g plan) constantRows() int {
	_, low := g.rim.constant(1, 0)
	_, high := g.rim.constant(1, 1)
	switch {
	case !g.linear || (!low || g.held.lowR >= g.lowR) && (!high || g.held.highR >= g.highR):
		return 0
	case g.mixed:
		return 2
	}
	return 1
}

// mixedText says which rules differ, and where. given and gives are the same: where there is one rule, Spelling has other words for each.
func (g plan) mixedText() string {
	var given []string
	for axis := range 2 {
		for side := range 2 {
			if _, ok := g.rim.constant(axis, side); ok && g.linear {
				given = append(given, fmt.Sprintf("axis == %d && side == %d || ", axis, side))
			}
		}
	}
	return fmt.Sprintf(`constexpr bool LANE_RULES = false; // rows have a halo of their first and last lane's own
constexpr bool BY_DISTANCE = true; // what planes beyond the grid add depends on how far the plane at hand is from its end
// Whether some array's rule is b beyond the rows of a plane, and beyond the planes.
__host__ __device__ constexpr bool rows(Boundary b) { return b == MIRROR ? %t : b == CONSTANT && %t; }
__host__ __device__ constexpr bool planes(Boundary b) { return b == MIRROR && %t; }
// Whether sums have a constant beyond a side of x (0) or of the rows (1), and whether a side of the rows is mirrored.
__host__ __device__ constexpr bool given(int axis, int side) { return %sfalse; }
__host__ __device__ constexpr bool gives(int axis, int side) { return given(axis, side); }
__host__ __device__ constexpr bool mirrors(int axis, int side) { return rule(0, axis, side) == MIRROR; }
__host__ __device__ constexpr int sides() { return 2; } // rows of constants
`, g.mirrors[1], g.constantRows() > 0, g.mirrors[2], strings.Join(given, ""))
}

// outsideText says what lies beyond each side where that is a constant; common is as for edgesText.
func (g plan) outsideText(common float64) string {
	values := func(growth float64) string {
		var list []string
		for axis := range 3 {
			for side := range 2 {
				v, _ := g.rim.constant(axis, side)
				list = append(list, literal(g.problem.DType.Round(v)*growth))
			}
		}
		return "Outside(" + strings.Join(list, ", ") + ")"
	}
	var b strings.Builder
	b.WriteString(`// What lies beyond the low and the high side of x, rows and planes, where it is a constant.
struct Outside {
  Real at[3][2];
  __host__ __device__ constexpr Outside(int = 0) : at{} {}
  __host__ __device__ constexpr Outside(Real lx, Real hx, Real lr, Real hr, Real ls, Real hs) : at{{lx, hx}, {lr, hr}, {ls, hs}} {}
};
// The same in time step s of a launch.
__host__ __device__ constexpr Outside outside_cell(int s) { return `)
	growth := 1.0
	for k := 0; k < g.timeTile-1 && g.constant() != 0 && common != 1; k++ {
		fmt.Fprintf(&b, "s == %d ? %s : ", k, values(growth))
		growth /= common
	}
	fmt.Fprintf(&b, "%s; }\n", values(growth))
	return b.String()
}
