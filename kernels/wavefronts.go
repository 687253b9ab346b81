package kernels

import (
	"math"
	"slices"

	"stenciltune/stencil"
)

// WavefrontBytes is what an SM's data pipe moves in a clock to or from L1 and
// shared memory (32 banks of 4 bytes; CUDA C++ programming guide, shared memory).
const WavefrontBytes = 128

// rowWavefronts is the wavefronts of a load by a warp whose lanes read cells
// stride apart in one row, on average over alignments unless aligned: as many as
// its bytes need, or as the cache lines it touches need. The tag stage takes
// 1, 1.4, 2.1, 3.05, 4.95 and 9.25 clocks for 1, 2, 4, 8, 16 and 32 lines
// (gpu-benches, strided loads on an A100 and an H200).
func rowWavefronts(elem, stride int, aligned bool) float64 {
	span := (31*stride + 1) * elem
	lines := float64(CeilDiv(span, WavefrontBytes))
	if !aligned { // one line more wherever the run crosses one more border
		lines = 1 + float64(span-elem)/WavefrontBytes
	}
	return max(float64(elem)/4, tagClocks(min(lines, 32)))
}

func tagClocks(lines float64) float64 {
	clocks := [6]float64{1, 1.4, 2.1, 3.05, 4.95, 9.25} // by log2(lines)
	at := math.Log2(lines)
	i := min(int(at), len(clocks)-2)
	return clocks[i] + (at-float64(i))*(clocks[i+1]-clocks[i])
}

// WarpWavefronts is the clocks that L1 takes for a warp's load of the cells at these places of an
// array, moved by dx, and the cache lines it asks for. Different words of one bank go one after
// the other, as in shared memory; so do lines in the tag stage (gpu-benches, strided loads: the
// larger of the two counts, within 2 %). Cells of 8 bytes go half a warp at a time.
func WarpWavefronts(at []int, dx, elem int) (clocks float64, lines int) {
	lanes := len(at)
	if elem > 4 {
		lanes = WavefrontBytes / elem
	}
	var seen [32]int // cache lines so far
	conflicts := 0
	for first := 0; first < len(at); first += lanes {
		var words [32][]int
		var room [32][2]int
		worst := 0
		for _, cell := range at[first:min(first+lanes, len(at))] {
			address := (cell + dx) * elem
			if line := address / LineBytes; !slices.Contains(seen[:lines], line) {
				seen[lines] = line
				lines++
			}
			word := address / 4
			bank := word & 31
			if words[bank] == nil {
				words[bank] = room[bank][:0]
			}
			if !slices.Contains(words[bank], word) {
				words[bank] = append(words[bank], word)
				worst = max(worst, len(words[bank]))
			}
		}
		conflicts += worst
	}
	return max(float64(conflicts), tagClocks(float64(lines))), lines
}

// BoxConflicts is how many times over a warp's access to shared memory takes when
// a box of threads, wide on x, reads or writes cells of rows pitch cells apart: 1
// without bank conflicts. Cells of 8 bytes go half a warp at a time.
func BoxConflicts(wide, pitch, elem int) float64 {
	elem = max(elem, 4) // narrower cells share a bank's word
	lanes := 128 / elem // of one wavefront
	words := elem / 4
	if wide >= lanes {
		return 1
	}
	var banks [32]int
	worst := 0
	for i := range lanes {
		cell := i%wide + i/wide*pitch
		for k := range words {
			b := (cell*words + k) % 32
			banks[b]++
			worst = max(worst, banks[b])
		}
	}
	return float64(worst)
}

// FlatConflicts is the same on average when threads are dealt cells of a box in
// flat order, whose rows are wide cells long and more than that apart: a warp that
// reaches over a row's end meets its own banks again, and takes twice.
func FlatConflicts(wide, pitch, elem int) float64 {
	lanes := 128 / max(elem, 4)
	if (pitch-wide)%lanes == 0 {
		return 1
	}
	return 1 + min(1, float64(lanes-1)/float64(wide))
}

// LoadBytes is what one lane's share of such a load takes L1's data pipe for, in
// bytes.
func LoadBytes(elem, stride int, aligned bool) float64 {
	return rowWavefronts(elem, stride, aligned) * WavefrontBytes / 32
}

// Centred are the points with dx = 0: a warp's loads of them begin on a cache line.
func Centred(points []stencil.Offset) []stencil.Offset {
	var c []stencil.Offset
	for _, o := range points {
		if o[0] == 0 {
			c = append(c, o)
		}
	}
	return c
}
