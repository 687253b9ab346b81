package report_test

import (
	"encoding/json"
	"slices"
	"strings"
	"testing"

	"stenciltune/device/replay"
	"stenciltune/kernels"
	"stenciltune/kernels/all"
	"stenciltune/machine"
	"stenciltune/outcome"
	"stenciltune/report"
	"stenciltune/runner"
	"stenciltune/space"
	"stenciltune/space/spacetest"
	"stenciltune/stencil"
	"stenciltune/timing"
)

// recorded is a shipped recording as a run, a search of its first schedules included.
func recorded(t testing.TB, name string) report.Run {
	t.Helper()
	list, err := replay.Match(name)
	if err != nil {
		t.Fatal(err)
	}
	l := list[0]
	p, err := l.Problem()
	if err != nil {
		t.Fatal(err)
	}
	m := l.Header.Machine
	m.Kind = machine.Replay
	r := report.Run{Origin: report.Recording, Problem: p, Machine: m, Regime: l.Header.Regime, Families: all.Families(), Space: kernels.Spaces(all.Families(), p, m), Recorded: true}
	r.Naive = runner.Naive(p, r.Space)[0]
	for i, s := range l.Order {
		r.Outcomes = append(r.Outcomes, l.Records[s])
		if i < 50 {
			r.Search = append(r.Search, report.Evaluation{Schedule: s, Seconds: float64(i)})
		}
	}
	return r
}

func TestMakeOfARecording(t *testing.T) {
	r := recorded(t, "jacobi3d_f32")
	got := report.Make(r)
	n := len(r.Outcomes)
	p := got.Points
	for name, have := range map[string]int{"family": len(p.Family), "values": len(p.Values), "seconds": len(p.Seconds), "predicted": len(p.Predicted),
		"limiter": len(p.Limiter), "status": len(p.Status), "registers": len(p.Registers)} {
		if have != n {
			t.Errorf("%d entries of %s for %d schedules", have, name, n)
		}
	}
	for i, o := range r.Outcomes {
		f := got.Families[p.Family[i]]
		if f.Name != o.Schedule.Family() || len(p.Values[i]) != len(f.Params) {
			t.Fatalf("%s became family %s with %d values", o.Schedule, f.Name, len(p.Values[i]))
		}
		for k, q := range f.Params {
			if v, ok := o.Schedule.Get(q.Name); ok && v != p.Values[i][k] {
				t.Fatalf("%s: %s became %d", o.Schedule, q.Name, p.Values[i][k])
			}
		}
		if p.Statuses[p.Status[i]] == timing.OK && p.Seconds[i] < p.Seconds[got.Best] {
			t.Fatalf("%s is faster than the best", o.Schedule)
		}
	}
	if got.Predicted < 0 || p.Predicted[got.Predicted] != slices.Min(slices.DeleteFunc(slices.Clone(p.Predicted), func(v float64) bool { return v == 0 })) {
		t.Error("the best by the model is another")
	}
	best := 0.0
	for i, b := range got.Search.Best {
		if i > 0 && best > 0 && b > best {
			t.Errorf("the best so far got slower at %d", i)
		}
		best = b
	}
	var roles []report.Role
	for _, m := range got.Roofline.Marks {
		roles = append(roles, m.Role)
		if m.Role != report.OneStep && m.CellsPerSecond > m.CellsPerByte*got.Copy*1.1 {
			t.Errorf("%s passes the roofline: %g cells/s at %g cells a byte", m.Role, m.CellsPerSecond, m.CellsPerByte)
		}
	}
	if want := []report.Role{report.Baseline, report.OneStep, report.Winner}; !slices.Equal(roles, want) {
		t.Errorf("under the roofline stand %v, want %v", roles, want)
	}
	if _, err := json.Marshal(got); err != nil {
		t.Error(err)
	}
	r.Objective = timing.ForEnergy
	if got := report.Make(r); got.Problem != "jacobi3d/f32/512x512x512 by energy" { // while it runs, too
		t.Errorf("by energy it is of %s", got.Problem)
	}
}

