package cache

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"slices"
	"strings"
	"time"

	"go.etcd.io/bbolt"

	"stenciltune/outcome"
	"stenciltune/space"
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

// Intent is a schedule that was begun and has no entry since: its run was
// killed, or goes on still.
type Intent struct {
	Schedule space.Schedule `json:"-"`
	Attempts int            `json:"attempts"` // times it was begun
	At       time.Time      `json:"at"`       // of the last time
}

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
	if _, err := json.Marshal(e); err != nil { // NaN among the samples
		return fmt.Errorf("journal entry of %s: %w", e.Schedule, err)
	}
	return nil
}

// Begin notes, before they run, that schedules are about to run. A run that is
// killed leaves these notes behind: see Unfinished. One transaction for all.
func (s *Store) Begin(key Key, schedules ...space.Schedule) error {
	return s.Advance(key, nil, schedules...)
}

// begin is Begin within a transaction.
func (s *Store) begin(tx *bbolt.Tx, text string, now time.Time, schedules []space.Schedule) error {
	b, err := tx.Bucket(bucketIntents).CreateBucketIfNotExists([]byte(text))
	if err != nil {
		return err
	}
	for _, sc := range schedules {
		i := s.intent(b, text, sc)
		i.Attempts++
		i.At = now.UTC()
		if err := putJSON(b, place("intents", text, sc.String()), []byte(sc.String()), i); err != nil {
			return err
		}
	}
	return nil
}

