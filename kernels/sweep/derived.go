package sweep

import (
	"fmt"
	"regexp"
	"slices"
	"strings"

	"stenciltune/stencil"
)

// placed finds what only a cell function at a place knows.
var placed = regexp.MustCompile(`\b(p[xyz]|n[xyz]|s_\d+|iteration|of_step|read_\d+)\b`)

// derive takes the values that several points of the cell function are computed of alike, cell by cell,
// for arrays of their own, if there are fewer sums then: products of an array's neighbours and another's are single points else.
func (p *stage) derive(st *stencil.Stencil) {
	h := st.Hoisted(stencil.Shared)
	if h == nil || st.DType.Size() < 4 {
		return
	}
	begin, last := stageOf(h, p.number)
	if begin == last {
		return
	}
	parts := h.Split(last, 1)
	if len(parts.Sums) == 0 || len(parts.Sums) >= len(p.parts.Sums) {
		return
	}
	hidden := len(h.Fields) - len(st.Fields)
	var values []derived
	for i := begin; i < last; i++ {
		for o, field := range h.Stages[i].Outputs {
			d, ok := newDerived(h, i, o, hidden)
			if !ok || parts.ReadsOwn(h, field) {
				return
			}
			values = append(values, d)
		}
	}
	p.parts, p.derived = parts, values
	for i, weights := range parts.Sums { // read-only arrays come after the hidden fields there
		sums := map[stencil.Point]float64{}
		for at, w := range weights {
			if at.Array >= len(h.Fields) {
				at.Array -= hidden
			} else if at.Array >= len(st.Fields) {
				at.Array = -1 - at.Array
			}
			sums[at] = w
		}
		p.parts.Sums[i] = sums
	}
}

// stageOf finds the hidden stages of a stage, and itself.
func stageOf(h *stencil.Stencil, number int) (begin, last int) {
	for i := range h.Stages {
		switch {
		case h.Stages[i].Hidden:
		case number == 0:
			return begin, i
		default:
			number--
			begin = i + 1
		}
	}
	panic("sweep: no such stage")
}

// newDerived is an output of a hidden stage that reads arrays at one cell alone.
func newDerived(h *stencil.Stencil, stage, output, hidden int) (d derived, ok bool) {
	one := *h
	st := h.Stages[stage]
	field := st.Outputs[output]
	st.Outputs, st.Body = []int{field}, h.OutputBody(stage, output)
	one.Stages = []stencil.Stage{st}
	d = derived{swept: swept{array: -1 - field}, text: stencil.StageCode(&one, 0), ops: float64(one.Operations(0, [3]int{1, 1, 1}).Total())}
	for a, points := range h.OutputPoints(stage, output) {
		if len(points) == 0 {
			continue
		}
		if len(points) > 1 || points[0] != (stencil.Offset{}) || a < len(h.Fields) && a >= len(h.Fields)-hidden {
			return d, false
		}
		name := fmt.Sprintf("get_%d", a)
		if a >= len(h.Fields) {
			name, a = fmt.Sprintf("ro_%d", a-len(h.Fields)), a-hidden
		}
		d.names, d.of = append(d.names, name), append(d.of, a)
	}
	return d, len(d.of) > 0 && !placed.MatchString(d.text)
}

// reach widens what is known of an array, or of a value and the arrays that it is derived from, by a point.
func (p *stage) reach(at stencil.Point) {
	if at.Array < 0 {
		i := slices.IndexFunc(p.derived, func(d derived) bool { return d.array == at.Array })
		p.derived[i].widen(at.At)
		for _, a := range p.derived[i].of {
			p.reach(stencil.Point{Array: a, At: at.At})
		}
		return
	}
	i := p.place(at.Array)
	if i < 0 {
		p.swept = append(p.swept, swept{array: at.Array})
		i = len(p.swept) - 1
	}
	p.swept[i].widen(at.At)
}

// widen makes it reach as far as a point.
func (s *swept) widen(at stencil.Offset) {
	for a := range 2 {
		s.low[a], s.high[a] = max(s.low[a], -at[a]), max(s.high[a], at[a])
	}
	s.diagonal = s.diagonal || at[0] != 0 && at[1] != 0
}

// values are what is added up: the arrays, then what is derived from them.
func (p *stage) values() []swept {
	list := slices.Clone(p.swept)
	for _, d := range p.derived {
		list = append(list, d.swept)
	}
	return list
}

// derivedText is values, which gives a vector of what is added up.
func (p *stage) derivedText(one bool) string {
	var b strings.Builder
	line := func(format string, args ...any) { fmt.Fprintf(&b, format+"\n", args...) }
	line("// A vector of value K, so far from the thread's first cell: of an array's plane in shared memory, or derived from several.")
	ring := "Ring"
	if one {
		ring = "T"
	}
	line("template <int K> __device__ __forceinline__ Vector values(const %s *slabs, int column, int row) {", ring)
	for i, d := range p.derived {
		line("  if constexpr (K == %d) {\n    Vector v;", len(p.swept)+i)
		for n, a := range d.of {
			line("    const Vector v%d = read_vector<%d>(slabs, column, row);", n, p.place(a))
		}
		line("#pragma unroll\n    for (int i = 0; i < VECTOR; i++) {")
		for n, name := range d.names {
			line("      const auto %s = [&](int, int, int) -> T { return v%d.at[i]; };", name, n)
		}
		line("      v.at[i] = [&]() -> T {")
		for text := range strings.Lines(d.text) {
			b.WriteString("      " + text)
		}
		line("      }();\n    }\n    return v;\n  } else")
	}
	line("    return read_vector<K>(slabs, column, row);\n}\n")
	return b.String()
}
