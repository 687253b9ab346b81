package replay

import (
	"bytes"
	"compress/gzip"
	"errors"
	"fmt"
	"io"
	"math"
	"os"
	"path/filepath"
	"reflect"
	"runtime"
	"strings"
	"syscall"
	"testing"
	"time"

	"stenciltune/device"
	"stenciltune/machine"
	"stenciltune/outcome"
	"stenciltune/space"
	"stenciltune/space/spacetest"
	"stenciltune/stencil"
	"stenciltune/stencil/stenciltest"
	"stenciltune/timing"
)

func problem(t testing.TB) stencil.Problem {
	t.Helper()
	return stencil.Problem{Stencil: stenciltest.Lookup(t, "jacobi2d"), DType: stencil.Float32, Size: stencil.Size{64, 32, 1}, Steps: 100}
}

func header(p stencil.Problem) Header {
	return Header{
		Stencil: p.Stencil.Name, StencilHash: p.Stencil.Hash, DType: p.DType, Size: p.Size, Steps: p.Steps,
		Machine: machine.Machine{Kind: machine.CUDA, Name: "Test GPU", SMs: 4, Compiler: "NVRTC 13.0"},
		Regime:  timing.Warm, Tool: "tune 0.0.0", Command: "tune", Time: "2026-01-02T03:04:05Z", Space: 5,
	}
}

// records are one of each kind: fast, faster, cut, and three ways to fail.
func records(t testing.TB) (list []outcome.Outcome) {
	for _, l := range lines(t) {
		list = append(list, l.outcome())
	}
	return list
}

func lines(t testing.TB) []line {
	return []line{
		{Schedule: spacetest.Schedule(t, "global/gx=32"), SourceHash: "aa", Status: timing.OK, Registers: 22, BlocksPerSM: 8, CompileSeconds: 0.5, MaxError: 1.25e-7, Launches: 4,
			Samples: []float64{2e-3, 2.1e-3, 1.9e-3, 2e-3, 2e-3, 2.2e-3, 1.95e-3}},
		{Schedule: spacetest.Schedule(t, "tile/gx=32/ph=2"), Status: timing.OK, Registers: 40, SpillBytes: 16, Launches: 6, Samples: []float64{1e-3, 1.1e-3, 0.9e-3, 1e-3, 1e-3}},
		{Schedule: spacetest.Schedule(t, "global/gx=64"), Status: timing.CutSlow, Launches: 2, Samples: []float64{9e-3, 9.1e-3}},
		{Schedule: spacetest.Schedule(t, "global/gx=128"), Status: timing.CompileError, Reason: "too many registers"},
		{Schedule: spacetest.Schedule(t, "global/gx=256"), Status: timing.WrongAnswer, Reason: "3 of 9 cells wrong"},
		{Schedule: spacetest.Schedule(t, "global/gx=512"), Status: timing.OK}, // its samples were lost
	}
}

func write(t testing.TB, h Header, rs []outcome.Outcome) []byte {
	t.Helper()
	var b bytes.Buffer
	if err := Write(&b, h, rs); err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}

func TestLandscapeSurvivesWritingAndReading(t *testing.T) {
	h, rs := header(problem(t)), records(t)
	l, err := Read(bytes.NewReader(write(t, h, rs)))
	if err != nil {
		t.Fatal(err)
	}
	h.Format = Format
	if l.Header != h {
		t.Errorf("header %+v, want %+v", l.Header, h)
	}
	if len(l.Order) != len(rs) || len(l.Records) != len(rs) {
		t.Fatalf("%d records in order, %d by schedule, want %d", len(l.Order), len(l.Records), len(rs))
	}
	for i, r := range rs {
		if l.Order[i] != r.Schedule || !reflect.DeepEqual(l.Records[r.Schedule], r) {
			t.Errorf("record %d: %+v, want %+v", i, l.Records[l.Order[i]], r)
		}
	}
}

func TestNumbersAreRoundedToWhatATimerResolves(t *testing.T) {
	sent := line{Schedule: spacetest.Schedule(t, "global/gx=32"), Status: timing.OK, CompileSeconds: 0.0123456, MaxError: 1.23456e-7, Launches: 1,
		Samples: []float64{1.23456789e-3, 0.000999999999, 5e-12, 3}}
	kept := append([]float64(nil), sent.Samples...)
	l, err := Read(bytes.NewReader(write(t, header(problem(t)), []outcome.Outcome{sent.outcome()})))
	if err != nil {
		t.Fatal(err)
	}
	got := l.Records[sent.Schedule]
	if want := []float64{1.23457e-3, 1e-3, 5e-12, 3}; !reflect.DeepEqual(got.Series.Samples, want) {
		t.Errorf("samples %v, want %v", got.Series.Samples, want)
	}
	if got.CompileSeconds != 0.0123 || got.MaxError != 1.23e-7 {
		t.Errorf("compile %v s, error %v", got.CompileSeconds, got.MaxError)
	}
	if !reflect.DeepEqual(sent.Samples, kept) {
		t.Errorf("the writer changed its input to %v", sent.Samples)
	}
	for _, v := range []float64{0, 1, -2.5, 1e300} {
		if timing.Digits(v, 6) != v {
			t.Errorf("%v became %v", v, timing.Digits(v, 6))
		}
	}
}

