package main

import (
	"encoding/json"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"stenciltune/cache"
	"stenciltune/cmd/internal/cli"
	"stenciltune/cmd/internal/clitest"
	"stenciltune/stencil"
	"stenciltune/tuner"
)

// needHost skips where kernels cannot be compiled for the host.
func needHost(t *testing.T) {
	t.Helper()
	d, err := tuner.OpenDevice(t.Context(), "host", stencil.Problem{})
	if err != nil {
		t.Skip(err)
	}
	d.Close()
}

const decay = `NumDimensions 1
StencilSize (1)
ScalarVariables (float rate = 0.5, int calm = 0)
Steps 7
CellValue {
  if (x < calm) return get(0);
  return rate * (get(-1) + get(1));
}
`

// file writes a file that nobody else may read, in a folder of its own.
func file(t *testing.T, name, text string) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), name)
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	return path
}

func TestVerifySaysWhatItTriedAndHowToRepeatAWrongCase(t *testing.T) {
	needHost(t)
	path := file(t, "my decay.sl", decay)
	args := []string{"verify", path, "--device", "host", "--cases", "4", "--seed", "3", "--scalar", "rate=0.25"}
	p := clitest.Command(t, clitest.StoreIn(t), append(args, "-v", "--json")...)
	if code := p.Run(t); code != 0 {
		t.Fatalf("exit %d\n%s", code, &p.Stderr)
	}
	var v verification
	if err := json.Unmarshal(p.Stdout.Bytes(), &v); err != nil {
		t.Fatal(err)
	}
	d := v.Devices[0]
	if d.Cases != 4 || d.Families["global"] == 0 || d.Families["tile"] == 0 || d.Unable["slide"] == "" || d.Share <= 0 || d.Share > 1 || len(v.Devices) != 2 || v.Devices[1].DType != stencil.Float64 || v.Scalars["rate"] != 0.25 || d.Steps[0] < 2 {
		t.Errorf("%+v", v)
	}
	// One of its schedules is made to compute NaN: the command that is printed finds it again.
	third := regexp.MustCompile(`tune: 3 my decay/f32/\d+/(\S+), \d+ steps: error`).FindStringSubmatch(p.Stderr.String())
	if third == nil {
		t.Fatal(p.Stderr.String())
	}
	broken := clitest.Command(t, clitest.StoreIn(t), args...)
	broken.Cmd.Env = append(broken.Cmd.Env, "TUNE_TEST_FAULT=nan:"+third[1])
	code, told := broken.Run(t), broken.Stderr.String()
	again := " --scalar rate=0.25 --device host --seed 3 --case 3\n"
	if code != cli.NoSchedule || !strings.Contains(told, "cells wrong after") || !strings.Contains(told, "got NaN") || !strings.HasSuffix(told, "/my decay.sl'"+again) {
		t.Fatalf("exit %d\n%s", code, told)
	}
	if !strings.Contains(broken.Stdout.String(), "3 cases, the last one wrong") {
		t.Error(broken.Stdout.String())
	}
	one := clitest.Command(t, clitest.StoreIn(t), "verify", path, "--scalar", "rate=0.25", "--device", "host", "--seed", "3", "--case", "3")
	one.Cmd.Env = append(one.Cmd.Env, "TUNE_TEST_FAULT=nan:"+third[1])
	if code := one.Run(t); code != cli.NoSchedule || !strings.HasSuffix(one.Stderr.String(), again) || !strings.Contains(one.Stdout.String(), "1 cases, the last one wrong") {
		t.Errorf("exit %d\n%s%s", code, &one.Stdout, &one.Stderr)
	}
	// What is wrong on the case's thin grid alone is said of that grid.
	thin := clitest.Command(t, clitest.StoreIn(t), "verify", path, "--scalar", "rate=0.25", "--device", "host", "--seed", "3", "--case", "3")
	thin.Cmd.Env = append(thin.Cmd.Env, "TUNE_TEST_FAULT=thin:"+third[1])
	code, told = thin.Run(t), thin.Stderr.String()
	if named := regexp.MustCompile(`: my decay/f32/(\d)/` + regexp.QuoteMeta(third[1]) + `: .* cells wrong after \d+ steps on (\d)x1x1`).FindStringSubmatch(told); code != cli.NoSchedule || named == nil || named[1] != named[2] || !strings.HasSuffix(told, again) {
		t.Errorf("exit %d\n%s", code, told)
	}
}

