package space

import (
	"errors"
	"testing"
)

func TestWidenAdmitsValuesAndDropsAdvice(t *testing.T) {
	family := func(name string) *Family {
		return &Family{Name: name, Params: []Param{
			{Name: "a", Values: []int{2, 4}},
			{Name: "b", Values: []int{8, 16}, Optional: true},
		}, Constraints: []Constraint{
			{Name: "rule", Needs: []string{"a"}, OK: func(v Values) bool { return v.Get("a") != 7 }},
			{Name: "tip", Needs: []string{"a"}, OK: func(v Values) bool { return v.Get("a") != 4 }, Advice: true},
		}}
	}
	s := New(family("one"), family("two"))
	wide := s.Widen("one", map[string][]int{"a": {3, 7, 2}, "b": {1}})
	for text, broken := range map[string][2]string{ // before and after
		"one/a=2":     {"", ""},
		"one/a=3":     {"a", ""},
		"one/a=4":     {"tip", ""},
		"one/a=7":     {"a", "rule"},
		"one/a=5":     {"a", "a"},
		"one/a=2/b=1": {"b", ""},
		"one/a=2/b=8": {"b", "b"}, // still the default
		"two/a=3":     {"a", "a"},
		"two/a=4":     {"tip", "tip"},
	} {
		sc, err := ParseSchedule(text)
		if err != nil {
			t.Fatal(err)
		}
		for i, sp := range []*Space{s, wide} {
			got := ""
			if r, ok := errors.AsType[*Rejection](sp.Check(sc)); ok {
				got = r.Constraint
			}
			if got != broken[i] {
				t.Errorf("%s, space %d: breaks %q, want %q", text, i, got, broken[i])
			}
		}
	}
	if s.Size() != 4 || len(s.Family("one").Params[0].Values) != 2 {
		t.Errorf("the space itself has changed: %d schedules", s.Size())
	}
}
