package pipeline

import (
	"fmt"
	"slices"
	"strings"

	"stenciltune/kernels"
	"stenciltune/stencil"
)

// text is the jobs of a plan, as one struct that streams.
func (p *plan) text(of stencil.Problem, h shape) string {
	loads, loaded := h.loads(of, p)
	var b strings.Builder
	b.WriteString("// The way of a block's threads along the streaming axis. Of version v that a stage leaves, v<n> are the own\n" +
		"// cells of the planes that registers keep, the newest first; what is loaded is kept in shared memory.\n")
	if !kernels.OneType(of) {
		b.WriteString("constexpr int SIDE_UNIT = 1; // for each cell of a side\n")
	}
	p.membersText(&b, of, h, loads)
	p.constructorText(&b, h, loads)
	p.ringsText(&b, of, h, loads, loaded)
	p.loadText(&b, of, h, loads)
	p.advanceText(&b, of, h, loads)
	p.runText(&b, loads)
	return b.String()
}

// membersText begins the struct with what it holds.
func (p *plan) membersText(b *strings.Builder, of stencil.Problem, h shape, loads []load) {
	line := func(format string, args ...any) { fmt.Fprintf(b, format+"\n", args...) }
	line("struct Pipeline {")
	line("  const Place &at;")
	line("  const index_t column; // element of plane 0 at which the thread's cells begin")
	line("  unsigned char *const shared;")
	if p.arrival >= 0 {
		line("  Meeting meeting;")
	}
	if p.folds >= 0 {
		line("  const Out &out;")
	}
	for _, n := range distinct(loads) {
		line("  char *%s; // where the thread copies to in the first plane that is loaded", n.copied)
		line("  unsigned %s_address; // the address of that in shared memory", n.copied)
	}
	for _, n := range p.rings(h.prefetch) {
		line("  int slot_%d; // of the newest plane in rings of %d planes", n, n)
	}
	for v := range p.loads {
		line("  const %s *source_%d; // own column of the plane of array %d that is loaded next", loads[v].elem, v, p.given(p.versions[v].array))
	}
	for _, o := range p.stores {
		line("  %swritten_%d; // own column of the plane of the field that is written next", either(kernels.OneOutput(of), "T *__restrict__ ", "Writer "), o.field)
	}
	if p.st.Wraps(p.dims - 1) {
		for v := range p.loads {
			line("  int plane_%d; // which one that is", v)
		}
	}
	line("  int next; // plane step for which planes are loaded next")
	for i, v := range p.versions {
		from := "as it is loaded"
		if v.job >= 0 {
			from = fmt.Sprintf("after time step %d, stage %d", p.jobs[v.job].step, p.jobs[v.job].stage)
		}
		switch {
		case v.hidden:
			j := p.jobs[v.job]
			line("  Around<%d, %d, %d, %d> v%d[%d]; // hidden value %d %s", j.lowX, j.highX, j.lowR, j.highR, i, v.depth, v.array-p.fields, from)
		case v.held:
			line("  Cells v%d[%d]; // %s %s", i, v.depth, p.arrayName(v.array), from)
		}
	}
	p.lateText(b, loads)
	if len(p.acts) > 0 {
		line("  const Entries entries; // of sources and receivers")
	}
}

