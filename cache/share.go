package cache

import (
	"errors"
	"fmt"
	"io/fs"
	"slices"
	"time"

	"stenciltune/space"
)

// Workers of one problem share its journal: each claims a schedule before it compiles it, and
// hears what the others recorded. A claim is an Intent with a worker's name. It holds for the
// worker's lease by the store's clock, and is renewed by claiming again. Nobody coordinates:
// claims of a worker that died run out, and others take them over.
//
// What is recorded in turn is noted in the trail, numbered from 1 on, so that a worker reads
// only what it has not heard. The last worker that leaves drops the trail.

// Turn is what a worker does in a shared journal at once.
type Turn struct {
	Worker  Running          // who it is, and what it tells; Lease is that of its claims
	Entries []Entry          // to record; their claims end
	Begin   []space.Schedule // of its claims, those that are about to run
	Claim   []space.Schedule // that it would compile and run, or holds and goes on to
	Heard   Heard            // where it is in the trail; from the last Answer
}

// Heard is how far a worker has heard of others. The zero Heard is one that joins: it gets
// everything.
type Heard struct {
	since time.Time // begin of the trail
	last  int
}

// Answer is what a worker learns in its turn.
type Answer struct {
	Held  []space.Schedule // of Begin and Claim, those that it holds now; it must not run the others
	Spent []space.Schedule // of Claim, those that are Quarantined
	News  []Entry          // what others recorded since Heard; what they record while a worker joins comes once more
	Heard Heard
}

// trail is the head of what was recorded in turn.
type trail struct {
	Since time.Time `json:"since"`
	Last  int       `json:"last"`
}

// step is an entry of the trail.
type step struct {
	Worker string `json:"worker"`
	Entry  string `json:"entry"` // its name
}

// readAhead is how many steps of the trail a turn reads with all else; others cost a round
// trip more.
const readAhead = 8

// mostSteps is how many steps of the trail a turn reads at most; a worker that has missed more joins anew.
const mostSteps = 100_000

func trailAt(key string) spot { return spot{partTrail, key, "last"} }

func stepAt(key string, n int) spot { return spot{partTrail, key, fmt.Sprintf("%08d", n)} }

// Share takes a worker's turn: in one transaction it records, begins, claims and tells; then it
// reads what is new.
func (s *Store) Share(key Key, t Turn) (Answer, error) {
	for _, e := range t.Entries {
		if err := e.valid(); err != nil {
			return Answer{}, err
		}
	}
	if t.Worker.Worker == "" {
		return Answer{}, errNameless
	}
	for _, sc := range slices.Concat(t.Begin, t.Claim) {
		if sc.IsZero() {
			return Answer{}, errors.New("journal: no schedule can be claimed that is none")
		}
	}
	text := key.String()
	var a Answer
	var head trail
	var steps []step // unheard ones that were read in passing
	for from, there := t.Heard.last, false; !there; from = head.Last {
		err := s.engine.update(t.touches(text, from), func(tx transaction) (err error) {
			a, steps = Answer{}, nil
			if head, err = s.trail(tx, text); err != nil {
				return err
			}
			if there = from <= head.Last && head.Last <= from+readAhead; !there {
				return nil // its end lies elsewhere
			}
			if from == t.Heard.last && head.Since.Equal(t.Heard.since) {
				steps = s.steps(tx, text, from+1, head.Last)
			}
			return s.turn(tx, text, t, &head, &a)
		})
		if err != nil {
			return Answer{}, err
		}
	}
	var err error
	a.Heard = Heard{head.Since, head.Last}
	a.News, err = s.news(key, t, a.Heard, steps)
	return a, err
}

// touches are the records of a turn, if the trail ends within readAhead steps from one.
func (t Turn) touches(key string, from int) []spot {
	at := append(places(key, t.Entries), trailAt(key), workerAt(key, t.Worker.Worker))
	for _, sc := range slices.Concat(t.Begin, t.Claim) {
		at = append(at, intentAt(key, sc))
	}
	for i := range readAhead + len(t.Entries) {
		at = append(at, stepAt(key, from+1+i))
	}
	return at
}

// turn is what a turn writes.
func (s *Store) turn(tx transaction, text string, t Turn, head *trail, a *Answer) error {
	if err := s.walk(tx, text, t, head); err != nil {
		return err
	}
	if err := s.begins(tx, text, t, a); err != nil {
		return err
	}
	if err := s.claims(tx, text, t, a); err != nil {
		return err
	}
	return tell(tx, text, t.Worker)
}

// trail is the head of a key's trail, a new one if there is none.
func (s *Store) trail(tx transaction, text string) (trail, error) {
	var head trail
	at := trailAt(text)
	switch err := unsealJSON(at.place(), tx.get(at), &head); {
	case errors.Is(err, errDamaged):
		s.health.spoilt(at.place())
	case err == nil:
		return head, nil
	case !errors.Is(err, fs.ErrNotExist):
		return head, err
	}
	return trail{Since: tx.now().UTC()}, nil
}

// steps are some of the trail, one that is damaged being none.
func (s *Store) steps(tx transaction, text string, from, to int) (list []step) {
	for n := from; n <= to; n++ {
		at := stepAt(text, n)
		list = append(list, s.step(record{at, tx.get(at)}))
	}
	return list
}

// step is that of a record, or the record is damaged.
func (s *Store) step(r record) (x step) {
	if unsealJSON(r.place(), r.value, &x) != nil {
		s.health.spoilt(r.place())
	}
	return x
}

