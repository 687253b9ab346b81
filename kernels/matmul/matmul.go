// Package matmul is the workload C = A B, the second one of Prasetya (2022), in two
// families: global, whose threads load rows of A and columns of B through L1, and
// tile, whose blocks load slices of both into shared memory.
//
// Devices know grids only. So the matrices are three planes of one grid of extents
// (width, height, 3): plane 0 holds A, plane 1 B, plane 2 C. A launch writes C and
// copies the other planes, each thread the elements at its own place, so that it may
// be repeated and every element of the answer be checked. The copy is two loads and
// two stores beside the 2 depth loads of an element of C. C has the grid's width and
// height; the inner extent, depth, is the smaller of the two, so that any grid is a
// product: A is the left depth columns of its plane, B the upper depth rows.
package matmul

import (
	_ "embed"
	"fmt"

	"stenciltune/device/machine"
	"stenciltune/kernels"
	"stenciltune/space"
	"stenciltune/stencil"
)

// Name is the workload's name on the command line.
const Name = "matmul"

// planes are A, B and C.
const planes = 3

// Problem is the product of width by height elements as devices see it: the grid
// that holds the matrices. Its stencil stands for the element type and the buffers,
// and computes nothing: the families here have text of their own.
func Problem(width, height int, d stencil.DType) stencil.Problem {
	s, err := stencil.Parse(Name, Name+".sl", "NumDimensions 3 StencilSize (0, 0, 0) CellValue { return get(0, 0, 0); }")
	if err != nil {
		panic("matmul: " + err.Error())
	}
	return stencil.Problem{Stencil: s, DType: d, Size: stencil.Size{width, height, planes}, Steps: 1}
}

// Text is the problem on one line: "matmul/f32/1024x1024".
func Text(p stencil.Problem) string {
	return Name + "/" + p.DType.Short() + "/" + p.Size.Text(2)
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

// source assembles a kernel from this workload's shared text and a family's.
func source(p stencil.Problem, s space.Schedule, constants []kernels.Constant, file, body string) kernels.Kernel {
	text, entry := kernels.Source(p, s, constants, "matmul/common.cu", fmt.Sprintf("%s#line 1 %q\n%s", common, file, body))
	return kernels.Kernel{Schedule: s, Source: text, Entry: entry, DType: p.DType, Least: [3]int{1, 1, planes}}
}

// flat is the problem of one plane: what blocks cover.
func flat(p stencil.Problem) stencil.Problem {
	return p.Resized(stencil.Size{p.Size[0], p.Size[1], 1})
}

// columns are the column widths tried.
var columns = []int{0, 32, 64, 128, 256, 512, 1024}

// shapeConstraints are the rules that both families share.
func shapeConstraints(p stencil.Problem, m machine.Machine, maxWork int) []space.Constraint {
	list := append(kernels.ThreadConstraints(m), kernels.WorkConstraint(maxWork))
	return append(list, kernels.TileConstraints(flat(p), m, kernels.GroupTile())...)
}

// work counts what both families do alike; loads are the elements that a block
// fetches.
func work(p stencil.Problem, h kernels.Shape, l kernels.Launch, loads float64) kernels.Work {
	cells := float64(p.Size[0]) * float64(p.Size[1])
	elem := float64(p.DType.Size())
	column := 0
	if h.Column > 0 {
		column = h.Column / h.Write()[0]
	}
	return kernels.Work{
		Steps: 1, Cells: cells, Updates: cells, Flops: 2 * float64(Depth(p)) * cells,
		L2Read:  (float64(l.Blocks())*loads + (planes-1)*cells) * elem,
		L2Write: planes * cells * elem,
		Write:   h.Write(), Read: h.Write(), ColumnWide: column, Launch: l,
	}
}
