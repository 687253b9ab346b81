package micro

import (
	"context"
	"errors"
	"testing"
	"time"

	"stenciltune/device"
	"stenciltune/device/host"
)

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
