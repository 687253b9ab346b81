package main

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

func TestProgramsOfPracticeAreProved(t *testing.T) {
	needHost(t)
	list, log, err := measured(t, "practice", "-device", "host", "-folder", "..", "-cases", "2", "-processes", "1", "-match", "/stencils/plate/global$|/peronamalik/slide$")
	if err != nil || len(list) != 2 {
		t.Fatalf("%d results, %v\n%s", len(list), err, log)
	}
	for i, cases := range []int{2, 4} { // of float64 alone, and of float32 as well
		if right, _ := list[i].Value("right"); int(right) != cases || list[i].Iters != cases {
			t.Errorf("%s: %v of %d right", list[i].Name, right, list[i].Iters)
		}
	}
	has(t, list[1], "sec/op", "median-share", "largest-share")
	if _, _, err := measured(t, "practice", "-device", "host", "-folder", t.TempDir()); err == nil || !strings.Contains(err.Error(), "no stencil file") {
		t.Error(err)
	}
}

// A wrong answer is a line and a failure; what the cases leave open stands above it.
func TestAWrongProgramOfPracticeIsTold(t *testing.T) {
	const says = `#!/bin/sh
case $1 in
devices) echo '{"Host": {"Name": "a processor"}}' ;;
check) echo '{"families": [{"name": "tile"}]}' ;;
verify) echo '{"devices": [{"cases": 9, "share": 0.1, "nearest": {"error": 1, "tolerance": 4}, "warnings": ["a branch was not taken"]},
  {"cases": 3, "share": 0.2, "nearest": {"error": 3, "tolerance": 2}, "wrong": "cell 7"}]}'
  exit 3 ;;
esac
`
	tune := filepath.Join(t.TempDir(), "tune")
	if err := os.WriteFile(tune, []byte(says), 0o777); err != nil {
		t.Fatal(err)
	}
	file := filepath.Join(t.TempDir(), "practice.txt")
	_, log, err := measured(t, "practice", "-tune", tune, "-device", "host", "-folder", "..", "-match", "/walls/channel/tile$", "-o", file)
	text, _ := os.ReadFile(file)
	if err == nil || !strings.Contains(log, "exit status 3") || !strings.Contains(string(text), "# a branch was not taken\nBenchmarkPractice/walls/channel/tile 12 ") ||
		!strings.HasSuffix(string(text), " 11 right 0.2 median-share 1.5 largest-share\n") {
		t.Errorf("%v\n%s\n%s", err, log, text)
	}
}
