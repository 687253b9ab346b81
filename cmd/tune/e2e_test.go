package main

import (
	"bytes"
	"context"
	"flag"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"reflect"
	"regexp"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"stenciltune/cache"
	"stenciltune/cmd/internal/cli"
	"stenciltune/cmd/internal/clitest"
	"stenciltune/device/replay"
	"stenciltune/kernels"
	"stenciltune/kernels/all"
	"stenciltune/outcome"
	"stenciltune/search"
	"stenciltune/space"
	"stenciltune/space/spacetest"
	"stenciltune/stencil"
	"stenciltune/timing"
	"stenciltune/tuner"
)

func TestMain(m *testing.M) {
	clitest.Main(m, func() int { return run(os.Args[1:], os.Stdout, os.Stderr) })
}

var (
	flagDevice = flag.String("device", "host", "device of the end-to-end tests: host, or a GPU")
	flagKills  = flag.Int("kills", 8, "kill -9 at so many random moments")
	flagMoment = flag.Uint64("kill-seed", rand.Uint64(), "draws them")
)

// needDevice skips where the device under test is missing.
func needDevice(t *testing.T, p stencil.Problem) (sp *space.Space, order []space.Schedule, key cache.Key) {
	t.Helper()
	d, err := tuner.OpenDevice(context.Background(), *flagDevice, p)
	if err != nil {
		t.Skip(err)
	}
	defer d.Close()
	sp = kernels.Spaces(all.Families(), p, d.Machine())
	s, err := search.New("model", search.Options{Space: sp, Prior: new(tuner.Tuner).Expected(p, d.Machine())})
	if err != nil {
		t.Fatal(err)
	}
	return sp, s.Ask(40), tuner.KeyOf(p, d.Machine(), timing.Warm)
}

// small is the problem of these tests: jacobi2d on a small grid.
func small(t *testing.T) (stencil.Problem, []string) {
	t.Helper()
	f := tuner.Spec{Stencil: "jacobi2d", Size: "257x129"}
	if *flagDevice != "host" {
		f.Size = "8192x8192"
	}
	p, err := f.Problem()
	if err != nil {
		t.Fatal(err)
	}
	return p, []string{"--stencil", f.Stencil, "--size", f.Size, "--device", *flagDevice, "--strategy", "model"}
}

func TestTuneOnADevicePrintsAValidConfigAndRemembersIt(t *testing.T) {
	p, args := small(t)
	sp, _, key := needDevice(t, p)
	store := clitest.StoreIn(t)
	out := filepath.Join(t.TempDir(), "config.json")
	first := clitest.Command(t, store, append(args, "--budget", "6", "-o", out)...)
	if code := first.Run(t); code != 0 {
		t.Fatalf("exit %d\n%s", code, &first.Stderr)
	}
	c, err := cache.Decode(first.Stdout.Bytes())
	if err != nil {
		t.Fatalf("%v\n%s", err, &first.Stdout)
	}
	s, err := space.ParseSchedule(c.Schedule.Text)
	if err != nil || sp.Check(s) != nil || !c.Search.Complete || len(c.Verification.Checks) != 3 || c.Baseline == nil || c.Speedup <= 0 {
		t.Errorf("%v %+v", err, c)
	}
	if file, err := os.ReadFile(out); err != nil || !bytes.Equal(file, first.Stdout.Bytes()) {
		t.Errorf("-o wrote something else: %v", err)
	}
	again := clitest.Command(t, store, append(args, "--budget", "6")...)
	begin := time.Now()
	if code := again.Run(t); code != 0 || !strings.Contains(again.Stderr.String(), "answered from the store") || !bytes.Equal(first.Stdout.Bytes(), again.Stdout.Bytes()) {
		t.Errorf("the second run did not answer from the store: exit %d\n%s", code, &again.Stderr)
	}
	t.Logf("answered from the store in %v", time.Since(begin))
	st, err := cache.Open(store)
	if err != nil {
		t.Fatal(err)
	}
	if left, err := st.Unfinished(key); err != nil || len(left) != 0 {
		t.Errorf("notes left behind: %v %v", left, err)
	}
	fresh := clitest.Command(t, store, append(args, "--budget", "6", "--retune", "-v")...)
	if code := fresh.Run(t); code != 0 || strings.Contains(fresh.Stderr.String(), "(stored)") {
		t.Errorf("--retune used the store: exit %d\n%s", code, &fresh.Stderr)
	}
}

