package main

import (
	"cmp"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"stenciltune/cache"
	"stenciltune/machine"
	"stenciltune/report"
	"stenciltune/stencil"
	"stenciltune/timing"
	"stenciltune/tuner"
)

// pause is the wall time without an evaluation that is left out of a stored search, between two
// runs of a tune.
const pause = time.Minute

// shelf is the tunes of a store that flags choose.
type shelf struct {
	app   *app
	store *cache.Store
	names []string // of stencils, as --stencil has them
	keep  chooser
	list  []stored // that List saw last
}

// shelf opens the store for reading.
func (a *app) shelf(f reportFlags) (*shelf, error) {
	store, err := a.readStore()
	if err != nil {
		return nil, err
	}
	stencils := f.stencils
	if len(stencils) == 0 {
		stencils = []string{""}
	}
	var any []chooser
	for _, s := range stencils {
		keep, err := (&storeFilter{s, f.device}).keep()
		if err != nil {
			return nil, err
		}
		any = append(any, keep)
	}
	return &shelf{app: a, store: store, names: f.stencils, keep: func(k cache.Key, c *cache.Config) bool {
		return f.fits(k.DType, k.Size) && slices.ContainsFunc(any, func(keep chooser) bool { return keep(k, c) })
	}}, nil
}

// stored is what is known of a tune but for its journal.
type stored struct {
	key     cache.Key
	config  *cache.Config  // nil = none came of it yet
	running *cache.Running // of several the one that told last; nil = the last tune came to its end
}

// all are the tunes that have a journal, or have begun, in the order of their keys.
func (s *shelf) all() ([]stored, error) {
	keys, err := s.store.Keys()
	if err != nil {
		return nil, err
	}
	configs, err := s.store.Bests()
	if err != nil {
		return nil, err
	}
	running, err := s.store.Running()
	if err != nil {
		return nil, err
	}
	known := map[cache.Key]*stored{}
	tunes := map[cache.Key]int{} // of a journal: one for each objective, or one that has none yet
	for _, k := range keys {
		tunes[k] = 0
	}
	at := func(k cache.Key) *stored {
		if known[k] == nil {
			known[k] = &stored{key: k}
			tunes[k.Journal()]++
		}
		return known[k]
	}
	for k, list := range running {
		for _, r := range list {
			if x := at(k.For(r.Objective)); x.running == nil || later(r, *x.running) {
				x.running = &r
			}
		}
	}
	for i, c := range configs {
		if _, ok := tunes[c.Key.Journal()]; ok {
			at(c.Key).config = &configs[i].Config
		}
	}
	for _, k := range keys {
		if tunes[k] == 0 {
			at(k)
		}
	}
	var list []stored
	for _, k := range slices.SortedFunc(maps.Keys(known), func(a, b cache.Key) int { return cmp.Compare(a.String(), b.String()) }) {
		c := known[k].config
		if r := known[k].running; c == nil && r != nil {
			told := r.Config()
			c = &told
		}
		if s.keep(k, c) {
			list = append(list, *known[k])
		}
	}
	return list, nil
}

// later tells whether the first of two tunes tells more of how it goes: it runs, or was heard of later.
func later(a, b cache.Running) bool {
	if a.Alive() != b.Alive() {
		return a.Alive()
	}
	return a.Age < b.Age
}

// alive tells whether a tune runs that has told so lately.
func (x stored) alive() bool { return x.running != nil && x.running.Alive() }

// id tells the tune from all others.
func (x stored) id() string {
	sum := sha256.Sum256([]byte(x.key.String()))
	return hex.EncodeToString(sum[:6])
}

