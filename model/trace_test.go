package model_test

import (
	"context"
	"fmt"
	"math"
	"testing"

	"stenciltune/kernels/global"
	"stenciltune/model"
	"stenciltune/space"
	"stenciltune/stencil"
	"stenciltune/study/trace"
)

// The share of L1 hits that follows from the walk, against caches that are simulated line by line.
func TestHitsAreThoseOfSimulatedCaches(t *testing.T) {
	if testing.Short() {
		t.Skip("simulates for five seconds")
	}
	box9, err := stencil.Lookup("box9")
	if err != nil {
		t.Fatal(err)
	}
	for _, wide := range []int{4096, 4037} {
		for _, geometry := range []string{"2048x128", "512x128x8", "128x128"} {
			cache, err := trace.ParseCache(geometry)
			if err != nil {
				t.Fatal(err)
			}
			for _, width := range []int{0, 16, 32, 33, 64, 256} {
				for zigzag := range 2 {
					if width == 0 && zigzag == 1 {
						continue
					}
					p := stencil.Problem{Stencil: box9, DType: stencil.Float32, Size: stencil.Size{wide, 256, 1}, Steps: 1}
					s, err := space.ParseSchedule(fmt.Sprintf("global/gx=256/gy=1/gz=1/wx=1/wy=1/wz=1/cw=%d/zz=%d/sp=1", width, zigzag))
					if err != nil {
						t.Fatal(err)
					}
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
					simulated := float64(got.Hits[0]) / float64(got.Requests)
					predicted := model.LineHits(w.Line, float64(w.Launch.Blocks()), cache.Lines/cache.Ways, cache.Ways)
					asked := w.Line.Asked / float64(w.Launch.Blocks()) * 256
					what := fmt.Sprintf("%d wide, %s, width %d, zigzag %d", wide, geometry, width, zigzag)
					t.Logf("%s: %.1f %% found, %.1f %% predicted", what, 100*simulated, 100*predicted)
					off := 0.015
					if wide == 4096 && width == 33 && cache.Ways == 8 { // a block has 9 rows in some sets, which hold 8
						off = 0.25
					}
					if math.Abs(predicted-simulated) > off || math.Abs(asked/float64(got.Requests)-1) > 0.04 {
						t.Errorf("%s: %.3f found, %.3f predicted; %d lines asked for, %.0f predicted", what, simulated, predicted, got.Requests, asked)
					}
				}
			}
		}
	}
}
