package stream

import (
	"fmt"
	"strings"
	"sync"

	"stenciltune/stencil"
)

// stages is how a stencil's stages work: with sums, if its cell function is a
// weighted sum of points, else with the values of the planes.
type stages struct {
	dims     int
	linear   bool
	weights  weights
	late     bool // a plane completes only once other warps have given rows of the newest
	diagonal bool // rows other than the own are read beside the own column
	ring     int  // planes whose edge rows are kept
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

func analyse(st *stencil.Stencil) stages {
	if w, ok := weightsOf(st); ok {
		return stages{dims: st.Dims, linear: true, weights: w, late: w.late(), diagonal: w.diagonal(), ring: 2}
	}
	r := reachOf(st)
	first, last, rows := 0, 0, false // planes with points off the own row, and the own plane
	for _, o := range st.Points {
		if _, dy, dz := axes(st.Dims, o); dy != 0 {
			first, last, rows = min(first, dz), max(last, dz), true
		}
	}
	if !rows {
		first = r.highS
	}
	s := stages{dims: st.Dims, late: rows && last == r.highS}
	s.ring = r.highS - first + 1
	if s.late {
		s.ring++
	}
	return s
}

// source is the text of the stages.
func (s stages) source(st *stencil.Stencil) string {
	if s.linear {
		return strings.Replace(sumsSource, "@WEIGHTS@\n", s.weights.text(), 1)
	}
	return planesText(st) + valuesSource
}

// planesText says which neighbours the points of each plane need.
func planesText(st *stencil.Stencil) string {
	type need struct {
		low, high int
		rows      bool
	}
	planes := map[int]need{}
	r := reachOf(st)
	for _, o := range st.Points {
		dx, dy, dz := axes(st.Dims, o)
		n := planes[dz]
		planes[dz] = need{max(n.low, -dx), max(n.high, dx), n.rows || dy != 0}
	}
	var b strings.Builder
	function := func(head, otherwise string, value func(need) string) {
		fmt.Fprintf(&b, "__device__ __forceinline__ %s(int dz) {\n", head)
		for dz := -r.lowS; dz <= r.highS; dz++ {
			if v := value(planes[dz]); v != otherwise {
				fmt.Fprintf(&b, "  if (dz == %d) return %s;\n", dz, v)
			}
		}
		fmt.Fprintf(&b, "  return %s;\n}\n\n", otherwise)
	}
	b.WriteString("// Which neighbours are read in the plane dz away: cells beside the own, other rows.\n")
	function("int plane_low_x", "0", func(n need) string { return fmt.Sprint(n.low) })
	function("int plane_high_x", "0", func(n need) string { return fmt.Sprint(n.high) })
	function("bool plane_has_rows", "false", func(n need) string { return fmt.Sprint(n.rows) })
	return b.String()
}

// perStage is the planes whose cells a stage keeps from round to round.
func (s stages) perStage(r reach) int {
	n := r.lowS + r.highS
	if s.late {
		n++
	}
	return n
}

// skew is the planes by which a stage lags behind the one before.
func (s stages) skew(r reach) int {
	if s.late {
		return r.highS + 1
	}
	return r.highS
}
