package search_test

import (
	"fmt"

	"stenciltune/outcome"
	"stenciltune/search"
	"stenciltune/space"
	"stenciltune/timing"
)

// A search asks for schedules, runs them and tells what became of them, until a
// rule ends it.
func Example() {
	sp := space.New(&space.Family{Name: "tile", Params: []space.Param{
		{Name: "gx", Values: []int{8, 16, 32, 64, 128, 256}, Ordinal: true},
		{Name: "gy", Values: []int{1, 2, 4, 8, 16}, Ordinal: true},
	}})
	run := func(s space.Schedule) outcome.Outcome {
		threads := s.Int("gx", 1) * s.Int("gy", 1)
		if threads > 1024 {
			return outcome.Outcome{Schedule: s, Status: timing.LaunchError}
		}
		return outcome.At(s, 1/float64(threads)+1e-4*float64(s.Int("gy", 1)), 0)
	}
	strategy, err := search.New("bayes", search.Options{Space: sp, Seed: 1})
	if err != nil {
		fmt.Println(err)
		return
	}
	var tracker search.Tracker
	stop := search.Stop{Budget: 25}
	for {
		asked := strategy.Ask(4)
		if reason, done := stop.Done(tracker.Progress(0, len(asked) > 0)); done {
			best, _ := tracker.Best()
			fmt.Println(best.Schedule, reason)
			return
		}
		for _, s := range asked {
			o := run(s)
			tracker.Add(o)
			strategy.Tell([]outcome.Outcome{o})
		}
	}
	// Output: tile/gx=256/gy=4 budget
}
