package main

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"stenciltune/cmd/internal/clitest"
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
			if p := clitest.Command(t, clitest.StoreIn(t), args...); p.Run(t) != 0 {
				t.Fatalf("study %s\n%s", strings.Join(args, " "), &p.Stderr)
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
			if a.Schedule != b.Schedule || a.Status != b.Status || a.Series.Samples[0] != b.Series.Samples[0] || a.CompileSeconds != b.CompileSeconds {
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
	} {
		p := clitest.Command(t, clitest.StoreIn(t), strings.Fields(c.args)...)
		if code := p.Run(t); code != 2 || !strings.Contains(p.Stderr.String(), c.want) || strings.Count(p.Stderr.String(), "\n") != 1 {
			t.Errorf("study %s: exit %d\n%s", c.args, code, &p.Stderr)
		}
	}
}
