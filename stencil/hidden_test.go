package stencil

import (
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"time"
)

const peronaMalik = "NumDimensions 2 StencilSize (1, 1) CellValue { float c = get(0, 0); " +
	"float n = get(0, -1) - c, s = get(0, 1) - c, w = get(-1, 0) - c, e = get(1, 0) - c; " +
	"return c + 0.2 * (exp(-(n * n) * 4) * n + exp(-(s * s) * 4) * s + exp(-(w * w) * 4) * w + exp(-(e * e) * 4) * e); }"

const conductivity = "NumDimensions 3 StencilSize (1, 1, 1) Fields (u) ReadOnly (k) CellValue { float c = get(u, 0, 0, 0), m = get(k, 0, 0, 0); " +
	"return c + 0.05 * ((m + get(k, -1, 0, 0)) * (get(u, -1, 0, 0) - c) + (m + get(k, 1, 0, 0)) * (get(u, 1, 0, 0) - c) + " +
	"(m + get(k, 0, -1, 0)) * (get(u, 0, -1, 0) - c) + (m + get(k, 0, 1, 0)) * (get(u, 0, 1, 0) - c) + " +
	"(m + get(k, 0, 0, -1)) * (get(u, 0, 0, -1) - c) + (m + get(k, 0, 0, 1)) * (get(u, 0, 0, 1) - c)); }"

// weno5 reconstructs at both faces of a cell; the wind depends on the row.
const weno5 = "NumDimensions 2 StencilSize (3, 0) CellValue { float upper = 0, rate = 0, v = y < 3 ? 1 : -1; for (int f = 0; f >= -1; f--) { " +
	"float a = v > 0 ? get(f - 2, 0) : get(f + 3, 0), b = v > 0 ? get(f - 1, 0) : get(f + 2, 0), c = v > 0 ? get(f, 0) : get(f + 1, 0); " +
	"float d = v > 0 ? get(f + 1, 0) : get(f, 0), e = v > 0 ? get(f + 2, 0) : get(f - 1, 0); " +
	"float p = a - 2 * b + c, q = a - 4 * b + 3 * c, w0 = 0.1 / (0.000001 + 1.0833 * p * p + 0.25 * q * q); " +
	"p = b - 2 * c + d; q = b - d; float w1 = 0.6 / (0.000001 + 1.0833 * p * p + 0.25 * q * q); " +
	"p = c - 2 * d + e; q = 3 * c - 4 * d + e; float w2 = 0.3 / (0.000001 + 1.0833 * p * p + 0.25 * q * q); " +
	"float r = (w0 * (2 * a - 7 * b + 11 * c) + w1 * (5 * c - b + 2 * d) + w2 * (2 * c + 5 * d - e)) / (6 * (w0 + w1 + w2)); " +
	"if (f == 0) upper = r; else rate = v * (upper - r); } return get(0, 0) - 0.1 * rate; }"

// shallowWater has limited slopes and the fluxes of height and momentum at both faces.
const shallowWater = "NumDimensions 1 StencilSize (2) Fields (h, q) Boundary mirror InputRange (0.5, 1) CellValue { float dh = 0, dq = 0; " +
	"for (int f = -1; f <= 0; f++) { float a = get(h, f) - get(h, f - 1), b = get(h, f + 1) - get(h, f), c = get(h, f + 2) - get(h, f + 1); " +
	"float s = a * b <= 0 ? 0 : fabs(a) < fabs(b) ? a : b, t = b * c <= 0 ? 0 : fabs(b) < fabs(c) ? b : c; " +
	"float l = get(h, f) + 0.5 * s, r = get(h, f + 1) - 0.5 * t, u = get(q, f) / l, v = get(q, f + 1) / r; " +
	"float w = fmax(fabs(u) + sqrt(l), fabs(v) + sqrt(r)); " +
	"float fh = 0.5 * (get(q, f) + get(q, f + 1) - w * (r - l)); " +
	"float fq = 0.5 * (get(q, f) * u + get(q, f + 1) * v + 0.5 * (l * l + r * r) - w * (get(q, f + 1) - get(q, f))); " +
	"if (f < 0) { dh -= fh; dq -= fq; } else { dh += fh; dq += fq; } } return get(h, 0) - 0.1 * dh, get(q, 0) - 0.1 * dq; }"

