// Package machine holds the facts of one device: limits, sizes, rates.
//
// It is a leaf: numbers only, no behaviour beyond arithmetic on them. All
// quantities are SI base units (bytes, hertz, seconds, bytes per second).
package machine

import (
	"regexp"
	"strconv"
	"strings"
)

// Kind tells what stands behind a device, so that times of different kinds are never mixed.
type Kind string

// The kinds of device.
const (
	CUDA   Kind = "cuda"   // an NVIDIA GPU through the driver
	Host   Kind = "host"   // this machine's processor through the CUDA emulation
	Replay Kind = "replay" // a recorded landscape
	Model  Kind = "model"  // known facts only: nothing runs, times are predicted
)

// Machine is what a device says about itself, plus a few rates nobody can query.
type Machine struct {
	Kind               Kind    `json:"kind"`
	Name               string  `json:"name"`                   // "NVIDIA H200"
	UUID               string  `json:"uuid,omitempty"`         // "GPU-8932f937-..."
	PCI                string  `json:"pci,omitempty"`          // "0000:18:00.0"
	Index              int     `json:"index"`                  // driver ordinal under CUDA_VISIBLE_DEVICES
	ComputeCapability  string  `json:"compute_capability"`     // "9.0"; "" on the host
	Driver             string  `json:"driver,omitempty"`       // "580.159.04"
	CUDAVersion        string  `json:"cuda_version,omitempty"` // highest CUDA the driver serves, "13.0"
	Compiler           string  `json:"compiler,omitempty"`     // "NVRTC 13.0" or "g++ 12.2.0"
	MemoryBytes        int64   `json:"memory_bytes"`           // device memory in all
	FreeBytes          int64   `json:"free_bytes,omitempty"`   // free when the device was opened
	L2Bytes            int64   `json:"l2_bytes"`
	SMs                int     `json:"sms"` // streaming multiprocessors; cores on the host
	WarpSize           int     `json:"warp_size"`
	MaxThreadsBlock    int     `json:"max_threads_block"`
	MaxBlockDim        [3]int  `json:"max_block_dim"`
	MaxGridDim         [3]int  `json:"max_grid_dim"`
	MaxThreadsSM       int     `json:"max_threads_sm"`
	MaxBlocksSM        int     `json:"max_blocks_sm"`
	RegistersBlock     int     `json:"registers_block"`
	RegistersSM        int     `json:"registers_sm"`
	SharedBlock        int     `json:"shared_block"`               // bytes a block gets without asking
	SharedBlockOptin   int     `json:"shared_block_optin"`         // bytes a block gets after cuFuncSetAttribute
	SharedSM           int     `json:"shared_sm"`                  // bytes an SM has
	SharedReserved     int     `json:"shared_reserved"`            // bytes the driver takes from each block
	SingleToDouble     int     `json:"single_to_double,omitempty"` // rate of float32 over that of float64, as the driver says; 0 = not known
	ClockHz            float64 `json:"clock_hz"`                   // highest SM clock
	MemoryClockHz      float64 `json:"memory_clock_hz"`
	MemoryBusBits      int     `json:"memory_bus_bits"`
	ECC                bool    `json:"ecc"`
	MIG                bool    `json:"mig"`
	CopyBytesPerSecond float64 `json:"copy_bytes_per_second,omitempty"` // measured device-to-device copy, read plus written; 0 = not yet measured
	Rates              Rates   `json:"rates,omitzero"`                  // measured once, see Rates
}

// Rates are what micro-benchmarks measure of a device; 0 = not measured. Bytes
// per second, read plus written; seconds.
type Rates struct {
	L2Bytes       float64 `json:"l2_bytes_per_second,omitempty"`     // reads that L2 answers
	SharedBytes   float64 `json:"shared_bytes_per_second,omitempty"` // reads from shared memory, all SMs
	Launch        float64 `json:"launch,omitempty"`                  // a null kernel after another on one stream
	Barrier       float64 `json:"barrier,omitempty"`                 // a block barrier of 8 warps
	SharedLatency float64 `json:"shared_latency,omitempty"`          // of a dependent read
	L1Latency     float64 `json:"l1_latency,omitempty"`
	L2Latency     float64 `json:"l2_latency,omitempty"`
	DRAMLatency   float64 `json:"dram_latency,omitempty"`
}

// PeakDRAM is the theoretical memory bandwidth in bytes per second (bus width x
// double data rate x clock), or 0 if the driver does not tell.
func (m Machine) PeakDRAM() float64 {
	return 2 * m.MemoryClockHz * float64(m.MemoryBusBits) / 8
}

// DRAMBandwidth is the bandwidth to reckon with: the measured copy if there is
// one, else 87 % of the peak (what an H200 reaches: 4.2 of 4.8 TB/s).
func (m Machine) DRAMBandwidth() float64 {
	if m.CopyBytesPerSecond > 0 {
		return m.CopyBytesPerSecond
	}
	return 0.87 * m.PeakDRAM()
}

var unsafeName = regexp.MustCompile(`[^a-z0-9]+`)

// Slug is the device's name as it may stand in file names and keys: "nvidia-h200".
func (m Machine) Slug() string {
	return strings.Trim(unsafeName.ReplaceAllString(strings.ToLower(m.Name), "-"), "-")
}

// Major returns the major and minor compute capability, 0 and 0 where there is none.
func (m Machine) Major() (major, minor int) {
	whole, part, _ := strings.Cut(m.ComputeCapability, ".")
	major, err := strconv.Atoi(whole)
	minor, err2 := strconv.Atoi(part)
	if err != nil || err2 != nil {
		return 0, 0
	}
	return major, minor
}
