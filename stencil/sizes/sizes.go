// Package sizes has the grids that the documents which stencils come from measured on, in cells.
package sizes

import "stenciltune/stencil"

// thesis are by dimension: a power of two less one, so that no boundary of a memory
// transaction is at the same place in all rows. The table has no stencil in one dimension;
// ours have as many cells as in two.
var thesis = [3][]stencil.Size{
	{{4095 * 4095, 1, 1}, {8191 * 8191, 1, 1}},
	{{4095, 4095, 1}, {8191, 8191, 1}},
	{{255, 255, 255}, {511, 511, 511}},
}

// exceptions are the table's own.
var exceptions = map[string][]stencil.Size{
	"srad2":     {{2047, 2047, 1}, {4095, 4095, 1}},
	"sum3d-f64": {{255, 255, 255}},
	"sum3d-i8":  {{255, 255, 255}},
}

// paper are by dimension: of Pathfinder, of Plate and Hotspot, of Cell.
var paper = [3]stencil.Size{{400000, 1, 1}, {1000, 1000, 1}, {60, 60, 60}}

// Thesis are the small and the large size of a stencil, or the small one alone, in table 7 of Virt and
// Wraa-Hansen, "Optimisation and GPU code generation of Stencils for Futhark" (2021).
func Thesis(name string, dims int) []stencil.Size {
	if own, ok := exceptions[name]; ok {
		return own
	}
	return thesis[dims-1]
}

// Paper is the size of stencils of so many dimensions in table 1 of "A Language and
// Optimizing Compiler for Iterative Stencil Loops".
func Paper(dims int) stencil.Size { return paper[dims-1] }
