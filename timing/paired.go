package timing

import "slices"

// Resolution is the least relative difference that counts: what the stopping
// rule leaves undecided about a single median.
const Resolution = 0.005

// fewPairs is where the interval of the median ratio begins to mean something: of
// six fair coins all fall alike once in 32 times.
const fewPairs = 6

// LeastPairs is the number of pairs below which nothing differs.
const LeastPairs = 4

// Differ tells whether two interleaved series differ by at least Resolution, and not by
// chance (5 %): in the median of their ratio, sample by sample, so that what disturbed a
// moment falls on both. Below six pairs the order statistics cannot reach 95 %, so two
// series differ if no sample of one lies within the other's range (four against four do so
// by chance in 2 of 70 cases); below four nothing differs.
func Differ(a, b []float64) bool {
	n := min(len(a), len(b))
	ratios := make([]float64, 0, n)
	for i := range n {
		ratios = append(ratios, b[i]/a[i]-1)
	}
	s := Summarise(ratios)
	differ := s.Low > 0 || s.High < 0
	if n < fewPairs {
		differ = n >= LeastPairs && (slices.Min(a) > slices.Max(b) || slices.Min(b) > slices.Max(a))
	}
	return differ && (s.Median >= Resolution || s.Median <= -Resolution)
}