// naive tells the schedules among which the baseline is: every run measures those.
func naive(schedule string) bool {
	return strings.Contains(schedule, "/wx=1/wy=1/wz=1/cw=0/zz=0/sp=0")
}

func TestABadKernelCostsNoMoreThanItsDeadline(t *testing.T) {
	p, args := small(t)
	_, order, key := needDevice(t, p)
	var bad []space.Schedule // the model's favourites, so that each is tried
	for _, s := range order {
		if !naive(s.String()) && len(bad) < 5 {
			bad = append(bad, s)
		}
	}
	budget := []string{"--budget", "13"}
	clean := clitest.Command(t, clitest.StoreIn(t), append(args, budget...)...)
	t.Logf("faulty: %v", bad)
	begin := time.Now()
	if code := clean.Run(t); code != 0 {
		t.Fatalf("exit %d\n%s", code, &clean.Stderr)
	}
	undisturbed := time.Since(begin)

	store := clitest.StoreIn(t)
	sick := clitest.Command(t, store, append(args, budget...)...)
	sick.Cmd.Env = append(sick.Cmd.Env, fmt.Sprintf("TUNE_TEST_FAULT=hang:%s;oob:%s;nan:%s;nocompile:%s;crash:%s", bad[0], bad[1], bad[2], bad[3], bad[4]))
	begin = time.Now()
	if code := sick.Run(t); code != 0 {
		t.Fatalf("exit %d\n%s", code, &sick.Stderr)
	}
	took := time.Since(begin)
	t.Logf("undisturbed %v, with a hang and four other faults %v", undisturbed, took)
	// A hang's deadline is 2 s for a problem this small; the rest is for recovering, on a busy machine.
	if took > 2*undisturbed+15*time.Second {
		t.Errorf("the faults cost %v", took-undisturbed)
	}
	c, err := cache.Decode(sick.Stdout.Bytes())
	if err != nil {
		t.Fatal(err)
	}
	for _, s := range bad {
		if c.Schedule.Text == s.String() {
			t.Errorf("a faulty schedule won: %s", s)
		}
	}
	st, err := cache.Open(store)
	if err != nil {
		t.Fatal(err)
	}
	entries, err := st.Entries(key)
	if err != nil {
		t.Fatal(err)
	}
	want := map[string]struct {
		status timing.Status
		reason string
	}{
		bad[0].String(): {timing.Timeout, ""},
		bad[1].String(): {timing.WrongAnswer, "out-of-bounds"},
		bad[2].String(): {timing.WrongAnswer, "NaN"},
		bad[3].String(): {timing.CompileError, "error"},
		bad[4].String(): {timing.LaunchError, ""},
	}
	for _, e := range entries {
		w, ok := want[e.Schedule.String()]
		if !ok {
			continue
		}
		delete(want, e.Schedule.String())
		if e.Status != w.status || !strings.Contains(strings.ToLower(e.Reason), strings.ToLower(w.reason)) {
			t.Errorf("%s: %s (%s), want %s", e.Schedule, e.Status, e.Reason, w.status)
		}
	}
	if len(want) > 0 {
		t.Errorf("not stored: %v", want)
	}
}

var measuredLine = regexp.MustCompile(`(?m)^tune: [\d.]+ s: \d+ (\S+) (\S+).*$`)

