package stencil

import (
	"flag"
	"fmt"
	"math"
	"slices"
	"strings"
	"testing"
)

func judged(t *testing.T, text string, d DType, n Size, steps int) (Problem, Verdict) {
	t.Helper()
	p := Problem{Stencil: mustParse(t, text), DType: d, Size: n}
	return p, Judge(p, 3, steps)
}

// A bound is a few roundings of what is there, and follows what is large: not less than rounding to the
// type does, and not much more.
func TestBoundsFollowTheNumbersOfTheGrid(t *testing.T) {
	const eps = 0x1p-23
	for name, c := range map[string]struct {
		text        string
		at          int // a cell
		low, high   float64
		elsewhere   int // another one, of another size
		low2, high2 float64
	}{
		"a constant beyond the values":   {"return 0.9 * get(0) + 0.05 * (get(-1) + get(1)) + 0.1 * (300 - get(0)); ", 7, 30 * eps, 1500 * eps, 900, 30 * eps, 1500 * eps},
		"a source beyond any small grid": {"return 0.3 * (get(-1) + get(1)) + (x == 800 ? 1e6 : 0);", 801, 1e5 * eps, 3e7 * eps, 10, 0.1 * eps, 30 * eps},
		"coordinates":                    {"return 0.3 * (get(-1) + get(1)) + 0.01 * x * x;", 999, 1e4 * eps, 1e6 * eps, 3, eps, 2e3 * eps},
		"nothing to round":               {"return get(-1);", 5, eps, 4 * eps, 500, eps, 4 * eps},
	} {
		_, v := judged(t, line(c.text), Float32, Size{1001, 1, 1}, 3)
		for _, one := range []struct {
			at        int
			low, high float64
		}{{c.at, c.low, c.high}, {c.elsewhere, c.low2, c.high2}} {
			if b := v.Bound[one.at]; b < one.low || b > one.high {
				t.Errorf("%s: bound %.3g of cell %d, want %.3g to %.3g", name, b, one.at, one.low, one.high)
			}
		}
		if v.Blind > 0 {
			t.Errorf("%s: %d cells are blind", name, v.Blind)
		}
	}
}

// Values that leave the type's range are nobody's fault; those that stay are compared as ever.
func TestWhatGrowsBeyondTheTypeIsNotJudged(t *testing.T) {
	_, v := judged(t, line("float a = get(0); for (int i = 0; i < 9; i++) a = a * a + a; return a;"), Float32, Size{1001, 1, 1}, 3)
	if v.Blind == 0 || v.Blind == 1001 {
		t.Errorf("%d of 1001 cells are blind", v.Blind)
	}
	got := slices.Clone(v.Want)
	for i, b := range v.Bound {
		if math.IsInf(b, 1) {
			got[i] = math.NaN()
		}
	}
	if c := v.Compare(got); !c.OK() || c.Blind != v.Blind {
		t.Error(c.Reason(Size{1001, 1, 1}))
	}
	i := slices.IndexFunc(v.Bound, func(b float64) bool { return b < 1e-3 })
	got[i] += 0.01
	if c := v.Compare(got); c.OK() || c.First != int64(i) {
		t.Errorf("%+v", c)
	}
	// Where every cell is, nothing is proved, and the reason says what to do.
	_, v = judged(t, line("return (get(0) + 3) * 1e30 * get(1) * 1e30;"), Float32, Size{33, 1, 1}, 2)
	if c := v.Compare(v.Want); c.OK() || !strings.Contains(c.Reason(Size{33, 1, 1}), "InputRange") {
		t.Errorf("%+v: %s", c, c.Reason(Size{33, 1, 1}))
	}
}

// A part of a large grid stands for it: its coordinates are the large one's, at both ends and in the middle.
func TestALargeGridsAllowanceKnowsItsCoordinates(t *testing.T) {
	p := Problem{Stencil: mustParse(t, line("return 0.5 * (get(-1) + get(1)) + 1e-9 * x * x + (x == input_size.x / 2 ? 1e9 : 0);")), DType: Float32, Size: Size{1 << 20, 1, 1}}
	a := Allowances(p, 2)[0]
	if a.Peak < 1e9 || a.Error < 1e9*0x1p-24 || a.Error > 1e9*0x1p-18 {
		t.Errorf("%+v", a)
	}
}

