// Package sweep is the family of kernels that do one time step a launch: a block sweeps along z, planes lie in
// shared memory with their halo, and registers hold open sums. It is for stencils that reach far, and for
// those of several arrays. Its words are those of docs/glossary.md.
package sweep

import (
	_ "embed"
	"fmt"
	"math"

	"stenciltune/kernels"
	"stenciltune/machine"
	"stenciltune/space"
	"stenciltune/stencil"
)

// Family is the family sweep.
type Family struct{}

//go:embed sweep.cu
var source string

// Name is "sweep".
func (Family) Name() string { return "sweep" }

// Doc says what the design is.
func (Family) Doc() string {
	return "a block sweeps along z, one step a launch: planes with their halo in shared memory, open sums in registers (2.5D blocking)"
}

const warp = 32 // lanes

// shape is a schedule's numbers.
type shape struct {
	vector, rows, warps, streamTiles, prefetch, minBlocks int
	keep                                                  bool
}

func shapeOf(get func(string) int) shape {
	return shape{
		vector: get("vx"), rows: get("vy"), warps: get("wp"), streamTiles: get("ck"), prefetch: get("pf"), minBlocks: get("mb"),
		keep: get("kp") == 1,
	}
}

func scheduleShape(s space.Schedule) shape {
	return shapeOf(func(name string) int { return s.Int(name, 0) })
}

// tile is the cells of a plane that a block writes, on x and rows.
func (h shape) tile() [2]int { return [2]int{warp * h.vector, h.warps * h.rows} }

// part is the cells that are moved between memory and a thread at once: a vector, or as
// many of its cells as rows are whole of.
func (h shape) part(p stencil.Problem) int { return kernels.WholePart(h.vector, p.Size[0]) }

// slab is the rows of an array's plane in shared memory, and its cells.
func (h shape) slab(s swept, elem int) (cells, height int) {
	up := func(n, bytes int) int { return kernels.CeilDiv(n*elem, bytes) * bytes / elem }
	pitch := h.tile()[0] + up(up(s.low[0], 16)+up(s.high[0], 16), 128)
	height = s.low[1] + h.tile()[1] + s.high[1]
	return up(s.low[0], 128) + pitch*height, height
}

// ring is the planes that shared memory has room for.
func (h shape) ring(q *plan) int {
	if h.keep {
		return h.prefetch + 1 + q.high
	}
	return h.prefetch + 1
}

func (h shape) sharedBytes(p stencil.Problem, q *plan) int {
	n := 0
	for _, s := range q.swept {
		cells, _ := h.slab(s, p.DType.Size())
		n += cells
	}
	n *= h.ring(q) * p.DType.Size()
	return n
}

// words is the registers of a value in computation.
func words(d stencil.DType) int { return max(1, d.Size()/4) }

// registers is what a thread takes, estimated: its open sums, the parts of the plane at hand, own cells that
// are loaded besides, a row with its halo, addresses.
func (h shape) registers(p stencil.Problem, q *plan) int {
	cells := h.vector * h.rows
	_, beside := q.ownFrom(h.keep)
	row, copies := 0, 0
	for _, s := range q.swept {
		row = max(row, s.low[0]+s.high[0]+h.vector)
		_, height := h.slab(s, p.DType.Size())
		copies += kernels.CeilDiv(height, h.warps) + 2*kernels.CeilDiv((s.low[0]+s.high[0])*h.rows, warp)
	}
	return 24 + copies + words(p.DType)*(cells*(q.open()+len(q.sums))+row) + cells*len(beside)*p.DType.Size()/4
}

// docs say what each parameter is: in the space, and after the constant that it becomes.
var docs = map[string]string{
	"vx": "cells of a vector, one a lane; wider saves instructions and halo, costs registers",
	"vy": "rows of a plane a thread holds; more share what they read of shared memory, cost registers",
	"wp": "warps of a block, one above the other in a plane; more save halo, leave fewer registers",
	"ck": "stream tiles: pieces into which z is cut; more fill the GPU, each loads its halo again",
	"pf": "prefetch depth in planes; more hide more of memory's latency, cost shared memory",
	"mb": "blocks an SM must be able to hold at once: the compiler's register limit",
	"kp": "1 keeps planes in shared memory until they are complete, for what the cell function reads at the own cell; 0 loads that again",
}

