package main

import (
	"fmt"
	"strings"

	"stenciltune/stencil"
)

// Names of the sets of sizes that stencils are tuned at.
const (
	sizesDefault = "default" // each stencil's own
	sizesThesis  = "thesis"  // small and large of table 7 of Virt and Wraa-Hansen, "Optimisation and GPU code generation of Stencils for Futhark" (2021)
	sizesPaper   = "paper"   // of table 1 of "A Language and Optimizing Compiler for Iterative Stencil Loops"
)

// thesisSizes are by dimension, small and large: a power of two less one, so that no
// boundary of a memory transaction is at the same place in all rows. The table has no
// stencil in one dimension; ours have as many cells as in two.
var thesisSizes = [3][2]stencil.Size{
	{{4095 * 4095, 1, 1}, {8191 * 8191, 1, 1}},
	{{4095, 4095, 1}, {8191, 8191, 1}},
	{{255, 255, 255}, {511, 511, 511}},
}

// thesisOwn are the table's exceptions; an empty size is none.
var thesisOwn = map[string][2]stencil.Size{
	"srad2":     {{2047, 2047, 1}, {4095, 4095, 1}},
	"sum3d-f64": {{255, 255, 255}},
	"sum3d-i8":  {{255, 255, 255}},
}

// paperSizes are by dimension: of Pathfinder, of Plate and Hotspot, of Cell.
var paperSizes = [3]stencil.Size{{400000, 1, 1}, {1000, 1000, 1}, {60, 60, 60}}

// namedSize is a size and the set it is of.
type namedSize struct {
	set  string
	size stencil.Size
}

// sizesOf are a stencil's sizes of a set: of one by its name, or one written out,
// which is for stencils of as many axes.
func sizesOf(set string, st *stencil.Stencil, host bool) ([]namedSize, error) {
	switch set {
	case sizesDefault:
		return []namedSize{{set, st.DefaultSize(host)}}, nil
	case sizesPaper:
		return []namedSize{{set, paperSizes[st.Dims-1]}}, nil
	case sizesThesis:
		both, ok := thesisOwn[st.Name]
		if !ok {
			both = thesisSizes[st.Dims-1]
		}
		list := []namedSize{{set + " small", both[0]}}
		if both[1] != (stencil.Size{}) {
			list = append(list, namedSize{set + " large", both[1]})
		}
		return list, nil
	}
	axes := strings.Count(set, "x") + 1
	size, err := stencil.ParseSize(set, min(axes, 3))
	if err != nil {
		return nil, fmt.Errorf("--sizes %s: want default, thesis, paper or a size: %w", set, err)
	}
	if axes != st.Dims {
		return nil, nil
	}
	return []namedSize{{"asked for", size}}, nil
}
