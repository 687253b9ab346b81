// Package runner takes one schedule from text to a trusted time - generate,
// reject, compile, check, time - and a whole tune from baseline to winner.
//
// It owns no file and prints nothing: outcomes go to a Journal, progress to a
// Watcher. Times are seconds per time step.
package runner

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"strings"
	"sync"
	"time"

	"stenciltune/device"
	"stenciltune/kernels"
	"stenciltune/outcome"
	"stenciltune/search"
	"stenciltune/space"
	"stenciltune/stencil"
	"stenciltune/timing"
)

// Journal remembers outcomes beyond this process.
type Journal interface {
	// Known gives the stored outcome of a schedule with this source, if there is one.
	Known(s space.Schedule, sourceHash string) (outcome.Outcome, bool)
	// Record stores outcomes durably, and notes next as begun. Nothing of next is
	// run before Record returns.
	Record(outcomes []outcome.Outcome, next ...space.Schedule) error
}

// Watcher is told how a tune goes. Its methods must return quickly.
type Watcher interface {
	// Phase announces what happens now: "baseline", "search", "finals".
	Phase(name string)
	// Trying announces the schedule that is checked and timed now.
	Trying(s space.Schedule)
	// Evaluated reports one more outcome and the best so far.
	Evaluated(o outcome.Outcome, best outcome.Outcome, p search.Progress)
}

// Options say what to tune, on what and how long.
type Options struct {
	Problem  stencil.Problem
	Device   device.Device
	Families []kernels.Family
	Space    *space.Space
	Strategy search.Strategy
	Stop     search.Stop
	Baseline []space.Schedule // the trusted kernels, of which the fastest is the reference; nil = Naive
	// Incumbent is what won an earlier tune: it is evaluated first, and is in the finals whatever else is
	// found. The zero Schedule is none; it may lie outside Space.
	Incumbent space.Schedule
	Regime    timing.Regime
	// Objective is what the finals choose by, "" = time. Any other needs a device.Meter that is
	// Metered and warm caches.
	Objective timing.Objective
	Seed      uint32  // of the input data
	Ahead     int     // schedules compiled ahead of the device, at most; 0 = 1
	Journal   Journal // a Study is shared with other sessions
	Watcher   Watcher
	// Judge computes what answers are compared with, for workloads that the
	// reference in Go does not know; nil for stencils.
	Judge *Judge
	// Mutate changes a kernel before it is compiled: the hook by which tests
	// inject faults. nil in use.
	Mutate func(kernels.Kernel) kernels.Kernel
}

// Judge is a kernel trusted on any grid.
type Judge struct {
	Kernel    func(p stencil.Problem) kernels.Kernel
	Tolerance func(p stencil.Problem) float64 // of an answer, however many launches gave it
}

// Result is a finished tune.
type Result struct {
	Winner      outcome.Outcome
	Remainder   *outcome.Outcome                    // the launch that does the steps left over by the time tile, if any
	Ties        []outcome.Outcome                   // indistinguishable from the winner
	Finals      []outcome.Outcome                   // that were timed interleaved, the winner among them, the fastest first
	Energies    []Energy                            // of the winner, and where energy decides of the finalists; empty = not known
	Best        map[timing.Objective]space.Schedule // of the finalists, by each objective, where energy decides
	Naive       outcome.Outcome                     // the baseline
	Copy        float64                             // measured copy bandwidth, bytes per second; 0 = not known
	Evaluated   int                                 // schedules run, the baseline's included
	Repeated    int                                 // schedules answered from the journal
	Failed      map[timing.Status]int
	Stop        search.Reason
	Within      search.Standing // of the search's best in its space; zero if the strategy does not say
	Complete    bool            // finals were held
	Seconds     float64
	Utilisation float64 // share of the search in which the device was checking or timing
	Outcomes    []outcome.Outcome
	Warnings    []string
	Members     []Member // of a device that is several, those that came to the end; the first held the finals
}

// ErrNoSchedule means that not one schedule gave a right answer.
type ErrNoSchedule struct {
	Failed map[timing.Status]int
	Why    string // if nothing was searched: what is wrong with those that judge the others
}

func (e *ErrNoSchedule) Error() string {
	if e.Why != "" {
		return e.Why
	}
	if len(e.Failed) == 0 {
		return "no schedule to run"
	}
	var counts []string
	for _, s := range slices.Sorted(maps.Keys(e.Failed)) {
		counts = append(counts, fmt.Sprintf("%s %d", s, e.Failed[s]))
	}
	return fmt.Sprintf("no schedule gave a right answer (%s); run with -v to see why each failed", strings.Join(counts, ", "))
}

