package space

import (
	"encoding/json"
	"fmt"
	"reflect"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"
)

const tileText = "tile/gx=32/gy=8/gz=1/wx=1/wy=2/wz=2/cw=256/zz=0/ph=2"

func TestScheduleTextsParse(t *testing.T) {
	long := "f"
	for i := range 100 {
		long += fmt.Sprintf("/a%d=1", i)
	}
	for _, c := range []struct {
		text string
		ok   bool
	}{
		{tileText, true},
		{"global", true},
		{"f2/a1=0", true},
		{"f/a=999999999", true},
		{long[:393], true},
		{"", false},
		{"/", false},
		{"f/", false},
		{"/gx=1", false},
		{"f/a=1/a=2", false},
		{"f//a=1", false},
		{"f/a", false},
		{"f/a=", false},
		{"f/=1", false},
		{"f/a=1/", false},
		{"f/a==1", false},
		{"f/a=-1", false},
		{"f/a=+1", false},
		{"f/a=01", false},
		{"f/a=1.5", false},
		{"f/a=1e3", false},
		{"f/a=0x10", false},
		{"f/a=1000000000", false},
		{"f/a=99999999999999999999", false},
		{"f/a=٣", false},
		{"F/a=1", false},
		{"f/A=1", false},
		{"2f/a=1", false},
		{"f/2a=1", false},
		{"f/a=1 ", false},
		{" f/a=1", false},
		{"f/a=1\n", false},
		{"f/a=1\x00", false},
		{"f/a=1\nf/a=2", false},
		{"f/a=1;rm", false},
		{"f/a=1*/", false},
		{"../f/a=1", false},
		{"f/../a=1", false},
		{"ｆ/a=1", false},
		{"f/a=\xff", false},
		{long, false},
		{strings.Repeat("f", 1<<20), false},
	} {
		s, err := ParseSchedule(c.text)
		if (err == nil) != c.ok {
			t.Errorf("%.60q: %v", c.text, err)
			continue
		}
		if c.ok && s.String() != c.text {
			t.Errorf("%q became %q", c.text, s)
		}
		if !c.ok && (!s.IsZero() || len(err.Error()) > 500 || strings.ContainsAny(err.Error(), "\x00\n")) {
			t.Errorf("%.60q: schedule %q, error %q", c.text, s, err)
		}
	}
}

func TestScheduleAnswersForItsParameters(t *testing.T) {
	s := mustSchedule(t, tileText)
	if s.Family() != "tile" || s.IsZero() {
		t.Errorf("family %q", s.Family())
	}
	for name, want := range map[string]int{"gx": 32, "gy": 8, "cw": 256, "ph": 2} {
		if v, ok := s.Get(name); !ok || v != want || s.Int(name, -1) != want {
			t.Errorf("%s is %d, %v", name, v, ok)
		}
	}
	for _, name := range []string{"", "g", "x", "gx=32", "tile", "phx", "sp", "=", "/"} {
		if v, ok := s.Get(name); ok || v != 0 || s.Int(name, 7) != 7 {
			t.Errorf("%q is %d, %v", name, v, ok)
		}
	}
	if want := []Field{{"gx", 32}, {"gy", 8}, {"gz", 1}, {"wx", 1}, {"wy", 2}, {"wz", 2}, {"cw", 256}, {"zz", 0}, {"ph", 2}}; !reflect.DeepEqual(s.Fields(), want) {
		t.Errorf("fields %v", s.Fields())
	}
	if f := mustSchedule(t, "global"); f.Fields() != nil || f.Family() != "global" {
		t.Errorf("%v", f.Fields())
	}
	if (Schedule{}).Family() != "" || (Schedule{}).Fields() != nil || !(Schedule{}).IsZero() {
		t.Error("no schedule has parameters")
	}
}