// constructorText is where a block begins.
func (p *plan) constructorText(b *strings.Builder, h shape, loads []load) {
	line := func(format string, args ...any) { fmt.Fprintf(b, format+"\n", args...) }
	wrap, say := p.st.Wraps(p.dims-1), wordsOf(p.st)
	line("")
	line("  __device__ __forceinline__ Pipeline(const Place &place, index_t own, const Out &to, unsigned char *bytes) : at(place), column(own), shared(bytes%s%s {",
		either(p.arrival >= 0, " + Meeting::BYTES), meeting(bytes)", ")")+either(p.folds >= 0, ", out(to)", ""), p.findText())
	for _, n := range distinct(loads) {
		line("    %s = reinterpret_cast<char *>(reinterpret_cast<%s *>(shared) + at.own) - coalesced_offset() * (int)sizeof(%s);", n.copied, n.vector, n.elem)
		line("    %s_address = shared_address(%s);", n.copied, n.copied)
	}
	for _, n := range p.rings(h.prefetch) {
		line("    slot_%d = 0;", n)
	}
	line("    next = at.begin - %d;", p.lead)
	if !wrap {
		line("    next = max(next, 0);")
	}
	for v := range p.loads {
		if wrap {
			line("    plane_%d = %snext - %d, at.planes);", v, say.index, p.versions[v].lag)
		}
		line("    source_%d = %s + %s + %snext - %d, at.planes) * at.stride;", v, loads[v].array(p.given(p.versions[v].array)), either(p.versions[v].direct, "column", "(column - coalesced_offset())"), either(wrap, say.index, "clamp_index("), p.versions[v].lag)
	}
	for _, o := range p.stores {
		line("    written_%d = to.field[output_of(%d)] + column + at.begin * at.stride;", o.field, o.field)
	}
	for i, v := range p.versions {
		if v.held {
			line("    clear(v%d);", i)
		}
	}
	line("  }\n")
}

// ringsText is the functions that find planes in shared memory: of what is loaded, in so many bytes, and behind it the edge rows
// that stages leave.
func (p *plan) ringsText(b *strings.Builder, of stencil.Problem, h shape, loads []load, loaded int) {
	line := func(format string, args ...any) { fmt.Fprintf(b, format+"\n", args...) }
	for v, l := range loads {
		n := p.versions[v].ring(p.dims, h.prefetch)
		if n == 0 {
			continue
		}
		line("  // %s, %d planes", p.arrayName(p.versions[v].array), n)
		line("  __device__ __forceinline__ const %s *loaded_%d(int age) const { return %s; }", l.vector, v, l.plane(fmt.Sprintf("before<%d>(slot_%d, age)", n, n)))
	}
	given, at := 0, h.givenAt(of, loaded)
	behind := fmt.Sprintf("shared + %d", at)
	if kernels.OneType(of) && at == loaded {
		behind = fmt.Sprintf("reinterpret_cast<Vector *>(shared) + %d * LOADED", p.loadedPlanes(h.prefetch))
	}
	for v := p.loads; v < len(p.versions); v++ {
		if !p.versions[v].rows {
			continue
		}
		n := p.versions[v].ring(p.dims, 0)
		line("  __device__ __forceinline__ Shared *given_%d(int age) const { return reinterpret_cast<Shared *>(%s) + (%d + before<%d>(slot_%d, age)) * GIVEN; }", v, behind, given, n, n)
		given += n
	}
}

// advanceText is a plane step.
func (p *plan) advanceText(b *strings.Builder, of stencil.Problem, h shape, loads []load) {
	line := func(format string, args ...any) { fmt.Fprintf(b, format+"\n", args...) }
	line("  // Plane step t: the planes that are loaded move on by one, and every stage completes one.")
	line("  template <bool EDGE, bool ENDS%s>", either(len(p.acts) > 0, ", bool LISTED", ""))
	line("  __device__ __forceinline__ void advance(int t) {")
	line("    copies_wait<PREFETCH - 1>();\n    if ((COALESCED || SIDES > 0)%s) __syncwarp();", either(p.arrival < 0, " && SHARED_ROWS == 0", ""))
	switch {
	case p.arrival >= 0:
		line("    meeting.wait(); // for what others gave and copied in the plane step before")
	case p.sharesRows():
		line("    __syncthreads();")
	}
	line("    load(PREFETCH);")
	for i, v := range p.versions[:p.loads] {
		if v.held && !v.direct {
			line("    shift(v%d);\n    take(v%d[0], loaded_%d(0), at);", i, i, i)
		}
	}
	for _, s := range p.stores {
		if v := p.versions[s.version]; v.job < 0 {
			line("    {\n      Cells e;\n      take(e, loaded_%d(0), at);\n      store(e, written_%d, t - %d, at);\n    }", s.version, s.field, v.lag)
		}
	}
	for i := range p.jobs {
		p.jobText(b, h, kernels.OneType(of), i)
		if i == p.arrival {
			line("    meeting.arrive();")
		}
	}
	if slices.ContainsFunc(loads, load.late) {
		line("    put_late_copies(PREFETCH);")
	}
	if p.direct() > 0 {
		line("    load_own(t + 1);")
	}
	for _, n := range p.rings(h.prefetch) {
		line("    slot_%d = slot_%d + 1 < %d ? slot_%d + 1 : 0;", n, n, n, n)
	}
	line("  }\n")
}

