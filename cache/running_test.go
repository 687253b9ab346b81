package cache

import (
	"testing"
	"time"
)

// TestRunning has two tunes tell how they go: each record changes the store's stamp, reading
// does not, and what ended or is forgotten is gone.
func TestRunning(t *testing.T) {
	onEach(t, func(t *testing.T, fresh func() *Store) {
		s := fresh()
		if all, err := s.Running(); err != nil || len(all) != 0 {
			t.Fatalf("of an empty store: %v, %v", all, err)
		}
		r := Running{Worker: "a:1:0", Stencil: StencilInfo{Name: "jacobi2d"}, Phase: "search", Trying: testEntry(1).Schedule.String(), Begun: time.Unix(1, 0).UTC()}
		must(t, s.Advance(testKey(0), &r, []Entry{testEntry(0)}, testEntry(1).Schedule))
		must(t, s.Advance(testKey(1), &Running{Worker: "b:1:0", Phase: "baseline"}, nil))
		all, err := s.Running()
		must(t, err)
		if len(all[testKey(0)]) != 1 || len(all[testKey(1)]) != 1 {
			t.Fatalf("%+v", all)
		}
		got := all[testKey(0)][0]
		if since := time.Since(got.At); len(all) != 2 || since < 0 || since > time.Minute || got.Age > time.Minute || !got.Alive() || !r.At.IsZero() {
			t.Errorf("%v, told %v ago", all, since)
		}
		if got.Config().Stencil.Name != "jacobi2d" || got.Phase != "search" || got.Trying != r.Trying || !got.Begun.Equal(r.Begun) || all[testKey(1)][0].Phase != "baseline" {
			t.Errorf("%+v", all)
		}
		if r, err := s.Check(); err != nil || r.Damaged != 0 || r.Entries != 1 || r.Unfinished != 1 {
			t.Errorf("%+v, %v", r, err)
		}
		must(t, s.PutBest(testKey(0), testConfig())) // it goes on, for all that is known
		if all, err = s.Running(); err != nil || len(all[testKey(0)]) != 1 {
			t.Errorf("%v, %v", all, err)
		}
		r.Phase = ""
		must(t, s.Advance(testKey(0), &r, nil))
		must(t, s.Advance(testKey(0), &Running{Worker: "dead:1:0", Phase: "search", Lease: 1e-9}, nil))
		must(t, s.PutBest(testKey(0), testConfig()))
		must(t, s.Forget(testKey(1)))
		if all, err := s.Running(); err != nil || len(all) != 0 {
			t.Errorf("%v, %v", all, err)
		}
	})
}

// TestStamp counts changes of a store from outside.
func TestStamp(t *testing.T) {
	onEach(t, func(t *testing.T, fresh func() *Store) {
		s := fresh()
		if stamp, err := s.Stamp(); err != nil || stamp != "" {
			t.Fatalf("of no store: %q, %v", stamp, err)
		}
		last := ""
		for i := range 3 {
			must(t, s.Record(testKey(0), testEntry(i)))
			begin := time.Now()
			for {
				stamp, err := s.Stamp()
				must(t, err)
				if stamp != last {
					last = stamp
					break
				}
				if time.Since(begin) > 10*time.Second {
					t.Fatal("nobody sees that the store has changed")
				}
				time.Sleep(10 * time.Millisecond)
			}
		}
		if _, err := s.Entries(testKey(0)); err != nil {
			t.Fatal(err)
		}
		if stamp, err := s.Stamp(); err != nil || stamp != last {
			t.Errorf("reading changes the stamp, or %v", err)
		}
	})
}
