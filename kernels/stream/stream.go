// Package stream is the family of kernels that keep planes in registers while a
// block streams along the outermost axis, with several time steps in flight: N.5D
// blocking with partial sums. Its words are those of docs/glossary.md.
package stream

import (
	_ "embed"
	"fmt"
	"math"

	"stenciltune/kernels"
	"stenciltune/machine"
	"stenciltune/space"
	"stenciltune/stencil"
)

// Family is the family stream.
type Family struct{}

const folder = "kernels/stream/"

// The source is plane.cu, then the stages (sums.cu or values.cu), then the prefetch
// (prefetch_registers.cu or prefetch_async.cu), then where warps meet (kernels.MeetingPiece), then streaming.cu.
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
	//go:embed stored.cu
	storedSource string
	//go:embed streaming.cu
	streamingSource string
)

// Name is "stream".
func (Family) Name() string { return "stream" }

// prefetching is what COPIES is in a kernel, and all but one of the values of pm.
const prefetching = "means of prefetching: 0 = loads into registers, 1 = asynchronous copies into shared memory"

// docs say what each parameter is: in the space, and after the constant that it becomes.
var docs = map[string]string{
	"vx": "cells of a vector, one a lane; wider saves shuffles and halo, costs registers",
	"vy": "rows of a plane a thread holds (3D); more save edge rows, cost registers",
	"wp": "warps of a block: in 3D one above the other in a plane, in 2D strips side by side",
	"ck": "stream tiles: pieces into which the streaming axis is cut; more fill the GPU, each recomputes its halo",
	"pf": "prefetch depth in planes; more hide more of memory's latency, cost registers or shared memory",
	"mb": "blocks an SM must be able to hold at once: the compiler's register limit",
	"ph": "time tile: time steps in flight; saves memory traffic, costs registers and the recomputation of the halo",
	"sm": "0 = the streaming axis is cut into ck stream tiles; n, the number of SMs, = into as many as make no more than ck*n blocks (2D), or ck*n blocks share the planes of all tiles (3D)",
	"kp": "1 = the first time step takes the plane before the one that arrives from shared memory, which keeps it (3D); 0 = from registers",
	"sb": "1 = warps wait for rows of others only when they have done what they can without (3D); 0 = at the block's barrier",
	"pm": prefetching + ", 2 = these, where planes with held cells stay until they are written, 3 = as 1, with the rows next to a tile, whose halo is one time step's less then",
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
	timeTiles, means := []int{1, 2, 3, 4, 5, 6, 7, 8, 10, 12, 14, 16}, []int{0, 1}
	s := stagesOf(p.Stencil)
	if s.held != (ends{}) && (s.dims < 3 || s.held.inPlane()) && s.factored.common != 1 && maxGrowth(p.DType) > 0 {
		means = append(means, 2)
	}
	if s.aprons(p) {
		means = append(means, 3)
	}
	switch p.Stencil.Dims {
	case 1: // there is one plane
		means = []int{0}
	case 3:
		timeTiles = []int{1, 2, 3, 4, 5, 6, 8}
	}
	list := append(kernels.StreamingParams(p, m, timeTiles, docs), space.Param{Name: "pm", Values: means, Optional: true, Doc: docs["pm"]})
	if s.findsAgain(p) {
		list = append(list, space.Param{Name: "kp", Values: []int{0, 1}, Optional: true, Doc: docs["kp"]})
	}
	if s.splittable() {
		list = append(list, space.Param{Name: "sb", Values: []int{0, 1}, Optional: true, Doc: docs["sb"]})
	}
	return list
}

