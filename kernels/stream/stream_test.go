package stream

import (
	"fmt"
	"maps"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"time"

	"stenciltune/kernels"
	"stenciltune/kernels/kernelstest"
	"stenciltune/machine"
	"stenciltune/space"
	"stenciltune/space/spacetest"
	"stenciltune/stencil"
	"stenciltune/stencil/stenciltest"
)

// parsed is a stencil of given radius and cell function.
func parsed(t testing.TB, radius, cell string) *stencil.Stencil {
	t.Helper()
	dims := string('1' + byte(strings.Count(radius, ",")))
	return stenciltest.Parse(t, "given", "NumDimensions "+dims+" StencilSize ("+radius+") CellValue { "+cell+" }")
}

// edged is one of the catalogue under another boundary rule.
func edged(t testing.TB, name, rule string) *stencil.Stencil {
	t.Helper()
	text := strings.Replace(stenciltest.Lookup(t, name).Text(), "Boundary clamp", "Boundary "+rule, 1)
	return stenciltest.Parse(t, name, text)
}

func problem(st *stencil.Stencil, d stencil.DType, n stencil.Size) stencil.Problem {
	return stencil.Problem{Stencil: st, DType: d, Size: n, Steps: 100}
}

var (
	line   = stencil.Size{5000, 1, 1}
	flat   = stencil.Size{1000, 700, 1}
	volume = stencil.Size{320, 200, 100}
)

// bent is a nonlinear function of points in a box.
const bent = "return 0.25 * (get(0, 0, 0) * get(-1, -1, -1) + max(get(1, 0, 1), get(0, 1, 1)));"

