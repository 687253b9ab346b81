package cuda

import (
	"encoding/hex"
	"errors"
	"fmt"
	"os"
	"strconv"
	"strings"

	"stenciltune/device"
	"stenciltune/machine"
)

// List is the facts of every GPU the driver shows, in its own order. Without a
// driver or a GPU the error is a device.ErrMissing that says why.
func List() ([]machine.Machine, error) {
	n, err := count()
	if err != nil {
		return nil, err
	}
	var all []machine.Machine
	for i := range n {
		m, _, err := facts(i)
		if err != nil {
			return nil, err
		}
		all = append(all, m)
	}
	return all, nil
}

// Describe is the machine of the GPU a selector names, as for Open, without opening it.
func Describe(selector string) (machine.Machine, error) {
	m, _, err := find(selector)
	if err != nil {
		return m, err
	}
	if c, err := OpenCompiler(); err == nil {
		m.Compiler = c.Version()
	}
	return m, nil
}

// count initialises the driver and counts GPUs; none is an error.
func count() (int, error) {
	if err := cuInit(); err != nil {
		if errors.Is(err, device.ErrMissing) {
			return 0, err
		}
		return 0, fmt.Errorf("%w: %w", device.ErrMissing, err)
	}
	n, err := cuDeviceGetCount()
	if err != nil {
		return 0, fmt.Errorf("%w: %w", device.ErrMissing, err)
	}
	if n == 0 {
		return 0, fmt.Errorf("%w: the driver shows no GPU%s", device.ErrMissing, visible())
	}
	return n, nil
}

// visible is what CUDA_VISIBLE_DEVICES adds to an error.
func visible() string {
	if v, ok := os.LookupEnv("CUDA_VISIBLE_DEVICES"); ok {
		return fmt.Sprintf(" (CUDA_VISIBLE_DEVICES=%q)", v)
	}
	return ""
}

// facts reads one GPU's facts.
func facts(ordinal int) (machine.Machine, cuDevice, error) {
	m := machine.Machine{Kind: machine.CUDA, Index: ordinal}
	d, err := cuDeviceGet(ordinal)
	if err != nil {
		return m, d, err
	}
	if m.Name, err = cuDeviceGetName(d); err != nil {
		return m, d, err
	}
	if u, err := cuDeviceGetUuid(d); err == nil {
		h := hex.EncodeToString(u[:])
		m.UUID = strings.Join([]string{"GPU-" + h[:8], h[8:12], h[12:16], h[16:20], h[20:]}, "-")
	}
	if m.PCI, err = cuDeviceGetPCIBusId(d); err != nil {
		return m, d, err
	}
	if m.MemoryBytes, err = cuDeviceTotalMem(d); err != nil {
		return m, d, err
	}
	get := func(attribute int) int {
		v, e := cuDeviceGetAttribute(attribute, d)
		if e != nil && err == nil {
			err = fmt.Errorf("attribute %d: %w", attribute, e)
		}
		return v
	}
	m.ComputeCapability = fmt.Sprintf("%d.%d", get(attrComputeCapabilityMajor), get(attrComputeCapabilityMinor))
	m.SMs = get(attrMultiprocessorCount)
	m.WarpSize = get(attrWarpSize)
	m.MaxThreadsBlock = get(attrMaxThreadsPerBlock)
	for a := range 3 {
		m.MaxBlockDim[a] = get(attrMaxBlockDimX + a)
		m.MaxGridDim[a] = get(attrMaxGridDimX + a)
	}
	m.MaxThreadsSM = get(attrMaxThreadsPerSM)
	m.RegistersBlock = get(attrMaxRegistersPerBlock)
	m.RegistersSM = get(attrMaxRegistersPerSM)
	m.SharedBlock = get(attrMaxSharedPerBlock)
	m.SharedBlockOptin = get(attrMaxSharedOptin)
	m.SharedSM = get(attrMaxSharedPerSM)
	m.L2Bytes = int64(get(attrL2CacheSize))
	m.ClockHz = 1e3 * float64(get(attrClockRate))
	m.MemoryClockHz = 1e3 * float64(get(attrMemoryClockRate))
	m.MemoryBusBits = get(attrGlobalMemoryBusWidth)
	m.ECC = get(attrECCEnabled) != 0
	if err != nil {
		return m, d, err
	}
	// Newer attributes: CUDA 11 and later.
	m.MaxBlocksSM, m.SharedReserved = 16, 0
	if v, e := cuDeviceGetAttribute(attrMaxBlocksPerSM, d); e == nil && v > 0 {
		m.MaxBlocksSM = v
	}
	if v, e := cuDeviceGetAttribute(attrReservedShared, d); e == nil {
		m.SharedReserved = v
	}
	if v, e := cuDeviceGetAttribute(attrSingleToDouble, d); e == nil {
		m.SingleToDouble = v
	}
	if v, e := cuDriverGetVersion(); e == nil {
		m.CUDAVersion = fmt.Sprintf("%d.%d", v/1000, v%1000/10)
	}
	if n := openNVML(m.PCI); n != nil {
		m.Driver = n.driverVersion()
		m.MIG = n.mig()
	}
	m.MIG = m.MIG || strings.Contains(m.Name, "MIG ")
	return m, d, nil
}

// find resolves a selector, as Match does, without reading more facts than it must.
func find(selector string) (machine.Machine, cuDevice, error) {
	n, err := count()
	if err != nil {
		return machine.Machine{}, 0, err
	}
	i, err := strconv.Atoi(selector)
	if err != nil || i < 0 || i >= n {
		all, err := List()
		if err == nil {
			i, err = Match(all, selector)
		}
		if err != nil {
			return machine.Machine{}, 0, err
		}
	}
	return facts(i)
}

// Match is the place among all GPUs that the driver shows of the one that a selector names: a driver
// ordinal, a UUID or a unique beginning of one, or a PCI address. The UUID and PCI forms are
// stable; ordinals follow CUDA_VISIBLE_DEVICES and CUDA_DEVICE_ORDER.
func Match(all []machine.Machine, selector string) (int, error) {
	if i, err := strconv.Atoi(selector); err == nil && i >= 0 && i < len(all) {
		return i, nil
	}
	var have []string
	var match []int
	for i, m := range all {
		have = append(have, fmt.Sprintf("%d = %s (%s, PCI %s)", i, m.Name, m.UUID, m.PCI))
		uuid, pci, want := strings.ToLower(m.UUID), strings.ToLower(m.PCI), strings.ToLower(selector)
		if len(want) >= 8 && strings.HasPrefix(uuid, want) || len(want) >= 4 && strings.HasSuffix(pci, want) && strings.Contains(want, ":") {
			match = append(match, i)
		}
	}
	if len(match) == 1 {
		return match[0], nil
	}
	what := "no device"
	if len(match) > 1 {
		what = "more than one device"
	}
	return 0, fmt.Errorf("%w: %s matches %q; there are %s%s; or use host, or replay:h200", device.ErrMissing, what, selector, strings.Join(have, "; "), visible())
}