// constraints are why some schedules do not exist.
func constraints(p stencil.Problem, m machine.Machine, params []space.Param) (list []space.Constraint) {
	of := plan{problem: p, stages: stagesOf(p.Stencil)}
	of.packed = of.packs(p)
	names, ofBlock := kernels.NamesOf(params)
	onVector, kept := []string{"vx"}, of.findsAgain(p)
	planned := func(v space.Values, old any) any {
		g, made := old.(*plan)
		if !made {
			g = new(plan)
			*g = of
		}
		g.shape = shapeOf(v.Get)
		g.splits = g.early() || g.splittable() && v.Get("sb") == 1
		g.takesAgain = kept && v.Get("kp") == 1
		return g
	}
	whole := func(needs []string, name, why string, ok func(g plan) bool) {
		list = append(list, space.Constraint{Name: name, Needs: needs, Why: why, OK: func(v space.Values) bool { return ok(*v.Once(planned).(*plan)) }})
	}
	endless := false
	for _, sides := range p.Stencil.Fields[0].Rules {
		for _, rule := range sides {
			endless = endless || rule.Boundary == stencil.Constant && math.IsInf(p.DType.Round(rule.Constant), 0)
		}
	}
	list = append(list, space.Constraint{
		Name: "stencil", Needs: onVector, Why: "a block streams through one stage",
		OK: func(space.Values) bool { return len(p.Stencil.Stages) == 1 },
	}, kernels.MirrorsConstraint(p.Stencil), space.Constraint{
		Name: "mirror", Needs: onVector, Why: "a lane finds what a point outside mirrors within its own vector, sums among the planes",
		OK: func(v space.Values) bool {
			return (!of.mirrors[0] || v.Get("vx") >= of.highX) && (!of.mirrors[2] || !of.linear || kernels.Planes(p) > of.highS)
		},
	}, space.Constraint{
		Name: "outside", Needs: onVector, Why: "what lies outside is a number of the text, which knows no infinite one",
		OK: func(space.Values) bool { return !endless },
	}, space.Constraint{
		Name: "warp", Needs: onVector, Why: fmt.Sprintf("a row is a warp of %d lanes", warp),
		OK: func(space.Values) bool { return m.WarpSize == warp },
	}, kernels.StepsConstraint(p, false), kernels.BandsConstraint(p))
	whole([]string{"wp", "mb"}, "threads", fmt.Sprintf("a block has at most %d threads, an SM %d", m.MaxThreadsBlock, m.MaxThreadsSM), func(g plan) bool {
		return warp*g.warps <= m.MaxThreadsBlock && warp*g.warps*g.minBlocks <= m.MaxThreadsSM && g.minBlocks <= m.MaxBlocksSM
	})
	whole(kernels.TileParams(), "grid-size", fmt.Sprintf("a tile must lie within the grid (%s): streaming knows no other boundary", p.Size.Text(p.Stencil.Dims)), func(g plan) bool {
		hold, _ := g.tile()
		return p.Size[0] >= hold[0] && (g.dims < 3 || p.Size[1] >= hold[1])
	})
	whole(names, "grid", fmt.Sprintf("a grid has at most %v blocks on x, y, z", m.MaxGridDim), func(g plan) bool {
		blocks := g.grid()
		return blocks[0] <= m.MaxGridDim[0] && blocks[1] <= m.MaxGridDim[1] && blocks[2] <= m.MaxGridDim[2]
	})
	major, _ := m.Major()
	copied := m.ComputeCapability == "" || major >= 8 // the emulation has them too
	whole([]string{"vx", "pf", "pm"}, "prefetch", "registers hold at most 2 prefetched planes; asynchronous copies, of 2 planes or 4, need compute capability 8.0 and vectors (where rows are not whole vectors, cells) of 4 bytes at least", func(g plan) bool {
		if !g.async {
			return g.prefetch <= 2
		}
		return copied && g.prefetch >= 2 && g.leastCopy() >= 4
	})
	if of.splittable() {
		whole([]string{"vy", "ck", "mb", "sm", "pm", "sb"}, "split", "warps that wait late have planes copied asynchronously, three rows at least, no limit on registers for further blocks that would run meanwhile, and shares in place of more than 5 stream tiles", func(g plan) bool {
			return !g.splits || g.async && g.minBlocks == 1 && g.rows >= 3 && (g.shares() || g.streamTiles <= 5)
		})
	}
	whole([]string{"vx", "vy", "wp", "ck", "mb", "pm", "wr"}, "folded", "folded warps have three to six rows, planes copied asynchronously, at most 5 stream tiles, and no limit on registers for further blocks; there are 8 to 12 of them", func(g plan) bool {
		return g.bandsOf == 1 || g.async && g.rows >= 3 && g.rows <= 6 && g.warps >= 8 && g.warps <= 12 && g.streamTiles <= 5 && g.minBlocks == 1
	})
	if kept {
		whole([]string{"vx", "vy", "wp", "pf", "pm", "sb", "kp"}, "kept", "planes are kept for the first time step where registers are scarce: where 8 to 12 warps wait late, of 16 registers of cells, with 2 planes on their way", func(g plan) bool {
			words := g.vector * g.rows * max(1, p.DType.Size()/4)
			return !g.takesAgain || g.splits && g.warps >= 8 && g.warps <= 12 && words == 16 && g.prefetch == 2 && g.async
		})

	}
	whole([]string{"mb", "pm"}, "apron", "where rows next to a tile are copied there is no limit on registers for further blocks", func(g plan) bool {
		return !g.copiesApron || g.minBlocks == 1
	})
	whole(onVector, "packed", "where a register holds two cells, a vector is at least four, and half of one reaches as far as the stencil, beyond mirrors further", func(g plan) bool {
		reach := max(g.lowX, g.highX)
		if g.mirrors[0] {
			reach++
		}
		return !g.packed || g.vector >= 4 && g.words() >= reach
	})
	whole(onVector, "vector", "a lane that loads fewer than 8 bytes (of elements narrower than 4 bytes 4) wastes instructions; more than 32 waste registers", func(g plan) bool {
		bytes := g.vector * p.DType.Size()
		return bytes <= 32 && (bytes >= 8 || p.DType.Size() < 4 && bytes >= 4 || p.Size[0] < 2*warp)
	})
	whole(ofBlock, "halo", "at least 45 % of a tile must be useful (60 % in a plane), or most of what is computed is thrown away", func(g plan) bool {
		hold, step := g.tile()
		if g.dims < 3 {
			return 10*step[0] >= 6*hold[0]
		}
		return step[0] > 0 && step[1] > 0 && 100*step[0]*step[1] >= 45*hold[0]*hold[1]
	})
	whole([]string{"vx", "wp", "ck", "sm", "pm"}, "fill", "SMs are filled in 2D by blocks of one warp, at most 16 on each, whose planes are copied asynchronously where that is possible; in 3D by at most 4 on each", func(g plan) bool {
		if g.dims == 3 {
			return g.sms == 0 || g.streamTiles <= kernels.MostWorkers
		}
		return g.sms == 0 || g.warps == 1 && g.streamTiles <= 16 && (g.async || !copied || g.leastCopy() < 4)
	})
	whole(names, "stream-tile", "a stream tile must be longer than the halo it recomputes", func(g plan) bool {
		tiles, _, planes, begins := g.spread()
		return tiles[2] == 1 || planes > begins*float64(2*g.timeTile*(g.lowS+g.highS))
	})
	whole(ofBlock, "shared-memory", fmt.Sprintf("the edge rows of every stage, and planes that are copied ahead or kept, must fit into %d bytes of shared memory, as often as blocks must fit on an SM", m.SharedBlockOptin), func(g plan) bool {
		return g.residency(m).Shared(g.sharedBytes())
	})
	whole(ofBlock, "registers", fmt.Sprintf("what the stages keep must fit into registers (%d of a block and an SM, 255 of a thread)", m.RegistersBlock), func(g plan) bool {
		return g.residency(m).Registers(g.registers(), 8)
	})
	whole(ofBlock, "blocks", "asking for more blocks on an SM must make the compiler use fewer registers", func(g plan) bool {
		return g.residency(m).Limits(g.registers())
	})
	return list
}

