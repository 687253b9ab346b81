package stencil

import (
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"
)

func TestBoundaryRulesAreSaidByAxisSideAndField(t *testing.T) {
	const line, one, two = "NumDimensions 1 StencilSize (1) Fields (u, v) CellValue { return get(v, -1), get(u, 1); } ",
		"NumDimensions 2 StencilSize (1, 1) CellValue { return get(-1, 0) + get(0, 1); } ",
		"NumDimensions 2 StencilSize (1, 1) Fields (u, v) ReadOnly (k) CellValue { return get(v, -1, 0) + get(k, 0, 1), get(u, 0, 1); } "
	for _, c := range []struct{ src, want string }{
		{one, "clamp"},
		{line + "Boundary x (fixed, clamp)", "x (fixed, clamp)"},
		{line + "Boundary mirror Boundary v x (constant 1, fixed)", "mirror, v x (constant 1, fixed)"},
		{line + "Boundary v fixed", "clamp, v fixed"},
		{one + "Boundary (wrap, wrap)", "wrap"},
		{one + "Boundary x mirror Boundary y mirror", "mirror"},
		{one + "EdgeValue x { return 1; } EdgeValue y { return 1; }", "edge"},
		{one + "Boundary (wrap, constant 0)", "(wrap, constant 0)"},
		{one + "Boundary x (fixed, clamp)", "((fixed, clamp), clamp)"},
		{one + "Boundary constant -1.5 Boundary y (mirror, fixed)", "(constant -1.5, (mirror, fixed))"},
		{one + "Boundary x (fixed, clamp) Boundary mirror", "((fixed, clamp), mirror)"},
		{one + "Boundary mirror EdgeValue y high { return value; }", "(mirror, (mirror, EdgeValue))"},
		{two + "Boundary v mirror", "(clamp, clamp), v (mirror, mirror)"},
		{two + "Boundary mirror Boundary v x (constant 1, fixed)", "(mirror, mirror), v ((constant 1, fixed), mirror)"},
		{two + "Boundary (wrap, fixed) Boundary v y clamp", "(wrap, fixed), v (wrap, clamp)"},
		{two + "Boundary k mirror", "(clamp, clamp), k (mirror, mirror)"},
		{two + "EdgeValue v { return 2 * value; }", "(clamp, clamp), v (EdgeValue, EdgeValue)"},
		{two + "EdgeValue v { return 2 * value; } Boundary u mirror", "(mirror, mirror), v (EdgeValue, EdgeValue), k (clamp, clamp)"},
	} {
		s := mustParse(t, c.src)
		if got := s.Outside(); got != c.want {
			t.Errorf("%s:\n got %s\nwant %s", c.src, got, c.want)
		}
		if s.Boundary != Mixed || strings.Contains(c.want, "EdgeValue") {
			continue
		}
		again, _, _ := strings.Cut(c.src, "} ")
		again += "} Boundary " + strings.NewReplacer(", v", " Boundary v", ", k", " Boundary k").Replace(c.want)
		if b := mustParse(t, again); b.Hash != s.Hash || b.Outside() != c.want {
			t.Errorf("%s:\nread back %s", again, b.Outside())
		}
	}
	same := mustParse(t, one+"Boundary (clamp, clamp)")
	if plain := mustParse(t, one); same.Hash != plain.Hash {
		t.Error("one rule has two hashes")
	}
}

