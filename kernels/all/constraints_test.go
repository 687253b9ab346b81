package all

import (
	"errors"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"stenciltune/kernels"
	"stenciltune/machine"
	"stenciltune/machine/machinetest"
	"stenciltune/space"
	"stenciltune/space/spacetest"
	"stenciltune/stencil"
	"stenciltune/stencil/stenciltest"
)

// breaks lists the constraints of a family that a schedule breaks, one by one.
func breaks(t testing.TB, f *space.Family, s space.Schedule) (names []string) {
	t.Helper()
	for _, c := range f.Constraints {
		alone := space.New(&space.Family{Name: f.Name, Params: f.Params, Constraints: []space.Constraint{c}})
		err := alone.Check(s)
		if err == nil {
			continue
		}
		r, ok := errors.AsType[*space.Rejection](err)
		if !ok || r.Constraint != c.Name || r.Why == "" {
			t.Fatalf("%s: %v", s, err)
		}
		names = append(names, c.Name)
	}
	return names
}

func TestEachConstraintAloneRejectsSomeSchedule(t *testing.T) {
	const last = "/cw=0/zz=0/sp=0"
	small := machinetest.H200()
	small.MaxGridDim = [3]int{1000, 1000, 40}
	crowded, little := machinetest.H200(), machinetest.H200()
	crowded.MaxThreadsSM, little.SharedBlockOptin = 8192, 16<<10
	jacobi3d := catalogued(t, "jacobi3d", stencil.Float32, stencil.Size{512, 512, 512})
	acoustic := catalogued(t, "acoustic3d", stencil.Float32, stencil.Size{512, 512, 512})
	jacobi2d := catalogued(t, "jacobi2d", stencil.Float32, stencil.Size{8192, 8192, 1})
	odd, lean := machinetest.H200(), machinetest.H200() // wider warps; little of everything an SM has
	odd.WarpSize = 64
	slim := machinetest.H200()
	slim.MaxThreadsSM = 512
	turing := machinetest.H200()
	turing.ComputeCapability = "7.5"
	lean.MaxThreadsSM, lean.SharedBlockOptin = 512, 8<<10
	few := jacobi3d
	few.Steps = 2
	walls := channel(t)
	apart := walls
	apart.Stencil = stenciltest.Parse(t, "mirrors", "NumDimensions 3 StencilSize (1, 1, 1) Fields (u, v) Boundary u y mirror CellValue { return get(u, 0, 1, 0) * get(v, 0, -1, 0), get(v, 0, 0, 1); }")
	endless := walls
	endless.Stencil = stenciltest.Parse(t, "endless", "NumDimensions 3 StencilSize (1, 1, 1) Boundary constant 1e39 CellValue { return get(0, 1, 0) * get(0, 0, -1) + get(1, 0, 1); }")
	few2d := jacobi2d
	few2d.Steps = 2
	halves := jacobi3d
	halves.DType = stencil.Float16
	double := jacobi3d
	double.DType = stencil.Float64
	reach := jacobi3d
	reach.Stencil = stenciltest.Parse(t, "wide", "NumDimensions 3 StencilSize (4, 4, 4) CellValue { return get(-4, -4, -4) + get(4, 4, 4); }")
	far := jacobi3d
	far.Stencil = stenciltest.Parse(t, "corners", "NumDimensions 3 StencilSize (16, 16, 16) CellValue { return get(-16, -16, -16) + get(16, -16, 16) + get(-16, 16, -16) + get(16, 16, 16) + get(16, 0, 0) + get(16, 0, 16) + get(16, 0, -16); }")
	for _, c := range []struct {
		p        stencil.Problem
		m        machine.Machine
		schedule string
		want     string
	}{
		{jacobi3d, machinetest.H200(), "global/gx=64/gy=4/gz=2/wx=1/wy=2/wz=1/cw=0/zz=0/sp=0", ""},
		{jacobi3d, machinetest.H200(), "global/gx=128/gy=16/gz=1/wx=1/wy=1/wz=1" + last, "threads"},
		{jacobi3d, machinetest.H200(), "global/gx=32/gy=1/gz=1/wx=1/wy=1/wz=1" + last, "warps"},
		{jacobi3d, machinetest.H200(), "global/gx=32/gy=4/gz=1/wx=2/wy=4/wz=2" + last, "work"},
		{jacobi3d.Resized(stencil.Size{512, 4, 512}), machinetest.H200(), "global/gx=32/gy=8/gz=1/wx=1/wy=1/wz=1" + last, "tile-size"},
		{jacobi3d, machinetest.H200(), "global/gx=64/gy=4/gz=1/wx=1/wy=1/wz=1/cw=64/zz=0/sp=0", "column-width"},
		{jacobi3d, machinetest.H200(), "global/gx=64/gy=4/gz=1/wx=1/wy=1/wz=1/cw=512/zz=0/sp=0", "column-width"},
		{jacobi3d, machinetest.H200(), "global/gx=64/gy=4/gz=1/wx=1/wy=1/wz=1/cw=0/zz=1/sp=0", "zigzag"},
		{jacobi3d, small, "global/gx=64/gy=4/gz=1/wx=1/wy=1/wz=1" + last, "grid"},
		{jacobi3d, small, "global/gx=64/gy=4/gz=4/wx=2/wy=2/wz=1/cw=256/zz=0/sp=0", "grid"},
		{jacobi3d.Resized(stencil.Size{512, 16, 100}), small, "global/gx=64/gy=4/gz=1/wx=2/wy=2/wz=1/cw=0/zz=0/sp=0", "grid"},
		{jacobi3d.Resized(stencil.Size{512, 16, 100}), small, "global/gx=64/gy=4/gz=1/wx=2/wy=2/wz=1/cw=256/zz=0/sp=0", ""}, // one long line of blocks
		{jacobi3d, machinetest.H200(), "global/gx=64/gy=4/gz=1/wx=1/wy=1/wz=1/cw=0/zz=0/sp=1", "lengths"},
		{jacobi3d, machinetest.H200(), "global/gx=64/gy=1/gz=1/wx=1/wy=1/wz=1/cw=512/zz=0/sp=1", "lengths-column"},
		{jacobi3d, machinetest.H200(), "global/gx=64/gy=1/gz=1/wx=1/wy=1/wz=1/cw=32/zz=1/sp=1", ""}, // narrower than a block
		{jacobi3d, machinetest.H200(), "global/gx=32/gy=4/gz=2/wx=1/wy=2/wz=4/cw=256/zz=1/sp=0/vx=4", ""},
		{jacobi3d, machinetest.H200(), "global/gx=32/gy=4/gz=2/wx=2/wy=2/wz=1/cw=0/zz=0/sp=0/vx=2", "vectors"},
		{jacobi3d, machinetest.H200(), "global/gx=64/gy=1/gz=1/wx=1/wy=1/wz=1/cw=0/zz=0/sp=1/vx=2", "vectors"},
		{far, machinetest.H200(), "global/gx=64/gy=1/gz=1/wx=1/wy=8/wz=1/cw=0/zz=0/sp=0/vx=2", ""},
		{far, machinetest.H200(), "global/gx=64/gy=1/gz=1/wx=1/wy=8/wz=1/cw=0/zz=0/sp=0/vx=4", "loads"},
		{jacobi3d, machinetest.H200(), "global/gx=64/gy=4/gz=1/wx=1/wy=2/wz=1/cw=256/zz=0/sp=0/vx=4", "column-width"},

		{jacobi3d, machinetest.H200(), "tile/gx=32/gy=4/gz=4/wx=1/wy=2/wz=2/cw=128/zz=1/ph=2", ""},
		{jacobi3d, machinetest.H200(), "tile/gx=128/gy=16/gz=1/wx=1/wy=1/wz=2/cw=0/zz=0/ph=1", "threads"},
		{jacobi3d, machinetest.H200(), "tile/gx=32/gy=1/gz=1/wx=1/wy=2/wz=2/cw=0/zz=0/ph=1", "warps"},
		{jacobi3d, machinetest.H200(), "tile/gx=32/gy=4/gz=1/wx=1/wy=4/wz=8/cw=0/zz=0/ph=1", "work"},
		{jacobi3d.Resized(stencil.Size{512, 4, 512}), machinetest.H200(), "tile/gx=32/gy=8/gz=2/wx=1/wy=1/wz=1/cw=0/zz=0/ph=1", "tile-size"},
		{jacobi3d, machinetest.H200(), "tile/gx=128/gy=2/gz=2/wx=1/wy=1/wz=1/cw=128/zz=0/ph=1", "column-width"},
		{jacobi2d.Resized(stencil.Size{1024, 1024, 1}), machinetest.H200(), "tile/gx=64/gy=4/gz=1/wx=1/wy=1/wz=1/cw=1024/zz=0/ph=1", "column-width"},
		{jacobi3d, machinetest.H200(), "tile/gx=32/gy=4/gz=4/wx=1/wy=2/wz=2/cw=0/zz=1/ph=2", "zigzag"},
		{jacobi3d, small, "tile/gx=32/gy=4/gz=2/wx=1/wy=2/wz=2/cw=0/zz=0/ph=2", "grid"},
		{few, machinetest.H200(), "tile/gx=32/gy=4/gz=4/wx=1/wy=2/wz=2/cw=0/zz=0/ph=3", "steps"},
		{jacobi3d, machinetest.H200(), "tile/gx=32/gy=4/gz=1/wx=1/wy=2/wz=2/cw=0/zz=0/ph=2", "halo"},
		{reach, machinetest.H200(), "tile/gx=32/gy=8/gz=2/wx=1/wy=1/wz=4/cw=0/zz=0/ph=1", ""},
		{reach, machinetest.H200(), "tile/gx=32/gy=8/gz=1/wx=1/wy=1/wz=4/cw=0/zz=0/ph=1", "halo"},
		{double, machinetest.H200(), "tile/gx=128/gy=8/gz=1/wx=1/wy=2/wz=8/cw=0/zz=0/ph=2", "shared-memory"},

		{jacobi3d, machinetest.H200(), "stream/vx=4/vy=4/wp=8/ck=4/pf=1/mb=2/ph=2", ""},
		{jacobi3d, odd, "stream/vx=4/vy=4/wp=8/ck=4/pf=1/mb=1/ph=2", "warp"},
		{few, machinetest.H200(), "stream/vx=4/vy=4/wp=8/ck=4/pf=1/mb=1/ph=3", "steps"},
		{jacobi3d, lean, "stream/vx=2/vy=6/wp=8/ck=4/pf=1/mb=3/ph=1", "threads"},
		{jacobi3d.Resized(stencil.Size{512, 31, 512}), machinetest.H200(), "stream/vx=4/vy=4/wp=8/ck=4/pf=1/mb=1/ph=2", "grid-size"},
		{jacobi3d.Resized(stencil.Size{127, 512, 512}), machinetest.H200(), "stream/vx=4/vy=4/wp=8/ck=4/pf=1/mb=1/ph=2", "grid-size"},
		{jacobi3d.Resized(stencil.Size{512, 140000, 8}), machinetest.H200(), "stream/vx=4/vy=1/wp=4/ck=1/pf=1/mb=1/ph=1", "grid"},
		{jacobi2d.Resized(stencil.Size{128, 1, 1}), machinetest.H200(), "stream/vx=4/vy=1/wp=4/ck=1/pf=1/mb=1/ph=2", ""}, // rows limit nothing in 2D
		{jacobi3d, machinetest.H200(), "stream/vx=4/vy=4/wp=8/ck=4/pf=4/mb=1/ph=2/pm=1", ""},
		{jacobi3d, turing, "stream/vx=4/vy=4/wp=8/ck=4/pf=2/mb=1/ph=2/pm=1", "prefetch"},
		{jacobi3d, machinetest.H200(), "stream/vx=4/vy=4/wp=8/ck=4/pf=4/mb=1/ph=2", "prefetch"},
		{jacobi3d, machinetest.H200(), "stream/vx=2/vy=4/wp=8/ck=4/pf=2/mb=1/ph=2/sb=1", "split"},
		{jacobi3d, machinetest.H200(), "stream/vx=2/vy=2/wp=8/ck=4/pf=2/mb=1/ph=2/pm=1/sb=1", "split"},
		{jacobi3d, machinetest.H200(), "stream/vx=2/vy=4/wp=8/ck=4/pf=2/mb=2/ph=3/pm=1/sb=1", "split"},
		{jacobi3d, machinetest.H200(), "stream/vx=2/vy=4/wp=8/ck=8/pf=2/mb=1/ph=2/pm=1/sb=1", "split"},
		{jacobi3d, machinetest.H200(), "stream/vx=4/vy=4/wp=8/ck=4/pf=1/mb=1/ph=2/pm=1", "prefetch"},
		{jacobi3d.Resized(stencil.Size{511, 512, 512}), machinetest.H200(), "stream/vx=4/vy=4/wp=8/ck=4/pf=2/mb=1/ph=2/pm=1", ""},
		{halves.Resized(stencil.Size{511, 512, 512}), machinetest.H200(), "stream/vx=4/vy=4/wp=8/ck=4/pf=2/mb=1/ph=2/pm=1", "prefetch"},
		{jacobi3d, machinetest.H200(), "stream/vx=4/vy=4/wp=8/ck=4/pf=4/mb=1/ph=5/wr=2/pm=3/sb=1", ""},
		{jacobi3d, machinetest.H200(), "stream/vx=4/vy=4/wp=8/ck=4/pf=2/mb=1/ph=5/wr=2/pm=3/kp=1/sb=1", ""},
		{jacobi3d, machinetest.H200(), "stream/vx=2/vy=4/wp=8/ck=4/pf=2/mb=1/ph=2/wr=2/pm=1", "bands"},  // rows of 128 bytes
		{jacobi3d, machinetest.H200(), "stream/vx=4/vy=6/wp=12/ck=4/pf=2/mb=1/ph=1/wr=2/pm=1", "bands"}, // 144 rows of 64
		{jacobi3d, machinetest.H200(), "stream/vx=4/vy=4/wp=8/ck=4/pf=1/mb=1/ph=2/wr=2", "folded"},
		{jacobi3d, machinetest.H200(), "stream/vx=4/vy=4/wp=8/ck=6/pf=2/mb=1/ph=2/wr=2/pm=1", "folded"},
		{jacobi3d, machinetest.H200(), "stream/vx=4/vy=4/wp=8/ck=4/pf=2/mb=1/ph=5/wr=2/pm=3/kp=1", "kept"},
		{jacobi3d, machinetest.H200(), "stream/vx=4/vy=4/wp=8/ck=4/pf=4/mb=1/ph=5/wr=2/pm=3/kp=1/sb=1", "kept"},
		{jacobi3d, machinetest.H200(), "stream/vx=2/vy=4/wp=8/ck=4/pf=2/mb=2/ph=3/pm=3", "apron"},
		{jacobi2d, machinetest.H200(), "stream/vx=4/vy=1/wp=4/ck=16/pf=2/mb=1/ph=1/pm=1", ""},
		{jacobi2d, machinetest.H200(), "stream/vx=4/vy=1/wp=1/ck=16/pf=2/mb=1/ph=2/sm=132/pm=1", ""},
		{jacobi2d, machinetest.H200(), "stream/vx=4/vy=1/wp=4/ck=4/pf=2/mb=1/ph=2/sm=132/pm=1", "fill"},
		{jacobi2d, machinetest.H200(), "stream/vx=4/vy=1/wp=1/ck=32/pf=2/mb=1/ph=2/sm=132/pm=1", "fill"},
		{jacobi2d, machinetest.H200(), "stream/vx=4/vy=1/wp=1/ck=16/pf=2/mb=1/ph=2/sm=132", "fill"},
		{jacobi3d, machinetest.H200(), "stream/vx=2/vy=8/wp=8/ck=4/pf=2/mb=1/ph=2/sm=132/pm=1", ""},
		{jacobi3d, machinetest.H200(), "stream/vx=2/vy=8/wp=8/ck=5/pf=2/mb=1/ph=2/sm=132/pm=1", "fill"},
		{jacobi3d.Resized(stencil.Size{256, 256, 20}), machinetest.H200(), "stream/vx=2/vy=8/wp=8/ck=1/pf=2/mb=1/ph=2/sm=132/pm=1", "stream-tile"},
		{jacobi3d, machinetest.H200(), "stream/vx=1/vy=4/wp=8/ck=4/pf=1/mb=1/ph=2", "vector"},
		{jacobi2d.Resized(stencil.Size{63, 8192, 1}), machinetest.H200(), "stream/vx=1/vy=1/wp=4/ck=4/pf=1/mb=1/ph=2", ""}, // nothing wider fits
		{jacobi3d, machinetest.H200(), "stream/vx=4/vy=1/wp=4/ck=4/pf=1/mb=1/ph=2", "halo"},
		{jacobi2d, machinetest.H200(), "stream/vx=2/vy=1/wp=1/ck=4/pf=1/mb=1/ph=14", "halo"},
		{jacobi3d, machinetest.H200(), "stream/vx=4/vy=4/wp=8/ck=24/pf=1/mb=1/ph=6", "stream-tile"},
		{jacobi3d, lean, "stream/vx=4/vy=4/wp=8/ck=4/pf=1/mb=1/ph=2", "shared-memory"},
		{jacobi3d, machinetest.H200(), "stream/vx=4/vy=6/wp=16/ck=4/pf=1/mb=1/ph=2", "registers"},
		{jacobi3d, machinetest.H200(), "stream/vx=2/vy=2/wp=8/ck=4/pf=1/mb=2/ph=1", "blocks"},

		{jacobi3d, machinetest.H200(), "tile/gx=32/gy=4/gz=4/wx=1/wy=2/wz=2/cw=0/zz=0/ph=2/ld=2", ""},
		{jacobi3d, machinetest.H200(), "tile/gx=32/gy=4/gz=4/wx=1/wy=2/wz=2/cw=128/zz=0/ph=2/ld=1", "variants"},
		{jacobi3d, machinetest.H200(), "tile/gx=32/gy=4/gz=4/wx=1/wy=2/wz=2/cw=0/zz=0/ph=3/gd=1", "variants"},
		{jacobi3d, machinetest.H200(), "tile/gx=32/gy=4/gz=4/wx=1/wy=2/wz=2/cw=0/zz=0/ph=2/pd=1/gd=1", "variants"},

		{jacobi3d, machinetest.H200(), "smalltile/gx=32/gy=8/gz=4/wx=1/wy=1/wz=1/cw=128/zz=1/ph=1", ""},
		{jacobi3d, machinetest.H200(), "smalltile/gx=128/gy=4/gz=4/wx=1/wy=1/wz=1/cw=0/zz=0/ph=1", "threads"},
		{jacobi2d, crowded, "smalltile/gx=32/gy=4/gz=1/wx=1/wy=1/wz=1/cw=0/zz=0/ph=1", "warps"},
		{few2d, machinetest.H200(), "smalltile/gx=32/gy=8/gz=1/wx=1/wy=1/wz=1/cw=0/zz=0/ph=3", "steps"},
		{jacobi3d, machinetest.H200(), "smalltile/gx=32/gy=4/gz=4/wx=1/wy=1/wz=1/cw=0/zz=0/ph=2", "halo"},
		{jacobi2d, machinetest.H200(), "smalltile/gx=32/gy=8/gz=1/wx=1/wy=1/wz=1/cw=0/zz=0/ph=3", ""},
		{jacobi2d, machinetest.H200(), "smalltile/gx=32/gy=4/gz=1/wx=1/wy=1/wz=1/cw=0/zz=0/ph=2", "halo"},
		{jacobi2d.Resized(stencil.Size{8192, 3, 1}), machinetest.H200(), "smalltile/gx=32/gy=8/gz=1/wx=1/wy=1/wz=1/cw=0/zz=0/ph=1", "tile-size"},
		{jacobi2d, machinetest.H200(), "smalltile/gx=256/gy=4/gz=1/wx=1/wy=1/wz=1/cw=256/zz=0/ph=1", "column-width"},
		{jacobi2d, machinetest.H200(), "smalltile/gx=64/gy=8/gz=1/wx=1/wy=1/wz=1/cw=0/zz=1/ph=1", "zigzag"},
		{jacobi3d, small, "smalltile/gx=32/gy=8/gz=4/wx=1/wy=1/wz=1/cw=0/zz=0/ph=1", "grid"},

		{acoustic, machinetest.H200(), "sweep/vx=4/vy=2/wp=16/ck=2/pf=2/mb=1/kp=1", ""},
		{jacobi2d, machinetest.H200(), "sweep/vx=4/vy=2/wp=16/ck=2/pf=2/mb=1", "sums"},
		{acoustic, odd, "sweep/vx=4/vy=2/wp=16/ck=2/pf=2/mb=1", "warp"},
		{furnace(t), machinetest.H200(), "stream/vx=4/vy=1/wp=4/ck=16/pf=2/mb=1/ph=1/pm=1", ""},
		{furnace(t), machinetest.H200(), "stream/vx=2/vy=1/wp=4/ck=16/pf=2/mb=1/ph=1/pm=1", "prefetch"}, // two bytes of the wall
		{walls, machinetest.H200(), "sweep/vx=4/vy=2/wp=16/ck=2/pf=2/mb=1", ""},
		{walls, machinetest.H200(), "stream/vx=4/vy=4/wp=8/ck=4/pf=1/mb=1/ph=2", ""},
		{apart, machinetest.H200(), "stream/vx=4/vy=4/wp=8/ck=4/pf=1/mb=1/ph=2", "boundary"},
		{endless, machinetest.H200(), "stream/vx=4/vy=4/wp=8/ck=4/pf=1/mb=1/ph=2", "outside"},
		{jacobi3d, slim, "sweep/vx=2/vy=1/wp=20/ck=2/pf=1/mb=1", "threads"},
		{jacobi3d.Resized(stencil.Size{512, 31, 512}), machinetest.H200(), "sweep/vx=4/vy=4/wp=8/ck=4/pf=2/mb=1", "grid-size"},
		{jacobi3d.Resized(stencil.Size{127, 512, 512}), machinetest.H200(), "sweep/vx=4/vy=4/wp=8/ck=4/pf=2/mb=1", "grid-size"},
		{jacobi3d.Resized(stencil.Size{512, 280000, 8}), machinetest.H200(), "sweep/vx=4/vy=1/wp=4/ck=1/pf=2/mb=1", "grid"},
		{jacobi3d, machinetest.H200(), "sweep/vx=1/vy=4/wp=8/ck=4/pf=2/mb=1", "vector"},
		{double, machinetest.H200(), "sweep/vx=4/vy=2/wp=8/ck=4/pf=2/mb=1", "vector"},
		{halves, machinetest.H200(), "sweep/vx=8/vy=6/wp=4/ck=4/pf=2/mb=1", "work"},
		{acoustic, machinetest.H200(), "sweep/vx=4/vy=2/wp=16/ck=4/pf=2/mb=1", ""},
		{acoustic.Resized(stencil.Size{512, 512, 64}), machinetest.H200(), "sweep/vx=4/vy=2/wp=16/ck=4/pf=2/mb=1", "stream-tile"},
		{jacobi3d, machinetest.H200(), "sweep/vx=4/vy=2/wp=16/ck=4/pf=2/mb=1/kp=1", "keep"},
		{jacobi3d, machinetest.H200(), "sweep/vx=4/vy=2/wp=8/ck=2/pf=3/mb=1/sb=1", ""},
		{jacobi3d, machinetest.H200(), "sweep/vx=4/vy=2/wp=8/ck=2/pf=2/mb=1/sb=1", "split"},
		{jacobi3d, machinetest.H200(), "sweep/vx=4/vy=2/wp=16/ck=2/pf=3/mb=2/sb=1", "split"},
		{jacobi3d, machinetest.H200(), "sweep/vx=4/vy=1/wp=8/ck=2/pf=3/mb=1/sb=1", "split"},
		{jacobi3d, machinetest.H200(), "sweep/vx=4/vy=2/wp=8/ck=4/pf=3/mb=1/sb=1", "split"},
		{acoustic, little, "sweep/vx=4/vy=2/wp=16/ck=4/pf=2/mb=1/kp=1", "shared-memory"},
		{acoustic, machinetest.H200(), "sweep/vx=4/vy=3/wp=16/ck=4/pf=2/mb=1", "registers"},
		{jacobi3d, machinetest.H200(), "sweep/vx=2/vy=2/wp=4/ck=4/pf=2/mb=2", "blocks"},

		{jacobi3d, machinetest.H200(), "slide/gx=32/gy=8/gz=2/wx=1/wy=2/wz=1/cw=256/zz=1/ws=32/db=1", ""},
		{line(t, 1<<20), machinetest.H200(), "slide/gx=64/gy=1/gz=1/wx=1/wy=1/wz=1/cw=0/zz=0/ws=8/db=0", "dimensions"},
		{jacobi3d, machinetest.H200(), "slide/gx=128/gy=16/gz=1/wx=1/wy=1/wz=1/cw=0/zz=0/ws=8/db=0", "threads"},
		{jacobi3d, machinetest.H200(), "slide/gx=32/gy=1/gz=1/wx=1/wy=4/wz=1/cw=0/zz=0/ws=8/db=0", "warps"},
		{jacobi2d, little, "slide/gx=256/gy=2/gz=1/wx=4/wy=1/wz=1/cw=0/zz=0/ws=8/db=0", "shared-memory"},
		{jacobi3d, machinetest.H200(), "slide/gx=64/gy=1/gz=1/wx=1/wy=1/wz=1/cw=0/zz=0/ws=8/db=0", "halo"},
		{reach, machinetest.H200(), "slide/gx=32/gy=8/gz=2/wx=1/wy=1/wz=1/cw=0/zz=0/ws=8/db=0", ""},
		{reach, machinetest.H200(), "slide/gx=32/gy=2/gz=1/wx=2/wy=4/wz=1/cw=0/zz=0/ws=8/db=0", "loads"},
		{jacobi3d.Resized(stencil.Size{512, 512, 16}), machinetest.H200(), "slide/gx=32/gy=8/gz=1/wx=1/wy=1/wz=1/cw=0/zz=0/ws=32/db=0", "tile-size"},
		{jacobi3d, machinetest.H200(), "slide/gx=128/gy=2/gz=1/wx=2/wy=1/wz=1/cw=256/zz=0/ws=8/db=0", "column-width"},
		{jacobi3d, machinetest.H200(), "slide/gx=32/gy=8/gz=2/wx=1/wy=2/wz=1/cw=0/zz=1/ws=32/db=1", "zigzag"},
		{jacobi3d, small, "slide/gx=32/gy=8/gz=1/wx=1/wy=1/wz=1/cw=0/zz=0/ws=8/db=0", "grid"},
	} {
		s := spacetest.Schedule(t, c.schedule)
		f := kernels.Find(Families(), s.Family()).Space(c.p, c.m)
		if got := strings.Join(breaks(t, f, s), " "); got != c.want {
			t.Errorf("%s on %s breaks %q, want exactly %q", s, c.p.Text(), got, c.want)
		}
	}
}

