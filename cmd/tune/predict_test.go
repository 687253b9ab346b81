package main

import (
	"encoding/json"
	"slices"
	"strings"
	"testing"

	"stenciltune/cache"
	"stenciltune/cmd/internal/cli"
	"stenciltune/cmd/internal/clitest"
	"stenciltune/machine"
	"stenciltune/outcome"
	"stenciltune/space/spacetest"
	"stenciltune/timing"
	"stenciltune/tuner"
)

func TestModelRanksForADeviceThatIsNotHere(t *testing.T) {
	p := clitest.Command(t, clitest.StoreIn(t), "model", "--stencil", "jacobi3d", "--device", "model:a100", "--top", "5", "--json")
	if code := p.Run(t); code != cli.OK {
		t.Fatalf("exit %d: %s", code, p.Stderr.String())
	}
	var got modelList
	if err := json.Unmarshal(p.Stdout.Bytes(), &got); err != nil {
		t.Fatal(err)
	}
	if !got.Predicted || got.Kind != string(machine.Model) || !strings.Contains(got.Source, "whitepaper") || got.Device != "NVIDIA A100-SXM4-80GB" || len(got.Top) != 5 || got.Space < 1000 {
		t.Errorf("%+v", got)
	}
	for i, r := range got.Top {
		if r.Rank != i+1 || !(r.Seconds > 0) || r.Measured != 0 || i > 0 && r.Seconds < got.Top[i-1].Seconds {
			t.Errorf("row %d: %+v", i, r)
		}
	}
	p = clitest.Command(t, clitest.StoreIn(t), "model", "--stencil", "jacobi3d", "--device", "model:a100")
	if p.Run(t); !strings.Contains(p.Stderr.String(), "predicted from the facts of a device that is not here, not measured") {
		t.Errorf("nothing marks it as a prediction: %s", p.Stderr.String())
	}
}

func TestModelOfARecordedDeviceShowsWhatWasMeasured(t *testing.T) {
	p := clitest.Command(t, clitest.StoreIn(t), "model", "--stencil", "jacobi3d", "--device", "replay:h200", "--top", "1500", "--json") // the recording is a sample
	if code := p.Run(t); code != cli.OK {
		t.Fatalf("exit %d: %s", code, p.Stderr.String())
	}
	var got modelList
	if err := json.Unmarshal(p.Stdout.Bytes(), &got); err != nil {
		t.Fatal(err)
	}
	if len(got.Top) != 1500 || !slices.ContainsFunc(got.Top, func(r modelRow) bool { return r.Measured > 0 }) {
		t.Errorf("%+v", got.Top)
	}
}

func TestExplainComparesTheBestWithTheBaseline(t *testing.T) {
	p := clitest.Command(t, clitest.StoreIn(t), "explain", "--stencil", "jacobi3d", "--device", "replay:h200", "--json")
	if code := p.Run(t); code != cli.OK {
		t.Fatalf("exit %d: %s", code, p.Stderr.String())
	}
	var got explanations
	if err := json.Unmarshal(p.Stdout.Bytes(), &got); err != nil {
		t.Fatal(err)
	}
	if len(got.Schedules) != 2 || !got.Predicted {
		t.Fatalf("%+v", got)
	}
	naive, best := got.Schedules[0], got.Schedules[1]
	if naive.Role != "baseline" || best.Role != "best measured" || best.Schedule.Family() != "stream" || best.Measured <= 0 || best.Measured >= naive.Measured || best.Prediction.Seconds >= naive.Prediction.Seconds {
		t.Errorf("%+v\n%+v", naive, best)
	}
	if best.Pyramid == nil || len(best.Conditions) == 0 || best.Prediction.Registers != 250 { // what the compiler told
		t.Errorf("%+v", best)
	}
	p = clitest.Command(t, clitest.StoreIn(t), "explain", "--stencil", "jacobi3d", "--device", "replay:h200")
	p.Run(t)
	for _, want := range []string{"term", "a launch (4 steps)", " * ", "limited by registers", "redundancy: 1.33", "layer condition L2, z:", "is broken", "column width off:", "pyramid height 4: height 4 is predicted fastest", "reuse:", "waves, tail"} {
		if !strings.Contains(p.Stdout.String(), want) {
			t.Errorf("no %q in\n%s", want, p.Stdout.String())
		}
	}
}

func TestExplainPredictsWithoutAGPU(t *testing.T) {
	const fused = "tile/gx=32/gy=8/gz=2/wx=1/wy=2/wz=4/cw=0/zz=0/ph=2"
	p := clitest.Command(t, clitest.StoreIn(t), "explain", "--stencil", "jacobi3d", "--device", "model:b200", "--schedule", fused, "--json")
	if code := p.Run(t); code != cli.OK {
		t.Fatalf("exit %d: %s", code, p.Stderr.String())
	}
	var got explanations
	if err := json.Unmarshal(p.Stdout.Bytes(), &got); err != nil || len(got.Schedules) != 1 || got.Schedules[0].Schedule.String() != fused || got.Source == "" {
		t.Errorf("%+v, %v", got, err)
	}
	p = clitest.Command(t, clitest.StoreIn(t), "explain", "--stencil", "jacobi2d", "--device", "model:t4")
	if code := p.Run(t); code != cli.OK || !strings.Contains(p.Stdout.String(), "best predicted: ") || !strings.Contains(p.Stdout.String(), "baseline: ") {
		t.Errorf("exit %d: %s%s", code, p.Stdout.String(), p.Stderr.String())
	}
}

