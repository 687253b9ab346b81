package cache

import (
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"stenciltune/outcome"
	"stenciltune/space"
	"stenciltune/timing"
)

// Entry is the outcome of one schedule of one source on one device, as a tool recorded it.
type Entry struct {
	outcome.Outcome
	Tool     string    `json:"tool,omitempty"`     // version that recorded it
	At       time.Time `json:"at"`                 // UTC; Record sets it if it is zero
	Attempts int       `json:"attempts,omitempty"` // how often it was begun; Record sets it if it is zero
}

// MaxLog is where an entry's log is clipped, in bytes. The beginning is kept:
// a compiler's first error is the one that counts.
const MaxLog = 4 << 10

// maxReason is where an entry's reason is clipped, in bytes.
const maxReason = 1 << 10

// Intent is a schedule that was begun or claimed and has no entry since: its run was
// killed, or goes on still.
type Intent struct {
	Schedule space.Schedule `json:"-"`
	Attempts int            `json:"attempts"` // times it was begun; 0 = claimed only
	At       time.Time      `json:"at"`       // of the last time
	// Worker has claimed it and keeps it Until then, by the store's clock; "" = nobody.
	Worker string    `json:"worker,omitempty"`
	Until  time.Time `json:"until,omitzero"`
}

// heldAt tells whether a claim to it holds at a time of the store.
func (i Intent) heldAt(now time.Time) bool { return i.Worker != "" && now.Before(i.Until) }

// MaxAttempts is how often a schedule may be begun and not finished: after that
// it is to be recorded as timing.WorkerLost and not run again.
const MaxAttempts = 2

// Quarantined tells whether the schedule must not be begun again.
func (i Intent) Quarantined() bool { return i.Attempts >= MaxAttempts }

// clip cuts text to n bytes and makes it valid UTF-8.
func clip(text string, n int) string {
	const mark = "\n... clipped"
	if len(text) > n {
		text = strings.ToValidUTF8(text[:n-len(mark)], "") + mark
	}
	return strings.ToValidUTF8(text, "\uFFFD")
}

// entryName is the key of an entry within its problem. Neither part holds a blank.
func entryName(e Entry) string { return e.Schedule.String() + " " + e.SourceHash }

// valid tells why an entry cannot be stored.
func (e Entry) valid() error {
	switch {
	case e.Schedule.IsZero():
		return errors.New("journal entry without a schedule")
	case e.Status == "":
		return fmt.Errorf("journal entry of %s without a status", e.Schedule)
	case len(e.SourceHash) > 128 || strings.ContainsFunc(e.SourceHash, func(r rune) bool { return (r < '0' || r > '9') && (r < 'a' || r > 'z') }):
		return fmt.Errorf("journal entry of %s: source hash %.40q is none", e.Schedule, e.SourceHash)
	}
	switch data, err := json.Marshal(e.normal()); {
	case err != nil: // NaN among the samples
		return fmt.Errorf("journal entry of %s: %w", e.Schedule, err)
	case len(data) > MaxConfig:
		return fmt.Errorf("journal entry of %s: %d bytes, more than %d", e.Schedule, len(data), MaxConfig)
	}
	return nil
}

// normal is the entry with what has one spelling only: the time, and no more of log and reason than is kept.
func (e Entry) normal() Entry {
	e.At = e.At.UTC().Round(0)
	e.Log, e.Reason = clip(e.Log, MaxLog), clip(e.Reason, maxReason)
	return e
}

// possible tells why nobody can have measured an entry.
func (e Entry) possible() error {
	if !e.Status.Valid() {
		return fmt.Errorf("has status %.40q, which is none", printable(string(e.Status)))
	}
	for _, v := range e.Series.Samples {
		if !timing.Plausible(v) {
			return errors.New("has a sample that is no time")
		}
	}
	for _, v := range []float64{e.CompileSeconds, e.DeviceSeconds} {
		if v != 0 && !timing.Plausible(v) {
			return errors.New("took a time that is none")
		}
	}
	if e.Status.Timed() && len(e.Series.Samples) == 0 {
		return errors.New("has no samples")
	}
	return nil
}

// Begin notes, before they run, that schedules are about to run. A run that is
// killed leaves these notes behind: see Unfinished. One transaction for all.
func (s *Store) Begin(key Key, schedules ...space.Schedule) error {
	return s.Advance(key, nil, nil, schedules...)
}

// begin is Begin within a transaction.
func (s *Store) begin(tx transaction, text string, schedules []space.Schedule) error {
	for _, sc := range schedules {
		i := s.intent(tx, text, sc)
		i.Attempts++
		i.At = tx.now().UTC()
		if err := putIntent(tx, text, sc, i); err != nil {
			return err
		}
	}
	return nil
}

// intentAt is where the note of a begun schedule lies.
func intentAt(key string, sc space.Schedule) spot { return spot{partIntents, key, sc.String()} }

