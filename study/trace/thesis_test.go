package trace_test

import (
	"context"
	"fmt"
	"testing"

	"stenciltune/kernels"
	"stenciltune/kernels/global"
	"stenciltune/stencil"
	"stenciltune/stencil/stenciltest"
	"stenciltune/study/matmul"
	"stenciltune/study/trace"
)

// box7 is the thesis's stencil.
func box7(t *testing.T, n stencil.Size) stencil.Problem {
	t.Helper()
	return stencil.Problem{Stencil: stenciltest.File(t, "../../docs/trace/box7.sl"), DType: stencil.Float32, Size: n, Steps: 1}
}

// fetches is the lines that a walk fetches through lines of 4 elements.
func fetches(t *testing.T, p stencil.Problem, walk string, lines int) int64 {
	t.Helper()
	c := simulateWalk(t, p, walk, trace.Options{Levels: []trace.Cache{{Lines: lines, LineBytes: 16, Ways: lines}}, Policy: trace.LRU, Grain: trace.Threads})
	// Threads of a tile that hangs over the edge load too.
	if c.Requests != int64(c.Steps*len(p.Stencil.Points)) || int64(c.Steps) < p.Size.Cells() || c.Hits[0]+c.Fetches != c.Requests {
		t.Fatalf("%s: %+v", walk, c)
	}
	return c.Fetches
}

// simulateWalk runs a walk of a stencil, or of a product.
func simulateWalk(t *testing.T, p stencil.Problem, walk string, o trace.Options) trace.Counts {
	t.Helper()
	s, err := trace.ParseWalk(walk, p.Stencil.Dims)
	if err != nil {
		t.Fatal(err)
	}
	var f interface {
		kernels.Family
		kernels.Loader
	} = global.Family{}
	if matmul.Is(p) {
		f = matmul.Global{}
	}
	loads, err := f.Loads(p, s)
	if err != nil {
		t.Fatal(err)
	}
	stream := trace.Stream{Arrays: []trace.Array{{Name: "a", Elements: p.Size.Cells()}, {Name: "b", Elements: p.Size.Cells()}}, ElementBytes: 4,
		Launch: f.Kernel(p, s).Launch, Loads: loads}
	c, _, err := trace.Simulate(context.Background(), stream, o)
	if err != nil {
		t.Fatal(err)
	}
	return c
}

// The bounds of Prasetya 2022 on the lines that are fetched, for a grid of w x h, a
// stencil of size s and lines of l elements. They count a halo on every side, which
// a clamped grid does not fetch.
const l, s = 4, 7

func naiveBound(w, h int) int64  { return int64(kernels.CeilDiv(w+s, l) * h * s) } // section 3.3.1, too small a cache
func enoughBound(w, h int) int64 { return int64(kernels.CeilDiv(w+s, l) * h) }     // the same, large enough
func enoughLines(w int) int      { return kernels.CeilDiv(w+s, l) * s }            // (3.2), and (3.3) for a tile of w
func tiledBound(w, h, t int) int64 { // (3.5)
	return int64(kernels.CeilDiv(w, t) * kernels.CeilDiv(t+s, l) * kernels.CeilDiv(h, t) * (t + s))
}
func columnBound(w, h, c int) int64 { // (4.8)
	return int64(kernels.CeilDiv(w, c) * kernels.CeilDiv(c+s, l) * (h + s))
}

func TestFetchesStayWithinTheThesisBounds(t *testing.T) {
	for _, n := range []stencil.Size{{16, 16, 1}, {40, 24, 1}, {37, 29, 1}} {
		p := box7(t, n)
		w, h := n[0], n[1]
		touched := int64(kernels.CeilDiv(w*h, l))
		if got := fetches(t, p, "rows", 24); got > naiveBound(w, h) || got <= enoughBound(w, h) {
			t.Errorf("%v, rows, 24 lines: %d fetches, want more than %d, at most %d", n, got, enoughBound(w, h), naiveBound(w, h))
		}
		more := 0
		if w%l != 0 { // rows begin anywhere in a line, and reach into one more
			more = s
		}
		lines := enoughLines(w) + more
		if got := fetches(t, p, "rows", lines); got != touched || got > enoughBound(w, h) {
			t.Errorf("%v, rows, %d lines: %d fetches, want %d, at most %d", n, lines, got, touched, enoughBound(w, h))
		}
		for _, c := range []int{4, 8} {
			lines := enoughLines(c) + more
			if got := fetches(t, p, fmt.Sprintf("columns=%d", c), lines); got > columnBound(w, h, c) || got < touched {
				t.Errorf("%v, columns of %d, %d lines: %d fetches, want at most %d", n, c, lines, got, columnBound(w, h, c))
			}
			if got := fetches(t, p, fmt.Sprintf("tiles=%dx%d", c, c), lines); got > tiledBound(w, h, c) || got < touched {
				t.Errorf("%v, tiles of %d, %d lines: %d fetches, want at most %d", n, c, lines, got, tiledBound(w, h, c))
			}
		}
	}
}

