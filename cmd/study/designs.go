package main

import "stenciltune/space"

// designs are a good schedule of each kernel design, simplest first, for grids of
// one to three dimensions. Those of global and tile are the fastest of their kind
// in the recorded float32 landscapes of jacobi2d and jacobi3d; the others are like
// them in group shape and work.
func designs(dims int) []point {
	texts := [3][][2]string{
		{
			{"naive", "global/gx=256/gy=1/gz=1/wx=1/wy=1/wz=1/cw=0/zz=0/sp=0"},
			{"multi-write", "global/gx=256/gy=1/gz=1/wx=2/wy=1/wz=1/cw=0/zz=0/sp=0"},
			{"multi-write, vectors", "global/gx=256/gy=1/gz=1/wx=1/wy=1/wz=1/cw=0/zz=0/sp=0/vx=4"},
			{"small tile", "smalltile/gx=256/gy=1/gz=1/wx=1/wy=1/wz=1/cw=0/zz=0/ph=1"},
			{"big tile", "tile/gx=256/gy=1/gz=1/wx=1/wy=1/wz=1/cw=0/zz=0/ph=1"},
			{"big tile, div/rem loader", "tile/gx=256/gy=1/gz=1/wx=1/wy=1/wz=1/cw=0/zz=0/ph=1/ld=1"},
			{"big tile, cube loader", "tile/gx=256/gy=1/gz=1/wx=1/wy=1/wz=1/cw=0/zz=0/ph=1/ld=2"},
			{"multi-write big tile", "tile/gx=256/gy=1/gz=1/wx=4/wy=1/wz=1/cw=0/zz=0/ph=1"},
			{"multi-write big tile, pyramid", "tile/gx=256/gy=1/gz=1/wx=4/wy=1/wz=1/cw=0/zz=0/ph=4"},
		}, {
			{"naive", "global/gx=128/gy=2/gz=1/wx=1/wy=1/wz=1/cw=0/zz=0/sp=0"},
			{"column order", "global/gx=128/gy=1/gz=1/wx=1/wy=1/wz=1/cw=256/zz=0/sp=1"},
			{"multi-write", "global/gx=64/gy=4/gz=1/wx=2/wy=4/wz=1/cw=0/zz=0/sp=0"},
			{"multi-write, vectors", "global/gx=32/gy=4/gz=1/wx=1/wy=4/wz=1/cw=0/zz=0/sp=0/vx=4"},
			{"small tile", "smalltile/gx=32/gy=16/gz=1/wx=1/wy=1/wz=1/cw=0/zz=0/ph=1"},
			{"small tile, pyramid", "smalltile/gx=32/gy=32/gz=1/wx=1/wy=1/wz=1/cw=0/zz=0/ph=3"},
			{"big tile", "tile/gx=32/gy=4/gz=1/wx=1/wy=1/wz=1/cw=0/zz=0/ph=1"},
			{"big tile, div/rem loader", "tile/gx=32/gy=4/gz=1/wx=1/wy=1/wz=1/cw=0/zz=0/ph=1/ld=1"},
			{"big tile, cube loader", "tile/gx=32/gy=4/gz=1/wx=1/wy=1/wz=1/cw=0/zz=0/ph=1/ld=2"},
			{"multi-write big tile", "tile/gx=64/gy=1/gz=1/wx=1/wy=8/wz=1/cw=0/zz=0/ph=1"},
			{"multi-write big tile, pyramid", "tile/gx=32/gy=16/gz=1/wx=2/wy=4/wz=1/cw=0/zz=0/ph=6"},
			{"sliding tile", "slide/gx=64/gy=4/gz=1/wx=1/wy=1/wz=1/cw=0/zz=0/ws=16/db=0"},
			{"sliding tile, double buffer", "slide/gx=64/gy=4/gz=1/wx=1/wy=1/wz=1/cw=0/zz=0/ws=16/db=1"},
		}, {
			{"naive", "global/gx=64/gy=4/gz=1/wx=1/wy=1/wz=1/cw=0/zz=0/sp=0"},
			{"column order", "global/gx=128/gy=1/gz=1/wx=1/wy=1/wz=1/cw=256/zz=0/sp=1"},
			{"multi-write", "global/gx=32/gy=2/gz=4/wx=2/wy=4/wz=1/cw=0/zz=0/sp=0"},
			{"multi-write, vectors", "global/gx=32/gy=2/gz=4/wx=1/wy=2/wz=2/cw=0/zz=0/sp=0/vx=4"},
			{"small tile", "smalltile/gx=32/gy=8/gz=4/wx=1/wy=1/wz=1/cw=0/zz=0/ph=1"},
			{"small tile, pyramid", "smalltile/gx=16/gy=8/gz=8/wx=1/wy=1/wz=1/cw=0/zz=0/ph=2"},
			{"big tile", "tile/gx=32/gy=4/gz=2/wx=1/wy=1/wz=1/cw=0/zz=0/ph=1"},
			{"big tile, div/rem loader", "tile/gx=32/gy=4/gz=2/wx=1/wy=1/wz=1/cw=0/zz=0/ph=1/ld=1"},
			{"big tile, cube loader", "tile/gx=32/gy=4/gz=2/wx=1/wy=1/wz=1/cw=0/zz=0/ph=1/ld=2"},
			{"multi-write big tile", "tile/gx=32/gy=4/gz=2/wx=1/wy=2/wz=4/cw=0/zz=0/ph=1"},
			{"multi-write big tile, pyramid", "tile/gx=32/gy=8/gz=4/wx=1/wy=2/wz=4/cw=0/zz=0/ph=2"},
			{"sliding tile", "slide/gx=32/gy=8/gz=1/wx=1/wy=2/wz=1/cw=0/zz=0/ws=32/db=0"},
			{"sliding tile, double buffer", "slide/gx=32/gy=8/gz=1/wx=1/wy=2/wz=1/cw=0/zz=0/ws=32/db=1"},
		},
	}[dims-1]
	var points []point
	for _, t := range texts {
		s, err := space.ParseSchedule(t[1])
		if err != nil {
			panic("study: " + err.Error())
		}
		points = append(points, point{label: t[0], schedule: s})
	}
	return points
}