// products are differentiated along an axis by a wide star.
const products = "NumDimensions 2 StencilSize (4, 0) Fields (a) ReadOnly (m, n, u) CellValue { float r = 0; for (int k = 1; k <= 4; k++) " +
	"r += (2.0 / k) * (get(m, k, 0) * get(u, k, 0) - get(m, -k, 0) * get(u, -k, 0) + (get(n, k, 0) + get(m, k, 0)) * get(u, k, 0) - (get(n, -k, 0) + get(m, -k, 0)) * get(u, -k, 0)); " +
	"return get(a, 0, 0) - r; }"

// found says what a stencil's hidden stages are: by stage, where its values are read.
func found(s, h *Stencil) string {
	if h == nil {
		return "nothing"
	}
	var b strings.Builder
	for _, st := range h.Stages {
		if !st.Hidden {
			continue
		}
		b.WriteString("stage")
		for _, f := range st.Outputs {
			b.WriteString(" {")
			for i, o := range h.Fields[f].Points {
				if i > 0 {
					b.WriteString("; ")
				}
				b.WriteString(o.text(s.Dims))
			}
			b.WriteString("}")
		}
		b.WriteString(" ")
	}
	fmt.Fprintf(&b, "%d to %d", s.Ops.Total(), h.Ops.Total())
	return b.String()
}

func TestHiddenStagesComputeWhatNeighboursComputeAlike(t *testing.T) {
	for _, c := range []struct{ name, src, want string }{
		{"Perona-Malik", peronaMalik, "stage {0, -1; 0, 0} stage {-1, 0; 0, 0} 25 to 15"},
		{"conductivity", conductivity, "stage {-1, 0, 0; 0, 0, 0} stage {0, -1, 0; 0, 0, 0} stage {0, 0, -1; 0, 0, 0} 25 to 16"},
		{"weno5", weno5, "stage {-1, 0; 0, 0} 148 to 72"},
		{"shallow water", shallowWater, "stage {0; 1} stage {-1; 0} {-1; 0} 102 to 46"},
		{"products", products, "stage {-4, 0; -3, 0; -2, 0; -1, 0; 1, 0; 2, 0; 3, 0; 4, 0} {-4, 0; -3, 0; -2, 0; -1, 0; 1, 0; 2, 0; 3, 0; 4, 0} 49 to 28"},
		{"gradient2d", lookup(t, "gradient2d").Text(), "nothing"},
		{"srad2", lookup(t, "srad2").Text(), "nothing"},
		{"jacobi3d", lookup(t, "jacobi3d").Text(), "nothing"},
		{"jacobi3d27", lookup(t, "jacobi3d27").Text(), "nothing"},
		{"acoustic3d", lookup(t, "acoustic3d").Text(), "nothing"},
		{"other coordinates", "NumDimensions 1 StencilSize (1) CellValue { return exp(get(-1) * x) + exp(get(0) * x); }", "nothing"},
		{"by index", "NumDimensions 1 StencilSize (1) CellValue { return exp(get(-1) * read(2 * x)) + exp(get(0) * read(2 * x)); }", "nothing"},
		{"of no point", "NumDimensions 1 StencilSize (1) ScalarVariables (float a) CellValue { return exp(a) * get(-1) + exp(a) * get(0); }", "nothing"},
	} {
		s := mustParse(t, c.src)
		if got := found(s, s.Hoisted(Shared)); got != c.want {
			t.Errorf("%s: %s, want %s", c.name, got, c.want)
		}
	}
	s := lookup(t, "gradient2d")
	if got := found(s, s.hoist(Shared, 2, 4)); got != "stage {-1, 0; 0, 0} stage {0, -1; 0, 0} 16 to 12" {
		t.Errorf("gradient2d, where less pays: %s", got)
	}
}

