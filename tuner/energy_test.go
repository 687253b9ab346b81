package tuner

import (
	"context"
	"errors"
	"hash/fnv"
	"math"
	"strings"
	"sync/atomic"
	"testing"

	"stenciltune/cache"
	"stenciltune/device"
	"stenciltune/kernels"
	"stenciltune/machine"
	"stenciltune/machine/machinetest"
	"stenciltune/search"
	"stenciltune/space/spacetest"
	"stenciltune/stencil"
	"stenciltune/timing"
	"stenciltune/transfer"
)

// powered is a GPU that takes as long as the model says, and draws what a hash says.
type powered struct {
	place          transfer.Place
	dark, still    bool // it has no energy counter, or one that stands still
	calls, energy  atomic.Int64
	lowered        []string
	slower, clocks float64
}

func (d *powered) Machine() machine.Machine { return d.place.Machine }
func (d *powered) Compile(_ context.Context, k kernels.Kernel) (device.Binary, error) {
	d.calls.Add(1)
	return device.Binary{ID: k.Schedule.String(), Schedule: k.Schedule, Registers: 32, BlocksPerSM: 1}, nil
}
func (d *powered) Check(_ context.Context, c device.Check) (stencil.Comparison, error) {
	return stencil.Comparison{Cells: c.Problem.Size.Cells(), Steps: device.Steps(c.Passes), Against: "reference"}, nil
}
func (d *powered) Time(_ context.Context, t device.Timing) (all []timing.Series, err error) {
	for _, r := range t.Runs {
		s := timing.NewSampler(t.Policy, 1, 1)
		for s.More() {
			s.Add(truth(d.place, r.Binary.Schedule), false)
		}
		all = append(all, s.Series())
	}
	return all, nil
}
func (d *powered) Release(device.Binary) {}
func (d *powered) Close() error          { return nil }
func (d *powered) Metered() bool         { return !d.dark }
func (d *powered) Energy(_ context.Context, e device.Energy) (timing.Draw, error) {
	d.energy.Add(1)
	if d.still {
		return timing.Draw{}, nil
	}
	s := e.Run.Binary.Schedule
	return timing.Draw{SecondsPerStep: d.slower * truth(d.place, s), Watts: watts(s), ClockHz: d.clocks, Lowered: d.lowered}, nil
}

func watts(s Schedule) float64 {
	h := fnv.New32a()
	h.Write([]byte("watts of " + s.String()))
	return 400 + float64(h.Sum32()%300)
}

func newPowered(t *testing.T) *powered {
	return &powered{place: at(problem(t, stencil.Size{4096, 4096, 1}), machinetest.H200()), slower: 1}
}

func (d *powered) tune(t *testing.T, tn *Tuner, o timing.Objective) (Config, error) {
	t.Helper()
	return tn.Tune(t.Context(), d.place.Problem, d, Options{Objective: o, Stop: search.Stop{Budget: 40}})
}

