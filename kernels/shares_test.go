package kernels

import (
	"testing"

	"stenciltune/stencil"
)

// TestSharesAreAboutEqual: no worker has more than a few shares' begin more to do than the mean, on grids that leave a third of the SMs idle else.
func TestSharesAreAboutEqual(t *testing.T) {
	const most = 1.08 // of the mean, the plane steps of the busiest block
	tiling := Tiling{Hold: [3]int{64, 64, 1}, Step: [3]int{56, 56, 1}, Pack: 1, Extra: 8, Workers: 132}
	for _, n := range []stencil.Size{{512, 512, 512}, {520, 512, 512}, {700, 500, 450}, {640, 640, 640}} {
		g := tiling.Blocks(n)
		if g[0] < 132 || g[1] != 1 || g[2] != 1 {
			t.Errorf("%v: blocks %v", n, g)
		}
		tiles, blocks, streamed, begins := tiling.Spread(n, n[2])
		columns := tiling.columns(n)
		if blocks != 132 || streamed != float64(columns[0]*columns[1]*n[2])/132 || begins < 1 || begins > 2.5 || tiles[0] != columns[0] {
			t.Errorf("%v: tiles %v, %g blocks of %g planes that begin %g times", n, tiles, blocks, streamed, begins)
		}
		// Blocks start in their order, each when another has ended.
		busy := make([]int, 132)
		longest := 0
		for _, s := range sharesOf(columns[0]*columns[1], n[2], 132, Rise*tiling.Extra) {
			for range s.tiles {
				i := 0
				for k := range busy {
					if busy[k] < busy[i] {
						i = k
					}
				}
				busy[i] += s.to - s.from + tiling.Extra
				longest = max(longest, busy[i])
			}
		}
		if mean := streamed + begins*float64(tiling.Extra); float64(longest) > most*mean {
			t.Errorf("%v: the longest of %d plane steps, %.0f on average", n, longest, mean)
		}
	}
}