// Tiling is that of the launch.
func (Family) Tiling(p stencil.Problem, s space.Schedule) kernels.Tiling {
	return planOf(p, s).tiling()
}

// Kernel writes the kernel. The number of stream tiles is the grid's, not the
// source's.
func (Family) Kernel(p stencil.Problem, s space.Schedule) kernels.Kernel {
	g := planOf(p, s)
	constants := []kernels.Constant{
		{Name: "DIMS", Value: p.Stencil.Dims, Doc: "dimensions of the grid"},
		{Name: "VECTOR", Value: g.vector, Doc: docs["vx"]},
		{Name: "ROWS", Value: g.rows, Doc: docs["vy"]},
		{Name: "WARPS", Value: g.warps, Doc: docs["wp"]},
		kernels.LanesConstant(g.lanes()), kernels.BandsConstant(g.bands()),
		{Name: "SUMS", Value: kernels.Flag(g.linear), Doc: "1 = the cell function is a weighted sum, and stages keep partial sums; 0 = they keep planes"},
		{Name: "PYRAMID", Value: g.timeTile, Doc: docs["ph"]},
		{Name: "APRON", Value: g.apron(), Doc: "1 = the rows next to a tile that the first time step reads are copied beside it, so that the halo there is one time step's less"},
		{Name: "AGAIN", Value: g.again(), Doc: docs["kp"]},
		{Name: "PREFETCH", Value: g.prefetch, Doc: docs["pf"]},
		{Name: "MIN_BLOCKS", Value: g.minBlocks, Doc: docs["mb"]},
		{Name: "LOW_R", Value: g.lowR, Doc: "radius towards smaller rows of a plane"},
		{Name: "HIGH_R", Value: g.highR, Doc: "and towards larger ones"},
		{Name: "LOW_S", Value: g.lowS, Doc: "radius towards smaller planes of the streaming axis"},
		{Name: "HIGH_S", Value: g.highS, Doc: "and towards larger ones"},
		{Name: "PART", Value: g.part(), Doc: "cells moved at once between memory and a thread: a vector, or the part of one that divides the rows"},
		{Name: "LATE", Value: kernels.Flag(g.late), Doc: "1 = a plane is complete only with the rows of other warps, a barrier later, and stages lag one plane more"},
		{Name: "SPLIT", Value: kernels.Flag(g.splits), Doc: kernels.SplitDoc},
		{Name: "DIAGONAL", Value: kernels.Flag(g.diagonal), Doc: "1 = the rows of other warps are read in neighbour columns too"},
		{Name: "RING", Value: g.edgePlanes(), Doc: "planes whose edge rows shared memory keeps"},
		{Name: "UNROLL", Value: g.unroll(), Doc: "plane steps that the loop holds"},
		{Name: "COPIES", Value: kernels.Flag(g.async), Doc: prefetching},
		{Name: "APART", Value: kernels.Flag(g.apart()), Doc: "1 = tiles at the ends of rows are streamed through by code of their own"},
		{Name: "WITHIN", Value: kernels.Flag(g.within()), Doc: "1 = tiles that lie within the grid have plane steps of their own, in which the compiler finds nothing to choose"},
	}
	pieces := []kernels.Piece{{Text: g.slotsText() + g.edgesText()}, kernels.WindowsPiece()}
	if g.keepsWritten() {
		pieces = append(pieces, kernels.KeptPiece())
	}
	if g.shares() {
		constants = append(constants, kernels.RiseConstant(g.tiling().Extra))
		pieces = append(pieces, kernels.SharesPiece())
	}
	plane, stored := kernels.Piece{File: folder + "plane.cu", Text: planeSource}, kernels.StoredPieces(p)
	if stored != nil {
		pieces = append(append(pieces, kernels.CopiesPiece()), stored...)
	}
	pieces = append(pieces, plane)
	if g.packed {
		pieces = append(pieces, kernels.Piece{File: folder + "packed_halo.cu", Text: packedHaloSource})
	}
	pieces = append(pieces, g.stagesSource()...)
	switch {
	case g.async && stored != nil:
		pieces = append(pieces, kernels.Piece{File: folder + "stored.cu", Text: storedSource})
	case (g.async || g.splits) && stored == nil:
		pieces = append(pieces, kernels.CopiesPiece())
	}
	pieces = append(pieces, g.prefetchSource(), kernels.MeetingPiece(g.splits), kernels.Piece{File: folder + "streaming.cu", Text: streamingSource, Traits: kernels.Traits{Images: g.images, Keeps: g.keepsWritten()}})
	for i := range pieces {
		pieces[i].Turns, pieces[i].Apron, pieces[i].Again, pieces[i].Shares, pieces[i].Held = g.turns(), g.copiesApron, g.again() > 0, g.shares(), g.writesHeld()
	}
	if g.packed {
		pieces = packedPieces(pieces)
	}
	k := kernels.Source(p, kernels.StreamingSource(p.Stencil, s), kernels.StreamingLaunch(p.Stencil), constants, pieces...)
	hold, _ := g.tile()
	k.Schedule, k.Launch, k.Least, k.Multiple = s, g.launch(), [3]int{hold[0], 1, 1}, g.part()
	if p.Stencil.Dims == 3 {
		k.Least[1] = hold[1]
	}
	if g.mirrors[2] && g.linear {
		k.Least[p.Stencil.Dims-1] = g.highS + 1
	}
	return k
}

// prefetchSource is the text of the prefetch.
func (g plan) prefetchSource() kernels.Piece {
	if g.async {
		return kernels.Piece{File: folder + "prefetch_async.cu", Text: asyncSource}
	}
	return kernels.Piece{File: folder + "prefetch_registers.cu", Text: registersSource}
}
