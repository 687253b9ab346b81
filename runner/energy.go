package runner

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"stenciltune/device"
	"stenciltune/kernels"
	"stenciltune/outcome"
	"stenciltune/space"
	"stenciltune/timing"
)

// Where the finals choose by energy, each finalist is measured in so many turns: the fewest pairs
// whose interval means something (timing.Differ). Whoever is hopeless after the first ones
// is not measured further: a turn takes half a second.
const (
	drawTurns  = 6
	firstTurns = 2
	drawMargin = 1.05
)

// slowed is the share by which a step may take longer without a pause than in short samples
// before the user is told.
const slowed = 0.03

// Energy is what the draws of one schedule come to: one for each turn.
type Energy struct {
	Schedule space.Schedule
	Draws    []timing.Draw
}

// ErrNoEnergy means that the finals were to choose by energy, and that nothing is known of it.
var ErrNoEnergy = errors.New("the energy counter did not move as it should: nothing is known of energy here; use --objective time")

// byTime tells whether the finals choose by time.
func (t *Session) byTime() bool { return t.Objective == "" || t.Objective == timing.ForTime }

// draw measures the energy of one stretch of a candidate, if the device can. A stretch without a
// pause tells nothing of launches that find the caches empty.
func (t *station) draw(ctx context.Context, c *candidate) error {
	m, ok := t.device.(device.Meter)
	if !ok || !m.Metered() || t.Regime == timing.Cold {
		return nil
	}
	s := timing.Metering()
	bounded, cancel := t.deadline(ctx, t.Problem.Size.Cells(), 10, s.Limit)
	defer cancel()
	d, err := m.Energy(bounded, device.Energy{Problem: t.Problem, Run: device.Pass{Binary: c.binary, Launch: c.kernel.Launch, Count: 1}, Stretch: s})
	switch {
	case lost(err):
		return err
	case err != nil:
		fail(&c.outcome, err)
	case d.Known():
		c.draws = append(c.draws, d)
	default:
		t.warn("%s: the energy counter did not move as it should within %g s", c.outcome.Schedule, s.Limit)
	}
	return nil
}

// contest measures the energy of finalists in turn, so that what warms the board falls on all,
// and gives those of which it is known. Draws that a finalist has already are enough.
func (t *station) contest(ctx context.Context, cs []*candidate) ([]*candidate, error) {
	left := slices.DeleteFunc(slices.Clone(cs), func(c *candidate) bool { return len(c.draws) > 0 })
	for turn := range drawTurns {
		for i := range left {
			c := left[(i+turn)%len(left)] // nobody always comes after the same one
			t.trying(c)
			if err := t.draw(ctx, c); err != nil {
				return nil, err
			}
			if err := ctx.Err(); err != nil { // its failure, if any, is the cancellation's
				return nil, err
			}
		}
		left = slices.DeleteFunc(left, func(c *candidate) bool { return len(c.draws) <= turn })
		if turn+1 == firstTurns {
			left = hopeful(left)
		}
	}
	known := slices.DeleteFunc(slices.Clone(cs), func(c *candidate) bool { return !c.outcome.Status.Timed() || len(c.draws) == 0 })
	if len(known) == 0 && len(timed(cs)) > 0 {
		return nil, ErrNoEnergy
	}
	return known, nil
}

// hopeful are the candidates that come near the best by energy, or by the energy-delay product.
func hopeful(cs []*candidate) []*candidate {
	near := map[*candidate]bool{}
	for _, o := range []timing.Objective{timing.ForEnergy, timing.ForEDP} {
		most := 0.0
		for _, c := range cs {
			if worst := slices.Max(timing.Drawn(c.draws, o).Samples); most == 0 || worst < most {
				most = worst
			}
		}
		for _, c := range cs {
			near[c] = near[c] || timing.Drawn(c.draws, o).Min <= drawMargin*most
		}
	}
	return slices.DeleteFunc(cs, func(c *candidate) bool { return !near[c] })
}

// series is what an objective compares.
func (c *candidate) series(o timing.Objective) timing.Series {
	if o == "" || o == timing.ForTime { // the samples of the finals, not the stretches
		return c.outcome.Series
	}
	return timing.Drawn(c.draws, o)
}

// energies files what was drawn, and which finalist each objective would choose.
func (t *Session) energies(r *Result, winner *candidate, cs []*candidate) {
	for _, c := range append([]*candidate{winner}, cs...) {
		if len(c.draws) > 0 && !slices.ContainsFunc(r.Energies, func(e Energy) bool { return e.Schedule == c.outcome.Schedule }) {
			r.Energies = append(r.Energies, Energy{c.outcome.Schedule, c.draws})
		}
	}
	if !t.byTime() {
		r.Best = map[timing.Objective]space.Schedule{}
		for _, o := range timing.Objectives() {
			best, _ := pick(t.Families, cs, o)
			r.Best[o] = best.outcome.Schedule
		}
	}
	if len(winner.draws) == 0 {
		return
	}
	now, samples := timing.Drawn(winner.draws, timing.ForTime).Median, winner.outcome.Seconds()
	if now < samples*(1+slowed) {
		return
	}
	var why []string
	last := winner.draws[len(winner.draws)-1]
	if last.ClockHz > 0 {
		why = append(why, fmt.Sprintf("SM clock %.0f MHz", last.ClockHz/1e6))
	}
	why = append(why, last.Lowered...)
	t.warn("launched without a pause a step takes %.0f %% longer, %.4g ms (%s): a long run will", 100*(now/samples-1), 1e3*now, cmp.Or(strings.Join(why, ", "), "the reason is not known"))
}

// spread are the finalists where energy decides: the five fastest, then the fastest of each other
// family, time tile and vector width, then the next fastest, of a list that is sorted by time.
// Energy follows time closely, so what is slow cannot win; what is nearly as fast in another way
// may draw less.
func spread(sorted []outcome.Outcome) []outcome.Outcome {
	type design struct {
		family         string
		pyramid, width int
	}
	of := func(o outcome.Outcome) design {
		s := o.Schedule
		return design{s.Family(), kernels.ShapeOf(s).Pyramid, s.Int("vx", s.Int("wx", 1))}
	}
	n := min(finalists, len(sorted))
	list, seen := slices.Clone(sorted[:n]), map[design]bool{}
	for _, o := range list {
		seen[of(o)] = true
	}
	var rest []outcome.Outcome
	for _, o := range sorted[n:] {
		if len(list) < maxFinalists && !seen[of(o)] {
			seen[of(o)] = true
			list = append(list, o)
		} else {
			rest = append(rest, o)
		}
	}
	return append(list, rest[:min(len(rest), maxFinalists-len(list))]...)
}
