package main

import (
	"bytes"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"golang.org/x/perf/benchfmt"

	"stenciltune/device/host"
)

// tuneProgram is a build of tune, of the sources as they are.
var tuneProgram string

func TestMain(m *testing.M) {
	folder, err := os.MkdirTemp("", "bench-test-")
	if err != nil {
		panic(err)
	}
	tuneProgram = filepath.Join(folder, "tune")
	build := exec.Command("go", "build", "-o", tuneProgram, "../cmd/tune")
	build.Env = append(os.Environ(), "CGO_ENABLED=0")
	if out, err := build.CombinedOutput(); err != nil {
		fmt.Fprintf(os.Stderr, "%v\n%s", err, out)
		os.Exit(1)
	}
	code := m.Run()
	os.RemoveAll(folder)
	os.Exit(code)
}

// measured runs the command, and reads what it prints.
func measured(t *testing.T, args ...string) (list []*benchfmt.Result, log string, err error) {
	t.Helper()
	var stdout, stderr bytes.Buffer
	what, flags := args[0], append([]string{"-tune", tuneProgram, "-commit", "0123abc"}, args[1:]...)
	err = run(t.Context(), append([]string{what}, flags...), &stdout, &stderr)
	return read(t, stdout.Bytes()), stderr.String(), err
}

func read(t *testing.T, text []byte) (list []*benchfmt.Result) {
	t.Helper()
	for r := benchfmt.NewReader(bytes.NewReader(text), "results"); r.Scan(); {
		switch line := r.Result().(type) {
		case *benchfmt.Result:
			list = append(list, line.Clone())
		case *benchfmt.SyntaxError:
			t.Error(line)
		}
	}
	return list
}

// has tells whether a result's values have these units, and none is zero.
func has(t *testing.T, r *benchfmt.Result, units ...string) {
	t.Helper()
	for _, u := range units {
		if v, ok := r.Value(u); !ok || !(v > 0) {
			t.Errorf("%s: %v %s", r.Name, v, u)
		}
	}
}

var onReplay = []string{"-device", "replay:h200", "-match", "(Tuned|Tune|Model|Landscape)/jacobi3d/float32/512x512x512"}

func TestFamiliesOnARecordingAreBenchmarkText(t *testing.T) {
	file := filepath.Join(t.TempDir(), "new.txt")
	args := append([]string{"families", "-o", file}, onReplay...)
	if _, log, err := measured(t, append(args, "-count", "2")...); err != nil {
		t.Fatalf("%v\n%s", err, log)
	}
	text, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	list := read(t, text)
	if len(list) != 2 {
		t.Fatalf("%d results in\n%s", len(list), text)
	}
	for _, r := range list {
		if string(r.Name) != "Tuned/jacobi3d/float32/512x512x512" || r.Iters < 5 {
			t.Errorf("%s, %d samples", r.Name, r.Iters)
		}
		has(t, r, "sec/op", "GCells/s", "naive-sec/step")
		if v, _ := r.Value("GCells/s"); v < 1000 || v > 2000 {
			t.Errorf("%v GCells/s", v)
		}
		for key, want := range map[string]string{"device": "NVIDIA H200", "kind": "replay", "driver": "580.159.04", "compiler": "NVRTC 13.0"} {
			if got := r.GetConfig(key); got != want {
				t.Errorf("%s: %q, want %q", key, got, want)
			}
		}
		if len(r.Config) != 4 {
			t.Errorf("benchstat would split its tables by one of %v", r.Config)
		}
	}
	for _, comment := range []string{"# commit: 0123abc\n", "# stream/vx=", "# uuid: GPU-"} {
		if !strings.Contains(string(text), comment) {
			t.Errorf("no %q in\n%s", comment, text)
		}
	}

	// Again: nothing is missing. One more repeat: one is. Another revision: refused.
	if _, log, err := measured(t, append(args, "-count", "2")...); err != nil || log != "" {
		t.Errorf("again: %v %s", err, log)
	}
	if _, _, err := measured(t, append(args, "-count", "3")...); err != nil {
		t.Error(err)
	}
	text, _ = os.ReadFile(file)
	if n := len(read(t, text)); n != 3 {
		t.Errorf("%d results after one more repeat", n)
	}
	if _, _, err := measured(t, append(args, "-commit", "4567def")...); err == nil || !strings.Contains(err.Error(), "another revision") {
		t.Errorf("another revision: %v", err)
	}
}

func TestOtherExperimentsOnARecording(t *testing.T) {
	folder := t.TempDir()
	for what, units := range map[string][]string{
		"end2end":    {"sec/op", "schedules", "winner-sec/step", "landscape-best-sec/step", "ratio", "best-found"},
		"model":      {"sec/op", "first-ratio", "ten-ratio"},
		"landscapes": {"sec/op", "schedules", "tune-sec"},
	} {
		args := append([]string{what, "-folder", folder}, onReplay...)
		if what == "landscapes" {
			args = append(args, "-limit", "3s")
		}
		list, log, err := measured(t, args...)
		if err != nil || len(list) != 1 {
			t.Errorf("%s: %d results, %v\n%s", what, len(list), err, log)
			continue
		}
		has(t, list[0], units...)
	}
	if _, err := os.Stat(filepath.Join(folder, "nvidia-h200_jacobi3d_f32_512x512x512.jsonl.gz")); err != nil {
		t.Error(err)
	}
}

