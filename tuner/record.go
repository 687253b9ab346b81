package tuner

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
	"stenciltune/machine"
	"stenciltune/outcome"
	"stenciltune/space"
	"stenciltune/timing"
)

// recorded reads the landscape that a tune is about to write, to go on with it; nil if
// there is none yet. What does not fit is refused: it would be lost.
func recorded(path string, p Problem, m machine.Machine, regime timing.Regime) (*replay.Landscape, error) {
	file, err := filepath.Abs(path) // a name alone would be a shipped recording's
	if err != nil {
		return nil, Inputf("--record %s: %w", path, err)
	}
	l, err := replay.Find(file, p)
	var cannot *fs.PathError
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return nil, nil
	case errors.As(err, &cannot):
		return nil, fmt.Errorf("--record %s cannot be read: %w", path, cannot.Err)
	case err != nil:
	case l.Header.Machine.Name != m.Name:
		err = fmt.Errorf("the recording is of %s, not of %s", l.Header.Machine.Name, m.Name)
	case l.Header.Regime != regime:
		err = fmt.Errorf("the recording was made with --timing %s", l.Header.Regime)
	}
	if err != nil {
		return nil, Inputf("--record %s is there: %w; name another file", path, err)
	}
	return l, nil
}

// young is what of a recording may still hold at a maximal age; nil if nothing. A recording tells of itself alone when it was written, and
// the store when each of its schedules was measured.
func young(l *replay.Landscape, stored []cache.Entry, maxAge time.Duration) *replay.Landscape {
	if written, err := time.Parse(time.RFC3339, l.Header.Time); err != nil || time.Since(written) > maxAge {
		return nil
	}
	old := map[source]bool{}
	for _, e := range stored {
		old[source{e.Schedule, e.SourceHash}] = time.Since(e.At) > maxAge
	}
	kept := &replay.Landscape{Header: l.Header, Records: map[space.Schedule]outcome.Outcome{}}
	for _, s := range l.Order {
		if o := l.Records[s]; !old[source{s, o.SourceHash}] {
			kept.Order, kept.Records[s] = append(kept.Order, s), o
		}
	}
	return kept
}

// writeLandscape writes the tune's outcomes as a landscape, after those of the one it goes
// on with, where they still hold.
func (j *job) writeLandscape() error {
	m := j.machine
	m.CopyBytesPerSecond = j.measured.Copy
	h := replay.Header{
		Stencil: j.problem.Stencil.Name, StencilHash: j.problem.Hash(), DType: j.problem.DType, Size: j.problem.Size, Steps: j.problem.Steps,
		Machine: m, Regime: j.Regime, Tool: strings.TrimSpace("tune " + Version + " " + j.Revision),
		Command: j.Command, Time: time.Now().UTC().Format(time.RFC3339), Space: j.legal.Size(), Compilers: compilations(j.device),
	}
	var records []outcome.Outcome
	seen := map[space.Schedule]bool{}
	if j.recording != nil {
		anew := map[space.Schedule]bool{}
		for _, o := range j.measured.Outcomes {
			anew[o.Schedule] = !o.Known
		}
		for _, s := range j.recording.Order {
			if !anew[s] && j.legal.Check(s) == nil {
				seen[s] = true
				records = append(records, j.recording.Records[s])
			}
		}
	}
	for _, o := range j.measured.Outcomes {
		if !seen[o.Schedule] {
			seen[o.Schedule] = true
			records = append(records, o)
		}
	}
	var b bytes.Buffer
	if err := replay.Write(&b, h, records); err != nil {
		return err
	}
	return cache.WriteFile(j.Record, b.Bytes())
}
