// Package stream is the family of kernels that keep planes in registers while a
// block streams along the outermost axis, with several time steps in flight: N.5D
// blocking with partial sums. Its words are those of docs/glossary.md.
package stream

import (
	_ "embed"
	"fmt"

	"stenciltune/kernels"
	"stenciltune/machine"
	"stenciltune/space"
	"stenciltune/stencil"
)

// Family is the family stream.
type Family struct{}

const folder = "kernels/stream/"

// The source is plane.cu, then the stages (sums.cu or values.cu), then the prefetch
// (prefetch_registers.cu or prefetch_async.cu), then streaming.cu.
var (
	//go:embed plane.cu
	planeSource string
	//go:embed sums.cu
	sumsSource string
	//go:embed values.cu
	valuesSource string
	//go:embed nearest.cu
	nearestSource string
	//go:embed prefetch_registers.cu
	registersSource string
	//go:embed prefetch_async.cu
	asyncSource string
	//go:embed streaming.cu
	streamingSource string
)

// Name is "stream".
func (Family) Name() string { return "stream" }

// Doc says what the design is.
func (Family) Doc() string {
	return "registers hold the planes while the block streams along the outermost axis; several time steps in flight (N.5D blocking)"
}

// radius is a stencil's radius on either side, split into x, rows of a plane and planes.
type radius struct{ lowX, highX, lowR, highR, lowS, highS int }

func radiusOf(st *stencil.Stencil) radius {
	r := radius{lowX: st.Low[0], highX: st.High[0]}
	switch st.Dims {
	case 2:
		r.lowS, r.highS = st.Low[1], st.High[1]
	case 3:
		r.lowR, r.highR, r.lowS, r.highS = st.Low[1], st.High[1], st.Low[2], st.High[2]
	}
	return r
}

// shape is a schedule's numbers.
type shape struct {
	vector, rows, warps, streamTiles, timeTile, prefetch, minBlocks int
	// sms is the number of SMs that are filled, each with streamTiles blocks; 0 = there are
	// streamTiles stream tiles, whatever the SMs.
	sms int
	// async says that planes are prefetched by asynchronous copies into shared memory, not by
	// loads into registers.
	async bool
}

func shapeOf(get func(string) int) shape {
	return shape{
		vector: get("vx"), rows: get("vy"), warps: get("wp"), streamTiles: get("ck"), timeTile: get("ph"),
		prefetch: get("pf"), minBlocks: get("mb"), sms: get("sm"), async: get("pm") == 1,
	}
}

// scheduleShape is a schedule's on a problem. Rows that are not whole vectors are loaded
// cell by cell, and so into registers if a cell is too small to be copied.
func scheduleShape(p stencil.Problem, s space.Schedule) shape {
	h := shapeOf(func(name string) int { return s.Int(name, 0) }) // those that may be left out are 0 then
	if h.async && h.copyBytes(p) < 4 {
		h.async, h.prefetch = false, min(h.prefetch, 2)
	}
	return h
}

// part is the cells that are moved between memory and a thread at once: a vector, or as
// many of its cells as rows are whole of.
func (h shape) part(p stencil.Problem) int {
	if p.Stencil.Boundary == stencil.Wrap {
		return h.vector
	}
	return kernels.WholePart(h.vector, p.Size[0])
}

// copyBytes is the bytes of one copy into shared memory, or of several if it is more than 16.
func (h shape) copyBytes(p stencil.Problem) int { return h.part(p) * p.DType.Size() }

const warp = 32 // lanes

// tile is the cells a block holds and the cells by which tiles are apart, on x and
// on rows.
func (h shape) tile(r radius, st stages) (hold, step [2]int) {
	hold = [2]int{warp * h.vector, h.warps * h.rows}
	step[0] = hold[0]
	if !h.laneHalo(r, st) {
		step[0] -= kernels.RoundUp(h.timeTile*r.lowX, h.vector) + kernels.RoundUp(h.timeTile*r.highX, h.vector)
	}
	step[1] = hold[1] - h.timeTile*(r.lowR+r.highR)
	return hold, step
}

