package machine

// capabilityLimits are the limits that follow from a compute capability (CUDA C++
// Programming Guide 13.0, table "Technical Specifications per Compute Capability").
var capabilityLimits = map[string]struct{ threadsSM, blocksSM, sharedSM, sharedOptin int }{
	"7.0":  {2048, 32, 96 << 10, 96 << 10},
	"7.5":  {1024, 16, 64 << 10, 64 << 10},
	"8.0":  {2048, 32, 164 << 10, 163 << 10},
	"8.6":  {1536, 16, 100 << 10, 99 << 10},
	"8.7":  {1536, 16, 164 << 10, 163 << 10},
	"8.9":  {1536, 24, 100 << 10, 99 << 10},
	"9.0":  {2048, 32, 228 << 10, 227 << 10},
	"10.0": {2048, 32, 228 << 10, 227 << 10},
	"10.3": {2048, 32, 228 << 10, 227 << 10},
	"12.0": {1536, 24, 100 << 10, 99 << 10},
	"12.1": {1536, 24, 100 << 10, 99 << 10},
}

// WithLimits fills in the limits of a machine of which only its name, capability and
// rates are known, as of a device in a config. What is set stays. A capability that
// is not known gets the limits every GPU since 7.0 has, but for shared memory that
// must be asked for, of which it gets 64 KiB.
func (m Machine) WithLimits() Machine {
	l, ok := capabilityLimits[m.ComputeCapability]
	if m.Kind == Host { // its emulation keeps the limits of 9.0
		l, ok = capabilityLimits["9.0"]
	}
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
