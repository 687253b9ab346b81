package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"

	"golang.org/x/perf/benchfmt"

	"stenciltune/kernels/all"
	"stenciltune/space"
	"stenciltune/stencil"
	"stenciltune/tuner"
)

// sanitizers are compute-sanitizer's tools; each has a run of its own.
var sanitizers = []string{"memcheck", "racecheck", "initcheck", "synccheck"}

// sanitizedSizes are a few tiles a side, by dimensions: whole vectors, but no whole tiles. In 2D the last axis is as long as
// the stream tiles of a full GPU need it.
var sanitizedSizes = [...]string{"400008", "1288x8203", "136x75x131"}

// sanitizedLaunches of a kernel: the second reads what the first wrote, and nothing else has written there.
const sanitizedLaunches = "3"

// sanitizerLimit is the time of one run, which takes seconds; sanitizerErrors the code that a finding ends it with.
const (
	sanitizerLimit  = 5 * time.Minute
	sanitizerErrors = 99
)

// sanitize runs the winner of every stencil of the catalogue under compute-sanitizer's tools, and beside it random
// schedules of other families, which take turns from stencil to stencil. The winner is the model's first schedule at
// the stencil's own size, or with -limit what a tune of so long finds there; it runs on a small grid.
func sanitize(ctx context.Context, b *bench) (rows []row, err error) {
	list, err := b.catalogue(ctx)
	if err != nil {
		return nil, err
	}
	m, err := b.facts(ctx)
	if err != nil {
		return nil, err
	}
	b.parallel = b.processes
	for i, s := range list {
		p := problem{s.Name, s.DType, sanitizedSizes[s.Dims-1]}
		winner := sync.OnceValues(func() (string, error) { return b.winner(ctx, s, p.size) })
		add := func(role string, schedule func() (string, error)) {
			rows = append(rows, row{p.name("Sanitize") + "/" + role, func(ctx context.Context, _ int) (result, error) {
				text, err := schedule()
				if err != nil {
					return result{}, err
				}
				return b.sanitized(ctx, m, p, text)
			}})
		}
		add("winner", winner)
		for n := range b.others {
			add(fmt.Sprintf("other-%d", n+1), func() (string, error) {
				won, err := winner()
				if err != nil {
					return "", err
				}
				return otherFamily(p, won, i*b.others+n)
			})
		}
	}
	return rows, nil
}

// winner is the first schedule of those that run a stencil fast at its own size that is legal on a small grid.
func (b *bench) winner(ctx context.Context, s stencilInfo, small string) (string, error) {
	p := problem{s.Name, s.DType, s.DefaultSize}
	fast, err := b.fastest(ctx, p)
	if err != nil {
		return "", err
	}
	p.size = small
	for _, schedule := range fast {
		if _, err = b.run(ctx, slices.Concat([]string{"source", "--schedule", schedule}, p.flags())...); err == nil {
			return schedule, nil
		}
	}
	return "", fmt.Errorf("none of %d schedules is legal on %s: %w", len(fast), small, err)
}

// fastest are schedules of a problem, the fastest first: the model's, or with -limit what a tune finds and its ties.
func (b *bench) fastest(ctx context.Context, p problem) (list []string, err error) {
	if b.limit > 0 {
		b.tuning.Lock() // the GPU is for one at a time
		defer b.tuning.Unlock()
		c, _, err := b.cold(ctx, p, 1, b.search()...)
		list = append(list, c.Schedule.Text)
		for _, t := range c.Ties {
			list = append(list, t.Schedule)
		}
		return list, err
	}
	out, err := b.run(ctx, slices.Concat([]string{"model", "--device", "model:h200", "--top", "200", "--json", "--quiet"}, p.flags())...)
	if err != nil {
		return nil, err
	}
	var ranking struct{ Top []struct{ Schedule string } }
	if err := json.Unmarshal(out, &ranking); err != nil {
		return nil, err
	}
	for _, one := range ranking.Top {
		list = append(list, one.Schedule)
	}
	return list, nil
}

