package main

import (
	"bytes"
	"errors"
	"fmt"
	"io/fs"
	"path/filepath"
	"strings"
	"time"

	"stenciltune/cache"
	"stenciltune/device/replay"
	"stenciltune/internal/runner"
	"stenciltune/machine"
	"stenciltune/space"
	"stenciltune/stencil"
	"stenciltune/timing"
)

// recorded reads the landscape that a tune is about to write, to go on with it; nil if
// there is none yet. What does not fit is refused: it would be lost.
func recorded(path string, p stencil.Problem, m machine.Machine, regime timing.Regime) (*replay.Landscape, error) {
	file, err := filepath.Abs(path) // a name alone would be a shipped recording's
	if err != nil {
		return nil, usagef("--record %s: %w", path, err)
	}
	l, err := replay.Find(file, p)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return nil, nil
	case err != nil:
	case l.Header.Machine.Name != m.Name:
		err = fmt.Errorf("the recording is of %s, not of %s", l.Header.Machine.Name, m.Name)
	case l.Header.Regime != regime:
		err = fmt.Errorf("the recording was made with --timing %s", l.Header.Regime)
	}
	if err != nil {
		return nil, usagef("--record %s is there: %w; name another file", path, err)
	}
	return l, nil
}

// take adds what a recording holds to what is known.
func (j *journal) take(l *replay.Landscape) {
	for _, s := range l.Order {
		r := l.Records[s]
		if _, ok := j.known[s.String()]; ok {
			continue
		}
		series := timing.Series{Samples: r.Samples, Launches: r.Launches, Steps: r.Launches * s.Int("ph", 1), CutSlow: r.Status == timing.CutSlow}
		if len(r.Samples) > 0 {
			series.Summary = timing.Summarise(r.Samples)
		}
		j.known[s.String()] = cache.Entry{
			Schedule: s, SourceHash: r.SourceHash, Status: r.Status, Reason: r.Reason, Series: series, Registers: r.Registers,
			SpillBytes: r.SpillBytes, BlocksPerSM: r.BlocksPerSM, CompileSeconds: r.CompileSeconds, CheckMaxError: cache.Error64(r.MaxError),
		}
	}
}

// record writes a tune's outcomes as a landscape, after those of the one it goes on with
// (nil = none), where they still hold.
func record(path string, old *replay.Landscape, p stencil.Problem, m machine.Machine, r runner.Result, sp *space.Space, regime timing.Regime, compilers int, args []string) error {
	m.CopyBytesPerSecond = r.Copy
	h := replay.Header{
		Stencil: p.Stencil.Name, StencilHash: p.Hash(), DType: p.DType, Size: p.Size, Steps: p.Steps,
		Machine: m, Regime: regime, Tool: strings.TrimSpace("tune " + version + " " + revision()),
		Command: "tune " + strings.Join(args, " "), Time: time.Now().UTC().Format(time.RFC3339), Space: sp.Size(), Compilers: compilers,
	}
	var records []replay.Record
	seen := map[space.Schedule]bool{}
	if old != nil {
		anew := map[space.Schedule]bool{}
		for _, o := range r.Outcomes {
			anew[o.Schedule] = !o.Known
		}
		for _, s := range old.Order {
			if !anew[s] && sp.Check(s) == nil {
				seen[s] = true
				records = append(records, old.Records[s])
			}
		}
	}
	for _, o := range r.Outcomes {
		if seen[o.Schedule] {
			continue
		}
		seen[o.Schedule] = true
		records = append(records, replay.Record{
			Schedule: o.Schedule, SourceHash: o.SourceHash, Status: o.Status, Reason: o.Reason, Registers: o.Registers,
			SpillBytes: o.SpillBytes, BlocksPerSM: o.BlocksPerSM, CompileSeconds: o.CompileSeconds, DeviceSeconds: o.DeviceSeconds, MaxError: o.MaxError,
			Launches: o.Series.Launches, Samples: o.Series.Samples,
		})
	}
	var b bytes.Buffer
	if err := replay.Write(&b, h, records); err != nil {
		return err
	}
	return cache.WriteFile(path, b.Bytes())
}
