package tile

import (
	"stenciltune/kernels"
	"stenciltune/space"
	"stenciltune/stencil"
)

// Loads is the read tile, as the schedule's loader deals it out to the threads:
// nothing else is loaded from global memory.
func (Family) Loads(p stencil.Problem, s space.Schedule) (kernels.Loads, error) {
	if err := p.Stencil.Plain(); err != nil {
		return nil, err
	}
	h, n := kernels.ShapeOf(s), p.Size
	r, w := read(p.Stencil, h), h.Write()
	cube := s.Int("ld", 0) == 2
	return func(block, thread int, list []int64) []int64 {
		tile := kernels.WalkTile(n, w, h.Column/w[0], h.Zigzag, block)
		load := func(at [3]int) {
			for a := range 3 {
				at[a] += tile[a]*w[a] - h.Pyramid*p.Stencil.Low[a]
			}
			list = append(list, kernels.Nearest(n, at[0], at[1], at[2]))
		}
		if !cube {
			for i := thread; i < kernels.Volume(r); i += h.Threads() {
				load(kernels.Unflatten(i, r))
			}
			return list
		}
		t := kernels.Unflatten(thread, h.Group)
		turns := kernels.Cover(r, h.Group, false)
		for turn := range kernels.Volume(turns) {
			at := kernels.Unflatten(turn, turns)
			for a := range 3 {
				at[a] = at[a]*h.Group[a] + t[a]
			}
			if at[0] >= r[0] || at[1] >= r[1] || at[2] >= r[2] {
				list = append(list, kernels.Idle)
				continue
			}
			load(at)
		}
		return list
	}, nil
}
