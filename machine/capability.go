package machine

import "cmp"

// capability is what follows from a compute capability.
type capability struct {
	threadsSM, blocksSM   int
	sharedSM, sharedOptin int // bytes
	cache                 int // bytes of an SM's L1 cache and shared memory together
	single, double        int // results of float32 and float64 arithmetic an SM gives a clock
}

// capabilities are from the CUDA C++ Programming Guide 13.0: tables "Technical
// Specifications per Compute Capability", "Throughput of Native Arithmetic Instructions",
// and the unified data cache of each capability's section. Blackwell Ultra (10.3) has few
// float64 units: 1.3 Tflop/s a GPU where 10.0 has 40 (NVIDIA, HGX B200 and B300 datasheets).
var capabilities = map[string]capability{
	"7.0":  {2048, 32, 96 << 10, 96 << 10, 128 << 10, 64, 32},
	"7.5":  {1024, 16, 64 << 10, 64 << 10, 96 << 10, 64, 2},
	"8.0":  {2048, 32, 164 << 10, 163 << 10, 192 << 10, 64, 32},
	"8.6":  {1536, 16, 100 << 10, 99 << 10, 128 << 10, 128, 2},
	"8.7":  {1536, 16, 164 << 10, 163 << 10, 192 << 10, 128, 2},
	"8.9":  {1536, 24, 100 << 10, 99 << 10, 128 << 10, 128, 2},
	"9.0":  {2048, 32, 228 << 10, 227 << 10, 256 << 10, 128, 64},
	"10.0": {2048, 32, 228 << 10, 227 << 10, 256 << 10, 128, 64},
	"10.3": {2048, 32, 228 << 10, 227 << 10, 256 << 10, 128, 2},
	"12.0": {1536, 24, 100 << 10, 99 << 10, 128 << 10, 128, 2},
	"12.1": {1536, 24, 100 << 10, 99 << 10, 128 << 10, 128, 2},
}

// capability is that of a machine; false if the table lacks it.
func (m Machine) capability() (capability, bool) {
	if m.Kind == Host { // its emulation keeps the limits of 9.0
		return capabilities["9.0"], true
	}
	c, ok := capabilities[m.ComputeCapability]
	return c, ok
}

// Lanes is the results of float32 and float64 arithmetic that an SM gives a clock. A
// capability that is not in the table has the 128 of every one since 8.6, and for float64
// what the driver says.
func (m Machine) Lanes() (single, double int) {
	if c, ok := m.capability(); ok {
		return c.single, c.double
	}
	const single32 = 128
	return single32, max(2, single32/cmp.Or(m.SingleToDouble, 64))
}

// CacheSM is the bytes of an SM's L1 cache and shared memory together. A capability that
// is not in the table has 28 KiB more than what may be shared memory, as most of those have.
func (m Machine) CacheSM() int {
	if c, ok := m.capability(); ok {
		return c.cache
	}
	return m.SharedSM + 28<<10
}

// Limits are those that no table tells of a compute capability: the driver did.
type Limits struct {
	MaxThreadsSM     int `json:"max_threads_sm"`
	MaxBlocksSM      int `json:"max_blocks_sm"`
	SharedBlockOptin int `json:"shared_block_optin"`
	SharedSM         int `json:"shared_sm"`
	SharedReserved   int `json:"shared_reserved"`
	SingleToDouble   int `json:"single_to_double"`
}

// Limits are a machine's that do not follow from its compute capability; nil if they do.
func (m Machine) Limits() *Limits {
	if _, ok := m.capability(); ok || m.ComputeCapability == "" {
		return nil
	}
	return &Limits{m.MaxThreadsSM, m.MaxBlocksSM, m.SharedBlockOptin, m.SharedSM, m.SharedReserved, m.SingleToDouble}
}

// With is the machine with limits that the driver told; nil changes nothing.
func (m Machine) With(l *Limits) Machine {
	if l != nil {
		m.MaxThreadsSM, m.MaxBlocksSM, m.SharedBlockOptin = l.MaxThreadsSM, l.MaxBlocksSM, l.SharedBlockOptin
		m.SharedSM, m.SharedReserved, m.SingleToDouble = l.SharedSM, l.SharedReserved, l.SingleToDouble
	}
	return m
}

// WithLimits fills in the limits of a machine of which only its name, capability and
// rates are known, as of a device in a config. What is set stays, so of a capability
// that is not in the table what the driver told. Where that is not known either it gets
// the least that a GPU since 7.0 has.
func (m Machine) WithLimits() Machine {
	l, ok := m.capability()
	if !ok {
		l.threadsSM, l.blocksSM, l.sharedSM, l.sharedOptin = 1024, 16, 64<<10, 64<<10
	}
	fill := func(v *int, to int) {
		if *v == 0 {
			*v = to
		}
	}
	fill(&m.WarpSize, 32)
	fill(&m.MaxThreadsBlock, 1024)
	for a, n := range [3]int{1024, 1024, 64} {
		fill(&m.MaxBlockDim[a], n)
	}
	for a, n := range [3]int{1<<31 - 1, 65535, 65535} {
		fill(&m.MaxGridDim[a], n)
	}
	fill(&m.MaxThreadsSM, l.threadsSM)
	fill(&m.MaxBlocksSM, l.blocksSM)
	fill(&m.RegistersBlock, 65536)
	fill(&m.RegistersSM, 65536)
	fill(&m.SharedBlock, 48<<10)
	fill(&m.SharedBlockOptin, l.sharedOptin)
	fill(&m.SharedSM, l.sharedSM)
	if m.ComputeCapability >= "8" || len(m.ComputeCapability) > 3 {
		fill(&m.SharedReserved, 1<<10)
	}
	return m
}
