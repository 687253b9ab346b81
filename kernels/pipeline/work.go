package pipeline

import (
	"math"
	"slices"

	"stenciltune/kernels"
	"stenciltune/space"
	"stenciltune/stencil"
)

// What a thread has in registers: taken where it may, and the least with which it does not spill. Fitted to what NVRTC gave kernels of
// some programs, judged by those of others (docs/lab/0034-registers.md).
const (
	takenBase, leastBase   = 31, 26
	takenLoad              = 3.7      // for each array: where it is loaded from
	takenStore, leastStore = 1.8, 6.2 // for each field: where it is stored
	taken3D                = 25       // where rows are
	takenOwn, leastOwn     = 0.38, 0.84
	leastBeyond            = 0.6
	takenDone, leastDone   = 0.37, 0.098
	takenAhead, leastAhead = 0.43, 0.58
	narrowDone             = 0.25 // of what an operation takes, on integers of less than a word
	spilledWords           = 0.65 // for each register that lacks, in each plane step that the loop holds
)

// needs estimates those of the job that needs most. While it runs registers keep planes of all versions (plan.alive); of
// what it reads they hold own cells that are in shared memory and cells beyond the own ones; of what it does, values on the
// way. Where the loop holds several plane steps, what can be computed before a version's newest plane is there already is.
func (h shape) needs(p stencil.Problem, l *plan, unroll int) (taken, least float64) {
	words, cells := float64(max(1, kernels.ComputedSize(p.DType)/4)), float64(h.vector*h.rows)
	ahead := 0.0
	for _, v := range l.versions {
		if v.held && v.depth > 1 && unroll > 1 {
			ahead += cells
		}
	}
	for i, j := range l.jobs {
		kept, own, beyond := 0.0, 0.0, 0.0
		for v, planes := range l.alive[i] {
			kept += float64(planes) * h.cellsOf(l, v)
		}
		for _, r := range j.reads {
			of := l.versions[r.version]
			if of.hidden {
				continue
			}
			for _, q := range r.planes {
				q = j.around(q)
				if !of.held {
					own += cells
				}
				beyond += float64(h.rows*(q.lowX+q.highX) + (q.lowR+q.highR)*(q.otherLow+q.otherHigh))
			}
		}
		done := float64(h.computed(j)) / cells * float64(l.st.Operations(j.stage, [3]int{h.vector, h.rows, 1}).Total())
		if p.DType.Size() < 4 && !p.DType.Floating() {
			done *= narrowDone
		}
		taken = max(taken, kept+takenOwn*own+takenDone*done)
		least = max(least, kept+leastOwn*own+leastBeyond*beyond+leastDone*done)
	}
	stores := float64(len(l.stores))
	taken = takenBase + takenLoad*float64(l.loads) + takenStore*stores + words*(taken+takenAhead*ahead)
	least = leastBase + leastStore*stores + words*(least+leastAhead*ahead)
	if l.dims == 3 {
		taken += taken3D
	}
	return max(taken, least), least
}

// cellsOf is the cells of a plane that a thread keeps of a version.
func (h shape) cellsOf(l *plan, version int) float64 {
	v := l.versions[version]
	if !v.hidden {
		return float64(h.vector * h.rows)
	}
	return float64(h.computed(l.jobs[v.job]))
}

// computed is the cells of a plane that a thread computes in a job: its own and, of hidden values, those beyond.
func (h shape) computed(j job) int {
	return (h.vector + j.lowX + j.highX) * (h.rows + j.lowR + j.highR)
}

// registers is a rougher estimate, by which schedules are legal (what is stored must stay so): the planes that stages keep, what the
// largest stage leaves, what it sees for one of that, with what lies around it, and addresses.
func (h shape) registers(p stencil.Problem, l *plan) int {
	cells := float64(h.vector * h.rows)
	most := 0.0
	for _, j := range l.jobs {
		for _, reads := range j.each {
			most = max(most, cells*float64(len(j.outputs))+h.seen(l, j, reads))
		}
	}
	words := float64(max(1, kernels.ComputedSize(p.DType)/4))
	numbers := 0 // that the cells are folded to
	if l.folds >= 0 {
		numbers = len(p.Stencil.StepPasses()[0].Folded)
	}
	lists := 0
	if len(l.acts) > 0 {
		lists = 8
	}
	return 40 + 2*l.loads + 2*numbers + lists + int(words*(cells*float64(l.kept())+h.wider(l)+0.6*most))
}

