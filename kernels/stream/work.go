package stream

import (
	"math"
	"slices"

	"stenciltune/kernels"
	"stenciltune/space"
	"stenciltune/stencil"
)

// estimate is the registers that NVRTC gives a thread, as numbers of 32-bit words. They are fitted
// to what it gave, for each kind of stage and number of dimensions apart: for weighted sums in the recordings of ten stencils on an
// H200 (off by 4 % in the median), for other functions in docs/lab/registers.txt (11 % for programs held out). No command makes them anew.
type estimate struct {
	base      float64 // addresses and whatever else a thread has once
	kept      float64 // of each cell and plane that a stage keeps
	shared    float64 // more of each cell of a stage where neighbours share sums of three
	pairs     float64 // and where they share pairs
	prefetch  float64 // of each cell on its way
	arrived   float64 // of each cell of the plane at hand
	neighbour float64 // of each neighbour lane's cell, in each stage and row
	stage     float64 // of each cell of a stage, beside the planes that it keeps: what can be computed before the newest plane has arrived
	function  float64 // of each operation of the cell function, up to mostOperations
	// What is taken may be divided by slack before a thread spills, and by that much less for each
	// doubling of a vector: its words must lie in aligned registers.
	slack, slackLost float64
	spilled          float64 // values for each register that is missing then; 0 = the model's 1.2
}

// mostOperations of a cell function have intermediate values in registers at once.
const mostOperations = 150

// estimateOf is the numbers of a kind of stages.
func estimateOf(st stages) estimate {
	switch {
	case st.dims < 2: // a stage keeps no plane
		return estimate{base: 26, prefetch: 1, arrived: 2, slack: 1.35, slackLost: 0.11}
	case st.linear && st.dims < 3:
		return estimate{base: 20, kept: 0.95, shared: 0.39, pairs: 0.25, prefetch: 1.21, arrived: 2.5, neighbour: 1.18, slack: 1.35, slackLost: 0.11}
	case st.linear:
		e := estimate{base: 39, kept: 1.12, shared: 0.23, prefetch: 1.26, arrived: 0.87, neighbour: 0.56, slack: 1.22, slackLost: 0.07, spilled: 1.6}
		if st.diagonal { // more is computed from what is kept
			e.slack = 1.26
		}
		return e
	case st.dims < 3:
		return estimate{base: 36, kept: 1.4, stage: 1, prefetch: 1.29, arrived: 1.05, function: 0.21, slack: 1, spilled: 1}
	}
	return estimate{base: 35, kept: 1.2, stage: 0.5, prefetch: 1.64, arrived: 2.4, function: 0.09, slack: 1, spilled: 1}
}

// besideEdges is the instructions for each 32-bit word of a cell where a plane's sides have different rules, and every cell asks.
const besideEdges = 6

// apronOperations is the instructions of a plane step for an apron: jacobi3d's, by NVRTC 11.8.
const apronOperations = 20

// taken is the registers that the compiler takes if it may, and the least with which it does not
// spill, both estimated.
func (g plan) taken() (registers, least int) {
	e := estimateOf(g.stages)
	cells, used, timeTile, words := float64(g.words()*g.rows), float64(g.used()), float64(g.timeTile), float64(max(4, g.problem.DType.Size()))/4
	stage := e.stage + e.kept*float64(g.perStage()-g.ahead()) // for each cell
	switch {
	case g.weights.ring != 0:
		stage += e.pairs
	case g.triples:
		stage += e.shared
	}
	keeping := timeTile // stages that keep planes
	if g.again() > 0 {  // of the first one's registers have one less
		keeping -= 1 / float64(g.perStage())
	}
	n := cells*(keeping*stage+used*(e.prefetch*float64(g.inRegisters())+e.arrived)) + e.neighbour*timeTile*float64(g.rows*(g.lowX+g.highX))
	if g.linear && g.dims < 3 { // sums of neighbours that several planes take are kept meanwhile
		n += cells * g.bestWeights().spared[g.rows] / 2
	}
	n = e.base + n*words
	if !g.linear {
		n += e.function * words * min(float64(g.problem.Stencil.Ops.Total()), mostOperations)
	}
	doublings := math.Log2(float64(g.vector) * words)
	if g.linear && g.dims == 3 {
		doublings = math.Log2(float64(g.vector))
	}
	least = int(n / (e.slack - e.slackLost*doublings))
	if g.async {
		n += 5
	}
	if k := g.vector / g.part(); k > 1 && g.dims < 3 { // parts that are moved one by one
		n += float64(k)
	}
	return int(n), max(least, 1)
}

