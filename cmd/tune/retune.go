package main

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"stenciltune/cache"
	"stenciltune/stencil"
	"stenciltune/tuned"
)

// outdated tells why a stored config is no answer any more, or "": its kernel is not
// what would be generated now, or it is older than the user allows.
func outdated(p stencil.Problem, c cache.Config, maxAge time.Duration, now time.Time) string {
	switch age := now.Sub(c.Time); {
	case !c.Search.Complete:
		return "the stored tune did not finish"
	case !current(p, c):
		return fmt.Sprintf("the kernel's source has changed since %s", c.Time.Format(time.DateOnly))
	case maxAge > 0 && age > maxAge:
		return fmt.Sprintf("tuned %s ago, and --max-age is %v", age.Round(time.Minute), maxAge)
	}
	return ""
}

// changed says what is new against the nearest stored key.
func changed(now, was cache.Key) string {
	var list []string
	note := func(what, a, b string) {
		if a != b {
			list = append(list, fmt.Sprintf("%s %s (stored: %s)", what, orUnknown(b), orUnknown(a)))
		}
	}
	note("device", was.DeviceName, now.DeviceName)
	note("compute capability", was.ComputeCapability, now.ComputeCapability)
	note("driver", was.Driver, now.Driver)
	note("compiler", was.Compiler, now.Compiler)
	note("size", was.Size, now.Size)
	note("steps", was.StepsClass, now.StepsClass)
	if len(list) == 0 { // the memory alone differs
		return "another amount of device memory"
	}
	return "new " + strings.Join(list, ", ")
}

func orUnknown(s string) string {
	if s == "" {
		return "none"
	}
	return s
}

// news tells what is different from what is stored, "" if nothing is stored.
func news(p stencil.Problem, key cache.Key, nearest []cache.Stored, maxAge time.Duration) string {
	if len(nearest) == 0 {
		return ""
	}
	if key.Match(nearest[0].Key) == cache.Exact {
		return outdated(p, nearest[0].Config, maxAge, time.Now())
	}
	return changed(key, nearest[0].Key)
}

func (a *app) retune() *cobra.Command {
	var f tuneFlags
	var all bool
	var from string
	c := &cobra.Command{
		Use:   "retune (--all | --stencil NAME) [--device D]",
		Short: "Tune again what a new driver, kernel or GPU has made old",
		Long: `retune --all looks through everything stored for a device and tunes again, there, what
no longer holds: another driver or compiler, kernels whose source has changed, and with
--max-age what is too old. With --from it does so for what was tuned on another device:
what to do after a GPU was replaced. Each search begins with the nearest stored
schedules. The configs are printed one after the other.

retune --stencil measures one problem again, whatever is stored.`,
		Example: `  tune retune --all --device 0
  tune retune --all --device 0 --from "NVIDIA A100-SXM4-80GB"
  tune retune --all --max-age 720h`,
		Args: cobra.NoArgs,
		RunE: func(c *cobra.Command, _ []string) error {
			switch {
			case all && f.stencil != "":
				return usagef("--all and --stencil exclude each other")
			case all:
				return a.retuneAll(c.Context(), f, from)
			case f.stencil == "":
				return usagef("what? name it with --stencil, or take all with --all")
			}
			f.retune = true
			return a.tune(c.Context(), f)
		},
	}
	f.bind(c)
	c.Flags().BoolVar(&all, "all", false, "everything stored for the device")
	c.Flags().StringVar(&from, "from", "", "with --all, what was tuned on another device: its `name`")
	return c
}

// retuneAll tunes again what is outdated. One problem that fails does not keep the
// others from being tuned.
func (a *app) retuneAll(ctx context.Context, f tuneFlags, from string) error {
	store, err := a.openStore()
	if err != nil {
		return err
	}
	m, err := a.target(store, f.device)
	if err != nil {
		return err
	}
	name := m.Name
	if from != "" {
		old, err := tuned.Device(store, from)
		if err != nil {
			return err
		}
		name = old.Name
	}
	stored, err := store.Bests()
	if err != nil {
		return err
	}
	done := map[cache.Key]bool{}
	count, fresh := 0, 0
	var failed error
	for _, s := range stored {
		if s.Key.DeviceName != name || s.Key.Kind != m.Kind {
			continue
		}
		p, err := problemOf(s.Config, "")
		if err != nil {
			a.say("warning: %s %s cannot be tuned again: %v", s.Config.Stencil.Name, s.Key.Size, err)
			continue
		}
		key := tuned.KeyOf(p, m, s.Config.Measured.Regime)
		if done[key] {
			continue
		}
		done[key] = true
		count++
		nearest, err := store.Fitting(key)
		if err != nil {
			return err
		}
		if len(nearest) > 0 && news(p, key, nearest, f.maxAge) == "" {
			fresh++
			continue
		}
		g := f
		g.stencil, g.dtype, g.size, g.steps = p.Stencil.Name, string(p.DType), p.Size.Text(p.Stencil.Dims), &p.Steps
		g.scalars = scalarTexts(p)
		g.regime = key.Regime
		if err := a.tune(ctx, g); err != nil {
			if ctx.Err() != nil {
				return err
			}
			a.say("%s: %v", p.Text(), err)
			failed = errors.Join(failed, fmt.Errorf("%s: %w", p.Text(), err))
		}
	}
	if count == 0 {
		return noMatchf("nothing is stored for %s: name the device it was tuned on with --from (tune store list shows them)", name)
	}
	a.say("%d problems, %d up to date", count, fresh)
	return failed
}
