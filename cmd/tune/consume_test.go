package main

import (
	"bytes"
	"encoding/json"
	"errors"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"stenciltune/cache"
	"stenciltune/cmd/internal/cli"
	"stenciltune/cmd/internal/clitest"
	"stenciltune/outcome"
	"stenciltune/space/spacetest"
	"stenciltune/timing"
	"stenciltune/tuner"
)

// tune runs the program within the test.
func tune(t *testing.T, store string, args ...string) (code int, stdout, stderr string) {
	t.Helper()
	var out, err bytes.Buffer
	code = run(append(args, "--store", store), &out, &err)
	return code, out.String(), err.String()
}

// replayed is a store in which jacobi3d was tuned on the recording of an H200.
func replayed(t *testing.T) string {
	t.Helper()
	store := clitest.StoreIn(t)
	if code, _, stderr := tune(t, store, "--stencil", "jacobi3d", "--device", "replay:h200", "--budget", "30", "--strategy", "model"); code != 0 {
		t.Fatal(stderr)
	}
	return store
}

func TestConsumersAreServedFromTheStore(t *testing.T) {
	store := replayed(t)
	device := []string{"--stencil", "jacobi3d", "--device", "h200"}
	code, exact, stderr := tune(t, store, append([]string{"best"}, device...)...)
	c, err := cache.Decode([]byte(exact))
	if code != 0 || err != nil || c.Match.Grade != cache.Exact {
		t.Fatalf("%d %v %s", code, err, stderr)
	}
	code, other, stderr := tune(t, store, append([]string{"best", "--size", "300x200x100"}, device...)...)
	if c, err := cache.Decode([]byte(other)); code != 0 || err != nil || c.Match.Grade != cache.OtherSize || c.Expected == nil || !strings.Contains(stderr, "match other-size") {
		t.Errorf("%d %v %s", code, err, stderr)
	}
	if code, out, stderr := tune(t, store, append([]string{"best", "--size", "300x200x100", "--require", "exact"}, device...)...); code != cli.NoSchedule || out != "" || !strings.Contains(stderr, "--require asks for exact") {
		t.Errorf("%d %s %s", code, out, stderr)
	}
	dir := t.TempDir()
	config := filepath.Join(dir, "jacobi3d.json")
	if err := os.WriteFile(config, []byte(exact), 0o600); err != nil {
		t.Fatal(err)
	}
	for _, format := range formats() {
		file := filepath.Join(dir, "out."+format)
		code, _, stderr := tune(t, store, append([]string{"emit", "--format", format, "-o", file}, device...)...)
		if slices.Contains(images, format) {
			if code == cli.NoDevice { // no NVRTC here
				if !strings.Contains(stderr, "NVRTC") {
					t.Errorf("%s: %s", format, stderr)
				}
				continue
			}
			var geometry struct{ Kernels []any }
			text, err := os.ReadFile(file + ".json")
			if err == nil {
				err = json.Unmarshal(text, &geometry)
			}
			if err != nil || len(geometry.Kernels) < 2 {
				t.Errorf("%s: %v %+v", format, err, geometry)
			}
		}
		if code != 0 {
			t.Errorf("%s: %d %s", format, code, stderr)
			continue
		}
		stored, err := os.ReadFile(file)
		if err != nil || len(stored) == 0 {
			t.Errorf("%s: %v", format, err)
			continue
		}
		if slices.Contains(images, format) {
			continue
		}
		if code, text, stderr := tune(t, store, "emit", "--format", format, "--config", config); code != 0 || text != string(stored) {
			t.Errorf("%s from a config file is not what it is from the store: %d %s", format, code, stderr)
		}
	}
}

