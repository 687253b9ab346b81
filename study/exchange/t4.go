package exchange

import (
	"encoding/json"
	"fmt"
	"io"
	"maps"
	"slices"

	"stenciltune/device/replay"
	"stenciltune/outcome"
	"stenciltune/space"
	"stenciltune/timing"
)

// t4Version is the results schema that is read and written (Kernel Tuner's
// schema/T4/1.0.0; github.com/odgaard/TuningSchema).
const t4Version = "1.0.0"

type t4File struct {
	Version string         `json:"schema_version"`
	Results []t4Result     `json:"results"`
	Header  *replay.Header `json:"stenciltune,omitempty"`
	Keys    []string       `json:"stenciltune_keys,omitempty"` // the parameters' order, which JSON objects lack
}

type t4Result struct {
	Timestamp     string                     `json:"timestamp"`
	Configuration map[string]json.RawMessage `json:"configuration"`
	Objectives    []string                   `json:"objectives"`
	Times         t4Times                    `json:"times"`
	Invalidity    string                     `json:"invalidity"`
	Correctness   float64                    `json:"correctness"`
	Measurements  []t4Measurement            `json:"measurements"`
	Extra         *extra                     `json:"stenciltune,omitempty"`
}

// t4Times are milliseconds. The schema says compilation_time, Kernel Tuner writes
// compilation: both are read and written.
type t4Times struct {
	CompilationTime float64   `json:"compilation_time"`
	Compilation     float64   `json:"compilation"`
	Benchmark       float64   `json:"benchmark"`
	Runtimes        []float64 `json:"runtimes"`
	Framework       float64   `json:"framework"`
	SearchAlgorithm float64   `json:"search_algorithm"`
	Validation      float64   `json:"validation"`
}

type t4Measurement struct {
	Name  string `json:"name"`
	Value any    `json:"value"`
	Unit  string `json:"unit"`
}

// The six values of invalidity.
const (
	t4Timeout     = "timeout"
	t4Compile     = "compile"
	t4Runtime     = "runtime"
	t4Correctness = "correctness"
	t4Constraints = "constraints"
	t4Correct     = "correct"
)

// invalidity is a status in T4's words.
func invalidity(s timing.Status) string {
	switch s {
	case timing.OK, timing.CutSlow:
		return t4Correct
	case timing.Rejected:
		return t4Constraints
	case timing.CompileError:
		return t4Compile
	case timing.CompileTimeout, timing.Timeout:
		return t4Timeout
	case timing.WrongAnswer:
		return t4Correctness
	}
	return t4Runtime
}

var t4Statuses = map[string]timing.Status{
	t4Timeout: timing.Timeout, t4Compile: timing.CompileError, t4Runtime: timing.LaunchError,
	t4Correctness: timing.WrongAnswer, t4Constraints: timing.Rejected, t4Correct: timing.OK,
}

// WriteT4 writes a landscape as T4 results. What was skipped is left out.
func WriteT4(w io.Writer, l *replay.Landscape) error {
	params, err := keys(l)
	if err != nil {
		return err
	}
	h := l.Header
	f := t4File{Version: t4Version, Header: &h, Keys: append([]string{familyKey}, params...)}
	for _, s := range l.Order {
		r := l.Records[s]
		if r.Status == timing.Skipped {
			continue
		}
		e := extraOf(r)
		compile := millis(r.CompileSeconds)
		out := t4Result{Timestamp: h.Time, Configuration: map[string]json.RawMessage{}, Objectives: []string{"time"}, Invalidity: invalidity(r.Status), Extra: &e,
			Times: t4Times{CompilationTime: compile, Compilation: compile, Benchmark: millis(r.DeviceSeconds), Runtimes: all(r.Series.Samples, millis)}, Measurements: []t4Measurement{}}
		for k, v := range configuration(s, params) {
			if out.Configuration[k], err = json.Marshal(v); err != nil {
				return err
			}
		}
		if r.Status.Timed() {
			out.Correctness = 1
			out.Measurements = append(out.Measurements, t4Measurement{"time", millis(timing.Summarise(r.Series.Samples).Median), "ms"})
		}
		f.Results = append(f.Results, out)
	}
	return encode(w, f)
}

// ReadT4 reads T4 results. Without a header of ours the parameters' order is the
// alphabet's.
func ReadT4(r io.Reader) (*replay.Landscape, error) {
	var f t4File
	if err := json.NewDecoder(io.LimitReader(r, maxFile)).Decode(&f); err != nil {
		return nil, fmt.Errorf("not T4 results: %w", err)
	}
	if len(f.Results) == 0 {
		return nil, fmt.Errorf("not T4 results: there are none")
	}
	l := &replay.Landscape{Records: map[space.Schedule]outcome.Outcome{}, Header: foreign("T4", "kernel", "", nil)}
	if f.Header != nil {
		l.Header = *f.Header
	}
	d := decoder{kernel: l.Header.Stencil, params: map[string][]string{}}
	order := f.Keys
	if order == nil {
		order = slices.Sorted(maps.Keys(f.Results[0].Configuration))
	}
	for i, result := range f.Results {
		status, known := t4Statuses[result.Invalidity]
		if !known {
			return nil, fmt.Errorf("result %d: invalidity %q is none of the schema's", i+1, result.Invalidity)
		}
		s, err := d.schedule(result.Configuration, order)
		if err != nil {
			return nil, fmt.Errorf("result %d: %w", i+1, err)
		}
		rec := outcome.Outcome{Schedule: s, CompileSeconds: seconds(max(result.Times.CompilationTime, result.Times.Compilation)),
			DeviceSeconds: seconds(result.Times.Benchmark + result.Times.Validation)}
		if status.Timed() {
			rec.Series.Samples = all(result.Times.Runtimes, seconds)
			for _, m := range result.Measurements {
				if v, ok := m.Value.(float64); ok && m.Name == "time" && len(rec.Series.Samples) == 0 {
					rec.Series.Samples = []float64{seconds(v)}
				}
			}
		}
		var e extra
		if result.Extra != nil {
			e = *result.Extra
		}
		e.fill(&rec, status)
		if err := add(l, rec); err != nil {
			return nil, fmt.Errorf("result %d: %w", i+1, err)
		}
	}
	l.Header.Space = max(l.Header.Space, len(l.Order))
	return l, nil
}
