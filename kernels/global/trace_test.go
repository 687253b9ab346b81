package global_test

import (
	"context"
	"fmt"
	"math"
	"testing"

	"stenciltune/kernels/global"
	"stenciltune/kernels/kernelstest"
	"stenciltune/space/spacetest"
	"stenciltune/stencil"
	"stenciltune/study/trace"
)

// TestLinesAskedForAreThoseOfTheWalk counts the cache lines that a launch's first blocks ask for.
func TestLinesAskedForAreThoseOfTheWalk(t *testing.T) {
	if testing.Short() {
		t.Skip("goes through the loads of many threads")
	}
	cache, err := trace.ParseCache("128x128")
	if err != nil {
		t.Fatal(err)
	}
	for _, wide := range []int{4096, 4037} {
		for _, width := range []int{0, 16, 32, 33, 64, 256} {
			p := kernelstest.Problem(t, "box9", stencil.Float32, stencil.Size{wide, 256, 1})
			s := spacetest.Schedule(t, fmt.Sprintf("global/gx=256/gy=1/gz=1/wx=1/wy=1/wz=1/cw=%d/zz=0/sp=1", width))
			loads, err := global.Family{}.Loads(p, s)
			if err != nil {
				t.Fatal(err)
			}
			w := global.Family{}.Work(p, s)
			launch := w.Launch
			launch.Grid[0] = 256 // the first blocks stand for all
			got, _, err := trace.Simulate(context.Background(), trace.Stream{Arrays: []trace.Array{{Name: "in", Elements: p.Size.Cells()}}, ElementBytes: 4, Launch: launch, Loads: loads},
				trace.Options{Levels: []trace.Cache{cache}, Policy: trace.LRU, Grain: trace.Blocks})
			if err != nil {
				t.Fatal(err)
			}
			if asked := w.Line.Asked / float64(w.Launch.Blocks()) * 256; math.Abs(asked/float64(got.Requests)-1) > 0.04 {
				t.Errorf("%d wide, width %d: %d lines asked for, %.0f counted", wide, width, got.Requests, asked)
			}
		}
	}
}
