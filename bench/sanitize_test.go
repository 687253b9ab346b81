package main

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// standIn is a script in the place of compute-sanitizer: it runs the program and then says what a tool would.
func standIn(t *testing.T, says string) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "compute-sanitizer")
	script := "#!/bin/sh\n[ \"$1 $3 $4\" = '--tool --error-exitcode 99' ] || exit 2\ntool=$2\nshift 4\necho '========= COMPUTE-SANITIZER'\n\"$@\" || exit 3\n" + says
	if err := os.WriteFile(path, []byte(script), 0o777); err != nil {
		t.Fatal(err)
	}
	return path
}

const clean = `case $tool in
racecheck) echo '========= RACECHECK SUMMARY: 0 hazards displayed (0 errors, 0 warnings)' ;;
*) echo '========= ERROR SUMMARY: 0 errors' ;;
esac
`

// The kernels are real and run on the host; compute-sanitizer is a script.
func TestKernelsAreSanitized(t *testing.T) {
	needHost(t)
	nvcc, err := filepath.Abs("../device/host/emulation/nvcc")
	if err != nil {
		t.Fatal(err)
	}
	const races = "if [ $tool = racecheck ]; then\n  echo '========= Error: Race reported between Write access at k()+0x70 in k.cu:2'\n" +
		"  echo '=========     and Read access at k()+0x80 in k.cu:3 [508 hazards]'\n  exit 99\nfi\n"
	file := filepath.Join(t.TempDir(), "sanitize.txt")
	args := func(match string, says string) []string {
		return []string{"sanitize", "-device", "host", "-nvcc", nvcc, "-match", match, "-o", file, "-sanitizer", standIn(t, says)}
	}
	for _, c := range []struct{ match, says, fails, writes string }{
		{"/jacobi1d/", clean, "", "0 findings"},
		{"/pathfinder/.*winner", races + clean, "Race reported", "1 findings"},
		{"/(jacobi1d/|pathfinder/.*winner)", "exit 3\n", "", ""}, // what is done is not
	} {
		before, _ := os.ReadFile(file)
		_, log, err := measured(t, args(c.match, c.says)...)
		text, _ := os.ReadFile(file)
		added := strings.TrimPrefix(string(text), string(before))
		if (err != nil) != (c.fails != "") || !strings.Contains(log, c.fails) || !strings.Contains(added, c.writes) || (c.writes == "") != (added == "") {
			t.Errorf("%s with %s: %v\n%s\n%s", c.match, c.says, err, log, added)
		}
	}
	text, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{
		"BenchmarkSanitize/jacobi1d/float32/400008/winner 4 0 findings\n", "/jacobi1d/float32/400008/other-1 ",
		"# racecheck: Error: Race reported between Write access at k()+0x70 in k.cu:2 and Read access at k()+0x80 in k.cu:3 [508 hazards]\n",
	} {
		if !strings.Contains(string(text), want) {
			t.Errorf("no %q in\n%s", want, text)
		}
	}
}

// A tool that cannot run, or does not say that it found nothing, is no proof.
func TestAToolThatSaysNothingFails(t *testing.T) {
	for says, want := range map[string]string{"exit 3\n": "exit status 3", "exit 0\n": "says nothing", "kill -9 $$\n": "killed", clean: "",
		"echo '========= ERROR SUMMARY: 10 errors'\n": "says nothing"} {
		b := &bench{sanitizer: standIn(t, says)}
		list, err := b.underTool(t.Context(), "memcheck", "true")
		if len(list) > 0 || (err != nil) != (want != "") || err != nil && !strings.Contains(err.Error(), want) {
			t.Errorf("%q: %q, %v", says, list, err)
		}
	}
}

func TestFindingsAreReadAsLines(t *testing.T) {
	text := `========= COMPUTE-SANITIZER
the program's own line
========= Invalid __global__ read of size 4 bytes
=========     at stencil()+0x170 in jacobi2d.cu:32
=========     by thread (0,0,0) in block (0,0,0)
=========     Address 0x7f7 is out of bounds
=========     Saved host backtrace up to driver entry point at kernel launch time
=========         Host Frame: main
========= 
========= Invalid __global__ read of size 4 bytes
=========     at stencil()+0x170 in jacobi2d.cu:32
=========     by thread (1,0,0) in block (0,0,0)
========= 
========= Program hit cudaErrorLaunchFailure (error 719) on CUDA API call to cudaEventSynchronize.
========= ERROR SUMMARY: 3 errors
`
	want := []string{
		"Invalid __global__ read of size 4 bytes at stencil()+0x170 in jacobi2d.cu:32 (2 times)",
		"Program hit cudaErrorLaunchFailure (error 719) on CUDA API call to cudaEventSynchronize.",
	}
	if got := findings(text); !slices.Equal(got, want) {
		t.Errorf("%q", got)
	}
	if got := findings("========= COMPUTE-SANITIZER\n========= ERROR SUMMARY: 0 errors\n"); len(got) > 0 {
		t.Errorf("%q", got)
	}
}
