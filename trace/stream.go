package trace

import (
	"fmt"
	"iter"

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
)

// warpLanes is the threads of a warp.
const warpLanes = 32

// ParseGrain reads a grain's name.
func ParseGrain(text string) (Grain, error) {
	if g := Grain(text); g == Threads || g == Warps {
		return g, nil
	}
	return "", fmt.Errorf("%q: use thread or warp", text)
}

// lanes is the threads of a step.
func (g Grain) lanes() int {
	if g == Warps {
		return warpLanes
	}
	return 1
}

// steps yields the load instructions of each thread or warp, each of them the
// elements that its lanes ask for. Blocks run in the order of their numbers, as if
// there were one SM that holds one block. Steps that load nothing are left out.
func (s Stream) steps(g Grain) iter.Seq[[][]int64] {
	return func(yield func([][]int64) bool) {
		lists := make([][]int64, g.lanes())
		var step [][]int64
		for block := range s.Launch.Blocks() {
			for first := 0; first < s.Launch.Threads(); first += len(lists) {
				lanes := min(len(lists), s.Launch.Threads()-first)
				longest := 0
				for lane := range lanes {
					lists[lane] = s.Loads(block, first+lane, lists[lane][:0])
					longest = max(longest, len(lists[lane]))
				}
				if longest == 0 {
					continue
				}
				for len(step) < longest {
					step = append(step, nil)
				}
				step = step[:longest]
				for i := range step {
					step[i] = step[i][:0]
					for lane := range lanes {
						if i < len(lists[lane]) && lists[lane][i] != kernels.Idle {
							step[i] = append(step[i], lists[lane][i])
						}
					}
				}
				if !yield(step) {
					return
				}
			}
		}
	}
}
