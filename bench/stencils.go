package main

import (
	"context"
	"embed"
	"fmt"
	"slices"
	"strings"

	"golang.org/x/perf/benchfmt"

	"stenciltune/stencil"
)

// sizesOf are the sizes of a set: of the Futhark thesis's table 7 (a power of two less one, so that no
// boundary of a memory transaction is at the same place in all rows), of the stencil language's paper's
// table 1, the stencil's own, or one written out, for stencils of as many axes.
func sizesOf(set, stencil, own string, dims int) []string {
	switch {
	case set == "default":
		return []string{own}
	case set == "paper":
		return []string{[]string{"400000", "1000x1000", "60x60x60"}[dims-1]}
	case set == "thesis" && stencil == "srad2":
		return []string{"2047x2047", "4095x4095"}
	case set == "thesis" && (stencil == "sum3d-f64" || stencil == "sum3d-i8"):
		return []string{"255x255x255"}
	case set == "thesis":
		return [][]string{{"16769025", "67092481"}, {"4095x4095", "8191x8191"}, {"255x255x255", "511x511x511"}}[dims-1]
	case strings.Count(set, "x") == dims-1:
		return []string{set}
	}
	return nil
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
