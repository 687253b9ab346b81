// Package searchtest holds landscapes with a known optimum, a loop that runs a
// strategy on one, and the conformance suite that every strategy passes.
//
// Landscapes are synthetic and pure: the same schedule and seed give the same
// time. Times are seconds per time step.
package searchtest

import (
	"math"

	"stenciltune/outcome"
	"stenciltune/search"
	"stenciltune/space"
	"stenciltune/timing"
)

// Landscape says what every schedule of a space would be measured at.
type Landscape struct {
	Name  string
	Space *space.Space
	// True is the exact seconds of a schedule, or the status with which it fails.
	True func(space.Schedule) (float64, timing.Status)
	// Noise is the relative standard deviation of one measurement.
	Noise float64
	// Seed of the noise.
	Seed uint64

	best     float64
	schedule space.Schedule
}

// Measure is the outcome of running a schedule.
func (l *Landscape) Measure(s space.Schedule) outcome.Outcome {
	t, status := l.True(s)
	if status != timing.OK {
		return outcome.Outcome{Schedule: s, Status: status}
	}
	t *= math.Exp(l.Noise * normal(s.String(), l.Seed, "noise"))
	return outcome.At(s, t, l.Noise)
}

// Optimum is the fastest schedule and its exact seconds.
func (l *Landscape) Optimum() (space.Schedule, float64) {
	if l.best == 0 {
		l.best = math.Inf(1)
		for s := range l.Space.All() {
			if t, status := l.True(s); status == timing.OK && t < l.best {
				l.best, l.schedule = t, s
			}
		}
	}
	return l.schedule, l.best
}

// Quality says how good a prior is.
type Quality string

// Priors from good to harmful.
const (
	Good     Quality = "good"     // right within 20 %
	Noisy    Quality = "noisy"    // right within 60 %, and one family off by half
	Useless  Quality = "useless"  // unrelated to the truth
	Inverted Quality = "inverted" // ranks the truth backwards
	None     Quality = "none"     // no prior
)

// Prior is a prior of the given quality: the truth without what a model cannot
// know (cliffs, failures), with a systematic error that depends on pairs of
// neighbouring values, as a model's errors do.
func Prior(l *Landscape, smooth func(space.Schedule) float64, q Quality) search.Prior {
	spread := 0.2
	switch q {
	case None:
		return nil
	case Noisy:
		spread = 0.6
	}
	families := l.Space.Families()
	return func(s space.Schedule) float64 {
		e := 0.0
		for i, f := range s.Fields() {
			// One error a parameter value and family, and a smaller one a schedule.
			e += normal(s.Family(), uint64(1000*i+f.Value), "prior") / math.Sqrt(float64(len(s.Fields())))
		}
		e = spread * (0.8*e + 0.6*normal(s.String(), 1, "prior"))
		t := smooth(s)
		switch q {
		case Noisy:
			if s.Family() == families[len(families)-1].Name {
				t *= 1.5
			}
		case Useless:
			return 1e-3 * math.Exp(0.5*normal(s.String(), 2, "useless"))
		case Inverted:
			return 1e-6 / t * math.Exp(e)
		}
		return t * math.Exp(e)
	}
}

// hash mixes a text, a number and a use into 64 bits (FNV-1a and a finisher).
func hash(text string, n uint64, use string) uint64 {
	h := uint64(14695981039346656037)
	for _, s := range [2]string{text, use} {
		for i := range len(s) {
			h = (h ^ uint64(s[i])) * 1099511628211
		}
		h = (h ^ 0xff) * 1099511628211
	}
	h ^= n * 0x9e3779b97f4a7c15
	h = (h ^ h>>33) * 0xff51afd7ed558ccd
	h = (h ^ h>>33) * 0xc4ceb9fe1a85ec53
	return h ^ h>>33
}

// uniform is a number in (0,1) that belongs to a text, a number and a use.
func uniform(text string, n uint64, use string) float64 {
	return (float64(hash(text, n, use)>>11) + 0.5) / (1 << 53)
}

// normal is a standard normal number that belongs to a text, a number and a use
// (Box and Muller).
func normal(text string, n uint64, use string) float64 {
	u, v := uniform(text, n, use), uniform(text, n+0x5bd1e995, use+"'")
	return math.Sqrt(-2*math.Log(u)) * math.Cos(2*math.Pi*v)
}