func putIntent(tx transaction, key string, sc space.Schedule, i Intent) error {
	return putJSON(tx, intentAt(key, sc), i)
}

// intent reads the note of a schedule; with no attempts if there is no sound one.
func (s *Store) intent(tx transaction, key string, sc space.Schedule) Intent {
	var i Intent
	at := intentAt(key, sc)
	switch err := unsealJSON(at.place(), tx.get(at), &i); {
	case errors.Is(err, errDamaged):
		s.health.spoilt(at.place())
		return Intent{Schedule: sc}
	case err != nil:
		return Intent{Schedule: sc}
	}
	i.Schedule = sc
	return i
}

// Record stores entries and strikes the notes that Begin made of them. One
// transaction for all, two fsyncs: collect entries and record them together. An
// entry replaces the one with the same schedule and source hash.
func (s *Store) Record(key Key, entries ...Entry) error {
	return s.Advance(key, nil, entries)
}

// errNameless is of a tune that tells how it goes and has no name to tell it under.
var errNameless = errors.New("journal: a worker without a name")

// Advance records entries, begins the next schedules and tells how the tune goes, nil being
// nothing, in one transaction: what a search does between two schedules.
func (s *Store) Advance(key Key, running *Running, entries []Entry, next ...space.Schedule) error {
	if len(entries) == 0 && len(next) == 0 && running == nil {
		return nil
	}
	for _, e := range entries {
		if err := e.valid(); err != nil {
			return err
		}
	}
	for _, sc := range next {
		if sc.IsZero() {
			return errors.New("journal: no schedule can be begun that is none")
		}
	}
	if running != nil && running.Worker == "" {
		return errNameless
	}
	text := key.String()
	at := places(text, entries)
	for _, sc := range next {
		at = append(at, intentAt(text, sc))
	}
	if running != nil {
		at = append(at, workerAt(text, running.Worker))
	}
	return s.engine.update(at, func(tx transaction) error {
		if err := s.record(tx, text, entries); err != nil {
			return err
		}
		if running != nil {
			if err := tell(tx, text, *running); err != nil {
				return err
			}
		}
		return s.begin(tx, text, next)
	})
}

// entryAt is where an entry lies.
func entryAt(key string, e Entry) spot { return spot{partJournal, key, entryName(e)} }

// places are those that record touches.
func places(key string, entries []Entry) (at []spot) {
	for _, e := range entries {
		at = append(at, entryAt(key, e), intentAt(key, e.Schedule))
	}
	return at
}

// record is Record within a transaction.
func (s *Store) record(tx transaction, text string, entries []Entry) error {
	for _, e := range entries {
		if e.Attempts == 0 {
			e.Attempts = s.intent(tx, text, e.Schedule).Attempts
		}
		if e.At.IsZero() {
			e.At = tx.now()
		}
		if err := enter(tx, text, e); err != nil {
			return err
		}
		tx.drop(intentAt(text, e.Schedule))
	}
	return nil
}

// enter puts an entry in its place.
func enter(tx transaction, text string, e Entry) error {
	if err := putJSON(tx, entryAt(text, e), e.normal()); err != nil {
		return fmt.Errorf("journal entry of %s: %w", e.Schedule, err)
	}
	return nil
}

// Abandon takes back one Begin of each schedule: for those that a run which ends
// in good order began and never ran.
func (s *Store) Abandon(key Key, schedules ...space.Schedule) error {
	begun := map[space.Schedule]bool{}
	for _, sc := range schedules {
		begun[sc] = true
	}
	return s.Release(key, "", begun)
}

// Entries are all sound entries of a key, of every source hash, in the order of
// their schedules' texts. An entry whose source hash is not that of the source
// generated now is stale; which is for the caller to compare.
func (s *Store) Entries(key Key) ([]Entry, error) {
	records, err := s.engine.read(spot{part: partJournal, key: key.String()})
	if err != nil {
		return nil, err
	}
	entries := make([]Entry, 0, len(records))
	for _, r := range records {
		if e, ok := s.entry(r); ok {
			entries = append(entries, e)
		}
	}
	return entries, nil
}

// History is Entries by age: of several sources of a schedule the last says most.
func (s *Store) History(key Key) ([]Entry, error) {
	list, err := s.Entries(key)
	slices.SortStableFunc(list, func(a, b Entry) int { return a.At.Compare(b.At) })
	return list, err
}

// entry is that of a record, or the record is damaged.
func (s *Store) entry(r record) (e Entry, ok bool) {
	e, err := entryOf(r)
	if err != nil {
		s.health.spoilt(r.place())
	}
	return e, err == nil
}

