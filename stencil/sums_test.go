package stencil

import (
	"fmt"
	"math"
	"math/rand/v2"
	"strings"
	"testing"
)

// restText is the rest of a cell function, as it is printed.
func restText(s *Stencil, p Parts) string {
	t := *s
	t.Stages = []Stage{{Body: p.Rest}}
	return strings.Join(strings.Fields(CellSource(&t)), " ")
}

// sumsText is the sums: the weight of each point, which is array@dx.
func sumsText(p Parts) string {
	var all []string
	for _, weights := range p.Sums {
		var terms []string
		for _, at := range (form{weights: weights}).points() {
			terms = append(terms, fmt.Sprintf("%v*%d@%d", weights[at], at.Array, at.At[0]))
		}
		all = append(all, strings.Join(terms, " "))
	}
	return strings.Join(all, "; ")
}

func TestSplitFindsTheSums(t *testing.T) {
	const two = "Fields (u, v) ReadOnly (a) ScalarVariables (float s) "
	for _, c := range []struct{ head, cell, sums, rest string }{
		{"", "return get(0);", "", "return get(0, 0, 0);"},
		{"", "return 0.5 * (get(-1) + get(1));", "0.5*0@-1 0.5*0@1", "return sum(0);"},
		{"", "return get(1) / 4 + 3;", "0.25*0@1", "return sum(0) + T(3.0);"},
		{"", "float l = get(-1); l += get(1); l -= 2 * get(0); return get(0) + l * get(0);", "1*0@-1 -2*0@0 1*0@1", "return get(0, 0, 0) + sum(0) * get(0, 0, 0);"},
		{"", "float l = get(1) - get(0); return l * l;", "-1*0@0 1*0@1", "return sum(0) * sum(0);"},
		{"", "return (get(1) - get(-1)) * (2 * get(-1) - 2 * get(1));", "-1*0@-1 1*0@1", "return sum(0) * (T(-2.0) * sum(0));"},
		{"", "return get(1) * get(-1);", "1*0@1; 1*0@-1", "return sum(0) * sum(1);"},
		{"", "return get(0) + 2 * fabs(get(1)) - get(0);", "1*0@1", "return fabs(sum(0)) * T(2.0);"},
		{"", "float a = get(1); if (x > 2) a = 2 * get(-1); return a;", "1*0@1; 2*0@-1", "T v0 = sum(0); if (px > 2) { v0 = sum(1); } return v0;"},
		{"", "float a = 1; a = a * sqrt(get(1)); a += get(0); return a;", "1*0@1", "T v0 = sqrt(sum(0)); v0 = get(0, 0, 0) + v0; return v0;"},
		{two, "return get(u, 1) - get(u, 0) + s * get(v, 0) + get(v, 0) + 2 * get(a, 0), get(u, 0);",
			"-1*0@0 1*0@1", "out_0 = sum(0) + get_1(0, 0, 0) + T(2.0) * ro_0(0, 0, 0) + s_0 * get_1(0, 0, 0); out_1 = get_0(0, 0, 0); return;"},
		{two, "return get(u, 1) + get(v, 1) - get(a, -1), get(a, 1) * s;", "1*0@1 1*1@1 -1*2@-1; 1*2@1", "out_0 = sum(0); out_1 = sum(1) * s_0; return;"},
		{"", "return 1e300 * (1e300 * get(1));", "1*0@1", ""},
		{"DataType int32", "return get(-1) + get(1);", "", "return wrap_add(get(-1, 0, 0), get(1, 0, 0));"},
	} {
		s := mustParse(t, line(c.cell)+" "+c.head)
		p := s.Split(0, 1)
		if got := sumsText(p); got != c.sums && c.rest != "" {
			t.Errorf("%s: sums %q, want %q", c.cell, got, c.sums)
		}
		if got := restText(s, p); got != c.rest && c.rest != "" {
			t.Errorf("%s: rest %q, want %q", c.cell, got, c.rest)
		}
	}
	// Single points may stay where they are.
	s := mustParse(t, line("return get(1) * get(-1) + get(0) * (get(-1) - get(1));"))
	if p := s.Split(0, 2); sumsText(p) != "1*0@-1 -1*0@1" || restText(s, p) != "return get(1, 0, 0) * get(-1, 0, 0) + get(0, 0, 0) * sum(0);" {
		t.Errorf("sums %q, rest %q", sumsText(p), restText(s, p))
	}
}

// The acoustic wave has one sum of 25 points: the Laplacian.
func TestSplitFindsTheLaplacian(t *testing.T) {
	s, err := Lookup("acoustic3d")
	if err != nil {
		t.Fatal(err)
	}
	p := s.Split(0, 1)
	if len(p.Sums) != 1 || len(p.Sums[0]) != 25 {
		t.Fatalf("sums %v", p.Sums)
	}
	for array, want := range []bool{true, true, true} {
		if p.ReadsOwn(s, array) != want {
			t.Errorf("array %d is read at the own cell: %v", array, !want)
		}
	}
	if o := p.Ops(); o.Add != 2 || o.Mul != 1 { // two products are added
		t.Errorf("the rest has %+v", o)
	}
}