func TestSourceOfEveryStructuralBranchIsAsReviewed(t *testing.T) {
	for _, c := range []struct {
		golden   string
		stencil  *stencil.Stencil
		dtype    stencil.DType
		size     stencil.Size
		schedule string
	}{
		{"sums1d.cu", stenciltest.Lookup(t, "jacobi1d"), stencil.Float32, line, "stream/vx=4/vy=1/wp=4/ck=1/pf=1/mb=1/ph=4"},
		{"sums2d.cu", stenciltest.Lookup(t, "jacobi2d"), stencil.Float32, flat, "stream/vx=4/vy=1/wp=4/ck=1/pf=2/mb=1/ph=8"},
		{"star3d.cu", stenciltest.Lookup(t, "jacobi3d"), stencil.Float32, volume, "stream/vx=4/vy=4/wp=8/ck=1/pf=1/mb=1/ph=2"},
		{"box3d.cu", stenciltest.Lookup(t, "jacobi3d27"), stencil.Float32, volume, "stream/vx=2/vy=4/wp=8/ck=1/pf=1/mb=1/ph=2"},
		{"values2d.cu", stenciltest.Lookup(t, "gradient2d"), stencil.Float32, flat, "stream/vx=4/vy=1/wp=1/ck=1/pf=1/mb=1/ph=3"},
		{"values3d.cu", parsed(t, "1, 1, 1", bent), stencil.Float32, volume, "stream/vx=2/vy=2/wp=8/ck=1/pf=1/mb=1/ph=2"},
		{"early3d.cu", stenciltest.Lookup(t, "hotspot3d"), stencil.Float32, volume, "stream/vx=2/vy=4/wp=8/ck=1/pf=2/mb=1/ph=2/sm=132/pm=1"},
		{"lane_halo.cu", stenciltest.Lookup(t, "jacobi2d"), stencil.Float32, flat, "stream/vx=4/vy=1/wp=4/ck=1/pf=1/mb=1/ph=1"},
		{"unaligned.cu", stenciltest.Lookup(t, "jacobi2d"), stencil.Float32, stencil.Size{1001, 700, 1}, "stream/vx=4/vy=1/wp=4/ck=1/pf=1/mb=1/ph=4"},
		{"parts.cu", stenciltest.Lookup(t, "jacobi2d"), stencil.Float32, stencil.Size{1001, 700, 1}, "stream/vx=8/vy=1/wp=4/ck=1/pf=2/mb=1/ph=4/pm=1"},
		{"async.cu", stenciltest.Lookup(t, "jacobi3d"), stencil.Float32, volume, "stream/vx=2/vy=4/wp=16/ck=1/pf=4/mb=1/ph=4/pm=1"},
		{"mirror3d.cu", edged(t, "jacobi3d", "mirror"), stencil.Float32, volume, "stream/vx=4/vy=4/wp=8/ck=1/pf=1/mb=1/ph=2"},
		{"mirror2d.cu", edged(t, "jacobi2d9", "mirror"), stencil.Float32, flat, "stream/vx=8/vy=1/wp=1/ck=1/pf=2/mb=1/ph=6/pm=1"},
		{"constant3d.cu", edged(t, "jacobi3d27", "constant 0.25"), stencil.Float32, volume, "stream/vx=2/vy=4/wp=8/ck=1/pf=1/mb=1/ph=2"},
		{"fixed2d.cu", edged(t, "jacobi2d9", "fixed"), stencil.Float32, flat, "stream/vx=8/vy=1/wp=1/ck=1/pf=2/mb=1/ph=6/pm=2"},
		{"edge2d.cu", stenciltest.Lookup(t, "plateplus"), stencil.Float32, flat, "stream/vx=4/vy=1/wp=1/ck=1/pf=2/mb=1/ph=3/pm=1"},
		{"packed.cu", edged(t, "jacobi2d9", "constant 0.25"), stencil.Float16x2, flat, "stream/vx=8/vy=1/wp=4/ck=1/pf=2/mb=1/ph=4/pm=1"},
		{"float64.cu", stenciltest.Lookup(t, "jacobi3d"), stencil.Float64, volume, "stream/vx=2/vy=3/wp=12/ck=1/pf=2/mb=1/ph=3"},
		{"apron3d.cu", edged(t, "jacobi3d27", "constant 0.25"), stencil.Float32, volume, "stream/vx=2/vy=4/wp=8/ck=1/pf=2/mb=1/ph=2/pm=3"},
		{"held3d.cu", edged(t, "jacobi3d", "(clamp, clamp, fixed)"), stencil.Float32, volume, "stream/vx=4/vy=4/wp=8/ck=1/pf=2/mb=1/ph=5/sm=132/wr=2/pm=3/kp=1/sb=1"},
		{"shares3d.cu", stenciltest.Lookup(t, "jacobi3d"), stencil.Float32, volume, "stream/vx=2/vy=4/wp=16/ck=1/pf=4/mb=1/ph=4/sm=132/pm=1"},
		{"split3d.cu", stenciltest.Lookup(t, "jacobi3d"), stencil.Float64, volume, "stream/vx=2/vy=4/wp=8/ck=1/pf=4/mb=1/ph=4/sm=132/pm=1/sb=1"},
	} {
		k := Family{}.Kernel(problem(c.stencil, c.dtype, c.size), spacetest.Schedule(t, c.schedule))
		kernelstest.Source{Golden: c.golden}.Check(t, k)
		any := ", any ck and sm\n"
		if c.stencil.Dims == 3 {
			any = ", any ck\n"
		}
		if said := strings.Replace(c.schedule, "/ck=1", "", 1) + any; !strings.HasPrefix(k.Source, "// "+c.stencil.Name+", "+string(c.dtype)+": schedule "+said) {
			t.Errorf("%s begins with %.80q", c.golden, k.Source)
		}
		if head := "// " + c.schedule + "\n// launch: grid ["; !strings.HasPrefix(k.Head(), head) {
			t.Errorf("%s is headed %.80q", c.golden, k.Head())
		}
		if !strings.Contains(k.Source, "#define ENTRY "+k.Entry+"\n") || k.DType != c.dtype || k.Schedule != spacetest.Schedule(t, c.schedule) {
			t.Errorf("%s: entry %s, %s, %s", c.golden, k.Entry, k.DType, k.Schedule)
		}
	}
}

func TestEveryParameterReachesTheSourceOrTheLaunch(t *testing.T) {
	p := problem(stenciltest.Lookup(t, "jacobi3d"), stencil.Float32, volume)
	k := Family{}.Kernel(p, spacetest.Schedule(t, "stream/vx=2/vy=6/wp=12/ck=5/pf=2/mb=3/ph=4"))
	kernelstest.CheckConstants(t, k, "VECTOR = 2", "ROWS = 6", "WARPS = 12", "PREFETCH = 2", "MIN_BLOCKS = 3", "PYRAMID = 4")
	// Schedules that differ in the stream tiles alone share one compiled kernel.
	s := spacetest.Schedule(t, "stream/vx=2/vy=6/wp=12/ck=8/pf=2/mb=3/ph=4")
	other := Family{}.Kernel(p, s)
	if other.Source != k.Source || other.Entry != k.Entry || other.Schedule != s {
		t.Errorf("entry %s of %s, %s of %s", k.Entry, k.Schedule, other.Entry, other.Schedule)
	}
	if k.Launch.Grid[2] != 5 || other.Launch.Grid[2] != 8 {
		t.Errorf("launches %+v and %+v", k.Launch, other.Launch)
	}
}

