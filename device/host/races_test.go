package host_test

import (
	"math/rand/v2"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"stenciltune/device/devicetest"
	"stenciltune/device/host"
	"stenciltune/device/verify"
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

// Random schedules are seldom of those whose warps arrive at a barrier and wait later.
func TestSplitBarriersHaveNoRaces(t *testing.T) {
	if testing.Short() {
		t.Skip("the watched build is slow")
	}
	d, seed := open(t, host.Options{Races: true}), drawnSeed(t)
	n, r := max(1, *flagRaces/3), rand.New(rand.NewPCG(seed, 0))
	for _, of := range [][2]string{{"laterows3d", "pipeline"}, {"cahnhilliard", "pipeline"}, {"hotspot3d", "stream"}, {"jacobi3d13", "sweep"}} {
		cases := slices.DeleteFunc(devicetest.StencilCases(t, d.Machine(), of[0], of[1], 16*n, seed), func(c verify.Case) bool {
			return !strings.Contains(c.Kernel.Source, "meeting_split.cu")
		})
		r.Shuffle(len(cases), func(i, j int) { cases[i], cases[j] = cases[j], cases[i] }) // of both types, and of grids of all shapes
		devicetest.Check(t, d, cases[:min(n, len(cases))])
	}
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

// Who has arrived at a barrier and not waited for it does not know what others do.
func TestRacesBetweenArrivingAndWaiting(t *testing.T) {
	if testing.Short() {
		t.Skip("the watched build is slow")
	}
	d, p := open(t, host.Options{Races: true}), copyProblem(t, 1000)
	right := inRing("round % 2")
	for name, c := range map[string]struct {
		body  string
		races bool
	}{
		"two slots in turn":      {right, false},
		"and read again as own":  {strings.Replace(right, "    emulated_arrive();", "    mine += 0 * ring[(round + 1) % 2][threadIdx.x];\n    emulated_arrive();", 1), false},
		"one slot":               {inRing("0"), true}, // written while others read
		"read before waiting":    {strings.Replace(right, "emulated_await(round % 2);\n    mine = ring[round % 2][(threadIdx.x + 1) % 64] + 1;", "mine = ring[round % 2][(threadIdx.x + 1) % 64] + 1;\n    emulated_await(round % 2);", 1), true},
		"written after arriving": {strings.Replace(right, "ring[round % 2][threadIdx.x] = mine;\n    emulated_arrive();", "emulated_arrive();\n    ring[round % 2][threadIdx.x] = mine;", 1), true},
	} {
		_, err := check(t, d, p, copyKernel(p, c.body), 20*time.Second)
		if races := err != nil && strings.Contains(err.Error(), "race: "); races != c.races || !races && err != nil {
			t.Errorf("%s: %v", name, err)
		}
	}
}