// TestSeveralSizesAreEmittedTogether: each winner is in the source, in the order given.
func TestSeveralSizesAreEmittedTogether(t *testing.T) {
	store := replayed(t)
	several := []string{"--stencil", "jacobi3d", "--device", "h200", "--size", "512x512x512", "--size", "256x256x256", "--size", "509x701x403"}
	for _, format := range []string{"cu", "python"} {
		code, out, stderr := tune(t, store, append([]string{"emit", "--format", format}, several...)...)
		want := `\{"NVIDIA H200", 90, 132, \{256, 256, 256\}, 1\.14[0-9]*e-05\},\n    \{"NVIDIA H200", 90, 132, \{509, 701, 403\}, [0-9.e-]+\},`
		if format == "python" {
			want = `"multiprocessors":132,"n":\[256,256,256\],"seconds":0\.0000114`
		}
		if code != 0 || !regexp.MustCompile(want).MatchString(out) || strings.Count(stderr, "match ") != 3 {
			t.Errorf("%s: exit %d, %d bytes\n%s", format, code, len(out), stderr)
		}
	}
	if code, _, stderr := tune(t, store, append([]string{"emit", "--format", "make"}, several...)...); code != cli.Usage || !strings.Contains(stderr, "holds one config and 3 were given") {
		t.Errorf("make: exit %d %s", code, stderr)
	}
	for _, more := range [][]string{{"--size", "8x8x8"}, {"--device", "h200"}, {"--dtype", "float64"}, {"--steps", "7"}, {"--scalar", "a=1"}, {"--timing", "cold"}, {"--objective", "energy"}, {"--require", "exact"}} {
		if code, _, stderr := tune(t, store, append([]string{"emit", "--format", "cu", "--config", "x.json"}, more...)...); code != cli.Usage || !strings.Contains(stderr, "--config excludes "+more[0]) {
			t.Errorf("--config with %s: exit %d %s", more[0], code, stderr)
		}
	}
}

// TestOwnStencilsAreEmitted emits a config whose stencil is in no catalogue: forms
// without the kernel need nothing else, the source needs the stencil's file.
func TestOwnStencilsAreEmitted(t *testing.T) {
	store, dir := replayed(t), t.TempDir()
	_, text, _ := tune(t, store, "best", "--stencil", "jacobi3d", "--device", "h200")
	c, err := cache.Decode([]byte(text))
	if err != nil {
		t.Fatal(err)
	}
	file := filepath.Join(dir, "spread.sl")
	if err := os.WriteFile(file, []byte("NumDimensions 3 StencilSize (1, 1, 1) DataType float FunctionName spread CellValue { return 0.25 * get(-1, 0, 0) + 0.75 * get(0, 1, 1); }"), 0o600); err != nil {
		t.Fatal(err)
	}
	st, err := tuner.LoadStencil(file)
	if err != nil {
		t.Fatal(err)
	}
	c.Stencil.Name, c.Stencil.Hash = "spread", st.Hash
	text2, err := cache.Encode(c)
	if err != nil {
		t.Fatal(err)
	}
	config := filepath.Join(dir, "spread.json")
	if err := os.WriteFile(config, text2, 0o600); err != nil {
		t.Fatal(err)
	}
	if code, out, stderr := tune(t, store, "emit", "--format", "header", "--config", config); code != 0 || !strings.Contains(out, "TUNE_SPREAD_SCHEDULE") || !strings.Contains(out, "spread is not in the catalogue") || !strings.Contains(stderr, "no prototypes") {
		t.Errorf("%d %s", code, stderr)
	}
	for _, format := range []string{"cu", "fortran"} {
		if code, _, stderr := tune(t, store, "emit", "--format", format, "--config", config); code != cli.Usage || !strings.Contains(stderr, "name its file too, like --stencil spread.sl") {
			t.Errorf("%d %s", code, stderr)
		}
	}
	if code, _, stderr := tune(t, store, "emit", "--format", "cu", "--config", file); code != cli.Usage || !strings.Contains(stderr, "a stencil file is for --stencil") {
		t.Errorf("%d %s", code, stderr)
	}
	if code, out, stderr := tune(t, store, "emit", "--format", "cu", "--config", config, "--stencil", file); code != 0 || !strings.Contains(out, `extern "C" void spread(float *data, int nx, int ny, int nz, int iterations)`) {
		t.Errorf("%d %s", code, stderr)
	}
	if code, _, stderr := tune(t, store, "emit", "--format", "cu", "--config", config, "--stencil", "jacobi3d"); code != cli.Usage || !strings.Contains(stderr, "hash") {
		t.Errorf("%d %s", code, stderr)
	}
}

