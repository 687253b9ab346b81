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