func TestKillingTheProgramLosesNothing(t *testing.T) {
	if testing.Short() {
		t.Skip("many runs")
	}
	p, args := small(t)
	_, _, key := needDevice(t, p)
	store := clitest.StoreIn(t)
	limits := func(budget int) []string {
		n := strconv.Itoa(budget)
		return append(slices.Clone(args), "--budget", n, "--stall", n, "--time-limit", "5m", "--beyond", "-v")
	}
	measured := map[string]int{}
	t.Logf("-kill-seed %d", *flagMoment)
	r := rand.New(rand.NewPCG(*flagMoment, 0))
	note := func(stderr string) {
		for _, m := range measuredLine.FindAllStringSubmatch(stderr, -1) {
			if !naive(m[1]) && !strings.Contains(m[0], "(stored)") {
				measured[m[1]]++
			}
		}
	}
	known := 0
	for kill := range *flagKills {
		q := clitest.Command(t, store, limits(3000)...) // more than it lives to see
		if err := q.Cmd.Start(); err != nil {
			t.Fatal(err)
		}
		after := time.Duration((0.2 + 3*r.Float64()) * float64(time.Second))
		done := make(chan error, 1)
		go func() { done <- q.Cmd.Wait() }()
		select {
		case <-done:
			t.Fatalf("run %d ended by itself before %v:\n%s", kill, after, &q.Stderr)
		case <-time.After(after):
			q.Cmd.Process.Kill()
			<-done
		}
		note(q.Stderr.String())
		st, err := cache.Open(store)
		if err != nil {
			t.Fatalf("after kill %d: %v", kill, err)
		}
		entries, err := st.Entries(key)
		if err != nil {
			t.Fatalf("after kill %d: %v", kill, err)
		}
		known = len(entries)
		for s := range measured { // what was reported is stored
			if !slices.ContainsFunc(entries, func(e cache.Entry) bool { return e.Schedule.String() == s }) {
				t.Fatalf("after kill %d: %s was measured and is not stored", kill, s)
			}
		}
	}
	last := clitest.Command(t, store, limits(known+5)...)
	if code := last.Run(t); code != 0 {
		t.Fatalf("exit %d\n%s", code, &last.Stderr)
	}
	note(last.Stderr.String())
	for s, n := range measured {
		if n > 1 {
			t.Errorf("%s was measured %d times", s, n)
		}
	}
	if len(measured) == 0 {
		t.Error("not one schedule was seen being measured: nothing is proved")
	}
	t.Logf("%d schedules measured, each once", len(measured))
}

func TestInterruptEmitsTheBestSoFar(t *testing.T) {
	p, args := small(t)
	needDevice(t, p)
	for _, s := range []struct {
		signal syscall.Signal
		code   int
	}{{syscall.SIGINT, cli.Interrupted}, {syscall.SIGTERM, cli.Terminated}} {
		q := clitest.Command(t, clitest.StoreIn(t), append(args, "--budget", "5000", "--time-limit", "10m", "--stall", "5000", "-v")...)
		q.Cmd.Stderr = nil
		pipe, err := q.Cmd.StderrPipe()
		if err != nil {
			t.Fatal(err)
		}
		if err := q.Cmd.Start(); err != nil {
			t.Fatal(err)
		}
		buf := make([]byte, 4096)
		for !strings.Contains(q.Stderr.String(), " s: 5 ") { // a few schedules are in
			n, err := pipe.Read(buf)
			if err != nil {
				t.Fatal(err, q.Stderr.String())
			}
			q.Stderr.Write(buf[:n])
		}
		begin := time.Now()
		q.Cmd.Process.Signal(s.signal)
		for {
			n, err := pipe.Read(buf)
			q.Stderr.Write(buf[:n])
			if err != nil {
				break
			}
		}
		q.Cmd.Wait()
		took := time.Since(begin)
		c, err := cache.Decode(q.Stdout.Bytes())
		if code := q.Cmd.ProcessState.ExitCode(); code != s.code || err != nil || c.Search.Complete || took > 10*time.Second {
			t.Errorf("%v: exit %d after %v, %v, complete %v\n%s", s.signal, code, took, err, c.Search.Complete, &q.Stderr)
		}
	}
}

