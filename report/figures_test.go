package report_test

import (
	"bytes"
	"encoding/csv"
	"fmt"
	"slices"
	"strings"
	"testing"

	"stenciltune/figure"
	"stenciltune/outcome"
	"stenciltune/report"
	"stenciltune/space"
	"stenciltune/timing"
)

// table is the numbers of a drawing, as CSV; it is drawn too.
func table(t *testing.T, kind string, of report.Tune, c report.Choice) [][]string {
	t.Helper()
	at := slices.IndexFunc(report.Plots(), func(p report.Plot) bool { return p.Name == kind })
	f, err := report.Plots()[at].Figure(of, c)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := figure.SVG(f); err != nil {
		t.Fatal(err)
	}
	var b bytes.Buffer
	if err := figure.Write(&b, f, "csv"); err != nil {
		t.Fatal(err)
	}
	r := csv.NewReader(&b)
	r.FieldsPerRecord = -1
	rows, err := r.ReadAll()
	if err != nil {
		t.Fatal(err)
	}
	return rows
}

// made is a run of so many schedules.
func made(n int) (r report.Run) {
	for i := range n {
		s := space.Make("f", []space.Param{{Name: "a"}, {Name: "b"}}, []int{i / 10, i % 10})
		r.Outcomes = append(r.Outcomes, outcome.At(s, 1+float64(i)/float64(n), 0))
		r.Search = append(r.Search, report.Evaluation{Schedule: s, Seconds: float64(i)})
	}
	r.Problem.Size = [3]int{100, 100, 1}
	return r
}

// TestParallelNamesItsSchedules: a row for each schedule and axis, in one line.
func TestParallelNamesItsSchedules(t *testing.T) {
	rows := table(t, "parallel", report.Make(made(20)), report.Choice{})
	if len(rows) != 1+20*3 || len(rows[0]) != 4 || rows[0][3] != "schedule" {
		t.Fatalf("%d rows below %q", len(rows)-1, rows[0])
	}
	if want := []string{"", "a 0-1", "0", "f/a=0/b=0"}; !slices.ContainsFunc(rows, func(r []string) bool { return slices.Equal(r, want) }) {
		t.Errorf("no %q in %q", want, rows)
	}
}

// TestPlotsOfOneSchedule: all that can be drawn of it are.
func TestPlotsOfOneSchedule(t *testing.T) {
	one := report.Make(made(1))
	for _, kind := range []string{"progress", "parallel", "finals"} {
		if rows := table(t, kind, one, report.Choice{Seconds: true}); len(rows) < 2 {
			t.Errorf("%s: %q", kind, rows)
		}
	}
}

// TestAFamilyThatFailedHasNoHeatMap.
func TestAFamilyThatFailedHasNoHeatMap(t *testing.T) {
	r := made(20)
	s := space.Make("g", []space.Param{{Name: "a"}, {Name: "b"}}, []int{1, 2})
	r.Outcomes = append(r.Outcomes, outcome.Outcome{Schedule: s, Status: timing.CompileError})
	for _, p := range report.Plots() {
		if p.Name != "heatmap" && p.Name != "parallel" {
			continue
		}
		_, err := p.Figure(report.Make(r), report.Choice{Family: "g", Params: []string{"a", "b"}})
		if err == nil || !strings.Contains(err.Error(), "no schedule of g has a time") {
			t.Errorf("%s: %v", p.Name, err)
		}
	}
}

// TestPlotsAreThin: a file has no more points than it says, and says so where they are fewer.
func TestPlotsAreThin(t *testing.T) {
	const n = 7000
	rows := table(t, "progress", report.Make(made(n)), report.Choice{})
	drawn := 0
	for _, r := range rows {
		if strings.HasPrefix(r[0], "each schedule") {
			drawn++
			if r[0] != "each schedule (1 of 3 drawn)" {
				t.Fatalf("%q", r)
			}
		}
	}
	if want := (n + 2) / 3; drawn != want {
		t.Errorf("%d of %d points are drawn, want %d", drawn, n, want)
	}
	of := report.Make(made(n))
	of.Points.Limiters = []string{"nothing", "memory"}
	for i := range of.Points.Seconds {
		of.Points.Limiter[i], of.Points.Predicted[i] = 1, 1
	}
	if text := fmt.Sprint(table(t, "accuracy", of, report.Choice{})); !strings.Contains(text, "memory (1 of 3 drawn)") {
		t.Errorf("%.300s", text)
	}
}
