// Package pipeline is the family of kernels in which the stages of several time steps follow
// each other while a block streams along the outermost axis: each value is computed once in a
// tile and handed on in registers and shared memory. Its words are those of docs/glossary.md.
package pipeline

import (
	"cmp"
	_ "embed"
	"fmt"
	"slices"

	"stenciltune/kernels"
	"stenciltune/machine"
	"stenciltune/space"
	"stenciltune/stencil"
)

// Family is the family pipeline.
type Family struct{}

const folder = "kernels/pipeline/"

// The source is plane.cu, with sources and receivers places.cu, then the jobs of the plan (text.go), then streaming.cu.
var (
	//go:embed plane.cu
	planeSource string
	//go:embed places.cu
	placesSource string
	//go:embed streaming.cu
	streamingSource string
)

// Name is "pipeline".
func (Family) Name() string { return "pipeline" }

// shape is a schedule's numbers.
type shape struct {
	vector, rows, warps, streamTiles, timeTile, prefetch, minBlocks int
	bandsOf                                                         int // bands of a warp
	// sms is the number of SMs that are filled, each with streamTiles blocks, which in 3D share the planes of all tiles; 0 = there are
	// streamTiles stream tiles, whatever the SMs.
	sms int
	// shared says that what is loaded is read from shared memory wherever it is read.
	shared bool
	// hidden says which of what neighbouring cells compute alike is a stage of its own.
	hidden stencil.Hidden
	// alone says that each stage of a time step has a launch of its own.
	alone bool
}

// plans are the schedule's for a stencil: one, or one for each stage. What is loaded to registers is on its way for one plane step, as
// with a prefetch depth of 1 all is.
func (h shape) plans(st *stencil.Stencil) []*plan {
	if h.alone {
		return plansOfStages(h.key(st))
	}
	return []*plan{planOf(h.key(st))}
}

// key is what the schedule's plans follow from, apart from whether each stage has one.
func (h shape) key(st *stencil.Stencil) planKey {
	steps := max(1, h.timeTile)
	if h.alone {
		steps = 1
	}
	return planKey{st, steps, h.shared, h.hidden, h.prefetch == 1}
}

func shapeOf(get func(string) int) shape {
	return shape{
		vector: get("vx"), rows: get("vy"), warps: get("wp"), streamTiles: get("ck"), timeTile: get("ph"),
		bandsOf: max(1, get("wr")), prefetch: get("pf"), minBlocks: get("mb"), sms: get("sm"), shared: get("sh") == 1, hidden: stencil.Hidden(get("hs")), alone: get("sa") == 1,
	}
}

func scheduleShape(s space.Schedule) shape {
	return shapeOf(func(name string) int { return s.Int(name, 0) })
}

const warp = 32 // lanes

// part is the cells that are moved between memory and a thread at once: a vector, or as
// many of its cells as rows are whole of.
func (h shape) part(p stencil.Problem) int {
	return kernels.WholePart(h.vector, p.Size[0])
}

// shares tells whether blocks share the planes of all tiles.
func (h shape) shares(st *stencil.Stencil) bool { return st.Dims == 3 && h.sms > 0 }

// turns tells whether tiles cross the end of a row, which repeats, within a vector: then its parts lie apart.
func (h shape) turns(p stencil.Problem) bool { return p.Stencil.Wraps(0) && h.part(p) < h.vector }

// wholeRows tells whether rows that begin with a whole vector, of such as are moved in parts, are copied in vectors. It takes instructions, and
// pays where planes of several rows are waited for that have just been asked for (docs/lab/0037-odd-rows.md).
func (h shape) wholeRows(p stencil.Problem) bool {
	part, size := h.part(p), p.DType.Size()
	return p.Stencil.Dims == 3 && h.prefetch == 1 && part < h.vector && !h.turns(p) && part*size >= 4 && h.vector*size <= 16
}

