package main

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"stenciltune/cmd/internal/cli"
	"stenciltune/cmd/internal/clitest"
)

// TestStrategiesAreComparedOnALandscape that ships, and on another tuner's.
func TestStrategiesAreComparedOnALandscape(t *testing.T) {
	dir := t.TempDir()
	args := strings.Fields("replay-bench --seeds 2 --budget 20 --seconds 1 --entrant bayes --entrant random --entrant bayes/none --entrant model/middle")
	p := clitest.Command(t, clitest.StoreIn(t), append(args, "--landscape", "jacobi2d_f64", "--plots", dir)...)
	if code := p.Run(t); code != cli.OK || p.Stderr.Len() > 0 {
		t.Fatalf("exit %d\n%s", code, &p.Stderr)
	}
	for _, want := range []string{"jacobi2d/f64/8192x8192: 2735 schedules, best stream/", "\nbayes ", "\nrandom ", "\nbayes/none ", "\nmodel/middle "} {
		if !strings.Contains(p.Stdout.String(), want) {
			t.Errorf("no %q in\n%s", want, &p.Stdout)
		}
	}
	if _, err := os.Stat(filepath.Join(dir, "jacobi2d_f64_8192x8192.svg")); err != nil {
		t.Error(err)
	}
	own := filepath.Join(dir, "t4.jsonl.gz")
	if q := clitest.Command(t, clitest.StoreIn(t), "landscape", "import", "--format", "t4", "../../study/exchange/testdata/t4.json", "-o", own); q.Run(t) != cli.OK {
		t.Fatal(q.Stderr.String())
	}
	q := clitest.Command(t, clitest.StoreIn(t), append(args, "--landscape", own)...)
	code := q.Run(t)
	lines := strings.Split(strings.TrimSpace(q.Stdout.String()), "\n")
	// Without a cost model there are no priors to compare.
	if code != cli.OK || len(lines) != 4 || !strings.HasPrefix(lines[2], "bayes ") || !strings.HasPrefix(lines[3], "random ") {
		t.Errorf("exit %d\n%s%s", code, &q.Stdout, &q.Stderr)
	}
}
