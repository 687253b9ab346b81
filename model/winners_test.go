package model_test

import (
	"math"
	"os"
	"regexp"
	"slices"
	"strconv"
	"testing"

	"stenciltune/kernels"
	"stenciltune/kernels/all"
	"stenciltune/model"
)

// winner is a result with the comment before it, which names the schedule.
var winner = regexp.MustCompile(`(?m)^# (\S+/\S+)\nBenchmark\w+/(\w+)/(float\d+)/([0-9x]+) \d+ ([0-9.e+]+) ns/op`)

// Winners of tunes of ten stencils, most of which no coefficient was fitted to,
// are predicted from the text of their schedule alone.
func TestPredictionsOfOtherStencilsAreInTheRightRegion(t *testing.T) {
	text, err := os.ReadFile("../bench/h200/families.txt")
	if err != nil {
		t.Fatal(err)
	}
	m := landscapes(t)[0].recorded.Header.Machine
	var off []float64
	for _, f := range winner.FindAllStringSubmatch(string(text), -1) {
		p, s := named(t, f[2], f[3], f[4], f[1])
		ns, _ := strconv.ParseFloat(f[5], 64)
		got := model.Predict(p, kernels.Find(all.Families(), s.Family()).Work(p, s), model.Facts{}, m)
		e := math.Log(ns * 1e-9 / got.Seconds)
		t.Logf("%-30s %s: measured %.1f us, predicted %.1f us (%s), log error %.2f", p.Text(), s, ns/1e3, 1e6*got.Seconds, got.Limiter, e)
		off = append(off, math.Abs(e))
	}
	slices.Sort(off)
	median := off[len(off)/2]
	t.Logf("%d schedules, median error %.0f %%", len(off), 100*(math.Exp(median)-1))
	if len(off) < 30 || median > 0.25 {
		t.Errorf("median |log error| %.2f of %d", median, len(off))
	}
}
