package search_test

import (
	"io"
	"math"
	"os"
	"slices"
	"strings"
	"testing"
	"time"

	"stenciltune/outcome"
	"stenciltune/search"
	"stenciltune/search/searchtest"
	"stenciltune/space"
	"stenciltune/timing"
)

func TestNewUnknown(t *testing.T) {
	_, err := search.New("anneal", search.Options{Space: space.New()})
	if err == nil {
		t.Fatal("no error")
	}
	for _, n := range append(search.Names(), "anneal") {
		if !strings.Contains(err.Error(), n) {
			t.Errorf("%q does not name %s", err, n)
		}
	}
	if _, err := search.New("random", search.Options{}); err == nil {
		t.Error("no space, no error")
	}
	if _, err := search.New("model", search.Options{Space: space.New()}); err == nil {
		t.Error("strategy model without a prior, no error")
	}
}

func TestStop(t *testing.T) {
	all := search.Stop{Budget: 10, Time: time.Minute, Stall: 5, Converged: 7, Roofline: 0.9}
	soon := search.Stop{Stall: 5, Foretold: 3}
	slow := search.Stop{Time: time.Minute, Least: 7, Most: 2 * time.Minute}
	for _, c := range []struct {
		name string
		stop search.Stop
		at   search.Progress
		want search.Reason
	}{
		{"running", all, search.Progress{Evaluated: 9, SinceBest: 4, Elapsed: 59 * time.Second, Left: true}, ""},
		{"budget", all, search.Progress{Evaluated: 10, SinceBest: 5, Elapsed: time.Hour}, search.Budget},
		{"time", all, search.Progress{Evaluated: 9, SinceBest: 5, Elapsed: time.Minute}, search.TimeLimit},
		{"stall", all, search.Progress{Evaluated: 9, SinceBest: 5}, search.Stall},
		{"stall, not foretold", soon, search.Progress{SinceBest: 4, Left: true}, ""},
		{"stall, foretold", soon, search.Progress{SinceBest: 3, Foretells: true}, search.Stall},
		{"stall that was asked for", all, search.Progress{SinceBest: 4, Foretells: true, Left: true}, ""},
		{"roofline", all, search.Progress{Evaluated: 9, Roofline: 0.9, SinceBest: 5}, search.Roofline},
		{"converged", all, search.Progress{Evaluated: 9, Roofline: 0.89, Converged: 7}, search.Converged},
		{"exhausted", all, search.Progress{Evaluated: 9}, search.Exhausted},
		{"time waits", slow, search.Progress{Evaluated: 6, Elapsed: 119 * time.Second, Left: true}, ""},
		{"time waits no longer", slow, search.Progress{Evaluated: 6, Elapsed: 2 * time.Minute, Left: true}, search.TimeLimit},
		{"enough for the time", slow, search.Progress{Evaluated: 7, Elapsed: time.Minute, Left: true}, search.TimeLimit},
		{"no rules", search.Stop{}, search.Progress{Evaluated: 1 << 30, SinceBest: 1 << 30, Elapsed: 1 << 60, Left: true}, ""},
		{"no rules, nothing left", search.Stop{}, search.Progress{}, search.Exhausted},
	} {
		got, done := c.stop.Done(c.at)
		if got != c.want || done != (c.want != "") {
			t.Errorf("%s: %q, %v", c.name, got, done)
		}
	}
}

func TestTracker(t *testing.T) {
	var tr search.Tracker
	if _, ok := tr.Best(); ok {
		t.Error("the best of nothing")
	}
	for i, c := range []struct {
		status    timing.Status
		seconds   float64
		evaluated int
		since     int
		best      float64
	}{
		{timing.Rejected, 0, 1, 1, 0},
		{timing.CompileError, 0, 2, 2, 0},
		{timing.CutSlow, 0.5, 3, 3, 0},
		{timing.OK, 2.000, 4, 0, 2.000},
		{timing.Skipped, 0, 4, 0, 2.000},
		{timing.OK, 1.998, 5, 1, 1.998}, // better, too little to count
		{timing.OK, 1.995, 6, 0, 1.995}, // the two together count
		{timing.OK, 1.995, 7, 1, 1.995},
		{timing.OK, math.NaN(), 8, 2, 1.995},
		{timing.CutSlow, 1.0, 9, 3, 1.995}, // roughly known times cannot win
		{timing.WrongAnswer, 0, 10, 4, 1.995},
	} {
		o := outcome.At(space.Schedule{}, c.seconds, 0)
		o.Status = c.status
		tr.Add(o)
		p := tr.Progress(time.Second, true)
		best, _ := tr.Best()
		if p.Evaluated != c.evaluated || p.SinceBest != c.since || best.Seconds() != c.best || !p.Left || p.Elapsed != time.Second {
			t.Errorf("after %d (%s): %+v, best %v; want %d, %d, %v", i, c.status, p, best.Seconds(), c.evaluated, c.since, c.best)
		}
	}
}

func TestModelOrder(t *testing.T) {
	sp := space.New(&space.Family{Name: "f", Params: []space.Param{{Name: "a", Values: []int{1, 2, 3, 4, 5, 6, 7}}}})
	prior := map[int]float64{1: math.NaN(), 2: 2, 3: 1, 4: 2, 5: math.Inf(1), 6: -1, 7: 0.5}
	s, err := search.New("model", search.Options{Space: sp, Prior: func(s space.Schedule) float64 { return prior[s.Int("a", 0)] }})
	if err != nil {
		t.Fatal(err)
	}
	var got []int
	for _, a := range s.Ask(10) {
		got = append(got, a.Int("a", 0))
	}
	if want := []int{7, 3, 2, 4, 1, 5, 6}; !slices.Equal(got, want) {
		t.Errorf("order %v, want %v", got, want)
	}
}

