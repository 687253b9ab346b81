package main

import (
	"context"

	"golang.org/x/perf/benchfmt"
)

// firstOfModel tunes three times: with the model's first schedule alone, with its first ten, and with a
// search of all. The winners are timed interleaved in one process. Budgets hold three more, since the
// naive kernel's three group shapes are evaluated before all others.
func firstOfModel(_ context.Context, b *bench) (rows []row, err error) {
	for _, p := range large("float32") {
		rows = append(rows, row{p.name("Model"), func(ctx context.Context, repeat int) (result, error) {
			won, _, m, err := b.race(ctx, p, repeat, [][]string{{"--strategy", "model", "--budget", "4"}, {"--strategy", "model", "--budget", "13"}, b.search()})
			if err != nil {
				return result{}, err
			}
			one, ten, all := won[0].Schedule.Text, won[1].Schedule.Text, won[2].Schedule.Text
			best := m[all].ns
			values := []benchfmt.Value{value(best, "ns/op"), value(m[one].ns/best, "first-ratio"), value(m[ten].ns/best, "ten-ratio")}
			return result{won[2].machine(), m[all].samples, values, "first: " + one + "\nof ten: " + ten + "\nsearch: " + all}, nil
		}})
	}
	return rows, nil
}
