// Package global is the family of kernels that read every point from global
// memory through L1: the naive kernel, its multi-write version and the
// column-order thesis's thread-level column walk. Blocks walk the grid, or one line of threads.
package global

import (
	_ "embed"
	"fmt"
	"math"

	"stenciltune/kernels"
	"stenciltune/machine"
	"stenciltune/space"
	"stenciltune/stencil"
)

// Family is the family global.
type Family struct{}

//go:embed global.cu
var scalar string

//go:embed vector.cu
var vector string

// Name is "global".
func (Family) Name() string { return "global" }

const (
	maxWork    = 8    // cells a thread computes, or vectors of them
	maxVectors = 32   // cells a thread computes in vectors
	maxLoads   = 1024 // cells it reads for them
)

const (
	docSpan   = "how threads span the grid: 0 = blocks of cells, 1 = lengths, one line of threads over all cells in column order"
	docVector = "consecutive cells on x a thread loads, computes and stores as a vector; saves instructions and puts more bytes in flight, costs registers"
)

// Space has the shared shape, sp: 0 = a grid of blocks, 1 = one line of threads
// over all cells in column order, and vx.
func (Family) Space(p stencil.Problem, m machine.Machine) *space.Family {
	return kernels.FuseStages(p, func(p stencil.Problem) *space.Family { return family(p, m) }, "vx")
}

func family(p stencil.Problem, m machine.Machine) *space.Family {
	group := [3][]int{{32, 64, 128, 256, 512}, {1, 2, 4, 8, 16}, {1, 2, 4}}
	work := [3][]int{{1, 2}, {1, 2, 4, 8}, {1, 2, 4}}
	columns := kernels.Columns(p, m, []int{0, 32, 64, 128, 256, 512, 1024})
	params := kernels.ShapeParams(p.Stencil.Dims, group, work, columns)
	params = append(params, space.Param{Name: "sp", Values: []int{0, 1},
		Doc: docSpan},
		space.Param{Name: "vx", Values: vectors(p.DType), Ordinal: true, Optional: true,
			Doc: docVector})
	tile := kernels.GroupTile()
	vectorTile := kernels.Tile{
		Needs: append([]string{"vx"}, tile.Needs...),
		Write: func(v space.Values) [3]int {
			w := tile.Write(v)
			w[0] *= v.Get("vx")
			return w
		},
		Width: func(v space.Values) int { return tile.Width(v) * v.Get("vx") },
	}
	loads := map[[3]int]int{} // by vx, wy and wz
	for _, vx := range vectors(p.DType)[1:] {
		for _, wy := range work[1] {
			for _, wz := range work[2] {
				if vx*wy*wz <= maxVectors {
					loads[[3]int{vx, wy, wz}] = cellsRead(p.Stencil, vx, [3]int{1, wy, wz})
				}
			}
		}
	}
	f := &space.Family{Name: "global", Params: params, Constraints: kernels.ThreadConstraints(m)}
	f.Constraints = append(f.Constraints, kernels.WorkConstraint(maxWork))
	for _, c := range kernels.TileConstraints(p, m, vectorTile) {
		f.Constraints = append(f.Constraints, blocksOnly(c))
	}
	f.Constraints = append(f.Constraints, space.Constraint{
		Name: "lengths", Needs: []string{"gy", "gz", "wx", "wy", "wz", "sp"},
		Why: "one line of threads has neither a group shape nor work multipliers",
		OK: func(v space.Values) bool {
			return v.Get("sp") == 0 || v.Get("gy")*v.Get("gz")*v.Get("wx")*v.Get("wy")*v.Get("wz") == 1
		},
	}, space.Constraint{
		Name: "lengths-column", Needs: []string{"cw", "sp"},
		Why: "the column must be narrower than the grid",
		OK:  func(v space.Values) bool { return v.Get("sp") == 0 || v.Get("cw") < p.Size[0] },
	}, space.Constraint{
		Name: "vectors", Needs: []string{"wx", "wy", "wz", "sp", "vx"},
		Why: fmt.Sprintf("a vector takes the place of wx, in a grid of blocks, with at most %d cells a thread", maxVectors),
		OK: func(v space.Values) bool {
			return v.Get("vx") == 1 || v.Get("wx") == 1 && v.Get("sp") == 0 && v.Get("vx")*v.Get("wy")*v.Get("wz") <= maxVectors
		},
	}, space.Constraint{
		Name: "loads", Needs: []string{"wy", "wz", "vx"},
		Why: fmt.Sprintf("a thread of vectors holds what its cells read, at most %d cells: compilers take minutes over more, and no registers hold them", maxLoads),
		OK:  func(v space.Values) bool { return loads[[3]int{v.Get("vx"), v.Get("wy"), v.Get("wz")}] <= maxLoads },
	})
	return f
}

