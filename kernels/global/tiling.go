package global

import (
	"stenciltune/kernels"
	"stenciltune/space"
	"stenciltune/stencil"
)

// Tiling is that of launch: boxes of cells, or a line of threads over all cells.
func (Family) Tiling(_ stencil.Problem, s space.Schedule) kernels.Tiling {
	h := kernels.ShapeOf(s)
	if s.Int("sp", 0) == 1 {
		return kernels.Tiling{Cells: h.Group[0]}
	}
	return kernels.Touching(write(s), h.Column > 0)
}
