package slide

import (
	"stenciltune/kernels"
	"stenciltune/space"
	"stenciltune/stencil"
)

// Tiling is that of launch.
func (Family) Tiling(p stencil.Problem, s space.Schedule) kernels.Tiling {
	w := of(p, s)
	return kernels.Touching(w.write, w.Column > 0)
}
