package model

import (
	"math"

	"stenciltune/kernels"
	"stenciltune/machine"
)

// lineLatency is the clocks that a thread of a line waits for the loads that go out together: for
// L1, for L2 if one of them misses L1, for memory if one misses L2 too. Misses are spread evenly.
func lineLatency(w kernels.Work, r rates, dramBytes float64) float64 {
	missed := w.Line.New / math.Max(w.LoadWaits, 1)
	memory := missed * math.Min(1, math.Max(0, dramBytes-w.L2Write)/w.L2Read)
	return r.l1Latency + (1-math.Exp(-missed))*r.l2Latency + (1-math.Exp(-memory))*(r.loadLatency-r.l2Latency)
}

// together is the share of what blocks at one place of a row have in common that an SM's at blocks
// find in L1 because another of them has fetched it. Their numbers are as far apart as there are
// SMs. They do not run in step: two that are anywhere in their loops are a third of it apart, and
// L1 must hold what each place reads meanwhile.
func (c Coefficients) together(w kernels.Work, at float64, m machine.Machine) float64 {
	if w.Line.Shared == 0 {
		return 0
	}
	group, sms := w.Launch.Threads(), max(m.SMs, 1)
	places := max(1, w.Line.Column/group) // blocks of a row
	columns := math.Max(1, at*float64(sms*group)/float64(w.Line.Column*w.Line.High))
	different := math.Min(at, columns*float64(places)/float64(gcd(places, sms)))
	distance := different * w.Line.Shared * w.L2Read / float64(w.Blocks()) / 3
	kept := 1 - missed(distance, float64(m.CacheSM()-int(at)*w.Launch.SharedBytes), c.L2Sharp)
	return (1 - different/at) * kept
}

func gcd(a, b int) int {
	for b != 0 {
		a, b = b, a%b
	}
	return a
}

// Conflicts is Lam's self-interference S (see MissRate) of rows that each span wide cache lines and
// begin pitch lines apart, in a cache of so many sets and ways: the share of their lines that lie in
// sets to which more fall than they hold. Of those nothing stays if what was used least lately goes.
// Rows a power of two apart share few sets.
func Conflicts(rows, wide int, pitch float64, sets, ways int) float64 {
	count := make([]int, sets)
	for r := range rows {
		first := int(float64(r) * pitch)
		for i := range wide {
			count[(first+i)%sets]++
		}
	}
	lost := 0
	for _, n := range count {
		if n > ways {
			lost += n
		}
	}
	return float64(lost) / float64(max(rows*wide, 1))
}

// full is how sudden L1 loses what it held as more comes between two uses than it holds; l1Sets are
// its sets (Jia et al. 2018, "Dissecting the NVIDIA Volta GPU Architecture via Microbenchmarking").
const (
	full   = 8
	l1Sets = 4
)

// evicted is the share of what an SM's at blocks read again that L1 has lost before a block has done
// with it: Lam's formula, of a block's own rows and of what the others hold.
func evicted(w kernels.Work, at float64, m machine.Machine) float64 {
	l := w.Line
	if l.RowLines == 0 {
		return 0
	}
	lines := max(l1Sets, (m.CacheSM()-int(at)*w.Launch.SharedBytes)/kernels.LineBytes)
	wide := int(math.Ceil(l.RowLines * math.Min(1, l.Rows)))
	rows := (l.Deep + int(math.Ceil(l.Rows))) * l.Arrays
	self := Conflicts(rows, wide, l.Pitch, l1Sets, lines/l1Sets)
	return MissRate(self, missed(at*float64(rows*wide), float64(lines), full))
}

// lineReads is the bytes that a line's blocks fetch from L2: less what they find of each other's in
// L1, more what L1 loses.
func (c Coefficients) lineReads(w kernels.Work, at float64, m machine.Machine) float64 {
	again := math.Max(0, w.Line.Asked*kernels.LineBytes-w.L2Read)
	return w.L2Read*(1-w.Line.Shared*c.together(w, at, m)) + evicted(w, at, m)*again
}