// lanes is those of a band, and bands the bands of a block.
func (h shape) lanes() int { return warp / h.bandsOf }

func (h shape) bands() int { return h.warps * h.bandsOf }

// tile is the cells a block holds and the cells by which tiles are apart, on x and
// on rows.
func (h shape) tile(l *plan) (hold, step [2]int) {
	hold = [2]int{h.lanes() * h.vector, h.bands() * h.rows}
	low, high := h.halo(l)
	step[0] = hold[0] - low - high
	step[1] = hold[1] - l.lowHalo[1] - l.highHalo[1]
	return hold, step
}

// halo is the columns that a tile holds beyond those it writes: whole vectors.
func (h shape) halo(l *plan) (low, high int) {
	return kernels.RoundUp(l.lowHalo[0], h.vector), kernels.RoundUp(l.highHalo[0], h.vector)
}

// sides is the columns of what is loaded that lie beyond a tile's, on either side; none where the tile's whole vectors
// hold what is read.
func (h shape) sides(l *plan) (low, high int) {
	tileLow, tileHigh := h.halo(l)
	if l.low[0] <= tileLow && l.high[0] <= tileHigh {
		return 0, 0
	}
	return max(l.lowSide, l.low[0]-tileLow), max(l.highSide, l.high[0]-tileHigh)
}

// sided tells whether columns beyond a thread's own are read from shared memory, of what is loaded.
func (h shape) sided(l *plan) bool {
	low, high := h.sides(l)
	return low+high > 0
}

// pitch is the cells from row to row of what is loaded: the sides are whole vectors there.
func (h shape) pitch(l *plan) int {
	low, high := h.sides(l)
	return kernels.RoundUp(low, h.vector) + h.lanes()*h.vector + kernels.RoundUp(high, h.vector)
}

// edgeRows is the rows of a warp that others read.
func (h shape) edgeRows(st *stencil.Stencil, l *plan) int {
	low, high := l.rowReach()
	if st.Mirrors(0) || st.Mirrors(1) || st.Mirrors(2) { // also a read-only array: plane.cu asks of all
		return h.rows
	}
	return kernels.EdgeRows(low, high, h.rows)
}

// sharedBytes is the rings of what is loaded, and of the edge rows of what stages leave, and a vector of each thread through which it stores.
func (h shape) sharedBytes(p stencil.Problem, l *plan) int {
	if h.coalescedStores(p) {
		return h.swapAt(p, l) + warp*h.warps*h.vector*p.DType.Size()
	}
	return h.ringsBytes(p, l) + kernels.Flag(l.arrival >= 0)*kernels.SplitBytes
}

// coalescedStores tells whether the parts of a row are stored through shared memory, as plane.cu has it.
func (h shape) coalescedStores(p stencil.Problem) bool {
	vector, part := h.vector*p.DType.Size(), min(16, h.part(p)*p.DType.Size())
	return h.part(p) < h.vector && p.Stencil.Dims < 3 && vector == 32 && part < 16
}

// swapAt is where the vectors begin through which threads store, in bytes.
func (h shape) swapAt(p stencil.Problem, l *plan) int { return kernels.RoundUp(h.ringsBytes(p, l), 32) }

// ringsBytes is those of the rings.
func (h shape) ringsBytes(p stencil.Problem, l *plan) int {
	loaded, given := 0, 0
	for _, v := range l.versions {
		switch {
		case v.job < 0:
			loaded += h.ringBytes(p, l, v)
		case v.rows:
			given += v.ring(l.dims, 0)
		}
	}
	if given == 0 {
		return loaded
	}
	return h.givenAt(p, loaded) + h.lanes()*h.vector*given*h.bands()*h.edgeRows(p.Stencil, l)*kernels.ComputedSize(p.DType)
}

// givenAt is where the edge rows begin that stages leave, in bytes, behind those of what is loaded. Their vectors are of the type that is
// computed in: of 16-bit elements twice as wide.
func (h shape) givenAt(p stencil.Problem, loaded int) int {
	return kernels.RoundUp(loaded, min(16, h.vector*kernels.ComputedSize(p.DType)))
}