func TestKernelSaysWhichGridsItIsRightFor(t *testing.T) {
	for _, c := range []struct {
		stencil  string
		size     stencil.Size
		schedule string
		least    [3]int
		multiple int
	}{
		{"jacobi1d", line, "stream/vx=4/vy=1/wp=4/ck=1/pf=1/mb=1/ph=1", [3]int{128, 1, 1}, 4},
		{"jacobi2d", flat, "stream/vx=4/vy=1/wp=4/ck=1/pf=1/mb=1/ph=1", [3]int{128, 1, 1}, 4},
		{"jacobi2d", stencil.Size{1001, 700, 1}, "stream/vx=4/vy=1/wp=4/ck=1/pf=1/mb=1/ph=1", [3]int{128, 1, 1}, 1}, // rows of any length
		{"jacobi2d", stencil.Size{1002, 700, 1}, "stream/vx=4/vy=1/wp=4/ck=1/pf=1/mb=1/ph=1", [3]int{128, 1, 1}, 2},
		{"jacobi2d", stencil.Size{33, 700, 1}, "stream/vx=1/vy=1/wp=1/ck=1/pf=1/mb=1/ph=1", [3]int{32, 1, 1}, 1},
		{"jacobi3d", volume, "stream/vx=2/vy=3/wp=8/ck=1/pf=1/mb=1/ph=1", [3]int{64, 24, 1}, 2},
	} {
		p := problem(stenciltest.Lookup(t, c.stencil), stencil.Float32, c.size)
		k := Family{}.Kernel(p, spacetest.Schedule(t, c.schedule))
		if k.Least != c.least || k.Multiple != c.multiple || k.Suited(c.size) != c.size {
			t.Errorf("%s %s: at least %v, rows of whole %d cells", p.Text(), c.schedule, k.Least, k.Multiple)
		}
		// What the source is said to be right for is what it says itself.
		least := p.Resized(k.Suited(stencil.Size{1, 1, 1}))
		if again := (Family{}).Kernel(least, k.Schedule); c.multiple == k.Schedule.Int("vx", 0) && again.Source != k.Source {
			t.Errorf("%s %s: another source on %s", p.Text(), c.schedule, least.Text())
		}
	}
}

