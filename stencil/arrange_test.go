package stencil

import (
	"math"
	"math/rand/v2"
	"strings"
	"testing"
)

// arrangedText is a function as it is printed.
func arrangedText(s *Stencil, body []Stmt) string {
	t := *s
	t.Stages = []Stage{{Body: body}}
	return strings.Join(strings.Fields(CellSource(&t)), " ")
}

func TestArrangedFunctionsHaveFewerOperations(t *testing.T) {
	for _, c := range []struct {
		head, cell, want  string
		before, operation int
	}{
		{"", "return 0.4 * get(0) + 0.1 * (get(-1) + get(1)) + 0.01 * get(0) * (1 - get(0));",
			"T v0 = T(0.1) * (get(-1, 0, 0) + get(1, 0, 0)); return v0 + get(0, 0, 0) * (T(-0.01) * get(0, 0, 0) + T(0.41000000000000003));", 6, 4},
		{"", "return (3 * get(-1) + 3 * get(1) - 3 * get(0)) / 9;", "T v0 = T(0.3333333333333333) * (get(-1, 0, 0) + get(1, 0, 0) - get(0, 0, 0)); return v0;", 4, 3},
		{"", "return get(-1) - 2 * get(0) + get(1) + 2 * get(0);", "T v0 = get(-1, 0, 0) + get(1, 0, 0); return v0;", 3, 1},
		{"", "return 0.5 * (get(-1) + get(1));", "T v0 = T(0.5) * (get(-1, 0, 0) + get(1, 0, 0)); return v0;", 2, 2},
		{"", "float d = get(1) - get(0); return get(0) + d * d;", "T v1 = get(1, 0, 0) - get(0, 0, 0); return get(0, 0, 0) + v1 * v1;", 2, 2},
	} {
		s := mustParse(t, line(c.cell)+" "+c.head)
		all := s.arrange(0)
		if got := arrangedText(s, all); got != c.want {
			t.Errorf("%s:\n%s, want\n%s", c.cell, got, c.want)
		}
		if a, b := operations(s.Stages[0].Body), operations(all); a != c.before || b != c.operation {
			t.Errorf("%s: %d operations, %d arranged; want %d, %d", c.cell, a, b, c.before, c.operation)
		}
		if taken := arrangedText(s, s.arranged(0)); (taken == c.want) != (c.operation < c.before-1) {
			t.Errorf("%s: takes %s", c.cell, taken)
		}
	}
	if s := mustParse(t, line("if (x == 0) return get(0); return get(-1) - 2 * get(0) + get(1) + 2 * get(0);")); s.arrange(0) != nil {
		t.Error("a function that branches is arranged")
	}
}

// Arranged functions are what they were, up to rounding.
func TestArrangedFunctionsGiveTheSameAnswer(t *testing.T) {
	const seed = 20261124
	t.Logf("seed %d", seed)
	r := rand.New(rand.NewPCG(seed, 1))
	tried := 0
	same := func(s *Stencil, stage int, size Size) {
		body := s.arrange(stage)
		if body == nil {
			return
		}
		tried++
		p := Problem{Stencil: s, DType: Float64, Size: size}
		in := Fill(uint32(tried), int64(len(s.Fields)+len(s.ReadOnly))*size.Cells())
		for i := range in {
			in[i] = 0.5 + 0.4*in[i] // no quotient by nearly nothing
		}
		want := Reference(p, in, 1)
		other := *s
		other.Stages = append([]Stage(nil), s.Stages...)
		other.Stages[stage].Body = body
		p.Stencil = &other
		for k, got := range Reference(p, in, 1) {
			if diff := math.Abs(got - want[k]); diff > 1e-9*max(1, math.Abs(want[k])) && !(math.IsNaN(got) && math.IsNaN(want[k])) {
				t.Fatalf("%s, stage %d, value %d: %v, want %v\n%s", s.Name, stage, k, got, want[k], arrangedText(s, body))
			}
		}
	}
	for range 600 {
		src := "NumDimensions 2 StencilSize (2, 1) Fields (u, v) ReadOnly (a) ScalarVariables (float s = 0.75) CellValue { " + randomCell(r) + " }"
		if s, err := Parse("random", "random.sl", src); err == nil {
			same(s, 0, Size{6, 5, 1})
		}
	}
	for _, name := range Names() {
		s := lookup(t, name)
		size := Size{20, 1, 1}
		for d := range s.Dims {
			size[d] = 20 - 4*d
		}
		for i := range s.Stages {
			if s.DType.Floating() {
				same(s, i, size)
			}
		}
	}
	if tried < 150 {
		t.Errorf("only %d tried", tried)
	}
}
