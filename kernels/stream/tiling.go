package stream

import (
	"stenciltune/kernels"
	"stenciltune/space"
	"stenciltune/stencil"
)

// Tiling is that of the launch.
func (Family) Tiling(p stencil.Problem, s space.Schedule) kernels.Tiling {
	return scheduleShape(p, s).tiling(p, stagesOf(p.Stencil))
}

func (h shape) tiling(p stencil.Problem, st stages) kernels.Tiling {
	r := radiusOf(p.Stencil)
	hold, step := h.tile(r, st)
	return kernels.Overlapping(p, h.vector, h.haloX(r, st), hold, step, h.warps, h.streamTiles, h.sms, h.timeTile*r.lowS+h.totalLag(r, st))
}
