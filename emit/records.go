package emit

import (
	"bytes"
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"stenciltune/cache"
	"stenciltune/space"
)

// encode is JSON without HTML's escapes; one line.
func encode(v any) ([]byte, error) {
	var b bytes.Buffer
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	err := e.Encode(v)
	return b.Bytes(), err
}

// wisdom is the file Kernel Launcher selects from when a kernel is first launched: a
// header and one record a line (its src/wisdom.cpp, version 1.0). Its parameters are
// the schedule's; so all configs must be of one family with the same parameters.
func wisdom(s Source) ([]byte, error) {
	type header struct {
		Version    string   `json:"version"`
		Key        string   `json:"key"`
		Objective  string   `json:"objective"`
		Parameters []string `json:"tunable_parameters"`
	}
	type record struct {
		Config      []int             `json:"config"`
		ProblemSize []int             `json:"problem_size"`
		Time        float64           `json:"time"`
		Environment map[string]string `json:"environment"`
	}
	var out []byte
	var names []string
	for i, c := range s.Configs {
		sc, err := space.ParseSchedule(c.Schedule.Text)
		if err != nil {
			return nil, err
		}
		var own []string
		var values []int
		for _, f := range sc.Fields() {
			own, values = append(own, f.Name), append(values, f.Value)
		}
		if i == 0 {
			names = own
			line, err := encode(header{"1.0", s.Name + "_" + c.Schedule.Family, "time", names})
			if err != nil {
				return nil, err
			}
			out = append(out, line...)
		} else if !slices.Equal(names, own) || c.Schedule.Family != s.Configs[0].Schedule.Family {
			return nil, fmt.Errorf("wisdom holds schedules of one family with the same parameters, not %s and %s: emit one device at a time", s.Configs[0].Schedule.Text, c.Schedule.Text)
		}
		line, err := encode(record{values, c.Problem.Size, secondsOf(c), map[string]string{
			"device_name": plain(c.Device.Name), "driver_version": plain(c.Device.Driver), "compute_capability": c.Device.ComputeCapability,
		}})
		if err != nil {
			return nil, err
		}
		out = append(out, line...)
	}
	return out, nil
}

// t4Measurement is a number of a T4 result.
type t4Measurement struct {
	Name  string  `json:"name"`
	Value float64 `json:"value"`
	Unit  string  `json:"unit"`
}

// t4Result is one schedule in Kernel Tuner's T4 results 1.0.0 (its
// schema/T4/1.0.0/results-schema.json). Seconds.
type t4Result struct {
	Timestamp     string          `json:"timestamp"`
	Configuration map[string]any  `json:"configuration"`
	Objectives    []string        `json:"objectives"`
	Times         t4Times         `json:"times"`
	Invalidity    string          `json:"invalidity"`
	Correctness   float64         `json:"correctness"`
	Measurements  []t4Measurement `json:"measurements"`
}

// t4Times has of the schema's times, none of which it requires, the one that a config knows of each
// schedule.
type t4Times struct {
	Runtimes []float64 `json:"runtimes"`
}

// t4 holds the winner of each config, its ties and its baseline: every schedule that
// was timed in the finals. Each was proved right, so all are correct.
func t4(s Source) ([]byte, error) {
	results := []t4Result{}
	add := func(c cache.Config, text string, seconds float64) error {
		sc, err := space.ParseSchedule(text)
		if err != nil {
			return err
		}
		configuration := map[string]any{"family": sc.Family(), "size": sizeText(c), "device": plain(c.Device.Name)}
		for _, f := range sc.Fields() {
			configuration[f.Name] = f.Value
		}
		results = append(results, t4Result{
			Timestamp: c.Time.UTC().Format("2006-01-02T15:04:05Z"), Configuration: configuration, Objectives: []string{"time"},
			Times: t4Times{Runtimes: []float64{seconds}}, Invalidity: "correct", Correctness: 1,
			Measurements: []t4Measurement{{"time", seconds, "s"}},
		})
		return nil
	}
	for _, c := range s.Configs {
		err := add(c, c.Schedule.Text, secondsOf(c))
		for _, t := range c.Ties {
			if err == nil {
				err = add(c, t.Schedule, t.SecondsPerStep)
			}
		}
		if b := c.Baseline; b != nil && err == nil {
			err = add(c, b.Schedule, b.SecondsPerStep)
		}
		if err != nil {
			return nil, err
		}
	}
	line, err := encode(struct {
		Version string     `json:"schema_version"`
		Results []t4Result `json:"results"`
	}{"1.0.0", results})
	if err != nil {
		return nil, err
	}
	var b bytes.Buffer
	if err := json.Indent(&b, []byte(strings.TrimSpace(string(line))), "", "  "); err != nil {
		return nil, err
	}
	b.WriteByte('\n')
	return b.Bytes(), nil
}
