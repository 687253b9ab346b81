package stencil

import (
	"fmt"
	"math"
	"slices"
	"sync"
)

// Verdict is what a kernel's answer is compared with.
type Verdict struct {
	Want  []float64      // the fields one after the other, in float64, and then what receivers recorded
	Bound []float64      // by cell, the largest error that rounding explains: infinite where any may be right; nil of integers
	step  [2][]float64   // the numbers of the last step (StepScalar), and how far off each may be
	Blind int64          // cells whose bound is so wide that nearly any answer is right
	Seen  string         // of the branches: for Stencil.Untaken
	Alike bool           // in each field nearly all cells have one value
	most  []float64      // by array, the fields and then what each receiver recorded: the largest finite bound
	more  func() Verdict // the same with bounds of many more noisy runs; nil = none
}

// headroom is what errors of a noisy run are multiplied by. A right kernel's are smaller in the median,
// for it rounds to nearest; the rest is for luck.
const headroom = 4

// around is how many cells to each side share the largest error found, by dimensions: a few hundred
// cells in all, so that one run says what the next may show.
var around = [3]int{64, 8, 3}

// enough is the cells after which one noisy run is.
const enough = 2048

// manyRuns are those that judge an answer of which few cells are wrong. Where a program multiplies its errors at some places more
// than at others, one rounding of long ago is all the error of such a place, and no cell around tells how large it may be: a right
// kernel errs by more than headroom times what two runs do there in one of a hundred such places, of 24 in none of 10^10.
const manyRuns = 24

// Judge gives what kernels must give so many steps after Start, and within what bound. Until plays no
// part: kernels only step.
func Judge(p Problem, seed uint32, steps int) Verdict {
	if p.NaN {
		return p.judgeNaN(seed, steps)
	}
	key := p.Course(seed)
	courses.Lock()
	if courses.key != key {
		courses.key, courses.of = key, nil
	}
	known := slices.Clone(courses.of)
	courses.Unlock()
	v, reached := judge(p, p.Size, Start(p, seed), steps, known, 1)
	if _, _, sum := p.Stencil.Linear(); !sum && p.DType.Floating() { // a sum's errors grow alike everywhere
		v.more = sync.OnceValue(func() Verdict {
			v, _ := judge(p, p.Size, Start(p, seed), steps, nil, manyRuns)
			return v
		})
	}
	courses.Lock()
	defer courses.Unlock()
	if courses.key != key {
		return v
	}
	size := 8 * len(v.Want) * len(reached)
	if (len(courses.of)+1)*size > maxCourses {
		courses.of = nil
	}
	if size <= maxCourses {
		courses.of = append(courses.of, course{steps, reached})
	}
	return v
}

// Course names what Start gives of a seed and all that follows from it: of problems that have one in common the same is right after so
// many steps.
func (p Problem) Course(seed uint32) string {
	return fmt.Sprint(p.Stencil.Hash, p.Scalars, p.Stencil.ranges(), p.DType, p.Size, p.Impulses, p.NaN, seed)
}

// courses are where the runs of the last problem judged were after some steps: a search asks for
// the same problem after many numbers of steps.
var courses struct {
	sync.Mutex
	key string
	of  []course
}

// maxCourses bounds them, in bytes.
const maxCourses = 64 << 20

// course is where the exact run and then the noisy ones were after so many steps.
type course struct {
	steps int
	runs  []reached
}

type reached struct {
	fields, records []Values
	step            []float64 // numbers of its last step
	seen            []byte
}