// vectors are the widths of a vector: as many cells as 16 bytes hold at least, so
// that a load of a narrow type is worth its instruction.
func vectors(d stencil.DType) []int {
	v := []int{1, 2, 4}
	for n := 8; n*d.Size() <= 16; n *= 2 {
		v = append(v, n)
	}
	return v
}

// blocksOnly keeps a constraint on tiles from schedules that have none: those of
// span lengths may have any column width.
func blocksOnly(c space.Constraint) space.Constraint {
	if c.Name != "column-width" {
		return c
	}
	ok := c.OK
	c.Needs = append(c.Needs, "sp")
	c.OK = func(v space.Values) bool { return v.Get("sp") == 1 || ok(v) }
	return c
}

// Kernel writes the kernel. Schedules with and without vectors have texts of their
// own.
func (Family) Kernel(p stencil.Problem, s space.Schedule) kernels.Kernel {
	p = kernels.Fused(p, s)
	constants := kernels.ShapeOf(s).Constants()
	var k kernels.Kernel
	if vx := s.Int("vx", 1); vx > 1 {
		constants = append(constants, kernels.Constant{Name: "VECTOR", Value: vx, Doc: docVector},
			kernels.Constant{Name: "PARTS", Value: parts(p.Stencil), Doc: "stages of a time step that a launch computes"})
		generated := kernels.Piece{Of: func(stage int) string { return rows(p, stage, kernels.ShapeOf(s).Work) }}
		pieces := kernels.Around("kernels/global/vector.cu", vector, "@ROWS@", generated)
		pieces[len(pieces)-1].Folds = folds(p, s)
		k = kernels.Source(p, s, nil, constants, pieces...)
	} else {
		constants = append(constants, kernels.Constant{Name: "SPAN_LENGTHS", Value: s.Int("sp", 0), Doc: docSpan})
		k = kernels.Source(p, s, nil, constants, kernels.Piece{File: "kernels/global/global.cu", Text: scalar, Folds: folds(p, s)})
	}
	k.Launch = launch(p, s)
	return k
}

// parts is the stages that a launch computes of a time step.
func parts(st *stencil.Stencil) int {
	if st.Of != nil {
		return len(st.Of.Stages)
	}
	return 1
}

func launch(p stencil.Problem, s space.Schedule) kernels.Launch {
	h := kernels.ShapeOf(s)
	grid := kernels.Cover(p.Size, write(s), h.Column > 0)
	if s.Int("sp", 0) == 1 {
		grid = [3]int{int((p.Size.Cells() + int64(h.Group[0]) - 1) / int64(h.Group[0])), 1, 1}
	}
	return kernels.Launch{Grid: grid, Block: h.Group, Steps: 1, Parts: min(folds(p, s), 1)}
}

// folds is the threads of a block that folds what it stores, 0 of others. One line of threads has no end that all of a block come to.
func folds(p stencil.Problem, s space.Schedule) int {
	if s.Int("sp", 0) == 1 || len(p.Stencil.FoldsStored()) == 0 {
		return 0
	}
	return kernels.ShapeOf(s).Threads()
}

// write is the cells a block of a grid of blocks writes.
func write(s space.Schedule) [3]int {
	w := kernels.ShapeOf(s).Write()
	w[0] *= s.Int("vx", 1)
	return w
}

// spilledOperations is the words spilled for each operation of a thread whose registers lack altogether: of kernels that NVRTC 13.0 gives a
// tenth of what they need, 1.9 to 3.9.
const spilledOperations = 2.5

// unforeseen is by how much more instructions a cell function takes than are counted, where it is no weighted sum and a thread has several
// cells: predicates and moves, mostly. So that the predictions of 26 programs that an H200 has run are right in the mean; those of eight others on an H100
// are then right in the median (docs/lab/0052-registers-of-global.md).
const unforeseen = 1.15

