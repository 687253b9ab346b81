package searchtest

import (
	"stenciltune/outcome"
	"stenciltune/search"
	"stenciltune/space"
)

// Curve is what a run achieved: Regret[i] is by how much the best schedule after
// i+1 evaluations, by its exact time, is slower than the optimum, as a share.
type Curve struct {
	Regret []float64
	Order  []space.Schedule
}

// Run lets a strategy search a landscape until budget evaluations are spent,
// batch schedules at a time. Failures cost an evaluation as well.
func Run(s search.Strategy, l *Landscape, budget, batch int) Curve {
	_, best := l.Optimum()
	var c Curve
	var t search.Tracker
	for len(c.Order) < budget {
		asked := s.Ask(min(batch, budget-len(c.Order)))
		if len(asked) == 0 {
			break
		}
		told := make([]outcome.Outcome, len(asked))
		for i, a := range asked {
			told[i] = l.Measure(a)
			t.Add(told[i])
			regret := 1e9
			if b, ok := t.Best(); ok {
				exact, _ := l.True(b.Schedule)
				regret = exact/best - 1
			}
			c.Regret = append(c.Regret, regret)
			c.Order = append(c.Order, a)
		}
		s.Tell(told)
	}
	return c
}

// Within is the number of evaluations after which the regret stayed at or below
// share, or more than were spent if it never did.
func (c Curve) Within(share float64) int {
	n := len(c.Regret) + 1
	for i := len(c.Regret) - 1; i >= 0 && c.Regret[i] <= share; i-- {
		n = i + 1
	}
	return n
}

// Final is the regret at the end.
func (c Curve) Final() float64 {
	if len(c.Regret) == 0 {
		return 1e9
	}
	return c.Regret[len(c.Regret)-1]
}
