// Package search decides which schedule to try next: ask and tell strategies
// over a space, and the rules that end a search.
//
// It never runs a schedule and never prints. Times are seconds per time step.
package search

import (
	"time"

	"stenciltune/outcome"
	"stenciltune/space"
)

// Prior predicts the seconds per time step of a schedule; NaN or +Inf where it cannot.
// It is called from several goroutines at once.
type Prior func(space.Schedule) float64

// Parts are what a prior's seconds of a schedule are made of and overlap in: what each of some
// resources would take by itself, in any unit, the same ones in the same order for every schedule.
// It is called from several goroutines at once.
type Parts func(space.Schedule) []float64

// Strategy proposes schedules. It is used from one goroutine. It never proposes a
// schedule that is not in its space, nor the same one twice, nor one it was told
// of before it asked.
type Strategy interface {
	// Name is the name of the strategy as the config records it.
	Name() string
	// Ask proposes at most n schedules; none means that nothing is left.
	Ask(n int) []space.Schedule
	// Tell reports what became of schedules, asked for or not, in any order.
	Tell(outcomes []outcome.Outcome)
}

// Options are what every strategy is made from.
type Options struct {
	Space *space.Space
	Prior Prior  // nil = none
	Parts Parts  // of the prior; nil = it does not tell
	Seed  uint64 // the same seed and the same outcomes give the same proposals
}

// Reason says why a search ended.
type Reason string

// Why a search ended.
const (
	Budget      Reason = "budget"      // as many evaluations as asked for
	TimeLimit   Reason = "time-limit"  // as much time as asked for
	Stall       Reason = "stall"       // no better schedule for long
	Converged   Reason = "converged"   // the strategy expects nothing better
	Roofline    Reason = "roofline"    // as near to the roofline as asked for
	Within      Reason = "within"      // as near to the best of the space as asked for, as good as certainly
	Exhausted   Reason = "exhausted"   // every schedule was tried
	Interrupted Reason = "interrupted" // the user stopped it
	Lost        Reason = "lost"        // the device or the store was lost
)

// Stop is the rules that end a search, whichever holds first; a zero field is no rule.
type Stop struct {
	Budget    int           // evaluations
	Time      time.Duration // since the search began
	Least     int           // evaluations that Time waits for, until Most
	Most      time.Duration // since the search began
	Stall     int           // evaluations without an improvement of more than StallShare
	Foretold  int           // the same of a strategy that foretells the space; 0 = Stall
	Converged int           // proposals in a row expected to improve by less than GainShare
	Roofline  float64       // share of the one-step roofline that the best reaches
	Within    float64       // share above the time of the best of the space that the best has at most with probability Certain
}

// Usual are the rules that end a search on a GPU where nothing is said.
func Usual() Stop {
	return Stop{Budget: 600, Time: 10 * time.Second, Least: 40, Most: 17 * time.Second, Stall: 250, Foretold: 125, Converged: 15}
}

// LastLook is how long a search that has converged waits for what it had asked for: it is
// compiling already, and a few milliseconds of the device prove whether there was nothing in it.
const LastLook = 400 * time.Millisecond

// StallShare is the least improvement that counts as one.
const StallShare = 0.002

// Certain is the probability from which on Stop.Within holds.
const Certain = 0.95

// GainShare is the least expected improvement that is worth a proposal.
const GainShare = 0.005

// Forecaster is a strategy that knows what it may still gain. Optional.
type Forecaster interface {
	// Converged is the number of proposals, up to the last, that were the best
	// there were and yet expected to improve by less than GainShare.
	Converged() int
	// Waiting tells whether an answer is still to come without which nobody can say that it has converged.
	Waiting() bool
	// Foretells tells whether a prior of the whole space has come out about right: then what is better is found soon.
	Foretells() bool
	// Left is how many proposals it would still make until Converged is so many, should none be better
	// than the best so far.
	Left(converged int) int
	// Within is the probability that the best so far takes at most 1 + share times as long as the best of
	// the space; 0 before there is an answer.
	Within(share float64) float64
}

// Progress is what the stop rules look at.
type Progress struct {
	Evaluated int
	SinceBest int     // evaluations since the best one improved by StallShare
	Foretells bool    // what a Forecaster says
	Converged int     // what a Forecaster says; 0 for other strategies
	Within    float64 // what a Forecaster says of Stop.Within; 0 for other strategies
	Roofline  float64
	Elapsed   time.Duration
	Left      bool // whether the strategy has more to propose
	// Likely is how many evaluations the search still needs to end, should it find nothing better, and End when
	// that would be; 0 = not known.
	Likely int
	End    time.Duration
}

// ToStall is how many evaluations without an improvement are left until a search ends for lack of one, if Stall is a rule.
func (s Stop) ToStall(p Progress) int {
	patience := s.Stall
	if p.Foretells && s.Foretold > 0 {
		patience = s.Foretold
	}
	return max(0, patience-p.SinceBest)
}

// Done tells whether and why to end.
func (s Stop) Done(p Progress) (Reason, bool) {
	switch {
	case s.Budget > 0 && p.Evaluated >= s.Budget:
		return Budget, true
	case s.Time > 0 && p.Elapsed >= s.Time && (p.Evaluated >= s.Least || p.Elapsed >= s.Most):
		return TimeLimit, true
	case s.Roofline > 0 && p.Roofline >= s.Roofline:
		return Roofline, true
	case s.Within > 0 && p.Within >= Certain:
		return Within, true
	case s.Stall > 0 && s.ToStall(p) == 0:
		return Stall, true
	case s.Converged > 0 && p.Converged >= s.Converged:
		return Converged, true
	case !p.Left:
		return Exhausted, true
	}
	return "", false
}
