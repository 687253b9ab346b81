// Package outcome is what became of one schedule: the one record that tunes make,
// strategies are told, journals and recordings keep, and other tuners' formats carry.
//
// Times are seconds per time step, costs seconds.
package outcome

import (
	"encoding/json"
	"math"
	"slices"

	"stenciltune/space"
	"stenciltune/stencil"
	"stenciltune/timing"
)

// Outcome is everything known about one schedule.
type Outcome struct {
	Schedule       space.Schedule       `json:"schedule"`
	SourceHash     string               `json:"source_hash,omitempty"` // of the generated source; empty if it was rejected before
	Status         timing.Status        `json:"status"`
	Reason         string               `json:"reason,omitempty"` // one line, if it failed
	Log            string               `json:"log,omitempty"`    // compiler's or worker's output
	Series         timing.Series        `json:"series"`           // raw samples
	Registers      int                  `json:"registers,omitempty"`
	SpillBytes     int                  `json:"spill_bytes,omitempty"`
	BlocksPerSM    int                  `json:"blocks_per_sm,omitempty"`
	CompileSeconds float64              `json:"compile_seconds,omitempty"`
	DeviceSeconds  float64              `json:"device_seconds,omitempty"` // of checking and timing it
	MaxError       Float                `json:"check_max_error,omitzero"` // largest of its checks
	Scaled         float64              `json:"scaled,omitempty"`         // samples are those taken over this: so much slower is one of several devices than the first, or the device than at the beginning; 0 = as taken
	Compiler       string               `json:"compiler,omitempty"`       // name and full version
	Options        []string             `json:"-"`                        // the compiler's
	Checks         []stencil.Comparison `json:"-"`                        // of this process
	Known          bool                 `json:"-"`                        // from a journal, not measured now
	Drifted        bool                 `json:"-"`                        // measured while the device drifted
}

// Seconds is the median, 0 if there is none.
func (o Outcome) Seconds() float64 {
	if !o.Status.Timed() {
		return 0
	}
	return o.Series.Median
}

// Noise is half the width of the median's interval, as a share of it.
func (o Outcome) Noise() float64 {
	if o.Series.N == 0 {
		return 0
	}
	return o.Series.RelHalfWidth()
}

// Sampled is the outcome with a series of raw samples of so many launches each. A time that
// tells nothing is none: that of a schedule given up after two samples of which one was
// disturbed, as some recordings have it.
func (o Outcome) Sampled(samples []float64, launches int) Outcome {
	o.Series = timing.Series{Samples: samples, Launches: launches, Steps: launches * o.Schedule.Int("ph", 1), CutSlow: o.Status == timing.CutSlow}
	n := len(samples)
	if n > 0 && !(n == 2 && slices.Max(samples) > timing.CutFactor*slices.Min(samples)) {
		o.Series.Summary = timing.Summarise(samples)
	}
	return o
}

// At is the outcome of a schedule that took so long, with that noise: for simulations.
func At(s space.Schedule, seconds, noise float64) Outcome {
	return Outcome{Schedule: s, Status: timing.OK, Series: timing.Series{
		Summary: timing.Summary{Median: seconds, Low: seconds * (1 - noise), High: seconds * (1 + noise), Min: seconds, N: 1}}}
}

// Float is a float64 that may be NaN or infinite in JSON too, as a string: what a wrong
// answer's error can be.
type Float float64

// MarshalJSON writes a number, or "NaN", "+Inf" or "-Inf".
func (f Float) MarshalJSON() ([]byte, error) {
	v := float64(f)
	switch {
	case math.IsNaN(v):
		return []byte(`"NaN"`), nil
	case math.IsInf(v, 1):
		return []byte(`"+Inf"`), nil
	case math.IsInf(v, -1):
		return []byte(`"-Inf"`), nil
	}
	return json.Marshal(v)
}

// UnmarshalJSON reads what MarshalJSON writes.
func (f *Float) UnmarshalJSON(b []byte) error {
	switch string(b) {
	case `"NaN"`:
		*f = Float(math.NaN())
	case `"+Inf"`:
		*f = Float(math.Inf(1))
	case `"-Inf"`:
		*f = Float(math.Inf(-1))
	default:
		return json.Unmarshal(b, (*float64)(f))
	}
	return nil
}
