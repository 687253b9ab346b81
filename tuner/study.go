package tuner

import (
	"maps"
	"slices"

	"stenciltune/cache"
	"stenciltune/device/replay"
	"stenciltune/outcome"
	"stenciltune/space"
)

// study is a journal that tunes of one problem share: see runner.Study.
type study struct {
	*journal
	heard cache.Heard
	held  map[space.Schedule]bool // claims; true = begun
	news  []space.Schedule        // that the session has not asked for
}

// joinStudy begins a tune's part in a journal. What is there already is its first news.
func joinStudy(s *cache.Store, key cache.Key, running cache.Running, l *replay.Landscape) (*study, error) {
	j := &study{journal: newJournal(s, key, running, l), held: map[space.Schedule]bool{}}
	j.running.Shared = true
	return j, j.tell()
}

// turn takes one in the journal, and keeps what is new. The lock is held.
func (j *study) turn(t cache.Turn) (cache.Answer, error) {
	t.Worker, t.Heard = j.running, j.heard
	a, err := j.store.Share(j.key, t)
	if err != nil {
		return a, err
	}
	j.heard = a.Heard
	for _, e := range a.News {
		j.tidings(e.Outcome)
	}
	for _, s := range a.Spent {
		j.tidings(quarantined(s))
	}
	return a, nil
}

// tidings keeps what another found.
func (j *study) tidings(o outcome.Outcome) {
	if j.learn(o) {
		j.news = append(j.news, o.Schedule)
	}
}

// tell tells how the tune goes, and renews its claims.
func (j *study) tell() error {
	j.mu.Lock()
	defer j.mu.Unlock()
	a, err := j.turn(cache.Turn{Claim: slices.Collect(maps.Keys(j.held))})
	if err == nil {
		maps.DeleteFunc(j.held, func(s space.Schedule, _ bool) bool { return !slices.Contains(a.Held, s) })
	}
	return err
}

func (j *study) phase(name string) {
	j.mu.Lock()
	j.enter(name)
	j.mu.Unlock()
	j.failed(j.tell())
}

// Claim asks for schedules, and gives those that no other tune has.
func (j *study) Claim(wanted ...space.Schedule) ([]space.Schedule, error) {
	j.mu.Lock()
	defer j.mu.Unlock()
	a, err := j.turn(cache.Turn{Claim: wanted})
	if err != nil {
		return nil, err
	}
	for _, s := range a.Held {
		if _, known := j.held[s]; !known {
			j.held[s] = false
		}
	}
	return a.Held, nil
}

// Record stores outcomes and marks what runs next as begun, if it is still this tune's.
func (j *study) Record(outcomes []outcome.Outcome, next ...space.Schedule) error {
	j.mu.Lock()
	defer j.mu.Unlock()
	if len(next) > 0 {
		j.running.Trying = next[0].String()
	}
	a, err := j.turn(cache.Turn{Entries: entriesOf(outcomes), Begin: next})
	if err != nil {
		return err
	}
	for _, o := range outcomes {
		delete(j.held, o.Schedule)
		j.learn(o)
	}
	for _, s := range next {
		if slices.Contains(a.Held, s) {
			j.held[s] = true
		} else {
			delete(j.held, s)
		}
	}
	return nil
}

// Holds tells whether a schedule is still this tune's.
func (j *study) Holds(s space.Schedule) bool {
	j.mu.Lock()
	defer j.mu.Unlock()
	_, ok := j.held[s]
	return ok
}

// Release gives up claims.
func (j *study) Release(claimed ...space.Schedule) {
	j.mu.Lock()
	defer j.mu.Unlock()
	claims := map[space.Schedule]bool{}
	for _, s := range claimed {
		if begun, ok := j.held[s]; ok {
			claims[s] = begun
			delete(j.held, s)
		}
	}
	j.failed(j.store.Release(j.key, j.running.Worker, claims))
}

// News gives what others found since it was last asked.
func (j *study) News() []space.Schedule {
	j.mu.Lock()
	defer j.mu.Unlock()
	news := j.news
	j.news = nil
	return news
}

// close leaves the study: what it holds is free.
func (j *study) close() error {
	j.rest()
	j.enter("")
	return also(j.fault, j.store.Leave(j.key, j.running, j.held))
}