// judge is Judge from any data, on a grid that stands for one of the given extents, from courses that are known, by at least so many noisy runs.
func judge(p Problem, extent Size, d Data, steps int, known []course, least int) (Verdict, []reached) {
	var last course
	for _, c := range known {
		if c.steps <= steps && c.steps > last.steps {
			last = c
		}
	}
	var now []reached
	next := func(p Problem, n *noise) ([]float64, string) {
		from := reached{fields: d.Fields, records: d.Records}
		if i := len(now); i < len(last.runs) {
			from = last.runs[i]
		}
		start := d
		start.Fields, start.Records = from.fields, from.records
		answer, to := p.answer(start, steps, func(r *run) {
			r.extent, r.noise, r.done = extent, n, last.steps
			copy(r.seen, from.seen)
			copy(r.numbers(), from.step)
		})
		now = append(now, to)
		return answer, seenText(to.seen)
	}
	var v Verdict
	q := p
	if m := p.Stencil.marked(); m != nil {
		q.Stencil = m
	}
	v.Want, v.Seen = next(q, nil)
	v.Alike = alike(v.Want, int(p.Size.Cells()), len(d.Fields))
	v.step = [2][]float64{now[0].step, make([]float64, len(now[0].step))}
	if !p.DType.Floating() {
		return v, now
	}
	v.Bound = make([]float64, len(v.Want))
	cells := int(p.Size.Cells())
	runs := max(least, min(1+enough/cells, 16))
	if p.Stencil.decides() {
		runs = max(runs, 2)
	}
	if p.Impulses {
		runs = 16
	}
	for i := range runs + 1 {
		n, scale := noiseOf(p, mix(uint32(i+1)), float64(1-2*(i&1)))
		if p.DType == Float64 {
			scale *= 2 // the reference errs as much
		}
		if least > 1 { // decisions of less and less doubt: where all that lean do so at once, none shows what follows from one alone
			n.lean, n.fine = math.Ldexp(n.lean, -i/4), math.Ldexp(n.fine, -i/4)
		}
		n.along = i == runs || least > 1 && i%4 == 3 // what a weight's rounding does in every step, or a cell that multiplies its error
		rough, _ := next(p, &n)
		widest(v.Bound, v.Want, rough, headroom*scale)
		widest(v.step[1], v.step[0], now[len(now)-1].step, headroom*scale)
	}
	for i, w := range v.step[0] {
		v.step[1][i] = max(v.step[1][i], 3*p.DType.Epsilon()*math.Abs(w))
	}
	reach := around
	if p.Impulses { // a cell's error is its own: those around are far larger, or none
		reach = [3]int{}
	}
	at := 0
	array := func(d DType, limit float64, length, part int, extents []int) {
		blind, most := v.Blind, 0.0
		for end := at + length; at < end; at += part {
			most = max(most, v.spread(d, limit, extents, at, reach))
		}
		if most == 0 && v.Blind > blind { // no cell can be judged
			most = math.MaxFloat64 / 4 // so that twice as much is a number
		}
		v.most = append(v.most, most)
	}
	for f := range p.Stencil.Fields {
		array(p.keeps(f), p.limit(f), cells, cells, p.Size[:p.Stencil.Dims])
	}
	for _, r := range now[0].records {
		array(p.DType, p.DType.largest(), r.Len(), SparsePlaces, []int{SparsePlaces}) // a step's records
	}
	return v, now
}

// widest makes bounds as wide as what a noisy run is off, so many times.
func widest(bound, want, rough []float64, times float64) {
	for c, w := range want {
		e := times * math.Abs(rough[c]-w)
		if !(e <= math.MaxFloat64) || !finite(w) {
			e = math.Inf(1)
		}
		bound[c] = max(bound[c], e)
	}
}

// answer runs steps from d, in a way that is set up, and gives the fields one after the other and what receivers recorded, and
// how the run ended.
func (p Problem) answer(d Data, steps int, set func(*run)) ([]float64, reached) {
	s := *p.Stencil
	s.Reduce, s.Until = nil, nil
	p.Stencil = &s
	r := newRun(p, d)
	set(r)
	var all [][]float64
	out := r.run(d, steps)
	end := reached{out.Fields, out.Records, slices.Clone(r.numbers()), r.seen}
	for _, f := range slices.Concat(end.fields, end.records) {
		all = append(all, f.Floats(s.DType))
	}
	return p.Forget(slices.Concat(all...)), end
}

// spread makes the bound of the cells of an array of those extents that begins at from that of all within reach, which is by
// dimensions, and at least a rounding of what is stored. Where an error may lead beyond the limit, any answer is right. It gives
// the largest finite one.
func (v *Verdict) spread(d DType, limit float64, extents []int, from int, reach [3]int) (most float64) {
	cells := 1
	for _, n := range extents {
		cells *= n
	}
	bound, size := make([]float64, cells), make([]float64, cells)
	for i := range bound {
		w := math.Abs(v.Want[from+i])
		if finite(w) && finite(v.Bound[from+i]) {
			bound[i], size[i] = v.Bound[from+i], w
		}
	}
	stride := 1
	for _, n := range extents {
		for _, values := range [][]float64{bound, size} {
			widen(values, n, stride, reach[len(extents)-1])
		}
		stride *= n
	}
	least := 0.0
	if d.Floating() {
		least = math.Ldexp(16, d.fact().minExponent) // values below are no numbers to a GPU
	}
	for i, b := range bound {
		b = max(b, 3*d.Epsilon()*size[i])
		if math.Abs(v.Want[from+i])+b > limit {
			v.Bound[from+i] = math.Inf(1)
			v.Blind++
			continue
		}
		if b > size[i]/2 || v.Bound[from+i] > b {
			v.Blind++
		}
		if b > 0 {
			b = max(b, least)
		}
		v.Bound[from+i] = max(v.Bound[from+i], b)
		most = max(most, b)
	}
	return most
}

// widen gives each value the largest of those within so many of it along an axis of extent n.
func widen(values []float64, n, stride, reach int) {
	line := make([]float64, n)
	for base := range values {
		if base/stride%n != 0 {
			continue
		}
		for i := range line {
			line[i] = values[base+i*stride]
		}
		var falling []int // of the window's indices those whose value no later one reaches
		next := 0
		for i := range n {
			for ; next < min(n, i+reach+1); next++ {
				for len(falling) > 0 && line[falling[len(falling)-1]] <= line[next] {
					falling = falling[:len(falling)-1]
				}
				falling = append(falling, next)
			}
			if falling[0] < i-reach {
				falling = falling[1:]
			}
			values[base+i*stride] = line[falling[0]]
		}
	}
}

