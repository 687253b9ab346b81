package timing

import (
	"math"
	"slices"
	"strconv"
)

// Series is the record of one schedule's timing: the samples in the order taken
// and what they come to. A sample is seconds per time step.
type Series struct {
	Samples   []float64 `json:"samples"`
	Launches  int       `json:"launches"`            // kernel launches in each sample
	Steps     int       `json:"steps"`               // time steps in each sample
	Discarded int       `json:"discarded,omitempty"` // samples thrown away: throttled, zero, negative or NaN
	CutSlow   bool      `json:"cut_slow,omitempty"`
	Warnings  []string  `json:"warnings,omitempty"`
	Summary
}

// Over is the series as if each sample had taken so many times less.
func (s Series) Over(factor float64) Series {
	if factor == 1 {
		return s
	}
	s.Samples = slices.Clone(s.Samples)
	for i := range s.Samples {
		s.Samples[i] /= factor
	}
	s.Summary = Summarise(s.Samples)
	return s
}

// Summary is the median of a set of samples with its 95 % interval from order
// statistics: no assumption on the distribution.
type Summary struct {
	Median float64 `json:"median"`
	Low    float64 `json:"low"`  // lower end of the interval
	High   float64 `json:"high"` // upper end of the interval
	Min    float64 `json:"min"`
	N      int     `json:"n"`
}

// RelHalfWidth is half the interval's width as a share of the median; +Inf
// without samples.
func (s Summary) RelHalfWidth() float64 {
	if s.N == 0 || s.Median <= 0 {
		return math.Inf(1)
	}
	return (s.High - s.Low) / 2 / s.Median
}

// Overlaps tells whether the two intervals share a point.
func (s Summary) Overlaps(t Summary) bool { return s.Low <= t.High && t.Low <= s.High }

// Summarise computes the median of samples and its 95 % interval: the order
// statistics whose binomial(n, 1/2) coverage first reaches 95 %. With fewer than
// six samples no pair covers 95 %, and the whole range is given.
func Summarise(samples []float64) Summary {
	n := len(samples)
	if n == 0 {
		return Summary{}
	}
	s := slices.Clone(samples)
	slices.Sort(s)
	k := intervalRank(n)
	return Summary{Median: Median(s), Low: s[k], High: s[n-1-k], Min: s[0], N: n}
}

// Median is the median of sorted values, of which there are some.
func Median(sorted []float64) float64 {
	n := len(sorted)
	if n%2 == 1 {
		return sorted[n/2]
	}
	return (sorted[n/2-1] + sorted[n/2]) / 2
}

// intervalRank is the largest k such that [x(k), x(n-1-k)] (from 0) still covers
// the median with probability at least 0.95: 1 - 2 P(Bin(n,1/2) <= k) >= 0.95
// with the tail below rank k.
func intervalRank(n int) int {
	if n > 1000 { // 0.5^n would vanish: the normal approximation, on the safe side
		return int(float64(n)/2-0.98*math.Sqrt(float64(n))) - 1
	}
	tail, p := 0.0, math.Pow(0.5, float64(n)) // P(Bin = 0)
	k := 0
	for i := 0; i < n/2; i++ {
		tail += p
		if 1-2*tail < 0.95 {
			break
		}
		k = i
		p *= float64(n-i) / float64(i+1)
	}
	return k
}

// Digits keeps so many significant digits of a value: what timers resolve, or what is
// the same on all processors.
func Digits(v float64, n int) float64 {
	r, err := strconv.ParseFloat(strconv.FormatFloat(v, 'g', n, 64), 64)
	if err != nil { // beyond the largest float64
		return v
	}
	return r
}
