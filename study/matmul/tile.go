package matmul

import (
	_ "embed"
	"fmt"

	"stenciltune/kernels"
	"stenciltune/machine"
	"stenciltune/space"
	"stenciltune/stencil"
)

// Tile is the family tile.
type Tile struct{}

//go:embed tile.cu
var tileText string

// Name is "tile".
func (Tile) Name() string { return "tile" }

// maxTileWork is the most elements of C a thread computes.
const maxTileWork = 32

const docDepth = "depth of the slices of A and B in shared memory; deeper saves barriers, costs shared memory"

// Space has the shared shape and kd.
func (Tile) Space(p stencil.Problem, m machine.Machine) *space.Family {
	group := [3][]int{{32, 64, 128}, {1, 2, 4, 8, 16, 32}}
	work := [3][]int{{1, 2, 4}, {1, 2, 4, 8}}
	params := append(kernels.ShapeParams(2, group, work, columns), space.Param{
		Name: "kd", Values: []int{8, 16, 32}, Ordinal: true,
		Doc: docDepth,
	})
	f := &space.Family{Name: "tile", Params: params, Constraints: shapeConstraints(p, m, maxTileWork)}
	f.Constraints = append(f.Constraints, space.Constraint{
		Name: "shared-memory", Needs: []string{"gx", "gy", "gz", "wx", "wy", "wz", "kd"},
		Why: fmt.Sprintf("the slices of A and B must fit into the %d bytes of shared memory a block may have", m.SharedBlockOptin),
		OK: func(v space.Values) bool {
			return sharedBytes(p, kernels.ReadShape(v).Write(), v.Get("kd")) <= m.SharedBlockOptin
		},
	})
	return f
}

// sharedBytes is a slice of A and one of B.
func sharedBytes(p stencil.Problem, write [3]int, depth int) int {
	return (write[0] + write[1]) * depth * p.DType.Size()
}

func (Tile) launch(p stencil.Problem, s space.Schedule) kernels.Launch {
	h := kernels.ShapeOf(s)
	return kernels.Launch{Grid: h.Grid(p.Size), Block: h.Group, SharedBytes: sharedBytes(p, h.Write(), s.Int("kd", 1)), Steps: 1}
}

// Kernel writes the kernel.
func (f Tile) Kernel(p stencil.Problem, s space.Schedule) kernels.Kernel {
	constants := append(kernels.ShapeOf(s).Constants(), kernels.Constant{Name: "DEPTH", Value: s.Int("kd", 1), Doc: docDepth})
	k := source(p, s, constants, "tile.cu", tileText)
	k.Launch = f.launch(p, s)
	return k
}

// Work counts one launch.
func (f Tile) Work(p stencil.Problem, s space.Schedule) kernels.Work {
	h, l, kd := kernels.ShapeOf(s), f.launch(p, s), s.Int("kd", 1)
	slices := kernels.CeilDiv(Depth(p), kd)
	depth := float64(slices * kd) // with the zeros beyond the end
	w := h.Write()
	loads := depth * float64(w[0]+w[1])
	r := work(p, h, l, loads)
	blocks, threads, elem := float64(l.Blocks()), float64(l.Threads()), float64(p.DType.Size())
	r.L1Loads = blocks * loads * elem
	r.Shared = blocks * (loads + threads*depth*float64(h.Work[0]+h.Work[1])) * elem
	r.Integer = blocks * loads * 8
	r.Barriers = 2 * slices
	r.Loads = float64(kd*(w[0]+w[1])) / threads
	r.LoadWaits, r.Waits = float64(slices), depth/4
	r.Registers = 24 + p.DType.Size()/4*(2*h.Work[0]*h.Work[1]+h.Work[0]+h.Work[1])
	return r
}

// Loads is the slices, as tile.cu deals them out to the threads. Elements of B are
// counted on from those of A.
func (Tile) Loads(p stencil.Problem, s space.Schedule) (kernels.Loads, error) {
	h, n, depth, kd := kernels.ShapeOf(s), p.Size, Depth(p), s.Int("kd", 1)
	w := h.Write()
	return func(block, thread int, list []int64) []int64 {
		tile := kernels.WalkTile(n, w, h.Column/w[0], h.Zigzag, block)
		slice := func(base int64, rows, columns, row, column, lastRow, lastColumn int) {
			for i := thread; i < rows*columns; i += h.Threads() {
				r, c := row+i/columns, column+i%columns
				if r < lastRow && c < lastColumn {
					list = append(list, base+kernels.Nearest(n, c, r, 0))
				} else {
					list = append(list, kernels.Idle)
				}
			}
		}
		for k := 0; k < depth; k += kd {
			slice(0, w[1], kd, tile[1]*w[1], k, n[1], depth)
			slice(n.Cells(), kd, w[0], k, tile[0]*w[0], depth, n[0])
		}
		return list
	}, nil
}
