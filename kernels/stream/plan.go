package stream

import (
	"stenciltune/kernels"
	"stenciltune/machine"
	"stenciltune/space"
	"stenciltune/stencil"
)

const warp = 32 // lanes

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
	// bandsOf is the bands of a warp: rows of vectors, each of as many lanes as the others, one below the other.
	bandsOf int
	// sms is the number of SMs that are filled, each with streamTiles blocks, which in 3D share the planes of all tiles; 0 = there are
	// streamTiles stream tiles, whatever the SMs.
	sms int
	// async says that planes are prefetched by asynchronous copies into shared memory, not by
	// loads into registers.
	async bool
	// splits says that warps wait for each other's rows only when they have done what they can without.
	splits bool
	// keeps says that the planes stay there until they are written: held cells are then written as they arrived.
	keeps bool
	// copiesApron says that the rows next to a tile are copied beside it, for the first time step.
	copiesApron bool
	// takesAgain says that the first stage takes the plane before the one that arrives from shared memory, and has no registers for it.
	takesAgain bool
}

// shapeOf is all of them but splits and takesAgain, which some stencils have no parameter for.
func shapeOf(get func(string) int) shape {
	return shape{
		vector: get("vx"), rows: get("vy"), warps: get("wp"), streamTiles: get("ck"), timeTile: get("ph"),
		bandsOf: max(1, get("wr")), prefetch: get("pf"), minBlocks: get("mb"), sms: get("sm"), async: get("pm") >= 1, keeps: get("pm") == 2, copiesApron: get("pm") == 3,
	}
}

// plan is how a schedule streams through a problem. The kernel's constants and text, its launch and tiling, its work
// and the constraints of the space follow from it. (plane.cu works out a tile's numbers once more; tests hold both together.)
type plan struct {
	problem stencil.Problem
	stages
	shape
	packed bool // two cells an instruction
}

// planOf is a schedule's. Rows that are not whole vectors are loaded cell by cell, and so into
// registers if a cell is too small to be copied.
func planOf(p stencil.Problem, s space.Schedule) plan {
	get := func(name string) int { return s.Int(name, 0) } // those that may be left out are 0 then
	g := plan{problem: p, stages: stagesOf(p.Stencil), shape: shapeOf(get)}
	g.splits, g.takesAgain = g.early() || get("sb") == 1, get("kp") == 1
	g.packed = g.packs(p)
	if g.async && g.leastCopy() < 4 {
		g.async, g.keeps, g.splits, g.takesAgain, g.prefetch = false, false, g.early(), false, min(g.prefetch, 2)
	}
	return g
}

// part is the cells that are moved between memory and a thread at once: a vector, or as
// many of its cells as rows are whole of.
func (g plan) part() int {
	return kernels.WholePart(g.vector, g.problem.Size[0])
}

// turns tells whether tiles cross the end of a row, which repeats, within a vector: then its parts lie apart.
func (g plan) turns() bool { return g.wraps[0] && g.part() < g.vector }

// copyBytes is the bytes of one copy into shared memory, or of several if it is more than 16.
func (g plan) copyBytes() int { return g.part() * g.problem.DType.Size() }

// leastCopy is that of the array with the narrowest type, no larger than 16.
func (g plan) leastCopy() int {
	least := 16
	for a, points := range g.arrays {
		if len(points) > 0 {
			least = min(least, kernels.MovedBytes(g.problem, g.problem.Stored(a), g.part()))
		}
	}
	return least
}

// copiedBytes is the bytes of a cell of all arrays that are read, and copiedArrays how many arrays of the element type
// take as much room.
func (g plan) copiedBytes() (n int) {
	for a, points := range g.arrays {
		if len(points) > 0 {
			n += g.problem.Stored(a).Size()
		}
	}
	return n
}

func (g plan) copiedArrays() int { return kernels.CeilDiv(g.copiedBytes(), g.problem.DType.Size()) }

// apron is 1 where the rows next to a tile that the first time step reads are copied beside it.
func (g plan) apron() int { return kernels.Flag(g.copiesApron) }

// ago is the plane steps after which sums take rows of other warps: one, where no plane is complete only with them.
func (g plan) ago() int { return kernels.Flag(g.splittable() && !g.late) }

// lanes is those of a band, and bands the bands of a block.
func (g plan) lanes() int { return warp / g.bandsOf }

func (g plan) bands() int { return g.warps * g.bandsOf }

// computed is the time steps whose halo on rows lies in the tile.
func (g plan) computed() int { return g.timeTile - g.apron() }