func TestBranchesWithoutACellAreNamed(t *testing.T) {
	text := `NumDimensions 1 StencilSize (1)
CellValue {
  float v = get(0);
  if (x == 5000) v = 7;
  for (int i = 0; i < 3; i++)
    if (x == 4 * i) v += get(1);
  if (iteration < 100) return x > -1 ? v : 9;
  return get(-1);
}`
	p, v := judged(t, text, Float32, Size{65, 1, 1}, 3)
	want := []string{"4:3: the condition of if never holds", "7:3: the condition of if never fails", "7:38: the condition of ?: never fails"}
	if got := p.Stencil.Untaken(v.Seen); !slices.Equal(got, want) {
		t.Errorf("%q", got)
	}
	p.Size[0] = 6001
	if got := p.Stencil.Untaken(Together(v.Seen, Judge(p, 3, 101).Seen)); !slices.Equal(got, want[2:]) {
		t.Errorf("%q", got)
	}
	if s := mustParse(t, line("return get(0);")); s.Untaken("") != nil || s.marked() != nil {
		t.Error("a program without a branch has one")
	}
}

// Sources of zeros, or that a cell's value does not follow from, prove nothing of themselves.
func TestSourcesThatNeverActAreNamed(t *testing.T) {
	for _, c := range []struct {
		body  string
		dtype DType
		want  []string
	}{
		{"Sources shot (u) { return get(u, 0) + value; }", Float32, nil},
		{"Sources shot (u) { return get(u, 0) + value; }\nInputRange shot {0}", Float32, []string{"5:1: sources shot never change a value"}},
		{"Sources shot (u) { return get(u, 0) + value; }\nInputRange shot {0}", Int32, []string{"5:1: sources shot never change a value"}},
		{"Sources a (u) { return get(u, 0) + value; } Sources shot (u) { return value > 2 ? 1 : get(u, 0); }", Float32,
			[]string{"5:45: sources shot never change a value", "5:81: the condition of ?: never holds"}},
	} {
		p, v := judged(t, fmt.Sprintf("NumDimensions 1\nStencilSize (1)\nDataType %s Fields (u)\nCellValue { return get(u, 1) - get(u, 0); }\n%s", c.dtype.C(), c.body), c.dtype, Size{999, 1, 1}, 3)
		if got := p.Stencil.Untaken(v.Seen); !slices.Equal(got, c.want) {
			t.Errorf("%s: %q", c.body, got)
		}
	}
}

// An EdgeValue counts where something asks for it: a stage, a number of the step, a receiver.
func TestBranchesThatNothingAsksForAreNotNamed(t *testing.T) {
	for body, want := range map[string]int{
		"CellValue { return 0.5 * get(u, -1, 0); }":                                                     0,
		"CellValue { return 0.5 * get(u, 0, -1); }":                                                     1,
		"CellValue { return s * get(u, 0, 0); } StepScalar max s { return 0.1 * get(u, 0, -1); }":       1,
		"CellValue { return s * get(u, 0, 0); } StepScalar s { return 0.5; }":                           0,
		"CellValue { return 0.5 * get(u, 0, 0); } Receivers r { return get(u, 0, -1) + get(u, 0, 0); }": 1,
	} {
		p, v := judged(t, "NumDimensions 2\nStencilSize (1, 1)\nFields (u)\nEdgeValue u y low { return value > 1000 ? 1 : value; }\n"+body, Float32, Size{40, 30, 1}, 2)
		if got := p.Stencil.Untaken(v.Seen); len(got) != want {
			t.Errorf("%s: %q", body, got)
		}
	}
}

// A marked tree is the same program.
func TestMarksChangeNoAnswer(t *testing.T) {
	for _, name := range append(Textbook(), Applications()...) {
		s := lookup(t, name)
		m := s.marked()
		if m == nil {
			continue
		}
		p := Problem{Stencil: s, DType: s.DType, Size: []Size{{65, 1, 1}, {15, 13, 1}, {11, 10, 9}}[s.Dims-1]}
		q := p
		q.Stencil = m
		if !slices.Equal(Expected(p, 5, 3), Expected(q, 5, 3)) {
			t.Errorf("%s: another answer with marks", name)
		}
	}
}

