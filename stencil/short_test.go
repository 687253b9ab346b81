package stencil

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
)

// randomShort writes a file with short arrays, of any rules that they may have.
func randomShort(r *rand.Rand) string {
	pick := func(of ...string) string { return of[r.IntN(len(of))] }
	dims := 1 + r.IntN(3)
	var b strings.Builder
	line := func(format string, args ...any) { fmt.Fprintf(&b, format+"\n", args...) }
	line("NumDimensions %d\nStencilSize (%s)\nDataType %s", dims, strings.Repeat("3, ", dims-1)+"3", pick("double", "int"))
	along := r.IntN(dims) // which w lies along
	line("Fields (a, b, c)\nReadOnly (m, w[%c])", "xyz"[along])
	var short []string
	for _, name := range []string{"b", "c", "m"} {
		axes := ""
		for axis := range dims {
			if r.IntN(2) == 0 {
				axes += " " + "xyz"[axis:axis+1]
			}
		}
		if axes != "" {
			short = append(short, name+axes)
		}
	}
	if r.IntN(2) == 0 {
		short = append(short, fmt.Sprintf("w %c", "xyz"[along]))
	}
	if len(short) == 0 {
		short = []string{"b x"}
	}
	line("Short (%s)", strings.Join(short, ", "))
	edged := r.IntN(4) == 0
	for _, name := range []string{"a", "b", "c"} {
		for axis := range dims {
			low := pick("clamp", "mirror", "constant 2", "fixed")
			high := pick("clamp", "constant 2", "constant 3", "fixed")
			if name == "a" {
				high = pick("clamp", "constant 2", "fixed", "mirror")
			}
			if axis > 0 && edged { // EdgeValue beyond two axes is refused
				low, high = "clamp", "clamp"
			}
			line("Boundary %s %c (%s, %s)", name, "xyz"[axis], low, high)
		}
	}
	if edged {
		text := strings.ReplaceAll(b.String(), "Boundary b x", "# ")
		b.Reset()
		b.WriteString(text)
		line("EdgeValue b %s{ return 2 + value; }\nEdgeValue b x high { return 3 - value; }", pick("x low ", ""))
	}
	get := func(name string, reach int) string {
		at := ""
		only := r.IntN(dims + 1) // one axis, or all
		for axis := range dims {
			o := r.IntN(2*reach+1) - reach
			if only < dims && axis != only {
				o = 0
			}
			at += fmt.Sprint(", ", o)
		}
		return "get(" + name + at + ")"
	}
	value := func() string {
		v := get("a", 2) + pick("", fmt.Sprintf(" - get(w, %d)", r.IntN(5)-2))
		for range 1 + r.IntN(3) {
			v += pick(" + ", " - ") + get(pick("a", "b", "c", "m"), 2)
		}
		return v + pick("", "", fmt.Sprintf(" + (%s > 0 ? %s : 1)", get("b", 1), get("c", 1)))
	}
	line("Stages (one, two)")
	line("CellValue one (b, c) { %sreturn %s, %s; }", pick("", fmt.Sprintf("if (x == 1) return %s, %s; ", value(), value())), value(), value())
	line("CellValue two (a) { %s v = %s; return v - %s; }", pick("double", "int"), value(), value())
	if r.IntN(3) == 0 {
		line("Sources shot (b) { return get(b%s) + value; }\nReceivers trace { return %s; }", strings.Repeat(", 0", dims), get("b", 2))
	}
	return b.String()
}

