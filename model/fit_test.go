package model_test

import (
	"cmp"
	"encoding/json"
	"flag"
	"maps"
	"math"
	"math/rand/v2"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"sync"
	"testing"

	"stenciltune/kernels"
	"stenciltune/kernels/all"
	"stenciltune/machine"
	"stenciltune/model"
	"stenciltune/stencil"
)

var (
	flagFit       = flag.Bool("fit", false, "fit the model's coefficients to the recorded landscapes and write calibration.json")
	flagResiduals = flag.Bool("residuals", false, "write to calibration.json what the coefficients that are there leave")
)

// point is a recorded schedule.
type point struct {
	problem  stencil.Problem
	work     kernels.Work
	facts    model.Facts // what the compiler told; not used to fit: choices are made before
	machine  machine.Machine
	measured float64
	weight   float64
}

// recorded gives a landscape's points. For a fit it is a sample: every schedule
// within 30 % of the best counts fully, every few of the others the less the slower.
func recorded(l landscape, sample bool) []point {
	var points []point
	_, best := l.recorded.Best()
	every := 1
	if sample {
		every = max(1, len(l.recorded.Order)/1200)
	}
	for i, s := range l.recorded.Order {
		r := l.recorded.Records[s]
		m := r.Seconds()
		if m == 0 {
			continue
		}
		weight := 0.0
		if i%every == 0 {
			weight += math.Pow(best/m, 0.5)
		}
		if m < 1.3*best {
			weight += 2
		}
		if weight > 0 {
			p := kernels.Fused(l.problem, s)
			points = append(points, point{p, kernels.Find(all.Families(), s.Family()).Work(p, s), model.Facts{Registers: r.Registers, SpillBytes: r.SpillBytes}, l.recorded.Header.Machine, m, weight})
		}
	}
	return points
}

// group is recordings that count together as one: a landscape, or the sizes of a stencil.
type group struct {
	weight float64
	sets   [][]point
}

// level is the share by which it counts that a whole recording is predicted too slow or too fast:
// that changes no choice among its schedules.
const level = 0.2

// loss is the square root of the weighted mean, over groups, of robust squares of log(measured / predicted).
func loss(c model.Coefficients, groups []group) float64 {
	total, weights := 0.0, 0.0
	for _, g := range groups {
		for _, points := range g.sets {
			total += g.weight * setLoss(c, points) / float64(len(g.sets))
		}
		weights += g.weight
	}
	return math.Sqrt(total / weights)
}

func setLoss(c model.Coefficients, points []point) float64 {
	mean, weights := 0.0, 0.0
	errors := make([]float64, len(points))
	for i, q := range points {
		errors[i] = min(max(math.Log(q.measured/c.Predict(q.problem, q.work, model.Facts{}, q.machine).Seconds), -1.5), 1.5)
		mean, weights = mean+q.weight*errors[i], weights+q.weight
	}
	mean /= weights
	sum := 0.0
	for i, q := range points {
		e := math.Abs(errors[i] - (1-level)*mean)
		if e > 0.25 { // Huber: an outlier counts by its size, not its square
			e = math.Sqrt(0.25 * (2*e - 0.25))
		}
		sum += q.weight * e * e
	}
	return sum / weights
}

// fit improves coefficients by random steps, along one of them or several at a
// time, kept if they help.
func fit(c model.Coefficients, groups []group, steps int) (model.Coefficients, float64) {
	low := loss(c, groups)
	r := rand.New(rand.NewPCG(1, 2))
	v := reflect.ValueOf(&c).Elem()
	scale := make([]float64, v.NumField())
	for i := range scale {
		scale[i] = 0.25
	}
	for n := range steps {
		before := c
		step := []int{r.IntN(v.NumField())}
		if n%3 == 2 {
			step = append(step, r.IntN(v.NumField()), r.IntN(v.NumField()))
		}
		for _, i := range step {
			f, b := v.Field(i), model.Bounds[v.Type().Field(i).Name]
			f.SetFloat(min(max(f.Float()*math.Exp(scale[i]*r.NormFloat64()), b[0]), b[1]))
		}
		now := loss(c, groups)
		better := now < low
		for _, i := range step {
			if better {
				scale[i] = min(scale[i]*1.5, 0.5)
			} else {
				scale[i] = max(scale[i]*0.93, 0.01)
			}
		}
		if better {
			low = now
		} else {
			c = before
		}
	}
	return c, low
}

