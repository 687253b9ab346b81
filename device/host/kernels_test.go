package host_test

import (
	"context"
	"flag"
	"sync"
	"testing"

	"stenciltune/device"
	"stenciltune/device/devicetest"
	"stenciltune/device/host"
	"stenciltune/kernels"
)

var (
	flagCases = flag.Int("cases", 600, "random schedules to check")
	flagASan  = flag.Int("asan-cases", 60, "of these, also under the sanitizers")
	flagSeed  = flag.Uint64("seed", 20261121, "seed of the random schedules")
)

// batch is how many kernels one compile takes: one program for all costs a
// fraction of one each.
const batch = 20

func open(t *testing.T, o host.Options) *host.Device {
	t.Helper()
	d, err := host.Open(o)
	if err != nil {
		t.Skip(err)
	}
	t.Cleanup(func() { d.Close() })
	return d
}

// checkCases compiles and checks cases in batches, as many at a time as cores.
func checkCases(t *testing.T, d *host.Device, cases []devicetest.Case) {
	ctx := context.Background()
	var wg sync.WaitGroup
	slots := make(chan struct{}, d.Machine().SMs)
	for begin := 0; begin < len(cases); begin += batch {
		part := cases[begin:min(begin+batch, len(cases))]
		wg.Go(func() {
			slots <- struct{}{}
			defer func() { <-slots }()
			seen := map[string]device.Binary{}
			var ks []kernels.Kernel
			add := func(k kernels.Kernel) {
				if _, twice := seen[k.Entry]; !twice {
					seen[k.Entry] = device.Binary{}
					ks = append(ks, k)
				}
			}
			for _, c := range part {
				add(c.Kernel)
				if c.Remainder != nil {
					add(*c.Remainder)
				}
			}
			bs, err := d.CompileBatch(ctx, ks)
			if err != nil {
				t.Error(err)
				return
			}
			for _, b := range bs {
				seen[b.Entry] = b
			}
			for i, c := range part {
				var rest *device.Binary
				if c.Remainder != nil {
					b := seen[c.Remainder.Entry]
					rest = &b
				}
				if err := devicetest.Check(ctx, d, c, seen[c.Kernel.Entry], rest, uint32(begin+i)); err != nil {
					t.Error(err)
				}
			}
			for _, b := range bs {
				d.Release(b)
			}
		})
	}
	wg.Wait()
}

func TestRandomSchedulesGiveTheReferencesAnswer(t *testing.T) {
	t.Setenv("EMULATION_CORES", "1") // the batches already fill the cores
	n := *flagCases
	if testing.Short() {
		n /= 10
	}
	d := open(t, host.Options{})
	checkCases(t, d, devicetest.Cases(t, d.Machine(), n, *flagSeed))
}

func TestRandomSchedulesAreCleanUnderSanitizers(t *testing.T) {
	if testing.Short() {
		t.Skip("the sanitized build is slow")
	}
	t.Setenv("EMULATION_CORES", "1")
	d := open(t, host.Options{Sanitize: true})
	checkCases(t, d, devicetest.Cases(t, d.Machine(), *flagASan, *flagSeed+1))
}
