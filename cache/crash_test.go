package cache

import (
	"bytes"
	"errors"
	"flag"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
)

var flips = flag.Int("flips", 200, "how many damaged files TestBitFlips makes")

// TestKill kills a process that records, 20 times at random moments: what it was
// told is stored must be there, and nothing but what it recorded.
func TestKill(t *testing.T) {
	onEach(t, func(t *testing.T, fresh func() *Store) {
		path := fresh().Path()
		stored, next, unfinished := map[int]bool{}, 0, 0
		for range 20 {
			cmd := command("record", path, next, next+100000)
			out := &acks{first: make(chan struct{})}
			cmd.Stdout = out
			must(t, cmd.Start())
			select { // a busy machine takes long to start a process
			case <-out.first:
			case <-time.After(10 * time.Second):
			}
			time.Sleep(time.Duration(rand.IntN(60)) * time.Millisecond)
			// A sleep may end when the child's output comes in, always at the same
			// place in its loop; one entry takes it about a millisecond.
			for wait, start := time.Duration(rand.IntN(1000))*time.Microsecond, time.Now(); time.Since(start) < wait; {
			}
			must(t, cmd.Process.Kill())
			cmd.Wait()
			if strings.Contains(out.String(), "refused") || strings.Contains(out.String(), "error") {
				t.Fatal(out.String())
			}
			for _, i := range acknowledged(out.String()) {
				stored[i] = true
				next = max(next, i+1)
			}

			s := reopen(t, path)
			entries, err := s.Entries(testKey(0))
			must(t, err)
			found := map[string]Entry{}
			for _, e := range entries {
				found[e.Schedule.String()] = e
			}
			for i := range stored {
				want := testEntry(i)
				if d := cmp.Diff(want, found[want.Schedule.String()], sameSchedules); d != "" {
					t.Fatalf("entry %d: %s", i, d)
				}
			}
			if len(found) > len(stored)+1 {
				t.Fatalf("%d entries, %d were recorded", len(found), len(stored))
			}
			if len(found) > len(stored) { // on disk before it could say so
				stored[next] = true
				next++
			}
			u, err := s.Unfinished(testKey(0))
			must(t, err)
			if len(u) > 1 {
				t.Fatalf("%d schedules unfinished, one at most was begun", len(u))
			}
			if len(u) == 1 {
				unfinished++
				if u[0].Schedule != testEntry(next).Schedule {
					t.Fatalf("unfinished: %v", u[0])
				}
				must(t, s.Abandon(testKey(0), u[0].Schedule))
			}
			if r, err := s.Check(); err != nil || len(r.Warnings) > 0 {
				t.Fatal(r, err)
			}
		}
		t.Logf("%d entries, %d times killed between begin and record", len(stored), unfinished)
		if len(stored) == 0 {
			t.Error("nothing was ever stored")
		}
	})
}

// acks collects a child's output and tells when it begins.
type acks struct {
	text  bytes.Buffer // not embedded: its ReadFrom would take the place of Write
	first chan struct{}
}

func (a *acks) Write(p []byte) (int, error) {
	if a.text.Len() == 0 && len(p) > 0 {
		close(a.first)
	}
	return a.text.Write(p)
}

func (a *acks) String() string { return a.text.String() }

// TestKillAtCreation kills processes while they make the store.
func TestKillAtCreation(t *testing.T) {
	for range 20 {
		path := filepath.Join(t.TempDir(), "store.db")
		cmd := command("record", path, 0, 1)
		must(t, cmd.Start())
		time.Sleep(time.Duration(rand.IntN(12_000)) * time.Microsecond)
		must(t, cmd.Process.Kill())
		cmd.Wait()
		s := reopen(t, path)
		if _, err := s.Entries(testKey(0)); err != nil {
			t.Fatal(err)
		}
		must(t, s.Record(testKey(0), testEntry(1)))
	}
}

// TestFileLimit records until the system refuses to let the file grow.
func TestFileLimit(t *testing.T) {
	path := filepath.Join(t.TempDir(), "store.db")
	out, err := command("limited", path, 0, 10000).Output()
	if err == nil || !strings.Contains(string(out), "refused true") {
		t.Fatalf("%v: %.1000s", err, out)
	}
	stored := acknowledged(string(out))
	if len(stored) < 10 {
		t.Fatalf("only %d entries in 128 KiB", len(stored))
	}
	if !strings.Contains(string(out), "ulimit") || !strings.Contains(string(out), path) {
		t.Errorf("no remedy: %s", out[len(out)-300:])
	}
	s := reopen(t, path)
	entries, err := s.Entries(testKey(0))
	must(t, err)
	if len(entries) != len(stored) {
		t.Errorf("%d entries of %d", len(entries), len(stored))
	}
	must(t, s.Record(testKey(0), testEntry(len(stored)))) // works again without the limit
}

