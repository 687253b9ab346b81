package machine

import (
	"encoding/json"
	"math"
	"testing"
)

func TestBandwidthIsMeasuredOrReckonedFromTheBus(t *testing.T) {
	h200 := Machine{MemoryClockHz: 3.201e9, MemoryBusBits: 6016}
	// 2 x 3.201 GHz x 752 bytes: 4.8 TB/s, as the datasheet says.
	if p := h200.PeakDRAM(); math.Abs(p-4.814e12) > 1e9 {
		t.Errorf("peak %g", p)
	}
	if b := h200.DRAMBandwidth(); b != 0.87*h200.PeakDRAM() {
		t.Errorf("unmeasured: %g", b)
	}
	h200.CopyBytesPerSecond = 4.1e12
	if b := h200.DRAMBandwidth(); b != 4.1e12 {
		t.Errorf("measured: %g", b)
	}
	if b := (Machine{}).DRAMBandwidth(); b != 0 {
		t.Errorf("unknown: %g", b)
	}
}

func TestSlugIsFitForFileNamesAndKeys(t *testing.T) {
	for name, want := range map[string]string{
		"NVIDIA H200":                   "nvidia-h200",
		"NVIDIA A100-SXM4-80GB":         "nvidia-a100-sxm4-80gb",
		"Tesla V100 (MIG 1g.5gb)":       "tesla-v100-mig-1g-5gb",
		"  ../../etc/passwd\x00\n":      "etc-passwd",
		"Größe":                         "gr-e",
		"":                              "",
		"***":                           "",
		"Intel(R) Xeon(R) CPU @ 2.0GHz": "intel-r-xeon-r-cpu-2-0ghz",
	} {
		if got := (Machine{Name: name}).Slug(); got != want {
			t.Errorf("%q: %q, want %q", name, got, want)
		}
	}
}

func TestComputeCapabilitySplits(t *testing.T) {
	for text, want := range map[string][2]int{"9.0": {9, 0}, "8.6": {8, 6}, "10.3": {10, 3}, "12.0": {12, 0}, "": {0, 0}, "9": {0, 0}, "host": {0, 0}} {
		if major, minor := (Machine{ComputeCapability: text}).Major(); [2]int{major, minor} != want {
			t.Errorf("%q: %d and %d", text, major, minor)
		}
	}
}

func TestMachineSurvivesJSON(t *testing.T) {
	want := Machine{Kind: CUDA, Name: "NVIDIA H200", ComputeCapability: "9.0", MaxBlockDim: [3]int{1024, 1024, 64}, MemoryBytes: 150e9, ClockHz: 1.98e9, ECC: true}
	b, err := json.Marshal(want)
	if err != nil {
		t.Fatal(err)
	}
	var got Machine
	if err := json.Unmarshal(b, &got); err != nil || got != want {
		t.Errorf("%+v, %v", got, err)
	}
}

func TestKnownDevicesAreSoundAndNameTheirSource(t *testing.T) {
	// Datasheets: memory bandwidth in bytes per second, float32 lanes x clock x 2 in flops.
	want := map[string]struct{ bandwidth, flops float64 }{
		"v100": {900e9, 15.7e12}, "t4": {320e9, 8.1e12}, "rtx2080ti": {616e9, 13.45e12}, "a100": {2039e9, 19.5e12},
		"h100": {3350e9, 67e12}, "h200": {4800e9, 67e12}, "b200": {8000e9, 74.4e12},
		"rtx3090": {936e9, 35.6e12}, "rtx4090": {1008e9, 82.6e12}, "rtx5090": {1792e9, 104.8e12}, "rtxpro6000": {1792e9, 125e12},
		"l40s": {864e9, 91.6e12}, "gh200": {4e12, 67e12}, "b300": {7.67e12, 77e12},
	}
	list := KnownDevices()
	if len(list) != len(want) {
		t.Errorf("%d devices", len(list))
	}
	for _, k := range list {
		w, ok := want[k.ID]
		m := k.Machine
		if !ok || len(k.Source) < 40 || m.Kind != Model || m.Name == "" || m.SharedBlockOptin+m.SharedReserved != m.SharedSM {
			t.Errorf("%+v", k)
		}
		if b := m.PeakDRAM(); math.Abs(b/w.bandwidth-1) > 0.02 {
			t.Errorf("%s: %g bytes per second, the datasheet says %g", k.ID, b, w.bandwidth)
		}
		lanes, _ := m.Lanes()
		if f := 2 * float64(lanes) * float64(m.SMs) * m.ClockHz; math.Abs(f/w.flops-1) > 0.02 {
			t.Errorf("%s: %g flops, the datasheet says %g", k.ID, f, w.flops)
		}
		if got, err := FindKnown(k.ID); err != nil || got.Machine != m {
			t.Errorf("%s: %v", k.ID, err)
		}
	}
	if _, err := FindKnown("gtx480"); err == nil {
		t.Error("a device nobody knows is found")
	}
}
