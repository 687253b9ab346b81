package main

import (
	"fmt"
	"strings"
	"text/tabwriter"

	"github.com/spf13/cobra"

	"stenciltune/cmd/internal/cli"
	"stenciltune/device/cuda"
	"stenciltune/device/host"
	"stenciltune/device/replay"
	"stenciltune/machine"
	"stenciltune/tuner"
)

// deviceList is what `tune devices --json` prints.
type deviceList struct {
	GPUs       []machine.Machine `json:"gpus"`
	NoGPU      string            `json:"no_gpu,omitempty"` // why there is none
	Host       *machine.Machine  `json:"host,omitempty"`
	NoHost     string            `json:"no_host,omitempty"`
	Recordings []string          `json:"recordings"`
	Models     []machine.Known   `json:"models"` // known by their facts: for predictions
}

func (a *app) devices() *cobra.Command {
	var bench bool
	var name string
	c := &cobra.Command{
		Use:     "devices",
		Short:   "List the devices a stencil can be tuned on, or measure one",
		Example: "  tune devices\n  tune devices --json\n  tune devices --bench --device 0",
		Args:    cobra.NoArgs,
		RunE: func(c *cobra.Command, _ []string) error {
			if bench {
				return a.bench(c.Context(), name)
			}
			if name != "" {
				return cli.Usagef("--device %s goes with --bench", name)
			}
			list := deviceList{GPUs: []machine.Machine{}, Recordings: []string{}, Models: machine.KnownDevices()}
			gpus, err := cuda.List()
			if err != nil {
				list.NoGPU = err.Error()
			}
			list.GPUs = append(list.GPUs, gpus...)
			if h, err := host.Open(host.Options{}); err != nil {
				list.NoHost = err.Error()
			} else {
				m := h.Machine()
				list.Host = &m
				h.Close()
			}
			for _, n := range replay.Names() {
				list.Recordings = append(list.Recordings, strings.TrimSuffix(n, ".jsonl.gz"))
			}
			return a.printDevices(list)
		},
	}
	c.Flags().BoolVar(&bench, "bench", false, "measure bandwidths, latencies, launch and barrier of a device, at most 3 s on a GPU, and keep them in the store for the cost model")
	c.Flags().StringVar(&name, "device", "", "`device` to measure (default: the first GPU)")
	return a.JSONFlag(c)
}

// printDevices prints the list, as JSON or for people.
func (a *app) printDevices(list deviceList) error {
	if a.JSON {
		return a.PrintJSON(list)
	}
	w := tabwriter.NewWriter(a.Out, 0, 8, 2, ' ', 0)
	fmt.Fprintln(w, "device\tname\tdetails")
	for _, m := range list.GPUs {
		fmt.Fprintf(w, "%d\t%s\t%s\n", m.Index, m.Name, gpuDetails(m))
	}
	if list.NoGPU != "" {
		fmt.Fprintf(w, "(no GPU)\t-\t%s\n", list.NoGPU)
	}
	if list.Host != nil {
		fmt.Fprintf(w, "host\t%s\t%d cores, %s\n", list.Host.Name, list.Host.SMs, list.Host.Compiler)
	} else {
		fmt.Fprintf(w, "(no host)\t-\t%s\n", list.NoHost)
	}
	for _, r := range list.Recordings {
		name, what, _ := strings.Cut(r, "_")
		fmt.Fprintf(w, "replay:%s\trecording\t%s\n", name, strings.ReplaceAll(what, "_", " "))
	}
	for _, k := range list.Models {
		fmt.Fprintf(w, "%s%s\tfacts of a %s\tfor tune model and tune explain\n", tuner.ModelPrefix, k.ID, k.Machine.Name)
	}
	return w.Flush()
}

func gpuDetails(m machine.Machine) string {
	d := fmt.Sprintf("sm_%s, %d SMs, %.0f GiB, driver %s, %s, PCI %s", strings.ReplaceAll(m.ComputeCapability, ".", ""), m.SMs,
		float64(m.MemoryBytes)/(1<<30), m.Driver, m.UUID, m.PCI)
	if m.ECC {
		d += ", ECC"
	}
	if m.MIG {
		d += ", MIG"
	}
	return d
}
