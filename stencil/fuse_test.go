package stencil

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

const twoStages = "NumDimensions 2 StencilSize (1, 1) Fields (u, v, w) Stages (p, q) " +
	"CellValue p (v, w) { return get(u, 1, 0) - get(u, 0, 0), 2 * get(u, 0, -1); } " +
	"CellValue q (u) { return get(u, 0, 0) + get(v, 0, 0) - get(v, -1, 0) + get(w, 0, 1); }"

func TestFusedStepReadsWhatItsStagesRead(t *testing.T) {
	s := mustParse(t, twoStages)
	f := s.Fused()
	if f == nil || len(f.Stages) != 1 || f.Of != s || f.Hash != s.Hash || f != s.Fused() {
		t.Fatalf("fused: %+v", f)
	}
	st := f.Stages[0]
	if diff := cmp.Diff([]int{0, 1, 2}, st.Outputs); diff != "" {
		t.Errorf("outputs: %s", diff)
	}
	// v and w are set before anybody reads them. u is read by q at its own cell, and by p at
	// (1, 0), (0, 0) and (0, -1) from each place where p is computed.
	want := [][]Offset{{{-1, -1}, {0, -1}, {-1, 0}, {0, 0}, {1, 0}, {0, 1}, {1, 1}}, nil, nil}
	if diff := cmp.Diff(want, st.Points); diff != "" {
		t.Errorf("points: %s", diff)
	}
	if st.Low != [3]int{1, 1, 0} || st.High != [3]int{1, 1, 0} || f.Low != st.Low || f.High != st.High {
		t.Errorf("reach %v %v", st.Low, st.High)
	}
	if diff := cmp.Diff([][]Offset{{{-1, 0}, {0, 0}, {0, 1}}, {{}}}, f.Evaluations); diff != "" {
		t.Errorf("evaluations: %s", diff)
	}
	if want := s.Stages[0].Ops.times(3).plus(s.Stages[1].Ops); f.Ops != want {
		t.Errorf("operations %+v, want %+v", f.Ops, want)
	}
	if s.Launched(2) != s || s.Launched(0) != f || f.Fused() != nil {
		t.Error("kernels of one entry and of two run the wrong stencil")
	}
	if one := lookup(t, "jacobi2d"); one.Fused() != nil || one.Launched(0) != one {
		t.Error("a step of one stage is fused")
	}
	if f.Plain() == nil {
		t.Error("a fused step passes for a plain stencil")
	}
}

func TestReachOfFusedStagesAddsUpOnEitherSide(t *testing.T) {
	// Next to the edge p is computed at the cell that stands for (x - 2): up to (x), from
	// where it reads x + 1, though q reads p nowhere but at x - 2.
	f := mustParse(t, "NumDimensions 1 StencilSize (2) Fields (u, v) Stages (p, q) CellValue p (v) { return get(u, 1); } CellValue q (u) { return get(v, -2); }").Fused()
	if f.Low != [3]int{2, 0, 0} || f.High != [3]int{1, 0, 0} {
		t.Errorf("reach %v %v", f.Low, f.High)
	}
}

func TestStagesThatComputeTooMuchAreNotFused(t *testing.T) {
	box := "CellValue %a (%b) { float s = 0; for (int i = -2; i <= 2; i++) for (int j = -2; j <= 2; j++) s += get(%c, i, j); return s; } "
	stage := func(name, sets, reads string) string {
		return strings.NewReplacer("%a", name, "%b", sets, "%c", reads).Replace(box)
	}
	head := "NumDimensions 2 StencilSize (2, 2) Fields (u, v) "
	if f := mustParse(t, head+"Stages (p, q) "+stage("p", "v", "u")+stage("q", "u", "v")).Fused(); f == nil || len(f.Evaluations[0]) != 25 {
		t.Error("25 evaluations are too many")
	}
	if f := mustParse(t, head+"Stages (p, q, r) "+stage("p", "v", "u")+stage("q", "u", "v")+stage("r", "v", "u")).Fused(); f != nil {
		t.Errorf("%d evaluations are not too many", len(f.Evaluations[0]))
	}
}