func TestLaunchCountsTilesAndChunks(t *testing.T) {
	for _, c := range []struct {
		p        stencil.Problem
		schedule string
		want     kernels.Launch
	}{
		// Tiles of 128 cells, 120 apart: 69 on a row, 4 a block.
		{problem(stenciltest.Lookup(t, "jacobi2d"), stencil.Float32, stencil.Size{8192, 8192, 1}), "stream/vx=4/vy=1/wp=4/ck=16/pf=1/mb=1/ph=4",
			kernels.Launch{Grid: [3]int{18, 1, 16}, Block: [3]int{32, 4, 1}, Steps: 4}},
		// One step: lanes load the halo next to the tiles, 64 on a row.
		{problem(stenciltest.Lookup(t, "jacobi2d"), stencil.Float32, stencil.Size{8192, 8192, 1}), "stream/vx=4/vy=1/wp=4/ck=16/pf=1/mb=1/ph=1",
			kernels.Launch{Grid: [3]int{16, 1, 16}, Block: [3]int{32, 4, 1}, Steps: 1}},
		// Tiles of 128 x 32, 120 x 28 apart; two sets of 2 x 8 warps' 2 rows of 512 bytes.
		{problem(stenciltest.Lookup(t, "jacobi3d"), stencil.Float32, stencil.Size{512, 512, 512}), "stream/vx=4/vy=4/wp=8/ck=6/pf=1/mb=1/ph=2",
			kernels.Launch{Grid: [3]int{5, 19, 6}, Block: [3]int{32, 8, 1}, SharedBytes: 2 * 2 * 8 * 2 * 512, Steps: 2}},
		{problem(stenciltest.Lookup(t, "jacobi3d"), stencil.Float64, stencil.Size{64, 32, 9}), "stream/vx=2/vy=4/wp=8/ck=1/pf=1/mb=1/ph=2",
			kernels.Launch{Grid: [3]int{1, 1, 1}, Block: [3]int{32, 8, 1}, SharedBytes: 2 * 2 * 8 * 2 * 512, Steps: 2}},
		// Four prefetched planes of 4 rows of 8 warps.
		{problem(stenciltest.Lookup(t, "jacobi3d"), stencil.Float64, stencil.Size{64, 32, 9}), "stream/vx=2/vy=4/wp=8/ck=1/pf=4/mb=1/ph=2/pm=1",
			kernels.Launch{Grid: [3]int{1, 1, 1}, Block: [3]int{32, 8, 1}, SharedBytes: 2*2*8*2*512 + 4*8*4*512, Steps: 2}},
		// As many stream tiles as fill 132 SMs, or 108; where there are more tiles than that one of each.
		{problem(stenciltest.Lookup(t, "jacobi2d"), stencil.Float32, stencil.Size{8192, 8192, 1}), "stream/vx=8/vy=1/wp=1/ck=8/pf=4/mb=1/ph=10/sm=132/pm=1",
			kernels.Launch{Grid: [3]int{37, 1, 28}, Block: [3]int{32, 1, 1}, SharedBytes: 4 * 1024, Steps: 10}},
		{problem(stenciltest.Lookup(t, "jacobi2d"), stencil.Float32, stencil.Size{2160, 2160, 1}), "stream/vx=4/vy=1/wp=1/ck=8/pf=4/mb=1/ph=8/sm=132/pm=1",
			kernels.Launch{Grid: [3]int{20, 1, 52}, Block: [3]int{32, 1, 1}, SharedBytes: 4 * 512, Steps: 8}},
		{problem(stenciltest.Lookup(t, "jacobi2d"), stencil.Float32, stencil.Size{2160, 2160, 1}), "stream/vx=4/vy=1/wp=1/ck=8/pf=4/mb=1/ph=8/sm=108/pm=1",
			kernels.Launch{Grid: [3]int{20, 1, 43}, Block: [3]int{32, 1, 1}, SharedBytes: 4 * 512, Steps: 8}},
		{problem(stenciltest.Lookup(t, "jacobi2d"), stencil.Float32, stencil.Size{30000, 1000, 1}), "stream/vx=4/vy=1/wp=1/ck=1/pf=4/mb=1/ph=4/sm=132/pm=1",
			kernels.Launch{Grid: [3]int{250, 1, 1}, Block: [3]int{32, 1, 1}, SharedBytes: 4 * 512, Steps: 4}},
		// Rows that are not whole vectors are copied cell by cell, but cells of 2 bytes cannot be.
		{problem(stenciltest.Lookup(t, "jacobi3d"), stencil.Float64, stencil.Size{65, 32, 9}), "stream/vx=2/vy=4/wp=8/ck=1/pf=4/mb=1/ph=2/pm=1",
			kernels.Launch{Grid: [3]int{2, 1, 1}, Block: [3]int{32, 8, 1}, SharedBytes: 2*2*8*2*512 + 4*8*4*512, Steps: 2}},
		{problem(stenciltest.Lookup(t, "jacobi3d"), stencil.Float16, stencil.Size{65, 32, 9}), "stream/vx=2/vy=4/wp=8/ck=1/pf=4/mb=1/ph=2/pm=1",
			kernels.Launch{Grid: [3]int{2, 1, 1}, Block: [3]int{32, 8, 1}, SharedBytes: 2 * 2 * 8 * 2 * 256, Steps: 2}},
		// Edge rows of float16, and planes of it.
		{problem(stenciltest.Lookup(t, "jacobi3d"), stencil.Float16x2, stencil.Size{256, 32, 9}), "stream/vx=4/vy=4/wp=8/ck=1/pf=4/mb=1/ph=2/pm=1",
			kernels.Launch{Grid: [3]int{3, 1, 1}, Block: [3]int{32, 8, 1}, SharedBytes: 2*2*8*2*256 + 4*8*4*256, Steps: 2}},
	} {
		if got := (Family{}).Kernel(c.p, spacetest.Schedule(t, c.schedule)).Launch; got != c.want {
			t.Errorf("%s %s: %+v, want %+v", c.p.Text(), c.schedule, got, c.want)
		}
		if got := (Family{}).Work(c.p, spacetest.Schedule(t, c.schedule)).Launch; got != c.want {
			t.Errorf("%s %s: work is of %+v", c.p.Text(), c.schedule, got)
		}
	}
}