// decides tells whether a floating-point value decides something, so that an error of any size may follow
// from a rounding.
func (s *Stencil) decides() bool {
	found := false
	for _, body := range s.bodies() {
		walkBody(body, func(e Expr) {
			switch e := e.(type) {
			case Binary:
				found = found || e.Type == Bool && e.X.typ().Floating()
			case Cast:
				found = found || !e.Type.Floating() && e.X.typ().Floating()
			case Call:
				found = found || slices.Contains([]string{"floor", "ceil", "trunc", "round", "fmod"}, e.Func)
			}
		})
	}
	return found
}

// peak is the largest finite one of values, without its sign.
func peak(values []float64) float64 {
	peak := 0.0
	for _, w := range values {
		if w = math.Abs(w); w <= math.MaxFloat64 {
			peak = max(peak, w)
		}
	}
	return peak
}

// alike tells whether in each of the fields that values begin with nearly all of many cells have one value.
func alike(values []float64, cells, fields int) bool {
	for f := range fields {
		of := values[f*cells:][:cells]
		most, lead := 0.0, 0 // the value of more than half, if there is one (Boyer and Moore 1991, "MJRTY")
		for _, v := range of {
			switch {
			case lead == 0:
				most, lead = v, 1
			case v == most:
				lead++
			default:
				lead--
			}
		}
		others := 0
		for _, v := range of {
			if v != most {
				others++
			}
		}
		if 50*others > cells {
			return false
		}
	}
	return cells >= 50
}

// nearly tells whether of an answer at most one cell in a hundred is wrong, and none by more than a thousand times its bound, or by
// leaving the type's range where some cells may. A bound of 0 is that of a number which no run has rounded otherwise yet.
func (v Verdict) nearly(got []float64) bool {
	wrong := 0
	beyond := slices.Contains(v.Bound, math.Inf(1))
	for i, w := range v.Want[:min(len(got), len(v.Want))] {
		if e := math.Abs(got[i] - w); got[i] == w || e <= v.Bound[i] || math.IsInf(v.Bound[i], 1) {
			continue
		} else if v.Bound[i] > 0 && !(e <= 1000*v.Bound[i]) && !(beyond && !finite(got[i])) {
			return false
		}
		wrong++
	}
	return wrong > 0 && wrong*100 <= len(v.Want)
}

// Compare looks at every cell, as the function of that name does, by the bound of each; without bounds all must be exact.
func (v Verdict) Compare(got []float64) Comparison {
	if v.more != nil && v.nearly(got) {
		return v.more().Compare(got)
	}
	c := compare(got, v.Want, func(i int) float64 {
		if v.Bound == nil {
			return 0
		}
		return v.Bound[i]
	})
	c.Blind, c.Seen, c.Alike = v.Blind, v.Seen, v.Alike
	return c
}

// Within is Compare by allowances, array by array, in place of bounds if there are any.
func (v Verdict) Within(p Problem, got []float64, allowed []Allowance) Comparison {
	if allowed == nil {
		return v.Compare(got)
	}
	fields, cells, records := len(p.Stencil.Fields), int(p.Size.Cells()), SparsePlaces*SparseRows
	var bounds []float64
	for at := 0; at < len(v.Want); {
		end := at + cells
		if len(bounds) >= fields {
			end = at + records
		}
		end = min(end, len(v.Want))
		bounds = append(bounds, Of(allowed, len(bounds)).For(peak(v.Want[at:end])))
		at = end
	}
	c := compare(got, v.Want, func(i int) float64 {
		if f := i / cells; f < fields {
			return bounds[f]
		}
		return bounds[fields+(i-fields*cells)/records]
	})
	c.Seen, c.Alike = v.Seen, v.Alike
	return c
}

// CompareNumbers adds to a comparison of cells that of the numbers of the last step, which are the last of what was compared.
func (v Verdict) CompareNumbers(c Comparison, got []float64) Comparison {
	n := compare(got, v.step[0], func(i int) float64 { return v.step[1][i] })
	if n.Wrong > 0 && v.more != nil {
		v = v.more()
		n = compare(got, v.step[0], func(i int) float64 { return v.step[1][i] })
	}
	if c.Wrong == 0 && (n.Wrong > 0 || n.Share > c.Share) {
		c.First, c.Got, c.Want, c.Tolerance, c.Share = c.Cells+n.First, n.Got, n.Want, n.Tolerance, n.Share
	}
	c.Cells, c.Numbers, c.Wrong = c.Cells+n.Cells, n.Cells, c.Wrong+n.Wrong
	return c
}