// A weight that rounding hides is named, in the types in which it does.
func TestPointsBelowTheBoundAreNamed(t *testing.T) {
	p := Problem{Stencil: mustParse(t, line("return 0.5 * (get(-1) + get(1)) + 1e-9 * get(0);")), DType: Float32}
	if list := FaintPoints(p); len(list) != 1 || list[0].Point != "get(0)" || list[0].Share <= 0 || list[0].Share > 0.1 {
		t.Errorf("%+v", list)
	}
	p.DType = Float64
	if list := FaintPoints(p); len(list) != 0 {
		t.Errorf("%+v", list)
	}
}

// Points that act in few cells, or in few steps, are no faint ones.
func TestPointsThatActSeldomAreNotFaint(t *testing.T) {
	for _, src := range []string{
		"NumDimensions 2 StencilSize (5, 5) CellValue { float m = get(0, 0); for (int j = -5; j <= 5; j++) for (int i = -5; i <= 5; i++) m = max(m, get(i, j)); return m; }",
		line("return get(0) + fmax(0, get(-1) + get(1) - 1.95);"),
		line("if (iteration % 10 == 0 && get(-1) > 0.9) return get(1); return get(0);"),
		line("return x > 100 ? get(1) : get(-1);"),
		"NumDimensions 2 StencilSize (1, 1) Fields (u, v) Short (u y, v x) EdgeValue u y { return -value; } CellValue { return get(u, 0, 1) - get(v, 0, 0), y == input_size.y - 1 ? get(v, 0, 0) : get(u, -1, 0); }",
	} {
		p := Problem{Stencil: mustParse(t, src), DType: Float32}
		if list := FaintPoints(p); len(list) != 0 {
			t.Errorf("%s: %+v", src, list)
		}
	}
}

// Whoever computes a row, the noise is the same, and a run that goes on from where one was is the same run.
func TestBoundsAreTheSameEveryTime(t *testing.T) {
	for _, name := range []string{"jacobi3d", "srad2", "pathfinder"} {
		s := lookup(t, name)
		p := Problem{Stencil: s, DType: s.DType, Size: []Size{{65, 1, 1}, {19, 17, 1}, {17, 15, 19}}[s.Dims-1]}
		other := p
		other.Size[0]++
		Judge(other, 3, 1) // nothing is known of p
		whole := Judge(p, 3, 5)
		Judge(other, 3, 1)
		for _, steps := range []int{2, 4, 1, 3, 5} {
			v := Judge(p, 3, steps)
			if steps == 5 && (!slices.Equal(v.Bound, whole.Bound) || !slices.Equal(v.Want, whole.Want) || v.Seen != whole.Seen) {
				t.Errorf("%s: another verdict", name)
			}
		}
		if len(courses.of) != 5 {
			t.Errorf("%s: %d courses are kept", name, len(courses.of))
		}
	}
}

func TestWidenGivesTheLargestWithinReach(t *testing.T) {
	v := []float64{0, 0, 5, 0, 0, 0, 1, 0}
	widen(v, 8, 1, 2)
	if want := []float64{5, 5, 5, 5, 5, 1, 1, 1}; !slices.Equal(v, want) {
		t.Errorf("%v", v)
	}
	v = []float64{1, 0, 0, 0, 0, 3} // two rows of three: along y
	widen(v, 2, 3, 1)
	if want := []float64{1, 0, 3, 1, 0, 3}; !slices.Equal(v, want) {
		t.Errorf("%v", v)
	}
}

func TestBranchesOfIntegersAreSeen(t *testing.T) {
	s := mustParse(t, "DataType int "+line("if (x > 3) return get(1); return get(0) > 5 ? 1 : get(-1);"))
	p := Problem{Stencil: s, DType: s.DType, Size: Size{9, 1, 1}}
	v := Judge(p, 1, 2)
	want := []string{"3:57: the condition of ?: never holds"}
	if got := s.Untaken(v.Compare(v.Want).Seen); !slices.Equal(got, want) {
		t.Errorf("got %q, want %q", got, want)
	}
}