// tile is the cells a block holds and the cells by which tiles are apart, on x and
// on rows.
func (g plan) tile() (hold, step [2]int) {
	hold = [2]int{g.lanes() * g.vector, g.bands() * g.rows}
	step[0] = hold[0]
	if !g.laneHalo() {
		step[0] -= kernels.RoundUp(g.timeTile*g.lowX, g.vector) + kernels.RoundUp(g.timeTile*g.highX, g.vector)
	}
	step[1] = hold[1] - g.computed()*(g.lowR+g.highR)
	return hold, step
}

// haloX is the cells on x that a tile holds before those it writes.
func (g plan) haloX() int {
	if g.laneHalo() {
		return 0
	}
	return kernels.RoundUp(g.timeTile*g.lowX, g.vector)
}

// laneHalo tells whether a row's halo on x is loaded by its first and last lane, not as part
// of the tile.
func (g plan) laneHalo() bool {
	return g.dims < 3 && g.timeTile == 1 && !g.async && g.linear && !g.packed && max(g.lowX, g.highX) <= g.vector && !g.mixed && !g.wraps[0] && !g.edge
}

// edgeRows is the rows of a warp that others read.
func (g plan) edgeRows() int {
	if g.mirrors[1] && !g.linear && g.lowR+g.highR > 0 {
		return g.rows
	}
	return kernels.EdgeRows(g.lowR, g.highR, g.rows)
}

// coalescedStores tells whether the parts of a row are written through shared memory, as
// plane.cu has it.
func (g plan) coalescedStores() bool {
	return g.async && g.part() < g.vector && g.dims < 3 && g.vector*g.problem.DType.Size() == 32 && g.copyBytes() < 16
}

// sharedBytes is the edge rows, the planes on their way and those that are kept, and what is stored through shared memory.
func (g plan) sharedBytes() int {
	more := 0
	if g.async {
		rows := g.rows*g.bands() + g.apron()*(g.lowR+g.highR)
		more += (g.prefetch + g.staying()) * g.copiedArrays() * rows * g.lanes() * g.vector * g.problem.DType.Size()
	}
	if g.copiesApron { // where its rows are: a pair of numbers of each thread
		more += max(g.lowR, g.highR) * g.warps * warp * 8
	}
	if g.splits {
		more += kernels.SplitBytes
	}
	if g.coalescedStores() {
		more += kernels.Outputs(g.problem.Stencil, g.timeTile) * g.warps * warp * g.vector * g.problem.DType.Size()
	}
	rows := g.bands()*g.edgeRows() + g.constantRows()
	return more + g.edgePlanes()*g.timeTile*g.edgeArrays()*rows*g.lanes()*g.vector*g.computedSize()
}

// edgePlanes is the planes whose edge rows shared memory keeps: one more where others may still read the oldest when the next is given.
func (g plan) edgePlanes() int { return g.ring + kernels.Flag(g.early()) }

// kept is the planes that stay in shared memory until they are written.
func (g plan) kept() int {
	if !g.keeps {
		return 0
	}
	return g.totalLag() + 1
}

// staying is the planes that stay there though they have been taken.
func (g plan) staying() int {
	switch {
	case g.keeps:
		return g.kept()
	case g.copiesApron:
		return 2 + g.ago()
	}
	return 2 * g.again()
}

// again is 1 where the first stage takes a plane again: where the sum of the plane after begins as it.
func (g plan) again() int { return kernels.Flag(g.takesAgain && g.bestWeights().beginsAsCell(g.rim)) }

// writesHeld tells whether held planes are written as they arrive: where whole planes alone are held, and go through the stages as multiples.
func (g plan) writesHeld() bool {
	return g.dims == 3 && g.linear && g.held != ends{} && !g.held.inPlane() && g.bestWeights().common != 1
}

// inRegisters is the prefetched planes that registers hold.
func (g plan) inRegisters() int {
	if g.async {
		return 0
	}
	return g.prefetch
}

// registers is what a thread needs, estimated: what every stage keeps, the plane
// at hand with its halo, those on their way, and addresses.
func (g plan) registers() int {
	cells := g.words() * g.rows
	halo := g.rows * (g.lowX + g.highX)
	if !g.linear { // all planes are at hand at once
		halo += cells + (g.lowR+g.highR)*g.vector
	}
	return 32 + max(1, g.problem.DType.Size()/4)*(cells*(g.timeTile*g.perStage()+g.used()*(1+g.inRegisters()))+halo)
}