// intent reads the note of a schedule; the zero Intent if there is none. b may
// be nil.
func (s *Store) intent(b *bbolt.Bucket, key string, sc space.Schedule) Intent {
	i := Intent{}
	if b == nil {
		return i
	}
	at := place("intents", key, sc.String())
	switch err := getJSON(b, at, []byte(sc.String()), &i); {
	case errors.Is(err, errDamaged):
		s.damaged[at] = struct{}{}
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
	return s.Advance(key, entries)
}

// Advance records entries and begins the next schedules in one transaction: what
// a search does between two schedules.
func (s *Store) Advance(key Key, entries []Entry, next ...space.Schedule) error {
	if len(entries) == 0 && len(next) == 0 {
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
	text, now := key.String(), time.Now()
	var names, begun []string
	for _, e := range entries {
		names, begun = append(names, entryName(e)), append(begun, e.Schedule.String())
	}
	for _, sc := range next {
		begun = append(begun, sc.String())
	}
	w := touch(map[string]*part{string(bucketJournal): key.records(names...), string(bucketIntents): key.records(begun...)})
	return s.update(w, func(tx *bbolt.Tx) error {
		if err := s.record(tx, text, now, entries); err != nil || len(next) == 0 {
			return err
		}
		return s.begin(tx, text, now, next)
	})
}

// record is Record within a transaction.
func (s *Store) record(tx *bbolt.Tx, text string, now time.Time, entries []Entry) error {
	if len(entries) == 0 {
		return nil
	}
	b, err := tx.Bucket(bucketJournal).CreateBucketIfNotExists([]byte(text))
	if err != nil {
		return err
	}
	intents := tx.Bucket(bucketIntents).Bucket([]byte(text))
	for _, e := range entries {
		if e.At.IsZero() {
			e.At = now
		}
		e.At = e.At.UTC().Round(0)
		if e.Attempts == 0 {
			e.Attempts = s.intent(intents, text, e.Schedule).Attempts
		}
		e.Log, e.Reason = clip(e.Log, MaxLog), clip(e.Reason, maxReason)
		name := entryName(e)
		if err := putJSON(b, place("journal", text, name), []byte(name), e); err != nil {
			return fmt.Errorf("journal entry of %s: %w", e.Schedule, err)
		}
		if intents != nil {
			if err := intents.Delete([]byte(e.Schedule.String())); err != nil {
				return err
			}
		}
	}
	return nil
}

// Abandon takes back one Begin of each schedule: for those that a run which ends
// in good order began and never ran.
func (s *Store) Abandon(key Key, schedules ...space.Schedule) error {
	if len(schedules) == 0 {
		return nil
	}
	text := key.String()
	w := touch(map[string]*part{string(bucketIntents): {in: map[string]*part{text: whole}}})
	return s.update(w, func(tx *bbolt.Tx) error {
		b := tx.Bucket(bucketIntents).Bucket([]byte(text))
		if b == nil {
			return nil
		}
		for _, sc := range schedules {
			i := s.intent(b, text, sc)
			i.Attempts--
			var err error
			if i.Attempts > 0 {
				err = putJSON(b, place("intents", text, sc.String()), []byte(sc.String()), i)
			} else {
				err = b.Delete([]byte(sc.String()))
			}
			if err != nil {
				return err
			}
		}
		return nil
	})
}

// raw is a record as it lay in the file.
type raw struct{ name, value []byte }

// collect copies all records of a bucket, which die with the transaction.
// Decoding them can wait until the file is closed.
func collect(b *bbolt.Bucket) []raw {
	if b == nil {
		return nil
	}
	var all []raw
	c := b.Cursor()
	for k, v := c.First(); k != nil; k, v = c.Next() {
		if v != nil { // not a bucket
			all = append(all, raw{append([]byte(nil), k...), append([]byte(nil), v...)})
		}
	}
	return all
}

// spoilt counts a damaged record.
func (s *Store) spoilt(place string) {
	s.mu.Lock()
	s.damaged[place] = struct{}{}
	s.mu.Unlock()
}

// Entries are all sound entries of a key, of every source hash, in the order of
// their schedules' texts. An entry whose source hash is not that of the source
// generated now is stale; which is for the caller to compare.
func (s *Store) Entries(key Key) ([]Entry, error) {
	text := key.String()
	var records []raw
	w := touch(map[string]*part{string(bucketJournal): {in: map[string]*part{text: whole}}})
	err := s.view(w, func(tx *bbolt.Tx) error {
		records = collect(tx.Bucket(bucketJournal).Bucket([]byte(text)))
		return nil
	})
	if err != nil {
		return nil, err
	}
	entries := make([]Entry, 0, len(records))
	for _, r := range records {
		at := place("journal", text, string(r.name))
		payload, err := unseal(at, r.value)
		var e Entry
		if err != nil || json.Unmarshal(payload, &e) != nil || entryName(e) != string(r.name) {
			s.spoilt(at)
			continue
		}
		entries = append(entries, e)
	}
	return entries, nil
}

// Unfinished are the schedules of a key that were begun and have no entry since,
// in the order of their texts. Those that are Quarantined are for the caller to
// record as timing.WorkerLost, which strikes them here.
func (s *Store) Unfinished(key Key) ([]Intent, error) {
	text := key.String()
	var records []raw
	w := touch(map[string]*part{string(bucketIntents): {in: map[string]*part{text: whole}}})
	err := s.view(w, func(tx *bbolt.Tx) error {
		records = collect(tx.Bucket(bucketIntents).Bucket([]byte(text)))
		return nil
	})
	if err != nil {
		return nil, err
	}
	intents := make([]Intent, 0, len(records))
	for _, r := range records {
		at := place("intents", text, string(r.name))
		payload, err := unseal(at, r.value)
		var i Intent
		if err == nil {
			err = json.Unmarshal(payload, &i)
		}
		if err == nil {
			i.Schedule, err = space.ParseSchedule(string(r.name))
		}
		if err != nil {
			s.spoilt(at)
			continue
		}
		intents = append(intents, i)
	}
	return intents, nil
}

// Keys are the problems that have a journal, in the order of their texts.
func (s *Store) Keys() ([]Key, error) {
	var names []string
	w := touch(map[string]*part{string(bucketJournal): {all: true}})
	err := s.view(w, func(tx *bbolt.Tx) error {
		return tx.Bucket(bucketJournal).ForEachBucket(func(k []byte) error {
			names = append(names, string(k))
			return nil
		})
	})
	if err != nil {
		return nil, err
	}
	keys := make([]Key, 0, len(names))
	for _, name := range names {
		k, err := ParseKey(name)
		if err != nil {
			s.spoilt(place("journal", name, ""))
			continue
		}
		keys = append(keys, k)
	}
	return keys, nil
}

// Forget drops the journal of a key, its notes of begun schedules included: to
// measure all anew. The best config stays until another replaces it.
func (s *Store) Forget(key Key) error {
	text := []byte(key.String())
	return s.update(whole, func(tx *bbolt.Tx) error {
		for _, name := range [][]byte{bucketJournal, bucketIntents} {
			if b := tx.Bucket(name); b.Bucket(text) != nil {
				if err := b.DeleteBucket(text); err != nil {
					return err
				}
			}
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
	Generation uint64   `json:"generation"` // writing transactions so far
	Problems   int      `json:"problems"`   // keys that have a journal
	Entries    int      `json:"entries"`
	Unfinished int      `json:"unfinished"` // schedules begun and not recorded
	Configs    int      `json:"configs"`    // best configs
	Damaged    int      `json:"damaged"`    // records skipped
	Places     []string `json:"places"`     // of the damaged records: part, key, name
	Warnings   []string `json:"warnings"`
}

// Check reads the whole store, every page and every record of it.
func (s *Store) Check() (Report, error) {
	r := Report{Path: s.path}
	info, err := s.stat()
	if errors.Is(err, fs.ErrNotExist) {
		return r, nil
	}
	if err != nil {
		return r, err
	}
	r.Exists, r.Format, r.Bytes = true, storeFormat, info.Size()
	if err := s.view(whole, func(*bbolt.Tx) error { return nil }); err != nil {
		return r, err
	}
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
	if err := s.checkRates(); err != nil {
		return r, err
	}
	bests, err := s.Bests()
	if err != nil {
		return r, err
	}
	r.Configs = len(bests)
	r.Damaged, r.Warnings = s.Damaged(), s.Warnings()
	s.mu.Lock()
	for _, p := range slices.Sorted(maps.Keys(s.damaged)) {
		p = strings.ReplaceAll(p, "\x00", " ")
		clean(&p, maxNote)
		r.Places = append(r.Places, p)
	}
	r.Generation = s.generation
	s.mu.Unlock()
	return r, nil
}

// countIntents counts the sound notes of begun schedules of all keys.
func (s *Store) countIntents() (int, error) {
	var names []string
	err := s.view(whole, func(tx *bbolt.Tx) error {
		return tx.Bucket(bucketIntents).ForEachBucket(func(k []byte) error {
			names = append(names, string(k))
			return nil
		})
	})
	n := 0
	for _, name := range names {
		k, err := ParseKey(name)
		if err != nil {
			s.spoilt(place("intents", name, ""))
			continue
		}
		intents, err := s.Unfinished(k)
		if err != nil {
			return n, err
		}
		n += len(intents)
	}
	return n, err
}