// TestObjectivesInTheStore: each has its config, and all the same journal.
func TestObjectivesInTheStore(t *testing.T) {
	store := replayed(t)
	s, err := cache.Open(store)
	if err != nil {
		t.Fatal(err)
	}
	all, err := s.Bests()
	if err != nil || len(all) != 1 {
		t.Fatal(all, err)
	}
	key, c := all[0].Key, all[0].Config
	c.Objective = timing.ForEnergy
	c.Energy = &cache.EnergyInfo{Winner: cache.DrawInfo{Schedule: c.Schedule.Text, JoulesPerBillionCells: 0.4, Low: 0.39, High: 0.41, Samples: 6, SecondsPerStep: 1e-4, Watts: 600}}
	if err := s.PutBest(key.For(timing.ForEnergy), c); err != nil {
		t.Fatal(err)
	}
	if code, out, _ := tune(t, store, "store", "list", "--json"); code != 0 || !strings.Contains(out, `"objective": "energy"`) || !strings.Contains(out, `"objective": "time"`) {
		t.Errorf("%d %s", code, out)
	}
	for o, want := range map[string]string{"time": `"measured"`, "energy": `"watts": 600`} {
		if code, out, stderr := tune(t, store, "best", "--stencil", "jacobi3d", "--device", "replay:h200", "--objective", o, "--require", "exact"); code != 0 || !strings.Contains(out, want) || strings.Contains(out, "watts") != (o == "energy") {
			t.Errorf("%s: %d %s %s", o, code, out, stderr)
		}
	}
	if code, out, _ := tune(t, store, "report", "--json"); code != 0 || !strings.Contains(out, `by energy"`) || strings.Count(out, `"origin"`) != 2 {
		t.Errorf("%d %.1000s", code, out)
	}
	numbers := filepath.Join(t.TempDir(), "report.json")
	if code, out, stderr := tune(t, store, "report", "--json", "-o", numbers); code != 0 || out != "" || strings.Contains(stderr, "browser") {
		t.Errorf("%d %.1000s %s", code, out, stderr)
	}
	if b, err := os.ReadFile(numbers); err != nil || !json.Valid(b) || strings.Count(string(b), `"origin"`) != 2 {
		t.Errorf("%v %.1000s", err, b)
	}
	for _, o := range []timing.Objective{timing.ForTime, timing.ForEnergy} {
		entries, err := s.Entries(key)
		if err != nil || len(entries) == 0 {
			t.Errorf("before that for %s is dropped: %d entries, %v", o, len(entries), err)
		}
		if err := s.ForgetBest(key.For(o)); err != nil {
			t.Fatal(err)
		}
		if err := forgetJournal(s, key); err != nil {
			t.Fatal(err)
		}
	}
	if entries, err := s.Entries(key); err != nil || len(entries) != 0 {
		t.Errorf("%d entries stay, %v", len(entries), err)
	}
}