// SmallSize is a grid with odd extents on which nearly every block is cut by the
// edge, small enough for the float64 reference.
func SmallSize(dims int) stencil.Size {
	return []stencil.Size{{1009, 1, 1}, {197, 83, 1}, {67, 45, 29}}[dims-1]
}

// Session is a tune under way: Baseline, Search, Finals, End, in this order. It is used
// from one goroutine.
type Session struct {
	Options
	result    Result
	began     time.Duration      // the search
	before    int                // evaluations before it
	searched  time.Duration      // end of the search
	copied    *float64           // copy bandwidth, once it is measured
	ahead     context.Context    // of what is compiled ahead, from Baseline on
	stop      context.CancelFunc // of ahead
	stations  []*station
	several   bool                       // stations at the beginning
	back      chan *station              // that ended a job
	now       func() time.Duration       // since the tune began; simulated on a simulated device
	epoch     time.Duration              // of now, by a simulated device's clock
	simulated device.Simulated           // nil if the device's time is real
	sources   map[string]<-chan struct{} // done of the first candidate of a source
	compiled  chan struct{}              // something was compiled since it was last read
	depth     search.Ahead
	busy      time.Duration    // of all stations
	trusted   *device.Pass     // one-step global kernel, already proved on the small grid
	judge     *device.Pass     // Options.Judge's, once compiled
	firsts    []space.Schedule // that are evaluated before the search: the naive ones, and the incumbent
	naive     outcome.Outcome
	reference *candidate              // the naive kernel, by which drift is seen and stations are compared
	queue     []*candidate            // proposed, and neither evaluated nor under way
	exhausted bool                    // the strategy has no more
	study     Study                   // the journal, if it is one
	elsewhere map[space.Schedule]bool // asked for by the strategy, and held by other sessions
	asked     time.Time               // for what is elsewhere, the last time
	outcomes  []outcome.Outcome
	filed     map[space.Schedule]bool // those of the outcomes
	tracker   search.Tracker
	failed    map[timing.Status]int
	repeated  int
	begun     space.Schedule // the last one noted as begun in the journal
	warning   sync.Mutex     // stations warn beside each other
	warnings  []string
}

// New begins a session.
func New(o Options) *Session {
	t := &Session{Options: o, failed: map[timing.Status]int{}, sources: map[string]<-chan struct{}{}, compiled: make(chan struct{}, 1), elsewhere: map[space.Schedule]bool{}, filed: map[space.Schedule]bool{}}
	t.study, _ = o.Journal.(Study)
	t.stations = stations(t)
	t.several, t.back = len(t.stations) > 1, make(chan *station, len(t.stations))
	t.depth = search.Ahead{Most: t.Ahead, Others: len(t.stations) - 1}
	t.stop = func() {}
	start := time.Now()
	t.now = func() time.Duration { return time.Since(start) }
	if s, ok := o.Device.(device.Simulated); ok {
		t.simulated, t.epoch = s, s.Now()
		t.now = func() time.Duration { return s.Now() - t.epoch }
	}
	return t
}

// lost tells whether an error ends the tune: anything but a failure of the schedule.
func lost(err error) bool { return err != nil && device.AsFailure(err) == nil }

// fail fills in an outcome from a failure.
func fail(o *outcome.Outcome, err error) {
	f := device.AsFailure(err)
	o.Status, o.Reason, o.Log = f.Status, f.Reason, f.Log
}

// deadline bounds a device call: two hundred times what the naive kernel would
// need for the same steps, so that only a hang passes it, within 2 s to a minute,
// on top of the seconds of device time that were granted.
func (t *Session) deadline(ctx context.Context, cells int64, steps int, granted float64) (context.Context, context.CancelFunc) {
	limit := time.Minute
	if t.naive.Series.N > 0 {
		perCell := t.naive.Series.Median / float64(t.Problem.Size.Cells())
		want := 200 * perCell * float64(cells) * float64(steps)
		limit = min(max(time.Duration(want*float64(time.Second)), 2*time.Second), time.Minute)
	}
	return context.WithTimeout(ctx, limit+time.Duration(granted*float64(time.Second)))
}

func (t *Session) warn(format string, args ...any) {
	t.warning.Lock()
	defer t.warning.Unlock()
	w := fmt.Sprintf(format, args...)
	if !slices.Contains(t.warnings, w) {
		t.warnings = append(t.warnings, w)
	}
}
