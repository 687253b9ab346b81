package kernels

import (
	"slices"
	"strings"

	"stenciltune/stencil"
)

// stepValues are what a launch computes once for each of its time steps.
func (w *writer) stepValues() []stencil.StepValue {
	values := stencil.StepValues(w.p.Stencil)
	var others []*stencil.Stencil
	if w.p.Stencil.Of != nil {
		others = append(others, w.p.Stencil.Of)
	}
	for _, part := range w.apart {
		others = append(others, part.Stencil)
	}
	for _, st := range others {
		for _, v := range stencil.StepValues(st) {
			if !slices.Contains(values, v) {
				values = append(values, v)
			}
		}
	}
	return values
}

// ofStep declares them.
func (w *writer) ofStep() {
	if len(w.values) == 0 {
		return
	}
	w.line("\n// What is the same at every cell of a time step.\nstruct OfStep {")
	for _, v := range w.values {
		w.line("  %s %s;", strings.Replace(v.Type, "T", "Real", 1), v.Name)
	}
	w.line("};")
}

// withValues writes how a launch computes them.
func (w *writer) withValues() {
	if len(w.values) == 0 {
		return
	}
	codes := make([]string, len(w.values))
	for i, v := range w.values {
		codes[i] = v.Code
	}
	w.line("\n__device__ __forceinline__ OfStep of_step(const Grid &grid, int iteration) {")
	w.function("return {"+strings.Join(codes, ", ")+"};\n", "")
	w.line("}\n\n__device__ __forceinline__ Grid with_values(Grid grid) {\n#pragma unroll\n  for (int s = 0; s < %d; s++) grid.of_step[s] = of_step(grid, grid.iteration + s);\n  return grid;\n}", w.timeTile)
}
