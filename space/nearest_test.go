package space_test

import (
	"testing"

	"stenciltune/space"
	"stenciltune/space/spacetest"
)

func TestNearestIsTheFirstLegalScheduleBelow(t *testing.T) {
	f := &space.Family{
		Name: "f",
		Params: []space.Param{
			{Name: "vx", Values: []int{1, 2, 4}, Ordinal: true},
			{Name: "wp", Values: []int{1, 2, 4, 8}, Ordinal: true},
			{Name: "kp", Values: []int{0, 1}, Optional: true},
		},
		Constraints: []space.Constraint{{Name: "room", Needs: []string{"vx", "wp", "kp"}, OK: func(v space.Values) bool {
			return v.Get("vx")*v.Get("wp") <= 8-6*v.Get("kp") && v.Get("vx") != 2
		}}},
	}
	space.New(f)
	for _, c := range [][2]string{
		{"f/vx=4/wp=2", "f/vx=4/wp=2"},                 // legal
		{"f/vx=4/wp=4", "f/vx=4/wp=2"},                 // one value less
		{"f/vx=2/wp=4", "f/vx=1/wp=4"},                 // an earlier parameter first
		{"f/vx=8/wp=4", "f/vx=4/wp=2"},                 // a value that the family has not
		{"f/vx=4/wp=4/kp=1", "f/vx=1/wp=2/kp=1"},       // a choice stays
		{"f/vx=4/wp=4/kp=2", ""},                       // and must be one of the family's
		{"f/vx=0/wp=4", ""}, {"f/vx=4", ""}, {"g", ""}, // nothing lies below
	} {
		s, ok := f.Nearest(spacetest.Schedules(t, c[0])[0])
		if s.String() != c[1] || ok != (c[1] != "") {
			t.Errorf("%s: %q, %v, want %q", c[0], s, ok, c[1])
		}
	}
}

func TestNearestGivesUpWhereNothingIsLegal(t *testing.T) {
	f := &space.Family{Name: "f", Constraints: []space.Constraint{{Name: "never", OK: func(space.Values) bool { return false }}}}
	for _, name := range []string{"a", "b", "c", "d", "e", "g"} {
		f.Params = append(f.Params, space.Param{Name: name, Values: []int{1, 2, 3, 4, 5, 6, 7, 8, 9}, Ordinal: true})
	}
	space.New(f)
	if s, ok := f.Nearest(spacetest.Schedules(t, "f/a=9/b=9/c=9/d=9/e=9/g=9")[0]); ok {
		t.Errorf("%s", s)
	}
}
