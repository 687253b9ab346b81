package worker

import "time"

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
	n, stopped  int
	first, last time.Time
	from        scheduling    // the first
	waited      time.Duration // since the first, by the thread that waited longest
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