func TestStoreTools(t *testing.T) {
	store := replayed(t)
	dir := t.TempDir()
	lines, copied := filepath.Join(dir, "all.jsonl"), filepath.Join(dir, "copy.db")
	expect := func(store string, want int, say string, args ...string) string {
		t.Helper()
		code, out, stderr := tune(t, store, args...)
		if code != want || !strings.Contains(out+stderr, say) {
			t.Errorf("tune %s: exit %d, want %d with %q\n%s%s", strings.Join(args, " "), code, want, say, out, stderr)
		}
		return out
	}
	expect(store, 0, "NVIDIA H200", "store", "list")
	expect(store, 0, `"cells_per_second"`, "store", "list", "--json", "--stencil", "jacobi3d")
	expect(store, 0, "jacobi3d", "store", "show", "--device", "h200")
	expect(store, 0, "", "store", "export", "--journal", "-o", lines)
	expect(copied, 0, "1 configs and", "store", "import", lines)
	expect(copied, 0, "0 configs and 0 journal entries taken", "store", "import", lines)
	if a, b := expect(store, 0, "", "store", "export", "--journal"), expect(copied, 0, "", "store", "export", "--journal"); a != b || a == "" {
		t.Error("the copy exports other bytes")
	}
	if out := expect(store, 0, "", "store", "diff", copied); out != "" {
		t.Errorf("the copy differs: %s", out)
	}
	expect(copied, 0, "1 of 1 configs would be dropped", "store", "prune", "--all", "--dry-run")
	expect(copied, 0, "0 of 1 configs dropped", "store", "prune", "--stale")
	expect(copied, 0, "1 of 1 configs dropped", "store", "prune", "--all", "--stencil", "jacobi3d")
	expect(store, 0, "- jacobi3d", "store", "diff", copied)
	expect(copied, 0, "1 configs and", "store", "merge", store)
	expect(copied, 0, "0 damaged", "store", "check")
	expect(copied, cli.Usage, "", "store", "prune")
	expect(copied, cli.Usage, "no such file", "store", "import", filepath.Join(dir, "none"))
	expect(copied, cli.Usage, "no such file", "store", "merge", filepath.Join(dir, "none"))
	bad := filepath.Join(dir, "bad.jsonl")
	text, err := os.ReadFile(lines)
	if err != nil {
		t.Fatal(err)
	}
	// A schedule that is well written and does not exist.
	hostile := strings.NewReplacer("global/gx=", "global/gx=7", `"gx":`, `"gx":7`, "stream/vx=", "stream/vx=7", `"vx":`, `"vx":7`).Replace(strings.SplitAfter(string(text), "\n")[0])
	if err := os.WriteFile(bad, []byte(hostile), 0o600); err != nil {
		t.Fatal(err)
	}
	expect(filepath.Join(dir, "new.db"), cli.Usage, "illegal schedule", "store", "import", bad)
}

// Several files or stores are one import with one report. What is refused is told by the code, and one that fails does
// not hide what came of those before it.
func TestOneReportForAllThatIsTakenIn(t *testing.T) {
	sound, dir := replayed(t), t.TempDir()
	odd := filepath.Join(dir, "odd.db")
	s, err := cache.Open(odd)
	if err != nil {
		t.Fatal(err)
	}
	_, text, _ := tune(t, sound, "best", "--stencil", "jacobi3d", "--device", "h200")
	c, err := cache.Decode([]byte(text))
	if err != nil {
		t.Fatal(err)
	}
	c.Launch.Grid[0]++ // leaves cells out
	if err := s.PutBest(cache.KeyOf(c), c); err != nil {
		t.Fatal(err)
	}
	config, none := file(t, "jacobi3d.json", text), filepath.Join(dir, "none")
	for _, x := range []struct {
		args []string
		want cache.Imported
		told string
	}{
		{[]string{"merge", odd, sound}, cache.Imported{Configs: 1, Entries: 30}, "1 refused, the first of them " + odd + ": line 1"},
		{[]string{"merge", sound, none}, cache.Imported{Configs: 1, Entries: 30}, "no such file"},
		{[]string{"import", config, none}, cache.Imported{Configs: 1}, "no such file"},
	} {
		code, out, stderr := tune(t, clitest.StoreIn(t), append([]string{"store", x.args[0], "--json"}, x.args[1:]...)...)
		var got cache.Imported
		if err := json.Unmarshal([]byte(out), &got); code != cli.Usage || err != nil || got.Configs != x.want.Configs || got.Entries != x.want.Entries || !strings.Contains(stderr, x.told) {
			t.Errorf("%v: exit %d, %v\n%s%s", x.args, code, err, out, stderr)
		}
	}
	if code, out, _ := tune(t, clitest.StoreIn(t), "store", "import", "--json", none); code != cli.Usage || out != "" {
		t.Errorf("exit %d, of nothing: %s", code, out)
	}
}

