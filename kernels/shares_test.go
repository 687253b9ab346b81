package kernels

import (
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"stenciltune/stencil"
)

// TestSharesAreEveryPlaneOfEveryTile: shares.cu leaves none out and none to two blocks, and the
// model counts as many.
func TestSharesAreEveryPlaneOfEveryTile(t *testing.T) {
	cc := os.Getenv("CXX")
	if cc == "" {
		cc = "c++"
	}
	if _, err := exec.LookPath(cc); err != nil {
		t.Skip("no C++ compiler to run the kernels' text with")
	}
	seed := rand.Uint64()
	t.Logf("seed %d", seed)
	r := rand.New(rand.NewPCG(seed, 0))
	var cases [][4]int // tiles, planes, workers, rise
	for i := range 2000 {
		tiles := 1 + r.IntN([]int{4, 40, 300, 2000}[i%4])
		cases = append(cases, [4]int{tiles, 1 + r.IntN([]int{20, 700}[i%2]), 1 + r.IntN([]int{8, 132, 528}[i%3]), r.IntN(60)})
	}
	cases = append(cases, [4]int{81, 512, 132, 16}, [4]int{1, 1, 1, 0}, [4]int{131, 512, 132, 16}, [4]int{132, 512, 132, 16}, [4]int{133, 512, 132, 16})
	var b strings.Builder
	b.WriteString(`#include <algorithm>
#include <cstdio>
#define __device__
#define __forceinline__ inline
using std::max;
static int ceil_div(int a, int b) { return (a + b - 1) / b; }
static struct { int x; } gridDim, blockIdx;
` + sharesText + `
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
	for _, c := range cases {
		fmt.Fprintf(&b, "  all(%d, %d, %d, %d);\n", c[0], c[1], c[3], c[0]+c[2])
	}
	b.WriteString("}\n")
	dir := t.TempDir()
	file, program := filepath.Join(dir, "shares.cpp"), filepath.Join(dir, "shares")
	if err := os.WriteFile(file, []byte(b.String()), 0o600); err != nil {
		t.Fatal(err)
	}
	if out, err := exec.Command(cc, "-std=c++17", "-O1", "-o", program, file).CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	out, err := exec.Command(program).Output()
	if err != nil {
		t.Fatal(err)
	}
	lines := strings.Split(string(out), "\n")
	for i, c := range cases {
		tiles, planes := c[0], c[1]
		next := make([][][2]int, tiles)
		n := 0
		for fields := strings.Fields(lines[i]); len(fields) > 0; fields = fields[3:] {
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
		if counted := count(sharesOf(tiles, planes, c[2], c[3])); counted < n || counted > n+c[2] { // parts of less than a plane are counted, too
			t.Errorf("%v: %d shares, %d counted", c, n, counted)
		}
	}
}

// TestSharesAreAboutEqual: no worker has more than a few shares' begin more to do than the mean, on grids that leave a third of the SMs idle else.
func TestSharesAreAboutEqual(t *testing.T) {
	for _, c := range []struct {
		n     stencil.Size
		most  float64 // plane steps of the busiest block beyond the mean
		extra int
	}{{stencil.Size{512, 512, 512}, 1.08, 8}, {stencil.Size{520, 512, 512}, 1.08, 8}, {stencil.Size{700, 500, 450}, 1.08, 8}, {stencil.Size{640, 640, 640}, 1.08, 8}} {
		tiling := Tiling{Hold: [3]int{64, 64, 1}, Step: [3]int{56, 56, 1}, Pack: 1, Extra: c.extra, Workers: 132}
		g := tiling.Blocks(c.n)
		if g[0] < 132 || g[1] != 1 || g[2] != 1 {
			t.Errorf("%v: blocks %v", c.n, g)
		}
		tiles, blocks, streamed, begins := tiling.Spread(c.n, c.n[2])
		whole := tiling
		whole.Workers, whole.Fixed[2] = 0, 1
		columns := whole.Blocks(c.n)
		if blocks != 132 || streamed != float64(columns[0]*columns[1]*c.n[2])/132 || begins < 1 || begins > 2.5 || tiles[0] != columns[0] {
			t.Errorf("%v: tiles %v, %g blocks of %g planes that begin %g times", c.n, tiles, blocks, streamed, begins)
		}
		// Blocks start in their order, each when another has ended.
		busy := make([]int, 132)
		longest := 0
		for _, s := range sharesOf(columns[0]*columns[1], c.n[2], 132, Rise*c.extra) {
			for range s.tiles {
				i := 0
				for k := range busy {
					if busy[k] < busy[i] {
						i = k
					}
				}
				busy[i] += s.to - s.from + c.extra
				longest = max(longest, busy[i])
			}
		}
		if mean := streamed + begins*float64(c.extra); float64(longest) > c.most*mean {
			t.Errorf("%v: the longest of %d plane steps, %.0f on average", c.n, longest, mean)
		}
	}
}