// What cases leave open is said on stdout and in JSON, whether or not messages are wanted.
func TestVerifyNamesWhatItDoesNotProve(t *testing.T) {
	needHost(t)
	path := file(t, "open.sl", `NumDimensions 1
StencilSize (1)
CellValue {
  float a = get(-1);
  if (x == 100000) a = 0;
  return a + 1e-9 * get(1) + (x < 2 ? (a + 2) * 1e30 * 1e30 : 0);
}
`)
	args := []string{"verify", path, "--device", "host", "--family", "global", "--cases", "1", "--quiet"}
	p := clitest.Command(t, clitest.StoreIn(t), append(args, "--json")...)
	if code := p.Run(t); code != 0 || p.Stderr.Len() > 0 {
		t.Fatalf("exit %d\n%s", code, &p.Stderr)
	}
	var v verification
	if err := json.Unmarshal(p.Stdout.Bytes(), &v); err != nil {
		t.Fatal(err)
	}
	for _, d := range v.Devices {
		if d.Complete || len(d.Untaken) != 1 || !strings.HasPrefix(d.Untaken[0], "5:3: ") || d.Blind == 0 && d.DType == stencil.Float32 || len(d.Warnings) < 2 {
			t.Errorf("%+v", d)
		}
	}
	if d := v.Devices[0]; len(d.Faint) != 1 || d.Faint[0].Point != "get(1)" {
		t.Errorf("%+v", d.Faint)
	}
	p = clitest.Command(t, clitest.StoreIn(t), append(args, "--dtype", "float32")...)
	if code := p.Run(t); code != 0 || strings.Count(p.Stdout.String(), " cases, ") != 1 {
		t.Fatalf("exit %d\n%s", code, &p.Stdout)
	}
	for _, want := range []string{"incomplete", "untaken    5:3: ", "unseen     get(1)", "unproved "} {
		if out := p.Stdout.String(); !strings.Contains(out, want) || strings.Contains(out, "all right") {
			t.Errorf("no %q, or all right:\n%s", want, out)
		}
	}
}

// Of a proof that says nothing of most cells it is not said that all is right.
func TestAProofOfFewCellsIsIncomplete(t *testing.T) {
	needHost(t)
	path := file(t, "limited.sl", `NumDimensions 1
StencilSize (1)
DataType float
InputRange (0.5, 1.5)
StepScalar max fastest { return get(0) * get(0) - get(0) > -1e-7 && get(0) > 0.99 ? 1 / (get(0) * 1.1 - get(0) * 1.1) : 1; }
CellValue { return x == 0 ? get(0) : fastest * get(1); }
`)
	p := clitest.Command(t, clitest.StoreIn(t), "verify", path, "--device", "host", "--family", "global", "--cases", "2", "--dtype", "float32")
	if code, out := p.Run(t), p.Stdout.String(); code != 0 || !strings.Contains(out, "incomplete: rounding hides every error in most cells") || strings.Contains(out, "all right") {
		t.Errorf("exit %d\n%s%s", code, out, &p.Stderr)
	}
}

// A field that dies proves little: that is said, not of a pattern that lives.
func TestVerifySaysWhereAllCellsEndAlike(t *testing.T) {
	dir := t.TempDir()
	for name, start := range map[string]string{"dead": "", "alive": "InputRange {0, 0, 0, 0, 1}"} {
		file := filepath.Join(dir, name+".sl")
		text := "NumDimensions 3 StencilSize (1, 1, 1) DataType int Boundary constant 0 " + start + ` CellValue {
  int alive = 0;
  for (int k = -1; k <= 1; k++) for (int j = -1; j <= 1; j++) for (int i = -1; i <= 1; i++) if (i != 0 || j != 0 || k != 0) alive += get(i, j, k);
  return alive == 5 || alive == 4 && get(0, 0, 0) == 1;
}`
		if err := os.WriteFile(file, []byte(text), 0o666); err != nil {
			t.Fatal(err)
		}
		p := clitest.Command(t, clitest.StoreIn(t), "verify", file, "--device", "host", "--cases", "6", "--family", "global")
		if code := p.Run(t); code != 0 {
			t.Fatalf("exit %d\n%s", code, &p.Stderr)
		}
		if said := strings.Contains(p.Stderr.String(), "nearly all cells are alike at the end"); said != (name == "dead") {
			t.Errorf("%s: %s", name, &p.Stderr)
		}
	}
}

func TestVerifyRefusesWhatItCannotDo(t *testing.T) {
	for want, args := range map[string][]string{
		"verify which stencil?": {},
		"unknown stencil":       {"jacobi9d"},
		"computes nothing":      {"jacobi2d", "--device", "replay:h200"},
		"--cases 0":             {"jacobi2d", "--cases", "0"},
		"--case -1":             {"jacobi2d", "--case", "-1"},
		"jacobi2d has no scal":  {"jacobi2d", "--scalar", "a=1"},
		"are Rx, Ry, Rz":        {"hotspot2d", "--scalar", "R=1"},
		"want a number after":   {"hotspot2d", "--scalar", "Rx=NaN"},
		"is given twice":        {"hotspot2d", "--scalar", "Rx=1", "--scalar", "Rx=1"},
		"1.5 is no int32":       {file(t, "d.sl", decay), "--scalar", "calm=1.5"},
	} {
		p := clitest.Command(t, clitest.StoreIn(t), append([]string{"verify"}, args...)...)
		if code := p.Run(t); code != cli.Usage || !strings.Contains(p.Stderr.String(), want) || strings.Count(p.Stderr.String(), "\n") != 1 {
			t.Errorf("%v: exit %d, %s", args, code, &p.Stderr)
		}
	}
}