// docs say what each parameter is: in the space, and after the constant that it becomes.
var docs = map[string]string{
	"vx": "cells of a vector, one a lane; wider saves shuffles and halo, costs registers",
	"vy": "rows of a plane a thread holds (3D); more save edge rows, cost registers",
	"wp": "warps of a block: in 3D one above the other in a plane, in 2D strips side by side",
	"ck": "stream tiles: pieces into which the streaming axis is cut; more fill the GPU, each recomputes its halo",
	"pf": "prefetch depth in planes; more hide more of memory's latency, cost shared memory",
	"mb": "blocks an SM must be able to hold at once: the compiler's register limit",
	"ph": "time tile: time steps in flight; saves memory traffic, costs registers and the recomputation of the halo",
	"sh": "0 = registers keep the planes that are loaded as long as they are read; 1 = they are read from shared memory each time",
	"hs": "what neighbouring cells compute alike is computed once, in hidden stages: 1 = what saves most, as fluxes through a common face; 2 = what is computed at one cell, of several arrays or by what is no weighted sum; 3 = as 1, with sums over boxes nested, of which neighbours share those along an axis",
	"sa": "1 = each stage of a time step has a launch of its own: less is kept in registers, more goes through memory",
	"sm": "0 = the streaming axis is cut into ck stream tiles; n, the number of SMs, = into as many as make no more than ck*n blocks (2D), or ck*n blocks share the planes of all tiles (3D)",
}

// Space has the parameters of the streaming.
func (Family) Space(p stencil.Problem, m machine.Machine) *space.Family {
	f := &space.Family{Name: "pipeline", Params: params(p, m)}
	f.Constraints = constraints(p, m, f.Params)
	return f
}

// params are the parameters, with the values that are of use in so many dimensions.
func params(p stencil.Problem, m machine.Machine) []space.Param {
	timeTiles, hidden := []int{1, 2, 3, 4, 5, 6, 8, 10, 12}, []int{0}
	if p.Stencil.Dims == 3 {
		timeTiles = []int{1, 2, 3, 4, 5, 6}
	}
	for _, kind := range []stencil.Hidden{stencil.Shared, stencil.Pointwise, stencil.Boxed} {
		if p.Stencil.Hoisted(kind) != nil {
			hidden = append(hidden, int(kind))
		}
	}
	alone := []int{0}
	if len(p.Stencil.Stages) > 1 {
		alone = append(alone, 1)
	}
	return append(kernels.StreamingParams(p, m, timeTiles, docs),
		space.Param{Name: "sh", Values: []int{0, 1}, Optional: true, Doc: docs["sh"]},
		space.Param{Name: "hs", Values: hidden, Optional: true, Doc: docs["hs"]},
		space.Param{Name: "sa", Values: alone, Optional: true, Doc: docs["sa"]})
}

// sums tells whether the cell function is one weighted sum of one field, which stream computes
// with fewer operations.
func sums(st *stencil.Stencil) bool {
	_, _, ok := st.Linear()
	return ok
}

