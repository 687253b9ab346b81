// Command go is a Go program with a tuned stencil: it asks the user's store for the
// schedule of its grid, falls back to the shipped config, and runs the kernel. It
// prints the time of a step beside what the config claims.
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
	"stenciltune/device"
	"stenciltune/device/cuda"
	"stenciltune/device/host"
	"stenciltune/examples/shipped"
	"stenciltune/kernels"
	"stenciltune/kernels/all"
	"stenciltune/machine"
	"stenciltune/space"
	"stenciltune/stencil"
	"stenciltune/timing"
	"stenciltune/tuned"
)

func main() {
	name := flag.String("device", "0", "a GPU, or host")
	size := flag.String("size", "512x512x512", "grid")
	flag.Parse()
	if err := run(context.Background(), *name, *size); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

// config is the tuned part: what the store knows best, else what was shipped.
func config(ctx context.Context, n stencil.Size, m machine.Machine) (cache.Config, error) {
	finder, err := tuned.Open("")
	if err != nil {
		return cache.Config{}, err
	}
	answer, err := finder.BestOn(ctx, tuned.Problem{Stencil: "jacobi3d", Size: n[:]}, m)
	if errors.Is(err, tuned.ErrNotTuned) {
		return cache.Decode(shipped.Jacobi3D)
	}
	return answer.Config, err
}

func run(ctx context.Context, name, size string) error {
	n, err := stencil.ParseSize(size, 3)
	if err != nil {
		return err
	}
	st, err := stencil.Lookup("jacobi3d")
	if err != nil {
		return err
	}
	d, err := open(name)
	if err != nil {
		return err
	}
	defer d.Close()
	c, err := config(ctx, n, d.Machine())
	if err != nil {
		return err
	}
	s, err := space.ParseSchedule(c.Schedule.Text)
	if err != nil {
		return err
	}
	p := stencil.Problem{Stencil: st, DType: stencil.DType(c.Stencil.DType), Size: n, Steps: 1000}
	family := kernels.Find(all.Families(), s.Family())
	k := family.Kernel(p, s)
	b, err := d.Compile(ctx, k)
	if err != nil {
		return err
	}
	small := p.Resized(k.Suited(stencil.Size{67, 45, 29}))
	pass := device.Pass{Binary: b, Launch: family.Kernel(small, s).Launch, Count: 3}
	got, err := d.Check(ctx, device.Check{Problem: small, Passes: []device.Pass{pass}, Seed: 1, Tolerance: stencil.Tolerance(p, device.Steps([]device.Pass{pass}))})
	if err != nil {
		return err
	}
	if !got.OK() {
		return errors.New("wrong answer: " + got.Reason(small.Size))
	}
	policy := timing.Finals()
	series, err := d.Time(ctx, device.Timing{Problem: p, Runs: []device.Pass{{Binary: b, Launch: k.Launch}}, Policy: policy})
	if err != nil {
		return err
	}
	claimed := c.Measured.SecondsPerStep
	if c.Expected != nil {
		claimed = c.Expected.SecondsPerStep
	}
	fmt.Printf("%s, match %s\nseconds_per_step %.9g claimed %.9g\n", s, c.Match.Grade, series[0].Median, claimed)
	return nil
}

// open opens the host's emulation or a GPU.
func open(name string) (device.Device, error) {
	if name == "host" {
		return host.Open(host.Options{})
	}
	gpu, err := cuda.Open(name)
	if err != nil {
		return nil, err
	}
	compiler, err := cuda.OpenCompiler()
	if err != nil {
		return nil, errors.Join(err, gpu.Close())
	}
	return joined{gpu, compiler}, nil
}

// joined is a GPU and the compiler for it.
type joined struct {
	*cuda.GPU
	compiler *cuda.Compiler
}

// Compile builds a kernel and loads it.
func (j joined) Compile(ctx context.Context, k kernels.Kernel) (device.Binary, error) {
	b, err := j.compiler.Compile(ctx, k, j.Machine())
	if err != nil {
		return b, err
	}
	return j.Load(ctx, b, k.Launch)
}
