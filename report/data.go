// Package report shows what happened in tunes: it makes one value, Data, of what was
// measured, and of that a page for a browser and drawings for papers.
//
// Data is plain and has a JSON form, which is also what the page's charts read: see
// `go doc ./report`. Times are seconds per time step where nothing else is said, rates
// cells or bytes a second.
package report

import (
	"time"

	"stenciltune/cache"
	"stenciltune/timing"
)

// Format is the first field of the JSON form.
const Format = "stenciltune.report/v1"

// Data is what a page shows: tunes, side by side.
type Data struct {
	Format string    `json:"format"`
	Tool   string    `json:"tool"` // "tune 0.1.0 REVISION"
	Time   time.Time `json:"time"` // when it was made
	Tunes  []Tune    `json:"tunes"`
}

// Origin says where a tune's measurements come from.
type Origin string

// The origins.
const (
	Stored    Origin = "store"     // the journal of finished or interrupted tunes
	Recording Origin = "recording" // a landscape, and a search replayed on it in simulated time
	Running   Origin = "running"   // a tune under way
)

// Brief is what a list of tunes says of one.
type Brief struct {
	ID        string              `json:"id,omitempty"`        // tells it from the others, also later; "" = its place
	Problem   string              `json:"problem"`             // "jacobi3d/f32/512x512x512", with " by energy" if that is the objective
	Objective timing.Objective    `json:"objective,omitempty"` // "" = time
	Origin    Origin              `json:"origin"`
	Phase     string              `json:"phase,omitempty"`  // of a running tune
	Trying    string              `json:"trying,omitempty"` // the schedule that a running tune tries
	Time      time.Time           `json:"time,omitzero"`    // when it ended or, of a running tune, began
	Changed   time.Time           `json:"changed,omitzero"` // when something new was last known of it
	Regime    timing.Regime       `json:"regime"`
	Cells     float64             `json:"cells"`      // of the grid: over seconds they are the rate
	StepBytes float64             `json:"step_bytes"` // that one time step reads and writes at least; 0 = not known
	Copy      float64             `json:"copy"`       // bytes a second of a copy, read plus written; 0 = not known
	Seconds   float64             `json:"seconds"`    // of the fastest schedule; 0 = none yet
	Naive     float64             `json:"naive"`      // seconds of the baseline; 0 = not known
	Device    cache.DeviceInfo    `json:"device"`
	Toolchain cache.ToolchainInfo `json:"toolchain"`
}

// Tune is one problem on one device. Make makes it.
type Tune struct {
	Brief

	Families   []Family     `json:"families"`
	Points     Points       `json:"points"`
	Search     Search       `json:"search"`
	Best       int          `json:"best"`      // point with the lowest median; -1 = none
	Recorded   bool         `json:"recorded"`  // the points are (nearly) a whole space: the best is its optimum
	Predicted  int          `json:"predicted"` // point that the cost model takes for the best; -1 = none
	Finals     []Final      `json:"finals"`
	Roofline   Roofline     `json:"roofline"`
	Importance []Importance `json:"importance"`
	Failures   []Failure    `json:"failures"`

	Config      *cache.Config `json:"config"`                // of the winner; nil = none yet
	Source      string        `json:"source,omitempty"`      // CUDA of the winner
	Explanation string        `json:"explanation,omitempty"` // of the winner and the baseline, by the cost model
	Notes       []string      `json:"notes"`                 // what a reader must know: what was left out, and why
}

// Family is a kernel design and its parameters, in the order of Points.Values.
type Family struct {
	Name   string  `json:"name"`
	Params []Param `json:"params"`
}

// Param is a parameter of a schedule.
type Param struct {
	Name string `json:"name"`
	Doc  string `json:"doc,omitempty"`
	// Optional leaves the parameter out of a schedule's text where it has its default.
	Optional bool `json:"optional,omitempty"`
	Default  int  `json:"default,omitempty"`
}

// Points are the schedules, as columns: entry i of each list is of schedule i.
type Points struct {
	Family    []int     `json:"family"`    // place in Tune.Families
	Values    [][]int   `json:"values"`    // of the family's parameters
	Seconds   []float64 `json:"seconds"`   // median; 0 = none
	Predicted []float64 `json:"predicted"` // by the cost model; 0 = none
	Limiter   []int     `json:"limiter"`   // what limits it by the model: place in Limiters; -1 = none
	Status    []int     `json:"status"`    // place in Statuses
	Registers []int     `json:"registers"` // of a thread; 0 = not known

	Limiters []string        `json:"limiters"`
	Statuses []timing.Status `json:"statuses"`
}

// Search is what a search evaluated, in its order, as columns.
type Search struct {
	Point   []int     `json:"point"`   // place in Points
	Seconds []float64 `json:"seconds"` // from the search's begin until it was known, of wall time, or simulated on a recording
	Best    []float64 `json:"best"`    // lowest median so far; 0 = none yet
}

// Role is what a schedule of the finals, or of the roofline, is there for.
type Role string

// The roles.
const (
	Winner   Role = "winner"
	Tie      Role = "tie"   // timing cannot tell it from the winner
	Close    Role = "close" // next by median
	Baseline Role = "baseline"
	OneStep  Role = "one step at copy bandwidth"
)

// Final is one of the best schedules, or the baseline.
type Final struct {
	Schedule string    `json:"schedule"`
	Role     Role      `json:"role"`
	Seconds  float64   `json:"seconds"`
	Low      float64   `json:"low"` // of the median's 95 % interval; 0 = an earlier version did not tell
	High     float64   `json:"high"`
	Samples  []float64 `json:"samples"` // of the search, in the order taken
}

// Roofline is what limits rates, and how near some come (Williams, Waterman and Patterson,
// "Roofline", CACM 52(4), 2009; here with cell updates for operations).
type Roofline struct {
	Arithmetic float64 `json:"arithmetic"` // cells a second that the arithmetic units allow; 0 = not known
	Marks      []Mark  `json:"marks"`
}

// Mark is a schedule's place under the roofline.
type Mark struct {
	Role           Role    `json:"role"`
	Schedule       string  `json:"schedule,omitempty"`
	CellsPerByte   float64 `json:"cells_per_byte"` // updates for each byte to or from memory; of kernels by the cost model
	CellsPerSecond float64 `json:"cells_per_second"`
}

// Importance is how much a parameter decides whether a schedule is among the fastest: see
// importance.
type Importance struct {
	Family string  `json:"family"`
	Param  string  `json:"param"`
	Share  float64 `json:"share"` // of all of the family's parameters
}

// Failure counts schedules that failed alike.
type Failure struct {
	Status  timing.Status `json:"status"`
	Reason  string        `json:"reason"`
	Count   int           `json:"count"`
	Example string        `json:"example"` // a schedule
}
