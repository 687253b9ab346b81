package scale

import (
	"fmt"
	"math"
	"testing"

	"stenciltune/device/replay"
	"stenciltune/outcome"
	"stenciltune/space"
	"stenciltune/space/spacetest"
	"stenciltune/timing"
)

// recording is one of n schedules that take so many seconds each. A source serves so many of them, and
// is compiled once.
func recording(t *testing.T, n, shared int, compile, device float64) *replay.Landscape {
	t.Helper()
	l := &replay.Landscape{Records: map[space.Schedule]outcome.Outcome{}}
	for i := range n {
		s := spacetest.Schedule(t, fmt.Sprintf("tile/gx=%d", i+1))
		o := outcome.Outcome{Schedule: s, Status: timing.OK, SourceHash: fmt.Sprint(i / shared), CompileSeconds: compile, DeviceSeconds: device}
		if i%shared > 0 { // from the compiler's cache
			o.CompileSeconds /= 1000
		}
		l.Order, l.Records[s] = append(l.Order, s), o
	}
	return l
}

func walk(l *replay.Landscape) Job { return Job{&List{Left: l.Order}, l, l.Costs()} }

// What holds a walk decides how long it takes, and it is named.
func TestWhatHoldsAWalk(t *testing.T) {
	const n = 400
	for _, c := range []struct {
		name            string
		site            Site
		compile, device float64
		shared          int
		want            float64 // seconds
		held            string
	}{
		{"compilers", Site{GPUs: 1, PerHost: 1, Compilers: 4}, 1, 1e-3, 1, n / 4, "compilers"},
		{"compilers of two hosts", Site{GPUs: 2, PerHost: 1, Compilers: 4}, 1, 1e-3, 1, n / 8, "compilers"},
		{"compilers that two GPUs share", Site{GPUs: 2, PerHost: 2, Compilers: 4}, 1, 1e-3, 1, n / 4, "compilers"},
		{"a source of two schedules", Site{GPUs: 1, PerHost: 1, Compilers: 4}, 1, 1e-3, 2, n / 8, "compilers"},
		{"GPU", Site{GPUs: 1, PerHost: 1, Compilers: 4}, 1e-3, 1, 1, n, "GPUs"},
		{"two GPUs", Site{GPUs: 2, PerHost: 2, Compilers: 4}, 1e-3, 1, 1, n / 2, "GPUs"},
		{"turns", Site{GPUs: 40, PerHost: 1, Compilers: 4, Database: Database{Held: 0.01, Processors: 4}}, 1e-3, 1e-3, 1, (n + 40 + n - 160) * 0.01, "turns"}, // the first turns claim four each
		{"away", Site{GPUs: 1, PerHost: 1, Compilers: 4, Database: Database{Away: 0.01, Processors: 4}}, 1e-6, 1e-6, 1, 2 * n * 0.01, "waiting"},
	} {
		r := Run(c.site, []Job{walk(recording(t, n, c.shared, c.compile, c.device))}, true)
		if math.Abs(r.Seconds/c.want-1) > 0.05 || r.Evaluated != n || r.HeldBy() != c.held {
			t.Errorf("%s: %+v, held by %s; want %g s, %s", c.name, r, r.HeldBy(), c.want, c.held)
		}
	}
}

// Problems of their own do not wait for each other's turns, until the database has no processor left.
func TestManyProblemsShareADatabase(t *testing.T) {
	for processors, want := range map[int]float64{64: 4.4, 1: 16} {
		var jobs []Job
		for range 32 {
			jobs = append(jobs, walk(recording(t, 100, 1, 1e-3, 1e-3)))
		}
		r := Run(Site{GPUs: 16, PerHost: 1, Compilers: 4, Database: Database{Held: 0.01, Work: 0.0025, Processors: processors}}, jobs, false)
		if math.Abs(r.Seconds/want-1) > 0.06 || r.Evaluated != 3200 {
			t.Errorf("%d processors: %+v, want %g s", processors, r, want)
		}
	}
}

// A worker that leaves a search gives its compilers back.
func TestASearchThatEndsFreesCompilers(t *testing.T) {
	l := recording(t, 100, 1, 1, 1e-3)
	first := Job{&endless{List{Left: l.Order}, 4}, l, l.Costs()}
	r := Run(Site{GPUs: 1, PerHost: 1, Compilers: 4}, []Job{first, walk(recording(t, 40, 1, 1, 1e-3))}, false)
	if r.Evaluated != 44 || math.Abs(r.Seconds-11) > 0.1 {
		t.Errorf("%+v", r)
	}
}

// endless is a list whose search ends after some.
type endless struct {
	List
	left int
}

func (e *endless) Tell(outcome.Outcome, float64) bool {
	e.left--
	return e.left == 0
}
