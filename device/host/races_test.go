package host_test

import (
	"regexp"
	"testing"

	"stenciltune/device/devicetest"
	"stenciltune/device/host"
)

// No thread reads or writes what another one of its launch writes, unless a barrier is between.
func TestRandomSchedulesHaveNoRaces(t *testing.T) {
	if testing.Short() {
		t.Skip("the watched build is slow")
	}
	d, seed := open(t, host.Options{Races: true}), drawnSeed(t)
	m, n := d.Machine(), *flagRaces
	cases := devicetest.Cases(t, m, n, seed)
	cases = append(cases, devicetest.StepCases(t, m, n/4, seed+9)...)
	cases = append(cases, devicetest.FieldCases(t, m, n/8, seed+11)...)
	cases = append(cases, devicetest.StoredCases(t, m, n/8, seed+8)...)
	cases = append(cases, devicetest.MixedCases(t, m, n/8, seed+7)...)
	cases = append(cases, devicetest.SharedCases(t, m, n/8, seed+10)...)
	cases = append(cases, devicetest.CoupledCases(t, m, n/8, seed+12)...)
	cases = append(cases, devicetest.SumCases(t, m, n/8, seed+4)...)
	if n >= 100 { // not in each run
		cases = append(cases, devicetest.CatalogueCases(t, m, n/100, seed+2)...)
		cases = append(cases, devicetest.ApplicationCases(t, m, n/100, seed+5)...)
	}
	devicetest.Check(t, d, cases)
}

// withoutBarrier are the mutations that leave out what makes threads or copies wait for each other.
var withoutBarrier = regexp.MustCompile(`no barrier|waited for|before (other|all) lanes|take each other's parts`)

func TestRacesAreFound(t *testing.T) {
	if testing.Short() {
		t.Skip("the watched build is slow")
	}
	var some []devicetest.Mutation
	part, n := drawnSeed(t)%4, uint64(0) // of which a run of the tests takes one
	for _, m := range devicetest.Mutations() {
		if !withoutBarrier.MatchString(m.Name) {
			continue
		}
		if n++; n%4 == part || *flagRaces >= 100 {
			some = append(some, m)
		}
	}
	devicetest.CheckCorpus(t, open(t, host.Options{Races: true}), some, 1, "race: ")
}