func TestBadInputGetsOneClearLine(t *testing.T) {
	store := clitest.StoreIn(t)
	file := filepath.Join(t.TempDir(), "file")
	if err := os.WriteFile(file, []byte("x"), 0o600); err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		args  string
		code  int
		words string
	}{
		{"--stencil nonsense", cli.Usage, `unknown stencil "nonsense"`},
		{"", cli.Usage, "--stencil"},
		{"--stencil missing.sl", cli.Usage, "missing.sl"},
		{"--stencil " + filepath.Dir(file) + "/.sl", cli.Usage, "has no name"},
		{"--stencil jacobi3d --device 99", cli.NoDevice, ""},
		{"--stencil jacobi3d --device replay", cli.Usage, "replay:h200"},
		{"--stencil jacobi3d --device replay:none", cli.NoDevice, "there are"},
		{"--stencil jacobi3d --device replay:h200 --size 8x8x8", cli.NoDevice, "there are"},
		{"--stencil jacobi3d --size 0x1x1", cli.Usage, "extent 0 on x"},
		{"--stencil jacobi3d --size -1x1x1", cli.Usage, "extent -1 on x"},
		{"--stencil jacobi3d --size 512", cli.Usage, "want 3 extents"},
		{"--stencil jacobi3d --size 12abcx1x1", cli.Usage, "not a whole number"},
		{"--stencil jacobi3d --size 9223372036854775808x1x1", cli.Usage, "must lie in"},
		{"--stencil jacobi2d --device host --size 500000x500000", cli.Usage, "choose a smaller size"},
		{"--stencil ../../examples/stencils/cavity.sl --size 64x1", cli.Usage, "extent 1 on y, where an array is Short, must be 2 or more"},
		{"--stencil jacobi3d --dtype int8", cli.Usage, "jacobi3d is computed in float32, float64, float16, bfloat16"},
		{"--stencil jacobi2d --device host --size 1x1", cli.NoSchedule, "choose a larger --size"},
		{"--stencil jacobi3d --steps 0", cli.Usage, "--steps"},
		{"--stencil jacobi3d --budget -1", cli.Usage, "--budget"},
		{"--stencil jacobi3d --strategy luck", cli.Usage, "use one of"},
		{"--stencil jacobi3d --timing hot", cli.Usage, "warm or cold"},
		{"--stencil jacobi3d --device replay:h200 --timing cold", cli.Usage, "recording was made"},
		{"--stencil jacobi3d --nonsense", cli.Usage, "unknown flag"},
		{"nonsense", cli.Usage, "unknown command"},
		{"--stencil jacobi3d --device replay:h200 --store " + file + "/store.db", cli.StoreLocked, "store"},
		{"--stencil jacobi3d --device replay:h200 --store " + file, cli.StoreCorrupt, "store"},
		{"--stencil jacobi3d --device replay:h200 --store relative/../x\x00y", cli.StoreLocked, "store"},
		{"source --stencil jacobi3d", cli.Usage, "--schedule"},
		{"source --stencil jacobi3d --schedule tile/gx=3", cli.Usage, "parameters"},
		{"source --stencil jacobi3d --schedule x;y", cli.Usage, "write it as"},
		{"measure --stencil jacobi3d --device replay:h200 --schedule global/gx=512/gy=16/gz=1/wx=1/wy=1/wz=1/cw=0/zz=0/sp=0", cli.Usage, "at most 1024 threads"},
	} {
		args := strings.Fields(c.args)
		if strings.Contains(c.args, "\x00") {
			continue // the system refuses such an argument itself
		}
		p := clitest.Command(t, store, args...)
		p.Cmd.Env = append(p.Cmd.Env, "TUNE_LIBCUDA=")
		code := p.Run(t)
		text := p.Stderr.String()
		if code != c.code || !strings.Contains(text, c.words) || strings.Count(text, "\n") != 1 || strings.Contains(text, "goroutine") || p.Stdout.Len() > 0 {
			t.Errorf("tune %s: exit %d, want %d with %q:\n%s%s", c.args, code, c.code, c.words, text, &p.Stdout)
		}
	}
}

func TestWithoutAGPUTheErrorNamesLibraryAndAlternatives(t *testing.T) {
	p := clitest.Command(t, clitest.StoreIn(t), "--stencil", "jacobi3d")
	p.Cmd.Env = append(p.Cmd.Env, "TUNE_LIBCUDA=/nonexistent/libcuda.so.1")
	if code := p.Run(t); code != cli.NoDevice {
		t.Errorf("exit %d", code)
	}
	for _, w := range []string{"libcuda.so.1", "--device host", "--device replay:h200"} {
		if !strings.Contains(p.Stderr.String(), w) {
			t.Errorf("%q is missing in %s", w, &p.Stderr)
		}
	}
}

// volatile are the parts of a config that differ from run to run.
var volatile = regexp.MustCompile(`"time": [^\n]*`)

func TestReplayIsReproducible(t *testing.T) {
	var first []byte
	for range 2 {
		// The time is the recording's: how slow this machine is does not show.
		p := clitest.Command(t, clitest.StoreIn(t), "--stencil", "jacobi3d", "--device", "replay:h200", "--seed", "5", "--time-limit", "2s")
		if code := p.Run(t); code != 0 {
			t.Fatalf("exit %d\n%s", code, &p.Stderr)
		}
		out := volatile.ReplaceAll(p.Stdout.Bytes(), nil)
		if first == nil {
			first = out
		} else if !bytes.Equal(first, out) {
			t.Errorf("the same seed gave\n%s\nand\n%s", first, out)
		}
		c, err := cache.Decode(p.Stdout.Bytes())
		if err != nil || c.Device.Kind != "replay" || c.Device.Provenance == "" || c.Search.Stop != "time-limit" {
			t.Errorf("%v %+v", err, c.Device)
		}
	}
}

