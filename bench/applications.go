package main

import (
	"context"

	"golang.org/x/perf/benchfmt"
)

// application is the group of the catalogue's stencils that are time steps of real programs.
const application = "application"

// gains are what a step of ns is beside the naive kernel's, and beside the roof: the speed of a step that reads each array
// once and writes each result once, all stages fused, so many bytes a cell, as fast as a copy.
func (p problem) gains(c config, ns float64, bytes int) []benchfmt.Value {
	naive, roof := 1e9*c.Baseline.SecondsPerStep, c.Baseline.CopyBytesPerSecond/float64(bytes)/1e9
	return []benchfmt.Value{value(p.rate(naive).Value, "naive-GCells/s"), value(naive/ns, "x-naive"), value(roof, "roof-GCells/s"), value(p.rate(ns).Value/roof, "x-roof")}
}

// applications tunes every application of the catalogue cold.
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
				return b.tuned(ctx, p, repeat, func(c config, ns float64) []benchfmt.Value { return p.gains(c, ns, s.Bytes) })
			}})
		}
	}
	return rows, nil
}
