package main

import (
	"cmp"
	"context"
	"fmt"
	"math"
	"slices"
	"strings"

	"stenciltune/cache"
	"stenciltune/cmd/internal/cli"
	"stenciltune/device/replay"
	"stenciltune/machine"
	"stenciltune/model"
	"stenciltune/space"
	"stenciltune/stencil"
	"stenciltune/timing"
	"stenciltune/tuner"
)

// subject is the device a prediction is for, and what has been recorded there.
type subject struct {
	machine machine.Machine
	source  string // of its facts, if it is not here
	records map[space.Schedule]tuner.Outcome
	best    space.Schedule // fastest recorded or stored; zero = not known
}

// subjectOf finds what --device names: the facts of a device that is here, of one
// that was recorded, or of one that is only known (model:a100).
func (a *app) subjectOf(ctx context.Context, name string, p stencil.Problem) (subject, error) {
	if id, ok := strings.CutPrefix(name, tuner.ModelPrefix); ok {
		k, err := machine.FindKnown(id)
		if err != nil {
			return subject{}, tuner.Input(err)
		}
		return subject{machine: k.Machine, source: k.Source}, nil
	}
	if name == "" {
		return subject{}, cli.Usagef("which device? name one with --device: 0, host, replay:h200, or the facts of one that is not here: %s", strings.Join(knownNames(), ", "))
	}
	d, err := tuner.OpenDevice(ctx, name, p)
	if err != nil {
		return subject{}, err
	}
	defer d.Close()
	s := subject{machine: d.Machine(), records: map[space.Schedule]tuner.Outcome{}}
	if r, ok := d.(replay.Device); ok {
		s.records = r.Records
		b, _ := r.Best()
		s.best = b.Schedule
		return s, nil
	}
	return s, a.remembered(&s, p)
}

// remembered adds what the store knows of the kernels that are generated now: measured outcomes, the best config.
func (a *app) remembered(s *subject, p stencil.Problem) error {
	t, err := a.Tuner()
	if err != nil {
		return err
	}
	store := t.Store()
	if s.machine, err = t.Rated(s.machine); err != nil {
		return err
	}
	key := tuner.KeyOf(p, s.machine, timing.Warm)
	entries, err := store.Entries(key)
	if err != nil {
		return err
	}
	sp := t.Space(p, s.machine)
	for _, e := range entries {
		if sp.Check(e.Schedule) == nil && t.Kernel(p, e.Schedule).SourceHash() == e.SourceHash {
			s.records[e.Schedule] = e.Outcome
		}
	}
	c, grade, ok, err := store.Best(key)
	if err == nil && ok && grade == cache.Exact && t.Current(p, c) {
		s.best, err = space.ParseSchedule(c.Schedule.Text)
	}
	return err
}

// knownNames are the --device values of devices known by their facts.
func knownNames() []string {
	var names []string
	for _, k := range machine.KnownDevices() {
		names = append(names, tuner.ModelPrefix+k.ID)
	}
	return names
}

// facts is what the compiler told of a schedule, if that was recorded.
func (s subject) facts(sc space.Schedule) model.Facts {
	r := s.records[sc]
	return model.Facts{Registers: r.Registers, SpillBytes: r.SpillBytes}
}

// measured is a schedule's recorded seconds a step; 0 = none.
func (s subject) measured(sc space.Schedule) float64 { return s.records[sc].Seconds() }

// ranked is a schedule and its predicted seconds a step.
type ranked struct {
	schedule space.Schedule
	seconds  float64
}

// ranking is the schedules of a space by predicted time, the fastest first; those
// that cannot run are left out.
func ranking(sp *space.Space, prior func(space.Schedule) float64) []ranked {
	var list []ranked
	all := slices.Collect(sp.All())
	for i, t := range space.Each(all, prior) {
		if !math.IsInf(t, 1) {
			list = append(list, ranked{all[i], t})
		}
	}
	slices.SortStableFunc(list, func(a, b ranked) int { return cmp.Compare(a.seconds, b.seconds) })
	return list
}

// predicted is what a command says of a device that is not here.
func predicted(s subject) string {
	if s.source == "" {
		return "predicted, not measured"
	}
	return "predicted from the facts of a device that is not here, not measured (" + s.source + ")"
}

// scaled prints seconds with three digits and a fitting unit.
func scaled(seconds float64) string {
	switch {
	case seconds <= 0:
		return "0"
	case seconds < 1e-3:
		return fmt.Sprintf("%.3g us", 1e6*seconds)
	case seconds < 1:
		return fmt.Sprintf("%.3g ms", 1e3*seconds)
	}
	return fmt.Sprintf("%.3g s", seconds)
}
