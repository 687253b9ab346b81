package cache

import (
	"bytes"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"testing"

	"go.etcd.io/bbolt"
)

// TestSoundPages makes sure that checkPages takes whatever bbolt itself writes:
// trees that grow, shrink and split, nested buckets, long values.
func TestSoundPages(t *testing.T) {
	for seed := range uint64(4) {
		r := rand.New(rand.NewPCG(seed, 1))
		path := filepath.Join(t.TempDir(), "bolt.db")
		db, err := bbolt.Open(path, 0o600, &bbolt.Options{NoSync: true, NoFreelistSync: seed == 3})
		must(t, err)
		n := 0
		for step := range 150 {
			must(t, db.Update(func(tx *bbolt.Tx) error {
				for range r.IntN(200) {
					b, err := tx.CreateBucketIfNotExists(fmt.Appendf(nil, "bucket %d", r.IntN(3)))
					if err != nil {
						return err
					}
					if r.IntN(3) == 0 {
						if b, err = b.CreateBucketIfNotExists(fmt.Appendf(nil, "bucket %d", r.IntN(20))); err != nil {
							return err
						}
					}
					// Waves of filling and emptying, in the middle and at both ends.
					key := fmt.Appendf(nil, "key %0*d", 5+int(seed%2)*r.IntN(400), r.IntN(2000))
					if c := b.Cursor(); r.IntN(100) < 30+40*(step/25%2) {
						for k, v := c.Seek(key); k != nil && r.IntN(20) > 0; k, v = c.Next() {
							if v != nil {
								if err := c.Delete(); err != nil {
									return err
								}
							}
						}
					} else if err := b.Put(key, make([]byte, r.IntN(10)*r.IntN(10)*r.IntN(100))); err != nil {
						return err
					}
				}
				return nil
			}))
			data, err := os.ReadFile(path)
			must(t, err)
			lost, err := checkPages(data, whole)
			if err != nil || lost {
				t.Fatalf("seed %d, step %d: %v, lost %v", seed, step, err, lost)
			}
			n = len(data)
		}
		must(t, db.View(func(tx *bbolt.Tx) error {
			for err := range tx.Check() {
				t.Error("bbolt itself finds", err)
			}
			return nil
		}))
		must(t, db.Close())
		t.Logf("seed %d: %d bytes", seed, n)
	}
}

// TestHostilePages writes all kinds of nonsense over headers of pages and
// elements: cycles, giant counts, pages beyond the end.
func TestHostilePages(t *testing.T) {
	data, _ := filled(t)
	for at := 0; at+8 <= len(data); at += 2 {
		if at%4096 >= 64 && at%509 != 0 {
			continue
		}
		for _, v := range []uint64{0, 1, 3, 1 << 40, ^uint64(0)} {
			b := bytes.Clone(data[at : at+8])
			native.PutUint64(data[at:], v)
			checkPages(data, whole) // must return, without a panic
			copy(data[at:], b)
		}
	}
	if _, err := checkPages(data, whole); err != nil {
		t.Error(err)
	}
}

// A page holds the keys from its first one on, and before its neighbour's first one.
func TestAPartTouchesThePagesOfItsKeys(t *testing.T) {
	w := &part{in: map[string]*part{"b": nil}}
	for _, c := range []struct {
		low, high string // "" = no bound
		want      bool
	}{{"a", "c", true}, {"b", "c", true}, {"a", "b", false}, {"c", "", false}, {"b", "", true}, {"", "b", false}, {"", "c", true}} {
		var high []byte
		if c.high != "" {
			high = []byte(c.high)
		}
		if got := w.touches([]byte(c.low), high); got != c.want {
			t.Errorf("from %q on and before %q: %v", c.low, c.high, got)
		}
	}
	if all := (&part{all: true}); !all.touches([]byte("x"), nil) || !whole.touches([]byte("x"), nil) {
		t.Error("what may touch every page touches none")
	}
}

// A problem whose name has characters that a terminal obeys is not read from a sound store, nor saved from the pages of another.
func TestNothingUncleanIsSalvaged(t *testing.T) {
	s := openTemp(t)
	sound, unclean := testKey(1), testKey(1)
	unclean.DeviceName = "NVIDIA\x1b[2J"
	must(t, s.Record(sound, testEntry(1)))
	must(t, s.Record(unclean, testEntry(2)))
	data, err := os.ReadFile(s.Path())
	must(t, err)
	got := newBatch()
	salvage(data, got)
	if len(got.entries) != 1 || len(got.entries[sound]) != 1 {
		t.Errorf("%v", got.entries)
	}
}

// FuzzStore writes anything over a part of a store: it must be read, or refused, and what is salvaged must be records.
func FuzzStore(f *testing.F) {
	s := openTemp(f)
	for i := range 30 {
		must(f, s.Record(testKey(i%3), testEntry(i)))
	}
	must(f, s.PutBest(testKey(1), configAt(testKey(1))))
	sound, err := os.ReadFile(s.Path())
	must(f, err)
	f.Add(uint32(0), []byte{})
	f.Add(uint32(3*4096), []byte{4, 0, 0, 0, 0, 0, 0, 0, 1, 0, 0, 1, 0, 0, 0, 1})
	f.Add(uint32(len(sound)-4096), make([]byte, 4096))
	f.Fuzz(func(t *testing.T, at uint32, over []byte) {
		data := bytes.Clone(sound)
		copy(data[int(at)%len(data):], over)
		path := filepath.Join(t.TempDir(), "store.db")
		must(t, os.WriteFile(path, data, 0o600))
		broken := reopen(t, path)
		report, err := broken.Check()
		if err != nil && !errors.Is(err, ErrCorrupt) {
			t.Fatal(err)
		}
		if same := bytes.Equal(data, sound); same && (err != nil || report.Entries != 30 || report.Configs != 1) {
			t.Fatalf("%+v, %v", report, err)
		}
		if err == nil && report.Entries > 30 {
			t.Errorf("%d entries of 30", report.Entries)
		}
		got := newBatch()
		salvage(data, got)
		for k, entries := range got.entries {
			for _, e := range entries {
				must(t, e.valid())
			}
			if again, err := ParseKey(k.String()); err != nil || again != k {
				t.Errorf("%s: %v", k, err)
			}
		}
	})
}
