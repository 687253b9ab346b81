// Package spacetest has what tests of several packages need of schedules.
package spacetest

import (
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