// haloX is the cells on x that a tile holds before those it writes.
func (h shape) haloX(r radius, st stages) int {
	if h.laneHalo(r, st) {
		return 0
	}
	return kernels.RoundUp(h.timeTile*r.lowX, h.vector)
}

// laneHalo tells whether a row's halo on x is loaded by its first and last lane, not as part
// of the tile.
func (h shape) laneHalo(r radius, st stages) bool {
	return st.dims < 3 && h.timeTile == 1 && !h.async && st.linear && max(r.lowX, r.highX) <= h.vector && !st.wrap && !st.edge
}

// edgeRows is the rows of a warp that others read.
func (h shape) edgeRows(r radius, st stages) int {
	if st.mirror && !st.linear && r.lowR+r.highR > 0 {
		return h.rows
	}
	return kernels.EdgeRows(r.lowR, r.highR, h.rows)
}

// coalescedStores tells whether the parts of a row are written through shared memory, as
// plane.cu has it.
func (h shape) coalescedStores(p stencil.Problem) bool {
	return h.async && h.part(p) < h.vector && p.Stencil.Dims < 3 && h.vector*p.DType.Size() == 32 && h.copyBytes(p) < 16
}

// sharedBytes is the edge rows, the planes on their way, and what is stored through shared memory.
func (h shape) sharedBytes(p stencil.Problem, st stages) int {
	more := 0
	if h.async {
		more += h.prefetch * st.used() * h.rows * h.warps * warp * h.vector * p.DType.Size()
	}
	if h.coalescedStores(p) {
		more += kernels.Outputs(p.Stencil, h.timeTile) * h.warps * warp * h.vector * p.DType.Size()
	}
	rows := h.warps * h.edgeRows(radiusOf(p.Stencil), st)
	if st.constantRow(p.Stencil) {
		rows++
	}
	return more + st.ring*h.timeTile*st.edgeArrays()*rows*warp*h.vector*kernels.ComputedSize(p.DType)
}

// inRegisters is the prefetched planes that registers hold.
func (h shape) inRegisters() int {
	if h.async {
		return 0
	}
	return h.prefetch
}

// registers is what a thread needs, estimated: what every stage keeps, the plane
// at hand with its halo, those on their way, and addresses.
func (h shape) registers(p stencil.Problem, st stages) int {
	r := radiusOf(p.Stencil)
	cells := h.vector * h.rows
	halo := h.rows * (r.lowX + r.highX)
	if !st.linear { // all planes are at hand at once
		halo += cells + (r.lowR+r.highR)*h.vector
	}
	return 32 + max(1, p.DType.Size()/4)*(cells*(h.timeTile*st.perStage(r)+st.used()*(1+h.inRegisters()))+halo)
}

// docs say what each parameter is: in the space, and after the constant that it becomes.
var docs = map[string]string{
	"vx": "cells of a vector, one a lane; wider saves shuffles and halo, costs registers",
	"vy": "rows of a plane a thread holds (3D); more save edge rows, cost registers",
	"wp": "warps of a block: in 3D one above the other in a plane, in 2D strips side by side",
	"ck": "stream tiles: pieces into which the streaming axis is cut; more fill the GPU, each recomputes its halo",
	"pf": "prefetch depth in planes; more hide more of memory's latency, cost registers or shared memory",
	"mb": "blocks an SM must be able to hold at once: the compiler's register limit",
	"ph": "time tile: time steps in flight; saves memory traffic, costs registers and the recomputation of the halo",
	"sm": "0 = the streaming axis is cut into ck stream tiles; n, the number of SMs (2D), = into as many as make no more than ck*n blocks",
	"pm": "means of prefetching: 0 = loads into registers, 1 = asynchronous copies into shared memory",
}

// Space has the parameters of the streaming.
func (Family) Space(p stencil.Problem, m machine.Machine) *space.Family {
	f := &space.Family{Name: "stream", Params: params(p, m)}
	f.Constraints = constraints(p, m, f.Params)
	f.Advice = advice(p, m)
	return f
}

