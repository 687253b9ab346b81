package worker

import (
	"math/rand/v2"
	"time"
)

// An operation that passes its deadline is the schedule's fault, unless its process had no processor to run it on: where
// other programs fill the machine, or something stops the process again and again. Then it is run again.

const (
	manyLooks   = 16  // at a child until an operation's deadline
	hardlyEver  = 0.4 // share of them in which a starved child is stopped
	hardlyAtAll = 0.8 // share of the time that a thread of a starved one is ready to run and waits
)

// scheduling is what the system says of a process.
type scheduling struct {
	stopped bool
	waited  map[string]time.Duration // by its threads' numbers: for a processor, while they were ready to run
}

// looks are those at a child while an operation runs.
type looks struct {
	begin       time.Time // of the operation
	n, stopped  int
	first, last time.Time
	from        scheduling    // the first
	waited      time.Duration // since the first, by the thread that waited longest
}

// next is the time until the next look, or at last until the operation's time is up. Looks come at random within equal parts
// of it, so that they are not in step with what they are to see.
func (l *looks) next(limit time.Duration) time.Duration {
	at := limit + killGrace
	if l.n < manyLooks {
		at = time.Duration((float64(l.n) + rand.Float64()) / manyLooks * float64(limit))
	}
	return at - time.Since(l.begin)
}

func (l *looks) add(s scheduling) {
	l.last = time.Now()
	if l.n++; l.n == 1 {
		l.first, l.from = l.last, s
	}
	if s.stopped {
		l.stopped++
	}
	for thread, waited := range s.waited {
		if before, ok := l.from.waited[thread]; ok {
			l.waited = max(l.waited, waited-before)
		}
	}
}

// starved tells whether the child got hardly any processor time.
func (l *looks) starved() bool {
	if l.n < manyLooks/2 {
		return false
	}
	return float64(l.stopped) >= hardlyEver*float64(l.n) || l.waited.Seconds() >= hardlyAtAll*l.last.Sub(l.first).Seconds()
}
