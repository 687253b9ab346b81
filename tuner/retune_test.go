package tuner

import (
	"strings"
	"testing"

	"stenciltune/cache"
)

func TestWhatChangedIsSaid(t *testing.T) {
	was := cache.Key{DeviceName: "NVIDIA A100", ComputeCapability: "8.0", Driver: "570", Compiler: "NVRTC 13", Size: "64x64"}
	now := was
	now.Driver, now.Compiler = "580", "NVRTC 14"
	if got := changed(now, was); got != "new driver 580 (stored: 570), compiler NVRTC 14 (stored: NVRTC 13)" {
		t.Error(got)
	}
	now.DeviceName = "NVIDIA H200"
	if got := changed(now, was); !strings.HasPrefix(got, "new device NVIDIA H200 (stored: NVIDIA A100)") {
		t.Error(got)
	}
}
