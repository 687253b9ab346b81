package main

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"stenciltune/device/replay"
)

// TestLandscapesTravel: a recording that ships goes through either format and comes
// back whole.
func TestLandscapesTravel(t *testing.T) {
	dir := t.TempDir()
	want, err := replay.Match("jacobi2d_f64")
	if err != nil {
		t.Fatal(err)
	}
	for _, format := range []string{"kernel-tuner", "t4"} {
		out, back := filepath.Join(dir, format+".json"), filepath.Join(dir, format+".jsonl.gz")
		for _, args := range [][]string{
			{"landscape", "export", "--format", format, "jacobi2d_f64", "-o", out},
			{"landscape", "import", "--format", format, out, "-o", back},
		} {
			if p := command(t, storeIn(t), args...); p.run(t) != 0 {
				t.Fatalf("tune %s\n%s", strings.Join(args, " "), &p.stderr)
			}
		}
		f, err := os.Open(back)
		if err != nil {
			t.Fatal(err)
		}
		l, err := replay.Read(f)
		f.Close()
		if err != nil || len(l.Order) != len(want[0].Order) || l.Header != want[0].Header {
			t.Fatalf("%s: %v, %d schedules", format, err, len(l.Order))
		}
		for i, s := range want[0].Order {
			a, b := want[0].Records[s], l.Records[l.Order[i]]
			if a.Schedule != b.Schedule || a.Status != b.Status || a.Samples[0] != b.Samples[0] || a.CompileSeconds != b.CompileSeconds {
				t.Fatalf("%s: %+v came back as %+v", format, a, b)
			}
		}
	}
	for _, c := range []struct{ args, want string }{
		{"landscape export jacobi2d_f64", "--format"},
		{"landscape export --format t4 jacobi2d", "name one"},
		{"landscape import --format t4 x.json", "--output"},
		{"replay-bench --entrant anneal", "--entrant"},
		{"replay-bench --seeds 0", "--seeds"},
		{"--stencil jacobi2d --device replay:h200 --sampler bayes", "--sampler"},
	} {
		p := command(t, storeIn(t), strings.Fields(c.args)...)
		if code := p.run(t); code != 2 || !strings.Contains(p.stderr.String(), c.want) || strings.Count(p.stderr.String(), "\n") != 1 {
			t.Errorf("tune %s: exit %d\n%s", c.args, code, &p.stderr)
		}
	}
}

// TestWarmStartFromTheStore: a second element type starts from the first.
func TestWarmStartFromTheStore(t *testing.T) {
	store := storeIn(t)
	for i, dtype := range []string{"float64", "float32"} {
		p := command(t, store, "--stencil", "jacobi2d", "--dtype", dtype, "--device", "replay:h200", "--budget", "30")
		if code := p.run(t); code != 0 {
			t.Fatalf("exit %d\n%s", code, &p.stderr)
		}
		if starts := strings.Contains(p.stderr.String(), "schedules measured for jacobi2d/f64/8192x8192 on NVIDIA H200"); starts != (i == 1) {
			t.Errorf("%s:\n%s", dtype, &p.stderr)
		}
	}
}
