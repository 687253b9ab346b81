package scale

import (
	"stenciltune/outcome"
	"stenciltune/search"
	"stenciltune/space"
)

// Search is a source: a strategy and the rules that end it.
type Search struct {
	Strategy search.Strategy
	Stop     search.Stop
	Order    []space.Schedule // told of, so far

	tracker search.Tracker
	until   float64 // of the last look; 0 = before it
}

// Ask asks the strategy, unless it has converged.
func (s *Search) Ask(n int) (list []space.Schedule, more bool) {
	if s.until > 0 {
		return nil, true
	}
	list = s.Strategy.Ask(n)
	return list, len(list) > 0
}

// Tell tells the strategy, and looks at the rules. One that has converged has a last look; should
// that find something, it goes on.
func (s *Search) Tell(o outcome.Outcome, now float64) bool {
	s.Order = append(s.Order, o.Schedule)
	s.tracker.Add(o)
	s.Strategy.Tell([]outcome.Outcome{o})
	p := s.tracker.Progress(0, true)
	forecaster, _ := s.Strategy.(search.Forecaster)
	if forecaster != nil {
		p.Converged, p.Foretells = forecaster.Converged(), forecaster.Foretells()
	}
	why, ends := s.Stop.Done(p)
	switch {
	case !ends:
		s.until = 0
	case why == search.Converged && s.until == 0:
		s.until = now + search.LastLook.Seconds()
		return false
	case why == search.Converged:
		return now >= s.until && !forecaster.Waiting()
	}
	return ends
}

// Best is the fastest schedule so far, in seconds a step; 0 = none.
func (s *Search) Best() float64 {
	o, _ := s.tracker.Best()
	return o.Seconds()
}

// List is a source of schedules in their order.
type List struct{ Left []space.Schedule }

// Ask gives the first of what is left.
func (l *List) Ask(n int) (list []space.Schedule, more bool) {
	n = min(n, len(l.Left))
	list, l.Left = l.Left[:n], l.Left[n:]
	return list, n > 0
}

// Tell ends nothing.
func (*List) Tell(outcome.Outcome, float64) bool { return false }
