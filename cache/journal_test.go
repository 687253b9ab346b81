package cache

import (
	"encoding/json"
	"errors"
	"maps"
	"math"
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"
	"unicode/utf8"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"stenciltune/machine"
	"stenciltune/outcome"
	"stenciltune/space"
	"stenciltune/timing"
)

// sameSchedules lets cmp compare schedules, which have no exported fields.
var sameSchedules = cmp.Comparer(func(a, b space.Schedule) bool { return a == b })

// sameErrors lets cmp take one NaN for another.
var sameErrors = cmp.Comparer(func(a, b outcome.Float) bool { return a == b || a != a && b != b })

func TestRecordRoundTrip(t *testing.T) {
	onEach(t, func(t *testing.T, fresh func() *Store) {
		s := fresh()
		wrong := testEntry(1)
		wrong.Status, wrong.Reason, wrong.Log = timing.WrongAnswer, "cell 17: got NaN", "line 1\nline 2\x00 é \U0001f600 </script>"+strings.Repeat("x", 3000)
		wrong.Series, wrong.MaxError = timing.Series{}, outcome.Float(math.NaN())
		stale := testEntry(0)
		stale.SourceHash = "00"
		want := []Entry{stale, testEntry(0), wrong}
		must(t, s.Record(testKey(0), wrong, testEntry(0), stale))
		for range 2 { // recording again changes nothing
			got, err := reopen(t, s.Path()).Entries(testKey(0))
			must(t, err)
			if d := cmp.Diff(want, got, sameSchedules, sameErrors); d != "" {
				t.Fatal(d)
			}
			must(t, s.Record(testKey(0), got...))
		}
		if got, err := s.Entries(testKey(1)); err != nil || len(got) > 0 {
			t.Error("entries of another key:", got, err)
		}
		keys, err := s.Keys()
		must(t, err)
		if d := cmp.Diff([]Key{testKey(0)}, keys); d != "" {
			t.Error(d)
		}
	})
}

func TestRecordFillsIn(t *testing.T) {
	onEach(t, func(t *testing.T, fresh func() *Store) {
		s := fresh()
		e := testEntry(0)
		e.At, e.Attempts = time.Time{}, 0
		e.Log = strings.Repeat("é", MaxLog)
		e.Reason = "a\xffb"
		must(t, s.Begin(testKey(0), e.Schedule))
		must(t, s.Begin(testKey(0), e.Schedule))
		must(t, s.Record(testKey(0), e))
		got, err := s.Entries(testKey(0))
		must(t, err)
		g := got[0]
		if time.Since(g.At) > time.Minute || g.At.Location() != time.UTC {
			t.Error("time", g.At)
		}
		if g.Attempts != 2 {
			t.Error("attempts", g.Attempts)
		}
		if len(g.Log) > MaxLog || !utf8.ValidString(g.Log) || !strings.HasSuffix(g.Log, "clipped") {
			t.Errorf("log of %d bytes: %q", len(g.Log), g.Log[len(g.Log)-20:])
		}
		if g.Reason != "a\uFFFDb" {
			t.Errorf("reason %q", g.Reason)
		}
	})
}

func TestRecordRefuses(t *testing.T) {
	onEach(t, func(t *testing.T, fresh func() *Store) {
		s := fresh()
		for name, change := range map[string]func(*Entry){
			"schedule": func(e *Entry) { e.Schedule = space.Schedule{} },
			"status":   func(e *Entry) { e.Status = "" },
			"source":   func(e *Entry) { e.SourceHash = "a b" },
			"NaN":      func(e *Entry) { e.Series.Samples[0] = math.NaN() },
		} {
			e := testEntry(1)
			change(&e)
			err := s.Record(testKey(0), testEntry(0), e)
			var broken *Error
			if err == nil || errors.As(err, &broken) {
				t.Errorf("%s: taken, or blamed on the store: %v", name, err)
			}
		}
		if got, err := s.Entries(testKey(0)); err != nil || len(got) > 0 {
			t.Errorf("a refused batch left %d entries, %v", len(got), err)
		}
		if err := s.Begin(testKey(0), testEntry(0).Schedule, space.Schedule{}); err == nil {
			t.Error("no schedule was begun")
		}
	})
}

