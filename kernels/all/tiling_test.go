package all

import (
	"math/rand/v2"
	"testing"

	"stenciltune/kernels"
	"stenciltune/machine/machinetest"
	"stenciltune/space"
	"stenciltune/stencil"
)

// TestTilingCountsTheLaunchsBlocks draws schedules of every family and compares the
// blocks of their tiling with their launch on grids of all sizes.
func TestTilingCountsTheLaunchsBlocks(t *testing.T) {
	const seed = 20261121
	t.Logf("seed %d", seed)
	r := rand.New(rand.NewPCG(seed, 7))
	for _, f := range Families() {
		tiler, ok := f.(kernels.Tiler)
		if !ok {
			t.Errorf("family %s does not say how its blocks cover a grid", f.Name())
			continue
		}
		tried := 0
		for _, p := range []stencil.Problem{
			line(t, 1<<20),
			catalogued(t, "jacobi2d", stencil.Float32, stencil.Size{4096, 4096, 1}),
			catalogued(t, "jacobi3d", stencil.Float64, stencil.Size{512, 512, 512}),
			catalogued(t, "jacobi2d9s", stencil.Float64, stencil.Size{2048, 1000, 1}),
			catalogued(t, "srad2", stencil.Float32, stencil.Size{2048, 1000, 1}),
			catalogued(t, "fdtd3d", stencil.Float32, stencil.Size{512, 512, 512}),
		} {
			n := 0
			for s := range space.New(f.Space(p, machinetest.H200())).All() {
				if n > 0 && r.IntN(10) != 0 {
					continue
				}
				if n++; n > 200 {
					break
				}
				size := stencil.Size{1, 1, 1}
				for a := range p.Stencil.Dims {
					size[a] = 1 + r.IntN(3000)
				}
				q := p.Resized(size)
				if got, want := tiler.Tiling(q, s).Blocks(size), f.Kernel(q, s).Launch.Grid; got != want {
					t.Fatalf("%s on %s: tiling %v, launch %v", s, q.Text(), got, want)
				}
			}
			tried += n
		}
		if tried < 20 {
			t.Errorf("only %d schedules of %s tried", tried, f.Name())
		}
	}
}
