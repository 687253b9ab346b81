package model

import (
	"testing"

	"stenciltune/kernels"
	"stenciltune/machine/machinetest"
)

func TestInterferenceFormula(t *testing.T) {
	if got := MissRate(0); got != 0 {
		t.Errorf("nothing interferes: %v", got)
	}
	if got := MissRate(0.5, 0.5); got != 0.75 {
		t.Errorf("1 - 0.5 * 0.5: %v", got)
	}
	if got := MissRate(0.1, 0.2, 2); got != 1 {
		t.Errorf("another fills the cache: %v", got)
	}
	before := 0.0
	for self := 0.0; self <= 1; self += 0.05 {
		if m := MissRate(self, 0.3); m < before {
			t.Errorf("self %v: %v after %v", self, m, before)
		} else {
			before = m
		}
	}
}

func TestLayerConditionsFollowTheWalk(t *testing.T) {
	p := problem(t, "jacobi3d", "float32", [3]int{1024, 1024, 512})
	conditions := func(text string) map[string]LayerCondition {
		w := work(t, p, text)
		list := map[string]LayerCondition{}
		for _, c := range Fitted.layerConditions(p, w, machinetest.H200(), 132*8, 8) {
			list[c.Level+c.Axis] = c
		}
		return list
	}
	rows, column := conditions(naive), conditions("global/gx=64/gy=4/gz=1/wx=1/wy=1/wz=1/cw=128/zz=0/sp=0")
	// A plane in and out of 1024 x 1024 cells is 8 MiB; a column of 128 an eighth.
	if d := rows["L2z"].Distance; d != 8<<20 {
		t.Errorf("rows: %v bytes between planes", d)
	}
	if a, b := rows["L2z"], column["L2z"]; b.Distance >= a.Distance || b.Missed >= a.Missed {
		t.Errorf("rows %+v\ncolumn %+v", a, b)
	}
	small := machinetest.H200()
	small.L2Bytes = 4 << 20
	for _, c := range Fitted.layerConditions(p, work(t, p, naive), small, 132*8, 8) {
		if c.Level == "L2" && c.Axis == "z" && c.Met {
			t.Errorf("4 MiB hold 8: %+v", c)
		}
	}
	if l1 := rows["L1block"]; !l1.Met || l1.Again < 1 || l1.Capacity != 256<<10 {
		t.Errorf("L1: %+v", l1)
	}
	if _, ok := conditions(fused)["L1block"]; ok {
		t.Error("a tile in shared memory needs no L1")
	}
	// Where a block streams, neighbours across the streaming axis follow at once.
	w := work(t, p, "stream/vx=2/vy=4/wp=8/ck=4/pf=2/mb=1/ph=2")
	d := reuseDistances(p, w, 132)
	if d[1] >= d[2] || w.Window == [3]int{} || kernels.Volume(w.Window) >= kernels.Volume(w.Write) {
		t.Errorf("stream: distances %v, window %v of %v", d, w.Window, w.Write)
	}
}

func TestRowsAPowerOfTwoApartConflict(t *testing.T) {
	for _, c := range []struct {
		rows, wide int
		pitch      float64
		sets, ways int
		want       float64
	}{
		{8, 3, 128, 64, 8, 0},       // eight lines in each of three sets
		{9, 3, 128, 64, 8, 1},       // nine
		{9, 3, 126.16, 64, 8, 0},    // rows of 4037 cells spread
		{9, 1, 32, 64, 8, 0},        // every other row falls elsewhere
		{17, 1, 32, 64, 8, 9. / 17}, // nine in one set, eight in another
		{24, 2, 128, 1, 48, 0},      // fully associative: what fits is kept
		{25, 2, 128, 1, 48, 1},
	} {
		if got := Conflicts(c.rows, c.wide, c.pitch, c.sets, c.ways); got != c.want {
			t.Errorf("%+v: %v", c, got)
		}
	}
}
