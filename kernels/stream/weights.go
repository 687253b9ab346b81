package stream

import (
	"cmp"
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"

	"stenciltune/stencil"
)

// weights is an affine cell function as the kernel sums it: plane by plane along
// the stream axis. Planes whose weights are proportional share a pattern, so that
// the pattern is weighed once and its result used for each of them.
type weights struct {
	constant float64
	planes   []plane   // of dz = -low .. high
	patterns []pattern // distinct ones
	low      int
}

// plane is factor times a pattern; a plane without points has pattern -1.
type plane struct {
	pattern int
	factor  float64
}

// pattern is the weights of a plane's points.
type pattern struct {
	points []point
	users  int
}

// point is a weight at dx, dy of a plane.
type point struct {
	dx, dy int
	weight float64
}

// axes splits an offset into x, the row within a plane and the plane.
func axes(dims int, o stencil.Offset) (dx, dy, dz int) {
	switch dims {
	case 1:
		return o[0], 0, 0
	case 2:
		return o[0], 0, o[1]
	}
	return o[0], o[1], o[2]
}

// weightsOf groups a linear stencil's weights; not ok if it is not linear.
func weightsOf(st *stencil.Stencil) (w weights, ok bool) {
	byOffset, constant, ok := st.Linear()
	if !ok {
		return weights{}, false
	}
	r := reachOf(st)
	w = weights{constant: constant, low: r.lowS}
	for dz := -r.lowS; dz <= r.highS; dz++ {
		var points []point
		for o, weight := range byOffset {
			if dx, dy, z := axes(st.Dims, o); z == dz {
				points = append(points, point{dx, dy, weight})
			}
		}
		slices.SortFunc(points, func(a, b point) int { return cmp.Or(cmp.Compare(a.dy, b.dy), cmp.Compare(a.dx, b.dx)) })
		w.planes = append(w.planes, w.share(points))
	}
	return w, true
}

// share finds the pattern of a plane's points, or adds one.
func (w *weights) share(points []point) plane {
	if len(points) == 0 {
		return plane{pattern: -1}
	}
	for k := range w.patterns {
		if f, ok := proportion(points, w.patterns[k].points); ok {
			w.patterns[k].users++
			return plane{k, f}
		}
	}
	w.patterns = append(w.patterns, pattern{points, 1})
	return plane{len(w.patterns) - 1, 1}
}

// proportion gives f with a = f*b, to within rounding.
func proportion(a, b []point) (f float64, ok bool) {
	if len(a) != len(b) {
		return 0, false
	}
	f = a[0].weight / b[0].weight
	for i := range a {
		if a[i].dx != b[i].dx || a[i].dy != b[i].dy || math.Abs(a[i].weight-f*b[i].weight) > 1e-15*math.Abs(a[i].weight) {
			return 0, false
		}
	}
	return f, true
}

// late tells whether a plane completes only with rows of other warps: its last
// contribution has points off its own row.
func (w weights) late() bool {
	last := w.planes[len(w.planes)-1]
	return last.pattern >= 0 && slices.ContainsFunc(w.patterns[last.pattern].points, func(p point) bool { return p.dy != 0 })
}

// diagonal tells whether a row other than the own is read beside the own column.
func (w weights) diagonal() bool {
	return slices.ContainsFunc(w.patterns, func(k pattern) bool {
		return slices.ContainsFunc(k.points, func(p point) bool { return p.dx != 0 && p.dy != 0 })
	})
}

// text is the weights as device functions. All arguments are constants once loops
// are unrolled, so each call is the multiplications and additions it stands for.
func (w weights) text() string {
	var b strings.Builder
	fmt.Fprintf(&b, "// The cell function, plane by plane: a plane is a factor times a pattern of weights.\n")
	fmt.Fprintf(&b, "constexpr int PATTERNS = %d;\n", len(w.patterns))
	fmt.Fprintf(&b, "constexpr T CONSTANT_TERM = %s;\n\n", literal(w.constant))
	function(&b, "int pattern_users(int k)", "0", func(put func(cond, value string)) {
		for k, p := range w.patterns {
			put(fmt.Sprintf("k == %d", k), fmt.Sprint(p.users))
		}
	})
	function(&b, "int plane_pattern(int dz)", "-1", func(put func(cond, value string)) {
		for i, p := range w.planes {
			if p.pattern >= 0 {
				put(fmt.Sprintf("dz == %d", i-w.low), fmt.Sprint(p.pattern))
			}
		}
	})
	function(&b, "T plane_factor(int dz)", "1", func(put func(cond, value string)) {
		for i, p := range w.planes {
			if p.pattern >= 0 && p.factor != 1 {
				put(fmt.Sprintf("dz == %d", i-w.low), literal(p.factor))
			}
		}
	})
	function(&b, "bool row_weighs(int k, int dy)", "false", func(put func(cond, value string)) {
		for k, p := range w.patterns {
			for _, row := range p.rows() {
				put(fmt.Sprintf("k == %d && dy == %d", k, row[0].dy), "true")
			}
		}
	})
	b.WriteString("// e[dx] is the value dx cells away in the row dy away.\n")
	function(&b, "T weigh_row(int k, int dy, const T *e, T sum)", "sum", func(put func(cond, value string)) {
		for k, p := range w.patterns {
			for _, row := range p.rows() {
				text := "sum"
				for _, q := range row {
					text += fmt.Sprintf(" + %s * e[%d]", literal(q.weight), q.dx)
				}
				put(fmt.Sprintf("k == %d && dy == %d", k, row[0].dy), text)
			}
		}
	})
	return b.String()
}

// rows splits a pattern's points by dy.
func (k pattern) rows() (rows [][]point) {
	for i, p := range k.points {
		if i == 0 || p.dy != k.points[i-1].dy {
			rows = append(rows, nil)
		}
		rows[len(rows)-1] = append(rows[len(rows)-1], p)
	}
	return rows
}

// function writes a device function that chooses a value by constant arguments.
func function(b *strings.Builder, head, otherwise string, cases func(put func(cond, value string))) {
	fmt.Fprintf(b, "__device__ __forceinline__ %s {\n", head)
	cases(func(cond, value string) { fmt.Fprintf(b, "  if (%s) return %s;\n", cond, value) })
	fmt.Fprintf(b, "  return %s;\n}\n\n", otherwise)
}

// literal is a number of the element type.
func literal(v float64) string { return "T(" + strconv.FormatFloat(v, 'g', -1, 64) + ")" }