// runText ends the struct with the loop over plane steps.
func (p *plan) runText(b *strings.Builder, loads []load) {
	line := func(format string, args ...any) { fmt.Fprintf(b, format+"\n", args...) }
	say := wordsOf(p.st)
	lo, hi := p.settled()
	line("  __device__ __forceinline__ void run() {")
	line("    int t = next;")
	if p.direct() > 0 {
		line("    load_own(t);")
	}
	if slices.ContainsFunc(loads, load.late) {
		line("#pragma unroll\n    for (int f = 0; f < PREFETCH; f++) {\n      load(f);\n      put_late_copies(f);\n    }")
	} else {
		line("#pragma unroll\n    for (int f = 0; f < PREFETCH; f++) load(f);")
	}
	if p.arrival >= 0 {
		line("    copies_wait<PREFETCH - 1>();\n    meeting.arrive();")
	}
	line("    const int last = at.end - 1 + %d;", p.lastLag)
	line("    while (t <= last) {")
	line("      // UNROLL plane steps at a time, while none of the stages is near the grid's first or last plane: then what")
	line("      // registers keep changes places by name, without moves.")
	line("      const bool settled = "+say.repeats+" || (t >= %d && t + UNROLL - 1 < at.planes + %d);", lo, hi)
	unlisted, listed := "", ""
	if len(p.acts) > 0 { // plane steps without them stand apart
		low, high := p.actLags()
		line("      const bool listed = entries.meet(t - %d, t + UNROLL - 1 - %d, at);", high, low)
		unlisted, listed = ", false", ", true"
	}
	line("      if (settled && t + UNROLL - 1 <= last%s) {", either(unlisted != "", " && !listed", ""))
	line("        if (EDGES_APART && at.edge) {")
	line("#pragma unroll\n          for (int u = 0; u < UNROLL; u++) advance<true, false%s>(t + u);", unlisted)
	line("        } else {")
	line("#pragma unroll\n          for (int u = 0; u < UNROLL; u++) advance<!EDGES_APART && " + say.edges + ", false" + unlisted + ">(t + u);")
	line("        }\n        t += UNROLL;")
	line("      } else {\n        advance<" + say.edges + ", " + say.ends + listed + ">(t++);\n      }")
	line("    }\n  }\n};")
}

