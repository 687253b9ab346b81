package host_test

import (
	"flag"
	"testing"

	"stenciltune/device/devicetest"
	"stenciltune/device/host"
	"stenciltune/device/trial"
	"stenciltune/kernels"
	"stenciltune/kernels/all"
	"stenciltune/space"
	"stenciltune/stencil"
)

var (
	flagCases = flag.Int("cases", 350, "random schedules to check")
	flagEach  = flag.Int("each", 10, "random schedules of each stencil of the catalogue")
	flagASan  = flag.Int("asan-cases", 30, "of these, also under the sanitizers")
	flagSeed  = flag.Uint64("seed", 20261121, "seed of the random schedules")
)

func open(t *testing.T, o host.Options) *host.Device {
	t.Helper()
	d, err := host.Open(o)
	if err != nil {
		t.Skip(err)
	}
	t.Cleanup(func() { d.Close() })
	return d
}

func TestRandomSchedulesGiveTheReferencesAnswer(t *testing.T) {
	n := *flagCases
	if testing.Short() {
		n /= 10
	}
	d := open(t, host.Options{})
	devicetest.Check(t, d, devicetest.Cases(t, d.Machine(), n, *flagSeed))
}

func TestCatalogueGivesTheReferencesAnswer(t *testing.T) {
	n := *flagEach
	if testing.Short() {
		n = 1
	}
	d := open(t, host.Options{})
	devicetest.Check(t, d, devicetest.CatalogueCases(t, d.Machine(), n, *flagSeed+2))
}

func TestRandomSchedulesAreCleanUnderSanitizers(t *testing.T) {
	if testing.Short() {
		t.Skip("the sanitized build is slow")
	}
	d := open(t, host.Options{Sanitize: true})
	devicetest.Check(t, d, devicetest.Cases(t, d.Machine(), *flagASan, *flagSeed+1))
}

// Stages of one time step are launched alike, but one that reaches less far has
// fewer tiles: blocks beyond them must find that out.
func TestStagesOfDifferentReachShareALaunch(t *testing.T) {
	d := open(t, host.Options{})
	st, err := stencil.Lookup("srad2")
	if err != nil {
		t.Fatal(err)
	}
	s, err := space.ParseSchedule("smalltile/gx=128/gy=8/gz=1/wx=1/wy=1/wz=1/cw=256/zz=1/ph=1")
	if err != nil {
		t.Fatal(err)
	}
	p := stencil.Problem{Stencil: st, DType: st.DType, Size: stencil.Size{253, 115, 1}, Steps: 10}
	devicetest.Check(t, d, []trial.Case{{Problem: p, Kernel: kernels.Find(all.For(p), s.Family()).Kernel(p, s), Launches: 2, Seed: 1}})
}
