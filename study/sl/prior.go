// Package sl ranks schedules as the optimiser of the SL compiler does ("A Language and
// Optimizing Compiler for Iterative Stencil Loops", section 6.3): one tile, and the pyramid
// height that a model of it, calibrated by two measured times, promises most of.
//
// Times are seconds per time step. It measures nothing itself.
package sl

import (
	"cmp"
	"fmt"
	"math"

	"stenciltune/kernels"
	"stenciltune/kernels/all"
	"stenciltune/machine"
	"stenciltune/model"
	"stenciltune/search"
	"stenciltune/space"
	"stenciltune/stencil"
)

// Tile is the SL optimiser's tile: the largest group of the family smalltile, the nearest
// to a cube among those, of which heights 1 and 2 are legal. It is given as these two.
func Tile(sp *space.Space) (one, two space.Schedule, ok bool) {
	var best kernels.Shape
	for s := range sp.All() {
		if s.Family() != "smalltile" || s.Int("ph", 1) != 1 || s.Int("cw", 0) != 0 {
			continue
		}
		next := s.With("ph", 2)
		if sp.Check(next) != nil {
			continue
		}
		h := kernels.ShapeOf(s)
		longest := func(h kernels.Shape) int { return max(h.Group[0], h.Group[1], h.Group[2]) }
		if t, b := h.Threads(), best.Threads(); t > b || t == b && longest(h) < longest(best) {
			one, two, best, ok = s, next, h, true
		}
	}
	return one, two, ok
}

// Counts is the cost model by counts, of all families: what stands in for the optimiser's
// measurements where nothing can run, and what orders the schedules that it does not know.
func Counts(p stencil.Problem, m machine.Machine) search.Prior {
	families := all.Families()
	return func(s space.Schedule) float64 {
		return model.Fitted.Schedule(p, kernels.Find(families, s.Family()), s, model.Facts{}, m).Seconds
	}
}

// Plan is what the optimiser makes of a problem.
type Plan struct {
	Model  Model
	Height int          // the pyramid's
	Prior  search.Prior // the tile's schedules by the model, up to the height, before all others
}

// mostSteps bounds the pyramid heights that are looked at.
const mostSteps = 64

// New calibrates the model by the seconds a step of Tile's two schedules, of which one is
// the first. The machine's Rates.Launch is the null kernel's time.
func New(p stencil.Problem, m machine.Machine, one space.Schedule, seconds [2]float64) (Plan, error) {
	h, counts := kernels.ShapeOf(one), Counts(p, m)
	blocks := model.Schedule(p, kernels.Find(all.Families(), one.Family()), one, model.Facts{}, m).BlocksPerSM
	sl := Model{
		Dims: p.Stencil.Dims, Size: p.Size, Tile: h.Group, SetupRead: 1, SMs: m.SMs, BlocksSM: blocks,
		ClockHz: cmp.Or(m.ClockHz, 1.5e9), Bandwidth: cmp.Or(m.DRAMBandwidth(), 20e9*float64(m.SMs)), Elem: p.DType.Size(), Launch: cmp.Or(m.Rates.Launch, 1.5e-6),
	}
	st := kernels.Fused(p, one).Stencil
	for k := range 3 {
		sl.Halo[k] = st.Low[k] + st.High[k]
	}
	if err := sl.Calibrate(1, seconds[0], 2, seconds[1]); err != nil {
		return Plan{}, err
	}
	height := sl.Height(min(p.Steps, mostSteps))
	last := math.Max(sl.Seconds(1), counts(one)) * 10
	return Plan{sl, height, func(s space.Schedule) float64 {
		if g := kernels.ShapeOf(s); s.Family() == "smalltile" && s.Int("fs", 0) == one.Int("fs", 0) && g.Group == h.Group && g.Column == 0 && g.Pyramid <= height {
			return sl.Seconds(g.Pyramid) // beyond the height it chose, the optimiser does not look
		}
		return last + counts(s)
	}}, nil
}

// String says what was found.
func (p Plan) String() string {
	t := p.Model.Tile
	return fmt.Sprintf("tile %dx%dx%d, null kernel %.3g us, set-up %.3g and step %.3g clocks a thread; pyramid height %d",
		t[0], t[1], t[2], 1e6*p.Model.Launch, p.Model.Setup, p.Model.Loop, p.Height)
}
