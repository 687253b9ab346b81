package host_test

import (
	"flag"
	"testing"

	"stenciltune/device/devicetest"
	"stenciltune/device/host"
)

var (
	flagCases = flag.Int("cases", 250, "random schedules to check")
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