// ahead is how many arrays a stage reads as they arrive, and not later: the compiler keeps one plane less of them than perStage counts.
func (s stages) ahead() (n int) {
	if s.linear {
		return 0
	}
	for _, points := range s.arrays {
		if len(points) > 0 && !slices.ContainsFunc(points, func(o stencil.Offset) bool { _, _, dz := kernels.StreamingAxes(s.dims, o); return dz < s.highS }) {
			n++
		}
	}
	return n
}

// long is the registers of a thread from which on its plane steps are long. Compilers then put off
// the loads of the second prefetched plane.
const long = 140

// inFlight is the planes on their way at a time. Into registers they are fewer than the prefetch
// depth, as recorded schedules tell: who waits for one load waits for later ones too, and in 3D for
// the other warps; there, where a thread would take more registers than it may have, the compiler
// also loads later.
func (g plan) inFlight(taken int) float64 {
	if g.async {
		return float64(g.prefetch)
	}
	n := float64(g.prefetch - 1)
	if g.dims < 3 {
		return 1.25 * (1 + 0.3*n)
	}
	room := float64(kernels.Room(warp * g.warps * g.minBlocks))
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
func (g plan) moves(parts float64) (moves, loads, stores float64) {
	part := g.part()
	moves, loads, stores = parts, 1, 0
	if part < g.vector && g.copyBytes() < 16 {
		moves = float64(g.vector / part)
		if !g.coalescedStores() {
			stores = moves - 1
		}
		if g.async && g.dims == 3 {
			loads = moves
		}
	}
	if !g.async && moves > 1 {
		loads = 1.5 * moves
	}
	if g.dims == 3 {
		stores *= 3
	}
	return moves, loads, stores
}

// waits are the times that a thread waits for shuffles, shared memory and what it loaded itself.
func (g plan) waits(taken int, planeSteps float64) float64 {
	// In each stage the cells of neighbour lanes come through shuffles, one after the other. Where the
	// newest plane's are read a stage waits for that of the one before, the more the fewer cells a thread has.
	neighbours := math.Max(1, float64(g.lowX+g.highX)/2)
	if g.dims < 3 && g.newestNeighbours {
		neighbours *= 4 / float64(g.vector)
	}
	waits := planeSteps * float64(g.timeTile) * neighbours
	// Several cells that are loaded into registers at once are moved from there, and waited for then. So are, in long
	// plane steps, those of the second prefetched plane: compilers put them off.
	if g.dims == 3 && !g.async && (g.part() > 1 || g.prefetch > 1 && taken > long) {
		waits += 30 * planeSteps
	}
	return waits
}

// Work counts one launch: every tile is loaded once, with its halo; each stage
// updates the whole tile in every plane step.
func (Family) Work(p stencil.Problem, s space.Schedule) kernels.Work {
	g := planOf(p, s)
	l := g.launch()
	st := p.Stencil
	elem := float64(p.DType.Size())
	hold, step := g.tile()
	n := kernels.Planes(p)
	tiles, blocks, streamed, begins := g.spread()
	planeSteps := min(begins*float64(n), streamed+begins*float64(g.timeTile*g.lowS)) + begins*float64(g.totalLag())
	loaded := min(begins*float64(n), streamed+begins*float64(g.timeTile*(g.lowS+g.highS)))
	cells := float64(hold[0] * hold[1])
	updates := cells * planeSteps * float64(g.timeTile)
	timeTile, words := float64(g.timeTile), float64(kernels.ComputedSize(p.DType))/4
	arrays, outputs := float64(g.used()), float64(kernels.Outputs(st, g.timeTile))
	read := float64(g.copiedBytes()) // bytes of a cell
	taken, least := g.taken()
	spilled := estimateOf(g.stages).spilled
	if g.splits { // what is written early is kept
		spilled *= 1.4
	}
	inFlight := g.inFlight(taken)
	others := 0 // rows of other warps
	if g.edgeRows() > 0 {
		others = g.lowR + g.highR
	}
	shuffles := float64(g.rows * (g.lowX + g.highX)) // of a stage in a plane step
	if !g.linear {                                   // for every plane that is read in neighbour columns
		shuffles = float64(g.rows * g.neighbourCells())
	}
	if g.diagonal {
		shuffles += float64(others * (g.lowX + g.highX))
	}
	edge := float64(g.edgeArrays() * (g.edgeRows() + others)) // rows of a stage through shared memory in a plane step
	apron := 0.0                                              // rows beside a tile, of its own
	if g.copiesApron {
		edge -= float64(g.edgeRows()) / timeTile
		apron = float64(others) / float64(hold[1])
	}
	parts := math.Ceil(float64(g.vector) * elem / 16) // instructions that move a vector
	moves, loads, stores := g.moves(parts)
	coalescedStores := g.coalescedStores()
	accesses := moves*(arrays+outputs)*float64(g.rows) + timeTile*(parts*edge+shuffles*words)
	pipe := edge*float64(g.vector*g.computedSize()) + shuffles*4*words
	if g.async { // read again from shared memory
		again := float64(g.again())
		accesses += parts * arrays * float64(g.rows) * (1 + again)
		pipe += (1 + loads + again) * read * float64(g.rows*g.vector) / timeTile // written there, and read
	}
	if coalescedStores {
		accesses += (parts + moves) * outputs
		pipe += 2 * outputs * float64(g.vector) * elem / timeTile
	}
	permutes := 0.0 // of a stage in a plane step: a word of two lanes, or of the edge
	flops, beside := kernels.Operations(p, [3]int{g.vector, g.rows, 1}, 1)
	if g.linear { // a division has become part of the weights
		w := g.bestWeights()
		flops, beside = w.cost-w.spared[g.rows], 0
		if w.ring != 0 { // a pair at the end of a vector is added up by two lanes
			flops += 1 / float64(g.vector)
		}
		if g.packed { // an instruction adds or multiplies in two cells
			flops /= 2
			permutes = 2 * shuffles
		}
	}
	chosen := shuffles * words // what comes from a neighbour lane is chosen, or what lies outside: where tiles at the grid's edge have no loop of their own
	if g.linear && g.dims == 3 && !g.level() {
		chosen = 0
	}
	asked := 0.0
	if in := g.rules; !g.linear && (in[0][0] != in[0][1] || g.dims == 3 && in[1][0] != in[1][1]) {
		asked = besideEdges * words
	}
	if kernels.Rounds(p.DType) { // what is loaded is taken to float; stages of sums hand on what is not rounded, others round and take back
		if g.linear {
			beside += (arrays + outputs/2) / timeTile
		} else {
			beside += arrays/timeTile + 2*outputs
		}
	}
	threads := float64(l.Threads())
	var write [3]int // on average: the first and the last tile write more
	for a, g := range tiles {
		write[a] = kernels.CeilDiv(p.Size[a], g)
	}
	write[2] = min(p.Size[2], int(math.Ceil(streamed/begins)))
	tile := [3]int{hold[0], hold[1], int(math.Ceil(loaded / begins))}
	barriers := 0
	if others > 0 {
		barriers = int(planeSteps)
	}
	window := write
	waits := g.waits(taken, planeSteps)
	if st.Dims < 3 {
		write[1] = int(streamed)
		write[2] = 1
		tile = [3]int{hold[0] * g.warps, tile[2], 1}
		window = write
	}
	window[st.Dims-1] = 1 + g.prefetch
	copied := 0
	if g.async {
		copied = g.copyBytes()
	}
	return kernels.Work{
		Steps:      g.timeTile,
		Cells:      float64(p.Size.Cells()) * float64(g.timeTile),
		Updates:    blocks * updates,
		Flops:      blocks * updates * flops,
		Beside:     blocks * updates * beside,
		Integer:    blocks * threads * (kernels.SetUp(st.Dims) + planeSteps*(20+float64(apronOperations*g.apron())+4*float64(g.rows)+timeTile*(2+chosen+permutes+asked*float64(g.rows*g.vector)))),
		Accesses:   blocks * threads * planeSteps * accesses,
		L1Loads:    loads*read*blocks*cells*(1+apron)*loaded + stores*outputs*float64(p.Size.Cells())*elem,
		L2Read:     read * blocks * cells * (1 + apron) * loaded,
		L2Write:    float64(p.Size.Cells()) * outputs * elem * p.WriteShare(g.timeTile),
		Torn:       kernels.Torn(p, g.vector, g.haloX(), hold, step),
		Shared:     blocks * threads * planeSteps * timeTile * pipe,
		Barriers:   barriers,
		Split:      g.splits && !g.early(), // which gains 1 to 5 %
		Loads:      arrays * float64(g.rows*g.vector) * inFlight,
		LoadWaits:  loaded / inFlight,
		Prefetched: true,
		Copied:     copied,
		Abreast:    g.rows * g.vector,
		Waits:      waits,
		Registers:  taken,
		Least:      least,
		Spilled:    spilled,
		MinBlocks:  g.minBlocks,
		SpillTrips: planeSteps,
		Unroll:     g.unroll(),
		Write:      write,
		Read:       tile,
		Window:     window,
		Launch:     l,
		Workers:    int(blocks),
		Uneven:     g.uneven(),
	}
}