func TestFaultsOfBoundaryRulesAreShownWhereTheyStand(t *testing.T) {
	const head = "NumDimensions 2 StencilSize (1, 1) Fields (u, v) ReadOnly (k) CellValue { return get(v, -1, 0) + get(k, 0, 1), get(u, 0, 1); }\n"
	for tail, want := range map[string]string{
		"Boundary (wrap, clamp, clamp)":                  "2:10: 3 rules, NumDimensions says 2: give one for each axis",
		"Boundary z clamp":                               "2:10: there is no axis z: NumDimensions is 2",
		"Boundary x (clamp)":                             "2:12: want the rules of the low and of the high side: (fixed, clamp)",
		"Boundary x (clamp, clamp, clamp)":               "2:12: an axis has a low and a high side: (fixed, clamp)",
		"Boundary w mirror":                              `2:10: want the name of a field or a read-only array here, found "w"`,
		"Boundary x (wrap, clamp)":                       "2:10: axis x wraps on both sides and for all arrays, or not at all: u has another rule there",
		"Boundary (wrap, clamp) Boundary v mirror":       "2:10: axis x wraps on both sides and for all arrays, or not at all: v has another rule there",
		"Boundary wrap Boundary mirror":                  "2:24: Boundary is given twice; remove one, or say of which axis (Boundary x wrap) or field each is",
		"Boundary x clamp EdgeValue x { return value; }": "2:18: Boundary and EdgeValue both say what lies outside; remove one",
		"Boundary k x fixed":                             "2:14: a read-only array's rule is clamp, mirror or wrap: beyond its edge it is a cell of its own",
		"Boundary u fixd":                                `2:10: unknown boundary "u"; use clamp, mirror, wrap, constant with a number, or fixed`,
		"Boundary x fixd":                                `2:12: unknown boundary "fixd"; use clamp, mirror, wrap, constant with a number, or fixed`,
	} {
		_, err := Parse("s", "s.sl", head+tail)
		if err == nil {
			t.Errorf("%s: accepted", tail)
			continue
		}
		if got, _, _ := strings.Cut(err.Error(), "\n"); got != "s.sl:"+want {
			t.Errorf("%s:\n got %s\nwant s.sl:%s", tail, got, want)
		}
	}
}

// worth is what a point outside is worth, written anew: the axes that name a cell first, then the first that does not.
func worth(s *Stencil, f int, v []float64, n [3]int, at [3]int) float64 {
	inside := at
	for a, i := range at {
		if i >= 0 && i < n[a] {
			continue
		}
		r, last := s.Fields[f].Rules[a][0], n[a]-1
		if i > 0 {
			r = s.Fields[f].Rules[a][1]
		}
		for ; r.Boundary == Mirror && (i < 0 || i > last); i = max(-i, i-2*max(0, i-last)) {
			if i > last {
				i = 2*last - i
			}
			if last == 0 {
				i = 0
			}
		}
		switch r.Boundary {
		case Wrap:
			i = (i + 100*n[a]) % n[a]
		case Clamp, Fixed:
			i = min(max(i, 0), last)
		}
		inside[a] = i
	}
	for a, i := range inside {
		if r := s.Fields[f].Rules[a]; i < 0 {
			return r[0].Constant
		} else if i >= n[a] {
			return r[1].Constant
		}
	}
	return v[(inside[2]*n[1]+inside[1])*n[0]+inside[0]]
}

func TestTheReferenceKnowsRulesThatDiffer(t *testing.T) {
	r := rand.New(rand.NewPCG(3, 4))
	rule := func() string { return []string{"clamp", "mirror", "fixed", "constant 2", "constant -1"}[r.IntN(5)] }
	for i := range 60 {
		axes := make([]string, 2)
		for a := range axes {
			axes[a] = []string{"wrap", fmt.Sprintf("(%s, %s)", rule(), rule()), fmt.Sprintf("(%s, %s)", rule(), rule())}[r.IntN(3)]
		}
		src := fmt.Sprintf("NumDimensions 2 StencilSize (3, 2) DataType double Fields (u, v) Boundary (%s) ", strings.Join(axes, ", "))
		if axes[1] != "wrap" {
			src += fmt.Sprintf("Boundary v y (%s, %s) ", rule(), rule())
		}
		s := mustParse(t, src+"CellValue { return get(v, -2, 1) - get(u, 3, -2), get(u, -1, -1) + 0.5 * get(v, 1, 2); }")
		n := Size{3 + r.IntN(4), 2 + r.IntN(4), 1}
		p := Problem{Stencil: s, DType: Float64, Size: n}
		d := Start(p, uint32(i))
		got := Run(p, d, 1)
		for y := range n[1] {
			for x := range n[0] {
				at := func(f, dx, dy int) float64 { return worth(s, f, d.Fields[f].Float, n, [3]int{x + dx, y + dy, 0}) }
				want := [2]float64{at(1, -2, 1) - at(0, 3, -2), at(0, -1, -1) + 0.5*at(1, 1, 2)}
				for f := range want {
					rules := s.Fields[f].Rules
					if x < s.Low[0] && rules[0][0].Boundary == Fixed || x >= n[0]-s.High[0] && rules[0][1].Boundary == Fixed ||
						y < s.Low[1] && rules[1][0].Boundary == Fixed || y >= n[1]-s.High[1] && rules[1][1].Boundary == Fixed {
						want[f] = at(f, 0, 0)
					}
					if v := got.Fields[f].Float[y*n[0]+x]; v != want[f] {
						t.Fatalf("%s\nfield %d, cell (%d, %d) of %v is %v, want %v", s.Text(), f, x, y, n, v, want[f])
					}
				}
			}
		}
	}
}

