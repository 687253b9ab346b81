package stream

import (
	"fmt"
	"strings"

	"stenciltune/stencil"
)

// ends are cells at the low and the high end of x, of the rows of a plane and of the planes.
type ends struct{ lowX, highX, lowR, highR, lowS, highS int }

func endsOf(dims int, low, high [3]int) ends {
	e := ends{lowX: low[0], highX: high[0]}
	switch dims {
	case 2:
		e.lowS, e.highS = low[1], high[1]
	case 3:
		e.lowR, e.highR, e.lowS, e.highS = low[1], high[1], low[2], high[2]
	}
	return e
}

// heldOf is the cells that never change.
func heldOf(st *stencil.Stencil) ends {
	h := st.Held()
	return endsOf(st.Dims, h.Low, h.High)
}

// edgesText says which cells are held, and what lies outside the grid where that is a constant: the values
// of time step s are multiples.
func (g plan) edgesText() string {
	var b strings.Builder
	h := g.held
	fmt.Fprintf(&b, "constexpr int HELD_LX = %d, HELD_LR = %d, HELD_LS = %d; // held cells, which never change, at the low end of x, rows and planes\n", h.lowX, h.lowR, h.lowS)
	fmt.Fprintf(&b, "constexpr int HELD_HX = %d, HELD_HR = %d, HELD_HS = %d; // and at the high end\n", h.highX, h.highR, h.highS)
	fmt.Fprintf(&b, "constexpr bool HOLDS = %t;\n", h != ends{})
	common, constant := 1.0, 0.0
	if g.linear {
		w := g.bestWeights()
		common, constant = w.common, g.constant()
		fmt.Fprintf(&b, "constexpr bool PAIRS = %t; // the four nearest neighbours are added up in pairs\n", w.ring != 0)
		fmt.Fprintf(&b, "constexpr int BEGUN = %d; // sums that have begun when a plane arrives\n", w.begun())
		fmt.Fprintf(&b, "constexpr bool BEGINS_AS_CELL = %t; // the sum of the plane after begins as the cell itself\n", w.beginsAsCell(g.problem.Stencil.Boundary))
	}
	steps := func(doc, name string, value float64, common float64) {
		fmt.Fprintf(&b, "// %s\n__host__ __device__ constexpr Real %s(int s) { return ", doc, name)
		for k := 0; k < g.timeTile-1 && value != 0 && common != 1; k++ {
			fmt.Fprintf(&b, "s == %d ? %s : ", k, literal(value))
			value /= common
		}
		fmt.Fprintf(&b, "%s; }\n", literal(value))
	}
	steps("What lies outside the grid in time step s of a launch, where it is a constant.", "outside_cell", constant, common)
	if g.linear {
		if !g.edge {
			common = 1
		}
		steps("By how much values have grown by time step s, where EdgeValue is to know it.", "growth_of", 1, common)
		steps("And its reciprocal.", "scale_of", 1, 1/common)
	}
	b.WriteString("\n")
	return b.String()
}

// constant is what lies outside the grid, 0 where that is no constant.
func (g plan) constant() float64 {
	if g.problem.Stencil.Boundary != stencil.Constant {
		return 0
	}
	return g.problem.DType.Round(g.problem.Stencil.Constant)
}

// constantRow tells whether a row outside the grid is one of constants, in shared memory.
func (g plan) constantRow() bool {
	return g.linear && g.problem.Stencil.Boundary == stencil.Constant && (g.held.lowR < g.lowR || g.held.highR < g.highR)
}
