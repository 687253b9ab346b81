package contest

import (
	"fmt"
	"math"
	"slices"
	"strings"
	"testing"

	"stenciltune/device/replay"
	"stenciltune/figure"
	"stenciltune/kernels"
	"stenciltune/kernels/all"
	"stenciltune/machine"
	"stenciltune/model"
	"stenciltune/outcome"
	"stenciltune/search"
	"stenciltune/space"
	"stenciltune/space/spacetest"
	"stenciltune/stencil"
	"stenciltune/timing"
)

// recording opens the one recording of a name, a path or a shipped one's, with the cost
// model's prior of it.
func recording(t *testing.T, name string) (*replay.Landscape, search.Prior) {
	t.Helper()
	found, err := replay.Match(name)
	if err != nil || len(found) != 1 {
		t.Fatalf("%s: %d landscapes, %v", name, len(found), err)
	}
	l := found[0]
	p, err := l.Problem()
	if err != nil {
		t.Fatal(err)
	}
	return l, func(s space.Schedule) float64 {
		return model.Predict(p, kernels.Find(all.Families(), s.Family()).Work(p, s), model.Facts{}, l.Header.Machine).Seconds
	}
}

// partsOf are the parts of the cost model's predictions.
func partsOf(p stencil.Problem, m machine.Machine) search.Parts {
	families := all.Families()
	return func(s space.Schedule) []float64 {
		v := model.Schedule(p, kernels.Find(families, s.Family()), s, model.Facts{}, m)
		return v.Parts[:]
	}
}

// fieldWith is the field of a recording in two or three dimensions with a prior.
func fieldWith(t *testing.T, l *replay.Landscape, prior search.Prior) *Field {
	t.Helper()
	p, err := l.Problem()
	if err != nil {
		t.Fatal(err)
	}
	naive := spacetest.Schedule(t, "global/gx=64/gy=4/gz=1/wx=1/wy=1/wz=1/cw=0/zz=0/sp=0")
	return NewField(l, p, kernels.Spaces(all.Families(), p, l.Header.Machine), naive, prior, prior, partsOf(p, l.Header.Machine))
}

// shipped opens a recording that ships, only what keep keeps of it, as a field.
func shipped(t *testing.T, name string, keep func(space.Schedule) bool) (*Field, search.Prior) {
	t.Helper()
	l, prior := recording(t, name)
	l.Order = slices.DeleteFunc(l.Order, func(s space.Schedule) bool {
		if keep == nil || keep(s) {
			return false
		}
		delete(l.Records, s)
		return true
	})
	return fieldWith(t, l, prior), prior
}

// TestRunsRepeat: the same seed and landscape give the same sequence, byte for
// byte, and another seed another one.
func TestRunsRepeat(t *testing.T) {
	f, _ := shipped(t, "jacobi2d_f64", nil)
	for _, name := range Strategies() {
		text := func(seed uint64) string {
			r, err := f.Run(t.Context(), Entrant{Strategy: name}, seed, Rules{Budget: 60, Regret: -1})
			if err != nil {
				t.Fatal(err)
			}
			return fmt.Sprint(r)
		}
		first := text(1)
		if again := text(1); again != first {
			t.Errorf("%s: the same seed gave\n%s\nand\n%s", name, first, again)
		}
		if name != "model" && name != "exhaustive" && text(2) == first {
			t.Errorf("%s: another seed gave the same", name)
		}
	}
}

// toy is a field of four schedules worked out by hand.
func toy(t *testing.T) *Field {
	t.Helper()
	l := &replay.Landscape{Header: replay.Header{StencilHash: "h", Compilers: 1, Size: stencil.Size{8, 8, 1}}, Records: map[space.Schedule]outcome.Outcome{}}
	for i, ms := range []float64{4, 2, 1, 8} {
		s := spacetest.Schedule(t, fmt.Sprintf("f/x=%d", i))
		l.Records[s] = outcome.Outcome{Schedule: s, Status: timing.OK, CompileSeconds: 1, DeviceSeconds: 0.5}.Sampled([]float64{ms / 1e3}, 1)
		l.Order = append(l.Order, s)
	}
	return NewField(l, stencil.Problem{Size: l.Header.Size}, l.Space(), space.Schedule{}, nil, nil, nil)
}

