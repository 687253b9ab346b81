package search_test

import (
	"runtime"
	"slices"
	"sync"
	"testing"

	"stenciltune/search"
	"stenciltune/search/searchtest"
)

// within2 is the sorted numbers of evaluations after which runs over different
// landscapes and seeds stayed within 2 % of the optimum.
func within2(t *testing.T, name string, q searchtest.Quality, seeds, budget int) []int {
	n := make([]int, seeds)
	var wait sync.WaitGroup
	slots := make(chan bool, runtime.GOMAXPROCS(0))
	for seed := range seeds {
		wait.Add(1)
		slots <- true
		go func() {
			defer func() { <-slots; wait.Done() }()
			l, smooth := searchtest.Jagged(uint64(seed))
			s, err := search.New(name, search.Options{Space: l.Space, Prior: searchtest.Prior(l, smooth, q), Seed: uint64(seed)})
			if err != nil {
				t.Error(err)
				return
			}
			n[seed] = searchtest.Run(s, l, budget, 8).Within(0.02)
		}()
	}
	wait.Wait()
	slices.Sort(n)
	return n
}

// TestBayesBeatsRandom: in the median over eight landscapes bayes comes within 2 %
// of the optimum long before random search does, and a harmful prior
// does not take that away.
func TestBayesBeatsRandom(t *testing.T) {
	if raceOn {
		t.Skip("no concurrency of ours to find races in, and slow")
	}
	const seeds = 8
	random := within2(t, "random", searchtest.None, seeds, 1000)[seeds/2]
	for _, c := range []struct {
		q    searchtest.Quality
		most int
	}{{searchtest.Good, 100}, {searchtest.Inverted, 200}, {searchtest.None, 200}} {
		n := within2(t, "bayes", c.q, seeds, 250)
		t.Logf("prior %s: median %d evaluations to 2 %%, random %d; all %v", c.q, n[seeds/2], random, n)
		if m := n[seeds/2]; m > c.most || m > random*12/10 {
			t.Errorf("prior %s: %d evaluations to 2 %%, want at most %d; random %d", c.q, m, c.most, random)
		}
	}
}

// TestDescentBeatsRandom holds for the cheap strategy as well.
func TestDescentBeatsRandom(t *testing.T) {
	const seeds = 20
	d := within2(t, "descent", searchtest.Good, seeds, 600)
	t.Logf("%v", d)
	if d[seeds/2] > 400 {
		t.Errorf("%d evaluations to 2 %%", d[seeds/2])
	}
}