// What several arrays give at one cell is one array to those that read it; a multiple of that is none besides, nor is what
// few read, or what saves most anyway.
func TestPointwiseValuesStandForSeveralArrays(t *testing.T) {
	const text = "NumDimensions 1 StencilSize (4) Fields (a, b) CellValue { float s = 0; for (int k = -4; k <= %d; k++) s += (k + 7) * %s; return s, get(a, 0); }"
	for _, c := range []struct {
		name  string
		last  int
		value string
		want  string
	}{
		{"difference", 3, "(get(a, k) - get(b, k))", "stage {-4; -3; -2; -1; 0; 1; 2; 3} 24 to 17"},
		{"multiple of one", 3, "(2 * (get(a, k) - get(b, k)))", "stage {-4; -3; -2; -1; 0; 1; 2; 3} 32 to 25"},
		{"of one array", 3, "exp(get(a, k))", "nothing"},
		{"of few readers", -2, "(get(a, k) / get(b, k))", "nothing"},
		{"of neighbours", 3, "(get(a, k) - get(b, k + 1))", "nothing"},
	} {
		s := mustParse(t, fmt.Sprintf(text, c.last, c.value))
		if got := found(s, s.Hoisted(Pointwise)); got != c.want {
			t.Errorf("%s: %s, want %s", c.name, got, c.want)
		}
	}
}

// sameAnswer compares a stencil's answer with that of its hidden stages, also as ordinary
// ones where the grid repeats.
func sameAnswer(t *testing.T, s, h *Stencil) {
	t.Helper()
	likeAnswer(t, s, h, same)
}

// nearAnswer compares them but for what another order of sums rounds.
func nearAnswer(t *testing.T, s, h *Stencil) {
	t.Helper()
	likeAnswer(t, s, h, func(a, b float64) bool { return same(a, b) || math.Abs(a-b) <= 1e-12*(1+math.Abs(b)) })
}

func likeAnswer(t *testing.T, s, h *Stencil, same func(a, b float64) bool) {
	t.Helper()
	size := [3]Size{{37, 1, 1}, {19, 14, 1}, {9, 8, 7}}[s.Dims-1]
	of := Problem{Stencil: s, DType: s.DType, Size: size}
	start := Start(of, 1)
	const steps = 3
	want := Run(of, start, steps)
	ways := []*Stencil{h}
	if s.Boundary == Wrap {
		ordinary := *h
		ordinary.Stages = slices.Clone(h.Stages)
		for i := range ordinary.Stages {
			ordinary.Stages[i].Hidden = false
		}
		ways = append(ways, &ordinary)
	}
	for _, way := range ways {
		of.Stencil = way
		d := start
		d.Fields = slices.Clone(d.Fields)
		for range len(h.Fields) - len(s.Fields) {
			d.Fields = append(d.Fields, valuesOf(s.DType, make([]float64, size.Cells())))
		}
		got := Run(of, d, steps)
		for f := range s.Fields {
			if s.Fields[f].Temporary {
				continue
			}
			a, b := got.Fields[f].Floats(s.DType), want.Fields[f].Floats(s.DType)
			for i := range b {
				if !same(a[i], b[i]) {
					t.Errorf("%s: field %d, cell %d is %v, want %v\n%s", s.Name, f, i, a[i], b[i], s.Text())
					for j := range h.Stages {
						t.Log(h.Stages[j].Outputs, StageSource(h, j))
					}
					return
				}
			}
		}
		if got.Reduced != want.Reduced && !math.IsNaN(want.Reduced) {
			t.Errorf("%s: reduced to %v, want %v", s.Name, got.Reduced, want.Reduced)
		}
	}
}