func TestProblemsTakeStepsAndScalarsFromTheirFile(t *testing.T) {
	f := tuner.Spec{Stencil: file(t, "d.sl", decay), Small: true}
	p, err := f.Problem()
	if err != nil || p.Steps != 7 || p.Scalars != nil || !maps.Equal(tuner.Scalars(p), map[string]float64{"rate": 0.5, "calm": 0}) {
		t.Errorf("%v %+v", err, p)
	}
	f.Scalars = []string{"calm=9"}
	if q, err := f.Problem(); err != nil || q.Hash() == p.Hash() || tuner.Scalars(q)["calm"] != 9 || tuner.Scalars(q)["rate"] != 0.5 {
		t.Errorf("%v %+v: a scalar of a condition must be part of the key", err, q)
	}
	f.Scalars = []string{"rate=9"}
	if q, err := f.Problem(); err != nil || q.Hash() != p.Hash() {
		t.Errorf("%v %+v: a scalar that is but a factor must not be part of the key", err, q)
	}
	f = tuner.Spec{Stencil: "jacobi2d"}
	if p, err := f.Problem(); err != nil || p.Steps != 1000 {
		t.Errorf("%v %+v", err, p)
	}
}

func TestConfigShowsTheScalars(t *testing.T) {
	needHost(t)
	path, store := file(t, "decay.sl", decay), clitest.StoreIn(t)
	tune := func(scalar string) (cache.Config, string) {
		p := clitest.Command(t, store, "--stencil", path, "--size", "4096", "--device", "host", "--budget", "3", "--scalar", scalar)
		if code := p.Run(t); code != 0 {
			t.Fatalf("exit %d\n%s", code, &p.Stderr)
		}
		c, err := cache.Decode(p.Stdout.Bytes())
		if err != nil {
			t.Fatal(err)
		}
		return c, p.Stderr.String()
	}
	if c, _ := tune("rate=0.4"); !maps.Equal(c.Scalars, map[string]float64{"rate": 0.4, "calm": 0}) || c.Problem.Steps != 7 {
		t.Errorf("%v, %d steps", c.Scalars, c.Problem.Steps)
	}
	if c, told := tune("rate=0.3"); c.Scalars["rate"] != 0.3 || !strings.Contains(told, "answered from the store") || !strings.Contains(told, "with rate=0.4, which decides no branch") {
		t.Errorf("%v\n%s", c.Scalars, told)
	}
}

// The kernel of Reduce is proved on grids of its own; where its number can be anything, that is said.
func TestVerifyProvesWhatReduceGives(t *testing.T) {
	needHost(t)
	const program = "NumDimensions 1\nStencilSize (1)\nDataType double\nCellValue { return 0.5 * get(1); }\nReduce max { return %s; }\n"
	for value, proved := range map[string]int{"fabs(value - get(0))": 3, "sqrt(value - 9)": 0} {
		path := file(t, "reduced.sl", fmt.Sprintf(program, value))
		p := clitest.Command(t, clitest.StoreIn(t), "verify", path, "--device", "host", "--cases", "3", "--json")
		if code := p.Run(t); code != 0 {
			t.Fatalf("exit %d\n%s", code, &p.Stderr)
		}
		var v verification
		if err := json.Unmarshal(p.Stdout.Bytes(), &v); err != nil {
			t.Fatal(err)
		}
		said := strings.Contains(p.Stderr.String(), "the number of Reduce can be anything in 3 of 3 cases")
		if d := v.Devices[0]; d.Reduced != proved || said != (proved == 0) {
			t.Errorf("%s: %d of %d cases\n%s", value, d.Reduced, d.Cases, &p.Stderr)
		}
	}
}

// A proof runs schedules on grids smaller than a tune would: what it names can be looked at.
func TestSourceOfAScheduleThatAProofRan(t *testing.T) {
	const schedule = "stream/vx=8/vy=1/wp=1/ck=64/pf=4/mb=1/ph=4/pm=1"
	code, out, stderr := command(t, "source", "--stencil", "jacobi2d", "--size", "300x70", "--schedule", schedule)
	if code != 0 || !strings.HasPrefix(out, "// "+schedule) {
		t.Errorf("code %d, %s", code, stderr)
	}
	code, _, stderr = command(t, "source", "--stencil", "jacobi2d", "--size", "300x70", "--schedule", strings.Replace(schedule, "ph=4", "ph=9", 1))
	if code != 2 || !strings.Contains(stderr, "ph must be one of") {
		t.Errorf("code %d, %s", code, stderr)
	}
}