// fusedEdges is how much longer a block at the grid's edge computes stages that are fused: so one of two programs that were measured is predicted
// right, and the other 2.5 times too fast (docs/lab/0052-registers-of-global.md).
const fusedEdges = 6

// atEdges is the share of blocks that lie at the grid's edge.
func atEdges(p stencil.Problem, box [3]int) float64 {
	inside := 1.0
	for a := range p.Stencil.Dims {
		tiles := kernels.CeilDiv(p.Size[a], box[a])
		low, high := kernels.CeilDiv(p.Stencil.Low[a], box[a]), kernels.CeilDiv(tiles*box[a]-p.Size[a]+p.Stencil.High[a], box[a])
		inside *= float64(max(0, tiles-low-high)) / float64(tiles)
	}
	return 1 - inside
}

// registers is what the compiler takes for the stage that needs most, and without how many it spills, by the values that are alive at once: for one
// cell, and for all cells of a thread with what they read. Cells stride apart on x share nothing. Where stages are fused a thread holds values of all,
// and loads for its cells. Fitted to what NVRTC 11.8 gives 1,068 kernels (docs/lab/0052-registers-of-global.md).
func registers(p stencil.Problem, cells [3]int, stride, loads int, vectors bool) (taken, least int) {
	words := float64(max(4, p.DType.Size())) / 4
	apart := 1
	if stride > 1 {
		apart, cells[0] = cells[0], 1
	}
	work := float64(apart * kernels.Volume(cells))
	for i := range p.Stencil.Stages {
		one, _ := p.Stencil.Alive(i, [3]int{1, 1, 1})
		_, all := p.Stencil.Alive(i, cells)
		if whole := p.Stencil.Of; whole != nil {
			all = loads / apart
			for k := range whole.Stages {
				late, _ := whole.Alive(k, [3]int{1, 1, 1})
				one += late
			}
		}
		of, begin := words*float64(one), words*float64(apart*all)
		n, slack := 0.0, 10.0/11
		switch {
		case vectors:
			n = 20 + 0.75*begin + 0.146*of*work
		case work > 1:
			n = 26 + 0.355*begin + 0.307*of*math.Sqrt(work)
		default:
			n, slack = math.Max(math.Min(21+begin, 32), 21+of), 1
		}
		taken, least = max(taken, int(n)), max(least, int(slack*n))
	}
	return taken, least
}

