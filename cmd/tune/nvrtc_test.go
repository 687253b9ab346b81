package main

import (
	"context"
	"fmt"
	"log/slog"
	"math/rand/v2"
	"os"
	"os/exec"
	"sync"
	"testing"
	"time"

	"stenciltune/device/worker"
	"stenciltune/kernels"
	"stenciltune/kernels/all"
	"stenciltune/space"
	"stenciltune/stencil"
	"stenciltune/stencil/stenciltest"
	"stenciltune/tuner"
)

// BenchmarkFirstCompiles compiles kernels that NVRTC has not seen, in several
// processes with several threads each. It needs a GPU: -device 0.
func BenchmarkFirstCompiles(b *testing.B) {
	if *flagDevice == "host" {
		b.Skip("NVRTC's benchmark runs with -device 0")
	}
	self, err := os.Executable()
	if err != nil {
		b.Fatal(err)
	}
	child := func(role string) func() *exec.Cmd {
		return func() *exec.Cmd {
			c := exec.Command(self)
			c.Env = append(os.Environ(), "STENCILTUNE_WORKER="+role)
			return c
		}
	}
	p := stencil.Problem{Stencil: stenciltest.Lookup(b, "jacobi3d"), DType: stencil.Float32, Size: stencil.Size{512, 512, 512}, Steps: 1000}
	for _, c := range []struct{ processes, threads int }{{1, 1}, {1, 4}, {1, 16}, {4, 1}, {8, 1}, {15, 1}, {4, 4}, {8, 2}, {15, 2}} {
		b.Run(fmt.Sprintf("processes=%d/threads=%d", c.processes, c.threads), func(b *testing.B) {
			d, err := worker.Open(context.Background(), worker.Options{
				GPUCommand: child("gpu " + *flagDevice), CompileCommand: child("compile anew"),
				Compilers: c.processes, Threads: c.threads, Logger: slog.New(slog.DiscardHandler),
			})
			if err != nil {
				b.Skip(err)
			}
			defer d.Close()
			var list []space.Schedule
			for s := range kernels.Spaces(all.Families(), p, d.Machine()).All() {
				list = append(list, s)
			}
			r := rand.New(rand.NewPCG(uint64(c.processes), uint64(c.threads)))
			compile := func(n int) {
				var wg sync.WaitGroup
				for range n {
					k := new(tuner.Tuner).Kernel(p, list[r.IntN(len(list))])
					wg.Go(func() {
						bin, err := d.Compile(context.Background(), k)
						if err != nil {
							b.Error(err)
						}
						d.Release(bin)
					})
				}
				wg.Wait()
			}
			compile(c.processes * c.threads) // start every process
			b.ResetTimer()
			begin := time.Now()
			compile(b.N)
			b.ReportMetric(float64(b.N)/time.Since(begin).Seconds(), "kernels/s")
		})
	}
}
