package main

import (
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"stenciltune/cmd/internal/cli"
	"stenciltune/cmd/internal/clitest"
	"stenciltune/kernels"
	"stenciltune/kernels/all"
	"stenciltune/stencil"
	"stenciltune/stencil/stenciltest"
	"stenciltune/timing"
	"stenciltune/tuner"
)

const sweepBase = "tile/gx=32/gy=8/gz=1/wx=1/wy=2/wz=1/cw=0/zz=0/ph=1"

// sweep runs study sweep on schedules of tile recorded on an H200, jacobi2d in float32.
func sweep(t *testing.T, args ...string) *clitest.Program {
	t.Helper()
	p := clitest.Command(t, clitest.StoreIn(t), append([]string{"sweep", "--stencil", "jacobi2d", "--device", "replay:testdata/sweep.jsonl.gz"}, args...)...)
	if code := p.Run(t); code != 0 || p.Stderr.Len() > 0 {
		t.Fatalf("exit %d\n%s", code, &p.Stderr)
	}
	return p
}

func TestSweepOfTwoParametersIsATable(t *testing.T) {
	got := sweep(t, "--schedule", sweepBase, "--vary", "gx=32,64,128,512", "--vary", "cw=0,256,1024").Stdout.String()
	want := `jacobi2d/f32/8192x8192 on NVIDIA H200, GCells/s
gx \ cw  0      256    1024
32       264.2  209.9  210.4
64       250.8  198.5  202.3
128      223.8  171.5  173.7
512      (gx)   (gx)   (gx)
best: tile/gx=32/gy=8/gz=1/wx=1/wy=2/wz=1/cw=0/zz=0/ph=1 264.2
(gx): gx must be one of [32 64 128 256]
`
	if got != want {
		t.Errorf("got\n%s\nwant\n%s", got, want)
	}
}

func TestSweepOfOneOrThreeParametersIsAList(t *testing.T) {
	got := sweep(t, "--schedule", sweepBase, "--vary", "zz=0,1").Stdout.String()
	want := `jacobi2d/f32/8192x8192 on NVIDIA H200, GCells/s
zz=0  264.2
zz=1  (zigzag)
best: tile/gx=32/gy=8/gz=1/wx=1/wy=2/wz=1/cw=0/zz=0/ph=1 264.2
(zigzag): zigzag turns round at the end of a column's row; without a column width there is none
`
	if got != want {
		t.Errorf("got\n%s\nwant\n%s", got, want)
	}
	// An optional parameter at its default is today's schedule; others were not recorded.
	got = sweep(t, "--schedule", sweepBase, "--vary", "ph=1,2", "--vary", "wy=2", "--vary", "ld=0,1").Stdout.String()
	for _, line := range []string{"ph=1 wy=2 ld=0  264.2\n", "ph=1 wy=2 ld=1  (skipped)\n", "ph=2 wy=2 ld=0  "} {
		if !strings.Contains(got, line) {
			t.Errorf("no %q in\n%s", line, got)
		}
	}
}

func TestSweepBeyondTheSearchInMilliseconds(t *testing.T) {
	got := sweep(t, "--schedule", sweepBase, "--vary", "gx=32,96,2048", "--beyond", "--unit", "ms").Stdout.String()
	// 96 is no value of the search, so the recording has no time of it.
	want := `jacobi2d/f32/8192x8192 on NVIDIA H200, ms
gx=32    0.254
gx=96    (skipped)
gx=2048  (threads)
best: tile/gx=32/gy=8/gz=1/wx=1/wy=2/wz=1/cw=0/zz=0/ph=1 0.254
`
	if !strings.HasPrefix(got, want) {
		t.Errorf("got\n%s\nwant\n%s", got, want)
	}
}

// A table of a recording may have holes, but not nothing else.
func TestSweepOfNothingThatWasRecordedFails(t *testing.T) {
	p := clitest.Command(t, clitest.StoreIn(t), "sweep", "--stencil", "jacobi2d", "--device", "replay:testdata/sweep.jsonl.gz", "--schedule", sweepBase, "--beyond", "--vary", "gx=96,160")
	if code := p.Run(t); code != cli.NoSchedule || !strings.Contains(p.Stderr.String(), "none of 2 schedules has a time") {
		t.Errorf("exit %d\n%s%s", code, &p.Stdout, &p.Stderr)
	}
}

func TestSweepPrintsJSON(t *testing.T) {
	var list []pointInfo
	if err := json.Unmarshal(sweep(t, "--schedule", sweepBase, "--vary", "gx=32,512", "--vary", "zz=0,1", "--json").Stdout.Bytes(), &list); err != nil {
		t.Fatal(err)
	}
	if len(list) != 4 || !list[0].Status.Timed() || list[0].SecondsPerStep <= 0 || list[0].CellsPerSecond*list[0].SecondsPerStep < 8191*8191 ||
		list[1].Status != timing.Rejected || list[1].Constraint != "zigzag" || list[1].Reason == "" || list[3].Constraint != "gx" {
		t.Errorf("%+v", list)
	}
}

func TestSweepDrawsAHeatMap(t *testing.T) {
	file := filepath.Join(t.TempDir(), "map.svg")
	sweep(t, "--schedule", sweepBase, "--vary", "gx=32,512", "--vary", "cw=0,256,1024", "--heatmap", file)
	b, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	svg := string(b)
	for text, n := range map[string]int{">264.2<": 1, ">209.9<": 1, ">gx<": 4, ">cw<": 1, "#FCE724": 1, "#440153": 1, "#DDDDDD": 3, "font-weight:600": 1} {
		if strings.Count(svg, text) != n {
			t.Errorf("%q stands %d times, want %d, in\n%s", text, strings.Count(svg, text), n, svg)
		}
	}
}

func TestDesignsAreLegalOnUsualGrids(t *testing.T) {
	list := []*stencil.Stencil{stenciltest.Parse(t, "line", "NumDimensions 1 StencilSize (1) CellValue { return get(-1) + get(1); }")}
	for _, name := range []string{"jacobi2d", "jacobi3d"} {
		list = append(list, stenciltest.Lookup(t, name))
	}
	for _, s := range list {
		for _, d := range []stencil.DType{stencil.Float32, stencil.Float64} {
			p := stencil.Problem{Stencil: s, DType: d, Size: s.DefaultSize(false), Steps: 1000}
			sp := kernels.Spaces(all.Families(), p, tuner.AnyGPU())
			for _, q := range designs(s.Dims) {
				if err := sp.Check(q.schedule); err != nil {
					t.Errorf("%s, %s: %v", p.Text(), q.label, err)
				}
			}
		}
	}
}

func TestSweepOfTheDesignsOnTheHost(t *testing.T) {
	if testing.Short() {
		t.Skip("waits for compilers: nothing for the race detector")
	}
	needDevice(t, *flagDevice)
	q := clitest.Command(t, clitest.StoreIn(t), "sweep", "--stencil", "jacobi2d", "--size", small(), "--device", *flagDevice, "--families")
	if code := q.Run(t); code != 0 {
		t.Fatalf("exit %d\n%s%s", code, &q.Stdout, &q.Stderr)
	}
	for _, d := range designs(2) {
		if !strings.Contains(q.Stdout.String(), d.label+" ") || !strings.Contains(q.Stdout.String(), d.schedule.String()+"\n") {
			t.Errorf("no %s in\n%s", d.label, &q.Stdout)
		}
	}
}
