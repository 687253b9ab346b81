// Package matmul is the workload C = A B, the second one of Prasetya (2022), in two
// families: global, whose threads load rows of A and columns of B through L1, and
// tile, whose blocks load slices of both into shared memory.
//
// To devices C is the grid, and A and B are read-only arrays of as many elements. The
// inner extent, depth, is the smaller of C's width and height, so that a grid of any
// size is a product: A is the left depth columns of its array, B the upper depth rows.
package matmul

import (
	"crypto/sha256"
	_ "embed"
	"fmt"

	"stenciltune/kernels"
	"stenciltune/machine"
	"stenciltune/space"
	"stenciltune/stencil"
)

// Name is the workload's name on the command line.
const Name = "matmul"

// carrier names the arrays. Its cell function stands in for the product, whose sum is
// as long as the grid is wide, which the stencil language cannot say: nothing ever
// computes it.
const carrier = "NumDimensions 2 StencilSize (0, 0) ReadOnly (a, b) CellValue { return get(0, 0) + get(a, 0, 0) * get(b, 0, 0); }"

// hash, the SHA-256 of the workload's name and version, takes the place of the
// carrier's own: results are never taken for those of the stencil that it reads as.
var hash = fmt.Sprintf("%x", sha256.Sum256([]byte("workload matmul 1")))

// Stencil is the workload's place among stencils: it gives the arrays and computes
// nothing. The families here have text of their own.
func Stencil() *stencil.Stencil {
	s, err := stencil.Parse(Name, Name+".sl", carrier)
	if err != nil {
		panic("matmul: " + err.Error())
	}
	s.Hash = hash
	return s
}

// Is tells whether a problem is this workload.
func Is(p stencil.Problem) bool { return p.Stencil.Hash == hash }

// DTypes lists the element types.
func DTypes() []stencil.DType { return []stencil.DType{stencil.Float32, stencil.Float64} }

// DefaultSize is the thesis's product; on the host a smaller one.
func DefaultSize(host bool) stencil.Size {
	if host {
		return stencil.Size{256, 256, 1}
	}
	return stencil.Size{1024, 1024, 1}
}

// Depth is the inner extent of the product.
func Depth(p stencil.Problem) int { return min(p.Size[0], p.Size[1]) }

// Tolerance bounds the difference that rounding may cause in an element of C: depth
// products of elements of magnitude 1 at most are added, each addition rounding a sum
// of at most depth (Higham, "Accuracy and Stability of Numerical Algorithms", section
// 3.1).
func Tolerance(p stencil.Problem) float64 {
	d := float64(Depth(p))
	return p.DType.Epsilon() * (d + 1) * d
}

// Families are global and tile.
func Families() []kernels.Family { return []kernels.Family{Global{}, Tile{}} }

//go:embed common.cu
var common string

// source assembles a kernel from this workload's shared text and a file's of this folder.
func source(p stencil.Problem, s space.Schedule, constants []kernels.Constant, file, text string) kernels.Kernel {
	const folder = "study/matmul/"
	return kernels.Source(p, s, nil, constants, kernels.Piece{File: folder + "common.cu", Text: common}, kernels.Piece{File: folder + file, Text: text})
}

// columns are the column widths tried.
var columns = []int{0, 32, 64, 128, 256, 512, 1024}

// shapeConstraints are the rules that both families share.
func shapeConstraints(p stencil.Problem, m machine.Machine, maxWork int) []space.Constraint {
	list := append(kernels.ThreadConstraints(m), kernels.WorkConstraint(maxWork))
	return append(list, kernels.TileConstraints(p, m, kernels.GroupTile())...)
}

// work counts what both families do alike; loads are the elements that a block
// fetches.
func work(p stencil.Problem, h kernels.Shape, l kernels.Launch, loads float64) kernels.Work {
	cells := float64(p.Size.Cells())
	elem := float64(p.DType.Size())
	column := 0
	if h.Column > 0 {
		column = h.Column / h.Write()[0]
	}
	return kernels.Work{
		Steps: 1, Cells: cells, Updates: cells, Flops: 2 * float64(Depth(p)) * cells,
		L2Read: float64(l.Blocks()) * loads * elem, L2Write: cells * elem,
		Write: h.Write(), Read: h.Write(), ColumnWide: column, Launch: l,
	}
}
