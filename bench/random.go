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
// of the catalogue, and with -test on random programs too. Repeats differ in their seeds. A wrong answer
// fails its row, and the error says how to run that case again. Tests compile in one process each, whose
// threads wait for NVRTC's lock, so they run in -processes of them; tune verify has compile processes.
func random(ctx context.Context, b *bench) (rows []row, err error) {
	list, err := b.catalogue(ctx)
	if err != nil {
		return nil, err
	}
	m, err := b.facts(ctx)
	if err != nil {
		return nil, err
	}
	for _, s := range list {
		rows = append(rows, b.checks("Random/"+s.Name, m, 1, `"cases": (\d+)`, func(cases, seed string) []string {
			return []string{b.path, "verify", s.Name, "--device", b.device, "--cases", cases, "--seed", seed, "--json", "--quiet"}
		}))
	}
	if b.test != "" {
		rows = append(rows, b.checks("Random/programs", m, min(b.processes, b.cases), `(\d+) of \d+ schedules checked`, func(cases, seed string) []string {
			return []string{b.test, "-test.v", "-gpu=require", "-test.timeout", "30m", "-test.run", "TestGPURandom.*References", "-cases", cases, "-seed", seed}
		}))
	}
	return rows, nil
}

// checks is a row of -cases schedules, shared by n processes that run command. The expression checked finds
// in what they print how many were compared.
func (b *bench) checks(name string, m machine, n int, checked string, command func(cases, seed string) []string) row {
	return row{name, func(ctx context.Context, repeat int) (result, error) {
		begin := time.Now()
		outs, errs := make([][]byte, n), make([]error, n)
		var wait sync.WaitGroup
		for i := range n {
			args := command(strconv.Itoa((b.cases+n-1-i)/n), strconv.Itoa(1000*repeat+i))
			wait.Go(func() { outs[i], errs[i] = output(ctx, nil, args...) })
		}
		wait.Wait()
		total := 0
		for _, told := range regexp.MustCompile(checked).FindAllSubmatch(bytes.Join(outs, nil), -1) {
			k, _ := strconv.Atoi(string(told[1]))
			total += k
		}
		if err := errors.Join(errs...); err != nil {
			return result{}, err
		} else if total < b.cases {
			return result{}, fmt.Errorf("%d of %d schedules checked", total, b.cases)
		}
		perCase := value(float64(time.Since(begin))/float64(total), "ns/op")
		return result{m, total, []benchfmt.Value{perCase}, fmt.Sprintf("seeds %d to %d", 1000*repeat, 1000*repeat+n-1)}, nil
	}}
}

// facts are what tune devices says of the device.
func (b *bench) facts(ctx context.Context) (machine, error) {
	out, err := b.run(ctx, "devices", "--json")
	if err != nil {
		return machine{}, err
	}
	var all struct {
		GPUs []machine
		Host machine
	}
	if err := json.Unmarshal(out, &all); err != nil || b.device == "host" {
		return all.Host, err
	}
	for i, m := range all.GPUs {
		if b.device == strconv.Itoa(i) || b.device == m.UUID {
			return m, nil
		}
	}
	return machine{}, fmt.Errorf("-device %s: tune devices lists no such GPU; random schedules run on one, or on the host", b.device)
}
