package exchange

import (
	"bytes"
	"io"
	"os"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"stenciltune/device/replay"
	"stenciltune/outcome"
	"stenciltune/space"
	"stenciltune/space/spacetest"
	"stenciltune/stencil"
	"stenciltune/timing"
)

// everything is a landscape with two families, an optional parameter and every status.
func everything(t *testing.T) *replay.Landscape {
	t.Helper()
	l := &replay.Landscape{Records: map[space.Schedule]outcome.Outcome{}}
	l.Header = replay.Header{Format: replay.Format, Stencil: "jacobi3d", StencilHash: "abc", DType: stencil.Float32, Size: stencil.Size{512, 512, 512},
		Steps: 1000, Regime: timing.Warm, Tool: "tune", Command: "tune --record", Time: "2026-01-02T03:04:05Z", Space: 20, Compilers: 15}
	l.Header.Machine.Name = "Test GPU"
	for i, r := range []outcome.Outcome{
		{Status: timing.OK, Series: timing.Series{Samples: []float64{0.000123456, 0.000123457, 1.7e-05}, Launches: 4}, Registers: 40, SpillBytes: 8, BlocksPerSM: 2, MaxError: 1.5e-7, SourceHash: "s1", CompileSeconds: 0.123, DeviceSeconds: 0.0152},
		{Status: timing.CutSlow, Series: timing.Series{Samples: []float64{0.00333333}, Launches: 2}, SourceHash: "s2", CompileSeconds: 0.2},
		{Status: timing.Rejected, Reason: "too many registers"},
		{Status: timing.CompileError, Reason: "no", CompileSeconds: 0.1},
		{Status: timing.CompileTimeout, CompileSeconds: 30},
		{Status: timing.LaunchError, Reason: "too big"},
		{Status: timing.Timeout},
		{Status: timing.WrongAnswer, MaxError: 2},
		{Status: timing.WorkerLost},
	} {
		text := []string{"tile/gx=32/ph=2", "stream/vx=2/ck=8/ph=4", "tile/gx=64/ld=2/ph=2", "global/gx=32/sp=0", "tile/gx=32/ph=3",
			"tile/gx=32/ph=4", "tile/gx=32/ld=1/ph=4", "global/gx=64/sp=1", "stream/vx=0/ck=0/ph=1"}[i]
		r.Schedule = spacetest.Schedule(t, text)
		if err := add(l, r); err != nil {
			t.Fatal(err)
		}
	}
	return l
}

var formats = []struct {
	name  string
	write func(io.Writer, *replay.Landscape) error
	read  func(io.Reader) (*replay.Landscape, error)
}{{"kernel-tuner", WriteKernelTuner, ReadKernelTuner}, {"t4", WriteT4, ReadT4}}

// TestRoundTrip: a landscape comes back from either format as it went, and both
// write the same bytes again.
func TestRoundTrip(t *testing.T) {
	for _, f := range formats {
		l := everything(t)
		var first bytes.Buffer
		if err := f.write(&first, l); err != nil {
			t.Fatal(err)
		}
		text := first.String()
		back, err := f.read(&first)
		if err != nil {
			t.Fatalf("%s: %v\n%s", f.name, err, text)
		}
		if d := cmp.Diff(l, back, cmp.Comparer(func(a, b space.Schedule) bool { return a == b })); d != "" {
			t.Errorf("%s: %s", f.name, d)
		}
		var again bytes.Buffer
		if err := f.write(&again, back); err != nil || again.String() != text {
			t.Errorf("%s: written again it differs (%v)", f.name, err)
		}
	}
}

// TestTheWordsOfTheFormats: failures have the names that the schemas give them.
func TestTheWordsOfTheFormats(t *testing.T) {
	for status, want := range map[timing.Status][2]string{
		timing.OK: {"", t4Correct}, timing.CutSlow: {"", t4Correct}, timing.Rejected: {ktInvalid, t4Constraints},
		timing.CompileError: {ktCompile, t4Compile}, timing.CompileTimeout: {ktCompile, t4Timeout}, timing.LaunchError: {ktRuntime, t4Runtime},
		timing.Timeout: {ktRuntime, t4Timeout}, timing.WrongAnswer: {ktRuntime, t4Correctness}, timing.WorkerLost: {ktRuntime, t4Runtime},
	} {
		if got := invalidity(status); got != want[1] {
			t.Errorf("%s: invalidity %s, want %s", status, got, want[1])
		}
		if want[0] != "" && ktFailure(status) != want[0] {
			t.Errorf("%s: %s, want %s", status, ktFailure(status), want[0])
		}
	}
}

// rows are a landscape's records, short.
func rows(l *replay.Landscape) (list []string) {
	for _, s := range l.Order {
		r := l.Records[s]
		list = append(list, strings.Join([]string{s.String(), string(r.Status)}, " "))
	}
	return list
}