// loadText is the functions that load planes: those that come by shared memory, and own cells.
func (p *plan) loadText(b *strings.Builder, problem stencil.Problem, h shape, loads []load) {
	line := func(format string, args ...any) { fmt.Fprintf(b, format+"\n", args...) }
	wrap := p.st.Wraps(p.dims - 1)
	onwards := func(v int, step string) { // the next plane of a version that is loaded, after that of a plane step
		if lag := p.versions[v].lag; wrap {
			line("      const bool end = plane_%d == at.planes - 1;", v)
			line("      source_%d += end ? -plane_%d * at.stride : at.stride;", v, v)
			line("      plane_%d = end ? 0 : plane_%d + 1;", v, v)
		} else {
			line("      if (%s >= %d && %s < at.planes - 1 + %d) source_%d += at.stride;", step, lag, step, lag, v)
		}
	}
	line("\n  // Asks for the next planes, of which the newest are those of `ahead` plane steps before.")
	line("  __device__ __forceinline__ void load(int ahead) {")
	for v, of := range loads {
		n := p.versions[v].ring(p.dims, h.prefetch)
		if n == 0 {
			continue
		}
		line("    {")
		if !of.lateParts || h.sided(p) && !of.lateSides {
			line("      int slot = slot_%d + ahead;", n)
			line("      if (slot >= %d) slot -= %d;", n, n)
			line("      const int to = %s;", of.at("slot"))
		}
		p.copiesText(b, h, func(number, place, from string) string {
			if h.turns(problem) {
				from += ", at.turns"
			}
			if of.lateParts {
				return fmt.Sprintf("load_late<PART_STRIDE>(late_%d[%s], source_%d + %s)", v, number, v, from)
			}
			place = "to + " + place + " * (int)sizeof(" + of.vector + ")"
			return fmt.Sprintf("copy_vector(%[1]s + %[2]s, %[1]s_address + %[2]s, source_%[3]d + %[4]s)", of.copied, place, v, from)
		}, func() string {
			if of.lateSides {
				return fmt.Sprintf("late_side_%d[k] = source_%d[at.side[k]]", v, v)
			}
			return fmt.Sprintf("copy_async<sizeof(%[1]s)>(%[2]s + to + %[3]s, %[2]s_address + to + %[3]s, source_%[4]d + at.side[k])", of.elem, of.copied, of.side(), v)
		})
		onwards(v, "next")
		line("    }")
	}
	line("    next++;\n    copies_end();")
	line("  }\n")
	if slices.ContainsFunc(loads, load.late) {
		p.putLateText(b, h, loads)
	}
	if p.direct() > 0 {
		line("  // Loads the own cells of plane step t of arrays that are read there alone.")
		line("  __device__ __forceinline__ void load_own(int t) {")
		for i, v := range p.versions[:p.loads] {
			if v.direct {
				line("    {\n      load_cells(v%d[0], source_%d, at);", i, i)
				onwards(i, "t")
				line("    }")
			}
		}
		line("  }\n")
	}
}

// copiesText is what is done for all that a thread copies of a plane: for its rows and the extra ones, by their numbers, how many
// vectors they lie from its first in shared memory and elements from its column in memory; and for its cells k of the sides.
func (p *plan) copiesText(b *strings.Builder, h shape, row func(number, place, from string) string, side func() string) {
	loop := func(times, condition, statement string) {
		if statement != "" {
			fmt.Fprintf(b, "#pragma unroll\n      for (int %s)%s %s;\n", times, condition, statement)
		}
	}
	loop("j = 0; j < ROWS; j++", "", row("j", "j * PITCH", "row_offset(at, j)"))
	if h.sided(p) {
		loop("k = 0; k < SIDE_EACH; k++", "\n        if (at.side_at[k] != 0)", side())
	}
	if low, high := p.extraRows(); low+high > 0 {
		loop("k = 0; k < EXTRA_EACH; k++", "\n        if (at.extra_at[k] != 0)", row("ROWS + k", "at.extra_at[k]", "at.extra[k]"))
	}
}

// words are how the text asks for boundary rules: by one name, or by axis.
type words struct {
	index, repeats string // a plane's index within the grid; whether planes repeat
	edges, ends    string // whether there are edges in a plane, and first and last planes
	x, y           string // a cell's coordinates
}

func wordsOf(st *stencil.Stencil) words {
	if st.Boundary != stencil.Mixed {
		return words{"boundary_index(", "BOUNDARY == WRAP", "BOUNDARY != WRAP", "BOUNDARY != WRAP", "within(at.x + i, at.nx)", "within(at.y + j, at.ny)"}
	}
	w := words{"boundary_index<DIMS - 1>(0, ", "wraps(DIMS - 1)", "true", "!wraps(DIMS - 1)", "at.x + i", "at.y + j"}
	if st.Wraps(0) {
		w.x = "within(at.x + i, at.nx)"
	}
	if st.Dims == 3 && st.Wraps(1) {
		w.y = "within(at.y + j, at.ny)"
	}
	if st.Wraps(0) && (st.Dims < 3 || st.Wraps(1)) {
		w.edges = "false"
	}
	return w
}

