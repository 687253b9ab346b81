package timing

import "slices"

// Resolution is the least relative difference that counts: what the stopping
// rule leaves undecided about a single median.
const Resolution = 0.005

// Pair is how much slower b is than a, from samples taken in turn.
type Pair struct {
	Difference  float64 // median of b/a - 1 over the pairs
	Low, High   float64 // its 95 % interval
	Significant bool    // the interval excludes 0 and the difference is at least Resolution
}

// ComparePaired compares two interleaved series sample by sample, so that what
// disturbed a moment falls on both. With fewer than six pairs nothing is significant.
func ComparePaired(a, b []float64) Pair {
	n := min(len(a), len(b))
	ratios := make([]float64, 0, n)
	for i := range n {
		ratios = append(ratios, b[i]/a[i]-1)
	}
	slices.Sort(ratios)
	s := Summarise(ratios)
	p := Pair{Difference: s.Median, Low: s.Low, High: s.High}
	p.Significant = n >= 6 && (s.Low > 0 || s.High < 0) && (s.Median >= Resolution || s.Median <= -Resolution)
	return p
}