// checkTrails reads all trails, for what is damaged in them.
func (s *Store) checkTrails() error {
	keys, err := s.keys(partTrail, "")
	if err != nil {
		return err
	}
	for _, k := range keys {
		records, err := s.engine.read(spot{part: partTrail, key: k.String()})
		if err != nil {
			return err
		}
		for _, r := range records {
			s.step(r) // a head has other fields, and is sound or not likewise
		}
	}
	return nil
}

// walk records entries and adds them to the trail.
func (s *Store) walk(tx transaction, text string, t Turn, head *trail) error {
	if err := s.record(tx, text, t.Entries); err != nil {
		return err
	}
	for _, e := range t.Entries {
		head.Last++
		if err := putJSON(tx, stepAt(text, head.Last), step{t.Worker.Worker, entryName(e)}); err != nil {
			return err
		}
	}
	return putJSON(tx, trailAt(text), *head)
}

// begins notes what runs now, unless another has taken it over.
func (s *Store) begins(tx transaction, text string, t Turn, a *Answer) error {
	for _, sc := range t.Begin {
		i := s.intent(tx, text, sc)
		if i.Worker != t.Worker.Worker {
			continue
		}
		i.Attempts, i.At = i.Attempts+1, tx.now().UTC()
		if err := hold(tx, text, t.Worker, i, a); err != nil {
			return err
		}
	}
	return nil
}

// claims claims what nobody else holds.
func (s *Store) claims(tx transaction, text string, t Turn, a *Answer) error {
	for _, sc := range t.Claim {
		i := s.intent(tx, text, sc)
		switch mine := i.Worker == t.Worker.Worker; {
		case !mine && i.heldAt(tx.now()):
			continue
		case !mine && i.Quarantined():
			a.Spent = append(a.Spent, sc)
			continue
		}
		if err := hold(tx, text, t.Worker, i, a); err != nil {
			return err
		}
	}
	return nil
}

// hold makes a claim, or renews it.
func hold(tx transaction, text string, w Running, i Intent, a *Answer) error {
	i.Worker, i.Until = w.Worker, tx.now().Add(w.lease()).UTC()
	a.Held = append(a.Held, i.Schedule)
	return putIntent(tx, text, i.Schedule, i)
}

// news are the entries of others that a worker has not heard of. steps are those of the trail that
// were read already.
func (s *Store) news(key Key, t Turn, now Heard, steps []step) ([]Entry, error) {
	text := key.String()
	if !t.Heard.since.Equal(now.since) || now.last-t.Heard.last > mostSteps { // it joins, or was away so long that the trail is another
		return s.Entries(key)
	}
	first := t.Heard.last + len(steps) + 1
	var rest []spot
	for n := first; n <= now.last-len(t.Entries); n++ {
		rest = append(rest, stepAt(text, n))
	}
	more, err := s.engine.read(rest...)
	if err != nil {
		return nil, err
	}
	for _, r := range more {
		steps = append(steps, s.step(r))
	}
	var at []spot
	for _, x := range steps {
		if x.Entry != "" && x.Worker != t.Worker.Worker {
			at = append(at, spot{partJournal, text, x.Entry})
		}
	}
	records, err := s.engine.read(at...)
	if err != nil {
		return nil, err
	}
	var news []Entry
	for _, r := range records {
		if e, ok := s.entry(r); ok {
			news = append(news, e)
		}
	}
	return news, nil
}

// Release gives up a worker's claims, "" being none; of those that are true, which were begun and
// not run, it takes back the Begin.
func (s *Store) Release(key Key, worker string, claims map[space.Schedule]bool) error {
	if len(claims) == 0 {
		return nil
	}
	text := key.String()
	return s.engine.update(intentsAt(text, claims), func(tx transaction) error { return s.release(tx, text, worker, claims) })
}

// intentsAt is where claims lie.
func intentsAt(key string, claims map[space.Schedule]bool) (at []spot) {
	for sc := range claims {
		at = append(at, intentAt(key, sc))
	}
	return at
}

// release is Release within a transaction.
func (s *Store) release(tx transaction, text, worker string, claims map[space.Schedule]bool) error {
	for sc, begun := range claims {
		i := s.intent(tx, text, sc)
		if i.Worker != worker {
			continue
		}
		if i.Worker, i.Until = "", (time.Time{}); begun {
			i.Attempts--
		}
		if i.Attempts <= 0 {
			tx.drop(intentAt(text, sc))
		} else if err := putIntent(tx, text, sc, i); err != nil {
			return err
		}
	}
	return nil
}

// Leave ends a worker's part in a shared journal: it releases its claims, tells what it has to, and
// drops the trail if nobody else walks there now.
func (s *Store) Leave(key Key, worker Running, claims map[space.Schedule]bool) error {
	text := key.String()
	told, err := s.engine.read(spot{part: partWorkers, key: text})
	if err != nil {
		return err
	}
	now, err := s.engine.now()
	if err != nil {
		return err
	}
	last := true
	for _, rec := range told {
		var r Running
		if rec.name != worker.Worker && unsealJSON(rec.place(), rec.value, &r) == nil && r.Shared && r.aliveAt(now) {
			last = false
		}
	}
	at := append(intentsAt(text, claims), workerAt(text, worker.Worker))
	if last { // who joins meanwhile sees that its trail is another
		at = append(at, spot{part: partTrail, key: text})
	}
	return s.engine.update(at, func(tx transaction) error {
		if last {
			tx.drop(spot{part: partTrail, key: text})
		}
		if err := s.release(tx, text, worker.Worker, claims); err != nil {
			return err
		}
		return tell(tx, text, worker)
	})
}