// unroll is the plane steps that the loop holds: those after which every register is back in its
// place (what the stages keep moves on by one each step, so do the prefetched planes, and
// shared memory has two buffers in turn); but a part of them where that would be more than three. What
// is added to moves on without an instruction, and the loop must stay within the instruction
// cache (docs/lab/0018-instruction-caches.md).
func (g plan) unroll() int {
	period := max(1, g.lowS+g.highS)
	if !g.linear {
		period = g.lowS + g.highS + 1
	}
	if g.long {
		return 1
	}
	u := 1
	for u%period != 0 || g.inRegisters() > 0 && u%g.inRegisters() != 0 || g.linear && g.lowR+g.highR > 0 && u%2 != 0 {
		u++
	}
	for _, part := range []int{4, 3, 2} { // 2 and 3 have none, nor has a larger prime
		if part < u && u%part == 0 {
			return part
		}
	}
	return u
}

// totalLag is the planes that the last stage's are behind those that arrive.
func (g plan) totalLag() int { return g.highS + (g.timeTile-1)*g.lag() }

// shares tells whether blocks share the planes of all tiles.
func (g plan) shares() bool { return g.dims == 3 && g.sms > 0 }

func (g plan) tiling() kernels.Tiling {
	hold, step := g.tile()
	t := kernels.Overlapping(g.problem, g.vector, g.haloX(), hold, step, g.warps, g.streamTiles, g.sms, g.timeTile*g.lowS+g.totalLag())
	t.Spare = kernels.Flag(g.apart())
	return t
}

// keepsWritten tells whether L2 is to keep what is written longer than what is read: that of sums, which write little else than they
// read. Other stages read more arrays, and lose by it.
func (g plan) keepsWritten() bool { return g.linear && kernels.OneOutput(g.problem) }

// within tells whether tiles that lie within the grid have plane steps of their own, in which the compiler finds nothing to choose. Not in 2D,
// where it would guard every shuffle (docs/lab/0013-walks-within.md).
func (g plan) within() bool {
	return g.dims == 3 && g.linear && max(g.lowX, g.highX) <= 2 && g.wraps != [3]bool{true, true, true} && !g.level()
}

// level tells whether all tiles do what those at the ends of rows and columns do, for else they would run ahead of them, and sectors that
// two of them write come apart: where warps wait late (docs/lab/0061-warps-that-wait-late.md), and where blocks share planes, and cells are held at
// those ends or rows move in parts, but not in double precision, where that takes longer than it saves (docs/lab/0060-tiles-that-run-ahead.md).
func (g plan) level() bool {
	return g.splits || g.shares() && g.linear && g.problem.DType.Size() <= 4 && (g.held.inPlane() || g.part() < g.vector)
}

// uneven tells whether plane steps of some tiles take longer than those beside them, in shares of hundreds of planes.
func (g plan) uneven() bool { return g.shares() && g.linear && g.held.inPlane() && !g.level() }

// apart tells whether tiles at the ends of rows are streamed through by code of their own, in 2D: where edges cost more than a
// choice and a block has one tile. They take longer, so that there is a further column of blocks for them (docs/lab/0059-what-l2-keeps.md).
func (g plan) apart() bool {
	return g.dims == 2 && g.linear && g.warps == 1 && (g.held != ends{} || g.edge) && !g.laneHalo() && max(g.lowX, g.highX) <= 2
}

// grid is the blocks: tiles on x and rows, stream tiles on the streaming axis, as many as were asked for, or
// as fill the SMs: one wave of blocks, or a few, with no SM left over for a last one (docs/lab/0022-chunks-that-fill.md); or blocks with shares.
func (g plan) grid() [3]int {
	return g.tiling().Blocks(g.problem.Size)
}

// spread is how blocks go through the tiles, as Tiling.Spread has it.
func (g plan) spread() (tiles [3]int, blocks, streamed, begins float64) {
	return g.tiling().Spread(g.problem.Size, kernels.Planes(g.problem))
}

func (g plan) launch() kernels.Launch {
	return kernels.Launch{Grid: g.grid(), Block: [3]int{g.lanes(), g.bands(), 1}, Steps: g.timeTile, SharedBytes: g.sharedBytes()}
}

// residency is the blocks that an SM must be able to hold.
func (g plan) residency(m machine.Machine) kernels.Residency {
	return kernels.Residency{Machine: m, Warps: g.warps, Blocks: g.minBlocks}
}