// TestAConfigForEnergyIsNoAnswerForTime, in the store, and what was timed for one serves the other.
func TestAConfigForEnergyIsNoAnswerForTime(t *testing.T) {
	tn, d := open(t), newPowered(t)
	d.lowered, d.slower, d.clocks = []string{timing.PowerCap}, 1.1, 1.5e9
	byEnergy, err := d.tune(t, tn, timing.ForEnergy)
	if err != nil {
		t.Fatal(err)
	}
	e := byEnergy.Energy
	if byEnergy.Objective != timing.ForEnergy || e.Best == nil || e.Best.Energy != byEnergy.Schedule.Text || e.Best.Time == e.Best.Energy || len(e.Finals) < 12 || e.Winner.Samples != 6 {
		t.Fatalf("%s: %+v", byEnergy.Objective, e)
	}
	want := watts(spacetest.Schedule(t, e.Winner.Schedule)) * 1.1 * byEnergy.Measured.SecondsPerStep / (4096 * 4096) * 1e9
	if w := e.Winner; math.Abs(w.JoulesPerBillionCells/want-1) > 1e-9 || w.SMClockHz != 1.5e9 || strings.Join(w.ClocksLowered, ",") != timing.PowerCap {
		t.Errorf("want %g J: %+v", want, w)
	}
	if !strings.Contains(strings.Join(byEnergy.Warnings, ";"), "a step takes 10 % longer") {
		t.Errorf("%q", byEnergy.Warnings)
	}
	compiled := d.calls.Swap(0)
	measured := d.energy.Swap(0)
	byTime, err := d.tune(t, tn, timing.ForTime)
	if err != nil || byTime.Objective != "" || byTime.Schedule.Text == byEnergy.Schedule.Text || byTime.Energy == nil || byTime.Energy.Best != nil || len(byTime.Energy.Finals) != 0 || d.energy.Load() != 1 {
		t.Errorf("%v: %s %+v, measured %d times", err, byTime.Schedule.Text, byTime.Energy, d.energy.Load())
	}
	if now := d.calls.Load(); now > compiled/2 {
		t.Errorf("%d compiled for energy, %d for time", compiled, now)
	}
	for o, want := range map[timing.Objective]Config{timing.ForTime: byTime, timing.ForEnergy: byEnergy} {
		a, err := tn.BestFor(t.Context(), d.place.Problem, d.place.Machine, "", o)
		if err != nil || a.Grade != cache.Exact || a.Config.Schedule.Text != want.Schedule.Text {
			t.Errorf("%s: %v %s", o, err, a.Config.Schedule.Text)
		}
		if again, err := d.tune(t, tn, o); err != nil || again.Time != want.Time.UTC().Truncate(1e9) {
			t.Errorf("%s: the store does not answer: %v", o, err)
		}
	}
	if _, err := tn.BestFor(t.Context(), d.place.Problem, d.place.Machine, "", timing.ForEDP); !errors.Is(err, ErrNotTuned) || !strings.Contains(err.Error(), "by edp") {
		t.Error(err)
	}
	if measured < 24 {
		t.Errorf("%d stretches", measured)
	}
	// Elsewhere: the nearest schedule, and nothing claimed of its energy.
	a, err := tn.BestFor(t.Context(), problem(t, stencil.Size{4096, 2048, 1}), d.place.Machine, "", timing.ForEnergy)
	if c := a.Config; err != nil || a.Grade != cache.OtherSize || c.Schedule.Text != byEnergy.Schedule.Text || c.Energy != nil || c.Objective != timing.ForEnergy || c.Expected.SecondsPerStep <= 0 || c.Expected.Sizes != 1 {
		t.Errorf("%v: %+v", err, a)
	}
	if again, fresh, _, err := tn.Outdated("NVIDIA H200", d.place.Machine, 0); err != nil || len(again) != 0 || fresh != 2 {
		t.Errorf("%d outdated, %d fresh, %v", len(again), fresh, err)
	}
}

// TestWithoutACounterEnergyIsRefused before anything is compiled, with one line.
func TestWithoutACounterEnergyIsRefused(t *testing.T) {
	d := newPowered(t)
	d.dark = true
	c, err := d.tune(t, open(t), timing.ForEDP)
	if !errors.As(err, new(InputError)) || !strings.HasPrefix(err.Error(), "--objective edp: NVIDIA H200 (cuda) has no energy counter") || c.Schedule.Text != "" || d.calls.Load() != 0 {
		t.Errorf("%v, %d compiled", err, d.calls.Load())
	}
	if c, err := d.tune(t, open(t), timing.ForTime); err != nil || c.Energy != nil {
		t.Errorf("%v %+v", err, c.Energy)
	}
	p, replayed := replayed(t)
	if _, err := open(t).Tune(t.Context(), p, replayed, Options{Objective: timing.ForEnergy}); !errors.As(err, new(InputError)) {
		t.Error(err)
	}
	for _, o := range []Options{{Objective: "power"}, {Objective: timing.ForEnergy, Regime: timing.Cold}} {
		if err := o.Check(); !errors.As(err, new(InputError)) || !strings.HasPrefix(err.Error(), "--objective ") {
			t.Errorf("%+v: %v", o, err)
		}
	}
}

// TestACounterThatStandsStillEndsATuneForEnergy: what is found is not stored as an answer.
func TestACounterThatStandsStillEndsATuneForEnergy(t *testing.T) {
	tn, d := open(t), newPowered(t)
	d.still = true
	c, err := d.tune(t, tn, timing.ForEnergy)
	if !errors.As(err, new(InputError)) || !strings.Contains(err.Error(), "use --objective time") || c.Search.Complete || c.Energy != nil {
		t.Errorf("%v: %+v", err, c)
	}
	if all, err := tn.Store().Bests(); err != nil || len(all) != 0 {
		t.Errorf("%d stored, %v", len(all), err)
	}
	if c, err := d.tune(t, tn, timing.ForTime); err != nil || c.Energy != nil || !strings.Contains(strings.Join(c.Warnings, ";"), "energy counter") {
		t.Errorf("%v: %+v %q", err, c.Energy, c.Warnings)
	}
}
