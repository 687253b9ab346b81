package trace

import (
	"fmt"
	"iter"
	"slices"

	"stenciltune/kernels"
)

// Array is one array that a launch reads. Arrays lie one after the other, each
// beginning on a cache line of its own.
type Array struct {
	Name     string
	Elements int64
}

// Stream is the loads of one launch.
type Stream struct {
	Arrays       []Array
	ElementBytes int
	Launch       kernels.Launch
	Loads        kernels.Loads // elements counted through all arrays
}

// Grain is how much of a launch runs before the rest goes on.
type Grain string

const (
	// Threads runs one thread after the other, each from beginning to end: the
	// thesis's diagrams (Prasetya 2022, section 3.2).
	Threads Grain = "thread"
	// Warps runs one warp after the other, its lanes in lockstep: what the lanes
	// load at once asks once for each cache line.
	Warps Grain = "warp"
	// Blocks runs one block after the other, its warps taking turns: each load of all
	// of them before the next.
	Blocks Grain = "block"
)

// warpLanes is the threads of a warp.
const warpLanes = 32

// ParseGrain reads a grain's name.
func ParseGrain(text string) (Grain, error) {
	if g := Grain(text); g == Threads || g == Warps || g == Blocks {
		return g, nil
	}
	return "", fmt.Errorf("%q: use thread, warp or block", text)
}

// steps yields the loads of each thread, warp or block one by one, each of them the
// elements that the lanes of a warp ask for at once. Blocks run in the order of their
// numbers, as if there were one SM that holds one block. Steps that load nothing are
// left out.
func (s Stream) steps(g Grain) iter.Seq[[][]int64] {
	threads := s.Launch.Threads()
	together, lanes := threads, warpLanes // threads of a step, and of a load
	switch g {
	case Threads:
		together, lanes = 1, 1
	case Warps:
		together = warpLanes
	}
	return func(yield func([][]int64) bool) {
		lists := make([][]int64, together)
		var step [][]int64
		for i := 0; i < s.Launch.Blocks()*threads; {
			block, thread := i/threads, i%threads
			now := lists[:min(together, threads-thread)]
			i += len(now)
			longest := 0
			for t := range now {
				now[t] = s.Loads(block, thread+t, now[t][:0])
				longest = max(longest, len(now[t]))
			}
			if step = merge(step[:0], now, lanes, longest); len(step) > 0 && !yield(step) {
				return
			}
		}
	}
}

// merge appends to step the loads of threads in lockstep: entry by entry, and of each
// warp by warp. It uses the memory that step has.
func merge(step [][]int64, threads [][]int64, lanes, longest int) [][]int64 {
	for entry := range longest {
		for warp := range slices.Chunk(threads, lanes) {
			if len(step) < cap(step) {
				step = step[:len(step)+1]
			} else {
				step = append(step, nil)
			}
			load := step[len(step)-1][:0]
			for _, list := range warp {
				if entry < len(list) && list[entry] != kernels.Idle {
					load = append(load, list[entry])
				}
			}
			step[len(step)-1] = load
		}
	}
	return step
}