// constraints are why some schedules do not exist.
func constraints(p stencil.Problem, m machine.Machine, params []space.Param) (list []space.Constraint) {
	dims, st := p.Stencil.Dims, p.Stencil
	merged := st.Merged()
	names, ofBlock := kernels.NamesOf(params)
	onVector := []string{"vx"}
	type planned struct {
		shape
		plans []*plan
	}
	plans := func(v space.Values, old any) any {
		s, made := old.(*planned)
		if !made {
			s = new(planned)
		}
		h := shapeOf(v.Get)
		if !made || h.alone != s.alone || h.key(st) != s.key(st) {
			s.plans = h.plans(st)
		}
		s.shape = h
		return s
	}
	whole := func(needs []string, name, why string, ok func(h shape, l *plan) bool) {
		list = append(list, space.Constraint{Name: name, Needs: needs, Why: why, OK: func(v space.Values) bool {
			if merged == nil {
				return false
			}
			s := v.Once(plans).(*planned)
			return !slices.ContainsFunc(s.plans, func(l *plan) bool { return !ok(s.shape, l) })
		}})
	}
	unlisted := "sources and receivers act on what a stage has just left"
	if merged != nil {
		unlisted = cmp.Or(planOf(planKey{st, 2, false, stencil.NoneHidden, false}).unlisted, unlisted)
	}
	summed := sums(st) && len(st.Sparse) == 0 // else stream has one step a launch; each schedule asks
	list = append(list, space.Constraint{
		Name: "sums", Needs: onVector, Why: "a step that is one weighted sum of one field takes fewer operations in stream",
		OK: func(space.Values) bool { return !summed },
	}, space.Constraint{
		Name: "mirror", Needs: onVector, Why: "a lane finds what a point outside mirrors within its own vector",
		OK: func(v space.Values) bool { return !st.Mirrors(0) || v.Get("vx") >= st.High[0] },
	}, space.Constraint{
		Name: "warp", Needs: onVector, Why: fmt.Sprintf("a row is a warp of %d lanes", warp),
		OK: func(space.Values) bool { return m.WarpSize == warp },
	}, kernels.StepsConstraint(p, true), kernels.BandsConstraint(p), space.Constraint{
		Name: "outputs", Needs: onVector, Why: "a time step must leave something besides temporary fields",
		OK: func(space.Values) bool { return merged != nil },
	})
	list = append(list, space.Constraint{
		Name: "stages", Needs: []string{"ph", "sa"}, Why: "stages that have launches of their own do one time step after the other",
		OK: func(v space.Values) bool { return v.Get("sa") == 0 || v.Get("ph") == 1 },
	})
	whole(ofBlock, "lists", unlisted+": steps cannot be fused", func(_ shape, l *plan) bool { return l.unlisted == "" })
	whole([]string{"wp", "mb"}, "threads", fmt.Sprintf("a block has at most %d threads, an SM %d", m.MaxThreadsBlock, m.MaxThreadsSM), func(h shape, _ *plan) bool {
		return warp*h.warps <= m.MaxThreadsBlock && warp*h.warps*h.minBlocks <= m.MaxThreadsSM && h.minBlocks <= m.MaxBlocksSM
	})
	whole([]string{"vy", "mb", "wr"}, "folded", "folded warps have two rows at least, and no limit on registers for further blocks", func(h shape, _ *plan) bool {
		return h.bandsOf == 1 || h.rows >= 2 && h.minBlocks == 1
	})
	whole(kernels.TileParams(), "grid-size", fmt.Sprintf("a tile must lie within the grid (%s): streaming knows no other boundary", p.Size.Text(dims)), func(h shape, l *plan) bool {
		hold, _ := h.tile(l)
		return p.Size[0] >= hold[0] && (dims < 3 || p.Size[1] >= hold[1])
	})
	whole(onVector, "vector", "a lane that loads fewer than 8 bytes (of elements narrower than 4 bytes 4) wastes instructions; more than 32 waste registers", func(h shape, _ *plan) bool {
		bytes := h.vector * p.DType.Size()
		return bytes <= 32 && (bytes >= 8 || p.DType.Size() < 4 && bytes >= 4 || p.Size[0] < 2*warp)
	})
	whole(names, "grid", fmt.Sprintf("a grid has at most %v blocks on x, y, z", m.MaxGridDim), func(h shape, l *plan) bool {
		g := h.grid(p, l)
		return g[0] <= m.MaxGridDim[0] && g[1] <= m.MaxGridDim[1] && g[2] <= m.MaxGridDim[2]
	})
	whole(ofBlock, "halo", "at least 40 % of a tile must be useful (60 % in a plane), or most of what is computed is thrown away", func(h shape, l *plan) bool {
		hold, step := h.tile(l)
		if dims < 3 {
			return 10*step[0] >= 6*hold[0]
		}
		return step[0] > 0 && step[1] > 0 && 100*step[0]*step[1] >= 40*hold[0]*hold[1]
	})
	whole([]string{"wp", "ck", "sm"}, "fill", "SMs are filled in 2D by blocks of one warp, at most 16 on each; in 3D by at most 4 on each", func(h shape, _ *plan) bool {
		if dims == 3 {
			return h.sms == 0 || h.streamTiles <= kernels.MostWorkers
		}
		return h.sms == 0 || h.warps == 1 && h.streamTiles <= 16
	})
	whole(names, "stream-tile", "a stream tile must be longer than the halo it recomputes", func(h shape, l *plan) bool {
		tiles, _, planes, begins := h.spread(p, l)
		return tiles[2] == 1 || planes > begins*float64(2*l.extra)
	})
	whole(ofBlock, "shared-memory", fmt.Sprintf("the planes that are loaded and the edge rows must fit into %d bytes of shared memory, as often as blocks must fit on an SM", m.SharedBlockOptin), func(h shape, l *plan) bool {
		return h.residency(m).Shared(h.sharedBytes(p, l))
	})
	whole(ofBlock, "registers", fmt.Sprintf("what the stages keep must fit into registers (%d of a block and an SM, 255 of a thread)", m.RegistersBlock), func(h shape, l *plan) bool {
		return h.residency(m).Registers(h.registers(p, l), 4)
	})
	whole(ofBlock, "blocks", "asking for more blocks on an SM must make the compiler use fewer registers", func(h shape, l *plan) bool {
		return h.residency(m).Limits(h.registers(p, l))
	})
	return list
}

