package search_test

import (
	"flag"
	"fmt"
	"runtime"
	"testing"

	"stenciltune/outcome"
	"stenciltune/search"
	"stenciltune/space"
	"stenciltune/timing"
)

var flagSpace = flag.Int("space", 5, "powers of ten of schedules in the large space")

// A search needs so much memory for its space that ten times the largest of ours leaves it below 300 MB:
// -space 6 measures it.
func TestALargeSpaceFitsInMemory(t *testing.T) {
	if testing.Short() {
		t.Skip("lists a large space")
	}
	var params []space.Param
	for i := range *flagSpace {
		p := space.Param{Name: fmt.Sprint("p", i), Ordinal: true}
		for v := range 10 {
			p.Values = append(p.Values, v+1)
		}
		params = append(params, p)
	}
	seconds := func(s space.Schedule) float64 { return 1e-4 * float64(s.Int("p0", 1)+s.Int("p1", 1)) }
	var before, after runtime.MemStats
	for _, name := range search.Names() {
		runtime.GC()
		runtime.ReadMemStats(&before)
		sp := space.New(&space.Family{Name: "large", Params: params})
		strategy, err := search.New(name, search.Options{Space: sp, Prior: seconds, Seed: 1})
		if err != nil {
			t.Fatal(err)
		}
		for range 30 {
			var told []outcome.Outcome
			for _, s := range strategy.Ask(4) {
				told = append(told, outcome.Outcome{Schedule: s, Status: timing.OK, Series: timing.Series{Summary: timing.Summary{N: 1, Median: seconds(s)}}})
			}
			strategy.Tell(told)
		}
		runtime.GC()
		runtime.ReadMemStats(&after)
		held, all := float64(after.HeapAlloc)-float64(before.HeapAlloc), float64(after.Sys)
		t.Logf("%s: %d schedules hold %.0f MB; %.0f MB from the system so far", name, sp.Size(), held/1e6, all/1e6)
		if limit := 300 * float64(sp.Size()); held > max(limit, 10e6) {
			t.Errorf("%s holds %.0f bytes a schedule", name, held/float64(sp.Size()))
		}
		runtime.KeepAlive(strategy)
	}
}
