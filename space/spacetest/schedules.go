// Package spacetest has what tests of several packages need of spaces and schedules.
package spacetest

import (
	"math"
	"testing"

	"stenciltune/space"
)

// Schedule is the schedule of a text, which ends the test if it is none.
func Schedule(t testing.TB, text string) space.Schedule {
	t.Helper()
	s, err := space.ParseSchedule(text)
	if err != nil {
		t.Fatal(err)
	}
	return s
}

// Schedules are those of several texts.
func Schedules(t testing.TB, texts ...string) []space.Schedule {
	t.Helper()
	var list []space.Schedule
	for _, text := range texts {
		list = append(list, Schedule(t, text))
	}
	return list
}

// Room is a space of two families with shared and own parameters, and a prior: how
// long each schedule is expected to take, in seconds.
func Room() (*space.Space, func(space.Schedule) float64) {
	a := &space.Family{Name: "a", Params: []space.Param{
		{Name: "x", Values: []int{1, 2, 4, 8, 16}, Ordinal: true},
		{Name: "y", Values: []int{0, 1, 2, 3}, Ordinal: true},
		{Name: "k", Values: []int{0, 1, 2}},
	}, Constraints: []space.Constraint{{Name: "xy", Needs: []string{"x", "y"}, Why: "even",
		OK: func(v space.Values) bool { return v.Get("x")*v.Get("y")%3 != 2 }}}}
	b := &space.Family{Name: "b", Params: []space.Param{
		{Name: "x", Values: []int{4, 8, 12}, Ordinal: true},
		{Name: "w", Values: []int{1, 2, 3, 4, 5}, Ordinal: true},
	}}
	return space.New(a, b), func(s space.Schedule) float64 {
		return 1e-3 * (1 + math.Abs(float64(s.Int("x", 1))-7) + 0.3*float64(s.Int("w", 2)) + 0.1*float64(s.Int("k", 0)))
	}
}