func TestPredictionsRefuseWhatTheyCannotUse(t *testing.T) {
	for _, c := range []struct {
		args []string
		want string
	}{
		{[]string{"model", "--stencil", "jacobi3d"}, "which device?"},
		{[]string{"model", "--stencil", "jacobi3d", "--device", "model:gtx480"}, "there are: v100, t4, rtx2080ti, a100, h100, h200, b200, rtx3090"},
		{[]string{"model", "--stencil", "jacobi3d", "--device", "model:a100", "--top", "0"}, "at least one"},
		{[]string{"explain", "--stencil", "jacobi3d", "--device", "model:a100", "--schedule", "tile/gx=3"}, "tile"},
		{[]string{"--stencil", "jacobi3d", "--device", "model:a100"}, "nothing can run"},
		{[]string{"--stencil", "jacobi3d", "--device", "replay:h200", "--model", "magic"}, "use counts or none"},
		{[]string{"devices", "--device", "0"}, "goes with --bench"},
		{[]string{"devices", "--bench", "--device", "replay:h200"}, "h200"},
	} {
		p := clitest.Command(t, clitest.StoreIn(t), c.args...)
		if code := p.Run(t); code != cli.Usage || !strings.Contains(p.Stderr.String(), c.want) || strings.Count(p.Stderr.String(), "\n") != 1 {
			t.Errorf("%v: exit %d: %s", c.args, code, p.Stderr.String())
		}
	}
}

func TestWithoutAModelTheSearchStillRuns(t *testing.T) {
	p := clitest.Command(t, clitest.StoreIn(t), "--stencil", "jacobi2d", "--device", "replay:h200", "--model", "none", "--budget", "40")
	if code := p.Run(t); code != cli.OK {
		t.Errorf("exit %d: %s", code, p.Stderr.String())
	}
}

func TestMeasuredRatesChangeThePrediction(t *testing.T) {
	path := clitest.StoreIn(t)
	tn, err := tuner.Open(path)
	if err != nil {
		t.Fatal(err)
	}
	m := machine.Machine{Kind: machine.CUDA, Name: "NVIDIA H200", UUID: "GPU-1", Driver: "580.1", SMs: 132}
	if got, err := tn.Rated(m); err != nil || got != m {
		t.Errorf("nothing stored: %+v, %v", got, err)
	}
	if err := tn.Store().PutRates(m, cache.DeviceRates{Rates: machine.Rates{Launch: 3e-6}, CopyBytesPerSecond: 4e12}); err != nil {
		t.Fatal(err)
	}
	if got, err := tn.Rated(m); err != nil || got.Rates.Launch != 3e-6 || got.CopyBytesPerSecond != 4e12 {
		t.Errorf("%+v, %v", got, err)
	}
}

// What was measured of another source says nothing of the kernel that is explained.
func TestExplainShowsTimesOfTheKernelsOwnSource(t *testing.T) {
	needHost(t)
	store := clitest.StoreIn(t)
	tn, err := tuner.Open(store)
	if err != nil {
		t.Fatal(err)
	}
	p, err := tuner.Spec{Stencil: "jacobi2d", Size: "257x129"}.Problem()
	if err != nil {
		t.Fatal(err)
	}
	d, err := tuner.OpenDevice(t.Context(), "host", p)
	if err != nil {
		t.Fatal(err)
	}
	defer d.Close()
	sc := spacetest.Schedule(t, "global/gx=64/gy=4/gz=1/wx=1/wy=1/wz=1/cw=0/zz=0/sp=0")
	for _, c := range []struct {
		hash    string
		seconds float64
		want    float64
	}{{strings.Repeat("f", 64), 5, 0}, {tn.Kernel(p, sc).SourceHash(), 2e-3, 2e-3}} {
		o := outcome.Outcome{Schedule: sc, SourceHash: c.hash, Status: timing.OK}.Sampled([]float64{c.seconds}, 1)
		if err := tn.Store().Record(tuner.KeyOf(p, d.Machine(), timing.Warm), cache.Entry{Outcome: o}); err != nil {
			t.Fatal(err)
		}
		code, out, stderr := tune(t, store, "explain", "--stencil", "jacobi2d", "--size", "257x129", "--device", "host", "--schedule", sc.String(), "--json")
		var got explanations
		if err := json.Unmarshal([]byte(out), &got); code != 0 || err != nil || got.Schedules[0].Measured != c.want {
			t.Errorf("exit %d, %v, %+v, want %g\n%s", code, err, got.Schedules, c.want, stderr)
		}
	}
}
