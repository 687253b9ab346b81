package kernels

import "stenciltune/stencil"

// SectorBytes is the unit in which an SM fetches from L2 (CUDA C++ programming
// guide, device memory accesses: 32-byte transactions).
const SectorBytes = 32

// Loaded gives the points of every array that a stage loads; one that is read by
// index counts as read at the own cell.
func Loaded(st *stencil.Stencil, stage int) [][]stencil.Offset {
	var all [][]stencil.Offset
	for _, points := range st.Stages[stage].Points {
		if len(points) > 0 {
			all = append(all, points)
		}
	}
	for range st.Stages[stage].Indexed {
		all = append(all, []stencil.Offset{{}})
	}
	return all
}

// Outputs is the fields that all stages write.
func Outputs(st *stencil.Stencil) int {
	n := 0
	for _, stage := range st.Stages {
		n += len(stage.Outputs)
	}
	return n
}

// DistinctLoads counts the different offsets a thread reads for work cells: along
// x its cells are stride apart, along y and z they are consecutive, so that only
// there the compiler can share loads.
func DistinctLoads(points []stencil.Offset, work [3]int, stride int) int {
	seen := map[stencil.Offset]bool{}
	for k := range work[2] {
		for j := range work[1] {
			for i := range work[0] {
				for _, o := range points {
					seen[stencil.Offset{o[0] + i*stride, o[1] + j, o[2] + k}] = true
				}
			}
		}
	}
	return len(seen)
}

// FootprintSectors counts the sectors of one array that a box of cells reads
// through the given points: each row of cells touched costs its length, and on
// average half a sector at either end unless it begins on a sector.
func FootprintSectors(points []stencil.Offset, box [3]int, elem int) float64 {
	type row struct{ y, z int }
	reach := map[row][2]int{} // lowest and highest dx of a row of points
	lowY, highY, lowZ, highZ := 0, 0, 0, 0
	for _, o := range points {
		r := row{o[1], o[2]}
		if x, ok := reach[r]; ok {
			reach[r] = [2]int{min(x[0], o[0]), max(x[1], o[0])}
		} else {
			reach[r] = [2]int{o[0], o[0]}
		}
		lowY, highY = min(lowY, o[1]), max(highY, o[1])
		lowZ, highZ = min(lowZ, o[2]), max(highZ, o[2])
	}
	total := 0.0
	for z := lowZ; z < box[2]+highZ; z++ {
		for y := lowY; y < box[1]+highY; y++ {
			lo, hi, any := 0, 0, false
			for r, x := range reach {
				if Y, Z := y-r.y, z-r.z; Y < 0 || Y >= box[1] || Z < 0 || Z >= box[2] {
					continue
				}
				if !any {
					lo, hi, any = x[0], x[1], true
				} else {
					lo, hi = min(lo, x[0]), max(hi, x[1])
				}
			}
			if any {
				total += RowSectors(box[0]+hi-lo, -lo, elem)
			}
		}
	}
	return total
}

// RowSectors is the sectors of a run of cells that begins before cells ahead of
// a sector's border.
func RowSectors(cells, before, elem int) float64 {
	per := SectorBytes / elem
	return float64(CeilDiv(before, per) + CeilDiv(cells-before, per))
}
