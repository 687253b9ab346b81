package stencil

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
)

// halfSweeps is a random file whose stages are all colours of one sum of coordinates, or of two such sums, with the points that
// each stage reads and their weights.
type halfSweeps struct {
	text    string
	dims    int
	colors  []Color
	points  []Offset
	weights []float64
}

func randomSweeps(r *rand.Rand, boundary string) halfSweeps {
	h := halfSweeps{dims: 1 + r.IntN(3)}
	parts := 1 + r.IntN(2)
	h.colors = []Color{nil}
	for range parts {
		part := Congruence{Modulus: 2 + r.IntN(3)}
		for a := range h.dims {
			part.Weights[a] = r.IntN(part.Modulus)
		}
		part.Weights[r.IntN(h.dims)] = 1
		var more []Color
		for _, c := range h.colors {
			for part.Rest = range part.Modulus {
				more = append(more, append(slices.Clone(c), part))
			}
		}
		h.colors = more
	}
	names := make([]string, len(h.colors))
	for i := range names {
		names[i] = fmt.Sprintf("s%d", i)
	}
	for range 1 + r.IntN(5) {
		var o Offset
		for a := range h.dims {
			o[a] = r.IntN(5) - 2
		}
		if !slices.Contains(h.points, o) {
			h.points, h.weights = append(h.points, o), append(h.weights, float64(1+r.IntN(8))/64)
		}
	}
	sum := []string{"0.25"}
	for i, o := range h.points {
		sum = append(sum, fmt.Sprintf("%v * get(%s)", h.weights[i], o.text(h.dims)))
	}
	h.text = fmt.Sprintf("NumDimensions %d\nStencilSize (%s)\nDataType double\nBoundary %s\nStages (%s)\ndouble f() { return %s; }\n",
		h.dims, strings.TrimSuffix(strings.Repeat("2, ", h.dims), ", "), boundary, strings.Join(names, ", "), strings.Join(sum, " + "))
	for i, c := range h.colors {
		h.text += fmt.Sprintf("Color %s %s\nCellValue %s { return f(); }\n", names[i], c, names[i])
	}
	return h
}

// inPlace is a step as a program makes it that has one array, its cells in a random order within each half sweep.
func (h halfSweeps) inPlace(r *rand.Rand, n Size, u []float64, rule Rule) {
	var low, high [3]int
	for _, o := range append(slices.Clone(h.points), Offset{}) {
		reach(&low, &high, o)
	}
	for _, c := range h.colors {
	cells:
		for _, i := range r.Perm(len(u)) {
			at := Offset{i % n[0], i / n[0] % n[1], i / n[0] / n[1]}
			for _, part := range c {
				if (at[0]*part.Weights[0]+at[1]*part.Weights[1]+at[2]*part.Weights[2])%part.Modulus != part.Rest {
					continue cells
				}
			}
			value := 0.25
			for k, o := range h.points {
				var to Offset
				outside := false
				for a := range 3 {
					to[a] = rule.Boundary.index(at[a]+o[a], n[a])
					outside = outside || at[a]+o[a] < 0 || at[a]+o[a] >= n[a]
					if rule.Boundary == Fixed && a < h.dims && (at[a] < low[a] || at[a] >= n[a]-high[a]) {
						continue cells
					}
				}
				v := u[(to[2]*n[1]+to[1])*n[0]+to[0]]
				if outside && rule.Boundary == Constant {
					v = rule.Constant
				}
				value += h.weights[k] * v
			}
			u[i] = value
		}
	}
}

// TestHalfSweepsAreThoseOfOneArray compares random files of half sweeps with loops in place, in any order of cells: what is
// accepted does not depend on it, whatever the boundary rule and the extents.
func TestHalfSweepsAreThoseOfOneArray(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2))
	accepted, seams := map[Boundary]int{}, 0
	for range 3000 {
		rule := []Rule{{Boundary: Clamp}, {Boundary: Mirror}, {Boundary: Wrap}, {Boundary: Constant, Constant: 0.5}, {Boundary: Fixed}}[r.IntN(5)]
		h := randomSweeps(r, rule.String())
		s, err := Parse("s", "s.sl", h.text)
		if err != nil {
			if !strings.Contains(err.Error(), "is a cell of the own colour") && !strings.Contains(err.Error(), "nothing to tune") {
				t.Fatalf("%v\n%s", err, h.text)
			}
			continue
		}
		for range 3 {
			n := Size{1, 1, 1}
			for a := range h.dims {
				n[a] = 1 + r.IntN(9)
			}
			p := Problem{Stencil: s, DType: Float64, Size: n}
			if p.Seams() != "" {
				seams++
				continue
			}
			accepted[rule.Boundary]++
			in := Fill(uint32(r.IntN(1000)), n.Cells())
			got := Reference(p, in, 2)
			for range 2 {
				h.inPlace(r, n, in, rule)
			}
			for i := range in {
				if d := got[i] - in[i]; d > 1e-12 || d < -1e-12 {
					t.Fatalf("%v %s: cell %d is %v, in place %v\n%s", rule, n.Text(h.dims), i, got[i], in[i], h.text)
				}
			}
		}
	}
	for _, b := range []Boundary{Clamp, Mirror, Wrap, Constant, Fixed} {
		if accepted[b] < 50 {
			t.Errorf("%s: %d runs, the test is empty", b, accepted[b])
		}
	}
	if seams < 50 {
		t.Errorf("%d grids whose seams join cells of one colour", seams)
	}
}