// otherFamily draws a schedule of a family that is not the winner's: the turn-th of those that run the problem, or the
// winner's own where no other does.
func otherFamily(of problem, winner string, turn int) (string, error) {
	s, err := stencil.Lookup(of.stencil)
	if err != nil {
		return "", err
	}
	p := stencil.Problem{Stencil: s, DType: stencil.DType(of.dtype), Steps: s.Steps}
	if p.Size, err = stencil.ParseSize(of.size, s.Dims); err != nil {
		return "", err
	}
	var own []space.Schedule
	var lists [][]space.Schedule
	for _, f := range all.Families() {
		list := slices.Collect(space.New(f.Space(p, tuner.AnyGPU())).All())
		switch {
		case strings.HasPrefix(winner, f.Name()+"/"):
			own = list
		case len(list) > 0:
			lists = append(lists, list)
		}
	}
	if len(lists) == 0 {
		lists = append(lists, own)
	}
	list := lists[turn%len(lists)]
	return list[rand.New(rand.NewPCG(1, uint64(turn))).IntN(len(list))].String(), nil
}

// sanitized builds a schedule's program and runs it under every tool.
func (b *bench) sanitized(ctx context.Context, m machine, p problem, schedule string) (result, error) {
	folder, err := os.MkdirTemp(b.work, "sanitize-")
	if err != nil {
		return result{}, err
	}
	defer os.RemoveAll(folder)
	source, built := filepath.Join(folder, p.stencil+".cu"), filepath.Join(folder, p.stencil)
	text, err := b.run(ctx, slices.Concat([]string{"source", "--program", "--schedule", schedule}, p.flags())...)
	if err == nil {
		err = os.WriteFile(source, text, 0o666)
	}
	if err == nil {
		_, err = output(ctx, nil, b.nvcc, "-O3", "-lineinfo", "-arch=native", "-std=c++17", "-o", built, source)
	}
	if err != nil {
		return result{}, fmt.Errorf("%s: %w", schedule, err)
	}
	var found []string
	for _, tool := range sanitizers {
		list, err := b.underTool(ctx, tool, built)
		if err != nil {
			return result{}, fmt.Errorf("%s of %s: %w", tool, schedule, err)
		}
		for _, finding := range list {
			found = append(found, tool+": "+finding)
		}
	}
	note := strings.Join(append([]string{schedule}, found...), "\n")
	r := result{m, len(sanitizers), []benchfmt.Value{value(float64(len(found)), "findings")}, note}
	if len(found) > 0 {
		return r, fmt.Errorf("%d findings: %s", len(found), note)
	}
	return r, nil
}

// underTool runs a program under one tool and gives what it reports.
func (b *bench) underTool(ctx context.Context, tool, program string) ([]string, error) {
	bounded, cancel := context.WithTimeout(ctx, sanitizerLimit)
	defer cancel()
	c := exec.CommandContext(bounded, b.sanitizer, "--tool", tool, "--error-exitcode", strconv.Itoa(sanitizerErrors), program, sanitizedLaunches)
	c.WaitDelay = 5 * time.Second
	out, err := c.CombinedOutput()
	list := findings(string(out))
	var exit *exec.ExitError
	switch {
	case err == nil && len(list) == 0 && !noneFound.Match(out):
		err = errors.New("it says nothing of what it found")
	case err != nil && len(list) > 0 && errors.As(err, &exit) && exit.Exited():
		err = nil
	}
	if err != nil {
		lines := strings.Split(strings.TrimSpace(string(out)), "\n")
		return nil, fmt.Errorf("%w: %s", err, strings.Join(lines[max(0, len(lines)-5):], "; "))
	}
	return list, nil
}

// noneFound is the last line of a tool that found nothing.
var noneFound = regexp.MustCompile(`(?m)^=+ (ERROR SUMMARY: 0 errors|RACECHECK SUMMARY: 0 hazards displayed)`)

// findings are a tool's reports, a line each: what is wrong, where, and how often if it is said again. A report begins
// right after the bar; what belongs to it is indented.
func findings(text string) []string {
	var list []string
	times := map[string]int{}
	heading := ""
	flush := func(where string) {
		if heading == "" {
			return
		}
		one := strings.TrimSpace(heading + " " + where)
		if heading = ""; times[one] == 0 {
			list = append(list, one)
		}
		times[one]++
	}
	for line := range strings.Lines(text) {
		rest, ok := strings.CutPrefix(strings.TrimRight(line, "\r\n"), "========= ")
		switch {
		case !ok:
		case strings.HasPrefix(rest, " "):
			flush(strings.TrimSpace(rest))
		case rest != "":
			flush("")
			if rest != "COMPUTE-SANITIZER" && !strings.Contains(rest, "SUMMARY: ") {
				heading = rest
			}
		}
	}
	flush("")
	for i, one := range list {
		if n := times[one]; n > 1 {
			list[i] = fmt.Sprintf("%s (%d times)", one, n)
		}
	}
	return list
}
