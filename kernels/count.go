package kernels

import (
	"iter"

	"stenciltune/stencil"
)

// SectorBytes is the unit in which an SM fetches from L2 (CUDA C++ programming
// guide, device memory accesses: 32-byte transactions).
const SectorBytes = 32

// Loaded gives the points of every array that a stage loads; one of its tables counts as read at the own cell.
func Loaded(st *stencil.Stencil, stage int) [][]stencil.Offset {
	var all [][]stencil.Offset
	for _, points := range st.Stages[stage].Points {
		if len(points) > 0 {
			all = append(all, points)
		}
	}
	for range st.Stages[stage].Tables {
		all = append(all, []stencil.Offset{{}})
	}
	return all
}

// instructions of functions on the way that most arguments take, read off the machine code of NVRTC 11.8 for sm_90, roots and, in float, exponentials, logarithms and arc tangents off that of
// stencil/arithmetic.cu: in float, in double those in double precision, and what other units do beside these. Functions in double were read
// in a loop over four cells, whose constants are loaded once.
var instructions = map[string][3]int{
	"quotient": {1, 6, 9}, // the reciprocal alone
	"sqrt":     {2, 8, 13},
	"rsqrt":    {1, 8, 13},
	"cbrt":     {15, 11, 35},
	"exp":      {2, 15, 14},
	"exp2":     {5, 16, 14},
	"log":      {5, 27, 35},
	"log2":     {4, 29, 35},
	"log10":    {5, 29, 35},
	"sin":      {25, 15, 25},
	"cos":      {25, 15, 28},
	"tan":      {35, 28, 45},
	"asin":     {50, 30, 15},
	"acos":     {50, 30, 35},
	"atan":     {17, 27, 20},
	"sinh":     {35, 25, 40},
	"cosh":     {22, 19, 30},
	"tanh":     {21, 20, 35},
	"pow":      {110, 60, 90},
	"atan2":    {60, 35, 60},
	"fmod":     {50, 6, 60},
}

// called are those of stencil.Specials.
var called = func() (list [len(stencil.Calls{})][3]int) {
	for i, name := range stencil.Specials {
		list[i] = instructions[name]
	}
	return list
}()

// In double precision a minimum or maximum is a comparison and what other units do; a selection is theirs alone, of two words.
const (
	besideExtreme   = 5
	besideSelection = 2
)

// wholeQuotient is the instructions of a quotient of two integers of 32 bits: machine code of NVRTC 11.8. No compiler takes a scalar's reciprocal once.
const wholeQuotient = 22

// Counts is the operations of o, with those that quotients and functions take beyond the one that each is counted for, and the
// instructions beside them.
func Counts(o stencil.Ops, d stencil.DType) (flops, beside float64) {
	double := 0
	if d == stencil.Float64 {
		double = 1
	}
	add := func(n int, of [3]int) {
		flops += float64(n * (of[double] - 1))
		beside += float64(double * n * of[2])
	}
	if d.Floating() {
		add(o.Div, instructions["quotient"])
	} else {
		flops += float64(o.Div * (wholeQuotient - 1))
	}
	for i, calls := range o.Calls {
		add(calls, called[i])
	}
	flops -= float64(double * (o.Selections + o.Decisions))
	return float64(o.Total()) + flops, beside + float64(double*(besideExtreme*o.Extremes+besideSelection*o.Selections+o.Decisions))
}

// SetUp is the instructions of a thread that streams before its first plane step.
func SetUp(dims int) float64 {
	if dims < 2 {
		return 150
	}
	return 300
}

// Done is Counts of a cell in a stage, where a thread computes a block of cells of it.
func Done(p stencil.Problem, stage int, block [3]int) (flops, beside float64) {
	flops, beside = Counts(p.Stencil.Operations(stage, block), p.DType)
	cells := float64(Volume(block))
	return flops / cells, beside / cells
}

// Beside what they compute, kernels that fold cells take so many instructions for each cell that they store or look at, for each of the
// numbers (sums are in double) and for each point that they load: machine code of NVRTC 11.8, with one to three numbers.
const foldCell, lookCell, foldNumber, foldLoad = 8, 30, 4, 7

// Folding is what a pass of a step's scalars takes of each cell: of those that a kernel stores (Stencil.FoldsStored), or of all that a launch of
// its own looks at.
func Folding(p stencil.Problem, pass int, stored bool) (flops, beside float64) {
	flops, beside = Counts(p.Stencil.Folding(pass), p.DType)
	of := p.Stencil.StepPasses()[pass]
	beside += foldNumber * float64(len(of.Folded))
	if stored {
		beside += foldCell
	} else {
		beside += lookCell
	}
	for a, points := range of.Points(p.Stencil) {
		if !stored || a >= len(p.Stencil.Fields) {
			beside += foldLoad * float64(len(points))
		}
	}
	return flops, beside
}