// nearFixed is the condition that a cell of a field keeps its value near sides where its rule is fixed; "" if none does.
func (p *plan) nearFixed(stage *stencil.Stage, field int) string {
	at := [3]string{"at.x + i", "at.y + j", "plane"}
	n := [3]string{"at.nx", "at.ny", "at.planes"}
	if p.dims == 2 {
		at[1], n[1] = "plane", "at.planes"
	}
	var list []string
	for axis := range p.dims {
		sides := p.st.Fields[field].Rules[axis]
		if sides[0].Boundary == stencil.Fixed {
			list = append(list, fmt.Sprintf("%s < %d", at[axis], stage.Low[axis]))
		}
		if sides[1].Boundary == stencil.Fixed {
			list = append(list, fmt.Sprintf("%s >= %s - %d", at[axis], n[axis], stage.High[axis]))
		}
	}
	return strings.Join(list, " || ")
}

// settled is the plane steps in which no job needs a plane beyond the grid or holds one: from low on, and while
// they are less than the planes and high.
func (p *plan) settled() (low, high int) {
	first := true
	for _, j := range p.jobs {
		l, h := 0, 0
		for _, r := range j.reads {
			l, h = max(l, r.low), max(h, r.high)
		}
		stage, axis := &p.st.Stages[j.stage], p.dims-1
		if holds := func(f int) bool { return p.st.Fields[f].Has(stencil.Fixed) }; !stage.Hidden && slices.ContainsFunc(stage.Outputs, holds) {
			l, h = max(l, stage.Low[axis]), max(h, stage.High[axis]) // by what the whole stage reads, be it for other outputs
		}
		low = max(low, j.lag+l)
		if p.dims > 1 {
			h = max(h, p.st.Asks(j.stage)[axis])
		}
		if first || j.lag-h < high {
			high = j.lag - h
		}
		first = false
	}
	return low, high
}

// rings are the different numbers of planes that rings have.
func (p *plan) rings(prefetch int) (list []int) {
	for _, v := range p.versions {
		if v.job < 0 && !v.direct || v.rows {
			list = append(list, v.ring(p.dims, prefetch))
		}
	}
	slices.Sort(list)
	return slices.Compact(list)
}

// given is an array as a launch is given it: without hidden fields before it.
func (p *plan) given(array int) int {
	if array < p.fields {
		return array
	}
	return array - (len(p.st.Fields) - p.fields)
}

// ruled is an array whose boundary rules hold of an array: of a hidden value that is read like any other stage's all have the same.
func (p *plan) ruled(array int) int {
	if array >= p.fields && array < len(p.st.Fields) {
		return 0
	}
	return p.given(array)
}

func (p *plan) arrayName(a int) string {
	name := ""
	switch {
	case a < p.fields:
		name = p.st.Fields[a].Name
	case a < len(p.st.Fields):
		return fmt.Sprintf("hidden value %d", a-p.fields)
	default:
		name = p.st.ReadOnly[a-len(p.st.Fields)].Name
	}
	if name == "" {
		return "the field"
	}
	return fmt.Sprintf("array %d", p.given(a))
}

// valued tells whether what lies outside the grid has values that rows do not hold.
func valued(st *stencil.Stencil) bool { return kernels.Valued(st) && st.Boundary != stencil.Constant }

// outside is the text that gives it those.
func outside(st *stencil.Stencil) []kernels.Piece {
	if !valued(st) {
		return nil
	}
	return []kernels.Piece{kernels.OutsidePiece()}
}