// An answer of which few cells are wrong, and not grossly, is judged by more noisy runs, whatever lies beyond the type's range; any other is not.
func TestAnAnswerThatIsNearlyRightIsJudgedByMoreRuns(t *testing.T) {
	const cells = 4000
	v := Verdict{Want: make([]float64, cells), Bound: make([]float64, cells)}
	for i := range v.Bound {
		v.Bound[i] = 1e-6
	}
	v.Bound[3] = math.Inf(1)
	asked := 0
	v.more = func() Verdict {
		asked++
		w := Verdict{Want: v.Want, Bound: make([]float64, cells)}
		for i := range w.Bound {
			w.Bound[i] = 4e-6
		}
		w.Bound[3] = math.Inf(1)
		return w
	}
	for _, c := range []struct {
		name  string
		wrong int
		by    float64
		right bool
		asked int
	}{
		{"two cells by two bounds", 2, 2e-6, true, 1},
		{"two cells by eight bounds", 2, 8e-6, false, 1},
		{"two cells by two thousand bounds", 2, 2e-3, false, 0},
		{"many cells by two bounds", 41, 2e-6, false, 0},
		{"a cell that is no number, where values leave the type's range", 1, math.NaN(), false, 1},
		{"none", 0, 0, true, 0},
	} {
		asked = 0
		got := make([]float64, cells)
		got[3] = math.NaN() // whose bound is infinite
		for i := range c.wrong {
			got[7+i] = c.by
		}
		if r := v.Compare(got); r.OK() != c.right || asked != c.asked {
			t.Errorf("%s: %+v, asked %d times", c.name, r, asked)
		}
	}
}

// So is one that errs in cells of whole numbers which no run has rounded otherwise yet: their bound is 0.
func TestACellThatNoRunRoundedOtherwiseIsJudgedByMoreRuns(t *testing.T) {
	for bound, right := range map[float64]bool{0: false, 1: true} {
		v := Verdict{Want: make([]float64, 4000), Bound: make([]float64, 4000)}
		v.more = func() Verdict {
			w := Verdict{Want: v.Want, Bound: slices.Clone(v.Bound)}
			w.Bound[7] = bound
			return w
		}
		got := make([]float64, 4000)
		got[7] = -1
		if r := v.Compare(got); r.OK() != right {
			t.Errorf("bound %g of many runs: %+v", bound, r)
		}
	}
}

// An integer field beside a float16 one has the bound of its own arithmetic, however it is read; a field that reads the other has not.
func TestAnIntegerFieldBesideAShortOneHasItsOwnBound(t *testing.T) {
	n := Size{70, 60, 1}
	cells := int(n.Cells())
	own := "0.7 * get(u, 0, 0) + 0.2 * get(u, 1, 0) + 0.09 * get(u, 0, -1) + 0.5"
	head := "NumDimensions 2 StencilSize (1, 1) Fields (u: uint8, h: float16) InputRange u (0, 200) InputRange h (0, 200) EdgeValue u { return 0.5137 * value; } EdgeValue h { return value; } "
	for body, most := range map[string]float64{
		"{ return " + own + ", 0.3 * get(h, 0, 0) + 0.2 * get(u, 0, -1); }":                                            4,
		"{ float v = " + own + "; return v, 0.3 * get(h, 0, 0) + v; }":                                                 4,
		"{ float v = get(h, 0, 0); return " + own + " + 0 * v, 0.3 * v; }":                                             100,
		"{ if (get(h, 0, 0) > 300) return 0, 1; return " + own + ", 0.3 * get(h, 0, 0); }":                             100,
		"{ return 0.7 * get(u, 0, 0) + 8 * (get(h, 1, 0) - get(h, 0, 1)), 0.3 * get(h, 0, 0) + 0.2 * get(u, 0, -1); }": 100,
		"{ return get(h, 0, 0) > 50 ? " + own + " : get(u, 0, 0) * 0.77, 0.3 * get(h, 0, 0); }":                        100,
		"{ float v = get(h, 1, 0) * 0.5; float w = v; return w + 0.9 * get(u, 0, 0), 0.3 * get(h, 0, 0); }":            100,
		"{ return (int)(" + own + ") + floor(0.123 * get(u, 0, 0)), 0.3 * floor(get(h, 0, 0)) + get(u, 0, 1); }":       4,
	} {
		_, v := judged(t, head+"CellValue "+body, Float32, n, 2)
		if b := slices.Max(v.Bound[:cells]); most == 4 && b > 2*most || most > 4 && b <= 4 {
			t.Errorf("%s: the integer field's bound is %g", body, b)
		}
	}
}