// Space has the parameters of the sweep.
func (Family) Space(p stencil.Problem, m machine.Machine) *space.Family {
	vector := []int{1, 2, 4}
	if p.DType.Size() < 4 {
		vector = append(vector, 8)
	}
	params := []space.Param{
		{Name: "vx", Values: vector, Ordinal: true, Doc: docs["vx"]},
		{Name: "vy", Values: []int{1, 2, 3, 4, 6, 8}, Ordinal: true, Doc: docs["vy"]},
		{Name: "wp", Values: []int{4, 8, 10, 12, 16, 20}, Ordinal: true, Doc: docs["wp"]},
		{Name: "ck", Values: []int{1, 2, 3, 4, 6, 8, 12, 16}, Ordinal: true, Launch: true, Doc: docs["ck"]},
		{Name: "pf", Values: []int{1, 2, 3, 4}, Ordinal: true, Near: true, Doc: docs["pf"]},
		kernels.Tuned(kernels.MinBlocks, docs["mb"], []int{1, 2, 3}),
		{Name: "kp", Values: []int{0, 1}, Optional: true, Doc: docs["kp"]},
	}
	return &space.Family{Name: "sweep", Params: params, Constraints: constraints(p, m)}
}

// constraints are why some schedules do not exist.
func constraints(p stencil.Problem, m machine.Machine) (list []space.Constraint) {
	q := planOf(p.Stencil)
	all := []string{"vx", "vy", "wp", "ck", "pf", "mb", "kp"}
	whole := func(needs []string, name, why string, ok func(h shape) bool) {
		list = append(list, space.Constraint{Name: name, Needs: needs, Why: why, OK: func(v space.Values) bool {
			return q == nil || ok(shapeOf(v.Get)) // without sums another constraint says so
		}})
	}
	list = append(list, space.Constraint{
		Name: "sums", Needs: []string{"vx"}, Why: "a block sweeps through three dimensions in one stage, and adds up weighted sums of floating-point neighbours",
		OK: func(space.Values) bool { return q != nil },
	})
	whole([]string{"vx"}, "warp", fmt.Sprintf("a row is a warp of %d lanes", warp), func(shape) bool { return m.WarpSize == warp })
	whole([]string{"wp", "mb"}, "threads", fmt.Sprintf("a block has at most %d threads, an SM %d", m.MaxThreadsBlock, m.MaxThreadsSM), func(h shape) bool {
		return warp*h.warps <= m.MaxThreadsBlock && warp*h.warps*h.minBlocks <= m.MaxThreadsSM && h.minBlocks <= m.MaxBlocksSM
	})
	whole([]string{"vx", "vy", "wp"}, "grid-size", fmt.Sprintf("a tile must lie within the grid (%s): its cells are not tested for it", p.Size.Text(3)), func(h shape) bool {
		t := h.tile()
		return p.Size[0] >= t[0] && p.Size[1] >= t[1]
	})
	whole([]string{"vx", "vy", "wp", "ck"}, "grid", fmt.Sprintf("a grid has at most %v blocks on x, y, z", m.MaxGridDim), func(h shape) bool {
		g := h.grid(p)
		return g[0] <= m.MaxGridDim[0] && g[1] <= m.MaxGridDim[1] && g[2] <= m.MaxGridDim[2]
	})
	whole([]string{"vx"}, "vector", "a lane that moves fewer than 8 bytes (of elements narrower than 4 bytes 4) wastes instructions; more than 16 take two accesses to shared memory, in conflict", func(h shape) bool {
		bytes := h.vector * p.DType.Size()
		return bytes <= 16 && (bytes >= 8 || p.DType.Size() < 4 && bytes >= 4 || p.Size[0] < 2*warp)
	})
	whole([]string{"vx", "vy"}, "work", "a thread has at most 32 cells of a plane", func(h shape) bool { return h.vector*h.rows <= 32 })
	whole([]string{"ck"}, "stream-tile", "a stream tile must be longer than the halo that it loads again", func(h shape) bool {
		return h.streamTiles == 1 || kernels.CeilDiv(p.Size[2], h.streamTiles) > 2*(q.low+q.high)
	})
	whole([]string{"kp"}, "keep", "planes are kept for a cell function that reads an array both as a neighbour and at the own cell", func(h shape) bool {
		centres, _ := q.keepers()
		return !h.keep || len(centres) > 0
	})
	whole(all, "shared-memory", fmt.Sprintf("the planes must fit into %d bytes of shared memory, as often as blocks must fit on an SM", m.SharedBlockOptin), func(h shape) bool {
		return h.residency(m).Shared(h.sharedBytes(p, q))
	})
	whole(all, "registers", fmt.Sprintf("the open sums must fit into registers (%d of a block and an SM, 255 of a thread)", m.RegistersBlock), func(h shape) bool {
		return h.residency(m).Registers(h.registers(p, q))
	})
	whole(all, "blocks", "asking for more blocks on an SM must make the compiler use fewer registers", func(h shape) bool {
		return h.residency(m).Limits(h.registers(p, q))
	})
	return list
}

