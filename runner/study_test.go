package runner

import (
	"slices"
	"sync"
	"testing"

	"stenciltune/outcome"
	"stenciltune/space"
	"stenciltune/timing"
)

// study is what sessions share, in memory.
type study struct {
	mu    sync.Mutex
	known map[space.Schedule]outcome.Outcome
	held  map[space.Schedule]int // by which session
	times map[space.Schedule]int // recorded
	seats []*seat
}

// seat is a session's place at it.
type seat struct {
	*study
	id   int
	news []space.Schedule
	lose space.Schedule // is taken away by session 0, which is dead, when it begins
}

func (s *study) sit(id int) *seat {
	x := &seat{study: s, id: id}
	s.seats = append(s.seats, x)
	return x
}

func (s *seat) Known(c space.Schedule, _ string) (outcome.Outcome, bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	o, ok := s.known[c]
	return o, ok
}

func (s *seat) Record(outcomes []outcome.Outcome, next ...space.Schedule) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, o := range outcomes {
		s.known[o.Schedule] = o
		s.times[o.Schedule]++
		delete(s.held, o.Schedule)
		for _, other := range s.seats {
			if other != s {
				other.news = append(other.news, o.Schedule)
			}
		}
	}
	for _, c := range next {
		if c == s.lose {
			s.held[c], s.lose = 0, space.Schedule{}
		}
	}
	return nil
}

func (s *seat) Claim(wanted ...space.Schedule) (ours []space.Schedule, err error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, c := range wanted {
		by, held := s.held[c]
		if held && by == 0 && len(s.known) >= 30 { // dead for long enough
			held = false
		}
		if !held || by == s.id {
			s.held[c] = s.id
			ours = append(ours, c)
		}
	}
	return ours, nil
}

func (s *seat) Holds(c space.Schedule) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	by, held := s.held[c]
	return held && by == s.id
}

func (s *seat) Release(claimed ...space.Schedule) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, c := range claimed {
		if s.held[c] == s.id {
			delete(s.held, c)
		}
	}
}

func (s *seat) News() []space.Schedule {
	s.mu.Lock()
	defer s.mu.Unlock()
	news := s.news
	s.news = nil
	return news
}

// Three sessions go through one space: each schedule but the baseline's is run by one of them, and
// all know all outcomes. What a dead one holds, or takes away, is run when it is free.
func TestSessionsShareAStudy(t *testing.T) {
	for _, name := range []string{"exhaustive", "bayes"} {
		t.Run(name, func(t *testing.T) {
			s := &study{known: map[space.Schedule]outcome.Outcome{}, held: map[space.Schedule]int{}, times: map[space.Schedule]int{}}
			var wg sync.WaitGroup
			var devices []*fake
			var all []Options
			for i := range 3 {
				d := newFake(t)
				o := options(t, d)
				o.Strategy, o.Ahead = strategy(t, name, o.Space, 1), 3
				own := s.sit(i + 1)
				n := 0
				for c := range o.Space.All() {
					d.trust[c.String()] = true // another session may have proved it
					if n++; i == 0 && n > 40 && !slices.Contains(naives, c.String()) {
						s.held[c] = 0
					}
					if n == 10+i {
						own.lose = c
					}
				}
				o.Journal = own
				devices, all = append(devices, d), append(all, o)
			}
			results := make([]Result, len(all))
			for i, o := range all {
				wg.Go(func() { results[i] = mustTune(t, o) })
			}
			wg.Wait()
			for _, r := range results {
				if len(r.Outcomes) != 48 || r.Stop != "exhausted" {
					t.Errorf("%d outcomes, %s", len(r.Outcomes), r.Stop)
				}
			}
			for _, o := range results[0].Outcomes {
				runs, text := 0, o.Schedule.String()
				for _, d := range devices {
					for _, e := range d.of(opTime) {
						if e.schedule == text {
							runs++
						}
					}
				}
				if base := slices.Contains(naives, text); !base && (runs != 1 || s.times[o.Schedule] != 1) || o.Status != timing.OK {
					t.Errorf("%s: %s, run %d times, recorded %d times", text, o.Status, runs, s.times[o.Schedule])
				}
			}
			if len(s.held) > 0 {
				t.Errorf("%d claims are left", len(s.held))
			}
		})
	}
}