// place is what window of windows.cu gives; windowLines are its text, so that the two
// cannot part unnoticed.
type place struct{ origin, first, last int }

const windowLines = `  const int room = (tiles(n, tile, step) - 1) * step - (n - tile);
  const int early = step % unit == 0 && halo % unit <= room ? halo % unit : 0;
  w.origin = min(max(0, t * step - early), n - tile);
  w.first = t == 0 ? 0 : t * step + halo - early;
  w.last = w.origin + tile == n ? n : t * step + step + halo - early;
`

func window(t, n, tile, step, halo, unit int) (w place) {
	early := 0
	if room := (tiles(n, tile, step)-1)*step - (n - tile); step%unit == 0 && halo%unit <= room {
		early = halo % unit
	}
	w.origin = min(max(0, t*step-early), n-tile)
	w.first, w.last = 0, t*step+step+halo-early
	if t > 0 {
		w.first = t*step + halo - early
	}
	if w.origin+tile == n {
		w.last = n
	}
	return w
}

// axis is one axis of a tiling: tile, step, halo and unit as in the kernel, and how far
// from a border wrong values come.
type axis struct{ n, tile, step, halo, unit, low, high int }

// tiles counts those of an axis, as the tiling does.
func tiles(n, hold, step int) int {
	return kernels.Tiling{Hold: [3]int{hold, 1, 1}, Step: [3]int{step, 1, 1}, Pack: 1}.Blocks(stencil.Size{n, 1, 1})[0]
}

// holds checks that the tiles write every cell once, and none to which a wrong
// value from a tile's border can have come.
func (a axis) holds(t *testing.T) {
	t.Helper()
	next := 0
	for i := range tiles(a.n, a.tile, a.step) {
		w := window(i, a.n, a.tile, a.step, a.halo, a.unit)
		end := w.origin + a.tile
		if w.first != next || w.last <= w.first || w.origin < 0 || end > a.n || w.first < w.origin || w.last > end {
			t.Fatalf("%+v: tile %d is %+v; cells up to %d are written", a, i, w, next)
		}
		if w.origin > 0 && w.first < w.origin+a.low || end < a.n && w.last > end-a.high {
			t.Fatalf("%+v: tile %d writes cells next to its border: %+v", a, i, w)
		}
		next = w.last
	}
	if next != a.n {
		t.Fatalf("%+v: cells up to %d are written", a, next)
	}
}

func TestTilesWriteEveryCellOnceAndFarEnoughFromTheirBorders(t *testing.T) {
	if !strings.Contains(kernels.Spelling(kernels.WindowsPiece().Text, kernels.Simple{OneRule: true, Dense: true}), windowLines) {
		t.Fatal("window of windows.cu is no longer the one that is tested here")
	}
	seed := uint64(time.Now().UnixNano())
	t.Logf("seed %d", seed)
	r := rand.New(rand.NewPCG(seed, 1))
	for range 3000 {
		radius := radius{lowX: r.IntN(4), highX: r.IntN(4), lowR: r.IntN(4), highR: r.IntN(4)}
		h := shape{vector: 1 << r.IntN(4), rows: 1 + r.IntN(8), warps: 1 + r.IntN(16), timeTile: 1 + r.IntN(8), bandsOf: 1 << r.IntN(3)}
		g := plan{stages: stages{dims: 1 + r.IntN(3), linear: r.IntN(2) == 0, radius: radius}, shape: h}
		hold, step := g.tile()
		if step[0] <= 0 || step[1] <= 0 {
			continue
		}
		x := axis{0, hold[0], step[0], kernels.RoundUp(h.timeTile*radius.lowX, h.vector), 1 << r.IntN(5), h.timeTile * radius.lowX, h.timeTile * radius.highX}
		y := axis{0, hold[1], step[1], h.timeTile * radius.lowR, 1, h.timeTile * radius.lowR, h.timeTile * radius.highR}
		if g.laneHalo() { // the halo is loaded by lanes next to the tile
			x.halo, x.low, x.high = 0, 0, 0
		}
		for k := range 40 { // from the least grid on, then at random
			x.n, y.n = hold[0]+k, hold[1]+k
			if k >= 20 {
				x.n, y.n = x.n+r.IntN(5000), y.n+r.IntN(500)
			}
			x.holds(t)
			y.holds(t)
			// Where rows are whole vectors, a vector is written as a whole or not at all.
			x.n = kernels.RoundUp(x.n, h.vector)
			for i := range tiles(x.n, x.tile, x.step) {
				if w := window(i, x.n, x.tile, x.step, x.halo, x.unit); w.origin%h.vector+w.first%h.vector+w.last%h.vector > 0 {
					t.Fatalf("%+v: tile %d cuts vectors of %d: %+v", x, i, h.vector, w)
				}
			}
		}
	}
}