func TestARowThatFailsIsTold(t *testing.T) {
	list, log, err := measured(t, "families", "-device", "replay:h200", "-match", "jacobi3d/float64/(512x512|768x768)")
	if err == nil || len(list) != 1 || !strings.Contains(log, "768x768x768") {
		t.Errorf("%d results, %v\n%s", len(list), err, log)
	}
}

func TestNoRowBeginsAfterTheTime(t *testing.T) {
	list, log, err := measured(t, "families", "-device", "replay:h200", "-match", "Tuned/jacobi3d/float../512x512x512", "-count", "9", "-time", "1ns")
	if err != nil || len(list) != 0 || !strings.Contains(log, "18 measurements left") {
		t.Errorf("%d results, %v\n%s", len(list), err, log)
	}
}

func TestCommandsThatCannotRun(t *testing.T) {
	for _, args := range [][]string{{"families", "-match", "nothing"}, {"families", "-match", "("}, {"stencils", "-sizes", "large"}, {"families", "-tune", "nowhere"}, {"random", "-device", "replay:h200"}} {
		if _, _, err := measured(t, args...); err == nil {
			t.Errorf("%v: no error", args)
		}
	}
	if err := run(t.Context(), nil, nil, nil); err == nil || !strings.Contains(err.Error(), "families, ") {
		t.Error(err)
	}
}

// needHost skips a test that compiles kernels for the host where that cannot be, or takes too long.
func needHost(t *testing.T) {
	t.Helper()
	d, err := host.Open(host.Options{})
	if err != nil {
		t.Skip(err)
	}
	d.Close()
	if testing.Short() {
		t.Skip("compiles kernels")
	}
}

func TestTinySizesOnTheHost(t *testing.T) {
	needHost(t)
	list, log, err := measured(t, "stencils", "-device", "host", "-sizes", "40x30", "-match", "/jacobi2d/", "-limit", "1s")
	if err != nil || len(list) != 1 {
		t.Fatalf("%d results, %v\n%s", len(list), err, log)
	}
	has(t, list[0], "sec/op", "GCells/s", "naive-sec/step", "x-copy", "tune-sec")
	list, log, err = measured(t, "applications", "-device", "host", "-sizes", "40x30", "-match", "/peronamalik/", "-limit", "1s")
	if err != nil || len(list) != 1 {
		t.Fatalf("%d results, %v\n%s", len(list), err, log)
	}
	has(t, list[0], "sec/op", "GCells/s", "naive-GCells/s", "x-naive", "roof-GCells/s", "x-roof", "tune-sec")
	list, log, err = measured(t, "random", "-device", "host", "-cases", "3", "-match", "/jacobi1d$")
	if err != nil || len(list) != 1 || list[0].Iters != 6 || list[0].GetConfig("compiler") == "" { // in its own type and in float64
		t.Fatalf("%v, %v\n%s", list, err, log)
	}
}

func TestProgramsAreSharedByProcesses(t *testing.T) {
	const says = `#!/bin/sh
while [ $# -gt 0 ]; do [ "$1" != -cases ] || n=$2; shift; done
echo "    devicetest.go:160: $n of $n schedules checked"`
	test := filepath.Join(t.TempDir(), "cuda.test")
	if err := os.WriteFile(test, []byte(says), 0o777); err != nil {
		t.Fatal(err)
	}
	args := []string{"random", "-device", "host", "-match", "programs", "-cases", "7", "-processes", "3", "-test"}
	list, log, err := measured(t, append(args, test)...)
	if err != nil || len(list) != 1 || list[0].Iters != 7 {
		t.Errorf("%v, %v\n%s", list, err, log)
	}
	if _, log, err := measured(t, append(args, "true")...); err == nil || !strings.Contains(log, "0 of 7 schedules checked") {
		t.Errorf("a test that checks nothing: %v\n%s", err, log)
	}
}

// TestSizesThatAreRecorded: the recordings that tests of tuned and model read are those that unseen
// and sizes would make again.
func TestSizesThatAreRecorded(t *testing.T) {
	for _, what := range []string{"unseen", "sizes"} {
		rows, err := experiments[what](t.Context(), &bench{})
		if err != nil {
			t.Fatal(err)
		}
		var want, got []string
		for _, r := range rows {
			parts := strings.Split(r.name, "/")
			want = append(want, parts[1]+"_"+parts[3]+".jsonl.gz")
		}
		files, err := os.ReadDir(filepath.Join("h200", what))
		if err != nil {
			t.Fatal(err)
		}
		for _, f := range files {
			got = append(got, f.Name())
		}
		slices.Sort(want)
		if !slices.Equal(want, got) {
			t.Errorf("%s: %d rows, %d recordings, and they differ", what, len(want), len(got))
		}
	}
}