// filled makes a store that has a branch page, overflow pages, inline buckets
// and free pages, and gives its bytes and entries.
func filled(t *testing.T) (data []byte, entries map[string]Entry) {
	s := openTemp(t)
	entries = map[string]Entry{}
	var all []Entry
	for i := range 300 {
		e := testEntry(i)
		if i%50 == 0 {
			e.Log = strings.Repeat("log ", MaxLog/4)
		}
		all = append(all, e)
		entries[entryName(e)] = e
	}
	must(t, s.Record(testKey(0), all[:100]...))
	must(t, s.Record(testKey(0), all[100:]...))
	must(t, s.Record(testKey(1), all[0]))
	must(t, s.Begin(testKey(1), all[0].Schedule))
	for i := range 3 {
		must(t, s.PutBest(testKey(i), configAt(testKey(i))))
	}
	must(t, s.Forget(testKey(1)))
	must(t, s.Record(testKey(1), all[1]))
	data, err := os.ReadFile(s.Path())
	must(t, err)
	return data, entries
}

// probe does everything that can be done with a damaged store. Whatever comes
// back must be what was stored, and errors must be ErrCorrupt. It tells whether
// the damage was noticed, and how many entries there were.
func probe(t *testing.T, path string, want map[string]Entry) (noticed bool, n int) {
	t.Helper()
	s := reopen(t, path)
	before, err := os.ReadFile(path)
	must(t, err)
	wrong := func(err error) bool {
		if err != nil && !errors.Is(err, ErrCorrupt) {
			t.Fatalf("%v", err)
		}
		return err != nil
	}
	for _, k := range []Key{testKey(0), testKey(1)} {
		entries, err := s.Entries(k)
		noticed = wrong(err) || noticed
		n += len(entries)
		for _, e := range entries {
			if w := want[entryName(e)]; !reflect.DeepEqual(w, e) { // much faster than cmp
				t.Fatalf("a damaged entry came back: %s", cmp.Diff(w, e, sameSchedules))
			}
		}
		_, err = s.Unfinished(k)
		noticed = wrong(err) || noticed
	}
	c, _, ok, err := s.Best(testKey(0))
	noticed = wrong(err) || noticed
	if ok {
		c.Match = MatchInfo{}
		w := configAt(testKey(0))
		for i := 1; i < 3 && KeyOf(c) != testKey(i-1); i++ {
			w = configAt(testKey(i))
		}
		w.Match = MatchInfo{}
		if d := cmp.Diff(w, c, unexported); d != "" {
			t.Fatalf("a damaged config came back: %s", d)
		}
	}
	r, err := s.Check()
	noticed = wrong(err) || noticed || r.Damaged > 0 || len(r.Warnings) > 0
	after, err := os.ReadFile(path)
	must(t, err)
	if !bytes.Equal(before, after) {
		t.Fatal("reading changed the file")
	}
	// Writing works, or refuses and changes nothing.
	e := testEntry(299)
	e.SourceHash = "ffff"
	if err := s.Record(testKey(0), e); wrong(err) {
		if after, _ := os.ReadFile(path); !bytes.Equal(before, after) {
			t.Fatal("a refused file was changed")
		}
		return true, n
	}
	entries, err := s.Entries(testKey(0))
	if small == 0 && wrong(err) { // what was written lies beside damage
		return true, n
	}
	must(t, err)
	found := false
	for _, x := range entries {
		found = found || entryName(x) == entryName(e)
	}
	if !found {
		t.Fatal("what was recorded is not there")
	}
	return noticed, n
}

// TestBitFlips flips 1 to 4 bits at random places, some in headers of pages,
// where it hurts most.
func TestBitFlips(t *testing.T) {
	rounds := *flips
	defer func(n int) { small = n }(small)
	sizes := []int{small, 0} // as a small store, and as a large one
	data, want := filled(t)
	path := filepath.Join(t.TempDir(), "store.db")
	noticed, lost := 0, 0
	for i := range rounds {
		small = sizes[i/2%2]
		r := rand.New(rand.NewPCG(uint64(i), 7))
		broken := bytes.Clone(data)
		for range 1 + r.IntN(4) {
			at := r.IntN(len(broken))
			if i%2 == 0 { // within the first bytes of a page
				at = at/4096*4096 + r.IntN(80)
			}
			broken[at] ^= 1 << r.IntN(8)
		}
		must(t, os.WriteFile(path, broken, 0o600))
		saw, n := probe(t, path, want)
		if saw {
			noticed++
		} else if n < len(want) {
			lost++
		}
	}
	t.Logf("of %d files the damage of %d was noticed; %d lost entries unnoticed", rounds, noticed, lost)
	if lost > 0 || noticed < rounds/4 {
		t.Errorf("only %d of %d noticed", noticed, rounds)
	}
}

