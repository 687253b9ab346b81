package main

import (
	"bytes"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"stenciltune/cache"
	"stenciltune/cmd/internal/cli"
	"stenciltune/cmd/internal/clitest"
	"stenciltune/study/matmul"
	"stenciltune/tuner"
)

// TestProductIsTunedLikeAStencil from an empty store, and answered from it.
func TestProductIsTunedLikeAStencil(t *testing.T) {
	if testing.Short() {
		t.Skip("waits for compilers: nothing for the race detector")
	}
	needDevice(t, *flagDevice)
	store, out := clitest.StoreIn(t), filepath.Join(t.TempDir(), "matmul.json")
	args := []string{"matmul", "--size", "67x45", "--dtype", "float64", "--device", *flagDevice, "--budget", "5"}
	first := clitest.Command(t, store, append(args, "-o", out)...)
	if code := first.Run(t); code != cli.OK {
		t.Fatalf("exit %d\n%s", code, &first.Stderr)
	}
	c, err := cache.Decode(first.Stdout.Bytes())
	if err != nil {
		t.Fatal(err)
	}
	p, err := product(tuner.Spec{DType: "float64", Size: "67x45"})
	if err != nil {
		t.Fatal(err)
	}
	if c.Stencil.Name != matmul.Name || c.Stencil.Hash != p.Hash() || !c.Search.Complete || len(c.Verification.Checks) != 2 || c.Speedup <= 0 || c.Schedule.Family != "global" && c.Schedule.Family != "tile" {
		t.Errorf("%+v", c)
	}
	if file, err := os.ReadFile(out); err != nil || !bytes.Equal(file, first.Stdout.Bytes()) {
		t.Errorf("-o wrote something else: %v", err)
	}
	again := clitest.Command(t, store, args...)
	if code := again.Run(t); code != cli.OK || !strings.Contains(again.Stderr.String(), "answered from the store") || !bytes.Equal(first.Stdout.Bytes(), again.Stdout.Bytes()) {
		t.Errorf("exit %d\n%s", code, &again.Stderr)
	}
}

// TestAWrongProductIsNoticed: what the judge does not agree with is no answer.
func TestAWrongProductIsNoticed(t *testing.T) {
	if testing.Short() {
		t.Skip("waits for compilers: nothing for the race detector")
	}
	needDevice(t, *flagDevice)
	const schedule = "tile/gx=32/gy=4/gz=1/wx=1/wy=2/wz=1/cw=0/zz=0/kd=16"
	p := clitest.Command(t, clitest.StoreIn(t), "sweep", "--stencil", "matmul", "--size", "67x45", "--device", *flagDevice, "--schedule", schedule, "--vary", "kd=16,32")
	p.Cmd.Env = append(p.Cmd.Env, "TUNE_TEST_FAULT=nan:"+schedule)
	if code := p.Run(t); code != cli.NoSchedule || !strings.Contains(p.Stdout.String(), "(wrong_answer)") || !strings.Contains(p.Stderr.String(), "NaN") {
		t.Errorf("exit %d\n%s%s", code, &p.Stdout, &p.Stderr)
	}
}

func TestProductSaysWhatItCannotDo(t *testing.T) {
	for _, c := range []struct{ args, want string }{
		{"sweep --stencil matmul --families --device host", "no example schedules"},
		{"sweep --stencil matmul --dtype float16 --device host --schedule tile/gx=32 --vary gx=32", "float32, float64"},
		{"matmul source --schedule slide/gx=32", "[global tile]"},
		{"matmul source", "which schedule?"},
	} {
		p := clitest.Command(t, clitest.StoreIn(t), strings.Fields(c.args)...)
		if code := p.Run(t); code != cli.Usage || !strings.Contains(p.Stderr.String(), c.want) {
			t.Errorf("%s: exit %d\n%s", c.args, code, &p.Stderr)
		}
	}
	p := clitest.Command(t, clitest.StoreIn(t), "matmul", "source", "--schedule", "tile/gx=32/gy=8/gz=1/wx=2/wy=4/wz=1/cw=256/zz=1/kd=16")
	if code := p.Run(t); code != cli.OK || !strings.Contains(p.Stdout.String(), `#line 1 "study/matmul/tile.cu"`) {
		t.Errorf("exit %d\n%s", code, &p.Stderr)
	}
}
