package kernels

import _ "embed"

//go:embed shares.cu
var sharesText string

// SharesPiece is the text of the families whose blocks share the planes of all tiles: which are a block's.
func SharesPiece() Piece { return Piece{File: "kernels/shares.cu", Text: sharesText} }

// Rise is what a share is taken to cost besides its planes, in planes that it computes besides its own: it begins when another ends
// and waits for its first planes (docs/lab/0056-shares-side-by-side.md).
const Rise = 2

// MostWorkers is the largest ck of blocks with shares.
const MostWorkers = 4

// RiseConstant is the constant of a kernel with shares each of which computes extra planes besides its own.
func RiseConstant(extra int) Constant {
	return Constant{Name: "RISE", Value: Rise * extra, Doc: "planes that a share costs besides its own"}
}

// shares are planes from .. to - 1 of tiles side by side, a block for each tile.
type shares struct{ tile, tiles, from, to int }

// sharesOf shares the planes of tiles about equally among so many workers, as shares.cu does. Each share costs rise planes besides its own.
func sharesOf(tiles, planes, workers, rise int) []shares {
	few := count(sharesIn(tiles, planes, workers, rise, CeilDiv(tiles*planes, workers)+rise))
	return sharesIn(tiles, planes, workers, rise, CeilDiv(tiles*planes+few*rise, workers))
}

func count(list []shares) (n int) {
	for _, s := range list {
		n += s.tiles
	}
	return n
}

// sharesIn is the shares where each worker does so many plane steps.
func sharesIn(tiles, planes, workers, rise, steps int) (list []shares) {
	tile, plane := 0, 0
	for {
		left := planes - plane
		if tiles > workers {
			rounds := (tiles - 1) / workers
			taken := rounds * workers
			list = append(list, shares{tile, taken, plane, planes})
			tile, tiles, steps = tile+taken, tiles-taken, steps-rounds*(left+rise)
			continue
		}
		take, each := max(steps-rise, 0), workers/tiles
		if tiles == workers || take < rise || left-each*take <= rise {
			for part := range each {
				list = append(list, shares{tile, tiles, plane + left*part/each, plane + left*(part+1)/each})
			}
			return list
		}
		list = append(list, shares{tile, tiles, plane, plane + take})
		workers, plane = workers-tiles, plane+take
	}
}
