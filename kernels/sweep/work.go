package sweep

import (
	"math"

	"stenciltune/kernels"
	"stenciltune/space"
	"stenciltune/stencil"
)

// Work counts a time step, a launch a stage: every tile is loaded once, with its halo; each plane that arrives is added to
// all open sums.
func (Family) Work(p stencil.Problem, s space.Schedule) kernels.Work {
	h, all := scheduleShape(s), planOf(p.Stencil)
	l := h.launch(p, all)
	taken := h.registers(p, all)
	w := kernels.Work{Steps: 1, Cells: float64(p.Size.Cells()), Prefetched: true, Split: h.splits, Copied: h.part(p) * p.DType.Size(), Registers: taken, Least: taken * 9 / 10, MinBlocks: h.minBlocks, Launch: l}
	for _, q := range all.stages {
		h.count(&w, p, q)
	}
	return w
}

// count adds a stage's work.
func (h shape) count(w *kernels.Work, p stencil.Problem, q *stage) {
	tile, grid := h.tile(), w.Launch.Grid
	elem := float64(p.DType.Size())
	streamTile := kernels.CeilDiv(p.Size[2], grid[2])
	planeSteps := float64(streamTile + q.low + q.high)
	blocks, threads := float64(w.Launch.Blocks()), float64(w.Launch.Threads())
	cells, rows := float64(h.vector*h.rows), float64(h.rows)
	outputs := float64(len(p.Stencil.Stages[q.number].Writes(1)))
	_, beside := q.ownFrom(h.keep)
	centres := float64(len(q.own) - len(beside))
	parts := float64(h.vector / h.part(p))
	real := float64(words(p.DType))
	// In a plane step: bytes that a block copies to shared memory; of a thread its copies, rows read as vectors, and their bytes.
	slab, copies, vectors, footprint, vectorBytes := 0.0, 0.0, 0.0, 0.0, 0.0
	waited := 0.0 // 1 if copies are too small to be asynchronous
	var low, high [2]int
	for _, a := range q.swept {
		stored := p.Stored(a.array).Size()
		_, height := h.slab(a, stored)
		wide := a.low[0] + a.high[0]
		tall := tile[1]
		if a.diagonal {
			tall = height
		}
		slab += float64((tile[0]*height + wide*tall) * stored)
		footprint += float64(height) * kernels.RowSectors(tile[0]+wide, a.low[0], stored) * kernels.SectorBytes
		copies += math.Ceil(float64(height)/float64(h.warps))*parts + math.Ceil(float64(wide*tall)/threads)
		beyond := float64(kernels.CeilDiv(a.low[0], h.vector) + kernels.CeilDiv(a.high[0], h.vector))
		n := float64(a.low[1]+h.rows+a.high[1]) + beyond*rows
		if a.diagonal {
			n += beyond * float64(a.low[1]+a.high[1])
		}
		vectors += n
		vectorBytes += n * float64(max(h.vector*stored, min(4, h.vector*p.DType.Size()))) // a lane's read takes a bank, however narrow
		if kernels.MovedBytes(p, p.Stored(a.array), h.part(p)) < 4 || wide > 0 && stored < 4 {
			waited = 1
		}
		for i := range 2 {
			low[i], high[i] = max(low[i], a.low[i]), max(high[i], a.high[i])
		}
	}
	own := float64(len(beside)) * rows * parts
	updates := float64(grid[0]*grid[1]*tile[0]*tile[1]) * planeSteps * float64(grid[2])
	written := float64(grid[0]*grid[1]*tile[0]*tile[1]) * float64(p.Size[2])
	w.Updates += updates
	flops, others := kernels.Counts(q.rest, p.DType)
	w.Flops += updates * (q.operations + flops)
	w.Beside += updates * others
	w.Integer += blocks * threads * (200 + planeSteps*(24+3*copies))
	w.Accesses += blocks * threads * planeSteps * (copies + real*(vectors+centres*rows) + own + outputs*rows*parts)
	besideBytes := 0
	for _, a := range beside {
		besideBytes += p.Stored(a).Size()
	}
	w.L1Loads += blocks*planeSteps*slab + float64(besideBytes)*written
	w.L2Read += blocks*planeSteps*footprint + float64(besideBytes)*written
	w.L2Write += float64(p.Size.Cells()) * outputs * elem * p.WriteShare(1)
	w.Shared += blocks * planeSteps * (slab + threads*(vectorBytes+float64(h.vector)*centres*rows*elem))
	w.Barriers += int(planeSteps)
	w.Loads = max(w.Loads, slab/elem/threads*float64(h.prefetch)+float64(len(beside))*cells)
	w.LoadWaits += planeSteps/float64(h.prefetch) + waited*planeSteps
	w.Waits += planeSteps * 3
	w.SpillTrips += planeSteps
	w.Write = [3]int{tile[0], tile[1], streamTile}
	read := [3]int{tile[0] + low[0] + high[0], tile[1] + low[1] + high[1], int(planeSteps)}
	for a := range 3 {
		w.Read[a] = max(w.Read[a], read[a])
	}
	w.Window = [3]int{tile[0], tile[1], 1 + h.prefetch} // tiles side by side load the same planes at about the same time
}
