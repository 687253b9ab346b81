package main

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"stenciltune/cmd/internal/clitest"
)

// The study's script must run before a GPU's time is spent on it.
func TestColumnsScriptRunsOnTheHost(t *testing.T) {
	if testing.Short() {
		t.Skip("waits for compilers: nothing for the race detector")
	}
	needDevice(t, "host")
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	folder := t.TempDir()
	c := exec.Command("bash", "../../bench/h200/columns.sh", self, "host", folder)
	c.Env = append(os.Environ(), clitest.Env, "BOX_SIZES=70x20", "MATMUL_SIZES=33x33", "WIDTHS=0,31,48", "BLOCKS=32")
	if out, err := c.CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	b, err := os.ReadFile(filepath.Join(folder, "columns.txt"))
	if err != nil {
		t.Fatal(err)
	}
	// 48 is no column of a product 33 wide.
	text := string(b)
	for line, n := range map[string]int{"box9/f32/70x20 on ": 1, "matmul/f32/33x33 on ": 1, "cw \\ gx  32\n": 2, "\n31 ": 2, "\n48 ": 1, ", ms\n": 2, "best: global/": 2} {
		if strings.Count(text, line) != n {
			t.Errorf("%q stands %d times, want %d, in\n%s", line, strings.Count(text, line), n, text)
		}
	}
	for line := range strings.Lines(text) {
		if !strings.Contains(line, " on ") && strings.Contains(line, "(") { // a processor's name may hold one
			t.Errorf("%q has a parenthesis", line)
		}
	}
	for _, name := range []string{"columns-box9-70x20.svg", "columns-matmul-33x33.svg"} {
		if _, err := os.Stat(filepath.Join(folder, name)); err != nil {
			t.Error(err)
		}
	}
}
