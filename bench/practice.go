package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"

	"golang.org/x/perf/benchfmt"
)

// ofPractice are the catalogue's stencils that stand for a kind of program of which the examples have none.
var ofPractice = []string{"peronamalik", "shallowwater", "weno5"}

// practice proves programs as people write them: every stencil file of the examples below -folder and ofPractice. Each
// family that runs one has a row: random schedules, all cells compared, in the program's element type and in float64.
// -cases are those of one element type.
func practice(ctx context.Context, b *bench) (rows []row, err error) {
	m, err := b.facts(ctx)
	if err != nil {
		return nil, err
	}
	files, err := filepath.Glob(filepath.Join(b.folder, "examples", "*", "*.sl"))
	if err != nil || len(files) == 0 {
		return nil, fmt.Errorf("-folder %s: no stencil file in its examples; name the folder of the sources", b.folder)
	}
	for _, name := range slices.Concat(files, ofPractice) {
		families, err := b.able(ctx, name)
		if err != nil {
			return nil, err
		}
		short := strings.TrimSuffix(strings.TrimPrefix(name, filepath.Join(b.folder, "examples")+string(filepath.Separator)), ".sl")
		for _, family := range families {
			rows = append(rows, row{"Practice/" + filepath.ToSlash(short) + "/" + family, func(ctx context.Context, repeat int) (result, error) {
				return b.prove(ctx, m, name, family, repeat)
			}})
		}
	}
	b.parallel = b.processes
	return rows, nil
}

// able are the families that have schedules for a stencil.
func (b *bench) able(ctx context.Context, name string) (families []string, err error) {
	out, err := b.run(ctx, "check", name, "--device", b.device, "--json", "--quiet")
	if err != nil {
		return nil, err
	}
	var said struct{ Families []struct{ Name string } }
	if err := json.Unmarshal(out, &said); err != nil {
		return nil, fmt.Errorf("tune check: %w", err)
	}
	for _, f := range said.Families {
		families = append(families, f.Name)
	}
	return families, nil
}

// prove is a row of practice. A share is that of the bound which the error of the worst cell of a case takes.
func (b *bench) prove(ctx context.Context, m machine, name, family string, seed int) (result, error) {
	begin := time.Now()
	out, failed := b.run(ctx, "verify", name, "--family", family, "--device", b.device, "--cases", strconv.Itoa(b.cases), "--seed", strconv.Itoa(seed), "--json", "--quiet")
	var said struct {
		Devices []struct {
			Cases    int
			Share    float64
			Nearest  struct{ Error, Tolerance float64 }
			Warnings []string
			Wrong    string
		}
	}
	if err := json.Unmarshal(out, &said); err != nil {
		return result{}, errors.Join(failed, err)
	}
	cases, right, median, most := 0, 0, 0.0, 0.0
	var notes []string
	for _, d := range said.Devices {
		cases, right = cases+d.Cases, right+d.Cases
		if d.Wrong != "" {
			right--
		}
		median = max(median, d.Share)
		if d.Nearest.Tolerance > 0 {
			most = max(most, d.Nearest.Error/d.Nearest.Tolerance)
		}
		notes = append(notes, d.Warnings...)
	}
	if failed == nil && cases == 0 {
		failed = errors.New("no case was tried")
	}
	values := []benchfmt.Value{value(float64(time.Since(begin))/float64(max(1, cases)), "ns/op"), value(float64(right), "right"),
		value(median, "median-share"), value(most, "largest-share")}
	return result{m, cases, values, strings.Join(notes, "\n")}, failed
}