// params are the parameters, with the values that are of use in so many dimensions.
func params(p stencil.Problem, m machine.Machine) []space.Param {
	timeTiles := []int{1, 2, 3, 4, 5, 6, 7, 8, 10, 12, 14, 16}
	if p.Stencil.Dims == 3 {
		timeTiles = []int{1, 2, 3, 4, 5, 6, 8}
	}
	return append(kernels.StreamingParams(p, m, timeTiles, docs),
		space.Param{Name: "pm", Values: []int{0, 1}, Optional: true, Doc: docs["pm"]})
}

// constraints are why some schedules do not exist.
func constraints(p stencil.Problem, m machine.Machine, params []space.Param) (list []space.Constraint) {
	dims, st, r := p.Stencil.Dims, stagesOf(p.Stencil), radiusOf(p.Stencil)
	var names []string // whatever needs most of them needs all
	for _, q := range params {
		names = append(names, q.Name)
	}
	onVector := []string{"vx"}
	at := func(v space.Values) shape { return shapeOf(v.Get) }
	whole := func(needs []string, name, why string, ok func(h shape) bool) {
		list = append(list, space.Constraint{Name: name, Needs: needs, Why: why, OK: func(v space.Values) bool { return ok(at(v)) }})
	}
	list = append(list, space.Constraint{
		Name: "stencil", Needs: onVector, Why: "a block streams through one stage",
		OK: func(space.Values) bool { return len(p.Stencil.Stages) == 1 },
	}, space.Constraint{
		Name: "boundary", Needs: onVector, Why: "what lies outside is settled by one rule, the same on all sides and of all fields",
		OK: func(space.Values) bool { return p.Stencil.Boundary != stencil.Mixed },
	}, space.Constraint{
		Name: "wrap", Needs: onVector, Why: fmt.Sprintf("where the grid repeats, its rows (%d) must be whole vectors", p.Size[0]),
		OK: func(v space.Values) bool { return !st.wrap || p.Size[0]%v.Get("vx") == 0 },
	}, space.Constraint{
		Name: "mirror", Needs: onVector, Why: "a lane finds what a point outside mirrors within its own vector, sums among the planes",
		OK: func(v space.Values) bool {
			return !st.mirror || v.Get("vx") >= r.highX && (!st.linear || kernels.Planes(p) > r.highS)
		},
	}, space.Constraint{
		Name: "warp", Needs: onVector, Why: fmt.Sprintf("a row is a warp of %d lanes", warp),
		OK: func(space.Values) bool { return m.WarpSize == warp },
	}, space.Constraint{
		Name: "steps", Needs: []string{"ph"}, Why: fmt.Sprintf("a launch cannot fuse more time steps than the problem has (%d)", p.Steps),
		OK: func(v space.Values) bool { return v.Get("ph") <= p.Steps },
	})
	whole([]string{"wp", "mb"}, "threads", fmt.Sprintf("a block has at most %d threads, an SM %d", m.MaxThreadsBlock, m.MaxThreadsSM), func(h shape) bool {
		return warp*h.warps <= m.MaxThreadsBlock && warp*h.warps*h.minBlocks <= m.MaxThreadsSM && h.minBlocks <= m.MaxBlocksSM
	})
	whole([]string{"vx", "vy", "wp"}, "grid-size", fmt.Sprintf("a tile must lie within the grid (%s): streaming knows no other boundary", p.Size.Text(dims)), func(h shape) bool {
		hold, _ := h.tile(r, st)
		return p.Size[0] >= hold[0] && (dims < 3 || p.Size[1] >= hold[1])
	})
	whole(names, "grid", fmt.Sprintf("a grid has at most %v blocks on x, y, z", m.MaxGridDim), func(h shape) bool {
		g := h.grid(p, st)
		return g[0] <= m.MaxGridDim[0] && g[1] <= m.MaxGridDim[1] && g[2] <= m.MaxGridDim[2]
	})
	major, _ := m.Major()
	copied := m.ComputeCapability == "" || major >= 8 // the emulation has them too
	whole([]string{"vx", "pf", "pm"}, "prefetch", "registers hold at most 2 prefetched planes; asynchronous copies, of 2 planes or 4, need compute capability 8.0 and vectors (where rows are not whole vectors, cells) of 4 bytes at least", func(h shape) bool {
		if !h.async {
			return h.prefetch <= 2
		}
		return copied && h.prefetch >= 2 && h.copyBytes(p) >= 4
	})
	whole(onVector, "vector", "a lane that loads fewer than 8 bytes (of elements narrower than 4 bytes 4) wastes instructions; more than 32 waste registers", func(h shape) bool {
		bytes := h.vector * p.DType.Size()
		return bytes <= 32 && (bytes >= 8 || p.DType.Size() < 4 && bytes >= 4 || p.Size[0] < 2*warp)
	})
	whole(names, "halo", "at least 45 % of a tile must be useful (60 % in a plane), or most of what is computed is thrown away", func(h shape) bool {
		hold, step := h.tile(r, st)
		if dims < 3 {
			return 10*step[0] >= 6*hold[0]
		}
		return step[0] > 0 && step[1] > 0 && 100*step[0]*step[1] >= 45*hold[0]*hold[1]
	})
	whole([]string{"vx", "wp", "ck", "sm", "pm"}, "fill", "SMs are filled by blocks of one warp, at most 16 on each, whose planes are copied asynchronously where that is possible", func(h shape) bool {
		return h.sms == 0 || h.warps == 1 && h.streamTiles <= 16 && (h.async || !copied || h.copyBytes(p) < 4)
	})
	whole(names, "stream-tile", "a stream tile must be longer than the halo it recomputes", func(h shape) bool {
		pieces := h.grid(p, st)[2]
		return pieces == 1 || kernels.CeilDiv(kernels.Planes(p), pieces) > 2*h.timeTile*(r.lowS+r.highS)
	})
	whole(names, "shared-memory", fmt.Sprintf("the edge rows of every stage must fit into %d bytes of shared memory, as often as blocks must fit on an SM", m.SharedBlockOptin), func(h shape) bool {
		return h.residency(m).Shared(h.sharedBytes(p, st))
	})
	whole(names, "registers", fmt.Sprintf("what the stages keep must fit into registers (%d of a block and an SM, 255 of a thread)", m.RegistersBlock), func(h shape) bool {
		return h.residency(m).Registers(h.registers(p, st), 8)
	})
	whole(names, "blocks", "asking for more blocks on an SM must make the compiler use fewer registers", func(h shape) bool {
		return h.residency(m).Limits(h.registers(p, st))
	})
	return list
}

