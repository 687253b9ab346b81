package all

import (
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"stenciltune/kernels"
	"stenciltune/stencil"
)

// TestSharesAreEveryPlaneOfEveryTile: shares.cu leaves none out and none to two blocks, and the
// model counts as many.
func TestSharesAreEveryPlaneOfEveryTile(t *testing.T) {
	seed := rand.Uint64()
	t.Logf("seed %d", seed)
	r := rand.New(rand.NewPCG(seed, 0))
	var cases [][4]int // tiles, planes, workers, planes that a share computes besides its own
	for i := range 2000 {
		tiles := 1 + r.IntN([]int{4, 40, 300, 2000}[i%4])
		cases = append(cases, [4]int{tiles, 1 + r.IntN([]int{20, 700}[i%2]), 1 + r.IntN([]int{8, 132, 528}[i%3]), r.IntN(30)})
	}
	cases = append(cases, [4]int{81, 512, 132, 8}, [4]int{1, 1, 1, 0}, [4]int{131, 512, 132, 8}, [4]int{132, 512, 132, 8}, [4]int{133, 512, 132, 8})
	var b strings.Builder
	b.WriteString(`#include <algorithm>
#include <cstdio>
#define __device__
#define __forceinline__ inline
using std::max;
static int ceil_div(int a, int b) { return (a + b - 1) / b; }
static struct { int x; } gridDim, blockIdx;
` + kernels.SharesPiece().Text + `
static void all(int tiles, int planes, int rise, int blocks) {
  gridDim = {blocks};
  for (blockIdx.x = 0; blockIdx.x < blocks; blockIdx.x++) {
    const Share s = own_share(tiles, planes, rise);
    if (s.from != s.to) printf("%d %d %d ", s.tile, s.from, s.to);
  }
  puts("");
}
int main() {
`)
	tiling := func(c [4]int) (kernels.Tiling, stencil.Size) {
		return kernels.Tiling{Hold: [3]int{1, 1, 1}, Step: [3]int{1, 1, 1}, Pack: 1, Extra: c[3], Workers: c[2]}, stencil.Size{c[0], 1, c[1]}
	}
	for _, c := range cases {
		of, n := tiling(c)
		fmt.Fprintf(&b, "  all(%d, %d, %d, %d);\n", c[0], c[1], kernels.Rise*c[3], of.Blocks(n)[0])
	}
	b.WriteString("}\n")
	lines := compileAndRun(t, b.String())
	for _, c := range cases {
		if !lines.Scan() {
			t.Fatal(lines.Err())
		}
		tiles, planes := c[0], c[1]
		next := make([][][2]int, tiles)
		n := 0
		for fields := strings.Fields(lines.Text()); len(fields) > 0; fields = fields[3:] {
			var tile, from, to int
			if _, err := fmt.Sscan(strings.Join(fields[:3], " "), &tile, &from, &to); err != nil || tile < 0 || tile >= tiles {
				t.Fatalf("%v: tile %d: %v", c, tile, err)
			}
			next[tile] = append(next[tile], [2]int{from, to})
			n++
		}
		for tile, list := range next {
			slices.SortFunc(list, func(a, b [2]int) int { return a[0] - b[0] })
			at := 0
			for _, s := range list {
				if s[0] != at || s[1] <= at {
					t.Fatalf("%v: tile %d has shares %v", c, tile, list)
				}
				at = s[1]
			}
			if at != planes {
				t.Fatalf("%v: tile %d has shares %v", c, tile, list)
			}
		}
		of, size := tiling(c)
		_, blocks, _, begins := of.Spread(size, planes)
		if counted := int(math.Round(blocks * begins)); counted < n || counted > n+c[2] { // parts of less than a plane are counted, too
			t.Errorf("%v: %d shares, %d counted", c, n, counted)
		}
	}
}
