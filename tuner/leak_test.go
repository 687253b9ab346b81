package tuner

import (
	"flag"
	"os"
	"runtime"
	"testing"

	"stenciltune/search"
)

var flagTrials = flag.Int("trials", 1500, "replayed trials of the test for leaks")

// A program that tunes a problem again and again holds no more for it: neither memory nor files. -trials 100000 measures
// it. What families plan for a stencil they keep: it is parsed once here.
func TestManyTunesLeakNothing(t *testing.T) {
	if testing.Short() {
		t.Skip("tunes many times")
	}
	const each = 500 // trials of a tune
	state := func() (heap float64, files int) {
		runtime.GC()
		var m runtime.MemStats
		runtime.ReadMemStats(&m)
		list, err := os.ReadDir("/proc/self/fd")
		if err != nil {
			t.Skip("no /proc here")
		}
		return float64(m.HeapAlloc), len(list)
	}
	p, d := replayed(t)
	d.Close()
	tune := func(seed int) int {
		d, err := OpenDevice(t.Context(), "replay:h200", p)
		if err != nil {
			t.Fatal(err)
		}
		defer d.Close()
		c, err := open(t).Tune(t.Context(), p, d, Options{Strategy: "random", Seed: uint64(seed), Stop: search.Stop{Budget: each}})
		if err != nil {
			t.Fatal(err)
		}
		return c.Search.Evaluated
	}
	tune(0) // lists and caches that stay
	heap, files := state()
	trials := 0
	for seed := 1; trials < *flagTrials; seed++ {
		trials += tune(seed)
	}
	after, open := state()
	t.Logf("%d trials: %+.0f bytes each, %d files open, were %d", trials, (after-heap)/float64(trials), open, files)
	if after-heap > 4e6 || open > files {
		t.Errorf("%.0f bytes more after %d trials; %d files open, were %d", after-heap, trials, open, files)
	}
}