// TestOthersFiles reads small files written by hand after the published schemas;
// the cache was left open, as a run that was killed leaves it.
func TestOthersFiles(t *testing.T) {
	read := func(name string, f func(io.Reader) (*replay.Landscape, error)) *replay.Landscape {
		t.Helper()
		file, err := os.Open("testdata/" + name)
		if err != nil {
			t.Fatal(err)
		}
		defer file.Close()
		l, err := f(file)
		if err != nil {
			t.Fatal(err)
		}
		return l
	}
	k := read("cache.json", ReadKernelTuner)
	want := []string{
		"blurkernel/blocksizex=16/usepadding=0/variant=0/factor=0 ok",
		"blurkernel/blocksizex=16/usepadding=1/variant=0/factor=0 launch_error",
		"blurkernel/blocksizex=16/usepadding=1/variant=0/factor=1 rejected",
		"blurkernel/blocksizex=32/usepadding=0/variant=1/factor=1 ok",
		"blurkernel/blocksizex=32/usepadding=1/variant=1/factor=1 compile_error",
	}
	if d := cmp.Diff(want, rows(k)); d != "" {
		t.Error(d)
	}
	if r := k.Records[k.Order[0]]; !cmp.Equal(r.Series.Samples, []float64{2.75e-3, 2.5e-3, 2.25e-3}) || r.CompileSeconds != 0.3105 || r.DeviceSeconds != 0.0215 {
		t.Errorf("%+v", r)
	}
	if r := k.Records[k.Order[3]]; !cmp.Equal(r.Series.Samples, []float64{1.25e-3}) {
		t.Errorf("without times: %+v", r)
	}
	if h := k.Header; h.Machine.Name != "Some GPU" || h.Stencil != "blur_kernel" || h.Size != (stencil.Size{1024, 512, 1}) {
		t.Errorf("%+v", h)
	}

	f := read("t4.json", ReadT4)
	want = []string{"kernel/a=1/b=2 ok", "kernel/a=1/b=3 timeout", "kernel/a=1/b=4 compile_error", "kernel/a=1/b=5 launch_error", "kernel/a=1/b=6 wrong_answer", "kernel/a=1/b=7 rejected"}
	if d := cmp.Diff(want, rows(f)); d != "" {
		t.Error(d)
	}
	if r := f.Records[f.Order[0]]; !cmp.Equal(r.Series.Samples, []float64{1.5e-3, 1.25e-3}) || r.CompileSeconds != 0.3 || r.DeviceSeconds != 0.01 {
		t.Errorf("%+v", r)
	}
}

// A kernel without parameters is a space of one schedule.
func TestNoParametersAreOneSchedule(t *testing.T) {
	l, err := ReadT4(strings.NewReader(`{"results": [{"configuration": {}, "invalidity": "correct", "times": {"runtimes": [1]}}]}`))
	if err != nil || l.Space().Size() != 1 {
		t.Errorf("%v", err)
	}
}

func TestBadFilesAreRefused(t *testing.T) {
	for _, c := range []struct{ text, want string }{
		{``, "not a Kernel Tuner"},
		{`{"cache": {}}`, "no cache or no tune_params_keys"},
		{`{"tune_params_keys": ["a"], "cache": {}}`, "no cache or no tune_params_keys"},
		{`{"tune_params_keys": ["a", "A"], "cache": {"1": {"a": 1, "A": 2, "time": 1}}}`, "two values of a"},
		{`{"tune_params_keys": ["a"], "cache": {"1": {"a": 1, "time": 1e-310}}}`, "is not a time"},
		{`{"tune_params_keys": ["a"], "cache": {"1": {"time": 1}}}`, `lacks the parameter "a"`},
		{`{"tune_params_keys": ["a"], "cache": {"1": {"a": 1, "time": -1}}}`, "is not a time"},
		{`{"tune_params_keys": ["a"], "cache": {"1": {"a": 1}}}`, "has no time"},
		{`{"tune_params_keys": ["a"], "cache": {"1": {"a": 1, "time": 1}, "x": {"a": 1, "time": 1}}}`, "is recorded twice"},
	} {
		if _, err := ReadKernelTuner(strings.NewReader(c.text)); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: %v", c.text, err)
		}
	}
	for _, c := range []struct{ text, want string }{
		{`{`, "not T4 results"},
		{`{"results": []}`, "there are none"},
		{`{"results": [{"configuration": {"a": 1}, "invalidity": "sad"}]}`, "none of the schema's"},
		{`{"results": [{"configuration": {"a": 1}, "invalidity": "correct"}]}`, "has no time"},
	} {
		if _, err := ReadT4(strings.NewReader(c.text)); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: %v", c.text, err)
		}
	}
}

// fuzz reads whatever there is: a landscape that can be searched, or an error.
func fuzz(f *testing.F, read func(io.Reader) (*replay.Landscape, error), seeds ...string) {
	for _, s := range seeds {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, text string) {
		l, err := read(strings.NewReader(text))
		if err == nil && l.Space().Size() > len(l.Order) {
			t.Errorf("%d schedules of %d", l.Space().Size(), len(l.Order))
		}
	})
}

func FuzzReadKernelTuner(f *testing.F) {
	fuzz(f, ReadKernelTuner, `{"kernel_name": "k", "problem_size": [8, 8], "tune_params_keys": ["a", "b"], "tune_params": {"a": [1, 2], "b": ["x", 0.5]}, "cache": {"1,x": {"a": 1, "b": "x", "time": 1.5, "times": [1, 2]}, "2": {"a": 2, "b": 0.5, "time": "InvalidConfig"}`,
		`{"tune_params_keys": ["a"], "cache": {}}`, `{`)
}

func FuzzReadT4(f *testing.F) {
	fuzz(f, ReadT4, `{"results": [{"configuration": {"a": 1, "b": "x"}, "invalidity": "correct", "times": {"runtimes": [1, 2]}}, {"configuration": {"a": 2, "b": true}, "invalidity": "timeout"}]}`,
		`{"results": [{"configuration": {}, "invalidity": "compile"}]}`, `{`)
}