func TestIntents(t *testing.T) {
	onEach(t, func(t *testing.T, fresh func() *Store) {
		s := fresh()
		a, b, c := testEntry(0).Schedule, testEntry(1).Schedule, testEntry(2).Schedule
		must(t, s.Begin(testKey(0), a, b, c))
		must(t, s.Record(testKey(0), testEntry(1)))
		must(t, s.Begin(testKey(0), a))
		u, err := s.Unfinished(testKey(0))
		must(t, err)
		if len(u) != 2 || u[0].Schedule != a || u[0].Attempts != 2 || !u[0].Quarantined() || u[1].Schedule != c || u[1].Quarantined() {
			t.Fatalf("%+v", u)
		}
		must(t, s.Abandon(testKey(0), a, b, c)) // b has no note: nothing to take back
		if u, err = s.Unfinished(testKey(0)); err != nil || len(u) != 1 || u[0].Attempts != 1 {
			t.Fatalf("%+v, %v", u, err)
		}
		lost := testEntry(0)
		lost.Status = timing.WorkerLost
		must(t, s.Record(testKey(0), lost))
		if u, err = s.Unfinished(testKey(0)); err != nil || len(u) != 0 {
			t.Fatalf("%+v, %v", u, err)
		}
		must(t, s.Begin(testKey(0), c))
		must(t, s.Forget(testKey(0)))
		u, err = s.Unfinished(testKey(0))
		must(t, err)
		e, err := s.Entries(testKey(0))
		must(t, err)
		if len(u)+len(e) > 0 {
			t.Error("not forgotten:", u, e)
		}
		must(t, s.Forget(testKey(0)))
		must(t, s.Abandon(testKey(0), a))
	})
}

// TestEntriesAreWrittenAsBefore: the bytes that stores of version 1 hold.
func TestEntriesAreWrittenAsBefore(t *testing.T) {
	e := testEntry(0)
	e.Reason, e.SpillBytes, e.BlocksPerSM, e.CompileSeconds, e.MaxError = "why", 8, 2, 0.25, outcome.Float(math.Inf(1))
	b, err := json.Marshal(e)
	must(t, err)
	const want = `{"schedule":"tile/gx=1/gy=1/ph=1","source_hash":"c0ffeec0ffeec0ffeec0ffeec0ffeec0ffeec0ffeec0ffeec0ffeec0ffee","status":"ok","reason":"why",` +
		`"series":{"samples":[0.0001,0.00010010000000000001,0.00010020000000000001,0.0001003,0.0001004,0.0001005,0.0001006],"launches":4,"steps":8,"median":0.0001003,"low":0.0001,"high":0.0001006,"min":0.0001,"n":7},` +
		`"registers":32,"spill_bytes":8,"blocks_per_sm":2,"compile_seconds":0.25,"check_max_error":"+Inf","compiler":"NVRTC 13.0","tool":"1.0.0","at":"2026-01-02T03:04:00Z","attempts":1}`
	if string(b) != want {
		t.Errorf("got\n%s\nwant\n%s", b, want)
	}
}

// model is what a store should hold.
type model struct {
	entries map[string]map[string]Entry // key, then schedule and source hash
	intents map[string]map[string]int
	best    map[string]Config
}

// TestModel runs random operations on a store and on maps.
func TestModel(t *testing.T) {
	onEach(t, func(t *testing.T, fresh func() *Store) {
		n := 0
		rapid.Check(t, func(t *rapid.T) {
			s := fresh()
			if _, slow := s.engine.(*database); slow && n == 4 {
				return
			}
			n++
			m := model{map[string]map[string]Entry{}, map[string]map[string]int{}, map[string]Config{}}
			keys, best := []Key{testKey(0), testKey(1)}, true // whether to look at the best configs
			for _, k := range keys {
				m.entries[k.String()], m.intents[k.String()] = map[string]Entry{}, map[string]int{}
			}
			drawKey := func(t *rapid.T) Key { return rapid.SampledFrom(keys).Draw(t, "key") }
			drawEntries := func(t *rapid.T) []Entry {
				var e []Entry
				for _, i := range rapid.SliceOfN(rapid.IntRange(0, 9), 1, 4).Draw(t, "entries") {
					x := testEntry(i)
					x.SourceHash = rapid.SampledFrom([]string{"", "aa", "bb"}).Draw(t, "source")
					x.Registers = rapid.IntRange(0, 255).Draw(t, "registers")
					x.Log = strings.Repeat("x", rapid.IntRange(0, MaxLog).Draw(t, "log"))
					e = append(e, x)
				}
				return e
			}
			t.Repeat(map[string]func(*rapid.T){
				"record": func(t *rapid.T) {
					k, es := drawKey(t), drawEntries(t)
					must(t, s.Record(k, es...))
					for _, e := range es {
						m.entries[k.String()][entryName(e)] = e
						delete(m.intents[k.String()], e.Schedule.String())
					}
				},
				"begin": func(t *rapid.T) {
					k, es := drawKey(t), drawEntries(t)
					for _, e := range es {
						must(t, s.Begin(k, e.Schedule))
						m.intents[k.String()][e.Schedule.String()]++
					}
				},
				"abandon": func(t *rapid.T) {
					k, e := drawKey(t), drawEntries(t)[0]
					must(t, s.Abandon(k, e.Schedule))
					in, at := m.intents[k.String()], e.Schedule.String()
					if in[at]--; in[at] <= 0 {
						delete(in, at)
					}
				},
				"forget": func(t *rapid.T) {
					k := drawKey(t)
					must(t, s.Forget(k))
					m.entries[k.String()], m.intents[k.String()] = map[string]Entry{}, map[string]int{}
				},
				"put best": func(t *rapid.T) {
					k := drawKey(t)
					c := configAt(k)
					c.Speedup = float64(rapid.IntRange(1, 100).Draw(t, "speedup"))
					must(t, s.PutBest(k, c))
					best = true
					m.best[k.String()] = c
				},
				"forget best": func(t *rapid.T) {
					k := drawKey(t)
					must(t, s.ForgetBest(k))
					best = true
					delete(m.best, k.String())
				},
				"open again": func(t *rapid.T) { s, best = reopen(t, s.Path()), true },
				"": func(t *rapid.T) {
					for _, k := range keys {
						entries, err := s.Entries(k)
						must(t, err)
						var want []Entry
						for _, name := range slices.Sorted(maps.Keys(m.entries[k.String()])) {
							want = append(want, m.entries[k.String()][name])
						}
						if !slices.EqualFunc(want, entries, func(a, b Entry) bool { return reflect.DeepEqual(a, b) }) { // much faster than cmp
							t.Fatal(cmp.Diff(want, entries, sameSchedules))
						}
						intents, err := s.Unfinished(k)
						must(t, err)
						got := map[string]int{}
						for _, i := range intents {
							got[i.Schedule.String()] = i.Attempts
						}
						if d := cmp.Diff(m.intents[k.String()], got); d != "" {
							t.Fatal(d)
						}
						if !best { // validating a config takes as long as all the rest
							continue
						}
						c, grade, ok, err := s.Best(k)
						must(t, err)
						if want, own := m.best[k.String()]; own && (!ok || grade != Exact || c.Speedup != want.Speedup) || !own && ok && grade == Exact {
							t.Fatalf("best of %s: %v %v, want %v", k, grade, c.Speedup, want.Speedup)
						}
						if ok != (len(m.best) > 0) {
							t.Fatalf("a best config: %v", ok)
						}
					}
					best = false
				},
			})
			if s.Damaged() > 0 || len(s.Warnings()) > 0 {
				t.Fatal(s.Warnings())
			}
		})
	})
}