// jobText is one job of a plane step; one says that all arrays are of one type.
func (p *plan) jobText(b *strings.Builder, h shape, one bool, i int) {
	st, say := p.st, wordsOf(p.st)
	line := func(format string, args ...any) { fmt.Fprintf(b, format+"\n", args...) }
	j := &p.jobs[i]
	stage := &st.Stages[j.stage]
	if j.barrier || j.endBarrier {
		line("    %s__syncthreads();", either(j.endBarrier, "if (ENDS) ", ""))
	}
	line("    { // time step %d, stage %d", j.step, j.stage)
	line("      const int plane = t - %d, here = %s ? %splane, at.planes) : plane, iteration = at.grid.iteration + %d;", j.lag, say.repeats, say.index, j.step)
	var cases strings.Builder
	n := 0
	for _, r := range j.reads {
		v := &p.versions[r.version]
		zero := p.age(*j, r, 0)
		row, at := "j + dy", "dz"
		switch p.dims {
		case 1:
			row, at = "j", "0"
		case 2:
			row, at = "j", "dy"
		}
		if v.hidden {
			q := p.jobs[v.job]
			for _, plane := range r.planes {
				fmt.Fprintf(&cases, "        if (array == %d && %s == %d) return v%d[%d].at[%d + %s][%d + i + dx];\n", r.array, at, plane.dz, r.version, zero-plane.dz, q.lowR, row, q.lowX)
			}
			continue
		}
		for _, q := range r.planes {
			q = j.around(q)
			lx, hx := q.lowX, q.highX
			line("      Around<%d, %d, %d, %d> n%d; // array %d, %+d", lx, hx, q.lowR, q.highR, n, p.given(r.array), q.dz)
			depth := v.depth
			age := fmt.Sprintf("age_of<%d, ENDS>(%d, %d, plane, %d, at)", p.ruled(r.array), zero, q.dz, depth)
			line("      {\n        const int age = %s;", age)
			if v.held {
				line("        own(n%d, v%d, age);", n, r.version)
			} else {
				line("        own(n%d, loaded_%d(age), at);", n, r.version)
			}
			// Rows of other warps: not those of planes beyond the grid, which nobody uses, where others may be giving or copying theirs.
			rows := fmt.Sprintf("age_of<%d, ENDS>(%d, %d, plane, %d, at)", p.ruled(r.array), zero, q.dz, v.oldest+1)
			if q.lowR+q.highR > 0 && (v.job >= 0 || p.arrival >= 0) && !p.newestRows(*j, r, true) {
				rows = "max(" + rows + ", 1)"
			}
			switch {
			case q.lowR+q.highR == 0:
			case v.job < 0:
				line("        others<%d, true>(n%d, loaded_%d(%s), at);", p.ruled(r.array), n, r.version, rows)
			default:
				line("        others<%d, false>(n%d, given_%d(%s), at);", p.ruled(r.array), n, r.version, rows)
			}
			loaded, is := "nullptr", "false"
			if !one {
				loaded = "(const VectorOf<T> *)nullptr"
			}
			if v.job < 0 && !v.direct && h.sided(p) {
				loaded, is = fmt.Sprintf("loaded_%d(%s)", r.version, rows), "true"
			}
			line("        beyond<%d, EDGE, ENDS, %d, %d, %d, %d, %s>(n%d, %s, plane + %d, at);", p.ruled(r.array), q.lowX, q.highX, q.otherLow, q.otherHigh, is, n, loaded, q.dz)
			if r.array < p.fields && valued(st) {
				dz := fmt.Sprint(q.dz)
				if below, above := hiddenPlanes(st, j.stage); below+above > 0 { // it is completed so many planes outside: they read from there on
					dz = fmt.Sprintf("plane + %d < 0 ? %d : %d", q.dz, q.dz-below, q.dz+above)
				}
				line("        if (EDGE || ENDS) outside<ENDS, %s>(n%d.at, %d, %d, %d, plane + %d, %s, iteration, at);", is, n, q.lowR, lx, p.given(r.array), q.dz, dz)
			}
			line("      }")
			fmt.Fprintf(&cases, "        if (array == %d && %s == %d) return n%d.at[%d + %s][%d + i + dx];\n", r.array, at, q.dz, n, q.lowR, row, lx)
			n++
		}
	}
	for o, v := range j.outputs {
		if p.versions[v].job == i && p.versions[v].output == o {
			line("      shift(v%d);", v)
		}
	}
	line("#pragma unroll\n      for (int j = %d; j < ROWS + %d; j++)\n#pragma unroll\n        for (int i = %d; i < VECTOR + %d; i++) {", -j.lowR, j.highR, -j.lowX, j.highX)
	line("      const auto old = [&](int array, int dx, int dy, int dz) -> Real {\n%s        return Real(0);\n      };", cases.String())
	position := say.x + ", " + say.y + ", here"
	switch p.dims {
	case 1:
		position = say.x + ", 0, 0"
	case 2:
		position = say.x + ", here, 0"
	}
	line("      const auto value = part_%d::cell<false%s>(at.grid, %s, iteration, old);", j.stage, either(st.HasEnds(), ", (EDGE || ENDS)", ""), position)
	for o, v := range j.outputs {
		if p.versions[v].job != i || p.versions[v].output != o {
			continue
		}
		if p.versions[v].hidden {
			line("      v%d[0].at[%d + j][%d + i] = value.at[%d];", v, j.lowR, j.lowX, o)
		} else if near := p.nearFixed(stage, stage.Outputs[o]); near != "" && st.Boundary == stencil.Mixed {
			line("      v%d[0][j][i] = (EDGE || ENDS) && (%s) ? old(%d, 0, 0, 0) : Real(value.at[%d]);", v, near, stage.Outputs[o], o)
		} else if st.Boundary == stencil.Fixed && !stage.Hidden {
			r := func(a [3]int) (x, rows, planes int) { return kernels.StreamingAxes(p.dims, stencil.Offset(a)) }
			lx, lr, ls := r(stage.Low)
			hx, hr, hs := r(stage.High)
			line("      v%d[0][j][i] = (EDGE || ENDS) && held<%d, %d, %d, %d, %d, %d, EDGE, ENDS>(j, i, plane, at) ? old(%d, 0, 0, 0) : Real(value.at[%d]);", v, lx, hx, lr, hr, ls, hs, stage.Outputs[o], o)
		} else {
			line("      v%d[0][j][i] = value.at[%d];", v, o)
		}
	}
	line("        }")
	p.actsText(line, i)
	for o, v := range j.outputs {
		if p.versions[v].job != i || p.versions[v].output != o {
			continue
		}
		if p.versions[v].rows {
			line("      give(v%d[0], at, given_%d(0));", v, v)
		}
		for _, s := range p.stores {
			if s.version == v {
				line("      store(v%d[0], written_%d, plane, at);", v, s.field)
			}
		}
	}
	if p.folds == i {
		p.foldText(line)
	}
	line("    }")
}

