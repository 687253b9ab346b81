package stencil

import (
	"slices"
	"strings"
	"testing"
)

func TestFaultsOfSourcesAndReceiversAreShownWhereTheyStand(t *testing.T) {
	const head = "NumDimensions 1 StencilSize (2) Fields (u, old, w) Temporary (w)\nCellValue { return get(u, 1), get(u, 0), get(u, 0); }\n"
	for _, c := range []struct{ name, src, want string }{
		{"no name", "Sources (u) { return value; }", `s.sl:3:9: want the name of a list of places here, found "("`},
		{"no field", "Sources shot { return value; }", "s.sl:3:14: want the field that the sources change here, like Sources shot (u) { return get(u, 0) + value; }"},
		{"two fields", "Sources shot (u, old) { return value; }", "s.sl:3:14: want the field that the sources change here"},
		{"no function", "Sources shot (u) Steps 3", `s.sl:3:18: want "{" here, found "Steps"; the function gives the field's new value`},
		{"a receiver's field", "Receivers rec (u)", `s.sl:3:15: want "{" here, found "("; the function gives what is recorded, like { return get(u, 0, 0); }`},
		{"a name twice", "Receivers u { return 1; }", "s.sl:3:11: u is declared twice"},
		{"two lists of a name", "Receivers a { return 1; } Receivers a { return 1; }", "s.sl:3:37: a is declared twice"},
		{"no such field", "Sources shot (v) { return value; }", `s.sl:3:15: want the name of a field here, found "v"; declare it with Fields (v)`},
		{"a temporary field", "Sources shot (w) { return value; }", "s.sl:3:15: w is temporary"},
		{"a copy", "Sources shot (old) { return value; }", "s.sl:3:1: old is what u was before the step, and takes over its array; sources shot cannot change it: name a field that a stage computes"},
		{"a neighbour", "Sources shot (u) { return get(u, 1) + value; }", "s.sl:3:1: the function of sources shot reads beside its own cell"},
		{"a temporary field recorded", "Receivers a { return get(w, 0); }", "s.sl:3:1: a reads w, which is temporary"},
		{"a value of receivers", "Receivers a { return value; }", `s.sl:3:22: unknown name "value"`},
		{"beyond StencilSize", "Receivers a { return get(u, 3); }", "s.sl:3:22: get(3) reaches beyond StencilSize"},
		{"read as an array", "Sources a (u) { return get(a, 0); }", `s.sl:3:28: get which field?`},
		{"read by name", "Sources a (u) { return a; }", "s.sl:3:24: a is a list of places; in the function of sources value is what its table has"},
		{"a range of receivers", "Receivers a { return get(u, 0); } InputRange a (0, 1)", `s.sl:3:46: want the name of a field, a read-only array or a list of sources here, found "a"`},
		{"nothing returned", "Receivers a { float b = get(u, 0); }", "s.sl:3:36: Receivers a must end with return"},
	} {
		if _, err := Parse("s", "s.sl", head+c.src); err == nil || !strings.HasPrefix(err.Error(), c.want) {
			t.Errorf("%s:\n got %v\nwant %s", c.name, err, c.want)
		}
	}
	_, err := Parse("s", "s.sl", "NumDimensions 1 StencilSize (1) Fields (u, k) CellValue (u) { return get(u, 1) * get(k, 0); } Sources a (k) { return value; }")
	if err == nil || !strings.Contains(err.Error(), "no stage sets k, which sources a change; name a field that CellValue returns") {
		t.Error(err)
	}
}

