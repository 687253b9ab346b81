package trace

import (
	"bytes"
	"context"
	"encoding/xml"
	"errors"
	"image/png"
	"io"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"stenciltune/kernels"
)

// table is a stream of one block whose thread i loads the elements table[i].
func table(elements int64, loads ...[]int64) Stream {
	return Stream{
		Arrays: []Array{{"in", elements}}, ElementBytes: 4,
		Launch: kernels.Launch{Grid: [3]int{1, 1, 1}, Block: [3]int{len(loads), 1, 1}},
		Loads:  func(_, thread int, list []int64) []int64 { return append(list, loads[thread]...) },
	}
}

func simulate(t *testing.T, s Stream, o Options) (Counts, *Diagram) {
	t.Helper()
	c, d, err := Simulate(context.Background(), s, o)
	if err != nil {
		t.Fatal(err)
	}
	return c, d
}

func TestStatesOfTwoLevelsByHand(t *testing.T) {
	o := Options{Levels: []Cache{{1, 8, 1}, {2, 8, 2}}, Policy: LRU, Grain: Threads, Draw: true}
	// Lines of two elements: 0 from memory, its neighbour from L1, another line, and
	// back to the first, which only L2 still holds; the last thread loads nothing.
	c, d := simulate(t, table(4, []int64{0}, []int64{1}, []int64{2}, []int64{0, 1}, nil), o)
	if c.Steps != 4 || c.Requests != 5 || c.Hits[0] != 2 || c.Hits[1] != 1 || c.Fetches != 2 || c.Compulsory != 2 {
		t.Errorf("%+v", c)
	}
	for step, want := range [][]State{
		{FromMemory, Brought, Absent, Absent},
		{InL1, HitL1, Absent, Absent},
		{InL2, InL2, FromMemory, Brought},
		{HitL2, HitL1, InL2, InL2},
	} {
		if !bytes.Equal(states(d.Columns[step]), states(want)) {
			t.Errorf("step %d: %v, want %v", step, d.Columns[step], want)
		}
	}
}

func states(s []State) []byte {
	var b []byte
	for _, v := range s {
		b = append(b, byte(v))
	}
	return b
}

func TestLanesOfAWarpAskOnceForALine(t *testing.T) {
	var loads [][]int64
	for i := range int64(40) { // a warp and a quarter
		loads = append(loads, []int64{i, kernels.Idle, 39})
	}
	loads[3] = []int64{3, 4, 39}
	c, _ := simulate(t, table(40, loads...), Options{Levels: []Cache{{8, 16, 8}}, Policy: LRU, Grain: Warps})
	// 8 + 1 + 1 lines, then 2 + 1.
	if c.Steps != 2 || c.Requests != 13 || c.Fetches != 10 || c.Hits[0] != 3 {
		t.Errorf("%+v", c)
	}
}

func TestWarpsOfABlockTakeTurns(t *testing.T) {
	// Both warps load one line first, and then each another one.
	var loads [][]int64
	for i := range int64(64) {
		loads = append(loads, []int64{0, 4 + i/32*4})
	}
	o := Options{Levels: []Cache{{1, 16, 1}}, Policy: LRU, Grain: Blocks}
	if c, _ := simulate(t, table(16, loads...), o); c.Steps != 1 || c.Requests != 4 || c.Hits[0] != 1 || c.Fetches != 3 {
		t.Errorf("%+v", c)
	}
	o.Grain = Warps
	if c, _ := simulate(t, table(16, loads...), o); c.Steps != 2 || c.Requests != 4 || c.Hits[0] != 0 || c.Fetches != 4 {
		t.Errorf("%+v", c)
	}
}

func TestArraysBeginOnTheirOwnLines(t *testing.T) {
	s := table(3, []int64{0, 2, 3, 4})
	s.Arrays = []Array{{"a", 3}, {"b", 2}}
	c, d := simulate(t, s, Options{Levels: []Cache{{4, 16, 4}}, Policy: LRU, Grain: Threads, Draw: true})
	if c.Fetches != 2 || c.Compulsory != 2 || len(d.Columns[0]) != 5 || d.Columns[0][1] != Brought || d.Columns[0][3] != FromMemory {
		t.Errorf("%+v %v", c, d.Columns)
	}
}

var (
	pathElement = regexp.MustCompile(`<path fill="(#[0-9a-f]{6})" d="([^"]*)"/>`)
	rectangle   = regexp.MustCompile(`^M(\d+) (\d+)h(\d+)v(\d+)h-(\d+)z`)
)

