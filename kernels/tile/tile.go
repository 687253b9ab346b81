// Package tile is the family of kernels that load a block's cells and halo into
// shared memory and may compute several time steps there: the multi-write big
// tile with ghost-zone pyramids.
package tile

import (
	_ "embed"
	"fmt"
	"math"

	"stenciltune/kernels"
	"stenciltune/machine"
	"stenciltune/space"
	"stenciltune/stencil"
)

// Family is the family tile.
type Family struct{}

//go:embed tile.cu
var source string

// Name is "tile".
func (Family) Name() string { return "tile" }

// maxWork is the most cells a thread computes.
const maxWork = 16

const (
	docLoader    = "loader: 0 = flat, add and carry; 1 = flat, divide and take the remainder; 2 = cube, the group's shape laid over the tile; less index arithmetic against idle threads"
	docPadding   = "cells of padding at the end of a row of shared memory; spreads a column over the banks, costs shared memory"
	docSingleDim = "1 launches a single-dimensional grid and divides for the block's position; 0 lets the hardware count"
)

// Space has the shared shape, and ph.
func (Family) Space(p stencil.Problem, m machine.Machine) *space.Family {
	return kernels.FuseStages(p, func(p stencil.Problem) *space.Family { return family(p, m) }, "")
}

func family(p stencil.Problem, m machine.Machine) *space.Family {
	group := [3][]int{{32, 64, 128}, {1, 2, 4, 8, 16}, {1, 2, 4, 8}}
	work := [3][]int{{1, 2}, {1, 2, 4, 8}, {1, 2, 4, 8}}
	timeTile := []int{1, 2, 3, 4}
	columns := []int{0, 128, 256}
	if p.Stencil.Dims < 3 {
		group[0] = []int{32, 64, 128, 256}
		work[0] = []int{1, 2, 4}
		timeTile = []int{1, 2, 3, 4, 6, 8}
		columns = []int{0, 256, 1024}
	}
	grids := []int{0, 1}
	if p.Stencil.Dims == 1 { // a single-dimensional grid anyway
		grids = []int{0}
	}
	params := append(kernels.ShapeParams(p.Stencil.Dims, group, work, columns), kernels.Tuned(kernels.TimeTile, kernels.DocTimeTile, timeTile), space.Param{
		Name: "ld", Values: []int{0, 1, 2}, Optional: true,
		Doc: docLoader,
	}, space.Param{
		Name: "pd", Values: []int{0, 1}, Optional: true,
		Doc: docPadding,
	}, space.Param{
		Name: "gd", Values: grids, Optional: true,
		Doc: docSingleDim,
	})
	f := &space.Family{Name: "tile", Params: params, Constraints: kernels.ThreadConstraints(m)}
	f.Constraints = append(f.Constraints, kernels.WorkConstraint(maxWork))
	f.Constraints = append(f.Constraints, kernels.TileConstraints(p, m, kernels.GroupTile())...)
	shape := []string{"gx", "gy", "gz", "wx", "wy", "wz", "ph"}
	at := func(v space.Values) kernels.Shape {
		h := kernels.ReadShape(v)
		h.Pyramid = v.Get("ph")
		return h
	}
	f.Constraints = append(f.Constraints, kernels.StepsConstraint(p, false), kernels.FusionConstraint(p.Stencil), space.Constraint{
		Name: "variants", Needs: []string{"cw", "ph", "ld", "pd", "gd"},
		Why: fmt.Sprintf("loader, padding and grid are told apart one at a time, in block order, with at most %d fused steps: beyond that they only multiply the space", variantSteps),
		OK: func(v space.Values) bool {
			changed := min(v.Get("ld"), 1) + v.Get("pd") + v.Get("gd")
			return changed == 0 || changed == 1 && v.Get("cw") == 0 && v.Get("ph") <= variantSteps
		},
	}, space.Constraint{
		Name: "halo", Needs: shape,
		Why: "a tile must be no smaller than its halo on each axis, or most of what is loaded and computed is thrown away",
		OK: func(v space.Values) bool {
			h := at(v)
			w := h.Write()
			for a := range p.Stencil.Dims {
				if h.Pyramid*(p.Stencil.Low[a]+p.Stencil.High[a]) > w[a] {
					return false
				}
			}
			return true
		},
	}, space.Constraint{
		Name: "shared-memory", Needs: append([]string{"pd"}, shape...),
		Why: fmt.Sprintf("the tile and its halo must fit into the %d bytes of shared memory a block may have (twice, if steps are fused)", m.SharedBlockOptin),
		OK:  func(v space.Values) bool { return sharedBytes(p, at(v), v.Get("pd")) <= m.SharedBlockOptin },
	})
	return f
}

