package main

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"regexp"
	"strconv"
	"sync"
	"time"

	"golang.org/x/perf/benchfmt"
)

// random checks random legal schedules of every family against the reference, all cells, on every stencil
// of the catalogue, and with -test on random programs too. A row is shared by processes, one a processor,
// since threads of one wait for NVRTC's lock. Repeats differ in their seeds. A wrong answer fails its row,
// and the error says how to run that case again.
func random(ctx context.Context, b *bench) (rows []row, err error) {
	list, err := b.catalogue(ctx)
	if err != nil {
		return nil, err
	}
	for _, s := range list {
		rows = append(rows, b.checks("Random/"+s.Name, `"cases": (\d+)`, func(cases, seed string) []string {
			return []string{b.path, "verify", s.Name, "--device", b.device, "--cases", cases, "--seed", seed, "--json", "--quiet"}
		}))
	}
	if b.test != "" {
		rows = append(rows, b.checks("Random/programs", `(\d+) of \d+ schedules checked`, func(cases, seed string) []string {
			return []string{b.test, "-test.v", "-gpu=require", "-test.timeout", "30m", "-test.run", "TestGPURandom.*References", "-cases", cases, "-seed", seed}
		}))
	}
	return rows, nil
}

// checks is a row of -cases schedules. Each process runs command, and checked finds in what it prints how
// many it has compared.
func (b *bench) checks(name, checked string, command func(cases, seed string) []string) row {
	return row{name, func(ctx context.Context, repeat int) (result, error) {
		begin, n := time.Now(), min(b.processes, b.cases)
		outs, errs := make([][]byte, n), make([]error, n)
		var wait sync.WaitGroup
		for i := range n {
			args := command(strconv.Itoa((b.cases+n-1-i)/n), strconv.Itoa(1000*repeat+i))
			wait.Go(func() { outs[i], errs[i] = output(ctx, nil, args...) })
		}
		wait.Wait()
		total := 0
		for _, m := range regexp.MustCompile(checked).FindAllSubmatch(bytes.Join(outs, nil), -1) {
			k, _ := strconv.Atoi(string(m[1]))
			total += k
		}
		if err := errors.Join(errs...); err != nil || total < b.cases {
			return result{}, fmt.Errorf("%d of %d schedules checked: %w", total, b.cases, err)
		}
		var proof struct{ Devices []machine }
		json.Unmarshal(outs[0], &proof) // a test's output is no JSON, and names no device
		perCase := value(float64(time.Since(begin))/float64(total), "ns/op")
		return result{append(proof.Devices, machine{})[0], total, []benchfmt.Value{perCase}, fmt.Sprintf("seeds %d to %d", 1000*repeat, 1000*repeat+n-1)}, nil
	}}
}