// The numbers of the last step are compared beside the cells, each within its own bound.
func TestNumbersOfAStepAreCompared(t *testing.T) {
	s := mustParse(t, line("return s > 1e6 ? 0 : 0.5 * get(1) + 0.4 * get(-1);")+"StepScalar sum s { return get(0) * get(0); }")
	p := Problem{Stencil: s, DType: Float32, Size: Size{3000, 1, 1}}
	v := Judge(p, 3, 2)
	first := Run(p, Start(p, 3), 1).Fields[0].Float
	want := 0.0
	for _, f := range first {
		want += f * f
	}
	for off, wrong := range map[float64]int64{0: 0, 1e-8: 0, 1e-4: 1, math.NaN(): 1} {
		c := v.CompareNumbers(v.Compare(v.Want), []float64{want * (1 + off)})
		c.Steps = 2
		if reason := c.Reason(p.Size); c.Cells != 3001 || c.Numbers != 1 || c.Wrong != wrong || c.OK() != (wrong == 0) || c.OK() == strings.Contains(reason, "number 1 (StepScalar)") {
			t.Errorf("off by %v: %+v, %s", off, c, reason)
		}
	}
}

// Values near the end of the type's range may be beyond it in a right kernel: where an error leads there, or sums on the way do.
func TestWhatMayLeaveTheRangeIsNotJudged(t *testing.T) {
	for _, c := range []struct {
		text string
		d    DType
		want float64 // of a cell
		any  bool
	}{
		{"return x == 7 ? 1e38 : get(0);", Float32, 1e38, true},
		{"return x == 7 ? 3e37 : get(0);", Float32, 3e37, false},
		{"return x == 7 ? 60000 : get(0);", Float16, 60000, false},
		{"return x == 7 ? 65500 : get(0);", Float16, 65500, true},
		{"return x == 7 ? 1e5 : get(0);", Float16, 1e5, true},
		{"return x == 7 ? 1e308 : get(0);", Float64, 1e308, true},
	} {
		_, v := judged(t, line(c.text), c.d, Size{300, 1, 1}, 1)
		if any := math.IsInf(v.Bound[7], 1); v.Want[7] != c.want || any != c.any || math.IsInf(v.Bound[200], 1) {
			t.Errorf("%s in %s: %g within %g, elsewhere %g", c.text, c.d, v.Want[7], v.Bound[7], v.Bound[200])
		}
	}
}

var flagRounded = flag.Int("rounded", 3, "grids of each program whose fields multiply each other, by plain rounding")

// inFloat32 is a stencil of which every operation is rounded to float32, as a plain loop in it does.
func inFloat32(s *Stencil) *Stencil {
	c := *s
	c.Stages = slices.Clone(s.Stages)
	for i := range c.Stages {
		c.Stages[i].Body = replaceBody(c.Stages[i].Body, func(e Expr) Expr {
			switch x := e.(type) {
			case Num:
				x.Type = Type(Float32)
				return x
			case Binary:
				if x.Type == Elem {
					x.Type = Type(Float32)
				}
				return x
			}
			return e
		})
	}
	return &c
}