// together puts a cell function together again: sums in place of their names.
func together(s *Stencil, p Parts) *Stencil {
	var expr func(Expr) Expr
	expr = func(e Expr) Expr {
		switch e := e.(type) {
		case Sum:
			var sum Expr = Num{0, Elem}
			for _, at := range (form{weights: p.Sums[e.Index]}).points() {
				var point Expr = Get{at.Array, at.At, Elem}
				if a := at.Array - len(s.Fields); a >= 0 {
					point = Read{a, at.At, Elem}
				}
				sum = Binary{"+", sum, Binary{"*", Num{p.Sums[e.Index][at], Elem}, point, Elem}, Elem}
			}
			return sum
		case Neg:
			return Neg{expr(e.X)}
		case Not:
			return Not{expr(e.X)}
		case Cast:
			e.X = expr(e.X)
			return e
		case Binary:
			e.X, e.Y = expr(e.X), expr(e.Y)
			return e
		case Cond:
			return Cond{expr(e.If), expr(e.Then), expr(e.Else)}
		case Call:
			args := []Expr{}
			for _, a := range e.Args {
				args = append(args, expr(a))
			}
			e.Args = args
			return e
		}
		return e
	}
	var block func([]Stmt) []Stmt
	block = func(body []Stmt) (out []Stmt) {
		for _, st := range body {
			switch st := st.(type) {
			case Let:
				st.Value = expr(st.Value)
				out = append(out, st)
			case Return:
				values := []Expr{}
				for _, v := range st.Values {
					values = append(values, expr(v))
				}
				out = append(out, Return{values})
			case If:
				out = append(out, If{expr(st.Cond), block(st.Then), block(st.Else)})
			}
		}
		return out
	}
	t := *s
	t.Stages = append([]Stage(nil), s.Stages...)
	t.Stages[0].Body = block(p.Rest)
	return &t
}

// randomCell writes a cell function of fields u and v and the read-only array a.
func randomCell(r *rand.Rand) string {
	var expr func(depth int) string
	names := []string{}
	point := func() string {
		return fmt.Sprintf("get(%s, %d, %d)", []string{"u", "v", "a"}[r.IntN(3)], r.IntN(5)-2, r.IntN(3)-1)
	}
	expr = func(depth int) string {
		if depth == 0 || r.IntN(6) == 0 {
			switch k := r.IntN(8); {
			case k < 2 && len(names) > 0:
				return names[r.IntN(len(names))]
			case k == 2:
				return fmt.Sprint(r.IntN(9)) + ".5"
			case k == 3:
				return "s"
			}
			return point()
		}
		x, y := expr(depth-1), expr(depth-1)
		switch r.IntN(12) {
		case 0, 1, 2:
			return "(" + x + " + " + y + ")"
		case 3, 4:
			return "(" + x + " - " + y + ")"
		case 5:
			return "0.5 * " + x
		case 6:
			return "(" + x + " / 3)"
		case 7:
			return "-(" + x + ")"
		case 8:
			return "(" + x + " * " + y + ")"
		case 9:
			return "(" + x + " > " + y + " ? " + expr(depth-1) + " : " + y + ")"
		case 10:
			return "max(" + x + ", " + y + ")"
		}
		return "0.25 * (" + x + " + 2 * " + y + ")"
	}
	var b strings.Builder
	for i := range 1 + r.IntN(5) {
		name := fmt.Sprintf("l%d", i)
		fmt.Fprintf(&b, "float %s = %s; ", name, expr(3))
		names = append(names, name)
		set := names[r.IntN(len(names))]
		switch r.IntN(4) {
		case 0:
			fmt.Fprintf(&b, "%s += %s; ", set, expr(2))
		case 1:
			fmt.Fprintf(&b, "if (x %% 2 == 0) { float h = %s; %s = h - %s; } else %s = %s; ", expr(2), set, expr(1), set, expr(2))
		case 2:
			fmt.Fprintf(&b, "%s = %s * 0.5; ", set, set)
		}
	}
	return b.String() + "return " + expr(3) + ", " + expr(2) + ";"
}

// Sums and rest together are the cell function, up to rounding.
func TestSplitLeavesTheValueAsItIs(t *testing.T) {
	const seed = 20261123
	t.Logf("seed %d", seed)
	r := rand.New(rand.NewPCG(seed, 1))
	sums := 0
	for i := range 600 {
		src := "NumDimensions 2 StencilSize (2, 1) Fields (u, v) ReadOnly (a) ScalarVariables (float s = 0.75) CellValue { " + randomCell(r) + " }"
		s, err := Parse("random", "random.sl", src)
		if err != nil { // no field is read
			continue
		}
		p := s.Split(0, 1+i%3)
		sums += len(p.Sums)
		problem := Problem{Stencil: s, DType: Float64, Size: Size{6, 5, 1}}
		in := Fill(uint32(i), 3*problem.Size.Cells())
		want := Reference(problem, in, 1)
		problem.Stencil = together(s, p)
		for k, got := range Reference(problem, in, 1) {
			if diff := math.Abs(got - want[k]); diff > 1e-9*max(1, math.Abs(want[k])) && !(math.IsNaN(got) && math.IsNaN(want[k])) {
				t.Fatalf("case %d, value %d: %v, want %v\n%s\nsums %s\nrest %s", i, k, got, want[k], src, sumsText(p), restText(s, p))
			}
		}
	}
	if sums < 500 {
		t.Errorf("only %d sums tried", sums)
	}
}
