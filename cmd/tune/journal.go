package main

import (
	"maps"
	"slices"

	"stenciltune/cache"
	"stenciltune/internal/runner"
	"stenciltune/space"
	"stenciltune/timing"
)

// journal lets a tune remember its outcomes in the store.
type journal struct {
	store *cache.Store
	key   cache.Key
	known map[string]cache.Entry // by schedule
	begun map[space.Schedule]bool
}

func newJournal(s *cache.Store, key cache.Key) *journal {
	return &journal{store: s, key: key, known: map[string]cache.Entry{}, begun: map[space.Schedule]bool{}}
}

// close strikes the notes of schedules that were begun and not run because the
// tune ended: that is no fault of theirs.
func (j *journal) close() error {
	return j.store.Abandon(j.key, slices.Collect(maps.Keys(j.begun))...)
}

// openJournal reads what earlier runs left. A schedule that was begun twice and
// never came back takes the whole program down with it: it is not run again.
func openJournal(s *cache.Store, key cache.Key) (*journal, error) {
	entries, err := s.Entries(key)
	if err != nil {
		return nil, err
	}
	j := newJournal(s, key)
	for _, e := range entries {
		j.known[e.Schedule.String()] = e
	}
	unfinished, err := s.Unfinished(key)
	if err != nil {
		return nil, err
	}
	for _, u := range unfinished {
		if u.Quarantined() {
			j.known[u.Schedule.String()] = cache.Entry{Schedule: u.Schedule, Status: timing.WorkerLost,
				Reason: "the program ended while it ran, twice; it is not run again"}
		}
	}
	return j, nil
}

// Known gives a stored outcome if its source is still the same.
func (j *journal) Known(s space.Schedule, sourceHash string) (runner.Outcome, bool) {
	e, ok := j.known[s.String()]
	if !ok || e.SourceHash != "" && e.SourceHash != sourceHash {
		return runner.Outcome{}, false
	}
	return runner.Outcome{
		Schedule: s, SourceHash: sourceHash, Status: e.Status, Reason: e.Reason, Log: e.Log, Series: e.Series,
		Registers: e.Registers, SpillBytes: e.SpillBytes, BlocksPerSM: e.BlocksPerSM,
		CompileSeconds: e.CompileSeconds, Compiler: e.Compiler, MaxError: float64(e.CheckMaxError),
	}, true
}

// Record stores outcomes and marks what runs next as begun.
func (j *journal) Record(outcomes []runner.Outcome, next ...space.Schedule) error {
	var entries []cache.Entry
	for _, o := range outcomes {
		entries = append(entries, cache.Entry{
			Schedule: o.Schedule, SourceHash: o.SourceHash, Status: o.Status, Reason: o.Reason, Log: o.Log, Series: o.Series,
			Registers: o.Registers, SpillBytes: o.SpillBytes, BlocksPerSM: o.BlocksPerSM,
			CompileSeconds: o.CompileSeconds, Compiler: o.Compiler, CheckMaxError: cache.Error64(o.MaxError), Tool: version,
		})
	}
	if err := j.store.Advance(j.key, entries, next...); err != nil {
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
