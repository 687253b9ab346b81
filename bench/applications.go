package main

import (
	"context"

	"golang.org/x/perf/benchfmt"
)

// application is the group of the catalogue's stencils that are time steps of real programs.
const application = "application"

// applications tunes every application of the catalogue cold. The roof is the speed of a
// step that reads each array once and writes each result once, all stages fused, as fast as a copy.
func applications(ctx context.Context, b *bench) (rows []row, err error) {
	list, err := b.catalogue(ctx)
	if err != nil {
		return nil, err
	}
	for _, s := range list {
		if s.Group != application {
			continue
		}
		for _, size := range sizesOf(b.sizes, s.Name, s.DefaultSize, s.Dims) {
			p := problem{s.Name, s.DType, size}
			rows = append(rows, row{p.name("Application"), func(ctx context.Context, repeat int) (result, error) {
				c, wall, err := b.cold(ctx, p, repeat, b.search()...)
				if err != nil {
					return result{}, err
				}
				ns, naive := 1e9*c.Measured.SecondsPerStep, 1e9*c.Baseline.SecondsPerStep
				roof := c.Baseline.CopyBytesPerSecond / float64(s.Bytes) / 1e9
				return result{c.machine(), max(1, c.Measured.Samples), []benchfmt.Value{value(ns, "ns/op"), p.rate(ns), value(p.rate(naive).Value, "naive-GCells/s"),
					value(naive/ns, "x-naive"), value(roof, "roof-GCells/s"), value(p.rate(ns).Value/roof, "x-roof"), value(float64(wall), "tune-ns")}, c.Schedule.Text}, nil
			}})
		}
	}
	return rows, nil
}
