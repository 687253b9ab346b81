package kernels

import (
	"math"

	"stenciltune/space"
	"stenciltune/stencil"
)

// Tiling is how a launch's blocks cover a grid, in numbers: a program that learns
// its extents only when it runs counts the blocks with them. Cells throughout.
type Tiling struct {
	Hold, Step [3]int // cells a tile holds, and by which tiles are apart, on x, y, z
	Pack       int    // tiles on x that share a block
	Spare      int    // further columns of blocks on x, for the tiles at the ends of rows
	Fixed      [3]int // blocks on an axis whatever its extent; 0 = by its tiles
	Fill       int    // blocks on z are as many as make no more than this in all, at least one; 0 = by Fixed
	Extra      int    // planes of the outermost axis that each of the stream tiles on z computes besides its own; 0 = there are none
	Early      int    // cells by which tiles on x begin early where that takes no further one, to part between sectors; -1 = they part within
	Workers    int    // blocks that share the planes of all tiles (shares.cu); 0 = tiles have blocks of their own
	Line       bool   // the blocks stand in one line on x
	Cells      int    // cells of a block if blocks are counted by cells, in one line; 0 = by tiles
}

// Tiler is a family that can say how its blocks cover a grid. Schedules are legal,
// as for Family.
type Tiler interface {
	Tiling(p stencil.Problem, s space.Schedule) Tiling
}

// Touching is the tiling of tiles of write cells side by side.
func Touching(write [3]int, line bool) Tiling {
	return Tiling{Hold: write, Step: write, Pack: 1, Line: line}
}

// Blocks counts the blocks on a grid.
func (t Tiling) Blocks(n stencil.Size) [3]int {
	if t.Cells > 0 {
		return [3]int{int((n.Cells() + int64(t.Cells) - 1) / int64(t.Cells)), 1, 1}
	}
	if t.Step[0] < 1 || t.Step[1] < 1 { // all halo: no such schedule is legal
		return [3]int{1, 1, 1}
	}
	var g [3]int
	for a := range g {
		g[a] = 1
		if n[a] > t.Hold[a] {
			g[a] += CeilDiv(n[a]-t.Hold[a], t.Step[a])
		}
	}
	g[0] = CeilDiv(g[0], t.Pack) + t.Spare
	for a, f := range t.Fixed {
		if f > 0 {
			g[a] = f
		}
	}
	if t.Workers > 0 {
		return [3]int{g[0]*g[1] + t.Workers, 1, 1}
	}
	if t.Fill > 0 {
		g[2] = max(1, t.Fill/(g[0]*g[1]))
	}
	if t.Line {
		return [3]int{Volume(g), 1, 1}
	}
	return g
}

// Cut is the stream tiles of the outermost axis, of so many planes, that take the fewest plane steps one after the other where
// so many blocks run at once, and these plane steps: launchers choose by the same rule (emit/choose.cu.tmpl). It is for
// tilings with Extra. Shares take about as long as stream tiles that are cut well.
func (t Tiling) Cut(n stencil.Size, planes, atOnce int) (tiles, steps int) {
	g := t.columns(n)
	columns := g[0] * g[1]
	for k := 1; k == 1 || k <= 65535 && planes/k > t.Extra && (k <= 64 || columns*k <= 4*atOnce); k++ {
		if k > 1 && columns*(planes+k*t.Extra) >= steps*atOnce { // nor would more tiles be faster
			break
		}
		if s := CeilDiv(columns*k, atOnce) * (CeilDiv(planes, k) + t.Extra); k == 1 || s < steps {
			tiles, steps = k, s
		}
	}
	return tiles, steps
}

// columns is the blocks if none were cut along the outermost axis: one for each tile on x and rows.
func (t Tiling) columns(n stencil.Size) [3]int {
	t.Fixed[2], t.Fill, t.Workers, t.Line = 1, 0, 0, false
	return t.Blocks(n)
}

// Spread is the tiles of a launch, and how it goes through them: blocks that run one after the other or side by side, how many planes each
// streams through on average, and how often it begins anew.
func (t Tiling) Spread(n stencil.Size, planes int) (tiles [3]int, blocks, streamed, begins float64) {
	if t.Workers == 0 || t.Step[0] < 1 || t.Step[1] < 1 {
		tiles = t.Blocks(n)
		blocks = float64(Volume(tiles))
		tiles[0] = max(1, tiles[0]-t.Spare)
		return tiles, blocks, float64(CeilDiv(planes, tiles[2])) * float64(Volume(tiles)) / blocks, 1
	}
	tiles = t.columns(n)
	columns := tiles[0] * tiles[1]
	shares := float64(count(sharesOf(columns, planes, t.Workers, Rise*t.Extra)))
	blocks = min(float64(t.Workers), shares) // others have nothing to do
	tiles[2] = max(1, int(math.Round(shares/float64(columns))))
	return tiles, blocks, float64(columns*planes) / blocks, shares / blocks
}
