package kernels

import (
	"math/rand/v2"
	"testing"

	"stenciltune/stencil"
)

// TestCutTakesTheFewestPlaneSteps compares it with all numbers of stream tiles that it may choose.
func TestCutTakesTheFewestPlaneSteps(t *testing.T) {
	const seed = 20261125
	r := rand.New(rand.NewPCG(seed, 3))
	for range 2000 {
		tiling := Tiling{Hold: [3]int{64, 1 + r.IntN(64), 1}, Step: [3]int{56, 1 + r.IntN(56), 1}, Pack: 1, Extra: 1 + r.IntN(20)}
		n := stencil.Size{1 + r.IntN(3000), 1 + r.IntN(3000), 1 + r.IntN(3000)}
		atOnce := 1 + r.IntN(1200)
		columns := Volume(tiling.Blocks(stencil.Size{n[0], n[1], 1}))
		want, fewest := 0, 0
		for k := 1; k == 1 || n[2]/k > tiling.Extra && (k <= 64 || columns*k <= 4*atOnce); k++ {
			if s := CeilDiv(columns*k, atOnce) * (CeilDiv(n[2], k) + tiling.Extra); k == 1 || s < fewest {
				want, fewest = k, s
			}
		}
		if tiles, steps := tiling.Cut(n, n[2], atOnce); tiles != want || steps != fewest {
			t.Fatalf("seed %d: %+v on %v, %d at once: %d tiles and %d plane steps, want %d and %d", seed, tiling, n, atOnce, tiles, steps, want, fewest)
		}
	}
}
