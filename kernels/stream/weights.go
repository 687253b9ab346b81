package stream

import (
	"cmp"
	"fmt"
	"maps"
	"math"
	"slices"
	"strconv"
	"strings"

	"stenciltune/kernels"
	"stenciltune/stencil"
)

// weights is an affine cell function as the kernel sums it: plane by plane along
// the streaming axis. Planes whose weights are proportional share a pattern, so that
// the pattern is summed once and its result used for each of them.
type weights struct {
	common   float64 // their common factor: they are multiples of it, 1 or one of them (factor.go)
	constant float64
	planes   []plane   // of dz = -low .. high
	patterns []pattern // distinct ones
	low      int
	// ring is the weight of the four nearest neighbours where they are added up in pairs, each of which two cells share; the
	// planes do not have them then, but those of whole do. 0 = they are not.
	ring  float64
	whole *weights
	// lastInPairs says that the last plane's sum takes what it mirrors as that plane arrives: pairs keep the plane before.
	lastInPairs bool
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

type point = kernels.PlanePoint

// weightsOf groups a linear stencil's weights; not ok if it is not linear.
func weightsOf(st *stencil.Stencil) (w weights, ok bool) { return weightsBy(1, st) }

// weightsBy groups them as multiples of a common factor, with the nearest neighbours in pairs where that saves operations.
func weightsBy(common float64, st *stencil.Stencil) (weights, bool) {
	byOffset, constant, ok := st.Linear()
	if !ok {
		return weights{}, false
	}
	whole := grouped(byOffset, constant, common, st)
	r := radiusOf(st)
	nearest := []stencil.Offset{{-1, 0, 0}, {1, 0, 0}, {0, -1, 0}, {0, 1, 0}}
	ring := byOffset[nearest[0]]
	if st.Dims != 2 || r != (radius{lowX: 1, highX: 1, lowS: 1, highS: 1}) || slices.ContainsFunc(nearest, func(o stencil.Offset) bool { return byOffset[o] != ring }) {
		return whole, true
	}
	rest := maps.Clone(byOffset)
	maps.DeleteFunc(rest, func(o stencil.Offset, _ float64) bool { return slices.Contains(nearest, o) })
	inPairs := grouped(rest, constant, common, st)
	inPairs.ring = ring / common
	if ring != 0 && inPairs.operations() < whole.operations() {
		beyond := whole
		beyond.lastInPairs = inPairs.begun() < len(whole.planes)-1
		inPairs.whole = &beyond
		return inPairs, true
	}
	return whole, true
}

func grouped(byOffset map[stencil.Offset]float64, constant, common float64, st *stencil.Stencil) (w weights) {
	r := radiusOf(st)
	w = weights{common: common, constant: constant / common, low: r.lowS}
	for dz := -r.lowS; dz <= r.highS; dz++ {
		var points []point
		for o, weight := range byOffset {
			if dx, dy, z := kernels.StreamingAxes(st.Dims, o); z == dz {
				points = append(points, point{dx, dy, weight / common})
			}
		}
		slices.SortFunc(points, func(a, b point) int { return cmp.Or(cmp.Compare(a.DY, b.DY), cmp.Compare(a.DX, b.DX)) })
		w.planes = append(w.planes, w.share(points))
	}
	return w
}

// share finds the pattern of a plane's points, or adds one.
func (w *weights) share(points []point) plane {
	if len(points) == 0 {
		return plane{pattern: -1}
	}
	for k := range w.patterns {
		if f, ok := kernels.Proportion(points, w.patterns[k].points, 1e3); ok {
			w.patterns[k].users++
			return plane{k, f}
		}
	}
	w.patterns = append(w.patterns, pattern{points, 1})
	return plane{len(w.patterns) - 1, 1}
}

// images tells whether planes beyond the grid may be computed like those inside, whose images they are in every time step: the grid is
// mirrored at both ends of its planes, none of them is held, and those on either side weigh the same.
func (w weights) images(r rim, held ends) bool {
	n := len(w.planes)
	mirrored := r.rules[2][0].Boundary == stencil.Mirror && r.rules[2][1].Boundary == stencil.Mirror
	if !mirrored || held.lowS+held.highS > 0 || w.low == 0 || n != 2*w.low+1 {
		return false
	}
	for i := range w.low {
		if w.planes[i] != w.planes[n-1-i] {
			return false
		}
	}
	return true
}

// late tells whether a plane completes only with rows of other warps: its last contribution has points off its own row, or
// that of a plane before its own. (Others take rows a plane step later. Sums that rows before the grid's first plane belong to would begin
// meanwhile, and the first plane also stands for those.) So does the plane that a mirrored one stands for.
func (w weights) late(mirror bool) bool {
	some := append(slices.Clone(w.planes[:w.low]), w.planes[len(w.planes)-1])
	if mirror {
		some = append(some, w.planes[0])
	}
	return slices.ContainsFunc(some, func(q plane) bool { return w.any(q, func(p point) bool { return p.DY != 0 }) })
}

// any tells whether a plane has such a point.
func (w weights) any(q plane, such func(point) bool) bool {
	return q.pattern >= 0 && slices.ContainsFunc(w.patterns[q.pattern].points, such)
}

// diagonal tells whether a row other than the own is read in neighbour columns.
func (w weights) diagonal() bool {
	return slices.ContainsFunc(w.patterns, func(k pattern) bool {
		return slices.ContainsFunc(k.points, func(p point) bool { return p.DX != 0 && p.DY != 0 })
	})
}

// newestNeighbours tells whether the newest plane is read in neighbour columns.
func (w weights) newestNeighbours() bool {
	return w.any(w.planes[len(w.planes)-1], func(p point) bool { return p.DX != 0 })
}

// operations is what accumulate does for a cell, a multiplication with the addition of its product
// counted once: so the compiler fuses them.
func (w weights) operations() float64 {
	n := 0.0
	for i, k := range w.patterns {
		rows := k.rows()
		for _, row := range rows {
			n += rowOperations(row)
		}
		fresh := w.planes[0].pattern == i              // it begins a sum
		if (fresh || k.users > 1) && hasOne(rows[0]) { // what begins with a weight of 1 begins with nothing to do
			n--
		}
		if k.users > 1 {
			n += float64(k.users)
			if fresh {
				n--
			}
		}
	}
	if w.ring != 0 {
		n += 3 // a pair, which two sums take
		if own := w.planes[w.low].pattern; w.begun() == 1 && (own < 0 && w.ring == 1 || own >= 0 && hasOne(w.patterns[own].rows()[0])) {
			n--
		}
	}
	return max(n, 1)
}

// neighbours is how sums of neighbours in a row, alike in several rows, are used: of the cells dx away on either side, or of three.
type neighbours struct {
	operations float64
	uses       int // by a cell, in patterns and rows
	rows       map[int]bool
}

// neighbours are those of the weights.
func (w weights) neighbours() map[int]*neighbours {
	all := map[int]*neighbours{}
	use := func(dx, dy int, operations float64) {
		if all[dx] == nil {
			all[dx] = &neighbours{operations: operations, rows: map[int]bool{}}
		}
		all[dx].uses++
		all[dx].rows[dy] = true
	}
	for _, k := range w.patterns {
		for _, row := range k.rows() {
			if triple(row) {
				use(0, row[0].DY, 1.5) // two cells share a sum of two
				continue
			}
			for _, p := range row {
				if p.DX < 0 && mirrored(row, p) >= 0 {
					use(p.DX, p.DY, 1)
				}
			}
		}
	}
	return all
}

// spared is the operations of those of a cell that a thread of so many rows does not do, as one such sum serves all
// patterns and every row of its own that reads it.
func (w weights) spared(rows int) (n float64) {
	for _, s := range w.neighbours() {
		distinct := map[int]bool{}
		for y := range s.rows {
			for j := range rows {
				distinct[y+j] = true
			}
		}
		n += s.operations * (float64(s.uses) - float64(len(distinct))/float64(rows))
	}
	return n
}

// begun counts the sums that have begun when a plane arrives: of the planes that find it, but its own where the plane before
// gives that nothing but pairs.
func (w weights) begun() int {
	n := len(w.planes) - 1
	if w.ring != 0 && w.planes[0].pattern < 0 {
		n--
	}
	return n
}

// beginsAsCell tells whether a plane gives the sum of the one after it a cell with weight 1, and nothing gives anything else.
func (w weights) beginsAsCell(r rim) bool {
	if w.low != 1 || w.constant != 0 || r.mirrors[2] && !r.images || w.planes[0].pattern < 0 {
		return false
	}
	points := w.patterns[w.planes[0].pattern].points
	return len(points) == 1 && points[0].DX == 0 && points[0].DY == 0 && points[0].Weight*w.planes[0].factor == 1
}

// text is the weights as two device functions: accumulate adds what a plane's rows give
// to the sums of the planes around it; accumulate_beyond what the grid's first and last
// plane give besides, in place of those beyond them. Rows are dy away from the cell's
// row j; those that are not at hand are left out. What timeTile time steps leave is to
// be multiplied by SCALE.
func (w weights) text(timeTile int, r rim, held ends) string {
	var b strings.Builder
	scale := math.Pow(w.common, float64(timeTile))
	if w.common != 1 {
		fmt.Fprintf(&b, "// The weights are multiples of %v: values grow by its reciprocal in each time step, and SCALE\n// takes that back. Those above %.1e (float64: %.1e) would overflow meanwhile.\n", w.common, math.MaxFloat32*scale, math.MaxFloat64*scale)
	}
	fmt.Fprintf(&b, "constexpr Real CONSTANT_TERM = %s, GROWTH = %s, SCALE = %s;\n", literal(w.constant), literal(1/w.common), literal(scale))
	fmt.Fprintf(&b, "constexpr Real PAIR = %s; // weight of a pair, if there are pairs\n\n", literal(w.ring))
	b.WriteString("// The cell function, plane by plane. Equal weights share their sum.\n")
	b.WriteString("template <bool OWN>\n__device__ __forceinline__ void accumulate(Real (&sum)[OPEN + 1], const Rows &e, int j, int i) {\n")
	w.accumulate(&b)
	b.WriteString("}\n\n// What planes beyond the grid's first and last add, as the plane at hand arrives: it ")
	number, outside := "bool", "Real"
	if r.mixed {
		outside = "const Outside &"
	}
	if r.byDistance() {
		number = "int"
		b.WriteString("lies `first` planes from\n// the first and `last` from the last.\n")
	} else {
		b.WriteString("is the first or the last.\n")
	}
	fmt.Fprintf(&b, "template <bool OWN>\n__device__ __forceinline__ void accumulate_beyond(Real (&sum)[OPEN + 1], const Rows &e, int j, int i, %s first, %[1]s last, %s constant) {\n", number, outside)
	if w.whole != nil {
		w = *w.whole
	}
	w.accumulateBeyond(&b, r, held)
	b.WriteString("}\n")
	return b.String()
}

// accumulate writes what plane p gives: to plane p - dz its pattern dz planes away, which has
// the slot high - dz. A pattern of one plane is added to that plane's sum term by term.
func (w weights) accumulate(b *strings.Builder) {
	last := len(w.planes) - 1
	for k, p := range w.patterns {
		if p.users == 1 {
			i := slices.IndexFunc(w.planes, func(q plane) bool { return q.pattern == k })
			fmt.Fprintf(b, "  // dz = %d\n", i-w.low)
			for _, row := range p.rows() {
				fmt.Fprintf(b, "  if (inside<OWN>(j%s)) sum[%d] = sum[%[2]d] + %s;\n", signed(row[0].DY), last-i, rowText(row))
			}
			continue
		}
		p.sum(b)
		for i, q := range w.planes {
			if q.pattern == k {
				fmt.Fprintf(b, "    sum[%d] += %s; // dz = %d\n", last-i, scaled(q.factor, "part"), i-w.low)
			}
		}
		b.WriteString("  }\n")
	}
}

// share is what a plane at hand gives to a sum for planes beyond the grid: it stands for them if it lies
// so many planes from the first (or last) one.
type share struct {
	end    string // first or last
	side   int    // 0 or 1
	from   int
	slot   int
	beyond []plane
}

// byDistance tells whether it matters how far the plane at hand is from the grid's first and last, and not only whether it is one.
func (r rim) byDistance() bool { return r.mixed || r.each(0) || r.each(1) }

// each tells whether planes beyond the first (or last) are each another plane's, or EdgeValue's.
func (r rim) each(side int) bool {
	rule := r.rules[2][side].Boundary
	return rule == stencil.Mirror || rule == stencil.Edge
}

// condition is when the plane stands for them.
func (s share) condition(r rim) string {
	if r.byDistance() {
		return fmt.Sprintf("%s == %d", s.end, s.from)
	}
	return s.end
}

// shares are those of the planes t = 0 .. low-1 from the first, which find nothing of the grid at dz < -t,
// and of the high planes before the end. Planes that are held need none.
func (w weights) shares(r rim, held ends) (list []share) {
	if r.images {
		return nil
	}
	high := len(w.planes) - 1 - w.low
	var moved [2]int // 1 where what is beyond is the plane at hand; with EdgeValue it is that beyond, in the first's (or last's) turn
	for side := range moved {
		if r.rules[2][side].Boundary == stencil.Mirror {
			moved[side] = 1
		}
	}
	for t := held.lowS; t < w.low; t++ {
		if !r.each(0) {
			list = append(list, share{"first", 0, 0, high + t, w.planes[:w.low-t]})
			continue
		}
		for d := 1; d <= w.low-t; d++ { // dz = -t - d finds plane d
			list = append(list, share{"first", 0, d, high + t - moved[0]*d, w.planes[w.low-t-d:][:1]})
		}
	}
	for t := held.highS; t < high; t++ {
		if !r.each(1) {
			list = append(list, share{"last", 1, 0, high - t, w.planes[w.low+t+1:]})
			continue
		}
		if moved[1] > 0 && w.lastInPairs {
			break
		}
		for d := 1; d <= high-t; d++ {
			list = append(list, share{"last", 1, d, high - t + moved[1]*d, w.planes[w.low+t+d:][:1]})
		}
	}
	return list
}

// accumulateBeyond writes what planes beyond the grid add.
func (w weights) accumulateBeyond(b *strings.Builder, r rim, held ends) {
	var cells []share
	for _, s := range w.shares(r, held) {
		if _, ok := r.constant(2, s.side); ok {
			w.accumulateConstant(b, r, s)
		} else {
			cells = append(cells, s)
		}
	}
	for k, p := range w.patterns {
		var uses strings.Builder
		for _, s := range cells {
			factor := 0.0
			for _, q := range s.beyond {
				if q.pattern == k {
					factor += q.factor
				}
			}
			if factor != 0 {
				fmt.Fprintf(&uses, "    sum[%d] += when(%s, %s);\n", s.slot, s.condition(r), scaled(factor, "part"))
			}
		}
		if uses.Len() > 0 {
			p.sum(b)
			b.WriteString(uses.String() + "  }\n")
		}
	}
}

// accumulateConstant writes what they add if they are constant.
func (w weights) accumulateConstant(b *strings.Builder, r rim, s share) {
	sum := 0.0
	for _, q := range s.beyond {
		if q.pattern >= 0 {
			for _, p := range w.patterns[q.pattern].points {
				sum += q.factor * p.Weight
			}
		}
	}
	constant := "constant"
	if r.mixed {
		constant = fmt.Sprintf("constant.at[2][%d]", s.side)
	}
	fmt.Fprintf(b, "  if (OWN) sum[%d] += when(%s, %s);\n", s.slot, s.condition(r), scaled(sum, constant))
}

// sum begins a block in which part is the pattern's weighted sum.
func (k pattern) sum(b *strings.Builder) {
	rows := k.rows()
	var any []string
	for _, row := range rows {
		any = append(any, fmt.Sprintf("inside<OWN>(j%s)", signed(row[0].DY)))
	}
	fmt.Fprintf(b, "  if (%s) {\n    Real part = Real(-0.0); // adds nothing\n", strings.Join(any, " || "))
	for i, row := range rows {
		fmt.Fprintf(b, "    if (%s) part = part + %s;\n", any[i], rowText(row))
	}
}

// rowOperations counts what adds a row's weighted sum to another.
func rowOperations(row []point) (n float64) {
	if triple(row) {
		return 2.5 // two cells share a sum of two
	}
	for _, p := range row {
		switch m := mirrored(row, p); {
		case m < 0:
			n++
		case p.DX < 0:
			n += 2
		}
	}
	return n
}

// triples tells whether there are such rows.
func (w weights) triples() bool {
	return slices.ContainsFunc(w.patterns, func(k pattern) bool { return slices.ContainsFunc(k.rows(), triple) })
}

// hasOne tells whether a point of a row weighs 1.
func hasOne(row []point) bool {
	return slices.ContainsFunc(row, func(p point) bool { return p.Weight == 1 })
}

// triple tells whether a row is a cell and its two neighbours, all of one weight.
func triple(row []point) bool {
	return len(row) == 3 && row[0].DX == -1 && row[1].DX == 0 && row[2].DX == 1 && row[0].Weight == row[1].Weight && row[1].Weight == row[2].Weight
}

// mirrored finds the point on the other side of the own column if it weighs the same.
func mirrored(row []point, p point) int {
	if p.DX == 0 {
		return -1
	}
	return slices.IndexFunc(row, func(q point) bool { return q.DX == -p.DX && q.Weight == p.Weight })
}

// rowText is the weighted sum of a row's points; points mirrored in the own column
// are added first if they weigh the same, because other sums need that too. Those that
// weigh 1 come first: with nothing before them there is nothing to do.
func rowText(row []point) string {
	if triple(row) {
		return scaled(row[0].Weight, fmt.Sprintf("three(e[LOW_R + j%s], i)", signed(row[0].DY)))
	}
	var terms []string
	used := map[int]bool{}
	at := func(p point) string { return fmt.Sprintf("e[LOW_R + j%s][LOW_X + i%s]", signed(p.DY), signed(p.DX)) }
	for _, p := range row {
		if used[p.DX] {
			continue
		}
		used[p.DX] = true
		text := at(p)
		if m := mirrored(row, p); p.DX < 0 && m >= 0 {
			used[-p.DX] = true
			text = "(" + text + " + " + at(row[m]) + ")"
		}
		if p.Weight == 1 {
			terms = slices.Insert(terms, 0, text)
			continue
		}
		terms = append(terms, scaled(p.Weight, text))
	}
	return strings.Join(terms, " + ")
}

// scaled is a factor times a text.
func scaled(f float64, text string) string {
	if f == 1 {
		return text
	}
	return literal(f) + " * " + text
}

// signed is an offset as it follows a name: "", " + 1", " - 2".
func signed(d int) string {
	switch {
	case d > 0:
		return fmt.Sprintf(" + %d", d)
	case d < 0:
		return fmt.Sprintf(" - %d", -d)
	}
	return ""
}

// rows splits a pattern's points by dy.
func (k pattern) rows() (rows [][]point) {
	for i, p := range k.points {
		if i == 0 || p.DY != k.points[i-1].DY {
			rows = append(rows, nil)
		}
		rows[len(rows)-1] = append(rows[len(rows)-1], p)
	}
	return rows
}

// literal is a number of the type that is computed in. Zero is -0, which adds nothing: the
// compiler may drop it.
func literal(v float64) string {
	if v == 0 {
		return "Real(-0.0)"
	}
	return "Real(" + strconv.FormatFloat(v, 'g', -1, 64) + ")"
}
