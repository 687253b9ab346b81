package main

import (
	"bytes"
	"fmt"
	"io/fs"
	"math"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"golang.org/x/perf/benchfmt"

	"stenciltune/stencil"
	"stenciltune/stencil/stenciltest"
)

// TestBlindProgramsAreNewAndUnseen: none computes what another program here computes, and no Go file but bench's names them.
func TestBlindProgramsAreNewAndUnseen(t *testing.T) {
	known := map[string]string{} // names by what is computed
	for _, name := range stencil.Names() {
		s := stenciltest.Lookup(t, name)
		known[s.Hash] = name
	}
	var mine []string
	err := filepath.WalkDir("..", func(path string, d fs.DirEntry, err error) error {
		switch ext := filepath.Ext(path); {
		case err != nil || d.IsDir() || ext != ".sl" && ext != ".go":
			return err
		case filepath.Dir(path) == filepath.Join("..", "bench", "blind"):
			mine = append(mine, path)
			return nil
		case ext == ".go" && filepath.Dir(path) == filepath.Join("..", "bench"):
			return nil
		}
		text, err := os.ReadFile(path)
		if err != nil {
			return err
		}
		if filepath.Ext(path) == ".go" {
			if bytes.Contains(text, []byte("blind/")) {
				t.Errorf("%s names the blind programs", path)
			}
		} else if s, err := stencil.Parse("a", path, string(text)); err == nil { // templates do not parse
			known[s.Hash] = path
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	for _, path := range mine {
		text, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		s, err := stencil.Parse("a", path, string(text))
		if err != nil {
			t.Error(err)
			continue
		}
		if other := known[s.Hash]; other != "" {
			t.Errorf("%s is %s", path, other)
		}
		known[s.Hash] = path
		if !strings.Contains(string(text), "\n# Source: ") {
			t.Errorf("%s names no source", path)
		}
	}
	if len(mine) < 8 {
		t.Errorf("%d programs", len(mine))
	}
}

// TestBlindRatios: whose times the ratios are of, by a tune that answers as a GPU might. The model's first takes 120 ns a step,
// of which it expected 90, or cannot run; the best of ten takes 110, the default's 105, the longest search's 100.
func TestBlindRatios(t *testing.T) {
	const says = `#!/bin/sh
case "$*" in
--version) echo tune version 0.1.0 0123abc; exit;;
model*) echo '{"top": [{"schedule": "one", "seconds_per_step": 90e-9}]}'; exit;;
measure*) for s in naive 300 one 120 ten 110 mine 105 long 100; do
	case $s in [0-9]*) case "$*" in *"--schedule $last"*) echo "BenchmarkStep/triclinic/f32/1/$last 1 $s ns/op";; esac;; esac
	last=$s
done; exit;;
*"--budget 4 "*) s=one; [ FAILED = 0 ] || s=naive;;
*"--budget 13 "*) s=ten;;
*"--time-limit 14s"*) s=long;;
*"--time-limit 7s"*) s=mine;;
esac
echo '{"schedule": {"text": "'$s'"}, "search": {"evaluated": 40, "failed": FAILED, "space": 900, "stop": "converged"}}'`
	for failed, want := range map[int]map[string]float64{
		0: {"sec/op": 100e-9, "first-ratio": 1.2, "ten-ratio": 1.1, "default-ratio": 1.05, "long-ratio": 1, "predicted-ratio": 0.75, "schedules": 40},
		1: {"sec/op": 100e-9, "first-ratio": 3, "default-ratio": 1.05, "predicted-ratio": 0},
	} {
		tune := filepath.Join(t.TempDir(), "tune")
		if err := os.WriteFile(tune, []byte(strings.ReplaceAll(says, "FAILED", fmt.Sprint(failed))), 0o777); err != nil {
			t.Fatal(err)
		}
		list, log, err := measured(t, "blind", "-tune", tune, "-match", "/(sandpile|triclinic)/", "-limit", "7s")
		if err != nil || len(list) != 2 || string(list[1].Name) != "Blind/triclinic/float32/325x301x251" {
			t.Fatalf("%d results, %v\n%s", len(list), err, log)
		}
		for unit, v := range want {
			if got, _ := list[1].Value(unit); math.Abs(got-v) > 1e-6*v {
				t.Errorf("%d failed: %v %s, want %v", failed, got, unit, v)
			}
		}
		if !strings.Contains(log, "default-ratio of 2: median 1.05, worst 1.05 (Blind/sandpile") || strings.Contains(log, "predicted-ratio") != (failed == 0) {
			t.Errorf("%d failed: %s", failed, log)
		}
	}
}

// TestBlindOnARecording: what blind asks of tune is what that knows.
func TestBlindOnARecording(t *testing.T) {
	b := &bench{program: program{path: tuneProgram, device: "replay:h200", work: t.TempDir()}}
	r, err := b.judge(t.Context(), problem{"jacobi2d", "float32", "8192x8192"}, 8, 1)
	if err != nil {
		t.Fatal(err)
	}
	has(t, &benchfmt.Result{Name: benchfmt.Name("Blind/jacobi2d"), Values: r.values},
		"ns/op", "GCells/s", "first-ratio", "ten-ratio", "default-ratio", "long-ratio", "predicted-ratio", "schedules", "tune-ns", "x-naive", "x-roof")
}

// TestSummaryOfAFile: the median and the worst are over all that the file of -o holds, the worst on either side of 1.
func TestSummaryOfAFile(t *testing.T) {
	file := filepath.Join(t.TempDir(), "old.txt")
	old := "# commit: 0123abc\nBenchmarkBlind/triclinic/float32/325x301x251 1 5 ns/op 0.5 first-ratio\nBenchmarkBlind/b/f/1 1 5 ns/op 1.4 first-ratio\nBenchmarkBlind/c/f/1 1 5 ns/op 1 first-ratio\n"
	if err := os.WriteFile(file, []byte(old), 0o666); err != nil {
		t.Fatal(err)
	}
	list, log, err := measured(t, "blind", "-match", "/triclinic/", "-o", file)
	if want := "bench: first-ratio of 3: median 1, worst 0.5 (Blind/triclinic/float32/325x301x251)\n"; err != nil || len(list) != 0 || log != want {
		t.Errorf("%d results, %v, %q, want %q", len(list), err, log, want)
	}
}
