// Package exchange reads and writes landscapes as other tuners do: Kernel Tuner's
// cache files and the T4 results of the auto-tuning community, so that their
// strategies can be run on our landscapes and ours on theirs.
//
// Those formats know one flat list of parameters. A landscape of several families
// gets the parameter "family" and the union of all parameters; a parameter that a
// schedule lacks is -1. Times there are milliseconds, of one time step where the
// landscape is ours. What the formats have no place for travels in fields of its
// own, which their schemas allow, so that a landscape of ours comes back whole.
package exchange

import (
	"encoding/json"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"stenciltune/device/replay"
	"stenciltune/outcome"
	"stenciltune/space"
	"stenciltune/stencil"
	"stenciltune/timing"
)

// familyKey is the parameter that names the family, and absent the value of a
// parameter that a schedule lacks.
const (
	familyKey = "family"
	absent    = -1
)

// keys is the union of the parameters of all schedules, in an order that contains
// the order of each: of those that may come next, the one that was met first.
func keys(l *replay.Landscape) ([]string, error) {
	var met []string
	after := map[string]map[string]bool{} // parameter to those that must come before it
	seen := map[string]bool{}
	for _, s := range l.Order {
		var names []string
		for _, f := range s.Fields() {
			names = append(names, f.Name)
		}
		id := strings.Join(names, " ")
		if seen[id] {
			continue
		}
		seen[id] = true
		for i, n := range names {
			if after[n] == nil {
				after[n] = map[string]bool{}
				met = append(met, n)
			}
			if i > 0 {
				after[n][names[i-1]] = true
			}
		}
	}
	var all []string
	for len(met) > 0 {
		i := slices.IndexFunc(met, func(n string) bool { return len(after[n]) == 0 })
		if i < 0 {
			return nil, fmt.Errorf("the families order their parameters differently: %s", strings.Join(met, " "))
		}
		all = append(all, met[i])
		for _, before := range after {
			delete(before, met[i])
		}
		met = slices.Delete(met, i, i+1)
	}
	return all, nil
}

// configuration is a schedule's parameters by name.
func configuration(s space.Schedule, keys []string) map[string]any {
	c := map[string]any{familyKey: s.Family()}
	for _, k := range keys {
		c[k] = s.Int(k, absent)
	}
	return c
}

// decoder turns configurations into schedules.
type decoder struct {
	kernel string
	params map[string][]string // values of each parameter, as JSON text, in order of appearance
}

// schedule reads a configuration with these parameters in order. A family's
// parameters keep their values; so do whole numbers from 0; any other value is
// known by its place among the parameter's values.
func (d *decoder) schedule(c map[string]json.RawMessage, keys []string) (space.Schedule, error) {
	family := word(d.kernel)
	var b strings.Builder
	for _, k := range keys {
		raw, ok := c[k]
		if !ok {
			return space.Schedule{}, fmt.Errorf("a configuration lacks the parameter %q", k)
		}
		text := string(raw)
		if k == familyKey {
			if json.Unmarshal(raw, &family) == nil {
				continue
			}
		}
		if text == strconv.Itoa(absent) {
			if _, ours := c[familyKey]; ours {
				continue
			}
		}
		n, err := strconv.Atoi(text)
		if err != nil || n < 0 || n > 999999999 {
			if n = slices.Index(d.params[k], text); n < 0 {
				n = len(d.params[k])
				d.params[k] = append(d.params[k], text)
			}
		}
		fmt.Fprintf(&b, "/%s=%d", word(k), n)
	}
	return space.ParseSchedule(family + b.String())
}

// word makes a name fit for a schedule's text.
func word(name string) string {
	name = strings.Map(func(r rune) rune {
		switch {
		case r >= 'a' && r <= 'z', r >= '0' && r <= '9':
			return r
		case r >= 'A' && r <= 'Z':
			return r + 'a' - 'A'
		}
		return -1
	}, name)
	if name == "" || name[0] < 'a' {
		name = "p" + name
	}
	return name
}

// millis is seconds in milliseconds, and seconds back: both to nine digits, so that
// a recorded time comes back as it was.
func millis(s float64) float64  { return timing.Digits(s*1e3, 9) }
func seconds(m float64) float64 { return timing.Digits(m/1e3, 9) }

func all(v []float64, f func(float64) float64) []float64 {
	out := make([]float64, len(v))
	for i, x := range v {
		out[i] = f(x)
	}
	return out
}

// extra is what a record has beyond the formats.
type extra struct {
	Status      timing.Status `json:"status,omitempty"`
	Reason      string        `json:"reason,omitempty"`
	SourceHash  string        `json:"source_hash,omitempty"`
	Registers   int           `json:"registers,omitempty"`
	SpillBytes  int           `json:"spill_bytes,omitempty"`
	BlocksPerSM int           `json:"blocks_per_sm,omitempty"`
	MaxError    outcome.Float `json:"max_error,omitempty"`
	Launches    int           `json:"launches,omitempty"`
}

func extraOf(r outcome.Outcome) extra {
	return extra{r.Status, r.Reason, r.SourceHash, r.Registers, r.SpillBytes, r.BlocksPerSM, r.MaxError, r.Series.Launches}
}

// fill puts what is known of a record's extras into it; fallback is the status
// that the format itself tells.
func (e extra) fill(r *outcome.Outcome, fallback timing.Status) {
	r.Status, r.Reason, r.SourceHash, r.Registers, r.SpillBytes = e.Status, e.Reason, e.SourceHash, e.Registers, e.SpillBytes
	r.BlocksPerSM, r.MaxError, r.Series.Launches = e.BlocksPerSM, e.MaxError, e.Launches
	if r.Status == "" {
		r.Status = fallback
	}
	if r.Series.Launches == 0 && r.Status.Timed() {
		r.Series.Launches = 1
	}
}

// add appends a record, refusing what is no landscape.
func add(l *replay.Landscape, r outcome.Outcome) error {
	if r.Status.Timed() && len(r.Series.Samples) == 0 {
		return fmt.Errorf("%s has no time", r.Schedule)
	}
	return l.Add(r.Sampled(r.Series.Samples, r.Series.Launches))
}

// maxFile bounds another tuner's file, in bytes: the largest of the benchmark hub have 100 MB.
const maxFile = 256 << 20

// foreign is the header of a landscape of another tuner.
func foreign(tool, kernel, device string, size []int) replay.Header {
	h := replay.Header{Format: replay.Format, Stencil: kernel, Tool: tool, Regime: timing.Warm, Size: stencil.Size{1, 1, 1}}
	copy(h.Size[:], size)
	h.Machine.Name = device
	return h
}
