// Command go is a Go program with a tuned stencil: it asks the user's store for the
// schedule of its grid, falls back to the shipped config, proves the kernel and times it.
// It prints the time of a step beside what the config claims, of its own grid and device.
//
//	go run ./examples/go --device 0
//	go run ./examples/go --device host --size 64x48x32
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"os"

	"stenciltune/cache"
	"stenciltune/examples/shipped"
	"stenciltune/runner"
	"stenciltune/space"
	"stenciltune/tuner"
)

func main() {
	tuner.Worker() // a GPU is owned by a child process of this program
	name := flag.String("device", "0", "a GPU, or host")
	size := flag.String("size", "512x512x512", "grid")
	flag.Parse()
	if err := run(context.Background(), *name, *size); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

func run(ctx context.Context, name, size string) error {
	p, err := tuner.Spec{Stencil: "jacobi3d", Size: size}.Problem()
	if err != nil {
		return err
	}
	d, err := tuner.OpenDevice(ctx, name, p)
	if err != nil {
		return err
	}
	defer d.Close()
	t, err := tuner.Open("") // the user's own store
	if err != nil {
		return err
	}
	c, err := config(ctx, t, p, d)
	if err != nil {
		return err
	}
	s, err := space.ParseSchedule(c.Schedule.Text)
	if err != nil {
		return err
	}
	why := "match " + c.Match.Grade.String()
	list, err := t.Measure(ctx, p, d, tuner.Options{}, func(legal *space.Space) ([]tuner.Schedule, error) {
		if legal.Check(s) != nil { // on a grid much smaller than the one it was tuned for
			s, why = runner.Naive(p, legal)[0], c.Schedule.Text+" is not legal on this grid and device"
		}
		return []tuner.Schedule{s}, nil
	})
	if err != nil {
		return err
	}
	o := list[0]
	if o.Seconds() == 0 {
		return fmt.Errorf("%s: %s: %s", s, o.Status, o.Reason)
	}
	claimed := c.Measured.SecondsPerStep
	if c.Expected != nil {
		claimed = c.Expected.SecondsPerStep
	}
	fmt.Printf("%s, %s\nseconds_per_step %.9g claimed %.9g for %v on %s\n", s, why, o.Seconds(), claimed, c.Problem.Size, c.Device.Name)
	return nil
}

// config is the tuned part: what the store knows best, else what was shipped.
func config(ctx context.Context, t *tuner.Tuner, p tuner.Problem, d tuner.Device) (tuner.Config, error) {
	answer, err := t.Best(ctx, p, d.Machine(), "")
	if errors.Is(err, tuner.ErrNotTuned) {
		return cache.Decode(shipped.Jacobi3D)
	}
	return answer.Config, err
}
