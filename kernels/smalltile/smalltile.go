// Package smalltile is the family of kernels whose threads load one cell each:
// the read tile is the group, the write tile what is left of it inside the halo after
// one or more time steps (ghost-zone pyramid).
package smalltile

import (
	_ "embed"
	"fmt"

	"stenciltune/kernels"
	"stenciltune/machine"
	"stenciltune/space"
	"stenciltune/stencil"
)

// Family is the family smalltile.
type Family struct{}

//go:embed smalltile.cu
var source string

// Name is "smalltile".
func (Family) Name() string { return "smalltile" }

// wasted is the most threads there may be for each one that writes in the end.
const wasted = 8

// Space has the shared shape with one cell a thread, and ph.
func (Family) Space(p stencil.Problem, m machine.Machine) *space.Family {
	return kernels.FuseStages(p, func(p stencil.Problem) *space.Family { return family(p, m) }, "")
}

func family(p stencil.Problem, m machine.Machine) *space.Family {
	group := [3][]int{{16, 32, 64, 128}, {4, 8, 16, 32}, {4, 8, 16}}
	columns := []int{0, 128, 256}
	timeTile := []int{1, 2, 3, 4}
	switch p.Stencil.Dims {
	case 1:
		group = [3][]int{{64, 128, 256, 512, 1024}}
		timeTile = []int{1, 2, 3, 4, 6, 8, 12, 16}
	case 2:
		group = [3][]int{{32, 64, 128, 256}, {4, 8, 16, 32}}
		columns = []int{0, 256, 1024}
		timeTile = []int{1, 2, 3, 4, 6, 8}
	}
	one := []int{1}
	params := append(kernels.ShapeParams(p.Stencil.Dims, group, [3][]int{one, one, one}, columns), kernels.Tuned(kernels.TimeTile, kernels.DocTimeTile, timeTile))
	shape := []string{"gx", "gy", "gz", "ph"}
	at := func(v space.Values) kernels.Shape {
		return kernels.Shape{Group: [3]int{v.Get("gx"), v.Get("gy"), v.Get("gz")}, Pyramid: v.Get("ph")}
	}
	f := &space.Family{Name: "smalltile", Params: params, Constraints: kernels.ThreadConstraints(m)}
	f.Constraints = append(f.Constraints, kernels.StepsConstraint(p, false), kernels.FusionConstraint(p.Stencil), space.Constraint{
		Name: "halo", Needs: shape,
		Why: fmt.Sprintf("the halo must leave at least one thread in %d to write a cell, or nearly all of what is loaded is thrown away", wasted),
		OK: func(v space.Values) bool {
			h := at(v)
			w := write(p.Stencil, h)
			return min(w[0], w[1], w[2]) > 0 && kernels.Volume(w)*wasted >= h.Threads()
		},
	})
	f.Constraints = append(f.Constraints, space.Constraint{
		Name: "shared-memory", Needs: shape,
		Why: fmt.Sprintf("the tiles must fit into the %d bytes of shared memory a block may have", m.SharedBlockOptin),
		OK:  func(v space.Values) bool { return sharedBytes(p, at(v)) <= m.SharedBlockOptin },
	})
	f.Constraints = append(f.Constraints, kernels.TileConstraints(p, m, kernels.Tile{
		Needs: shape,
		Write: func(v space.Values) [3]int {
			w := write(p.Stencil, at(v))
			return [3]int{max(w[0], 1), max(w[1], 1), max(w[2], 1)} // a tile that is all halo is another constraint's
		},
		Width: func(v space.Values) int { return v.Get("gx") },
	})...)
	return f
}

// write is the group less the halo of all its steps.
func write(st *stencil.Stencil, h kernels.Shape) [3]int { return zone(st, h, h.Pyramid) }

// zone is the cells of a tile that are valid after a number of steps.
func zone(st *stencil.Stencil, h kernels.Shape, steps int) [3]int {
	w := h.Group
	for a := range 3 {
		w[a] -= steps * (st.Low[a] + st.High[a])
	}
	return w
}