// residual judges coefficients on all of a landscape.
func residual(c model.Coefficients, name string, points []point) model.Residual {
	type row struct{ measured, predicted float64 }
	var rows []row
	var measured, predicted []float64
	best, mean, square := math.Inf(1), 0.0, 0.0
	for _, q := range points {
		r := row{q.measured, c.Predict(q.problem, q.work, model.Facts{}, q.machine).Seconds}
		rows = append(rows, r)
		measured, predicted = append(measured, r.measured), append(predicted, r.predicted)
		best = min(best, r.measured)
		e := math.Log(r.measured / r.predicted)
		mean, square = mean+e, square+e*e
	}
	slices.SortStableFunc(rows, func(a, b row) int { return cmp.Compare(a.predicted, b.predicted) })
	off := func(n int) float64 {
		low := math.Inf(1)
		for _, r := range rows[:min(n, len(rows))] {
			low = min(low, r.measured)
		}
		return round(low/best - 1)
	}
	n := float64(len(rows))
	mean /= n
	return model.Residual{Landscape: name, Schedules: len(rows), Spearman: round(spearman(measured, predicted)),
		LogError: round(math.Sqrt(square/n - mean*mean)), LogOffset: round(mean), First: off(1), First10: off(10)}
}

func round(v float64) float64 { return math.Round(v*1e4) / 1e4 }

// sizes are points of the sizes that `go run ./bench sizes` recorded to be fitted to, of small
// grids and odd ones, by stencil. Those that answers are judged by are others.
func sizes(t *testing.T) map[string]group {
	t.Helper()
	files, err := filepath.Glob("../bench/h200/sizes/*.jsonl.gz")
	if err != nil {
		t.Fatal(err)
	}
	groups := map[string]group{}
	for _, file := range files {
		l := open(t, file, file)
		name := l.problem.Stencil.Name
		groups[name] = group{1, append(groups[name].sets, recorded(l, true))}
	}
	return groups
}

// TestFit fits the coefficients to all landscapes, and for cross-validation to all
// but those of one stencil, and writes calibration.json: with -residuals what the coefficients that are there leave.
func TestFit(t *testing.T) {
	if !*flagFit && !*flagResiduals {
		t.Skip("run with -fit or -residuals")
	}
	lands, smaller := landscapes(t), sizes(t)
	fitted := slices.Clone(lands) // to whole spaces where they are recorded
	for _, whole := range wholeSpaces(t) {
		for i, l := range fitted {
			if l.file == whole.file {
				fitted[i] = whole
			}
		}
	}
	var names []string
	for _, l := range lands {
		if !slices.Contains(names, l.problem.Stencil.Name) {
			names = append(names, l.problem.Stencil.Name)
		}
	}
	// Twelve landscapes, of large grids, and sizes of five stencils count about alike.
	without := func(name string) (groups []group) {
		for _, l := range fitted {
			if l.problem.Stencil.Name != name {
				groups = append(groups, group{0.35, [][]point{recorded(l, true)}})
			}
		}
		for _, stencil := range slices.Sorted(maps.Keys(smaller)) {
			if stencil != name {
				groups = append(groups, smaller[stencil])
			}
		}
		return groups
	}
	c := model.Calibrated
	if *flagFit {
		c = model.Calibration{Source: "go test ./model -run Fit -fit: least squares of log(measured / predicted) over the recorded landscapes and sizes"}
		var low float64
		c.Coefficients, low = fit(model.Fitted, without(""), 1500)
		t.Logf("all: %.4f", low)
		c.Folds = make([]model.Fold, len(names))
		var wg sync.WaitGroup
		for i, name := range names {
			wg.Go(func() {
				f, low := fit(c.Coefficients, without(name), 800)
				t.Logf("without %s: %.4f", name, low)
				c.Folds[i] = model.Fold{Left: name, Coefficients: f}
			})
		}
		wg.Wait()
	}
	c.Residuals = nil
	for i := range c.Folds {
		c.Folds[i].Residuals = nil
	}
	for _, l := range lands {
		points := recorded(l, false)
		c.Residuals = append(c.Residuals, residual(c.Coefficients, l.file, points))
		for i := range c.Folds {
			if f := &c.Folds[i]; f.Left == l.problem.Stencil.Name {
				f.Residuals = append(f.Residuals, residual(f.Coefficients, l.file, points))
			}
		}
	}
	b, err := json.MarshalIndent(c, "", "  ")
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile("calibration.json", append(b, '\n'), 0o644); err != nil {
		t.Fatal(err)
	}
	t.Logf("%s", b)
}
