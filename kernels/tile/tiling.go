package tile

import (
	"stenciltune/kernels"
	"stenciltune/space"
	"stenciltune/stencil"
)

// Tiling is that of launch.
func (Family) Tiling(_ stencil.Problem, s space.Schedule) kernels.Tiling {
	h := kernels.ShapeOf(s)
	return kernels.Touching(h.Write(), h.Column > 0 || s.Int("gd", 0) == 1)
}
