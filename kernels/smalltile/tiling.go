package smalltile

import (
	"stenciltune/kernels"
	"stenciltune/space"
	"stenciltune/stencil"
)

// Tiling is that of launch.
func (Family) Tiling(p stencil.Problem, s space.Schedule) kernels.Tiling {
	p, h := kernels.Fused(p, s), kernels.ShapeOf(s)
	return kernels.Touching(write(p.Stencil, h), h.Column > 0)
}
