// Package machinetest has the machines of the tests of several packages.
package machinetest

import "stenciltune/machine"

// H200 is what the driver says of an NVIDIA H200, and its measured copy bandwidth.
func H200() machine.Machine {
	return machine.Machine{Kind: machine.CUDA, Name: "NVIDIA H200", ComputeCapability: "9.0", Driver: "580.159.04", CUDAVersion: "13.0", Compiler: "NVRTC 13.0",
		SMs: 132, MemoryBytes: 150_110_011_392, L2Bytes: 60 << 20, ClockHz: 1.98e9, MemoryClockHz: 3.201e9, MemoryBusBits: 6016, CopyBytesPerSecond: 4.16e12}.WithLimits()
}

// A100 is the same of an NVIDIA A100.
func A100() machine.Machine {
	return machine.Machine{Kind: machine.CUDA, Name: "NVIDIA A100-SXM4-80GB", ComputeCapability: "8.0", Driver: "580.1", CUDAVersion: "13.0", Compiler: "NVRTC 13.0",
		SMs: 108, MemoryBytes: 85_899_345_920, L2Bytes: 40 << 20, ClockHz: 1.41e9, MemoryClockHz: 1.593e9, MemoryBusBits: 5120, CopyBytesPerSecond: 1.7e12}.WithLimits()
}