// TestShortArraysEndWhereTheySay computes random files as they stand, each array with the extents of its own, and by the
// conditions that kernels are given.
func TestShortArraysEndWhereTheySay(t *testing.T) {
	compared, refused := 0, map[string]int{}
	for seed := range uint64(400) {
		r := rand.New(rand.NewPCG(seed, 1))
		text := randomShort(r)
		lowered, err := Parse("r", "r.sl", text)
		if err != nil {
			switch {
			case strings.Contains(err.Error(), "beyond two axes at once"):
				refused["corner"]++
			case strings.Contains(err.Error(), "as many cells at the low end"):
				refused["low"]++
			default:
				t.Fatalf("%v\n%s", err, text)
			}
			continue
		}
		native, err := parse("r", "r.sl", text, true)
		if err != nil || !native.native || lowered.native {
			t.Fatal(err, native.native, lowered.native)
		}
		p := Problem{Stencil: lowered, DType: lowered.DType, Size: Size{1, 1, 1}, Steps: 2}
		for axis := range lowered.Dims {
			p.Size[axis] = 2 + r.IntN(6)
		}
		if lowered.mirrored() { // by less than the grid: conditions know one reflection
			for axis := range lowered.Dims {
				p.Size[axis] += 4
			}
		}
		d := Start(p, uint32(seed))
		got := Run(p, d, 2)
		p.Stencil = native
		want := Run(p, d, 2)
		for f := range got.Fields {
			if !slices.Equal(got.Fields[f].Float, want.Fields[f].Float) || !slices.Equal(got.Fields[f].Int, want.Fields[f].Int) {
				t.Fatalf("seed %d, %v, field %d\n%v\n%v\n%s", seed, p.Size, f, got.Fields[f], want.Fields[f], text)
			}
			for i := range int(p.Size.Cells()) { // a layer that a field lacks keeps what it holds
				at := [3]int{i % p.Size[0], i / p.Size[0] % p.Size[1], i / p.Size[0] / p.Size[1]}
				for axis, short := range lowered.Fields[f].Short {
					if now, before := want.Fields[f].Floats(p.DType)[i], d.Fields[f].Floats(p.DType)[i]; short && at[axis] == p.Size[axis]-1 && now != before {
						t.Fatalf("seed %d: cell %v of field %d was %v and is %v\n%s", seed, at, f, before, now, text)
					}
				}
			}
		}
		for i := range got.Records {
			if !slices.Equal(got.Records[i].Float, want.Records[i].Float) || !slices.Equal(got.Records[i].Int, want.Records[i].Int) {
				t.Fatalf("seed %d, records differ\n%s", seed, text)
			}
		}
		compared++
	}
	if t.Logf("%d compared, refused: %v", compared, refused); compared < 300 {
		t.Error("too few files are compared")
	}
}

func (s *Stencil) mirrored() bool { return s.Mirrors(0) || s.Mirrors(1) || s.Mirrors(2) }

// cavity is one step of examples/stencils/cavity.sl as Yee's scheme is written: arrays of n and n - 1 elements, the electric field
// held at the walls.
func cavity(f, _ []plane) [][]float64 {
	nx, ny := f[0].n[0], f[0].n[1]
	ez, hx, hy := f[0].part(nx, ny), f[1].part(nx, ny-1), f[2].part(nx-1, ny)
	for j := range ny - 1 {
		for i := range nx {
			hx[j][i] -= 0.5 * (ez[j+1][i] - ez[j][i])
		}
	}
	for j := range ny {
		for i := range nx - 1 {
			hy[j][i] += 0.5 * (ez[j][i+1] - ez[j][i])
		}
	}
	for j := 1; j < ny-1; j++ {
		for i := 1; i < nx-1; i++ {
			ez[j][i] += 0.5 * (hy[j][i] - hy[j][i-1] - hx[j][i] + hx[j-1][i])
		}
	}
	return [][]float64{f[0].with(ez), f[1].with(hx), f[2].with(hy)}
}

// tank is one step of examples/stencils/tank.sl: at the rigid walls the velocity is held, at the surface the pressure beyond is 0.
func tank(f, r []plane) [][]float64 {
	nx, ny := f[0].n[0], f[0].n[1]
	p, u, v, k := f[0].part(nx-1, ny-1), f[1].part(nx, ny-1), f[2].part(nx-1, ny), r[0].part(nx-1, ny-1)
	for j := range ny - 1 {
		for i := 1; i < nx-1; i++ {
			u[j][i] -= 0.5 * (p[j][i] - p[j][i-1])
		}
	}
	for i := range nx - 1 {
		for j := 1; j < ny-1; j++ {
			v[j][i] -= 0.5 * (p[j][i] - p[j-1][i])
		}
		v[ny-1][i] -= 0.5 * (0 - p[ny-2][i])
	}
	for j := range ny - 1 {
		for i := range nx - 1 {
			p[j][i] -= k[j][i] * (u[j][i+1] - u[j][i] + v[j+1][i] - v[j][i])
		}
	}
	return [][]float64{f[0].with(p), f[1].with(u), f[2].with(v)}
}

