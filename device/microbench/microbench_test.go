package microbench

import (
	"context"
	"errors"
	"flag"
	"testing"
	"time"

	"stenciltune/device"
	"stenciltune/device/cuda"
	"stenciltune/device/host"
)

var flagGPU = flag.String("gpu", "auto", "GPU tests: auto skips them without a GPU, require fails, off skips")

// On the host the kernels' text is proved to compile and to run to its end; the
// times are an emulation's.
func TestMeasureOnTheHost(t *testing.T) {
	if testing.Short() {
		t.Skip("takes some seconds")
	}
	d, err := host.Open(host.Options{})
	if errors.Is(err, device.ErrMissing) {
		t.Skip(err)
	}
	if err != nil {
		t.Fatal(err)
	}
	defer d.Close()
	begin := time.Now()
	r, err := Measure(context.Background(), d)
	if err != nil {
		t.Fatal(err)
	}
	t.Logf("%+v in %.1f s", r, time.Since(begin).Seconds())
	for name, v := range map[string]float64{"copy": r.CopyBytesPerSecond, "L2": r.L2Bytes, "shared": r.SharedBytes, "launch": r.Rates.Launch} {
		if !(v > 0) {
			t.Errorf("%s: %v", name, v)
		}
	}
	if r.CopyBytesPerSecond < 1e8 || r.CopyBytesPerSecond > 1e12 {
		t.Errorf("a processor copies %g bytes per second", r.CopyBytesPerSecond)
	}
}

func TestMeasureOnAGPU(t *testing.T) {
	if *flagGPU == "off" {
		t.Skip("GPU tests are off")
	}
	d, err := cuda.OpenDevice("0")
	if err != nil && *flagGPU == "require" {
		t.Fatal(err)
	}
	if err != nil {
		t.Skip(err)
	}
	defer d.Close()
	begin := time.Now()
	r, err := Measure(context.Background(), d)
	if err != nil {
		t.Fatal(err)
	}
	took := time.Since(begin).Seconds()
	t.Logf("%+v in %.1f s", r, took)
	if took > 3 {
		t.Errorf("took %.1f s", took)
	}
	m := d.Machine()
	if peak := m.PeakDRAM(); r.CopyBytesPerSecond < 0.7*peak || r.CopyBytesPerSecond > peak {
		t.Errorf("copies %g bytes per second of %g", r.CopyBytesPerSecond, peak)
	}
	if pipe := 128 * float64(m.SMs) * m.ClockHz; r.SharedBytes < 0.5*pipe || r.SharedBytes > 1.05*pipe || r.L2Bytes < r.CopyBytesPerSecond || r.L2Bytes > r.SharedBytes {
		t.Errorf("shared memory %g, L2 %g, memory %g bytes per second", r.SharedBytes, r.L2Bytes, r.CopyBytesPerSecond)
	}
	if !(5e-9 < r.SharedLatency && r.SharedLatency < r.L2Latency && r.L1Latency < r.L2Latency && r.L2Latency < r.DRAMLatency && r.DRAMLatency < 2e-6) {
		t.Errorf("latencies: shared %g, L1 %g, L2 %g, memory %g s", r.SharedLatency, r.L1Latency, r.L2Latency, r.DRAMLatency)
	}
	if !(5e-7 < r.Rates.Launch && r.Rates.Launch < 2e-5) || !(2e-9 < r.Barrier && r.Barrier < 2e-7) {
		t.Errorf("launch %g s, barrier %g s", r.Rates.Launch, r.Barrier)
	}
}
