package kernels

import (
	"math"
	"math/rand/v2"
	"testing"

	"stenciltune/stencil"
	"stenciltune/stencil/stenciltest"
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

// TestTornSectorsAreThoseOfEveryRow counts the borders of tiles within a sector of memory, row by row: where rows hold no whole
// sectors, each begins elsewhere in one.
func TestTornSectorsAreThoseOfEveryRow(t *testing.T) {
	st := stenciltest.Lookup(t, "jacobi2d")
	for _, n := range []int{512, 516, 518, 904, 909, 1290, 1295} {
		p := stencil.Problem{Stencil: st, DType: stencil.Float32, Size: stencil.Size{n, 64, 1}} // 64 rows begin everywhere in a sector alike
		const vector, halo, hold, step = 4, 4, 64, 56                                           // of 16 bytes: no tile begins early
		torn := 0
		for row := range 64 {
			for border := step + halo; border < n-(hold-step-halo); border += step {
				if (row*n+border)%8 > 0 {
					torn++
				}
			}
		}
		want := 2 * float64(torn) / 64 / float64(CeilDiv(n, 8))
		if got := Torn(p, vector, halo, [2]int{hold, 1}, [2]int{step, 1}); math.Abs(got-want) > 1e-12 {
			t.Errorf("%d cells a row: %.4f of the sectors, want %.4f", n, got, want)
		}
	}
}