// keepers are ownFrom with planes kept.
func (p *plan) keepers() (centres, beside []int) { return p.ownFrom(true) }

// residency is the blocks that an SM must be able to hold.
func (h shape) residency(m machine.Machine) kernels.Residency {
	return kernels.Residency{Machine: m, Warps: h.warps, Blocks: h.minBlocks}
}

// launchOnly are the parameters that change the grid alone.
var launchOnly = []string{"ck"}

// Kernel writes the kernel. The number of stream tiles is the grid's, not the source's.
func (Family) Kernel(p stencil.Problem, s space.Schedule) kernels.Kernel {
	h, q := scheduleShape(s), planOf(p.Stencil)
	constants := []kernels.Constant{
		{Name: "VECTOR", Value: h.vector, Doc: docs["vx"]},
		{Name: "ROWS", Value: h.rows, Doc: docs["vy"]},
		{Name: "WARPS", Value: h.warps, Doc: docs["wp"]},
		{Name: "PREFETCH", Value: h.prefetch, Doc: docs["pf"]},
		{Name: "MIN_BLOCKS", Value: h.minBlocks, Doc: docs["mb"]},
		{Name: "KEEP", Value: flag(h.keep), Doc: docs["kp"]},
		{Name: "PART", Value: h.part(p), Doc: "cells moved at once between memory and a thread: a vector, or the part of one that divides the rows"},
		{Name: "LOW_S", Value: q.low, Doc: "radius of the sums towards smaller planes"},
		{Name: "HIGH_S", Value: q.high, Doc: "and towards larger ones"},
	}
	pieces := append([]kernels.Piece{{Text: q.slotsText(len(q.rest.Stages[0].Points), h.keep)}, kernels.CopiesPiece()},
		kernels.Around("kernels/sweep/sweep.cu", source, "@WEIGHTS@", kernels.Piece{Text: q.weightsText()})...)
	of := p
	of.Stencil = q.rest
	k := kernels.Source(of, s.With("ck", 1), launchOnly, constants, pieces...)
	tile := h.tile()
	k.Schedule, k.Launch, k.Least, k.Multiple = s, h.launch(p, q), [3]int{tile[0], tile[1], 1}, h.part(p)
	return k
}

func flag(b bool) int {
	if b {
		return 1
	}
	return 0
}

func (h shape) grid(p stencil.Problem) [3]int {
	t := h.tile()
	return [3]int{kernels.CeilDiv(p.Size[0], t[0]), kernels.CeilDiv(p.Size[1], t[1]), h.streamTiles}
}

func (h shape) launch(p stencil.Problem, q *plan) kernels.Launch {
	return kernels.Launch{Grid: h.grid(p), Block: [3]int{warp, h.warps, 1}, Steps: 1, SharedBytes: h.sharedBytes(p, q)}
}

// Tiling is that of grid: tiles touch, the last ones lie over those before, and z is cut into stream tiles.
func (Family) Tiling(p stencil.Problem, s space.Schedule) kernels.Tiling {
	h, q := scheduleShape(s), planOf(p.Stencil)
	t := h.tile()
	tiling := kernels.Touching([3]int{t[0], t[1], 1}, false)
	tiling.Fixed, tiling.Extra = [3]int{0, 0, h.streamTiles}, q.low+q.high
	return tiling
}