// seen is the cells that a thread sees at once of what is read, with what lies around them.
func (h shape) seen(l *plan, j job, reads []read) (n float64) {
	for _, r := range reads {
		if l.versions[r.version].hidden {
			continue
		}
		for _, q := range r.planes {
			q = j.around(q)
			if l.versions[r.version].job < 0 {
				n += float64(h.vector * h.rows)
			}
			n += float64((h.rows+q.lowR+q.highR)*(q.lowX+q.highX) + (q.lowR+q.highR)*h.vector)
		}
	}
	return n
}

// wider is the cells beyond the own ones that registers keep of hidden values.
func (h shape) wider(l *plan) (n float64) {
	for _, v := range l.versions {
		if v.hidden {
			n += float64(v.depth * (h.computed(l.jobs[v.job]) - h.vector*h.rows))
		}
	}
	return n
}

// readSize is the bytes by which a value of a version is read from shared memory.
func (h shape) readSize(p stencil.Problem, l *plan, v int) int {
	if of := l.versions[v]; of.job < 0 && p.Stored(l.given(of.array)) != p.DType {
		return p.Stored(l.given(of.array)).Size()
	}
	return kernels.ComputedSize(p.DType)
}

// storedBytes is the bytes of a cell that a launch stores.
func (l *plan) storedBytes(p stencil.Problem) (n int) {
	for _, s := range l.stores {
		n += p.Stored(s.field).Size()
	}
	return n
}

// resent is how often a sector is stored beyond once: rows that are not whole vectors are stored in parts, and those of a warp's lanes lie
// a vector apart.
func (h shape) resent(p stencil.Problem) float64 {
	if h.part(p) == h.vector || h.coalescedStores(p) {
		return 0
	}
	parts, bytes := float64(h.vector/h.part(p)), float64(h.vector*p.DType.Size())
	return parts*min(1, kernels.SectorBytes/bytes) - 1
}

// turn is what a thread does in a plane step.
type turn struct {
	flops, beside            float64 // for each own cell, as in kernels.Work
	converted                float64 // instructions that convert cells
	integer, accesses, pipe  float64 // and for all: instructions, and bytes of shared memory's pipe
	barriers                 int
	ringed, direct           float64 // arrays that come by shared memory, and to registers
	ringedBytes, directBytes float64 // of an element of each of those
	late                     bool    // some come to shared memory through registers
}

// moved is the instructions by which registers pass on, in a plane step, what they keep of planes that its loop does not bring back to their place: as
// machine code of NVRTC 11.8 has them, 5 to 20 in a hundred of a loop of one plane step.
func (h shape) moved(p stencil.Problem, l *plan, unroll int) (n float64) {
	for v, of := range l.versions {
		if of.held && unroll%of.depth != 0 {
			n += float64(of.depth-1) * h.cellsOf(l, v)
		}
	}
	return n * float64(kernels.ComputedSize(p.DType)) / 4 / float64(unroll)
}

// converted is the conversions of an own cell where it comes straight to registers, and where stages set it: in an array with a type of its own every
// stage rounds, and who reads it takes it back.
func (l *plan) converted(p stencil.Problem) (n float64) {
	for v, of := range l.versions {
		if of.array >= l.fields && of.array < len(l.st.Fields) { // what a hidden stage leaves is never stored
			continue
		}
		if !kernels.Converts(p, l.given(of.array)) {
			continue
		}
		if of.job >= 0 || of.direct {
			n++
		}
		if of.job >= 0 && l.isRead(v) {
			n++
		}
	}
	return n
}

// isRead tells whether a job reads a version.
func (l *plan) isRead(version int) bool {
	return slices.ContainsFunc(l.jobs, func(j job) bool {
		return slices.ContainsFunc(j.reads, func(r read) bool { return r.version == version })
	})
}

// instructions are those of a thread, without conversions, as cachedText has them.
func (t turn) instructions(h shape) float64 {
	return float64(h.rows*h.vector)*(t.flops+t.beside) + t.integer + t.accesses
}

