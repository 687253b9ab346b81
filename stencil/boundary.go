package stencil

// Boundary is the rule for a point that lies outside the grid.
type Boundary string

// The boundary rules; EdgeValue stands in their place where a file has it.
const (
	Clamp    Boundary = "clamp"    // the nearest cell inside
	Mirror   Boundary = "mirror"   // the cell as far inside, the edge cell as the mirror: -1 reads 1
	Wrap     Boundary = "wrap"     // the grid repeats: -1 reads the last cell
	Constant Boundary = "constant" // a number
	Fixed    Boundary = "fixed"    // none is read: a cell whose points' box reaches outside never changes
	Edge     Boundary = "edge"     // EdgeValue's function
)

func clampIndex(i, n int) int { return min(max(i, 0), n-1) }

// index gives the index on an axis of extent n that stands for i, -1 for none.
func (b Boundary) index(i, n int) int {
	if i >= 0 && i < n {
		return i
	}
	switch b {
	case Mirror:
		if n == 1 {
			return 0
		}
		i = ((i % (2*n - 2)) + 2*n - 2) % (2*n - 2)
		return min(i, 2*n-2-i)
	case Wrap:
		return (i%n + n) % n
	case Constant, Edge:
		return -1
	}
	return clampIndex(i, n)
}

// readOnly is the rule for read-only arrays: those that name a cell inside hold
// for them as well, else the nearest cell inside is read.
func (b Boundary) readOnly() Boundary {
	if b == Mirror || b == Wrap {
		return b
	}
	return Clamp
}
