package main

import (
	"context"
	"fmt"
	"strings"
	"text/tabwriter"
	"time"

	"stenciltune/cache"
	"stenciltune/cmd/internal/cli"
	"stenciltune/device/microbench"
	"stenciltune/stencil"
	"stenciltune/tuner"
)

// bench measures a device's rates, keeps them in the store and prints them.
func (a *app) bench(ctx context.Context, name string) error {
	if strings.HasPrefix(name, "replay") {
		return cli.Usagef("--device %s: only a device that runs kernels can be measured", name)
	}
	t, err := a.Tuner()
	if err == nil {
		err = t.Store().Writable()
	}
	if err != nil {
		return err
	}
	d, err := tuner.OpenDevice(ctx, name, stencil.Problem{})
	if err != nil {
		return err
	}
	defer d.Close()
	m := d.Machine()
	begin := time.Now()
	got, err := microbench.Measure(ctx, d)
	if err != nil {
		return err
	}
	r := cache.DeviceRates{Device: m.Name, Driver: m.Driver, Rates: got.Rates, CopyBytesPerSecond: got.CopyBytesPerSecond,
		Seconds: time.Since(begin).Seconds(), Time: time.Now().UTC()}
	if err := t.Store().PutRates(m, r); err != nil {
		return err
	}
	if a.JSON {
		return a.PrintJSON(r)
	}
	a.Say("%s: measured in %.1f s and stored; the cost model uses it from now on", m.Name, r.Seconds)
	w := tabwriter.NewWriter(a.Out, 0, 8, 2, ' ', 0)
	fmt.Fprintln(w, "what\tmeasured")
	for _, row := range []struct {
		name  string
		value float64
		rate  bool
	}{
		{"memory, copy", r.CopyBytesPerSecond, true}, {"L2, read", r.Rates.L2Bytes, true}, {"shared memory, read", r.Rates.SharedBytes, true},
		{"launch", r.Rates.Launch, false}, {"barrier of 256 threads", r.Rates.Barrier, false}, {"latency, shared memory", r.Rates.SharedLatency, false},
		{"latency, L1", r.Rates.L1Latency, false}, {"latency, L2", r.Rates.L2Latency, false}, {"latency, memory", r.Rates.DRAMLatency, false},
	} {
		text := fmt.Sprintf("%.3g ns", 1e9*row.value)
		switch {
		case row.value == 0: // below what this device's clock resolves
			text = "-"
		case row.rate:
			text = fmt.Sprintf("%.4g GB/s", row.value/1e9)
		}
		fmt.Fprintf(w, "%s\t%s\n", row.name, text)
	}
	return w.Flush()
}
