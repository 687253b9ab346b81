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
		if got := RowWavefronts(c.elem, c.stride, c.aligned); math.Abs(got-c.want) > 0.02 {
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