// What a config says of its launch must follow from its schedule and its grid, wherever it
// comes from: another launch leaves cells out.
func TestALaunchMustFollowFromItsSchedule(t *testing.T) {
	store, dir := replayed(t), t.TempDir()
	at := []string{"--stencil", "jacobi3d", "--device", "h200"}
	_, text, _ := tune(t, store, append([]string{"best"}, at...)...)
	right, err := cache.Decode([]byte(text))
	if err != nil {
		t.Fatal(err)
	}
	for name, spoil := range map[string]func(*cache.Config){
		"grid":   func(c *cache.Config) { c.Launch.Grid = [3]int{1, 1, 1} },
		"block":  func(c *cache.Config) { c.Launch.Block[0]++ },
		"shared": func(c *cache.Config) { c.Launch.SharedBytes += 16 },
		"steps":  func(c *cache.Config) { c.Launch.StepsPerLaunch++ },
		"entry":  func(c *cache.Config) { c.Kernel.Entry = "other" },
		"remainder": func(c *cache.Config) {
			c.Remainder = &cache.RemainderInfo{Schedule: c.Schedule, Launch: c.Launch, Kernel: c.Kernel}
		},
	} {
		t.Run(name, func(t *testing.T) {
			c := right
			spoil(&c)
			bad, err := cache.Encode(c)
			if err != nil {
				t.Fatal(err)
			}
			file := filepath.Join(dir, name+".json")
			if err := os.WriteFile(file, bad, 0o600); err != nil {
				t.Fatal(err)
			}
			fresh := filepath.Join(dir, name+".db")
			if code, _, stderr := tune(t, fresh, "store", "import", file); code != cli.Usage || !strings.Contains(stderr, "follows from its schedule") {
				t.Errorf("import: exit %d\n%s", code, stderr)
			}
			if code, out, stderr := tune(t, fresh, "emit", "--format", "cu", "--config", file); code != 0 || !strings.Contains(stderr, "launch has changed") {
				t.Errorf("emit: exit %d\n%s%s", code, out, stderr)
			}
			// One that an earlier version took in.
			s, err := cache.Open(fresh)
			if err != nil {
				t.Fatal(err)
			}
			if err := s.PutBest(cache.KeyOf(c), c); err != nil {
				t.Fatal(err)
			}
			code, out, stderr := tune(t, fresh, append([]string{"best"}, at...)...)
			got, err := cache.Decode([]byte(out))
			if code != 0 || err != nil || got.Launch != right.Launch || (got.Remainder == nil) != (right.Remainder == nil) || got.Kernel.Entry != right.Kernel.Entry || !strings.Contains(stderr, "tune again") {
				t.Errorf("best: exit %d, %v, %+v\n%s", code, err, got.Launch, stderr)
			}
			if code, _, stderr := tune(t, fresh, append([]string{"best", "--require", "exact"}, at...)...); code != cli.NoSchedule {
				t.Errorf("best --require exact: exit %d\n%s", code, stderr)
			}
		})
	}
}

func TestRetuneFindsWhatIsOld(t *testing.T) {
	store := replayed(t)
	if code, _, stderr := tune(t, store, "retune", "--all", "--device", "replay:h200"); code != 0 || !strings.Contains(stderr, "1 problems, 1 up to date") {
		t.Errorf("%d %s", code, stderr)
	}
	if code, out, stderr := tune(t, store, "retune", "--all", "--device", "replay:h200", "--max-age", "1ns", "--budget", "20", "--strategy", "model"); code != 0 ||
		!strings.Contains(stderr, "--max-age is 1ns: tuning") || !strings.Contains(out, `"stencil"`) {
		t.Errorf("%d %s", code, stderr)
	}
	if code, _, stderr := tune(t, store, "retune", "--device", "replay:h200"); code != cli.Usage {
		t.Errorf("%d %s", code, stderr)
	}
	for _, c := range []struct{ line, told string }{
		{"retune --all --stencil jacobi3d", "--all and --stencil exclude"}, {"retune --all --size 64x64x64", "--all and --size exclude"}, {"retune --all --dtype float64", "--all and --dtype exclude"},
		{"retune --all --compute float32", "--all and --compute exclude"}, {"retune --all --steps 7", "--all and --steps exclude"}, {"retune --all --scalar a=1", "--all and --scalar exclude"},
		{"retune --all --timing warm", "--all and --timing exclude"}, {"retune --all --objective time", "--all and --objective exclude"}, {"retune --all -o x.json", "--all and --output exclude"},
		{"retune --all --record x.jsonl.gz", "--all and --record exclude"}, {"retune --all --retune", "--max-age 1ns"}, {"retune --stencil jacobi3d --from h200", "--from h200 goes with --all"},
		{"retune --stencil jacobi3d --max-age 1h", "--max-age goes with --all"},
		{"stencils --budget 7", "go with --bench"}, {"stencils --device 0", "go with --bench"}, {"stencils jacobi3d", "go with --bench"},
	} {
		if code, _, stderr := tune(t, store, strings.Fields(c.line)...); code != cli.Usage || !strings.Contains(stderr, c.told) || strings.Count(stderr, "\n") != 1 {
			t.Errorf("%s: exit %d %s", c.line, code, stderr)
		}
	}
	// Another number of steps: said, and begun with what was best.
	code, _, stderr := tune(t, store, "--stencil", "jacobi3d", "--device", "replay:h200", "--budget", "20", "--steps", "5", "-v")
	if code != 0 || !strings.Contains(stderr, "new steps 5 (stored: many): tuning") {
		t.Errorf("%d %s", code, stderr)
	}
}

