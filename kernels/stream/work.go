package stream

import (
	"math"

	"stenciltune/kernels"
	"stenciltune/space"
	"stenciltune/stencil"
)

// estimate is the registers that NVRTC gives a thread, as numbers of 32-bit words. They are fitted
// to the registers and spills in the recordings of ten stencils on an H200, for each kind of stage
// and number of dimensions apart; they are off by 4 % in the median. No command makes them anew.
type estimate struct {
	base      float64 // addresses and whatever else a thread has once
	kept      float64 // of each cell and plane that a stage keeps
	shared    float64 // more of each cell of a stage where neighbours share sums of three
	pairs     float64 // and where they share pairs
	prefetch  float64 // of each cell on its way
	arrived   float64 // of each cell of the plane at hand
	neighbour float64 // of each neighbour lane's cell, in each stage and row
	// What is taken may be divided by slack before a thread spills, and by that much less for each
	// doubling of a vector: its words must lie in aligned registers.
	slack, slackLost float64
}

// estimateOf is the numbers of a kind of stages.
func estimateOf(st stages) estimate {
	switch {
	case st.linear && st.dims < 3:
		return estimate{base: 20, kept: 0.95, shared: 0.39, pairs: 0.25, prefetch: 1.21, arrived: 2.5, neighbour: 1.18, slack: 1.35, slackLost: 0.11}
	case st.linear:
		return estimate{base: 39, kept: 1.12, shared: 0.23, prefetch: 1.26, arrived: 0.87, neighbour: 0.56, slack: 1.39, slackLost: 0.13}
	case st.dims < 3:
		return estimate{base: 25, kept: 1.15, prefetch: 0.8, arrived: 3.2, neighbour: 1.07, slack: 1.36, slackLost: 0.08}
	}
	return estimate{base: 49, kept: 1.12, prefetch: 0.85, arrived: 1.06, neighbour: 0.78, slack: 1.27, slackLost: 0.1}
}

// taken is the registers that the compiler takes if it may, and the least with which it does not
// spill, both estimated.
func (h shape) taken(p stencil.Problem, st stages) (registers, least int) {
	e := estimateOf(st)
	r := radiusOf(p.Stencil)
	cells, used, timeTile, words := float64(h.vector*h.rows), float64(st.used()), float64(h.timeTile), float64(max(4, p.DType.Size()))/4
	stage := e.kept * float64(st.perStage(r)) // for each cell
	switch {
	case st.weights.ring != 0:
		stage += e.pairs
	case st.triples:
		stage += e.shared
	}
	n := cells*(timeTile*stage+used*(e.prefetch*float64(h.inRegisters())+e.arrived)) + e.neighbour*timeTile*float64(h.rows*(r.lowX+r.highX))
	n = e.base + n*words
	least = int(n / (e.slack - e.slackLost*math.Log2(float64(h.vector)*words)))
	if h.async {
		n += 5
	}
	if k := h.vector / h.part(p); k > 1 && st.dims < 3 { // parts that are moved one by one
		n += float64(k)
	}
	return int(n), max(least, 1)
}

// long is the registers of a thread from which on its plane steps are long. Compilers then put off
// the loads of the second prefetched plane.
const long = 140

// inFlight is the planes on their way at a time. Into registers they are fewer than the prefetch
// depth, as recorded schedules tell: who waits for one load waits for later ones too, and in 3D for
// the other warps; there, where a thread would take more registers than it may have, the compiler
// also loads later.
func (h shape) inFlight(dims, taken int) float64 {
	if h.async {
		return float64(h.prefetch)
	}
	n := float64(h.prefetch - 1)
	if dims < 3 {
		return 1.25 * (1 + 0.3*n)
	}
	const registers = 65536 // of an SM, of every GPU since compute capability 5.0
	room := float64(min(255, registers/(warp*h.warps*h.minBlocks)))
	gain := 0.15 // of each further plane
	if taken <= long {
		gain = 0.5
	}
	return 0.72 * (1 + gain*n) * math.Pow(min(1, room/float64(taken)), 3)
}

// moves are the instructions by which a vector moves between memory and a thread, and how many
// times its loads and, beyond once, its stores take L1's pipe. parts are the instructions of a whole vector.
//
// Between memory and a thread vectors move in parts where rows are not whole vectors. A warp's
// parts are coalesced, or else lie a vector apart, and it touches every line as often. Loads into
// registers take longer than that, stores in 3D too: by as much as recorded schedules say.
func (h shape) moves(p stencil.Problem, parts float64) (moves, loads, stores float64) {
	part := h.part(p)
	moves, loads, stores = parts, 1, 0
	if part < h.vector && h.copyBytes(p) < 16 {
		moves = float64(h.vector / part)
		if !h.coalescedStores(p) {
			stores = moves - 1
		}
		if h.async && p.Stencil.Dims == 3 {
			loads = moves
		}
	}
	if !h.async && moves > 1 {
		loads = 1.5 * moves
	}
	if p.Stencil.Dims == 3 {
		stores *= 3
	}
	return moves, loads, stores
}

