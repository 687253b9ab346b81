package kernels

import _ "embed"

//go:embed shares.cu
var sharesText string

// SharesPiece is the text of the families whose blocks share the planes of all tiles: which are a block's.
func SharesPiece() Piece { return Piece{File: "kernels/shares.cu", Text: sharesText} }

// Rise is what a share is taken to cost besides its planes, in planes that it computes besides its own: it begins when another ends
// and waits for its first planes (docs/lab/0056-shares-side-by-side.md).
const Rise = 2

// SpareShares is the blocks of a launch for each worker, besides one for each tile: more than there are shares.
const SpareShares = 4

// MostWorkers is the blocks with shares that an SM has at most at once.
const MostWorkers = 4

// ShareConstants are those of a kernel with shares each of which computes extra planes besides its own.
func ShareConstants(extra int) []Constant {
	return []Constant{
		{Name: "RISE", Value: Rise * extra, Doc: "planes that a share costs besides its own"},
		{Name: "SPARE", Value: SpareShares, Doc: "blocks of a launch for each worker, besides one for each tile"},
	}
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
	tile, plane, used, most := 0, 0, 0, tiles+SpareShares*workers
	for {
		left := planes - plane
		if tiles > workers {
			rounds := (tiles - 1) / workers
			taken := rounds * workers
			list = append(list, shares{tile, taken, plane, planes})
			tile, tiles, steps, used = tile+taken, tiles-taken, steps-rounds*(left+rise), used+taken
			continue
		}
		take := max(steps-rise, 0)
		if tiles == workers || take < rise || left-take <= rise || used+2*tiles+workers > most {
			each := workers / tiles
			for part := range each {
				list = append(list, shares{tile, tiles, plane + left*part/each, plane + left*(part+1)/each})
			}
			return list
		}
		list = append(list, shares{tile, tiles, plane, plane + take})
		workers, plane, used = workers-tiles, plane+take, used+tiles
	}
}
