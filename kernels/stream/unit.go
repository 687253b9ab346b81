package stream

import (
	"maps"
	"math"
	"slices"

	"stenciltune/stencil"
)

// Weights may be taken as multiples of one of them, the unit: then its points are added as they are.
// The values grow by the unit's reciprocal in every time step, and the launch's last step brings them
// back (docs/lab/0021-units.md).

// grown is how far values may grow within a launch, as a power of two: less than a third of their
// type's range, so that float32 below 3e26 stays finite.
func grown(d stencil.DType) float64 {
	if realSize(d) > 4 {
		return 320
	}
	return 40
}

// bestUnit is the weight of which the others are taken as multiples so that a cell takes the fewest
// operations, or 1. With a constant term it is 1, and always positive and less than 1 otherwise.
func bestUnit(st *stencil.Stencil) float64 {
	plain, ok := weightsOf(st)
	if !ok || plain.constant != 0 {
		return 1
	}
	byOffset, _, _ := st.Linear()
	best, least := 1.0, plain.operations()
	for _, unit := range slices.Sorted(maps.Values(byOffset)) {
		if unit <= 0 || unit >= 1 {
			continue
		}
		w, _ := weightsIn(unit, st)
		if n := w.operations(); n < least || n == least && best < 1 { // of those alike the largest: values grow least
			best, least = unit, n
		}
	}
	return best
}

// weighed is weights, and the operations that they take for a cell.
type weighed struct {
	weights
	cost float64
}

// weightsFor is the weights for so many time steps a launch: as multiples where values do not grow
// too far, and where that saves more than the multiplication that brings them back.
func (s stages) weightsFor(d stencil.DType, pyramid int) weighed {
	steps, w := float64(pyramid), s.inUnits
	if -math.Log2(w.unit)*steps > grown(d) || (s.weights.cost-w.cost)*steps <= 1 {
		return s.weights
	}
	return w
}
