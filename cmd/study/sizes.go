package main

import (
	"fmt"
	"strings"

	"stenciltune/stencil"
	"stenciltune/stencil/sizes"
)

// Names of the sets of sizes that stencils are tuned at.
const (
	sizesDefault = "default" // each stencil's own
	sizesThesis  = "thesis"  // small and large of sizes.Thesis
	sizesPaper   = "paper"   // of sizes.Paper
)

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
		return []namedSize{{set, sizes.Paper(st.Dims)}}, nil
	case sizesThesis:
		var list []namedSize
		for i, size := range sizes.Thesis(st.Name, st.Dims) {
			list = append(list, namedSize{set + []string{" small", " large"}[i], size})
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
