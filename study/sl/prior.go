package main

import (
	"cmp"
	"context"
	"fmt"
	"math"

	"stenciltune/device"
	"stenciltune/device/microbench"
	"stenciltune/internal/runner"
	"stenciltune/kernels"
	"stenciltune/kernels/all"
	"stenciltune/machine"
	"stenciltune/model"
	"stenciltune/search"
	"stenciltune/space"
	"stenciltune/stencil"
	"stenciltune/timing"
)

// The models that --model names.
const (
	modelCounts = "counts"
	modelSL     = "sl"
	modelNone   = "none"
)

const modelFlag = "`model` that ranks schedules before they run: counts (all families), sl (the SL paper's pyramid height for its small tile), none"

// prior is the cost model as the search sees it.
func prior(p stencil.Problem, m machine.Machine) search.Prior { return priorFrom(model.Fitted, p, m) }

// priorFrom is the cost model with these coefficients.
func priorFrom(c model.Coefficients, p stencil.Problem, m machine.Machine) search.Prior {
	families := all.For(p)
	return func(s space.Schedule) float64 {
		return c.Schedule(p, kernels.Find(families, s.Family()), s, model.Facts{}, m).Seconds
	}
}

// priorNamed is the model of that name; nil for none. times gives the seconds a step
// of the schedules by which the SL model is calibrated; without it they are
// predicted by counts.
func (a *app) priorNamed(name string, p stencil.Problem, m machine.Machine, times func(...space.Schedule) ([]float64, error)) (search.Prior, error) {
	switch name {
	case modelCounts:
		return prior(p, m), nil
	case modelNone:
		return nil, nil
	case modelSL:
		return a.slPrior(p, m, times)
	}
	return nil, usagef("--model %q: use %s, %s or %s", name, modelCounts, modelSL, modelNone)
}

// slTile is the SL optimiser's tile: the largest group of the family smalltile, the
// nearest to a cube among those, of which heights 1 and 2 are legal.
func slTile(sp *space.Space) (one, two space.Schedule, ok bool) {
	var best kernels.Shape
	for s := range sp.All() {
		if s.Family() != "smalltile" || s.Int("ph", 1) != 1 || s.Int("cw", 0) != 0 {
			continue
		}
		next := s.With("ph", 2)
		if sp.Check(next) != nil {
			continue
		}
		h := kernels.ShapeOf(s)
		longest := func(h kernels.Shape) int { return max(h.Group[0], h.Group[1], h.Group[2]) }
		if t, b := h.Threads(), best.Threads(); t > b || t == b && longest(h) < longest(best) {
			one, two, best, ok = s, next, h, true
		}
	}
	return one, two, ok
}

// slPrior calibrates the SL model and predicts smalltile's schedules of its tile by
// it. All others come after: the SL optimiser knows no other kernels.
func (a *app) slPrior(p stencil.Problem, m machine.Machine, times func(...space.Schedule) ([]float64, error)) (search.Prior, error) {
	sp := kernels.Spaces(all.For(p), p, m)
	one, two, ok := slTile(sp)
	if !ok {
		return nil, usagef("--model sl: no small tile of two fused steps is legal for %s", p.Text())
	}
	counts := prior(p, m)
	seconds := []float64{counts(one), counts(two)}
	if times != nil {
		var err error
		if seconds, err = times(one, two); err != nil {
			return nil, fmt.Errorf("--model sl: %w", err)
		}
	}
	h := kernels.ShapeOf(one)
	sl := model.SL{
		Dims: p.Stencil.Dims, Size: p.Size, Tile: h.Group, SetupRead: 1, SMs: m.SMs, BlocksSM: model.Schedule(p, familyOf(p, one), one, model.Facts{}, m).BlocksPerSM,
		ClockHz: cmp.Or(m.ClockHz, 1.5e9), Bandwidth: cmp.Or(m.DRAMBandwidth(), 20e9*float64(m.SMs)), Elem: p.DType.Size(), Launch: cmp.Or(m.Rates.Launch, 1.5e-6),
	}
	st := kernels.Fused(p, one).Stencil
	for k := range 3 {
		sl.Halo[k] = st.Low[k] + st.High[k]
	}
	if err := sl.Calibrate(1, seconds[0], 2, seconds[1]); err != nil {
		return nil, err
	}
	height := sl.Height(min(p.Steps, 64))
	a.say("SL model: tile %dx%dx%d, null kernel %s, set-up %.3g and step %.3g clocks a thread; pyramid height %d", h.Group[0], h.Group[1], h.Group[2],
		scaled(sl.Launch), sl.Setup, sl.Loop, height)
	last := math.Max(sl.Seconds(1), counts(one)) * 10
	return func(s space.Schedule) float64 {
		if g := kernels.ShapeOf(s); s.Family() == "smalltile" && s.Int("fs", 0) == one.Int("fs", 0) && g.Group == h.Group && g.Column == 0 && g.Pyramid <= height {
			return sl.Seconds(g.Pyramid) // beyond the height it chose, the optimiser does not look
		}
		return last + counts(s)
	}, nil
}

// measureFor gives a function that checks and times schedules on a device, and adds
// the null kernel's time to the machine: what the SL optimiser gathers at run time.
func measureFor(ctx context.Context, o runner.Options, d device.Device, m *machine.Machine) func(...space.Schedule) ([]float64, error) {
	return func(list ...space.Schedule) ([]float64, error) {
		if m.Rates.Launch == 0 && (m.Kind == machine.CUDA || m.Kind == machine.Host) {
			l := familyOf(o.Problem, list[0]).Kernel(o.Problem, list[0]).Launch
			launch, err := microbench.Launch(ctx, d, l.Blocks(), l.Threads())
			if err != nil {
				return nil, err
			}
			m.Rates.Launch = launch
		}
		policy := timing.Search()
		policy.Regime = o.Regime
		outcomes, err := runner.Measure(ctx, o, list, policy)
		if err != nil {
			return nil, err
		}
		var seconds []float64
		for _, out := range outcomes {
			if out.Seconds() == 0 {
				return nil, fmt.Errorf("%s: %s: %s", out.Schedule, out.Status, out.Reason)
			}
			seconds = append(seconds, out.Seconds())
		}
		return seconds, nil
	}
}