// The table above must not fall behind the families.
func TestEveryConstraintHasItsCaseAbove(t *testing.T) {
	p := catalogued(t, "jacobi3d", stencil.Float32, stencil.Size{512, 512, 512})
	for name, want := range map[string]string{
		"global":    "threads warps work tile-size column-width zigzag grid lengths lengths-column vectors loads",
		"smalltile": "threads warps steps stages halo shared-memory tile-size column-width zigzag grid",
		"tile":      "threads warps work tile-size column-width zigzag grid steps stages variants halo shared-memory",
		"slide":     "dimensions threads warps halo loads tile-size column-width zigzag grid shared-memory",
		"sweep":     "sums warp threads grid-size grid vector work stream-tile keep split shared-memory registers blocks",
		"stream":    "stencil boundary mirror outside warp steps bands threads grid-size grid prefetch split folded kept apron packed vector halo fill stream-tile shared-memory registers blocks",
	} {
		var got []string
		for _, c := range kernels.Find(Families(), name).Space(p, machinetest.H200()).Constraints {
			got = append(got, c.Name)
		}
		if strings.Join(got, " ") != want {
			t.Errorf("%s has the constraints %v", name, got)
		}
	}
}

// A constraint is asked as soon as the parameters it says it needs are set, once for all values of others; if it
// looked at another one, enumeration and Check would disagree. Asked are all that are enumerated, and others by chance and beside them.
func TestConstraintsLookOnlyAtWhatTheySayTheyNeed(t *testing.T) {
	seed := rand.Uint64()
	t.Logf("seed %d", seed)
	r := rand.New(rand.NewPCG(seed, 0))
	m := machinetest.H200()
	m.MaxGridDim = [3]int{3000, 300, 60}
	for _, p := range []stencil.Problem{
		line(t, 5000),
		catalogued(t, "jacobi2d", stencil.Float64, stencil.Size{700, 300, 1}),
		catalogued(t, "srad2", stencil.Float32, stencil.Size{700, 300, 1}),
		catalogued(t, "jacobi3d", stencil.Float32, stencil.Size{300, 70, 30}),
		catalogued(t, "hotspot3d", stencil.Float32, stencil.Size{300, 170, 60}),
		catalogued(t, "acoustic3d", stencil.Float32, stencil.Size{300, 170, 60}),
	} {
		for _, kf := range Families() {
			f := kf.Space(p, m)
			s := space.New(f)
			all := slices.Collect(s.All())
			listed := map[space.Schedule]bool{}
			for _, sc := range all {
				listed[sc] = true
				if err := s.Check(sc); err != nil {
					t.Fatal(err)
				}
			}
			for i := range min(20_000, 2*s.Raw()) {
				idx := make([]int, len(f.Params))
				beside := i%2 == 0 && len(all) > 0
				if beside {
					idx, _ = f.Encode(all[r.IntN(len(all))])
				}
				for k := range idx {
					if !beside || r.IntN(len(idx)) == 0 {
						idx[k] = r.IntN(len(f.Params[k].Values))
					}
				}
				sc, err := f.Decode(idx)
				if err != nil {
					t.Fatal(err)
				}
				if err := s.Check(sc); (err == nil) != listed[sc] {
					t.Fatalf("%s, %s: enumerated %t, Check says %v", p.Text(), sc, listed[sc], err)
				}
			}
		}
	}
}
