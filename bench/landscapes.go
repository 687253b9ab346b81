package main

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"time"

	"golang.org/x/perf/benchfmt"
)

// landscapes records twelve spaces over all families: raw samples, statuses, registers, compile and device
// seconds of every schedule. Grids are larger than L2, whose residency would else be what is recorded. A
// space is walked at random for the time of -limit, which is a fair sample; with -whole all of it is, in 3
// minutes in 2D and 6 to 12 in 3D. A recording that is in the folder is gone on with, until it is whole.
func landscapes(_ context.Context, b *bench) (rows []row, err error) {
	problems := []problem{{"jacobi3d", "float64", "512x512x512"}, {"jacobi2d", "float64", "8192x8192"}}
	for _, p := range large("float32") {
		switch {
		case p.stencil == "jacobi3d":
		case strings.Contains(p.stencil, "3d"):
			p.size = "384x384x384"
		default:
			p.size = "8192x8192"
		}
		problems = append(problems, p)
	}
	for _, p := range problems {
		what, walk, limit := "Landscape", []string{"--strategy", "random", "--beyond"}, 36*time.Second
		if b.whole {
			what, walk, limit = "WholeSpace", []string{"--exhaustive"}, 800*time.Second
		}
		if b.limit > 0 {
			limit = b.limit
		}
		walk = append(walk, "--budget", "1000000", "--stall", "1000000", "--time-limit", limit.String())
		rows = append(rows, row{p.name(what), func(ctx context.Context, repeat int) (result, error) {
			file := p.stencil + "_" + strings.Replace(p.dtype, "float", "f", 1) + "_" + p.size + ".jsonl.gz"
			there, err := filepath.Glob(filepath.Join(b.folder, "*_"+file))
			if err != nil {
				return result{}, err
			}
			into := filepath.Join(b.work, file)
			if len(there) > 0 {
				into = there[0]
			}
			c, wall, err := b.cold(ctx, p, repeat, append(walk, "--record", into)...)
			if err == nil && len(there) == 0 {
				slug := strings.ReplaceAll(strings.ToLower(c.Device.Name), " ", "-")
				err = copied(into, filepath.Join(b.folder, slug+"_"+file))
			}
			if err == nil && b.whole && c.Search.Stop != "exhausted" {
				err = fmt.Errorf("the space is not whole yet: the walk was stopped by %s; run it again to go on", c.Search.Stop)
			}
			return recorded(c, wall), err
		}})
	}
	return rows, nil
}

// recorded is what a recording found.
func recorded(c config, wall time.Duration) result {
	return result{c.machine(), 1, []benchfmt.Value{value(1e9*c.Measured.SecondsPerStep, "ns/op"), value(float64(c.Search.Evaluated), "schedules"), value(float64(wall), "tune-ns")}, c.Schedule.Text}
}

// copied copies a file: whoever reads the folder finds all of it or nothing.
func copied(from, to string) error {
	text, err := os.ReadFile(from)
	if err == nil {
		err = os.WriteFile(to+".part", text, 0o666)
	}
	if err == nil {
		err = os.Rename(to+".part", to)
	}
	return err
}