// TestListsActInOrder: sources of one cell follow each other, lists do, and receivers find what those before them left.
func TestListsActInOrder(t *testing.T) {
	s := mustParse(t, "NumDimensions 2 StencilSize (1, 1) DataType double Boundary wrap Fields (u, v) CellValue { return get(u, 1, 0), get(v, 0, 0) + 1; }"+
		"Receivers early { return get(u, 0, 0); } Sources first (u) { return 2 * get(u, 0, 0) + value * get(v, 0, 0); } Sources second (u) { return x + iteration - get(u, 0, 0) * value; } Receivers late { return get(u, -1, 0); }")
	const nx, ny = 5, 3
	u, v := make([]float64, nx*ny), make([]float64, nx*ny)
	for i := range u {
		u[i], v[i] = float64(i), float64(i%4)
	}
	d := Data{Fields: []Values{{Float: slices.Clone(u)}, {Float: slices.Clone(v)}}, Sparse: []SparseData{
		{Places: []int64{0, 14, 7}, Rows: 3},
		{Places: []int64{7, 0, 7, -1, 14, 7, 15}, Table: Values{Float: []float64{1, 2, 3, 100, 4, 5, 200, -1, -2, -3, 100, -4, -5, 200}}, Rows: 2},
		{Places: []int64{7, 4}, Table: Values{Float: []float64{0.5, 0.25, 2, 3, 1, 1, 0, 0}}, Rows: 4},
		{Places: []int64{0, 8, 99}, Rows: 4},
	}}
	early, late := make([]float64, 9), make([]float64, 12)
	for step := 1; step <= 4; step++ {
		next := make([]float64, nx*ny)
		for i := range next {
			next[i] = u[i/nx*nx+(i+1)%nx]
			v[i]++
		}
		u = next
		if step <= 3 {
			for i, at := range d.Sparse[0].Places {
				early[(step-1)*3+i] = u[at]
			}
		}
		if step <= 2 {
			for i, at := range d.Sparse[1].Places {
				if at >= 0 && at < nx*ny {
					u[at] = 2*u[at] + d.Sparse[1].Table.Float[(step-1)*7+i]*v[at]
				}
			}
		}
		for i, at := range d.Sparse[2].Places {
			u[at] = float64(int(at)%nx+step) - u[at]*d.Sparse[2].Table.Float[(step-1)*2+i]
		}
		late[(step-1)*3], late[(step-1)*3+1] = u[4], u[7]
	}
	p := Problem{Stencil: s, DType: Float64, Size: Size{nx, ny, 1}}
	got := Run(p, d, 4)
	nearly(t, got.Fields[0].Float, u)
	nearly(t, got.Fields[1].Float, v)
	nearly(t, got.Records[0].Float, early)
	nearly(t, got.Records[1].Float, late)
	// A run in two parts records the same.
	r := newRun(p, d)
	r.done = 2
	half := Run(p, d, 2)
	rest := d
	rest.Fields, rest.Records = half.Fields, half.Records
	nearly(t, r.run(rest, 4).Records[1].Float, late)
}

func TestReduceFindsWhatSourcesLeft(t *testing.T) {
	s := mustParse(t, "NumDimensions 1 StencilSize (1) DataType double CellValue { return get(0); } Sources a (u) { return value; } Fields (u) Reduce max { return value; } Until > 6")
	d := Data{Fields: []Values{{Float: make([]float64, 4)}}, Sparse: []SparseData{{Places: []int64{2}, Table: Values{Float: []float64{5, 7, 9}}, Rows: 3}}}
	if got := Run(Problem{Stencil: s, DType: Float64, Size: Size{4, 1, 1}}, d, 3); !got.Until || got.Steps != 2 || got.Reduced != 7 {
		t.Errorf("%+v", got)
	}
}

// Timings, whose seed is 1, have values in every step; some checks run past the last row.
func TestChecksAlsoRunPastTheLastRow(t *testing.T) {
	if RowsFor(1) != SparseRows || RowsFor(2) > 2 {
		t.Errorf("%d and %d rows", RowsFor(1), RowsFor(2))
	}
}

// TestPlacesOfChecksAreAlsoTheUnusual: some come twice, one is the last cell, and some lie outside.
func TestPlacesOfChecksAreAlsoTheUnusual(t *testing.T) {
	s := mustParse(t, "NumDimensions 3 StencilSize (1, 1, 1) CellValue { return get(1, 0, 0); } Receivers a { return get(0, 0, 0); }")
	for _, n := range []Size{{1, 1, 1}, {33, 7, 5}, {512, 512, 512}, {4096, 4096, 4096}} {
		p := Problem{Stencil: s, DType: Float32, Size: n}
		c, last := p.PlaceScale(), n.Cells()-1
		places := map[int64]bool{}
		for h := range uint32(1 << 12) {
			places[int64(c.of(h<<12, false))] = true
		}
		if len(places) != sparseSpread || !places[last] || sparseSpread >= SparsePlaces {
			t.Errorf("%v: %d places; the last cell %d is one: %v", n, len(places), last, places[last])
		}
		for place := range places {
			if place > last {
				t.Errorf("%v: place %d", n, place)
			}
		}
	}
}