func TestEdgeValueOfOneSideSeesWhatOtherRulesSettle(t *testing.T) {
	s := mustParse(t, "NumDimensions 2 StencilSize (1, 1) DataType double Boundary (wrap, constant 7) EdgeValue y low { float two = 2; return two * value + x; } CellValue { return get(-1, -1) + 100 * get(1, 1); }")
	p := Problem{Stencil: s, DType: Float64, Size: Size{3, 2, 1}}
	got := Run(p, Data{Fields: []Values{{Float: []float64{1, 2, 3, 4, 5, 6}}}}, 1).Fields[0].Float
	// Row 0 reads EdgeValue at (2, -1), (0, -1), (1, -1): twice the cell above and x; row 1 the constant.
	want := []float64{2*3 + 2 + 500, 2*1 + 0 + 600, 2*2 + 1 + 400, 3 + 700, 1 + 700, 2 + 700}
	for i := range want {
		if got[i] != want[i] {
			t.Errorf("cell %d is %v, want %v", i, got[i], want[i])
		}
	}
	s = mustParse(t, "NumDimensions 1 StencilSize (1) DataType double EdgeValue x low { float a = 3; return a * value; } EdgeValue x high { float b = 5; return b * value; } CellValue { return get(-1) + get(1); }")
	if got := Run(Problem{Stencil: s, DType: Float64, Size: Size{2, 1, 1}}, Data{Fields: []Values{{Float: []float64{1, 2}}}}, 1).Fields[0].Float; got[0] != 3+2 || got[1] != 1+10 {
		t.Errorf("two functions: %v", got)
	}
}

// Kernels are written of the stages as one, and allowed by the stages as they are: both must see where a temporary field is read.
func TestMirrorsApartAreTheSameOfMergedStages(t *testing.T) {
	s := mustParse(t, `NumDimensions 2 StencilSize (1, 1) Fields (u, g) Temporary (g) Boundary u mirror Boundary g clamp Stages (along, across)
CellValue along (g) { return get(u, 0, 0) + get(u, 1, 0); } CellValue across (u) { return get(g, 0, 0) + get(g, 0, 1); }`)
	for _, of := range []*Stencil{s, s.Merged()} {
		if of.MirrorsApart(0) || !of.MirrorsApart(1) || !of.MirrorsDiffer() {
			t.Errorf("%d stages: apart on x %t, on y %t, differ %t", len(of.Stages), of.MirrorsApart(0), of.MirrorsApart(1), of.MirrorsDiffer())
		}
	}
}

// The bits of -1 are the largest number of an unsigned type, outside the grid, too.
func TestANegativeEdgeValueOfUnsignedNumbers(t *testing.T) {
	const file = "NumDimensions 1 StencilSize (1) DataType uint64 CellValue { return get(-1) / 1152921504606846976; } "
	for _, edge := range []string{"return -1;", "return value - value - 1;"} {
		s := mustParse(t, file+"EdgeValue { "+edge+" }")
		d := Data{Fields: []Values{{Int: []int64{5}}}}
		if got := Run(Problem{Stencil: s, DType: s.DType, Size: Size{1, 1, 1}}, d, 1).Fields[0].Int[0]; got != 15 {
			t.Errorf("%s: %d, want 15", edge, got)
		}
	}
}
