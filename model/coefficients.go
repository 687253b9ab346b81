package model

import (
	_ "embed"
	"encoding/json"
	"math"
	"reflect"
	"slices"
	"strings"

	"stenciltune/machine"
)

// Coefficients are the few numbers of the model that no datasheet gives. They
// hold for every stencil, element type, family and device alike.
type Coefficients struct {
	DRAM           float64 `json:"dram"`            // share of the copy bandwidth that kernels reach
	L2             float64 `json:"l2"`              // shares of the nominal throughput that kernels reach
	Fill           float64 `json:"fill"`            // bytes that L2 moves more for each byte to or from memory
	Pipe           float64 `json:"pipe"`            // of L1 and shared memory
	Issue          float64 `json:"issue"`           // of the schedulers and arithmetic units
	InFlight       float64 `json:"in_flight"`       // seconds a byte is under way: Little's law
	LoadLatency    float64 `json:"load_latency"`    // clocks a thread waits for global memory
	RoundLatency   float64 `json:"round_latency"`   // clocks of one trip through shared memory and arithmetic
	BarrierLatency float64 `json:"barrier_latency"` // clocks of a block barrier with one warp
	WarpLatency    float64 `json:"warp_latency"`    // clocks more for each doubling of its warps
	BlockLatency   float64 `json:"block_latency"`   // clocks to start a block, find its tile and store
	Ramp           float64 `json:"ramp"`            // clocks that a launch adds to a null kernel's: filling the device and emptying it
	Norm           float64 `json:"norm"`            // how terms overlap: 1 is their sum, infinity the largest (roofline)
	WaitNorm       float64 `json:"wait_norm"`       // the same of a thread's waiting and the work of others
	PhaseNorm      float64 `json:"phase_norm"`      // the same of loading and computing, where barriers keep them apart
	Drain          float64 `json:"drain"`           // share of an SM that is idle while a block ends, if it has only one
	OwnIssue       float64 `json:"own_issue"`       // clocks a warp needs for an instruction that waits for the one before
	Tail           float64 `json:"tail"`            // share of the last wave's gap that is felt
	Idle           float64 `json:"idle"`            // share that is felt of what SMs without a block could do
	L2Knee         float64 `json:"l2_knee"`         // share of L2 up to which it holds what was read
	L2Sharp        float64 `json:"l2_sharp"`        // how sudden that end is: 1 gradual, infinity LRU
	Resident       float64 `json:"resident"`        // share of L2 that holds a grid from launch to launch
	L2Latency      float64 `json:"l2_latency"`      // share of LoadLatency that L2 takes
	SpillTraffic   float64 `json:"spill_traffic"`   // share of spilled registers that every turn of the loop writes and reads
}

// Bounds keep a coefficient that no recording identifies near its nominal value, by the field's name.
var Bounds = map[string][2]float64{
	"DRAM": {0.92, 1.05}, "L2": {0.55, 0.65}, "Fill": {1, 2}, "Pipe": {0.4, 1}, "Issue": {0.4, 1}, "InFlight": {3e-8, 1e-6},
	"LoadLatency": {300, 1500}, "RoundLatency": {5, 400}, "BarrierLatency": {10, 600}, "WarpLatency": {0, 100}, "BlockLatency": {100, 3000},
	"Ramp": {50, 10000}, "Norm": {1.2, 8}, "WaitNorm": {1, 8}, "PhaseNorm": {1, 6}, "Drain": {0, 1}, "OwnIssue": {0.5, 8}, "Tail": {0.01, 1},
	"Idle": {0.05, 1.2}, "L2Knee": {0.1, 1}, "L2Sharp": {0.7, 6}, "Resident": {0.3, 1.2}, "L2Latency": {0.2, 1}, "SpillTraffic": {0.75, 2.5},
}

// Middle are coefficients that were fitted to nothing: each in the middle of its bounds, on a logarithmic scale
// where both are above 0. What the model knows with them it knows by its structure.
func Middle() (c Coefficients) {
	v := reflect.ValueOf(&c).Elem()
	for i := range v.NumField() {
		b := Bounds[v.Type().Field(i).Name]
		if b[0] > 0 {
			v.Field(i).SetFloat(math.Sqrt(b[0] * b[1]))
		} else {
			v.Field(i).SetFloat((b[0] + b[1]) / 2)
		}
	}
	return c
}

// Calibration is a fit of the coefficients and what it was fitted to.
type Calibration struct {
	Source       string       `json:"source"` // how it was made
	Coefficients Coefficients `json:"coefficients"`
	Residuals    []Residual   `json:"residuals"`
	Folds        []Fold       `json:"folds"` // cross-validation: one stencil left out each time
}

// Fold is a fit without one stencil, and how well it predicts that one.
type Fold struct {
	Left         string       `json:"left_out"` // stencil
	Coefficients Coefficients `json:"coefficients"`
	Residuals    []Residual   `json:"residuals"` // on the stencil left out
}

// Residual says how well a landscape is predicted.
type Residual struct {
	Landscape string  `json:"landscape"`
	Schedules int     `json:"schedules"`
	Spearman  float64 `json:"spearman"`   // rank correlation of predicted and measured time
	LogError  float64 `json:"log_error"`  // standard deviation of log(measured / predicted)
	LogOffset float64 `json:"log_offset"` // its mean
	First     float64 `json:"first"`      // measured time of the model's best over the best of all, less 1
	First10   float64 `json:"first10"`    // of the best of its first ten
}

//go:embed calibration.json
var calibrationFile []byte

// Calibrated is the calibration in use.
var Calibrated = decodeCalibration(calibrationFile)

// Without are the coefficients fitted without a stencil; those in use if it is not
// one they were fitted to.
func (c Calibration) Without(stencil string) Coefficients {
	for _, f := range c.Folds {
		if f.Left == stencil {
			return f.Coefficients
		}
	}
	return c.Coefficients
}

// FittedOn tells whether the coefficients were fitted to recordings of such a device.
func (c Calibration) FittedOn(m machine.Machine) bool {
	return slices.ContainsFunc(c.Residuals, func(r Residual) bool { return strings.HasPrefix(r.Landscape, m.Slug()+"_") })
}

// Fitted are the coefficients in use.
var Fitted = Calibrated.Coefficients

func decodeCalibration(b []byte) Calibration {
	var c Calibration
	if err := json.Unmarshal(b, &c); err != nil {
		panic("model: calibration.json: " + err.Error())
	}
	return c
}
