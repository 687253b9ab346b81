package verify

import (
	"math/rand/v2"

	"stenciltune/kernels"
	"stenciltune/space"
	"stenciltune/stencil"
)

// tiles is how a schedule's tiles lie on each axis: the first holds so many cells, each further
// one is a step away. An axis that blocks stream along is cut into stream tiles, as many
// whatever its length. Tiles on x begin a few cells early where that takes no further one; 0 = they never do.
type tiles struct {
	hold, step, cuts [3]int
	early            int
	workers, extra   int // blocks that share the planes of all tiles, 0 = none do; planes that each share computes besides its own
}

// cutsOfShares is the parts that grids are drawn for where blocks share the planes of all tiles.
const cutsOfShares = 3

// tilesOf is a schedule's tiles.
func tilesOf(f kernels.Family, p stencil.Problem, s space.Schedule) tiles {
	write := f.Work(p, s).Write
	t := tiles{hold: write, step: write}
	if tiler, ok := f.(kernels.Tiler); ok {
		if g := tiler.Tiling(p, s); g.Cells == 0 {
			t.hold, t.step, t.early = g.Hold, g.Step, max(0, g.Early)
			cuts := g.Fixed[2]
			if g.Workers > 0 { // where shares end depends on the grid
				cuts, t.workers, t.extra = cutsOfShares, g.Workers, g.Extra
			}
			if last := p.Stencil.Dims - 1; cuts > 0 && last > 0 {
				t.cuts[last], t.hold[last], t.step[last] = cuts, cuts, cuts
			}
		}
	}
	return t
}

// count is the tiles on an axis of n cells, and whether they are whole: stream tiles, if all
// are equally long.
func (t tiles) count(a, n int) (tiles int, whole bool) {
	switch {
	case t.cuts[a] > 0:
		return min(n, t.cuts[a]), n%t.cuts[a] == 0
	case n < t.hold[a]:
		return 1, false
	}
	n -= t.hold[a]
	return 1 + kernels.CeilDiv(n, t.step[a]), n%t.step[a] == 0
}

// shape is how a grid is drawn.
type shape int

const (
	whole  shape = iota // whole tiles, three or four a side: what people run
	cut                 // several tiles a side, and a part of one
	parts               // the same, of rows that are no whole vectors of any width
	near                // a cell more or less than whole tiles, or just as many
	sliver              // a last tile with fewer cells of its own than the stencil reaches; a cell too little room for tiles to begin early
	odd                 // whatever comes: small ones, odd ones, extents of 1
)

// shapes are those of a family's cases, one after the other. Cases of the others run on whole tiles too.
var shapes = [...]shape{whole, parts, near, cut, whole, parts, sliver, odd}

func shapeOf(j int) shape { return shapes[j%len(shapes)] }

// largest is the most cells of a grid of several tiles, but for some that few workers share: the reference takes a tenth of a
// second for a few steps of it.
const largest = 1 << 17

// size draws a grid of a shape for a stencil's tiles.
func (t tiles) size(r *rand.Rand, st *stencil.Stencil, s shape) stencil.Size {
	dims := st.Dims
	if s == odd {
		return oddSize(r, dims, t)
	}
	n := t.several(r, st, s)
	for a := range dims {
		switch s {
		case cut, parts:
			n[a] += r.IntN(max(1, min(t.step[a], 2*n[a])))
			if a == 0 && s == parts || a > 0 && r.IntN(2) == 0 {
				n[a] |= 1
			}
		case near:
			n[a] = max(1, n[a]+r.IntN(3)-1)
		case sliver:
			if a == 0 && t.early > 0 {
				n[a] = max(1, n[a]-t.early+1)
			} else {
				n[a] += 1 + r.IntN(max(1, st.High[a]-1))
			}
		}
	}
	if s == cut && r.IntN(2) == 0 {
		n[0] = kernels.RoundUp(n[0], 8)
	}
	return n
}

// three is three tiles a side: then one has none of the grid's edges, and others one alone. Three also
// leave a strip of columns of two or four tiles that is not full.
func (t tiles) three(dims int) stencil.Size {
	n := stencil.Size{1, 1, 1}
	for a := range dims {
		n[a] = t.hold[a] + 2*t.step[a]
		if t.cuts[a] > 0 {
			n[a] = kernels.RoundUp(3, t.cuts[a])
		}
	}
	return n
}

