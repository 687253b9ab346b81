package main

import (
	"fmt"
	"strings"

	"github.com/spf13/cobra"

	"stenciltune/cmd/internal/cli"
	"stenciltune/device/replay"
	"stenciltune/doctor"
	"stenciltune/tuner"
)

func (a *app) doctor() *cobra.Command {
	var o doctor.Options
	c := &cobra.Command{
		Use:   "doctor",
		Short: "Say what a tune lacks on this machine, and what mends it",
		Long: `doctor looks at the driver, NVRTC and NVML (each place where they may lie), rights, the host
compiler, the store, the CUDA cache, the temporary folder, and the state of each GPU. It says what
each finding means and the command that mends it. It needs no GPU and changes nothing.

It ends with the code that a tune on the device would end with: 0 if nothing is in its way,
2 if no place for the store is known, 4 if the device or its compiler is missing, 5 or 6 if the store
cannot be used. Warnings and notes do not count.`,
		Example: "  tune doctor\n  tune doctor --json\n  tune doctor --device host",
		Args:    cobra.NoArgs,
		RunE: func(c *cobra.Command, _ []string) error {
			if o.Device == "all" || strings.Contains(o.Device, ",") { // as a tune reads it, recordings' names too
				return cli.Usagef("--device %s: several devices are examined one by one; name one", o.Device)
			}
			if err := tuner.CheckDevice(o.Device); err != nil {
				return err
			}
			if recording, ok := strings.CutPrefix(o.Device, tuner.ReplayPrefix); ok {
				if _, err := replay.Match(recording); err != nil {
					return err
				}
			}
			if o.Limit <= 0 {
				return cli.Usagef("--limit must be more than 0")
			}
			if err := cli.NoPassword(a.Store); err != nil {
				return err
			}
			o.Store = a.Store
			r := doctor.Examine(c.Context(), o)
			if err := c.Context().Err(); err != nil {
				return err
			}
			if err := a.printDoctor(r); err != nil {
				return err
			}
			if code := cli.ExitCode(r.Err()); code != cli.OK {
				return cli.Silent(code)
			}
			return nil
		},
	}
	c.Flags().StringVar(&o.Device, "device", "", "`device` that is to tune: index, UUID or PCI address of a GPU, host, or replay:h200 (default: the first GPU)")
	c.Flags().DurationVar(&o.Limit, "limit", doctor.DefaultLimit, "`time` that each question may take; they are asked at once")
	return a.JSONFlag(c)
}

// printDoctor prints what was found, as JSON or for people.
func (a *app) printDoctor(r doctor.Report) error {
	if a.JSON {
		return a.PrintJSON(r)
	}
	counts := map[doctor.State]int{}
	for _, f := range r.Findings {
		counts[f.State]++
		fmt.Fprintf(a.Out, "%-8s %-17s %s\n", f.State, f.Check, oneLine(f.Found))
		detail := func(name, text string) {
			if text != "" {
				fmt.Fprintf(a.Out, "%-26s %s: %s\n", "", name, oneLine(text))
			}
		}
		detail("means", f.Means)
		detail("mend", f.Mend)
		if f.State != doctor.OK {
			for _, p := range f.Places {
				detail("looked at", p.File+": "+strings.TrimPrefix(p.Result, p.File+": "))
			}
		}
	}
	_, err := fmt.Fprintf(a.Out, "\nok %d, notes %d, warnings %d, problems %d\n", counts[doctor.OK], counts[doctor.Note], counts[doctor.Warning], counts[doctor.Problem])
	return err
}

// oneLine joins the lines of a text.
func oneLine(text string) string { return strings.Join(strings.Fields(text), " ") }
