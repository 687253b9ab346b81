package space

import (
	"errors"
	"fmt"
	"strings"
	"testing"
)

// boxes is a family with one constraint: at most 64 threads.
func boxes() *Family {
	return &Family{
		Name: "box",
		Params: []Param{
			{Name: "gx", Values: []int{8, 16, 32}, Ordinal: true},
			{Name: "gy", Values: []int{1, 2, 4}, Ordinal: true},
			{Name: "zz", Values: []int{0, 1}},
		},
		Constraints: []Constraint{{Name: "threads", Needs: []string{"gx", "gy"}, Why: "at most 64 threads",
			OK: func(v Values) bool { return v.Get("gx")*v.Get("gy") <= 64 }}},
	}
}

func mustSchedule(t testing.TB, text string) Schedule {
	t.Helper()
	s, err := ParseSchedule(text)
	if err != nil {
		t.Fatal(err)
	}
	return s
}

func TestCheckSaysWhyAScheduleDoesNotExist(t *testing.T) {
	s := New(boxes(), &Family{Name: "flat", Params: []Param{{Name: "gx", Values: []int{1}}}})
	for _, c := range []struct{ text, constraint, why string }{
		{"box/gx=16/gy=4/zz=1", "", ""},
		{"flat/gx=1", "", ""},
		{"box/gx=32/gy=4/zz=0", "threads", "at most 64 threads"},
		{"box/gx=24/gy=1/zz=0", "gx", "gx must be one of [8 16 32]"},
		{"box/gx=8/gy=1/zz=2", "zz", "zz must be one of [0 1]"},
		{"box/gx=8/gy=1", "parameters", "family box has the parameters gx gy zz"},
		{"box", "parameters", "family box has the parameters gx gy zz"},
		{"box/gx=8/gy=1/zz=0/ph=1", "parameters", "family box has the parameters gx gy zz"},
		{"box/gy=1/gx=8/zz=0", "parameters", "family box has the parameters gx gy zz, in that order"},
		{"flat/gx=8/gy=1/zz=0", "parameters", "family flat has the parameters gx"},
		{"tile/gx=8", "family", "no such family here; the families are [box flat]"},
	} {
		err := s.Check(mustSchedule(t, c.text))
		if c.constraint == "" {
			if err != nil {
				t.Errorf("%s: %v", c.text, err)
			}
			continue
		}
		r, ok := errors.AsType[*Rejection](err)
		if !ok || r.Constraint != c.constraint || r.Why != c.why {
			t.Errorf("%s: %v", c.text, err)
			continue
		}
		if want := c.text + ": illegal schedule (" + c.constraint + "): " + c.why; err.Error() != want {
			t.Errorf("got %q, want %q", err, want)
		}
	}
	if err := s.Check(Schedule{}); err == nil {
		t.Error("no schedule is a schedule")
	}
}

func TestEnumerationOrderIsFamiliesThenLastParameterFastest(t *testing.T) {
	var got []string
	for sc := range New(boxes(), &Family{Name: "flat", Params: []Param{{Name: "gx", Values: []int{1}}}}).All() {
		got = append(got, strings.TrimPrefix(sc.String(), "box/"))
	}
	want := "gx=8/gy=1/zz=0 gx=8/gy=1/zz=1 gx=8/gy=2/zz=0 gx=8/gy=2/zz=1 gx=8/gy=4/zz=0 gx=8/gy=4/zz=1 " +
		"gx=16/gy=1/zz=0 gx=16/gy=1/zz=1 gx=16/gy=2/zz=0 gx=16/gy=2/zz=1 gx=16/gy=4/zz=0 gx=16/gy=4/zz=1 " +
		"gx=32/gy=1/zz=0 gx=32/gy=1/zz=1 gx=32/gy=2/zz=0 gx=32/gy=2/zz=1 flat/gx=1"
	if strings.Join(got, " ") != want {
		t.Errorf("got %s", strings.Join(got, " "))
	}
}

func TestConstraintIsCheckedAsSoonAsItsParametersAreSet(t *testing.T) {
	asked := 0
	f := &Family{Name: "deep", Params: []Param{
		{Name: "a", Values: []int{1, 2}}, {Name: "b", Values: []int{1, 2, 3}}, {Name: "c", Values: []int{1, 2, 3, 4}},
	}}
	f.Constraints = []Constraint{{Name: "none", Needs: []string{"a"}, Why: "none is legal", OK: func(Values) bool { asked++; return false }}}
	if n := New(f).Size(); n != 0 || asked != 2 {
		t.Errorf("%d schedules after %d questions; two values of the first parameter are two questions", n, asked)
	}
	asked = 0
	f.Constraints = []Constraint{{Name: "some", Needs: []string{"c"}, Why: "half are legal", OK: func(v Values) bool { asked++; return v.Get("c") > 2 }}}
	if New(f).Empty() || asked != 3 {
		t.Errorf("%d questions until one holds", asked)
	}
	asked = 0
	n := 0
	f.enumerate(nil, func([]int) bool { n++; return true })
	if n != 12 || asked != 4 {
		t.Errorf("%d schedules after %d questions; four values of the only parameter that matters are four questions", n, asked)
	}
}