// residency is the blocks that an SM must be able to hold.
func (h shape) residency(m machine.Machine) kernels.Residency {
	return kernels.Residency{Machine: m, Warps: h.warps, Blocks: h.minBlocks}
}

// Kernel writes the kernel. The number of stream tiles is the grid's, not the
// source's.
func (Family) Kernel(p stencil.Problem, s space.Schedule) kernels.Kernel {
	h := scheduleShape(s)
	ls := h.plans(p.Stencil)
	constants := []kernels.Constant{
		{Name: "DIMS", Value: p.Stencil.Dims, Doc: "dimensions of the grid"},
		{Name: "VECTOR", Value: h.vector, Doc: docs["vx"]},
		{Name: "ROWS", Value: h.rows, Doc: docs["vy"]},
		{Name: "WARPS", Value: h.warps, Doc: docs["wp"]},
		kernels.LanesConstant(h.lanes()), kernels.BandsConstant(h.bands()),
		{Name: "PYRAMID", Value: h.timeTile, Doc: docs["ph"]},
		{Name: "PREFETCH", Value: h.prefetch, Doc: docs["pf"]},
		{Name: "MIN_BLOCKS", Value: h.minBlocks, Doc: docs["mb"]},
	}
	last := ls[len(ls)-1]
	var meeting []kernels.Piece
	if slices.ContainsFunc(ls, func(l *plan) bool { return l.arrival >= 0 }) {
		meeting = append(meeting, kernels.MeetingPiece(true))
	}
	pieces := slices.Concat(
		[]kernels.Piece{{Text: fmt.Sprintf("constexpr Real OUTSIDE = Real(%s); // what lies outside the grid, where that is a constant\n", stencil.Number(p.DType, p.DType.Round(p.Stencil.Constant)))}, kernels.WindowsPiece(), kernels.CopiesPiece()}, meeting,
		kernels.StoredPieces(p),
		[]kernels.Piece{{File: folder + "plane.cu", Text: planeSource}}, outside(p.Stencil), last.places(),
		[]kernels.Piece{{Of: func(entry int) string { return ls[entry].text(p, h) }}, {File: folder + "streaming.cu", Text: streamingSource, Folds: warp * min(last.folds+1, 1)}})
	if h.shares(p.Stencil) {
		pieces = append([]kernels.Piece{kernels.SharesPiece()}, pieces...)
	}
	for i := range pieces {
		pieces[i].Turns, pieces[i].WholeRows, pieces[i].Shares = h.turns(p), h.wholeRows(p), h.shares(p.Stencil)
	}
	var parts []kernels.Part
	for _, l := range ls {
		parts = append(parts, kernels.Part{Stencil: l.st, Constants: h.constants(p, l)})
	}
	k := kernels.StagedSource(p, parts, kernels.StreamingSource(p.Stencil, s), kernels.StreamingLaunch(p.Stencil), constants, pieces...)
	hold, _ := h.tile(last)
	k.Schedule, k.Launch, k.Least, k.Multiple = s, h.launch(p, ls), [3]int{hold[0], 1, 1}, h.part(p)
	if p.Stencil.Dims == 3 {
		k.Least[1] = hold[1]
	}
	return k
}