// Work counts one launch: every tile is loaded once, with its halo; each plane that arrives is added to all
// open sums.
func (Family) Work(p stencil.Problem, s space.Schedule) kernels.Work {
	h, q := scheduleShape(s), planOf(p.Stencil)
	l, tile := h.launch(p, q), h.tile()
	elem := float64(p.DType.Size())
	pieces := l.Grid[2]
	streamTile := kernels.CeilDiv(p.Size[2], pieces)
	planeSteps := float64(streamTile + q.low + q.high)
	blocks, threads := float64(l.Blocks()), float64(l.Threads())
	cells := float64(h.vector * h.rows)
	outputs := float64(kernels.Outputs(p.Stencil, 1))
	_, beside := q.ownFrom(h.keep)
	centres := len(q.own) - len(beside)
	part := h.part(p)
	parts := float64(h.vector / part)
	real := float64(words(p.DType))
	// Of a thread in a plane step: cells in shared memory that are copied there, rows of them read as vectors.
	slab, copies, vectors, footprint := 0.0, 0.0, 0.0, 0.0
	var low, high [2]int
	for _, a := range q.swept {
		_, height := h.slab(a, p.DType.Size())
		wide := a.low[0] + a.high[0]
		tall := tile[1]
		if a.diagonal {
			tall = height
		}
		copied := tile[0]*height + wide*tall
		slab += float64(copied)
		footprint += float64(height) * kernels.RowSectors(tile[0]+wide, a.low[0], p.DType.Size()) * kernels.SectorBytes
		copies += math.Ceil(float64(height)/float64(h.warps))*parts + math.Ceil(float64(wide*tall)/threads)
		beyond := float64(kernels.CeilDiv(a.low[0], h.vector) + kernels.CeilDiv(a.high[0], h.vector))
		vectors += float64(a.low[1]+h.rows+a.high[1]) + beyond*float64(h.rows)
		if a.diagonal {
			vectors += beyond * float64(a.low[1]+a.high[1])
		}
		for i := range 2 {
			low[i], high[i] = max(low[i], a.low[i]), max(high[i], a.high[i])
		}
	}
	own := float64(len(beside)) * float64(h.rows) * parts
	updates := float64(l.Grid[0]*l.Grid[1]*tile[0]*tile[1]) * planeSteps * float64(pieces)
	written := float64(l.Grid[0]*l.Grid[1]*tile[0]*tile[1]) * float64(p.Size[2])
	write := [3]int{tile[0], tile[1], streamTile}
	read := [3]int{tile[0] + low[0] + high[0], tile[1] + low[1] + high[1], int(planeSteps)}
	inFlight := slab/threads*float64(h.prefetch) + float64(len(beside))*cells
	rest := q.parts.Ops()
	taken := h.registers(p, q)
	return kernels.Work{
		Steps:      1,
		Cells:      float64(p.Size.Cells()),
		Updates:    updates,
		Flops:      updates * q.operations,
		Special:    updates * float64(rest.Div+rest.Special),
		Integer:    blocks * threads * (200 + planeSteps*(24+3*copies)),
		Accesses:   blocks * threads * planeSteps * (copies + real*(vectors+float64(centres*h.rows)) + own + outputs*float64(h.rows)*parts),
		L1Loads:    blocks*planeSteps*slab*elem + float64(len(beside))*written*elem,
		L2Read:     blocks*planeSteps*footprint + float64(len(beside))*written*elem,
		L2Write:    float64(p.Size.Cells()) * outputs * elem,
		Shared:     blocks * planeSteps * (slab + threads*float64(h.vector)*(vectors+float64(centres*h.rows))) * elem,
		Barriers:   int(planeSteps),
		Loads:      inFlight,
		LoadWaits:  planeSteps / float64(h.prefetch),
		Prefetched: true,
		Waits:      planeSteps * 3,
		Registers:  taken,
		Least:      taken * 9 / 10,
		MinBlocks:  h.minBlocks,
		SpillTrips: planeSteps,
		Write:      write,
		Read:       read,
		Window:     [3]int{read[0], read[1], h.ring(q)},
		Launch:     l,
	}
}
