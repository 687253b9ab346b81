package cache

import (
	"bytes"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"math/bits"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"stenciltune/internal/dbtest"
)

var flagRecords = flag.Int("records", 8000, "of the large store")

// largeKey is the i-th of many keys.
func largeKey(i int) Key {
	k := testKey(0)
	k.Size = fmt.Sprintf("%dx%dx512", 64*(i%1000+1), 64*(i/1000+1))
	return k
}

// largeStore makes a store of so many records, perKey a key, with a best config for each key.
func largeStore(t testing.TB, s *Store, n, perKey int) *Store {
	entries := make([]Entry, perKey)
	for i := range entries {
		entries[i] = testEntry(i * 7919 % 20000)
	}
	for k := range n / perKey {
		must(t, s.Record(largeKey(k), entries...))
		must(t, s.PutBest(largeKey(k), configAt(largeKey(k))))
	}
	return s
}

// reached counts the pages in use that an operation checks.
func reached(t testing.TB, data []byte, w *part) int {
	p, _, err := walk(data, w)
	must(t, err)
	n := 0
	for _, word := range p.seen {
		n += bits.OnesCount64(word)
	}
	free, _, _ := walk(data, &part{in: map[string]*part{}})
	for _, word := range free.seen {
		n -= bits.OnesCount64(word)
	}
	return n
}

// In a large store a record, a lookup and an open cost what they touch, and the file has room for little more
// than its records. -records 1000000 -v prints the times of docs/store.md.
func TestALargeStoreCostsWhatIsTouched(t *testing.T) {
	const perKey = 500
	n := *flagRecords
	s := largeStore(t, openTemp(t), n, perKey)
	data, err := os.ReadFile(s.Path())
	must(t, err)
	if len(data) < small {
		t.Fatalf("%d bytes are no large store", len(data))
	}
	payload := 0
	r, err := s.Check()
	must(t, err)
	if r.Entries != n/perKey*perKey {
		t.Errorf("%d of %d entries", r.Entries, n)
	}
	for i := range perKey {
		e := testEntry(i * 7919 % 20000)
		b, err := sealedSize(e)
		must(t, err)
		payload += b
	}
	payload *= n / perKey
	t.Logf("%d records of %d bytes in a file of %d: %.2f times as many", n, payload, len(data), float64(len(data))/float64(payload))
	if meta, _, err := chooseMeta(data); err != nil || meta.high*uint64(meta.pageSize) > uint64(3*payload+1<<20) || len(data) > max(2*int(meta.high)*int(meta.pageSize), 16<<20) {
		t.Errorf("a file of %d bytes for %d bytes of records: %+v, %v", len(data), payload, meta, err)
	}
	e := testEntry(19_999)
	w := touched(places(largeKey(3).String(), []Entry{e}))
	if got := reached(t, data, w); got > 60 {
		t.Errorf("a record checks %d pages", got)
	}
	if got, all := reached(t, data, whole), len(data)/os.Getpagesize(); got < all/3 {
		t.Errorf("all of %d pages are %d", all, got)
	}

	timeOf(t, 80, []string{"record", "the writes and the two fsyncs of a record alone"},
		func(i int) { must(t, s.Record(largeKey(i%(n/perKey)), testEntry(i))) },
		syncs(t, len(data)))
	timeOf(t, 80, []string{"lookup"}, func(i int) {
		_, _, ok, err := s.Best(largeKey(i % (n / perKey)))
		must(t, err)
		if !ok {
			t.Error("a config is missing")
		}
	})
	timeOf(t, 80, []string{"open"}, func(int) { must(t, reopen(t, s.Path()).Writable()) })
	timeOf(t, 80, []string{"entries of a problem"}, func(i int) {
		_, err := s.Entries(largeKey(i % (n / perKey)))
		must(t, err)
	})
}

// syncs does to a file of its own, of so many bytes, what a record does to a store: eight pages and a sync, the meta
// page and a sync.
func syncs(t testing.TB, size int) func(int) {
	f, err := os.Create(filepath.Join(t.TempDir(), "pages"))
	must(t, err)
	t.Cleanup(func() { f.Close() })
	zero := make([]byte, 1<<20)
	for at := 0; at < size; at += len(zero) {
		_, err := f.WriteAt(zero, int64(at))
		must(t, err)
	}
	must(t, f.Sync())
	r := rand.New(rand.NewPCG(1, 2))
	return func(int) {
		for _, n := range []int{8, 1} {
			for range n {
				_, err := f.WriteAt(zero[:4096], int64(4096*r.IntN(size/4096)))
				must(t, err)
			}
			must(t, unix.Fdatasync(int(f.Fd())))
		}
	}
}

// cpu is the processor's time that this process took, in seconds.
func cpu(t testing.TB) float64 {
	var u unix.Rusage
	must(t, unix.Getrusage(unix.RUSAGE_SELF, &u))
	return float64(u.Utime.Nano()+u.Stime.Nano()) / 1e9
}

// sealedSize is the bytes of an entry's record.
func sealedSize(e Entry) (int, error) {
	b, err := json.Marshal(e)
	return len(b) + recordHeader + len(entryName(e)), err
}