func zipped(lines ...string) []byte {
	var b bytes.Buffer
	z := gzip.NewWriter(&b)
	_, _ = z.Write([]byte(strings.Join(lines, "\n")))
	_ = z.Close()
	return b.Bytes()
}

func TestDamagedFilesAreRefused(t *testing.T) {
	good := write(t, header(problem(t)), records(t))
	flipped := bytes.Clone(good)
	flipped[len(flipped)/2] ^= 4
	checksum := bytes.Clone(good)
	checksum[len(checksum)-6] ^= 1
	const head = `{"format":"stenciltune.landscape/v1"}`
	for _, c := range []struct {
		name string
		data []byte
		want string
	}{
		{"empty", nil, "not a landscape"},
		{"text", []byte(head), "not a landscape"},
		{"nothing in it", zipped(), "no header"},
		{"no JSON", zipped("hello"), "landscape: header"},
		{"other format", zipped(`{"format":"stenciltune.landscape/v2"}`), `format "stenciltune.landscape/v2", want "stenciltune.landscape/v1"`},
		{"no format", zipped(`{}`), `format ""`},
		{"header of another shape", zipped(`{"format":"stenciltune.landscape/v1","size":"64x32"}`), "landscape: header"},
		{"damaged record", zipped(head, `{"schedule":"global/gx=32","status":"ok"}`, `{"schedule":`), "record 2"},
		{"record of another shape", zipped(head, `[1, 2]`), "record 1"},
		{"hostile schedule", zipped(head, `{"schedule":"global/gx=-1"}`), "record 1"},
		{"no schedule", zipped(head, `{"status":"ok","samples":[1]}`), "record 1: it has no schedule"},
		{"schedule twice", zipped(head, `{"schedule":"global/gx=32"}`, `{"schedule":"global/gx=64"}`, `{"schedule":"global/gx=32"}`), "record 3: global/gx=32 is recorded twice"},
		{"time of zero", zipped(head, `{"schedule":"global/gx=32","samples":[1e-3,0]}`), ": 0 s is not a time"},
		{"negative time", zipped(head, `{"schedule":"global/gx=32","samples":[-1]}`), ": -1 s is not a time"},
		{"time beyond range", zipped(head, `{"schedule":"global/gx=32","samples":[1e999]}`), "record 1"},
		{"time of nothing", zipped(head, `{"schedule":"global/gx=32","samples":[1e-310]}`), "is not a time"},
		{"time of the device", zipped(head, `{"schedule":"global/gx=32","device_seconds":1e300}`), "is not a time"},
		{"time before it began", zipped(head, `{"schedule":"global/gx=32","compile_seconds":-1}`), "is not a time"},
		{"two values", zipped(head, `{"schedule":"global/gx=32/gx=64"}`), "two values of gx"},
		{"endless line", zipped(head, `{"schedule":"`+strings.Repeat("a", maxLine)), "token too long"},
		{"cut in the middle", good[:len(good)/2], ""},
		{"cut at the end", good[:len(good)-4], ""},
		{"flipped bit", flipped, ""},
		{"checksum", checksum, ""},
		{"trailing text", append(bytes.Clone(good), "more"...), ""},
	} {
		l, err := Read(bytes.NewReader(c.data))
		if err == nil || l != nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: %v, want an error with %q", c.name, err, c.want)
		}
	}
}

// A file that unpacks to a thousand times its size costs no more memory than its size makes
// one expect.
func TestBombsAreRefused(t *testing.T) {
	const head = `{"format":"stenciltune.landscape/v1"}` + "\n"
	for name, line := range map[string]string{
		"one line": strings.Repeat(" ", maxLine/2),
		"blanks":   strings.Repeat(" ", 1000) + "\n",
		"records":  `{"schedule":"f/a=%d","status":"compile_error","reason":"` + strings.Repeat("x", 1000) + "\"}\n",
	} {
		t.Run(name, func(t *testing.T) {
			var b bytes.Buffer
			z := gzip.NewWriter(&b)
			io.WriteString(z, head)
			for i := range (256 << 20) / len(line) {
				text := line
				if name == "records" {
					text = fmt.Sprintf(line, i)
				}
				io.WriteString(z, text)
			}
			if err := z.Close(); err != nil {
				t.Fatal(err)
			}
			var before, after runtime.MemStats
			runtime.ReadMemStats(&before)
			_, err := Read(bytes.NewReader(b.Bytes()))
			runtime.ReadMemStats(&after)
			if n := after.TotalAlloc - before.TotalAlloc; !errors.Is(err, ErrFormat) || n > 100*uint64(b.Len())+32<<20 {
				t.Errorf("%d KiB took %d MiB: %v", b.Len()>>10, n>>20, err)
			}
		})
	}
}

