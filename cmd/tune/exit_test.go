package main

import (
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"stenciltune/cmd/internal/cli"
)

// documentedCodes are those of the table in docs/command.md.
func documentedCodes(t *testing.T) []string {
	page, err := os.ReadFile("../../docs/command.md")
	if err != nil {
		t.Fatal(err)
	}
	_, table, _ := strings.Cut(string(page), "## Exit codes")
	table, _, _ = strings.Cut(table, "\n## ")
	var codes []string
	for _, row := range regexp.MustCompile(`(?m)^\| ([0-9, ]+) \|`).FindAllStringSubmatch(table, -1) {
		codes = append(codes, strings.Split(row[1], ", ")...)
	}
	return codes
}

// Every code of the page is what some command ends with; signals' are shown by TestExitCodesOfSignals.
func TestExitCodesAreThoseOfThePage(t *testing.T) {
	dir := t.TempDir()
	garbage, text, half := file(t, "garbage.db", strings.Repeat("no store", 4096)), file(t, "bad.json", "not json"), file(t, "half.sl", "NumDimensions 2")
	stored, none, nowhere := replayed(t), filepath.Join(dir, "none"), "/dev/null/store.db"
	t.Setenv("TUNE_LIBCUDA", none)
	var shown []string
	for _, c := range []struct {
		code  int
		store string
		lines []string
	}{
		{cli.OK, stored, []string{"stencils", "help store", "best --stencil jacobi3d --device h200", "store list", "store check", "schema", "source --stencil jacobi2d --schedule global/gx=64/gy=4/gz=1/wx=1/wy=1/wz=1/cw=0/zz=0/sp=0"}},
		{cli.Usage, stored, []string{
			"--nosuch", "nosuch", "help nosuch", "completion nosuch", "best", "emit", "verify", "retune", "explain", "model", "measure", "source", "store prune", "store import", "store merge", "man",
			"--stencil nosuch --device host", "--stencil " + half + " --device host", "--stencil " + none + ".sl --device host", "verify " + half,
			"--stencil jacobi2d --size 0x3", "--stencil jacobi2d --size 3", "--stencil jacobi2d --dtype int7", "--stencil jacobi2d --scalar x=1", "--stencil jacobi2d --budget -1 --device replay:h200",
			"--stencil jacobi2d --device model:h200", "--stencil jacobi2d --device replay:" + text, "verify jacobi2d --cases 0", "doctor --limit 0s", "doctor --device model:a100", "verify jacobi2d --device replay:h200",
			"measure --stencil jacobi2d --device host --schedule x", "emit --format nosuch --stencil jacobi2d", "emit --format cu --config " + text, "emit --format cu --config " + none, "store import " + text, "store import " + none, "store merge " + none,
			"best --stencil jacobi3d --require nosuch", "best --stencil jacobi3d --device h200 --objective power", "emit --format cu --stencil jacobi3d --device h200 --objective power",
			"--stencil jacobi3d --device replay:h200 --objective power", "--stencil jacobi3d --device replay:h200 --objective energy", "--stencil jacobi3d --device replay:h200 --objective edp --timing cold", "store check --repair " + garbage, "model --stencil jacobi2d --device model:nosuch"}},
		{cli.NoSchedule, stored, []string{"best --stencil jacobi3d --device h200 --size 640x512x384 --require exact", "best --stencil jacobi2d --device h200", "best --stencil jacobi3d --device h200 --objective energy",
			"measure --stencil jacobi3d --device replay:h200 --schedule global/gx=32/gy=1/gz=2/wx=1/wy=1/wz=1/cw=0/zz=0/sp=0"}}, // not recorded
		{cli.NoDevice, stored, []string{"--stencil jacobi2d --device 0", "--stencil jacobi2d --device nosuch", "verify jacobi2d --device 0", "--stencil jacobi2d --device replay:nosuch", "best --stencil jacobi3d --device a100x", "devices --bench --device 0"}},
		{cli.StoreLocked, nowhere, []string{"--stencil jacobi3d --device replay:h200", "store list", "best --stencil jacobi3d --device h200"}},
		{cli.StoreCorrupt, garbage, []string{"--stencil jacobi3d --device replay:h200", "best --stencil jacobi3d --device h200", "emit --format cu --stencil jacobi3d --device h200",
			"store list", "store show", "store export", "store check", "store prune --stale", "store merge " + garbage, "retune --all --device replay:h200"}},
		{cli.Internal, stored, []string{"store export --output /dev/null/x"}},
	} {
		shown = append(shown, strconv.Itoa(c.code))
		for _, line := range c.lines {
			if code, _, stderr := tune(t, c.store, append(strings.Fields(line), "-q")...); code != c.code || (code == 0) != (stderr == "") || strings.Contains(stderr, "goroutine ") {
				t.Errorf("%s: exit %d, want %d\n%s", line, code, c.code, stderr)
			}
		}
	}
	for _, c := range []string{"best", "devices", "doctor", "emit", "explain", "measure", "model", "retune", "schema", "source", "stencils", "verify",
		"store list", "store show", "store export", "store import", "store merge", "store prune", "store check", "man", "completion bash"} {
		for _, more := range []string{" --nosuch", " extra arguments --size x"} {
			if code, _, stderr := tune(t, stored, strings.Fields(c+more)...); code != cli.Usage {
				t.Errorf("%s%s: exit %d\n%s", c, more, code, stderr)
			}
		}
	}
	for _, signal := range []int{cli.HungUp, cli.Interrupted, cli.Terminated} {
		shown = append(shown, strconv.Itoa(signal))
	}
	page := documentedCodes(t)
	slices.Sort(page)
	slices.Sort(shown)
	if !slices.Equal(page, shown) {
		t.Errorf("the page has the codes %v, commands end with %v", page, shown)
	}
}

func TestCompletionOffersTheElementTypesThatHelpNames(t *testing.T) {
	code, out, _ := command(t, "__complete", "--dtype", "")
	offered := strings.Fields(strings.TrimSuffix(out, ":4\n"))
	last := len(offered) - 1
	if _, help, _ := command(t, "--help"); code != 0 || last < 1 || !strings.Contains(help, ": "+strings.Join(offered[:last], ", ")+" or "+offered[last]+" (") {
		t.Errorf("exit %d: %q are not those of\n%s", code, offered, help)
	}
}
