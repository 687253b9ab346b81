package main

import (
	"encoding/json"
	"strings"
	"testing"

	"stenciltune/cache"
	"stenciltune/cmd/internal/cli"
)

func TestSLMeasuresItsInputsAndPicksAHeight(t *testing.T) {
	if testing.Short() {
		t.Skip("waits for compilers: nothing for the race detector")
	}
	needDevice(t, *flagDevice)
	p := command(t, storeIn(t), "sl", "--stencil", "jacobi2d", "--size", "256x256", "--device", *flagDevice, "--strategy", "model", "--budget", "5", "-v")
	if code := p.run(t); code != cli.OK {
		t.Fatalf("exit %d: %s", code, &p.stderr)
	}
	if !strings.Contains(p.stderr.String(), "study: SL model: tile 32x32x1, null kernel ") || !strings.Contains(p.stderr.String(), "; pyramid height ") {
		t.Errorf("%s", &p.stderr)
	}
	if c, err := cache.Decode(p.stdout.Bytes()); err != nil || c.Search.Evaluated == 0 || c.Search.Strategy != "model" {
		t.Errorf("%v %+v", err, c.Search)
	}
	// What the model chose is tried first.
	if !strings.Contains(p.stderr.String(), " smalltile/gx=32/gy=32/gz=1/") {
		t.Errorf("its tile was not tried:\n%s", &p.stderr)
	}
}

// TestSLTriesWhatAdviceLeavesOut: on a problem where searches leave out smalltile, the one
// family that the model knows.
func TestSLTriesWhatAdviceLeavesOut(t *testing.T) {
	p := command(t, storeIn(t), "sl", "--stencil", "jacobi2d", "--device", "replay:../../bench/h200/landscapes/nvidia-h200_jacobi2d_f32_8192x8192.jsonl.gz",
		"--strategy", "model", "--budget", "8", "-v")
	if code := p.run(t); code != cli.OK || !strings.Contains(p.stderr.String(), " smalltile/gx=32/gy=32/gz=1/") {
		t.Errorf("exit %d\n%s", code, &p.stderr)
	}
	// It is tried, and does not win.
	if c, err := cache.Decode(p.stdout.Bytes()); err != nil || c.Schedule.Family != "stream" {
		t.Errorf("%v %+v", err, c.Schedule)
	}
}

func TestSLRanksForADeviceThatIsNotHere(t *testing.T) {
	args := []string{"sl", "model", "--stencil", "jacobi2d", "--device", "model:a100", "--top", "5"}
	p := command(t, storeIn(t), append(args, "--json")...)
	if code := p.run(t); code != cli.OK {
		t.Fatalf("exit %d: %s", code, &p.stderr)
	}
	var got slList
	if err := json.Unmarshal(p.stdout.Bytes(), &got); err != nil {
		t.Fatal(err)
	}
	if len(got.Top) != 5 {
		t.Fatalf("%+v", got)
	}
	// Its tile comes first, up to the height; a fifth is not legal here, and all else comes after.
	for i, family := range []string{"smalltile", "smalltile", "smalltile", "smalltile", "stream"} {
		if got.Top[i].Schedule.Family() != family {
			t.Errorf("row %d: %+v", i, got.Top[i])
		}
	}
	if !got.Predicted || got.Device != "NVIDIA A100-SXM4-80GB" || got.Height != 5 {
		t.Errorf("%+v", got)
	}
	for i, r := range got.Top {
		if r.Rank != i+1 || !(r.Seconds > 0) || i > 0 && r.Seconds < got.Top[i-1].Seconds {
			t.Errorf("row %d: %+v", i, r)
		}
	}
	q := command(t, storeIn(t), args...)
	if code := q.run(t); code != cli.OK || !strings.Contains(q.stderr.String(), "predicted, not measured; SL model: tile 32x32x1") || !strings.Contains(q.stdout.String(), "GCells/s") {
		t.Errorf("exit %d\n%s%s", code, &q.stdout, &q.stderr)
	}
}
