package main

import (
	"context"
	"slices"

	"golang.org/x/perf/benchfmt"
)

// end2end tunes cold and times the winner beside the best schedule of the whole space, interleaved in one
// process. Give -count 10: repeats differ in their seeds. ns/op is the wall time of the tune; ratio is the
// winner's time over the best's; best-found is 1 where the winner or a tie of it is the best.
func end2end(_ context.Context, b *bench) (rows []row, err error) {
	for _, of := range []struct {
		problem
		best string // of bench/h200/landscapes
	}{
		{problem{"jacobi3d", "float32", "512x512x512"}, "stream/vx=2/vy=8/wp=8/ck=3/pf=4/mb=1/ph=4/pm=1"},
		{problem{"jacobi2d", "float32", "8192x8192"}, "stream/vx=8/vy=1/wp=1/ck=8/pf=4/mb=1/ph=10/sm=132/pm=1"},
	} {
		rows = append(rows, row{of.name("Tune"), func(ctx context.Context, repeat int) (result, error) {
			won, wall, m, err := b.race(ctx, of.problem, repeat, [][]string{b.search()}, of.best)
			if err != nil {
				return result{}, err
			}
			c, text := won[0], won[0].Schedule.Text
			mine, best, found := m[text].ns, m[of.best].ns, 0.0
			if text == of.best || slices.Contains(c.Ties, struct{ Schedule string }{of.best}) {
				found = 1
			}
			return result{c.machine(), 1, []benchfmt.Value{value(float64(wall), "ns/op"), value(float64(c.Search.Evaluated), "schedules"),
				value(mine, "winner-ns/step"), value(best, "landscape-best-ns/step"), value(mine/best, "ratio"), value(found, "best-found")}, text}, nil
		}})
	}
	return rows, nil
}
