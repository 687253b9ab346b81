package global

import (
	"fmt"
	"strings"

	"stenciltune/stencil"
)

// row is what a thread's cells read of a row: from low cells before its first cell to high after its last.
type row struct {
	array, dy, dz int // from the thread's first row
	low, high     int
}

// rowsRead are the rows that a thread of work rows reads in a stage, and of each what its cells
// read there. Of a star's box most rows and most ends of rows are none of its points; left to the
// compiler, they cost it minutes.
func rowsRead(st *stencil.Stencil, stage int, work [3]int) []row {
	var list []row
	part := &st.Stages[stage]
	for a, points := range part.Points {
		if len(points) == 0 {
			continue
		}
		for k := range work[2] + part.Low[2] + part.High[2] {
			for j := range work[1] + part.Low[1] + part.High[1] {
				r := row{array: a, dy: j - part.Low[1], dz: k - part.Low[2]}
				any := st.Of != nil
				if any { // at the grid's edge parts of a time step find other cells of the box
					r.low, r.high = part.Low[0], part.High[0]
				} else {
					for _, o := range points {
						if r.dy-o[1] >= 0 && r.dy-o[1] < work[1] && r.dz-o[2] >= 0 && r.dz-o[2] < work[2] {
							r.low, r.high, any = max(r.low, -o[0]), max(r.high, o[0]), true
						}
					}
				}
				if any {
					list = append(list, r)
				}
			}
		}
	}
	return list
}

// cellsRead is the cells that a thread of vectors reads in a time step, at most.
func cellsRead(st *stencil.Stencil, vector int, work [3]int) int {
	most := 0
	for stage := range st.Stages {
		n := 0
		for _, r := range rowsRead(st, stage, work) {
			n += r.low + vector + r.high
		}
		most = max(most, n)
	}
	return most
}

// rows writes the function that loads what a thread's cells need in a stage.
func rows(p stencil.Problem, stage int, work [3]int) string {
	var b strings.Builder
	b.WriteString("// Loads the rows that a thread's cells read, and of each what they read.\n" +
		"template <bool EDGE, bool ALIGNED>\n" +
		"__device__ __forceinline__ void load_rows(const Grid &grid, Rows (&rows)[ARRAYS], int x, int y, int z) {\n")
	low := p.Stencil.Stages[stage].Low
	for _, r := range rowsRead(p.Stencil, stage, work) {
		fmt.Fprintf(&b, "  load_row<EDGE, ALIGNED, %d, %d>(grid, %d, rows[%d].at[%d][%d], x, %s, %s);\n",
			r.low, r.high, r.array, r.array, r.dz+low[2], r.dy+low[1], plus("y", r.dy), plus("z", r.dz))
	}
	b.WriteString("}\n")
	return b.String()
}

// plus is the text of a coordinate moved by n cells.
func plus(name string, n int) string {
	switch {
	case n > 0:
		return fmt.Sprintf("%s + %d", name, n)
	case n < 0:
		return fmt.Sprintf("%s - %d", name, -n)
	}
	return name
}
