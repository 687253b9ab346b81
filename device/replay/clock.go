package replay

import (
	"slices"
	"time"

	"stenciltune/device"
	"stenciltune/outcome"
	"stenciltune/space"
	"stenciltune/timing"
)

// clock is simulated time since a recording was opened: so many compile processes
// and one device do the recorded work, each schedule's in the seconds it took when
// it was recorded. Times are whole nanoseconds, so that they add up to the same on
// every machine.
type clock struct {
	now      time.Duration
	free     []time.Duration                  // when each compile process is idle again
	ready    map[space.Schedule]time.Duration // when a schedule's compilation ended
	compiled map[string]time.Duration         // when a source was compiled first
	sources  map[string]Cost
}

// Cost is the seconds of compiling a source: the first time, and from the
// compiler's cache.
type Cost struct{ First, Again float64 }

// processes is the compile processes behind recordings that do not say.
const processes = 15

// mostProcesses is more than any machine has.
const mostProcesses = 1 << 10

// Compilers is how many compilations went on at once when it was recorded.
func (l *Landscape) Compilers() int {
	if n := l.Header.Compilers; n > 0 {
		return min(n, mostProcesses)
	}
	return processes
}

// Costs are what compiling took, by the source's hash.
func (l *Landscape) Costs() map[string]Cost {
	costs := map[string]Cost{}
	for _, s := range l.Order {
		r := l.Records[s]
		k, seen := costs[r.SourceHash]
		if !seen {
			k.Again = r.CompileSeconds
		}
		costs[r.SourceHash] = Cost{max(k.First, r.CompileSeconds), min(k.Again, r.CompileSeconds)}
	}
	return costs
}

func newClock(l *Landscape) *clock {
	return &clock{free: make([]time.Duration, l.Compilers()), ready: map[space.Schedule]time.Duration{}, compiled: map[string]time.Duration{}, sources: l.Costs()}
}

func seconds(s float64) time.Duration { return time.Duration(s * float64(time.Second)) }

// compile gives a schedule to the process that is idle first. A source that was
// compiled, or is being compiled, comes from the compiler's cache as soon as it is
// there, and keeps no process busy.
func (c *clock) compile(r outcome.Outcome) {
	if done, again := c.compiled[r.SourceHash]; again {
		c.ready[r.Schedule] = max(c.now, done) + seconds(c.sources[r.SourceHash].Again)
		return
	}
	took := r.CompileSeconds
	if r.SourceHash != "" {
		took = c.sources[r.SourceHash].First
	}
	i := slices.Index(c.free, slices.Min(c.free))
	c.free[i] = max(c.now, c.free[i]) + seconds(took)
	c.ready[r.Schedule] = c.free[i]
	if r.SourceHash != "" {
		c.compiled[r.SourceHash] = c.free[i]
	}
}

// Now is the simulated time.
func (d Device) Now() time.Duration { return d.clock.now }

// Ready is when a schedule's compilation ends; 0 if there was none.
func (d Device) Ready(s space.Schedule) time.Duration { return d.clock.ready[s] }

// Set turns the clock to a simulated time.
func (d Device) Set(now time.Duration) { d.clock.now = now }

// What a schedule costs on the device beyond its samples, where the recording does
// not say: its proof on the whole grid, whose launches take the recorded times and
// whose inputs, poison and comparison pass over the grid at copy bandwidth, and
// the proof on the small grid with the messages to and from the GPU's process. With
// it the exhaustive recordings of jacobi3d and jacobi2d in float32, which took 247 s
// and 72 s, come out at 223 s and 76 s.
const (
	gridPasses   = 6
	fixedSeconds = 2e-3
)

// checking is the seconds of a check against the trusted kernel.
func (d Device) checking(c device.Check) float64 {
	r := d.Records[c.Passes[0].Binary.Schedule]
	if r.DeviceSeconds > 0 {
		return max(0, r.DeviceSeconds-sampling(r.Series.Samples, r.Series.Launches, c.Passes[0].Launch.Steps))
	}
	s := fixedSeconds
	for _, p := range slices.Concat(c.Passes, c.Trusted) {
		s += float64(p.Count*p.Launch.Steps) * timing.Summarise(d.Records[p.Binary.Schedule].Series.Samples).Median
	}
	if b := d.Header.Machine.CopyBytesPerSecond; b > 0 {
		s += gridPasses * 2 * float64(c.Problem.Bytes()) / b
	}
	return s
}

// sampling is the seconds of samples in seconds a step, a launch of warm-up before
// them.
func sampling(samples []float64, launches, steps int) float64 {
	if len(samples) == 0 {
		return 0
	}
	s := samples[0] * float64(steps)
	for _, x := range samples {
		s += x * float64(max(launches, 1)*steps)
	}
	return s
}

// pass lets device time pass.
func (c *clock) pass(s float64) { c.now += seconds(s) }
