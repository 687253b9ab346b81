package global

import (
	"fmt"
	"strings"

	"stenciltune/kernels"
	"stenciltune/stencil"
)

// rows writes the function that loads what a thread's cells need in a stage: of every row
// as much on x as they read there. Of a star's box most rows and most ends of rows are
// none of its points; left to the compiler, they cost it minutes.
func rows(p stencil.Problem, stage int, work [3]int) string {
	var b strings.Builder
	b.WriteString("// Loads the rows that a thread's cells read, and of each what they read.\n" +
		"template <bool EDGE, bool ALIGNED>\n" +
		"__device__ __forceinline__ void load_rows(const Grid &grid, Rows (&rows)[ARRAYS], int x, int y, int z) {\n")
	st := &p.Stencil.Stages[stage]
	for a, points := range st.Points {
		if len(points) == 0 {
			continue
		}
		for k := range work[2] + st.Low[2] + st.High[2] {
			for j := range work[1] + st.Low[1] + st.High[1] {
				dy, dz := j-st.Low[1], k-st.Low[2] // from the thread's first row
				low, high, any := 0, 0, false
				for _, o := range points {
					if dy-o[1] < 0 || dy-o[1] >= work[1] || dz-o[2] < 0 || dz-o[2] >= work[2] {
						continue
					}
					low, high, any = max(low, -o[0]), max(high, o[0]), true
				}
				if p.Stencil.Of != nil { // at the grid's edge parts of a time step find other cells of the box
					low, high, any = st.Low[0], st.High[0], true
				}
				if any {
					fmt.Fprintf(&b, "  load_row<EDGE, ALIGNED, %d, %d>(grid, %d, rows[%d].at[%d][%d], x, %s, %s);\n", low, high, a, a, k, j, plus("y", dy), plus("z", dz))
				}
			}
		}
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

// withRows gives each stage of a kernel its rows.
func withRows(k kernels.Kernel, p stencil.Problem, work [3]int) kernels.Kernel {
	for stage := range p.Stencil.Stages {
		k.Source = strings.Replace(k.Source, "@ROWS@\n", rows(p, stage, work), 1)
	}
	return k
}
