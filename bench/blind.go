package main

import (
	"context"
	"embed"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"time"

	"golang.org/x/perf/benchfmt"

	"stenciltune/stencil"
)

// blindFiles are programs that nothing was fitted to: neither the model nor the search was changed with one in view.
//
//go:embed blind/*.sl
var blindFiles embed.FS

// blind judges the model and the search on each of the blind programs: what the model ranks first, the best of its
// first ten, what a tune finds as anybody runs it, and what a search of twice the time and more finds, each cold, timed
// interleaved in one process. Ratios are to the fastest of the four. predicted-ratio is the model's time of its first, as
// it was before anything of the program was compiled, over the measured one. tune-ns, schedules and the reason to stop
// are the default tune's, and so are the naive kernel and the roof that the fastest is compared with.
func blind(_ context.Context, b *bench) (rows []row, err error) {
	list, err := stencilsIn(blindFiles, "blind")
	if err != nil {
		return nil, err
	}
	for _, s := range list {
		for _, size := range sizesOf(b.sizes, s.Name, s.DefaultSize(false).Text(s.Dims), s.Dims) {
			p := problem{s.Name, string(s.DType), size}
			rows = append(rows, row{p.name("Blind"), func(ctx context.Context, repeat int) (result, error) {
				path := filepath.Join(b.work, s.Name+".sl")
				if err := os.WriteFile(path, []byte(s.Text()), 0o666); err != nil {
					return result{}, err
				}
				return b.judge(ctx, problem{path, p.dtype, size}, stencil.Problem{Stencil: s, DType: s.DType}.Compulsory(), repeat)
			}})
		}
	}
	return rows, nil
}

// long are the flags of a search that ends late: after twice the time of b.search, if not before.
func (b *bench) long() []string {
	limit := 20 * time.Second
	if b.limit > 0 {
		limit = 2 * b.limit
	}
	return []string{"--time-limit", limit.String(), "--stall", "1000", "--converged", "200", "--budget", "2500"}
}

// judge is a row of blind, of a program whose step moves so many bytes a cell at least.
func (b *bench) judge(ctx context.Context, p problem, bytes, repeat int) (result, error) {
	first, predicted, failed, err := b.first(ctx, p, repeat)
	if err != nil {
		return result{}, err
	}
	won, wall, m, err := b.race(ctx, p, repeat, [][]string{{"--strategy", "model", "--budget", "13"}, b.long(), b.search()}, first)
	if err != nil {
		return result{}, err
	}
	ten, long, tuned := won[0].Schedule.Text, won[1], won[2]
	best := m[first]
	for _, t := range m {
		if t.ns < best.ns {
			best = t
		}
	}
	ratio := func(schedule, unit string) benchfmt.Value { return value(m[schedule].ns/best.ns, unit) }
	values := []benchfmt.Value{value(best.ns, "ns/op"), p.rate(best.ns), ratio(first, "first-ratio"), ratio(ten, "ten-ratio"), ratio(tuned.Schedule.Text, "default-ratio"),
		ratio(long.Schedule.Text, "long-ratio"), value(float64(tuned.Search.Evaluated), "schedules"), value(float64(wall), "tune-ns")}
	values = append(values, p.gains(tuned, best.ns, bytes)...)
	note := "first: " + first
	if failed == "" {
		values = append(values, value(1e9*predicted/m[first].ns, "predicted-ratio"))
	} else {
		note = "the model's first fails: " + failed + "\nnaive: " + first
	}
	note += "\nof ten: " + ten
	for _, c := range []struct {
		name string
		config
	}{{"default", tuned}, {"long", long}} {
		note += fmt.Sprintf("\n%s: %s (%d evaluated of %d, stopped by %s)", c.name, c.Schedule.Text, c.Search.Evaluated, c.Search.Space, c.Search.Stop)
	}
	return result{tuned.machine(), best.samples, values, note}, nil
}

// first is the schedule that the model ranks first, and its seconds a step, as a cold tune has them: its store holds
// the rates of the machine and nothing of the program. Where that schedule fails, the fastest naive kernel takes its place.
func (b *bench) first(ctx context.Context, p problem, repeat int) (schedule string, seconds float64, failed string, err error) {
	work, err := os.MkdirTemp(b.work, "first-")
	if err != nil {
		return "", 0, "", err
	}
	defer os.RemoveAll(work)
	store := filepath.Join(work, "store.db")
	won, _, err := b.tune(ctx, p, store, "--strategy", "model", "--budget", "4", "--seed", strconv.Itoa(repeat))
	if err != nil {
		return "", 0, "", err
	}
	out, err := b.run(ctx, slices.Concat([]string{"model", "--device", b.device, "--quiet", "--store", store, "--top", "1", "--json"}, p.flags())...)
	if err != nil {
		return "", 0, "", err
	}
	var list struct {
		Top []struct {
			Schedule string
			Seconds  float64 `json:"seconds_per_step"`
		}
	}
	if err := json.Unmarshal(out, &list); err != nil {
		return "", 0, "", fmt.Errorf("tune model: %w", err)
	}
	if len(list.Top) == 0 {
		return "", 0, "", fmt.Errorf("tune model ranks no schedule of %s", p.stencil)
	}
	top := list.Top[0]
	if won.Search.Failed > 0 {
		return won.Schedule.Text, 0, top.Schedule, nil
	}
	return top.Schedule, top.Seconds, "", nil
}
