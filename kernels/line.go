package kernels

import (
	"stenciltune/stencil"
)

// LineBytes is a line of L1 (CUDA C++ programming guide, device memory accesses).
const LineBytes = 128

// Line is what L1 sees of one line of threads that walks a grid in columns (Prasetya 2022,
// section 4.2), as it follows from the walk: the order of the threads, the pitch of the rows
// and the stencil. The zero Line is that of a launch that walks in blocks.
type Line struct {
	Asked    float64 // cache lines that all warps' loads ask for, each load by itself
	New      float64 // cache lines that a warp waits for until L2 has answered
	Shared   float64 // share of what a block fetches that is the same for all blocks at its place of a row
	Column   int     // cells of a row of the column
	High     int     // rows of the column
	RowLines float64 // cache lines of a row of the column with what the stencil reads beside it
	Rows     float64 // rows of the column that a block's threads cover; below 1 if a row takes several blocks
	Deep     int     // rows that the stencil reads beyond those, of all arrays
	Arrays   int
	Pitch    float64 // cache lines from a row of the grid to the next
}

// walkSamples is the warps of a launch that stand for all of them.
const walkSamples = 24

// WalkWarps calls visit with the lanes of some warps of a line of threads, as places x and row
// in the walk of a grid, and tells how many cells each lane stands for.
func WalkWarps(n stencil.Size, column, zigzag int, visit func(lanes [][2]int)) (each float64) {
	cells := int(n.Cells())
	warps := CeilDiv(cells, 32)
	samples := min(walkSamples, warps)
	var room [32][2]int
	visited := 0 // the last warp may have fewer lanes than others
	for i := range samples {
		// One of every part of the grid, and not all at the same place of a column.
		begin, end := warps*i/samples, warps*(i+1)/samples
		first := 32 * (begin + i%(end-begin))
		lanes := room[:0]
		for t := first; t < min(first+32, cells); t++ {
			if x, row := WalkLine(n[0], n[1]*n[2], column, zigzag, t); x < n[0] && row < n[1]*n[2] {
				lanes = append(lanes, [2]int{x, row})
			}
		}
		visited += len(lanes)
		visit(lanes)
	}
	return float64(cells) / float64(max(visited, 1))
}

// LineOf counts the loads of a line of threads in blocks of group, in columns of column cells
// (0 = the whole row), and the bytes they take L1's data pipe for. arrays are the points
// that are read of each array.
func LineOf(n stencil.Size, arrays [][]stencil.Offset, column, zigzag, group, elem int) (l Line, pipe float64) {
	if column == 0 || column > n[0] {
		column = n[0]
	}
	low, high := 0, 0
	for _, points := range arrays {
		for _, o := range points {
			low, high = min(low, o[0]), max(high, o[0])
		}
		l.Arrays++
		l.Deep += rowsBeside(points, n[1])
	}
	per := LineBytes / elem
	times := make([]float64, per) // points by how far into a cache line they move a load: they ask for as much
	for _, points := range arrays {
		for _, o := range points {
			moved := (o[0] + (o[1]+o[2]*n[1])*n[0]) % per
			times[(moved+per)%per]++
		}
	}
	clocks := 0.0
	var at [32]int
	all := WalkWarps(n, column, zigzag, func(lanes [][2]int) {
		for i, lane := range lanes {
			at[i] = lane[1]*n[0] + lane[0]
		}
		for i, of := range times {
			if of > 0 {
				c, lines := WarpWavefronts(at[:len(lanes)], i, elem)
				clocks += of * c
				l.Asked += of * float64(lines)
			}
		}
	})
	l.Asked *= all
	l.RowLines = 1 + float64(column+high-low-1)/float64(per)
	if n[0]%per == 0 && column%per == 0 { // every row begins on a line
		l.RowLines = float64(CeilDiv(-low, per) + column/per + CeilDiv(high, per))
	}
	l.Column, l.High = column, n[1]*n[2]
	l.Rows = float64(group) / float64(column)
	l.Pitch = float64(n[0]) / float64(per)
	return l, clocks * all * WavefrontBytes
}

// rowsBeside is the rows beside its own that a cell's points lie in.
func rowsBeside(points []stencil.Offset, high int) int {
	rows := map[int]bool{0: true}
	for _, o := range points {
		rows[o[1]+o[2]*high] = true
	}
	return len(rows) - 1
}