// constants are those that follow from a plan.
func (h shape) constants(p stencil.Problem, l *plan) []kernels.Constant {
	lowR, highR := l.rowReach()
	haloLow, haloHigh := h.halo(l)
	sideLow, sideHigh := h.sides(l)
	extraLow, extraHigh := l.extraRows()
	unroll, apart := h.copies(p, l)
	list := []kernels.Constant{
		{Name: "HALO_LX", Value: haloLow, Doc: "cells that a tile holds beyond those it writes: towards smaller x"},
		{Name: "HALO_HX", Value: haloHigh, Doc: "and towards larger ones"},
		{Name: "HALO_LR", Value: l.lowHalo[1], Doc: "rows beyond, towards smaller ones"},
		{Name: "HALO_HR", Value: l.highHalo[1], Doc: "and towards larger ones"},
		{Name: "SIDE_L", Value: sideLow, Doc: "columns that shared memory holds of what is loaded beyond the tile's, towards smaller x"},
		{Name: "SIDE_H", Value: sideHigh, Doc: "and towards larger ones"},
		{Name: "EXTRA_LR", Value: extraLow, Doc: "and rows, towards smaller ones"},
		{Name: "EXTRA_HR", Value: extraHigh, Doc: "and towards larger ones"},
		{Name: "LOW_R", Value: lowR, Doc: "rows of other warps that a stage reads, towards smaller ones"},
		{Name: "HIGH_R", Value: highR, Doc: "and towards larger ones"},
		{Name: "PART", Value: h.part(p), Doc: "cells moved at once between memory and a thread: a vector, or the part of one that divides the rows"},
		{Name: "SWAP", Value: h.swapAt(p, l), Doc: "bytes of shared memory before the vectors through which parts are stored"},
		{Name: "UNROLL", Value: unroll, Doc: "plane steps that the loop holds"},
		{Name: "EDGES_APART", Value: apart, Doc: "1 = tiles at the grid's edge have plane steps of their own"},
	}
	if h.shares(p.Stencil) {
		list = append(list, kernels.RiseConstant(l.extra))
	}
	return list
}

// longText is the operations of a thread's loop from which on a compiler takes seconds, and instruction caches
// are too small for another copy of it.
const longText = 6000

// cachedText is the instructions of a loop, as they are counted, above which it holds one plane step: then what registers keep
// moves, but instruction caches hold more of it (docs/lab/0033-loops-of-one-plane-step.md).
const cachedText = 2900

// spills tells whether a loop of several plane steps lacks registers that one of a single plane step has: it computes nothing ahead of the
// plane step that needs it, but what registers keep moves. Where more warps run than would leave each thread all that it may have, they
// hide what spills cost; windows that no loop brings back to their place are spilled then, too (docs/lab/0033-loops-of-one-plane-step.md).
func (h shape) spills(p stencil.Problem, l *plan, unroll int) bool {
	const most = 255 // registers of a thread
	if kernels.Room(warp*h.warps*h.minBlocks) < most || slices.ContainsFunc(l.versions, func(v version) bool { return v.held && v.depth > rotated }) {
		return false
	}
	_, least := h.needs(p, l, unroll)
	return least > most
}

