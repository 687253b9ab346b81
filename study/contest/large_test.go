package contest

import (
	"flag"
	"fmt"
	"path/filepath"
	"testing"

	"stenciltune/device/replay"
	"stenciltune/kernels/all"
	"stenciltune/outcome"
	"stenciltune/space"
	"stenciltune/space/spacetest"
	"stenciltune/stencil"
	"stenciltune/stencil/stenciltest"
	"stenciltune/timing"
)

var flagLarge = flag.Bool("large", false, "how searches end in the spaces of today of all programs of TestSearchesOfLargeSpacesEnd, with -seeds seeds")

// largeSpaces are problems whose spaces are larger than what was recorded, mostly for parameters that came later.
var largeSpaces = []struct {
	name  string
	dtype stencil.DType
	size  stencil.Size
}{
	{"jacobi3d", stencil.Float32, stencil.Size{512, 512, 512}},
	{"jacobi3d", stencil.Float64, stencil.Size{512, 512, 512}},
	{"jacobi3d27", stencil.Float32, stencil.Size{512, 512, 512}},
	{"jacobi3d13", stencil.Float32, stencil.Size{512, 512, 512}},
	{"hotspot3d", stencil.Float32, stencil.Size{512, 512, 512}},
	{"varheat3d", stencil.Float32, stencil.Size{512, 512, 512}},
	{"fdtd3d", stencil.Float32, stencil.Size{512, 512, 512}},
	{"jacobi2d", stencil.Float32, stencil.Size{16384, 16384, 1}},
}

// TestSearchesOfLargeSpacesEnd: in a space of which nobody has measured the whole, and where many schedules take about as
// long as the best, a search with a right model ends by itself, and not by the time that it may take. Times are
// the model's with errors for each value of each parameter and each schedule.
func TestSearchesOfLargeSpacesEnd(t *testing.T) {
	if testing.Short() {
		t.Skip("runs many searches")
	}
	problems, seeds, errors := largeSpaces[:1], 2, []float64{0.06}
	if *flagLarge {
		problems, seeds, errors = largeSpaces, *flagSeeds, []float64{0.03, 0.06, 0.1}
	}
	for _, q := range problems {
		p := stencil.Problem{Stencil: stenciltest.Lookup(t, q.name), DType: q.dtype, Size: q.size, Steps: 1000}
		for _, share := range errors {
			f := imagined(t, p, share)
			runs, err := f.each(t.Context(), Entrant{"bayes", Model}, seeds, Rules{Idle: 15, Stall: 250, Budget: 600, Regret: -1})
			if err != nil {
				t.Fatal(err)
			}
			t.Logf("%-28s of %6d, off*%-4g excess %5.2f %% median, %5.2f %% worst; %3.0f evaluations, %3.0f at most, the best within 1 %% after %3.0f; %4.1f s; %s", f.Name, f.Size, share,
				100*quantileOf(runs, excess, 0.5), 100*quantileOf(runs, excess, 1), quantileOf(runs, evaluations, 0.5), quantileOf(runs, evaluations, 1), quantileOf(runs, within, 0.5), quantileOf(runs, seconds, 0.5), reasons(runs))
			if most, worst := quantileOf(runs, evaluations, 1), quantileOf(runs, excess, 1); !*flagLarge && (most > 150 || worst > 0.01) {
				t.Errorf("a search ends after %.0f evaluations, %.1f %% above the optimum", most, 100*worst)
			}
		}
	}
}

// TestSearchesOfTodaysSpacesEnd: searches of spaces as tunes search them today, which were recorded, end by themselves at the best.
func TestSearchesOfTodaysSpacesEnd(t *testing.T) {
	if testing.Short() {
		t.Skip("runs many searches")
	}
	files, err := filepath.Glob("../../bench/h200/spaces/*.jsonl.gz")
	if err != nil || len(files) == 0 {
		t.Fatalf("%d recordings, %v", len(files), err)
	}
	for _, file := range files {
		l, prior := recording(t, file)
		f := fieldWith(t, l, prior)
		runs, err := f.each(t.Context(), Entrant{"bayes", Model}, 4, Rules{Idle: 15, Stall: 250, Budget: 600, Regret: -1})
		if err != nil {
			t.Fatal(err)
		}
		t.Logf("%s of %d: excess %.2f %% at worst; %.0f evaluations, %.0f at most, the best within 1 %% after %.0f; %s", f.Name, f.Size, 100*quantileOf(runs, excess, 1),
			quantileOf(runs, evaluations, 0.5), quantileOf(runs, evaluations, 1), quantileOf(runs, within, 0.5), reasons(runs))
		if most, worst := quantileOf(runs, evaluations, 1), quantileOf(runs, excess, 1); most > 250 || worst > 0.01 {
			t.Errorf("%s: a search ends after %.0f evaluations, %.1f %% above the optimum", f.Name, most, 100*worst)
		}
	}
}

// imagined is the field of a problem on an H200 whose times are the cost model's, off by a share. A kernel compiles
// the longer the more cells its threads hold in flight, by about what recordings have.
func imagined(t *testing.T, p stencil.Problem, share float64) *Field {
	t.Helper()
	m, err := replay.MachineOf("h200")
	if err != nil {
		t.Fatal(err)
	}
	right := predicted(p, m)
	truth := off(right, share)
	l := &replay.Landscape{Header: replay.Header{Format: replay.Format, Stencil: p.Stencil.Name, DType: p.DType, Size: p.Size, Steps: p.Steps, Machine: m, Regime: timing.Warm, Compilers: 16},
		Records: map[space.Schedule]outcome.Outcome{}}
	sp := all.Space(p, m)
	add := func(s space.Schedule) {
		o := outcome.Outcome{Schedule: s, Status: timing.OK, DeviceSeconds: 0.03, CompileSeconds: 0.5 + 0.02*float64(s.Int("vx", 1)*s.Int("vy", 1)*s.Int("ph", 1))}
		o.SourceHash = s.Family()
		for _, q := range sp.Family(s.Family()).Params {
			if !q.Launch {
				o.SourceHash += fmt.Sprintf("/%s=%d", q.Name, s.Int(q.Name, 0))
			}
		}
		samples := make([]float64, 30)
		for i := range samples {
			samples[i] = truth(s) * (1 + 0.001*float64(i%5))
		}
		l.Records[s] = o.Sampled(samples, 4)
		l.Order = append(l.Order, s)
	}
	naive := spacetest.Schedule(t, "global/gx=64/gy=4/gz=1/wx=1/wy=1/wz=1/cw=0/zz=0/sp=0")
	add(naive)
	for s := range sp.Advised().All() {
		if t := truth(s); s != naive && t > 0 && t < 1e9 {
			add(s)
		}
	}
	return NewField(l, p, sp, naive, right, right, partsOf(p, m))
}
