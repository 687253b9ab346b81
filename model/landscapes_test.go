package model_test

import (
	"cmp"
	"math"
	"slices"
	"strings"
	"testing"

	"stenciltune/device/replay"
	"stenciltune/device/timing"
	"stenciltune/kernels"
	"stenciltune/kernels/all"
	"stenciltune/model"
	"stenciltune/stencil"
)

// ranks gives each value its place.
func ranks(v []float64) []float64 {
	order := make([]int, len(v))
	for i := range order {
		order[i] = i
	}
	slices.SortFunc(order, func(a, b int) int { return cmp.Compare(v[a], v[b]) })
	r := make([]float64, len(v))
	for place, i := range order {
		r[i] = float64(place)
	}
	return r
}

// spearman is the rank correlation of two lists without ties.
func spearman(a, b []float64) float64 {
	x, y := ranks(a), ranks(b)
	n, sum := float64(len(a)), 0.0
	for i := range x {
		sum += (x[i] - y[i]) * (x[i] - y[i])
	}
	return 1 - 6*sum/(n*(n*n-1))
}

// landscape is a shipped recording and its problem.
type landscape struct {
	file     string
	problem  stencil.Problem
	recorded *replay.Landscape
}

// landscapes opens every shipped recording by its file's name.
func landscapes(t *testing.T) []landscape {
	t.Helper()
	var list []landscape
	for _, file := range replay.Names() {
		fields := strings.Split(strings.TrimSuffix(file, ".jsonl.gz"), "_")
		st, err := stencil.Lookup(fields[1])
		if err != nil {
			t.Fatal(err)
		}
		dtype, err := stencil.ParseDType(fields[2])
		if err != nil {
			t.Fatal(err)
		}
		size, err := stencil.ParseSize(fields[3], st.Dims)
		if err != nil {
			t.Fatal(err)
		}
		p := stencil.Problem{Stencil: st, DType: dtype, Size: size, Steps: 1000}
		l, err := replay.Find(fields[0], p)
		if err != nil {
			t.Fatal(err)
		}
		list = append(list, landscape{file, p, l})
	}
	return list
}

// The model must rank every recorded landscape well enough to seed a search.
func TestTheModelRanksTheRecordedLandscapes(t *testing.T) {
	for _, l := range landscapes(t) {
		t.Run(l.file, func(t *testing.T) {
			type row struct{ measured, predicted float64 }
			var rows []row
			var measured, predicted []float64
			best := math.Inf(1)
			for _, s := range l.recorded.Order {
				r := row{timing.Summarise(l.recorded.Records[s].Samples).Median,
					model.Predict(l.problem, kernels.Find(all.Families(), s.Family()).Work(l.problem, s), 0, l.recorded.Header.Machine).Seconds}
				rows = append(rows, r)
				measured, predicted = append(measured, r.measured), append(predicted, r.predicted)
				best = min(best, r.measured)
			}
			slices.SortFunc(rows, func(a, b row) int { return cmp.Compare(a.predicted, b.predicted) })
			off := func(n int) float64 {
				low := math.Inf(1)
				for _, r := range rows[:n] {
					low = min(low, r.measured)
				}
				return 100 * (low/best - 1)
			}
			rho := spearman(measured, predicted)
			t.Logf("%d schedules, Spearman %.2f, first 1: %.1f %% off, 10: %.1f %%, 25: %.1f %%, 100: %.1f %%", len(rows), rho, off(1), off(10), off(25), off(100))
			if rho < 0.8 {
				t.Errorf("Spearman %.3f", rho)
			}
			if off(100) > 5 {
				t.Errorf("the best of the first 100 is %.1f %% off", off(100))
			}
		})
	}
}