// apart tells whether tiles at the grid's edge have plane steps of their own, unless the loop is too long for two copies. In 2D they do
// only where what lies outside must be computed: else that is a choice for a few cells (docs/lab/0018-instruction-caches.md).
func (h shape) apart(st *stencil.Stencil) bool {
	if st.Dims == 3 && st.Boundary != stencil.Wrap || st.Boundary == stencil.Edge || st.Boundary == stencil.Mixed {
		return true
	}
	for i := range st.Stages { // a tile of no ends asks for none
		if asks := st.Asks(i); asks[0] > 0 || st.Dims == 3 && asks[1] > 0 {
			return true
		}
	}
	return false
}

// rotated is the deepest window of planes that a loop of as many plane steps brings back to its place.
const rotated = 4

// copies is how often the plane step stands in a kernel: the plane steps that the loop holds, and whether
// tiles at the grid's edge have their own. The loop holds as many as bring what registers keep back to its place, as far as
// that is not more than rotated.
func (h shape) copies(p stencil.Problem, l *plan) (unroll, apart int) {
	st, work := l.st, 0
	for _, j := range l.jobs {
		o := st.Stages[j.stage].Ops
		work += h.vector * h.rows * (o.Total() + 8*(o.Div+o.Special) + 4)
	}
	unroll = 1
	depths := func(fits func(depth int) bool) bool {
		return !slices.ContainsFunc(l.versions, func(v version) bool { return v.held && !fits(v.depth) })
	}
	for n := 2; n <= rotated && unroll == 1; n++ {
		if depths(func(d int) bool { return d > rotated || n%d == 0 }) {
			unroll = n
		}
	}
	if unroll == 1 {
		unroll = 3
	}
	if h.apart(st) {
		apart = 1
	}
	if work*unroll*(1+apart) > longText {
		apart = 0
	}
	for work*unroll > longText && unroll > 1 {
		unroll--
	}
	if float64(unroll)*h.turn(p, l).instructions(h) > cachedText || h.spills(p, l, unroll) {
		unroll = 1
	}
	return unroll, apart
}

// grid is the blocks: tiles on x and rows, stream tiles on the streaming axis, as many as were asked for, or
// as fill the SMs.
func (h shape) grid(p stencil.Problem, l *plan) [3]int {
	return h.tiling(p, l).Blocks(p.Size)
}

// spread is how blocks go through the tiles, as Tiling.Spread has it.
func (h shape) spread(p stencil.Problem, l *plan) (tiles [3]int, blocks, streamed, begins float64) {
	return h.tiling(p, l).Spread(p.Size, kernels.Planes(p))
}

// launch is that of every plan.
func (h shape) launch(p stencil.Problem, ls []*plan) kernels.Launch {
	last, shared := ls[len(ls)-1], 0
	for _, l := range ls {
		shared = max(shared, h.sharedBytes(p, l))
	}
	return kernels.Launch{Grid: h.grid(p, last), Block: [3]int{h.lanes(), h.bands(), 1}, Steps: h.timeTile, SharedBytes: shared, Parts: h.warps * min(last.folds+1, 1)}
}

// Tiling is that of the launch.
func (Family) Tiling(p stencil.Problem, s space.Schedule) kernels.Tiling {
	h := scheduleShape(s)
	return h.tiling(p, h.plans(p.Stencil)[0])
}

func (h shape) tiling(p stencil.Problem, l *plan) kernels.Tiling {
	hold, step := h.tile(l)
	low, _ := h.halo(l)
	return kernels.Overlapping(p, h.vector, low, hold, step, h.warps, h.streamTiles, h.sms, l.extra)
}