func TestMutilated(t *testing.T) {
	data, want := filled(t)
	path := filepath.Join(t.TempDir(), "store.db")
	zero := func(from, to int) []byte {
		b := bytes.Clone(data)
		clear(b[from:to])
		return b
	}
	noise := make([]byte, len(data))
	for i := range noise {
		noise[i] = byte(rand.IntN(256))
	}
	for name, broken := range map[string][]byte{
		"one byte":       data[:1],
		"100 bytes":      data[:100],
		"4096 bytes":     data[:4096],
		"8192 bytes":     data[:8192],
		"half":           data[:len(data)/2],
		"a page short":   data[:len(data)-4096],
		"both metas":     zero(0, 8192),
		"all zero":       zero(0, len(data)),
		"noise":          noise,
		"text":           []byte(strings.Repeat("this is no store\n", 1000)),
		"noise in pages": append(bytes.Clone(data[:8192]), noise[8192:]...),
	} {
		t.Run(name, func(t *testing.T) {
			must(t, os.WriteFile(path, broken, 0o600))
			if name == "a page short" { // bbolt's files may have a page in reserve
				probe(t, path, want)
				return
			}
			within(t, 10*time.Second, func() {
				if noticed, _ := probe(t, path, want); !noticed {
					t.Error("not noticed")
				}
			})
			s := reopen(t, path)
			_, err := s.Entries(testKey(0))
			if !errors.Is(err, ErrCorrupt) || !strings.Contains(err.Error(), "mv "+path) {
				t.Errorf("%v", err)
			}
		})
	}
}

// Every page in turn is zeroed: what is lost with it is noticed, and what is not lost comes
// back by a repair.
func TestEveryPageLost(t *testing.T) {
	data, want := filled(t)
	dir := t.TempDir()
	step := 2 * 4096 // each run loses another half of them
	if testing.Short() {
		step *= 4
	}
	noticed, saved, pages := 0, 0, 0
	for at := rand.IntN(step/4096) * 4096; at < len(data); at += step {
		pages++
		broken := bytes.Clone(data)
		clear(broken[at : at+4096])
		path := filepath.Join(dir, fmt.Sprint(at))
		must(t, os.WriteFile(path, broken, 0o600))
		to := reopen(t, path+".saved")
		_, err := reopen(t, path).Repair(to)
		must(t, err)
		kept := 0
		for _, k := range []Key{testKey(0), testKey(1)} {
			entries, err := to.Entries(k)
			must(t, err)
			for _, e := range entries {
				if w := want[entryName(e)]; !reflect.DeepEqual(w, e) {
					t.Fatalf("page at %d: a damaged entry was saved: %s", at, cmp.Diff(w, e, sameSchedules))
				}
			}
			kept += len(entries)
		}
		// One page holds a few entries at most, of the hundreds there are.
		if kept < len(want)*9/10 {
			t.Errorf("page at %d: %d of %d entries saved", at, kept, len(want))
		}
		saved += kept
		saw, n := probe(t, path, want)
		if !saw && n < len(want) {
			t.Errorf("page at %d: %d of %d entries are left and nothing is said", at, n, len(want))
		}
		if saw {
			noticed++
		}
	}
	t.Logf("of %d pages the loss of %d was noticed, the others were free; %.1f %% of all entries were saved", pages, noticed, 100*float64(saved)/float64(len(want)*pages))
}

// TestRollback loses one meta page: bbolt goes back a transaction and says nothing.
func TestRollback(t *testing.T) {
	data, _ := filled(t)
	for page := range 2 {
		path := filepath.Join(t.TempDir(), "store.db")
		must(t, os.WriteFile(path, data, 0o600))
		s := reopen(t, path)
		must(t, s.Record(testKey(2), testEntry(0)))
		now, err := os.ReadFile(path)
		must(t, err)
		clear(now[4096*page : 4096*page+4096])
		must(t, os.WriteFile(path, now, 0o600))
		_, err = s.Entries(testKey(2))
		must(t, err)
		if w := s.Warnings(); len(w) == 0 || !strings.Contains(w[0], "meta page") {
			t.Errorf("page %d: %v", page, w)
		}
		fresh := reopen(t, path)
		_, err = fresh.Entries(testKey(2))
		must(t, err)
		if w := fresh.Warnings(); len(w) != 1 {
			t.Errorf("page %d, opened anew: %v", page, w)
		}
	}
	// An older copy of the file put in its place.
	path := filepath.Join(t.TempDir(), "store.db")
	must(t, os.WriteFile(path, data, 0o600))
	s := reopen(t, path)
	must(t, s.Record(testKey(2), testEntry(0)))
	must(t, os.WriteFile(path, data, 0o600))
	_, err := s.Entries(testKey(2))
	must(t, err)
	if w := s.Warnings(); len(w) != 1 || !strings.Contains(w[0], "went back") {
		t.Error(w)
	}
}
