package verify

import (
	"math"
	"math/rand/v2"
	"slices"

	"stenciltune/kernels"
	"stenciltune/kernels/reduce"
	"stenciltune/stencil"
)

// Reduction is the kernel of a stencil's Reduce on a grid of its own, with the fields before and after a step that each of Seeds gives.
type Reduction struct {
	Problem stencil.Problem
	Kernel  kernels.Kernel
	Seeds   [2]uint32
	NaN     uint32 // a seed under which an element that a cell reads is NaN; 0 = no field holds one
}

// reduced are how many cells the grids of Reduce's kernels have: about the threads of a block, and the cells from which on there are
// two and three blocks.
var reduced = [...]int{1, 2, kernels.FoldThreads - 1, kernels.FoldThreads, kernels.FoldThreads + 1, 5*kernels.FoldThreads + 7, kernels.FoldCells, kernels.FoldCells + 1, 2*kernels.FoldCells + 3*kernels.FoldThreads + 9}

// nanFor is a seed under which one element that the numbers of a step read is NaN, 0 if none can be: at an end of the grid or anywhere.
func nanFor(r *rand.Rand, p stencil.Problem) uint32 {
	var fields []int
	for f := range p.Stencil.Fields {
		if p.Stored(f).Floating() && slices.ContainsFunc(p.Stencil.StepScalars, func(a stencil.StepScalar) bool { return len(a.Points[f]) > 0 }) {
			fields = append(fields, f)
		}
	}
	if len(fields) == 0 {
		return 0
	}
	cells := p.Size.Cells()
	at := []int64{0, cells - 1, int64(p.Size[0]) - 1, r.Int64N(cells), r.Int64N(cells)}[r.IntN(5)]
	return stencil.SeedForNaN(int64(fields[r.IntN(len(fields))])*cells+at, r.Uint32())
}

// seeds are how many are tried.
const seeds = 24

// Reduce is case i of the kernel of a stencil's Reduce, nil if it has none: on a thin grid or a box, and with seeds that show whether a cell is left
// out. In turn that is the last one, or one at an end of a row, a plane or a block; and the first of a row or plane, which threads that go on from cell to cell must find.
func Reduce(r *rand.Rand, p stencil.Problem, i int) *Reduction {
	if p.Stencil.Reduce == nil {
		return nil
	}
	cells, along, i := reduced[i%len(reduced)], r.IntN(p.Stencil.Dims), i/len(reduced)
	n := stencil.Size{1, 1, 1}
	for a := range p.Stencil.Dims {
		if a != along && r.IntN(2) == 0 {
			n[a] = min(cells, 2+r.IntN(9))
		}
	}
	n[along] = kernels.CeilDiv(cells, int(n.Cells()))
	n[0] = max(n[0], kernels.CeilDiv(8, n[1]*n[2]*p.Stored(0).Size())) // a block leaves 8 bytes in a field
	p.Size = suited(r, kernels.Kernel{}, n, p.Stencil.Least())
	c := &Reduction{Problem: p, Kernel: reduce.Kernel(p)}
	n, last := p.Size, int(p.Size.Cells())-1
	row, plane := n[0], n[0]*n[1]
	at := min(last, []int{last, kernels.FoldThreads - 1, last / kernels.FoldThreads * kernels.FoldThreads, 0, kernels.FoldThreads, row - 1, plane - 1, r.IntN(last + 1)}[i%8])
	c.Seeds[0], c.NaN = shows(r, p, at), nanAt(r, p, at)
	c.Seeds[1] = shows(r, p, []int{last / row * row, last / plane * plane, r.IntN(last/row+1) * row}[i%3])
	return c
}

// readBy lists the elements that a cell reads of the fields, which lie one after the other; beside a row's end those of another.
func readBy(p stencil.Problem, at int) (list []int) {
	n := p.Size
	for f, points := range p.Stencil.Reduction().Stages[0].Points[:2*len(p.Stencil.Fields)] {
		for _, o := range points {
			list = append(list, max(0, f*int(n.Cells())+at+o[0]+n[0]*(o[1]+n[1]*o[2])))
		}
	}
	return list
}

// shows is, of some seeds, that whose number moves most if a cell is left out.
func shows(r *rand.Rand, p stencil.Problem, at int) uint32 {
	best, last, read := r.Uint32(), int(p.Size.Cells())-1, readBy(p, at)
	for most, k := 0.0, 0; last > 0 && k < seeds; k++ {
		seed := r.Uint32()
		if len(read) > 0 { // with the largest or least value in what the cell reads
			seed = stencil.SeedFor(int64(read[r.IntN(len(read))]), uint32(-r.IntN(2)&0xffffff), r.Uint32())
		}
		op, values := p.Stencil.Reduce.Op, stencil.ReduceCells(p, seed)
		whole := stencil.Fold(op, values)
		if by := math.Abs(whole - stencil.Fold(op, append(values[:at], values[at+1:]...))); by > most {
			most, best = by, seed
		}
	}
	return best
}

// nanAt is a seed under which an element that a cell reads is NaN, 0 if no field that it reads holds one.
func nanAt(r *rand.Rand, p stencil.Problem, at int) uint32 {
	read := slices.DeleteFunc(readBy(p, at), func(i int) bool { return !p.Stored(i / int(p.Size.Cells()) % len(p.Stencil.Fields)).Floating() })
	if len(read) == 0 {
		return 0
	}
	return stencil.SeedForNaN(int64(read[r.IntN(len(read))]), r.Uint32())
}