// Kernel writes the kernel.
func (Family) Kernel(p stencil.Problem, s space.Schedule) kernels.Kernel {
	p = kernels.Fused(p, s)
	k := kernels.Source(p, s, nil, kernels.ShapeOf(s).Constants(), kernels.TilePiece(), kernels.Piece{File: "kernels/smalltile/smalltile.cu", Text: source})
	k.Launch = launch(p, s)
	return k
}

// sharedBytes is a tile for each staged array of the stage that has most, or two if
// steps are fused.
func sharedBytes(p stencil.Problem, h kernels.Shape) int {
	return kernels.Tiles(p.Stencil, h.Pyramid) * h.Threads() * p.DType.Size() * min(h.Pyramid, 2)
}

func launch(p stencil.Problem, s space.Schedule) kernels.Launch {
	h := kernels.ShapeOf(s)
	return kernels.Launch{Grid: kernels.Cover(p.Size, write(p.Stencil, h), h.Column > 0), Block: h.Group, SharedBytes: sharedBytes(p, h), Steps: h.Pyramid}
}

// Work counts one launch: every thread loads once; each fused step updates the
// tile less what has gone stale.
func (Family) Work(p stencil.Problem, s space.Schedule) kernels.Work {
	p = kernels.Fused(p, s)
	h := kernels.ShapeOf(s)
	l := launch(p, s)
	st := p.Stencil
	elem := float64(p.DType.Size())
	blocks, threads := float64(l.Blocks()), float64(l.Threads())
	w := write(st, h)
	tiles, points, direct := 0, 0, 0 // of all stages: tiles, points read in them, loads past shared memory
	for i, stage := range st.Stages {
		direct += len(kernels.Loaded(st, i))
		for _, at := range stage.Points {
			if kernels.Staged(at, h.Pyramid) {
				tiles++
				points += len(at)
				direct--
			}
		}
	}
	direct *= h.Pyramid
	outputs := kernels.Outputs(st, h.Pyramid)
	accesses := 2 * float64(tiles) * threads
	conflicts := kernels.BoxConflicts(h.Group[0], h.Group[0], p.DType.Size())
	updates, shared := 0.0, float64(tiles)*threads*elem // the loads' stores
	for step := 1; step <= h.Pyramid; step++ {
		cells := float64(kernels.Volume(zone(st, h, step)))
		updates += cells
		shared += cells * float64(points) * elem * conflicts
		accesses += cells * float64(points+outputs)
		if step < h.Pyramid {
			shared += cells * float64(outputs) * elem
		}
	}
	// Write tiles are of any width, so that a row begins anywhere in a sector.
	per := float64(kernels.SectorBytes) / elem
	rows := float64(h.Group[1]*h.Group[2]) * (float64(h.Group[0]-1)/per + 1)
	flops, beside := kernels.Operations(p, [3]int{1, 1, 1}, 1)
	column, integer := 0, 60.0
	if h.Column > 0 {
		column = h.Column / h.Group[0]
		integer += 80 // divisions by run-time extents
	}
	return kernels.Narrowed(p, kernels.Work{
		Steps:      h.Pyramid,
		Cells:      float64(p.Size.Cells()) * float64(h.Pyramid),
		Updates:    blocks * updates,
		Flops:      blocks * updates * flops,
		Beside:     blocks * updates * beside,
		Integer:    blocks * threads * (integer + 10*float64(h.Pyramid)),
		Accesses:   blocks * (accesses + threads*float64(direct)),
		L1Loads:    blocks * threads * float64(tiles+direct) * kernels.LoadBytes(p.DType.Size(), 1, false),
		L2Read:     blocks * rows * float64(tiles+direct) * kernels.SectorBytes,
		L2Write:    float64(p.Size.Cells()*int64(outputs)) * elem,
		Shared:     blocks * shared,
		Barriers:   h.Pyramid * len(st.Stages),
		Loads:      float64(tiles+direct) / float64(len(st.Stages)),
		LoadWaits:  float64(len(st.Stages)),
		Abreast:    1,
		Waits:      float64(h.Pyramid),
		Registers:  24 + max(1, p.DType.Size()/4)*min(len(st.Points), 16)/2,
		Write:      w,
		Read:       h.Group,
		ColumnWide: column,
		Launch:     l,
	})
}
