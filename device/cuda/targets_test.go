package cuda_test

import (
	"context"
	"runtime"
	"slices"
	"sync"
	"testing"

	"stenciltune/device/cuda"
	"stenciltune/device/devicetest"
	"stenciltune/device/replay"
	"stenciltune/machine"
)

// Sources hold for every GPU from compute capability 7.0 on that the installed NVRTC knows,
// not only for the one at hand: random schedules of every family, of the catalogue and of
// random programs, are compiled for each. It takes NVRTC and no GPU.
func TestSourcesCompileForEveryTarget(t *testing.T) {
	c, err := cuda.OpenCompiler()
	if err != nil && *flagGPU == "require" {
		t.Fatal(err)
	}
	if err != nil {
		t.Skip(err)
	}
	m, err := replay.MachineOf("h200")
	if err != nil {
		t.Fatal(err)
	}
	n := 12
	if *flagGPU == "require" {
		n = 60
	}
	cases := devicetest.Cases(t, m, n, *flagSeed)
	slots := make(chan struct{}, runtime.NumCPU())
	var wg sync.WaitGroup
	targets := slices.DeleteFunc(c.Targets(), func(cc string) bool { return len(cc) == 3 && cc < "7.0" })
	for _, target := range targets {
		for _, one := range cases {
			wg.Go(func() {
				slots <- struct{}{}
				defer func() { <-slots }()
				if _, err := c.Compile(context.Background(), one.Kernel, machine.Machine{ComputeCapability: target}); err != nil {
					t.Errorf("compute capability %s: %s: %v", target, one.Name(), err)
				}
			})
		}
	}
	wg.Wait()
	t.Logf("%d sources for %v", len(cases), targets)
}
