package main

import (
	"context"
	"flag"
	"math"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"stenciltune/cache"
	"stenciltune/cmd/internal/cli"
	"stenciltune/cmd/internal/clitest"
	"stenciltune/device/replay"
	"stenciltune/internal/dbtest"
	"stenciltune/search"
	"stenciltune/study/contest"
	"stenciltune/study/scale"
)

var flagTurns = flag.Bool("turns", false, "compare the simulation's turns with databases that run here")

// On one GPU without a database the simulation takes the time that a tune's own replay takes.
func TestScaleOnOneGPUIsTheReplay(t *testing.T) {
	l := clitest.Landscape(t, "jacobi3d27_f32")
	field, err := fieldOf(l)
	if err != nil {
		t.Fatal(err)
	}
	run, err := field.Run(context.Background(), contest.Entrant{Strategy: "exhaustive"}, 1, contest.Rules{Regret: -1})
	if err != nil {
		t.Fatal(err)
	}
	r, err := recordedOf(l)
	if err != nil {
		t.Fatal(err)
	}
	s, err := r.search("exhaustive", search.Stop{}, 1)
	if err != nil {
		t.Fatal(err)
	}
	got := scale.Run(scale.Site{GPUs: 1, PerHost: 1, Compilers: l.Compilers()}, []scale.Job{r.job(s)}, true)
	want := run.Points[len(run.Points)-1].Time
	t.Logf("%.2f s, the replay %.2f s", got.Seconds, want)
	if math.Abs(got.Seconds/want-1) > 0.03 || got.Evaluated != len(run.Points) {
		t.Errorf("%+v; the replay took %g s for %d", got, want, len(run.Points))
	}
}

func TestScaleRefusesWhatIsNoSite(t *testing.T) {
	store := clitest.StoreIn(t)
	for _, args := range []string{"--gpus 0", "--gpus 1,5000", "--compilers 0", "--tunes 0", "--turn 1,2", "--turn 1,2,3", "--turn 0,-1,-1"} {
		p := clitest.Command(t, store, append([]string{"scale"}, strings.Fields(args)...)...)
		if code := p.Run(t); code != cli.Usage || strings.Count(p.Stderr.String(), "\n") != 1 {
			t.Errorf("%s: exit %d\n%s", args, code, &p.Stderr)
		}
	}
}

// Workers on a real database, whose GPUs are pauses of the recorded seconds, against the simulation
// of as many. What a turn takes comes from one worker, and from eight that do nothing else. The two
// are at most a fifth apart on a quiet machine (docs/study.md), and were 1.43 times on a busy one.
func TestScaleAgainstDatabases(t *testing.T) {
	if !*flagTurns {
		t.Skip("skipped: -turns asks for it")
	}
	l := clitest.Landscape(t, "jacobi3d_f32")
	l.Order = l.Order[:250]
	for s, o := range l.Records {
		o.CompileSeconds = 0
		l.Records[s] = o
	}
	for name, start := range map[string]func(testing.TB) *dbtest.Server{"postgres": dbtest.NewPostgres, "mariadb": dbtest.NewMariaDB} {
		t.Run(name, func(t *testing.T) {
			server := start(t)
			least := func(workers int, pause float64) float64 { // others use this machine too
				return min(work(t, server, l, workers, pause), work(t, server, l, workers, pause), work(t, server, l, workers, pause))
			}
			alone := least(1, 0) / float64(2*len(l.Order))
			held := least(8, 0) / float64(2*len(l.Order))
			t.Logf("a turn takes %.2f ms, and %.2f ms where eight wait for it", 1e3*alone, 1e3*held)
			d := scale.Database{Away: max(0, alone-held), Held: held, Processors: 1 << 9}
			for _, n := range []int{1, 2, 4, 8} {
				r := scale.Run(scale.Site{GPUs: n, PerHost: n, Compilers: 1, Database: d}, []scale.Job{{Source: &scale.List{Left: l.Order}, Recording: l, Costs: l.Costs()}}, true)
				took := least(n, 1)
				t.Logf("%d workers: %.2f s, simulated %.2f s", n, took, r.Seconds)
				if took > 2*r.Seconds || 2*took < r.Seconds {
					t.Errorf("%d workers take %.2f times what is simulated", n, took/r.Seconds)
				}
			}
		})
	}
}

// work lets workers share a recording's schedules: each is claimed, takes its recorded seconds so
// many times, and is recorded. It gives the seconds that all took.
func work(t *testing.T, server *dbtest.Server, l *replay.Landscape, workers int, pause float64) float64 {
	at := server.Fresh(t)
	key := cache.Key{StencilHash: l.Header.StencilHash, DType: "float32", Boundary: "clamp", Size: "512x512x512", StepsClass: cache.ManySteps, Regime: "warm"}.On(l.Header.Machine)
	var next atomic.Int64
	var all sync.WaitGroup
	open := func() *cache.Store {
		s, err := cache.Open(at)
		if err == nil {
			err = s.Writable()
		}
		if err != nil {
			t.Fatal(err)
		}
		return s
	}
	stores := make([]*cache.Store, workers)
	for i := range stores {
		stores[i] = open()
	}
	begin := time.Now()
	for _, s := range stores {
		all.Go(func() {
			for i := next.Add(1) - 1; i < int64(len(l.Order)); i = next.Add(1) - 1 {
				o := l.Records[l.Order[i]]
				err := s.Begin(key, o.Schedule)
				time.Sleep(time.Duration(pause * o.DeviceSeconds * float64(time.Second)))
				if err == nil {
					err = s.Record(key, cache.Entry{Outcome: o})
				}
				if err != nil {
					t.Error(err)
					return
				}
			}
		})
	}
	all.Wait()
	return time.Since(begin).Seconds()
}