// under gives the text with another rule at the boundary.
func under(src, rule string) string {
	for _, b := range []string{"clamp", "mirror", "wrap"} {
		src = strings.ReplaceAll(src, "Boundary "+b, "")
	}
	return strings.Replace(src, "CellValue", "Boundary "+rule+" CellValue", 1)
}

func TestHiddenStagesGiveTheSameAnswerUnderEveryRule(t *testing.T) {
	for _, src := range []string{peronaMalik, conductivity, weno5, shallowWater, products} {
		for _, rule := range []string{"clamp", "mirror", "wrap", "constant 0.75", "fixed"} {
			s := mustParse(t, under(src, rule))
			h := s.Hoisted(Shared)
			if h == nil || h.Hash != s.Hash || h != s.Hoisted(Shared) {
				t.Fatalf("%s: %+v", src, h)
			}
			sameAnswer(t, s, h)
		}
	}
	edge := mustParse(t, peronaMalik+"EdgeValue { return value * (1 + x) + y; }")
	sameAnswer(t, edge, edge.Hoisted(Shared))
	for _, name := range Names() {
		s := lookup(t, name)
		for _, h := range []*Stencil{s.Hoisted(Shared), s.hoist(Shared, 1, 1), s.Hoisted(Pointwise), s.hoist(Pointwise, 1, 1)} {
			if h != nil {
				sameAnswer(t, s, h)
			}
		}
	}
}

// randomFlux writes a random expression of points around the offset named k.
func randomFlux(r *rand.Rand, depth int) string {
	pick := func(of ...string) string { return of[r.IntN(len(of))] }
	point := func() string {
		return "get(" + pick("u", "u", "v", "m") + ", " + pick("k", "k + 1", "k - 1", "k") + ", " + pick("0", "0", "1") + ")"
	}
	if depth == 0 {
		return pick(point(), point(), point(), point(), "a", "0.5", "3", "y", "iteration")
	}
	sub := func() string { return randomFlux(r, depth-1) }
	switch r.IntN(8) {
	case 0:
		return "-(" + sub() + ")"
	case 1:
		x := sub()
		return "(" + x + ") * (" + x + ")"
	case 2:
		return "(" + sub() + pick(" < ", " <= ", " > ") + sub() + " ? " + sub() + " : " + sub() + ")"
	case 3:
		return pick("min", "max") + "(" + sub() + ", " + sub() + ")"
	case 4:
		return "abs(" + sub() + ")"
	}
	return "(" + sub() + pick(" + ", " - ", " * ", " - ", " * ") + sub() + ")"
}

func TestHiddenStagesOfRandomProgramsGiveTheSameAnswer(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2))
	rules := []string{"clamp", "mirror", "wrap", "constant 2", "fixed"}
	hoisted := 0
	const programs = 300
	for i := range programs {
		at := func(e string, k int) string { return strings.ReplaceAll(e, "k", fmt.Sprint("(", k, ")")) }
		e, f, c := randomFlux(r, 3), randomFlux(r, 2), randomFlux(r, 1)+" < "+randomFlux(r, 1)
		cond := at(f, r.IntN(2)) + " < " + at(f, 0)
		src := fmt.Sprintf("NumDimensions 2 StencilSize (4, 1) DataType %s ScalarVariables (float a = 1.25) Fields (u, v) ReadOnly (m) Boundary %s CellValue { float p = %s, q = %s; if (%s) p = %s; if (%s) q = %s; float s = p * p * (p - 3) - q * q * (q - 3); if (%s) { s = %s; p -= s; } else if (x < 3) return q, s; return p - q * s, %s + %s * p; }",
			[]string{"double", "int", "double", "int64"}[i%4], rules[i%len(rules)], at(e, 0), at(e, -1), at(c, 0), at(f, 0), at(c, -1), at(f, -1), cond, at(e, 2), at(f, 0), at(f, 1))
		s, err := Parse(fmt.Sprint("random ", i), "random.sl", src)
		if err != nil {
			if !strings.Contains(err.Error(), "never calls get") {
				t.Fatal(err)
			}
			continue
		}
		for _, h := range []*Stencil{s.Hoisted(Shared), s.hoist(Shared, 1, 1), s.Hoisted(Pointwise), s.hoist(Pointwise, 1, 1)} {
			if h != nil {
				hoisted++
				sameAnswer(t, s, h)
			}
		}
	}
	if hoisted < programs/2 {
		t.Errorf("%d of %d", hoisted, 2*programs)
	}
}

