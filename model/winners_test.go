package model_test

import (
	"flag"
	"maps"
	"math"
	"os"
	"regexp"
	"slices"
	"strconv"
	"testing"

	"stenciltune/kernels"
	"stenciltune/machine"
	"stenciltune/model"
	"stenciltune/runner"
	"stenciltune/space"
	"stenciltune/stencil"
)

var flagRanks = flag.Bool("ranks", false, "print where the model's order of the whole space has the last winner of each application; two minutes")

// winner is a result with the comment before it, which names the schedule.
var winner = regexp.MustCompile(`(?m)^# (\S+/\S+)\nBenchmark\w+/(\w+)/(float\d+)/([0-9x]+) \d+ ([0-9.e+]+) ns/op (?:([0-9.e+]+) GCells/s ([0-9.e+]+) naive-GCells/s)?`)

// Winners of tunes, most of which no coefficient was fitted to, and the naive kernels beside
// them are predicted from the text of their schedule alone.
func TestPredictionsOfOtherStencilsAreInTheRightRegion(t *testing.T) {
	for file, most := range map[string]float64{"families": 0.25, "applications": 0.25} {
		t.Run(file, func(t *testing.T) {
			text, err := os.ReadFile("../bench/h200/" + file + ".txt")
			if err != nil {
				t.Fatal(err)
			}
			m := landscapes(t)[0].recorded.Header.Machine
			var all, naive []float64
			for _, f := range winner.FindAllStringSubmatch(string(text), -1) {
				p, s := named(t, f[2], f[3], f[4], f[1])
				ns, _ := strconv.ParseFloat(f[5], 64)
				sp := kernels.Spaces(families, p, m)
				if err := sp.Check(s); err != nil {
					t.Logf("%s %s: of another revision: %v", p.Text(), s, err)
					continue
				}
				all = append(all, off(t, m, p, s, ns))
				if f[6] != "" {
					rate, _ := strconv.ParseFloat(f[6], 64)
					baseline, _ := strconv.ParseFloat(f[7], 64)
					naive = append(naive, off(t, m, p, runner.Naive(p, sp)[0], ns*rate/baseline))
				}
			}
			median := func(v []float64) float64 {
				if len(v) == 0 {
					return 0
				}
				slices.Sort(v)
				return v[len(v)/2]
			}
			a, n := median(all), median(naive)
			t.Logf("%d winners, median error %.0f %%; naive kernels %.0f %%", len(all), 100*(math.Exp(a)-1), 100*(math.Exp(n)-1))
			if len(all) < 25 || a > most || n > most {
				t.Errorf("median |log error| %.2f of %d winners, %.2f of naive kernels", a, len(all), n)
			}
		})
	}
}

// off is |log(measured / predicted)| of a schedule that takes so many nanoseconds a step.
func off(t *testing.T, m machine.Machine, p stencil.Problem, s space.Schedule, ns float64) float64 {
	got := model.Schedule(p, kernels.Find(families, s.Family()), s, model.Facts{}, m)
	e := math.Log(ns * 1e-9 / got.Seconds)
	t.Logf("%-30s %s: measured %.1f us, predicted %.1f us (%s), log error %.2f", p.Text(), s, ns/1e3, 1e6*got.Seconds, got.Limiter, e)
	return math.Abs(e)
}

// The place of each application's last winner in the model's order of all schedules that are searched.
func TestRanksOfWinners(t *testing.T) {
	if !*flagRanks {
		t.Skip("run with -ranks -v")
	}
	text, err := os.ReadFile("../bench/h200/applications.txt")
	if err != nil {
		t.Fatal(err)
	}
	m := landscapes(t)[0].recorded.Header.Machine
	last := map[string][]string{}
	for _, f := range winner.FindAllStringSubmatch(string(text), -1) {
		last[f[2]] = f
	}
	var places []int
	for _, name := range slices.Sorted(maps.Keys(last)) {
		f := last[name]
		p, won := named(t, f[2], f[3], f[4], f[1])
		seconds := func(s space.Schedule) float64 {
			return model.Schedule(p, kernels.Find(families, s.Family()), s, model.Facts{}, m).Seconds
		}
		place, all, first := 1, 0, won
		for s := range kernels.Spaces(families, p, m).Advised().All() {
			all++
			if seconds(s) < seconds(won) {
				place++
			}
			if seconds(s) < seconds(first) {
				first = s
			}
		}
		t.Logf("%s: place %d of %d; the first is %s, %.2f of the winner's time", name, place, all, first, seconds(first)/seconds(won))
		places = append(places, place)
	}
	slices.Sort(places)
	t.Logf("median place %d", places[len(places)/2])
}