// TestWhatIsNotStoredSaysHowItGetsThere: the command that the error of a look-up ends with works.
func TestWhatIsNotStoredSaysHowItGetsThere(t *testing.T) {
	own := filepath.Join(t.TempDir(), "own.sl")
	if err := os.WriteFile(own, []byte("NumDimensions 2 StencilSize (1, 1) DataType float Boundary clamp CellValue { return 0.5 * (get(-1, 0) + get(1, 0)); }"), 0o600); err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct{ args, want string }{
		{"--stencil jacobi3d --device h200", "tune --stencil jacobi3d --device replay:h200\n"},
		{"--stencil jacobi3d --device replay:h200 --dtype float64", "tune --stencil jacobi3d --dtype float64 --device replay:h200\n"},
		{"--stencil jacobi3d --device a100 --size 64x64x64", "tune --stencil jacobi3d --size 64x64x64 --device 0 > config.json where a GPU a100 is, and here tune store import config.json\n"},
		{"--stencil jacobi3d --device model:a100", "only facts of that device are here, and no config"},
		{"--stencil " + own + " --device replay:h200", "there is no recording: tune --stencil " + own + " --device host, and then here --device host, too\n"},
		{"--stencil " + own + " --device host", "tune --stencil " + own + " --device host\n"},
	} {
		for _, command := range []string{"best", "emit --format cu"} {
			store := clitest.StoreIn(t)
			code, out, stderr := tune(t, store, strings.Fields(command+" "+c.args)...)
			if code == 0 || out != "" || !strings.Contains(stderr, c.want) {
				t.Errorf("%s %s: %d %s", command, c.args, code, stderr)
			}
		}
	}
	if code, _, stderr := tune(t, clitest.StoreIn(t), "--stencil", own, "--device", "replay:h200"); code != cli.NoDevice || !strings.Contains(stderr, "--device host runs any stencil") {
		t.Errorf("%d %s", code, stderr)
	}
}

