package main

import (
	"cmp"
	"context"
	_ "embed"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"golang.org/x/perf/benchfmt"

	"stenciltune/stencil"
)

// emittedProgram times an emitted source beside the naive one (its head says how it is called).
//
//go:embed emitted.cu
var emittedProgram []byte

// emitted builds the source that a tune of one size gives, with nvcc, and runs it on others: its time beside the naive
// kernel's, beside what a tune of that very size finds and what the source itself expects, after NAMEMeasure too, the difference of the answers, and the
// processor's time to choose a variant and to launch. sizes.txt lists the grids, the most telling first: of a line
// "emitted STENCIL TUNED OTHER...", all with float32, then with float64. A later line of the same tune goes on with other grids.
// TUNED may be several sizes, with + between: then the source has the winners of all.
func emitted(_ context.Context, b *bench) (rows []row, err error) {
	for line := range strings.Lines(sizesText) {
		words := strings.Fields(line)
		if words[0] != "emitted" {
			continue
		}
		s, err := stencil.Lookup(words[1])
		if err != nil {
			return nil, err
		}
		for _, dtype := range []string{"float32", "float64"} {
			tuned := problem{words[1], dtype, words[2]}
			for _, size := range slices.Concat(strings.Split(tuned.size, "+"), words[3:]) {
				name := strings.Join([]string{"Emitted", tuned.stencil, dtype, tuned.size, size}, "/")
				if slices.ContainsFunc(rows, func(r row) bool { return r.name == name }) {
					continue
				}
				rows = append(rows, row{name, func(ctx context.Context, repeat int) (result, error) {
					return b.runEmitted(ctx, s, tuned, size, repeat)
				}})
			}
		}
	}
	return rows, nil
}

// runEmitted times the source of one problem on another grid.
func (b *bench) runEmitted(ctx context.Context, s *stencil.Stencil, tuned problem, size string, repeat int) (result, error) {
	path, err := b.build(ctx, s, tuned)
	if err != nil {
		return result{}, err
	}
	of := problem{tuned.stencil, tuned.dtype, size}
	// Some tens of milliseconds, and of most time tiles whole launches: what a tune finds is measured on such.
	steps := 120 * min(16, max(1, int(2e11/(of.cells()*float64(len(s.Fields))))/120))
	if b.device == "host" {
		steps = 4
	}
	out, err := output(ctx, nil, append([]string{path, strconv.Itoa(steps)}, strings.Split(size, "x")...)...)
	if err != nil {
		return result{}, err
	}
	var ns, naive, difference, pick, launch, expected, measured, took float64
	if _, err := fmt.Sscan(string(out), &ns, &naive, &difference, &pick, &launch, &expected, &measured, &took); err != nil {
		return result{}, fmt.Errorf("%q: %w", out, err)
	}
	if bound := map[string]float64{"float32": 1e-5, "float64": 1e-13}[tuned.dtype]; !(difference <= bound) {
		return result{}, fmt.Errorf("%s of %s: answers differ by %.3g of the largest value", of.name("Emitted"), tuned.size, difference)
	}
	c, wall, err := b.cold(ctx, of, repeat, b.search()...)
	if err != nil {
		return result{}, err
	}
	own := 1e9 * c.Measured.SecondsPerStep
	variant := strings.Join(strings.Fields(string(out))[8:], " ")
	return result{c.machine(), 7, []benchfmt.Value{value(ns, "ns/op"), of.rate(ns), value(naive, "naive-ns/step"), value(own, "own-tune-ns/step"),
		value(own/ns, "x-own-tune"), value(own/measured, "x-own-tune-measured"), value(took, "measure-ns"), value(expected, "expected-ns/step"), value(difference, "difference"), value(pick, "pick-ns"), value(launch, "launch-ns"), value(float64(wall), "tune-ns")}, variant + "; its own tune: " + c.Schedule.Text}, nil
}

// build makes the program of a tuned problem, once, and gives its path. In the folder of -built a later run of this revision finds it.
func (b *bench) build(ctx context.Context, s *stencil.Stencil, p problem) (string, error) {
	folder := filepath.Join(cmp.Or(b.built, b.work), strings.Join([]string{"emitted", b.commit, p.stencil, p.dtype, p.size}, "-"))
	path := filepath.Join(folder, "emitted")
	if _, err := os.Stat(path); err == nil {
		return path, nil
	}
	header, err := problemHeader(s, p.dtype)
	if err != nil {
		return "", err
	}
	if err := os.MkdirAll(folder, 0o777); err != nil {
		return "", err
	}
	for name, text := range map[string][]byte{"problem.h": header, "emitted.cu": emittedProgram} {
		if err := os.WriteFile(filepath.Join(folder, name), text, 0o666); err != nil {
			return "", err
		}
	}
	for name, search := range map[string][]string{"tuned": b.search(), "naive": {"--budget", "1"}} { // the naive kernel is what a tune begins with
		store := filepath.Join(folder, name+".db")
		args := []string{"emit", "--format", "cu", "--name", name, "--store", store, "--device", b.device, "-o", filepath.Join(folder, name+".cu"), "--stencil", p.stencil, "--dtype", p.dtype}
		for size := range strings.SplitSeq(p.size, "+") {
			if _, _, err := b.tune(ctx, problem{p.stencil, p.dtype, size}, store, search...); err != nil {
				return "", err
			}
			args = append(args, "--size", size)
		}
		if _, err := b.run(ctx, args...); err != nil {
			return "", err
		}
	}
	_, err = output(ctx, nil, b.nvcc, "-O3", "--threads", "3", "-arch=native", "-std=c++17", "-o", path, filepath.Join(folder, "emitted.cu"), filepath.Join(folder, "tuned.cu"), filepath.Join(folder, "naive.cu"))
	return path, err
}

// problemHeader is what emitted.cu has to know of a stencil.
func problemHeader(s *stencil.Stencil, dtype string) ([]byte, error) {
	if len(s.Scalars) > 0 || s.Iterates() || s.Until != nil || slices.ContainsFunc(s.ReadOnly, func(a stencil.Array) bool { return a.Indexed }) {
		return nil, fmt.Errorf("%s: scalars, iteration, Until and arrays read by index are more than emitted.cu knows", s.Name)
	}
	var extents, names, of, left []string // left tells of each field whether a step leaves it: temporary ones hold anything
	for _, f := range s.Fields {
		left = append(left, strconv.FormatBool(!f.Temporary))
	}
	for a, n := range []string{"nx", "ny", "nz"}[:s.Dims] {
		extents, names, of = append(extents, "int "+n), append(names, n), append(of, fmt.Sprintf("(n)[%d]", a))
	}
	return fmt.Appendf(nil, "typedef %s Element;\n#define DIMS %d\n#define FIELDS %d\n#define EXTENTS %s\n#define SIZE %s\n#define EXTENTS_OF(n) %s\n#define ARRAYS %s\n#define GIVEN %s\n#define GIVEN_COUNT %d\n#define LEFT %s\n",
		stencil.DType(dtype).C(), s.Dims, len(s.Fields), strings.Join(extents, ", "), strings.Join(names, ", "), strings.Join(of, ", "),
		strings.Repeat("const Element *, ", len(s.ReadOnly)), strings.Repeat("array, ", len(s.ReadOnly)), len(s.ReadOnly), strings.Join(left, ", ")), nil
}