func TestStepThatLeavesNothingIsNotFused(t *testing.T) {
	s := mustParse(t, "NumDimensions 1 StencilSize (1) Fields (u, v) Temporary (v) Stages (p, q) CellValue p (v) { return get(u, 1); } CellValue q (v) { return get(v, 1); }")
	if s.Fused() != nil {
		t.Error("it is")
	}
}

func TestTemporaryFieldsAreNeitherWrittenNorCompared(t *testing.T) {
	s := mustParse(t, strings.Replace(twoStages, "Stages", "Temporary (v, w) Stages", 1))
	if diff := cmp.Diff([]int{0}, s.Fused().Stages[0].Outputs); diff != "" {
		t.Errorf("outputs: %s", diff)
	}
	if s.Hash == mustParse(t, twoStages).Hash {
		t.Error("the same hash with and without Temporary")
	}
	p := Problem{Stencil: s, DType: Float32, Size: Size{4, 3, 1}, Steps: 2}
	want := Expected(p, 1, 2)
	for i, v := range want {
		if (i >= 12) != (v == 0) {
			t.Fatalf("cell %d is %v", i, v)
		}
	}
}

func TestTemporaryFieldsMustBeSetBeforeTheyAreRead(t *testing.T) {
	head := "NumDimensions 1 StencilSize (1) Fields (u, v) "
	stages := "Stages (p, q) CellValue p (v) { return get(u, 1); } CellValue q (u) { return get(v, 0) + get(u, -1); } "
	for src, want := range map[string]string{
		head + "Temporary (x) " + stages:                                                       "s.sl:1:58: want the name of a field here, found \"x\"; Fields declares them all",
		head + "Temporary (v, v) " + stages:                                                    "s.sl:1:61: \"v\" is named twice; remove one",
		head + "Temporary (u) " + stages:                                                       "s.sl:1:58: CellValue p reads \"u\" of the time step before, so it is not temporary",
		head + "Boundary v fixed Temporary (v) " + stages:                                      "s.sl:1:75: with a rule fixed of its own a cell near the edge keeps \"v\" of the time step before, so it is not temporary",
		head + "Temporary (v) CellValue (u) { return get(u, 1); }":                             "s.sl:1:58: no stage sets \"v\"; remove it",
		head + "Temporary (v) " + stages + "Reduce max { return value(v); } Until < 1 every 2": "s.sl:1:58: Reduce reads \"v\", so it is not temporary",
		"NumDimensions 1 StencilSize (1) ReadOnly (r) Temporary (u) Fields (u) Stages (p) CellValue p (u) { return get(r, 1); }": "s.sl:1:57: every field is temporary, so a run gives nothing; leave one out",
	} {
		_, err := Parse("s", "s.sl", src)
		if err == nil || !strings.HasPrefix(err.Error(), want) {
			t.Errorf("%s\n got %v\nwant %s", src, err, want)
		}
	}
}

// A temporary field has nothing to keep where the rule of all is fixed: it is computed at every cell, and the field that lasts is held.
func TestTemporaryFieldsUnderFixedAreComputedEverywhere(t *testing.T) {
	s := mustParse(t, "NumDimensions 1 StencilSize (2) DataType double Fields (u, v) Temporary (v) Boundary fixed Stages (p, q) "+
		"CellValue p (v) { return get(u, 2) * get(u, 0); } CellValue q (u) { return get(u, 0) + get(v, -1) - get(v, 1); }")
	p := Problem{Stencil: s, DType: Float64, Size: Size{11, 1, 1}}
	d := Start(p, 1)
	u := append([]float64(nil), d.Fields[0].Float...)
	for range 3 {
		v, next := make([]float64, len(u)), append([]float64(nil), u...)
		for i := range u {
			v[i] = u[min(i+2, len(u)-1)] * u[i]
		}
		for i := 1; i < len(u)-1; i++ {
			next[i] = u[i] + v[i-1] - v[i+1]
		}
		u = next
	}
	nearly(t, Run(p, d, 3).Fields[0].Float, u)
}