func TestEmptySpacesAreEmpty(t *testing.T) {
	for name, s := range map[string]*Space{
		"no family":         New(),
		"parameter without": New(&Family{Name: "a", Params: []Param{{Name: "p"}}}),
	} {
		if s.Size() != 0 || s.Raw() != 0 {
			t.Errorf("%s: size %d of %d", name, s.Size(), s.Raw())
		}
		for sc := range s.All() {
			t.Errorf("%s: yields %s", name, sc)
		}
	}
}

func TestFamiliesAreFoundByName(t *testing.T) {
	b := boxes()
	s := New(b)
	if s.Family("box") != b || s.Family("bo") != nil || len(s.Families()) != 1 {
		t.Error("wrong family")
	}
	defer func() {
		if r := recover(); r == nil || !strings.Contains(r.(string), "family box given twice") {
			t.Errorf("a family given twice: %v", r)
		}
	}()
	New(b, boxes())
}

func TestDecodeRefusesIndicesOutOfRange(t *testing.T) {
	f := boxes()
	for _, idx := range [][]int{nil, {0}, {0, 0, 0, 0}, {-1, 0, 0}, {3, 0, 0}, {0, 0, 2}} {
		if s, err := f.Decode(idx); err == nil || !s.IsZero() {
			t.Errorf("%v decodes as %s", idx, s)
		}
	}
	// An index may name a schedule that breaks a constraint: samplers find out by Check.
	if s, err := f.Decode([]int{2, 2, 0}); err != nil || s.String() != "box/gx=32/gy=4/zz=0" {
		t.Errorf("%s, %v", s, err)
	}
}

func TestAskingForAnUnknownParameterIsOurOwnBug(t *testing.T) {
	defer func() {
		if r := recover(); r == nil || !strings.Contains(r.(string), "family box has no parameter ph") {
			t.Errorf("got %v", r)
		}
	}()
	Values{family: boxes(), v: []int{8, 1, 0}}.Get("ph")
}

// grown is the family box after two parameters were added to it.
func grown() *Family {
	f := boxes()
	f.Params = append(f.Params, Param{Name: "vx", Values: []int{1, 2, 4}, Ordinal: true, Optional: true}, Param{Name: "ld", Values: []int{0, 1}, Optional: true})
	return f
}

func TestOptionalParametersAreLeftOutAtTheirDefault(t *testing.T) {
	f := grown()
	s := New(f)
	if n := New(boxes()).Size(); s.Size() != 6*n {
		t.Errorf("%d schedules, six times %d are expected", s.Size(), n)
	}
	for sc := range New(boxes()).All() { // an old text is a schedule of the grown family
		if err := s.Check(sc); err != nil {
			t.Error(err)
		}
	}
	texts := map[string]bool{}
	for sc := range s.All() {
		texts[sc.String()] = true
		if strings.Contains(sc.String(), "vx=1") || strings.Contains(sc.String(), "ld=0") {
			t.Errorf("%s spells a default out", sc)
		}
	}
	if len(texts) != s.Size() {
		t.Errorf("%d texts of %d schedules", len(texts), s.Size())
	}
	for text, want := range map[string]string{
		"box/gx=8/gy=1/zz=0":                "[0 0 0 0 0]",
		"box/gx=8/gy=1/zz=1/vx=4":           "[0 0 1 2 0]",
		"box/gx=8/gy=2/zz=1/ld=1":           "[0 1 1 0 1]",
		"box/gx=8/gy=2/zz=1/vx=2/ld=1":      "[0 1 1 1 1]",
		"box/gx=8/gy=2/zz=1/vx=8/ld=1":      "[] vx: vx must be one of [1 2 4]",
		"box/gx=8/gy=2/zz=1/vx=1":           "[] vx: leave vx out: 1 is its default",
		"box/gx=8/gy=2/zz=1/ld=1/vx=2":      "[] parameters: family box has the parameters gx gy zz [vx] [ld], in that order",
		"box/gx=8/gy=2/vx=2":                "[] parameters: family box has the parameters gx gy zz [vx] [ld]",
		"box/gx=8/gy=2/zz=1/vx=2/ld=1/gz=1": "[] parameters: family box has the parameters gx gy zz [vx] [ld]",
	} {
		sc := mustSchedule(t, text)
		idx, ok := f.Encode(sc)
		got := fmt.Sprint(idx)
		if err := s.Check(sc); err != nil {
			r, _ := errors.AsType[*Rejection](err)
			got += " " + r.Constraint + ": " + r.Why
		} else if back, err := f.Decode(idx); err != nil || back != sc {
			t.Errorf("%s comes back as %s, %v", text, back, err)
		}
		if got != want || ok != (s.Check(sc) == nil) {
			t.Errorf("%s: %s, %v", text, got, ok)
		}
	}
}