func TestWithSetsOneParameter(t *testing.T) {
	s := mustSchedule(t, tileText)
	if got := s.With("ph", 1).String(); got != strings.Replace(tileText, "ph=2", "ph=1", 1) {
		t.Errorf("got %s", got)
	}
	if got := s.With("gx", 128).String(); got != strings.Replace(tileText, "gx=32", "gx=128", 1) {
		t.Errorf("got %s", got)
	}
	for _, name := range []string{"sp", "g", "", "tile"} {
		if got := s.With(name, 9); got != s {
			t.Errorf("with %q it is %s", name, got)
		}
	}
	if got := s.Without("ph").String(); got != strings.Replace(tileText, "/ph=2", "", 1) {
		t.Errorf("got %s", got)
	}
	if got := s.Without("sp"); got != s {
		t.Errorf("without what it does not have it is %s", got)
	}
	if s.String() != tileText {
		t.Errorf("it was changed to %s", s)
	}
}

func TestSchedulesAreComparedByValue(t *testing.T) {
	a, b := mustSchedule(t, tileText), mustSchedule(t, tileText)
	if a != b || a == a.With("ph", 1) {
		t.Error("equality")
	}
	seen := map[Schedule]int{a: 1}
	seen[b]++
	if len(seen) != 1 || seen[a] != 2 {
		t.Errorf("as a key: %v", seen)
	}
	f := boxes()
	if s, err := f.Decode([]int{0, 0, 0}); err != nil || s != mustSchedule(t, "box/gx=8/gy=1/zz=0") {
		t.Errorf("made and parsed differ: %s, %v", s, err)
	}
}

func TestScheduleIsItsTextInJSON(t *testing.T) {
	type record struct {
		S Schedule         `json:"s"`
		M map[Schedule]int `json:"m"`
	}
	want := record{mustSchedule(t, tileText), map[Schedule]int{mustSchedule(t, "global/gx=1"): 4}}
	b, err := json.Marshal(want)
	if err != nil || string(b) != `{"s":"`+tileText+`","m":{"global/gx=1":4}}` {
		t.Errorf("%s, %v", b, err)
	}
	var got record
	if err := json.Unmarshal(b, &got); err != nil || !reflect.DeepEqual(got, want) {
		t.Errorf("%v, %v", got, err)
	}
	if err := json.Unmarshal([]byte(`{"s":""}`), &got); err != nil || !got.S.IsZero() {
		t.Errorf("the empty text: %s, %v", got.S, err)
	}
	if err := json.Unmarshal([]byte(`{"s":"tile/gx=-1"}`), &got); err == nil {
		t.Errorf("read %s", got.S)
	}
}

func TestMadeSchedulesParse(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		f := drawFamily(t, "a")
		values := make([]int, len(f.Params))
		for i := range values {
			values[i] = rapid.IntRange(0, 999999999).Draw(t, "value")
		}
		s := Make("a", f.Params, values)
		if back, err := ParseSchedule(s.String()); err != nil || back != s {
			t.Fatalf("%s: %v", s, err)
		}
		for i, p := range f.Params {
			missing := p.Optional && len(p.Values) > 0 && values[i] == p.Values[0]
			if v, ok := s.Get(p.Name); ok == missing || !missing && v != values[i] {
				t.Fatalf("%s: %s is %d, %v", s, p.Name, v, ok)
			}
		}
		if got, err := f.Values(s); err != nil || !slices.Equal(got, values) {
			t.Fatalf("%s: values %v, %v, want %v", s, got, err, values)
		}
	})
}

func FuzzParseSchedule(f *testing.F) {
	f.Add(tileText)
	f.Add("")
	f.Add("f/a=1/a=2")
	f.Add("f/a=1\n")
	f.Fuzz(func(t *testing.T, text string) {
		s, err := ParseSchedule(text)
		if err != nil {
			return
		}
		again := s.Family()
		for _, fd := range s.Fields() {
			again = Make(again, []Param{{Name: fd.Name}}, []int{fd.Value}).String()
		}
		if again != text {
			t.Errorf("%q rebuilt from its fields is %q", text, again)
		}
	})
}