// own is where the tile's own cells lie on x, and owns whether cell i of a thread is one: parts that are stored through shared memory, in
// one and two dimensions, are not those of the thread's own cells.
func own(st *stencil.Stencil) string {
	return "const Window own = " + either(st.Boundary == stencil.Mixed, "window<0>", "window") + "(WARPS == 1 ? blockIdx.x : blockIdx.x * WARPS + threadIdx.y, at.nx, TILE_X, STEP_X, HALO_LX, UNIT);"
}

const owns = "(PART == VECTOR || (COALESCED_STORES ? at.x + i >= own.first && at.x + i < own.last : at.parts >> (i - i % PART) & 1))"

// foldText folds the cells that a job stores, for the scalars of the next step.
func (p *plan) foldText(line func(format string, args ...any)) {
	values := make([]string, len(p.stores))
	for i, s := range p.stores { // they are the outputs, in their order
		values[i] = "T(0)" // of another job, and not asked for
		if p.versions[s.version].job == p.folds {
			values[i] = fmt.Sprintf("T(v%d[0][j][i])", s.version)
		}
	}
	place := "at.x + i, at.y + j, plane"
	switch p.dims {
	case 1:
		place = "at.x + i, 0, 0"
	case 2:
		place = "at.x + i, plane, 0"
	}
	line("      if (plane >= at.begin && plane < at.end) {\n        %s", own(p.st))
	line("#pragma unroll\n        for (int j = 0; j < ROWS; j++) {\n          if (!(at.writes >> j & 1)) continue;")
	line("#pragma unroll\n          for (int i = 0; i < VECTOR; i++) {\n            if (!%s) continue;", owns)
	line("            const T now[OUTPUTS] = {%s};\n            out.count(at.grid, %s, now);\n          }\n        }\n      }", strings.Join(values, ", "), place)
}

func either(is bool, a, b string) string {
	if is {
		return a
	}
	return b
}
