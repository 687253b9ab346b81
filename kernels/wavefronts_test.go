package kernels

import (
	"math"
	"testing"
)

func TestRowWavefrontsFollowTheTagStage(t *testing.T) {
	for _, c := range []struct {
		elem, stride int
		aligned      bool
		want         float64
	}{
		{4, 1, true, 1}, {8, 1, true, 2}, // 128 and 256 bytes
		{4, 1, false, 1.39}, {8, 1, false, 2},
		{4, 2, true, 1.4}, {4, 4, true, 2.1}, {4, 8, true, 3.05}, {4, 16, true, 4.95}, {4, 32, true, 9.25},
		{8, 16, true, 9.25}, {4, 1000, true, 9.25},
	} {
		if got := rowWavefronts(c.elem, c.stride, c.aligned); math.Abs(got-c.want) > 0.02 {
			t.Errorf("%d bytes, stride %d, aligned %v: %.3f wavefronts, want %.2f", c.elem, c.stride, c.aligned, got, c.want)
		}
	}
}

// brute counts, bank by bank, what the first warp needs.
func brute(at func(lane int) int, elem int) int {
	worst := 0
	for first := 0; first < 32; first += 128 / elem {
		count := map[int]map[int]bool{}
		for lane := first; lane < first+128/elem; lane++ {
			for k := range elem / 4 {
				word := at(lane)*elem/4 + k
				if count[word%32] == nil {
					count[word%32] = map[int]bool{}
				}
				count[word%32][word] = true
			}
		}
		for _, words := range count {
			worst = max(worst, len(words))
		}
	}
	return worst
}

func TestBoxConflictsEqualCountedBanks(t *testing.T) {
	for _, elem := range []int{4, 8} {
		for _, wide := range []int{1, 2, 4, 8, 16, 32, 64} {
			for pitch := wide; pitch < wide+70; pitch++ {
				want := brute(func(lane int) int { return lane%wide + lane/wide*pitch }, elem)
				if got := BoxConflicts(wide, pitch, elem); got != float64(want) {
					t.Errorf("%d wide, pitch %d, %d bytes: %v, want %d", wide, pitch, elem, got, want)
				}
			}
		}
	}
}

func TestFlatConflictsAreTheMeanOfCountedBanks(t *testing.T) {
	for _, c := range [][2]int{{34, 36}, {66, 68}, {130, 134}, {62, 66}, {40, 72}} {
		wide, pitch := c[0], c[1]
		sum, n := 0, 0
		for first := 0; first < 32*wide; first += 32 {
			sum += brute(func(lane int) int { i := first + lane; return i%wide + i/wide*pitch }, 4)
			n++
		}
		mean := float64(sum) / float64(n)
		if got := FlatConflicts(wide, pitch, 4); math.Abs(got-mean) > 0.05 {
			t.Errorf("rows of %d, %d apart: %.3f, counted %.3f", wide, pitch, got, mean)
		}
	}
}

// Rows a power of two apart lie in the same banks, odd ones do not: what the thesis's kernel loses
// in narrow columns on 4096 cells, and not on 4037.
func TestAWarpsLoadTakesItsBankConflictsOrItsLines(t *testing.T) {
	lanes := func(column, pitch int) (at []int) {
		for i := range 32 {
			at = append(at, i/column*pitch+i%column)
		}
		return at
	}
	for _, c := range []struct {
		column, pitch, dx, elem int
		clocks                  float64
		lines                   int
	}{
		{32, 4096, 0, 4, 1, 1},
		{32, 4096, 1, 4, 1.4, 2},
		{16, 4096, 0, 4, 2, 2},
		{8, 4096, 0, 4, 4, 4},
		{4, 4096, 0, 4, 8, 8},
		{4, 4100, 0, 4, 3.05, 8},  // rows four banks apart
		{32, 4096, 0, 8, 2, 2},    // half a warp at a time
		{8, 1 << 20, 0, 8, 4, 4},  // two rows of each half
		{1, 0, 0, 4, 1, 1},        // all lanes one cell
		{1, 32, 0, 4, 32, 32},     // a column of cells
		{1, 33, 0, 4, 9.25, 32},   // in 32 banks
		{32, 4096, 0, 2, 1, 1},    // two cells of a word
		{16, 4096, 16, 2, 2, 2},   // two rows, each eight words
		{32, 4096, -4, 4, 1.4, 2}, // before the first
	} {
		at := lanes(c.column, c.pitch)
		for i := range at {
			at[i] += 4096
		}
		if clocks, lines := WarpWavefronts(at, c.dx, c.elem); clocks != c.clocks || lines != c.lines {
			t.Errorf("%+v: %v clocks, %d lines", c, clocks, lines)
		}
	}
}