type streamTile struct{ tile, number, of int }

// inOrder is in_order of streaming.cu, of block i, z among n x all.
func inOrder(t *testing.T, i, z, n, all, tiles int, apart bool) streamTile {
	const text = `  const int n = gridDim.x, k = line % 2 ? n - 1 - i : i, two = min(tiles, 2), columns = n - tiles + two;
  if (k >= columns) return {k - columns + 1, z, all};
  if (!APART) return {k * (tiles - 1), z, all};
  const int part = k * all + z, end = part % two;
  return {end * (tiles - 1), part / two, (columns * all - end + two - 1) / two};
`
	if !strings.Contains(streamingSource, text) {
		t.Fatalf("streaming.cu no longer has\n%s", text)
	}
	k, two := i, min(tiles, 2)
	if z%2 > 0 {
		k = n - 1 - i
	}
	columns := n - tiles + two
	if k >= columns {
		return streamTile{k - columns + 1, z, all}
	}
	if !apart {
		return streamTile{k * (tiles - 1), z, all}
	}
	part := k*all + z
	end := part % two
	return streamTile{end * (tiles - 1), part / two, (columns*all - end + two - 1) / two}
}

// A further column of blocks leaves no stream tile out, and gives none to two.
func TestTilesAtTheEndsHaveMoreStreamTiles(t *testing.T) {
	for tiles := 1; tiles <= 40; tiles++ {
		for all := 1; all <= 20; all++ {
			started, want := map[streamTile]int{}, map[streamTile]int{}
			for z := range all {
				for i := range tiles + 1 {
					started[inOrder(t, i, z, tiles+1, all, tiles, true)]++
				}
			}
			for tile := range tiles {
				of := all
				switch {
				case tiles == 1:
					of = 2 * all
				case tile == 0:
					of = (3*all + 1) / 2
				case tile == tiles-1:
					of = 3 * all / 2
				}
				for number := range of {
					want[streamTile{tile, number, of}] = 1
				}
			}
			if !maps.Equal(started, want) {
				t.Fatalf("%d tiles, %d stream tiles: %v", tiles, all, started)
			}
		}
	}
}

// Two SMs share an instruction cache and get blocks two by two: both tiles touch the ends of a
// row, or neither.
func TestTilesOfOneKindStartInPairs(t *testing.T) {
	for n := 1; n <= 40; n++ {
		var ends []bool // in the order of starting
		for line := range 9 {
			started := make([]bool, n)
			for i := range n {
				tile := inOrder(t, i, line, n, 9, n, false).tile
				if tile < 0 || tile >= n || started[tile] {
					t.Fatalf("line %d of %d tiles: the %d-th to start is %d", line, n, i, tile)
				}
				started[tile] = true
				ends = append(ends, tile == 0 || tile == n-1)
			}
		}
		for i := 0; i+1 < len(ends); i += 2 {
			if ends[i] != ends[i+1] {
				t.Errorf("lines of %d tiles: blocks %d and %d are of two kinds", n, i, i+1)
			}
		}
	}
}

