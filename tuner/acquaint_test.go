package tuner

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"strings"
	"testing"

	"stenciltune/device"
	"stenciltune/kernels"
	"stenciltune/machine"
	"stenciltune/timing"
)

// stranger is a GPU that nothing was recorded of. Its kernels take as long as they are told.
type stranger struct {
	device.Device
	compile error
	kernels *[]string // compiled so far
}

func (s stranger) Machine() machine.Machine {
	return machine.Machine{Kind: machine.CUDA, Name: "NVIDIA Stranger", UUID: "GPU-99", ComputeCapability: "99.0", SMs: 10, L2Bytes: 64 << 20, ClockHz: 1e9, MemoryBytes: 16 << 30}
}

func (s stranger) Compile(_ context.Context, k kernels.Kernel) (device.Binary, error) {
	return device.Binary{ID: k.Entry, Entry: k.Entry}, s.compile
}

func (s stranger) Release(device.Binary) {}

// Time has 1 us for each block in the loops of one block, else 1 ms.
func (s stranger) Time(_ context.Context, t device.Timing) ([]timing.Series, error) {
	r := t.Runs[0]
	*s.kernels = append(*s.kernels, r.Binary.Entry)
	seconds := 1e-3
	if r.Launch.Grid[0] < 10 {
		seconds = 1e-6 * float64(r.Launch.Grid[0])
	}
	return []timing.Series{{Summary: timing.Summary{Median: seconds, N: 5}}}, nil
}

// noted keeps a tune's notes.
type noted struct {
	silent
	text *strings.Builder
}

func (n noted) Note(format string, args ...any) { fmt.Fprintf(n.text, format+"\n", args...) }

// A GPU that the model was not fitted on is measured once, before the first prediction.
func TestAGPUThatIsNewIsMeasuredOnce(t *testing.T) {
	tn, err := Open(filepath.Join(t.TempDir(), "store.db"))
	if err != nil {
		t.Fatal(err)
	}
	var ran []string
	var notes strings.Builder
	tune := func(d stranger, o Options) error {
		d.kernels = &ran
		o.Watcher = noted{text: &notes}
		j := &job{Tuner: tn, Options: o, device: d, machine: d.Machine()}
		return j.acquaint(t.Context())
	}
	if err := tune(stranger{}, Options{NoPrior: true}); err != nil || len(ran) > 0 {
		t.Errorf("without a model %v was measured, %v", ran, err)
	}
	if err := tune(stranger{compile: device.Fail(timing.CompileError, "no such target")}, Options{}); err != nil || !strings.Contains(notes.String(), "no such target") {
		t.Errorf("a GPU whose kernels do not compile: %v, noted %q", err, notes.String())
	}
	if err := tune(stranger{compile: device.ErrLost}, Options{}); !errors.Is(err, device.ErrLost) {
		t.Errorf("a lost device: %v", err)
	}
	ran = nil
	for range 2 {
		if err := tune(stranger{}, Options{}); err != nil {
			t.Fatal(err)
		}
	}
	if want := "micro_null micro_copy micro_l2 micro_barrier micro_barrier micro_chase micro_chase"; strings.Join(ran, " ") != want {
		t.Errorf("measured %v, want %s, once", ran, want)
	}
	m, err := tn.Rated(stranger{}.Machine())
	// 1 us a launch; twice 256 MiB in 1 ms; 4096 x 16 bytes by 20480 threads; 1000 turns in 1 us.
	want := machine.Rates{Launch: 1e-6, L2Bytes: 4096 * 16 * 20480 / 1e-3, Barrier: 1e-9, DRAMLatency: 1e-9}
	for name, v := range map[string][2]float64{
		"launch": {m.Rates.Launch, want.Launch}, "L2": {m.Rates.L2Bytes, want.L2Bytes}, "barrier": {m.Rates.Barrier, want.Barrier},
		"latency": {m.Rates.DRAMLatency, want.DRAMLatency}, "copy": {m.CopyBytesPerSecond, 2 * (256 << 20) / 1e-3}, "shared, not measured": {m.Rates.SharedBytes, 0},
	} {
		if d := v[0] - v[1]; err != nil || d > 1e-9*v[1] || d < -1e-9*v[1] {
			t.Errorf("%s: %g, want %g (%v)", name, v[0], v[1], err)
		}
	}
}

// What the model was fitted on is not measured.
func TestTheGPUOfTheFitIsNotMeasured(t *testing.T) {
	j := &job{machine: machine.Machine{Kind: machine.CUDA, Name: "NVIDIA H200"}}
	if err := j.acquaint(t.Context()); err != nil { // no store, no device: it may touch neither
		t.Error(err)
	}
}
