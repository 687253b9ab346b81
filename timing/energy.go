package timing

import (
	"fmt"
	"math"
	"slices"
)

// Objective is what the finals choose the winner by.
type Objective string

// The objectives.
const (
	ForTime   Objective = "time"
	ForEnergy Objective = "energy" // joules of a time step
	ForEDP    Objective = "edp"    // energy-delay product: its joules times its seconds (Gonzalez and Horowitz, JSSC 31(9), 1996)
)

// Objectives are all of them, the default first.
func Objectives() []Objective { return []Objective{ForTime, ForEnergy, ForEDP} }

// ParseObjective reads an objective's name; "" is the default.
func ParseObjective(text string) (Objective, error) {
	if text == "" {
		return ForTime, nil
	}
	if o := Objective(text); slices.Contains(Objectives(), o) {
		return o, nil
	}
	return "", fmt.Errorf("%.40q is no objective: use time, energy or edp", text)
}

// PowerCap is the name of the reason for lower clocks that is the board's power limit.
const PowerCap = "power cap"

// Stretch says for how long launches run one after the other while an energy counter is read.
// The counter moves in steps, so what counts lies between two of them; seconds.
type Stretch struct {
	Settle float64 `json:"settle"` // first, not counted: power and clocks follow a change of kernels
	Span   float64 `json:"span"`   // from the first step of the counter that counts to the last, at least
	Limit  float64 `json:"limit"`  // in all, should the counter stand still
}

// Metering is the stretch of the finals. NVML's counter moves every 10 to 100 ms, by GPU, so the
// span has three steps at least; docs/measuring.md has the sources.
func Metering() Stretch { return Stretch{Settle: 0.1, Span: 0.25, Limit: 1.5} }

// Reading is what a device tells of itself while it runs launches one after the other.
type Reading struct {
	Seconds     float64 // since the stretch began
	Millijoules uint64  // energy counter
	ClockHz     float64 // of the SMs; 0 = it does not tell
	// Lowered are the reasons that slow the clocks now; nil = it does not tell, empty = none.
	Lowered []string
}

// Draw is what a stretch came to: one sample of a schedule's energy.
type Draw struct {
	SecondsPerStep float64 `json:"seconds_per_step"` // of the stretch, in which clocks may be lower than in short samples
	Watts          float64 `json:"watts"`            // mean, of the whole board: what it takes when idle is in it
	ClockHz        float64 `json:"clock_hz"`         // mean of the SMs; 0 = not known
	// Lowered are the reasons that slowed the clocks, sorted; nil = not known, empty = none.
	Lowered []string `json:"lowered"`
}

// Known tells whether there is anything in it: a counter that stands still tells nothing.
func (d Draw) Known() bool { return d.Watts > 0 && d.SecondsPerStep > 0 }

// Joules are those of a time step.
func (d Draw) Joules() float64 { return d.Watts * d.SecondsPerStep }

// Of is what an objective makes least: seconds, joules, or their product, of a time step.
func (d Draw) Of(o Objective) float64 {
	switch o {
	case ForEnergy:
		return d.Joules()
	case ForEDP:
		return d.Joules() * d.SecondsPerStep
	}
	return d.SecondsPerStep
}

// Drawn is the series of an objective's values, one of each draw.
func Drawn(draws []Draw, o Objective) Series {
	var s Series
	for _, d := range draws {
		s.Samples = append(s.Samples, d.Of(o))
	}
	s.Summary = Summarise(s.Samples)
	return s
}

// Meter makes a Draw of readings. The device calls More before and Add after each reading, and
// Ran whenever launches have ended.
type Meter struct {
	stretch  Stretch
	last     Reading
	read     bool
	from, to Reading // steps of the counter between which counts; at the moments in the middle between two readings
	counting bool
	clock    float64
	clocks   int
	seconds  float64 // of launches that ended while it counted
	steps    int
	lowered  []string
}

// NewMeter begins a stretch.
func NewMeter(s Stretch) *Meter { return &Meter{stretch: s} }

// More tells whether the stretch goes on.
func (m *Meter) More() bool {
	return m.last.Seconds < m.stretch.Limit && !(m.to.Seconds-m.from.Seconds >= m.stretch.Span && m.steps > 0)
}

// Add takes a reading. A counter that went back was reset or ran over: what was counted so far is void.
func (m *Meter) Add(r Reading) {
	before, was := m.last, m.read
	m.last, m.read = r, true
	switch {
	case !was || r.Millijoules == before.Millijoules:
	case r.Millijoules < before.Millijoules:
		*m = Meter{stretch: m.stretch, last: r, read: true}
	case r.Seconds >= m.stretch.Settle:
		step := r
		step.Seconds = (before.Seconds + r.Seconds) / 2
		if !m.counting {
			m.from, m.counting = step, true
		}
		m.to = step
	}
	if !m.counting {
		return
	}
	if r.ClockHz > 0 {
		m.clock += r.ClockHz
		m.clocks++
	}
	if r.Lowered != nil {
		if m.lowered == nil {
			m.lowered = []string{}
		}
		for _, why := range r.Lowered {
			if i, there := slices.BinarySearch(m.lowered, why); !there {
				m.lowered = slices.Insert(m.lowered, i, why)
			}
		}
	}
}

// Ran takes launches that have ended: how long they took, one after the other, and the time steps
// that they advanced.
func (m *Meter) Ran(seconds float64, steps int) {
	if m.counting && seconds > 0 {
		m.seconds += seconds
		m.steps += steps
	}
}

// most is more watts than a board can draw: a counter that jumps so is none.
const most = 1e5

// Draw is what the stretch came to; nothing is known if the counter did not move as it should.
func (m *Meter) Draw() Draw {
	span := m.to.Seconds - m.from.Seconds
	if !m.counting || span <= 0 || span < m.stretch.Span || m.steps == 0 {
		return Draw{}
	}
	d := Draw{SecondsPerStep: m.seconds / float64(m.steps), Watts: 1e-3 * float64(m.to.Millijoules-m.from.Millijoules) / span, Lowered: m.lowered}
	if d.Watts > most || math.IsNaN(d.Watts) || !Plausible(d.SecondsPerStep) {
		return Draw{}
	}
	if m.clocks > 0 {
		d.ClockHz = m.clock / float64(m.clocks)
	}
	return d
}
