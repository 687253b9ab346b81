package main

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"

	"golang.org/x/perf/benchfmt"
)

// program is the built tune, on one device.
type program struct {
	path, device string
	work         string // folder of stores and compile caches, each used once
	tunes        int    // how many were begun
}

// problem is a stencil on a grid.
type problem struct{ stencil, dtype, size string }

// name is the row's that measures the problem.
func (p problem) name(what string) string {
	return strings.Join([]string{what, p.stencil, p.dtype, p.size}, "/")
}

// cells of the grid.
func (p problem) cells() float64 {
	cells := 1.0
	for e := range strings.SplitSeq(p.size, "x") {
		n, _ := strconv.Atoi(e)
		cells *= float64(n)
	}
	return cells
}

// rate is in GCells/s: cells a step over nanoseconds a step.
func (p problem) rate(ns float64) benchfmt.Value { return value(p.cells()/ns, "GCells/s") }

func (p problem) flags() []string {
	return []string{"--stencil", p.stencil, "--dtype", p.dtype, "--size", p.size}
}

// machine is the part of a device's facts that results name.
type machine struct{ Name, Kind, UUID, Driver, Compiler string }

// config is what a tune prints, as far as it is read here (docs/config.md).
type config struct {
	Device    machine
	Toolchain struct{ Compiler string }
	Schedule  struct{ Text string }
	Measured  struct {
		SecondsPerStep float64 `json:"seconds_per_step"`
		Samples        int
	}
	Baseline struct {
		SecondsPerStep     float64 `json:"seconds_per_step"`
		CopyBytesPerSecond float64 `json:"copy_bytes_per_second"`
	}
	RooflineShare float64 `json:"roofline_share"`
	Ties          []struct{ Schedule string }
	Search        struct {
		Evaluated, Failed, Space int
		Stop                     string
	}
}

// machine are the facts of the device that was tuned on.
func (c config) machine() machine {
	m := c.Device
	m.Compiler = c.Toolchain.Compiler
	return m
}

// run runs tune.
func (p *program) run(ctx context.Context, args ...string) ([]byte, error) {
	return output(ctx, nil, append([]string{p.path}, args...)...)
}

// output runs a program; what it says of a failure is the error's text.
func output(ctx context.Context, env []string, args ...string) ([]byte, error) {
	c := exec.CommandContext(ctx, args[0], args[1:]...)
	c.Cancel = func() error { return c.Process.Signal(os.Interrupt) }
	c.WaitDelay = 20 * time.Second
	c.Env = append(os.Environ(), env...)
	var stderr bytes.Buffer
	c.Stderr = &stderr
	out, err := c.Output()
	if err != nil {
		lines := strings.Split(strings.TrimSpace(string(out)+"\n"+stderr.String()), "\n")
		err = fmt.Errorf("%s: %w: %s", strings.Join(args, " "), err, strings.Join(lines[max(0, len(lines)-5):], "; "))
	}
	return out, err
}

// cold tunes with an empty store and an empty compile cache (NVRTC keeps what it has compiled since
// CUDA 12.9). It returns the wall time too.
func (p *program) cold(ctx context.Context, of problem, seed int, args ...string) (config, time.Duration, error) {
	p.tunes++
	work := filepath.Join(p.work, strconv.Itoa(p.tunes))
	defer os.RemoveAll(work)
	if err := os.Mkdir(work, 0o777); err != nil {
		return config{}, 0, err
	}
	return p.tune(ctx, of, filepath.Join(work, "store.db"), append(args, "--seed", strconv.Itoa(seed))...)
}

// tune tunes with a store.
func (p *program) tune(ctx context.Context, of problem, store string, args ...string) (config, time.Duration, error) {
	begin := time.Now()
	args = slices.Concat([]string{p.path}, of.flags(), []string{"--device", p.device, "--quiet", "--store", store}, args)
	out, err := output(ctx, []string{"CUDA_CACHE_PATH=" + filepath.Join(filepath.Dir(store), "kernels")}, args...)
	wall := time.Since(begin)
	var c config
	if err == nil {
		err = json.Unmarshal(out, &c)
	}
	return c, wall, err
}

// timed is what tune measure says of a schedule: its samples, and their median in ns.
type timed struct {
	samples int
	ns      float64
}

// measure checks schedules and times them interleaved in one process.
func (p *program) measure(ctx context.Context, of problem, schedules ...string) (machine, map[string]timed, error) {
	var m machine
	args := slices.Concat([]string{"measure", "--device", p.device, "--quiet", "--store", filepath.Join(p.work, "measure.db")}, of.flags())
	for _, s := range slices.Compact(slices.Sorted(slices.Values(schedules))) {
		args = append(args, "--schedule", s)
	}
	out, err := p.run(ctx, args...)
	if err != nil {
		return m, nil, err
	}
	samples := map[string][]float64{}
	for lines := benchfmt.NewReader(bytes.NewReader(out), "tune measure"); lines.Scan(); {
		line, ok := lines.Result().(*benchfmt.Result)
		if !ok {
			continue
		}
		m = machine{line.GetConfig("device"), line.GetConfig("kind"), line.GetConfig("uuid"), line.GetConfig("driver"), line.GetConfig("toolchain")}
		parts := strings.SplitN(string(line.Name), "/", 5) // Step/jacobi3d/f32/512x512x512/SCHEDULE
		seconds, _ := line.Value("sec/op")
		samples[parts[len(parts)-1]] = append(samples[parts[len(parts)-1]], seconds)
	}
	found := map[string]timed{}
	for _, s := range schedules {
		v := slices.Sorted(slices.Values(samples[s]))
		if len(v) == 0 {
			return m, nil, fmt.Errorf("tune measure printed no time of %s", s)
		}
		found[s] = timed{len(v), 1e9 * (v[(len(v)-1)/2] + v[len(v)/2]) / 2}
	}
	return m, found, nil
}

// race tunes cold with each of some searches, and times the winners and other schedules interleaved in one
// process. It returns the wall time of the last tune too.
func (p *program) race(ctx context.Context, of problem, seed int, searches [][]string, others ...string) (won []config, wall time.Duration, found map[string]timed, err error) {
	for _, search := range searches {
		c, took, err := p.cold(ctx, of, seed, search...)
		if err != nil {
			return nil, 0, nil, err
		}
		won, wall, others = append(won, c), took, append(others, c.Schedule.Text)
	}
	_, found, err = p.measure(ctx, of, others...)
	return won, wall, found, err
}

// stencilInfo is a stencil of the catalogue.
type stencilInfo struct {
	Name, DType string
	Group       string // textbook or application
	Dims        int
	DefaultSize string `json:"default_size"`
	Bytes       int    // that a step must move for each cell
}

// catalogue are the stencils that ship with tune.
func (p *program) catalogue(ctx context.Context) (list []stencilInfo, err error) {
	out, err := p.run(ctx, "stencils", "--json")
	if err == nil {
		err = json.Unmarshal(out, &list)
	}
	return list, err
}
