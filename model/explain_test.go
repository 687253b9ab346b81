package model

import (
	"encoding/json"
	"math"
	"slices"
	"strings"
	"testing"

	"stenciltune/kernels"
	"stenciltune/kernels/all"
	"stenciltune/machine/machinetest"
	"stenciltune/space"
	"stenciltune/space/spacetest"
	"stenciltune/stencil"
	"stenciltune/stencil/stenciltest"
)

func explain(t *testing.T, size int, text string) Explanation {
	t.Helper()
	p := cube(t).Resized([3]int{size, size, size})
	s := spacetest.Schedule(t, text)
	return Explain(p, kernels.Find(all.Families(), s.Family()), s, Facts{}, machinetest.H200())
}

func TestExplanationHoldsThePredictionAndItsAlternatives(t *testing.T) {
	e := explain(t, 512, fused)
	w := work(t, cube(t), fused)
	if e.Prediction.Seconds != Predict(cube(t), w, Facts{}, machinetest.H200()).Seconds || e.Steps != 2 || e.Launches != 500 {
		t.Errorf("%+v", e)
	}
	if e.Pyramid == nil || e.Pyramid.Height != 2 || e.Column == nil {
		t.Fatalf("%+v", e)
	}
	i := slices.IndexFunc(e.Pyramid.Alternatives, func(a Alternative) bool { return a.Value == 2 })
	if i < 0 || e.Pyramid.Alternatives[i].Seconds != e.Prediction.Seconds || e.Pyramid.Alternatives[i].Redundancy != e.Prediction.Redundancy {
		t.Errorf("its own height is not among %+v", e.Pyramid.Alternatives)
	}
	for i := 1; i < len(e.Pyramid.Alternatives); i++ {
		if a, b := e.Pyramid.Alternatives[i-1], e.Pyramid.Alternatives[i]; a.Value >= b.Value || a.DRAMBytes <= b.DRAMBytes || a.Redundancy >= b.Redundancy {
			t.Errorf("a larger height moves less and repeats more: %+v, %+v", a, b)
		}
	}
	if !strings.Contains(e.Pyramid.Why, "predicted fastest") || !strings.Contains(e.Column.Why, "L2 holds") {
		t.Errorf("%q, %q", e.Pyramid.Why, e.Column.Why)
	}
	if _, err := json.Marshal(e); err != nil {
		t.Error(err)
	}
}

func TestColumnsAreAdvisedOnlyWhereRowsDoNotFit(t *testing.T) {
	const rows = "global/gx=64/gy=4/gz=1/wx=1/wy=1/wz=1/cw=0/zz=0/sp=0"
	if e := explain(t, 512, rows); !strings.Contains(e.Column.Why, "of the whole grid, so that") || e.Column.FormulaL2 < 512 {
		t.Errorf("512: %+v", e.Column)
	}
	m := machinetest.H200()
	m.L2Bytes = 12 << 20
	p := cube(t).Resized([3]int{4096, 512, 64})
	s := spacetest.Schedule(t, rows)
	e := Explain(p, kernels.Find(all.Families(), "global"), s, Facts{}, m)
	if e.Column.FormulaL2 > 4096 || e.Column.WarpL2%32 != 0 || !strings.Contains(e.Column.Why, "the grid is 4096 wide") {
		t.Errorf("4096: %+v", e.Column)
	}
	narrow := slices.MinFunc(e.Column.Alternatives, func(a, b Alternative) int { return int(a.DRAMBytes - b.DRAMBytes) })
	if narrow.Value == 0 {
		t.Errorf("rows move least: %+v", e.Column.Alternatives)
	}
}

func TestFamiliesWithoutColumnsOrPyramidsSayNothingOfThem(t *testing.T) {
	if e := explain(t, 512, naive); e.Pyramid != nil || e.Column == nil {
		t.Errorf("%+v", e)
	}
	if e := explain(t, 512, "stream/vx=2/vy=4/wp=16/ck=8/pf=2/mb=1/ph=4"); e.Column != nil || e.Pyramid == nil {
		t.Errorf("%+v", e)
	}
}

func TestGhostZonesAreCountedAsTheirShareOfTheComputing(t *testing.T) {
	one, two := explain(t, 512, naive).Prediction, explain(t, 512, fused).Prediction
	if one.Ghost != 0 || two.Ghost <= 0 {
		t.Errorf("naive %g s, fused %g s", one.Ghost, two.Ghost)
	}
	i := slices.IndexFunc(two.Terms, func(q Term) bool { return q.Name == "issue" })
	if want := two.Terms[i].Seconds * (1 - 1/two.Redundancy); math.Abs(two.Ghost/want-1) > 1e-9 {
		t.Errorf("%g s, want %g", two.Ghost, want)
	}
	// Reuse as the Futhark thesis counts it, section 5.5.
	reuse := explain(t, 512, "tile/gx=32/gy=8/gz=4/wx=1/wy=1/wz=1/cw=0/zz=0/ph=1").Prediction.Reuse
	if math.Abs(reuse-3.514) > 1e-3 {
		t.Errorf("reuse of a 32x8x4 tile: %.4f, want 3.514", reuse)
	}
	reuse = explain(t, 512, "tile/gx=32/gy=8/gz=4/wx=1/wy=2/wz=2/cw=0/zz=0/ph=1").Prediction.Reuse
	if math.Abs(reuse-4.685) > 1e-3 {
		t.Errorf("reuse of a 32x16x8 tile: %.4f, want 4.685", reuse)
	}
}

// What memory alone would allow counts each array that a step needs, and each that it changes.
func TestWhatMemoryAllowsCountsEveryArray(t *testing.T) {
	for name, bytes := range map[string]float64{"jacobi3d": 8, "hotspot3d": 12, "acoustic3d": 16, "lbm2d": 72, "redblack": 12} {
		st := stenciltest.Lookup(t, name)
		p := stencil.Problem{Stencil: st, DType: st.DType, Size: st.DefaultSize(false), Steps: 100}
		s := space.New(kernels.Find(all.Families(), "global").Space(p, machinetest.H200()))
		for one := range s.All() {
			e := Explain(p, kernels.Find(all.Families(), "global"), one, Facts{}, machinetest.H200())
			if want := machinetest.H200().DRAMBandwidth() / bytes * float64(e.Steps); math.Abs(e.CellsBound/want-1) > 1e-9 {
				t.Errorf("%s: %g cells a second, want %g", name, e.CellsBound, want)
			}
			break
		}
	}
}
