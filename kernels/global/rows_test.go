package global

import (
	"strings"
	"testing"

	"stenciltune/stencil"
	"stenciltune/stencil/stenciltest"
)

// A thread loads the rows of a star that its cells read and no others, at their ends only
// where a point lies; of fused stages the whole box, because at the grid's edge any cell of it
// may be read.
func TestRowsAreThoseThatAreRead(t *testing.T) {
	rowsOf := func(name string, work [3]int, fused bool) string {
		st := stenciltest.Lookup(t, name)
		if fused {
			st = st.Fused()
		}
		return rows(stencil.Problem{Stencil: st, DType: st.DType}, 0, work)
	}
	for _, c := range []struct {
		name  string
		work  [3]int
		fused bool
		all   int // rows
		wide  string
		n     int // of them with as much on x
	}{
		{"jacobi3d", [3]int{1, 2, 1}, false, 8, "ALIGNED, 1, 1>", 2},
		{"acoustic3d", [3]int{1, 4, 1}, false, 12 + 8*4 + 4 + 4, "ALIGNED, 4, 4>", 4}, // of two arrays one row each is the own
		{"jacobi2d9", [3]int{1, 4, 1}, false, 6, "ALIGNED, 1, 1>", 6},
		{"srad2", [3]int{1, 2, 1}, true, 5, "ALIGNED, 1, 2>", 5},
	} {
		text := rowsOf(c.name, c.work, c.fused)
		if all, wide := strings.Count(text, "  load_row<"), strings.Count(text, c.wide); all != c.all || wide != c.n {
			t.Errorf("%s with %v: %d rows, %d of them wide, want %d and %d:\n%s", c.name, c.work, all, wide, c.all, c.n, text)
		}
	}
}