// dyed is one step of examples/stencils/dye.sl: arrays of their own extents within ghost cells, and what flows through a side leaves one
// cell for the other.
func dyed(f, _ []plane) [][]float64 {
	nx, ny := f[0].n[0], f[0].n[1]
	u, v, c := f[0].part(nx, ny-1), f[1].part(nx-1, ny), f[2].part(nx-1, ny-1)
	ghosts := func(rows [][]float64, sign float64, alongX bool) func(i, j int) float64 {
		return func(i, j int) float64 {
			switch {
			case alongX && j < 0:
				return sign * rows[0][i]
			case alongX && j >= len(rows):
				return sign * rows[len(rows)-1][i]
			case !alongX && i < 0:
				return sign * rows[j][0]
			case !alongX && i >= len(rows[0]):
				return sign * rows[j][len(rows[0])-1]
			}
			return rows[j][i]
		}
	}
	moved := func(at func(i, j int) float64, i, j int, p, q float64) float64 {
		here, rate := at(i, j), 0.1*(at(i-1, j)+at(i+1, j)+at(i, j-1)+at(i, j+1)-4*at(i, j))
		for axis, speed := range []float64{p, q} {
			di, dj := 1-axis, axis
			if speed > 0 {
				rate -= speed * (here - at(i-di, j-dj))
			} else {
				rate -= speed * (at(i+di, j+dj) - here)
			}
		}
		return here + 0.1*rate
	}
	nu, nv := f[0].part(nx, ny-1), f[1].part(nx-1, ny)
	atU, atV := ghosts(u, -1, true), ghosts(v, -1, false)
	for j := range ny - 1 {
		for i := 1; i < nx-1; i++ {
			nu[j][i] = moved(atU, i, j, u[j][i], (v[j][i-1]+v[j][i]+v[j+1][i-1]+v[j+1][i])/4)
		}
	}
	for j := 1; j < ny-1; j++ {
		for i := range nx - 1 {
			nv[j][i] = moved(atV, i, j, (u[j-1][i]+u[j-1][i+1]+u[j][i]+u[j][i+1])/4, v[j][i])
		}
	}
	nc := f[2].part(nx-1, ny-1)
	flow := func(speed float64, i, j, k, l int) {
		var inside [2]bool
		var values [2]float64
		for s, at := range [][2]int{{i, j}, {k, l}} {
			inside[s] = at[0] >= 0 && at[1] >= 0 && at[0] < nx-1 && at[1] < ny-1
			values[s] = c[min(max(at[1], 0), ny-2)][min(max(at[0], 0), nx-2)]
		}
		through := 0.1 * (max(speed, 0)*values[0] + min(speed, 0)*values[1] - 0.05*(values[1]-values[0]))
		if inside[0] {
			nc[j][i] -= through
		}
		if inside[1] {
			nc[l][k] += through
		}
	}
	for j := range ny {
		for i := range nx {
			if j < ny-1 {
				flow(nu[j][i], i-1, j, i, j)
			}
			if i < nx-1 {
				flow(nv[j][i], i, j-1, i, j)
			}
		}
	}
	return [][]float64{f[0].with(nu), f[1].with(nv), f[2].with(nc)}
}

// part is an array of its own extents, from the low ends of one with the grid's.
func (p plane) part(nx, ny int) (rows [][]float64) {
	for j := range ny {
		rows = append(rows, slices.Clone(p.v[j*p.n[0]:][:nx]))
	}
	return rows
}

// with is an array with the grid's extents after a part of it has changed.
func (p plane) with(part [][]float64) []float64 {
	all := slices.Clone(p.v)
	for j, row := range part {
		copy(all[j*p.n[0]:], row)
	}
	return all
}

