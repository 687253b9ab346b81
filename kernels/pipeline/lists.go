package pipeline

import (
	"fmt"
	"slices"
	"strings"

	"stenciltune/kernels"
	"stenciltune/stencil"
)

// act is what a list of places does after a time step, in a launch of several: in the plane step in which a job leaves the
// fields that it finds, before anything reads them.
type act struct {
	list    *stencil.Sparse
	number  int // of the list
	job     int
	field   int   // version that sources change; -1 of receivers
	fields  []int // that its function reads
	current []int // and the version of each field after the step
}

// list adds what all lists do after a time step, in their order, or says why they cannot.
func (p *plan) list(st *stencil.Stencil, step int, current []int) {
	for i := range st.Sparse {
		a := act{list: &st.Sparse[i], number: i, job: -1, field: -1, current: slices.Clone(current[:len(st.Fields)])}
		for f, version := range current[:len(st.Fields)] {
			if version < 0 && len(a.list.Points[f]) > 0 {
				p.unlisted = fmt.Sprintf("%s reads a field that no stage reads or sets", a.list.Name)
				return
			}
		}
		if a.list.Sources() {
			a.field = current[a.list.Field]
			a.job = p.versions[a.field].job
		}
		if slices.ContainsFunc(a.list.Points, offCell) {
			p.unlisted = fmt.Sprintf("receivers %s read neighbours, which other threads leave later", a.list.Name)
			if short := lacking(st, a.list.Points); short != "" {
				p.unlisted = fmt.Sprintf("where %s is short and has no cell, receivers %s read the one beside, which other threads leave later (by a rule constant they read none)", short, a.list.Name)
			}
			return
		}
		for f := range st.Fields {
			if len(a.list.Points[f]) == 0 {
				continue
			}
			a.fields = append(a.fields, f)
			job := p.versions[current[f]].job
			if a.job < 0 {
				a.job = job
			}
			if job != a.job {
				p.unlisted = fmt.Sprintf("%s reads fields that different stages leave", a.list.Name)
				return
			}
		}
		if a.job < 0 || p.jobs[a.job].step != step {
			p.unlisted = fmt.Sprintf("%s reads no field that the step sets, but as it was before", a.list.Name)
			return
		}
		for _, j := range p.jobs {
			if j.step == step && a.field >= 0 && slices.ContainsFunc(j.reads, func(r read) bool { return r.version == a.field }) {
				p.unlisted = fmt.Sprintf("a later stage of the step reads what sources %s change after it", a.list.Name)
				return
			}
		}
		p.acts = append(p.acts, a)
	}
}

// reachOfSources has what sources find after a job be right wherever what they change is needed.
func (p *plan) reachOfSources(job int) {
	for _, a := range slices.Backward(p.acts) {
		if a.job != job || a.field < 0 {
			continue
		}
		of := p.versions[a.field]
		for _, f := range a.fields {
			v := &p.versions[a.current[f]]
			for axis := range 3 {
				v.low[axis], v.high[axis] = max(v.low[axis], of.low[axis]), max(v.high[axis], of.high[axis])
			}
		}
	}
}

// offCell tells whether one of the points is not the own cell.
func offCell(points []stencil.Offset) bool {
	return slices.ContainsFunc(points, func(o stencil.Offset) bool { return o != stencil.Offset{} })
}

// lacking names an array of which other cells are read only in the place of those that it lacks, being short; "" if there is none, or if
// others are read besides.
func lacking(st *stencil.Stencil, points [][]stencil.Offset) (name string) {
	for i, a := range slices.Concat(st.Fields, st.ReadOnly) {
		for _, o := range points[i] {
			for axis, away := range o {
				if away != 0 && !(away == -1 && a.Short[axis]) {
					return ""
				}
			}
		}
		if name == "" && offCell(points[i]) {
			name = a.Name
		}
	}
	return name
}

// actLags is the least and the most lag of a job after which a list acts.
func (p *plan) actLags() (low, high int) {
	for i, a := range p.acts {
		lag := p.jobs[a.job].lag
		if i == 0 {
			low = lag
		}
		low, high = min(low, lag), max(high, lag)
	}
	return low, high
}

// places is the text that finds a block's places, if lists act.
func (p *plan) places() []kernels.Piece {
	if len(p.acts) == 0 {
		return nil
	}
	lists := p.acts[len(p.acts)-1].number + 1
	return []kernels.Piece{{Text: fmt.Sprintf("constexpr int LISTS = %d; // of sources and receivers\n", lists)}, {File: folder + "places.cu", Text: placesSource}}
}

// findText begins a block's entries: those in its tile, in all planes of which it completes a step.
func (p *plan) findText() string {
	if len(p.acts) == 0 {
		return ""
	}
	low, high := p.actLags()
	return fmt.Sprintf(", entries(find_entries(place, place.begin - %d, place.end + %d))", p.lead+high, p.lastLag-low)
}

// actsText is what lists do after a job.
func (p *plan) actsText(line func(format string, args ...any), job int) {
	say := wordsOf(p.st)
	position, match := say.x+", "+say.y+", here", say.x+" == x && "+say.y+" == y"
	switch p.dims {
	case 1:
		position, match = say.x+", 0, 0", say.x+" == x"
	case 2:
		position, match = say.x+", here, 0", say.x+" == x"
	}
	const cells = "#pragma unroll\n          for (int j = 0; j < ROWS; j++)\n#pragma unroll\n            for (int i = 0; i < VECTOR; i++)\n              "
	for _, a := range p.acts {
		if a.job != job {
			continue
		}
		position := strings.NewReplacer(say.x, "x", say.y, "y").Replace(position)
		var held strings.Builder
		for _, f := range a.fields {
			fmt.Fprintf(&held, "held[%d] = T(v%d[0][j][i]), ", f, a.current[f])
		}
		when, here := "", ""
		if a.field < 0 { // the one that writes the cell records it
			when = " && plane >= at.begin && plane < at.end"
			here = " && (at.writes >> j & 1) && " + owns
		}
		line("      if constexpr (LISTED)")
		line("        if (iteration <= at.grid.rows[%d]%s) each_entry(entries, %[1]d, here, at, [&](long long n, int x, int y) { // after the stage", a.number, when)
		line("          T held[FIELDS];\n          bool mine = false;%s", either(a.field < 0, "\n          "+own(p.st), ""))
		line("%sif (%s%s) %smine = true;", cells, match, here, held.String())
		line("          if (!mine) return;")
		line("          T *const element = at.grid.table[%d] + (iteration - 1LL) * at.grid.places[%[1]d] + n;", a.number)
		value := fmt.Sprintf("T(list_%d::value(at.grid, %s, iteration, held, %s))", a.number, position, either(a.field < 0, "T(0)", "*element"))
		if a.field < 0 {
			line("          *element = %s;", value)
		} else {
			line("          const Real now = %s;", value)
			line("%sif (%s) v%d[0][j][i] = now;", cells, match, a.field)
		}
		line("        });")
	}
}
