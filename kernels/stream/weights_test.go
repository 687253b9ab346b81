package stream

import (
	"reflect"
	"testing"

	"stenciltune/stencil"
	"stenciltune/stencil/stenciltest"
)

func TestProportionalPlanesShareAPattern(t *testing.T) {
	const third, seventh = 0.3333333333333333, 0.14285714285714285
	column := func(w float64) []point { return []point{{0, 0, w}} }
	for name, c := range map[string]struct {
		stencil *stencil.Stencil
		want    weights
	}{
		"a line is one plane": {stenciltest.Lookup(t, "jacobi1d"), weights{
			planes:   []plane{{0, 1}},
			patterns: []pattern{{[]point{{-1, 0, third}, {0, 0, third}, {1, 0, third}}, 1}},
		}},
		"both ends of a star": {stenciltest.Lookup(t, "jacobi3d"), weights{low: 1,
			planes: []plane{{0, 1}, {1, 1}, {0, 1}},
			patterns: []pattern{{column(seventh), 2},
				{[]point{{0, -1, seventh}, {-1, 0, seventh}, {0, 0, seventh}, {1, 0, seventh}, {0, 1, seventh}}, 1}},
		}},
		"factors and a constant": {parsed(t, "1, 1", "return 0.25 * get(-1, -1) + 0.5 * get(1, -1) - 0.5 * get(-1, 0) - get(1, 0) + get(-1, 1) + 2 * get(1, 1) + 3;"), weights{low: 1, constant: 3,
			planes:   []plane{{0, 1}, {0, -2}, {0, 4}},
			patterns: []pattern{{[]point{{-1, 0, 0.25}, {1, 0, 0.5}}, 3}},
		}},
		"same points, other proportion": {parsed(t, "1, 1", "return get(-1, -1) + 2 * get(1, -1) + 2 * get(-1, 1) + get(1, 1);"), weights{low: 1,
			planes:   []plane{{0, 1}, {pattern: -1}, {1, 1}},
			patterns: []pattern{{[]point{{-1, 0, 1}, {1, 0, 2}}, 1}, {[]point{{-1, 0, 2}, {1, 0, 1}}, 1}},
		}},
		"same weights, other points": {parsed(t, "1, 1, 1", "return get(0, -1, 0) + get(0, 1, 1);"), weights{
			planes:   []plane{{0, 1}, {1, 1}},
			patterns: []pattern{{[]point{{0, -1, 1}}, 1}, {[]point{{0, 1, 1}}, 1}},
		}},
		"a plane between, and one whose weights cancel": {parsed(t, "2, 2", "return get(0, -2) + 2 * get(0, 0) + get(0, 1) - get(0, 1);"), weights{low: 2,
			planes:   []plane{{0, 1}, {pattern: -1}, {0, 2}, {pattern: -1}},
			patterns: []pattern{{column(1), 2}},
		}},
	} {
		c.want.common = 1
		got, ok := weightsOf(c.stencil)
		if !ok || !reflect.DeepEqual(got, c.want) {
			t.Errorf("%s: %t %+v\nwant %+v", name, ok, got, c.want)
		}
	}
}

func TestWeightsNeedALinearCellFunction(t *testing.T) {
	for _, st := range []*stencil.Stencil{
		stenciltest.Lookup(t, "gradient2d"),
		parsed(t, "1, 1, 1", bent),
		parsed(t, "1", "return max(get(-1), get(1));"),
		parsed(t, "0", "return get(0) * get(0);"),
	} {
		if w, ok := weightsOf(st); ok {
			t.Errorf("%s has the weights %+v", st.Text(), w)
		}
	}
}

func TestMirroredPointsOfEqualWeightAreAddedFirst(t *testing.T) {
	at := func(dx string) string { return "e[LOW_R + j - 2][LOW_X + i" + dx + "]" }
	for _, c := range []struct {
		row  []point
		want string
	}{
		{[]point{{0, -2, 1}}, at("")},
		{[]point{{-1, -2, 0.5}, {1, -2, 0.5}}, "Real(0.5) * (" + at(" - 1") + " + " + at(" + 1") + ")"},
		{[]point{{-1, -2, 0.5}, {0, -2, 0.5}, {1, -2, 0.5}}, "Real(0.5) * three(e[LOW_R + j - 2], i)"},
		{[]point{{-2, -2, 2}, {-1, -2, 3}, {0, -2, 1}, {1, -2, 3}}, at("") + " + Real(2) * " + at(" - 2") + " + Real(3) * (" + at(" - 1") + " + " + at(" + 1") + ")"},
		{[]point{{-1, -2, 1}, {0, -2, 0.25}, {1, -2, 1}}, "(" + at(" - 1") + " + " + at(" + 1") + ") + Real(0.25) * " + at("")},
		{[]point{{-1, -2, 0.5}, {1, -2, 0.25}}, "Real(0.5) * " + at(" - 1") + " + Real(0.25) * " + at(" + 1")},
		{[]point{{-2, -2, 2}, {-1, -2, 3}, {1, -2, 4}, {2, -2, 2}}, "Real(2) * (" + at(" - 2") + " + " + at(" + 2") + ") + Real(3) * " + at(" - 1") + " + Real(4) * " + at(" + 1")},
		{[]point{{1, -2, -1}, {3, -2, 1e-30}}, "Real(-1) * " + at(" + 1") + " + Real(1e-30) * " + at(" + 3")},
	} {
		if got := rowText(c.row); got != c.want {
			t.Errorf("%v:\n got  %s\n want %s", c.row, got, c.want)
		}
	}
}