// TestExhaustiveWalksSourceBySource: every schedule once, of those of one source one long before
// the others, and a tenth of the walk has met each family about as often as the space holds it.
func TestExhaustiveWalksSourceBySource(t *testing.T) {
	l, _ := searchtest.Jagged(0)
	for _, f := range l.Space.Families() {
		for i := range f.Params {
			f.Params[i].Launch = f.Params[i].Name == "chunk"
		}
	}
	s, err := search.New("exhaustive", search.Options{Space: l.Space})
	if err != nil {
		t.Fatal(err)
	}
	got := s.Ask(1 << 30)
	all, families := 0, map[string]int{}
	for sc := range l.Space.All() {
		all++
		families[sc.Family()]++
	}
	seen, early, first := map[space.Schedule]bool{}, map[string]int{}, map[space.Schedule]int{}
	last := len(got) - 1000 // at its end a walk has no more sources to be ahead with
	for i, sc := range got {
		if seen[sc] {
			t.Fatalf("%s twice", sc)
		}
		seen[sc] = true
		if i < len(got)/10 {
			early[sc.Family()]++
		}
		if sc.Family() != "stream" {
			continue
		}
		source := sc.With("chunk", 0)
		at, compiled := first[source]
		if !compiled {
			first[source] = i
		} else if i < last && (i-at < 64 || i-at > 2000) {
			t.Errorf("%s: %d after the first of its source", sc, i-at)
		}
	}
	if len(got) != all {
		t.Errorf("%d proposed of %d", len(got), all)
	}
	for f, n := range families {
		if want := float64(n) / 10; n > 1000 && math.Abs(float64(early[f])-want) > 0.2*want {
			t.Errorf("%s: %d in the first tenth, %.0f expected", f, early[f], want)
		}
	}
}

// TestAfterADriftTheNewPaceCounts: what improves on the best that is left is an improvement.
func TestAfterADriftTheNewPaceCounts(t *testing.T) {
	var tr search.Tracker
	tr.Add(outcome.At(space.Schedule{}, 1, 0), outcome.At(space.Schedule{}, 1.1, 0))
	tr.Forget([]outcome.Outcome{outcome.At(space.Schedule{}, 1.3, 0)})
	tr.Add(outcome.At(space.Schedule{}, 1.25, 0))
	if p := tr.Progress(0, true); p.SinceBest != 0 {
		t.Errorf("%d since the best", p.SinceBest)
	}
	tr.Forget([]outcome.Outcome{outcome.At(space.Schedule{}, 0.8, 0)})
	tr.Add(outcome.At(space.Schedule{}, 0.9, 0))
	if p := tr.Progress(0, true); p.SinceBest != 1 {
		t.Errorf("%d since the best, which was not improved on", p.SinceBest)
	}
}

// TestSeedsDiffer: the strategies that draw do so by their seed.
func TestSeedsDiffer(t *testing.T) {
	l, smooth := searchtest.Jagged(0)
	for _, name := range []string{"bayes", "random", "descent"} {
		var first []space.Schedule
		for seed := range uint64(2) {
			s, err := search.New(name, search.Options{Space: l.Space, Prior: searchtest.Prior(l, smooth, searchtest.Good), Seed: seed})
			if err != nil {
				t.Fatal(err)
			}
			c := searchtest.Run(s, l, 40, 4)
			if seed == 0 {
				first = c.Order
			} else if slices.Equal(first, c.Order) {
				t.Errorf("%s: seeds 0 and 1 propose the same", name)
			}
		}
	}
}

// TestSameSeedLong: a long run of every strategy repeats to the letter.
func TestSameSeedLong(t *testing.T) {
	l, smooth := searchtest.Jagged(2)
	for _, name := range search.Names() {
		var first []space.Schedule
		for range 2 {
			s, err := search.New(name, search.Options{Space: l.Space, Prior: searchtest.Prior(l, smooth, searchtest.Noisy), Seed: 5})
			if err != nil {
				t.Fatal(err)
			}
			c := searchtest.Run(s, l, 150, 5)
			if first == nil {
				first = c.Order
			} else if !slices.Equal(first, c.Order) {
				t.Errorf("%s: the same seed, another sequence", name)
			}
		}
	}
}

// TestSilent: no strategy writes to standard output or error.
func TestSilent(t *testing.T) {
	r, w, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	out, errOut := os.Stdout, os.Stderr
	os.Stdout, os.Stderr = w, w
	l, _ := searchtest.Jagged(1)
	for _, name := range []string{"bayes"} {
		s, err := search.New(name, search.Options{Space: l.Space})
		if err == nil {
			searchtest.Run(s, l, 30, 3)
		}
	}
	os.Stdout, os.Stderr = out, errOut
	w.Close()
	b, err := io.ReadAll(r)
	if err != nil || len(b) > 0 {
		t.Errorf("written: %q, %v", b, err)
	}
}

// TestThePageOfSearchHasEveryStrategy: docs/search.md has a row for each.
func TestThePageOfSearchHasEveryStrategy(t *testing.T) {
	page, err := os.ReadFile("../docs/search.md")
	if err != nil {
		t.Fatal(err)
	}
	for _, name := range search.Names() {
		if !strings.Contains(string(page), "| `"+name+"` |") {
			t.Errorf("%s has no row in docs/search.md", name)
		}
	}
}
