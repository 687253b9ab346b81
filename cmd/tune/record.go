package main

import (
	"bytes"
	"strings"
	"time"

	"stenciltune/cache"
	"stenciltune/device/machine"
	"stenciltune/device/replay"
	"stenciltune/device/timing"
	"stenciltune/internal/runner"
	"stenciltune/space"
	"stenciltune/stencil"
)

// record writes a tune's outcomes as a landscape.
func record(path string, p stencil.Problem, m machine.Machine, r runner.Result, sp *space.Space, regime timing.Regime, compilers int, args []string) error {
	m.CopyBytesPerSecond = r.Copy
	h := replay.Header{
		Stencil: p.Stencil.Name, StencilHash: p.Hash(), DType: p.DType, Size: p.Size, Steps: p.Steps,
		Machine: m, Regime: regime, Tool: strings.TrimSpace("tune " + version + " " + revision()),
		Command: "tune " + strings.Join(args, " "), Time: time.Now().UTC().Format(time.RFC3339), Space: sp.Size(), Compilers: compilers,
	}
	var records []replay.Record
	seen := map[space.Schedule]bool{}
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
