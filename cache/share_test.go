package cache

import (
	"flag"
	"fmt"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"stenciltune/internal/dbtest"
	"stenciltune/space"
)

// worker takes turns as one of those that share a journal.
type worker struct {
	t     *testing.T
	s     *Store
	me    Running
	heard Heard
	news  []string // entries' schedules, as they came
}

func join(t *testing.T, s *Store, name string, lease time.Duration) *worker {
	return &worker{t: t, s: s, me: Running{Worker: name, Phase: "search", Shared: true, Lease: lease.Seconds()}}
}

// turn takes one and gives what the worker holds of it.
func (w *worker) turn(turn Turn) []string {
	w.t.Helper()
	return texts(w.answer(turn).Held)
}

func (w *worker) answer(turn Turn) Answer {
	w.t.Helper()
	turn.Worker, turn.Heard = w.me, w.heard
	a, err := w.s.Share(testKey(0), turn)
	must(w.t, err)
	w.heard = a.Heard
	for _, e := range a.News {
		w.news = append(w.news, e.Schedule.String())
	}
	return a
}

// heardOf takes what came since it was last asked.
func (w *worker) heardOf() []string {
	news := w.news
	w.news = nil
	slices.Sort(news)
	return news
}

func texts(list []space.Schedule) (all []string) {
	for _, s := range list {
		all = append(all, s.String())
	}
	return all
}

// some are the schedules of entries.
func some(numbers ...int) (list []space.Schedule) {
	for _, i := range numbers {
		list = append(list, testEntry(i).Schedule)
	}
	return list
}

func wantTexts(t *testing.T, what string, got []string, numbers ...int) {
	t.Helper()
	want := texts(some(numbers...))
	slices.Sort(want)
	slices.Sort(got)
	if !slices.Equal(got, want) {
		t.Errorf("%s: %q, want %q", what, got, want)
	}
}

// A schedule has one worker; what it records the others hear once, those that join later too.
func TestWorkersShareAJournal(t *testing.T) {
	onEach(t, func(t *testing.T, fresh func() *Store) {
		s := fresh()
		must(t, s.Record(testKey(0), testEntry(9)))
		a, b := join(t, s, "a:1:0", time.Minute), join(t, reopen(t, s.Path()), "b:1:0", time.Minute)
		wantTexts(t, "a claims", a.turn(Turn{Claim: some(0, 1, 2)}), 0, 1, 2)
		wantTexts(t, "a joins", a.heardOf(), 9)
		wantTexts(t, "b claims", b.turn(Turn{Claim: some(1, 2, 3)}), 3)
		wantTexts(t, "a again", a.turn(Turn{Claim: some(2, 3)}), 2)
		wantTexts(t, "b begins", b.turn(Turn{Begin: some(3, 0, 7)}), 3) // 0 is another's, 7 nobody's
		b.heardOf()
		wantTexts(t, "a goes on", a.turn(Turn{Entries: []Entry{begunEntry(0)}, Begin: some(1)}), 1)
		wantTexts(t, "a hears itself", a.heardOf())
		wantTexts(t, "b asks", b.turn(Turn{Claim: some(0)}), 0) // free again: who has heard of it does not ask
		wantTexts(t, "b hears", b.heardOf(), 0)
		must(t, s.Release(testKey(0), "a:1:0", map[space.Schedule]bool{some(1)[0]: true, some(2)[0]: false, some(3)[0]: true}))
		wantTexts(t, "b takes what is released", b.turn(Turn{Claim: some(1, 2)}), 1, 2)
		if left, err := s.Unfinished(testKey(0)); err != nil || len(left) != 0 {
			t.Errorf("%+v, %v", left, err)
		}
		for i := range 3 * readAhead { // more than one turn reads
			a.turn(Turn{Entries: []Entry{testEntry(100 + i)}})
		}
		b.turn(Turn{Entries: []Entry{testEntry(3)}})
		if news := b.heardOf(); len(news) != 3*readAhead {
			t.Errorf("b hears of %d", len(news))
		}
		a.turn(Turn{})
		wantTexts(t, "a hears", a.heardOf(), 3)
		if r, err := s.Check(); err != nil || r.Damaged != 0 || r.Unfinished != 0 {
			t.Errorf("%+v, %v", r, err)
		}
	})
}

