package main

import (
	"context"
	"embed"
	"fmt"
	"slices"
	"strings"

	"golang.org/x/perf/benchfmt"

	"stenciltune/stencil"
	"stenciltune/stencil/sizes"
)

// sizesOf are the sizes of a set: of the thesis, of the paper, the stencil's own, or one written out, for
// stencils of as many axes.
func sizesOf(set, stencil, own string, dims int) (list []string) {
	switch {
	case set == "default":
		return []string{own}
	case set == "paper":
		return []string{sizes.Paper(dims).Text(dims)}
	case set == "thesis":
		for _, size := range sizes.Thesis(stencil, dims) {
			list = append(list, size.Text(dims))
		}
	case strings.Count(set, "x") == dims-1:
		return []string{set}
	}
	return list
}

// stencilsIn are the stencil files of a folder.
func stencilsIn(files embed.FS, folder string) (list []*stencil.Stencil, err error) {
	entries, err := files.ReadDir(folder)
	if err != nil {
		return nil, err
	}
	for _, f := range entries {
		text, err := files.ReadFile(folder + "/" + f.Name())
		if err != nil {
			return nil, err
		}
		s, err := stencil.Parse(strings.TrimSuffix(f.Name(), ".sl"), f.Name(), string(text))
		if err != nil {
			return nil, err
		}
		list = append(list, s)
	}
	return list, nil
}

// tuned is the result of a cold tune: a step of its winner in nanoseconds, what else tells of it, and the tune's own time.
func (b *bench) tuned(ctx context.Context, p problem, repeat int, more func(c config, ns float64) []benchfmt.Value) (result, error) {
	c, wall, err := b.cold(ctx, p, repeat, b.search()...)
	if err != nil {
		return result{}, err
	}
	ns := 1e9 * c.Measured.SecondsPerStep
	values := slices.Concat([]benchfmt.Value{value(ns, "ns/op"), p.rate(ns)}, more(c, ns), []benchfmt.Value{value(float64(wall), "tune-ns")})
	return result{c.machine(), max(1, c.Measured.Samples), values, c.Schedule.Text}, nil
}

// stencils tunes every stencil of the catalogue but its applications cold, and takes the winner's and the naive kernel's times
// from that tune. A tune takes some 15 s: "paper" and "default" are 25 of them, "thesis" is 48.
func stencils(ctx context.Context, b *bench) (rows []row, err error) {
	list, err := b.catalogue(ctx)
	if err != nil {
		return nil, err
	}
	for _, s := range list {
		if s.Group == application {
			continue
		}
		for _, size := range sizesOf(b.sizes, s.Name, s.DefaultSize, s.Dims) {
			p := problem{s.Name, s.DType, size}
			rows = append(rows, row{p.name("Catalogue"), func(ctx context.Context, repeat int) (result, error) {
				return b.tuned(ctx, p, repeat, func(c config, _ float64) []benchfmt.Value {
					return []benchfmt.Value{value(1e9*c.Baseline.SecondsPerStep, "naive-ns/step"), value(c.RooflineShare, "x-copy")}
				})
			}})
		}
	}
	if len(rows) == 0 {
		return nil, fmt.Errorf("-sizes %s: want thesis, paper, default or a size like 64x48", b.sizes)
	}
	return rows, nil
}