// residency is the blocks that an SM must be able to hold.
func (h shape) residency(m machine.Machine) kernels.Residency {
	return kernels.Residency{Machine: m, Warps: h.warps, Blocks: h.minBlocks}
}

// launchOnly are the parameters that change the grid alone: in how many stream tiles
// there are.
var launchOnly = []string{"ck", "sm"}

// sourceOf is the schedule that stands for all that differ in those alone.
func sourceOf(s space.Schedule) space.Schedule { return s.With("ck", 1).Without("sm") }

// Kernel writes the kernel. The number of stream tiles is the grid's, not the
// source's.
func (Family) Kernel(p stencil.Problem, s space.Schedule) kernels.Kernel {
	h := scheduleShape(p, s)
	r := radiusOf(p.Stencil)
	st := stagesOf(p.Stencil)
	constants := []kernels.Constant{
		{Name: "DIMS", Value: p.Stencil.Dims, Doc: "dimensions of the grid"},
		{Name: "VECTOR", Value: h.vector, Doc: docs["vx"]},
		{Name: "ROWS", Value: h.rows, Doc: docs["vy"]},
		{Name: "WARPS", Value: h.warps, Doc: docs["wp"]},
		{Name: "SUMS", Value: flag(st.linear), Doc: "1 = the cell function is a weighted sum, and stages keep partial sums; 0 = they keep planes"},
		{Name: "PYRAMID", Value: h.timeTile, Doc: docs["ph"]},
		{Name: "PREFETCH", Value: h.prefetch, Doc: docs["pf"]},
		{Name: "MIN_BLOCKS", Value: h.minBlocks, Doc: docs["mb"]},
		{Name: "LOW_R", Value: r.lowR, Doc: "radius towards smaller rows of a plane"},
		{Name: "HIGH_R", Value: r.highR, Doc: "and towards larger ones"},
		{Name: "LOW_S", Value: r.lowS, Doc: "radius towards smaller planes of the streaming axis"},
		{Name: "HIGH_S", Value: r.highS, Doc: "and towards larger ones"},
		{Name: "PART", Value: h.part(p), Doc: "cells moved at once between memory and a thread: a vector, or the part of one that divides the rows"},
		{Name: "LATE", Value: flag(st.late), Doc: "1 = a plane is complete only with the rows of other warps, a barrier later, and stages lag one plane more"},
		{Name: "DIAGONAL", Value: flag(st.diagonal), Doc: "1 = the rows of other warps are read in neighbour columns too"},
		{Name: "RING", Value: st.ring, Doc: "planes whose edge rows shared memory keeps"},
		{Name: "UNROLL", Value: unroll(r, h, st), Doc: "plane steps that the loop holds"},
		{Name: "COPIES", Value: flag(h.async), Doc: docs["pm"]},
	}
	pieces := []kernels.Piece{{Text: st.slotsText() + st.edgesText(p, h.timeTile)}, kernels.WindowsPiece(), {File: folder + "plane.cu", Text: planeSource}}
	pieces = append(pieces, st.source(p, h.timeTile)...)
	if h.async {
		pieces = append(pieces, kernels.CopiesPiece())
	}
	pieces = append(pieces, h.prefetchSource(), kernels.Piece{File: folder + "streaming.cu", Text: streamingSource})
	k := kernels.Source(p, sourceOf(s), launchOnly, constants, pieces...)
	hold, _ := h.tile(r, st)
	k.Schedule, k.Launch, k.Least, k.Multiple = s, h.launch(p, st), [3]int{hold[0], 1, 1}, h.part(p)
	if p.Stencil.Dims == 3 {
		k.Least[1] = hold[1]
	}
	if st.mirror && st.linear && p.Stencil.Dims > 1 {
		k.Least[p.Stencil.Dims-1] = r.highS + 1
	}
	return k
}

