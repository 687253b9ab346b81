package main

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"stenciltune/cmd/internal/cli"
	"stenciltune/cmd/internal/clitest"
	"stenciltune/device/replay"
	"stenciltune/outcome"
	"stenciltune/space/spacetest"
	"stenciltune/timing"
)

// Other tuners' files are taken in or refused in one line, never more.
func TestForeignFilesAreTakenOrRefused(t *testing.T) {
	dir := t.TempDir()
	for i, c := range []struct{ format, text, want string }{
		{"t4", `{"results": [{"configuration": {}, "invalidity": "correct", "times": {"runtimes": [1]}}]}`, "nothing to search: 1 schedules"},
		{"t4", `{"results": [{"configuration": {"a": 1}, "invalidity": "correct", "times": {"runtimes": [1]}}, {"configuration": {"a": 2}, "invalidity": "correct", "times": {"runtimes": [2]}}]}`, ""},
		{"t4", `{"results": [{"configuration": {"a": 1}, "invalidity": "compile"}]}`, "nothing to search: 1 schedules"},
		{"t4", `{"results": [{"configuration": {"a": 1, "A": 1}, "invalidity": "correct", "times": {"runtimes": [1]}}]}`, "two values of a"},
		{"kernel-tuner", `{"tune_params_keys": ["a"], "cache": {}}`, "no cache"},
		{"kernel-tuner", `{"tune_params_keys": ["a"], "cache": {"1": {"a": 1, "time": 1e-310}}}`, "is not a time"},
	} {
		in, out := filepath.Join(dir, fmt.Sprint(i)), filepath.Join(dir, fmt.Sprint(i, ".jsonl.gz"))
		if err := os.WriteFile(in, []byte(c.text), 0o600); err != nil {
			t.Fatal(err)
		}
		p := clitest.Command(t, clitest.StoreIn(t), "landscape", "import", "--format", c.format, in, "-o", out)
		code := p.Run(t)
		if code == 0 {
			p = clitest.Command(t, clitest.StoreIn(t), "replay-bench", "--landscape", out, "--seeds", "1", "--entrant", "bayes", "--entrant", "random")
			code = p.Run(t)
		}
		text := p.Stderr.String()
		if c.want == "" && code != 0 || c.want != "" && (code != cli.Usage || !strings.Contains(text, c.want) || strings.Count(text, "\n") != 1) {
			t.Errorf("%s: exit %d\n%s", c.text, code, text)
		}
	}
}

func TestARecordingOfTooManyValuesIsRefusedAtOnce(t *testing.T) {
	var records []outcome.Outcome
	for i := range 3000 {
		text := "kernel"
		for k := range 12 {
			text += fmt.Sprintf("/p%d=%d", k, (i*(k+7))%3001)
		}
		s := spacetest.Schedule(t, text)
		records = append(records, outcome.Outcome{Schedule: s, Status: timing.OK}.Sampled([]float64{1e-3}, 1))
	}
	var b bytes.Buffer
	if err := replay.Write(&b, replay.Header{Stencil: "foreign", Compilers: 1 << 40}, records); err != nil {
		t.Fatal(err)
	}
	file := filepath.Join(t.TempDir(), "wide.jsonl.gz")
	if err := os.WriteFile(file, b.Bytes(), 0o600); err != nil {
		t.Fatal(err)
	}
	begin := time.Now()
	p := clitest.Command(t, clitest.StoreIn(t), "replay-bench", "--landscape", file)
	if code := p.Run(t); code != cli.Usage || !strings.Contains(p.Stderr.String(), "cannot be searched") || time.Since(begin) > 20*time.Second {
		t.Errorf("exit %d after %v\n%s", code, time.Since(begin), &p.Stderr)
	}
}
