package kernels

import (
	"slices"

	"stenciltune/machine"
	"stenciltune/stencil"
)

// Recorded tells whether a problem is like those whose spaces were recorded, from which advice is
// drawn (docs/search.md): a cell function of one field in float32 or float64 that reaches no further
// than two cells in two or three dimensions, in 3D a weighted sum, on a grid no smaller than those, run
// for as many steps as any schedule fuses, on a GPU that copies asynchronously. Of others nothing is
// known but single tunes, which other designs have won.
func Recorded(p stencil.Problem, m machine.Machine) bool {
	st := p.Stencil
	if major, _ := m.Major(); m.Kind == machine.Host || major < 8 || st.Plain() != nil || p.DType != stencil.Float32 && p.DType != stencil.Float64 {
		return false
	}
	least, cells, steps := 400, int64(800_000), 16
	switch st.Dims {
	case 2:
	case 3:
		least, cells = 60, 1_300_000
		if _, _, sum := st.Linear(); !sum {
			return false
		}
	default:
		return false
	}
	return p.Steps >= steps && p.Size.Cells() >= cells && slices.Min(p.Size[:st.Dims]) >= least &&
		max(slices.Max(st.Low[:]), slices.Max(st.High[:])) <= 2
}