func TestHoistedStencilIsInOrder(t *testing.T) {
	s := mustParse(t, conductivity)
	h := s.Hoisted(Shared)
	if len(h.Fields) != 4 || !h.Fields[1].Temporary || len(h.Stages) != 4 || h.Stages[3].Hidden {
		t.Fatalf("%d fields, %d stages", len(h.Fields), len(h.Stages))
	}
	if got := h.Stages[0].Points; len(got) != 5 || len(got[0]) != 2 || len(got[4]) != 2 || got[1] != nil {
		t.Errorf("points %v", got)
	}
	last := h.Stages[3]
	if got := last.Points; len(got[0]) != 1 || len(got[1]) != 2 || got[4] != nil || last.Low != [3]int{1, 1, 1} || last.High != [3]int{} {
		t.Errorf("points %v, reach %v %v", got, last.Low, last.High)
	}
	if len(s.Fields) != 1 || len(s.Stages) != 1 || len(s.ReadOnly[0].Points) != 7 || len(h.ReadOnly[0].Points) != 4 || h.Text() != s.Text() {
		t.Error("the stencil itself has changed")
	}
	fixed := mustParse(t, under(conductivity, "fixed"))
	f := fixed.Hoisted(Shared)
	if got := f.Stages[3]; got.Low != fixed.Low || got.High != fixed.High || f.Stages[0].Points[1] != nil {
		t.Errorf("fixed cells: %v %v", got.Low, got.High)
	}
	levels := mustParse(t, "NumDimensions 1 StencilSize (1) Fields (u, old) CellValue { float c = get(u, 0); return c + exp(get(u, 1) - c) - exp(c - get(u, -1)), c; }")
	if l := levels.Hoisted(Shared); l == nil || len(l.Stages[1].Copies) != 1 || l.Stages[1].Copies[0] != (Copy{1, 0}) {
		t.Errorf("copies: %+v", l)
	}
	if twoSteps := mustParse(t, twoStages).Fused(); twoSteps.Hoisted(Shared) != nil {
		t.Error("a fused step has hidden stages")
	}
}

func TestOnlyWhatIsReadIsLeft(t *testing.T) {
	s := mustParse(t, "NumDimensions 1 StencilSize (1) CellValue { float a = get(1), b = 2, c; if (get(0) > 1) { c = a; b = 3; } else c = 4; a = 5; float d = a * get(-1); b = get(0); return b; }")
	if got, want := (printer{s: s}).text(live(s.Stages[0].Body)), "T v1 = get(0, 0, 0);\nreturn v1;\n"; got != want {
		t.Errorf("%s", got)
	}
	s = mustParse(t, "NumDimensions 1 StencilSize (1) CellValue { float a = get(1), b = get(1); if (get(0) > 1) { a = 3; b = 2; } else a = 4; return a; }")
	if got, want := (printer{s: s}).text(live(s.Stages[0].Body)), "T v0 = T(0.0);\nif (get(0, 0, 0) > T(1.0)) {\n  v0 = T(3.0);\n} else {\n  v0 = T(4.0);\n}\nreturn v0;\n"; got != want {
		t.Errorf("%s", got)
	}
}

