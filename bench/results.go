package main

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"maps"
	"math"
	"os"
	"slices"
	"strings"
	"time"

	"golang.org/x/perf/benchfmt"

	"stenciltune/timing"
)

// result is one measurement of a row.
type result struct {
	machine machine
	iters   int
	values  []benchfmt.Value
	note    string // what was found, as a comment: benchstat compares rows by their names alone
}

// value is a number of six digits with its unit, as benchmark text has them: ns/op, GCells/s ...
func value(v float64, unit string) benchfmt.Value {
	return benchfmt.Value{Value: timing.Digits(v, 6), Unit: unit}
}

// results are Go benchmark text. Lines of "key: value" tell what two files must agree in to be
// compared: benchstat makes a table for each device, kind, driver and compiler. What differs
// between two revisions stands in comments: the commit, the GPU's UUID, the date, the schedules.
type results struct {
	out    io.Writer
	text   *benchfmt.Writer // into line
	line   strings.Builder
	done   map[string]int     // measurements by row
	ratios map[string][]ratio // by unit
	close  func() error
	head   string // comments before the first result
}

const commitLine = "# commit: "

// results opens the file of -o and reads what it holds.
func (b *bench) results(ctx context.Context, stdout io.Writer) (*results, error) {
	version, err := b.run(ctx, "--version")
	if err != nil {
		return nil, err
	}
	if words := strings.Fields(string(version)); b.commit == "" && len(words) > 3 {
		b.commit = words[3]
	}
	commit := commitLine + cmp.Or(b.commit, "unknown") + "\n"
	r := &results{out: stdout, close: func() error { return nil }, done: map[string]int{}, ratios: map[string][]ratio{}}
	r.head = "# bench " + b.args + "\n# date: " + time.Now().UTC().Format(time.DateOnly) + "\n" + commit
	if b.out != "" {
		text, err := os.ReadFile(b.out)
		if err != nil && !errors.Is(err, fs.ErrNotExist) {
			return nil, err
		}
		if bytes.Contains(text, []byte(commitLine)) && !bytes.Contains(text, []byte(commit)) {
			return nil, fmt.Errorf("%s holds results of another revision than %s; write those of this one to another file", b.out, strings.TrimPrefix(commit, "# "))
		}
		for old := benchfmt.NewReader(bytes.NewReader(text), b.out); old.Scan(); {
			switch line := old.Result().(type) {
			case *benchfmt.Result:
				r.done[string(line.Name)]++
				r.keep(line)
			case *benchfmt.SyntaxError:
				return nil, fmt.Errorf("-o: %w", line)
			}
		}
		f, err := os.OpenFile(b.out, os.O_APPEND|os.O_CREATE|os.O_WRONLY, 0o666)
		if err != nil {
			return nil, err
		}
		r.out, r.close = f, f.Close
	}
	r.text = benchfmt.NewWriter(&r.line)
	return r, nil
}

// add writes one measurement at once: keys that changed, the note as comments, the line.
func (r *results) add(name string, got result) error {
	m := got.machine
	line := benchfmt.Result{Name: benchfmt.Name(name), Iters: got.iters, Values: got.values}
	for _, c := range [][2]string{{"device", m.Name}, {"kind", m.Kind}, {"driver", m.Driver}, {"compiler", m.Compiler}} {
		if c[1] != "" {
			line.Config = append(line.Config, benchfmt.Config{Key: c[0], Value: []byte(c[1]), File: true})
		}
	}
	r.keep(&line)
	r.line.Reset()
	if err := r.text.Write(&line); err != nil {
		return err
	}
	keys, rest, _ := strings.Cut(r.line.String(), "Benchmark")
	if r.head != "" && m.UUID != "" {
		r.head += "# uuid: " + m.UUID + "\n"
	}
	text := r.head + keys
	r.head = ""
	for note := range strings.Lines(got.note) {
		text += "# " + strings.TrimSpace(note) + "\n"
	}
	_, err := io.WriteString(r.out, text+"Benchmark"+rest)
	return err
}

// ratio is a value that would be 1 in the best case.
type ratio struct {
	value float64
	of    string // the row
}

// keep adds the ratios of a result to those of the file.
func (r *results) keep(line *benchfmt.Result) {
	for _, v := range line.Values {
		if strings.HasSuffix(v.Unit, "-ratio") {
			r.ratios[v.Unit] = append(r.ratios[v.Unit], ratio{v.Value, string(line.Name)})
		}
	}
}

// summary is the median of each kind of ratio, and the one that is furthest from 1.
func (r *results) summary() string {
	var text strings.Builder
	for _, unit := range slices.Sorted(maps.Keys(r.ratios)) {
		list := r.ratios[unit]
		slices.SortFunc(list, func(a, b ratio) int { return cmp.Compare(a.value, b.value) })
		n := len(list)
		worst := slices.MaxFunc([]ratio{list[0], list[n-1]}, func(a, b ratio) int { return cmp.Compare(math.Abs(math.Log(a.value)), math.Abs(math.Log(b.value))) })
		fmt.Fprintf(&text, "bench: %s of %d: median %.4g, worst %.4g (%s)\n", unit, n, (list[(n-1)/2].value+list[n/2].value)/2, worst.value, worst.of)
	}
	return text.String()
}