// The thesis's own parameters (table 3.1): 16x16, 7x7, 24 lines of 4, columns of 8
// and 4. A column of 8 with its halo inside the grid is 3 lines wide, one of 4 at
// the edge 2 and else 3; each fetches its lines once.
func TestFetchesOfTheThesisDiagrams(t *testing.T) {
	p := box7(t, stencil.Size{16, 16, 1})
	for walk, want := range map[string]int64{"columns=8": 16 * (3 + 3), "columns=4": 16 * (2 + 3 + 3 + 2), "zigzag=8": 16 * (3 + 3)} {
		if got := fetches(t, p, walk, 24); got != want {
			t.Errorf("%s: %d fetches, want %d", walk, got, want)
		}
	}
	rows, tiles := fetches(t, p, "rows", 24), fetches(t, p, "tiles=8x8", 24)
	// A tile of 8 x 8 in a corner reads 11 x 11 cells: 3 lines of each of 11 rows.
	if tiles != 4*3*11 || rows <= tiles {
		t.Errorf("rows fetch %d lines, tiles %d", rows, tiles)
	}
}

// Products of n x n matrices with lines of l elements (sections 3.4.1 and 4.4). The
// thesis's needs are of a cache that keeps just what is used again; LRU needs room
// for the row of A on its way out too.
func TestFetchesOfProductsFollowTheThesis(t *testing.T) {
	for _, n := range []int{16, 24} {
		p := stencil.Problem{Stencil: matmul.Stencil(), DType: stencil.Float32, Size: stencil.Size{n, n, 1}, Steps: 1}
		row, b := n/l, n*(n/l) // lines of a row of A, and of all of B
		for _, c := range []struct {
			name, walk  string
			lines, want int
		}{
			{"no reuse of B, (3.8) but for neighbours in a line of A", "rows", n, n * n * (row + n)},
			{"one column of B is kept, (3.7) with its lines shared", "rows", n + row + 1, n*row + n*b},
			{"all of B is kept, (3.10)", "rows", b + 2*row, n*row + b},
			{"columns of 4 keep their part of B", "columns=4", n + 2*row, n/4*n*row + b},
			{"columns of 8", "columns=8", 2*n + 2*row, n/8*n*row + b},
		} {
			got := simulateWalk(t, p, c.walk, trace.Options{Levels: []trace.Cache{{Lines: c.lines, LineBytes: 16, Ways: c.lines}}, Policy: trace.LRU, Grain: trace.Threads})
			if got.Fetches != int64(c.want) {
				t.Errorf("%d x %d, %s: %d fetches with %d lines, want %d", n, n, c.name, got.Fetches, c.lines, c.want)
			}
		}
	}
}

// The thesis's times of a 9x9 box on 4096 x 4096 with blocks of 64, in milliseconds by
// column width (figure 5.1a; 0 is the naive order), follow the lines that warps ask
// for, not those fetched: a warp whose lanes span two rows asks for more.
func TestTimesOfTheThesisFollowTheLinesAskedFor(t *testing.T) {
	p := stencil.Problem{Stencil: stenciltest.Lookup(t, "box9"), DType: stencil.Float32, Size: stencil.Size{256, 128, 1}, Steps: 1}
	const naive, naiveTime = "rows", 1.42
	asked := func(walk string) float64 {
		c := simulateWalk(t, p, walk, trace.Options{Levels: []trace.Cache{{Lines: 256, LineBytes: 128, Ways: 256}}, Policy: trace.LRU, Grain: trace.Warps})
		return float64(c.Requests)
	}
	first := asked(naive)
	for width, time := range map[int]float64{4: 7.55, 8: 3.91, 16: 2.05, 30: 2.14, 31: 2.13, 32: 1.36, 33: 2.03, 34: 1.98, 48: 1.68, 64: 1.39, 96: 1.44, 128: 1.47} {
		predicted := naiveTime * asked(fmt.Sprintf("columns=%d", width)) / first
		if r := time / predicted; r < 0.88 || r > 1.2 {
			t.Errorf("width %d: %.2f ms measured, %.2f by the lines asked for", width, time, predicted)
		}
	}
}
