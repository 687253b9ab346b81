package main

import (
	"fmt"
	"path/filepath"
	"strings"
	"testing"

	"stenciltune/cache"
	"stenciltune/cmd/internal/cli"
	"stenciltune/cmd/internal/clitest"
)

// TestListsOfGPUs names the GPUs of a stand-in for the driver, whose kernels compute nothing.
func TestListsOfGPUs(t *testing.T) {
	cuda, nvrtc := fakeLibraries(t)
	for _, c := range []struct {
		list string
		env  string
		code int
		says []string
	}{
		{"0,0", "", cli.Usage, []string{"0 and 0 are the same GPU (0 = Fake GPU, GPU-10111213"}},
		{"1,GPU-2011", "", cli.Usage, []string{"name each once"}},
		{"0,7", "", cli.NoDevice, []string{`no device matches "7"`, "2 = Other GPU"}},
		{"0,1", "CUDA_VISIBLE_DEVICES=1", cli.NoDevice, []string{`no device matches "1"; there are 0 = Fake GPU (GPU-2011`, `CUDA_VISIBLE_DEVICES="1"`}},
		{"all", "CUDA_VISIBLE_DEVICES=", cli.NoDevice, []string{"the driver shows no GPU", "without a GPU use --device host"}},
		{"all", "", cli.Usage, []string{"devices of 2 models", "(0,1)"}},
		{"host,host", "", cli.Usage, []string{"host stands alone"}},
		// Both are opened, and neither runs a kernel.
		{"all", "CUDA_VISIBLE_DEVICES=GPU-2011,0", cli.NoSchedule, []string{"on 2 Fake GPU (cuda)", "the naive kernel"}},
	} {
		t.Run(c.list+" "+c.env, func(t *testing.T) {
			t.Parallel()
			p := clitest.Command(t, clitest.StoreIn(t), "--stencil", "jacobi2d", "--size", "129x65", "--model", "none", "--device", c.list, "-o", filepath.Join(t.TempDir(), "c.json"))
			p.Cmd.Env = append(p.Cmd.Env, "TUNE_LIBCUDA="+cuda, "TUNE_LIBNVML="+cuda, "TUNE_LIBNVRTC="+nvrtc, "FAKE_DEVICES=3", "FAKE_ALIKE=2")
			if c.env != "" {
				p.Cmd.Env = append(p.Cmd.Env, c.env)
			}
			if code := p.Run(t); code != c.code || p.Stdout.Len() > 0 {
				t.Errorf("exit %d, want %d", code, c.code)
			}
			for _, want := range c.says {
				if !strings.Contains(p.Stderr.String(), want) {
					t.Errorf("no %q in\n%s", want, &p.Stderr)
				}
			}
			if lines := strings.Count(p.Stderr.String(), "\n"); c.code != cli.NoSchedule && lines != 1 {
				t.Errorf("%d lines of error\n%s", lines, &p.Stderr)
			}
		})
	}
}

// TestSeveralRecordings spreads one tune over two, and then several tunes, and tunes those again.
func TestSeveralRecordings(t *testing.T) {
	store := clitest.StoreIn(t)
	two := []string{"--device", "replay:h200,replay:h200", "--strategy", "model", "--budget", "12"}
	code, out, stderr := tune(t, store, append(two, "--stencil", "jacobi2d")...)
	if code != 0 {
		t.Fatalf("exit %d\n%s", code, stderr)
	}
	c, err := cache.Decode([]byte(out))
	if err != nil || len(c.Members) != 2 || !strings.Contains(stderr, "on 2 NVIDIA H200 (replay)") {
		t.Errorf("%v, members %v\n%s", err, c.Members, stderr)
	}
	code, out, stderr = tune(t, store, append([]string{"stencils", "--bench", "jacobi2d", "gradient2d", "gaussian2d"}, two...)...)
	if code != 0 || !strings.Contains(stderr, "jacobi2d: answered from the store") {
		t.Errorf("exit %d\n%s", code, stderr)
	}
	for _, name := range []string{"jacobi2d", "gradient2d", "gaussian2d"} {
		if n := strings.Count(out, fmt.Sprintf("BenchmarkTuned/%s/f32/8192x8192 ", name)); n != 1 {
			t.Errorf("%d lines of %s in\n%s", n, name, out)
		}
	}
	code, out, stderr = tune(t, store, append([]string{"retune", "--all", "--max-age", "1ns"}, two...)...)
	if code != 0 || strings.Count(out, `"format"`) != 3 || !strings.Contains(stderr, "3 problems, 0 up to date") {
		t.Errorf("exit %d, %d configs\n%s", code, strings.Count(out, `"format"`), stderr)
	}
	if code, _, stderr := tune(t, store, "stencils", "--device", "0"); code != cli.Usage || !strings.Contains(stderr, "go with --bench") {
		t.Errorf("exit %d\n%s", code, stderr)
	}
	if code, _, stderr := tune(t, store, "stencils", "--bench", "nosuch"); code != cli.Usage {
		t.Errorf("exit %d\n%s", code, stderr)
	}
	if code, _, stderr := tune(t, store, "measure", "--stencil", "jacobi2d", "--device", "0,1", "--schedule", c.Schedule.Text); code != cli.Usage || !strings.Contains(stderr, "name one") {
		t.Errorf("exit %d\n%s", code, stderr)
	}
}