// What plain rounding makes of fields that multiply each other is right, though a few runs say too little of places that multiply
// their errors: it is within a quarter of the bound of many runs.
func TestPlainRoundingIsWithinTheBounds(t *testing.T) {
	few, many, over := 0.0, 0.0, 0
	for _, text := range []string{
		"NumDimensions 1 StencilSize (1) ReadOnly (k: float) Fields (u, v) Boundary mirror CellValue { float c = get(u, 0); return c + 0.063 * get(k, 0) * (get(u, -1) + get(u, 1) - 2 * c) + 0.06 * c * get(v, 0), get(v, 0) + 0.06 * get(k, 0) * (get(v, -1) + get(v, 1) - 2 * get(v, 0)) - 0.01 * get(v, 0) * get(v, 0); }",
		"NumDimensions 1 StencilSize (1) ReadOnly (k: float16) Fields (u, v) Boundary wrap CellValue { return get(u, 0) + 0.2 * get(k, 0) * (get(u, -1) + get(u, 1) - 2 * get(u, 0)) + 0.05 * get(u, 0) * get(v, 1), 0.9 * get(v, 0) + 0.2 * get(k, 1) * get(u, 0); }",
		"NumDimensions 2 StencilSize (1, 1) ReadOnly (k: float16) Fields (u, v) Boundary wrap CellValue { float c = get(u, 0, 0); return c + 0.1 * get(k, 0, 0) * (get(u, 1, 0) + get(u, -1, 0) + get(u, 0, 1) + get(u, 0, -1) - 4 * c) + 0.01 * c * get(v, 1, 1), 0.9 * get(v, 0, 0) + 0.1 * get(k, 1, 0) * c; }",
		"NumDimensions 3 StencilSize (1, 1, 1) ReadOnly (k: bfloat16) Fields (u, v) Boundary fixed CellValue { float c = get(u, 0, 0, 0); return c + 0.1 * get(k, 0, 0, 0) * (get(u, 1, 0, 0) + get(u, 0, -1, 0) + get(u, 0, 0, 1) - 3 * c) + 0.05 * c * get(v, 1, 0, 0), 0.9 * get(v, 0, 0, 0) + 0.2 * get(k, 1, 0, 0) * c; }",
	} {
		p := Problem{Stencil: mustParse(t, text), DType: Float32}
		q := Problem{Stencil: inFloat32(p.Stencil), DType: Float32}
		for i := range *flagRounded {
			seed := mix(uint32(i + 25))
			steps := 20 + int(seed%20)
			p.Size = [3]Size{{1508 + i, 1, 1}, {60, 25 + i%20, 1}, {16, 11 + i%7, 8}}[p.Stencil.Dims-1]
			q.Size = p.Size
			got, _ := q.answer(Start(p, seed), steps, func(*run) {})
			v := Judge(p, seed, steps)
			first := v
			first.more = nil
			if c := first.Compare(got); c.OK() {
				few = max(few, c.Share)
			} else {
				over++
			}
			if c := v.Compare(got); !c.OK() {
				t.Errorf("%s, seed %d: %s", text, seed, c.Reason(p.Size))
			}
			c := v.more().Compare(got)
			if many = max(many, c.Share); !c.OK() || c.Share > 0.25 {
				t.Errorf("%s, seed %d: %.2g of the bound of many runs: %s", text, seed, c.Share, c.Reason(p.Size))
			}
		}
	}
	t.Logf("of the bound of few runs %.2g at most, and beyond it on %d grids; of that of many %.2g", few, over, many)
}

// Below its smallest normal number a type keeps fewer digits the smaller a value is; a later step may show them.
func TestSmallValuesLoseDigits(t *testing.T) {
	for _, c := range []struct {
		in      DType
		returns string
		least   float64 // by which it is off
	}{
		{Float16, "1e6 * get(v, -1), 1e-6 * get(u, 1)", 0.01},
		{Float16, "1048576 * get(v, -1), get(u, 1) / 1048576", 0.01},
		{Float32, "2e37 * get(v, -1), 1e-40 * get(u, 1)", 1e-9},
	} {
		p := Problem{Stencil: mustParse(t, "NumDimensions 1 StencilSize (1) Fields (u, v) CellValue { return "+c.returns+"; }"), DType: c.in, Size: Size{3000, 1, 1}}
		q := Problem{Stencil: inFloat32(p.Stencil), DType: c.in, Size: p.Size}
		d := Start(p, 3)
		v := Judge(p, 3, 2)
		for range 2 {
			d.Fields = Run(q, d, 1).Fields
			for _, f := range d.Fields {
				for i, x := range f.Float {
					f.Float[i] = c.in.Round(x)
				}
			}
		}
		if got := v.Compare(slices.Concat(d.Fields[0].Float, d.Fields[1].Float)); !got.OK() || got.MaxError < c.least || got.Share > 0.5 {
			t.Errorf("%s in %s: %.2g of the bound, off by %.2g: %s", c.returns, c.in, got.Share, got.MaxError, got.Reason(p.Size))
		}
	}
}

