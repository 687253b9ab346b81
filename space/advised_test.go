package space

import (
	"errors"
	"slices"
	"testing"
)

func TestAdvisedLeavesOutWhatDoesNotPay(t *testing.T) {
	family := func(name string, most int) *Family {
		return &Family{
			Name: name, Params: []Param{{Name: "a", Values: []int{1, 2, 3, 4}}},
			Constraints: []Constraint{{Name: "rule", Needs: []string{"a"}, OK: func(v Values) bool { return v.Get("a") != 3 }}},
			Advice:      []Constraint{{Name: "tip", Needs: []string{"a"}, Why: "slow", Advice: true, OK: func(v Values) bool { return v.Get("a") <= most }}},
		}
	}
	texts := func(s *Space) (list []string) {
		for x := range s.All() {
			list = append(list, x.String())
		}
		return list
	}
	s := New(family("one", 2), family("none", 0))
	if got := texts(s); !slices.Equal(got, []string{"one/a=1", "one/a=2", "one/a=4", "none/a=1", "none/a=2", "none/a=4"}) {
		t.Errorf("advice holds in the space itself: %v", got)
	}
	advised := s.Advised()
	if got := texts(advised); !slices.Equal(got, []string{"one/a=1", "one/a=2"}) {
		t.Errorf("advised: %v", got)
	}
	if advised.Raw() != s.Raw() || len(advised.Families()) != 2 {
		t.Errorf("advice takes families or values away: %d points of %d", advised.Raw(), s.Raw())
	}
	for text, want := range map[string]string{"one/a=2": "", "one/a=3": "rule", "one/a=4": "tip", "none/a=1": "tip"} {
		sc, err := ParseSchedule(text)
		if err != nil {
			t.Fatal(err)
		}
		got := ""
		if r, ok := errors.AsType[*Rejection](advised.Check(sc)); ok {
			got = r.Constraint
		}
		if got != want {
			t.Errorf("%s breaks %q, want %q", text, got, want)
		}
	}
	if wide := advised.Widen("one", nil); wide.Check(Schedule{"one/a=4"}) != nil || wide.Check(Schedule{"one/a=3"}) == nil {
		t.Error("a widened space holds to advice, or not to its constraints")
	}
	if s.Empty() || !New(&Family{Name: "never", Params: []Param{{Name: "a", Values: []int{3}}}, Constraints: s.Family("one").Constraints}).Empty() {
		t.Error("a space with schedules is empty, or one without is not")
	}
	if only := New(family("none", 0)); only.Advised() != only {
		t.Error("advice that leaves nothing is heeded")
	}
}