// entryOf reads a record, which may be sound and of nothing that can have been measured.
func entryOf(r record) (e Entry, err error) {
	if err = unsealJSON(r.place(), r.value, &e); err == nil {
		err = e.possible()
	}
	if err == nil && entryName(e) != r.name {
		err = errDamaged
	}
	if err != nil {
		return Entry{}, err
	}
	e.Series.Summary = timing.Summarise(e.Series.Samples) // not what it claims
	return e, nil
}

// Unfinished are the schedules of a key that were begun and have no entry since, and that no
// worker holds now, in the order of their texts. Those that are Quarantined are for the caller
// to record as timing.WorkerLost, which strikes them here.
func (s *Store) Unfinished(key Key) ([]Intent, error) {
	records, err := s.engine.read(spot{part: partIntents, key: key.String()})
	if err != nil || len(records) == 0 {
		return nil, err
	}
	now, err := s.engine.now()
	if err != nil {
		return nil, err
	}
	intents := make([]Intent, 0, len(records))
	for _, r := range records {
		var i Intent
		err := unsealJSON(r.place(), r.value, &i)
		if err == nil {
			i.Schedule, err = space.ParseSchedule(r.name)
		}
		if err != nil {
			s.health.spoilt(r.place())
			continue
		}
		if i.Attempts > 0 && !i.heldAt(now) {
			intents = append(intents, i)
		}
	}
	return intents, nil
}

// Keys are the problems that have a journal, in the order of their texts.
func (s *Store) Keys() ([]Key, error) { return s.keys(partJournal, "") }

// keys are the problems that have records in a part, and whose texts have a prefix, in the
// order of their texts.
func (s *Store) keys(part, prefix string) ([]Key, error) {
	texts, err := s.engine.keys(part, prefix)
	if err != nil {
		return nil, err
	}
	keys := make([]Key, 0, len(texts))
	for _, text := range texts {
		k, err := ParseKey(text)
		if err != nil || k.unclean() {
			s.health.spoilt(place(part, text, ""))
			continue
		}
		keys = append(keys, k)
	}
	return keys, nil
}

// Forget drops the journal of a key, its notes of begun schedules and of tunes that run
// included: to measure all anew. The best config stays until another replaces it.
func (s *Store) Forget(key Key) error {
	text := key.String()
	var all []spot
	for _, part := range []string{partJournal, partIntents, partWorkers, partTrail} {
		all = append(all, spot{part: part, key: text})
	}
	return s.engine.update(all, func(tx transaction) error {
		for _, at := range all {
			tx.drop(at)
		}
		return nil
	})
}

// Report is the state of a store.
type Report struct {
	Path       string   `json:"path"`
	Exists     bool     `json:"exists"`
	Format     string   `json:"format"` // of the file, with its version
	Bytes      int64    `json:"bytes"`
	Generation uint64   `json:"generation"` // writing transactions so far; a database does not count them
	Problems   int      `json:"problems"`   // keys that have a journal
	Entries    int      `json:"entries"`
	Unfinished int      `json:"unfinished"` // schedules begun and not recorded
	Configs    int      `json:"configs"`    // best configs
	Damaged    int      `json:"damaged"`    // records skipped
	Places     []string `json:"places"`     // of the damaged records: part, key, name
	Warnings   []string `json:"warnings"`
}

// Check reads the whole store, every page of a file and every record.
func (s *Store) Check() (Report, error) {
	r := Report{Path: s.Path()}
	if err := s.engine.inspect(&r); err != nil || !r.Exists {
		return r, err
	}
	r.Format = storeFormat
	keys, err := s.Keys()
	if err != nil {
		return r, err
	}
	r.Problems = len(keys)
	for _, k := range keys {
		entries, err := s.Entries(k)
		if err != nil {
			return r, err
		}
		r.Entries += len(entries)
	}
	if r.Unfinished, err = s.countIntents(); err != nil {
		return r, err
	}
	if _, err := s.allRates(); err != nil {
		return r, err
	}
	if _, err := s.Running(); err != nil {
		return r, err
	}
	if err := s.checkTrails(); err != nil {
		return r, err
	}
	bests, err := s.Bests()
	if err != nil {
		return r, err
	}
	r.Configs = len(bests)
	r.Damaged, r.Warnings = s.Damaged(), s.Warnings()
	s.health.mu.Lock()
	for _, p := range slices.Sorted(maps.Keys(s.health.damaged)) {
		p = strings.ReplaceAll(p, "\x00", " ")
		clean(&p, maxNote)
		r.Places = append(r.Places, p)
	}
	s.health.mu.Unlock()
	return r, nil
}

// countIntents counts the sound notes of begun schedules of all keys.
func (s *Store) countIntents() (n int, err error) {
	keys, err := s.keys(partIntents, "")
	if err != nil {
		return 0, err
	}
	for _, k := range keys {
		intents, err := s.Unfinished(k)
		if err != nil {
			return n, err
		}
		n += len(intents)
	}
	return n, nil
}
