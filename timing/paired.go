package timing

import "slices"

// Resolution is the least relative difference that counts: what the stopping
// rule leaves undecided about a single median.
const Resolution = 0.005

// Pair is how much slower b is than a, from samples taken in turn.
type Pair struct {
	Difference  float64 // median of b/a - 1 over the pairs
	Low, High   float64 // its 95 % interval
	Significant bool    // the difference is not chance (5 %) and at least Resolution
}

// fewPairs is where the interval of the median ratio begins to mean something: of
// six fair coins all fall alike once in 32 times.
const fewPairs = 6

// LeastPairs is the number of pairs below which nothing is significant.
const LeastPairs = 4

// ComparePaired compares two interleaved series sample by sample, so that what
// disturbed a moment falls on both. Below six pairs the order statistics cannot
// reach 95 %, so two series differ if no sample of one lies within the other's
// range (four against four do so by chance in 2 of 70 cases); below four nothing
// is significant.
func ComparePaired(a, b []float64) Pair {
	n := min(len(a), len(b))
	ratios := make([]float64, 0, n)
	for i := range n {
		ratios = append(ratios, b[i]/a[i]-1)
	}
	s := Summarise(ratios)
	p := Pair{Difference: s.Median, Low: s.Low, High: s.High}
	differ := s.Low > 0 || s.High < 0
	if n < fewPairs {
		differ = n >= LeastPairs && (slices.Min(a) > slices.Max(b) || slices.Min(b) > slices.Max(a))
	}
	p.Significant = differ && (s.Median >= Resolution || s.Median <= -Resolution)
	return p
}
