package model

import (
	"cmp"
	"math"

	"stenciltune/kernels"
	"stenciltune/machine"
	"stenciltune/stencil"
)

// MissRate is Lam, Rothberg and Wolf's interference formula for a variable that is
// used again: M(v) = 1 - (1 - S(v)) prod over others (1 - F(u)), with self
// interference S and the share F of the cache that each other one takes between
// two uses ("The Cache Performance and Optimizations of Blocked Algorithms", 1991).
func MissRate(self float64, others ...float64) float64 {
	hit := 1 - self
	for _, f := range others {
		hit *= 1 - math.Min(1, math.Max(0, f))
	}
	return 1 - hit
}

// missed is the share of re-reads at a reuse distance that a cache of the given
// size no longer holds: smooth, because GPU caches are neither LRU nor fully
// associative. It stands in for Lam's self interference S(v), with in and out taken
// as one variable.
func missed(distance, size, sharp float64) float64 {
	if size <= 0 {
		return 0
	}
	return 1 / (1 + math.Pow(size/distance, sharp))
}

// LayerCondition says whether a cache level still holds what is read again on an
// axis of the walk. Bytes.
type LayerCondition struct {
	Level    string  `json:"level"`    // "L1", "L2"
	Axis     string  `json:"axis"`     // what is read again: "block", "x", "y", "z", "launch" (all of the grid)
	Distance float64 `json:"distance"` // touched between the two uses
	Capacity float64 `json:"capacity"`
	Missed   float64 `json:"missed"` // share fetched again
	Again    float64 `json:"again"`  // cells read again for each cell written
	Met      bool    `json:"met"`    // no more than half is fetched again
}

// layerConditions are those of a schedule's walk: blocks in the order of the grid,
// or in columns. wave is the blocks in flight, resident those of an SM.
func (c Coefficients) layerConditions(p stencil.Problem, w kernels.Work, m machine.Machine, wave float64, resident int) []LayerCondition {
	var list []LayerCondition
	add := func(level, axis string, distance, capacity, again, share float64) {
		list = append(list, LayerCondition{level, axis, distance, capacity, share, again, share <= 0.5})
	}
	if w.Shared == 0 { // what a block's threads share goes through L1
		footprint := w.L2Read / float64(w.Blocks())
		loads := w.L1Loads/(float64(w.Blocks())*footprint) - 1
		distance, capacity := footprint*float64(resident), float64(m.CacheSM()-resident*w.Launch.SharedBytes)
		share := missed(distance, capacity, c.L2Sharp)
		if w.Line.RowLines > 0 {
			loads, share = w.Line.Asked*kernels.LineBytes/w.L2Read-1, evicted(w, float64(resident), m)
		}
		add("L1", "block", distance, capacity, math.Max(loads, 0), share)
	}
	distance := reuseDistances(p, w, wave)
	for a := range p.Stencil.Dims {
		if again := float64(w.Read[a]-w.Write[a]) / float64(w.Write[a]); again > 0 {
			capacity := c.L2Knee * float64(m.L2Bytes)
			share := missed(distance[a], capacity, c.L2Sharp)
			add("L2", "xyz"[a:a+1], distance[a], capacity, again, share)
		}
	}
	add("L2", "launch", touched(p, w), c.Resident*float64(m.L2Bytes), 1, c.fetched(p, w, float64(m.L2Bytes)))
	return list
}

// touched is the bytes that a launch reads and writes, each counted once.
func touched(p stencil.Problem, w kernels.Work) float64 { return readOnce(p, w) + w.L2Write }

// readOnce is the bytes of the arrays that a launch reads from memory.
func readOnce(p stencil.Problem, w kernels.Work) float64 {
	return float64(p.Size.Cells()) * float64(p.DType.Size()*cmp.Or(w.Arrays, p.Stencil.Reads())) * p.ReadShare()
}

// fetched is the share of what a launch touches that an L2 of so many bytes has lost since the
// launch before, of launches that follow each other. It is no sudden end: L2 replaces at random,
// more or less.
func (c Coefficients) fetched(p stencil.Problem, w kernels.Work, l2Bytes float64) float64 {
	return missed(touched(p, w), c.Resident*l2Bytes, 2)
}