func TestHoistingTakesNoLong(t *testing.T) {
	files := hardest()
	wide := "CellValue { float r = 0; for (int i = -4; i <= 4; i++) for (int j = -4; j <= 4; j++) for (int k = -4; k <= 4; k++) r += exp(get(i, j, k) * get(i, j, 0)) * get(0, j, k) / (1 + get(i, 0, k) * get(i, j, k)); return r; }"
	files["wide"] = "NumDimensions 3 StencilSize (4, 4, 4) " + wide
	for name, src := range files {
		s, err := Parse("s", "s.sl", src)
		if err != nil {
			continue
		}
		if took := busy(func() { s.Hoisted(Shared) }); took > 2*time.Second*slower {
			t.Errorf("%s: %v", name, took)
		}
	}
}

// TestSumsOverBoxesAreNested: a sum of 5 x 5 or 3 x 3 x 3 is as many of 5 or 3 along one axis as neighbours share, whatever it is a sum of.
func TestSumsOverBoxesAreNested(t *testing.T) {
	const plane = "NumDimensions 2 StencilSize (3, 3) DataType double Fields (u, v) ReadOnly (m) "
	loops := func(n int, what string) string {
		return fmt.Sprintf("float s = 0; for (int j = -%[1]d; j <= %[1]d; j++) for (int i = -%[1]d; i <= %[1]d; i++) s += %[2]s;", n, what)
	}
	for _, c := range []struct{ name, src, want string }{
		{"of a field", plane + "CellValue { " + loops(2, "get(u, i, j)") + " return s / 25 * get(v, 0, 0), get(u, 0, 0); }", "stage {0, -2; 0, -1; 0, 0; 0, 1; 0, 2} 27 to 10"},
		{"of products", plane + "CellValue { " + loops(1, "get(u, i, j) * get(m, i, j)") + " return s * s, get(u, 0, 0); }", "stage {0, -1; 0, 0; 0, 1} 19 to 8"},
		{"with weights", plane + "CellValue { const float w[5] = {1, 4, -6, 4, 1}; " + loops(2, "w[i + 2] * w[j + 2] * get(u, i, j)") + " return exp(s), get(u, 0, 0); }", "stage {0, -2; 0, -1; 0, 0; 0, 1; 0, 2} 76 to 13"},
		{"and what lies beside", plane + "CellValue { " + loops(2, "get(u, i, j)") + " s -= 3 * get(v, 2, 0); return sin(s), s; }", ""},
		{"with a hole", plane + "CellValue { float s = 0; for (int j = -1; j <= 1; j++) for (int i = -1; i <= 1; i++) if (i != 0 || j != 0) s += get(u, i, j); return s * s, s; }", "nothing"},
		{"with other weights", plane + "CellValue { " + loops(1, "(i * j + 4) * get(u, i, j)") + " return s * s, s; }", "nothing"},
		{"of coordinates", plane + "CellValue { " + loops(1, "x * get(u, i, j)") + " return s * s, s; }", "nothing"},
		{"in a branch", plane + "CellValue { " + loops(1, "get(u, i, j)") + " if (s > 0) s = 2 * s; return s * s, s; }", "nothing"},
		{"in a volume", "NumDimensions 3 StencilSize (1, 1, 1) DataType double CellValue { float s = 0; for (int k = -1; k <= 1; k++) for (int j = -1; j <= 1; j++) for (int i = -1; i <= 1; i++) s += get(i, j, k); return sin(s); }", "stage {0, 0, -1; 0, 0, 0; 0, 0, 1} 28 to 11"},
	} {
		s := mustParse(t, c.src)
		h := s.Hoisted(Boxed)
		if got := found(s, h); c.want != "" && got != c.want || c.want == "" && h == nil {
			t.Errorf("%s: %s, want %s", c.name, got, c.want)
		}
		if h != nil {
			nearAnswer(t, s, h)
		}
	}
}
