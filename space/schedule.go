// Package space says WHICH schedules exist: parameters, their values, the
// constraints among them with reasons, lazy enumeration and index encoding.
//
// It knows nothing of stencils, kernels or devices: a family describes itself as
// a Family value here.
package space

import (
	"fmt"
	"regexp"
	"slices"
	"strconv"
	"strings"
)

// Schedule is one value for every parameter of one family. It is comparable, and
// its canonical text is at once cache key, test name and benchmark name:
// "tile/gx=32/gy=8/gz=1/wx=1/wy=2/wz=2/cw=256/zz=0/ph=2". The zero Schedule is none.
type Schedule struct{ text string }

var scheduleText = regexp.MustCompile(`^[a-z][a-z0-9]*(/[a-z][a-z0-9]*=(0|[1-9][0-9]{0,8}))*$`)

// ParseSchedule reads a canonical text. Whether such a schedule exists is for
// Space.Check to say.
func ParseSchedule(text string) (Schedule, error) {
	if !scheduleText.MatchString(text) || len(text) > 400 {
		return Schedule{}, fmt.Errorf("schedule %.80q: write it as family/name=value/..., like tile/gx=32/gy=8", text)
	}
	s := Schedule{text}
	fields := s.Fields()
	for i, f := range fields {
		if slices.ContainsFunc(fields[:i], func(g Field) bool { return g.Name == f.Name }) {
			return Schedule{}, fmt.Errorf("schedule %.80q: it has two values of %s", text, f.Name)
		}
	}
	return s, nil
}

// Make builds a schedule from a family and its parameters in canonical order.
// Optional parameters at their default do not stand in the text.
func Make(family string, params []Param, values []int) Schedule {
	var b strings.Builder
	b.WriteString(family)
	for i, p := range params {
		if p.Optional && len(p.Values) > 0 && values[i] == p.Values[0] {
			continue
		}
		b.WriteByte('/')
		b.WriteString(p.Name)
		b.WriteByte('=')
		b.WriteString(strconv.Itoa(values[i]))
	}
	return Schedule{b.String()}
}

// String is the canonical text.
func (s Schedule) String() string { return s.text }

// IsZero tells whether there is no schedule.
func (s Schedule) IsZero() bool { return s.text == "" }

// Family is the name of the family.
func (s Schedule) Family() string {
	family, _, _ := strings.Cut(s.text, "/")
	return family
}

// Get is the value of a parameter, and whether the schedule has it.
func (s Schedule) Get(name string) (int, bool) {
	for rest := s.text; ; {
		i := strings.IndexByte(rest, '/')
		if i < 0 {
			return 0, false
		}
		rest = rest[i+1:]
		if len(rest) > len(name) && rest[len(name)] == '=' && rest[:len(name)] == name {
			v := rest[len(name)+1:]
			if j := strings.IndexByte(v, '/'); j >= 0 {
				v = v[:j]
			}
			n, err := strconv.Atoi(v)
			return n, err == nil
		}
	}
}

// Int is the value of a parameter, or otherwise if the schedule lacks it.
func (s Schedule) Int(name string, otherwise int) int {
	if v, ok := s.Get(name); ok {
		return v
	}
	return otherwise
}

// With is the schedule with one parameter set to another value.
func (s Schedule) With(name string, value int) Schedule {
	parts := strings.Split(s.text, "/")
	for i, p := range parts[1:] {
		if strings.HasPrefix(p, name+"=") {
			parts[i+1] = name + "=" + strconv.Itoa(value)
		}
	}
	return Schedule{strings.Join(parts, "/")}
}

// Without is the schedule without a parameter that may be left out.
func (s Schedule) Without(name string) Schedule {
	parts := strings.Split(s.text, "/")
	kept := slices.DeleteFunc(parts[1:], func(p string) bool { return strings.HasPrefix(p, name+"=") })
	return Schedule{strings.Join(parts[:1+len(kept)], "/")}
}

// Fields are the parameters and values in canonical order.
func (s Schedule) Fields() []Field {
	var fields []Field
	for _, p := range strings.Split(s.text, "/")[1:] {
		name, value, _ := strings.Cut(p, "=")
		n, err := strconv.Atoi(value)
		if err != nil {
			panic("space: schedule " + s.text)
		}
		fields = append(fields, Field{name, n})
	}
	return fields
}

// Field is one parameter of a schedule.
type Field struct {
	Name  string
	Value int
}

// MarshalText writes the canonical text.
func (s Schedule) MarshalText() ([]byte, error) { return []byte(s.text), nil }

// UnmarshalText reads a canonical text; the empty text is no schedule.
func (s *Schedule) UnmarshalText(b []byte) error {
	if len(b) == 0 {
		*s = Schedule{}
		return nil
	}
	p, err := ParseSchedule(string(b))
	*s = p
	return err
}
