package tuner

import (
	"testing"

	"stenciltune/cache"
	"stenciltune/machine/machinetest"
	"stenciltune/outcome"
	"stenciltune/space"
	"stenciltune/space/spacetest"
	"stenciltune/stencil"
	"stenciltune/timing"
)

// TestTheJournalKeepsWhatAScheduleCost: nothing of an outcome that a recording holds is lost
// on its way through the store; another source makes it unknown.
func TestTheJournalKeepsWhatAScheduleCost(t *testing.T) {
	tn := open(t)
	key := KeyOf(problem(t, stencil.Size{64, 64, 1}), machinetest.H200(), timing.Warm)
	j, err := openJournal(tn.store, key, cache.Running{Worker: "a:1:0"}, false, 0, nil)
	if err != nil {
		t.Fatal(err)
	}
	s, next := spacetest.Schedule(t, "global/gx=32"), spacetest.Schedule(t, "global/gx=64")
	o := outcome.Outcome{Schedule: s, SourceHash: "aa", Status: timing.OK, Registers: 40, SpillBytes: 8, BlocksPerSM: 2,
		CompileSeconds: 0.25, DeviceSeconds: 0.5, MaxError: 1e-7}.Sampled([]float64{1e-3, 1.1e-3}, 4)
	if err := j.Record([]outcome.Outcome{o}, next); err != nil {
		t.Fatal(err)
	}
	if err := j.close(); err != nil { // next was begun and not run: no fault of its own
		t.Fatal(err)
	}
	if left, err := tn.store.Unfinished(key); err != nil || len(left) > 0 {
		t.Errorf("begun still: %v, %v", left, err)
	}
	again, err := openJournal(tn.store, key, cache.Running{Worker: "a:1:0"}, false, 0, nil)
	if err != nil {
		t.Fatal(err)
	}
	got, ok := again.Known(s, "aa")
	if !ok || got.DeviceSeconds != 0.5 || got.CompileSeconds != 0.25 || got.Registers != 40 || got.Seconds() != o.Seconds() || len(got.Series.Samples) != 2 || got.MaxError != 1e-7 {
		t.Errorf("%+v, %v", got, ok)
	}
	for _, unknown := range []struct {
		s    space.Schedule
		hash string
	}{{s, "bb"}, {next, "aa"}} {
		if o, ok := again.Known(unknown.s, unknown.hash); ok {
			t.Errorf("%s %s is known: %+v", unknown.s, unknown.hash, o)
		}
	}
	for _, worker := range []string{"a:1:0", "a:2:0"} {
		anew, err := openJournal(tn.store, key, cache.Running{Worker: worker}, true, 0, nil)
		if err != nil || len(anew.known) != 0 {
			t.Fatalf("measuring again knows %d, %v", len(anew.known), err)
		}
		if err := anew.Record(nil, next); err != nil { // and the process dies
			t.Fatal(err)
		}
	}
	anew, err := openJournal(tn.store, key, cache.Running{Worker: "a:3:0"}, true, 0, nil)
	if err != nil {
		t.Fatal(err)
	}
	if o, ok := anew.Known(next, "aa"); !ok || o.Status != timing.WorkerLost || len(anew.known) != 1 {
		t.Errorf("of a schedule that ended the program twice measuring again knows %+v, %v", o, ok)
	}
}
