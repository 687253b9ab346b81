package cache_test

import (
	"fmt"
	"os"
	"path/filepath"
	"time"

	"stenciltune/cache"
	"stenciltune/machine"
	"stenciltune/outcome"
	"stenciltune/space"
	"stenciltune/timing"
)

// A tuner notes what it is about to run, records what became of it, and finds it
// again the next time it is started.
func Example() {
	dir, err := os.MkdirTemp("", "example")
	if err != nil {
		fmt.Println(err)
		return
	}
	defer os.RemoveAll(dir)
	store, err := cache.Open(filepath.Join(dir, "store.db"))
	if err != nil {
		fmt.Println(err)
		return
	}
	key := cache.Key{StencilHash: "5e3f", DType: "float32", Boundary: "clamp", Size: "512x512", StepsClass: cache.StepsClass(100), Regime: "warm"}
	key = key.On(machine.Machine{Kind: machine.CUDA, Name: "NVIDIA H200", ComputeCapability: "9.0", MemoryBytes: 140 << 30, Driver: "580.159.04", Compiler: "NVRTC 13.0"})

	fast, _ := space.ParseSchedule("tile/gx=32/gy=8")
	slow, _ := space.ParseSchedule("tile/gx=8/gy=32")
	if err := store.Begin(key, fast, slow); err != nil {
		fmt.Println(err)
		return
	}
	samples := []float64{1.25e-4, 1.26e-4, 1.24e-4}
	err = store.Record(key, cache.Entry{
		Outcome: outcome.Outcome{
			Schedule:   fast,
			SourceHash: "c0de",
			Status:     timing.OK,
			Series:     timing.Series{Samples: samples, Launches: 1, Steps: 2, Summary: timing.Summarise(samples)},
		},
		At: time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC),
	})
	if err != nil {
		fmt.Println(err)
		return
	}

	fmt.Println(key)
	entries, err := store.Entries(key)
	for _, e := range entries {
		fmt.Println(e.Schedule, e.Status, e.Series.Median, err)
	}
	unfinished, err := store.Unfinished(key)
	for _, i := range unfinished {
		fmt.Println(i.Schedule, "was begun", i.Attempts, "times", err)
	}
	// Output:
	// v1 stencil=5e3f dtype=float32 boundary=clamp size=512x512 steps=many regime=warm kind=cuda device="NVIDIA H200" cc=9.0 memory=140GiB driver=580 compiler="NVRTC 13"
	// tile/gx=32/gy=8 ok 0.000125 <nil>
	// tile/gx=8/gy=32 was begun 1 times <nil>
}
