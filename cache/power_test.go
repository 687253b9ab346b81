package cache

import (
	"bytes"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"testing"
)

// TestAPowerLossLeavesTheLastStateOrTheOneBefore cuts the power while an entry is recorded: pages are written and synced, then the meta
// page. Before the first sync any of the pages may be on the disk, and the file may have its old length; after it all are, with either
// meta page. What was acknowledged before is there, the entry is or is not, and the store takes the next.
func TestAPowerLossLeavesTheLastStateOrTheOneBefore(t *testing.T) {
	const page = 4096
	random := rand.New(rand.NewPCG(1, 1))
	path := filepath.Join(t.TempDir(), "store.db")
	s := reopen(t, path)
	read := func() []byte {
		data, err := os.ReadFile(path)
		must(t, err)
		return data
	}
	must(t, s.Record(testKey(0), testEntry(0)))
	for i := 1; i < 60; i++ {
		before := read()
		must(t, s.Record(testKey(0), testEntry(i)))
		after := read()
		meta, synced := 0, bytes.Clone(after)
		for at := 0; at < 2*page; at += page {
			if !bytes.Equal(before[at:at+page], after[at:at+page]) {
				meta++
				copy(synced[at:], before[at:at+page])
			}
		}
		if meta != 1 { // more would be two transactions, whose first has a state of its own
			t.Fatalf("entry %d changed %d meta pages", i, meta)
		}
		states := map[string][]byte{"all pages and no meta page": synced, "all": after}
		for n := range 3 {
			part := bytes.Clone(before)
			if n > 0 { // longer already, with nothing there
				part = append(part, make([]byte, max(0, len(after)-len(before)))...)
			}
			for at := 2 * page; at < min(len(part), len(after)); at += page {
				if random.IntN(2) == 0 {
					copy(part[at:at+page], after[at:])
				}
			}
			states[fmt.Sprint("some pages, ", n)] = part
		}
		for what, data := range states {
			lost := filepath.Join(t.TempDir(), "store.db")
			must(t, os.WriteFile(lost, data, 0o600))
			r := reopen(t, lost)
			entries, err := r.Entries(testKey(0))
			want := i
			if what == "all" {
				want++
			}
			if err != nil || len(entries) != want || len(r.Warnings()) > 0 {
				t.Fatalf("entry %d, %s: %d of %d entries, %v, %v", i, what, len(entries), want, err, r.Warnings())
			}
			must(t, r.Record(testKey(1), testEntry(i)))
			if entries, err := r.Entries(testKey(1)); err != nil || len(entries) != 1 {
				t.Fatalf("entry %d, %s: %d entries afterwards, %v", i, what, len(entries), err)
			}
		}
	}
}