// What a recording holds is listed at once, however large the product of its values is.
func TestASpaceOfManyValuesIsListedAtOnce(t *testing.T) {
	l := &Landscape{Records: map[space.Schedule]outcome.Outcome{}}
	for i := range 3000 {
		text := "kernel"
		for k := range 12 {
			text += fmt.Sprintf("/p%d=%d", k, (i*(k+7))%3001)
		}
		if err := l.Add(outcome.Outcome{Schedule: spacetest.Schedule(t, text), Status: timing.OK}.Sampled([]float64{1e-3}, 1)); err != nil {
			t.Fatal(err)
		}
	}
	begin := time.Now()
	sp := l.Space()
	if sp.Size() != 3000 || sp.Raw() != math.MaxInt {
		t.Errorf("%d of %d", sp.Size(), sp.Raw())
	}
	if took := time.Since(begin); took > 20*time.Second {
		t.Errorf("took %v", took)
	}
}

func TestEveryTruncationIsNoticed(t *testing.T) {
	good := write(t, header(problem(t)), records(t))
	for n := range good {
		if _, err := Read(bytes.NewReader(good[:n])); err == nil {
			t.Errorf("the first %d of %d bytes are read as a landscape", n, len(good))
		}
	}
}

func TestBestIsTheLowestMedianAmongTheRight(t *testing.T) {
	l, err := Read(bytes.NewReader(write(t, header(problem(t)), records(t))))
	if err != nil {
		t.Fatal(err)
	}
	if r, m := l.Best(); r.Schedule != spacetest.Schedule(t, "tile/gx=32/ph=2") || m != 1e-3 {
		t.Errorf("%s with %g s", r.Schedule, m)
	}
	if r, m := (&Landscape{}).Best(); !r.Schedule.IsZero() || m != 0 {
		t.Errorf("of nothing: %s with %g s", r.Schedule, m)
	}
}

func TestShippedRecordingsAreWholeAndOfTheCatalogue(t *testing.T) {
	if len(Names()) == 0 {
		t.Fatal("no recording is shipped")
	}
	for _, file := range Names() {
		f, err := shipped.Open("landscapes/" + file)
		if err != nil {
			t.Fatal(err)
		}
		l, err := Read(f)
		if err != nil {
			t.Fatalf("%s: %v", file, err)
		}
		h := l.Header
		st, err := stencil.Lookup(h.Stencil)
		if err != nil {
			t.Fatalf("%s: %v", file, err)
		}
		p := stencil.Problem{Stencil: st, DType: h.DType, Size: h.Size, Steps: h.Steps}
		if want := h.Machine.Slug() + suffix(p); file != want {
			t.Errorf("%s should be called %s", file, want)
		}
		if h.StencilHash != st.Hash {
			t.Errorf("%s: %s has changed since", file, h.Stencil)
		}
		if h.Machine.Kind != machine.CUDA || h.Tool == "" || h.Command == "" || h.Time == "" || h.Machine.Driver == "" || h.Machine.Compiler == "" {
			t.Errorf("%s does not say where it comes from: %+v", file, h)
		}
		least := min(550, h.Space) // of a random part of a space
		if strings.Contains(h.Command, "--exhaustive") {
			least = h.Space * 9 / 10
		}
		if len(l.Order) < least || len(l.Order) > h.Space {
			t.Errorf("%s: %d of %d schedules", file, len(l.Order), h.Space)
		}
		for _, s := range l.Order {
			fewest := 2
			if l.Records[s].Status == timing.CutSlow { // by a sample as slow as the launch before it
				fewest = 1
			}
			if r := l.Records[s]; r.Status.Timed() && (len(r.Series.Samples) < fewest || r.Series.Launches < 1) {
				t.Errorf("%s: %s is %s with %d samples of %d launches", file, s, r.Status, len(r.Series.Samples), r.Series.Launches)
			}
		}
		if r, m := l.Best(); m <= 0 || m > 1 {
			t.Errorf("%s: best is %s with %g s", file, r.Schedule, m)
		}
		name := h.Machine.Slug()
		if found, err := Find(name, p); err != nil || !reflect.DeepEqual(found.Header, h) {
			t.Errorf("%s is not found by %q: %v", file, name, err)
		}
	}
}

