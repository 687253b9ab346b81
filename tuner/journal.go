package tuner

import (
	"errors"
	"maps"
	"slices"

	"stenciltune/cache"
	"stenciltune/device/replay"
	"stenciltune/outcome"
	"stenciltune/space"
	"stenciltune/timing"
)

// journal lets a tune remember its outcomes in the store, and tell there how it goes.
type journal struct {
	store   *cache.Store
	key     cache.Key
	known   map[space.Schedule]outcome.Outcome
	begun   map[space.Schedule]bool
	running cache.Running
	fault   error // of the telling
}

// openJournal reads what earlier runs left, unless again, and what a recording holds that
// is gone on with (nil = none). A schedule that was begun twice and never came back takes
// the whole program down with it: it is not run again.
func openJournal(s *cache.Store, key cache.Key, again bool, l *replay.Landscape) (*journal, error) {
	j := &journal{store: s, key: key, known: map[space.Schedule]outcome.Outcome{}, begun: map[space.Schedule]bool{}}
	if l != nil {
		maps.Copy(j.known, l.Records)
	}
	if again {
		return j, nil
	}
	entries, err := s.Entries(key)
	if err != nil {
		return nil, err
	}
	for _, e := range entries {
		j.known[e.Schedule] = e.Outcome
	}
	unfinished, err := s.Unfinished(key)
	if err != nil {
		return nil, err
	}
	for _, u := range unfinished {
		if u.Quarantined() {
			j.known[u.Schedule] = outcome.Outcome{Schedule: u.Schedule, Status: timing.WorkerLost,
				Reason: "the program ended while it ran, twice; it is not run again"}
		}
	}
	return j, nil
}

// close strikes the notes of schedules that were begun and not run because the
// tune ended: that is no fault of theirs.
func (j *journal) close() error {
	j.phase("")
	return errors.Join(j.fault, j.store.Abandon(j.key, slices.Collect(maps.Keys(j.begun))...))
}

// phase tells that one begins; "" that the tune has ended.
func (j *journal) phase(name string) {
	j.running.Phase, j.running.Trying = name, ""
	if err := j.store.Advance(j.key, &j.running, nil); j.fault == nil {
		j.fault = err
	}
}

// phases is a watcher that tells the journal of phases too.
type phases struct {
	Watcher
	journal *journal
}

// Phase announces a phase.
func (p phases) Phase(name string) {
	p.journal.phase(name)
	p.Watcher.Phase(name)
}

// Known gives a stored outcome if its source is still the same.
func (j *journal) Known(s space.Schedule, sourceHash string) (outcome.Outcome, bool) {
	o, ok := j.known[s]
	if !ok || o.SourceHash != "" && o.SourceHash != sourceHash {
		return outcome.Outcome{}, false
	}
	o.SourceHash = sourceHash
	return o, true
}

// Record stores outcomes and marks what runs next as begun.
func (j *journal) Record(outcomes []outcome.Outcome, next ...space.Schedule) error {
	var entries []cache.Entry
	for _, o := range outcomes {
		entries = append(entries, cache.Entry{Outcome: o, Tool: Version})
	}
	if len(next) > 0 {
		j.running.Trying = next[0].String()
	}
	if err := j.store.Advance(j.key, &j.running, entries, next...); err != nil {
		return err
	}
	for _, o := range outcomes {
		delete(j.begun, o.Schedule)
	}
	for _, s := range next {
		j.begun[s] = true
	}
	return nil
}