// Operations is Done of all stages, for a thread that computes work cells as
// DistinctLoads has them: where stages are fused it shares what its cells need of them.
func Operations(p stencil.Problem, work [3]int, stride int) (flops, beside float64) {
	whole, block := p, work
	if p.Stencil.Of != nil {
		whole.Stencil, block = p.Stencil.Of, [3]int{1, 1, 1}
	} else if stride > 1 { // cells that are not neighbours on x share nothing
		block[0] = 1
	}
	for i := range whole.Stencil.Stages {
		times := 1.0
		if p.Stencil.Of != nil {
			times = float64(DistinctLoads(p.Stencil.Evaluations[i], work, stride)) / float64(Volume(work))
		}
		f, b := Done(whole, i, block)
		flops += times * f
		beside += times * b
	}
	return flops, beside
}

// Outputs is the fields that all stages of a launch of so many time steps write.
func Outputs(st *stencil.Stencil, steps int) int {
	n := 0
	for _, stage := range st.Stages {
		n += len(stage.Writes(steps))
	}
	return n
}

// DistinctLoads counts the different offsets a thread reads for work cells: along
// x its cells are stride apart, along y and z they are consecutive, so that only
// there the compiler can share loads.
func DistinctLoads(points []stencil.Offset, work [3]int, stride int) int {
	if len(points) == 0 {
		return 0
	}
	low, high := points[0], points[0]
	for _, o := range points {
		for a := range 3 {
			low[a], high[a] = min(low[a], o[a]), max(high[a], o[a])
		}
	}
	apart := [3]int{stride, 1, 1}
	var n [3]int
	for a := range 3 {
		n[a] = high[a] - low[a] + (work[a]-1)*apart[a] + 1
	}
	if most := len(points) * work[0]; n[0] > 4*most && stride > high[0]-low[0] { // cells that share nothing on x
		return work[0] * DistinctLoads(points, [3]int{1, work[1], work[2]}, 1)
	}
	seen := make([]bool, n[0]*n[1]*n[2])
	count := 0
	for k := range work[2] {
		for j := range work[1] {
			for i := range work[0] {
				for _, o := range points {
					at := ((o[2]-low[2]+k)*n[1]+o[1]-low[1]+j)*n[0] + o[0] - low[0] + i*stride
					if !seen[at] {
						seen[at] = true
						count++
					}
				}
			}
		}
	}
	return count
}

// FootprintSectors counts the sectors of one array that a box of cells reads
// through the given points: each row of cells touched costs its length, and on
// average half a sector at either end unless it begins on a sector.
func FootprintSectors(points []stencil.Offset, box [3]int, elem int) float64 {
	type row struct{ y, z, low, high int } // lowest and highest dx of a row of points
	var space [32]row
	rows := space[:0]
	lowY, highY, lowZ, highZ := 0, 0, 0, 0
points:
	for _, o := range points {
		for i := range rows {
			if r := &rows[i]; r.y == o[1] && r.z == o[2] {
				r.low, r.high = min(r.low, o[0]), max(r.high, o[0])
				continue points
			}
		}
		rows = append(rows, row{o[1], o[2], o[0], o[0]})
		lowY, highY = min(lowY, o[1]), max(highY, o[1])
		lowZ, highZ = min(lowZ, o[2]), max(highZ, o[2])
	}
	sectors := func(y, z int) float64 {
		lo, hi, any := 0, 0, false
		for _, r := range rows {
			if Y, Z := y-r.y, z-r.z; Y < 0 || Y >= box[1] || Z < 0 || Z >= box[2] {
				continue
			}
			if !any {
				lo, hi, any = r.low, r.high, true
			} else {
				lo, hi = min(lo, r.low), max(hi, r.high)
			}
		}
		if !any {
			return 0
		}
		return RowSectors(box[0]+hi-lo, -lo, elem)
	}
	// Rows further from the box's ends than the points reach are all alike.
	total := 0.0
	for z, times := range alike(lowZ, highZ, box[2]) {
		for y, of := range alike(lowY, highY, box[1]) {
			total += float64(times*of) * sectors(y, z)
		}
	}
	return total
}

// alike gives the positions low .. n+high-1 of an axis with how many they stand
// for: those in the middle, to which the ends make no difference, are one.
func alike(low, high, n int) iter.Seq2[int, int] {
	return func(yield func(at, times int) bool) {
		first, last := high, n+low-1 // of the middle
		for at := low; at < n+high; at++ {
			times := 1
			if at == first && last > first {
				times = last - first + 1
			}
			if !yield(at, times) {
				return
			}
			at += times - 1
		}
	}
}

// RowSectors is the sectors of a run of cells that begins before cells ahead of
// a sector's border.
func RowSectors(cells, before, elem int) float64 {
	per := SectorBytes / elem
	return float64(CeilDiv(before, per) + CeilDiv(cells-before, per))
}