// turn counts a plane step. It is the same on grids of all sizes that share a kernel.
func (h shape) turn(p stencil.Problem, l *plan) (t turn) {
	st, own, elem := p.Stencil, float64(h.rows*h.vector), float64(p.DType.Size())
	low, high := l.extraRows()
	extra := float64(low+high) / float64(h.bands()) // rows that a band loads beside its own
	sideLow, sideHigh := h.sides(l)
	words := float64(kernels.ComputedSize(p.DType)) / 4
	parts := math.Ceil(float64(h.vector) * elem / 16) // instructions that move a vector
	moves := parts
	if part := h.part(p); part < h.vector {
		moves = max(parts, float64(h.vector/part))
	}
	arrays, outputs := float64(l.loads), float64(len(l.stores))
	t.direct = float64(l.direct())
	t.ringed = arrays - t.direct
	loads, _ := h.loads(p, l)
	for v, of := range loads {
		n := float64(p.Stored(l.given(l.versions[v].array)).Size())
		if l.versions[v].direct {
			t.directBytes += n
		} else {
			t.ringedBytes += n
		}
		t.late = t.late || of.small
	}
	t.accesses = moves * (t.ringed*(float64(h.rows)+extra) + (t.direct+outputs)*float64(h.rows))
	if h.coalescedStores(p) {
		t.accesses += (parts + moves) * outputs
		t.pipe += 2 * outputs * own * elem
	}
	if sideLow+sideHigh > 0 {
		t.accesses += t.ringed * math.Ceil((float64(h.rows)+extra)*float64(sideLow+sideHigh)/float64(h.lanes()))
	}
	t.pipe += t.ringedBytes * (own + extra*float64(h.vector)) // written to shared memory
	shuffles := 0.0
	if l.sharesRows() {
		t.barriers++
	}
	given := make(map[int]bool)
	for _, j := range l.jobs {
		flops, beside := kernels.Done(stencil.Problem{Stencil: l.st, DType: p.DType}, j.stage, [3]int{h.vector, h.rows, 1})
		times := float64((h.vector+j.lowX+j.highX)*(h.rows+j.lowR+j.highR)) / own // cells computed for each own one
		t.flops += times * flops
		t.beside += times * beside
		if j.barrier {
			t.barriers++
		}
		for _, r := range j.reads {
			if l.versions[r.version].hidden {
				continue
			}
			for _, q := range r.planes {
				q = j.around(q)
				others := float64(q.lowR + q.highR)
				beyond := float64(h.rows*(q.lowX+q.highX)) + others*float64(q.otherLow+q.otherHigh)
				rows := others
				if v := l.versions[r.version]; v.job < 0 && !v.direct {
					rows += float64(h.rows)
				}
				if l.versions[r.version].job < 0 && sideLow+sideHigh > 0 {
					t.accesses += beyond
					stored := p.Stored(l.given(r.array)).Size()
					t.pipe += beyond * float64(max(h.vector*stored, min(4, h.vector*p.DType.Size()))) // a bank conflict for each cell of a vector
				} else {
					shuffles += beyond
				}
				if v := l.versions[r.version]; v.job < 0 && !v.direct && kernels.Converts(p, l.given(r.array)) {
					t.converted += rows*float64(h.vector) + beyond
				}
				t.accesses += parts * rows
				t.pipe += rows * float64(h.vector) * float64(h.readSize(p, l, r.version))
			}
		}
		for _, v := range j.outputs {
			if l.versions[v].rows && !given[v] {
				given[v] = true
				t.accesses += parts * float64(h.edgeRows(st, l))
				t.pipe += float64(h.edgeRows(st, l)*h.vector) * float64(kernels.ComputedSize(p.DType))
			}
		}
	}
	t.converted += own * l.converted(p)
	t.accesses += shuffles * words
	t.pipe += shuffles * float64(kernels.ComputedSize(p.DType))
	t.integer = 48 + arrays*(2.6+4.7*float64(h.rows)) + 2.4*outputs
	if st.Dims == 3 {
		t.integer += 56
	}
	if st.Boundary != stencil.Wrap && !h.apart(st) { // what comes from a neighbour lane is chosen, or what lies outside
		t.integer += shuffles * words
	}
	return t
}

// Work counts one launch, or one of each stage: every tile is loaded once, with its halo; each stage
// updates the whole tile in every plane step.
func (Family) Work(p stencil.Problem, s space.Schedule) kernels.Work {
	h := scheduleShape(s)
	ls := h.plans(p.Stencil)
	g := h.launch(p, ls)
	w := h.work(p, ls[0], g)
	if len(ls) == 1 {
		return w
	}
	w.Arrays = 0 // those of every stage
	for _, l := range ls[1:] {
		q := h.work(p, l, g)
		w.Flops, w.Beside, w.Integer, w.Accesses = w.Flops+q.Flops, w.Beside+q.Beside, w.Integer+q.Integer, w.Accesses+q.Accesses
		w.L1Loads, w.L2Read, w.L2Write, w.Resent, w.Shared = w.L1Loads+q.L1Loads, w.L2Read+q.L2Read, w.L2Write+q.L2Write, w.Resent+q.Resent, w.Shared+q.Shared
		w.Barriers, w.LoadWaits, w.Waits, w.SpillTrips = w.Barriers+q.Barriers, w.LoadWaits+q.LoadWaits, w.Waits+q.Waits, w.SpillTrips+q.SpillTrips
		w.Torn, w.Loads = max(w.Torn, q.Torn), min(w.Loads, q.Loads)
		w.Registers, w.Least, w.Unroll, w.Spilled = max(w.Registers, q.Registers), max(w.Least, q.Least), max(w.Unroll, q.Unroll), max(w.Spilled, q.Spilled)
	}
	return w
}