// variantSteps is the most fused steps of a schedule with another loader, padding
// or grid.
const variantSteps = 2

// loaderInFlight is the loads the flat loader has in flight: it is unrolled by four,
// but an add-and-carry index keeps it from running all four at once.
const loaderInFlight = 2.5

// loaderCost is the instructions that each loader spends on a cell, by ld.
var loaderCost = [3]float64{16, 18, 12}

func read(st *stencil.Stencil, h kernels.Shape) [3]int {
	r := h.Write()
	for a := range 3 {
		r[a] += h.Pyramid * (st.Low[a] + st.High[a])
	}
	return r
}

// sharedBytes is a read tile with its rows padded for each staged array of the stage
// that has most, or two if steps are fused.
func sharedBytes(p stencil.Problem, h kernels.Shape, padding int) int {
	tiles := kernels.Tiles(p.Stencil, h.Pyramid)
	if h.Pyramid > 1 {
		tiles *= 2
	}
	r := read(p.Stencil, h)
	r[0] += padding
	return tiles * kernels.Volume(r) * p.DType.Size()
}

// Kernel writes the kernel.
func (Family) Kernel(p stencil.Problem, s space.Schedule) kernels.Kernel {
	p = kernels.Fused(p, s)
	constants := append(kernels.ShapeOf(s).Constants(), kernels.Constant{Name: "LOADER", Value: s.Int("ld", 0), Doc: docLoader},
		kernels.Constant{Name: "PADDING", Value: s.Int("pd", 0), Doc: docPadding}, kernels.Constant{Name: "SINGLE_DIM", Value: s.Int("gd", 0), Doc: docSingleDim})
	k := kernels.Source(p, s, nil, constants, kernels.TilePiece(), kernels.Piece{File: "kernels/tile/tile.cu", Text: source})
	k.Launch = launch(p, s)
	return k
}

func launch(p stencil.Problem, s space.Schedule) kernels.Launch {
	h := kernels.ShapeOf(s)
	line := h.Column > 0 || s.Int("gd", 0) == 1
	return kernels.Launch{Grid: kernels.Cover(p.Size, h.Write(), line), Block: h.Group, SharedBytes: sharedBytes(p, h, s.Int("pd", 0)), Steps: h.Pyramid}
}

