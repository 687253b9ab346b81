// Package slide is the family of kernels in which a window of rows or planes in
// shared memory moves down the outermost axis, refilled as a ring: the sliding tile.
package slide

import (
	_ "embed"
	"fmt"

	"stenciltune/kernels"
	"stenciltune/machine"
	"stenciltune/space"
	"stenciltune/stencil"
)

// Family is the family slide.
type Family struct{}

//go:embed slide.cu
var source string

// Name is "slide".
func (Family) Name() string { return "slide" }

// maxLoads is the most cells a thread loads in a step: they wait in registers.
const maxLoads = 16

const (
	docSteps  = "steps the window makes; more of them load the halo of the first less often, fewer leave more blocks"
	docDouble = "1 loads the next step's rows while this one computes, with one barrier a step for two; costs registers and shared memory"
)

// Space has the shared shape, one cell a thread on the axis of the window, and ws
// and db.
func (Family) Space(p stencil.Problem, m machine.Machine) *space.Family {
	group := [3][]int{{32, 64, 128}, {1, 2, 4, 8, 16}, {1, 2}}
	work := [3][]int{{1, 2}, {1, 2, 4}, {1}}
	columns := []int{0, 256}
	steps := []int{8, 16, 32, 64, 128}
	if p.Stencil.Dims < 3 {
		group = [3][]int{{32, 64, 128, 256, 512}, {1, 2, 4, 8}}
		work = [3][]int{{1, 2, 4}, {1}}
		columns = []int{0, 256, 1024}
		steps = []int{8, 16, 32, 64, 128, 256}
	}
	params := append(kernels.ShapeParams(p.Stencil.Dims, group, work, columns), space.Param{
		Name: "ws", Values: steps, Ordinal: true,
		Doc: docSteps,
	}, space.Param{
		Name: "db", Values: []int{0, 1},
		Doc: docDouble,
	})
	shape := []string{"gx", "gy", "gz", "wx", "wy", "wz"}
	at := func(v space.Values) window {
		return windowOf(p.Stencil, kernels.ReadShape(v), v.Get("ws"), v.Get("db") == 1)
	}
	flat := func(v space.Values) window { return windowOf(p.Stencil, kernels.ReadShape(v), 1, false) } // of one step
	f := &space.Family{Name: "slide", Params: params, Constraints: []space.Constraint{{
		Name: "dimensions", Needs: []string{"gx"},
		Why: "in one dimension there is no row to slide: what a block reads is used once; use tile",
		OK:  func(space.Values) bool { return p.Stencil.Dims > 1 },
	}}}
	f.Constraints = append(f.Constraints, kernels.ThreadConstraints(m)...)
	f.Constraints = append(f.Constraints, space.Constraint{
		Name: "halo", Needs: shape,
		Why: "a row or plane must be no smaller than its halo, or most of what is loaded is thrown away",
		OK: func(v space.Values) bool {
			w := flat(v)
			for a := range p.Stencil.Dims - 1 {
				if 2*w.write[a] < w.read[a] {
					return false
				}
			}
			return true
		},
	}, space.Constraint{
		Name: "loads", Needs: shape,
		Why: fmt.Sprintf("the rows of a step wait in registers on their way to shared memory; more than %d values a thread spill", maxLoads),
		OK:  func(v space.Values) bool { return flat(v).loads()*kernels.Tiles(p.Stencil, 1) <= maxLoads },
	})
	f.Constraints = append(f.Constraints, kernels.TileConstraints(p, m, kernels.Tile{
		Needs: append([]string{"ws"}, shape...),
		Write: func(v space.Values) [3]int {
			return windowOf(p.Stencil, kernels.ReadShape(v), v.Get("ws"), false).write
		},
		Width: func(v space.Values) int { return v.Get("gx") * v.Get("wx") },
	})...)
	f.Constraints = append(f.Constraints, space.Constraint{
		Name: "shared-memory", Needs: append([]string{"db", "ws"}, shape...),
		Why: fmt.Sprintf("the window must fit into the %d bytes of shared memory a block may have", m.SharedBlockOptin),
		OK:  func(v space.Values) bool { return at(v).sharedBytes(p) <= m.SharedBlockOptin },
	})
	return f
}

// window is the geometry of a schedule.
type window struct {
	kernels.Shape
	axis        int // on which it moves
	steps       int
	double      bool
	write, read [3]int // cells of a block over all steps
}

func windowOf(st *stencil.Stencil, h kernels.Shape, steps int, double bool) window {
	w := window{Shape: h, axis: st.Dims - 1, steps: steps, double: double, write: h.Write()}
	w.write[w.axis] *= steps
	w.read = w.write
	for a := range 3 {
		w.read[a] += st.Low[a] + st.High[a]
	}
	return w
}

func of(p stencil.Problem, s space.Schedule) window {
	return windowOf(p.Stencil, kernels.ShapeOf(s), s.Int("ws", 1), s.Int("db", 0) == 1)
}

// plane is the cells of one row or plane of the window.
func (w window) plane() int {
	n := 1
	for a := range w.axis {
		n *= w.read[a]
	}
	return n
}

// loads is the cells a thread loads for a step, at most.
func (w window) loads() int {
	return (w.Group[w.axis]*w.plane() + w.Threads() - 1) / w.Threads()
}