// The trail is there as long as anybody walks on it.
func TestTheLastWorkerTakesTheTrailAway(t *testing.T) {
	onEach(t, func(t *testing.T, fresh func() *Store) {
		s := fresh()
		length := func() int {
			t.Helper()
			records, err := s.engine.read(spot{part: partTrail, key: testKey(0).String()})
			must(t, err)
			return len(records)
		}
		a, b := join(t, s, "a:1:0", time.Minute), join(t, s, "b:1:0", time.Minute)
		away := join(t, s, "away:1:0", time.Nanosecond)
		for _, w := range []*worker{a, b, away} {
			w.turn(Turn{Claim: some(3)})
		}
		a.turn(Turn{Entries: []Entry{testEntry(0), testEntry(1)}})
		a.me.Phase = ""
		must(t, s.Leave(testKey(0), a.me, map[space.Schedule]bool{some(3)[0]: false}))
		if length() != 3 {
			t.Errorf("%d records of a trail that is in use", length())
		}
		b.me.Phase = ""
		must(t, s.Leave(testKey(0), b.me, nil))
		if length() != 0 {
			t.Errorf("%d records are left", length())
		}
		// One that was not heard of for long comes back, while others have begun another.
		c := join(t, s, "c:1:0", time.Minute)
		wantTexts(t, "c claims", c.turn(Turn{Claim: some(3)}), 3)
		c.turn(Turn{Entries: []Entry{testEntry(2), testEntry(4)}})
		away.turn(Turn{})
		wantTexts(t, "it hears", away.heardOf(), 0, 1, 2, 4)
		must(t, s.Forget(testKey(0)))
		c.turn(Turn{Entries: []Entry{testEntry(5)}})
		away.turn(Turn{})
		wantTexts(t, "after all was forgotten", away.heardOf(), 5)
	})
}

// A worker that dies loses its claims when its lease ends by the store's clock, whatever that of a
// machine says. What it was running twice when it died is not run again.
func TestClaimsOfDeadWorkersRunOut(t *testing.T) {
	onEach(t, func(t *testing.T, fresh func() *Store) { claimsRunOut(t, fresh()) })
	t.Run("clock", func(t *testing.T) { claimsRunOut(t, reopen(t, offClock(t, dbtest.Shared(t)))) })
}

func claimsRunOut(t *testing.T, s *Store) {
	dead, b, c := join(t, s, "dead:1:0", time.Minute), join(t, s, "b:1:0", time.Minute), join(t, s, "c:1:0", time.Minute)
	dies := func(w *worker, claims ...int) { // a lease that has run out is like any other
		w.me.Lease = 1e-9
		wantTexts(t, "while it lives", w.turn(Turn{Claim: some(claims...)}), claims...)
	}
	dead.turn(Turn{Claim: some(0, 1, 2)})
	dead.turn(Turn{Begin: some(0)})
	wantTexts(t, "b claims", b.turn(Turn{Claim: some(0, 3)}), 3)
	dies(dead, 0, 1, 2)
	wantTexts(t, "b takes over", b.turn(Turn{Claim: some(0, 1)}), 0, 1)
	dead.me.Lease = 60
	wantTexts(t, "the dead one is back", dead.turn(Turn{Begin: some(0, 2)}), 2)
	if left, err := s.Unfinished(testKey(0)); err != nil || len(left) != 0 { // they run
		t.Errorf("%+v, %v", left, err)
	}
	b.turn(Turn{Begin: some(0)})
	dies(b, 0)
	a := c.answer(Turn{Claim: some(0, 1)})
	wantTexts(t, "begun once at most", texts(a.Held))
	wantTexts(t, "begun twice", texts(a.Spent), 0)
	if left, err := s.Unfinished(testKey(0)); err != nil || len(left) != 1 || left[0].Schedule != some(0)[0] || !left[0].Quarantined() {
		t.Errorf("%+v, %v", left, err)
	}
}

// A worker releases what it holds, and not what another has taken over from it meanwhile.
func TestOnlyOnesOwnClaimsAreReleased(t *testing.T) {
	onEach(t, func(t *testing.T, fresh func() *Store) {
		s := fresh()
		slow, b, c := join(t, s, "slow:1:0", 0), join(t, s, "b:1:0", time.Minute), join(t, s, "c:1:0", time.Minute)
		slow.me.Lease = 1e-9
		slow.turn(Turn{Claim: some(0, 1)})
		wantTexts(t, "b takes over", b.turn(Turn{Claim: some(0)}), 0)
		must(t, s.Release(testKey(0), slow.me.Worker, map[space.Schedule]bool{some(0)[0]: true}))
		must(t, s.Leave(testKey(0), slow.me, map[space.Schedule]bool{some(0)[0]: false, some(1)[0]: false}))
		wantTexts(t, "c claims", c.turn(Turn{Claim: some(0, 1)}), 1)
	})
}

// Whoever may write to a store may say that its trail is of any length. Nobody walks it then.
func TestATrailWithoutEndIsNotWalked(t *testing.T) {
	s := openTemp(t)
	w, other := join(t, s, "a:1:0", time.Minute), join(t, s, "b:1:0", time.Minute)
	w.turn(Turn{})
	other.turn(Turn{Entries: []Entry{testEntry(0)}})
	at := trailAt(testKey(0).String())
	raw, err := sealJSON(at.place(), trail{w.heard.since, 1 << 40})
	must(t, err)
	put(t, s, at, raw)
	within(t, 10*time.Second, func() { w.turn(Turn{}) })
	if got := w.heardOf(); !slices.Equal(got, texts(some(0))) {
		t.Errorf("heard of %v", got)
	}
}