// Work counts one launch: the read tile comes from L2 once; each fused step
// updates the tile less what has gone stale.
func (Family) Work(p stencil.Problem, s space.Schedule) kernels.Work {
	p = kernels.Fused(p, s)
	h := kernels.ShapeOf(s)
	l := launch(p, s)
	st := p.Stencil
	elem := float64(p.DType.Size())
	blocks := float64(l.Blocks())
	r, w := read(st, h), h.Write()

	threads := float64(l.Threads())
	updates, shared, waits := float64(kernels.Volume(w)), 0.0, float64(kernels.Volume(h.Work))/4
	work := h.Work[0] * h.Work[1] * h.Work[2]
	tiles, points, loads, direct := 0, 0, 0, 0 // read tiles, points read in them, distinct ones; loads past shared memory
	for i, stage := range st.Stages {
		for _, at := range stage.Points {
			if kernels.Staged(at, h.Pyramid) {
				tiles++
				points += len(at)
				loads += kernels.DistinctLoads(at, h.Work, h.Group[0])
			}
		}
		for _, at := range kernels.Loaded(st, i) {
			direct += kernels.DistinctLoads(at, h.Work, h.Group[0])
		}
	}
	direct = max(0, direct-loads) * h.Pyramid
	outputs := kernels.Outputs(st, h.Pyramid)
	size, pitch := p.DType.Size(), r[0]+s.Int("pd", 0)
	flat := 1.0
	if s.Int("ld", 0) < 2 {
		flat = kernels.FlatConflicts(r[0], pitch, size)
	}
	shared += float64(tiles*kernels.Volume(r)) * elem * flat                                    // the loader's stores
	shared += float64(l.Threads()*loads) * elem * kernels.BoxConflicts(h.Group[0], pitch, size) // the last step's reads
	accesses := float64(2*tiles*kernels.Volume(r)) + threads*float64(loads+direct+work*outputs)
	for step := 1; step < h.Pyramid; step++ {
		box := r
		for a := range 3 {
			box[a] -= step * (st.Low[a] + st.High[a])
		}
		updates += float64(kernels.Volume(box))
		shared += float64(kernels.Volume(box)*(points+outputs)) * elem * kernels.FlatConflicts(box[0], pitch, size)
		accesses += float64(kernels.Volume(box) * (points + outputs))
		waits += math.Ceil(float64(kernels.Volume(box)) / threads)
	}
	fused := updates - float64(kernels.Volume(w))
	ops, beside := kernels.Operations(p, h.Work, h.Group[0]) // of the last step; those before it share nothing
	alone, besideAlone := kernels.Operations(p, [3]int{1, 1, 1}, 1)
	ops, beside = blocks*(float64(kernels.Volume(w))*ops+fused*alone), blocks*(float64(kernels.Volume(w))*beside+fused*besideAlone)
	rows := float64(r[1]*r[2]) * kernels.RowSectors(r[0], h.Pyramid*st.Low[0], p.DType.Size())
	column, integer := 0, 80.0
	if h.Column > 0 {
		column = h.Column / w[0]
		integer += 80 // divisions by run-time extents
	}
	if s.Int("gd", 0) == 1 {
		integer += 60
	}
	// What a cell costs to load, and how often a thread waits for loads. The cube
	// leaves threads idle where the group does not divide the tile.
	perCell, turns := loaderCost[s.Int("ld", 0)], math.Ceil(float64(kernels.Volume(r))/threads)
	if s.Int("ld", 0) == 2 {
		turns = 1
		for a := range 3 {
			turns *= math.Ceil(float64(r[a]) / float64(h.Group[a]))
		}
	}
	read := (loads + direct) / len(st.Stages) // cells, in the last step
	return kernels.Narrowed(p, kernels.Work{
		Steps:     h.Pyramid,
		Cells:     float64(p.Size.Cells()) * float64(h.Pyramid),
		Updates:   blocks * updates,
		Flops:     ops,
		Beside:    beside,
		Integer:   blocks * (threads*(integer+2*float64(work)) + perCell*float64(tiles*kernels.Volume(r)) + 16*fused),
		Accesses:  blocks * accesses,
		L1Loads:   blocks * (float64(tiles*kernels.Volume(r)) + threads*float64(direct)) * kernels.LoadBytes(size, 1, false),
		L2Read:    blocks * (float64(tiles)*rows*kernels.SectorBytes + threads*float64(direct)*elem),
		L2Write:   float64(p.Size.Cells()*int64(outputs)) * elem,
		Shared:    blocks * shared,
		Barriers:  h.Pyramid * len(st.Stages),
		Loads:     max(min(loaderInFlight, float64(tiles*kernels.Volume(r))/threads), min(float64(direct), 16)),
		LoadWaits: float64(tiles)*turns/loaderInFlight + float64(direct)/16,
		Abreast:   work,
		Waits:     waits,
		// As the compiler took for recorded schedules of ten stencils: the last step's reads, shared by its cells.
		Registers:  max(32, 28+int(float64(max(4, size))/4*(0.32*float64(min(read, 120))+0.6*float64(max(read-120, 0))-0.3*float64(work)))),
		Least:      20 + max(1, size/4)*work,
		Write:      w,
		Read:       r,
		ColumnWide: column,
		Launch:     l,
	})
}