// What is recorded last is what is there, whatever the clock said before; a sound note of what was begun stays one.
func TestAClockThatWentBackLosesNothing(t *testing.T) {
	onEach(t, func(t *testing.T, fresh func() *Store) {
		s := fresh()
		ahead := testEntry(3)
		ahead.At = time.Date(2100, 1, 1, 0, 0, 0, 0, time.UTC)
		must(t, s.Record(testKey(0), ahead))
		now := testEntry(3)
		now.At, now.Registers = time.Time{}, 77
		must(t, s.Begin(testKey(0), now.Schedule))
		must(t, s.Record(testKey(0), now))
		entries, err := s.Entries(testKey(0))
		must(t, err)
		if len(entries) != 1 || entries[0].Registers != 77 || entries[0].At.Year() >= 2100 {
			t.Errorf("%+v", entries)
		}
		left, err := s.Unfinished(testKey(0))
		must(t, err)
		if len(left) != 0 || len(s.Warnings()) != 0 {
			t.Errorf("%v, %v", left, s.Warnings())
		}
	})
}

// What has taken the program down twice is not run again because another store tells of it, nor because the store was repaired.
func TestNotesOutliveImportsAndRepairs(t *testing.T) {
	onEach(t, func(t *testing.T, fresh func() *Store) {
		s, other := fresh(), openTemp(t)
		sc := testEntry(0).Schedule
		for range 2 {
			must(t, s.Begin(testKey(0), sc))
			must(t, s.Begin(testKey(1), sc)) // of which nothing is recorded
		}
		m := machine.Machine{Name: "a GPU", Kind: "cuda", UUID: "GPU-1", Driver: "580.1"}
		must(t, s.PutRates(m, DeviceRates{Device: m.Name, Time: time.Unix(1e9, 0).UTC()}))
		stale := testEntry(0)
		stale.SourceHash = "00"
		must(t, other.Record(testKey(0), stale))
		done, err := s.Import(strings.NewReader(exported(t, other)), nil)
		if err != nil || done.Entries != 1 {
			t.Fatal(done, err)
		}
		repaired := openTemp(t)
		if _, err := s.Repair(repaired); err != nil {
			t.Fatal(err)
		}
		for _, at := range []*Store{s, repaired} {
			for i := range 2 {
				begun, err := at.Unfinished(testKey(i))
				if err != nil || len(begun) != 1 || begun[0].Schedule != sc || !begun[0].Quarantined() {
					t.Errorf("problem %d: %v %v", i, begun, err)
				}
			}
			if _, ok, err := at.Rates(m); !ok || err != nil {
				t.Error("rates are lost", err)
			}
		}
	})
}