func TestShortArraysThatMakeNoSenseAreRefused(t *testing.T) {
	const file = "NumDimensions 2\nStencilSize (1, 1)\nFields (p, u)\nReadOnly (k, w[x])\n%s\nStages (one, two)\nCellValue one (u) { return get(p, 0, 0) - get(p, -1, 0) + get(k, 0, 0) + get(w, 0) + %s; }\nCellValue two (p) { return get(u, 1, 0) - get(u, 0, 0) + get(p, %s); }\n"
	for _, c := range []struct{ keys, more, at, want string }{
		{"Short (p x)", "0", "0, 0", ""},
		{"Short (p x y, k y, w x)", "0", "0, 0", ""},
		{"Short (p)", "0", "0, 0", `5:9: want the axes on which p ends one cell before the grid here, like Short (p x), found ")"`},
		{"Short (p z)", "0", "0, 0", "there is no axis z: NumDimensions is 2"},
		{"Short (p x x)", "0", "0, 0", "p is short on x already"},
		{"Short (q x)", "0", "0, 0", "want the name of a field or a read-only array here, found \"q\""},
		{"Short (w y)", "0", "0, 0", "w lies along x alone"},
		{"Short (p x, u x)", "0", "0, 0", "every field is short on x"},
		{"Short (p x)\nShort (u y)", "0", "0, 0", "Short is given twice"},
		{"Short (p x)\nBoundary (wrap, clamp)", "0", "0, 0", "5:8: axis x wraps, where arrays have as many cells between the points as points; remove p from Short"},
		{"Short (p x)\nBoundary mirror", "0", "0, 0", "use clamp there, which mirrors between two cells: Boundary p x (mirror, clamp)"},
		{"Short (p x)\nBoundary mirror\nBoundary p x (mirror, clamp)", "0", "0, 0", ""},
		{"Short (p x)\nEdgeValue p x high { return x; }", "0", "0, 0", "EdgeValue p x high { return -value; }"},
		{"Short (p x)\nEdgeValue p x high { return -value; }", "0", "0, 0", ""},
		{"Short (p x)\nBoundary p (constant 1, constant 1)", "0", "1, 1", ""},
		{"Short (k x)\nBoundary u x (fixed, clamp)", "0", "0, 0", ""},
		{"Short (w x)\nBoundary u y fixed", "0", "0, 0", ""},
		{"Short (w x, k y)\nBoundary u y (fixed, clamp)", "0", "0, 0", "5:13: u keeps as many cells at the low end of y as are read beyond it, which are 0, but at the high end a cell nearer is read in place of the one that k lacks; hold u by a condition on y"},
		{"Short (p y)\nBoundary p (constant 1, constant 2)", "0", "1, 1", "a get() of p leads beyond two axes at once"},
		{"Short (p x)\nReduce sum { return value(p); }", "0", "0, 0", "Reduce looks at all cells of the grid, of which p lacks the last on x"},
		{"Short (p x)\nReduce sum { return x < input_size.x - 1 ? value(p) : 0; }", "0", "0, 0", ""},
		{"Short (p x)\nStepScalar max s { return get(p, 0, 0); }", "s", "0, 0", "StepScalar s looks at all cells of the grid"},
		{"Short (u x)\nSources shot (p) { return get(p, 0, 0) + get(u, 0, 0) * value; }", "0", "0, 0", "sources shot read u where it has no cell"},
		{"Short (p x)\nPoints ((0, 0), (-1, 0), (1, 0))", "0", "0, 0", ""},
	} {
		_, err := Parse("s", "s.sl", fmt.Sprintf(file, c.keys, c.more, c.at))
		if c.want == "" && err != nil || c.want != "" && (err == nil || !strings.Contains(err.Error(), c.want)) {
			t.Errorf("%s: %v; want %q", c.keys, err, c.want)
		}
	}
	long := "NumDimensions 3\nStencilSize (16, 16, 16)\nFields (a, b)\nShort (b x y z)\nCellValue { return get(b, 16, 16, 16) + get(b, 15, 16, 16) + get(b, 16, 15, 16) + get(b, 14, 16, 16), get(a, 0, 0, 0); }"
	if _, err := Parse("s", "s.sl", long); err == nil || !strings.Contains(err.Error(), "take more than 20000 operations") {
		t.Error(err)
	}
}