// A step that is lost is a schedule that others do not hear of.
func TestDamageInATrailIsFound(t *testing.T) {
	onEach(t, func(t *testing.T, fresh func() *Store) {
		s := fresh()
		join(t, s, "a", time.Minute).turn(Turn{Entries: []Entry{testEntry(1)}})
		if r, err := s.Check(); err != nil || r.Damaged != 0 {
			t.Fatalf("%+v %v", r, err)
		}
		put(t, s, stepAt(testKey(0).String(), 1), []byte("no step"))
		if r, err := s.Check(); err != nil || r.Damaged != 1 || len(r.Places) != 1 || !strings.HasPrefix(r.Places[0], "trail v1") {
			t.Errorf("%+v %v", r, err)
		}
	})
}

// Several workers go through one list: each schedule is recorded by one of them, and all hear of all.
func TestWorkersAtOnce(t *testing.T) {
	onEach(t, func(t *testing.T, fresh func() *Store) {
		const workers, all = 4, 60
		at := fresh().Path()
		var mu sync.Mutex
		by := map[string]int{}
		var wg sync.WaitGroup
		for n := range workers {
			wg.Go(func() {
				w := join(t, reopen(t, at), fmt.Sprintf("w%d:1:0", n), time.Minute)
				w.s.LockTimeout = time.Minute // of a file that is always taken
				w.turn(Turn{})
				known, joining := map[string]bool{}, map[string]bool{}
				for _, text := range w.heardOf() {
					known[text], joining[text] = true, true // perhaps recorded while it joined, and then told once more
				}
				for i := 0; len(known) < all; i = (i + 1) % all {
					e := begunEntry(i)
					if text := e.Schedule.String(); !known[text] && len(w.turn(Turn{Claim: some(i)})) == 1 && !slices.Contains(w.news, text) {
						w.turn(Turn{Begin: some(i)})
						w.turn(Turn{Entries: []Entry{e}})
						known[text] = true
						mu.Lock()
						by[text]++
						mu.Unlock()
					}
					for _, text := range w.heardOf() {
						if known[text] && !joining[text] {
							t.Errorf("%s is heard of twice", text)
						}
						known[text] = true
						delete(joining, text)
					}
				}
			})
		}
		wg.Wait()
		for text, n := range by {
			if n != 1 {
				t.Errorf("%s was recorded %d times", text, n)
			}
		}
		entries, err := reopen(t, at).Entries(testKey(0))
		if err != nil || len(entries) != all || len(by) != all {
			t.Errorf("%d entries of %d, %v", len(entries), all, err)
		}
	})
}

var turns = flag.Int("turns", 0, "schedules that workers take through their turns, for times")

// TestTurns prints what sharing costs a schedule: a turn that claims the next and one that records it. Turns come one after
// another, so that eight workers take as long for a schedule as one; on a quiet machine they took up to 1.5 times that
// (bench/host/sharing.txt), on a busy one 4.6 times.
//
//	DBTEST_DURABLE=1 go test ./cache -run TestTurns -turns 1000 -v
func TestTurns(t *testing.T) {
	if *turns == 0 {
		t.Skip("skipped: measures; -turns 1000 asks for it")
	}
	onEach(t, func(t *testing.T, fresh func() *Store) {
		alone := 0. // seconds a schedule
		for _, workers := range []int{1, 8} {
			at := fresh().Path()
			var next atomic.Int64
			var mu sync.Mutex
			var took []float64
			var wg sync.WaitGroup
			begin := time.Now()
			for n := range workers {
				wg.Go(func() {
					w := join(t, reopen(t, at), fmt.Sprintf("w%d:1:0", n), time.Minute)
					w.s.LockTimeout = time.Minute // of a file that is always taken
					for i := int(next.Add(1)); i <= *turns; i = int(next.Add(1)) {
						began := time.Now()
						w.turn(Turn{Claim: some(i)})
						w.turn(Turn{Begin: some(i), Entries: []Entry{begunEntry(i)}})
						mu.Lock()
						took = append(took, time.Since(began).Seconds())
						mu.Unlock()
					}
				})
			}
			wg.Wait()
			each := time.Since(begin).Seconds() / float64(len(took))
			slices.Sort(took)
			t.Logf("%d workers: %.2f ms a schedule of the tune; a worker waits %.2f ms for its own in the median, %.2f for nine in ten", workers,
				1e3*each, 1e3*took[len(took)/2], 1e3*took[len(took)*9/10])
			if workers == 1 {
				alone = each
			} else if each > 8*alone {
				t.Errorf("%d workers take %.1f times as long for a schedule as one", workers, each/alone)
			}
		}
	})
}