// The run that the README shows is what the program prints.
func TestTheReadmeShowsARun(t *testing.T) {
	if runtime.GOARCH != "amd64" {
		t.Skip("replays are the same bytes on one processor family")
	}
	readme, err := os.ReadFile("../../README.md")
	if err != nil {
		t.Fatal(err)
	}
	p := clitest.Command(t, clitest.StoreIn(t), "--stencil", "jacobi3d", "--device", "replay:h200")
	if code := p.Run(t); code != 0 {
		t.Fatalf("exit %d\n%s", code, &p.Stderr)
	}
	for line := range strings.Lines(p.Stderr.String()) {
		if !strings.Contains(string(readme), "    "+line) {
			t.Errorf("the README has another line than %q", line)
		}
	}
}

// A search leaves out what advice is against, --beyond and a walk through all do not; what is named runs, and what was
// recorded in spite of advice stays in the recording.
func TestAdviceBindsTheSearchAlone(t *testing.T) {
	store, file := clitest.StoreIn(t), filepath.Join(t.TempDir(), "some.jsonl.gz")
	at := []string{"--stencil", "jacobi2d", "--device", "replay:h200"}
	run := func(more ...string) *clitest.Program {
		t.Helper()
		p := clitest.Command(t, store, append(slices.Clone(at), more...)...)
		if code := p.Run(t); code != 0 {
			t.Fatalf("%v: exit %d\n%s", more, code, &p.Stderr)
		}
		return p
	}
	searched := func(p *clitest.Program) int {
		t.Helper()
		c, err := cache.Decode(p.Stdout.Bytes())
		if err != nil {
			t.Fatal(err)
		}
		return c.Search.Space
	}
	families := func() map[string]int {
		n := map[string]int{}
		for _, s := range clitest.Landscape(t, file).Order {
			n[s.Family()]++
		}
		return n
	}
	all := searched(run("--beyond", "--strategy", "random", "--budget", "60", "--record", file))
	before := families()
	if before["tile"] == 0 || before["slide"] == 0 {
		t.Fatalf("of %d schedules %v were tried", all, before)
	}
	if n := searched(run("--record", file)); n*2 > all {
		t.Errorf("%d of %d schedules are searched", n, all)
	}
	after := families()
	if after["tile"] != before["tile"] || after["slide"] != before["slide"] || after["stream"] <= before["stream"] {
		t.Errorf("recorded were %v, and then %v", before, after)
	}
	if n := searched(run("--retune", "--exhaustive", "--budget", "20")); n != all {
		t.Errorf("a walk through all is through %d of %d", n, all)
	}
	l := clitest.Landscape(t, file)
	i := slices.IndexFunc(l.Order, func(s space.Schedule) bool { return s.Family() == "tile" && l.Records[s].Seconds() > 0 })
	p := clitest.Command(t, store, append([]string{"measure", "--schedule", l.Order[i].String()}, at...)...)
	if code := p.Run(t); code != 0 || !strings.Contains(p.Stdout.String(), l.Order[i].String()) {
		t.Errorf("exit %d\n%s%s", code, &p.Stdout, &p.Stderr)
	}
}