func TestFiguresByHand(t *testing.T) {
	f := toy(t)
	r, err := f.Run(t.Context(), Entrant{Strategy: "exhaustive"}, 1, Rules{Regret: -1, Ahead: 4})
	if err != nil {
		t.Fatal(err)
	}
	// The baseline, the median of 4 ms, is compiled at 1 s and timed in two launches: then the
	// search begins. One compiler has the last, the third and the second, in the order of an
	// exhaustive walk, at 2, 3 and 4 s; each takes half a second on the device.
	const begin = 1.008
	for i, want := range []Point{{Time: 2.5 - begin, Regret: 3}, {Time: 3.5 - begin}, {Time: 4.5 - begin}} {
		if p := r.Points[i]; math.Abs(p.Time-want.Time) > 1e-6 || math.Abs(p.Regret-want.Regret) > 1e-9 {
			t.Errorf("point %d is %v, want %v", i, p, want)
		}
	}
	if r.To(1) != 2 || r.To(0.5) != 2 || !math.IsInf(r.To(-1), 1) || math.Abs(r.Seconds(1)-(3.5-begin)) > 1e-6 {
		t.Errorf("to 1: %v, to 0.5: %v, seconds %v", r.To(1), r.To(0.5), r.Seconds(1))
	}
	if got, want := r.Area(7, 5), ((2.5-begin)*7+1*3)/5; math.Abs(got-want) > 1e-6 {
		t.Errorf("area %v, want %v", got, want)
	}
	if got, want := r.Busy, 1.5/(4.5-begin); math.Abs(got-want) > 1e-6 {
		t.Errorf("busy %v, want %v", got, want)
	}
	if b := []float64{f.baseline(0), f.baseline(1), f.baseline(4)}; b[0] != 7 || b[1] != 3 || b[2] != 0 {
		t.Errorf("baselines %v", b) // ranks 5, 2.5 (up to 3) and 1 of 4
	}
	// Who knows the optimum at once scores 1.
	p := pace{0.5, 1, 1.5, 2}
	if s := f.Score([]Run{{Points: []Point{{}}}}, p); math.Abs(s-1) > 1e-9 {
		t.Errorf("score %v", s)
	}
}

// The window of a score begins where random search has made half of the way from the median, which of an even number of times
// lies between two: who knows the optimum from then on scores 1.
func TestAScoreBeginsHalfWayFromTheMedian(t *testing.T) {
	f := &Field{Optimum: 1, seconds: map[space.Schedule]float64{{}: 3}}
	for i := range 40 {
		s := 1 + 0.036*float64(i) // of 2 and 3 draws the 14th and the 10th are expected: 0.468 and 0.324 slower
		if i >= 20 {
			s = 2
		}
		f.sorted = append(f.sorted, s)
	}
	p := make(pace, 40)
	for i := range p {
		p[i] = float64(i + 1)
	}
	for at, want := range map[float64]bool{3: true, 3.01: false} { // half of (1.684 + 2)/2 - 1 is 0.421
		if s := f.Score([]Run{{Points: []Point{{Time: at}}}}, p); (math.Abs(s-1) < 1e-9) != want {
			t.Errorf("the optimum at %g s: score %v", at, s)
		}
	}
}

// A run ends with the schedule whose regret is as small as its rules ask for: at 0 with the best.
func TestARunEndsAtTheRegretThatIsAskedFor(t *testing.T) {
	r, err := toy(t).Run(t.Context(), Entrant{Strategy: "exhaustive"}, 1, Rules{Ahead: 1})
	if err != nil || len(r.Points) != 2 || r.Points[1].Regret != 0 || r.Stop != search.Interrupted { // the best is the second
		t.Errorf("%v, %v, stopped by %s", err, r.Points, r.Stop)
	}
}

func TestTableAndPlot(t *testing.T) {
	f := toy(t)
	o := Options{Entrants: []Entrant{{Strategy: "random"}, {Strategy: "bayes"}}, Seeds: 3, Time: 10}
	rows, err := f.Hold(t.Context(), o)
	if err != nil {
		t.Fatal(err)
	}
	var b strings.Builder
	if err := f.Print(&b, rows, o); err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{"4 schedules, best f/x=2", "random  ", "bayes  ", "mean excess over 10 s"} {
		if !strings.Contains(b.String(), want) {
			t.Errorf("%q is missing in\n%s", want, b.String())
		}
	}
	p := f.Plot(rows, o)
	if len(p.Layers) != 2 || p.Layers[1].Name != "bayes" {
		t.Fatalf("plot: %+v", p)
	}
	for _, l := range p.Layers { // the baseline, 300 % above the optimum, at first; the optimum at the end
		if n := len(l.X) - 1; l.Y[0] != 300 || l.Y[n] != plotLow || l.X[0] != plotFrom || math.Abs(l.X[n]-o.Time) > 1e-9 {
			t.Errorf("%s runs from (%g, %g) to (%g, %g)", l.Name, l.X[0], l.Y[0], l.X[n], l.Y[n])
		}
	}
	if svg, err := figure.SVG(p); err != nil || strings.Contains(string(svg), "NaN") {
		t.Errorf("plot: %v\n%s", err, svg)
	}
}

// TestABackwardRankingHoldsNoSearchUp: its times are not made of the model's parts, and with these beside it the best family looked
// hopeless for 400 evaluations.
func TestABackwardRankingHoldsNoSearchUp(t *testing.T) {
	l, prior := recording(t, "../../bench/h200/landscapes/nvidia-h200_gaussian2d_f32_8192x8192.jsonl.gz")
	f := fieldWith(t, l, prior)
	r, err := f.Run(t.Context(), Entrant{"bayes", Inverted}, 1, Rules{Budget: 60, Regret: 0.02, Ahead: 1})
	if n := len(r.Points); err != nil || n == 0 || r.Points[n-1].Regret > 0.02 {
		t.Errorf("%d evaluations, %v", n, err)
	}
}