// storedTunes are those of the store's journals.
func (a *app) storedTunes(_ context.Context, f reportFlags, device string) ([]report.Tune, error) {
	f.device = device
	s, err := a.shelf(f)
	if err != nil {
		return nil, err
	}
	list, err := s.all()
	if err != nil {
		return nil, err
	}
	var tunes []report.Tune
	for _, x := range list {
		r, err := s.withJournal(x)
		if err != nil {
			return nil, err
		}
		if len(r.Outcomes) > 0 {
			tunes = append(tunes, a.finish(r))
		}
	}
	return tunes, nil
}

// run is what is known of the tune without its journal. While a tune runs, the config of an
// earlier one does not count. Its stencil is one of the catalogue, or one of those named.
func (x stored) run(names ...string) report.Run {
	k := x.key
	r := report.Run{ID: x.id(), Objective: k.Objective, Origin: report.Stored, Config: x.config, Regime: timing.Regime(k.Regime), Name: strings.Join([]string{k.StencilHash[:min(8, len(k.StencilHash))], k.DType, k.Size}, "/"),
		Machine: machine.Machine{Kind: k.Kind, Name: k.DeviceName, Driver: k.Driver, Compiler: k.Compiler}}
	if size, err := stencil.ParseSize(k.Size, 1+strings.Count(k.Size, "x")); err == nil {
		r.Problem.Size = size
	}
	from := x.config
	switch {
	case x.running != nil:
		c := x.running.Config()
		from = &c
		r.Time, r.Changed = x.running.Begun, x.running.At
		if x.alive() {
			r.Origin, r.Phase, r.Trying, r.Config = report.Running, x.running.Phase, x.running.Trying, nil
			break
		}
		note := "the last tune of it did not come to its end"
		if x.running.Phase != "" {
			note = "a tune of it was last heard of at " + x.running.At.Format(time.DateTime) + " UTC, in " + x.running.Phase + ": it was killed, or its machine cannot be reached"
		}
		r.Notes = append(r.Notes, note)
	case x.config != nil:
		r.Time, r.Changed = x.config.Time, x.config.Time
	default:
		r.Notes = append(r.Notes, "no tune of it has come to its end")
	}
	if k.Kind == machine.Replay {
		r.Notes = append(r.Notes, "tuned on a recording: seconds of the search are of this machine; tune report --device replay:... has the simulated ones")
	}
	if from == nil {
		return r
	}
	r.Name = strings.Join([]string{from.Stencil.Name, stencil.DType(k.DType).Short(), k.Size}, "/")
	r.Machine = from.Machine()
	p, err := tuner.ProblemOf(*from, "")
	for _, name := range names {
		if err == nil {
			break
		}
		if q, other := tuner.ProblemOf(*from, name); other == nil {
			p, err = q, nil
		}
	}
	if err != nil {
		r.Notes = append(r.Notes, "nothing is predicted: "+err.Error())
		return r
	}
	r.Problem = p
	return r
}

// withJournal is all that is known of the tune.
func (s *shelf) withJournal(x stored) (report.Run, error) {
	entries, err := s.store.History(x.key.Journal())
	if err != nil {
		return report.Run{}, err
	}
	r := x.run(s.names...)
	left, gaps, begin := 0.0, 0, time.Time{}
	for i, e := range entries {
		if i == 0 {
			begin = e.At.Add(-took(e))
		} else if gap := e.At.Sub(entries[i-1].At); gap > pause+took(e) {
			left += (gap - took(e)).Seconds()
			gaps++
		}
		r.Outcomes = append(r.Outcomes, e.Outcome)
		r.Search = append(r.Search, report.Evaluation{Schedule: e.Schedule, Seconds: e.At.Sub(begin).Seconds() - left})
	}
	if gaps > 0 {
		r.Notes = append(r.Notes, fmt.Sprintf("%d pauses of more than %v between evaluations, %.0f s in all, are left out of the search's seconds", gaps, pause, left))
	}
	return r, nil
}

// took is the seconds of a schedule that a journal tells, as a duration.
func took(e cache.Entry) time.Duration {
	return time.Duration((e.CompileSeconds + e.DeviceSeconds) * float64(time.Second))
}