func TestStagesWaitOnlyForRowsOfTheNewestPlane(t *testing.T) {
	const up3d = "1, 1, 1"
	for _, c := range []struct {
		name            string
		stencil         *stencil.Stencil
		linear          bool
		late, diagonal  bool
		ring, kept, lag int
	}{
		{"a line", stenciltest.Lookup(t, "jacobi1d"), true, false, false, 2, 0, 0},
		{"a plane", stenciltest.Lookup(t, "jacobi2d9"), true, false, false, 2, 2, 1},
		{"a star: the newest plane gives its own column", stenciltest.Lookup(t, "jacobi3d"), true, false, false, 2, 2, 1},
		{"a star of radius 2", stenciltest.Lookup(t, "jacobi3d13"), true, false, false, 2, 4, 2},
		{"a box: the newest plane gives rows", stenciltest.Lookup(t, "jacobi3d27"), true, true, true, 2, 3, 2},
		{"planes ahead only", parsed(t, up3d, "return get(0, 0, 0) + get(0, 0, 1);"), true, false, false, 2, 1, 1},
		{"rows ahead only", parsed(t, up3d, "return get(0, 0, 0) + get(0, 1, 1);"), true, true, false, 2, 2, 2},
		{"planes behind only", parsed(t, up3d, "return get(0, 0, 0) + get(0, 0, -1);"), true, false, false, 2, 1, 0},
		{"planes behind only, rows in the own", parsed(t, up3d, "return get(0, -1, 0) + get(0, 0, -1);"), true, true, false, 2, 2, 1},
		{"rows behind only", parsed(t, up3d, "return get(0, 1, -1);"), true, true, false, 2, 2, 1},
		{"diagonal behind, column ahead", parsed(t, up3d, "return get(1, 1, -1) + get(0, 0, 1);"), true, true, true, 2, 3, 2},

		{"values of a plane", stenciltest.Lookup(t, "gradient2d"), false, false, false, 1, 2, 1},
		{"values without rows", parsed(t, up3d, "return get(0, 0, -1) * get(1, 0, 1);"), false, false, false, 1, 2, 1},
		{"values, rows in the own plane", parsed(t, up3d, "return get(0, -1, 0) * get(0, 0, 1);"), false, false, false, 2, 1, 1},
		{"values, rows behind", parsed(t, up3d, "return get(0, -1, -1) * get(0, 0, 1);"), false, false, false, 3, 2, 1},
		{"values, rows ahead", parsed(t, up3d, "return get(0, 0, 0) * get(0, 1, 1);"), false, true, false, 3, 2, 2},
		{"values of a box", parsed(t, up3d, bent), false, true, false, 4, 3, 2},
	} {
		s := stagesOf(c.stencil)
		if s.linear != c.linear || s.late != c.late || s.diagonal != c.diagonal || s.ring != c.ring || s.perStage() != c.kept || s.lag() != c.lag {
			t.Errorf("%s: linear %t, late %t, diagonal %t, a ring of %d, %d planes kept, %d behind", c.name, s.linear, s.late, s.diagonal, s.ring, s.perStage(), s.lag())
		}
	}
}

func TestPlanesBeyondAreImagesWhereAStepKeepsThem(t *testing.T) {
	const symmetric = "0.5 * get(0, 0) + 0.1 * get(1, 0) + 0.2 * get(0, -1) + 0.2 * get(0, 1)"
	for _, c := range []struct {
		rule, cell string
		want       bool
	}{
		{"mirror", "return " + symmetric + ";", true},
		{"(fixed, mirror)", "return " + symmetric + ";", true},
		{"mirror", "if (x < 1) return get(0, 0); return " + symmetric + ";", true},
		{"mirror", "return 0.5 * get(0, 0) + 0.3 * get(0, -1) + 0.2 * get(0, 1);", false},
		{"mirror", "return 0.5 * get(0, 0) + 0.2 * get(1, -1) + 0.2 * get(-1, 1);", false},
		{"mirror", "if (y < 1) return get(0, 0); return " + symmetric + ";", false}, // a held plane
		{"(mirror, (mirror, clamp))", "return " + symmetric + ";", false},
		{"(mirror, clamp)", "return " + symmetric + ";", false},
		{"mirror", "return 0.5 * get(0, 0) + 0.5 * get(1, 0);", false}, // planes know nothing of each other
	} {
		st := stenciltest.Parse(t, "images", "NumDimensions 2 StencilSize (1, 1) Boundary "+c.rule+" CellValue { "+c.cell+" }")
		if s := stagesOf(st); !s.linear || s.images != c.want {
			t.Errorf("%s, %s: images %t, linear %t", c.rule, c.cell, s.images, s.linear)
		}
	}
}
