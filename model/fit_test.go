package model_test

import (
	"flag"
	"math"
	"math/rand/v2"
	"reflect"
	"testing"

	"stenciltune/device/machine"
	"stenciltune/device/timing"
	"stenciltune/kernels"
	"stenciltune/kernels/all"
	"stenciltune/model"
	"stenciltune/stencil"
)

var flagFit = flag.Bool("fit", false, "fit the model's coefficients to the recorded landscapes and print them")

// bounds keep a coefficient that the landscapes do not identify near its nominal value.
var bounds = map[string][2]float64{
	"DRAM": {0.5, 1.05}, "L2": {0.2, 1}, "L1": {0.3, 1}, "Shared": {0.2, 1}, "Issue": {0.3, 1.2},
	"LoadLatency": {300, 1500}, "RoundLatency": {20, 400}, "BarrierLatency": {20, 1000}, "BlockLatency": {100, 3000},
	"Norm": {1.2, 8}, "Phase": {0.1, 3}, "L2Knee": {0.1, 1},
}

// TestFit prints coefficients by least squares of log(measured / predicted): random
// steps along one coefficient at a time, kept if they help. Every schedule within
// 15 % of the best counts fully, a sample of the others the less the slower they are.
func TestFit(t *testing.T) {
	if !*flagFit {
		t.Skip("run with -fit")
	}
	type point struct {
		problem  stencil.Problem
		work     kernels.Work
		machine  machine.Machine
		measured float64
		weight   float64
	}
	var points []point
	for _, l := range landscapes(t) {
		_, best := l.recorded.Best()
		every := 4
		if l.problem.Stencil.Dims == 3 {
			every = 8
		}
		for i, s := range l.recorded.Order {
			m := timing.Summarise(l.recorded.Records[s].Samples).Median
			w := kernels.Find(all.Families(), s.Family()).Work(l.problem, s)
			if i%every == 0 {
				points = append(points, point{l.problem, w, l.recorded.Header.Machine, m, math.Pow(best/m, 1.5)})
			}
			if m < 1.15*best {
				points = append(points, point{l.problem, w, l.recorded.Header.Machine, m, 1})
			}
		}
	}
	loss := func(c model.Coefficients) float64 {
		sum, weights := 0.0, 0.0
		for _, q := range points {
			e := math.Log(q.measured / c.Predict(q.problem, q.work, 0, q.machine).Seconds)
			sum, weights = sum+q.weight*e*e, weights+q.weight
		}
		return math.Sqrt(sum / weights)
	}
	c := model.Fitted
	low := loss(c)
	t.Logf("%d points, %.4f before", len(points), low)
	r := rand.New(rand.NewPCG(1, 2))
	v := reflect.ValueOf(&c).Elem()
	for range 900 {
		i := r.IntN(v.NumField())
		f, b := v.Field(i), bounds[v.Type().Field(i).Name]
		old := f.Float()
		f.SetFloat(min(max(old*math.Exp(0.25*r.NormFloat64()), b[0]), b[1]))
		if now := loss(c); now < low {
			low = now
		} else {
			f.SetFloat(old)
		}
	}
	t.Logf("%.4f after: %+v", low, c)
}
