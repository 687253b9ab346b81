package cache

import (
	"errors"
	"io"
	"io/fs"
	"maps"
	"os"
	"slices"
	"time"

	"stenciltune/timing"
)

// Running is what a tune tells while it runs, so that others can look on. It stays until
// PutBest stores what came of the tune: of one that was killed At says how old it is.
type Running struct {
	Stencil   StencilInfo        `json:"stencil"`
	Problem   ProblemInfo        `json:"problem"`
	Scalars   map[string]float64 `json:"scalars,omitempty"`
	Device    DeviceInfo         `json:"device"`
	Toolchain ToolchainInfo      `json:"toolchain"`
	Regime    timing.Regime      `json:"regime"`
	Objective timing.Objective   `json:"objective,omitempty"`

	Phase  string    `json:"phase"`            // "baseline", "search", "finals"; "" = it has ended, and nothing came of it
	Trying string    `json:"trying,omitempty"` // the schedule that was begun last
	Begun  time.Time `json:"begun"`            // UTC
	At     time.Time `json:"at"`               // UTC, when this was told; Advance sets it
}

// Config is what a config would say of the problem and the device.
func (r Running) Config() Config {
	c := Config{Stencil: r.Stencil, Problem: r.Problem, Scalars: r.Scalars, Device: r.Device, Toolchain: r.Toolchain}
	c.Measured.Regime = r.Regime
	return c
}

// runningAt is where a tune tells how it goes: under the key of its journal.
func runningAt(key string) spot { return spot{part: partRunning, key: key} }

// tell is Advance's part that tells.
func tell(tx transaction, key string, r Running) error {
	r.At = tx.now().UTC()
	at := runningAt(key)
	raw, err := sealJSON(at.place(), r)
	if err == nil {
		tx.put(at, raw)
	}
	return err
}

// Running is what tunes tell that run, or ended without a config, by the keys of their journals.
func (s *Store) Running() (map[Key]Running, error) {
	keys, err := s.keys(partRunning, "")
	if err != nil || len(keys) == 0 {
		return nil, err
	}
	byText := map[string]Key{}
	for _, k := range keys {
		byText[k.String()] = k
	}
	var at []spot
	for _, text := range slices.Sorted(maps.Keys(byText)) {
		at = append(at, runningAt(text))
	}
	records, err := s.engine.read(at...)
	if err != nil {
		return nil, err
	}
	all := map[Key]Running{}
	for _, rec := range records {
		var r Running
		if unsealJSON(rec.place(), rec.value, &r) != nil {
			s.health.spoilt(rec.place())
			continue
		}
		all[byText[rec.key]] = r
	}
	return all, nil
}

// Stamp is a text that is another one after every change, for who looks on: it is cheap, and
// waits for nobody. While there is no store it is empty.
func (s *Store) Stamp() (string, error) { return s.engine.stamp() }

// stamp is the file's first two pages, of which every transaction writes one.
func (s *boltFile) stamp() (string, error) {
	if _, err := s.stat(); errors.Is(err, fs.ErrNotExist) {
		return "", nil
	} else if err != nil {
		return "", err
	}
	f, err := os.Open(s.file)
	if err != nil {
		return "", classify(s.file, "read", err)
	}
	defer f.Close()
	b, err := io.ReadAll(io.LimitReader(f, int64(2*os.Getpagesize())))
	return string(b), classify(s.file, "read", err)
}
