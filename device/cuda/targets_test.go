package cuda_test

import (
	"context"
	"runtime"
	"sync"
	"testing"

	"stenciltune/device/cuda"
	"stenciltune/device/devicetest"
	"stenciltune/device/machine"
)

// Sources hold for every GPU that the installed NVRTC knows, not only for the one at
// hand: random schedules of every family, of the catalogue and of random programs,
// are compiled for each.
func TestGPUSourcesCompileForEveryTarget(t *testing.T) {
	d := openGPU(t)
	c, err := cuda.OpenCompiler()
	if err != nil {
		t.Fatal(err)
	}
	cases := devicetest.Cases(t, d.Machine(), 60, *flagSeed)
	slots := make(chan struct{}, runtime.NumCPU())
	var wg sync.WaitGroup
	for _, target := range c.Targets() {
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
	t.Logf("%d sources for %v", len(cases), c.Targets())
}