func TestFindListsTheRecordingsThereAre(t *testing.T) {
	shippedProblem := stencil.Problem{Stencil: stenciltest.Lookup(t, "jacobi3d"), DType: stencil.Float32, Size: stencil.Size{512, 512, 512}, Steps: 10}
	for _, c := range []struct {
		name string
		p    stencil.Problem
	}{
		{"h200", problem(t)},         // another size
		{"a100", shippedProblem},     // another device
		{"", shippedProblem},         // no device at all
		{"jacobi3d", shippedProblem}, // a stencil is no device
		{"f32", shippedProblem},
		{"512x512x512", shippedProblem},
		{"h200", shippedProblem.Resized(stencil.Size{511, 512, 512})},
	} {
		l, err := Find(c.name, c.p)
		if l != nil || !errors.Is(err, device.ErrMissing) {
			t.Errorf("%q, %s: found %v, error %v", c.name, c.p.Text(), l != nil, err)
			continue
		}
		for _, n := range Names() {
			if !strings.Contains(err.Error(), strings.TrimSuffix(n, ".jsonl.gz")) {
				t.Errorf("%q: %v does not name %s", c.name, err, n)
			}
		}
		if !strings.Contains(err.Error(), c.p.Text()) {
			t.Errorf("%q: %v does not name the problem", c.name, err)
		}
	}
	if _, err := Find("h200", shippedProblem); err != nil {
		t.Error(err)
	}
}

func TestFilesAreFoundByPathAndMustFitTheProblem(t *testing.T) {
	p := problem(t)
	dir := t.TempDir()
	file := filepath.Join(dir, "mine.jsonl.gz")
	if err := os.WriteFile(file, write(t, header(p), records(t)), 0o644); err != nil {
		t.Fatal(err)
	}
	if l, err := Find(file, p); err != nil || len(l.Order) != len(records(t)) {
		t.Errorf("%v", err)
	}
	other := p
	other.Stencil = stenciltest.Parse(t, "jacobi2d", "NumDimensions 2 StencilSize (0, 0) CellValue { return get(0, 0); }")
	double := p
	double.DType = stencil.Float64
	for want, q := range map[string]stencil.Problem{
		"another stencil (jacobi2d)":                 other,
		"float32 64x32, not of jacobi2d/f64/64x32":   double,
		"float32 64x32, not of jacobi2d/f32/128x128": p.Resized(stencil.Size{128, 128, 1}),
	} {
		if _, err := Find(file, q); !errors.Is(err, device.ErrMissing) || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v", want, err)
		}
	}
	missing := filepath.Join(dir, "nosuch.gz")
	if _, err := Find(missing, p); !errors.Is(err, device.ErrMissing) || !errors.Is(err, os.ErrNotExist) || !strings.Contains(err.Error(), missing) {
		t.Errorf("missing file: %v", err)
	}
	if err := os.WriteFile(file, []byte("text"), 0o644); err != nil {
		t.Fatal(err)
	}
	if _, err := Find(file, p); err == nil || !strings.Contains(err.Error(), file) {
		t.Errorf("no landscape: %v", err)
	}
}

// Whatever is in a file, reading it ends with a landscape that can be searched, or an error.
func FuzzRead(f *testing.F) {
	const head = `{"format":"stenciltune.landscape/v1","stencil":"x","compilers":4}`
	for _, text := range []string{
		head, head + "\n" + `{"schedule":"global/gx=32","status":"ok","samples":[1e-3,2e-3]}`, head + "\n" + `{"schedule":"f","status":"ok","samples":[1]}`,
		head + "\n" + `{"schedule":"f/a=1","status":"timeout"}` + "\n" + `{"schedule":"f/b=1","status":"ok","samples":[1e-310]}`, "{}", "",
	} {
		f.Add(text)
	}
	f.Fuzz(func(t *testing.T, text string) {
		l, err := Read(bytes.NewReader(zipped(text)))
		if err != nil {
			if !errors.Is(err, ErrFormat) {
				t.Error(err)
			}
			return
		}
		if n := l.Space().Size(); n > len(l.Order) {
			t.Errorf("%d schedules of %d", n, len(l.Order))
		}
		New(l)
		l.Best()
	})
}

// TestAPipeIsNoRecording: nobody may ever write into it.
func TestAPipeIsNoRecording(t *testing.T) {
	pipe := filepath.Join(t.TempDir(), "pipe.gz")
	if err := syscall.Mkfifo(pipe, 0o600); err != nil {
		t.Skip(err)
	}
	refused := make(chan error)
	for _, open := range []func() error{
		func() error { _, err := MachineOf(pipe); return err },
		func() error { _, err := Match(pipe); return err },
		func() error { _, err := Find(pipe, problem(t)); return err },
	} {
		go func() { refused <- open() }()
		select {
		case err := <-refused:
			if !errors.Is(err, ErrFormat) {
				t.Error(err)
			}
		case <-time.After(10 * time.Second):
			t.Fatal("it is waited for")
		}
	}
}