const redAndBlack = `NumDimensions 2
StencilSize (1, 2)
Fields (u)
Boundary %s
const int BLACK = 1;
Stages (red, black)
Color red (x + y) %% 2 == 0
Color black (y - x) %% 2 == BLACK
CellValue red { return 0.2 * (get(u, 1, 0) + get(u, 0, -1)); }
CellValue black { return 0.2 * (get(u, 1, 0) + get(u, 0, -1)); }
`

func TestAColorIsAConditionOfItsStage(t *testing.T) {
	s := mustParse(t, fmt.Sprintf(redAndBlack, "clamp"))
	if got := fmt.Sprint(s.Stages[0].Color, ", ", s.Stages[1].Color); got != "(x + y) % 2 == 0, (x + y) % 2 == 1" {
		t.Error(got)
	}
	// By hand it is the same function, which no half sweeps are made of.
	hand := mustParse(t, strings.NewReplacer("Color red (x + y) % 2 == 0\n", "", "Color black (y - x) % 2 == BLACK\n", "",
		"red { return", "red { if ((x + y) % 2 != 0) return get(u, 0, 0); return", "black { return", "black { if ((x + y) % 2 == 0) return get(u, 0, 0); return").Replace(s.Text()))
	for i := range s.Stages {
		if got, want := StageSource(s, i), StageSource(hand, i); got != want {
			t.Errorf("stage %d:\n%s\nis not\n%s", i, got, want)
		}
	}
	if s.Hash == hand.Hash || hand.Stages[0].Color != nil {
		t.Error("a kernel of half sweeps would be taken for one of the file without")
	}
}

func TestColorsThatMeetAcrossAnEdge(t *testing.T) {
	wrap := mustParse(t, fmt.Sprintf(redAndBlack, "wrap"))
	for size, want := range map[Size]string{{8, 6, 1}: "", {7, 6, 1}: "x", {8, 5, 1}: "y", {7, 5, 1}: "x, y", {1, 8, 1}: ""} {
		if got := (Problem{Stencil: wrap, DType: Float32, Size: size}).Seams(); got != want {
			t.Errorf("%s: %q, want %q", size.Text(2), got, want)
		}
	}
	if got := (Problem{Stencil: mustParse(t, fmt.Sprintf(redAndBlack, "mirror")), DType: Float32, Size: Size{7, 5, 1}}).Seams(); got != "" {
		t.Errorf("mirror: %q", got)
	}
}

