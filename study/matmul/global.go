package matmul

import (
	_ "embed"

	"stenciltune/kernels"
	"stenciltune/machine"
	"stenciltune/space"
	"stenciltune/stencil"
)

// Global is the family global.
type Global struct{}

//go:embed global.cu
var globalText string

// Name is "global".
func (Global) Name() string { return "global" }

// maxGlobalWork is the most elements of C a thread computes.
const maxGlobalWork = 8

const docSpan = "how threads span C: 0 = blocks of elements, 1 = lengths, one line of threads over all elements in column order"

// Space has the shared shape and sp, as family global of stencils.
func (Global) Space(p stencil.Problem, m machine.Machine) *space.Family {
	group := [3][]int{{32, 64, 128, 256, 512, 1024}, {1, 2, 4, 8, 16}}
	work := [3][]int{{1, 2, 4}, {1, 2, 4, 8}}
	params := append(kernels.ShapeParams(2, group, work, columns), space.Param{Name: "sp", Values: []int{0, 1},
		Doc: docSpan})
	f := &space.Family{Name: "global", Params: params}
	for _, c := range shapeConstraints(p, m, maxGlobalWork) {
		if c.Name == "column-width" { // a line of threads may have any, narrower than C
			blocks := c.OK
			c.Needs = append(c.Needs, "sp")
			c.OK = func(v space.Values) bool {
				return v.Get("sp") == 0 && blocks(v) || v.Get("sp") == 1 && v.Get("cw") < p.Size[0]
			}
		}
		f.Constraints = append(f.Constraints, c)
	}
	f.Constraints = append(f.Constraints, space.Constraint{
		Name: "lengths", Needs: []string{"gy", "wx", "wy", "sp"},
		Why: "one line of threads has neither a group shape nor work multipliers",
		OK: func(v space.Values) bool {
			return v.Get("sp") == 0 || v.Get("gy")*v.Get("wx")*v.Get("wy") == 1
		},
	})
	return f
}

func (Global) launch(p stencil.Problem, s space.Schedule) kernels.Launch {
	h, n := kernels.ShapeOf(s), p.Size
	l := kernels.Launch{Grid: h.Grid(n), Block: h.Group, Steps: 1}
	if s.Int("sp", 0) == 1 {
		l.Grid = [3]int{int((n.Cells() + int64(h.Group[0]) - 1) / int64(h.Group[0])), 1, 1}
	}
	return l
}

// Kernel writes the kernel.
func (f Global) Kernel(p stencil.Problem, s space.Schedule) kernels.Kernel {
	constants := append(kernels.ShapeOf(s).Constants(), kernels.Constant{Name: "SPAN_LENGTHS", Value: s.Int("sp", 0), Doc: docSpan})
	k := source(p, s, constants, "global.cu", globalText)
	k.Launch = f.launch(p, s)
	return k
}

// Work counts one launch.
func (f Global) Work(p stencil.Problem, s space.Schedule) kernels.Work {
	h, l, depth := kernels.ShapeOf(s), f.launch(p, s), float64(Depth(p))
	w := h.Write()
	r := work(p, h, l, depth*float64(w[0]+w[1]))
	threads := float64(l.Blocks() * l.Threads())
	each := float64(h.Work[0] + h.Work[1]) // loads of a thread in a step of depth
	r.L1Loads = threads * depth * each * float64(p.DType.Size())
	r.Integer = threads * depth * 2
	if s.Int("sp", 0) == 1 {
		f.line(p, h, &r)
	}
	r.Accesses = threads * depth * each
	// Unrolled by four, and twice the waits of that: chosen with blocks of 256 threads in
	// bench/h200/columns.txt. That two blocks of 1024 fit says that 32 registers do.
	r.Loads, r.LoadWaits = 4*each, depth/2
	r.Waits = depth / 4
	r.Registers = 22 + p.DType.Size()/4*(h.Work[0]*h.Work[1]+4*(h.Work[0]+h.Work[1]))
	return r
}

// line counts what differs in a line of threads: a block is a few rows of a column, and the lanes
// of a warp may span two rows or more.
func (Global) line(p stencil.Problem, h kernels.Shape, r *kernels.Work) {
	n, depth, size := p.Size, float64(Depth(p)), p.DType.Size()
	column := h.Column
	if column == 0 {
		column = n[0]
	}
	wide := min(column, h.Group[0])
	rows := 1 + float64(h.Group[0]-1)/float64(column)
	clocks := 0.0
	var a, b [32]int
	each := kernels.WalkWarps(n, column, h.Zigzag, func(lanes [][2]int) {
		for i, lane := range lanes {
			a[i], b[i] = lane[1]*n[0], lane[0]
		}
		for _, at := range [][]int{a[:len(lanes)], b[:len(lanes)]} {
			c, lines := kernels.WarpWavefronts(at, 0, size)
			clocks += c
			r.Line.Asked += float64(lines)
		}
	})
	all := depth * each
	r.Line.Asked *= all
	r.Line.Shared = float64(wide) / (float64(wide) + rows)
	r.Line.New = depth // warps are at one element of B's column at a time: all of them wait for it
	r.Line.Arrays, r.Line.Column, r.Line.High = 2, column, n[1]
	r.L1Loads = clocks * all * kernels.WavefrontBytes
	r.L2Read = float64(r.Launch.Blocks()) * depth * (float64(wide) + rows) * float64(size)
}

// Loads is a row of A and a column of B for each step of depth, as global.cu loads
// them. Elements of B are counted on from those of A.
func (Global) Loads(p stencil.Problem, s space.Schedule) (kernels.Loads, error) {
	h, n, depth := kernels.ShapeOf(s), p.Size, Depth(p)
	plane := n.Cells()
	if s.Int("sp", 0) == 1 {
		column := h.Column
		if column == 0 {
			column = n[0]
		}
		return func(block, thread int, list []int64) []int64 {
			x, y := kernels.WalkLine(n[0], n[1], column, h.Zigzag, block*h.Threads()+thread)
			if y >= n[1] {
				return list
			}
			for k := range depth {
				list = append(list, kernels.Nearest(n, k, y, 0), plane+kernels.Nearest(n, x, k, 0))
			}
			return list
		}, nil
	}
	w := h.Write()
	return func(block, thread int, list []int64) []int64 {
		tile, t := kernels.WalkTile(n, w, h.Column/w[0], h.Zigzag, block), kernels.Unflatten(thread, h.Group)
		x, y := tile[0]*w[0]+t[0], tile[1]*w[1]+t[1]*h.Work[1]
		for k := range depth {
			for j := range h.Work[1] {
				list = append(list, kernels.Nearest(n, k, y+j, 0))
			}
			for i := range h.Work[0] {
				list = append(list, plane+kernels.Nearest(n, x+i*h.Group[0], k, 0))
			}
		}
		return list
	}, nil
}
