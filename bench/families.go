package main

import (
	"context"
	"strings"

	"golang.org/x/perf/benchfmt"
)

// naive is one thread a cell, as a program has it that nobody tuned.
const naive = "global/gx=64/gy=4/gz=1/wx=1/wy=1/wz=1/cw=0/zz=0/sp=0"

// large are ten stencils in both types on grids that no cache holds.
func large(dtypes ...string) (list []problem) {
	for _, dtype := range dtypes {
		for s := range strings.FieldsSeq("jacobi2d jacobi2d9 jacobi2d9s gaussian2d gradient2d jacobi3d heat3d jacobi3d13 jacobi3d27 poisson3d") {
			size := "16384x16384"
			if strings.Contains(s, "3d") {
				size = "512x512x512"
			}
			list = append(list, problem{s, dtype, size})
		}
	}
	return list
}

// families tunes each stencil of the README's table cold, and times its winner beside the naive kernel;
// then larger, odd and small grids; then the best known schedules that make one step a launch.
// Every cell is checked before, on a small grid and on this one.
func families(_ context.Context, b *bench) (rows []row, err error) {
	problems := append(large("float32", "float64"),
		problem{"jacobi3d", "float32", "768x768x768"}, problem{"jacobi3d", "float32", "512x704x404"},
		problem{"jacobi3d", "float32", "509x701x403"}, problem{"jacobi3d", "float32", "256x256x256"},
		problem{"jacobi2d", "float32", "4096x4096"}, problem{"jacobi2d", "float32", "4037x4037"}, problem{"jacobi2d", "float32", "1024x1024"})
	for _, p := range problems {
		rows = append(rows, row{p.name("Tuned"), func(ctx context.Context, repeat int) (result, error) {
			won, _, m, err := b.race(ctx, p, repeat, [][]string{b.search()}, naive)
			if err != nil {
				return result{}, err
			}
			c, best := won[0], m[won[0].Schedule.Text]
			values := []benchfmt.Value{value(best.ns, "ns/op"), p.rate(best.ns), value(m[naive].ns, "naive-ns/step")}
			return result{c.machine(), best.samples, values, c.Schedule.Text}, nil
		}})
	}
	const cube = "global/gx=32/gy=4/gz=2/wx=1/wy=4/wz=2/cw=0/zz=0/sp=0/vx=4"
	for _, one := range []struct {
		problem
		schedule string
	}{
		{problem{"jacobi2d", "float32", "16384x16384"}, "global/gx=128/gy=4/gz=1/wx=1/wy=2/wz=1/cw=0/zz=0/sp=0/vx=4"},
		{problem{"jacobi2d", "float64", "16384x16384"}, "global/gx=256/gy=2/gz=1/wx=1/wy=4/wz=1/cw=0/zz=0/sp=0"},
		{problem{"jacobi3d", "float32", "512x512x512"}, cube},
		{problem{"jacobi3d", "float32", "768x768x768"}, cube},
		{problem{"jacobi3d", "float64", "512x512x512"}, "global/gx=128/gy=4/gz=1/wx=1/wy=2/wz=4/cw=0/zz=0/sp=0/vx=2"},
		{problem{"jacobi3d", "float64", "768x768x768"}, "global/gx=64/gy=8/gz=1/wx=1/wy=4/wz=2/cw=0/zz=0/sp=0/vx=2"},
	} {
		rows = append(rows, row{one.name("OneStep"), func(ctx context.Context, _ int) (result, error) {
			machine, m, err := b.measure(ctx, one.problem, one.schedule)
			if err != nil {
				return result{}, err
			}
			best := m[one.schedule]
			return result{machine, best.samples, []benchfmt.Value{value(best.ns, "ns/op"), one.rate(best.ns)}, one.schedule}, nil
		}})
	}
	return rows, nil
}