// fit takes whole tiles from the widest axes until a grid is small enough; ok tells whether it is.
func (t tiles) fit(n stencil.Size, dims int) (fitted stencil.Size, ok bool) {
	for n.Cells() > largest {
		widest := -1
		for a := range dims {
			if n[a] > t.hold[a] && (widest < 0 || n[a] > n[widest]) {
				widest = a
			}
		}
		if widest < 0 {
			return n, false
		}
		n[widest] -= t.step[widest]
	}
	return n, true
}

// shared is a grid of two tiles, of so many planes that three workers share them in more than one group; ok tells whether it is small enough: one in three may have
// four times the largest's cells, so that tiles of many planes have such a grid now and then.
func (t tiles) shared(r *rand.Rand) (n stencil.Size, ok bool) {
	n = stencil.Size{t.hold[0] + t.step[0], t.hold[1], 5*kernels.Rise*t.extra + 1 + r.IntN(8)}
	most := int64(largest)
	if r.IntN(3) == 0 {
		most *= 4
	}
	return n, n.Cells() <= most
}

// settling is the planes beyond those that a stencil reaches with which a block streams for a while as it does far from both ends.
const settling = 8

// several is whole tiles: three a side and sometimes four, or fewer where that is too large. Of a stencil that reaches far every other grid
// with a part of a tile, and each with a sliver, has planes that lie far from both ends.
func (t tiles) several(r *rand.Rand, st *stencil.Stencil, s shape) stencil.Size {
	n, dims := t.three(st.Dims), st.Dims
	if last := dims - 1; t.cuts[last] > 0 && st.Low[last]+st.High[last] > 2 && (s == sliver || s != whole && r.IntN(2) == 0) {
		n[last] = max(n[last], kernels.RoundUp(st.Low[last]+st.High[last]+settling, t.cuts[last]))
	}
	n, ok := t.fit(n, dims)
	if !ok {
		return oddSize(r, dims, t)
	}
	for a := range dims {
		more := n
		more[a] += r.IntN(2) * t.step[a]
		if t.step[a] == 1 || t.cuts[a] > 0 { // longer ones cost no more than cells
			more[a] += r.IntN(16) * t.step[a]
		}
		if more.Cells() <= largest {
			n = more
		}
	}
	return n
}

// oddSize is a grid that the reference is fast on: of odd extents, with an extent of 1 to 3, or smaller
// than a tile. Rows are whole vectors now and then.
func oddSize(r *rand.Rand, dims int, t tiles) stencil.Size {
	limit := [3][3]int{{3000, 1, 1}, {400, 150, 1}, {150, 50, 30}}[dims-1]
	size := stencil.Size{1, 1, 1}
	kind := r.IntN(3)
	for a := range dims {
		size[a] = 1 + r.IntN(limit[a]) | 1
		if kind == 0 {
			size[a] = 1 + r.IntN(max(1, min(t.hold[a]-1, limit[a])))
		}
	}
	if kind != 0 && r.IntN(2) == 0 {
		size[0] = kernels.RoundUp(size[0], 8)
	}
	if kind == 1 {
		size[r.IntN(dims)] = 1 + r.IntN(2)*r.IntN(3)
	}
	return size
}

// thinSize is the thin grid of a family's case j: of two and three axes one has any extent, the others 1, 2 or 3, so
// that in three turns of each every axis has every one of them.
func thinSize(r *rand.Rand, dims, j int, t tiles) stencil.Size {
	n := stencil.Size{1, 1, 1}
	for a := range dims {
		n[a] = 1 + (j/dims+a)%3
		if dims > 1 && a == j%dims {
			n[a] = 1 + r.IntN(min(2*t.hold[a], 150))
		}
	}
	return n
}

// suited grows a grid to what a stencil and a kernel ask of it, now and then exactly that.
func suited(r *rand.Rand, k kernels.Kernel, n, least stencil.Size) stencil.Size {
	for a := range n {
		n[a] = max(n[a], least[a])
		if n[a] < k.Least[a] {
			n[a] = k.Least[a]
			if r.IntN(4) > 0 {
				n[a] += r.IntN(2 * k.Least[a])
			}
		}
	}
	if k.Multiple > 1 {
		n[0] = kernels.RoundUp(n[0], k.Multiple)
	}
	return n
}
