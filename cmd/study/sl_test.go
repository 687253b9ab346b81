package main

import (
	"encoding/json"
	"strings"
	"testing"

	"stenciltune/cache"
	"stenciltune/cmd/internal/cli"
	"stenciltune/cmd/internal/clitest"
)

func TestSLMeasuresItsInputsAndPicksAHeight(t *testing.T) {
	if testing.Short() {
		t.Skip("waits for compilers: nothing for the race detector")
	}
	needDevice(t, *flagDevice)
	p := clitest.Command(t, clitest.StoreIn(t), "sl", "--stencil", "jacobi2d", "--size", "256x256", "--device", *flagDevice, "--strategy", "model", "--budget", "5", "-v")
	if code := p.Run(t); code != cli.OK {
		t.Fatalf("exit %d: %s", code, &p.Stderr)
	}
	if !strings.Contains(p.Stderr.String(), "study: SL model: tile 32x32x1, null kernel ") || !strings.Contains(p.Stderr.String(), "; pyramid height ") {
		t.Errorf("%s", &p.Stderr)
	}
	if c, err := cache.Decode(p.Stdout.Bytes()); err != nil || c.Search.Evaluated == 0 || c.Search.Strategy != "model" {
		t.Errorf("%v %+v", err, c.Search)
	}
	// What the model chose is tried first.
	if !strings.Contains(p.Stderr.String(), " smalltile/gx=32/gy=32/gz=1/") {
		t.Errorf("its tile was not tried:\n%s", &p.Stderr)
	}
}

// TestSLTriesWhatAdviceLeavesOut: on a problem where searches leave out smalltile, the one
// family that the model knows.
func TestSLTriesWhatAdviceLeavesOut(t *testing.T) {
	p := clitest.Command(t, clitest.StoreIn(t), "sl", "--stencil", "jacobi2d", "--device", "replay:../../bench/h200/landscapes/nvidia-h200_jacobi2d_f32_8192x8192.jsonl.gz",
		"--strategy", "model", "--budget", "8", "-v")
	if code := p.Run(t); code != cli.OK || !strings.Contains(p.Stderr.String(), " smalltile/gx=32/gy=32/gz=1/") {
		t.Errorf("exit %d\n%s", code, &p.Stderr)
	}
	// It is tried, and does not win.
	if c, err := cache.Decode(p.Stdout.Bytes()); err != nil || c.Schedule.Family != "stream" {
		t.Errorf("%v %+v", err, c.Schedule)
	}
}

func TestSLRanksForADeviceThatIsNotHere(t *testing.T) {
	args := []string{"sl", "model", "--stencil", "jacobi2d", "--device", "model:a100", "--top", "5"}
	p := clitest.Command(t, clitest.StoreIn(t), append(args, "--json")...)
	if code := p.Run(t); code != cli.OK {
		t.Fatalf("exit %d: %s", code, &p.Stderr)
	}
	var got slList
	if err := json.Unmarshal(p.Stdout.Bytes(), &got); err != nil {
		t.Fatal(err)
	}
	if len(got.Top) != 5 {
		t.Fatalf("%+v", got)
	}
	// Its tile comes first, up to the height; five is not legal here, and all else comes after.
	for i, family := range []string{"smalltile", "smalltile", "smalltile", "smalltile", "smalltile"} {
		if got.Top[i].Schedule.Family() != family {
			t.Errorf("row %d: %+v", i, got.Top[i])
		}
	}
	if !got.Predicted || got.Device != "NVIDIA A100-SXM4-80GB" || got.Height != 6 {
		t.Errorf("%+v", got)
	}
	for i, r := range got.Top {
		if r.Rank != i+1 || !(r.Seconds > 0) || i > 0 && r.Seconds < got.Top[i-1].Seconds {
			t.Errorf("row %d: %+v", i, r)
		}
	}
	q := clitest.Command(t, clitest.StoreIn(t), args...)
	if code := q.Run(t); code != cli.OK || !strings.Contains(q.Stderr.String(), "predicted, not measured; SL model: tile 32x32x1") || !strings.Contains(q.Stdout.String(), "GCells/s") {
		t.Errorf("exit %d\n%s%s", code, &q.Stdout, &q.Stderr)
	}
}