// Work counts one launch: each thread loads every distinct point of its cells, a
// block's footprint comes from L2 once.
func (Family) Work(p stencil.Problem, s space.Schedule) kernels.Work {
	p = kernels.Fused(p, s)
	h := kernels.ShapeOf(s)
	l := launch(p, s)
	elem := float64(p.DType.Size())
	cells := float64(p.Size.Cells())
	blocks := float64(l.Blocks())
	work := h.Work[0] * h.Work[1] * h.Work[2]
	vx, size := s.Int("vx", 1), p.DType.Size()
	each, stride, parts := h.Work, h.Group[0], 1 // a thread's cells, how far apart they are on x, loads of a vector
	stores := work
	if vx > 1 {
		each[0], stride, parts = vx, 1, kernels.CeilDiv(vx*size, 16)
		stores = work * parts
		work *= vx
	}
	box := write(s)
	column := 0
	integer := 30.0 + 8*float64(p.Stencil.Dims)
	if s.Int("sp", 0) == 1 {
		if h.Column > 0 { // a block of the line covers a few rows of the strip
			box = [3]int{min(h.Column, h.Group[0]), max(1, h.Group[0]/h.Column), 1}
			column = kernels.CeilDiv(h.Column, box[0])
			integer += 6
		}
		// Four divisions by run-time extents, two of them of 64 bits, and the planes' besides. As
		// many as fit the recorded lines of jacobi2d and jacobi3d13.
		integer += 130 + 6*float64(h.Zigzag)
		if p.Stencil.Dims == 3 {
			integer += 30
		}
	} else if h.Column > 0 {
		column = h.Column / box[0]
		integer += 150
	}
	whole := vx == 1 || p.Size[0]%vx == 0 // else vectors move cell by cell, and every block asks where the grid ends
	if !whole {
		parts, stores = vx, stores/parts*vx
	}
	loads, most, sectors := 0, 0, 0.0 // loads of all stages; most of one
	accesses, pipe := 0.0, 0.0
	for i := range p.Stencil.Stages {
		n := 0
		for _, array := range kernels.Loaded(p.Stencil, i) {
			distinct := kernels.DistinctLoads(array, each, stride)
			n += distinct
			sectors += kernels.FootprintSectors(array, box, size)
			// Those of the own column begin on a cache line, and in vectors go as such.
			centred := kernels.DistinctLoads(kernels.Centred(array), h.Work, h.Group[0])
			halo := float64(distinct - centred*vx)
			accesses += float64(centred*parts) + halo
			vector := kernels.LoadBytes(size*vx, 1, true)
			if !whole {
				vector = float64(vx) * kernels.LoadBytes(size, vx, false)
				integer += 4 * float64(distinct)
			}
			pipe += float64(centred)*vector + halo*kernels.LoadBytes(size, vx, false)
		}
		loads += n
		most = max(most, n)
	}
	var line kernels.Line
	if s.Int("sp", 0) == 1 {
		var arrays [][]stencil.Offset
		for i := range p.Stencil.Stages {
			arrays = append(arrays, kernels.Loaded(p.Stencil, i)...)
		}
		line, pipe = kernels.LineOf(p.Size, arrays, h.Column, h.Zigzag, h.Group[0], size)
		pipe /= blocks * float64(l.Threads())
		if h.Column > 0 {
			sectors *= float64(l.Threads()) / float64(box[0]*box[1]) // a block of the line may end within a row
		}
		// Neighbouring warps read the same rows one after the other: the later finds them in L1.
		line.New = sectors * kernels.SectorBytes / kernels.LineBytes * 32 / float64(l.Threads())
	}
	outputs := kernels.Outputs(p.Stencil, 1)
	ops, beside := kernels.Operations(p, each, stride)
	converted := 0 // cells of a thread
	for _, stage := range p.Stencil.Stages {
		for array, points := range stage.Points {
			if kernels.Converts(p, array) {
				converted += kernels.DistinctLoads(points, each, stride)
			}
		}
		for _, f := range stage.Writes(1) {
			if kernels.Converts(p, f) {
				converted += work
			}
		}
	}
	threads := blocks * float64(l.Threads())
	if _, _, sum := p.Stencil.Linear(); !sum && work > 1 {
		ops, beside = unforeseen*ops, unforeseen*beside
	}
	if p.Stencil.Of != nil { // at the grid's edge loops compute them, whose arrays lie in local memory
		slow := 1 + (fusedEdges-1)*atEdges(p, box)
		ops, beside = slow*ops, slow*beside
	}
	taken, least := registers(p, each, stride, most, vx > 1)
	spilled := 1.8 // words for each register that lacks
	if work > 1 {
		spilled = max(1.2, spilledOperations*ops*float64(work)/float64(taken))
	}
	return kernels.Narrowed(p, kernels.Work{
		Steps:    1,
		Cells:    cells,
		Updates:  cells,
		Flops:    cells * ops,
		Beside:   cells*beside + threads*float64(converted),
		Integer:  threads * (integer + 2*float64(work)),
		Accesses: threads * (accesses + float64(stores*outputs)),
		L1Loads:  threads * pipe,
		L2Read:   blocks * sectors * kernels.SectorBytes,
		L2Write:  cells * elem * float64(outputs),
		Loads:    float64(min(most, 16*vx)),
		// Independent loads go out together, about 16 at a time.
		LoadWaits: math.Hypot(float64(len(p.Stencil.Stages)), float64(loads)/float64(16*vx)),
		Waits:     float64(work) / 2,
		Registers: taken,
		Least:     least,
		Spilled:   spilled,
		Write:     box,
		Read: [3]int{box[0] + p.Stencil.Low[0] + p.Stencil.High[0], box[1] + p.Stencil.Low[1] + p.Stencil.High[1],
			box[2] + p.Stencil.Low[2] + p.Stencil.High[2]},
		Unroll:     1, // a thread's text has no loop
		ColumnWide: column,
		Line:       line,
		Launch:     l,
	})
}
