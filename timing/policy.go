package timing

import (
	"fmt"
	"math"
)

// Regime says what the caches hold when a sample starts.
type Regime string

// The two cache regimes.
const (
	Warm Regime = "warm" // what the last step left: iterative stencils
	Cold Regime = "cold" // L2 flushed before each sample: single sweeps
)

// Policy decides how many samples a schedule is worth.
type Policy struct {
	Regime     Regime  `json:"regime"`
	MinSamples int     `json:"min_samples"`
	MaxSamples int     `json:"max_samples"`
	HalfWidth  float64 `json:"half_width"` // stop once the interval's half width is below this share of the median
	Region     float64 `json:"region"`     // seconds a sample should span at least: 50 times the clock's resolution
	TimeLimit  float64 `json:"time_limit"` // seconds of device time the schedule may use
	CutAbove   float64 `json:"cut_above"`  // stop when the fastest sample is above this; seconds per step, 0 = never
}

// coarse is the least span of a sample that the timer resolves well enough: 50
// times the 0.5 us of a CUDA event (CUDA driver API, cuEventElapsedTime).
const coarse = 25e-6

// Search is the policy while searching: few samples, early cut.
// A region of 200 us, eight times what the timer needs, keeps launch jitter below
// the noise.
func Search() Policy {
	return Policy{Regime: Warm, MinSamples: 5, MaxSamples: 50, HalfWidth: 0.005, Region: 200e-6, TimeLimit: 2}
}

// Finals is the policy for the last, interleaved round.
func Finals() Policy {
	p := Search()
	p.MinSamples, p.MaxSamples, p.HalfWidth, p.TimeLimit = 30, 50, 0.002, 10
	return p
}

// CutFactor times the best median so far is where a schedule is given up, after two
// samples, if they agree within that factor, or three; beyond hopeless times that, after one, if
// the launch before it was no faster: of a thousand schedules one has a disturbed sample.
const (
	CutFactor = 1.3
	hopeless  = 2
)

// Sampler takes samples until a Policy is content. The device calls More before
// and Add after each sample.
type Sampler struct {
	policy Policy
	series Series
	warmed float64 // seconds per step of the launch before sampling; 0 = not known
	spent  float64
}

// NewSampler starts a series; launches and steps say what one sample spans.
func NewSampler(p Policy, launches, steps int) *Sampler {
	return &Sampler{policy: p, series: Series{Launches: launches, Steps: steps}}
}

// Warmed tells how long the one launch took that came before the samples, in seconds.
func (s *Sampler) Warmed(launch float64) {
	s.warmed = launch / (float64(s.series.Steps) / float64(s.series.Launches))
}

// LaunchesFor is how many launches make one sample span the policy's region,
// given the seconds of one warm-up launch: even, so that both buffers are used
// alike, unless one launch alone is ten times the region.
func (p Policy) LaunchesFor(launch float64) int {
	if p.Regime == Cold || launch >= 10*p.Region {
		return 1
	}
	if launch <= 0 || math.IsNaN(launch) {
		return 2
	}
	n := int(math.Ceil(min(p.Region/launch, 1000)))
	return max(n+n%2, 2)
}

// More tells whether another sample is wanted.
func (s *Sampler) More() bool {
	n := len(s.series.Samples)
	p := s.policy
	switch {
	case s.series.Discarded > p.MaxSamples:
		return false
	case n == 0:
		return true
	case p.CutAbove > 0 && s.series.Min > p.CutAbove && (n >= min(3, p.MinSamples) || n == 2 && s.series.High <= CutFactor*s.series.Min || s.fastest() > hopeless*p.CutAbove):
		s.series.CutSlow = true
		return false
	case n >= p.MaxSamples:
		return false
	case s.spent >= p.TimeLimit && n >= min(3, p.MinSamples):
		return false
	case n < p.MinSamples:
		return true
	}
	return s.series.RelHalfWidth() > p.HalfWidth
}

// fastest is the least of what was seen: samples, and the launch before them.
func (s *Sampler) fastest() float64 {
	if s.warmed > 0 {
		return min(s.series.Min, s.warmed)
	}
	return s.series.Min
}

// Plausible tells whether something can have taken so many seconds: from 1 ps to 30 years.
// Rates and sums of other numbers, which only a file can hold, end in infinity.
func Plausible(seconds float64) bool { return seconds >= 1e-12 && seconds <= 1e9 }

// Add takes the elapsed seconds of one sample. A throttled sample, or one that
// is no time (a clock that stood still or went back), is discarded and counted.
func (s *Sampler) Add(elapsed float64, throttled bool) {
	if throttled || !Plausible(elapsed) {
		s.series.Discarded++
		return
	}
	s.spent += elapsed
	s.series.Samples = append(s.series.Samples, elapsed/float64(s.series.Steps))
	s.series.Summary = Summarise(s.series.Samples)
}

// Series is what was sampled, with the warnings that belong to it.
func (s *Sampler) Series() Series {
	r := s.series
	switch {
	case r.N == 0:
		r.Warnings = append(r.Warnings, fmt.Sprintf("no accepted samples (%d discarded)", r.Discarded))
	case r.CutSlow:
	default:
		if r.N < s.policy.MinSamples {
			r.Warnings = append(r.Warnings, fmt.Sprintf("only %d samples", r.N))
		}
		if w := r.RelHalfWidth(); w > 2*s.policy.HalfWidth && w > 0.01 {
			r.Warnings = append(r.Warnings, fmt.Sprintf("wide interval: +-%.1f %%", 100*w))
		}
	}
	if span := r.Min * float64(r.Steps); r.N > 0 && span < coarse {
		r.Warnings = append(r.Warnings, fmt.Sprintf("timer too coarse: a sample spans only %.0f us", 1e6*span))
	}
	if r.N > 0 && r.Discarded > r.N {
		r.Warnings = append(r.Warnings, fmt.Sprintf("%d throttled or invalid samples discarded", r.Discarded))
	}
	return r
}
