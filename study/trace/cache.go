package trace

import (
	"fmt"
	"math/rand/v2"
	"strconv"
	"strings"
)

// Cache is one level's geometry.
type Cache struct {
	Lines     int // in all
	LineBytes int
	Ways      int // lines of a set; Lines = fully associative
}

// maxLines bounds a level.
const maxLines = 1 << 24

// ParseCache reads "24x16", 24 lines of 16 bytes, fully associative, or "512x128x4",
// the same with 4 ways.
func ParseCache(text string) (Cache, error) {
	var n []int
	for part := range strings.SplitSeq(text, "x") {
		v, err := strconv.Atoi(part)
		if err != nil || v < 1 || v > maxLines {
			n = nil
			break
		}
		n = append(n, v)
	}
	c := Cache{}
	switch len(n) {
	case 2:
		c = Cache{n[0], n[1], n[0]}
	case 3:
		c = Cache{n[0], n[1], n[2]}
	default:
		return c, fmt.Errorf("cache %.80q: write it as LINESxBYTES or LINESxBYTESxWAYS, like 24x16 or 512x128x4", text)
	}
	if c.Lines%c.Ways != 0 {
		return c, fmt.Errorf("cache %q: %d lines are no whole number of sets of %d ways", text, c.Lines, c.Ways)
	}
	return c, nil
}

// String says the geometry in words.
func (c Cache) String() string {
	ways := fmt.Sprintf("%d ways", c.Ways)
	if c.Ways == c.Lines {
		ways = "fully associative"
	}
	return fmt.Sprintf("%d lines of %d bytes, %s", c.Lines, c.LineBytes, ways)
}

// Policy says which line a full set gives up.
type Policy string

const (
	// LRU gives up the line whose last use is longest ago: Maxwell and Pascal, and
	// the assumption of Prasetya 2022, section 3.1.
	LRU Policy = "lru"
	// Random gives up Together consecutive lines, chosen at random: what Jia et al.
	// 2019, "Dissecting the NVIDIA Turing T4 GPU via Microbenchmarking", found in the
	// L1 cache of Volta and Turing.
	Random Policy = "random"
)

// Together is the lines that Random gives up at once, or all of a smaller set.
const Together = 4

// ParsePolicy reads a policy's name.
func ParsePolicy(text string) (Policy, error) {
	if p := Policy(text); p == LRU || p == Random {
		return p, nil
	}
	return "", fmt.Errorf("policy %q: use lru or random", text)
}

// level is a cache at work. A line stands in one of the Ways slots of its set.
type level struct {
	Cache
	policy Policy
	random *rand.Rand
	at     map[int64]int // slot of each line that is held
	line   []int64       // of each slot; none if it is free
	free   [][]int       // free slots of each set
	// The used slots of a set are a ring around its head, slot len(line) + set: after
	// the head the newest, before it the oldest.
	newer, older []int
}

// none is no line.
const none = -1

func newLevel(c Cache, p Policy, seed uint64) *level {
	sets := c.Lines / c.Ways
	l := &level{Cache: c, policy: p, random: rand.New(rand.NewPCG(seed, uint64(c.LineBytes))), at: map[int64]int{},
		line: make([]int64, c.Lines), free: make([][]int, sets), newer: make([]int, c.Lines+sets), older: make([]int, c.Lines+sets)}
	for s := range l.line {
		l.line[s] = none
	}
	for set := range l.free {
		head := c.Lines + set
		l.newer[head], l.older[head] = head, head
		for way := c.Ways - 1; way >= 0; way-- { // popped from the end: slot 0 first
			l.free[set] = append(l.free[set], set*c.Ways+way)
		}
	}
	return l
}

// load tells whether the line of a byte address is held, and holds it from now on.
func (l *level) load(address int64) bool {
	line := address / int64(l.LineBytes)
	set := int(line % int64(len(l.free)))
	slot, hit := l.at[line]
	if hit {
		l.unlink(slot)
	} else {
		if len(l.free[set]) == 0 {
			l.evict(set)
		}
		last := len(l.free[set]) - 1
		slot, l.free[set] = l.free[set][last], l.free[set][:last]
		l.at[line], l.line[slot] = slot, line
	}
	head := l.Lines + set
	l.newer[slot], l.older[slot] = head, l.older[head]
	l.newer[l.older[head]], l.older[head] = slot, slot
	return hit
}

// evict frees slots of a full set.
func (l *level) evict(set int) {
	if l.policy == LRU {
		l.drop(set, l.newer[l.Lines+set])
		return
	}
	first := l.random.IntN(l.Ways)
	for i := min(Together, l.Ways) - 1; i >= 0; i-- {
		l.drop(set, set*l.Ways+(first+i)%l.Ways)
	}
}

func (l *level) drop(set, slot int) {
	l.unlink(slot)
	delete(l.at, l.line[slot])
	l.line[slot] = none
	l.free[set] = append(l.free[set], slot)
}

func (l *level) unlink(slot int) {
	l.newer[l.older[slot]], l.older[l.newer[slot]] = l.newer[slot], l.older[slot]
}