// prefetchSource is the text of the prefetch.
func (h shape) prefetchSource() kernels.Piece {
	if h.async {
		return kernels.Piece{File: folder + "prefetch_async.cu", Text: asyncSource}
	}
	return kernels.Piece{File: folder + "prefetch_registers.cu", Text: registersSource}
}

func flag(b bool) int {
	if b {
		return 1
	}
	return 0
}

// unroll is the plane steps that the loop holds: those after which every register is back in its
// place (what the stages keep moves on by one each step, so do the prefetched planes, and
// shared memory has two buffers in turn); but a part of them where that would be more than three. What
// is added to moves on without an instruction, and the loop must stay within the instruction
// cache (docs/lab/0018-instruction-caches.md).
func unroll(r radius, h shape, st stages) int {
	period := max(1, r.lowS+r.highS)
	if !st.linear {
		period = r.lowS + r.highS + 1
	}
	u := 1
	for u%period != 0 || h.inRegisters() > 0 && u%h.inRegisters() != 0 || st.linear && r.lowR+r.highR > 0 && u%2 != 0 {
		u++
	}
	for _, part := range []int{4, 3, 2} { // 2 and 3 have none, nor has a larger prime
		if part < u && u%part == 0 {
			return part
		}
	}
	return u
}

// grid is the blocks: tiles on x and rows, stream tiles on the streaming axis, as many as were asked for, or
// as fill the SMs: one wave of blocks, or a few, with no SM left over for a last one (docs/lab/0022-chunks-that-fill.md).
func (h shape) grid(p stencil.Problem, st stages) [3]int {
	if _, step := h.tile(radiusOf(p.Stencil), st); step[0] < 1 || step[1] < 1 { // all halo: another constraint says so
		return [3]int{1, 1, 1}
	}
	return h.tiling(p, st).Blocks(p.Size)
}

// totalLag is the planes that the last stage's are behind those that arrive.
func (h shape) totalLag(r radius, st stages) int { return r.highS + (h.timeTile-1)*st.lag(r) }

func (h shape) launch(p stencil.Problem, st stages) kernels.Launch {
	return kernels.Launch{Grid: h.grid(p, st), Block: [3]int{warp, h.warps, 1}, Steps: h.timeTile, SharedBytes: h.sharedBytes(p, st)}
}
