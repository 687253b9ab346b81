//go:build race

package search_test

const raceOn = true