// Where pages are checked as they are touched, damage is noticed by whoever touches it, and by a check.
func TestDamageInALargeStore(t *testing.T) {
	defer func(n int) { small = n }(small)
	small = 0
	const records, perKey = 2000, 100
	s := largeStore(t, openTemp(t), records, perKey)
	data, err := os.ReadFile(s.Path())
	must(t, err)
	path := filepath.Join(t.TempDir(), "store.db")
	r := rand.New(rand.NewPCG(3, 1))
	rounds, said, written := 40, 0, 0
	if testing.Short() {
		rounds = 6
	}
	for range rounds {
		broken := bytes.Clone(data)
		at := (2 + r.IntN(len(data)/4096-2)) * 4096
		if r.IntN(2) == 0 {
			clear(broken[at : at+4096])
		} else {
			for range 4 {
				broken[at+r.IntN(80)] ^= 1 << r.IntN(8)
			}
		}
		must(t, os.WriteFile(path, broken, 0o600))
		b := reopen(t, path)
		report, err := b.Check()
		damaged := err != nil || report.Damaged > 0 || report.Entries < records
		if err != nil && !errors.Is(err, ErrCorrupt) {
			t.Fatal(err)
		}
		if !damaged {
			continue // a free page
		}
		said++
		b = reopen(t, path)
		for k := range records / perKey {
			entries, err := b.Entries(largeKey(k))
			if err != nil && !errors.Is(err, ErrCorrupt) {
				t.Fatal(err)
			}
			if err == nil && len(entries)+b.Damaged() < perKey {
				t.Errorf("page %d: %d entries of problem %d, and nothing is said", at/4096, len(entries), k)
			}
		}
		// A record elsewhere is kept, or refused.
		e := testEntry(19_998)
		if err := b.Record(largeKey(99), e); err == nil {
			written++
			entries, err := b.Entries(largeKey(99))
			if err != nil || len(entries) != 1 {
				t.Errorf("page %d: %d entries, %v", at/4096, len(entries), err)
			}
		} else if !errors.Is(err, ErrCorrupt) {
			t.Error(err)
		}
	}
	if said < rounds/2 || written == 0 {
		t.Errorf("of %d damaged files %d are noticed, %d written", rounds, said, written)
	}
	t.Logf("of %d damaged files %d are noticed; %d take a record elsewhere", rounds, said, written)
}

// timeOf prints medians of times that are taken in turn, since others use the disk and the processor too.
func timeOf(t *testing.T, rounds int, what []string, f ...func(i int)) {
	times, busy := make([][]float64, len(f)), make([]float64, len(f))
	for i := range rounds {
		for n := range f {
			begin, used := time.Now(), cpu(t)
			f[n](i)
			times[n], busy[n] = append(times[n], 1e3*time.Since(begin).Seconds()), busy[n]+1e3*(cpu(t)-used)/float64(rounds)
		}
	}
	for n, ms := range times {
		slices.Sort(ms)
		t.Logf("%s: %.2f ms, nine in ten below %.2f, %.2f ms of the processor", what[n], ms[rounds/2], ms[rounds*9/10], busy[n])
	}
}

// A shared store answers from many records as from few: -records 1000000 -v prints the times of docs/store.md.
func TestALargeDatabaseAnswersAtOnce(t *testing.T) {
	const perKey = 500
	n, rounds := min(*flagRecords, 4000), 8
	if *flagRecords > 8000 {
		n, rounds = *flagRecords, 80
	}
	onServers(t, func(t *testing.T, server *dbtest.Server) {
		at := server.Fresh(t)
		s := largeStore(t, reopen(t, at), n, perKey)
		asked := func(i int) Key { return largeKey(i * 7 % (n / perKey)) }
		best := func(s *Store, k Key, want Grade) {
			_, grade, ok, err := s.Best(k)
			must(t, err)
			if !ok || grade != want {
				t.Fatalf("%v: %v, %v", k, grade, ok)
			}
		}
		timeOf(t, rounds, []string{"record"}, func(i int) { must(t, s.Record(asked(i), testEntry(i))) })
		timeOf(t, rounds, []string{"lookup"}, func(i int) { best(s, asked(i), Exact) })
		timeOf(t, rounds, []string{"lookup by a process that has just begun"}, func(i int) {
			fresh := reopen(t, at)
			best(fresh, asked(i), Exact)
			fresh.engine.(*database).disconnect()
		})
		timeOf(t, rounds, []string{"lookup of a size that is not there"}, func(i int) {
			k := asked(i)
			k.Size = "100x100x100"
			best(s, k, OtherSize)
		})
		timeOf(t, rounds, []string{"entries of a problem"}, func(i int) {
			entries, err := s.Entries(asked(i))
			must(t, err)
			if len(entries) < perKey {
				t.Fatalf("%d entries", len(entries))
			}
		})
		r, err := s.Check()
		must(t, err)
		t.Logf("%d records in %d MB", r.Entries, r.Bytes>>20)
		if r.Entries < n || r.Configs != n/perKey || r.Damaged != 0 {
			t.Errorf("%+v", r)
		}
	})
}