// TestNumbersOfAStepAreBoundByTheTypeThatIsChecked: of a file in float that is checked in float64, a sum errs as others that add in another order.
func TestNumbersOfAStepAreBoundByTheTypeThatIsChecked(t *testing.T) {
	st, err := Parse("sums", "sums.sl", "NumDimensions 1 StencilSize (1) InputRange (0.5, 1.5) "+
		"StepScalar sum s { return get(0); } CellValue { return 0.5 * get(1) + 0.5 * get(-1) + 0 * s; }")
	if err != nil {
		t.Fatal(err)
	}
	v := Judge(Problem{Stencil: st, DType: Float64, Size: Size{3000, 1, 1}}, 3, 1)
	if least := 2 * math.Log2(3000) * 0x1p-53 * 3000; v.step[1][0] < least {
		t.Errorf("%v of %v, want %v at least", v.step[1], v.step[0], least)
	}
}

// A cell that a step moves by nearly half a unit stays where it is for ever, or goes on at every step, after one neighbour was rounded otherwise. That shows
// only in runs in which few decisions are otherwise: where all doubtful ones are at once, another neighbour was rounded otherwise before.
func TestOneRoundingOfWholeNumbersMayDecideMany(t *testing.T) {
	p := Problem{Stencil: mustParse(t, "NumDimensions 3 StencilSize (1, 1, 1) DataType float Fields (v: uint16) Boundary clamp InputRange v (0, 4095) const float kappa = 80; "+
		"float flow(float d) { return d * exp(-d * d / (kappa * kappa)); } CellValue { float c = get(v, 0, 0, 0); "+
		"float beside = flow(get(v, -1, 0, 0) - c) + flow(get(v, 1, 0, 0) - c) + flow(get(v, 0, -1, 0) - c) + flow(get(v, 0, 1, 0) - c); "+
		"float corners = flow(get(v, -1, -1, 0) - c) + flow(get(v, 1, -1, 0) - c) + flow(get(v, -1, 1, 0) - c) + flow(get(v, 1, 1, 0) - c); "+
		"float slices = flow(get(v, 0, 0, -1) - c) + flow(get(v, 0, 0, 1) - c); return c + 0.1 * (beside + 0.5 * corners + 0.25 * slices) + 0.5; }"), DType: Float32, Size: Size{169, 121, 7}}
	const steps, seed, x, y, z, reach = 19, 3637774649, 72, 14, 4, 9
	whole := Start(p, seed).Fields[0]
	var part Values
	for k := range p.Size[2] {
		for j := range 2*reach + 1 {
			at := (k*p.Size[1]+y-reach+j)*p.Size[0] + x - reach
			part.Float = append(part.Float, whole.Float[at:at+2*reach+1]...)
		}
	}
	p.Size = Size{2*reach + 1, 2*reach + 1, p.Size[2]}
	q := Problem{Stencil: inFloat32(p.Stencil), DType: Float32, Size: p.Size}
	d := Data{Fields: []Values{part}}
	got, _ := q.answer(d, steps, func(*run) {})
	v, _ := judge(p, p.Size, d, steps, nil, manyRuns)
	at := (z*p.Size[1]+reach)*p.Size[0] + reach
	if math.Abs(got[at]-v.Want[at]) < 5 {
		t.Errorf("the cell is %v, of %v: one rounding decides nothing", got[at], v.Want[at])
	}
	if c := v.Compare(got); !c.OK() || c.Share > 0.5 {
		t.Errorf("%.2g of the bound: %s", c.Share, c.Reason(p.Size))
	}
}