// paint fills the rectangles of an SVG's paths into the states of steps and rows.
func paint(t *testing.T, svg string, steps, rows int) [][]State {
	t.Helper()
	columns := make([][]State, steps)
	for i := range columns {
		columns[i] = make([]State, rows)
	}
	for _, e := range pathElement.FindAllStringSubmatch(svg, -1) {
		state := State(slices.IndexFunc(styles[:], func(s style) bool { return s.hex() == e[1] }))
		for d := e[2]; d != ""; {
			m := rectangle.FindStringSubmatch(d)
			if m == nil || m[3] != m[5] {
				t.Fatalf("path %.40q", d)
			}
			d = d[len(m[0]):]
			var n [4]int
			for i := range n {
				n[i], _ = strconv.Atoi(m[i+1]) // digits by the expression
			}
			for x := n[0]; x < n[0]+n[2]; x++ {
				for y := n[1]; y < n[1]+n[3]; y++ {
					if columns[x][y] != Absent {
						t.Errorf("step %d, row %d is painted twice", x, y)
					}
					columns[x][y] = state
				}
			}
		}
	}
	return columns
}

func TestDrawingsHoldEveryCell(t *testing.T) {
	_, d := simulate(t, table(4, []int64{0}, []int64{1}, []int64{2}, []int64{0, 1}), Options{Levels: []Cache{{1, 8, 1}, {2, 8, 2}}, Policy: LRU, Grain: Threads, Draw: true})
	svg := d.SVG("a < b")
	for x := xml.NewDecoder(strings.NewReader(svg)); ; {
		if _, err := x.Token(); errors.Is(err, io.EOF) {
			break
		} else if err != nil {
			t.Fatal(err)
		}
	}
	// Element 0 is held by L2 in column 2 together with element 1: one rectangle.
	for _, want := range []string{"a &lt; b", `fill="` + styles[InL2].hex() + `" d="M2 0h1v2h-1zM3 2h1v2h-1z"`, "4 threads", ">in L2<"} {
		if !strings.Contains(svg, want) {
			t.Errorf("no %s in\n%s", want, svg)
		}
	}
	for step, column := range paint(t, svg, 4, 4) {
		if !bytes.Equal(states(column), states(d.Columns[step])) {
			t.Errorf("step %d is drawn as %v, want %v", step, column, d.Columns[step])
		}
	}
	b, err := d.PNG()
	if err != nil {
		t.Fatal(err)
	}
	img, err := png.Decode(bytes.NewReader(b))
	if err != nil {
		t.Fatal(err)
	}
	scale := d.scale()
	if img.Bounds().Dx() != 4*scale || img.Bounds().Dy() != 4*scale {
		t.Fatalf("%v", img.Bounds())
	}
	for step, column := range d.Columns {
		for e, s := range column {
			r, g, b, _ := img.At(step*scale+scale/2, e*scale+scale/2).RGBA()
			if got := [3]uint8{uint8(r >> 8), uint8(g >> 8), uint8(b >> 8)}; got != styles[s].colour {
				t.Errorf("step %d, element %d: %v, want %v", step, e, got, styles[s].colour)
			}
		}
	}
}

func TestWhatCannotBeSimulatedIsSaid(t *testing.T) {
	loads := make([][]int64, 1000)
	for i := range loads {
		loads[i] = []int64{0}
	}
	for _, c := range []struct {
		s    Stream
		o    Options
		want string
	}{
		{table(4, []int64{0}), Options{Levels: []Cache{{1, 6, 1}}, Grain: Threads}, "whole number of elements"},
		{table(10000, loads...), Options{Levels: []Cache{{1, 8, 1}}, Grain: Threads, Draw: true}, "make the grid smaller"},
	} {
		if _, _, err := Simulate(context.Background(), c.s, c.o); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%v, want %s", err, c.want)
		}
	}
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	if _, _, err := Simulate(ctx, table(4, []int64{0}), Options{Levels: []Cache{{1, 8, 1}}, Grain: Threads}); !errors.Is(err, context.Canceled) {
		t.Errorf("after the user's stop: %v", err)
	}
}

func TestWalksAreSchedules(t *testing.T) {
	for text, want := range map[string]string{
		"rows":       "global/gx=32/gy=1/gz=1/wx=1/wy=1/wz=1/cw=0/zz=0/sp=1",
		"columns=8":  "global/gx=32/gy=1/gz=1/wx=1/wy=1/wz=1/cw=8/zz=0/sp=1",
		"zigzag=100": "global/gx=32/gy=1/gz=1/wx=1/wy=1/wz=1/cw=100/zz=1/sp=1",
		"tiles=8x4":  "global/gx=8/gy=4/gz=1/wx=1/wy=1/wz=1/cw=0/zz=0/sp=0",
	} {
		if s, err := ParseWalk(text, 2); err != nil || s.String() != want {
			t.Errorf("%s: %s, %v", text, s, err)
		}
	}
	for _, text := range []string{"", "row", "rows=3", "columns", "columns=0", "columns=x", "tiles=8", "tiles=8x8x8", "tiles=0x8", "tiles"} {
		if s, err := ParseWalk(text, 2); err == nil {
			t.Errorf("%q: %s", text, s)
		}
	}
}
