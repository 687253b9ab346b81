package tuner

import (
	"fmt"
	"maps"
	"math/rand/v2"
	"os"
	"slices"
	"sync"
	"time"

	"stenciltune/cache"
	"stenciltune/device/replay"
	"stenciltune/outcome"
	"stenciltune/runner"
	"stenciltune/search"
	"stenciltune/space"
	"stenciltune/timing"
)

// journal lets a tune remember its outcomes in the store, and tell there how it goes.
type journal struct {
	store *cache.Store
	key   cache.Key
	begun map[space.Schedule]bool

	mu      sync.Mutex // the tune, and its pulse
	known   map[source]outcome.Outcome
	running cache.Running
	fault   error // of the telling
	pulse   sync.WaitGroup
	stop    chan struct{} // of the pulse; nil = it does not beat
}

// source is what an outcome is of; without a hash, of whatever source the schedule has.
type source struct {
	schedule space.Schedule
	hash     string
}

// workerName tells a tune from all others: "host:process:number".
func workerName() string {
	host, err := os.Hostname()
	if err != nil {
		host = "unknown"
	}
	return fmt.Sprintf("%s:%d:%04x", host, os.Getpid(), rand.N(1<<16))
}

// newJournal is that of a tune that tells so of itself. It knows what a recording holds that is gone
// on with (nil = none).
func newJournal(s *cache.Store, key cache.Key, running cache.Running, l *replay.Landscape) *journal {
	j := &journal{store: s, key: key, running: running, known: map[source]outcome.Outcome{}, begun: map[space.Schedule]bool{}}
	if l != nil {
		for _, o := range l.Records {
			j.learn(o)
		}
	}
	return j
}

// openJournal reads what earlier runs left, unless again, and of that what is not older than maxAge (0 = all). A schedule
// that was begun twice and never came back takes the whole program down with it: it is not run again, either way.
func openJournal(s *cache.Store, key cache.Key, running cache.Running, again bool, maxAge time.Duration, l *replay.Landscape) (*journal, error) {
	j := newJournal(s, key, running, l)
	if !again {
		entries, err := s.Entries(key)
		if err != nil {
			return nil, err
		}
		for _, e := range entries {
			if maxAge == 0 || time.Since(e.At) <= maxAge {
				j.learn(e.Outcome)
			}
		}
	}
	unfinished, err := s.Unfinished(key)
	if err != nil {
		return nil, err
	}
	for _, u := range unfinished {
		if u.Quarantined() {
			j.learn(quarantined(u.Schedule))
		}
	}
	return j, nil
}

// quarantined is the outcome of a schedule that is not run again.
func quarantined(s space.Schedule) outcome.Outcome {
	return outcome.Outcome{Schedule: s, Status: timing.WorkerLost, Reason: "the program ended while it ran, twice; it is not run again"}
}

// learn keeps an outcome, and tells whether it is new.
func (j *journal) learn(o outcome.Outcome) bool {
	at := source{o.Schedule, o.SourceHash}
	_, had := j.known[at]
	j.known[at] = o
	return !had
}

// pulses is how often a tune tells of itself in a lease.
const pulses = 4

// beat has the tune tell of itself while it measures, so that nobody takes it for dead. What could
// not be told this time is told the next: a store that is lost, a record will notice.
func (j *journal) beat(tell func() error) {
	lease := cache.DefaultLease
	if l := j.running.Lease; l > 0 {
		lease = time.Duration(l * float64(time.Second))
	}
	j.stop = make(chan struct{})
	j.pulse.Go(func() {
		for {
			select {
			case <-j.stop:
				return
			case <-time.After(lease / pulses):
				_ = tell()
			}
		}
	})
}

// rest ends the pulse.
func (j *journal) rest() {
	if j.stop != nil {
		close(j.stop)
		j.pulse.Wait()
		j.stop = nil
	}
}

// close strikes the notes of schedules that were begun and not run because the
// tune ended: that is no fault of theirs.
func (j *journal) close() error {
	j.rest()
	j.phase("")
	return also(j.fault, j.store.Abandon(j.key, slices.Collect(maps.Keys(j.begun))...))
}

// enter is a phase that begins; "" = the tune has ended.
func (j *journal) enter(phase string) {
	j.running.Phase, j.running.Trying, j.running.Left = phase, "", 0
}

// failed keeps the first error of the telling.
func (j *journal) failed(err error) {
	if j.fault == nil {
		j.fault = err
	}
}

// phase tells that one begins.
func (j *journal) phase(name string) {
	j.mu.Lock()
	j.enter(name)
	j.mu.Unlock()
	j.failed(j.tell())
}

// tell tells how the tune goes.
func (j *journal) tell() error {
	j.mu.Lock()
	defer j.mu.Unlock()
	return j.store.Advance(j.key, &j.running, nil)
}

// progress is what the next record tells.
func (j *journal) progress(best outcome.Outcome, p search.Progress) {
	j.mu.Lock()
	defer j.mu.Unlock()
	r := &j.running
	r.Evaluated, r.BestTime, r.Left = p.Evaluated, best.Seconds(), 0
	if !best.Schedule.IsZero() {
		r.Best = best.Schedule.String()
	}
	if p.End > p.Elapsed {
		r.Left = (p.End - p.Elapsed).Seconds()
	}
}

// Known gives a stored outcome if its source is still the same.
func (j *journal) Known(s space.Schedule, sourceHash string) (outcome.Outcome, bool) {
	j.mu.Lock()
	defer j.mu.Unlock()
	o, ok := j.known[source{s, sourceHash}]
	if !ok {
		o, ok = j.known[source{s, ""}]
	}
	if ok {
		o.SourceHash = sourceHash
	}
	return o, ok
}

// entriesOf are outcomes as the store keeps them.
func entriesOf(outcomes []outcome.Outcome) (entries []cache.Entry) {
	for _, o := range outcomes {
		entries = append(entries, cache.Entry{Outcome: o, Tool: Version})
	}
	return entries
}

// Record stores outcomes and marks what runs next as begun.
func (j *journal) Record(outcomes []outcome.Outcome, next ...space.Schedule) error {
	j.mu.Lock()
	defer j.mu.Unlock()
	if len(next) > 0 {
		j.running.Trying = next[0].String()
	}
	if err := j.store.Advance(j.key, &j.running, entriesOf(outcomes), next...); err != nil {
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

// log is what a tune writes while it runs.
type log interface {
	runner.Journal
	phase(name string)
	progress(best outcome.Outcome, p search.Progress)
	close() error
}

// phases is a watcher that tells the journal too.
type phases struct {
	Watcher
	journal log
}

// Phase announces a phase.
func (p phases) Phase(name string) {
	p.journal.phase(name)
	p.Watcher.Phase(name)
}

// Evaluated reports one more outcome.
func (p phases) Evaluated(o, best outcome.Outcome, at search.Progress) {
	p.journal.progress(best, at)
	p.Watcher.Evaluated(o, best, at)
}
