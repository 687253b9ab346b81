package stream

import (
	"maps"
	"math"
	"slices"

	"stenciltune/kernels"
	"stenciltune/stencil"
)

// Factored weights are multiples of one of them, the common factor: its points are added as they are.
// The values grow by the factor's reciprocal in every time step, and the launch's last step brings them
// back (docs/lab/0021-units.md).

// maxGrowth is how far values may grow within a launch, as a power of two: less than a third of their
// type's range, so that float32 below 3e26 stays finite.
func maxGrowth(d stencil.DType) float64 {
	switch {
	case kernels.ComputedSize(d) > 4:
		return 320
	case d.Packed(): // values of float16 are near its ends as they are
		return 0
	}
	return 40
}

// bestFactor is the weight of which the others are taken as multiples so that a cell takes the fewest
// operations, or 1. With a constant term it is 1, and always positive and less than 1 otherwise.
func bestFactor(st *stencil.Stencil) float64 {
	plain, ok := weightsOf(st)
	if !ok || plain.constant != 0 {
		return 1
	}
	byOffset, _, _ := st.Linear()
	best, least := 1.0, plain.operations()
	for _, common := range slices.Compact(slices.Sorted(maps.Values(byOffset))) {
		if common <= 0 || common >= 1 {
			continue
		}
		w, _ := weightsBy(common, st)
		if n := w.operations(); n < least || n == least && best < 1 { // of those alike the largest: values grow least
			best, least = common, n
		}
	}
	return best
}

// maxRows is the most rows of a thread, of all schedules.
const maxRows = 8

// costed is weights, and the operations that they take for a cell.
type costed struct {
	weights
	cost   float64
	spared [maxRows + 1]float64 // of those, in a thread of so many rows
}

func (w weights) costed() costed {
	c := costed{weights: w, cost: w.operations()}
	for rows := 1; rows <= maxRows; rows++ {
		c.spared[rows] = w.spared(rows)
	}
	return c
}

// bestWeights is the weights for the launch's time steps: as multiples where values do not grow
// too far, and where that saves more than the multiplication that brings them back. Held cells grow too: they are written as they
// arrived if shared memory keeps them, as they arrive where they are whole planes alone in 3D, or else copied once more. In 3D such copies took longer than they saved.
func (g plan) bestWeights() costed {
	steps, w, d := float64(g.timeTile), g.factored, g.problem.DType
	growth, outside := -math.Log2(w.common)*steps, math.Log2(max(1, math.Abs(g.constant())))
	if growth > maxGrowth(d) || growth+outside > 3*maxGrowth(d) || (g.weights.cost-w.cost)*steps <= 1 || g.dims == 3 && g.held.inPlane() && !g.keeps {
		return g.weights
	}
	return w
}