// TestAShortArrayAlongAnAxisHasAnElementLess: beyond its last one that is read.
func TestAShortArrayAlongAnAxisHasAnElementLess(t *testing.T) {
	s := mustParse(t, "NumDimensions 1 StencilSize (2) DataType double Fields (u) ReadOnly (w[x]) Short (w x) CellValue { return 0 * get(u, 0) + 10000 * get(w, -2) + 100 * get(w, 0) + get(w, 1); }")
	d := Data{Fields: []Values{{Float: make([]float64, 5)}}, ReadOnly: []Values{{Float: []float64{1, 2, 3, 4, 99}}}}
	p := Problem{Stencil: s, DType: Float64, Size: Size{5, 1, 1}, Steps: 1}
	nearly(t, Run(p, d, 1).Fields[0].Float, []float64{10102, 10203, 10304, 20404, 30404})
}

// TestWhatIsWithinTheGridIsComputedAsEver: an array that nothing is read beyond, or of a stage that holds its cells there,
// costs no condition but the one by which its field keeps the layer that it lacks.
func TestWhatIsWithinTheGridIsComputedAsEver(t *testing.T) {
	s := mustParse(t, strings.Join([]string{"NumDimensions 1", "StencilSize (1)", "Fields (e, h)", "Short (h x)", "Boundary e fixed", "Stages (a, b)",
		"CellValue a (h) { return get(h, 0) + get(e, 1) - get(e, 0); }", "CellValue b (e) { return get(e, 0) + get(h, 0) - get(h, -1); }"}, "\n"))
	for i, want := range []string{"return (px >= nx - 1) ? get_1(0, 0, 0) : get_1(0, 0, 0) + get_0(1, 0, 0) - get_0(0, 0, 0);\n",
		"return (px >= nx - 1) ? get_0(0, 0, 0) : get_0(0, 0, 0) + get_1(0, 0, 0) - get_1(-1, 0, 0);\n"} {
		if got := StageSource(s, i); got != want {
			t.Errorf("%s; want %s", got, want)
		}
	}
	if s.Ops != (Ops{Add: 4}) {
		t.Errorf("%+v", s.Ops)
	}
}

// An array that is short where it mirrors must have all cells whose images are read.
func TestLeastHasTheImagesOfShortArrays(t *testing.T) {
	for text, want := range map[string]Size{
		"StencilSize (1, 9) Fields (v, w) Short (v y) Boundary v y (mirror, clamp) CellValue { return get(v, 0, 0), get(v, 0, -9); }":                                                                 {1, 11, 1},
		"StencilSize (1, 9) Fields (v, w) Short (v y) CellValue { return get(v, 0, 0), get(v, 0, -9); }":                                                                                              {1, 2, 1},
		"StencilSize (1, 9) Fields (v, w) Short (v y) Boundary y (mirror, clamp) CellValue { return get(v, 0, 0), get(w, 0, -9) + get(v, 0, -1); }":                                                   {1, 3, 1},
		"StencilSize (1, 9) Fields (v, w) Short (v y) Boundary v y (mirror, clamp) CellValue { return get(v, 0, 0), get(w, 0, -9); } Reduce sum { return y < input_size.y - 1 ? get(v, 0, -3) : 0; }": {1, 5, 1},
		"StencilSize (1, 9) ReadOnly (k[y]) Short (k y) Boundary k y (mirror, clamp) CellValue { return get(0, -9) + get(k, 0) * get(k, -4); }":                                                       {1, 6, 1},
		"StencilSize (1, 9) Fields (v, w) Boundary y (mirror, clamp) CellValue { return get(v, 0, 0), get(v, 0, -9); }":                                                                               {1, 1, 1},
	} {
		s, err := Parse("s", "s.sl", "NumDimensions 2 "+text)
		if err != nil {
			t.Fatal(err)
		}
		if got := s.Least(); got != want {
			t.Errorf("%s: %v, want %v", text, got, want)
		}
	}
}