// cells is the window's shared memory: the halo of the stencil and the rows of
// one step, or two.
func (w window) cells() int {
	rows := w.read[w.axis] - w.write[w.axis] + w.Group[w.axis]
	if w.double {
		rows += w.Group[w.axis]
	}
	return rows * w.plane()
}

// sharedBytes is a window for each staged array of the stage that has most.
func (w window) sharedBytes(p stencil.Problem) int {
	return kernels.Tiles(p.Stencil, 1) * w.cells() * p.DType.Size()
}

// Kernel writes the kernel.
func (Family) Kernel(p stencil.Problem, s space.Schedule) kernels.Kernel {
	w := of(p, s)
	constants := append(w.Constants(), kernels.Constant{Name: "DIMS", Value: p.Stencil.Dims, Doc: "dimensions of the grid"},
		kernels.Constant{Name: "WINDOW_STEPS", Value: w.steps, Doc: docSteps}, kernels.Constant{Name: "DOUBLE_BUFFER", Value: s.Int("db", 0), Doc: docDouble})
	k := kernels.Source(p, s, nil, constants, kernels.Piece{File: "kernels/slide/slide.cu", Text: source})
	k.Launch = w.launch(p)
	return k
}

func (w window) launch(p stencil.Problem) kernels.Launch {
	return kernels.Launch{Grid: kernels.Cover(p.Size, w.write, w.Column > 0), Block: w.Group, SharedBytes: w.sharedBytes(p), Steps: 1}
}

// hidden is the share of a load's latency that the computing of a step covers when
// the next one's rows are on their way meanwhile.
const hidden = 0.75

// Work counts one launch: each cell of a block's read box is loaded once, and
// passes through shared memory.
func (Family) Work(p stencil.Problem, s space.Schedule) kernels.Work {
	w := of(p, s)
	l := w.launch(p)
	st := p.Stencil
	elem := float64(p.DType.Size())
	blocks, threads, steps := float64(l.Blocks()), float64(l.Threads()), float64(w.steps)
	read := float64(w.read[0] * w.read[1] * w.read[2])
	updates := blocks * float64(w.write[0]*w.write[1]*w.write[2])
	work := w.Work[0] * w.Work[1] * w.Work[2]
	tiles, points, direct := 0, 0, 0 // of all stages: windows, reads in them, reads past them
	for i, stage := range st.Stages {
		direct += len(kernels.Loaded(st, i))
		for _, at := range stage.Points {
			if kernels.Staged(at, 1) {
				tiles++
				points += kernels.DistinctLoads(at, w.Work, w.Group[0])
				direct--
			}
		}
	}
	loads := w.loads() * kernels.Tiles(st, 1) // in flight
	outputs := kernels.Outputs(st, 1)
	conflicts := kernels.BoxConflicts(w.Group[0], w.read[0], p.DType.Size())
	held := w.read
	held[w.axis] += w.Group[w.axis] - w.write[w.axis]
	load := kernels.LoadBytes(p.DType.Size(), 1, false)
	barriers, waits := 2*w.steps, 1+steps
	if w.double {
		barriers, waits = 1+w.steps, 2+steps*(1-hidden)
	}
	column, integer := 0, 80.0
	if w.Column > 0 {
		column = w.Column / w.write[0]
		integer += 80 // divisions by run-time extents
	}
	stages := float64(len(st.Stages))
	flops, beside := kernels.Operations(p, [3]int{1, 1, 1}, 1)
	// As the compiler took for recorded schedules of ten stencils: sums, reads that cells share and
	// loads of a step; whether they wait while the step computes (db) made no difference.
	n := 2.8*float64(work) + 0.32*float64(min(points/len(st.Stages), 80)) + 1.3*float64(loads/len(st.Stages))
	registers := 26 + int(n*float64(max(4, p.DType.Size()))/4)
	return kernels.Narrowed(p, kernels.Work{
		Steps:    1,
		Cells:    float64(p.Size.Cells()),
		Updates:  updates,
		Flops:    updates * flops,
		Beside:   updates * beside,
		Integer:  stages * blocks * (threads*(integer+steps*float64(10+2*work+3*(st.Low[w.axis]+st.High[w.axis]+1))) + 8*read),
		Accesses: blocks*(2*float64(tiles)*read+threads*steps*float64(points+work*outputs)) + float64(direct)*updates,
		L1Loads:  (float64(tiles)*blocks*read + float64(direct)*updates) * load,
		L2Read: float64(tiles)*blocks*float64(w.read[1]*w.read[2])*kernels.RowSectors(w.read[0], st.Low[0], p.DType.Size())*kernels.SectorBytes +
			float64(direct)*updates*elem,
		L2Write:    float64(p.Size.Cells()*int64(outputs)) * elem,
		Shared:     blocks * (float64(tiles)*read + threads*steps*float64(points)*conflicts) * elem,
		Barriers:   barriers * len(st.Stages),
		Loads:      float64(max(loads, min(direct, 16))),
		LoadWaits:  stages * waits,
		Waits:      stages * steps * (1 + float64(work)/4),
		Registers:  registers,
		Write:      w.write,
		Read:       w.read,
		Window:     held,
		ColumnWide: column,
		Launch:     l,
	})
}
