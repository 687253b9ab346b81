package trace

import (
	"math/rand/v2"
	"slices"
	"testing"

	"pgregory.net/rapid"
)

func TestParseCache(t *testing.T) {
	for text, want := range map[string]Cache{
		"24x16":     {24, 16, 24},
		"512x128x4": {512, 128, 4},
		"1x4x1":     {1, 4, 1},
	} {
		if got, err := ParseCache(text); err != nil || got != want {
			t.Errorf("%s: %+v, %v", text, got, err)
		}
	}
	for _, text := range []string{"", "24", "24x", "0x16", "24x-4", "24x16x5", "24x16x4x2", "99999999999x16", "axb"} {
		if c, err := ParseCache(text); err == nil {
			t.Errorf("%q: %+v", text, c)
		}
	}
}

// list is an LRU set as a slice, oldest first.
type list []int64

func (l *list) load(line int64, ways int) bool {
	i := slices.Index(*l, line)
	if i >= 0 {
		*l = slices.Delete(*l, i, i+1)
	} else if len(*l) == ways {
		*l = (*l)[1:]
	}
	*l = append(*l, line)
	return i >= 0
}

func TestLRUIsThatOfASlice(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		ways, sets := rapid.IntRange(1, 6).Draw(t, "ways"), rapid.IntRange(1, 4).Draw(t, "sets")
		bytes := rapid.IntRange(1, 9).Draw(t, "bytes")
		l := newLevel(Cache{ways * sets, bytes, ways}, LRU, 1)
		plain := make([]list, sets)
		for _, a := range rapid.SliceOfN(rapid.Int64Range(0, 200), 1, 300).Draw(t, "addresses") {
			line := a / int64(bytes)
			want := plain[line%int64(sets)].load(line, ways)
			if got := l.load(a); got != want {
				t.Fatalf("address %d: hit %v, want %v", a, got, want)
			}
		}
		held := 0
		for s := range plain {
			held += len(plain[s])
			for _, line := range plain[s] {
				if _, ok := l.at[line]; !ok {
					t.Fatalf("line %d is not held", line)
				}
			}
		}
		if held != len(l.at) {
			t.Fatalf("%d lines held, want %d", len(l.at), held)
		}
	})
}

func TestRandomGivesUpFourNeighboursAtOnce(t *testing.T) {
	l := newLevel(Cache{16, 1, 16}, Random, 7)
	r := rand.New(rand.NewPCG(1, 2))
	for i := range 16 {
		if l.load(int64(i)) || len(l.at) != i+1 {
			t.Fatalf("load %d: %d lines held", i, len(l.at))
		}
	}
	starts := map[int]bool{}
	for range 200 {
		before := slices.Clone(l.line)
		full := len(l.at) == 16
		a := int64(100 + r.IntN(1e6))
		if _, ok := l.at[a]; ok {
			continue
		}
		l.load(a)
		if !full {
			continue
		}
		if len(l.at) != 16-Together+1 {
			t.Fatalf("%d lines held after an eviction", len(l.at))
		}
		var changed []int
		for s := range before {
			if l.line[s] != before[s] {
				changed = append(changed, s)
			}
		}
		first := changed[0]
		if changed[len(changed)-1]-first != Together-1 { // they wrap round the end
			first = changed[slices.IndexFunc(changed, func(s int) bool { return s > 8 })]
		}
		for i := range Together {
			if !slices.Contains(changed, (first+i)%16) {
				t.Fatalf("slots %v", changed)
			}
		}
		if len(changed) != Together {
			t.Fatalf("slots %v", changed)
		}
		starts[first] = true
	}
	if len(starts) < 12 {
		t.Errorf("evictions began at %d of 16 slots only", len(starts))
	}
}

func TestRandomRepeatsWithItsSeed(t *testing.T) {
	run := func(seed uint64) (hits int) {
		l := newLevel(Cache{32, 4, 8}, Random, seed)
		r := rand.New(rand.NewPCG(3, 4))
		for range 5000 {
			if l.load(r.Int64N(400)) {
				hits++
			}
		}
		return hits
	}
	first, again, other := run(1), run(1), run(2)
	if first != again || first == other {
		t.Errorf("%d, %d, then %d", first, again, other)
	}
}