func TestColorErrors(t *testing.T) {
	const body = "NumDimensions 2\nStencilSize (2, 1)\nFields (u)\nReadOnly (f)\nconst int FOUR = 4; float beside(int i) { return get(u, i, 0); }\n%s\nCellValue { return 0.2 * (%s); }\n"
	for _, c := range []struct{ color, value, want string }{
		{"Color x + y % 2 == 0", "get(u, 1, 0)", "s.sl:6:7: a Color is a sum of coordinates whose remainder is compared, like (x + y) % 2 == 0"},
		{"Color (x % 2) + 2 * (y % 2) == 1", "get(u, 1, 0)", "joined by &&, like x % 2 == 0 && y % 2 == 1"},
		{"Color (x * y) % 2 == 0", "get(u, 1, 0)", "a Color is a sum"},
		{"Color (x + input_size.x) % 2 == 0", "get(u, 1, 0)", "a Color is a sum"},
		{"Color (x + y) % 2 == 0 || x % 2 == 1", "get(u, 1, 0)", "a Color is a sum"},
		{"Color x % y == 0", "get(u, 1, 0)", "a Color is a sum"},
		{"Color get(u, 0, 0) % 2 == 0", "get(u, 1, 0)", `want the name of a stage here, found "get"`},
		{"Color (x + y) % 0 == 0", "get(u, 1, 0)", "division by zero"},
		{"Color (x + y) % 65 == 0", "get(u, 1, 0)", "a grid has 2 to 64 colours, not 65"},
		{"Color (x + y) % 2 == 2", "get(u, 1, 0)", "a remainder of 2 is 0 to 1, not 2"},
		{"Color (x + 2 * y) % 4 != 0", "get(u, 1, 0)", "cells of 3 colours at once are neighbours of each other"},
		{"Color (2 * x) % 4 == 1", "get(u, 1, 0)", "this holds for every cell or for none"},
		{"Color (4 * x) % FOUR == 0", "get(u, 1, 0)", "this holds for every cell or for none"},
		{"Color z % 2 == 0", "get(u, 1, 0)", "there is no axis z"},
		{"Color red (x + y) % 2 == 0", "get(u, 1, 0)", `want the name of a stage here, found "red"`},
		{"Color x % 2 == 0 Color x % 2 == 1", "get(u, 1, 0)", "the stage has a Color already; join the parts of one by &&"},
		{"Color", "get(u, 1, 0)", `s.sl:7:1: want a condition here, like (x + y) % 2 == 0, found "CellValue"`},
		{"Color (x + y) % 2 == 0", "get(u, 1, -1)", "s.sl:7:27: get(u, 1, -1) is a cell of the own colour, or by the boundary rule may stand for one"},
		{"Color (x + y) % 2 == 0", "get(u, 1, 0) + get(u, -2, 0)", "get(u, -2, 0) is a cell of the own colour"},
		{"Color (x + y) % 2 == 0", "beside(1) + beside(2) + beside(1)", "s.sl:5:50: get(u, 2, 0) is a cell of the own colour"},
		{"Color (x + y) % 2 == 0", "beside(1) + beside(2) + beside(1)", "and set a second field (in beside, called at 7:39)"},
		{"Color (x + y) % 2 == 0", "get(u, 1, 0) + get(f, 1, 1)", ""},
		{"Color (x + 2 * y) % FOUR == 3", "get(u, 1, 1) + get(u, -1, 1) + get(u, 1, 0) + get(u, 0, -1)", ""},
		{"Color x % 2 == 1 && (1 + y) % 2 == 0", "get(u, 1, 1) + get(u, -1, 1) + get(u, 1, 0) + get(u, 0, -1)", ""},
		{"Color x % 3 == 0\nBoundary clamp", "get(u, 2, 0)", ""},
		{"Color (x + y) % 3 == 0\nBoundary clamp", "get(u, 2, -1)", "may stand for one"},
		{"Color (x + y) % 3 == 0\nBoundary clamp", "get(u, 2, 1)", "may stand for one"},
		{"Color (x + 2 * y) % 3 == 0\nBoundary x mirror", "get(u, 1, -1)", "may stand for one"},
		{"Color (x + y) % 3 == 0\nBoundary x mirror", "get(u, 1, 0) + get(u, 2, -1)", "get(u, 2, -1)"},
		{"Color (x + y) % 3 == 0\nBoundary constant 0", "get(u, 2, -1)", ""},
		{"Color (x + y) % 2 == 0\nPoints ((1, 0))", "get(u, 1, 0)", ""}, // a cell of another colour is no get() of the file
	} {
		_, err := Parse("s", "s.sl", fmt.Sprintf(body, c.color, c.value))
		if c.want == "" && err != nil || c.want != "" && (err == nil || !strings.Contains(err.Error(), c.want)) {
			t.Errorf("%s, %s: %v, want %q", c.color, c.value, err, c.want)
		}
	}
	_, err := Parse("s", "s.sl", strings.Replace(fmt.Sprintf(redAndBlack, "clamp"), "Color red", "Color", 1))
	if err == nil || !strings.Contains(err.Error(), "the colour of which stage? write Color red (") {
		t.Error(err)
	}
	// Where v has no cell, the one beside is read, which has the own colour.
	_, err = Parse("s", "s.sl", "NumDimensions 2 StencilSize (1, 1) Fields (u, v) Short (v x) Color (x + y) % 2 == 0\nCellValue { return get(v, 0, 1), get(u, 0, 1); }")
	if err == nil || !strings.Contains(err.Error(), "s.sl:2:20: get(v, 0, 1) is a cell of the own colour, or by the boundary rule may stand for one") {
		t.Error(err)
	}
}

func TestColorsHaveOneLayout(t *testing.T) {
	src := "NumDimensions 2\nStencilSize(1,1)\nFields(u)\nStages(a,b)\nColor a( x+2*y-3 )%4==-1+2\nColor b x%2==0&&(-y)%2!=1\nCellValue a{return get(u,1,0);}\nCellValue b{return get(u,1,1);}\n"
	want := "NumDimensions 2\nStencilSize (1, 1)\nFields (u)\nStages (a, b)\nColor a (x + 2 * y - 3) % 4 == -1 + 2\nColor b x % 2 == 0 && (-y) % 2 != 1\nCellValue a { return get(u, 1, 0); }\nCellValue b { return get(u, 1, 1); }\n"
	if got := sameFormatted(t, src); got != want {
		t.Errorf("got\n%s", got)
	}
	if got := mustParse(t, src).Stages[0].Color.String(); got != "(x + 2 * y) % 4 == 0" {
		t.Error(got)
	}
}
