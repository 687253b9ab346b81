package exchange

import (
	"encoding/json"
	"fmt"
	"io"
	"maps"
	"slices"
	"strings"

	"stenciltune/device/replay"
	"stenciltune/outcome"
	"stenciltune/space"
	"stenciltune/timing"
)

// ktVersion is the cache schema that is written (kernel_tuner/schema/cache/1.1.0);
// older files, which lack the version or single fields, are read too.
const ktVersion = "1.1.0"

// ktFile is a Kernel Tuner cache file.
type ktFile struct {
	Version     string                     `json:"schema_version"`
	Device      string                     `json:"device_name"`
	Kernel      string                     `json:"kernel_name"`
	ProblemSize json.RawMessage            `json:"problem_size"`
	Keys        []string                   `json:"tune_params_keys"`
	Params      map[string][]any           `json:"tune_params"`
	Objective   string                     `json:"objective"`
	Cache       map[string]json.RawMessage `json:"cache"`
	Header      *replay.Header             `json:"stenciltune,omitempty"`
}

// ktLine is what a cache line holds beside the parameters. Times are milliseconds.
type ktLine struct {
	Time             json.RawMessage `json:"time"`
	Times            []float64       `json:"times,omitempty"`
	CompileTime      float64         `json:"compile_time"`
	VerificationTime float64         `json:"verification_time"`
	BenchmarkTime    float64         `json:"benchmark_time"`
	StrategyTime     float64         `json:"strategy_time"`
	FrameworkTime    float64         `json:"framework_time"`
	Timestamp        string          `json:"timestamp"`
	extra
	Order int `json:"recorded,omitempty"` // place in the recording, from 1
}

// Kernel Tuner's names of failures (kernel_tuner/util.py, ErrorConfig).
const (
	ktInvalid = "InvalidConfig"
	ktCompile = "CompilationFailedConfig"
	ktRuntime = "RuntimeFailedConfig"
)

func ktFailure(s timing.Status) string {
	switch s {
	case timing.Rejected:
		return ktInvalid
	case timing.CompileError, timing.CompileTimeout:
		return ktCompile
	}
	return ktRuntime
}

// WriteKernelTuner writes a landscape as a cache file. What was skipped is left out.
func WriteKernelTuner(w io.Writer, l *replay.Landscape) error {
	params, err := keys(l)
	if err != nil {
		return err
	}
	h := l.Header
	size, err := json.Marshal(h.Size)
	if err != nil {
		return err
	}
	f := ktFile{Version: ktVersion, Device: h.Machine.Name, Kernel: h.Stencil, ProblemSize: size, Keys: append([]string{familyKey}, params...),
		Params: map[string][]any{}, Objective: "time", Cache: map[string]json.RawMessage{}, Header: &h}
	for i, s := range l.Order {
		r := l.Records[s]
		if r.Status == timing.Skipped {
			continue
		}
		line := ktLine{Times: all(r.Series.Samples, millis), CompileTime: millis(r.CompileSeconds), BenchmarkTime: millis(r.DeviceSeconds), Timestamp: h.Time, extra: extraOf(r), Order: i + 1}
		if r.Status.Timed() {
			line.Time, err = json.Marshal(millis(timing.Summarise(r.Series.Samples).Median))
		} else {
			line.Time, err = json.Marshal(ktFailure(r.Status))
		}
		if err != nil {
			return err
		}
		fields, err := json.Marshal(line)
		if err != nil {
			return err
		}
		entry := map[string]any{}
		if err := json.Unmarshal(fields, &entry); err != nil {
			return err
		}
		c := configuration(s, params)
		maps.Copy(entry, c)
		var key []string
		for _, k := range f.Keys {
			key = append(key, fmt.Sprint(c[k]))
			if !slices.Contains(f.Params[k], c[k]) {
				f.Params[k] = append(f.Params[k], c[k])
			}
		}
		if f.Cache[strings.Join(key, ",")], err = json.Marshal(entry); err != nil {
			return err
		}
	}
	return encode(w, f)
}

func encode(w io.Writer, v any) error {
	e := json.NewEncoder(w)
	e.SetIndent("", " ")
	return e.Encode(v)
}

// ReadKernelTuner reads a cache file. One that a run left open, without its closing
// braces, is read as far as it goes.
func ReadKernelTuner(r io.Reader) (*replay.Landscape, error) {
	text, err := io.ReadAll(io.LimitReader(r, maxFile))
	if err != nil {
		return nil, err
	}
	var f ktFile
	if err := json.Unmarshal(text, &f); err != nil {
		closed := strings.TrimRight(string(text), ", \t\r\n") + "}}"
		f = ktFile{}
		if json.Unmarshal([]byte(closed), &f) != nil {
			return nil, fmt.Errorf("not a Kernel Tuner cache file: %w", err)
		}
	}
	if len(f.Cache) == 0 || len(f.Keys) == 0 {
		return nil, fmt.Errorf("not a Kernel Tuner cache file: it has no cache or no tune_params_keys")
	}
	l := &replay.Landscape{Records: map[space.Schedule]outcome.Outcome{}}
	if f.Header != nil {
		l.Header = *f.Header
	} else {
		var size []int
		if json.Unmarshal(f.ProblemSize, &size) != nil || len(size) > 3 {
			size = nil // a number or a text: of no use here
		}
		l.Header = foreign("Kernel Tuner", f.Kernel, f.Device, size)
	}
	d := decoder{kernel: f.Kernel, params: map[string][]string{}}
	for k, values := range f.Params {
		for _, v := range values {
			text, err := json.Marshal(v)
			if err != nil {
				return nil, err
			}
			d.params[k] = append(d.params[k], string(text))
		}
	}
	type ordered struct {
		order int
		r     outcome.Outcome
	}
	var records []ordered
	for _, key := range slices.Sorted(maps.Keys(f.Cache)) {
		var c map[string]json.RawMessage
		var line ktLine
		if err := json.Unmarshal(f.Cache[key], &c); err != nil {
			return nil, fmt.Errorf("cache line %q: %w", key, err)
		}
		if err := json.Unmarshal(f.Cache[key], &line); err != nil {
			return nil, fmt.Errorf("cache line %q: %w", key, err)
		}
		s, err := d.schedule(c, f.Keys)
		if err != nil {
			return nil, fmt.Errorf("cache line %q: %w", key, err)
		}
		rec := outcome.Outcome{Schedule: s, CompileSeconds: seconds(line.CompileTime), Series: timing.Series{Samples: all(line.Times, seconds)},
			DeviceSeconds: seconds(line.BenchmarkTime + line.VerificationTime)}
		var ms float64
		var failure string
		status := timing.OK
		switch {
		case json.Unmarshal(line.Time, &ms) == nil:
			if len(rec.Series.Samples) == 0 {
				rec.Series.Samples = []float64{seconds(ms)}
			}
		case json.Unmarshal(line.Time, &failure) != nil:
			return nil, fmt.Errorf("cache line %q has no time", key)
		case failure == ktInvalid:
			status = timing.Rejected
		case failure == ktCompile:
			status = timing.CompileError
		default:
			status = timing.LaunchError
		}
		if !status.Timed() {
			rec.Series.Samples = nil
		}
		line.fill(&rec, status)
		records = append(records, ordered{line.Order, rec})
	}
	slices.SortStableFunc(records, func(a, b ordered) int { return a.order - b.order })
	for _, o := range records {
		if err := add(l, o.r); err != nil {
			return nil, err
		}
	}
	l.Header.Space = max(l.Header.Space, len(l.Order))
	return l, nil
}