// Tiles within the grid have plane steps of their own, unless blocks share planes and cells are held or rows move in parts, or warps wait
// late.
func TestTilesThatWouldRunAheadDoWhatOthersDo(t *testing.T) {
	const cut, shared = "stream/vx=2/vy=4/wp=8/ck=1/pf=2/mb=1/ph=2/pm=1", "stream/vx=2/vy=4/wp=8/ck=1/pf=2/mb=1/ph=2/sm=132/pm=1"
	odd := stencil.Size{321, 200, 100}
	for _, c := range []struct {
		rule          string
		dtype         stencil.DType
		size          stencil.Size
		schedule      string
		within, level bool
	}{
		{"clamp", stencil.Float32, volume, cut, true, false},
		{"clamp", stencil.Float32, volume, shared, true, false},
		{"wrap", stencil.Float32, volume, shared, false, false},
		{"fixed", stencil.Float32, volume, cut, true, false},
		{"fixed", stencil.Float32, volume, shared, false, true},
		{"fixed", stencil.Float16, volume, shared, false, true},
		{"fixed", stencil.Float64, volume, shared, true, false},
		{"clamp", stencil.Float32, odd, cut, true, false},
		{"clamp", stencil.Float32, odd, shared, false, true},
		{"mirror", stencil.Float32, odd, shared, false, true},
		{"clamp", stencil.Float64, odd, shared, true, false},
		{"clamp", stencil.Float32, volume, cut + "/sb=1", false, true},
		{"clamp", stencil.Float64, volume, shared + "/sb=1", false, true},
		{"fixed", stencil.Float64, volume, shared + "/sb=1", false, true},
	} {
		s, p := spacetest.Schedule(t, c.schedule), problem(edged(t, "jacobi3d", c.rule), c.dtype, c.size)
		g, w := planOf(p, s), (Family{}).Work(p, s)
		if g.within() != c.within || g.level() != c.level || w.Uneven != (c.rule == "fixed" && c.schedule == shared && !c.level) {
			t.Errorf("%s %v %v %s: within %t, level %t, uneven %t", c.rule, c.dtype, c.size, c.schedule, g.within(), g.level(), w.Uneven)
		}
	}
}

// A cell function of many operations has a loop of one plane step, unless moving on what a stage keeps takes much beside it.
func TestLongFunctionsHaveLoopsOfOnePlaneStep(t *testing.T) {
	for name, want := range map[string]bool{"lbm2d": true, "hotspot2d": false, "addsgd4": false, "jacobi3d27": false} {
		st := stenciltest.Lookup(t, name)
		if got := stagesOf(st).long; got != want {
			t.Errorf("%s: %v", name, got)
		}
	}
}

func TestTheLoopHoldsFewRounds(t *testing.T) {
	for _, c := range []struct {
		name      string
		low, high int // radius along the streaming axis
		rows      int // and across rows of a plane
		linear    bool
		prefetch  int // planes in registers
		want      int
	}{
		{"a star of radius 1 in 3D", 1, 1, 1, true, 1, 2},
		{"a star of radius 1 in 2D", 1, 1, 0, true, 1, 2},
		{"nothing but the own plane", 0, 0, 0, true, 1, 1},
		{"two planes prefetched", 0, 0, 0, true, 2, 2},
		{"radius 2: four plane steps would be too long", 2, 2, 2, true, 1, 2},
		{"radius 3", 3, 3, 3, true, 1, 3},
		{"radius 4", 4, 4, 4, true, 2, 4},
		{"planes that are kept move on by the period", 1, 1, 0, false, 1, 3},
		{"and two prefetched would double it", 1, 1, 0, false, 2, 3},
		{"a period that nothing divides", 2, 2, 0, false, 1, 5},
	} {
		r := radius{lowR: c.rows, highR: c.rows, lowS: c.low, highS: c.high}
		g := plan{stages: stages{radius: r, linear: c.linear}, shape: shape{prefetch: c.prefetch}}
		if got := g.unroll(); got != c.want {
			t.Errorf("%s: %d plane steps, want %d", c.name, got, c.want)
		}
	}
}