// TestEveryScheduleKeepsItsText: a parameter may be left out of a text where it has its default,
// also where the family is not known, or is of another version.
func TestEveryScheduleKeepsItsText(t *testing.T) {
	texts := []string{"stream/vx=2/pf=4/mb=1/pm=1", "stream/vx=2/mb=1", "stream/vx=4/sm=2/mb=0/pm=0", "global/gx=32", "global/vx=2/gx=32", "global", "naive"}
	known := space.New(&space.Family{Name: "stream", Params: []space.Param{
		{Name: "vx", Values: []int{2, 4}, Doc: "width"}, {Name: "ck", Values: []int{1}}, {Name: "mb", Values: []int{1, 2}}, {Name: "pm", Values: []int{2, 1}, Optional: true}}})
	for _, s := range []*space.Space{nil, known} {
		r := report.Run{Space: s}
		for _, text := range texts {
			c := spacetest.Schedule(t, text)
			r.Outcomes = append(r.Outcomes, outcome.At(c, 1, 0))
		}
		got := report.Make(r)
		for i, text := range texts {
			if s := got.Schedule(i); s != text {
				t.Errorf("%s became %s", text, s)
			}
		}
		if b, err := json.Marshal(got); err != nil || strings.Count(string(b), "null") != 1 {
			t.Errorf("a list of no parameters is null: %v, %s", err, b)
		}
		if s != nil && got.Families[0].Params[0].Doc != "width" {
			t.Errorf("no doc: %+v", got.Families[0])
		}
	}
}

// TestImportance has a space in which one parameter decides all, one half of the top, and
// one nothing.
func TestImportance(t *testing.T) {
	var r report.Run
	for a := range 8 {
		for b := range 8 {
			for c := range 8 {
				s := space.Make("f", []space.Param{{Name: "a"}, {Name: "b"}, {Name: "c"}}, []int{a, b, c})
				r.Outcomes = append(r.Outcomes, outcome.At(s, 1+float64(8*a+b%2)+1e-6*float64((a*17+b*5+c*11)%64), 0))
			}
		}
	}
	got := report.Make(r).Importance
	if len(got) != 3 || got[0].Param != "a" || got[1].Param != "b" || got[2].Param != "c" || got[0].Share < 0.7 || got[2].Share > 0.1 {
		t.Errorf("importance %v", got)
	}
	for i, o := range r.Outcomes { // one that never differs decides nothing at all
		f := o.Schedule.Fields()
		r.Outcomes[i].Schedule = space.Make("f", []space.Param{{Name: "a"}, {Name: "b"}, {Name: "d"}}, []int{f[0].Value, 8*f[1].Value + f[2].Value, 1})
	}
	if got := report.Make(r).Importance; got[2].Param != "d" || got[2].Share != 0 {
		t.Errorf("importance %v", got)
	}
	r.Outcomes = r.Outcomes[:50]
	if few := report.Make(r).Importance; len(few) != 0 {
		t.Errorf("of 50 schedules: %v", few)
	}
}

func TestMakeOfNothing(t *testing.T) {
	got := report.Make(report.Run{})
	if got.Best != -1 || got.Predicted != -1 || len(got.Finals)+len(got.Failures)+len(got.Roofline.Marks) != 0 {
		t.Errorf("of nothing: %+v", got)
	}
	// The page takes null for a config that is not there, and for no list.
	if b, err := json.Marshal(got); err != nil || strings.Count(string(b), ":null") != 1 || !strings.Contains(string(b), `"config":null`) {
		t.Errorf("of nothing: %v, %s", err, b)
	}
	s := space.Make("f", []space.Param{{Name: "a"}}, []int{1})
	o := outcome.Outcome{Schedule: s, Status: timing.CompileError, Reason: "no"}
	got = report.Make(report.Run{Outcomes: []outcome.Outcome{o, o}, Problem: stencil.Problem{Size: stencil.Size{4, 4, 1}}})
	if len(got.Points.Seconds) != 1 || len(got.Failures) != 1 || got.Failures[0].Count != 1 || got.Best != -1 {
		t.Errorf("of one failure told twice: %+v", got)
	}
}
