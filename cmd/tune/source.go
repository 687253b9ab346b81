package main

import (
	"stenciltune/tuner"
	"stenciltune/internal/cli"
	"fmt"

	"github.com/spf13/cobra"

	"stenciltune/emit"
	"stenciltune/kernels"
	"stenciltune/kernels/all"
	"stenciltune/machine"
	"stenciltune/space"
	"stenciltune/stencil"
)

// anyGPU is the machine to judge a schedule by when no device is at hand: the
// limits that every GPU from compute capability 7.0 on shares, with the largest
// shared memory.
var anyGPU = machine.Machine{
	Kind: machine.CUDA, Name: "any", WarpSize: 32, MaxThreadsBlock: 1024, MaxBlockDim: [3]int{1024, 1024, 64},
	MaxGridDim: [3]int{1<<31 - 1, 65535, 65535}, MaxThreadsSM: 2048, MaxBlocksSM: 32,
	RegistersBlock: 65536, RegistersSM: 65536, SharedBlock: 48 << 10, SharedBlockOptin: 227 << 10, SharedSM: 228 << 10, SharedReserved: 1 << 10,
}

// gpuOf is anyGPU with as many SMs as a schedule names (stream's sm).
func tuner.AnyGPU(texts ...string) machine.Machine {
	m := anyGPU
	for _, text := range texts {
		if s, err := space.ParseSchedule(text); err == nil {
			m.SMs = max(m.SMs, s.Int("sm", 0))
		}
	}
	return m
}

// schedule reads and checks a schedule for a problem.
func schedule(text string, sp *space.Space) (space.Schedule, error) {
	if text == "" {
		return space.Schedule{}, cli.Usagef("which schedule? name one with --schedule, like global/gx=64/gy=4/gz=1/wx=1/wy=1/wz=1/cw=0/zz=0/sp=0")
	}
	s, err := space.ParseSchedule(text)
	if err != nil {
		return s, tuner.Input(err)
	}
	return s, sp.Check(s)
}

// kernelOf generates a schedule's kernel.
func kernelOf(p stencil.Problem, s space.Schedule) kernels.Kernel {
	return kernels.Find(all.For(p), s.Family()).Kernel(p, s)
}

func (a *app) source() *cobra.Command {
	var f cli.ProblemFlags
	var text string
	var program bool
	c := &cobra.Command{
		Use:     "source --stencil NAME --schedule SCHEDULE",
		Short:   "Print the CUDA source of a schedule",
		Example: "  tune source --stencil jacobi2d --schedule tile/gx=32/gy=8/gz=1/wx=1/wy=2/wz=1/cw=0/zz=0/ph=2",
		Args:    cobra.NoArgs,
		RunE: func(*cobra.Command, []string) error {
			p, err := f.Problem()
			if err != nil {
				return err
			}
			s, err := tuner.ParseSchedule(text, t.Space(p, tuner.AnyGPU(text)))
			if err != nil {
				return err
			}
			k := kernelOf(p, s)
			if program {
				_, err = a.Out.Write(emit.Program(p, k))
				return err
			}
			_, err = fmt.Fprintf(a.Out, "%s// launch: grid %v, block %v, %d bytes of dynamic shared memory, %d time steps\n",
				k.Source, k.Launch.Grid, k.Launch.Block, k.Launch.SharedBytes, k.Launch.Steps)
			return err
		},
	}
	f.Bind(c)
	c.Flags().StringVar(&text, "schedule", "", "canonical `text` of the schedule")
	c.Flags().BoolVar(&program, "program", false, "with a main that launches it on random values: for nvcc and profilers")
	return c
}
