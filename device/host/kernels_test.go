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

// Where rows are not whole vectors, lanes copy and write each other's parts of them.
func TestPartsOfRowsArriveWhereTheyBelong(t *testing.T) {
	d := open(t, host.Options{})
	var cases []trial.Case
	for _, c := range []struct {
		name     string
		dtype    stencil.DType
		size     stencil.Size
		schedule string
	}{
		{"jacobi2d", stencil.Float32, stencil.Size{515, 67, 1}, "vx=8/vy=1/wp=1/ck=4/pf=4/mb=1/ph=3/sm=2/pm=1"}, // written by way of shared memory
		{"jacobi2d", stencil.Float32, stencil.Size{514, 67, 1}, "vx=8/vy=1/wp=4/ck=2/pf=2/mb=1/ph=3/pm=1"},
		{"jacobi2d9", stencil.Float64, stencil.Size{259, 67, 1}, "vx=4/vy=1/wp=1/ck=2/pf=2/mb=1/ph=2/pm=1"},
		{"hotspot2d", stencil.Float32, stencil.Size{513, 67, 1}, "vx=8/vy=1/wp=1/ck=2/pf=4/mb=1/ph=2/pm=1"},
		{"acoustic3d", stencil.Float32, stencil.Size{65, 37, 31}, "vx=2/vy=2/wp=8/ck=1/pf=2/mb=1/ph=1/pm=1"},
		{"gaussian2d", stencil.Float32, stencil.Size{516, 67, 1}, "vx=8/vy=1/wp=1/ck=2/pf=4/mb=1/ph=2/pm=1"}, // parts of 16 bytes
		{"gaussian2d", stencil.Float16, stencil.Size{514, 67, 1}, "vx=8/vy=1/wp=1/ck=2/pf=4/mb=1/ph=2/pm=1"},
		{"jacobi2d", stencil.Float32, stencil.Size{1025, 67, 1}, "vx=4/vy=1/wp=4/ck=2/pf=4/mb=1/ph=3/pm=1"},
		{"jacobi3d27", stencil.Float32, stencil.Size{67, 45, 67}, "vx=2/vy=3/wp=8/ck=3/pf=4/mb=1/ph=2/sm=2/pm=1"},
	} {
		st, err := stencil.Lookup(c.name)
		if err != nil {
			t.Fatal(err)
		}
		s, err := space.ParseSchedule("stream/" + c.schedule)
		if err != nil {
			t.Fatal(err)
		}
		p := stencil.Problem{Stencil: st, DType: c.dtype, Size: c.size, Steps: 100}
		cases = append(cases, trial.Case{Problem: p, Kernel: kernels.Find(all.For(p), s.Family()).Kernel(p, s), Launches: 2, Seed: 1})
	}
	devicetest.Check(t, d, cases)
}
