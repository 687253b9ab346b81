package model

import (
	"testing"

	"stenciltune/kernels"
)

// figure is the thesis's example: 16x16 cells, a 7x7 stencil, 24 lines of 4 cells
// (Prasetya 2022, table 3.1).
var figure = Rows{Wide: 16, High: 16, StencilWide: 7, StencilHigh: 7, Line: 4}

func TestBoundsOfTheThesisExample(t *testing.T) {
	for name, c := range map[string][2]int{
		"rows kept need":          {figure.Capacity(16), 42},      // ceil(23/4) * 7
		"a column of 8 needs":     {figure.Capacity(8), 28},       // more than 24: figure 4.3's column thrashes a little
		"a column of 4 needs":     {figure.Capacity(4), 21},       // fits
		"naive, 24 lines":         {figure.NaiveFetches(24), 672}, // ceil(23/4) * 16 * 7
		"naive, enough lines":     {figure.NaiveFetches(42), 96},  // ceil(23/4) * 16
		"largest tile":            {figure.TileSize(24), 6},       // 4 * 24 / 7 - 7
		"tiles of 4":              {figure.TileFetches(4), 528},   // 4 * 3 * 4 * 11
		"columns of 8":            {figure.ColumnFetches(8), 184}, // 2 * 4 * 23
		"columns of 4":            {figure.ColumnFetches(4), 276}, // 4 * 3 * 23
		"one column is the naive": {figure.ColumnFetches(16), 138},
	} {
		if c[0] != c[1] {
			t.Errorf("%s: %d lines, want %d", name, c[0], c[1])
		}
	}
	// Columns fetch no more than tiles of their width: they start afresh less often.
	for w := 1; w <= 16; w++ {
		if figure.ColumnFetches(w) > figure.TileFetches(w) {
			t.Errorf("width %d: %d lines in columns, %d in tiles", w, figure.ColumnFetches(w), figure.TileFetches(w))
		}
	}
	// "a 9x9 stencil on a 2048x2048 array of floating point numbers takes roughly 80 KiB".
	nine := Rows{2048, 2048, 9, 9, 32}
	if kib := nine.Capacity(2048) * 128 / 1024; kib < 70 || kib > 80 {
		t.Errorf("9x9 on 2048: %d KiB", kib)
	}
}

// lru counts the lines that a walk over cells fetches into an LRU cache.
func lru(r Rows, cache int, walk func(visit func(x, y int))) int {
	var held []int
	fetched := 0
	walk(func(x, y int) {
		for dy := -r.StencilHigh / 2; dy <= r.StencilHigh/2; dy++ {
			for dx := -r.StencilWide / 2; dx <= r.StencilWide/2; dx++ {
				cx, cy := min(max(x+dx, 0), r.Wide-1), min(max(y+dy, 0), r.High-1)
				line := (cy*r.Wide + cx) / r.Line
				at := -1
				for i, h := range held {
					if h == line {
						at = i
					}
				}
				if at < 0 {
					fetched++
					if len(held) == cache {
						held = held[1:]
					}
				} else {
					held = append(held[:at:at], held[at+1:]...)
				}
				held = append(held, line)
			}
		}
	})
	return fetched
}

func TestAnLRUCacheStaysWithinTheBounds(t *testing.T) {
	for _, cache := range []int{24, 30, 42, 64} {
		for _, column := range []int{4, 8, 16} {
			got := lru(figure, cache, func(visit func(x, y int)) {
				for left := 0; left < figure.Wide; left += column {
					for y := range figure.High {
						for x := left; x < left+column; x++ {
							visit(x, y)
						}
					}
				}
			})
			bound := figure.ColumnFetches(column)
			if column == 16 {
				bound = figure.NaiveFetches(cache)
			}
			if column == 16 || cache >= figure.Capacity(column) {
				if got > bound {
					t.Errorf("%d lines, columns of %d: %d fetched, bound %d", cache, column, got, bound)
				}
			}
		}
	}
}

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
	if got := Misses(1000, 10, 0); got != 100 { // intrinsic misses D/R
		t.Errorf("no interference: %v", got)
	}
	if got := Misses(1000, 10, 1); got != 1000 { // every reference
		t.Errorf("all lost: %v", got)
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
		for _, c := range Fitted.layerConditions(p, w, h200(), 132*8, 8) {
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
	small := h200()
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