func TestEdgeRowsHoldEveryRowThatAnotherWarpReads(t *testing.T) {
	// Lines of plane.cu, as Go below.
	for _, text := range []string{
		"constexpr int FIRST_ROWS = HIGH_R > 0 ? HIGH_R : LOW_R > 0, LAST_ROWS = LOW_R > 0 ? LOW_R : HIGH_R > 0;\n",
		"constexpr int EDGE_ROWS = FIRST_ROWS + LAST_ROWS < ROWS && (SUMS || !rows(MIRROR)) ? FIRST_ROWS + LAST_ROWS : ROWS;\n",
	} {
		if !strings.Contains(planeSource, text) {
			t.Fatalf("plane.cu no longer has %s", text)
		}
	}
	or := func(a, b int) int { // a, or whether there is b
		if a > 0 {
			return a
		}
		return min(b, 1)
	}
	for low := range 4 {
		for high := range 4 {
			for rows := 1; rows <= 8; rows++ {
				for warps := 1; warps <= 5; warps++ {
					h, r := shape{rows: rows, warps: warps}, radius{lowR: low, highR: high}
					edgeRows := func(st stages) int {
						st.radius = r
						return plan{stages: st, shape: h}.edgeRows()
					}
					first, last := or(high, low), or(low, high)
					if got, want := edgeRows(stages{}), min(first+last, rows); got != want {
						t.Fatalf("%+v %+v: %d edge rows, the kernel has %d", h, r, got, want)
					}
					if got := edgeRows(stages{rim: rim{mirrors: [3]bool{true, true, true}}}); low+high > 0 && got != rows { // a mirrored row may be any
						t.Fatalf("%+v %+v: %d edge rows where the boundary mirrors", h, r, got)
					}
					if got, want := edgeRows(stages{rim: rim{mirrors: [3]bool{true, true, true}}, linear: true}), edgeRows(stages{}); got != want { // it takes the place of one at the edge
						t.Fatalf("%+v %+v: %d edge rows of sums where the boundary mirrors, want %d", h, r, got, want)
					}
					for w := range warps {
						for k := range low + high {
							row := w*rows - low + k // above, then below the warp's own
							if k >= low {
								row += rows
							}
							row = min(max(row, 0), warps*rows-1)
							if j := row % rows; j >= first && j < rows-last {
								t.Errorf("%+v %+v: warp %d reads row %d, which its warp does not give", h, r, w, row)
							}
						}
					}
				}
			}
		}
	}
}

// A value that no schedule has makes a space look larger than it is.
func TestEveryOptionIsOfSomeSchedule(t *testing.T) {
	h200, err := machine.FindKnown("h200")
	if err != nil {
		t.Fatal(err)
	}
	for st, size := range map[*stencil.Stencil]stencil.Size{
		stenciltest.Lookup(t, "jacobi1d"): line, stenciltest.Lookup(t, "jacobi2d"): flat, stenciltest.Lookup(t, "jacobi3d"): volume, edged(t, "jacobi2d", "fixed"): flat, edged(t, "jacobi3d", "fixed"): volume, edged(t, "jacobi3d", "(clamp, clamp, fixed)"): volume,
	} {
		name, f := st.Name, Family{}.Space(problem(st, stencil.Float32, size), h200.Machine)
		optional := map[string][]int{} // those that may be left out, but sm
		for _, q := range f.Params {
			if q.Name == "pm" || q.Name == "sb" {
				optional[q.Name] = q.Values
			}
		}
		held := stagesOf(st).held
		kept, apron := held.inPlane() || st.Dims < 3 && held != ends{}, st.Dims == 3 && !held.inPlane()
		if kept != slices.Contains(optional["pm"], 2) || apron != slices.Contains(optional["pm"], 3) {
			t.Errorf("%s: pm is %v, held %v", name, optional["pm"], held)
		}
		if volume := st.Dims == 3; volume != (optional["sb"] != nil) {
			t.Errorf("%s: sb is %v", name, optional["sb"])
		}
		had := map[string]bool{}
		for s := range space.New(f).All() {
			for q := range optional {
				had[fmt.Sprint(q, s.Int(q, 0))] = true
			}
		}
		for q, values := range optional {
			for _, v := range values {
				if !had[fmt.Sprint(q, v)] {
					t.Errorf("%s: no schedule has %s=%d", name, q, v)
				}
			}
		}
	}
}

// A number of a rule is a literal of the text, which has none that is infinite.
func TestWhatIsInfiniteOutsideIsNoLiteral(t *testing.T) {
	h200, err := machine.FindKnown("h200")
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		number string
		d      stencil.DType
		ok     bool
	}{{"1e38", stencil.Float32, true}, {"1e39", stencil.Float32, false}, {"1e39", stencil.Float64, true}, {"70000", stencil.Float16, false}} {
		p := problem(edged(t, "jacobi2d", "constant "+c.number), c.d, flat)
		found := false
		for range space.New(Family{}.Space(p, h200.Machine)).All() {
			found = true
			break
		}
		if found != c.ok {
			t.Errorf("%+v: %t", c, found)
		}
	}
}
