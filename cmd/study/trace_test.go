package main

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"stenciltune/cmd/internal/cli"
	"stenciltune/cmd/internal/clitest"
	"stenciltune/internal/golden"
)

// drawings are the thesis's diagrams, as docs/trace.md shows them.
var drawings = []struct {
	file, stencil, walk, l1 string
	fetched                 int64
}{
	{"box7-rows-42", "../../docs/trace/box7.sl", "rows", "42x16", 64},
	{"box7-rows", "../../docs/trace/box7.sl", "rows", "24x16", 316},
	{"box7-tiles-8x8", "../../docs/trace/box7.sl", "tiles=8x8", "24x16", 132},
	{"box7-columns-8", "../../docs/trace/box7.sl", "columns=8", "24x16", 96},
	{"box7-columns-4", "../../docs/trace/box7.sl", "columns=4", "24x16", 160},
	{"box7-zigzag-8", "../../docs/trace/box7.sl", "zigzag=8", "24x16", 96},
	{"matmul-rows", "matmul", "rows", "32x16", 1088},
	{"matmul-columns-8", "matmul", "columns=8", "32x16", 1152},
	{"matmul-columns-4", "matmul", "columns=4", "32x16", 320},
}

func TestDrawingsOfTheDocumentationAreUpToDate(t *testing.T) {
	page, err := os.ReadFile("../../docs/trace.md")
	if err != nil {
		t.Fatal(err)
	}
	for _, d := range drawings {
		file := filepath.Join(t.TempDir(), "drawing.svg")
		p := clitest.Command(t, clitest.StoreIn(t), "trace", "--stencil", d.stencil, "--size", "16x16", "--walk", d.walk, "--l1", d.l1, "--svg", file, "--json")
		if code := p.Run(t); code != 0 || p.Stderr.Len() > 0 {
			t.Fatalf("exit %d\n%s", code, &p.Stderr)
		}
		var info traceInfo
		if err := json.Unmarshal(p.Stdout.Bytes(), &info); err != nil {
			t.Fatal(err)
		}
		if info.Fetches != d.fetched || info.Steps != 256 {
			t.Errorf("%s: %+v, want %d lines fetched", d.file, info, d.fetched)
		}
		svg, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		golden.File(t, "../../docs/trace/"+d.file+".svg", svg)
		if !strings.Contains(string(page), fmt.Sprintf("trace/%s.svg", d.file)) {
			t.Errorf("docs/trace.md does not show %s", d.file)
		}
	}
}

func TestTraceOfASchedule(t *testing.T) {
	file := filepath.Join(t.TempDir(), "drawing.png")
	p := clitest.Command(t, clitest.StoreIn(t), "trace", "--stencil", "jacobi2d", "--size", "64x8", "--by", "warp", "--l1", "4x128", "--l2", "64x128x4",
		"--schedule", "tile/gx=32/gy=4/gz=1/wx=1/wy=1/wz=1/cw=0/zz=0/ph=1", "--png", file)
	if code := p.Run(t); code != 0 || p.Stderr.Len() > 0 {
		t.Fatalf("exit %d\n%s", code, &p.Stderr)
	}
	// Four read tiles of 34 x 6 cells, 16 rows of 2 lines; each warp asks for a line
	// or two, in flat order.
	want := `jacobi2d/f32/64x8, tile/gx=32/gy=4/gz=1/wx=1/wy=1/wz=1/cw=0/zz=0/ph=1
16 warps, one after the other; replacement lru
L1: 4 lines of 128 bytes, fully associative
L2: 64 lines of 128 bytes, 4 ways
`
	got := p.Stdout.String()
	if !strings.HasPrefix(got, want) || !strings.Contains(got, "16 fetched from memory") {
		t.Errorf("got\n%s", got)
	}
	if b, err := os.ReadFile(file); err != nil || !strings.HasPrefix(string(b), "\x89PNG") {
		t.Errorf("%v", err)
	}
}

func TestTraceSaysWhatItCannotDo(t *testing.T) {
	const naive = "global/gx=64/gy=4/gz=1/wx=1/wy=1/wz=1/cw=0/zz=0/sp=0"
	for _, c := range []struct{ args, want string }{
		{"--stencil jacobi2d", "--walk or --schedule"},
		{"--stencil jacobi2d --walk rows --schedule " + naive, "one of them"},
		{"--stencil jacobi2d --walk spiral", "rows, columns=8"},
		{"--stencil jacobi2d --walk rows --l1 24", "LINESxBYTES"},
		{"--stencil jacobi2d --walk rows --l1 24x6", "whole number of elements"},
		{"--stencil jacobi2d --walk rows --l2 24x16x5", "whole number of sets"},
		{"--stencil jacobi2d --walk rows --policy fifo", "lru or random"},
		{"--stencil jacobi2d --walk rows --by cell", "thread, warp or block"},
		{"--stencil jacobi2d --schedule " + naive + "/vx=2", "leave out vx"},
		{"--stencil srad2 --walk rows", "srad2"},
		{"--stencil jacobi3d --schedule slide/gx=32/gy=8/gz=1/wx=1/wy=2/wz=1/cw=0/zz=0/ws=32/db=0", "does not describe its loads"},
		{"--stencil jacobi2d --walk rows --svg x.svg", "make the grid smaller"},
	} {
		p := clitest.Command(t, clitest.StoreIn(t), append([]string{"trace"}, strings.Fields(c.args)...)...)
		if code := p.Run(t); code != cli.Usage || !strings.Contains(p.Stderr.String(), c.want) || strings.Count(p.Stderr.String(), "\n") != 1 || p.Stdout.Len() > 0 {
			t.Errorf("%s: exit %d\n%s%s", c.args, code, &p.Stdout, &p.Stderr)
		}
	}
}