// TestRecordMakesALandscapeThatReplays, and goes on with one that is there.
func TestRecordMakesALandscapeThatReplays(t *testing.T) {
	p, _ := small(t)
	if *flagDevice != "host" || testing.Short() {
		t.Skip("shown on the host")
	}
	needDevice(t, p)
	dir := t.TempDir()
	file := filepath.Join(dir, "l.jsonl.gz")
	rec := clitest.Command(t, clitest.StoreIn(t), "--stencil", "jacobi2d", "--size", "33x17", "--steps", "1", "--device", "host", "--exhaustive", "--budget", "9", "--record", file)
	if code := rec.Run(t); code != 0 {
		t.Fatalf("exit %d\n%s", code, &rec.Stderr)
	}
	first := clitest.Landscape(t, file)
	other := clitest.Command(t, clitest.StoreIn(t), "--stencil", "jacobi2d", "--size", "35x17", "--steps", "1", "--device", "host", "--exhaustive", "--budget", "9", "--record", file)
	if code := other.Run(t); code != cli.Usage || !strings.Contains(other.Stderr.String(), "name another file") {
		t.Errorf("a recording of another size: exit %d\n%s", code, &other.Stderr)
	}
	on := clitest.Command(t, clitest.StoreIn(t), "--stencil", "jacobi2d", "--size", "33x17", "--steps", "1", "--device", "host", "--exhaustive", "--budget", "14", "--record", file)
	if code := on.Run(t); code != 0 {
		t.Fatalf("exit %d\n%s", code, &on.Stderr)
	}
	then := clitest.Landscape(t, file)
	if len(then.Order) <= len(first.Order) {
		t.Errorf("%d schedules, then %d", len(first.Order), len(then.Order))
	}
	for _, s := range first.Order {
		if k := first.Records[s]; !k.Schedule.IsZero() && k.Schedule.Int("wx", 1) > 1 && !reflect.DeepEqual(k, then.Records[s]) { // no baseline, which is measured anew
			t.Errorf("%s was %+v, then %+v", s, k, then.Records[s])
		}
	}
	rep := clitest.Command(t, clitest.StoreIn(t), "--stencil", "jacobi2d", "--size", "33x17", "--steps", "1", "--device", "replay:"+file, "--exhaustive")
	if code := rep.Run(t); code != 0 {
		t.Fatalf("exit %d\n%s", code, &rep.Stderr)
	}
}

func TestListsAndSchemaAreValid(t *testing.T) {
	for _, args := range []string{"stencils", "stencils --json", "devices", "devices --json", "schema", "--help", "--version", "source --help",
		"source --stencil jacobi2d --schedule tile/gx=32/gy=8/gz=1/wx=1/wy=2/wz=1/cw=0/zz=0/ph=2"} {
		p := clitest.Command(t, clitest.StoreIn(t), strings.Fields(args)...)
		if code := p.Run(t); code != 0 || p.Stdout.Len() == 0 || p.Stderr.Len() > 0 {
			t.Errorf("tune %s: exit %d\n%s", args, code, &p.Stderr)
		}
	}
}

// A recording of one schedule is searched at once: with what it is the search ends, and where it fails none works.
func TestARecordingOfOneScheduleEndsAtOnce(t *testing.T) {
	l := clitest.Landscape(t, "h200_jacobi2d_f32")
	naive, tile := "global/gx=64/gy=4/gz=1/wx=1/wy=1/wz=1/cw=0/zz=0/sp=0", ""
	for _, s := range l.Order {
		if s.Family() == "tile" && l.Records[s].Status.Timed() {
			tile = s.String()
		}
	}
	for _, c := range []struct {
		schedule string
		status   timing.Status
		args     string
		code     int
		want     string
	}{
		{naive, timing.OK, "", cli.OK, "stopped by exhausted; within 1 % of the best with probability 1.00"},
		{naive, timing.OK, "--within 1% --strategy random", cli.OK, "stopped by exhausted"},
		{naive, timing.OK, "--within 1%", cli.OK, "stopped by within"},
		{naive, timing.OK, "--exhaustive", cli.OK, "stopped by exhausted"},
		{naive, timing.CompileError, "", cli.NoSchedule, "does not work here: because"},
		{naive, timing.WrongAnswer, "", cli.NoSchedule, "does not work here: because"},
		{tile, timing.OK, "", cli.NoSchedule, "the space has none"},
	} {
		file := filepath.Join(t.TempDir(), "one.jsonl.gz")
		var b bytes.Buffer
		o := l.Records[spacetest.Schedule(t, c.schedule)]
		if c.status != timing.OK {
			o = outcome.Outcome{Schedule: o.Schedule, SourceHash: o.SourceHash, Status: c.status, Reason: "because"}
		}
		if err := replay.Write(&b, l.Header, []outcome.Outcome{o}); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(file, b.Bytes(), 0o600); err != nil {
			t.Fatal(err)
		}
		args := append([]string{"--stencil", "jacobi2d", "--device", "replay:" + file}, strings.Fields(c.args)...)
		code, out, stderr := tune(t, clitest.StoreIn(t), args...)
		if code != c.code || !strings.Contains(stderr, c.want) || (out != "") != (code == cli.OK) {
			t.Errorf("%s %s: exit %d\n%s", c.status, c.args, code, stderr)
		}
	}
}