// TestAStencilChoosesAllValuesOfItsScalars: of a scalar that decides a branch the key has the value, in its hash.
func TestAStencilChoosesAllValuesOfItsScalars(t *testing.T) {
	store, path := replayed(t), file(t, "decay.sl", decay)
	_, text, _ := tune(t, store, "best", "--stencil", "jacobi3d", "--device", "h200")
	c, err := cache.Decode([]byte(text))
	if err != nil {
		t.Fatal(err)
	}
	p, err := tuner.Spec{Stencil: path, Scalars: []string{"calm=9"}}.Problem()
	if err != nil {
		t.Fatal(err)
	}
	c.Stencil.Name, c.Stencil.Hash, c.Stencil.Dims, c.Scalars = "decay", p.Hash(), 1, tuner.Scalars(p)
	c.Problem.Size, c.Device.Provenance = []int{4096}, ""
	b, err := cache.Encode(c)
	if err != nil {
		t.Fatal(err)
	}
	if code, _, stderr := tune(t, store, "store", "import", file(t, "decay.json", string(b))); code != 0 {
		t.Fatal(stderr)
	}
	s, err := cache.Open(store)
	if err != nil {
		t.Fatal(err)
	}
	if err := s.Record(cache.KeyOf(c), cache.Entry{Outcome: outcome.Outcome{Schedule: spacetest.Schedule(t, "global/gx=64/gy=1"), Status: timing.CompileError}}); err != nil {
		t.Fatal(err)
	}
	for _, x := range []struct{ more, told string }{{"", "warning: whether 1 are stale is not known"}, {path, "1 of 1 configs would be dropped"}} { // its kernel is another stencil's
		if code, _, stderr := tune(t, store, "store", "prune", "--stale", "--dry-run", "--stencil", x.more); code != 0 || !strings.Contains(stderr, x.told) {
			t.Errorf("prune --stale %s: exit %d\n%s", x.more, code, stderr)
		}
	}
	for _, args := range [][]string{{"list"}, {"show"}, {"export", "--journal"}, {"diff", replayed(t)}, {"prune", "--all"}} {
		code, out, stderr := tune(t, store, append([]string{"store"}, append(args, "--stencil", path)...)...)
		if code != 0 || !strings.Contains(out, "decay") || regexp.MustCompile(`jacobi3d[" ]`).MatchString(out) || args[0] == "export" && strings.Count(out, "\n") != 2 {
			t.Errorf("%v: exit %d\n%s%s", args, code, out, stderr)
		}
	}
}

// A stencil's file chooses recordings of it, and none of another stencil of that name.
func TestAFileChoosesRecordingsOfItsStencil(t *testing.T) {
	same, err := os.ReadFile("../../stencil/catalogue/jacobi3d.sl")
	if err != nil {
		t.Fatal(err)
	}
	for text, want := range map[string]int{string(same): cli.OK, decay: cli.NoSchedule} {
		code, out, stderr := tune(t, clitest.StoreIn(t), "plot", "finals", "--device", "replay:h200", "--dtype", "float32", "--stencil", file(t, "jacobi3d.sl", text))
		if code != want || (out != "") != (want == cli.OK) {
			t.Errorf("exit %d, want %d\n%s%s", code, want, out, stderr)
		}
	}
}

// What was measured by a tune that came to no config can be dropped too, but not under one that runs.
func TestPruneDropsJournalsWithoutAConfig(t *testing.T) {
	store := replayed(t)
	s, err := cache.Open(store)
	if err != nil {
		t.Fatal(err)
	}
	all, err := s.Bests()
	if err != nil || len(all) != 1 {
		t.Fatal(all, err)
	}
	dead, alive := all[0].Key, all[0].Key
	dead.Size, alive.Size = "64x64x64", "96x96x96"
	e := cache.Entry{Outcome: outcome.Outcome{Schedule: spacetest.Schedule(t, "global/gx=64/gy=1"), Status: timing.CompileError}, At: time.Now().Add(-2 * time.Hour)}
	if err := errors.Join(s.Record(dead, e), s.Record(alive, e)); err != nil {
		t.Fatal(err)
	}
	c := all[0].Config
	running := cache.Running{Worker: "a:1:0", Phase: "search", Stencil: c.Stencil, Problem: cache.ProblemInfo{Size: []int{96, 96, 96}, Steps: 1000}, Device: c.Device, Toolchain: c.Toolchain, Regime: timing.Warm}
	if err := s.Advance(alive, &running, nil); err != nil {
		t.Fatal(err)
	}
	for _, x := range []struct {
		args string
		left int
	}{{"--older-than 3h", 3}, {"--all --dry-run", 3}, {"--older-than 1h", 2}, {"--all", 1}} {
		code, out, stderr := tune(t, store, append([]string{"store", "prune"}, strings.Fields(x.args)...)...)
		if keys, err := s.Keys(); code != 0 || err != nil || len(keys) != x.left || !slices.Contains(keys, alive) || strings.Contains(out, "96x96x96") {
			t.Errorf("%s: exit %d, %v, %d journals are left\n%s%s", x.args, code, err, len(keys), out, stderr)
		}
	}
}