// work is that of a launch.
func (h shape) work(p stencil.Problem, l *plan, g kernels.Launch) kernels.Work {
	st := p.Stencil
	elem := float64(p.DType.Size())
	hold, step := h.tile(l)
	n := kernels.Planes(p)
	tiles, blocks, streamed, begins := h.spread(p, l)
	planeSteps := min(begins*float64(n), streamed+begins*float64(max(0, l.lead))) + begins*float64(l.lastLag)
	loaded := min(begins*float64(n), streamed+begins*float64(l.low[2]+l.high[2]))
	threads := float64(g.Threads())
	cells := float64(hold[0] * hold[1]) // of a tile
	low, high := l.extraRows()
	haloLow, _ := h.halo(l)
	sideLow, sideHigh := h.sides(l)
	sectors := func(cells int) float64 { return float64(kernels.RoundUp(cells*p.DType.Size(), 32)) / elem }
	held := (float64(hold[0]) + sectors(sideLow) + sectors(sideHigh)) * float64(hold[1]+low+high)
	if st.Dims < 3 {
		held = (float64(hold[0]) + sectors(sideLow) + sectors(sideHigh)) * float64(h.warps)
	}
	own := float64(h.rows * h.vector)
	t := h.turn(p, l)
	updates := blocks * cells * planeSteps
	var write [3]int // on average: the first and the last tile write more
	for a, g := range tiles {
		write[a] = kernels.CeilDiv(p.Size[a], g)
	}
	write[2] = min(p.Size[2], int(math.Ceil(streamed/begins)))
	read := [3]int{hold[0], hold[1] + low + high, int(math.Ceil(loaded / begins))}
	if st.Dims < 3 {
		write[1], write[2] = int(streamed), 1
		read = [3]int{hold[0] * h.warps, read[2], 1}
	}
	window := write
	window[st.Dims-1] = 1 + h.prefetch
	unroll, _ := h.copies(p, l)
	taken, least := h.needs(p, l, unroll)
	loadsAhead := float64(h.prefetch)
	if t.late { // through registers, within a plane step
		loadsAhead = 1
	}
	return kernels.Work{
		Steps:      h.timeTile,
		Cells:      float64(p.Size.Cells()) * float64(h.timeTile),
		Updates:    updates * float64(h.timeTile),
		Flops:      updates * t.flops,
		Beside:     updates*t.beside + blocks*threads*planeSteps*t.converted,
		Integer:    blocks * threads * (kernels.SetUp(st.Dims) + planeSteps*(t.integer+h.moved(p, l, unroll))),
		Accesses:   blocks * threads * planeSteps * t.accesses,
		L1Loads:    blocks * (t.ringedBytes*held + t.directBytes*cells) * loaded,
		L2Read:     blocks * (t.ringedBytes*held + t.directBytes*cells) * loaded,
		L2Write:    float64(p.Size.Cells()) * float64(l.storedBytes(p)),
		Resent:     float64(p.Size.Cells()) * float64(l.storedBytes(p)) * h.resent(p),
		Arrays:     l.loads, // what its stages give each other stays in the block
		Torn:       kernels.Torn(p, h.vector, haloLow, hold, step),
		Shared:     blocks * threads * planeSteps * t.pipe,
		Barriers:   t.barriers * int(planeSteps),
		Loads:      own * (t.ringed*float64(h.prefetch) + t.direct),
		LoadWaits:  loaded / loadsAhead,
		Split:      l.arrival >= 0,
		Prefetched: true,
		Copied:     h.part(p) * p.DType.Size(),
		Abreast:    h.rows * h.vector,
		Waits:      planeSteps * float64(len(l.jobs)) * 1.5,
		Registers:  int(taken),
		Least:      int(least),
		Spilled:    spilledWords * float64(unroll),
		MinBlocks:  h.minBlocks,
		SpillTrips: planeSteps,
		Unroll:     unroll,
		Write:      write,
		Read:       read,
		Window:     window,
		Launch:     g,
		Workers:    int(blocks),
	}
}
