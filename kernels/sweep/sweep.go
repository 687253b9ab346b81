// Package sweep is the family of kernels that do one time step a launch: a block sweeps along z, planes lie in
// shared memory with their halo, and registers hold open sums (2.5D blocking). It is for stencils that reach far, and for
// those of several arrays. Its words are those of docs/glossary.md.
package sweep

import (
	_ "embed"
	"fmt"
	"slices"

	"stenciltune/kernels"
	"stenciltune/machine"
	"stenciltune/space"
	"stenciltune/stencil"
)

// Family is the family sweep.
type Family struct{}

//go:embed sweep.cu
var source string

//go:embed stored.cu
var storedSource string

// Name is "sweep".
func (Family) Name() string { return "sweep" }

const warp = 32 // lanes

// shape is a schedule's numbers.
type shape struct {
	vector, rows, warps, streamTiles, prefetch, minBlocks int
	keep, splits                                          bool
}

func shapeOf(get func(string) int) shape {
	return shape{
		vector: get("vx"), rows: get("vy"), warps: get("wp"), streamTiles: get("ck"), prefetch: get("pf"), minBlocks: get("mb"),
		keep: get("kp") == 1, splits: get("sb") == 1,
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
func (h shape) ring(q *stage) int {
	n := h.prefetch + 1 + kernels.Flag(h.splits)
	if h.keep {
		n += q.high
	}
	return n
}

func (h shape) sharedBytes(p stencil.Problem, l *plan) (most int) {
	for _, q := range l.stages {
		n := 0
		for _, s := range q.swept {
			elem := p.Stored(s.array).Size()
			cells, _ := h.slab(s, elem)
			n += cells * elem
		}
		most = max(most, n*h.ring(q))
	}
	return most + kernels.Flag(h.splits)*kernels.SplitBytes
}

// words is the registers of a value in computation.
func words(d stencil.DType) int { return max(1, d.Size()/4) }

// registers is what a thread takes in the stage that needs most, estimated: its open sums, the parts of the plane at
// hand, own cells that are loaded besides, a row with its halo, addresses.
func (h shape) registers(p stencil.Problem, l *plan) (most int) {
	cells := h.vector * h.rows
	for _, q := range l.stages {
		_, beside := q.ownFrom(h.keep)
		row, copies := 0, 0
		for _, s := range q.swept {
			row = max(row, s.low[0]+s.high[0]+h.vector)
			_, height := h.slab(s, p.DType.Size())
			copies += kernels.CeilDiv(height, h.warps) + 2*kernels.CeilDiv((s.low[0]+s.high[0])*h.rows, warp)
		}
		if len(q.derived) > 0 {
			row *= 2
		}
		most = max(most, 24+copies+words(p.DType)*(cells*(q.open()+len(q.sums))+row)+cells*len(beside)*p.DType.Size()/4)
	}
	return most
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
	"sb": "1 lets a warp go on until it needs what others copied for the next plane, 0 lets all wait in each plane step",
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
		{Name: "sb", Values: []int{0, 1}, Optional: true, Doc: docs["sb"]},
	}
	return &space.Family{Name: "sweep", Params: params, Constraints: constraints(p, m, params)}
}

// constraints are why some schedules do not exist.
func constraints(p stencil.Problem, m machine.Machine, params []space.Param) (list []space.Constraint) {
	l := planOf(p.Stencil)
	_, ofBlock := kernels.NamesOf(params)
	whole := func(needs []string, name, why string, ok func(h shape) bool) {
		list = append(list, space.Constraint{Name: name, Needs: needs, Why: why, OK: func(v space.Values) bool {
			return l == nil || ok(shapeOf(v.Get)) // without sums another constraint says so
		}})
	}
	list = append(list, space.Constraint{
		Name: "sums", Needs: []string{"vx"}, Why: "a block sweeps through three dimensions, and every stage adds up weighted sums of floating-point neighbours",
		OK: func(space.Values) bool { return l != nil },
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
		return h.streamTiles == 1 || kernels.CeilDiv(p.Size[2], h.streamTiles) > 2*l.reach()
	})
	whole([]string{"kp"}, "keep", "planes are kept for a cell function that reads an array both as a neighbour and at the own cell", func(h shape) bool {
		return !h.keep || l.keeps()
	})
	whole([]string{"vy", "ck", "pf", "mb", "sb"}, "split", "warps that wait late have three planes on their way at least, for they wait a plane ahead, two rows at least, 3 stream tiles at most, and no limit on registers for further blocks that would run meanwhile", func(h shape) bool {
		return !h.splits || h.prefetch > 2 && h.rows > 1 && h.streamTiles <= 3 && h.minBlocks == 1
	})
	whole(ofBlock, "shared-memory", fmt.Sprintf("the planes must fit into %d bytes of shared memory, as often as blocks must fit on an SM", m.SharedBlockOptin), func(h shape) bool {
		return h.residency(m).Shared(h.sharedBytes(p, l))
	})
	whole(ofBlock, "registers", fmt.Sprintf("the open sums must fit into registers (%d of a block and an SM, 255 of a thread)", m.RegistersBlock), func(h shape) bool {
		return h.residency(m).Registers(h.registers(p, l), 8)
	})
	whole(ofBlock, "blocks", "asking for more blocks on an SM must make the compiler use fewer registers", func(h shape) bool {
		return h.residency(m).Limits(h.registers(p, l))
	})
	return list
}

// keeps tells whether any stage reads an array both as a neighbour and at the own cell.
func (p *plan) keeps() bool {
	return slices.ContainsFunc(p.stages, func(q *stage) bool {
		centres, _ := q.ownFrom(true)
		return len(centres) > 0
	})
}

// reach is the planes that the stage which reaches furthest reads besides its own.
func (p *plan) reach() (most int) {
	for _, q := range p.stages {
		most = max(most, q.low+q.high)
	}
	return most
}

// residency is the blocks that an SM must be able to hold.
func (h shape) residency(m machine.Machine) kernels.Residency {
	return kernels.Residency{Machine: m, Warps: h.warps, Blocks: h.minBlocks}
}

// launchOnly are the parameters that change the grid alone.
var launchOnly = []string{"ck"}

// Kernel writes the kernel. The number of stream tiles is the grid's, not the source's.
func (Family) Kernel(p stencil.Problem, s space.Schedule) kernels.Kernel {
	h, l := scheduleShape(s), planOf(p.Stencil)
	constants := []kernels.Constant{
		{Name: "VECTOR", Value: h.vector, Doc: docs["vx"]},
		{Name: "ROWS", Value: h.rows, Doc: docs["vy"]},
		{Name: "WARPS", Value: h.warps, Doc: docs["wp"]},
		kernels.BandsConstant(h.warps),
		{Name: "PREFETCH", Value: h.prefetch, Doc: docs["pf"]},
		{Name: "MIN_BLOCKS", Value: h.minBlocks, Doc: docs["mb"]},
		{Name: "KEEP", Value: kernels.Flag(h.keep), Doc: docs["kp"]},
		{Name: "SPLIT", Value: kernels.Flag(h.splits), Doc: kernels.SplitDoc},
		{Name: "PART", Value: h.part(p), Doc: "cells moved at once between memory and a thread: a vector, or the part of one that divides the rows"},
	}
	arrays := len(p.Stencil.Fields) + len(p.Stencil.ReadOnly)
	slots := kernels.Piece{Of: func(i int) string { return l.stages[i].slotsText(arrays, h.keep) }}
	weights := kernels.Piece{Of: func(i int) string { return l.stages[i].weightsText(kernels.OneType(p)) }}
	pieces := []kernels.Piece{slots, kernels.CopiesPiece(), kernels.MeetingPiece(h.splits)}
	if stored := kernels.StoredPieces(p); stored != nil {
		types := kernels.Piece{Of: func(i int) string { return l.stages[i].typesText(p) }}
		pieces = append(append(pieces, stored...), types, kernels.Piece{File: "kernels/sweep/stored.cu", Text: storedSource})
	}
	pieces = append(pieces, kernels.Around("kernels/sweep/sweep.cu", source, "@WEIGHTS@", weights)...)
	of := p
	of.Stencil = l.rest
	k := kernels.Source(of, s.With("ck", 1), launchOnly, constants, pieces...)
	tile := h.tile()
	k.Schedule, k.Launch, k.Least, k.Multiple = s, h.launch(p, l), [3]int{tile[0], tile[1], 1}, h.part(p)
	return k
}

func (h shape) grid(p stencil.Problem) [3]int {
	t := h.tile()
	return [3]int{kernels.CeilDiv(p.Size[0], t[0]), kernels.CeilDiv(p.Size[1], t[1]), h.streamTiles}
}

func (h shape) launch(p stencil.Problem, l *plan) kernels.Launch {
	return kernels.Launch{Grid: h.grid(p), Block: [3]int{warp, h.warps, 1}, Steps: 1, SharedBytes: h.sharedBytes(p, l)}
}

// Tiling is that of grid: tiles touch, the last ones lie over those before, and z is cut into stream tiles.
func (Family) Tiling(p stencil.Problem, s space.Schedule) kernels.Tiling {
	h, l := scheduleShape(s), planOf(p.Stencil)
	t := h.tile()
	tiling := kernels.Touching([3]int{t[0], t[1], 1}, false)
	tiling.Fixed, tiling.Extra = [3]int{0, 0, h.streamTiles}, l.reach()
	return tiling
}
