package stream

import (
	"stenciltune/kernels"
	"stenciltune/space"
	"stenciltune/stencil"
)

// Tiling is that of grid: tiles overlap by their halo, the streaming axis is cut
// into stream tiles, and on a plane each warp of a block has a tile.
func (Family) Tiling(p stencil.Problem, s space.Schedule) kernels.Tiling {
	h := scheduleShape(p, s)
	st := stagesOf(p.Stencil)
	hold, step := h.tile(radiusOf(p.Stencil), st)
	if st.wrap { // every tile has its halo: the first one counts like the others
		hold = step
	}
	t := kernels.Tiling{Hold: [3]int{hold[0], hold[1], 1}, Step: [3]int{step[0], step[1], 1}, Pack: 1, Fixed: [3]int{0, 0, h.streamTiles}, Fill: h.streamTiles * h.sms}
	if p.Stencil.Dims < 3 {
		t.Pack, t.Fixed[1] = h.warps, 1
	}
	return t
}