// waits are the times that a thread waits for shuffles, shared memory and what it loaded itself.
func (h shape) waits(p stencil.Problem, st stages, taken int, planeSteps float64) float64 {
	r := radiusOf(p.Stencil)
	// In each stage the cells of neighbour lanes come through shuffles, one after the other. Where the
	// newest plane's are read a stage waits for that of the one before, the more the fewer cells a thread has.
	neighbours := math.Max(1, float64(r.lowX+r.highX)/2)
	if p.Stencil.Dims < 3 && st.newestNeighbours {
		neighbours *= 4 / float64(h.vector)
	}
	waits := planeSteps * float64(h.timeTile) * neighbours
	// Several cells that are loaded into registers at once are moved from there, and waited for then. So are, in long
	// plane steps, those of the second prefetched plane: compilers put them off.
	if p.Stencil.Dims == 3 && !h.async && (h.part(p) > 1 || h.prefetch > 1 && taken > long) {
		waits += 30 * planeSteps
	}
	return waits
}

// Work counts one launch: every tile is loaded once, with its halo; each stage
// updates the whole tile in every plane step.
func (Family) Work(p stencil.Problem, s space.Schedule) kernels.Work {
	h := scheduleShape(p, s)
	stages := stagesOf(p.Stencil)
	r := radiusOf(p.Stencil)
	l := h.launch(p, stages)
	st := p.Stencil
	elem := float64(p.DType.Size())
	hold, step := h.tile(r, stages)
	n := kernels.Planes(p)
	streamTile := kernels.CeilDiv(n, l.Grid[2])
	planeSteps := float64(min(n, streamTile+h.timeTile*r.lowS) + h.totalLag(r, stages))
	loaded := float64(min(n, streamTile+h.timeTile*(r.lowS+r.highS)))
	blocks := float64(l.Blocks())
	cells := float64(hold[0] * h.rows * h.warps)
	updates := cells * planeSteps * float64(h.timeTile)
	timeTile, words := float64(h.timeTile), float64(kernels.ComputedSize(p.DType))/4
	arrays, outputs := float64(stages.used()), float64(kernels.Outputs(st, h.timeTile))
	taken, least := h.taken(p, stages)
	inFlight := h.inFlight(st.Dims, taken)
	others := 0 // rows of other warps
	if h.edgeRows(r, stages) > 0 {
		others = r.lowR + r.highR
	}
	shuffles := float64(h.rows * (r.lowX + r.highX)) // of a stage in a plane step
	if !stages.linear {                              // for every plane that is read in neighbour columns
		shuffles = float64(h.rows * stages.neighbourCells(r))
	}
	if stages.diagonal {
		shuffles += float64(others * (r.lowX + r.highX))
	}
	edge := float64(stages.edgeArrays() * (h.edgeRows(r, stages) + others)) // rows of a stage through shared memory in a plane step
	parts := math.Ceil(float64(h.vector) * elem / 16)                       // instructions that move a vector
	moves, loads, stores := h.moves(p, parts)
	coalescedStores := h.coalescedStores(p)
	accesses := moves*(arrays+outputs)*float64(h.rows) + timeTile*(parts*edge+shuffles*words)
	pipe := (edge*float64(h.vector) + shuffles) * float64(kernels.ComputedSize(p.DType))
	if h.async { // read again from shared memory
		accesses += parts * arrays * float64(h.rows)
		pipe += (1 + loads) * arrays * float64(h.rows*h.vector) * elem / timeTile // written there, and read
	}
	if coalescedStores {
		accesses += (parts + moves) * outputs
		pipe += 2 * outputs * float64(h.vector) * elem / timeTile
	}
	flops, special := float64(st.Ops.Total()), float64(st.Ops.Div+st.Ops.Special)
	if stages.linear { // a division has become part of the weights
		w := stages.weightsFor(p, h.timeTile)
		flops, special = w.cost, 0
		if w.ring != 0 { // a pair at the end of a vector is added up by two lanes
			flops += 1 / float64(h.vector)
		}
	}
	threads := float64(l.Threads())
	var write [3]int // on average: the first and the last tile write more
	for a, g := range l.Grid {
		write[a] = kernels.CeilDiv(p.Size[a], g)
	}
	read := [3]int{hold[0], hold[1], int(loaded)}
	barriers := 0
	if others > 0 {
		barriers = int(planeSteps)
	}
	window := write
	waits := h.waits(p, stages, taken, planeSteps)
	if st.Dims < 3 {
		write[1] = streamTile
		write[2] = 1
		read = [3]int{hold[0] * h.warps, read[2], 1}
		window = write
	}
	window[st.Dims-1] = 1 + h.prefetch
	return kernels.Work{
		Steps:      h.timeTile,
		Cells:      float64(p.Size.Cells()) * float64(h.timeTile),
		Updates:    blocks * updates,
		Flops:      blocks * updates * flops,
		Special:    blocks * updates * special,
		Integer:    blocks * threads * (300 + planeSteps*(20+4*float64(h.rows)+timeTile*(2+shuffles*words))),
		Accesses:   blocks * threads * planeSteps * accesses,
		L1Loads:    (loads*arrays*blocks*cells*loaded + stores*outputs*float64(p.Size.Cells())) * elem,
		L2Read:     arrays * blocks * cells * loaded * elem,
		L2Write:    float64(p.Size.Cells()) * outputs * elem,
		Torn:       kernels.Torn(p, h.vector, h.haloX(r, stages), hold, step),
		Shared:     blocks * threads * planeSteps * timeTile * pipe,
		Barriers:   barriers,
		Loads:      arrays * float64(h.rows*h.vector) * inFlight,
		LoadWaits:  loaded / inFlight,
		Prefetched: true,
		Waits:      waits,
		Registers:  taken,
		Least:      least,
		MinBlocks:  h.minBlocks,
		SpillTrips: planeSteps,
		Write:      write,
		Read:       read,
		Window:     window,
		Launch:     l,
	}
}
