package main

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"stenciltune/device/host"
)

// needCompiler skips where the host device cannot work.
func needCompiler(t *testing.T) {
	t.Helper()
	d, err := host.Open(host.Options{})
	if err != nil {
		t.Skip(err)
	}
	d.Close()
}

// The study's script must run before a GPU's time is spent on it.
func TestColumnsScriptRunsOnTheHost(t *testing.T) {
	needCompiler(t)
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	folder := t.TempDir()
	c := exec.Command("bash", "../../bench/h200/columns.sh", self, "host", folder)
	c.Env = append(os.Environ(), beTune+"=1", "BOX_SIZES=70x20", "MATMUL_SIZES=33x33", "WIDTHS=0,31,48", "BLOCKS=32")
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

func TestProductIsTunedOnTheHost(t *testing.T) {
	needCompiler(t)
	p := command(t, storeIn(t), "measure", "--stencil", "matmul", "--size", "67x45", "--dtype", "float64", "--device", "host",
		"--schedule", "tile/gx=32/gy=4/gz=1/wx=1/wy=2/wz=1/cw=0/zz=0/kd=16")
	if code := p.run(t); code != 0 || !strings.Contains(p.stdout.String(), "BenchmarkStep/matmul/f64/67x45/tile/") {
		t.Errorf("exit %d\n%s%s", code, &p.stdout, &p.stderr)
	}
	for _, c := range []struct{ args, want string }{
		{"sweep --stencil matmul --families --device host", "no example schedules"},
		{"measure --stencil matmul --dtype float16 --device host --schedule tile/gx=32", "float32, float64"},
		{"source --stencil matmul --schedule slide/gx=32", "[global tile]"},
	} {
		p := command(t, storeIn(t), strings.Fields(c.args)...)
		if code := p.run(t); code != exitUsage || !strings.Contains(p.stderr.String(), c.want) {
			t.Errorf("%s: exit %d\n%s", c.args, code, &p.stderr)
		}
	}
}
